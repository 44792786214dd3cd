"""The steps of `pairlearn score` and `pairlearn decide`: join, score, decide, and set error rates beside baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, curves_of, rates, rates_table, show_verdict, verdict
from pairlearn.cli.comparison import scored as systems_of
from pairlearn.cli.options import RightOptions
from pairlearn.cli.run import Run, decided_by, inputs_learnt_from, known_ids, learnt_from
from pairlearn.cli.steps.fitting import WORDS, spelled
from pairlearn.cli.tasks import judging
from pairlearn.cli.tasks.task import Task, task_of
from pairlearn.cli.terminal import percent, say
from pairlearn.data.files.sources import Source
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, calibrated, threshold_at_fmr
from pairlearn.evaluation.calibration import Knots
from pairlearn.pairs import Pairs
from pairlearn.types import Ints
from pairlearn.words import counted

DECIDE = "Set a threshold: `pairlearn decide MODEL EXAMPLES PAIRS --fmr 0.001`, by labelled pairs of other identities."
REPORT = "Show it: `pairlearn evaluate SCORES --examples EXAMPLES --report report.html`."
"""What to do with a model that is better than the baselines."""
FLATTERING = "the model was learnt from this very file ({}): what it says of these pairs is flattering"


@dataclass(frozen=True, eq=False)
class Tested:
    """A table of pairs joined to its examples, and the classes of the examples on both sides if they are known."""

    table: PairTable
    pairs: Pairs
    classes: Any = None

    def scores(self, values: Any) -> Scores:
        """These values with labels, ids and identities."""
        labels, _ = self.table.required_labels()
        sides = (self.pairs.left, self.pairs.right)
        if self.classes is None:
            return Scores(values, labels, *sides)
        return Scores(values, labels, *sides, *(self.classes[side] for side in sides))


def file_in_common(run: Run, learnt: Mapping[str, Any], role: str = "pairs") -> str | None:
    """The file that pairs and training have in common, known by the hash of its content.

    A model that was learnt without a table of pairs has learnt from all pairs of its examples.
    """
    known = next((name for name in ("pairs", "preferences") if name in learnt), "examples")
    own = run.inputs["examples" if known == "examples" else role]["sha256"]
    return learnt[known]["file"] if own == learnt.get(known, {}).get("sha256") else None


@dataclass(frozen=True, eq=False)
class Tables:
    """Examples to join pairs to, left and right, and the names of the columns of pairs."""

    left: ExampleTable
    right: ExampleTable | None
    names: tuple[str, str, str]
    learnt: Mapping[str, Any] = field(default_factory=dict)
    decided: Mapping[str, Any] = field(default_factory=dict)

    def learnt_from(self, run: Run, role: str = "pairs") -> str | None:
        """The file that these pairs and the training have in common."""
        return file_in_common(run, self.learnt, role)

    def refuse_training(self, run: Run) -> None:
        """A threshold that was set by what the model was learnt from promises nothing about others."""
        source = self.learnt_from(run)
        if source is not None:
            raise InputError(
                f"the model was learnt from this very file ({source}), so a threshold set by it promises too much; "
                "give labelled pairs that it was not trained on, best of identities of their own"
            )

    def warn_of_training(self, run: Run, role: str = "pairs") -> None:
        """Say so if the model was learnt from these very pairs."""
        source = self.learnt_from(run, role)
        if source is not None:
            run.warn(FLATTERING.format(source))
        elif run.command != "decide" and self.decided.get("sha256") == run.inputs[role]["sha256"]:
            run.warn(f"the threshold was set by this very file ({self.decided['file']}): rates at it are flattering")

    @classmethod
    def read(
        cls,
        run: Run,
        about: Mapping[str, Any],
        examples: Path,
        columns: Columns,
        right: RightOptions,
        names: tuple[str, str, str],
    ) -> Tables:
        """Read the same columns that the model was learnt from."""
        if known_ids(about) is not None:
            raise InputError("this model was learnt from ids alone and knows no features; use pairlearn rank predict")
        left = run.examples(examples, columns, learnt=learnt_from(about))
        other = run.right_examples(right, learnt_from(about, "right"))
        return cls(left, other, names, inputs_learnt_from(about), decided_by(about))

    def pairs(self, run: Run, path: Path | Source, *, role: str = "pairs") -> Tested:
        """A table of pairs joined to these examples; says so if the model was learnt from the same file."""
        table = run.pairs(path, *self.names, role=role)
        self.warn_of_training(run, role)
        classes = None if self.left.classes is None or self.right is not None else np.asarray(self.left.classes)
        return Tested(table, table.on(self.left, self.right), classes)


# --------------------------------------------------------------------------- decisions


def verifier_of(
    run: Run, machine: Any, given: Tested, wanted: tuple[float, float | None, float], *, own: bool
) -> pl.Verifier:
    """The machine with a threshold (FMR and confidence) and probabilities (prior) from labelled pairs."""
    fmr, confidence, prior = wanted
    if not 0 < fmr < 1:
        raise InputError(f"--fmr is a share of the pairs that do not belong together, between 0 and 1; got {fmr:g}")
    plain = machine.model if isinstance(machine, pl.Verifier) else machine
    if task_of(plain).judgement is not None:
        raise InputError(
            f"this model is for {task_of(plain).name}, where no false match rate can set a threshold; "
            "use pairlearn score without --fmr"
        )
    if given.table.cells is None:
        raise InputError(
            f"{given.table.source} has no column {given.table.label!r}, but a threshold is set by labelled pairs; name "
            "them with --development, or their labels with --label-column"
        )
    scores = given.scores(plain.decision_function(given.pairs))
    unit = "example" if given.classes is None else "identity"
    threshold = threshold_at_fmr(scores, fmr, confidence=confidence, unit=unit)
    calibration = calibrated(scores, prior)
    verifier = pl.Verifier(plain, threshold, calibration)
    seen = given.pairs.used_examples()
    units = "" if given.classes is None else f" of {counted(len(set(given.classes[seen].tolist())), 'identity')}"
    say(run.err, f"{threshold} (by {counted(len(given.table), 'labelled pair')}{units})", lead="threshold:")
    if isinstance(calibration.curve, Knots):
        run.note("probabilities follow a rising curve through the scores: a straight line does not fit them")
    run.note(f"probabilities hold where a share of {prior:g} of all pairs belongs together (--prior)")
    if given.classes is None and confidence is not None:
        run.warn("identities are not known, so the confidence is over examples; name them with --class-column")
    if own:
        run.warn("threshold and probabilities were set by these same pairs, which flatters them; see --development")
    return verifier


def threshold_facts(verifier: pl.Verifier) -> dict[str, Any]:
    """The threshold of a verifier, for the record."""
    threshold = verifier.threshold
    return {"threshold": float(threshold), "rule": str(threshold)}


def scored(machine: Any, tested: Tested, task: Task) -> dict[str, Any]:
    """The columns of the table of answers, but for the labels."""
    values = machine.decision_function(tested.pairs)
    columns: dict[str, Any] = {"left": tested.table.left, "right": tested.table.right}
    columns |= task.answers(tested.table, values)
    if isinstance(machine, pl.Verifier):
        decided = np.where(values >= float(machine.threshold), 1, -1)
        columns["decision"] = [WORDS[sign] for sign in decided.tolist()]
        if machine.calibration is not None:
            columns["probability"] = machine.calibration.probability(values)
    return columns


def score_and_write(
    run: Run, machine: Any, about: Mapping[str, Any], tested: Tested, out: Path, *, reflexive: bool = False
) -> None:
    """Score, say how good that is where labels are known, and write the table."""
    task = task_of(machine, about)
    if reflexive and (task.judgement is not None or tested.table.cells is None):
        why = f"this model is for {task.name}" if task.judgement else f"{tested.table.source} has no labels"
        raise InputError(f"--reflexive is about error rates, and there are none, since {why}; leave it out")
    found = scored(machine, tested, task)
    result = {"model": str(run.options["model"]), "task": task.name, "pairs": len(tested.table)}
    if tested.table.cells is not None:
        found["label"] = judging.written_labels(task, tested.table)
        shown = run.beside(out)
        result |= (
            show_rates(shown, machine, tested, found, reflexive)
            if task.judgement is None
            else show_figures(shown, task, about, tested, found)
        )
    values = found[task.column]
    run.deliver(out, found, f"{len(tested.table):,} {task.column}s", result, {f"{task.column}s": values.tolist()})


def show_figures(
    console: Console, task: Task, about: Mapping[str, Any], tested: Tested, found: Mapping[str, Any]
) -> dict[str, Any]:
    """How good answers to a question of its own are, beside what needs no model."""
    assert task.judgement is not None
    truth, spelling = task.labels(tested.table)
    answers = {MODEL: found[task.column], **task.floor(about, len(truth))}
    record = judging.judge_pairs(task, answers, truth, *judging.sides_of(tested.pairs), use="", search="")
    if spelling:
        say(console, f"labels read as {spelled(spelling, task.words)}")
    judging.show(console, task.judgement, record, counted(record["pairs"], "labelled pair"))
    return {"labels": dict(spelling), **record}


# --------------------------------------------------------------------------- error rates


def show_rates(
    console: Console, machine: Any, tested: Tested, found: Mapping[str, Any], reflexive: bool
) -> dict[str, Any]:
    """Error rates of the model beside the baselines, in words and for the record."""
    labels, spelling = tested.table.required_labels()
    pairs = tested.pairs
    _say_contradictions(console, pairs, labels)
    kept = labels if reflexive else labels[~pairs.reflexive]
    if abs(int(kept.sum())) == len(kept):
        say(console, "No error rates: they need pairs that belong together and pairs that do not.")
        return {"labels": spelling}
    systems = systems_of(machine, pairs, labels, found["score"], tested.classes)
    curves = curves_of(systems, reflexive=reflexive)
    left_out = 0 if reflexive else int(pairs.reflexive.sum())
    say(console, f"labels read as {spelled(spelling)}")
    console.print(rates_table(curves, counted(len(pairs) - left_out, "labelled pair")))
    if left_out:
        some = counted(left_out, "pair of an example with itself is", "pairs of an example with itself are")
        say(console, f"{some} left out (--reflexive counts them)")
    record = {"labels": spelling, "reflexive_left_out": left_out, "rates": {n: rates(c) for n, c in curves.items()}}
    if "decision" in found:
        record |= _show_decisions(console, np.array(found["decision"]) == "same", labels)
    judged = verdict(systems, use=REPORT if isinstance(machine, pl.Verifier) else DECIDE)
    show_verdict(console, judged)
    return {**record, "verdict": judged}


def _say_contradictions(console: Console, pairs: Pairs, labels: Ints) -> None:
    """Pairs that have two labels, in either order, make every rate worse than it is."""
    twice = {frozenset((a, b)) for _, _, a, b in pairs.conflicts(labels)} if pairs.right_examples is None else ()
    if twice:
        told = counted(len(twice), "pair has", "pairs have")
        say(console, f"{told} both labels; see `pairlearn pairs check`", lead="warning:", style="yellow")


def _show_decisions(console: Any, accepted: Any, labels: Any) -> dict[str, Any]:
    """What the threshold did on these pairs."""
    false_match, missed = accepted[labels < 0].mean(), (~accepted)[labels > 0].mean()
    rates = {"fmr": float(false_match), "fnmr": float(missed)}
    say(console, f"decisions on these pairs: FMR {percent(rates['fmr'], 3)}, FNMR {percent(rates['fnmr'])}")
    return {"decisions": rates}
