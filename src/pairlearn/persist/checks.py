"""What must hold before a loaded function is called: compiled loops trust its indices.

A wrong index would read beyond an array, not raise. So every index of a loaded function is held against the size of
what it points into, once, before anyone calls it; the same checks at saving refuse what could not be loaded again.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import Columns, count_examples
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import Kernel
from pairlearn.pair_kernels import ViewKernel
from pairlearn.pair_kernels.finite import Arcs, Finite
from pairlearn.persist.known import VALUES


def check_function(function: Any) -> None:
    """Compiled loops trust the indices of a function, so they are checked before anyone calls it."""
    if not isinstance(function, PairFunction):
        raise InputError("it holds no learnt function")
    for leaf in function.kernel.leaves:
        _check_storable(leaf.kernel if isinstance(leaf, ViewKernel) else leaf.base)
        if isinstance(leaf, ViewKernel):
            _check_finite(leaf)
    columns = (function.left, function.right, function.coefficients)
    if any(column.ndim != 1 or len(column) != len(function.left) for column in columns):
        raise InputError("support pairs and coefficients differ in number")
    if not np.isfinite(function.coefficients).all():
        raise InputError("coefficients are not finite")
    if function.kernel.bases:
        _check_anchor(function.anchor, function.left)
        _check_anchor(function.anchors[-1], function.right)
    _check_seen(function)


def _check_seen(function: PairFunction) -> None:
    """Each view that the kernel looks through has shown one row of every support pair."""
    leaves = [leaf for leaf in function.kernel.leaves if isinstance(leaf, ViewKernel)]
    needed = {(leaf.view, order) for leaf in leaves for order in leaf.swapped}
    if not needed <= {(view, order) for view, order, _ in function.seen}:
        raise InputError("what its kernel sees of the support pairs is missing")
    for view, _, table in function.seen:
        if not _is_matrix(table) or len(table) != len(function.left):
            raise InputError(f"what {view} shows of the support pairs is incomplete")
        if isinstance(view, Arcs):
            _check_range(table[:, 0], len(view))


def _check_finite(leaf: ViewKernel) -> None:
    """A matrix between arcs has one row for each of them."""
    n_arcs = len(leaf.view) if isinstance(leaf.view, Arcs) else None
    if isinstance(leaf.kernel, Finite) and len(leaf.kernel.matrix) != n_arcs:
        raise InputError("a kernel on arcs and its matrix differ in size")


# What the base kernels need of the support examples: rows of numbers, or the columns of a precomputed matrix.


def _check_anchor(anchor: Any, column: np.ndarray[Any, Any]) -> None:
    if isinstance(anchor, Columns):
        _check_range(anchor.index, anchor.n_columns)
    elif not (_is_matrix(anchor) or sparse.issparse(anchor)):
        raise InputError(
            f"examples of type {type(anchor).__name__} cannot be stored safely; compute the similarities "
            'beforehand and fit with base="precomputed"'
        )
    _check_range(column, count_examples(anchor))


def _check_storable(base: Kernel | None) -> None:
    """Refuse kernels that are code, alone or inside others: a file holds values only."""
    if base is None or VALUES.get(type(base).__name__) is not type(base):
        name = "a pair kernel without base" if base is None else type(base).__name__
        raise InputError(
            f"{name} cannot be stored safely: a file must not hold code; fit with a kernel of pl.kernels, or "
            'compute the matrix beforehand and use base="precomputed"'
        )
    for field in fields(base):  # type: ignore[arg-type]
        value = getattr(base, field.name)
        if isinstance(value, Kernel):
            _check_storable(value)


def _is_matrix(anchor: Any) -> bool:
    return isinstance(anchor, np.ndarray) and anchor.ndim == 2 and anchor.dtype in (np.float32, np.float64)


def _check_range(index: np.ndarray[Any, Any], n: int) -> None:
    """All indices in 0 … n − 1."""
    if index.ndim != 1 or (index.size and not 0 <= index.min() <= index.max() < n):
        raise InputError("an index of a support example is out of range")
