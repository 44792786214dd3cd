"""Filters against what their definitions give step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.metrics.filtering import (
    PAUM,
    Filtered,
    NearestNeighbour,
    NearestRelevant,
    Perceptron,
    run_filter,
)

unhurried = settings(deadline=None, max_examples=15)
seeds = st.integers(0, 2**32 - 1)


def stream(seed: int, n: int = 80, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A rare kind of example that differs in two of its numbers."""
    rng = np.random.default_rng(seed)
    X, y = np.abs(rng.normal(size=(n, d))), np.where(rng.random(n) < 0.3, 1, -1)
    y[:2] = 1, -1
    X[y > 0, :2] += 2
    return X / np.linalg.norm(X, axis=1)[:, None], y


@unhurried
@given(seeds)
def test_nearest_relevant_is_the_loop_of_the_paper(seed: int) -> None:
    X, y = stream(seed)
    found = run_filter(NearestRelevant(pl.OnlinePseudoMetric(gamma=0.1)), X, y)
    metric, relevant, wanted = pl.OnlinePseudoMetric(gamma=0.1), [], []
    for x, label in zip(X, y, strict=True):
        prediction = -1
        if relevant:
            nearest = relevant[-1]
            prediction = 1
            if hasattr(metric, "state_"):
                A = metric.mahalanobis_matrix_
                distances = [(x - r) @ A @ (x - r) for r in relevant]
                nearest = relevant[int(np.argmin(distances))]
                prediction = 1 if min(distances) < metric.threshold_ else -1
            metric.learn_one(x, nearest, int(label))
        wanted.append(prediction)
        if label > 0:
            relevant.append(x)
    assert found.predictions.tolist() == wanted


@unhurried
@given(seeds)
def test_nearest_neighbour_looks_at_all_earlier_examples(seed: int) -> None:
    X, y = stream(seed)
    wanted = [-1] + [int(y[np.argmin(np.linalg.norm(X[:k] - X[k], axis=1))]) for k in range(1, len(X))]
    assert run_filter(NearestNeighbour(), X, y).predictions.tolist() == wanted


@unhurried
@given(seeds, st.floats(0, 3), st.floats(0, 3))
def test_perceptrons_are_their_update_rule(seed: int, plus: float, minus: float) -> None:
    X, y = stream(seed)
    w, b, wanted = np.zeros(X.shape[1]), 0.0, []
    for k, (x, label) in enumerate(zip(X, y, strict=True)):
        wanted.append(1 if w @ x + b > 0 else -1)
        if label * (w @ x + b) <= (plus if label > 0 else minus):
            w, b = w + label * x, b + label * np.max(np.sum(X[: k + 1] ** 2, axis=1))
    assert run_filter(PAUM(plus, minus), X, y).predictions.tolist() == wanted
    zero = run_filter(PAUM(0.0, 0.0), X, y).predictions
    assert run_filter(Perceptron(), X, y).predictions.tolist() == zero.tolist()


def test_the_perceptron_ends_without_mistakes_on_separable_examples() -> None:
    X, y = stream(0, n=60)
    X = np.column_stack([X, y])
    learner = Perceptron()
    mistakes = [int(np.sum(run_filter(learner, X, y).predictions != y)) for _ in range(200)]
    assert mistakes[0] > 0
    assert mistakes[-1] == 0


def test_learning_helps_where_one_number_of_many_matters() -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(1500) < 0.2, 1, -1)
    X = rng.normal(size=(1500, 60)) / 8
    X[:, 0] = y / 4 + X[:, 0] / 10
    learnt, plain = (run_filter(each, X, y).balanced_error for each in (NearestRelevant(), NearestNeighbour()))
    assert learnt < 0.5 * plain


def test_sparse_rows_and_a_progress_bar() -> None:
    X, y = stream(2)
    steps: list[int] = []

    def bar(rows: Iterable[int]) -> Iterator[int]:
        for row in rows:
            steps.append(row)
            yield row

    thin = run_filter(NearestRelevant(), sparse.csr_array(X), y, bar)
    assert thin.predictions.tolist() == run_filter(NearestRelevant(), X, y).predictions.tolist()
    assert steps == list(range(len(X)))


def test_balanced_error_is_the_mean_of_both_rates() -> None:
    found = Filtered(np.array([1, 1, -1, -1, -1]), np.array([1, -1, 1, -1, -1]))
    assert found.false_positives == pytest.approx(1 / 3)
    assert found.false_negatives == 0.5
    assert found.balanced_error == pytest.approx(5 / 12)


def test_one_kind_of_label_says_what_is_missing() -> None:
    with pytest.raises(InputError, match="both are needed"):
        run_filter(Perceptron(), np.eye(3), [1, 1, 1])
    with pytest.raises(InputError, match="labels must be"):
        run_filter(Perceptron(), np.eye(3), [1, 2, 1])


def test_examples_are_rows_of_numbers_in_any_table() -> None:
    X, y = stream(1)
    wanted = run_filter(NearestNeighbour(), X, y).predictions.tolist()
    for table in (X.tolist(), polars.DataFrame(X), sparse.csc_array(X), sparse.coo_array(X)):
        assert run_filter(NearestNeighbour(), table, y).predictions.tolist() == wanted
    for table, message in (([[1, 0], [0, np.nan]], "NaN"), (["a", "b"], "rows of numbers"), (None, "2-D array")):
        with pytest.raises(InputError, match=message):
            run_filter(Perceptron(), table, [1, -1])
