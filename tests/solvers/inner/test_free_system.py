"""Corrected factors against dense solutions, over changing sets and changing working sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.linalg.cholesky import forward
from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.free_system import FreeSystem
from pairlearn.solvers.inner.pivoting import Pivoting
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem
from pairlearn.solvers.tuning import TUNING

RIDGE = 1e-10
SMALL_COUNT = replace(TUNING, factored_anew=0, pivots=60)
"""Small systems are corrected like large ones."""


def world(seed: int, n: int = 120) -> tuple[np.ndarray, np.random.Generator]:
    """A positive definite matrix between n pairs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n + 10))
    return X @ X.T / n, rng


def dense(Q: np.ndarray, free: np.ndarray, right: np.ndarray) -> np.ndarray:
    index = np.nonzero(free)[0]
    out = np.zeros_like(right)
    out[index] = np.linalg.solve(Q[np.ix_(index, index)] + RIDGE * np.eye(len(index)), right[index])
    return out


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), min_size=3, max_size=8))
def test_equals_the_dense_solution_while_sets_and_slots_change(seed: int, changes: list[int]) -> None:
    K, rng = world(seed)
    system, members = FreeSystem(SMALL_COUNT), rng.permutation(120)[:80]  # numbers of the pairs in the working set
    free = rng.random(80) < 0.8
    corrected = []
    for count in changes:
        # Free ones leave, others join, pairs of the working set are replaced in their slots, slots are shuffled.
        flips = rng.integers(0, 80, count)
        free[flips] = ~free[flips]
        outside = np.setdiff1d(np.arange(120), members)
        slots = rng.permutation(80)[:count]
        members[slots] = rng.permutation(outside)[:count]
        order = rng.permutation(80)
        members, free = members[order], free[order]
        Q, right = np.zeros((90, 96)), rng.normal(size=(80, 2))  # a store has room to spare
        Q[:80, :80] = K[np.ix_(members, members)]
        found = system.solve(Explicit(Q, members.copy()), free, np.asfortranarray(right), RIDGE)
        np.testing.assert_allclose(found, dense(Q[:80, :80], free, right), atol=1e-7)
        corrected.append(system.corrected)
    assert not corrected[0]


def test_few_changes_need_no_new_factor_and_many_do() -> None:
    Q, _ = world(0)
    system, matrix, free = FreeSystem(SMALL_COUNT), Explicit(Q, np.arange(120)), np.arange(120) < 100
    right = np.ones((120, 1))
    system.solve(matrix, free, right, RIDGE)
    factor = system.L
    free[[3, 50, 110]] = False, False, True
    system.solve(matrix, free, right, RIDGE)
    assert system.corrected
    assert system.L is factor
    free[:60] = False
    system.solve(matrix, free, right, RIDGE)
    assert not system.corrected
    assert len(system.L) == free.sum()


def test_an_indefinite_matrix_has_no_solution_and_leaves_no_factor() -> None:
    system = FreeSystem(SMALL_COUNT)
    assert system.solve(Explicit(-np.eye(5), np.arange(5)), np.ones(5, bool), np.ones((5, 1)), 0.0) is None
    assert len(system.members) == 0


@pytest.mark.parametrize("panel", [1, 7, 16, 64])
def test_forward_substitution_by_panels(panel: int) -> None:
    rng = np.random.default_rng(0)
    L = np.asfortranarray(np.tril(rng.normal(size=(50, 50))) + 8 * np.eye(50))
    right = rng.normal(size=(50, 3))
    np.testing.assert_allclose(forward(L, right, panel), np.linalg.solve(L, right), atol=1e-12)


class Unreliable(FreeSystem):
    """Corrected solutions are far off, as from a factor that is nearly singular."""

    corrections = 0

    def solve(self, *args: Any) -> Any:
        found = super().solve(*args)
        self.corrections += self.corrected
        return found * 1e6 if self.corrected else found


@pytest.mark.parametrize("constrained", [False, True])
def test_pivoting_undoes_corrections_that_are_off(constrained: bool) -> None:
    Q, rng = world(5, 200)
    p = rng.normal(size=200)
    found = []
    for system in (FreeSystem(SMALL_COUNT), Unreliable(SMALL_COUNT)):
        theta, matrix = np.full(200, 0.5), Explicit(Q, np.arange(200))
        v = p - Q @ theta
        sub = Subproblem(matrix, theta, v, Box(np.zeros(200), np.full(200, 10.0), 0.0), constrained)
        assert Pivoting(system, 1e-6, SMALL_COUNT).run(sub, 1e-6, Clock.start()) is Outcome.SOLVED
        np.testing.assert_allclose(v, p - Q @ theta, atol=1e-10)
        found.append(theta)
    assert isinstance(system, Unreliable)
    assert system.corrections > 0
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
