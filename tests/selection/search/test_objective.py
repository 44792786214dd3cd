"""Objectives beyond the equal error rate: the race, the final test and the record are about them."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.evaluation import AUPR, EER

X, CLASSES = pl.data.double_interval(16, 5, n=20, seed=0)


def test_the_best_by_the_objective_is_chosen_and_tested_by_it() -> None:
    search = pl.StagedSearch(
        ["metric", "tensor_metric"], ["linear"], [1.0], weights=(), objective="aupr", test_share=0.3
    )
    record = search.fit(X, CLASSES).record_
    rung = record["stages"][-1]["rungs"][-1]["results"]
    machines = [each for each in rung if each["kind"] == "machine"]
    assert record["chosen"]["value"] == max(each["value"] for each in machines) == record["chosen"]["score"]
    assert record["objective"]["key"] == "aupr"
    for name, scores in search.test_scores_.items():
        assert record["test"]["values"][name] == AUPR().value(scores)
        assert record["test"]["eer"][name] == EER().value(scores)
        low, high = record["test"]["limits"][name]
        assert low <= record["test"]["values"][name] <= high
    assert "AUPR" in record["validation"]
    pairs = pl.all_pairs(X, reflexive=False)
    assert search.score(pairs, pairs.labels(CLASSES)) == AUPR().scorer()(search, pairs, pairs.labels(CLASSES))


def test_an_unknown_objective_is_refused_at_once_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="eer, auc, aupr"):
        pl.StagedSearch(objective="speed").fit(np.eye(8), np.repeat(np.arange(4), 2))
