"""Similarities that align two images before they compare them: rigid, deformable, latent.

Examples are arrays (n, rows, cols, channels) of cells, such as those of `pl.images.hog`. In the usual names H4(2, 0) is
`Deformable(2, 0)`, that is `Rigid(2)`, on cells of 4 pixels; H8(0, 1) is `Deformable(0, 1)` on cells of 8 pixels.
Products are taken in the type of the cells: float32 cells give a float32 matrix, all others a float64 one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, refuse_nonfinite
from pairlearn.kernels.base import Kernel, self_products
from pairlearn.linalg.threads import blas_threads
from pairlearn.types import Examples, Floats, Ints

BLOCK = 1024
"""Most examples of one side that a block of products holds."""
BLOCK_BYTES = 2**26
"""Most bytes of cells that a block of one side holds."""
TILE = (64, 256)
"""Most images of either side whose cell products are held at once while cells move on their own."""
TILE_BYTES = 2**24
"""Most bytes of cell products that one thread holds."""
Shift = tuple[int, int]


@dataclass(frozen=True)
class Rigid(Kernel):
    """max over |z| ≤ h of Σ_c ⟨a[c + z], b[c]⟩: the best of (2h + 1)² shifts; cells outside the image are zero.

    Symmetric, but indefinite unless h = 0, where it is the linear kernel of the flattened cells.

    >>> import numpy as np
    >>> a, b = np.zeros((2, 1, 3, 3, 1))
    >>> a[0, 0, 0], b[0, 1, 0] = 2.0, 3.0
    >>> [Rigid(h)(a, b).item() for h in (0, 1)]
    [0.0, 6.0]
    """

    h: int = 0

    def __post_init__(self) -> None:
        _check_reach("h", self.h)

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.h == 0

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return _best_shift(*_comparable(A, B), self.h)

    def diag(self, A: Examples) -> Floats:
        # Shifting out cells never lengthens an image, so by Cauchy and Schwarz the best shift of a with a is none.
        cells = _cells(A)
        return np.einsum("nrck,nrck->n", cells, cells)

    def features(self, A: Examples) -> Floats | None:
        return _cells(A).reshape(len(A), -1) if self.h == 0 else None


@dataclass(frozen=True)
class Deformable(Kernel):
    """max over |z| ≤ h_rigid of Σ_c max over |l| ≤ h_local of ⟨a[c + z + l], b[c]⟩; cells outside are zero.

    The cells of b stay, those of a move, each on its own: `kernel(images, bases)` deforms the images. This is not
    symmetric; `symmetrise=True` uses ½(k(a, b) + k(b, a)), the explicit choice for a Gram matrix or its spectrum.

    >>> import numpy as np
    >>> a, b = np.ones((2, 1, 1, 2, 1))
    >>> a[0, 0, 0] = 5.0
    >>> [Deformable(0, 1)(*pair).item() for pair in ((a, b), (b, a))]
    [10.0, 6.0]
    """

    h_rigid: int = 0
    h_local: int = 1
    symmetrise: bool = False

    def __post_init__(self) -> None:
        _check_reach("h_rigid", self.h_rigid)
        _check_reach("h_local", self.h_local)

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.h_rigid == 0 and self.h_local == 0

    def __call__(self, A: Examples, B: Examples) -> Floats:
        if self.h_local == 0:
            return Rigid(self.h_rigid)(A, B)
        A, B = _comparable(A, B)
        values = _best_deformation(A, B, self.h_rigid, self.h_local)
        if not self.symmetrise:
            return values
        reverse = values if _equal(A, B) else _best_deformation(B, A, self.h_rigid, self.h_local)
        return (values + reverse.T) / 2

    def diag(self, A: Examples) -> Floats:
        cells, reach = _cells(A), self.h_rigid + self.h_local
        step = _block_size(cells[:1].nbytes * (2 * reach + 1) ** 2)
        parts = [_own_deformation(cells[part], self.h_rigid, self.h_local) for part in _slices(len(cells), step)]
        return np.concatenate(parts) if parts else np.empty(0, dtype=cells.dtype)


@dataclass(frozen=True)
class Latent(Kernel):
    """max over z and z' of k(a_z, b_z') + R(z) + R(z'), where a_z is the version z of the example a.

    `versions(a)` lists the versions of one example, in the form that `kernel` compares (several stacked arrays, or a
    list of objects); `regulariser(a)` lists R(z), a number for each of them (default: all 0). Symmetric if the kernel
    is. Both sides move: shifts by 0 … h cells in a frame that is h cells larger give all displacements up to ±h.
    A parameter that the kernel takes from data, such as gamma="scale", is fixed on the first version of each example.

    >>> import numpy as np
    >>> from pairlearn.kernels import Linear
    >>> either_way = Latent(Linear(), lambda a: [a, a[::-1]], lambda a: [0.0, -1.0])
    >>> either_way(np.array([[1.0, 5.0]]), np.array([[4.0, 0.0]])).item()
    19.0
    """

    kernel: Kernel
    versions: Callable[[Any], Sequence[Any]]
    regulariser: Callable[[Any], Sequence[float]] | None = None
    definite = False

    def __call__(self, A: Examples, B: Examples) -> Floats:
        columns = [self._against(A, versions) for versions in self._blocks(B)]
        return np.concatenate(columns, axis=1) if columns else np.empty((count_examples(A), 0))

    def diag(self, A: Examples) -> Floats:
        return self_products(self, A)

    def resolved(self, examples: Examples) -> Kernel:
        first = [self._listed(examples[i])[0] for i in range(count_examples(examples))]
        return replace(self, kernel=self.kernel.resolved(_table(first)))

    def _against(self, A: Examples, right: _Versions) -> Floats:
        rows = [_best_versions(self.kernel, left, right) for left in self._blocks(A)]
        return np.concatenate(rows) if rows else np.empty((0, len(right.starts)))

    def _blocks(self, examples: Examples) -> Iterator[_Versions]:
        """Examples in turn, as many at a time as have about BLOCK versions together."""
        listed: list[Any] = []
        regulariser: list[float] = []
        starts: list[int] = []
        for i in range(count_examples(examples)):
            starts.append(len(listed))
            listed.extend(self._listed(examples[i]))
            regulariser.extend(self._regularised(examples[i], len(listed) - starts[-1]))
            if len(listed) >= BLOCK or i + 1 == count_examples(examples):
                yield _Versions(_table(listed), np.array(regulariser), np.array(starts))
                listed, regulariser, starts = [], [], []

    def _listed(self, example: Any) -> Sequence[Any]:
        versions = self.versions(example)
        if len(versions) == 0:
            raise InputError("versions(example) listed no version; list at least the example itself")
        return versions

    def _regularised(self, example: Any, n: int) -> Sequence[float]:
        values = [0.0] * n if self.regulariser is None else list(self.regulariser(example))
        if len(values) != n or not np.isfinite(values).all():
            raise InputError(f"regulariser(example) must list one finite number for each of {n} versions, got {values}")
        return values


@dataclass(frozen=True)
class _Versions:
    """The versions of some examples one after another, and where those of each example start."""

    table: Any
    regulariser: Floats
    starts: Ints


def _table(versions: Sequence[Any]) -> Any:
    return np.stack(versions) if all(isinstance(version, np.ndarray) for version in versions) else list(versions)


def _best_versions(kernel: Kernel, left: _Versions, right: _Versions) -> Floats:
    values = kernel(left.table, right.table) + left.regulariser[:, None] + right.regulariser
    rows: Floats = np.maximum.reduceat(values, left.starts, axis=0)
    best: Floats = np.maximum.reduceat(rows, right.starts, axis=1)
    return best


def _check_reach(name: str, h: int) -> None:
    if isinstance(h, bool) or not isinstance(h, (int, np.integer)) or h < 0:
        raise InputError(f"{name} is a number of cells >= 0, got {h!r}; try {name}=1")


def _cells(A: Examples) -> Floats:
    if not isinstance(A, np.ndarray) or A.ndim != 4 or A.dtype.kind not in "buif":
        shape = f" of shape {A.shape}" if isinstance(A, np.ndarray) else ""
        raise InputError(
            f"matching needs an array of cells (n, rows, cols, channels), got {type(A).__name__}{shape}; "
            "compute it with pl.images.hog(images, cell=8)"
        )
    cells = A if A.dtype in (np.float32, np.float64) else A.astype(np.float64)
    refuse_nonfinite(cells, "cells")
    return cells


def _comparable(A: Examples, B: Examples) -> tuple[Floats, Floats]:
    """Both sides checked and of one type."""
    first = _cells(A)
    second = first if A is B else _cells(B)
    if first.shape[1:] != second.shape[1:]:
        raise InputError(
            f"images to match have equally many cells, got {first.shape[1:]} and {second.shape[1:]}; "
            "scale the images to one size before computing their cells"
        )
    common = np.result_type(first, second)
    return first.astype(common, copy=False), second.astype(common, copy=False)


def _equal(A: Floats, B: Floats) -> bool:
    return A is B or (A.shape == B.shape and np.array_equal(A[:1], B[:1]) and np.array_equal(A, B))


def _block_size(bytes_each: int) -> int:
    return min(BLOCK, max(1, BLOCK_BYTES // max(1, bytes_each)))


def _slices(n: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _best_shift(A: Floats, B: Floats, h: int) -> Floats:
    """Running maximum over all shifts; of equal sides over one of z and −z, whose products are transposes."""
    _, rows, cols, _ = A.shape
    same = _equal(A, B)
    # A shift by the whole image leaves nothing: its sum is zero.
    out: Floats = np.full((len(A), len(B)), 0.0 if h >= min(rows, cols) else -np.inf, dtype=A.dtype)
    down, right = min(h, rows - 1), min(h, cols - 1)
    step = _block_size(A[:1].nbytes)
    with blas_threads(2.0 * A.size * len(B)):
        for z in range(0 if same else -right, right + 1):
            shifts = range(0 if same and z == 0 else -down, down + 1)
            for part in _slices(len(B), step):
                _raise_to_columns(A, B[part], z, shifts, step, out[:, part])
    return np.maximum(out, out.T) if same else out


def _raise_to_columns(A: Floats, B: Floats, z: int, shifts: range, step: int, out: Floats) -> None:
    """out = max(out, products) for one shift z to the right and all given shifts down."""
    rows = A.shape[1]
    fixed = _cut_columns(B, -z)
    product = np.empty((min(step, len(A)), len(B)), dtype=A.dtype)
    for part in _slices(len(A), step):
        moving, values = _cut_columns(A[part], z), product[: part.stop - part.start]
        for y in shifts:
            above, below = moving[:, max(y, 0) : rows + min(y, 0)], fixed[:, max(-y, 0) : rows + min(-y, 0)]
            np.matmul(above.reshape(len(above), -1), below.reshape(len(below), -1).T, out=values)
            np.maximum(out[part], values, out=out[part])


def _cut_columns(cells: Floats, z: int) -> Floats:
    """Columns that stay when the image is shifted by z, (n, rows, kept · channels) without gaps.

    Rows of cells then follow each other, so that every shift down is a view and needs no copy of its own.
    """
    kept = cells[:, :, max(z, 0) : cells.shape[2] + min(z, 0)]
    return np.ascontiguousarray(kept).reshape(len(cells), cells.shape[1], -1)


def _best_deformation(A: Floats, B: Floats, h_rigid: int, h_local: int) -> Floats:
    # Numba loads here, so that kernels without compiled loops stay quick to import.
    from pairlearn.loops.images import match_tiles

    out: Floats = np.empty((len(A), len(B)), dtype=A.dtype)
    # A reach beyond the image adds nothing but the zero that a reach of the image's size already has.
    h_local, h_rigid = min(h_local, max(A.shape[1:3])), min(h_rigid, max(A.shape[1:3]))
    n_a, n_b = _tile_sizes(A, B, h_rigid, h_local)
    step = _block_size(A[:1].nbytes)
    with blas_threads(0):
        for columns in _slices(len(B), step):
            right = _tiles(B[columns], n_b)
            for part in _slices(len(A), step):
                left = _tiles(A[part], n_a)
                values = np.empty((len(left), len(right), n_a, n_b), dtype=A.dtype)
                match_tiles(left, right, h_rigid, h_local, values)
                whole = values.transpose(0, 2, 1, 3).reshape(len(left) * n_a, len(right) * n_b)
                out[part, columns] = whole[: part.stop - part.start, : columns.stop - columns.start]
    return out


def _tile_sizes(A: Floats, B: Floats, h_rigid: int, h_local: int) -> tuple[int, int]:
    """Images of either side in one tile, so that their products and sums over shifts fit."""
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


def _own_deformation(cells: Floats, h_rigid: int, h_local: int) -> Floats:
    """k(a, a) for all images at once: products of each cell with every neighbour, then the two maxima."""
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
