"""Local binary patterns of pixels and patches, each against a brute-force twin."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pairlearn.errors import InputError
from pairlearn.images import lbp, square_root, tplbp

RING = [(0, 2), (1, 1), (2, 0), (1, -1), (0, -2), (-1, -1), (-2, 0), (-1, 1)]  # (down, right), radius 2, written out


def grey(n: int, h: int, w: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 6, (n, h, w)).astype(np.uint8) * 40


def histograms(codes: np.ndarray, cell: int, bins: int) -> np.ndarray:
    """Cell by cell, each brought to length 1, cut at 0.2, brought to length 1 again."""
    parts = []
    for y in range(0, codes.shape[0] - cell + 1, cell):
        for x in range(0, codes.shape[1] - cell + 1, cell):
            counts = np.array([(codes[y : y + cell, x : x + cell] == b).sum() for b in range(bins)], dtype=float)
            cut = np.minimum(counts / np.sqrt((counts**2).sum()), 0.2)
            parts.append(cut / np.sqrt((cut**2).sum()))
    return np.concatenate(parts)


def pixel(image: np.ndarray, y: int, x: int) -> float:
    """Grey value on the scale 0 … 1; outside the image that of the nearest pixel."""
    return float(image[min(max(y, 0), len(image) - 1), min(max(x, 0), image.shape[1] - 1)]) / 255


def four_point_code(image: np.ndarray, y: int, x: int) -> int:
    """Number of ones and where their run starts; 14 when there is more than one run."""
    steps = [(0, 1), (-1, 0), (0, -1), (1, 0)]
    bits = [pixel(image, y + v, x + u) >= pixel(image, y, x) for v, u in steps]
    ones = sum(bits)
    starts = [i for i in range(4) if bits[i] and not bits[i - 1]]
    if ones in (0, 4):
        return 0 if ones == 0 else 13
    return 14 if len(starts) > 1 else 1 + (ones - 1) * 4 + (-starts[0]) % 4


def patch_code(image: np.ndarray, y: int, x: int, width: int, apart: int, threshold: float) -> int:
    around = range(-(width // 2), width // 2 + 1)

    def distance(step: tuple[int, int]) -> float:
        squares = [
            (pixel(image, y + i, x + j) - pixel(image, y + step[0] + i, x + step[1] + j)) ** 2
            for i in around
            for j in around
        ]
        return float(np.sqrt(sum(squares)))

    d = [distance(step) for step in RING]
    return sum(2**i for i in range(8) if d[i] - d[(i + apart) % 8] >= threshold)


def all_codes(image: np.ndarray, code: object, *arguments: object) -> np.ndarray:
    h, w = image.shape
    return np.array([[code(image, y, x, *arguments) for x in range(w)] for y in range(h)])  # type: ignore[operator]


def test_uniform_patterns_equal_their_twin() -> None:
    pytest.importorskip("skimage")
    images = grey(3, 12, 8)
    expected = [histograms(all_codes(image, four_point_code), 4, 15) for image in images]
    np.testing.assert_allclose(lbp(images, 4, points=4, dtype=np.float64), expected, atol=1e-12)


def test_eight_points_give_59_bins_per_cell_of_length_one() -> None:
    pytest.importorskip("skimage")
    found = lbp(grey(2, 19, 16), cell=8, dtype=np.float64)
    assert found.shape == (2, 4 * 59)
    np.testing.assert_allclose((found.reshape(2, 4, 59) ** 2).sum(-1), 1)


def test_patterns_do_not_change_with_brightness_and_contrast() -> None:
    pytest.importorskip("skimage")
    images = grey(2, 16, 16)
    np.testing.assert_array_equal(lbp(images // 2 + 20), lbp(images))


def test_without_scikit_image_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skimage.feature", None)
    with pytest.raises(InputError, match=r'pip install "pairlearn\[images\]"'):
        lbp(grey(1, 16, 16))


@pytest.mark.parametrize(("width", "apart"), [(3, 2), (3, 5), (1, 1), (5, 2)])
def test_patch_patterns_equal_their_twin(width: int, apart: int) -> None:
    images = grey(2, 8, 12, seed=width)
    expected = [histograms(all_codes(image, patch_code, width, apart, 0.01), 4, 256) for image in images]
    np.testing.assert_allclose(tplbp(images, 4, width=width, apart=apart, dtype=np.float64), expected, atol=1e-12)


def test_patch_patterns_do_not_change_with_brightness() -> None:
    images = grey(3, 16, 16)
    np.testing.assert_array_equal(tplbp(images + np.uint8(16)), tplbp(images))


def test_integers_are_read_on_the_scale_of_floats() -> None:
    images = grey(3, 16, 16)
    np.testing.assert_array_equal(tplbp(images / 255), tplbp(images))


def test_a_flat_image_has_one_pattern() -> None:
    found = tplbp(np.zeros((1, 8, 8)))
    assert found[0, 0] == 1
    assert not found[0, 1:].any()


def test_square_root_turns_inner_products_into_hellingers_kernel() -> None:
    h = np.random.default_rng(0).random((2, 9))
    first, second = square_root(h)
    np.testing.assert_allclose(first @ second, np.sqrt(h[0] * h[1]).sum())
    with pytest.raises(InputError, match="bins >= 0"):
        square_root(h - 0.9)
    with pytest.raises(InputError, match="bins >= 0"):
        square_root(np.array([np.nan]))


@pytest.mark.parametrize("descriptor", [lbp, tplbp])
@pytest.mark.parametrize(
    ("images", "cell", "advice"),
    [
        (np.zeros((16, 16)), 8, r"images\[None\]"),
        (np.zeros((1, 16, 16, 3)), 8, r"images.mean\(axis=-1\)"),
        (np.full((1, 16, 16), np.nan), 8, "NaN"),
        (np.zeros((1, 16, 16)), 17, "larger than the images"),
    ],
)
def test_bad_images_are_refused_with_advice(descriptor: object, images: np.ndarray, cell: int, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        descriptor(images, cell)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"patches": 1}, "patches"),
        ({"patches": 20}, "patches=8"),
        ({"width": 2}, "odd"),
        ({"apart": 8}, "itself"),
        ({"radius": 0}, "radius"),
        ({"threshold": np.nan}, "threshold"),
    ],
)
def test_bad_options_are_refused_with_advice(options: dict[str, float], advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        tplbp(np.zeros((1, 16, 16)), **options)


def test_bad_points_are_refused() -> None:
    with pytest.raises(InputError, match="points"):
        lbp(np.zeros((1, 16, 16), dtype=np.uint8), points=1)
