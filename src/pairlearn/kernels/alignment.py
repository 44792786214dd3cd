"""How images of cells are matched: the best of all shifts, of whole images and of single cells.

Everything here takes cells (n, rows, cols, channels) of one type. A shift by z is a matrix product of what stays of
either image, so (2h + 1)² products give all values of `Rigid`; cells that move on their own need the products of each
cell with its neighbours, tile by tile, and a compiled maximum.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairlearn import loops
from pairlearn.errors import InputError
from pairlearn.examples import refuse_nonfinite
from pairlearn.linalg.threads import blas_threads
from pairlearn.linalg.tiles import product
from pairlearn.types import Examples, Floats

BLOCK = 1024
"""Most examples of one side that a block of products holds."""
BLOCK_BYTES = 2**26
"""Most bytes of cells that a block of one side holds."""
TILE = (64, 256)
"""Most images of either side whose cell products are held at once while cells move on their own."""
TILE_BYTES = 2**24
"""Most bytes of cell products that one thread holds."""


def as_cells(A: Examples) -> Floats:
    """The examples as float32 or float64 cells, or an error that says what to do."""
    if not isinstance(A, np.ndarray) or A.ndim != 4 or A.dtype.kind not in "buif":
        shape = f" of shape {A.shape}" if isinstance(A, np.ndarray) else ""
        raise InputError(
            f"matching needs an array of cells (n, rows, cols, channels), got {type(A).__name__}{shape}; "
            "compute it with pl.images.hog(images, cell=8)"
        )
    cells = A if A.dtype in (np.float32, np.float64) else A.astype(np.float64)
    refuse_nonfinite(cells, "cells")
    return cells


def comparable(A: Examples, B: Examples) -> tuple[Floats, Floats]:
    """Both sides checked and of one type: products of two types would copy one of them for every shift."""
    first = as_cells(A)
    second = first if A is B else as_cells(B)
    if first.shape[1:] != second.shape[1:]:
        raise InputError(
            f"images to match have equally many cells, got {first.shape[1:]} and {second.shape[1:]}; "
            "scale the images to one size before computing their cells"
        )
    common = np.result_type(first, second)
    return first.astype(common, copy=False), second.astype(common, copy=False)


def same_cells(A: Floats, B: Floats) -> bool:
    """Whether both sides are the same images: half of the shifts are then enough. The first image tells most apart."""
    return A is B or (A.shape == B.shape and np.array_equal(A[:1], B[:1]) and np.array_equal(A, B))


def _block_size(bytes_each: int) -> int:
    """Examples in one block, so that neither its examples nor its bytes are too many."""
    return min(BLOCK, max(1, BLOCK_BYTES // max(1, bytes_each)))


def _slices(n: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def best_shift(A: Floats, B: Floats, h: int) -> Floats:
    """max over |z| ≤ h of Σ_c ⟨a[c + z], b[c]⟩, (len(A), len(B)): a running maximum over (2h + 1)² matrix products.

    What a shift pushes out of the image meets zeros, so each product takes only the cells that overlap. Of equal sides
    the products of z and −z are transposes of each other, hence half of them are enough.
    """
    _, rows, cols, _ = A.shape
    same = same_cells(A, B)
    # A shift by the whole image leaves nothing: its sum is zero.
    out: Floats = np.full((len(A), len(B)), 0.0 if h >= min(rows, cols) else -np.inf, dtype=A.dtype)
    down, right = min(h, rows - 1), min(h, cols - 1)
    step = _block_size(A[:1].nbytes)
    with blas_threads(0):
        for z in range(0 if same else -right, right + 1):
            shifts = range(0 if same and z == 0 else -down, down + 1)
            for part in _slices(len(B), step):
                _raise_to_columns(A, B[part], z, shifts, step, out[:, part])
    return np.maximum(out, out.T) if same else out


def _raise_to_columns(A: Floats, B: Floats, z: int, shifts: range, step: int, out: Floats) -> None:
    """out = max(out, products) for one shift z to the right and all given shifts down."""
    rows = A.shape[1]
    fixed = _cut_columns(B, -z)
    room = np.empty((min(step, len(A)), len(B)), dtype=A.dtype)
    for part in _slices(len(A), step):
        moving, values = _cut_columns(A[part], z), room[: part.stop - part.start]
        for y in shifts:
            above, below = moving[:, max(y, 0) : rows + min(y, 0)], fixed[:, max(-y, 0) : rows + min(-y, 0)]
            product(above.reshape(len(above), -1), below.reshape(len(below), -1).T, out=values)
            np.maximum(out[part], values, out=out[part])


def _cut_columns(cells: Floats, z: int) -> Floats:
    """Columns that stay when the image is shifted by z, (n, rows, kept · channels) without gaps.

    Rows of cells then follow each other, so that every shift down is a view and needs no copy of its own.
    """
    kept = cells[:, :, max(z, 0) : cells.shape[2] + min(z, 0)]
    return np.ascontiguousarray(kept).reshape(len(cells), cells.shape[1], -1)


def best_deformation(A: Floats, B: Floats, h_rigid: int, h_local: int) -> Floats:
    """max over |z| ≤ h_rigid of Σ_c max over |l| ≤ h_local of ⟨a[c + z + l], b[c]⟩, (len(A), len(B)).

    The products ⟨a[c'], b[c]⟩ of a tile of images are one matrix product per couple of cells; both maxima are then
    compiled loops over them. Tiles bound the memory; they are filled with zero images, whose values are cut off.
    """
    out: Floats = np.empty((len(A), len(B)), dtype=A.dtype)
    h_local, h_rigid = within_image(A, h_local), within_image(A, h_rigid)
    n_a, n_b = tile_sizes(A, B, h_rigid, h_local)
    step = _block_size(A[:1].nbytes)
    with blas_threads(0):
        for columns in _slices(len(B), step):
            right = _tiles(B[columns], n_b)
            for part in _slices(len(A), step):
                left = _tiles(A[part], n_a)
                values = np.empty((len(left), len(right), n_a, n_b), dtype=A.dtype)
                loops.images.match_tiles(left, right, h_rigid, h_local, values)
                whole = values.transpose(0, 2, 1, 3).reshape(len(left) * n_a, len(right) * n_b)
                out[part, columns] = whole[: part.stop - part.start, : columns.stop - columns.start]
    return out


def within_image(cells: Floats, h: int) -> int:
    """A reach beyond the image adds nothing but the zero that a reach of the image's size already has."""
    return min(h, max(cells.shape[1:3]))


def tile_sizes(A: Floats, B: Floats, h_rigid: int, h_local: int) -> tuple[int, int]:
    """Images of either side in one tile, so that their products and sums over shifts fit.

    A couple of images holds one product per cell and neighbour (no more neighbours than the image has cells) and one
    sum per rigid shift. Columns are kept wide and rows are cut: matrix products of few columns are slow.
    """
    reach, (rows, cols) = 2 * (h_rigid + h_local) + 1, A.shape[1:3]
    held = min(reach, rows) * min(reach, cols) + (2 * h_rigid + 1) ** 2
    n_b = min(TILE[1], max(1, len(B)))
    return max(1, min(TILE[0], len(A), TILE_BYTES // (held * n_b * A.itemsize))), n_b


def _tiles(cells: Floats, size: int) -> Floats:
    """Images in tiles of `size`, filled up with zeros, cell by cell: (tiles, rows, cols, size, channels)."""
    n, rows, cols, channels = cells.shape
    count = -(-n // size)
    tiles: Floats = np.zeros((count, rows, cols, size, channels), dtype=cells.dtype)
    for t in range(count):
        part = cells[t * size : (t + 1) * size]
        tiles[t, :, :, : len(part)] = part.transpose(1, 2, 0, 3)
    return tiles


def self_deformations(cells: Floats, h_rigid: int, h_local: int) -> Floats:
    """k(a, a) of every image, (n,), in blocks: each holds the products of its cells with all (2h + 1)² neighbours."""
    h_local, h_rigid = within_image(cells, h_local), within_image(cells, h_rigid)
    step = _block_size(cells[:1].nbytes * (2 * (h_rigid + h_local) + 1) ** 2)
    parts = [_self_deformation(cells[part], h_rigid, h_local) for part in _slices(len(cells), step)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=cells.dtype)


def _self_deformation(cells: Floats, h_rigid: int, h_local: int) -> Floats:
    """k(a, a) for all images at once: products of each cell with every neighbour, then the two maxima.

    The frame of zeros stands for the cells outside. A single product of images serves all local shifts around all
    rigid ones, because c + z + l depends on z + l alone.
    """
    _, rows, cols, _ = cells.shape
    reach = h_rigid + h_local
    framed = np.pad(cells, ((0, 0), (reach, reach), (reach, reach), (0, 0)))
    products = {
        (y, x): np.einsum("nrck,nrck->nrc", framed[:, y : y + rows, x : x + cols], cells)
        for y in range(2 * reach + 1)
        for x in range(2 * reach + 1)
    }
    local, rigid = range(2 * h_local + 1), range(2 * h_rigid + 1)
    sums = [
        np.maximum.reduce([products[v + y, u + x] for y in local for x in local]).sum(axis=(1, 2))
        for v in rigid
        for u in rigid
    ]
    return np.maximum.reduce(sums)
