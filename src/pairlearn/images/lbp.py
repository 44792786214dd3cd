"""Histograms of local binary patterns, of pixels (LBP) and of patches (TPLBP), on a grid of cells."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from pairlearn import loops
from pairlearn.errors import InputError
from pairlearn.images.tables import Images, batches, check_images, check_result_type, whole_cells
from pairlearn.types import Floats, Ints


def lbp(images: Any, cell: int = 8, *, points: int = 8, radius: int = 1, dtype: Any = np.float32) -> Floats:
    """Histograms of uniform local binary patterns, shape (n, cells · (points·(points − 1) + 3)).

    Each pixel is compared with `points` neighbours on a circle; patterns with at most two changes round the circle
    have a bin of their own, all others share the last one (59 bins for 8 points). Each cell's histogram is brought to
    length 1, truncated at 0.2 and brought to length 1 again. Pixels outside the image repeat its border; rows and
    columns that do not fill a cell are cut off. Best for uint8: the comparison of floats hangs on their last bits.
    Needs scikit-image.

    >>> import numpy as np, pairlearn as pl
    >>> pl.images.lbp(np.zeros((2, 16, 16), dtype=np.uint8), cell=8).shape
    (2, 236)
    """
    table = whole_cells(check_images(images, colour=False)[..., 0], cell)
    _check_count("points", points, 2)
    _check_count("radius", radius, 1)
    bins = points * (points - 1) + 3
    result = _empty_histograms(table, cell, bins, dtype)
    for i, image in enumerate(table):
        result[i] = cell_histograms(_uniform_codes(image, points, radius), cell, bins)
    return result


def tplbp(
    images: Any,
    cell: int = 8,
    *,
    patches: int = 8,
    width: int = 3,
    apart: int = 2,
    radius: int = 2,
    threshold: float = 0.01,
    dtype: Any = np.float32,
) -> Floats:
    """Histograms of three-patch binary patterns (Wolf, Hassner, Taigman 2008), shape (n, cells · 2^patches).

    The code of a pixel is Σ_i [d(C_i, C_p) − d(C_{i + apart}, C_p) ≥ threshold] · 2^i, where C_p is the patch of
    width × width pixels around it, C_i the `patches` ones on a ring of the given radius (centres at the nearest pixel,
    indices round the ring) and d the Euclidean distance of grey values on the scale 0 … 1: integers are divided by
    255, floats taken as they are. Histograms and borders as for `lbp`.

    >>> import numpy as np, pairlearn as pl
    >>> pl.images.tplbp(np.zeros((2, 16, 16)), cell=8).shape
    (2, 1024)
    """
    table = whole_cells(check_images(images, colour=False)[..., 0], cell)
    _check_ring(patches, width, apart, radius, threshold)
    offsets, half = ring(patches, radius), width // 2
    margin = radius + half
    result = _empty_histograms(table, cell, 2**patches, dtype)
    for part in batches(table, 16 * table[:1].size):
        codes = np.empty(table[part].shape, dtype=np.int64)
        loops.images.fill_patch_codes(
            _framed(table[part], margin), offsets, half, apart, float(threshold), margin, codes
        )
        for histograms, image_codes in zip(result[part], codes, strict=True):
            histograms[:] = cell_histograms(image_codes, cell, 2**patches)
    return result


def square_root(histograms: Floats) -> Floats:
    """√h of every bin, so that inner products become those of Hellinger's kernel Σ √(h_i g_i).

    >>> square_root(np.array([[0.25, 0.0]])).tolist()
    [[0.5, 0.0]]
    """
    values = np.asarray(histograms)
    if values.size and not values.min() >= 0:
        raise InputError("only histograms, with bins >= 0, have a square root; take it before centring or whitening")
    return np.sqrt(values)


def ring(patches: int, radius: int) -> Ints:
    """(down, right) steps to the nearest pixels of points spread evenly on a circle, shape (patches, 2)."""
    angles = 2 * np.pi * np.arange(patches) / patches
    # Cosines of right angles come with rounding errors; without them halves round alike on all sides.
    exact = np.round(radius * np.column_stack([np.sin(angles), np.cos(angles)]), 9)
    steps: Ints = (np.sign(exact) * np.floor(np.abs(exact) + 0.5)).astype(np.int64)
    return steps


def cell_histograms(codes: Ints, cell: int, bins: int) -> Floats:
    """Histograms of the codes of each cell, length 1, truncated at 0.2, length 1 again; shape (cells · bins,)."""
    rows, cols = codes.shape[0] // cell, codes.shape[1] // cell
    index = (np.arange(len(codes)) // cell)[:, None] * cols + np.arange(codes.shape[1]) // cell
    counts = np.bincount((index * bins + codes).ravel(), minlength=rows * cols * bins)
    unit = _unit(counts.reshape(-1, bins).astype(np.float64))
    return _unit(np.minimum(unit, 0.2)).ravel()


def _empty_histograms(images: Images, cell: int, bins: int, dtype: Any) -> Floats:
    n, height, width = images.shape
    result: Floats = np.empty((n, (height // cell) * (width // cell) * bins), dtype=check_result_type(dtype))
    return result


def _unit(rows: Floats) -> Floats:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _uniform_codes(image: Images, points: int, radius: int) -> Ints:
    try:
        feature = import_module("skimage.feature")
    except ImportError as error:
        raise InputError('lbp needs scikit-image: pip install "pairlearn[images]"') from error
    framed = np.pad(image, radius, mode="edge")
    codes = feature.local_binary_pattern(framed, points, radius, method="nri_uniform")
    inner: Ints = codes[radius:-radius, radius:-radius].astype(np.int64)
    return inner


def _framed(images: Images, margin: int) -> Floats:
    """Grey values on the scale 0 … 1 with the border repeated `margin` times."""
    scale = 1.0 if images.dtype.kind == "f" else 255.0
    return np.pad(images.astype(np.float64) / scale, ((0, 0), (margin, margin), (margin, margin)), mode="edge")


def _check_count(name: str, value: int, least: int) -> None:
    if not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} is a whole number >= {least}, got {value!r}")


def _check_ring(patches: int, width: int, apart: int, radius: int, threshold: float) -> None:
    _check_count("patches", patches, 2)
    _check_count("radius", radius, 1)
    _check_count("width", width, 1)
    _check_count("apart", apart, 1)
    if patches > 16:
        raise InputError(f"patches={patches} would give 2^{patches} bins per cell; try patches=8")
    if width % 2 == 0:
        raise InputError(f"width is odd, so that a patch has a centre, got {width}; try width=3")
    if apart % patches == 0:
        raise InputError(f"apart={apart} compares each of {patches} patches with itself; try apart=2")
    if not np.isfinite(threshold):
        raise InputError(f"threshold is a finite number, got {threshold!r}; try threshold=0.01")
