"""Running trials within a time budget, in parallel, and comparing what they showed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed

from pairlearn.baselines.stacked import Stack, cross_fit
from pairlearn.kernels import Gram
from pairlearn.selection.search.journal import Journal
from pairlearn.selection.search.rungs import Development, Rung, Size, Stage
from pairlearn.selection.search.settings import NO_KERNEL, Family, Setting, Space, baselines_of
from pairlearn.selection.search.trials import FAILURES, BaselineRun, Path, Scorer, Trial, failure

GUESSING = 0.5
EASY = 0.01
"""Equal error rates below this are equally good in the pruning: few test pairs do not tell them apart."""
GROWTH = 1.3
"""Seconds of a fit grow like pairs to this power; used to foresee the next rung."""
SHARED_GRAM = 6000
"""Largest number of examples whose Gram matrix is held for all machines of a rung."""


class Clock:
    """Seconds of a selection, those before a resumption included; `budget` None is without end."""

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
class Result:
    """Mean over the splits of one machine or baseline."""

    what: Setting | str
    score: float
    eer: float
    seconds: float
    n_splits: int


@dataclass
class Race:
    """Everything that trials need, and what they showed so far."""

    space: Space
    data: Development
    journal: Journal
    clock: Clock
    scoring: Scorer
    n_jobs: int | None
    options: dict[str, Any]
    progress: Callable[[Step], None] | None
    scales: dict[tuple[str, str], float] = field(default_factory=dict)
    stacks: dict[tuple[Stage, Size, int], Stack] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    # -- running

    def machines(self, stage: Stage, size: Size, settings: Sequence[Setting], splits: int, share: float | None) -> None:
        """Try these settings, family by family, until this share of the budget is spent; None: in any case."""
        for split in range(splits):
            missing: dict[Family, list[float]] = {}
            for setting in settings:
                if not self._known(stage, size, split, setting):
                    missing.setdefault(setting.family, []).append(setting.C)
            if missing:
                rung = self.data.rung(stage, size, split)
                self._run(rung, self._paths(rung, missing, share), share)

    def _paths(self, rung: Rung, families: dict[Family, list[float]], share: float | None) -> list[Path]:
        """One path per family; what cannot even be prepared is a failed trial."""
        left = self.clock.left(share)
        # Some paths end early and leave their time to others, so each may take twice its part.
        each = None if left is None else min(left, max(1.0, 2.0 * left * _workers(self.n_jobs) / len(families)))
        grams, paths = self._grams(rung, families), list[Path]()
        started: dict[str | None, Rung] = {None: rung}
        try:
            starts = dict.fromkeys(family.start for family in families if family.start is not None)
            started |= self._started(rung, starts) if starts else {}
        except FAILURES as error:
            self._fail(rung, error, {family: Cs for family, Cs in families.items() if family.start is not None})
        for family, Cs in families.items():
            if family.start not in started:
                continue
            try:
                scale, gram = self.scale(family), grams.get(family.base)
                paths.append(Path(started[family.start], family, tuple(Cs), scale, gram, each, self.options))
            except FAILURES as error:
                self._fail(rung, error, {family: Cs})
        return paths

    def _fail(self, rung: Rung, error: BaseException, families: dict[Family, list[float]]) -> None:
        trials = [failure(rung, error, setting=family.at(C)) for family, Cs in families.items() for C in Cs]
        self.journal.add(trials, self.clock.elapsed)

    def _started(self, rung: Rung, starts: Iterable[str]) -> dict[str | None, Rung]:
        """The rung with scores of baselines as features of its pairs, for each start; no baseline is fitted twice."""
        asked = {start: baselines_of(start) for start in starts}
        names = list(dict.fromkeys(name for group in asked.values() for name in group))
        place = rung.stage, rung.size, rung.split
        if not set(names) <= set(self.stacks[place].models if place in self.stacks else ()):
            # Only those of this size are needed again, for the other settings that start from them.
            self.stacks = {known: stack for known, stack in self.stacks.items() if known[:2] == place[:2]}
            self.stacks[place] = cross_fit(rung.training, rung.labels, rung.classes, names, seed=self.data.seed)
        return {start: self._with_scores(rung, self.stacks[place].only(group)) for start, group in asked.items()}

    def _with_scores(self, rung: Rung, stack: Stack) -> Rung:
        return replace(rung, training=stack.pairs, labels=stack.labels, test=stack.shown(rung.test))

    def baselines(self, stage: Stage, size: Size, names: Sequence[str], splits: int, share: float | None) -> None:
        """Try these baselines, unless the examples are rows of a matrix of similarities; `share` None: in any case."""
        if self.space.precomputed:
            return
        for split in range(splits):
            missing = [name for name in names if not self._known(stage, size, split, name)]
            if missing:
                rung = self.data.rung(stage, size, split)
                self._run(rung, [BaselineRun(rung, name) for name in missing], share)

    def _run(self, rung: Rung, jobs: Sequence[Path | BaselineRun], share: float | None) -> None:
        """Run the jobs; those that come after the time is up are left out, and this is noted."""
        done, best = 0, self._best(rung)
        self._tell(rung, done, len(jobs), best)
        # Jobs are handed out one at a time, so that no more are started once the time is up.
        allowed = self._until(jobs, share)
        calls = (delayed(_run_job)(job, self.space, self.scoring) for job in allowed)
        results = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")(calls)
        for trials in results:
            self.journal.add(trials, self.clock.elapsed)
            rates = [trial.eer for trial in trials if trial.eer is not None and trial.setting is not None]
            done, best = done + 1, min([*rates, *([] if best is None else [best])], default=None)
            self._tell(rung, done, len(jobs), best)
        if done < len(jobs):
            self.notes.append(f"{rung.stage}, {rung.size}: no time for {len(jobs) - done} of {len(jobs)} trials")

    def _until(self, jobs: Sequence[Path | BaselineRun], share: float | None) -> Iterable[Path | BaselineRun]:
        for place, job in enumerate(jobs):
            left = self.clock.left(share)
            if left is not None and left <= 0 and place > 0:
                return
            yield job

    def _tell(self, rung: Rung, done: int, total: int, best: float | None) -> None:
        if self.progress is not None:
            self.progress(Step(rung.stage, rung.size, done, total, best, self.clock.elapsed))

    def _grams(self, rung: Rung, families: Iterable[Family]) -> dict[str, Gram]:
        """One Gram matrix per base for all pair kernels and Cs of the rung."""
        names = {family.base for family in families} - {NO_KERNEL}
        if rung.training.n_examples > SHARED_GRAM or self.space.precomputed:
            return {}
        grams = {name: Gram(self.space.bases[name], rung.training.examples) for name in sorted(names)}
        for gram in grams.values():
            gram.matrix  # noqa: B018  computed here, once, not in every process
        return grams

    def scale(self, family: Family) -> float:
        """Mean K(p, p) of a family's kernel: the unit of its C."""
        key = (family.kernel, family.base)
        if key not in self.scales:
            # The same pairs for every rung and every resumption, so that C means the same everywhere.
            pairs = self.data.rung("pair", self.data.pair_sizes()[0], 0).training
            self.scales[key] = self.space.scale(family, pairs, self.data.seed)
        return self.scales[key]

    # -- comparing

    def _known(self, stage: Stage, size: Size, split: int, what: Setting | str) -> bool:
        return (stage, size, split, what) in self.journal.trials

    def _best(self, rung: Rung) -> float | None:
        results = [result.eer for result in self.results(rung.stage, rung.size) if isinstance(result.what, Setting)]
        return min(results, default=None)

    def results(self, stage: Stage, size: Size) -> list[Result]:
        """Means over the splits, best first; only what was tried on as many splits as any other."""
        found: dict[Setting | str, list[Trial]] = {}
        for (where, at, _, what), trial in self.journal.trials.items():
            if (where, at) == (stage, size) and trial.eer is not None:
                found.setdefault(what, []).append(trial)
        most = max(map(len, found.values()), default=0)
        means = [
            Result(
                what,
                float(np.mean([trial.score for trial in trials if trial.score is not None])),
                float(np.mean([trial.eer for trial in trials if trial.eer is not None])),
                float(np.sum([trial.seconds for trial in trials])),
                len(trials),
            )
            for what, trials in found.items()
            if len(trials) == most
        ]
        # Equal scores: the machine that is more regular, then by name, so that the order is always the same.
        return sorted(means, key=lambda result: (-result.score, getattr(result.what, "C", 0.0), str(result.what)))

    def machines_of(self, stage: Stage, size: Size) -> list[Result]:
        """Results of machines, best first."""
        return [result for result in self.results(stage, size) if isinstance(result.what, Setting)]

    def baselines_of(self, stage: Stage, size: Size) -> list[Result]:
        """Results of baselines, best first."""
        return [result for result in self.results(stage, size) if isinstance(result.what, str)]

    def affordable(
        self, stage: Stage, before: Size, size: Size, settings: Sequence[Setting], share: float
    ) -> list[Setting]:
        """As many of these settings, best first, as fit into their share of the time at the next rung."""
        left = self.clock.left(share)
        if left is None:
            return list(settings)
        seconds = {result.what: result.seconds for result in self.machines_of(stage, before)}
        growth = (size.n_classes * size.epcr / (before.n_classes * before.epcr)) ** (2 * GROWTH)
        needed = np.cumsum([seconds.get(setting, 0.0) * growth / _workers(self.n_jobs) for setting in settings])
        return list(settings[: int((needed <= left).sum())])


