"""The winner of a search, and the record of how it was found: plain numbers and names, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pairlearn.evaluation import Scores, equal_error_rate
from pairlearn.evaluation.figures import Figure
from pairlearn.evaluation.intervals import Options, best_sample
from pairlearn.evaluation.measures import PERCENT, Measure
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.selection.search.development import Development
from pairlearn.selection.search.finish import MODEL, Fitted
from pairlearn.selection.search.results import Result
from pairlearn.selection.search.runner import Runner
from pairlearn.selection.search.settings import Setting
from pairlearn.selection.search.sizes import STAGES, Size, Stage
from pairlearn.selection.search.stages import StageOutcome
from pairlearn.selection.search.trials import measure_of


@dataclass(frozen=True)
class Winner:
    """The best machine of the largest rung of the hardest task that was reached, and the baselines there."""

    stage: Stage
    size: Size
    result: Result[Setting]
    baselines: list[Result[str]]
    measure: Measure

    @classmethod
    def of(cls, runner: Runner) -> Winner:
        """The winner so far; some machine must have been fitted.

        Of rungs on which everything was tried that was meant to be; of any, where the search was broken off before.
        """
        places = {(trial.stage, trial.size) for trial in runner.journal.trials.values() if trial.setting is not None}
        reached = {place for place in places if runner.machines(*place)}
        stage, size = max(
            reached.intersection(runner.splits) or reached, key=lambda rung: (STAGES.index(rung[0]), rung[1].n_examples)
        )
        return cls(
            stage, size, runner.machines(stage, size)[0], runner.baselines(stage, size), measure_of(runner.scoring)
        )

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
        own = f"{self.setting}, {self.stage} {self.measure.name} {shown(self.result, self.measure)}"
        return own + beside(self.baselines, self.measure, "classes")


def record_of(
    runner: Runner, outcomes: Sequence[StageOutcome], winner: Winner, tested: Fitted, last: Fitted, *, interrupted: bool
) -> dict[str, Any]:
    """Everything that a reader of the selection may ask for: what was tried, how it did, what was chosen and why."""
    return {
        "data": _described(runner.data),
        "objective": named(winner.measure),
        "stages": [_stage(runner, outcome) for outcome in outcomes],
        "chosen": _chosen(winner, last.machine),
        "baselines": {result.what: result.eer for result in winner.baselines},
        "beats_baselines": winner.beats_baselines,
        "validation": winner.validation,
        "fit": _fit(tested),
        "refit": None if last is tested else _fit(last),
        "interrupted": interrupted,
        "seconds": runner.clock.elapsed,
        "time_budget": runner.clock.budget,
        "notes": runner.notes,
        "trials": [trial.as_json() for trial in runner.journal.trials.values()],
    }


def named(objective: Measure | Figure) -> dict[str, Any]:
    """What the search was asked for, by name."""
    return {name: getattr(objective, name) for name in ("key", "name", "unit", "larger_is_better")}


def shown(result: Any, objective: Measure | Figure) -> str:
    """The objective with its limits, where there are any."""
    percent = objective.unit == PERCENT
    ends = [result.value] if result.low is None or result.high is None else [result.value, result.low, result.high]
    value, *limits = (f"{100 * end:.2f}" if percent else f"{end:.4g}" for end in ends)
    return value + (" %" if percent else "") + (f" [{', '.join(limits)}]" if limits else "")


def beside(baselines: Sequence[Any], objective: Measure | Figure, judges: str) -> str:
    """How the best baseline did by the same classes or pairs, and that these are no judges any more."""
    if not baselines:
        return "; there was no baseline to compare with."
    best = baselines[0]
    rival = f"; best baseline {best.what}, {shown(best, objective)}."
    return f"{rival} The machine was chosen by these {judges}; others must judge it."


def test_record(systems: Mapping[str, Scores], skipped: Mapping[str, str], measure: Measure) -> dict[str, Any] | None:
    """The figures of the final test; None without one."""
    if not systems:
        return None
    model = systems[MODEL]
    assert model.left_identity is not None
    assert model.right_identity is not None
    found = {name: best_sample(scores, Options(), measure)[0] for name, scores in systems.items()}
    limits = {name: sample.quick_interval(measure) for name, sample in found.items() if sample is not None}
    return {
        "classes": len(np.union1d(model.left_identity, model.right_identity)),
        "pairs": len(model.labels),
        "positives": int((model.labels > 0).sum()),
        "eer": {name: equal_error_rate(scores) for name, scores in systems.items()},
        "values": {name: measure.value(scores) for name, scores in systems.items()},
        "limits": {name: [each.low, each.high] for name, each in limits.items() if each is not None},
        "skipped": dict(skipped),
    }


def _fit(fitted: Fitted) -> dict[str, Any]:
    """How a final fit ended, in what time and of how much."""
    machine = fitted.machine
    return {
        **asdict(fitted.size),
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


def _stage(runner: Runner, outcome: StageOutcome) -> dict[str, Any]:
    told = {
        "task": outcome.task,
        "tried": len({trial.what for trial in runner.journal.trials.values() if trial.stage == outcome.task}),
        "rungs": [
            {
                **asdict(size),
                "splits": runner.splits.counted((outcome.task, size)),
                "results": [_line(result) for result in results],
            }
            for size, results in outcome.rungs.items()
        ],
        "kept": [str(setting) for setting in outcome.kept],
    }
    return told if outcome.epcr is None else {**told, "epcr": outcome.epcr}


def _line(result: Result[Any]) -> dict[str, Any]:
    kind = "machine" if isinstance(result.what, Setting) else "baseline"
    figures = {name: getattr(result, name) for name in ("eer", "value", "low", "high", "score", "seconds")}
    return {"what": str(result.what), "kind": kind, **figures}


def _chosen(winner: Winner, machine: PairSVC) -> dict[str, Any]:
    place = {"absolute_C": machine.C, "task": winner.stage, "size": asdict(winner.size)}
    found = {name: getattr(winner.result, name) for name in ("eer", "value", "low", "high", "score")}
    return {**winner.setting.as_json(), **place, "sentence": winner.setting.sentence, **found}
