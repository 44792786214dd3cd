"""One trial of the staged search: fit on the training pairs of a rung, score on its test pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.baselines.registry import fit_scores
from pairlearn.evaluation import EER, Scores
from pairlearn.evaluation.intervals import Options, best_sample
from pairlearn.evaluation.measures import Measure
from pairlearn.evaluation.measures import Scorer as MeasureScorer
from pairlearn.kernels import Gram
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.selection.ended import FAILURES, Ended
from pairlearn.selection.search.clock import now
from pairlearn.selection.search.development import Rung
from pairlearn.selection.search.settings import Family, Setting, Space
from pairlearn.selection.search.sizes import STAGES, Size, Stage
from pairlearn.selection.search.whitened.names import Part, name_of
from pairlearn.solvers.problem import Status
from pairlearn.types import Floats

Scorer = Callable[[Any, Any, Any], float]
eer = EER().scorer()
NO_NUMBER = "its score is not a number"
"""Why a trial failed that could be compared with nothing."""
FITTED = "fitted"
"""Status of what has no gap to close."""
SHORTEST_FIT = 0.1
"""Seconds that every fit gets, however little time is left: enough for one outer step."""


@dataclass(frozen=True)
class Trial(Ended):
    """What one fit showed: of a machine (`setting`) or of a baseline (its name), the other one is None.

    `eer`, `value` (of the objective) and `score` (the same, larger = better) are None where the fit failed, and
    `status` says why. An EER of 0 is a result like any other: ask `succeeded`, never whether `eer` is true. `low` and
    `high` are limits of the value over the tested classes, None where these are too few for any.
    """

    stage: Stage
    size: Size
    split: int
    setting: Setting | None
    baseline: str | None
    eer: float | None
    score: float | None
    status: str
    seconds: float
    n_pairs: int
    C: float | None = None
    gap: float | None = None
    n_support: int | None = None
    low: float | None = None
    high: float | None = None
    value: float | None = None

    def __post_init__(self) -> None:
        if self.value is None:  # the equal error rate is the objective unless another was asked for
            object.__setattr__(self, "value", self.eer)

    @classmethod
    def on(cls, rung: Rung, what: Setting | str, *, status: str, **shown: Any) -> Trial:
        """The trial of a setting or of a baseline, by name, on this rung."""
        setting, baseline = (None, what) if isinstance(what, str) else (what, None)
        if np.isnan(shown.get("score") or 0.0):
            status, shown = f"failed: {NO_NUMBER}", {"seconds": shown["seconds"]}
        rest = {"eer": None, "score": None, "seconds": 0.0, "n_pairs": len(rung.training), **shown}
        return cls(rung.stage, rung.size, rung.split, setting, baseline, status=status, **rest)

    @classmethod
    def failed(cls, rung: Rung, what: Setting | str, error: BaseException) -> Trial:
        """A trial that could not be made, and why."""
        return cls.on(rung, what, status=f"failed: {error}")

    @property
    def succeeded(self) -> bool:
        """Whether there is an error rate."""
        return self.eer is not None

    @property
    def what(self) -> Setting | str:
        """The setting, or the name of the baseline."""
        if self.setting is not None:
            return self.setting
        assert self.baseline is not None
        return self.baseline

    @property
    def key(self) -> tuple[Stage, Size, int, Setting | str]:
        """What was tried, where."""
        return self.stage, self.size, self.split, self.what

    @property
    def n_trained(self) -> int:
        """Pairs that it learnt from."""
        return self.n_pairs

    @property
    def kinds(self) -> tuple[Hashable, ...]:
        """What its seconds tell something of: itself, its family and all machines, or all single views."""
        if self.setting is None or not self.setting.quick:
            return (self.what,) if self.setting is None else (self.what, self.setting.family, Setting)
        # Baselines and views as machines take a moment: their seconds tell nothing of others.
        return (self.what, Part) if len(self.setting.views) == 1 else (self.what,)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and names."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Trial:
        """The trial of a line of the journal; ValueError, TypeError or KeyError if it is none."""
        setting = None if record["setting"] is None else Setting(**record["setting"])
        trial = cls(**{**record, "size": Size(**record["size"]), "setting": setting})
        for part in (trial, trial.size, *([] if setting is None else [setting])):
            _check_fields(part)
        if trial.stage not in STAGES or (setting is None) == (trial.baseline is None):
            raise ValueError("a trial is of one stage, and of a setting or of a baseline")
        return trial


def as_number(value: Any) -> float:
    """A number that a float can hold, from JSON."""
    if type(value) not in (int, float) or (not abs(value) < 2.0**1000 and value not in (np.inf, -np.inf)):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _check_fields(part: Any) -> None:
    """Refuse values of other kinds than the fields say, "float | None" or "int"."""
    for each in fields(part):
        value, kinds = getattr(part, each.name), str(each.type).split(" | ")
        if value is None and "None" in kinds:
            continue
        if {"int", "float"} & set(kinds):
            as_number(value)
        if ("int" in kinds and type(value) is not int) or ("str" in kinds and type(value) is not str):
            raise ValueError(f"{each.name} is {value!r}")


@dataclass(frozen=True, eq=False)
class MachinePath:
    """All Cs of one family on one rung, one after the other, each started from the one before.

    From the largest, because the solution for a larger C, cut to the smaller box, is a near start for the smaller C,
    while the reverse has to find new support pairs; but from the smallest where time is short, since the largest take
    longest, and a path that is broken off shall have told something. `scale` is the unit of C; `gram` a matrix of
    all families with this base; `seconds` what the whole path may take.
    """

    rung: Rung
    family: Family
    Cs: tuple[float, ...]
    scale: float
    gram: Gram | None
    seconds: float | None
    options: dict[str, Any]

    @property
    def what(self) -> Setting:
        """Its most expensive setting, by which its seconds are foreseen."""
        return self.family.at(max(self.Cs))

    def run(self, space: Space, scoring: Scorer) -> list[Trial]:
        """Fit and score; Cs for which there is no time left get no trial, those after a failure a failed one."""
        trials: list[Trial] = []
        try:
            self._run_into(trials, space, scoring)
        except FAILURES as error:
            done = {trial.what for trial in trials}
            rest = [self.family.at(C) for C in self.Cs if self.family.at(C) not in done]
            trials += [Trial.failed(self.rung, setting, error) for setting in rest]
        return trials

    def _run_into(self, trials: list[Trial], space: Space, scoring: Scorer) -> None:
        began = now()
        machine = space.machine(self.family, self.scale, self.gram, **{"warm_start": True, **self.options})
        for C in sorted(self.Cs, reverse=self.seconds is None):
            left = None if self.seconds is None else self.seconds - (now() - began)
            if left is not None and left < 0 and trials:
                break
            machine.set_params(C=C / self.scale, time_budget=None if left is None else max(SHORTEST_FIT, left))
            trials.append(self._fit(machine, C, scoring))

    def _fit(self, machine: PairSVC, C: float, scoring: Scorer) -> Trial:
        began, rung = now(), self.rung
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the status says the same
            machine.fit(rung.training, rung.labels)
        if machine.fit_status_ == Status.INTERRUPTED:
            raise KeyboardInterrupt  # the solver kept its model, but here the whole search is meant
        shown = _judge(machine, rung, scoring, began)
        fit = {"C": machine.C, "gap": machine.kkt_gap_, "n_support": machine.n_support_}
        return Trial.on(rung, self.family.at(C), status=machine.fit_status_, **shown, **fit)


@dataclass(frozen=True, eq=False)
class BaselineFit:
    """One baseline on one rung."""

    rung: Rung
    name: str

    @property
    def what(self) -> str:
        """Its name."""
        return self.name

    def run(self, space: Space, scoring: Scorer) -> list[Trial]:
        """Fit and score."""
        began, rung = now(), self.rung
        try:
            model = fit_scores(self.name, rung.training, rung.labels, rung.classes, space.baselines)
            return [Trial.on(rung, self.name, status=FITTED, **_judge(model, rung, scoring, began))]
        except FAILURES as error:
            return [Trial.failed(rung, self.name, error)]


@dataclass(frozen=True, eq=False)
class ViewFits:
    """Machines that are whitened views, on one rung: views of one base share its features."""

    rung: Rung
    settings: tuple[Setting, ...]

    @property
    def what(self) -> Setting:
        """The first of them."""
        return self.settings[0]

    def run(self, space: Space, scoring: Scorer) -> list[Trial]:
        """Fit all views at once and judge each machine; its seconds are its share."""
        began, rung = now(), self.rung
        parts = list(dict.fromkeys(part for setting in self.settings for part in setting.views))
        try:
            model = space.makers[name_of(parts)]().set_params(threshold=0.0)
            known = model.fit(rung.training, rung.labels, classes=rung.classes).view_scores(rung.test)
        except FAILURES as error:
            return [Trial.failed(rung, setting, error) for setting in self.settings]
        shared = (now() - began) / len(parts)
        values = dict(zip(parts, known, strict=True))
        return [
            self._judged(setting, Known(np.mean([values[part] for part in setting.views], axis=0)), scoring, shared)
            for setting in self.settings
        ]

    def _judged(self, setting: Setting, model: Known, scoring: Scorer, shared: float) -> Trial:
        shown = _judge(model, self.rung, scoring, now() - shared * len(setting.views))
        return Trial.on(self.rung, setting, status=FITTED, C=setting.C, **shown)


@dataclass(frozen=True, eq=False)
class Known:
    """Scores of the test pairs of a rung as a model of them."""

    values: Floats

    def decision_function(self, X: Any) -> Floats:
        """The scores that are known."""
        return self.values


def load_parts() -> None:
    """Load what baselines load when they are first used: seconds of a trial shall be those of the next one like it."""
    from sklearn.decomposition import PCA  # noqa: F401
    from sklearn.linear_model import LogisticRegression  # noqa: F401


def _judge(model: Any, rung: Rung, scoring: Scorer, began: float) -> dict[str, float]:
    """Equal error rate on the test pairs, the objective with limits, the score, and the seconds since `began`."""
    scores, measure = Scores.of(model, rung.test, rung.truth, rung.tested), measure_of(scoring)
    value = measure.value(scores)
    plain = isinstance(scoring, MeasureScorer)
    score = (value if measure.larger_is_better else -value) if plain else scoring(model, rung.test, rung.truth)
    rates = {"eer": eer.measure.value(scores), "value": value, "score": float(score)}
    sample, _ = best_sample(scores, Options(), measure)
    found = None if sample is None else sample.quick_interval(measure)
    limits = {} if found is None else {"low": found.low, "high": found.high}
    return {**rates, "seconds": now() - began, **limits}


def measure_of(scoring: Scorer) -> Measure:
    """What is shown of every trial: the measure of a scorer; of any other function the equal error rate."""
    return scoring.measure if isinstance(scoring, MeasureScorer) else eer.measure
