"""Drawn symbols: images of unknown alphabets, each drawing in a place, size and slant of its own."""

from __future__ import annotations

import numpy as np

from pairlearn.data.synthetic import Seed
from pairlearn.errors import InputError
from pairlearn.types import Floats, Ints

STROKES = 3
"""Straight lines of a symbol."""
RADIUS, PEN, TREMOR = 0.26, 0.035, 0.1
"""Half a symbol and half the width of its lines, in sides of the image; how far the ends of lines waver, in symbols."""


def drawn_symbols(
    n_classes: int,
    epcr: int,
    size: int = 32,
    *,
    shift: float = 3.0,
    slant: float = 0.25,
    scale: float = 0.15,
    seed: Seed = None,
) -> tuple[np.ndarray, Ints]:
    """Draw images (m, size, size) in uint8, bright on black, and their classes, `epcr` of each side by side.

    A symbol has three lines between random points. In each drawing their ends waver, and the whole is moved by up to
    `shift` pixels, leans by up to `slant` pixels to the side per pixel down, and is up to a share `scale` larger or
    smaller, all uniform: changes that leave the symbol what it is.

    >>> images, classes = drawn_symbols(n_classes=5, epcr=3, seed=0)
    >>> images.shape, images.dtype, classes.tolist()
    ((15, 32, 32), dtype('uint8'), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    """
    if min(n_classes, epcr) < 1 or size < 8 or min(shift, slant, scale) < 0 or scale >= 1:
        raise InputError(
            "symbols need at least one class, one drawing of each and 8 pixels, changes ≥ 0 and a scale below 1, got "
            f"{n_classes}, {epcr}, {size}, {(shift, slant, scale)}"
        )
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(n_classes), epcr)
    m = len(classes)
    ends = rng.uniform(-1, 1, (n_classes, STROKES, 2, 2))[classes] + TREMOR * rng.normal(size=(m, STROKES, 2, 2))
    ends[..., 1] += rng.uniform(-slant, slant, (m, 1, 1)) * ends[..., 0]
    ends *= RADIUS * size * rng.uniform(1 - scale, 1 + scale, (m, 1, 1, 1))
    ends += (size - 1) / 2 + rng.uniform(-shift, shift, (m, 1, 1, 2))
    return np.array([_ink(strokes, size) for strokes in ends]), classes


def _ink(strokes: Floats, size: int) -> np.ndarray:
    """What a soft pen leaves along these lines (n, 2 ends, down and right): 255·exp(−d²/2) of the nearest, in pens."""
    pixels = np.moveaxis(np.indices((size, size)), 0, -1)[None]
    start, along = strokes[:, None, None, 0], (strokes[:, 1] - strokes[:, 0])[:, None, None]
    length = np.maximum((along**2).sum(axis=-1), 1e-12)
    share = np.clip(((pixels - start) * along).sum(axis=-1) / length, 0, 1)
    distance = ((pixels - start - share[..., None] * along) ** 2).sum(axis=-1).min(axis=0)
    return np.rint(255 * np.exp(-0.5 * distance / (PEN * size) ** 2)).astype(np.uint8)
