"""Objectives by name: `eer`, `fnmr@fmr=0.01`, `aupr`, `accuracy`, `log_loss`, `rmse`, `concordance`, …"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from pairlearn.errors import InputError
from pairlearn.evaluation.measures import AUC, EER, AccuracyAt, DPrime, FnmrAtFmr, Measure, MinCllr, as_measure
from pairlearn.evaluation.objectives.answers import NUMBERS, ORDER, Judgement, aupr_above, of_measure
from pairlearn.evaluation.objectives.precision import AUPR

Question = Literal["link", "order", "number"]
QUESTIONS: tuple[Question, ...] = ("link", "order", "number")
"""Do two belong together (±1)? Who comes first (±1, 0 a tie)? How much (a number)?"""
MEASURES: dict[str, Measure] = {
    "eer": EER(),
    "auc": AUC(),
    "aupr": AUPR(),
    "accuracy": AccuracyAt(0.0),
    "d_prime": DPrime(),
    "min_cllr": MinCllr(),
}
AT: dict[str, Callable[[float], Measure]] = {"fnmr@fmr": FnmrAtFmr}
"""Measures of links that take a number: fnmr@fmr=0.01."""


def measure_named(objective: Any) -> Measure:
    """The measure of a name, or a measure as it is.

    >>> measure_named("fnmr@fmr=0.01"), measure_named("aupr")
    (FnmrAtFmr(fmr=0.01), AUPR())
    """
    if not isinstance(objective, str):
        return as_measure(objective)
    head, _, number = objective.lower().partition("=")
    if head in AT and number:
        return AT[head](_number(objective, number))
    if objective.lower() not in MEASURES:
        raise _unknown(objective, (*MEASURES, "fnmr@fmr=0.01"))
    return MEASURES[objective.lower()]


def judgement_named(objective: Any, question: Question) -> Judgement:
    """How answers to a question are judged: by a name, a measure (of links), a judgement, or as is usual (None).

    >>> judgement_named("log_loss", "order").figure.name, judgement_named(None, "number").figure.name
    ('log loss', 'RMSE')
    """
    if isinstance(objective, Judgement):
        return objective
    if question == "link":
        return of_measure(measure_named("auc" if objective is None else objective))
    known = ORDER if question == "order" else NUMBERS
    name = str(next(iter(known)) if objective is None else objective).lower()
    head, _, number = name.partition("@")
    if question == "number" and head == "aupr" and number:
        return aupr_above(_number(name, number))
    if name not in known:
        raise _unknown(objective, (*known, *(("aupr@7",) if question == "number" else ())))
    return known[name]


def _number(objective: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{objective!r} names no number after its sign; write fnmr@fmr=0.01 or aupr@7") from None


def _unknown(objective: Any, known: Iterable[str]) -> InputError:
    return InputError(f"there is no objective {objective!r} here; take one of {', '.join(known)}")
