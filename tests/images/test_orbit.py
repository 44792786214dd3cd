"""Variants of images: what NumPy's own rolls and turns give, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pairlearn.errors import InputError
from pairlearn.images import Orbit

IMAGES = np.random.default_rng(0).integers(0, 255, (3, 6, 6)).astype(np.uint8)


def test_the_first_is_the_table_itself() -> None:
    assert Orbit(shifts=(1,))(IMAGES)[0] is IMAGES
    assert len(Orbit()(IMAGES)) == len(Orbit()) == 1


def test_shifts_go_up_down_left_and_right() -> None:
    _, up, down, left, right = Orbit(shifts=(2,))(IMAGES)
    np.testing.assert_array_equal(up[:, :-2], IMAGES[:, 2:])
    np.testing.assert_array_equal(down[:, 2:], IMAGES[:, :-2])
    np.testing.assert_array_equal(left[..., :-2], IMAGES[..., 2:])
    np.testing.assert_array_equal(right[..., 2:], IMAGES[..., :-2])
    np.testing.assert_array_equal(down[:, 0], IMAGES[:, 0])  # the border is repeated


def test_right_angles_turn_clockwise() -> None:
    colour = np.stack([IMAGES, 255 - IMAGES, IMAGES // 2], axis=-1)
    _, quarter, half, back = Orbit(degrees=(90, 180, -90))(colour)
    for found, turns in ((quarter, -1), (half, 2), (back, 1)):
        np.testing.assert_array_equal(found, np.rot90(colour, turns, axes=(1, 2)))


def test_a_scale_magnifies() -> None:
    """x² about the middle, seen at twice the size, is (x/2)²; linear in between, so exact at every second pixel."""
    line = np.tile((np.arange(9.0) - 4) ** 2, (1, 9, 1))
    _, large = Orbit(scales=(2.0,))(line)
    np.testing.assert_allclose(large[0, 4, ::2], ((np.arange(9) - 4) / 2)[::2] ** 2, atol=1e-12)


def test_lists_become_tuples_of_numbers() -> None:
    assert Orbit(shifts=[1], degrees=np.array([5])) == Orbit((1.0,), (5.0,))
    assert len(Orbit((1, 2), (-5, 5), (0.9,))) == 12


@pytest.mark.parametrize(
    "given", [{"shifts": (0,)}, {"shifts": 1}, {"scales": (-1,)}, {"degrees": (np.nan,)}, {"degrees": ("ten",)}]
)
def test_amounts_are_numbers_that_change_something(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"try {next(iter(given))}="):
        Orbit(**given)


def test_images_are_checked() -> None:
    with pytest.raises(InputError, match="NaN"):
        Orbit(shifts=(1,))(np.full((1, 3, 3), np.nan))
