"""Running trials one after the other while there is time, and the results of all that ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.objectives.answers import Judgement
from pairlearn.evaluation.objectives.named import Question
from pairlearn.pairs import Pairs
from pairlearn.selection.labelled.rivals import Rival
from pairlearn.selection.labelled.settings import Setting, Space
from pairlearn.selection.labelled.tasks import VALIDATION_SHARE, splits
from pairlearn.selection.labelled.trials import (
    Key,
    Kind,
    Labelled,
    Trial,
    What,
    averaged,
    check_judged,
    kind_of,
    kinds_of,
    run_trial,
)
from pairlearn.selection.search.clock import Clock
from pairlearn.selection.search.journal import Memory
from pairlearn.selection.search.results import Splits, best_first, means
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
    journal: Memory[Trial]
    max_pairs: int
    seed: int
    options: dict[str, Any]
    progress: Callable[[Step], None] | None = None
    notes: list[str] = field(default_factory=list)
    splits_done: Splits = field(default_factory=Splits)

    # -- sets

    @cached_property
    def _splits(self) -> list[Split]:
        """All splits that may be asked for: those by which something can be judged.

        Links have both labels in both halves of each.
        """
        labels = self.data.labels if self.question == "link" else None
        found = splits(self.data.pairs, labels, self.unseen, VALIDATION_SHARE, MOST_SPLITS, self.seed)
        every, useful = list(self._whole(found)), list[Split]()
        for split in every:
            try:
                check_judged(self.judgement, self.data.labels[split[1]])
                useful.append(split)
            except InputError as error:
                reason = error
        if not useful:
            raise InputError(f"no split of the pairs can be judged: {reason}") from reason
        if len(useful) < len(every):
            self.notes.append(
                f"{len(every) - len(useful)} of {counted(len(every), 'split')} cannot be judged: {reason}"
            )
        return useful

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
        what, until = list(dict.fromkeys(what)), None if must else until
        missing = self.untried(what, size, split)
        sets = self.sets(size, split) if missing else None
        for each in missing:
            if sets is not None and self.clock.begins(self.expected(each, size) or 0.0, until):
                make = partial(self.model, each, sets[0], self.clock.left(until), tol=ROUGH)
                trial = run_trial(each, make, sets, self.judgement, size, split)
                self.journal.add([trial], self.clock.elapsed)
                self._report(trial)
        late = self.untried(what, size, split)
        if late:
            names = ", ".join(map(str, late[:3])) + (", …" if len(late) > 3 else "")
            self.notes.append(f"{counted(size, 'pair')}: no time for {counted(len(late), 'trial')} ({names})")
        return not late

    def try_split(self, what: Sequence[What], size: int, split: int, until: float | None) -> bool:
        """These on one more split, which counts for their kinds if there was time for all of them."""
        done = self.try_all(what, size, split, until)
        for kind in {kind_of(each) for each in what} if done else ():
            self.splits_done.done((kind, size), split)
        return done

    def untried(self, what: Iterable[What], size: int, split: int) -> list[What]:
        """Those that were not tried here, or broken off before they told anything."""
        return [each for each in what if not self.journal.tried((each, size, split), self.clock)]

    def recall_rest(self) -> None:
        """Take in what the plan did not come to again: Ctrl-C ends it, and forgets nothing that is on the disk."""
        for trial in self.journal.recall_rest():
            kind = kind_of(trial.what)
            self.splits_done.begun((kind, trial.size), trial.split)
            for smaller in self.sizes if kind == "machine" else ():
                if smaller < trial.size:  # the plan comes to more pairs when it is done with fewer
                    self.splits_done.done((kind, smaller))

    def average(self, mean: Setting, size: int) -> None:
        """The trials of a mean on every split that counts and that all its parts know."""
        for split in range(self.n_counted("machine", size)):
            parts = [self.trials.get((part, size, split)) for part in mean.parts]
            known = [part for part in parts if part is not None and part.tells and part.answers is not None]
            if len(known) == len(parts):
                trial = averaged(mean, known, self.sets(size, split)[1], self.judgement)
                self.trials[trial.key] = trial
                self._report(trial)

    def model(self, what: What, training: Labelled, seconds: float | None, **more: Any) -> Any:
        """A new machine that may take so many seconds, or a new baseline."""
        if isinstance(what, str):
            return self.rivals[what](training.pairs)
        budget = None if seconds is None else max(SHORTEST_FIT, seconds)
        return self.space.machine(what, time_budget=budget, **self.options, **more)

    def _report(self, trial: Trial) -> None:
        """Say how far the search is."""
        if self.progress is not None:
            found = [each.value for each in self.trials.values() if each.size == trial.size and each.value is not None]
            pick = max if self.judgement.figure.larger_is_better else min
            best = pick(found) if found else None
            self.progress(Step(trial.size, len(self.trials), best, self.clock.elapsed))

    def expected(self, what: What, n_pairs: int) -> float | None:
        """Seconds of one fit, from those of the same setting, else of its family; None if unknown."""
        if isinstance(what, Setting) and what.beside:
            return sum(self.expected(part, n_pairs) or 0.0 for part in what.parts)
        return self.journal.expected(kinds_of(what), n_pairs)

    # -- results

    @property
    def trials(self) -> dict[Key, Trial]:
        """Every trial so far."""
        return self.journal.trials

    @property
    def learnt(self) -> bool:
        """Whether any machine told something so far."""
        known = (*self.trials.values(), *self.journal.rest)
        return any(trial.tells and not isinstance(trial.what, str) for trial in known)

    def n_counted(self, kind: Kind, size: int) -> int:
        """How many splits count, from the first on."""
        return self.splits_done.counted((kind, size))

    def score(self, setting: Setting, size: int) -> float:
        """Mean score over the splits that count and that a setting was tried on; −∞ where one told nothing."""
        own = [(split, trial) for (what, of, split), trial in self.trials.items() if what == setting and of == size]
        those = [trial for split, trial in own if split < self.n_counted("machine", size)]
        told = [trial.score for trial in those if trial.tells and trial.score is not None]
        return float(np.mean(told)) if those and len(told) == len(those) else -np.inf

    def results(self, kind: Kind, size: int) -> list[Result]:
        """Means over the splits that count, best first; only what told something on as many of them as any other."""
        tried = [trial for trial in self.trials.values() if trial.size == size and kind_of(trial.what) == kind]
        n_splits = self.n_counted(kind, size)
        return best_first((trial for trial in tried if trial.split < n_splits), mean_result)

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
    slope = float(np.exp(np.mean(np.log([trial.slope for trial in trials]))))
    seconds = float(np.sum([trial.seconds for trial in trials]))
    return Result(trials[0].what, slope=slope, seconds=seconds, n_splits=len(trials), **means(trials))
