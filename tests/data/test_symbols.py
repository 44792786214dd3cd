"""Drawn symbols: what is promised of them, measured on the images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.images.centred import moments


def test_drawings_of_a_symbol_are_alike_and_others_are_not() -> None:
    images, classes = pl.data.drawn_symbols(20, 4, shift=0.0, slant=0.0, scale=0.0, seed=1)
    pairs = pl.all_pairs(images.reshape(80, -1), reflexive=False)
    assert pl.equal_error_rate(pl.Scores.of(pl.EuclidBaseline(), pairs, classes=classes)) < 0.1
    assert images.max() == 255
    assert np.median(images) == 0


def test_each_is_moved_as_far_as_it_says() -> None:
    """The same seed draws the same strokes, so that what shift adds is the move of the centre of mass."""
    fixed, moved = (pl.data.drawn_symbols(40, 3, shift=shift, seed=2)[0].astype(float) for shift in (0.0, 2.0))
    steps = moments(moved)[0] - moments(fixed)[0]
    assert np.abs(steps).max() < 2.1
    assert np.abs(steps).max() > 1.5
    np.testing.assert_allclose(steps.mean(axis=0), 0.0, atol=0.4)


def test_seeds_and_sizes() -> None:
    one, again = (pl.data.drawn_symbols(3, 2, 16, seed=5)[0] for _ in range(2))
    np.testing.assert_array_equal(one, again)
    assert one.shape == (6, 16, 16)


@pytest.mark.parametrize("wrong", [{"n_classes": 0}, {"epcr": 0}, {"size": 4}, {"shift": -1.0}, {"scale": 1.0}])
def test_what_cannot_be_drawn_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="symbols need"):
        pl.data.drawn_symbols(**{"n_classes": 2, "epcr": 2, **wrong})
