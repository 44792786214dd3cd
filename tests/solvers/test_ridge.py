"""Least squares on pairs: conjugate gradients and closed forms against dense equations and brute-force refits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.operators.dense import DenseOperator
from pairlearn.operators.sandwich import Sandwich
from pairlearn.solvers import Progress
from pairlearn.solvers.ridge import ConjugateGradients, Grid, Setting, System, fills, preconditioners
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis

rng = np.random.default_rng(0)


def solved(K: np.ndarray, y: np.ndarray, ridge: np.ndarray, biased: bool) -> tuple[np.ndarray, float]:
    """θ and b of the equations, by elimination."""
    n = len(y)
    if not biased:
        return np.linalg.solve(K + np.diag(ridge), y), 0.0
    M = np.ones((n + 1, n + 1))
    M[:n, :n], M[n, n] = K + np.diag(ridge), 0.0
    found = np.linalg.solve(M, np.append(y, 0.0))
    return found[:n], float(found[n])


def made(n: int, rank: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    Z = random.normal(size=(n, rank))
    return Z @ Z.T, random.normal(size=n) + 2.0, 0.1 + random.random(n)


@pytest.mark.parametrize("biased", [True, False])
def test_few_pairs_are_factored(biased: bool) -> None:
    K, y, ridge = made(60, 50)
    found = ConjugateGradients(1e-10).solve(System(y, ridge, biased=biased), DenseOperator(K))
    theta, bias = solved(K, y, ridge, biased)
    np.testing.assert_allclose(found.coefficients, theta, atol=1e-8)
    assert (found.path, found.bias) == ("factor", pytest.approx(bias, abs=1e-8))
    assert len(found.history) <= 3
    little = ConjugateGradients(1e-10, memory=8 * 60**2).solve(System(y, ridge, biased=biased), DenseOperator(K))
    assert little.path == "conjugate gradients"
    np.testing.assert_allclose(little.coefficients, theta, atol=1e-6)


def test_what_rounding_makes_indefinite_is_not_factored() -> None:
    K, y, ridge = made(30, 3)
    found = ConjugateGradients(max_steps=3).solve(
        System(y, 1e-30 * ridge, biased=False), DenseOperator(K - 1e-6 * np.eye(30))
    )
    assert found.path == "conjugate gradients"


# --------------------------------------------------------------------------- conjugate gradients


@pytest.fixture
def by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with many pairs."""
    monkeypatch.setattr(preconditioners, "FACTORED", 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 50), st.booleans(), st.integers(0, 10**6))
def test_conjugate_gradients_solve_the_equations(n: int, rank: int, biased: bool, seed: int) -> None:
    K, y, ridge = made(n, rank, seed)
    found = ConjugateGradients(tol=1e-9).solve(System(y, ridge, biased), DenseOperator(K))
    theta, bias = solved(K, y, ridge, biased)
    assert found.status == "converged"
    assert found.gap <= 1e-9
    np.testing.assert_allclose(found.coefficients, theta, atol=1e-6)
    assert found.bias == pytest.approx(bias, abs=1e-6)
    objective = 0.5 * theta @ (K + np.diag(ridge)) @ theta - y @ theta
    assert found.objective == pytest.approx(objective, abs=1e-6 * (1.0 + abs(objective)))


@pytest.mark.usefixtures("by_steps")
def test_a_start_at_the_solution_is_the_end() -> None:
    K, y, ridge = made(30, 10)
    system, operator = System(y, ridge, True), DenseOperator(K)
    first = ConjugateGradients(tol=1e-6).solve(system, operator)
    again = ConjugateGradients(tol=1e-6).solve(system, operator, first.coefficients)
    assert len(first.history) > 3
    assert len(again.history) <= 2
    assert again.status == "converged"


@pytest.mark.usefixtures("by_steps")
@pytest.mark.parametrize("biased", [True, False])
def test_every_iterate_keeps_the_sum_and_tells_its_true_gap(biased: bool) -> None:
    K, y, ridge = made(30, 20)
    system, operator, lines = System(y, ridge, biased), DenseOperator(K), []

    def stop_after(steps: int) -> Any:
        lines.clear()
        return lambda line: lines.append(line) or len(lines) > steps

    for steps in (1, 3, 6):
        found = ConjugateGradients(tol=1e-12).solve(system, operator, callback=stop_after(steps))
        assert found.status == "interrupted"
        assert isinstance(lines[-1], Progress)
        residual = y - (K + np.diag(ridge)) @ found.coefficients
        gap = np.ptp(residual) if biased else np.abs(residual).max()
        assert found.gap == pytest.approx(gap)
        assert lines[-1].gap == pytest.approx(gap, rel=1e-6)
        assert found.bias == pytest.approx(residual.mean() if biased else 0.0)
        if biased:
            assert abs(found.coefficients.sum()) < 1e-12 * np.abs(found.coefficients).sum()


