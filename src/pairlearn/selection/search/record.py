"""The winner of a search, and the record of how it was found: plain numbers and names, ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pairlearn.machines.pair_svc import PairSVC
from pairlearn.selection.search.development import Development
from pairlearn.selection.search.results import Result, mean_results
from pairlearn.selection.search.runner import Runner
from pairlearn.selection.search.settings import Setting
from pairlearn.selection.search.sizes import STAGES, Size, Stage
from pairlearn.selection.search.stages import StageOutcome


@dataclass(frozen=True)
class Winner:
    """The best machine of the largest rung of the hardest task that was reached, and the baselines there."""

    stage: Stage
    size: Size
    result: Result[Setting]
    baselines: list[Result[str]]

    @classmethod
    def of(cls, runner: Runner) -> Winner:
        """The winner so far; some machine must have been fitted.

        Where the search was broken off before any machine had seen as many splits as the baselines, the machines are
        compared with each other alone.
        """
        machines = [trial for trial in runner.journal.trials.values() if trial.setting is not None and trial.succeeded]
        reached = {(trial.stage, trial.size) for trial in machines}
        stage, size = max(reached, key=lambda rung: (STAGES.index(rung[0]), rung[1].n_examples))
        compared = runner.machines(stage, size)
        if compared:
            return cls(stage, size, compared[0], runner.baselines(stage, size))
        alone = mean_results(trial for trial in machines if (trial.stage, trial.size) == (stage, size))
        return cls(stage, size, alone[0], [])

    @property
    def setting(self) -> Setting:
        """Kernel, base, C and start."""
        return self.result.what

    @property
    def beats_baselines(self) -> bool | None:
        """Whether it scores above every baseline; None without any."""
        return self.result.score > self.baselines[0].score if self.baselines else None

    @property
    def validation(self) -> str:
        """What the classes that chose the machine say of it: no verdict, since being chosen flatters."""
        own = f"{self.setting}, {self.stage} EER {100 * self.result.eer:.2f} %"
        if not self.baselines:
            return f"{own}; there was no baseline to compare with."
        best = self.baselines[0]
        return (
            f"{own}; best baseline {best.what}, {100 * best.eer:.2f} %. The machine was chosen by these classes; "
            "others must judge it."
        )


def record_of(
    runner: Runner, outcomes: Sequence[StageOutcome], winner: Winner, machine: PairSVC, *, interrupted: bool
) -> dict[str, Any]:
    """Everything that a reader of the selection may ask for: what was tried, how it did, what was chosen and why."""
    return {
        "data": _described(runner.data),
        "stages": [_stage(outcome) for outcome in outcomes],
        "chosen": _chosen(winner, machine),
        "baselines": {result.what: result.eer for result in winner.baselines},
        "beats_baselines": winner.beats_baselines,
        "validation": winner.validation,
        "fit": _fit(machine),
        "interrupted": interrupted,
        "seconds": runner.clock.elapsed,
        "notes": runner.notes,
        "trials": [trial.as_json() for trial in runner.journal.trials.values()],
    }


def _fit(machine: PairSVC) -> dict[str, Any]:
    """How the final fit ended, in what time and of how much."""
    return {
        "status": machine.fit_status_,
        "verdict": machine.fit_verdict_,
        "seconds": machine.fit_seconds_,
        "time_budget": machine.time_budget,
        "kkt_gap": machine.kkt_gap_,
        "support_pairs": machine.n_support_,
    }


def _described(data: Development) -> dict[str, Any]:
    n_classes = int(data.codes.max()) + 1
    return {
        "examples": len(data.codes),
        "classes": n_classes,
        "classes_with_one_example": n_classes - len(data.useful),
        "validation_classes": data.n_validation,
        "splits": data.n_splits,
    }


def _stage(outcome: StageOutcome) -> dict[str, Any]:
    rungs = outcome.rungs.items()
    told = {
        "task": outcome.task,
        "rungs": [{**asdict(size), "results": [_line(result) for result in results]} for size, results in rungs],
        "kept": [str(setting) for setting in outcome.kept],
    }
    return told if outcome.epcr is None else {**told, "epcr": outcome.epcr}


def _line(result: Result[Any]) -> dict[str, Any]:
    kind = "machine" if isinstance(result.what, Setting) else "baseline"
    figures = {name: getattr(result, name) for name in ("eer", "low", "high", "score", "seconds")}
    return {"what": str(result.what), "kind": kind, **figures}


def _chosen(winner: Winner, machine: PairSVC) -> dict[str, Any]:
    place = {"absolute_C": machine.C, "task": winner.stage, "size": asdict(winner.size)}
    return {**winner.setting.as_json(), **place, "eer": winner.result.eer, "score": winner.result.score}
