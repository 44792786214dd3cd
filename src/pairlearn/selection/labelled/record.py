"""The record of a search on labelled pairs: plain numbers and names, ready for JSON."""

from __future__ import annotations

from typing import Any

from pairlearn.selection.labelled.finish import Finish, Fitted, Tested
from pairlearn.selection.labelled.runner import Result, Runner
from pairlearn.selection.labelled.settings import Setting
from pairlearn.selection.labelled.tasks import UNSEEN
from pairlearn.selection.search.record import beside, named, shown


def record_of(
    runner: Runner, finish: Finish, size: int, tested: Fitted, last: Fitted, test: Tested | None, *, interrupted: bool
) -> dict[str, Any]:
    """Everything that a reader of the search may ask for: what was tried, how it did, what was chosen and why."""
    judgement = runner.judgement
    refit = None if last is tested else last
    # Everything that the search knows has been tried: it is nothing to advise.
    told = {"use": "" if test is None else use(runner, test, refit, len(finish.everything)), "search": ""}
    verdict = None if test is None else test.verdict(judgement, told)
    return {
        "question": runner.question,
        "unseen": runner.unseen if isinstance(runner.unseen, str) else "own splits",
        "objective": named(judgement.figure),
        "data": described(runner, finish),
        "rungs": [_rung(runner, each) for each in runner.sizes if each <= size],
        "chosen": {**finish.setting.as_json(), "sentence": finish.setting.sentence, **_line(finish.winner)},
        "baselines": {str(result.what): result.value for result in finish.baselines},
        "validation": validation(runner, finish),
        "fit": _fit(tested),
        "refit": None if refit is None else _fit(refit),
        "test": None if test is None else test.record(judgement),
        "verdict": None if verdict is None else verdict.as_json(),
        "interrupted": interrupted,
        "seconds": runner.clock.elapsed,
        "time_budget": runner.clock.budget,
        "notes": runner.notes,
        "trials": [trial.as_json() for trial in runner.trials.values()],
    }


def use(runner: Runner, test: Tested, refit: Fitted | None, n_pairs: int) -> str:
    """What to do with a machine that is better: nothing is better than baselines that were never asked."""
    missing = [str(rival) for rival in runner.rivals if str(rival) not in test.answers]
    if missing and runner.clock.budget is not None:
        return f"Give it more time (time_budget, --budget) before you use it: not compared with {', '.join(missing)}."
    if refit is None:
        return "Use it: it is the model that was tested."
    if refit.n_pairs == n_pairs:
        return "Use it: it was refitted on all pairs."
    limit = " (max_pairs)" if refit.n_pairs == runner.max_pairs else ""
    return f"Use it: it was refitted on {refit.n_pairs:,} of {n_pairs:,} pairs{limit}."


def described(runner: Runner, finish: Finish) -> dict[str, Any]:
    """How many pairs and examples there are."""
    pairs, held = finish.everything.pairs, finish.held
    return {
        "pairs": len(pairs),
        "development": len(runner.data),
        "held": 0 if held is None else len(held),
        "tables": 1 if pairs.right_examples is None else 2,
        "examples": pairs.n_examples,
    }


def validation(runner: Runner, finish: Finish) -> str:
    """What the pairs that chose the machine say of it: no verdict, since being chosen flatters."""
    figure = runner.judgement.figure
    what = UNSEEN.get(runner.unseen, "own splits") if isinstance(runner.unseen, str) else "own splits"
    own = f"{finish.setting}, {figure.name} {shown(finish.winner, figure)} on {what}"
    return own + beside(finish.baselines, figure, "pairs")


def _rung(runner: Runner, size: int) -> dict[str, Any]:
    tried = {what for what, of, _ in runner.trials if of == size}
    results = [*runner.machines(size), *runner.baselines(size)]
    return {"pairs": size, "tried": len(tried), "results": [_line(result) for result in results]}


def _line(result: Result) -> dict[str, Any]:
    kind = "machine" if isinstance(result.what, Setting) else "baseline"
    names = ("value", "low", "high", "score", "slope", "seconds", "n_splits")
    return {"what": str(result.what), "kind": kind, **{name: getattr(result, name) for name in names}}


def _fit(found: Fitted) -> dict[str, Any]:
    """How a final fit ended."""
    machine = found.machine
    return {
        "pairs": found.n_pairs,
        "status": str(machine.fit_status_),
        "seconds": machine.fit_seconds_,
        "kkt_gap": machine.kkt_gap_,
        "support_pairs": machine.n_support_,
    }
