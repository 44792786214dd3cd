"""The staged search itself: pair task, interexample task, interclass task.

A setting that cannot tell unseen *pairs* of known examples apart will not tell unseen *classes* apart, and the first
question is far cheaper to answer. So each task asks only for what the next one needs:

=============  ==========================  =======================================  ===========================
task           tests on                    decides                                  keeps
=============  ==========================  =======================================  ===========================
pair           unseen pairs                which kernels and Cs are clearly bad     `promising` settings
interexample   unseen examples             how many examples per class are enough   families still promising
interclass     classes never trained on    the winner                               the better half, rung by rung
=============  ==========================  =======================================  ===========================

Time: pair and interexample task have to end when their share of the budget is spent (SHARES, counted from the start);
what they do not use goes on. The interclass task may take all but the tail: final fit, final test and refit, whose
seconds are foreseen from those of the trials. What it does not need for its plan goes to settings near the leader and
to more splits. The plan, and with it the order of the trials, depends on the seed and on results alone: time decides
only where it ends, and what was left out is noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pairlearn.errors import InputError
from pairlearn.selection.search.finish import TAIL, Finish, Held
from pairlearn.selection.search.results import Result, better_half, one_per_family, promising, still_in
from pairlearn.selection.search.runner import Round, Runner
from pairlearn.selection.search.settings import Setting, plain_name
from pairlearn.selection.search.sizes import Size, Stage

HARDEST: Stage = "interclass"
SHARES = {"pair": 0.2, "interexample": 0.3}
"""By when each stage has to end, as a share of the time budget."""
FIRST_LOOK_SHARE = 0.4
"""Of the time budget: how long every family may wait for its one trial."""
BASELINES_SHARE = 0.4
"""Of the time that is left: what the baselines of the first interclass rung may take."""
SLOW = ("plda", "kissme", "logistic")
"""Baselines that come last, since others say more in the same time."""
ENOUGH = 1.05
"""An EPCR suffices when its EER is within this factor of the best."""
MIXED = 3
"""Families of machines that are also tried together with the scores of baselines."""
RIVALS = 4
"""Baselines that stay beside the machines after the first rung: the best there."""
LEAST_TAIL = 0.2
"""Share of the budget that is kept for the tail while the plan is not done."""
LEADERS = 2
"""Settings whose tail is foreseen: the first and who may yet overtake it."""
RACERS = 8
"""Families of machines that go on from the first split of the first rung to the others."""
MOST_SPLITS = 100
"""Splits after which more of them would tell no more: they share their classes."""


@dataclass(frozen=True)
class StageOutcome:
    """What one task showed at each size, and the settings (and the EPCR) that go on from it."""

    task: Stage
    rungs: dict[Size, list[Result[Any]]]
    kept: list[Setting]
    epcr: int | None = None


def run_stages(runner: Runner, held: Held | None = None) -> Iterator[StageOutcome]:
    """The outcome of each task that was reached, one by one, so that an interrupted search keeps those before."""
    pair = pair_stage(runner)
    yield pair
    interexample = interexample_stage(runner, pair.kept)
    if interexample.rungs:
        yield interexample
    epcr = runner.data.ladder.widest_epcr() if interexample.epcr is None else interexample.epcr
    interclass = Interclass(runner, held, epcr).run(interexample.kept)
    if interclass.rungs:
        yield interclass


def pair_stage(runner: Runner) -> StageOutcome:
    """Every family with one C; then all Cs of those that are not clearly bad, on few examples and more."""
    space, rungs = runner.space, dict[Size, list[Result[Setting]]]()
    sizes, until = runner.data.ladder.pair(), runner.clock.share(SHARES["pair"])
    first = [family.at(space.middle) for family in space.families]
    runner.try_machines(Round("pair", sizes[0], must=True), first[:1])
    runner.try_machines(Round("pair", sizes[0], until=runner.clock.share(FIRST_LOOK_SHARE)), first)
    looked = promising(runner.machines("pair", sizes[0]))
    trying = space.around(dict.fromkeys(setting.family for setting in looked))
    for size in sizes:
        runner.try_machines(Round("pair", size, until=until), trying)
        results = runner.machines("pair", size)
        if not results:
            break
        rungs[size], trying = results, still_in(trying, results)
    if not rungs:
        reasons = {trial.status for trial in runner.journal.trials.values()}
        raise InputError(f"no machine could be fitted in the pair task: {'; '.join(sorted(reasons)[:3])}")
    return StageOutcome("pair", rungs, trying)


# --------------------------------------------------------------------------- interexample task


def interexample_stage(runner: Runner, settings: list[Setting]) -> StageOutcome:
    """The best C of every family at a growing EPCR, to see where more examples stop to help."""
    sizes = runner.data.ladder.interexample()
    if not sizes:
        runner.notes.append("interexample task skipped: too few examples per class to hold some of them out")
    rungs, families = _climb_examples(runner, sizes, one_per_family(settings))
    if not rungs:
        return StageOutcome("interexample", rungs, settings)
    kept = [setting for setting in settings if setting.family in {each.family for each in families}]
    return StageOutcome("interexample", rungs, kept, _enough_examples(rungs, runner.data.ladder.widest_epcr()))


def _climb_examples(
    runner: Runner, sizes: Sequence[Size], trying: list[Setting]
) -> tuple[dict[Size, list[Result[Setting]]], list[Setting]]:
    """Results at each size that was reached, and the settings that were still promising at the last one."""
    rungs: dict[Size, list[Result[Setting]]] = {}
    for size in sizes:
        this = Round("interexample", size, until=runner.clock.share(SHARES["interexample"]))
        affordable = runner.affordable(this, trying)
        runner.try_machines(this, affordable)
        results = [result for result in runner.machines(this.stage, size) if result.what in set(affordable)]
        if not results:
            break
        rungs[size], trying = results, one_per_family(still_in(trying, results))
    return rungs, trying


def _enough_examples(rungs: dict[Size, list[Result[Setting]]], widest: int) -> int:
    """The smallest EPCR within ENOUGH of the best rate of all; `widest` if only the largest one tried is.

    Pairs, and with them time and memory, grow with the square of the EPCR, while unseen classes are told apart by
    having seen many classes: examples that do not help cost classes that would.
    """
    best = {size: min(result.eer for result in results) for size, results in rungs.items()}
    enough = next(size for size in rungs if best[size] <= ENOUGH * min(best.values()))
    return widest if enough == list(rungs)[-1] else enough.epcr


# --------------------------------------------------------------------------- interclass task


@dataclass(frozen=True)
class Interclass:
    """The better half of the families at each of a growing number of classes, beside the baselines.

    Within a rung, machines and baselines race split by split: the clearly bad ones of the first split see no other.
    `held` are the classes of the final test, None without one; `epcr` the examples per class that suffice.
    """

    runner: Runner
    held: Held | None
    epcr: int

    def run(self, settings: list[Setting]) -> StageOutcome:
        """Up the ladder as far as the time goes; the rest of it goes to settings near the leader and more splits."""
        rungs, trying, names = list[Size](), settings, sorted(self.runner.space.baselines, key=_is_slow)
        for size in self.runner.data.ladder.interclass(self.epcr):
            if not (self._rung(size, trying, names) if rungs else self._first(size, trying, names)):
                break
            rungs.append(size)
            trying = better_half(self.runner.machines(HARDEST, size))
            names = [result.what for result in self.runner.baselines(HARDEST, size)[:RIVALS]]
        if rungs and self.runner.clock.budget is not None:
            self._use_the_rest(rungs[-1])
        return StageOutcome(HARDEST, {size: self.runner.results(HARDEST, size) for size in rungs}, trying)

    # -- time

    def _round(self, size: Size, split: int = 0, *, must: bool = False, least: float = LEAST_TAIL) -> Round:
        return Round(HARDEST, size, split, self._until(least), must)

    def _until(self, least: float) -> float | None:
        """When the search has to end: before the longest tail of the settings that lead, `least` of the budget or more.

        Who leads may change within a round, hence several settings, and a least share for those not yet known.
        """
        budget = self.runner.clock.budget
        if budget is None:
            return None
        tails = [least * budget]
        for place in list(reversed(self.runner.splits))[:1]:
            rivals = tuple(result.what for result in self.runner.baselines(*place)[:RIVALS])
            leaders = one_per_family(result.what for result in self.runner.machines(*place))[:LEADERS]
            tails += [Finish(self.runner, each, self.epcr, self.held, rivals).planned().seconds for each in leaders]
        return budget - min(max(tails), TAIL * budget)

    # -- rungs

    def _first(self, size: Size, settings: list[Setting], names: list[str]) -> bool:
        """Baselines, the best of them alone, one machine per family; then what grows from the best of these.

        The best baseline alone runs in any case: no budget may be so short, and no halving so unlucky, that the result
        is worse than it. After the first split the best go on to the others.
        """
        runner, space = self.runner, self.runner.space
        runner.try_baselines(Round(HARDEST, size, must=True), names[:2])
        runner.try_baselines(Round(HARDEST, size, until=runner.clock.share_of_rest(BASELINES_SHARE)), names)
        alone, families = self._alone(size), one_per_family(settings)
        runner.try_machines(self._round(size, must=True), alone[:1] or families[:1])
        runner.try_machines(self._round(size), families)
        runner.splits[HARDEST, size] = 1
        plain = [result.what for result in runner.machines(HARDEST, size) if result.what.start is None]
        leading = [setting.family for setting in one_per_family(plain)[:MIXED]]
        if alone:
            runner.try_machines(self._round(size), alone)
            for family in leading:
                runner.try_machines(self._round(size), space.started([family], alone[0].start or ""))
        runner.try_machines(self._round(size), [setting for setting in settings if setting.family in leading])
        racers = one_per_family(promising(runner.machines(HARDEST, size)))[:RACERS]
        rivals = [result.what for result in runner.baselines(HARDEST, size)[: 2 * RIVALS]]
        self._race(size, [*racers, *alone[:1]], rivals)
        return bool(runner.machines(HARDEST, size))

    def _alone(self, size: Size) -> list[Setting]:
        """Settings on the scores of baselines alone, first of all the best baseline as it is."""
        found = self.runner.baselines(HARDEST, size) if self.runner.space.weights else []
        return self.runner.space.on_scores(found[0].what) if found else []

    def _rung(self, size: Size, settings: list[Setting], names: list[str]) -> bool:
        """The same settings and baselines on more; a rung whose first split was broken off does not count."""
        runner = self.runner
        trying = runner.affordable(self._round(size), settings, names)
        done = bool(trying) and runner.try_baselines(self._round(size), names)
        done = done and runner.try_machines(self._round(size), [*trying, *self._alone(size)[:1]])
        if not done:
            return False
        runner.splits[HARDEST, size] = 1
        self._race(size, [*trying, *self._alone(size)[:1]], names)
        return True

    def _race(self, size: Size, settings: list[Setting], names: list[str]) -> None:
        for split in range(1, self.runner.data.n_splits):
            if not self._split(self._round(size, split), settings, names):
                return

    def _split(self, this: Round, settings: list[Setting], names: list[str]) -> bool:
        """One more split, which counts if there was time for all of it."""
        done = self.runner.try_baselines(this, names) and self.runner.try_machines(this, settings)
        if done:
            self.runner.splits[HARDEST, this.size] = this.split + 1
        return done

    def _use_the_rest(self, size: Size) -> None:
        """Settings near the leader, then more splits for the best, for as long as there is time: none is wasted."""
        runner, in_time = self.runner, True
        while True:
            leader = runner.machines(HARDEST, size)[0].what
            near = runner.untried(Round(HARDEST, size), runner.space.neighbours(leader)) if in_time else []
            if near:
                rounds = [self._round(size, split, least=0.0) for split in range(runner.splits[HARDEST, size])]
                in_time = all(runner.try_machines(this, near) for this in rounds)
            elif runner.splits[HARDEST, size] >= MOST_SPLITS:
                runner.notes.append("ended early: everything was tried that could tell more")
                return
            elif not self._one_more(size):
                return

    def _one_more(self, size: Size) -> bool:
        """One more split for the best settings, for the first two where there is no time for more of them."""
        runner = self.runner
        best = one_per_family(result.what for result in runner.machines(HARDEST, size))[:RIVALS]
        names = [result.what for result in runner.baselines(HARDEST, size)[:RIVALS]]
        this = self._round(size, runner.splits[HARDEST, size], least=0.0)
        return self._split(this, best, names) or self._split(this, best[:LEADERS], names)


def _is_slow(name: str) -> bool:
    """Whether a baseline comes last, on whatever representation."""
    return plain_name(name) in SLOW
