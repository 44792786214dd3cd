"""Bursts of SMO: putting coefficients aside changes what a step costs, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn import loops
from pairlearn.solvers.box import Box
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.inner import burst
from pairlearn.solvers.inner.burst import Burst, _in_play
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.solvers.inner.subproblem import Outcome, Subproblem, Working


def subproblem(n: int, C: float, eps: float, seed: int, *, constrained: bool) -> Working:
    """Two classes, or numbers where the loss has a kink, of four features and some noise of each pair's own."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    y = np.where(Z[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    lower, upper = (np.full(n, -C), np.full(n, C)) if eps else (np.minimum(C * y, 0.0), np.maximum(C * y, 0.0))
    Q = Explicit(Z @ Z.T + 0.1 * np.eye(n), np.arange(n))
    return Subproblem(Q, np.zeros(n), y.copy(), Box(lower, upper, eps), constrained)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(20, 120),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    eps=st.sampled_from([0.0, 0.2]),
    constrained=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_putting_aside_ends_at_the_same_optimum(n: int, C: float, eps: float, constrained: bool, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(burst, "LEAST", 10)
        patch.setattr(burst, "ROUND", 2)
        plain, some = (subproblem(n, C, eps, seed, constrained=constrained) for _ in range(2))
        ends = [
            Burst(20_000, aside=aside).run(sub, 1e-6, Clock.start()) for sub, aside in ((plain, False), (some, True))
        ]
    assert ends == [Outcome.SOLVED, Outcome.SOLVED]
    assert some.gap <= 1e-6 * (1 + 1e-6)
    assert some.objective == pytest.approx(plain.objective, rel=1e-6, abs=1e-9)
    theta, box = some.theta, some.box
    assert (theta >= box.lower).all()
    assert (theta <= box.upper).all()
    np.testing.assert_allclose(
        some.v, subproblem(n, C, eps, seed, constrained=constrained).v - some.Q.view @ theta, atol=1e-8
    )
    if constrained:
        assert abs(theta.sum()) <= 1e-9 * max(1.0, np.abs(theta).sum())


def test_who_is_put_aside_is_chosen_by_no_step() -> None:
    """At a bound, and with no partner that a step would move it against."""
    sub = subproblem(200, 0.05, 0.0, 3, constrained=True)
    Burst(50).run(sub, 1e-3, Clock.start())
    chosen = _in_play(sub)
    assert chosen is not None
    aside = np.setdiff1d(np.arange(200), chosen)
    assert len(aside) >= 80
    assert sub.box.bounded(sub.theta)[aside].sum() + (sub.theta[aside] == 0).sum() == len(aside)
    up, low = sub.rates
    assert (up[aside] <= low.min()).all()
    assert (low[aside] >= up.max()).all()


def test_a_burst_puts_nobody_aside_unless_told_to_and_notes_the_memory_it_takes() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(burst, "LEAST", 10)
        patch.setattr(burst, "ROUND", 1)
        for aside in (False, True):
            sub = subproblem(200, 1.0, 0.0, 3, constrained=True)
            Burst(1000, aside=aside).run(sub, 1e-9, Clock.start())
            assert (sub.Q.searched > 0) == aside


@pytest.mark.parametrize(("constrained", "aside"), [(True, False), (True, True), (False, False)])
def test_the_clock_is_looked_at_within_a_round(constrained: bool, aside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of 10,000 pairs went on for seconds after the end. What was reached by then is feasible, and known."""
    monkeypatch.setattr(burst, "BETWEEN_LOOKS", 200 * 5)
    monkeypatch.setattr(burst, "LEAST", 10)
    looks: list[bool] = []
    monkeypatch.setattr(Clock, "expired", property(lambda self: looks.append(True) or len(looks) >= 3))
    sub = subproblem(200, 1.0, 0.2, 3, constrained=constrained)
    assert Burst(50, aside=aside).run(sub, 1e-9, Clock.start(1e9)) is Outcome.OUT_OF_TIME
    assert 3 <= len(looks) <= 4
    assert 0 < np.count_nonzero(sub.theta) <= 2 * 3 * 5
    fresh = subproblem(200, 1.0, 0.2, 3, constrained=constrained)
    np.testing.assert_allclose(sub.v, fresh.v - sub.Q.view @ sub.theta, atol=1e-9)


@pytest.mark.parametrize(("budget", "most"), [(None, 5e8), (1e9, 5e7)])
def test_between_two_looks_few_rates_are_moved(
    budget: float | None, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, zero, moved = 10_000, np.zeros(10_000), []

    def move(*given: Any) -> tuple[int, float]:
        moved.append(n * given[-1])
        return 0, 0.0

    monkeypatch.setattr(loops.smo, "smo_pairs", move)
    sub = Subproblem(Explicit(np.zeros((1, 1)), np.arange(n)), zero, zero, Box(zero, zero + 1, 0.0), True)
    assert Burst(1000).run(sub, 1e-9, Clock.start(budget)) is Outcome.SOLVED
    assert moved == [most]
