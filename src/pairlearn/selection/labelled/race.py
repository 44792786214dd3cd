"""Which settings go on: every family with one C on few pairs, all Cs of the better ones, then halving on more and more.

The plan depends on the seed and on results alone; time decides only where it ends, and what was left out is noted. At
the largest size the best meet on more splits; what is left of a budget goes to Cs near the leader and further splits.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from pairlearn.errors import InputError
from pairlearn.selection.labelled.finish import tail_seconds
from pairlearn.selection.labelled.runner import Result, Runner
from pairlearn.selection.labelled.settings import Family, Setting
from pairlearn.selection.search.finish import TAIL

LEAST = 6
"""Families, later settings, that always go on."""
RACERS = 4
"""Settings that meet on more than one split."""
USUAL_SPLITS = 5
"""Splits of the largest size that are planned for."""
LEAST_TAIL = 0.2
"""Share of the budget that is kept for final fit, test and refit while the plan is not done."""
RIVALS_SHARE = 0.3
"""Share of the budget by which the baselines have to end."""


def run_race(runner: Runner) -> int:
    """Run the plan as far as the time goes; the largest size whose first split was tried as planned."""
    reached = runner.sizes[0]
    trying = _first_look(runner, reached)
    for size in runner.sizes:
        until = _until(runner, reached)
        if size != reached:
            trying = affordable(runner, trying, size, until)
            if not trying or not runner.try_all(trying, size, 0, until):
                break
        runner.try_all(runner.rivals, size, 0, runner.clock.share(RIVALS_SHARE) if size == runner.sizes[0] else until)
        reached = size
        trying = better_half(runner.machines(size))
    _more_splits(runner, reached)
    if runner.clock.budget is not None:
        _use_the_rest(runner, reached)
    return reached


def _first_look(runner: Runner, size: int) -> list[Setting]:
    """One C of every family, then all Cs of the better half; one machine and one baseline run whatever the time."""
    first = [family.at(runner.space.middle) for family in runner.space.families]
    runner.try_all(list(runner.rivals)[:1], size, 0, None, must=True)
    runner.try_all(first[:1], size, 0, None, must=True)
    until = runner.clock.share(1.0 - LEAST_TAIL)
    runner.try_all(first, size, 0, until)
    looked = runner.machines(size)
    if not looked:
        reasons = sorted({trial.status for trial in runner.trials.values()})
        raise InputError(f"no machine could be fitted: {'; '.join(reasons[:3])}")
    kept = [setting.family for setting in better_half(looked)]
    runner.try_all(runner.space.around(kept), size, 0, until)
    return [result.what for result in runner.machines(size) if isinstance(result.what, Setting)]


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
    """The best settings and all baselines on the planned splits; a split counts for all or for none."""
    racers = [result.what for result in runner.machines(size)[:RACERS]]
    rivals = [result.what for result in runner.baselines(size)]
    for split in range(1, min(USUAL_SPLITS, runner.n_splits)):
        if not runner.try_all([*racers, *rivals], size, split, _until(runner, size)):
            return


def _use_the_rest(runner: Runner, size: int) -> None:
    """Cs near the leader on all its splits, then another split for the best, until neither is left or time is up."""
    done = True
    while done:
        results = runner.machines(size)
        n_splits, leader = results[0].n_splits, results[0].what
        assert isinstance(leader, Setting)
        near = [each for each in runner.space.neighbours(leader) if (each, size, 0) not in runner.trials]
        until = _until(runner, size, 0.0)
        if near:
            done = all(runner.try_all(near, size, split, until) for split in range(n_splits))
        elif n_splits < runner.n_splits:
            best = [result.what for result in (*results[:RACERS], *runner.baselines(size))]
            done = runner.try_all(best, size, n_splits, until)
        else:
            runner.notes.append("ended early: everything was tried that could tell more")
            return
