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

Time: each task has to end when its share of the budget is spent (SHARES, counted from the start); what an early task
does not use goes to the next. The rest, a fifth, is for the final fit on all classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pairlearn.baselines.registry import BASELINES
from pairlearn.errors import InputError
from pairlearn.selection.search.results import Result, better_half, one_per_family, promising
from pairlearn.selection.search.runner import Round, Runner
from pairlearn.selection.search.settings import Setting
from pairlearn.selection.search.sizes import Size, Stage

SHARES = {"pair": 0.2, "interexample": 0.3, "interclass": 0.8}
"""By when each stage has to end, as a share of the time budget."""
ENOUGH = 1.05
"""An EPCR suffices when its EER is within this factor of the best."""
MIXED = 3
"""Families of machines that are also tried together with the scores of baselines."""
RIVALS = 4
"""Baselines that stay beside the machines after the first rung: the best there."""


@dataclass(frozen=True)
class StageOutcome:
    """What one task showed at each size, and the settings (and the EPCR) that go on from it."""

    task: Stage
    rungs: dict[Size, list[Result[Any]]]
    kept: list[Setting]
    epcr: int | None = None


def run_stages(runner: Runner) -> Iterator[StageOutcome]:
    """The outcome of each task that was reached, one by one, so that an interrupted search keeps those before."""
    pair = pair_stage(runner)
    yield pair
    interexample = interexample_stage(runner, pair.kept)
    if interexample.rungs:
        yield interexample
    epcr = runner.data.ladder.widest_epcr() if interexample.epcr is None else interexample.epcr
    interclass = interclass_stage(runner, interexample.kept, epcr)
    if interclass.rungs:
        yield interclass


def pair_stage(runner: Runner) -> StageOutcome:
    """Every setting on few examples; those that are clearly bad go."""
    trying, rungs = runner.space.settings(), dict[Size, list[Result[Setting]]]()
    for size in runner.data.ladder.pair():
        runner.try_machines(Round("pair", size, 1, SHARES["pair"]), trying)
        results = runner.machines("pair", size)
        if not results:
            break
        rungs[size], trying = results, promising(results)
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
    before: Round | None = None
    for size in sizes:
        this = Round("interexample", size, 1, SHARES["interexample"])
        affordable = runner.affordable(this, before, trying)
        runner.try_machines(this, affordable)
        results = [result for result in runner.machines(this.stage, size) if result.what in set(affordable)]
        if not results:
            break
        rungs[size], trying, before = results, one_per_family(promising(results)), this
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


def interclass_stage(runner: Runner, settings: list[Setting], epcr: int) -> StageOutcome:
    """The better half of the families at each of a growing number of classes, beside the baselines."""
    rungs, trying, names = dict[Size, list[Result[Any]]](), settings, list(BASELINES)
    before: Round | None = None
    for size in runner.data.ladder.interclass(epcr):
        this = Round("interclass", size, runner.data.n_splits, SHARES["interclass"])
        affordable = runner.affordable(this, before, trying)
        results = _try_all(runner, this, affordable, names, first=before is None) if affordable else []
        if not results:
            break
        baselines = runner.baselines(this.stage, size)
        names = [result.what for result in baselines[:RIVALS]]
        rungs[size], trying, before = [*results, *baselines], better_half(results), this
    return StageOutcome("interclass", rungs, trying)


def _try_all(
    runner: Runner, this: Round, settings: list[Setting], names: list[str], *, first: bool
) -> list[Result[Setting]]:
    """Baselines, machines on the scores of the best of them alone, plain machines, and machines that start from it.

    The first two run to the end whatever the time: no budget may be so short, and no halving so unlucky, that the
    result is worse than the best baseline. Later rungs carry the good ones of the last two along as settings.
    """
    runner.try_baselines(this.to_the_end, names)
    baselines = runner.baselines(this.stage, this.size) if runner.space.weights else []
    if baselines:
        alone = runner.space.on_scores(baselines[0].what)
        runner.try_machines(this.to_the_end, alone if first else alone[:1])
    runner.try_machines(this, settings)
    if first and baselines:
        plain = [result.what for result in runner.machines(this.stage, this.size) if result.what in set(settings)]
        families = [setting.family for setting in one_per_family(plain)[:MIXED]]
        runner.try_machines(this, runner.space.started(families, baselines[0].what))
    return runner.machines(this.stage, this.size)
