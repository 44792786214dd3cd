"""One trial: fit a setting or a baseline on training pairs of one split, and judge it on the test pairs."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.errors import ConflictWarning, InputError
from pairlearn.evaluation.figures import Figure
from pairlearn.evaluation.objectives.answers import Judgement, slope_of
from pairlearn.evaluation.resampling.units import Units, numbered_units
from pairlearn.pairs import Pairs
from pairlearn.selection.ended import FAILURES, Ended
from pairlearn.selection.labelled.settings import Family, Setting
from pairlearn.selection.search.clock import now
from pairlearn.selection.search.trials import NO_NUMBER, as_number
from pairlearn.solvers.problem import Status
from pairlearn.types import Floats

What = Setting | str
"""A setting, or the name of a baseline."""
Kind = Literal["machine", "baseline"]
Key = tuple[What, int, int]
"""What was tried, on how many pairs of which split."""
FORMAT = "lines with settings and answers"
"""What lines of a journal hold; with other words for other lines, those of other versions are other files."""
NUMBERS = ("value", "score", "low", "high", "slope", "seconds", "gap")
"""Fields of a trial that are numbers."""


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
    def parts(self) -> tuple[Any, ...]:
        """The arrays that it is made of."""
        pairs = self.pairs
        columns = (pairs.examples, pairs.right_examples, pairs.left, pairs.right, pairs.signed, pairs.invariant)
        return (*columns, self.labels)

    @property
    def units(self) -> Units:
        """The examples that pairs share; those of a second table are others than those of the first."""
        shift = 0 if self.pairs.right_examples is None else self.pairs.n_examples
        left, right = self.pairs.columns
        return numbered_units(left, right + shift)


@dataclass(frozen=True)
class Trial(Ended):
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
    def key(self) -> Key:
        """What was tried, on how many pairs of which split."""
        return self.what, self.size, self.split

    @property
    def n_trained(self) -> int:
        """Pairs that it learnt from."""
        return self.size

    @property
    def kinds(self) -> tuple[What | Family, ...]:
        """What its seconds tell something of: itself and its family."""
        return kinds_of(self.what)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and names."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "answers"}
        return {**plain, "what": str(self.what), "kind": kind_of(self.what)}

    def as_line(self) -> dict[str, Any]:
        """The same for a journal, with the setting by its parts and the answers."""
        setting = None if isinstance(self.what, str) else [*self.what.family, self.what.C]
        held = None if self.answers is None else base64.b64encode(np.float64(self.answers).tobytes()).decode()
        return {**self.as_json(), "setting": setting, "answers": held}

    @classmethod
    def from_line(cls, record: dict[str, Any]) -> Trial:
        """The trial of a line of a journal; ValueError, TypeError or KeyError if it is none."""
        numbers = {name: None if record[name] is None else as_number(record[name]) for name in NUMBERS}
        held, setting = record["answers"], record["setting"]
        answers = None if held is None else np.frombuffer(base64.b64decode(held, validate=True), dtype=np.float64)
        what = str(record["what"]) if setting is None else _setting(*setting)
        place = int(record["size"]), int(record["split"])
        return cls(what, *place, **numbers, status=str(record["status"]), answers=answers)  # type: ignore[arg-type]


def _setting(machine: str, kernel: str, base: str, C: Any) -> Setting:
    return Setting(str(machine), str(kernel), str(base), as_number(C))


def kind_of(what: What) -> Kind:
    """What a setting or a name stands for."""
    return "baseline" if isinstance(what, str) else "machine"


def kinds_of(what: What) -> tuple[What | Family, ...]:
    """By what the seconds of a setting or a baseline are known: a mean is as long as its parts."""
    return (what,) if isinstance(what, str) else (what, what.family)


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
        if found.score is None or np.isnan(found.score):
            raise InputError(NO_NUMBER)
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


def check_judged(judgement: Judgement, labels: Floats) -> None:
    """Refuse labels by which nothing could be judged, not even answers that are right."""
    judgement.check(labels)
    rows = np.flatnonzero(judgement.counts(labels))
    if not len(rows):
        raise InputError("all pairs are ties, by which no order can be judged; give pairs that were decided")
    judgement.worth(labels[rows], labels[rows])


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
