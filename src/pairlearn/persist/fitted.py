"""What must hold of a model before it is saved, and after it was read: it is fitted, and its parts fit each other.

Each check says how many features its part passes on, so that the next step of a pipeline can be held against it; None
where that is not known, or where scores come out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.learnt import LearntBaseline
from pairlearn.baselines.stacked import StackedPairSVC
from pairlearn.errors import InputError
from pairlearn.machines.machine import PairMachine
from pairlearn.metrics.pseudo_metric import PseudoMetric
from pairlearn.on_examples import OnExamples
from pairlearn.persist.checks import check_function
from pairlearn.persist.transformers import check_transformer, is_transformer
from pairlearn.scorers.gallery import Gallery
from pairlearn.scorers.normalised import NormalisedScorer
from pairlearn.scorers.scorer import as_scorer
from pairlearn.scorers.verifier import Verifier
from pairlearn.words import counted


def check_model(model: Any) -> int | None:
    """Refuse a model that could not be asked; otherwise the number of features that it passes on."""
    match model:
        case Pipeline():
            return _check_steps(model)
        case Verifier() | NormalisedScorer() | Gallery():
            check_model(as_scorer(model.model))
            if isinstance(model, Verifier):
                model.fit()
            return None
    _check_fitted(model)
    match model:
        case OnExamples():
            return _check_lifted(model)
        case StackedPairSVC():
            check_model(model.machine_)
        case PairMachine():
            check_function(model.function_)
        case PseudoMetric():
            _check_metric(model)
        case LearntBaseline():
            _check_baseline(model)
    return check_transformer(model) if is_transformer(type(model)) else None


def _check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError) as error:
        name = type(model).__name__
        raise InputError(f"this {name} is not fitted; call fit first, or save its parameters yourself") from error


def _check_steps(pipeline: Pipeline) -> int | None:
    """Steps (name, part): all parts but the last transform, and each takes what the one before gives."""
    width = None
    for place, (name, part) in enumerate(pipeline.steps, 1):
        if not isinstance(name, str) or not (part == "passthrough" or place == len(pipeline.steps) or _maps(part)):
            raise InputError(f"step {name!r} of the pipeline does not transform")
        if part != "passthrough":
            _check_width(name, part, width)
            width = check_model(part)
    return width


def _check_lifted(lifted: OnExamples) -> int | None:
    if not _maps(lifted.transformer_):
        raise InputError(f"a {type(lifted.transformer_).__name__} does not transform examples")
    _check_width("OnExamples", lifted.transformer_, getattr(lifted, "n_features_in_", None))
    return check_model(lifted.transformer_)


def _maps(part: Any) -> bool:
    return callable(getattr(part, "transform", None))


def _check_width(name: str, part: Any, width: int | None) -> None:
    """A part takes as many features as come in, where both are known."""
    taken = getattr(part, "n_features_in_", None)
    if taken is not None and width is not None and taken != width:
        raise InputError(f"{name!r} takes {counted(taken, 'feature')}, but is given {width}")


def _check_metric(metric: Any) -> None:
    """The loops that learn on trust that the matrix has a row for each dimension of the span."""
    if metric.state_.matrix.shape != (len(metric.span_), len(metric.span_)):
        raise InputError("the matrix of a metric and its dimensions differ in number")


def _check_baseline(baseline: LearntBaseline) -> None:
    """A mean of as many features as it says, and arrays that fit each other: one pair is scored."""
    d = baseline.n_features_in_
    if baseline.mean_.shape != (d,) or baseline.score_block(np.ones((1, d)), np.ones((1, d))).shape != (1, 1):
        raise InputError(f"what a {type(baseline).__name__} has learnt does not fit its {counted(d, 'feature')}")
