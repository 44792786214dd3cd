"""What must hold before a loaded model is used: it is fitted, its parts fit, and compiled loops may trust its indices.

A wrong index would read beyond an array, not raise. So every index of a loaded function is held against the size of
what it points into, once, before anyone calls it; the same checks at saving refuse what could not be loaded again.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.learnt import LearntBaseline
from pairlearn.baselines.stacked import StackedPairSVC
from pairlearn.errors import InputError
from pairlearn.examples import Columns, count_examples
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import Kernel
from pairlearn.machines.machine import PairMachine
from pairlearn.metrics.kernelised import KernelPseudoMetric
from pairlearn.metrics.online import OnlinePseudoMetric
from pairlearn.on_examples import OnExamples
from pairlearn.pair_kernels import ViewKernel
from pairlearn.pair_kernels.finite import Arcs, Finite
from pairlearn.persist.known import TRANSFORMERS, VALUES
from pairlearn.persist.transformers import check_transformer
from pairlearn.scorers.gallery import Gallery
from pairlearn.scorers.normalised import NormalisedScorer
from pairlearn.scorers.scorer import as_scorer
from pairlearn.scorers.verifier import Verifier
from pairlearn.words import counted


def check_model(model: Any) -> None:
    """Refuse a model that could not be asked: one that is not fitted, or whose parts are something else."""
    match model:
        case Verifier() | NormalisedScorer() | Gallery():
            check_model(as_scorer(model.model))
        case Pipeline():
            _check_steps(model)
        case _:
            _check_fitted(model)
    if isinstance(model, Verifier):
        model.fit()


def _check_steps(pipeline: Pipeline) -> None:
    """A pipeline has steps (name, part); all parts but the last transform, and all are fitted."""
    for place, (name, part) in enumerate(pipeline.steps):
        is_last = place == len(pipeline.steps) - 1
        if not isinstance(name, str) or not (is_last or part == "passthrough" or hasattr(part, "transform")):
            raise InputError(f"step {name!r} of the pipeline does not transform")
        if part != "passthrough":
            check_model(part)


def _check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError) as error:
        name = type(model).__name__
        raise InputError(f"this {name} is not fitted; call fit first, or save its parameters yourself") from error
    match model:
        case PairMachine():
            check_function(model.function_)
        case StackedPairSVC():
            check_model(model.machine_)
        case OnExamples():
            check_model(model.transformer_)
        case OnlinePseudoMetric() | KernelPseudoMetric():
            _check_metric(model)
        case LearntBaseline():
            _check_baseline(model)
        case _ if type(model) in TRANSFORMERS.values():
            check_transformer(model)


def _check_metric(metric: Any) -> None:
    """The loops that learn on trust that the matrix has a row for each dimension of the span."""
    if metric.state_.matrix.shape != (len(metric.span_), len(metric.span_)):
        raise InputError("the matrix of a metric and its dimensions differ in number")


def _check_baseline(baseline: LearntBaseline) -> None:
    """A mean of as many features as it says, and arrays that fit each other: one pair is scored."""
    d = baseline.n_features_in_
    if baseline.mean_.shape != (d,) or baseline.score_block(np.ones((1, d)), np.ones((1, d))).shape != (1, 1):
        raise InputError(f"what a {type(baseline).__name__} has learnt does not fit its {counted(d, 'feature')}")


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
    if function.kernel.bases:
        _check_anchor(function.anchor, function.left)
        _check_anchor(function.anchors[-1], function.right)
    seen = {
        (leaf.view, order) for leaf in function.kernel.leaves if isinstance(leaf, ViewKernel) for order in leaf.swapped
    }
    if not seen <= {(view, order) for view, order, _ in function.seen}:
        raise InputError("what its kernel sees of the support pairs is missing")
    for view, _, table in function.seen:
        if not _is_matrix(table) or len(table) != len(function.left):
            raise InputError(f"what {view} shows of the support pairs is incomplete")
        if isinstance(view, Arcs):
            _check_range(table[:, 0], len(view))
    if not np.isfinite(function.coefficients).all():
        raise InputError("coefficients are not finite")


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
