"""The steps of `pairlearn score` and `pairlearn decide`: join, score, decide, and set error rates beside baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pairlearn as pl
from pairlearn.cli.comparison import curves_of, rates, rates_table, show_verdict, verdict
from pairlearn.cli.comparison import scored as systems_of
from pairlearn.cli.fitting import spelled
from pairlearn.cli.run import Run, learnt_from
from pairlearn.cli.terminal import percent, say
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.errors import InputError
from pairlearn.evaluation import LogisticCalibration, Scores, threshold_at_fmr
from pairlearn.pairs import Pairs
from pairlearn.words import counted

DECISIONS = {1: "same", -1: "different"}


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


@dataclass(frozen=True, eq=False)
class Tables:
    """Examples to join pairs to, left and right, and the names of the columns of pairs."""

    left: ExampleTable
    right: ExampleTable | None
    names: tuple[str, str, str]

    @classmethod
    def read(
        cls,
        run: Run,
        about: Mapping[str, Any],
        examples: Path,
        right: Path | None,
        columns: Columns,
        names: tuple[str, str, str],
    ) -> Tables:
        """Read the same columns that the model was learnt from."""
        left = run.examples(examples, columns, learnt=learnt_from(about))
        other = (
            None if right is None else run.examples(right, Columns(), learnt=learnt_from(about, "right"), role="right")
        )
        return cls(left, other, names)

    def pairs(self, run: Run, path: Path, *, role: str = "pairs") -> Tested:
        """A table of pairs joined to these examples."""
        table = run.pairs(path, *self.names, role=role)
        classes = None if self.left.classes is None or self.right is not None else np.asarray(self.left.classes)
        return Tested(table, table.on(self.left, self.right), classes)


# --------------------------------------------------------------------------- decisions


def verifier_of(
    run: Run, machine: Any, given: Tested, fmr: float, confidence: float | None, *, own: bool
) -> pl.Verifier:
    """The machine with a threshold at this FMR, and probabilities, both from labelled pairs."""
    plain = machine.model if isinstance(machine, pl.Verifier) else machine
    if given.table.cells is None:
        raise InputError(
            f"{given.table.source} has no column {given.table.label!r}, but a threshold is set by labelled pairs; name "
            "them with --development, or their labels with --label-column"
        )
    scores = given.scores(plain.decision_function(given.pairs))
    unit = "example" if given.classes is None else "identity"
    threshold = threshold_at_fmr(scores, fmr, confidence=confidence, unit=unit)
    verifier = pl.Verifier(plain, threshold, LogisticCalibration().fit(scores))
    units = "" if given.classes is None else f" of {counted(len(set(given.classes.tolist())), 'identity')}"
    say(run.err, f"{threshold} (by {counted(len(given.table), 'labelled pair')}{units})", lead="threshold:")
    if given.classes is None and confidence is not None:
        run.warn("identities are not known, so the confidence is over examples; name them with --class-column")
    if own:
        run.warn("threshold and probabilities were set by these same pairs, which flatters them; see --development")
    return verifier


def threshold_facts(verifier: pl.Verifier) -> dict[str, Any]:
    """The threshold of a verifier, for the record."""
    threshold = verifier.threshold
    return {"threshold": float(threshold), "rule": str(threshold)}


def scored(machine: Any, tested: Tested) -> dict[str, Any]:
    """The columns of the table of scores."""
    values = machine.decision_function(tested.pairs)
    columns: dict[str, Any] = {"left": tested.table.left, "right": tested.table.right, "score": values}
    if isinstance(machine, pl.Verifier):
        decided = np.where(values >= float(machine.threshold), 1, -1)
        columns["decision"] = [DECISIONS[sign] for sign in decided.tolist()]
        if machine.calibration is not None:
            columns["probability"] = machine.calibration.probability(values)
    if tested.table.labels is not None:
        columns["label"] = tested.table.labels
    return columns


# --------------------------------------------------------------------------- error rates


def show_rates(run: Run, machine: Any, tested: Tested, found: Mapping[str, Any], reflexive: bool) -> dict[str, Any]:
    """Error rates of the model beside the baselines, in words and for the record; nothing without labels."""
    if tested.table.labels is None:
        return {}
    # Scores on stdout keep it to themselves.
    console = run.err if run.options["out"] == Path("-") else run.out
    labels, spelling = tested.table.required_labels()
    pairs = tested.pairs
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
    judged = verdict(systems)
    show_verdict(console, judged)
    return {**record, "verdict": judged}


def _show_decisions(console: Any, accepted: Any, labels: Any) -> dict[str, Any]:
    """What the threshold did on these pairs."""
    false_match, missed = accepted[labels < 0].mean(), (~accepted)[labels > 0].mean()
    rates = {"fmr": float(false_match), "fnmr": float(missed)}
    say(console, f"decisions on these pairs: FMR {percent(rates['fmr'], 3)}, FNMR {percent(rates['fnmr'])}")
    return {"decisions": rates}
