"""Block principal pivoting against the same problem in other units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner.free_system import FreeSystem
from pairlearn.solvers.inner.pivoting import Pivoting
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem
from pairlearn.solvers.tuning import TUNING

N = 150


def solved(scale: float, *, constrained: bool, epsilon: float) -> np.ndarray:
    """θ·scale for the matrix Q·scale under a box that no coefficient meets from above."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(N, N))
    Q, p = scale * (A @ A.T / N + 0.1 * np.eye(N)), rng.normal(size=N)
    theta = np.full(N, 0.5 / scale)
    v = p - Q @ theta
    box = Box(np.zeros(N), np.full(N, 1000.0), epsilon)
    sub = Subproblem(Explicit(Q, np.arange(N)), theta, v, box, constrained)
    method = Pivoting(FreeSystem(), 1e-6, replace(TUNING, pivots=60))
    assert method.run(sub, 1e-6, Clock.start()) is Outcome.SOLVED
    assert box.gap(theta, p - Q @ theta, constrained) <= 1e-6
    np.testing.assert_allclose(v, p - Q @ theta, atol=1e-9)
    return theta * scale


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("scale", [1e6, 1e13])
def test_coefficients_may_be_far_smaller_than_the_box(scale: float, constrained: bool, epsilon: float) -> None:
    """Hard margins: values of n⁴ under C = 1000 make all of them so."""
    theta = solved(scale, constrained=constrained, epsilon=epsilon)
    np.testing.assert_allclose(theta, solved(1.0, constrained=constrained, epsilon=epsilon), atol=1e-6)
