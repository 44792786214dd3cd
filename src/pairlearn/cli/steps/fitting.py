"""The steps of `pairlearn fit`: what to learn from, learning with progress and a Ctrl-C that keeps the model."""

from __future__ import annotations

import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, compare, titled
from pairlearn.cli.long_runs import TimeLeft, in_words, sparing_the_model
from pairlearn.cli.run import Run
from pairlearn.cli.terminal import GapBar, facts, percent, progress_bar, say
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.errors import (
    ApproximationWarning,
    CheckpointWarning,
    ConflictWarning,
    ConstantWarning,
    DefinitenessWarning,
    InputError,
    SymmetryWarning,
)
from pairlearn.interrupts import on_interrupt
from pairlearn.kernels import Nystrom
from pairlearn.pairs import Pairs
from pairlearn.types import Ints
from pairlearn.words import counted, worth

if TYPE_CHECKING:
    from pairlearn.solvers.problem import Progress as Step

MOST_SCORED = 200_000
"""Training pairs that are scored for the training figures; beyond that a sample is."""
SHOWN_WARNINGS = (
    ApproximationWarning,
    CheckpointWarning,
    ConflictWarning,
    ConstantWarning,
    DefinitenessWarning,
    SymmetryWarning,
)
OWN_WORDS: dict[type[Warning], str] = {
    DefinitenessWarning: "the base kernel is not known to be positive semidefinite; a sample of the examples showed "
    "nothing against it",
}
"""Warnings whose text gives advice for Python."""
UNTOLD = "the training EER was stopped by Ctrl-C; the model is kept"
SIZES = ("C", "nu", "epsilon", "alpha")
"""Parameters of machines that are shown by name."""
WORDS = {1: "same", -1: "different"}
"""What labels of pairs mean where two are told apart."""
MACHINES: dict[str, Callable[..., Any]] = {
    "svc": pl.PairSVC,
    "ridge": pl.PairRidge,
    "transductive": pl.TransductivePairSVC,
    "one_class": pl.OneClassPairSVM,
    "sphere": pl.OneClassPairSphere,
}
"""Machines that tell pairs apart, by the name of --machine."""


def machine_of(name: str, *, base: str, machines: Mapping[str, Callable[..., Any]] = MACHINES, **settings: Any) -> Any:
    """The machine of this name with those of the settings that it has."""
    if name not in machines:
        raise InputError(f"there is no machine {name!r}; --machine is one of {', '.join(machines)}")
    known = machines[name]().get_params(deep=False)
    settings["base"] = base_of(base)
    return machines[name](**{key: value for key, value in settings.items() if key in known})


def base_of(text: str) -> str | tuple[str, str]:
    """A base kernel by name, or that of the left and of the right examples with a comma between them.

    >>> base_of("linear, lowrank(rbf, 300)")
    ('linear', 'lowrank(rbf, 300)')
    """
    left, *right = re.split(r",(?![^(]*\))", text, maxsplit=1)
    return (left.strip(), right[0].strip()) if right else left


def alpha_of(text: str) -> float | str:
    """--alpha as a number, or "auto".

    >>> alpha_of("0.5"), alpha_of("auto")
    (0.5, 'auto')
    """
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise InputError(f"--alpha is a number > 0 or auto, got {text!r}") from None


# --------------------------------------------------------------------------- what to learn from


class Training(NamedTuple):
    """Pairs, their labels ±1 (0: unlabelled), and how the labels were spelled in the file, if they came from one."""

    pairs: Pairs
    labels: Ints
    spelling: dict[str, int] | None


def training_of(
    machine: Any, table: ExampleTable, right: ExampleTable | None, given: PairTable | None, reflexive: bool
) -> Training:
    """The pairs of a file, or all pairs of the examples' classes, as this machine learns from them."""
    training = (
        _pairs_of_classes(table, right, reflexive) if given is None else _given_pairs(machine, table, right, given)
    )
    if not isinstance(machine, (pl.OneClassPairSVM, pl.OneClassPairSphere)):
        return training
    together = np.flatnonzero(training.labels > 0)
    if not len(together):
        raise InputError("no pair is labelled as belonging together, and this machine learns from such pairs only")
    return Training(training.pairs[together], training.labels[together], training.spelling)


