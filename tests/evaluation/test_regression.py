from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import pairlearn as pl
from pairlearn.errors import InputError


def brute_force(y: list[int], p: list[int]) -> float:
    couples = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] < y[j]]
    return sum((p[i] < p[j]) + 0.5 * (p[i] == p[j]) for i, j in couples) / len(couples)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_equals_the_count_over_all_couples(rows: list[tuple[int, int]]) -> None:
    y, p = [row[0] for row in rows], [row[1] for row in rows]
    if len(set(y)) > 1:
        assert pl.evaluation.concordance_index(y, p) == pytest.approx(brute_force(y, p))


def test_equals_the_area_under_the_roc_for_two_classes() -> None:
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 500), rng.normal(size=500).round(1)
    assert pl.evaluation.concordance_index(y, p) == pytest.approx(roc_auc_score(y, p))


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([1.0, 1.0], [0.0, 1.0], "all true values are equal"),
        ([1.0, 2.0], [0.0], "equal length"),
        ([1.0, np.nan], [0.0, 1.0], "NaN"),
    ],
)
def test_bad_input(y: list[float], p: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.evaluation.concordance_index(y, p)
