"""Variants of images that show the same: shifted, turned, larger and smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.images.tables import Images, check_images
from pairlearn.images.warp import about_middle, warped
from pairlearn.types import Floats


@dataclass(frozen=True)
class Orbit:
    """An image and its variants: shifted, turned about its middle, or scaled, one change at a time.

    shifts: distances in pixels, each up, down, left and right; degrees: angles, positive ones turn clockwise; scales:
    factors, larger ones magnify. `orbit(images)` lists 1 + 4·len(shifts) + len(degrees) + len(scales) tables like the
    given one, which is the first. Outside an image its border is repeated. What else leaves the meaning of examples
    alone, of whatever kind, is any function that lists such tables.

    >>> import numpy as np, pairlearn as pl
    >>> orbit = pl.images.Orbit(shifts=(1,), degrees=(-10, 10))
    >>> image = np.diag([1.0, 2.0, 3.0])[None]
    >>> len(orbit), orbit(image)[1][0].tolist()
    (7, [[0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 3.0]])
    """

    shifts: tuple[float, ...] = ()
    degrees: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, least, advice in (
            ("shifts", 0.0, "(1,)"),
            ("degrees", -np.inf, "(-10, 10)"),
            ("scales", 0.0, "(0.9, 1.1)"),
        ):
            object.__setattr__(self, name, _amounts(name, getattr(self, name), least, advice))

    def __len__(self) -> int:
        return 1 + 4 * len(self.shifts) + len(self.degrees) + len(self.scales)

    def __call__(self, images: Any) -> list[Images]:
        """The images, then one table of variants after the other, each of the same shape and type."""
        given = np.asarray(images)
        table = check_images(given, colour=True)
        return [given, *(self._seen(table, linear, shift).reshape(given.shape) for linear, shift in self._moves())]

    def _moves(self) -> Iterator[tuple[Floats, tuple[float, float]]]:
        """The linear part and the shift of every look at an image, which moves the other way."""
        for d in self.shifts:
            yield from ((np.eye(2), shift) for shift in ((d, 0.0), (-d, 0.0), (0.0, d), (0.0, -d)))
        for angle in np.radians(self.degrees):
            yield np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]), (0.0, 0.0)
        yield from ((np.eye(2) / scale, (0.0, 0.0)) for scale in self.scales)

    @staticmethod
    def _seen(table: Images, linear: Floats, shift: tuple[float, float]) -> Images:
        one = about_middle(linear[None], np.array([shift]), *table.shape[1:3])
        return warped(table, np.repeat(one, len(table), axis=0))


def _amounts(name: str, values: Any, least: float, advice: str) -> tuple[float, ...]:
    """Finite numbers above a bound."""
    try:
        amounts = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise InputError(f"{name} are several numbers, got {values!r}; try {name}={advice}") from None
    if not all(np.isfinite(amount) and amount > least for amount in amounts):
        bound = "" if least < 0 else " > 0"
        raise InputError(f"{name} are finite numbers{bound}, got {values!r}; try {name}={advice}")
    return amounts
