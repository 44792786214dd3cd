"""Running trials one after the other while there is time, and the results of all that ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from pairlearn.evaluation.objectives.answers import Judgement
from pairlearn.evaluation.objectives.named import Question
from pairlearn.pairs import Pairs
from pairlearn.selection.labelled.journal import Journal
from pairlearn.selection.labelled.rivals import Rival
from pairlearn.selection.labelled.settings import Setting, Space
from pairlearn.selection.labelled.tasks import VALIDATION_SHARE, splits
from pairlearn.selection.labelled.trials import Kind, Labelled, Trial, What, averaged, kind_of, run_trial
from pairlearn.selection.search.clock import Clock, expected_seconds
from pairlearn.selection.search.trials import SHORTEST_FIT
from pairlearn.selection.splits import Split
from pairlearn.words import counted

TEST_PAIRS = 20_000
"""Most pairs that judge one trial: scoring them shall take less time than the fits."""
FIRST, GROWTH_OF_SETS = 3000, 4
"""Pairs of the first look, and how much larger every further training set is."""
WHOLE = 50_000
"""Pairs up to which a complete grid is taken whole at once: its closed forms are quicker than a few thousand pairs."""
ROUGH = 0.01
"""KKT gap at which the machine of a trial stops: splits differ by more than its last digits. Final fits go further."""
MOST_SPLITS = 20
"""Splits after which more of them would tell no more: they share their pairs."""


@dataclass(frozen=True)
class Step:
    """Progress: trials so far, pairs of the last one, its best value so far, seconds."""

    size: int
    done: int
    best: float | None
    seconds: float


@dataclass(frozen=True)
class Result:
    """Mean over splits of one setting or baseline; seconds are a sum."""

    what: What
    score: float
    value: float
    low: float | None
    high: float | None
    slope: float
    seconds: float
    n_splits: int


@dataclass
class Runner:
    """Development pairs, their splits, and every trial that was made; all that is random comes from the seed.

    `splits_done` are those of each size on which all machines, or all baselines, that were meant to be tried were.
    """

    data: Labelled
    question: Question
    unseen: Any
    space: Space
    rivals: dict[str, Rival]
    judgement: Judgement
    clock: Clock
    journal: Journal
    max_pairs: int
    seed: int
    options: dict[str, Any]
    progress: Callable[[Step], None] | None = None
    notes: list[str] = field(default_factory=list)
    trials: dict[tuple[What, int, int], Trial] = field(default_factory=dict)
    splits_done: dict[tuple[Kind, int], int] = field(default_factory=dict)

    # -- sets

    @cached_property
    def _splits(self) -> list[Split]:
        """All splits that may be asked for; links have both labels in both halves of each."""
        labels = self.data.labels if self.question == "link" else None
        found = splits(self.data.pairs, labels, self.unseen, VALIDATION_SHARE, MOST_SPLITS, self.seed)
        return list(self._whole(found))

    @staticmethod
    def _whole(found: Iterator[Split]) -> Iterator[Split]:
        """The splits up to the first that is of no use; the first one has to be."""
        yield next(found)
        try:
            yield from found
        except ValueError:
            return

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return len(self._splits)

    @cached_property
    def sizes(self) -> list[int]:
        """Numbers of training pairs, each four times the one before, up to all of them."""
        most = min(self.max_pairs, min(len(train) for train, _ in self._splits))
        found = [most]
        if most <= min(WHOLE, self.max_pairs) and is_grid(self.data.pairs[self._splits[0][0]]):
            return found
        while found[0] > 1.5 * FIRST:
            found.insert(0, max(FIRST, found[0] // GROWTH_OF_SETS))
        return found

    def sets(self, size: int, split: int) -> tuple[Labelled, Labelled]:
        """Training pairs, the smaller set in every larger one, and test pairs of a split."""
        train, test = self._splits[split]
        rng = np.random.default_rng((self.seed, split))
        halves = ((rng.permutation(train), size), (rng.permutation(test), TEST_PAIRS))
        training, tested = (self.data[self._some(rows, most)] for rows, most in halves)
        return training, tested

    @staticmethod
    def _some(rows: Any, most: int) -> Any:
        """The first of them, in the order of the table: some baselines follow the rows."""
        return np.sort(rows[:most])

    # -- running

    def try_all(self, what: Iterable[What], size: int, split: int, until: float | None, *, must: bool = False) -> bool:
        """Those that were not tried here; whether there was time for all. What `must` be known always runs."""
        missing = [each for each in dict.fromkeys(what) if not self._known(each, size, split)]
        late: list[What] = []
        sets = self.sets(size, split) if missing else None
        for each in missing:
            left = None if must else self.clock.left(until)
            if left is not None and (left <= 0 or (self.expected(each, size) or 0.0) > left):
                late.append(each)
                continue
            assert sets is not None
            make = partial(self.model, each, sets[0], left, tol=ROUGH)
            self.keep(run_trial(each, make, sets, self.judgement, size, split))
            self.journal.add(self.trials[each, size, split], self.clock.elapsed)
            if self.trials[each, size, split].broken_off:
                late.append(each)
        if late:
            names = ", ".join(map(str, late[:3])) + (", …" if len(late) > 3 else "")
            self.notes.append(f"{counted(size, 'pair')}: no time for {counted(len(late), 'trial')} ({names})")
        return not late

    def try_split(self, what: Sequence[What], size: int, split: int, until: float | None) -> bool:
        """These on one more split, which counts for their kinds if there was time for all of them."""
        done = self.try_all(what, size, split, until)
        for kind in {kind_of(each) for each in what} if done else ():
            self.splits_done[kind, size] = max(self.n_counted(kind, size), split + 1)
        return done

    def _known(self, what: What, size: int, split: int) -> bool:
        """Whether this process tried it, or one before it; what was broken off is tried again where there is time."""
        before = self.journal.known(what, size, split)
        if before is not None and not before.broken_off:
            self.trials.setdefault((what, size, split), replace(before, what=what))
        known = self.trials.get((what, size, split))
        return known is not None and not known.broken_off

    def average(self, mean: Setting, size: int) -> None:
        """The trials of a mean on every split that counts and that all its parts know."""
        for split in range(self.n_counted("machine", size)):
            parts = [self.trials.get((part, size, split)) for part in mean.parts]
            known = [part for part in parts if part is not None and part.tells and part.answers is not None]
            if len(known) == len(parts):
                self.keep(averaged(mean, known, self.sets(size, split)[1], self.judgement))

    def model(self, what: What, training: Labelled, seconds: float | None, **more: Any) -> Any:
        """A new machine that may take so many seconds, or a new baseline."""
        if isinstance(what, str):
            return self.rivals[what](training.pairs)
        budget = None if seconds is None else max(SHORTEST_FIT, seconds)
        return self.space.machine(what, time_budget=budget, **self.options, **more)

    def keep(self, trial: Trial) -> None:
        """Note a trial and say how far the search is."""
        self.trials[trial.what, trial.size, trial.split] = trial
        if self.progress is not None:
            found = [each.value for each in self.trials.values() if each.size == trial.size and each.value is not None]
            pick = max if self.judgement.figure.larger_is_better else min
            best = pick(found) if found else None
            self.progress(Step(trial.size, len(self.trials), best, self.clock.elapsed))

    def expected(self, what: What, n_pairs: int) -> float | None:
        """Seconds of one fit, from those of the same setting, else of its family; None if unknown."""
        if isinstance(what, Setting) and what.beside:
            return sum(self.expected(part, n_pairs) or 0.0 for part in what.parts)
        own = [trial for trial in self.trials.values() if trial.score is not None]
        exact = [(trial.size, trial.seconds) for trial in own if trial.what == what]
        if isinstance(what, str) or exact:
            return expected_seconds(exact, n_pairs)
        alike = [t for t in own if isinstance(t.what, Setting) and t.what.family == what.family]
        return expected_seconds([(trial.size, trial.seconds) for trial in alike], n_pairs)

    # -- results

    @property
    def learnt(self) -> bool:
        """Whether any machine told something so far."""
        return any(trial.tells and not isinstance(trial.what, str) for trial in self.trials.values())

    def n_counted(self, kind: Kind, size: int) -> int:
        """How many splits count, from the first on: one that was broken off tells of those alone that are quick."""
        return self.splits_done.get((kind, size), 1)

    def score(self, setting: Setting, size: int) -> float:
        """Mean score over the splits that count and that a setting was tried on; −∞ where one told nothing."""
        own = [(split, trial) for (what, of, split), trial in self.trials.items() if what == setting and of == size]
        those = [trial for split, trial in own if split < self.n_counted("machine", size)]
        told = [trial.score for trial in those if trial.tells and trial.score is not None]
        return float(np.mean(told)) if those and len(told) == len(those) else -np.inf

    def results(self, kind: Kind, size: int) -> list[Result]:
        """Means over the splits that count, best first; only what told something on as many of them as any other."""
        found: dict[What, list[Trial]] = {}
        for (what, of, split), trial in self.trials.items():
            counts = of == size and kind_of(what) == kind and split < self.n_counted(kind, size)
            if counts and trial.tells:
                found.setdefault(what, []).append(trial)
        most = max(map(len, found.values()), default=0)
        means = [mean_result(those) for those in found.values() if len(those) == most]
        return sorted(means, key=lambda each: (-each.score, getattr(each.what, "C", 0.0), str(each.what)))

    def machines(self, size: int) -> list[Result]:
        """Results of settings, best first."""
        return self.results("machine", size)

    def baselines(self, size: int) -> list[Result]:
        """Results of baselines, best first."""
        return self.results("baseline", size)

    def rivals_at(self, size: int) -> list[Result]:
        """Results of baselines at this size; where there was no time for any, at the largest one below it."""
        known = (self.baselines(each) for each in reversed(self.sizes) if each <= size)
        return next((found for found in known if found), [])


def is_grid(pairs: Pairs) -> bool:
    """Whether these are all pairs of the examples of two tables."""
    left, right = (len(np.unique(column)) for column in pairs.columns)
    return pairs.right_examples is not None and left * right == len(pairs)


def mean_result(trials: Sequence[Trial]) -> Result:
    """Means over splits; limits are means of the limits, too wide rather than too narrow."""

    def mean(name: str) -> float:
        return float(np.mean([getattr(trial, name) for trial in trials]))

    limited = all(trial.low is not None for trial in trials)
    low, high = (mean("low"), mean("high")) if limited else (None, None)
    slope = float(np.exp(np.mean(np.log([trial.slope for trial in trials]))))
    seconds = float(np.sum([trial.seconds for trial in trials]))
    return Result(trials[0].what, mean("score"), mean("value"), low, high, slope, seconds, len(trials))
