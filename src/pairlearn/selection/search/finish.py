"""What comes after the choice: the final fit, the final test, and the refit on all classes; and what they will take.

The final fit climbs: first a set that is surely affordable, then larger ones as long as they are expected to end in
time. So there is always a model that converged, however wrong an expectation was. The final test judges this model and
every baseline, learnt from the same pairs, on classes that no choice has seen. Then the same setting is fitted once
more, on the classes of the test as well: this is the model to use, and the figure of the test is of the one before.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.baselines.registry import run_baselines
from pairlearn.baselines.stacked import attach_baselines, cross_fit
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.examples import take_examples
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.selection.ended import first_near, is_no_worse
from pairlearn.selection.search.development import FEWEST_CLASSES, Development, Training, pairs_of
from pairlearn.selection.search.runner import Runner
from pairlearn.selection.search.settings import Setting, baselines_of
from pairlearn.selection.search.sizes import Size
from pairlearn.solvers.problem import Status
from pairlearn.types import Examples

MODEL = "model"
FINAL_PAIRS = 200_000
"""Most pairs of the final test."""
DRAWING = 6e-7
"""Seconds to draw a pair and to label it: of millions, longer than all the rest of what is quick."""
SURE = 3.0
"""Times that the first final fit of a machine may take longer than foreseen."""
CALIBRATING = 50_000
"""Pairs from which a machine that is one baseline or whitened views learns where "same" begins: one number."""
TAIL = 0.35
"""Share of the budget that final fit, test and refit may take; a smaller training set where they would take more."""
CAUTION = 1.4
"""What the tail is expected to take counts so many times: it comes last, and nothing after it could make up for it."""


class Tail(NamedTuple):
    """Size of the final fit, and the seconds that it, the final test and the refit are expected to take."""

    size: Size
    fit: float
    test: float
    refit: float

    @property
    def seconds(self) -> float:
        """All of them."""
        return CAUTION * (self.fit + self.test + self.refit)


@dataclass(frozen=True, eq=False)
class Held:
    """Examples of classes that were set aside before anything else happened, and the development data with them."""

    examples: Examples
    classes: Any
    everything: Development


class Fitted(NamedTuple):
    """A final machine, what it learnt from, and how much that was."""

    machine: PairSVC
    training: Training
    size: Size


@dataclass(frozen=True, eq=False)
class Finish:
    """The last steps for one setting, chosen at one number of examples per class; `held` None is without a test.

    `rivals` are the baselines to test beside it in any case, others if there is time.
    """

    runner: Runner
    setting: Setting
    epcr: int
    held: Held | None
    rivals: tuple[str, ...] = ()

    # -- what it will take

    def tail(self, size: Size) -> Tail:
        """What follows the search when the final fit has this size."""
        fit = self._seconds(size)
        if self.held is None:
            return Tail(size, fit, 0.0, 0.0)
        n_pairs = self.runner.data.n_pairs(size)
        test = sum(self.runner.expected(name, n_pairs) or 0.0 for name in self.rivals)
        return Tail(size, fit, test, self._seconds(self._widened(size)))

    def _seconds(self, size: Size) -> float:
        n_pairs = self.runner.data.n_pairs(size)
        fit = self.runner.expected(self.setting, n_pairs) or 0.0
        drawing = DRAWING * n_pairs * self.runner.journal.pace
        return drawing + fit + self.runner.expected_start(self.setting.start, n_pairs)

    def _sizes(self) -> list[Size]:
        data = self.runner.data
        return data.ladder.final(len(data.useful), self.epcr)

    def _widened(self, size: Size) -> Size:
        """The least size of the refit: all classes where the final fit had all of its own, else as many as it had."""
        largest = self._sizes_of_refit()[-1]
        return largest if size == self._sizes()[-1] else size

    def _sizes_of_refit(self) -> list[Size]:
        assert self.held is not None
        data = self.held.everything
        return data.ladder.final(len(data.useful), self.epcr)

    def planned(self) -> Tail:
        """The tail of the largest final fit that leaves most of the budget to the search."""
        tails, budget = [self.tail(size) for size in self._sizes()], self.runner.clock.budget
        short = [tail for tail in tails if budget is None or tail.seconds <= TAIL * budget]
        return (short or tails[:1])[-1]

    # -- doing it

    def fit(self) -> Fitted:
        """The chosen machine on training and validation classes together, on the largest set that there is time for."""
        sizes = self._sizes()
        place = self._first_place(sizes)
        # The first fit may take the time of the refit too: a model that converged comes before one of more classes.
        alone = self.tail(sizes[place])._replace(refit=0.0)
        until = self._until(alone)
        found = first_near(self._fitted(self.runner.data, size, until) for size in reversed(sizes[: place + 1]))
        if found.size == sizes[place]:
            found = self._climbed(found, sizes[place + 1 :])
        else:
            self.runner.notes.append(f"final fit on {found.size}: broken off far from its end on {sizes[place]}")
        if found.machine.fit_status_ != Status.CONVERGED:
            machine = found.machine
            self.runner.notes.append(f"final fit stopped by {machine.fit_status_} at KKT gap {machine.kkt_gap_:.2g}")
        return found

    def _climbed(self, found: Fitted, sizes: list[Size]) -> Fitted:
        """The fit on the largest of these sets that there is time for and that converges, in place of a smaller one."""
        for size in sizes:
            if found.machine.fit_status_ == Status.INTERRUPTED:
                break
            if not self._affordable(self.tail(size)):
                self.runner.notes.append(f"final fit on {found.size}: no time for {size}")
                break
            larger = self._fitted(self.runner.data, size, self._until(self.tail(size)))
            if larger.machine.fit_status_ != Status.CONVERGED:
                break  # the smaller one that did converge is the better promise
            found = larger
        return found

    def _first_place(self, sizes: list[Size]) -> int:
        """The largest size that takes a part of the time that is left: it will end even if the guess is bad."""
        left = self.runner.clock.left(self.runner.clock.budget)
        if left is None:
            return len(sizes) - 1
        if self.setting.quick:  # it was tried on as many before: a good model comes before a test of a bad one
            return max((place for place, size in enumerate(sizes) if self._seconds(size) <= left), default=0)
        safe = [place for place, size in enumerate(sizes) if SURE * self._seconds(size) <= left - self.tail(size).test]
        return max(safe, default=0)

    def _affordable(self, tail: Tail) -> bool:
        left = self.runner.clock.left(self.runner.clock.budget)
        return left is not None and tail.seconds <= left

    def _until(self, tail: Tail) -> float | None:
        """When the final fit has to end, so that there is time for the rest."""
        budget = self.runner.clock.budget
        return None if budget is None else budget - CAUTION * (tail.test + tail.refit)

    def _fitted(self, data: Development, size: Size, until: float | None) -> Fitted:
        runner, setting, training = self.runner, self.setting, data.everything(size)
        scale = runner.prepared.scale(setting.family)
        machine = runner.space.machine(setting.family, scale, **runner.options).set_params(C=setting.C / scale)
        stack = None
        if setting.start is not None:
            shown = training.fewer(CALIBRATING, data.seed) if setting.quick else training
            stack = cross_fit(*shown, baselines_of(setting.start), seed=data.seed, makers=runner.space.makers)
        left = runner.clock.left(until)
        machine.set_params(time_budget=None if left is None else max(1.0, left))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the record has a note instead
            if stack is None:
                return Fitted(machine.fit(training.pairs, training.labels), training, size)
            return Fitted(attach_baselines(machine.fit(stack.pairs, stack.labels), stack), training, size)

    def test(self, found: Fitted) -> tuple[dict[str, Scores], dict[str, str]]:
        """Scores of the machine and of every baseline on the held classes, and why baselines were left out.

        A second Ctrl-C ended the final fit: what it left is kept, but a test of it would judge nobody's choice.
        """
        if self.held is None:
            return {}, {}
        if found.machine.fit_status_ == Status.INTERRUPTED:
            self.runner.notes.append("the final fit was broken off, so nothing was tested")
            return {}, {}
        pairs, labels = pairs_of(self.held.examples, self.held.classes, FINAL_PAIRS, seed=self.runner.data.seed)
        if abs(int(labels.sum())) == len(labels):
            return {}, {}
        makers = self.runner.space.baselines
        own, training = Scores.of(found.machine, pairs, labels, self.held.classes), found.training
        names = [] if self.runner.space.precomputed else list(dict.fromkeys([*self.rivals, *makers]))
        spare = CAUTION * self._seconds(self._widened(found.size))

        late: dict[str, str] = {}
        surely = {*self.rivals[:1], *list(makers)[:2]}  # no figure stands alone

        def in_time(name: str) -> bool:
            if name in surely:
                return True
            left = self.runner.clock.left(self.runner.clock.budget)
            kept = 0.0 if name in self.rivals else spare
            if left is None or self._expected_of(name, len(training.pairs)) <= left - kept:
                return True
            late[name] = "no time"
            return False

        values, skipped = run_baselines(
            training.pairs,
            training.labels,
            pairs,
            classes=training.classes,
            names=names,
            before=in_time,
            makers=makers,
        )
        return {MODEL: own, **{name: replace(own, values=each) for name, each in values.items()}}, {**skipped, **late}

    def _expected_of(self, name: str, n_pairs: int) -> float:
        """Seconds of a baseline; one that was never tried counts like the slowest that was."""
        known = self.runner.expected(name, n_pairs)
        others = (self.runner.expected(other, n_pairs) for other in self.runner.space.baselines)
        return max((each for each in others if each is not None), default=0.0) if known is None else known

    def refit(self, tested: Fitted) -> Fitted:
        """The same setting on all classes, those of the test too, as far as there is time; else the tested one."""
        assert self.held is not None
        if tested.machine.fit_status_ == Status.INTERRUPTED:
            return tested
        runner, sizes = self.runner, self._sizes_of_refit()
        left, least = runner.clock.left(runner.clock.budget), self._widened(tested.size)
        wider = [each for each in sizes if each.n_examples >= least.n_examples]
        if left is not None:
            wider = [each for each in wider if CAUTION * self._seconds(each) <= left]
        if wider:
            found = self._fitted(self.held.everything, wider[-1], runner.clock.budget)
            if is_no_worse(found.machine, tested.machine):
                return found
        runner.notes.append("no time for a refit on all classes: the model is the one that was tested")
        return tested


def set_aside(data: Development, share: float, n_splits: int | None) -> tuple[Development, Held | None]:
    """The development data without a share of the classes, and these; None where the share is no whole class."""
    n = int(data.codes.max()) + 1
    held = np.isin(data.codes, np.random.default_rng(data.seed).permutation(n)[: round(share * n)])
    if not held.any():
        return data, None
    kept, tested = np.flatnonzero(~held), np.flatnonzero(held)
    left = np.setdiff1d(data.useful, data.codes[tested])
    if len(left) < FEWEST_CLASSES:
        raise InputError(
            f"{len(data.useful)} classes have two examples or more; test_share={share:g} leaves {len(left)} of them to "
            f"learn from and choose by, and at least {FEWEST_CLASSES} are needed; give test_share=0 (--test-share 0), "
            "or more classes"
        )
    inside, outside = (take_examples(data.examples, rows) for rows in (kept, tested))
    if data.square:
        inside, outside = inside[:, kept], outside[:, kept]
    limits = (n_splits, data.max_examples, data.max_pairs)
    rest = Development.of(inside, data.codes[kept], data.seed, *limits, square=data.square)
    return replace(rest, feature_names=data.feature_names), Held(outside, data.codes[tested], data)
