"""Similarities of examples to bases, in batches of bounded memory, on several threads.

An expansion is a row of blocks: one similarity with its bases and a direction each. `evaluate` fills their columns side
by side, batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from pairlearn.errors import InputError
from pairlearn.examples import Columns, check_examples, count_examples, take_examples
from pairlearn.features import check_columns, is_frame, same_features
from pairlearn.kernels import Kernel
from pairlearn.types import Bools, Examples, Floats, Ints

BATCH_VALUES = 2**23
"""Similarities in one batch when its size is not given: 64 MB of float64."""


@dataclass(frozen=True)
class Done:
    """How far an expansion is: `done` of `total` examples."""

    done: int
    total: int


Progress = Callable[[Done], None]


@dataclass(frozen=True)
class Batching:
    """How similarities are evaluated: rows per batch (None: 64 MB), threads, and who hears of it."""

    size: int | None = None
    n_jobs: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.size is not None and not (isinstance(self.size, (int, np.integer)) and self.size >= 1):
            raise InputError(f"batch_size must be an integer ≥ 1 or None, got {self.size!r}; try None")

    @property
    def threads(self) -> int:
        """Threads over batches, no more than there are cores: a number in a script may be of another machine."""
        return min(effective_n_jobs(self.n_jobs), cpu_count())

    def slices(self, n: int, width: int) -> list[slice]:
        """Rows of every batch; by default enough of them to keep all threads busy."""
        shared = ceil(n / (4 * self.threads)) if self.threads > 1 else n
        step = self.size or max(1, min(BATCH_VALUES // max(1, width), shared))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]


@dataclass(frozen=True, repr=False)
class Block:
    """One similarity and its bases; `basis_first` says whether it holds k(b, x) or k(x, b)."""

    kernel: Kernel
    bases: Any
    index: Ints
    basis_first: bool = False

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        return f"Block({name_of(self.kernel)}, {len(self)} bases)"

    def keep(self, mask: Bools) -> Block:
        """The same block with some of its bases."""
        kept = np.nonzero(mask)[0]
        return replace(self, bases=take_examples(self.bases, kept), index=self.index[kept])

    def values(self, batch: Examples) -> Floats:
        """k(x, b) or k(b, x) of every example of the batch (rows) and every basis (columns)."""
        if self.basis_first:
            return self._checked(self.kernel(self.bases, batch).T, batch)
        return self._checked(self.kernel(batch, self.bases), batch)

    def _checked(self, values: Floats, batch: Examples) -> Floats:
        expected = (count_examples(batch), len(self))
        if values.shape != expected:
            raise InputError(f"{name_of(self.kernel)} gave {values.shape} similarities where {expected} were asked for")
        if not np.isfinite(values).all():
            raise InputError(f"{name_of(self.kernel)} gave NaN or infinity; every similarity must be finite")
        return values


def name_of(kernel: Kernel) -> str:
    """A short name of a similarity for features and messages: that of its function or its class.

    >>> from pairlearn.kernels import Gaussian
    >>> name_of(Gaussian())
    'gaussian'
    """
    function = getattr(kernel, "function", None)
    name = getattr(function, "__name__", type(kernel).__name__)
    return "similarity" if name == "<lambda>" else name.lower()


def keep_bases(kernel: Kernel, examples: Examples, index: Ints) -> Any:
    """What must be kept of the examples `index`; a precomputed matrix may be asymmetric here, but must be square."""
    if not kernel.precomputed:
        return kernel.anchor(examples, index)
    matrix = np.asarray(examples)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"a precomputed similarity must be square at fit, training examples × training examples, got "
            f"{matrix.shape}; any rows × training examples is for predict and transform"
        )
    return Columns(np.asarray(index), matrix.shape[1])


def evaluate(blocks: Sequence[Block], examples: Examples, batching: Batching, dtype: Any) -> Floats:
    """All similarities side by side, (examples, Σ bases); beside this array only a few batches are held at a time.

    Threads write to rows of their own, so no batch waits for another; progress is told in the order of the batches.
    """
    n, width = count_examples(examples), sum(len(block) for block in blocks)
    out = np.empty((n, width), dtype=dtype)

    def fill(rows: slice) -> int:
        batch = examples[rows]
        column = 0
        for block in blocks:
            if len(block):
                out[rows, column : column + len(block)] = block.values(batch)
            column += len(block)
        return rows.stop - rows.start

    done = 0
    for count in _each(fill, batching.slices(n, width), batching.threads):
        done += count
        if batching.progress is not None:
            batching.progress(Done(done, n))
    return out


def _each(action: Callable[[slice], int], batches: list[slice], threads: int) -> Iterator[int]:
    # Kernels release the interpreter lock in their products, and threads share the table of examples.
    if len(batches) <= 1 or threads == 1:
        return map(action, batches)
    found: Iterator[int] = Parallel(threads, prefer="threads", return_as="generator")(
        delayed(action)(rows) for rows in batches
    )
    return found


def validated_examples(estimator: Any, X: Any, *, reset: bool) -> Examples:
    """Examples of any kind, checked; tables of numbers also against the number of features seen at fit.

    scikit-learn checks tables and remembers their features; other examples (strings, images, objects) it would refuse.
    """
    if is_frame(X):
        check_columns(X if reset else same_features(estimator, X), "examples")
    elif hasattr(X, "__array__") and not sparse.issparse(X):
        X = np.asarray(X)
    if not _is_table(X):
        X = check_examples(X)
        if count_examples(X) == 0:
            raise InputError("there are no examples; pass at least one")
    if not _is_table(X):
        return X
    accepts = "csr" if get_tags(estimator).input_tags.sparse else False
    try:
        return validate_data(estimator, X, reset=reset, accept_sparse=accepts, dtype=[np.float64, np.float32])
    except ValueError as error:
        raise InputError(str(error)) from error


def _is_table(X: Any) -> bool:
    if sparse.issparse(X) or is_frame(X):
        return True
    return isinstance(X, np.ndarray) and (X.ndim == 2 or (X.ndim < 2 and X.dtype.kind in "biufc"))
