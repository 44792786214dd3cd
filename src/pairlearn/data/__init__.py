"""Data to learn from: synthetic tasks with known classes and known posteriors."""

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
    "checker_board",
    "checker_board_difference_posterior",
    "disturbed_orthant",
    "disturbed_orthant_posterior",
    "disturbed_single_interval",
    "disturbed_single_interval_posterior",
    "double_interval",
    "identical_examples",
    "orthant",
    "sliding_memory_pairs",
]
