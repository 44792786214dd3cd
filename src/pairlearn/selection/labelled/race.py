"""Which settings go on: every family with one C on few pairs, more Cs of the better ones, then halving on more pairs.

The plan depends on the seed and on results alone; time decides only where it ends, and what was left out is noted. At
the largest size the best of each family meet on more splits, then Cs near the leader, then means of the best; what is
left of a budget goes to further splits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil

from pairlearn.errors import InputError
from pairlearn.selection.labelled.finish import tail_seconds
from pairlearn.selection.labelled.runner import Result, Runner
from pairlearn.selection.labelled.settings import Family, Setting
from pairlearn.selection.labelled.trials import kind_of
from pairlearn.selection.search.finish import TAIL

LEAST = 6
"""Families, later settings, that always go on."""
RACERS = 6
"""Settings, one of a family, that meet on the planned splits."""
USUAL_SPLITS = 5
"""Splits of the largest size that are planned for."""
MOST_PARTS = 3
"""Machines of a mean at most: each of them has to be kept and asked."""
LOOKS, LOOK_SHARE = 3, 0.1
"""Splits on which settings meet from the first look on, and the share of the time left that another one may take."""
LEAST_TAIL = 0.2
"""Share of the budget that is kept for final fit, test and refit while the plan is not done."""
RIVALS_SHARE = 0.3
"""Share of the budget by which the baselines have to end."""


def run_race(runner: Runner) -> int:
    """Run the plan as far as the time goes; the largest size whose settings were tried as planned."""
    reached = runner.sizes[0]
    trying = _first_look(runner, reached)
    for size in runner.sizes:
        until = _until(runner, reached)
        if size != reached:
            trying = affordable(runner, trying, size, until)
            if not trying or not _look(runner, trying, size, until) or not runner.machines(size):
                break
        runner.try_all(runner.rivals, size, 0, runner.clock.share(RIVALS_SHARE) if size == runner.sizes[0] else until)
        reached = size
        trying = better_half(runner.machines(size))
    _more_splits(runner, reached)
    _nearer(runner, reached)
    if runner.clock.budget is not None:
        _use_the_rest(runner, reached)
    _means(runner, reached)
    return reached


def _first_look(runner: Runner, size: int) -> list[Setting]:
    """One C of every family, then other Cs of the better half; one machine and one baseline run whatever the time."""
    first = [family.at(runner.space.middle) for family in runner.space.families]
    runner.try_all(list(runner.rivals)[:1], size, 0, None, must=True)
    runner.try_all(first[:1], size, 0, None, must=True)
    until = runner.clock.share(1.0 - LEAST_TAIL)
    _look(runner, first, size, until)
    runner.splits_done.done(("machine", size))  # the first look counts however far it got
    looked = runner.machines(size)
    if not looked:
        reasons = sorted({trial.status for trial in runner.trials.values()})
        raise InputError(f"no machine could be fitted: {'; '.join(reasons[:3])}")
    for setting in better_half(looked):
        _along(runner, setting, size, until)
    return [result.what for result in runner.machines(size) if isinstance(result.what, Setting)]


def _look(runner: Runner, settings: list[Setting], size: int, until: float | None) -> bool:
    """These settings on the first split, and on some more if little of the time is needed; whether all were tried.

    Which examples are left out tells more than which machine is asked: by one split the wrong base kernel may lead.
    """
    if not runner.try_split(settings, size, 0, until):
        return False
    left = runner.clock.left(until)
    for split in range(1, min(LOOKS, runner.n_splits)):
        needed = sum(runner.expected(setting, size) or 0.0 for setting in settings)
        if left is not None and needed > LOOK_SHARE * left:
            break
        if not runner.try_split(settings, size, split, until):
            break
    return True


def _along(runner: Runner, setting: Setting, size: int, until: float | None) -> None:
    """Larger Cs than that of the setting, then smaller ones, each way until they do worse, on the splits that count."""
    Cs, place = runner.space.Cs, runner.space.Cs.index(setting.C)
    n_splits = runner.n_counted("machine", size)
    for way in (Cs[place + 1 :], Cs[:place][::-1]):
        best = runner.score(setting, size)
        for each in (replace(setting, C=C) for C in way):
            if not all(runner.try_all([each], size, split, until) for split in range(n_splits)):
                return
            if runner.score(each, size) < best:
                break
            best = runner.score(each, size)


def better_half(results: Iterable[Result]) -> list[Setting]:
    """The better half of the settings, best first, at least LEAST of them, no more than two of one family."""
    settings = [result.what for result in results if isinstance(result.what, Setting)]
    seen: dict[Family, int] = {}
    kept = []
    for setting in settings:
        seen[setting.family] = seen.get(setting.family, 0) + 1
        if seen[setting.family] <= 2:
            kept.append(setting)
    return kept[: max(LEAST, ceil(len(kept) / 2))]


def affordable(runner: Runner, settings: list[Setting], size: int, until: float | None) -> list[Setting]:
    """As many of these settings, best first, as are expected to end in time; none is noted."""
    left = runner.clock.left(until)
    if left is None:
        return settings
    kept, needed = [], 0.0
    for setting in settings:
        needed += runner.expected(setting, size) or 0.0
        if needed <= left:
            kept.append(setting)
    if not kept:
        runner.notes.append(f"no time for {size:,} pairs")
    return kept


def _until(runner: Runner, size: int, least: float = LEAST_TAIL) -> float | None:
    """When the search has to end, so that there is time for what follows with the settings that lead."""
    budget = runner.clock.budget
    if budget is None:
        return None
    leaders = [result.what for result in runner.machines(size)[:2]]
    tails = [tail_seconds(runner, setting) for setting in leaders if isinstance(setting, Setting)]
    return budget - min(max([least * budget, *tails]), TAIL * budget)


def _more_splits(runner: Runner, size: int) -> None:
    """The best of the best families and all baselines on the planned splits; a split counts for all or for none."""
    racers = firsts(runner.machines(size))[:RACERS]
    rivals = [result.what for result in runner.baselines(size)]
    for split in range(1, min(USUAL_SPLITS, runner.n_splits)):
        if not runner.try_split([*racers, *rivals], size, split, _until(runner, size)):
            return


def firsts(results: Iterable[Result]) -> list[Setting]:
    """The best setting of every family, best first."""
    found: dict[Family, Setting] = {}
    for result in results:
        if isinstance(result.what, Setting):
            found.setdefault(result.what.family, result.what)
    return list(found.values())


def _nearer(runner: Runner, size: int) -> bool:
    """Cs half a step from the leader on the splits that count, until none leads; whether there was time for all."""
    done, near = True, _near(runner, size)
    while done and near:
        n_splits = runner.n_counted("machine", size)
        done = all(runner.try_all(near, size, split, _until(runner, size, 0.0)) for split in range(n_splits))
        near = _near(runner, size)
    return done


def _near(runner: Runner, size: int) -> list[Setting]:
    """What was not tried of the Cs next to that of the leader."""
    leader = runner.machines(size)[0].what
    assert isinstance(leader, Setting)
    return [each for each in runner.space.neighbours(leader) if (each, size, 0) not in runner.trials]


def _use_the_rest(runner: Runner, size: int) -> None:
    """Another split for the best, and Cs near a new leader, until there is no other or time is up."""
    done = True
    while done:
        best = [result.what for result in (*runner.machines(size)[:RACERS], *runner.baselines(size))]
        split = min(runner.n_counted(kind_of(each), size) for each in best)
        if split == runner.n_splits:
            runner.notes.append("ended early: everything was tried that could tell more")
            return
        done = runner.try_split(best, size, split, _until(runner, size, 0.0)) and _nearer(runner, size)


def _means(runner: Runner, size: int) -> None:
    """The leader with the best of another family beside it, and of a third, as long as each makes the mean better.

    What errs elsewhere errs less together. Trials of means are free, made of answers that are known; a mean whose final
    fits would take too long is left out. Who comes first is asked of one machine, whose utilities are a ranking.
    """
    if runner.question == "order":
        return
    mean, *others = firsts(runner.machines(size))[:RACERS]
    left = runner.clock.left(runner.clock.budget)
    while len(mean.parts) < MOST_PARTS:
        wider = [replace(mean, beside=(*mean.beside, other)) for other in others]
        wider = [each for each in wider if left is None or tail_seconds(runner, each) <= left]
        if not wider:
            return
        for each in wider:
            runner.average(each, size)
        best = max(wider, key=lambda each: runner.score(each, size))
        if runner.score(best, size) <= runner.score(mean, size):
            return
        mean, others = best, [other for other in others if other not in best.parts]