def _run_job(job: Path | BaselineRun, space: Space, scoring: Scorer) -> list[Trial]:
    return job.run(space, scoring)


def _workers(n_jobs: int | None) -> int:
    return int(Parallel(n_jobs=n_jobs).n_jobs) if (n_jobs or 1) > 0 else max(1, cpu_count() + 1 + (n_jobs or 0))


# --------------------------------------------------------------------------- pruning


def promising(results: Sequence[Result]) -> list[Setting]:
    """Settings that are not hopeless: nearer to the best than to guessing, on a logarithmic scale of the EER.

    A good result in an easy task does not imply one in a harder task, a bad result implies a bad one; so only clearly
    bad families go: EER > √(best · ½). Of each family the Cs within twice its best EER stay.
    """
    if not results:
        return []
    best = max(EASY, min(result.eer for result in results))
    own: dict[Family, float] = {}
    for result in results:
        assert isinstance(result.what, Setting)
        own[result.what.family] = min(own.get(result.what.family, 1.0), result.eer)
    return [
        result.what
        for result in results
        if isinstance(result.what, Setting)
        and own[result.what.family] <= sqrt(best * GUESSING)
        and result.eer <= max(EASY, 2.0 * own[result.what.family])
    ]


def better_half(results: Sequence[Result], least: int = 2) -> list[Setting]:
    """The better half of the families, at least `least`, each with its best C; results are best first."""
    best = one_per_family(result.what for result in results if isinstance(result.what, Setting))
    return best[: max(least, ceil(len(best) / 2))]


def one_per_family(settings: Iterable[Setting]) -> list[Setting]:
    """The first setting of each family."""
    first: dict[Family, Setting] = {}
    for setting in settings:
        first.setdefault(setting.family, setting)
    return list(first.values())
