"""What each kind of model is for, in its own language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """What a model answers, what its score means, and whether larger scores mean more alike."""

    answers: str
    score: str
    alike: bool = True


VERIFIES = Kind("do two examples belong together?", "larger = more alike")
DISTANCE = Kind("how far apart are two examples, learnt from a stream of pairs?", "larger = nearer")
RECORDS = Kind("are two records of text and numbers the same? For match and dedupe", "larger = more surely the same")
ORDERS = Kind("which of two examples comes first?", "> 0 = the left one", alike=False)
NUMBERS = Kind("which number belongs to a pair?", "the number itself", alike=False)
CLASSIFIES = Kind("which class is an example of, by any similarity?", "of a class, not of a pair", alike=False)
KINDS = {
    "PairSVC": VERIFIES,
    "TransductivePairSVC": VERIFIES,
    "StackedPairSVC": VERIFIES,
    "DistilledScorer": VERIFIES,
    "DistilledRegressor": NUMBERS,
    "NormalisedScorer": VERIFIES,
    "WhitenedScorer": VERIFIES,
    "OrbitScorer": VERIFIES,
    "OnCopies": VERIFIES,
    "PairMean": Kind("what its machines answer, in the mean", "as of its machines", alike=False),
    "OneClassPairSVM": Kind("is a pair like those that belong together?", "larger = more like them"),
    "OneClassPairSphere": Kind("is a pair like those that belong together?", "larger = more like them"),
    "PairRanker": ORDERS,
    "PairSVR": NUMBERS,
    "PairRidge": NUMBERS,
    "Verifier": Kind("do two examples belong together, yes or no?", "larger = more alike; yes from the threshold on"),
    "Gallery": Kind("who among the enrolled identities is it?", "larger = more alike; one per identity"),
    "Pipeline": Kind("what its last step answers, after the examples were transformed", "that of its last step"),
    "RecordMatcher": RECORDS,
    "UnlabelledMatcher": RECORDS,
    "OnlinePseudoMetric": DISTANCE,
    "KernelPseudoMetric": DISTANCE,
    "BasisExpansion": Kind("which vector stands for an example, by any similarity?", "none", alike=False),
    "IndefiniteNystrom": Kind("which vector stands for an example, by any similarity?", "none", alike=False),
    "BasisSVC": CLASSIFIES,
}
BY_TASK = {"preference": ORDERS, "verification": VERIFIES, "regression": NUMBERS}
"""Kinds of models whose class does not say what they answer, by the name of their task."""
OPEN = ("PairRidge", "DistilledScorer", "DistilledRegressor")
"""Their classes: labels and kernel say more, or what they were made from."""
BASELINE = Kind("do two examples belong together? A baseline, to compare with", "larger = more alike")


def kind_of(name: str) -> Kind:
    """What a class of models is for; classes that are not listed are baselines."""
    return KINDS.get(name, BASELINE)


def kind_of_model(model: Any, about: Mapping[str, Any] | None = None) -> Kind:
    """What a model is for; `about` is what its file says of how it was made."""
    name = type(model).__name__
    if name not in OPEN:
        return kind_of(name)
    from pairlearn.cli.tasks.task import task_of  # a file's head is told without it

    return BY_TASK[task_of(model, about).name]


def title_of(model: Any, about: Mapping[str, Any] | None = None) -> str:
    """A model in a sentence: what it is, and what it answers; `about` is what its file says."""
    name = type(model).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name} ({kind_of_model(model, about).answers})"
