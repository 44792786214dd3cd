"""Histograms of oriented gradients with 31 numbers per cell (Felzenszwalb, Girshick, McAllester, Ramanan 2010)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn import loops
from pairlearn.images.tables import batches, check_images, check_result_type, whole_cells
from pairlearn.types import Floats

EPSILON = 1e-4
"""Added to the energy of a block, so that flat blocks give zeros."""


def hog(images: Any, cell: int = 8, *, dtype: Any = np.float32) -> Floats:
    """Cells of oriented gradients, shape (n, h // cell, w // cell, 31).

    Images are grey (n, h, w) or colour (n, h, w, 3), uint8 or floats on the scale 0 … 255. Per pixel the channel with
    the largest gradient counts, at the nearest of 18 directions (one exactly between 80° and 100° counts half for
    each), shared bilinearly between the four nearest cells. With the histogram c of a cell and the energy E_k of each
    of the four 2 × 2 blocks that hold it,
        v_k(t) = min(t / √(E_k + 10⁻⁴), 0.2),   E = Σ over cells and o < 9 of (c_o + c_{o+9})²,
        [0:18]  ½ Σ_k v_k(c_o)              direction o·20°, light from dark,
        [18:27] ½ Σ_k v_k(c_o + c_{o+9})    direction without its sign,
        [27:31] Σ_o v_k(c_o) / √18          texture, k = above left, above right, below left, below right.

    Borders: pixels and cells outside the image repeat its border, so that no border cell is lost; 32 × 32 pixels give
    8 × 8 cells of 4 pixels. Rows and columns that do not fill a cell are cut off below and on the right.
    For images on the scale 0 … 1 the constant 10⁻⁴ damps blocks with gradients below about 0.01.

    >>> import numpy as np, pairlearn as pl
    >>> slope = np.tile(np.arange(32.0), (1, 32, 1))
    >>> pl.images.hog(slope, cell=8).shape
    (1, 4, 4, 31)
    >>> int(pl.images.hog(slope, cell=8)[0, 1, 1, :18].argmax())
    0
    """
    table = whole_cells(check_images(images, colour=True), cell)
    shape = (len(table), table.shape[1] // cell, table.shape[2] // cell, 31)
    result: Floats = np.empty(shape, dtype=check_result_type(dtype))
    cosines, sines = _directions()
    for part in batches(table, 8 * table[:1].size):
        # One type for all images, so that the loop is compiled once.
        plain, cells = np.ascontiguousarray(table[part], dtype=np.float64), np.zeros(result[part].shape)
        loops.images.fill_hog(plain, int(cell), cosines, sines, EPSILON, cells)
        result[part] = cells
    return result


def _directions() -> tuple[Floats, Floats]:
    """cos and sin of o·20° for o < 9, mirror images of each other bit by bit."""
    angles = np.arange(9) * np.pi / 9
    cosines, sines = np.cos(angles), np.sin(angles)
    cosines[5:], sines[5:] = -cosines[4:0:-1], sines[4:0:-1]
    return cosines, sines
