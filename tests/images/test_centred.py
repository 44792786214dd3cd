"""Centre, slant and size by moments: closed forms, SciPy's warp as a twin, and drawings that become one picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.images import Centred, Hog, hog, tables
from pairlearn.images.centred import moments
from pairlearn.images.warp import about_middle, warped

SIZE = 48
GRID = np.moveaxis(np.indices((SIZE, SIZE)).astype(float), 0, -1)


def drawing(down: float = 0.0, right: float = 0.0, slant: float = 0.0, scale: float = 1.0) -> np.ndarray:
    """An F of smooth strokes: what a pen leaves at p of the paper, seen after shearing, scaling and shifting it."""
    middle = (SIZE - 1) / 2
    y, x = (GRID[..., 0] - middle - down) / scale, (GRID[..., 1] - middle - right) / scale
    x = x - slant * y
    strokes = [((-7, -3), (7, -3)), ((-7, -3), (-7, 5)), ((0, -3), (0, 3))]
    return sum(_stroke(y, x, np.array(a, float), np.array(b, float)) for a, b in strokes)


def _stroke(y: np.ndarray, x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    along = b - a
    t = (((y - a[0]) * along[0] + (x - a[1]) * along[1]) / (along @ along)).clip(0, 1)
    return np.exp(-((y - a[0] - t * along[0]) ** 2 + (x - a[1] - t * along[1]) ** 2) / 4.0)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """‖one − other‖ / ‖one‖."""
    return float(np.linalg.norm(one - other) / np.linalg.norm(one))


COPIES = np.array(
    [drawing(), drawing(3, -5), drawing(-2.5, 4.25), drawing(1, 1, slant=0.4), drawing(0, 2, slant=-0.3, scale=1.4)]
)


@pytest.mark.parametrize(
    ("centred", "alike"),
    [(Centred(), 3), (Centred(upright=True), 4), (Centred(upright=True, spread=0.15), 5)],
    ids=["place", "and slant", "and size"],
)
def test_copies_become_one_picture(centred: Centred, alike: int) -> None:
    """Those that the parameters undo; the others still differ, as all did before."""
    found = centred.fit_transform(COPIES)
    for k in range(1, 5):
        assert apart(COPIES[0], COPIES[k]) > 0.5
        assert (apart(found[0], found[k]) < 0.08) == (k < alike)


def test_the_moments_are_those_of_weighted_points() -> None:
    mass = np.random.default_rng(0).random((4, 6, 9)) ** 3
    mean, covariance = moments(mass)
    points = np.indices((6, 9)).reshape(2, -1)
    for k in range(4):
        weights = mass[k].ravel()
        np.testing.assert_allclose(mean[k], np.average(points, axis=1, weights=weights))
        np.testing.assert_allclose(covariance[k], np.cov(points, aweights=weights, ddof=0)[[0, 0, 1], [0, 1, 1]])


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(0, 7),
    st.integers(0, 7),
    st.sampled_from([np.uint8, np.float32]),
)
def test_a_block_of_ink_goes_to_the_middle(height: int, width: int, top: int, left: int, dtype: Any) -> None:
    """Closed form: a block has its centre of mass at its own middle, so it is cut out and put there."""
    image = np.full((1, 21, 21), 200, dtype=dtype)
    image[0, top + 1 : top + 1 + height, left + 1 : left + 1 + width] = 40
    found = Centred().fit_transform(image)
    assert found.dtype == dtype
    mean, _ = moments(np.abs(found.astype(float) - 200))
    np.testing.assert_allclose(mean, 10.0, atol=0.02)
    expected = ndimage.shift(
        image[0].astype(float), (9.5 - top - height / 2, 9.5 - left - width / 2), order=1, cval=200
    )
    np.testing.assert_allclose(found[0], np.rint(expected) if dtype == np.uint8 else expected, atol=1e-4)


def test_slant_and_spread_end_where_they_should() -> None:
    found = Centred(upright=True, spread=0.2).fit_transform(COPIES)
    mean, covariance = moments(found)
    np.testing.assert_allclose(mean, (SIZE - 1) / 2, atol=0.05)
    np.testing.assert_allclose(np.sqrt(covariance[:, 0] + covariance[:, 2]), 0.2 * SIZE, rtol=0.02)
    np.testing.assert_allclose(covariance[:, 1] / covariance[:, 0], 0.0, atol=0.02)


def test_no_slant_beyond_45_degrees_is_taken_out() -> None:
    """A line of 2 right per 1 down: with a slant of 1 taken out it leans by 1, with all of it it would stand."""
    line = np.exp(-((GRID[..., 1] - 23.5 - 2 * (GRID[..., 0] - 23.5)) ** 2)) * (np.abs(GRID[..., 0] - 23.5) < 9)
    _, before = moments(line[None])
    _, after = moments(Centred(upright=True).fit_transform(line[None]))
    np.testing.assert_allclose(before[0, 1] / before[0, 0], 2.0, atol=0.02)
    np.testing.assert_allclose(after[0, 1] / after[0, 0], 1.0, atol=0.05)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64, bool])
def test_images_without_ink_stay_as_they_are(dtype: Any) -> None:
    blank = np.stack([np.full((6, 7), value, dtype=dtype) for value in (0, 1, 9)])
    np.testing.assert_array_equal(Centred(upright=True, spread=0.2).fit_transform(blank), blank)


@pytest.mark.parametrize("points", [[(2, 3)], [(2, 1), (2, 5)], [(1, 4), (5, 4)]], ids=["dot", "dash", "bar"])
def test_drawings_without_height_or_width_are_only_centred(points: list[tuple[int, int]]) -> None:
    image = np.zeros((1, 9, 9))
    for place in points:
        image[0][place] = 1.0
    np.testing.assert_allclose(Centred(upright=True).fit_transform(image), Centred().fit_transform(image), atol=1e-12)
    if len(points) == 1:
        assert Centred(spread=0.2).fit_transform(image)[0, 4, 4] == 1.0


def test_channels_move_together() -> None:
    """The ink of all channels counts; each has a background of its own."""
    colour = np.stack([COPIES[1], 3.0 - COPIES[1], np.full_like(COPIES[1], 2.0)], axis=-1)[None]
    found = Centred(upright=True, spread=0.2).fit_transform(colour)
    grey = Centred(upright=True, spread=0.2).fit_transform(COPIES[1:2])
    np.testing.assert_allclose(found[..., 0], grey, atol=1e-9)
    np.testing.assert_allclose(found[..., 1], 3.0 - grey, atol=1e-9)
    np.testing.assert_array_equal(found[..., 2], 2.0)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Centred(True, 0.2).fit_transform(COPIES)
    monkeypatch.setattr(tables, "BATCH_BYTES", 1)
    np.testing.assert_allclose(Centred(True, 0.2).fit_transform(COPIES), whole, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_a_warp_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = rng.normal(size=(2, 5, 8, 1))
    maps = about_middle(np.eye(2) + 0.5 * rng.normal(size=(2, 2, 2)), 2 * rng.normal(size=(2, 2)), 5, 8)
    for image, M, found in zip(images, maps, warped(images, maps), strict=True):
        twin = ndimage.affine_transform(image[..., 0], M[:, :2], M[:, 2], order=1, mode="nearest")
        np.testing.assert_allclose(found[..., 0], twin, atol=1e-9)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.full((1, 4, 4), np.nan), "NaN"),
        (np.zeros((4, 4)), "use images"),
        (np.zeros((2, 0, 4)), "without pixels"),
        (np.array(["a"]), "real numbers"),
    ],
)
def test_what_is_no_image_is_refused(images: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Centred().transform(images)


@pytest.mark.parametrize("spread", [0.0, -1.0, np.nan, np.inf])
def test_a_spread_is_a_positive_number(spread: float) -> None:
    with pytest.raises(InputError, match=r"try 0\.2"):
        Centred(spread=spread).fit(COPIES)


def test_steps_of_a_pipeline_on_pairs() -> None:
    step = make_pipeline(Centred(upright=True), Hog(cell=6))
    pairs = pl.all_pairs(COPIES, reflexive=False)
    found = pl.OnExamples(clone(step)).fit_transform(pairs).examples
    np.testing.assert_array_equal(found, hog(Centred(upright=True).transform(COPIES), 6).reshape(5, -1))
    with pytest.raises(InputError, match="cell"):
        Hog(cell=0).fit(COPIES)


@pytest.mark.parametrize("spread", ["a", -0.1, 0.0, np.inf, np.nan])
def test_a_spread_that_is_none_is_refused(spread: object) -> None:
    with pytest.raises(InputError, match="a share of the image"):
        pl.images.Centred(spread=spread).transform(np.ones((1, 4, 4)))  # type: ignore[arg-type]


def test_images_of_different_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="one size first"):
        pl.images.Centred().transform([np.ones((4, 4)), np.ones((5, 5))])