def _pairs_of_classes(table: ExampleTable, right: ExampleTable | None, reflexive: bool) -> Training:
    """All pairs of the examples, positive where the classes agree."""
    if table.classes is None or right is not None:
        raise InputError(
            f"{table.source} holds no classes: give a table of labelled pairs as PAIRS"
            + ("" if right is not None else ", or name their column with --class-column")
        )
    pairs = pl.all_pairs(table.examples, reflexive=reflexive)
    return Training(pairs, pairs.labels(table.classes), None)


def _given_pairs(machine: Any, table: ExampleTable, right: ExampleTable | None, given: PairTable) -> Training:
    """The labelled pairs of a file, by the ids of their examples."""
    if isinstance(machine, pl.TransductivePairSVC):
        labels, spelling = given.some_labels()
    elif given.cells is None and isinstance(machine, (pl.OneClassPairSVM, pl.OneClassPairSphere)):
        labels, spelling = np.ones(len(given), dtype=np.int64), {}
    else:
        labels, spelling = given.required_labels()
    return Training(given.on(table, right), labels, dict(spelling))


# --------------------------------------------------------------------------- training


def train(machine: Any, training: Any) -> list[str]:
    """Fit with a progress bar; Ctrl-C ends it early. Returns warnings for the reader."""
    with warnings.catch_warnings(record=True) as caught, _watched(machine, len(training.pairs)) as report:
        warnings.simplefilter("always")
        machine.set_params(callback=report).fit(training.pairs, training.labels)
    machine.set_params(callback=None)
    return sentences(caught)


