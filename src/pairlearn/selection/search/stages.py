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
from dataclasses import dataclass, replace
from typing import Any, get_args

from pairlearn.errors import InputError
from pairlearn.scorers.whitened.views import Compare
from pairlearn.selection.search.finish import TAIL, Finish, Held
from pairlearn.selection.search.results import Result, better_half, one_per_family, promising, still_in
from pairlearn.selection.search.runner import SLOW, Round, Runner
from pairlearn.selection.search.settings import ALL, NO_KERNEL, Setting, plain_name
from pairlearn.selection.search.sizes import Size, Stage
from pairlearn.selection.search.whitened.names import together

HARDEST: Stage = "interclass"
SHARES = {"pair": 0.1, "interexample": 0.15}
"""By when each stage has to end, as a share of the time budget."""
FIRST_LOOK_SHARE = 0.4
"""Of the time budget: how long every family may wait for its one trial."""
BASELINES_SHARE, SLOW_SHARE = 0.2, 0.1
"""Of the time that is left: what the baselines of the first interclass rung may take, and the slow ones."""
ENOUGH = 1.05
"""An EPCR suffices when its EER is within this factor of the best."""
MIXED = 3
"""Families of machines that are also tried together with the scores of baselines."""
RIVALS = 4
"""Baselines that stay beside the machines after the first rung: the best there."""
LEAST_TAIL = 0.2
"""Share of the budget that is kept for the tail while the plan is not done."""
END = 0.05
"""Share of the budget that is kept for the tail when the plan is done, and nothing better is known."""
LEADERS = 2
"""Settings whose tail is foreseen: the first and who may yet overtake it."""
RACERS = 8
"""Families of machines that go on from the first split of the first rung to the others."""
VIEWS = 40
"""Whitened views that go on from the first look, and from the first split of a rung: the best there."""
LOOK = 600
"""Examples up to which all views and baselines are looked at first."""
FIRST_VIEWS_SHARE, VIEWS_SHARE = 0.25, 0.2
"""Of the time that is left: what all views may take on the first split of the first rung, and of a larger one."""
MACHINES_SHARE, RUNG_SHARE = 0.35, 0.5
"""Of the time that is left: what machines may take on the first split of the first rung, and of any that follows."""
TOGETHER, OF_EACH_KIND = (5, 10, 20), (4, 8, 24)
"""Best views whose scores are added up, and best kinds: which is the best is mostly chance, the mean of many is not."""
RERANKED = 5
"""Splits after which the best views are chosen anew."""
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
    interclass = Interclass(runner, held, examples_per_class(runner, [interexample])).run(interexample.kept)
    if interclass.rungs:
        yield interclass


def examples_per_class(runner: Runner, outcomes: Sequence[StageOutcome]) -> int:
    """Those of the interclass task and of the final fit: as many as the interexample task found to be enough.

    As many as there are, where views are tried: what is enough for machines on few pairs is not for covariances, and it
    is pairs that take time, not examples.
    """
    enough = [] if runner.space.views else [outcome.epcr for outcome in outcomes if outcome.epcr is not None]
    return enough[0] if enough else runner.data.ladder.widest_epcr()


