"""One trial of staged selection: fit on the pairs of a rung, score on its test pairs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.baselines.registry import fit_baseline
from pairlearn.errors import InputError
from pairlearn.evaluation import EER
from pairlearn.kernels import Gram
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.selection.search.rungs import Rung, Size, Stage
from pairlearn.selection.search.settings import Family, Setting, Space
from pairlearn.solvers.problem import Status

Scorer = Callable[[Any, Any, Any], float]
eer = EER().scorer()
FAILURES = (InputError, MemoryError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Trial:
    """What one fit showed; `setting` is None for a baseline, `eer` None where `status` says why there is none."""

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

    @property
    def key(self) -> tuple[Any, ...]:
        """What was tried, where."""
        return self.stage, self.size, self.split, self.setting or self.baseline

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and names."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Trial:
        """The trial of a line of the journal."""
        setting = record["setting"]
        return cls(**{**record, "size": Size(**record["size"]), "setting": setting and Setting(**setting)})


@dataclass(frozen=True, eq=False)
class Path:
    """All Cs of one family on one rung: one after the other from the largest, each started from the one before."""

    rung: Rung
    family: Family
    Cs: tuple[float, ...]
    scale: float
    gram: Gram | None
    seconds: float | None
    options: dict[str, Any]

    def run(self, space: Space, scoring: Scorer) -> list[Trial]:
        """Fit and score; Cs for which there is no time left get no trial."""
        began, trials = time.perf_counter(), list[Trial]()
        Cs = sorted(self.Cs, reverse=True)
        try:
            options = {"warm_start": True, **self.options}
            machine = space.machine(self.family, self.scale, self.gram, **options)
            for C in Cs:
                spent = time.perf_counter() - began
                if self.seconds is not None and trials and spent > self.seconds:
                    break
                left = None if self.seconds is None else max(0.1, self.seconds - spent)
                machine.set_params(C=C / self.scale, time_budget=left)
                trials.append(self._one(machine, C, scoring))
        except FAILURES as error:
            missing = Cs[len(trials) :]
            trials += [failure(self.rung, error, setting=self.family.at(C)) for C in missing]
        return trials

    def _one(self, machine: PairSVC, C: float, scoring: Scorer) -> Trial:
        began, rung = time.perf_counter(), self.rung
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the status tells
            machine.fit(rung.training, rung.labels)
        if machine.fit_status_ == Status.INTERRUPTED:
            raise KeyboardInterrupt  # the solver kept its model, but here the whole search is meant
        rate, score = _judged(machine, rung, scoring)
        return Trial(
            stage=rung.stage,
            size=rung.size,
            split=rung.split,
            setting=self.family.at(C),
            baseline=None,
            eer=rate,
            score=score,
            status=machine.fit_status_,
            seconds=time.perf_counter() - began,
            n_pairs=len(rung.training),
            C=machine.C,
            gap=machine.kkt_gap_,
            n_support=machine.n_support_,
        )


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """One baseline on one rung."""

    rung: Rung
    name: str

    def run(self, space: Space, scoring: Scorer) -> list[Trial]:
        """Fit and score."""
        began = time.perf_counter()
        try:
            model = fit_baseline(self.name, self.rung.training, self.rung.labels, self.rung.classes)
            rate, score = _judged(model, self.rung, scoring)
        except FAILURES as error:
            return [failure(self.rung, error, baseline=self.name)]
        return [
            Trial(
                stage=self.rung.stage,
                size=self.rung.size,
                split=self.rung.split,
                setting=None,
                baseline=self.name,
                eer=rate,
                score=score,
                status="fitted",
                seconds=time.perf_counter() - began,
                n_pairs=len(self.rung.training),
            )
        ]


def _judged(model: Any, rung: Rung, scoring: Scorer) -> tuple[float, float]:
    """Equal error rate on the test pairs, and the score that is to be large."""
    rate = -eer(model, rung.test, rung.truth)
    return rate, -rate if scoring == eer else float(scoring(model, rung.test, rung.truth))


def failure(rung: Rung, error: BaseException, *, setting: Setting | None = None, baseline: str | None = None) -> Trial:
    """A trial that could not be made, and why."""
    return Trial(
        stage=rung.stage,
        size=rung.size,
        split=rung.split,
        setting=setting,
        baseline=baseline,
        eer=None,
        score=None,
        status=f"failed: {error}",
        seconds=0.0,
        n_pairs=len(rung.training),
    )
