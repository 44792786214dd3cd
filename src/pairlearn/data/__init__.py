"""Data to learn from: synthetic tasks with known classes and known posteriors."""

from pairlearn.data.protocols import Protocol, read_lfw_pairs, read_lfw_view1
from pairlearn.data.synthetic import (
    checker_board,
    checker_board_difference_posterior,
    disturbed_orthant,
    disturbed_orthant_posterior,
    disturbed_single_interval,
    disturbed_single_interval_posterior,
    double_interval,
    identical_examples,
    orthant,
    sliding_memory_pairs,
)

__all__ = [
    "Protocol",
    "checker_board",
    "checker_board_difference_posterior",
    "disturbed_orthant",
    "disturbed_orthant_posterior",
    "disturbed_single_interval",
    "disturbed_single_interval_posterior",
    "double_interval",
    "identical_examples",
    "orthant",
    "read_lfw_pairs",
    "read_lfw_view1",
    "sliding_memory_pairs",
]
