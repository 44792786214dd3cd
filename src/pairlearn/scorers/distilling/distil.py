"""From a fitted model to a smaller one: samples, the cut that keeps the loss, and the parts around the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairlearn.baselines.baseline import Baseline
from pairlearn.errors import ApproximationWarning, InputError, warn_user
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.machines.pair_svr import PairRegressor
from pairlearn.on_examples import is_pipeline
from pairlearn.pairs import Pairs
from pairlearn.scorers.distilling.cuts import reduced
from pairlearn.scorers.distilling.function import DistilledFunction
from pairlearn.scorers.distilling.loss import Loss, loss_between
from pairlearn.scorers.distilling.scorer import DistilledRegressor, DistilledScorer
from pairlearn.scorers.distilling.terms import Sum, terms_of
from pairlearn.scorers.verifier import Verifier
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

STEPS = (1.0, 0.5, 0.2, 0.05, 0.0)
"""Shares of the allowed loss that cuts aim at, until the loss is kept; 0 cuts nothing."""
SAMPLE = 1000
"""Examples of a table that cuts are made by."""
TOLD = 50_000
"""Pairs that the loss is told on, where examples are given and no pairs."""
LEAST = 30
"""Examples of a table at least, and pairs."""


@dataclass(frozen=True)
class Distilled:
    """The smaller model, and what it loses and saves on pairs of examples that it was not made by."""

    model: Any
    loss: Loss

    def __str__(self) -> str:
        return str(self.loss)


def distil(
    model: Any, X: Any, y: Any = None, *, classes: Any = None, loss: float = 0.07, dtype: str = "float32", seed: int = 0
) -> Distilled:
    """Make a smaller, quicker scorer of a fitted one, which loses no more than `loss`.

    Every example becomes a few numbers, and a pair a product of these: linear bases as the explicit bilinear form,
    others over fewer support examples, stacks with their baselines; (anti)symmetric to the last bit as before.
    Machines, stacks, baselines with a linear map, verifiers of these and pipelines before them can be distilled;
    others are refused.

    X: examples, or pairs of them, such as will be scored; better none that the model was learnt from. Half of the
    examples decide what is kept, pairs of the other half tell the loss. y: labels of pairs, or classes: one per
    example; with either the difference of equal error rates is told too.
    loss: root mean square of the differences of scores, in standard deviations of scores; 0 keeps everything.
    dtype: of what is stored, "float32" or "float64". A threshold and a calibration stay as they were; a warning says so
    if decisions change.

    >>> import pairlearn as pl
    >>> X, classes = pl.data.double_interval(20, 6, n=30, seed=0)
    >>> pairs = pl.all_pairs(X[:60])
    >>> model = pl.PairSVC("tensor_metric", "rbf").fit(pairs, pairs.labels(classes[:60]))
    >>> small = distil(model, X[60:], classes=classes[60:], loss=0.1)
    >>> small.loss.rms <= 0.1 * small.loss.spread, small.loss.bytes[1] < small.loss.bytes[0]
    (True, True)
    """
    _check(loss, dtype)
    if isinstance(model, Verifier):
        found = distil(model.model, X, y, classes=classes, loss=loss, dtype=dtype, seed=seed)
        return _verifier(model, found, _told(model, X, y, classes, seed))
    if is_pipeline(model):
        return _pipeline(model, X, y, classes, loss, dtype, seed)
    total = terms_of(model)
    given = _told(model, X, y, classes, seed)
    function = _kept(total, given, _wanted(model, given, loss), dtype)
    small = _scorer(model, function)
    told = loss_between(model, small, given.pairs, given.labels, classes=given.classes)
    if loss and told.rms > 1.01 * loss * told.spread:
        warn_user(
            f"scores differ by {told.rms:.2g}, more than loss={loss:g} times their spread {told.spread:.2g}, though "
            'nothing was cut: give dtype="float64", or a larger loss',
            ApproximationWarning,
        )
    return Distilled(small, told)


def _check(loss: Any, dtype: Any) -> None:
    if not isinstance(loss, (int, float, np.number)) or not 0 <= loss < 1:
        raise InputError(f"loss is a share of the spread of scores, 0 ≤ loss < 1, got {loss!r}; try loss=0.07")
    if dtype not in ("float32", "float64"):
        raise InputError(f'dtype is "float32" or "float64", got {dtype!r}')


# --------------------------------------------------------------------------- who decides, who tells


@dataclass(frozen=True, eq=False)
class Given:
    """Sample examples of each table, and pairs of other ones with their labels or classes."""

    samples: tuple[Examples, ...]
    pairs: Pairs
    labels: Any
    classes: Any


def _told(model: Any, X: Any, y: Any, classes: Any, seed: int) -> Given:
    rng = np.random.default_rng(seed)
    if not isinstance(X, Pairs):
        if y is not None:
            raise InputError("labels belong to pairs: pass pl.Pairs as X, or classes= with examples")
        X = _drawn(check_examples(X), rng)
    if y is not None and len(y) != len(X):
        raise InputError(f"y must hold one label per pair, {len(X)}, got {len(y)}")
    halves = [_half(rows, rng) for rows in X.used_rows()]
    left, right = X.columns
    others = np.flatnonzero(~np.isin(left, halves[0]) & ~np.isin(right, halves[-1]))
    if len(others) < LEAST:
        raise InputError(
            f"{counted(len(others), 'pair')} of examples that nothing was decided by are too few to tell the loss; "
            "give more pairs, or the examples themselves"
        )
    samples = tuple(take_examples(table, rows[:SAMPLE]) for table, rows in zip(X.tables.sides, halves, strict=True))
    return Given(samples, X[others], None if y is None else np.asarray(y)[others], classes)


def _drawn(examples: Examples, rng: np.random.Generator) -> Pairs:
    """Random pairs of different examples, enough that a quarter of them is TOLD."""
    m = count_examples(examples)
    if m < LEAST:
        raise InputError(f"{counted(m, 'example')} are too few to tell what a model needs; give {LEAST} or more")
    a, b = rng.integers(0, m, (2, min(4 * TOLD, 4 * m * m)))
    return Pairs(examples, a[a != b], b[a != b])


def _half(rows: Ints, rng: np.random.Generator) -> Ints:
    if len(rows) < LEAST:
        raise InputError(
            f"{counted(len(rows), 'example')} are too few to tell what a model needs; give {LEAST} or more"
        )
    return rng.permutation(rows)[: len(rows) // 2]


# --------------------------------------------------------------------------- as small as the loss allows


@dataclass(frozen=True, eq=False)
class Wanted:
    """Scores of the model, and how far those of the small one may be from them."""

    scores: Floats
    error: float

    def meets(self, function: DistilledFunction, pairs: Pairs) -> bool:
        """Whether the function keeps the loss."""
        return float(np.sqrt(np.mean((function(pairs) - self.scores) ** 2))) <= self.error


def _wanted(model: Any, given: Given, loss: float) -> Wanted:
    scores = np.asarray(model.decision_function(given.pairs), dtype=np.float64)
    return Wanted(scores, loss * float(scores.std()))


def _kept(total: Sum, given: Given, wanted: Wanted, dtype: str) -> DistilledFunction:
    """The strongest cut that keeps the loss; nothing is cut if none does."""
    for step in STEPS if wanted.error > 0 else STEPS[-1:]:
        function = _stored(reduced(total, given.samples, step * wanted.error), np.dtype(dtype))
        if step == 0 or wanted.meets(function, given.pairs):
            break
    return function


def _stored(found: Any, dtype: np.dtype[Any]) -> Any:
    """All arrays of a frozen value, and of those within it, in this type."""
    if isinstance(found, np.ndarray):
        return np.ascontiguousarray(found, dtype=dtype) if found.dtype.kind == "f" else found
    if isinstance(found, tuple):
        return tuple(_stored(part, dtype) for part in found)
    if type(found).__module__.startswith(__package__):
        return replace(found, **{name: _stored(part, dtype) for name, part in vars(found).items()})
    return found


def _scorer(model: Any, function: DistilledFunction) -> Any:
    small = (
        DistilledRegressor(function)
        if isinstance(model, PairRegressor)
        else DistilledScorer(function, _threshold_of(model))
    )
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(small, name, getattr(model, name))
    return small


def _threshold_of(model: Any) -> float:
    """Where the model begins to say "same": 0 of machines; NaN of a distance that was not told."""
    natural = getattr(model, "unlearnt_threshold", np.nan) if isinstance(model, Baseline) else 0.0
    known = (getattr(model, name, None) for name in ("threshold_", "threshold"))
    return next((float(value) for value in known if value is not None), np.nan if natural is None else natural)


# --------------------------------------------------------------------------- around the model


def _verifier(model: Verifier, found: Distilled, given: Given) -> Distilled:
    small = Verifier(found.model, model.threshold, model.calibration)
    told = loss_between(model, small, given.pairs, given.labels, classes=given.classes)
    if told.changed:
        warn_user(
            f"the threshold is kept, and {100.0 * told.changed:.2f} % of the decisions change; decide anew on "
            "development pairs if its rates must hold exactly (pairlearn decide)",
            ApproximationWarning,
        )
    return Distilled(small, told)


def _pipeline(model: Any, X: Any, y: Any, classes: Any, loss: float, dtype: str, seed: int) -> Distilled:
    pairs = X if isinstance(X, Pairs) else _drawn(check_examples(X), np.random.default_rng(seed))
    given = _told(model, pairs, y, classes, seed)
    found = distil(model[-1], model[:-1].transform(pairs), y, classes=classes, loss=loss, dtype=dtype, seed=seed)
    small = type(model)([*model.steps[:-1], (model.steps[-1][0], found.model)])
    return Distilled(small, loss_between(model, small, given.pairs, given.labels, classes=given.classes))