def sentences(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Those of these warnings that are for the reader, each once."""
    shown = [each for each in caught if issubclass(each.category, SHOWN_WARNINGS)]
    return list(dict.fromkeys(OWN_WORDS.get(each.category, str(each.message)) for each in shown))


@contextmanager
def _watched(machine: Any, n_pairs: int) -> Iterator[Callable[[Step], bool]]:
    """A callback that shows progress and answers True after Ctrl-C, which ends the fit after this iteration.

    Before the first report nothing was learnt, and Ctrl-C ends the command. The second Ctrl-C breaks off the iteration
    itself, where the solver turns an interrupt into a model, but not after the last, where what was learnt would be
    lost.
    """
    tol, budget, asked = machine.tol, machine.time_budget, threading.Event()
    latest: list[Step] = []

    def interrupt() -> None:
        running = not latest or (latest[0].gap > tol and (budget is None or latest[0].seconds < budget))
        if running and (asked.is_set() or not latest):
            raise KeyboardInterrupt
        asked.set()
        say(bars.console, "stopping after this iteration and keeping the model; Ctrl-C again stops it now")

    def report(step: Step) -> bool:
        latest[:] = [step]
        bar.update(step.gap, in_words(step, n_pairs, pace.after(step)))
        return asked.is_set()

    pace = TimeLeft(tol, n_pairs)
    with progress_bar() as bars, on_interrupt(interrupt):
        bar = GapBar(bars, "learning", tol, state="preparing")
        yield report


# --------------------------------------------------------------------------- what came out


def refuse_ignorant(machine: Any) -> None:
    """A model without support pairs that did not converge knows nothing: it is not written."""
    if machine.n_support_ or machine.fit_status_ == "converged":
        return
    if machine.fit_status_ == "interrupted":
        raise KeyboardInterrupt
    raise InputError(
        f"stopped before anything was learnt ({machine.fit_status_}): no model was written; give it more time"
    )


def facts_of(machine: Any, pairs: Pairs, notes: list[str]) -> dict[str, Any]:
    """What a machine learnt from, and how that went."""
    return {
        "machine": type(machine).__name__,
        "kernel": machine.kernel,
        "base": machine.base,
        "low_rank": [text for text in map(repr, machine.function_.kernel.bases) if Nystrom.__name__ in text],
        **{name: getattr(machine, name) for name in SIZES if hasattr(machine, name)},
        **({"alpha": machine.alpha_} if hasattr(machine, "alpha_") else {}),
        "warnings": notes,
        **_used(pairs),
        "pairs": len(pairs),
        "status": machine.fit_status_,
        "verdict": machine.fit_verdict_,
        "seconds": machine.fit_seconds_,
        "runs": machine.n_runs_,
        "total_seconds": machine.total_seconds_,
        "time_budget": machine.time_budget,
        "kkt_gap": machine.kkt_gap_,
        "support_pairs": machine.n_support_,
        "plan": str(machine.plan_),
        "path": machine.path_,
    }


def result_of(machine: Any, training: Training, notes: list[str], seed: int) -> dict[str, Any]:
    """What was learnt from, and what came out."""
    labels, told = training.labels, list(notes)
    figures: dict[str, Any] | None = None
    with sparing_the_model(lambda: told.append(UNTOLD)):
        figures = _training_figures(machine, training, seed)
    return {
        **facts_of(machine, training.pairs, told),
        "positives": int((labels > 0).sum()),
        "unlabelled": int((labels == 0).sum()),
        "labels": training.spelling,
        "training": figures,
    }


def _training_figures(machine: Any, training: Training, seed: int) -> dict[str, Any] | None:
    """EER on the training pairs themselves, without reflexive ones; None when one label is left alone."""
    kept = np.nonzero(~training.pairs.reflexive & (training.labels != 0))[0]
    sampled = len(kept) > MOST_SCORED
    if sampled:
        kept = np.sort(np.random.default_rng(seed).choice(kept, MOST_SCORED, replace=False))
    labels = training.labels[kept]
    if abs(int(labels.sum())) == len(kept):
        return None
    curves = compare(machine, training.pairs[kept], labels)
    eers = {name: curve.equal_error_rate for name, curve in curves.items()}
    return {"pairs": len(kept), "sampled": sampled, "eer": eers}


def _used(pairs: Pairs) -> dict[str, int]:
    """How many examples the pairs refer to; those of the right sides apart if they have a table of their own."""
    return dict(zip(("examples", "right_examples"), map(len, pairs.used_rows()), strict=False))


def examples_in(result: Mapping[str, Any]) -> str:
    """These numbers in words."""
    if "right_examples" not in result:
        return counted(result["examples"], "example")
    return f"{result['examples']:,} left and {counted(result['right_examples'], 'right example')}"


def show(run: Run, result: dict[str, Any]) -> None:
    """The result of a fit in words."""
    unlabelled = f", {result['unlabelled']:,} unlabelled" if result["unlabelled"] else ""
    rows = {
        "pairs": f"{result['pairs']:,} of {examples_in(result)}, {result['positives']:,} positive" + unlabelled,
        "labels": spelled(result["labels"]) if result["labels"] else "from classes: same → +1, different → −1",
    }
    last = {} if UNTOLD in result["warnings"] else {"training EER": _in_words(result["training"])}
    show_facts(run, result, rows, last)


def show_facts(run: Run, result: Mapping[str, Any], first: Mapping[str, str], last: Mapping[str, str]) -> None:
    """What a machine learnt from and how that went, between the first and last lines of a command's own."""
    for note in result["warnings"]:
        run.warn(note)
    sized = ", ".join(f"{name} = {result[name]:g}" for name in SIZES if name in result)
    rows = {
        **first,
        "machine": f"{result['machine']}, {result['kernel']} on {result['base']}, {sized}",
        **({"low rank": ", ".join(result["low_rank"])} if result["low_rank"] else {}),
        "status": result["status"],
        "KKT gap": f"{result['kkt_gap']:.2g}",
        "support pairs": f"{result['support_pairs']:,}",
        "time": f"{time.perf_counter() - run.began:.1f} s{_in_runs(result)}",
        "plan": result["plan"],
        **last,
    }
    run.out.print(facts(rows), highlight=False)
    if result["status"] != "converged":
        told = worth(result["kkt_gap"], result["support_pairs"])
        say(run.out, f"Stopped early ({result['status']}): {told}; it is not yet the best one for these pairs.")


def _in_runs(result: Mapping[str, Any]) -> str:
    """What the fit took before this run."""
    runs = result["runs"]
    return f"; {result['total_seconds']:.1f} s of fitting in {runs} runs" if runs > 1 else ""


def _in_words(training: dict[str, Any] | None) -> str:
    """The training EER of the model and of the baselines, with what it is worth."""
    if training is None:
        return "not defined: these pairs have one label only"
    of = f"a sample of {training['pairs']:,} training pairs" if training["sampled"] else "the training pairs"
    eers = {name: percent(eer) for name, eer in training["eer"].items()}
    beside = ", ".join(f"untrained {titled(name)} {eer}" for name, eer in eers.items() if name != MODEL)
    return f"{eers[MODEL]}" + (f" (beside {beside})" if beside else "") + f" on {of}: flattering, test on others"


def spelled(spelling: Mapping[str, int], words: Mapping[int, str] = WORDS) -> str:
    """The mapping of labels in words."""
    return ", ".join(f"{name} → {f'{value:+d}' if value else 0} ({words[value]})" for name, value in spelling.items())