@pytest.mark.usefixtures("by_steps")
def test_stops_are_told_apart() -> None:
    K, y, ridge = made(40, 40)
    system = System(y, 1e-6 * ridge, True)
    assert ConjugateGradients(time_budget=0.0).solve(system, DenseOperator(K)).status == "time budget"
    assert ConjugateGradients(max_steps=2).solve(system, DenseOperator(K)).status == "iteration limit"
    assert ConjugateGradients(tol=1e-30).solve(system, DenseOperator(K)).status == "rounding"
    indefinite = K - 100.0 * np.eye(40)
    assert ConjugateGradients().solve(System(y, 1.0 + np.arange(40.0), False), DenseOperator(indefinite)).status in (
        "no progress",
        "rounding",
    )


@pytest.mark.usefixtures("by_steps")
def test_a_keyboard_interrupt_keeps_what_was_found() -> None:
    K, y, ridge = made(40, 40)

    class Interrupted(DenseOperator):
        left = 4

        def blocks(self, coefficients: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return super().blocks(coefficients)

    found = ConjugateGradients(tol=1e-12).solve(System(y, ridge, True), Interrupted(K))
    assert found.status == "interrupted"
    assert found.coefficients.any()
    assert found.gap < np.ptp(y)


# --------------------------------------------------------------------------- complete grids

SIZES = [(5, 4), (3, 6), (2, 2), (6, 6)]


def grid_of(m: int, k: int, ranks: tuple[int, int] = (3, 8)) -> tuple[Grid, np.ndarray, np.ndarray]:
    """A grid whose pairs come in a mixed order, the matrix of its kernel and the targets, row by row."""
    A, B = rng.normal(size=(m, ranks[0])), rng.normal(size=(k, ranks[1]))
    L, R, y = A @ A.T, B @ B.T, rng.normal(size=m * k) + 3.0
    a, b = np.divmod(np.arange(m * k), k)
    order = rng.permutation(m * k)
    grid = Grid.of(Eigenbasis.of(Sandwich(L, R, a[order], b[order], 0, 0.5)), y[order])
    return grid, 0.5 * L[np.ix_(a, a)] * R[np.ix_(b, b)], y


def refitted(K: np.ndarray, y: np.ndarray, shape: tuple[int, int], alpha: float, unseen: Setting) -> np.ndarray:
    """The answer of every pair by a fit without what is unseen, one fit each."""
    a, b = np.divmod(np.arange(len(y)), shape[1])
    answers = np.empty(shape)
    for i, j in product(*map(range, shape)):
        out = {"pair": (a == i) & (b == j), "left": a == i, "right": b == j, "both": (a == i) | (b == j)}[unseen]
        theta, bias = solved(K[np.ix_(~out, ~out)], y[~out], np.full((~out).sum(), alpha), biased=True)
        answers[i, j] = K[i * shape[1] + j, ~out] @ theta + bias
    return answers


@pytest.mark.parametrize("unseen", ["pair", "left", "right", "both"])
@pytest.mark.parametrize("alpha", [0.01, 0.7, 50.0])
@pytest.mark.parametrize("shape", SIZES)
def test_leaving_out_equals_fitting_without(shape: tuple[int, int], alpha: float, unseen: Setting) -> None:
    grid, K, y = grid_of(*shape)
    expected = refitted(K, y, shape, alpha, unseen)
    np.testing.assert_allclose(grid.left_out(alpha, unseen), expected, rtol=1e-8, atol=1e-8)
    error = np.sqrt(np.mean((expected.ravel() - y) ** 2))
    np.testing.assert_allclose(grid.errors([alpha, 2.0], unseen)[0], error, rtol=1e-8)


def test_one_decomposition_serves_a_path_of_alphas() -> None:
    grid, _, _ = grid_of(5, 7)
    alphas = [0.1, 1.0, 10.0]
    for unseen in ("pair", "left", "right", "both"):
        one_by_one = [grid.errors([alpha], unseen)[0] for alpha in alphas]
        np.testing.assert_allclose(grid.errors(alphas, unseen), one_by_one, rtol=1e-12)


def test_only_complete_grids_are_filled() -> None:
    a, b = np.divmod(np.arange(6), 3)
    L, R = np.eye(2), np.eye(3)
    assert fills(Sandwich(L, R, a, b, 0, 1.0))
    assert not fills(None)
    assert not fills(Sandwich(L, R, a[1:], b[1:], 0, 1.0))
    assert not fills(Sandwich(L, R, a, np.where(b == 2, 1, b), 0, 1.0))
    assert not fills(Sandwich(R, R, a, b, 1, 1.0))
