"""The questions that models answer about pairs, each in its own words: one table for every command."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

import pairlearn as pl
from pairlearn.cli.steps.fitting import WORDS
from pairlearn.data.tables import PairTable
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, area_under_roc, concordance_index
from pairlearn.evaluation.objectives.answers import ACCURACY, NUMBERS, ORDER, Judgement
from pairlearn.on_examples import is_pipeline
from pairlearn.types import Floats


@dataclass(frozen=True)
class Task:
    """A question: what it is called, the column of the answers, and what labels mean.

    labels: how the cells of the label column are read, with their spelling. answers: columns that are written beside
    the ids, from scores. judgement: None where two are told apart, which is judged by error rates. floor: what needs no
    model, by name, from what is known of the training and the number of pairs.
    """

    name: str
    column: str
    words: Mapping[int, str]
    labels: Callable[[PairTable], tuple[Any, Mapping[str, int]]]
    answers: Callable[[PairTable, Floats], dict[str, Any]]
    judgement: Judgement | None = None
    floor: Callable[[Mapping[str, Any], int], dict[str, Floats]] = lambda about, n: {}


# --------------------------------------------------------------------------- who comes first?


def area_of_both_orders(advantages: Floats, truth: Any) -> float:
    """AUC over every pair in both orders, so that it does not matter who is listed first."""
    won, n = advantages * truth, len(truth)
    return area_under_roc(Scores(np.concatenate([won, -won]), np.repeat([1, -1], n)))


def _first(table: PairTable, advantages: Floats) -> dict[str, Any]:
    """Advantages, and the id of who is predicted to come first; empty for a tie."""
    sides = zip(np.sign(advantages).astype(int).tolist(), table.left, table.right, strict=True)
    return {"advantage": advantages, "first": [{1: left, -1: right}.get(sign, "") for sign, left, right in sides]}


PREFERENCE = Task(
    "preference",
    "advantage",
    {1: "left first", -1: "right first", 0: "tie"},
    lambda table: table.outcomes(),
    _first,
    replace(ORDER["accuracy"], further={"AUC": area_of_both_orders}),
    lambda about, n: {"a coin": np.zeros(n)},
)

# --------------------------------------------------------------------------- how much?


def _correlation(values: Floats, truth: Any) -> float:
    """Spearman's ρ; NaN where one side does not vary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(stats.spearmanr(values, truth).statistic)


def _concordance(values: Floats, truth: Any) -> float:
    return concordance_index(truth, values) if len(np.unique(truth)) > 1 else float("nan")


def _training_mean(about: Mapping[str, Any], n: int) -> dict[str, Floats]:
    """The mean of the training numbers, if the model file remembers it."""
    mean = about.get("result", {}).get("mean")
    return {} if mean is None else {"the mean of the training": np.full(n, float(mean))}


REGRESSION = Task(
    "regression",
    "prediction",
    {},
    lambda table: (table.numbers(), {}),
    lambda table, values: {"prediction": values},
    replace(
        NUMBERS["rmse"],
        further={"MAE": NUMBERS["mae"].value, "Spearman": _correlation, "concordance": _concordance},
    ),
    lambda about, n: _training_mean(about, n),
)

# --------------------------------------------------------------------------- which class?

CLASSES = Judgement(
    ACCURACY,
    lambda answers, truth: np.asarray(answers == truth, dtype=np.float64),
    {"balanced accuracy": lambda answers, truth: _balanced(answers, truth)},
)
"""How classes of single examples are judged."""


def _balanced(answers: Any, truth: Any) -> float:
    """Mean over the true classes of the share that is found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sklearn.metrics import balanced_accuracy_score

        return float(balanced_accuracy_score(truth, answers))


# --------------------------------------------------------------------------- same or different? like the others?


def _told_apart(name: str) -> Task:
    return Task(
        name,
        "score",
        WORDS,
        lambda table: table.required_labels(),
        lambda table, values: {"score": values},
    )


VERIFICATION = _told_apart("verification")
ONE_CLASS = _told_apart("one class")
TASKS: dict[tuple[type[Any], ...], Task] = {
    (pl.PairRanker,): PREFERENCE,
    (pl.PairSVR, pl.PairRidge): REGRESSION,
    (pl.OneClassPairSVM, pl.OneClassPairSphere): ONE_CLASS,
}
"""Questions by the machines that answer them; all others tell same from different."""
JUDGED = (PREFERENCE, REGRESSION)
"""Questions whose tables of answers have a column of their own."""


def task_of(model: Any, about: Mapping[str, Any] | None = None) -> Task:
    """The question that a model answers, whatever it is wrapped in; `about` is what its file says.

    >>> task_of(pl.PairRanker()).name, task_of(pl.Verifier(pl.EuclidBaseline(), 0.0)).name
    ('preference', 'verification')
    """
    question = _noted_question(about)
    if question == "order":
        return PREFERENCE
    if isinstance(model, pl.Verifier):
        return task_of(model.model)
    if is_pipeline(model):
        return task_of(model[-1])
    if isinstance(model, pl.scorers.PairMean):
        return task_of(model.machines_[0])
    if isinstance(model, pl.PairRidge) and getattr(model, "binary_", False):
        # +1 and −1 that change with the order of a pair say who comes first, not whether two belong together.
        return PREFERENCE if pl.pair_kernel(model.kernel).symmetry == "antisymmetric" else VERIFICATION
    if isinstance(model, pl.scorers.DistilledScorer) and model.function.sign < 0:
        return PREFERENCE
    if isinstance(model, pl.scorers.DistilledRegressor) and question == "number":
        return REGRESSION
    if isinstance(model, pl.BasisSVC):
        raise InputError("this model tells classes of single examples, not of pairs; use pairlearn classify predict")
    return next((task for kinds, task in TASKS.items() if isinstance(model, kinds)), VERIFICATION)


def _noted_question(about: Any) -> str | None:
    """What a model, or the one that it was made from, was learnt for: ties and small models leave no other trace.

    Notes are what anyone wrote, so nothing is taken for granted.
    """
    if not isinstance(about, Mapping):
        return None
    result = about.get("result")
    if isinstance(result, Mapping) and isinstance(result.get("question"), str):
        return str(result["question"])
    return "number" if about.get("command") == "regress" else _noted_question(about.get("made_from"))
