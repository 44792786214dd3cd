"""What a reader must know before trusting the numbers: warnings, each with a code that stays when the words change.

Four sources, one function each: the numbers of a system (`doubts_about`), its pairs (`pair_doubts`), what the training
saw (`leak_doubts`), and the untrained baselines (`baseline_doubts`). Limits of warnings stand below, with their
reasons.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pairlearn.evaluation import Scores
from pairlearn.report.codes import KINDS, Names, distinct, named
from pairlearn.report.system import Basis
from pairlearn.report.text import are, measure_name, row_relation
from pairlearn.words import counted

FEW_IDENTITIES = 30
"""Below this the variance between identities is itself a guess: Student's t has heavy tails there."""
MUCH_TIED = 0.01
"""A share of tied pairs that makes steps of a curve visible."""
SHOWN = 5
"""Names listed in a warning."""
SIDES = ("left", "right", "left_identity", "right_identity")


def doubt(code: str, text: str, system: str | None = None) -> dict[str, str | None]:
    """One warning; `code` stays the same when the words change."""
    return {"code": code, "system": system, "text": text}


def doubts_about(name: str, record: Mapping[str, Any], basis: Basis) -> list[dict[str, str | None]]:
    """Warnings that follow from the numbers of one system.

    Ties tell of rounded or saturated scores; an area below ½ nearly always of distances that were not negated.
    """
    found = [*_of_counts(record), *_of_units(record, basis)]
    if record["ties"] > MUCH_TIED:
        text = f"{100 * record['ties']:.3g} % of the pairs have a value that also occurs with the other label"
        found.append(("ties", f"{text}; no threshold can tell these apart, so the curve has large steps"))
    if record["auc"]["value"] < 0.5:
        found.append(
            ("reversed", "the area under the curve is below ½: are larger values more alike? Negate distances")
        )
    return [doubt(code, text, name) for code, text in found]


def _of_counts(record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Too few pairs for what was asked."""
    counts = record["counts"]
    if counts["reflexive"]:
        yield (
            "reflexive",
            f"{counted(counts['reflexive'], 'pair')} of an example with itself {are(counts['reflexive'])} left out: "
            "they flatter a result",
        )
    hidden = [point["at"] for point in record["points"] if not point["measurable"]]
    if hidden:
        listed = ", ".join(f"{100 * at:g} %" for at in hidden)
        yield (
            "few_negatives",
            f"FMR {listed} cannot be measured with {counted(counts['negatives'], 'negative pair')}: "
            f"{100 * max(hidden):g} % needs at least {1 / max(hidden):,.0f}",
        )
    if counts["positives"] < FEW_IDENTITIES:
        yield "few_positives", f"only {counted(counts['positives'], 'positive pair')}: FNMR is a rough guess"


def _of_units(record: Mapping[str, Any], basis: Basis) -> Iterable[tuple[str, str]]:
    """Limits over other units than identities, which are too narrow, or over too few."""
    identities = record["counts"]["identities"]
    if identities is not None and identities < FEW_IDENTITIES:
        yield (
            "few_identities",
            f"only {counted(identities, 'identity')}: results may differ much for other people, "
            f"and limits from fewer than {FEW_IDENTITIES} are themselves uncertain",
        )
    for refusal in basis.refused:
        yield "unit_refused", f"limits over each {refusal}"
    if basis.unit is None:
        yield "no_limits", "there are too few pairs for any limits"
    elif basis.unit == "example":
        why = "identities are unknown" if identities is None else "identities cannot be left out one by one"
        yield "unit_example", f"{why}, so limits are over examples: too narrow if examples share an identity"
    elif basis.unit == "pair":
        yield (
            "unit_pair",
            "limits take all pairs for independent, because identities and example ids are unknown or of no use; "
            "they are too narrow when pairs share an example",
        )


def same_pairs(one: Scores, other: Scores) -> bool:
    """Whether two systems scored the same pairs in the same order: only then can they be compared pair by pair."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("labels", *SIDES))


def pair_doubts(name: str, scores: Scores, first: Scores) -> list[dict[str, str | None]]:
    """Warn of labels that contradict identities, and of a system that scored other pairs than the first one."""
    found = []
    if scores is not first and not same_pairs(scores, first):
        text = "scored other pairs than the first system, or in another order; their rates cannot be compared fairly"
        found.append(doubt("other_pairs", text, name))
    if scores.left_identity is not None:
        against = int(np.sum((scores.left_identity == scores.right_identity) != (scores.labels > 0)))
        if against:
            verb = "contradicts" if against == 1 else "contradict"
            text = f"{counted(against, 'label')} {verb} the identities: same identity but different, or the reverse"
            found.append(doubt("contradictions", text, name))
    return found


# --------------------------------------------------------------------------- training and baselines


def leak_doubts(
    scores: Scores, trained: Mapping[str, Collection[Any]], names: Names | None = None
) -> list[dict[str, str | None]]:
    """Warn when test pairs share identities or examples with the training set; names: what numbers stand for.

    >>> scores = Scores([1.0, 0.0], [1, -1], left_identity=["ann", "bob"], right_identity=["ann", "cat"])
    >>> leak_doubts(scores, {"identities": {"bob"}})[0]["text"].split(":")[0]
    '1 of 3 identities were seen in training (bob)'
    """
    found = []
    for what, (left, right) in reversed(KINDS.items()):
        if what not in trained or getattr(scores, left) is None:
            continue
        ids = distinct(getattr(scores, left), getattr(scores, right)).tolist()
        tested = [named(key, (names or {}).get(what)) for key in ids]
        seen = {str(key) for key in trained[what]}
        shared = [key for key in tested if key in seen]
        if shared:
            found.append(doubt(f"shared_{what}", _shared(what, shared, len(tested))))
    if "identities" in trained and scores.left_identity is None:
        text = "identities of the test pairs are unknown, so nobody can tell whether they were seen in training"
        found.append(doubt("unknown_identities", text))
    return found


def _shared(what: str, shared: Sequence[str], total: int) -> str:
    """How many were seen before, some of them by name, and what that means."""
    listed = ", ".join(shared[:SHOWN]) + (", …" if len(shared) > SHOWN else "")
    return (
        f"{len(shared):,} of {total:,} {what} were seen in training ({listed}): "
        f"the results say less about new {what} than they seem to"
    )


def baseline_doubts(differences: Iterable[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    """Warn about each system that is worse than, or tied with, an untrained baseline: it is worth no training.

    One warning per system and relation; by how much is in the table of differences.
    """
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in differences:
        baselines = found.setdefault((row["system"], row_relation(row)), {})
        baselines.setdefault(row["baseline"], []).append(measure_name(row))
    return [
        doubt(RELATIONS[relation][0], f"{RELATIONS[relation][1]} untrained {_listed(baselines)}", system)
        for (system, relation), baselines in found.items()
        if relation in RELATIONS
    ]


RELATIONS = {"worse": ("not_better", "is worse than"), "tied": ("not_surely_better", "is tied with")}
"""Relations to a baseline that are a warning: its code and its words."""


def _listed(baselines: Mapping[str, Sequence[str]]) -> str:
    """Baselines, each with the measures that the relation holds for."""
    return " and ".join(f"{name} ({', '.join(measures)})" for name, measures in baselines.items())
