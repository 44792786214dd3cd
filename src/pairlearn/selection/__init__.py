"""Which pairs to train and test on: fair splits, a leak check, sampling, and labels inferred by transitivity."""

from pairlearn.selection.leaks import Leaks, find_leaks, refuse_leaks
from pairlearn.selection.mining import HardNegatives
from pairlearn.selection.nested import nested_by_class_count, nested_by_epcr
from pairlearn.selection.sampling import PairCounts, PairSampler, count_pairs, sliding_memory
from pairlearn.selection.splits import (
    ClassKFold,
    ClassSplit,
    ColdStartKFold,
    ColdStartSplit,
    ExampleKFold,
    ExampleSplit,
    PairKFold,
    PairSplit,
)
from pairlearn.selection.transitivity import ContradictionError, Inference, fewest_pairs, infer_labels

__all__ = [
    "ClassKFold",
    "ClassSplit",
    "ColdStartKFold",
    "ColdStartSplit",
    "ContradictionError",
    "ExampleKFold",
    "ExampleSplit",
    "HardNegatives",
    "Inference",
    "Leaks",
    "PairCounts",
    "PairKFold",
    "PairSampler",
    "PairSplit",
    "count_pairs",
    "fewest_pairs",
    "find_leaks",
    "infer_labels",
    "nested_by_class_count",
    "nested_by_epcr",
    "refuse_leaks",
    "sliding_memory",
]
