"""One trial: fit a setting or a baseline on training pairs of one split, and judge it on the test pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.errors import ConflictWarning
from pairlearn.evaluation.figures import Figure
from pairlearn.evaluation.objectives.answers import Judgement, slope_of
from pairlearn.evaluation.resampling.units import Units, numbered_units
from pairlearn.pairs import Pairs
from pairlearn.selection.labelled.settings import Setting
from pairlearn.selection.search.clock import now
from pairlearn.selection.search.trials import FAILURES, NEAR
from pairlearn.solvers.problem import Status
from pairlearn.types import Floats

What = Setting | str
"""A setting, or the name of a baseline."""
Kind = Literal["machine", "baseline"]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pairs with their labels: ±1 of links, ±1 or 0 of orders, or numbers."""

    pairs: Pairs
    labels: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: Any) -> Labelled:
        return Labelled(self.pairs[rows], self.labels[rows])

    @property
    def units(self) -> Units:
        """The examples that pairs share; those of a second table are others than those of the first."""
        shift = 0 if self.pairs.right_examples is None else self.pairs.n_examples
        left, right = self.pairs.columns
        return numbered_units(left, right + shift)


@dataclass(frozen=True)
class Trial:
    """What one fit showed; `value` (of the objective) and `score` (larger = better) are None where it failed.

    low, high: limits of the value over the tested examples. slope: the unit of log odds, 1 where none is needed.
    answers: to the test pairs, as the machine gives them; no part of the record.
    """

    what: What
    size: int
    split: int
    value: float | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    slope: float = 1.0
    seconds: float = 0.0
    status: str = ""
    gap: float | None = None
    answers: Floats | None = field(default=None, repr=False, compare=False)

    @property
    def tells(self) -> bool:
        """Whether its value is that of its setting: a fit that was broken off early was not played."""
        ended = self.gap is None or self.status == Status.CONVERGED or self.gap <= NEAR
        return self.score is not None and ended

    @property
    def broken_off(self) -> bool:
        """Whether its time was up before it told anything."""
        return self.status == Status.TIME_BUDGET and not self.tells

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and names."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "answers"}
        return {**plain, "what": str(self.what), "kind": kind_of(self.what)}


def kind_of(what: What) -> Kind:
    """What a setting or a name stands for."""
    return "baseline" if isinstance(what, str) else "machine"


def run_trial(
    what: What, make: Callable[[], Any], sets: tuple[Labelled, Labelled], judgement: Judgement, size: int, split: int
) -> Trial:
    """Make, fit and judge on training and test pairs; what cannot be fitted is a failed trial."""
    began, (training, test) = now(), sets
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final fit says the same, once
            model = fit(make(), training)
        found = Trial(what, size, split, **told(model.decision_function(test.pairs), test, judgement))
    except FAILURES as error:
        return Trial(what, size, split, status=f"failed: {error}", seconds=now() - began)
    status, gap = getattr(model, "fit_status_", "fitted"), getattr(model, "kkt_gap_", None)
    return replace(found, seconds=now() - began, status=str(status), gap=gap)


def told(answers: Floats, test: Labelled, judgement: Judgement) -> dict[str, Any]:
    """What answers to the test pairs are worth: value, score, limits, slope, and the answers themselves."""
    slope = slope_of(answers, test.labels) if judgement.odds else 1.0
    found = judged(judgement, slope * answers, test)
    return {**found, "score": judgement.score(found["value"]), "slope": slope, "answers": answers}


def averaged(what: Setting, parts: Sequence[Trial], test: Labelled, judgement: Judgement) -> Trial:
    """The trial of a mean, from the answers of its parts on the same split: nothing is fitted."""
    answers = np.mean([each.answers for each in parts if each.answers is not None], axis=0)
    last = max(parts, key=lambda each: each.gap or 0.0)
    seconds = sum(each.seconds for each in parts)
    ended: dict[str, Any] = {"seconds": seconds, "status": last.status, "gap": last.gap}
    return Trial(what, last.size, last.split, **told(answers, test, judgement), **ended)


def fit(model: Any, training: Labelled) -> Any:
    """The model, fitted; Ctrl-C means the whole search and not this fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says the same
        warnings.simplefilter("ignore", ConflictWarning)  # said once, of all pairs
        model.fit(training.pairs, training.labels)
    if getattr(model, "fit_status_", "") == Status.INTERRUPTED:
        raise KeyboardInterrupt
    return model


def judged(judgement: Judgement, answers: Floats, test: Labelled) -> dict[str, Any]:
    """The objective of answers to all test pairs with its limits over examples."""
    rows = np.flatnonzero(judgement.counts(test.labels))
    worth = judgement.worth(answers[rows], test.labels[rows])
    return limited(judgement.figure, worth, test[rows].units)


def limited(figure: Figure, worth: Floats, units: Units) -> dict[str, Any]:
    """value, low and high, the last two None where nothing is known of them."""
    found = figure.interval(worth, units, "example")
    known = found.n_units > 0 and np.isfinite([found.low, found.high]).all()
    ends = {"low": float(found.low), "high": float(found.high)} if known else {"low": None, "high": None}
    return {"value": float(found.estimate), **ends}
