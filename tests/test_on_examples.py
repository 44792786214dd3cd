"""Transformers of examples in pipelines of pairs: lifted, or refused with a hint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.errors import InputError

rng = np.random.default_rng(3)
X = rng.normal(size=(30, 4)) * [1.0, 10.0, 0.1, 5.0] + 7.0
PAIRS = pl.Pairs(X, *rng.integers(0, 20, (2, 60)))
Y = np.where((PAIRS.left + PAIRS.right) % 2, 1, -1)


@pytest.mark.parametrize("step", [StandardScaler(), PCA(2)], ids=["scaler", "pca"])
@pytest.mark.parametrize("model", [pl.PairSVC(), pl.EuclidBaseline()], ids=["machine", "baseline"])
def test_a_transformer_that_is_not_lifted_is_refused_with_a_hint(step: Any, model: Any) -> None:
    with pytest.raises(InputError, match=r"wrap it: make_pipeline\(pl\.OnExamples\(StandardScaler\(\)\)"):
        make_pipeline(step, model).fit(PAIRS, Y)


def test_pairs_stay_arrays_for_everyone_else() -> None:
    assert np.asarray(PAIRS).shape == (60, 2, 4)
    np.testing.assert_array_equal(np.asarray(PAIRS)[:, 1], X[PAIRS.right])


def test_a_lifted_transformer_learns_from_the_examples_in_use_each_once() -> None:
    pairs = pl.OnExamples(StandardScaler()).fit(PAIRS).transform(PAIRS)
    used = np.unique(PAIRS.columns)
    assert used.max() < 20
    np.testing.assert_allclose(pairs.examples, (X - X[used].mean(axis=0)) / X[used].std(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(pairs.left, PAIRS.left)


def test_two_tables_are_refused() -> None:
    with pytest.raises(InputError, match="transform the two tables beforehand"):
        pl.OnExamples(StandardScaler()).fit(pl.Pairs(X, [0], [1], right_examples=X))


def test_what_a_transformer_refuses_is_an_error_of_the_input() -> None:
    steps = make_pipeline(StandardScaler(), StandardScaler())
    lifted = pl.OnExamples(steps).fit(pl.Pairs(np.array([[0.0], [1e-3]]), [0], [1]))
    with np.errstate(over="ignore"), pytest.raises(InputError, match="infinity"):
        lifted.transform(pl.Pairs(np.array([[0.0], [1e307]]), [0], [1]))
    with pytest.raises(InputError, match="2 features"):
        lifted.transform(pl.Pairs(np.zeros((2, 2)), [0], [1]))
