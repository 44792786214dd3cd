"""The one definition of rates, gap and objective against derivatives by differences, and compiled twins against it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.loops import plain, rates, smo
from pairlearn.operators.dense import DenseOperator
from pairlearn.operators.thin import Columns
from pairlearn.solvers.box import Box, kkt_gap
from pairlearn.solvers.certificate import certify
from pairlearn.solvers.inner.quadratic import Explicit, Quadratic, ThinForm
from pairlearn.solvers.inner.subproblem import Subproblem
from pairlearn.solvers.problem import Problem


@dataclass(frozen=True)
class World:
    Q: np.ndarray
    p: np.ndarray
    box: Box
    x: np.ndarray

    @property
    def v(self) -> np.ndarray:
        return self.p - self.Q @ self.x

    def value(self, x: np.ndarray) -> float:
        return float(0.5 * x @ self.Q @ x - self.p @ x + self.box.eps * np.abs(x).sum())


def world(seed: int, epsilon: float, n: int = 9) -> World:
    """Coefficients at either bound, at the kink, inside, and without any room."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    lower, upper = -rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, n)
    lower[0], upper[1], lower[2], upper[2] = 0.0, 0.0, 0.0, 0.0
    places = rng.integers(0, 4, n)
    x = np.choose(places, [lower, upper, np.zeros(n), lower + rng.uniform(0.1, 0.9, n) * (upper - lower)])
    return World(A @ A.T, rng.normal(size=n), Box(lower, upper, epsilon), x)


seeds = pytest.mark.parametrize("seed", range(20))
kinks = pytest.mark.parametrize("epsilon", [0.0, 0.3])
both_totals = pytest.mark.parametrize("constrained", [False, True])


@seeds
@kinks
def test_rates_are_one_sided_derivatives(seed: int, epsilon: float) -> None:
    here, h = world(seed, epsilon), 1e-7
    up, low = here.box.rates(here.x, here.v)
    for k in range(len(here.x)):
        unit = h * np.eye(len(here.x))[k]
        gain, loss = (
            (here.value(here.x) - here.value(here.x + unit)) / h,
            (here.value(here.x - unit) - here.value(here.x)) / h,
        )
        assert up[k] == (-np.inf if here.x[k] == here.box.upper[k] else pytest.approx(gain, abs=1e-5))
        assert low[k] == (np.inf if here.x[k] == here.box.lower[k] else pytest.approx(loss, abs=1e-5))


@seeds
@kinks
@both_totals
def test_the_gap_is_the_best_gain_of_any_move(seed: int, epsilon: float, constrained: bool) -> None:
    """Of one coefficient, or of a couple whose sum stays: by trying them all."""
    here, h = world(seed, epsilon), 1e-7
    n, best = len(here.x), 0.0
    units = [h * (np.eye(n)[i] - np.eye(n)[j]) for i in range(n) for j in range(n) if i != j]
    if not constrained:
        units = [sign * h * np.eye(n)[k] for k in range(n) for sign in (1.0, -1.0)]
    for unit in units:
        moved = here.x + unit
        if (moved >= here.box.lower).all() and (moved <= here.box.upper).all():
            best = max(best, (here.value(here.x) - here.value(moved)) / h)
    assert here.box.gap(here.x, here.v, constrained) == pytest.approx(best, abs=1e-5)


@seeds
@kinks
def test_objective_needs_no_product(seed: int, epsilon: float) -> None:
    here = world(seed, epsilon)
    assert here.box.objective(here.x, here.p, here.v) == pytest.approx(here.value(here.x), abs=1e-12)


# --------------------------------------------------------------------------- everything else says the same


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]), st.integers(3, 1500), st.booleans())
def test_compiled_twins_agree(seed: int, epsilon: float, n: int, constrained: bool) -> None:
    """Over one and over several chunks, exactly; the gap of either SMO before its first step, too."""
    rng = np.random.default_rng(seed)
    here = world(seed, epsilon, n)
    box, x, v = here.box, here.x, rng.normal(size=n)
    up, low = box.rates(x, v)
    assert box.extremes(x, v) == (up.max(), low.min())
    keys = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
    rates.fill_keys(x, box.lower, box.upper, v, epsilon, *keys)
    np.testing.assert_array_equal(keys, (up.astype(np.float32), -low.astype(np.float32)))
    for found, expected in zip(plain.set_up(v, x, box.lower, box.upper, epsilon)[:2], (up, low), strict=True):
        np.testing.assert_array_equal(found, expected)
    burst = smo.smo_pairs if constrained else smo.smo_single
    steps, gap = burst(here.Q, v.copy(), x.copy(), box.lower, box.upper, epsilon, 0.0, 0)
    assert (steps, gap) == (0, box.gap(x, v, constrained))


@kinks
@both_totals
@pytest.mark.parametrize("steps", [1, 7, 1000])
def test_bursts_of_smo_return_the_gap_where_they_end(steps: int, epsilon: float, constrained: bool) -> None:
    here = world(3, epsilon)
    x, v = here.x.copy(), here.v.copy()
    burst = smo.smo_pairs if constrained else smo.smo_single
    _, gap = burst(here.Q, v, x, here.box.lower, here.box.upper, epsilon, 1e-9, steps)
    movable = here.box.lower < here.box.upper
    np.testing.assert_allclose(v[movable], (here.p - here.Q @ x)[movable], atol=1e-12)
    assert gap == pytest.approx(here.box.gap(x, here.p - here.Q @ x, constrained), abs=1e-12)
    assert here.value(x) < here.value(here.x)
    assert (gap <= 1e-9) == (steps == 1000)


@seeds
@kinks
@both_totals
def test_subproblem_and_certificate_say_the_same(seed: int, epsilon: float, constrained: bool) -> None:
    """Whatever holds Q, and in blocks of any size."""
    here = world(seed, epsilon)
    L = np.linalg.cholesky(here.Q)
    for Q in (Explicit(here.Q, np.arange(9)), ThinForm(Columns(L))):
        sub: Subproblem[Quadratic] = Subproblem(Q, here.x, here.v, here.box, constrained)
        assert sub.gap == here.box.gap(here.x, here.v, constrained)
        assert sub.objective == pytest.approx(here.value(here.x), abs=1e-10)
        np.testing.assert_array_equal(sub.rates, here.box.rates(here.x, here.v))
    problem = Problem(here.p, here.box.lower, here.box.upper, epsilon, 0.0 if constrained else None)
    for size in (1, 4, 9):
        found = certify(problem, InBlocks(here.Q, size), here.x)
        assert kkt_gap(found.up, found.low, constrained) == pytest.approx(sub.gap, abs=1e-12)
        assert found.objective == pytest.approx(sub.objective, abs=1e-10)


class InBlocks(DenseOperator):
    """The product in pieces of this size."""

    def __init__(self, matrix: np.ndarray, size: int) -> None:
        super().__init__(matrix)
        self.size = size

    def blocks(self, coefficients):  # type: ignore[no-untyped-def]
        product = self.matrix @ coefficients
        for start in range(0, len(product), self.size):
            yield start, product[start : start + self.size]
