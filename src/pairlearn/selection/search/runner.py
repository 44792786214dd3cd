"""Running trials in parallel until their share of the time is spent.

How time is spent: a round runs one path of fits per family (all its Cs, each started from the one before) and per
split. Of t seconds left, n paths on w workers get 2·t·w / n each, but no more than t: some end early and leave their
time to others. No path is started once the time is up, but the first of a round is started in any case, so that every
round has a result. Whatever is left out is noted for the record.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from pairlearn.selection.search.development import Development, Rung
from pairlearn.selection.search.journal import Journal
from pairlearn.selection.search.preparation import Preparation
from pairlearn.selection.search.results import Result, mean_results
from pairlearn.selection.search.settings import Family, Setting, Space
from pairlearn.selection.search.sizes import Size, Stage
from pairlearn.selection.search.trials import FAILURES, BaselineFit, MachinePath, Scorer, Trial
from pairlearn.words import counted

GROWTH = 1.3
"""Seconds of a fit grow like pairs to this power; used to foresee the next rung."""
Families = Mapping[Family, Sequence[float]]
"""Families to try, each with its Cs."""


class Clock:
    """Seconds of a search, those before a resumption included; `budget` None is without end."""

    def __init__(self, budget: float | None, spent: float) -> None:
        self.budget = budget
        self._began = time.perf_counter() - spent

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._began

    def left(self, share: float | None = 1.0) -> float | None:
        """Seconds until this share of the budget is spent; None for no end."""
        return None if self.budget is None or share is None else max(0.0, share * self.budget - self.elapsed)


@dataclass(frozen=True)
class Step:
    """Progress of a stage: trials done and to do, and the best equal error rate of its machines so far."""

    stage: Stage
    size: Size
    done: int
    total: int
    best: float | None
    seconds: float


@dataclass(frozen=True)
class Round:
    """One task at one size: on how many splits, and until which share of the budget is spent (None: to the end)."""

    stage: Stage
    size: Size
    n_splits: int
    share: float | None

    @property
    def to_the_end(self) -> Round:
        """The same without a limit of time, for what must be known in any case."""
        return replace(self, share=None)

    def __str__(self) -> str:
        return f"{self.stage} task, {self.size}"


@dataclass
class Runner:
    """Runs what was not tried before, and gives the results of everything that was.

    The journal is its only memory of trials: what is in there is not run again, whether this process tried it or one
    that was killed yesterday.
    """

    space: Space
    data: Development
    journal: Journal
    clock: Clock
    scoring: Scorer
    n_jobs: int | None
    options: dict[str, Any]
    progress: Callable[[Step], None] | None
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prepared = Preparation(self.space, self.data)

    # -- what to run

    def try_machines(self, this: Round, settings: Sequence[Setting]) -> None:
        """Try these settings, family by family, as far as the time of the round goes."""
        for split in range(this.n_splits):
            families: dict[Family, list[float]] = {}
            for setting in self._untried(this, split, settings):
                families.setdefault(setting.family, []).append(setting.C)
            if families:
                rung = self.data.rung(this.stage, this.size, split)
                self._run(this, rung, self._paths(this, rung, families))

    def try_baselines(self, this: Round, names: Sequence[str]) -> None:
        """Try these baselines; none where examples are rows of similarities, which are no features."""
        for split in range(0 if self.space.precomputed else this.n_splits):
            missing = self._untried(this, split, names)
            if missing:
                rung = self.data.rung(this.stage, this.size, split)
                self._run(this, rung, [BaselineFit(rung, name) for name in missing])

    def _untried(self, this: Round, split: int, what: Sequence[Any]) -> list[Any]:
        return [each for each in what if (this.stage, this.size, split, each) not in self.journal.trials]

    def _paths(self, this: Round, rung: Rung, families: Families) -> list[MachinePath]:
        """One path per family; what cannot even be prepared is a failed trial."""
        seconds, grams = self._seconds_each(this, len(families)), self.prepared.grams(rung, families)
        rungs, paths = self._rungs_by_start(rung, families), list[MachinePath]()
        for family, Cs in families.items():
            if family.start in rungs:
                with self._noting_failures(rung, {family: Cs}):
                    scale, gram, start = self.prepared.scale(family), grams.get(family.base), rungs[family.start]
                    paths.append(MachinePath(start, family, tuple(Cs), scale, gram, seconds, self.options))
        return paths

    def _rungs_by_start(self, rung: Rung, families: Families) -> dict[str | None, Rung]:
        """The rung itself for plain machines, and with scores of baselines for those that start from them."""
        started = {family: Cs for family, Cs in families.items() if family.start is not None}
        rungs: dict[str | None, Rung] = {None: rung}
        with self._noting_failures(rung, started):
            rungs |= self.prepared.with_scores(rung, [family.start for family in started if family.start is not None])
        return rungs

    def _seconds_each(self, this: Round, n_paths: int) -> float | None:
        """Some paths end early and leave their time to others, so each may take twice its part."""
        left = self.clock.left(this.share)
        return None if left is None else min(left, max(1.0, 2.0 * left * effective_n_jobs(self.n_jobs) / n_paths))

    @contextmanager
    def _noting_failures(self, rung: Rung, families: Families) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:
            settings = [family.at(C) for family, Cs in families.items() for C in Cs]
            self.journal.add([Trial.failed(rung, setting, error) for setting in settings], self.clock.elapsed)

    # -- running

    def _run(self, this: Round, rung: Rung, jobs: Sequence[MachinePath | BaselineFit]) -> None:
        """Run the jobs; those that come after the time is up are left out, and this is noted."""
        done = 0
        self._report(rung, done, len(jobs))
        # Jobs are handed out one at a time, so that no more are started once the time is up.
        calls = (delayed(_run_job)(job, self.space, self.scoring) for job in self._until_time_is_up(this, jobs))
        for trials in Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")(calls):
            self.journal.add(trials, self.clock.elapsed)
            done += 1
            self._report(rung, done, len(jobs))
        if done < len(jobs):
            self.notes.append(f"{this}: no time for {len(jobs) - done} of {counted(len(jobs), 'trial')}")

    def _until_time_is_up(self, this: Round, jobs: Iterable[Any]) -> Iterator[Any]:
        for place, job in enumerate(jobs):
            left = self.clock.left(this.share)
            if left is not None and left <= 0 and place > 0:  # the first one runs always: no round without a result
                return
            yield job

    def _report(self, rung: Rung, done: int, total: int) -> None:
        if self.progress is not None:
            tried = [trial for trial in self._trials(rung.stage, rung.size) if trial.setting is not None]
            best = min((trial.eer for trial in tried if trial.eer is not None), default=None)
            self.progress(Step(rung.stage, rung.size, done, total, best, self.clock.elapsed))

    # -- what came out

    def _trials(self, stage: Stage, size: Size) -> Iterator[Trial]:
        return (trial for trial in self.journal.trials.values() if (trial.stage, trial.size) == (stage, size))

    def results(self, stage: Stage, size: Size) -> list[Result[Any]]:
        """Means over the splits of machines and baselines, best first."""
        return mean_results(self._trials(stage, size))

    def machines(self, stage: Stage, size: Size) -> list[Result[Setting]]:
        """Results of machines, best first."""
        return [result for result in self.results(stage, size) if isinstance(result.what, Setting)]

    def baselines(self, stage: Stage, size: Size) -> list[Result[str]]:
        """Results of baselines, best first."""
        return [result for result in self.results(stage, size) if isinstance(result.what, str)]

    def affordable(self, this: Round, before: Round | None, settings: Sequence[Setting]) -> list[Setting]:
        """As many of these settings, best first, as will end in time; none is noted.

        The seconds of the round before are taken to grow like n^GROWTH with the number of pairs, n ∝ (classes · EPCR)².
        Without this the last rung would start all its settings, end none, and the search would choose by accident.
        """
        left = self.clock.left(this.share)
        if left is None or before is None:
            return list(settings)
        seconds = {result.what: result.seconds for result in self.machines(before.stage, before.size)}
        growth = (this.size.n_examples / before.size.n_examples) ** (2 * GROWTH) / effective_n_jobs(self.n_jobs)
        needed = np.cumsum([growth * seconds.get(setting, 0.0) for setting in settings])
        kept = list(settings[: int((needed <= left).sum())])
        if not kept:
            self.notes.append(f"{this.stage} task: no time for {this.size}")
        return kept


def _run_job(job: MachinePath | BaselineFit, space: Space, scoring: Scorer) -> list[Trial]:
    return job.run(space, scoring)
