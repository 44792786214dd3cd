"""Running trials in parallel until their time is up.

How time is spent: a round runs one path of fits per family (all its Cs, each started from the one before). Of t seconds
left, n paths on w workers get 2·t·w / n each, but no more than t: some end early and leave their time to others. A
path of one fit may take all that is left, since a fit that is broken off tells nothing. What
is expected to take longer than what is left is not begun, and this is noted for the record; where a result must be had
in any case, the round runs to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from pairlearn.linalg.threads import blas_threads
from pairlearn.selection.ended import FAILURES
from pairlearn.selection.search.clock import Clock
from pairlearn.selection.search.development import Development, Rung
from pairlearn.selection.search.journal import Journal
from pairlearn.selection.search.preparation import Preparation
from pairlearn.selection.search.results import Result, Splits, best_first, mean_result
from pairlearn.selection.search.settings import Family, Setting, Space, baselines_of, plain_name
from pairlearn.selection.search.sizes import Size, Stage
from pairlearn.selection.search.trials import BaselineFit, MachinePath, Scorer, Trial, ViewFits
from pairlearn.selection.search.whitened.names import Part, parts_of
from pairlearn.words import counted

CROSS_FIT = 3.2
"""Fits of a baseline on all pairs that cross-fitting takes: one, and three without a third of the classes."""
SLOW = ("plda", "kissme", "logistic")
"""Baselines that come last, since others say more in the same time."""
BY_PAIRS, BY_ROWS, BY_VIEWS = 0.8, 0.4, 0.3
"""Seconds of slow and other baselines and of views grow like pairs to this power; where most is the test, by less."""
NAMED = 4
"""Names in a note; the record has every trial that was made."""
LONE = 12.0
"""Times its share of many views that one view takes by itself."""
Families = Mapping[Family, Sequence[float]]
"""Families to try, each with its Cs."""
Job = MachinePath | BaselineFit | ViewFits


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
    """One task at one size on one split: until when, in seconds of the clock (None: no end).

    What `must` be known runs whatever the time.
    """

    stage: Stage
    size: Size
    split: int = 0
    until: float | None = None
    must: bool = False

    def __str__(self) -> str:
        return f"{self.stage} task, {self.size}"


@dataclass
class Runner:
    """Runs what was not tried before, and gives the results of everything that was.

    The journal is its only memory of trials: what is in there is not run again, whether this process tried it or one
    that was killed yesterday; only what was broken off is. `splits` counts those of each rung on which everything that
    was meant to be tried was.
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
    splits: Splits = field(default_factory=Splits)

    def __post_init__(self) -> None:
        self.prepared = Preparation(self.space, self.data)
        self._rungs: dict[tuple[Stage, Size, int], Rung] = {}

    # -- what to run

    def try_machines(self, this: Round, settings: Sequence[Setting]) -> bool:
        """Try these settings, family by family; whether there was time for all."""
        families: dict[Family, list[float]] = {}
        self._try_views(this, [setting for setting in settings if setting.views])
        self._try_alone(this, [setting for setting in settings if setting.quick and not setting.views])
        for setting in self.untried(this, [setting for setting in settings if not setting.quick]):
            families.setdefault(setting.family, []).append(setting.C)
        if families:
            self._run(this, self._rung(this), self._paths(this, self._rung(this), families))
        return not self.untried(this, settings)

    def _try_views(self, this: Round, settings: Sequence[Setting]) -> None:
        """Whitened views: those of one base at once; several bases together one by one."""
        groups: dict[Any, list[Setting]] = {}
        for setting in self.untried(this, settings):
            groups.setdefault(setting.views[0].base if len(setting.views) == 1 else setting, []).append(setting)
        if groups:
            rung = self._rung(this)
            self._run(this, rung, [ViewFits(rung, tuple(group)) for group in groups.values()])

    def _try_alone(self, this: Round, settings: Sequence[Setting]) -> None:
        """Baselines as machines: what the baseline shows."""
        self.try_baselines(this, [setting.quick for setting in settings if setting.quick])
        for setting in self.untried(this, settings):
            known = self.journal.trials.get((this.stage, this.size, this.split, setting.quick))
            if known is not None:
                self.journal.add([replace(known, setting=setting, baseline=None, C=setting.C)], self.clock.elapsed)

    def try_baselines(self, this: Round, names: Sequence[str]) -> bool:
        """Try these baselines, where examples are rows of features; whether there was time for all."""
        missing = [] if self.space.precomputed else self.untried(this, names)
        if missing:
            self._run(this, self._rung(this), [BaselineFit(self._rung(this), name) for name in missing])
        return self.space.precomputed or not self.untried(this, names)

    def untried(self, this: Round, what: Sequence[Any]) -> list[Any]:
        """Those of these settings or baselines that were not tried in this round, or broken off before they told."""
        place = (this.stage, this.size, this.split)
        return [each for each in dict.fromkeys(what) if not self.journal.tried((*place, each), self.clock)]

    def _rung(self, this: Round) -> Rung:
        """The sets of a round, kept until those of another are asked for."""
        place = (this.stage, this.size, this.split)
        if place not in self._rungs:
            self._rungs = {place: self.data.rung(*place)}
        return self._rungs[place]

    def _paths(self, this: Round, rung: Rung, families: Families) -> list[MachinePath]:
        """One path per family; what cannot even be prepared is a failed trial, what takes too long is left out."""
        wanted = {family: Cs for family, Cs in families.items() if self._can_start(this, family)}
        self._note_left_out(this, [family for family in families if family not in wanted], len(families))
        grams, rungs, paths = self.prepared.grams(rung, wanted), self._rungs_by_start(rung, wanted), list[MachinePath]()
        for family, Cs in wanted.items():
            if family.start in rungs:
                with self._noting_failures(rung, {family: Cs}):
                    scale, gram, start = self.prepared.scale(family), grams.get(family.base), rungs[family.start]
                    paths.append(MachinePath(start, family, tuple(Cs), scale, gram, None, self.options))
        return paths

    def _can_start(self, this: Round, family: Family) -> bool:
        """Whether the baselines that a family starts from can be cross-fitted in time."""
        if this.must or family.start is None or self.prepared.has(this, family.start):
            return True
        return self.clock.begins(self.expected_start(family.start, self.data.n_pairs(this.size)), this.until)

    def _rungs_by_start(self, rung: Rung, families: Families) -> dict[str | None, Rung]:
        """The rung itself for plain machines, and with scores of baselines for those that start from them."""
        started = {family: Cs for family, Cs in families.items() if family.start is not None}
        rungs: dict[str | None, Rung] = {None: rung}
        with self._noting_failures(rung, started):
            rungs |= self.prepared.with_scores(rung, [family.start for family in started if family.start is not None])
        return rungs

    @contextmanager
    def _noting_failures(self, rung: Rung, families: Families) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:
            settings = [family.at(C) for family, Cs in families.items() for C in Cs]
            self.journal.add([Trial.failed(rung, setting, error) for setting in settings], self.clock.elapsed)

    # -- running

    def recall_rest(self) -> None:
        """Take in what the plan did not come to again: Ctrl-C ends it, and forgets nothing that is on the disk."""
        for trial in self.journal.recall_rest():
            self.splits.begun((trial.stage, trial.size), trial.split)

    def _run(self, this: Round, rung: Rung, jobs: Sequence[Job]) -> None:
        """Run the jobs; those for which there is no time are noted."""
        done, left_out = 0, list[Job]()
        self._report(rung, done, len(jobs))
        # Jobs are handed out one at a time, so that no more are started once the time is up.
        calls = (delayed(_run_job)(job, self.space, self.scoring) for job in self._in_time(this, jobs, left_out))
        for trials in Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")(calls):
            self.journal.add(trials, self.clock.elapsed)
            done += 1
            self._report(rung, done, len(jobs))
        self._note_left_out(this, [job.what for job in left_out], len(jobs))

    def _in_time(self, this: Round, jobs: Sequence[Job], left_out: list[Job]) -> Iterator[Job]:
        """The jobs that are expected to end in time, each with the seconds that it may take."""
        until = None if this.must else this.until
        for place, job in enumerate(jobs):
            if not self.clock.begins(self._expected_job(job), until):
                left_out.append(job)
                continue
            left = self.clock.left(until)
            if left is not None and isinstance(job, MachinePath):
                part = 2.0 * left * effective_n_jobs(self.n_jobs) / (len(jobs) - place)
                job = replace(job, seconds=left if len(job.Cs) == 1 else min(left, part))
            yield job

    def _expected_job(self, job: Job) -> float:
        what = job.settings if isinstance(job, ViewFits) else (job.what,)
        return sum(self.expected(each, len(job.rung.training)) or 0.0 for each in what)

    def _note_left_out(self, this: Round, what: Sequence[Any], total: int) -> None:
        if what:
            every = list(dict.fromkeys(str(getattr(each, "family", each)) for each in what))
            names = ", ".join(every[:NAMED]) + (", …" if len(every) > NAMED else "")
            self.notes.append(f"{this}: no time for {len(what)} of {counted(total, 'trial')} ({names})")

    def _report(self, rung: Rung, done: int, total: int) -> None:
        if self.progress is not None:
            tried = [trial for trial in self._trials(rung.stage, rung.size) if trial.setting is not None]
            best = min((trial.eer for trial in tried if trial.eer is not None), default=None)
            self.progress(Step(rung.stage, rung.size, done, total, best, self.clock.elapsed))

    # -- what came out

    def _trials(self, stage: Stage, size: Size) -> Iterator[Trial]:
        return (trial for trial in self.journal.trials.values() if (trial.stage, trial.size) == (stage, size))

    def results(self, stage: Stage, size: Size) -> list[Result[Any]]:
        """Means over the splits of machines and baselines, best first; a split that was broken off does not count."""
        n_splits = self.splits.counted((stage, size))
        return best_first((trial for trial in self._trials(stage, size) if trial.split < n_splits), mean_result)

    def machines(self, stage: Stage, size: Size) -> list[Result[Setting]]:
        """Results of machines, best first."""
        return [result for result in self.results(stage, size) if isinstance(result.what, Setting)]

    def baselines(self, stage: Stage, size: Size) -> list[Result[str]]:
        """Results of baselines, best first."""
        return [result for result in self.results(stage, size) if isinstance(result.what, str)]

    # -- what it will take

    def expected(self, what: Setting | str, n_pairs: int) -> float | None:
        """Seconds of one trial, from those of the same setting, else of its family, else of all; None if unknown."""
        if isinstance(what, Setting) and what.quick and not what.views:
            what = what.quick
        views = parts_of(what) if isinstance(what, str) else what.views
        if views:
            setting = self.space.on_score(what) if isinstance(what, str) else what
            found = self.journal.expected((setting, Part), n_pairs, BY_VIEWS)
            return LONE * found if found is not None and len(views) == 1 and isinstance(what, str) else found
        if isinstance(what, str):
            return self.journal.expected((what,), n_pairs, BY_PAIRS if plain_name(what) in SLOW else BY_ROWS)
        return self.journal.expected((what, what.family, Setting), n_pairs)

    def expected_start(self, start: str | None, n_pairs: int) -> float:
        """Seconds of cross-fitting what a family starts from: without end where a baseline was never tried."""
        names = () if start is None else baselines_of(start)
        each = [self.expected(name, n_pairs) for name in names]
        return CROSS_FIT * sum(inf if seconds is None else seconds for seconds in each)

    def affordable(self, this: Round, settings: Sequence[Setting], names: Sequence[str] = ()) -> list[Setting]:
        """As many of these settings, best first, as are expected to end in time beside these baselines; none is noted.

        Without this the last rung would start all its settings, end none, and the search would choose by accident.
        """
        left, n_pairs = self.clock.left(this.until), self.data.n_pairs(this.size)
        if left is None:
            return list(settings)
        starts = {setting.start for setting in settings}
        each = [(self.expected(setting, n_pairs) or 0.0) / effective_n_jobs(self.n_jobs) for setting in settings]
        before = sum(self.expected_start(start, n_pairs) for start in starts)
        before += sum(self.expected(name, n_pairs) or 0.0 for name in names)
        needed = before + np.cumsum(each)
        kept = list(settings[: int((needed <= left).sum())])
        if not kept:
            self.notes.append(f"{this.stage} task: no time for {this.size}")
        return kept


def _run_job(job: Job, space: Space, scoring: Scorer) -> list[Trial]:
    if isinstance(job, MachinePath):
        return job.run(space, scoring)
    with blas_threads(0.0):  # small products one after the other: beside others two threads wait more than they work
        return job.run(space, scoring)
