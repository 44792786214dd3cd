"""Laws of gradient cells, and a twin in plain NumPy that shares no step with the compiled loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.errors import InputError
from pairlearn.images import hog, tables

MIRRORED = np.concatenate([(9 - np.arange(18)) % 18, 18 + (9 - np.arange(9)) % 9, [28, 27, 30, 29]])
UPSIDE_DOWN = np.concatenate([-np.arange(18) % 18, 18 + (-np.arange(9)) % 9, [29, 30, 27, 28]])


def photographs(n: int, h: int, w: int, channels: int | None = 3, seed: int = 0) -> np.ndarray:
    """Grey levels 0 … 255 with many equal neighbours, so that exact zeros and ties of gradients occur."""
    shape = (n, h, w) if channels is None else (n, h, w, channels)
    return (np.random.default_rng(seed).integers(0, 8, shape) * 30).astype(np.uint8)


def hats(pixels: int, cell: int) -> np.ndarray:
    """Weight of each pixel for each cell: 1 at the centre of the cell, falling to 0 at its neighbours' centres."""
    centres = (np.arange(pixels) + 0.5) / cell - 0.5
    return np.maximum(0, 1 - np.abs(centres - np.arange(pixels // cell)[:, None]))


def gradients(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    padded = np.pad(image.astype(float), ((1, 1), (1, 1), (0, 0)), mode="edge")
    gx = padded[1:-1, 2:] - padded[1:-1, :-2]
    gy = padded[2:, 1:-1] - padded[:-2, 1:-1]
    strongest = (gx**2 + gy**2).argmax(-1)[..., None]
    return np.take_along_axis(gx, strongest, -1)[..., 0], np.take_along_axis(gy, strongest, -1)[..., 0]


def orientations(gx: np.ndarray, gy: np.ndarray) -> np.ndarray:
    """Strength of each pixel in each of 18 directions, from the angle."""
    nearest = np.round(np.degrees(np.arctan2(gy, gx)) / 20).astype(int) % 18
    shares = np.eye(18)[nearest]
    shares[(gx == 0) & (gy > 0)] = 0.5 * (np.eye(18)[4] + np.eye(18)[5])
    shares[(gx == 0) & (gy < 0)] = 0.5 * (np.eye(18)[13] + np.eye(18)[14])
    return shares * np.hypot(gx, gy)[..., None]


def twin(image: np.ndarray, cell: int) -> np.ndarray:
    image = image if image.ndim == 3 else image[..., None]
    gx, gy = gradients(image)
    signed = np.einsum("ry,cx,yxo->rco", hats(len(gx), cell), hats(gx.shape[1], cell), orientations(gx, gy))
    unsigned = signed[..., :9] + signed[..., 9:]
    energy = np.pad((unsigned**2).sum(-1), 1, mode="edge")
    blocks = energy[:-1, :-1] + energy[1:, :-1] + energy[:-1, 1:] + energy[1:, 1:]
    around = [blocks[:-1, :-1], blocks[:-1, 1:], blocks[1:, :-1], blocks[1:, 1:]]
    whole = np.concatenate([signed, unsigned], axis=-1)
    clipped = [np.minimum(whole / np.sqrt(block + 1e-4)[..., None], 0.2) for block in around]
    texture = [part[..., :18].sum(-1) / np.sqrt(18) for part in clipped]
    return np.concatenate([0.5 * sum(clipped), np.stack(texture, axis=-1)], axis=-1)


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 4),
    cols=st.integers(1, 4),
    cell=st.integers(1, 9),
    channels=st.sampled_from([None, 3]),
    seed=st.integers(0, 99),
)
def test_the_compiled_loop_equals_its_numpy_twin(
    rows: int, cols: int, cell: int, channels: int | None, seed: int
) -> None:
    images = photographs(2, rows * cell, cols * cell, channels, seed)
    found = hog(images, cell, dtype=np.float64)
    np.testing.assert_allclose(found, [twin(image, cell) for image in images], rtol=1e-10, atol=1e-12)


def test_a_slope_has_one_direction_and_known_values() -> None:
    cells = hog(np.tile(np.arange(40.0), (1, 40, 1)), cell=8, dtype=np.float64)
    expected = np.zeros(31)
    # Each block has energy 4c², so each of four parts is c / 2c = ½, cut to 0.2.
    expected[[0, 18]] = 0.5 * 4 * 0.2
    expected[27:] = 0.2 / np.sqrt(18)
    np.testing.assert_allclose(cells[0, 2, 2], expected, atol=1e-12)


@pytest.mark.parametrize(("cell", "side"), [(8, 4), (4, 8)])
def test_no_border_cell_of_a_small_image_is_lost(cell: int, side: int) -> None:
    cells = hog(photographs(3, 32, 32), cell)
    assert cells.shape == (3, side, side, 31)
    assert cells.dtype == np.float32
    assert (cells.sum(-1) > 0).all()


def test_values_lie_between_zero_and_their_bounds() -> None:
    cells = hog(photographs(5, 24, 24), 4)
    assert cells.min() >= 0
    assert cells[..., :27].max() <= 0.4 + 1e-6
    assert cells[..., 27:].max() <= 18 * 0.2 / np.sqrt(18) + 1e-6


def test_a_constant_added_to_all_pixels_changes_nothing() -> None:
    images = photographs(4, 16, 24).astype(float)
    np.testing.assert_array_equal(hog(images, 4), hog(images + 17, 4))


@pytest.mark.parametrize("factor", [0.25, 0.9, 3.0])
def test_contrast_changes_only_what_the_constant_against_flat_blocks_does(factor: float) -> None:
    # The energies of all blocks exceed 10³; 10⁻⁴ beside them changes a value by less than 10⁻⁷ of itself / factor².
    images = photographs(4, 16, 24).astype(float)
    found, expected = hog(images * factor, 4, dtype=np.float64), hog(images, 4, dtype=np.float64)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("cell", [4, 5, 8])
def test_mirror_images_have_mirrored_cells_and_orientations(cell: int) -> None:
    images = photographs(4, 3 * cell, 5 * cell)
    cells = hog(images, cell, dtype=np.float64)
    across, down = hog(images[:, :, ::-1], cell, dtype=np.float64), hog(images[:, ::-1], cell, dtype=np.float64)
    np.testing.assert_allclose(across, cells[:, :, ::-1][..., MIRRORED], atol=1e-12)
    np.testing.assert_allclose(down, cells[:, ::-1][..., UPSIDE_DOWN], atol=1e-12)


def test_a_flat_image_has_zero_cells() -> None:
    assert not hog(np.full((1, 16, 16), 99, dtype=np.uint8)).any()


def test_grey_equals_three_equal_channels() -> None:
    grey = photographs(3, 16, 16, None)
    np.testing.assert_array_equal(hog(grey, 4), hog(np.repeat(grey[..., None], 3, axis=-1), 4))


def test_the_type_of_the_pixels_does_not_matter() -> None:
    images = photographs(3, 16, 16)
    for kind in (np.float32, np.float64, np.int16):
        np.testing.assert_array_equal(hog(images.astype(kind), 4), hog(images, 4))


def test_pixels_that_do_not_fill_a_cell_are_cut_off() -> None:
    images = photographs(2, 21, 27)
    np.testing.assert_array_equal(hog(images, 8), hog(images[:, :16, :24], 8))


def test_batches_and_memory_order_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    images = photographs(7, 16, 16)
    expected = hog(images, 4)
    channels_first = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    monkeypatch.setattr(tables, "BATCH_BYTES", 2 * 8 * images[0].size)
    np.testing.assert_array_equal(hog(channels_first.transpose(0, 2, 3, 1), 4), expected)


def test_no_images_give_no_cells() -> None:
    assert hog(np.zeros((0, 16, 16)), 4).shape == (0, 4, 4, 31)


@pytest.mark.parametrize(
    ("images", "cell", "advice"),
    [
        (np.zeros((16, 16)), 8, r"images\[None\]"),
        (np.zeros((2, 3, 16, 16)), 8, "transpose"),
        (np.full((1, 16, 16), np.nan), 8, "NaN"),
        (np.full((1, 16, 16), np.inf), 8, "infinity"),
        (np.zeros((1, 16, 16), dtype=complex), 8, "real numbers"),
        (np.zeros((1, 16, 16)), 17, "larger than the images"),
        (np.zeros((1, 16, 16)), 0, "try cell=8"),
        (np.zeros((1, 16, 16)), 4.0, "try cell=8"),
    ],
)
def test_bad_input_is_refused_with_advice(images: np.ndarray, cell: int, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        hog(images, cell)


def test_only_floats_can_be_asked_for() -> None:
    with pytest.raises(InputError, match="float32 or float64"):
        hog(np.zeros((1, 16, 16)), dtype=np.int32)