def pair_stage(runner: Runner) -> StageOutcome:
    """Every family with one C; then all Cs of those that are not clearly bad, on few examples and more."""
    space, rungs = runner.space, dict[Size, list[Result[Setting]]]()
    sizes, until = runner.data.ladder.pair(), runner.clock.share(SHARES["pair"])
    first = [family.at(space.middle) for family in space.families]
    look = Round("pair", sizes[0], until=runner.clock.share(FIRST_LOOK_SHARE))
    runner.try_machines(replace(look, must=True), first[:1])
    runner.try_machines(look, first)
    looked = promising(runner.machines("pair", sizes[0])) + runner.untried(look, first)
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
        """What is quick first, up to the largest set that it can learn from in time; then machines as far as they get.

        Baselines and views of thousands of examples take a moment, machines on all their pairs hours: machines race on
        few examples, and climb until they meet what was quick. The rest of the time goes to settings near the leader
        and to more splits.
        """
        sizes, look, quick = self._sizes, self._look_size, bool(self.runner.space.views)
        names = self._look(look)
        top = self._largest(names) if quick else sizes[-1]
        if quick and not (self._quick(top, names) or self._quick(look, names)):
            top = look
        trying = self._first(sizes[0], settings, names)
        for size in sizes[1 : sizes.index(top) + 1]:
            trying = self._affordable(size, trying, names)
            if not (trying and self._rung(size, trying, names)):
                break
            trying = self._better(size)
        reached = [size for stage, size in self.runner.splits if stage == HARDEST]
        reached.sort(key=lambda size: size.n_examples)
        if reached and self.runner.clock.budget is not None:
            self._use_the_rest(reached[-1])
        return StageOutcome(HARDEST, {size: self.runner.results(HARDEST, size) for size in reached}, trying)

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
        reached = [place for place in self.runner.splits if place[0] == HARDEST]
        if reached:
            place = max(reached, key=lambda place: place[1].n_examples)
            rivals = tuple(result.what for result in self.runner.baselines(*place)[:RIVALS])
            leaders = one_per_family(result.what for result in self.runner.machines(*place))[:LEADERS]
            tails += [Finish(self.runner, each, self.epcr, self.held, rivals).planned().seconds for each in leaders]
        return budget - min(max(tails), TAIL * budget)

    def _affordable(self, size: Size, settings: list[Setting], names: list[str]) -> list[Setting]:
        """Machines that leave half of the time: to what is quick, views and baselines, on far more classes."""
        until = self.runner.clock.share_of_rest(RUNG_SHARE)
        return self.runner.affordable(Round(HARDEST, size, until=until), settings, names)

    @property
    def _sizes(self) -> list[Size]:
        return self.runner.data.ladder.interclass(self.epcr)

    @property
    def _look_size(self) -> Size:
        """The size of the first look at all that is quick: it takes as long on some hundred examples as on few."""
        small = [size for size in self._sizes if size.n_examples <= LOOK]
        return small[-1] if small else self._sizes[0]

    def _largest(self, names: list[str]) -> Size:
        """The largest size on which the best views and baselines end in a part of the time."""
        look = self._look_size
        left = self.runner.clock.left(self.runner.clock.share_of_rest(RUNG_SHARE))
        what: list[Setting | str] = [*self._best_views(look), *names[:RIVALS]]
        for size in reversed(self._sizes[self._sizes.index(look) + 1 :]):
            n_pairs = self.runner.data.n_pairs(size)
            if left is None or sum(self.runner.expected(each, n_pairs) or 0.0 for each in what) <= left:
                return size
        return look

    # -- what is quick

    def _look(self, size: Size) -> list[str]:
        """Baselines and views on the first split; the best of the former.

        The best baseline alone runs in any case: no budget may be so short that the result is worse than it.
        """
        runner, names = self.runner, sorted(self.runner.space.baselines, key=_is_slow)
        runner.try_baselines(Round(HARDEST, size, must=True), names[:2])
        until = runner.clock.share_of_rest(BASELINES_SHARE)
        runner.try_baselines(Round(HARDEST, size, until=until), [name for name in names if not _is_slow(name)])
        runner.try_machines(self._round(size, must=True), self._alone(size)[:1])
        until = runner.clock.share_of_rest(FIRST_VIEWS_SHARE)
        runner.try_machines(Round(HARDEST, size, until=until), runner.space.views)
        # On few examples first, so that it is known how long they take on more.
        for place in dict.fromkeys((self._sizes[0], size)):
            until = runner.clock.share_of_rest(SLOW_SHARE)
            runner.try_baselines(Round(HARDEST, place, until=until), [name for name in names if _is_slow(name)])
        return [result.what for result in runner.baselines(HARDEST, size)[: 2 * RIVALS]]

    def _quick(self, size: Size, names: list[str]) -> bool:
        """Baselines and views on this size, those that are good on its first split on others too; then together."""
        runner, this, names = self.runner, self._round(size), names[:RIVALS]
        if not runner.try_baselines(this, names):
            return False
        alone = self._alone(size)[:1]
        if not runner.try_machines(this, [*alone, *self._affordable_views(size)]):
            return False
        runner.splits.done((HARDEST, size))
        for split in range(1, runner.data.n_splits):
            until = runner.clock.share_of_rest(VIEWS_SHARE)
            if not self._split(Round(HARDEST, size, split, until), [*alone, *self._best_views(size)], names):
                break
        self._add_up(size)
        return True

    def _affordable_views(self, size: Size) -> list[Setting]:
        """All whitened views, where they end in time; else the best of the first look.

        All again, since which of them are good depends on how much there is to learn from.
        """
        runner, every = self.runner, self.runner.space.views
        left = runner.clock.left(runner.clock.share_of_rest(VIEWS_SHARE))
        needed = sum(runner.expected(each, runner.data.n_pairs(size)) or 0.0 for each in every)
        return every if left is None or needed <= left else self._best_views(self._look_size)

    def _best_views(self, size: Size) -> list[Setting]:
        """Single whitened views, best first: as many of either comparison, for which is better may change with size."""
        found = [result.what for result in self.runner.machines(HARDEST, size) if len(result.what.views) == 1]
        each = {
            kind: [one for one in found if one.views[0].compare == kind][: VIEWS // 2] for kind in get_args(Compare)
        }
        return [one for one in found if one in each[one.views[0].compare]]

    def _best_start(self, size: Size) -> str:
        """The baseline or the views that do best by themselves, for machines to start from."""
        found = (each.what for each in self.runner.machines(HARDEST, size) if each.what.kernel == NO_KERNEL)
        return next((setting.start for setting in found if setting.start and setting.start != ALL), "")

    def _add_up(self, size: Size, least: float = LEAST_TAIL) -> None:
        """The best views together, on all splits of a rung: as many as are worth it."""
        several = [self.runner.space.on_score(name) for name in groups(self._best_views(size))]
        for split in range(self.runner.splits[HARDEST, size]):
            if not self.runner.try_machines(self._round(size, split, least=least), several):
                return

    def _alone(self, size: Size) -> list[Setting]:
        """Settings on the scores of baselines alone, first of all the best baseline as it is."""
        found = self.runner.baselines(HARDEST, size) if self.runner.space.weights else []
        return self.runner.space.on_scores(found[0].what) if found else []

    # -- machines

    def _first(self, size: Size, settings: list[Setting], names: list[str]) -> list[Setting]:
        """One machine per family, then what grows from the best of these; after the first split the best go on."""
        runner, space, families = self.runner, self.runner.space, one_per_family(settings)
        this = Round(HARDEST, size, until=runner.clock.share_of_rest(MACHINES_SHARE))
        runner.try_baselines(this, names[:RIVALS])
        must = not runner.machines(HARDEST, size)
        runner.try_machines(replace(this, must=must), families[:1])
        runner.try_machines(this, families)
        plain = [result.what for result in runner.machines(HARDEST, size) if result.what.start is None]
        leading = [setting.family for setting in one_per_family(plain)[:MIXED]]
        alone = self._alone(size)
        if alone:
            runner.try_machines(this, alone)
            for family in leading:
                runner.try_machines(this, space.started([family], self._best_start(size)))
        runner.try_machines(this, [setting for setting in settings if setting.family in leading])
        runner.splits.done((HARDEST, size))
        racers = one_per_family(each for each in promising(runner.machines(HARDEST, size)) if not each.quick)[:RACERS]
        self._race(size, [*racers, *alone[:1]], names)
        return self._better(size)

    def _better(self, size: Size) -> list[Setting]:
        """The better half of the machines of a rung."""
        return better_half([each for each in self.runner.machines(HARDEST, size) if not each.what.quick])

    def _rung(self, size: Size, settings: list[Setting], names: list[str]) -> bool:
        """The same settings on more; a rung whose first split was broken off does not count."""
        runner = self.runner
        alone, names = self._alone(size)[:1], names[:RIVALS]
        until = runner.clock.share_of_rest(RUNG_SHARE)
        this = Round(HARDEST, size, until=until)
        if not (runner.try_baselines(this, names) and runner.try_machines(this, [*settings, *alone])):
            return False
        runner.splits.done((HARDEST, size))
        self._race(size, [*settings, *alone], names)
        return True

    def _race(self, size: Size, settings: list[Setting], names: list[str]) -> None:
        """More splits, at least those that others were tried on: only who was tried on all of them counts."""
        until = self.runner.clock.share_of_rest(RUNG_SHARE)
        for split in range(1, max(self.runner.data.n_splits, self.runner.splits[HARDEST, size])):
            if not self._split(Round(HARDEST, size, split, until), settings, names):
                return

    def _split(self, this: Round, settings: list[Setting], names: list[str]) -> bool:
        """One more split, which counts if there was time for all of it."""
        done = self.runner.try_baselines(this, names) and self.runner.try_machines(this, settings)
        if done:
            self.runner.splits.done((HARDEST, this.size), this.split)
        return done

    def _use_the_rest(self, size: Size) -> None:
        """Settings near the leader, then more splits for the best, for as long as there is time: none is wasted."""
        runner, in_time = self.runner, True
        while machines := runner.machines(HARDEST, size):
            leader = machines[0].what
            # Not `untried`: what was tried on the first split alone, before a kill, has to see the others too.
            around = runner.space.neighbours(leader) if in_time else []
            near = [each for each in around if (HARDEST, size, 0, each) not in runner.journal.trials]
            if near:
                rounds = [self._round(size, split, least=END) for split in range(runner.splits[HARDEST, size])]
                in_time = all(runner.try_machines(this, near) for this in rounds)
            elif runner.splits[HARDEST, size] >= MOST_SPLITS:
                runner.notes.append("ended early: everything was tried that could tell more")
                return
            elif not self._one_more(size):
                return
            elif runner.splits[HARDEST, size] % RERANKED == 0:
                self._add_up(size, END)

    def _one_more(self, size: Size) -> bool:
        """One more split: for the best settings, for the first two, or for what is quick where that leads."""
        runner, split = self.runner, self.runner.splits[HARDEST, size]
        machines = [result.what for result in runner.machines(HARDEST, size)]
        slow = one_per_family(each for each in machines if not each.quick)[:RIVALS]
        quick = [each for each in machines if len(each.views) > 1][:LEADERS] + self._best_views(size)
        quick += self._alone(size)[:1]
        names = [result.what for result in runner.baselines(HARDEST, size)[:RIVALS]]
        this = self._round(size, split, least=END)
        if self._split(this, [*slow, *quick], names) or self._split(this, one_per_family(machines)[:LEADERS], names):
            return True
        if not machines[0].quick:
            return False
        # A machine that comes second has a long tail; what leads has a short one, and the time is not wasted.
        last = Finish(runner, machines[0], self.epcr, self.held, tuple(names)).planned().seconds
        budget = runner.clock.budget or 0.0
        until = budget - max(END * budget, last)
        return self._split(Round(HARDEST, size, split, until), quick, names[:1])


def groups(views: Sequence[Setting]) -> list[str]:
    """The names of views together, the best of which come first: the first of all, the first that differ in kind."""
    every = [setting.start for setting in views if setting.start]
    kinds = dict[tuple[str, str, str], str]()
    for setting in views:
        part = setting.views[0]
        kinds.setdefault((part.base, part.compare, part.cohort), setting.start or "")
    wanted = [every[:k] for k in TOGETHER if k <= len(every)]
    wanted += [list(kinds.values())[:k] for k in OF_EACH_KIND if k <= len(kinds) or k == OF_EACH_KIND[-1]]
    return list(dict.fromkeys(together(names) for names in wanted if len(names) > 1))


def _is_slow(name: str) -> bool:
    """Whether a baseline comes last, on whatever representation."""
    return plain_name(name) in SLOW
