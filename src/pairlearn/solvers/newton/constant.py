"""Where the best function is a constant: coefficients that prove it.

With all pairs of the rarer side at their bounds, those of the other side at shares t of theirs, and no feature that
tells the two apart,

    Σ_other w_i t_i (1, z_i) = Σ_rarer w_k (1, z_k),    0 ≤ t ≤ 1,    w = |bound|,

the function Σ θ z is 0 and no pair gains by a move. Classes that overlap in few features often have such shares. Those
nearest to 0 are t = clip(c₀ + ⟨c, z⟩): Newton's method finds c, the minimum of a convex function, in some eight steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pairlearn.operators.thin import AnyThin
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.problem import Problem
from pairlearn.types import Floats

STEPS, LENGTHS = 30, (1.0, 0.5, 0.25, 0.1, 0.01)
"""Most steps, and lengths of one of them: the first that gains is taken."""
ROUNDING = 1e-12
"""By which a value may rise, relative to Σ_rarer w."""
EXACT = 1e-11
"""How far off moments may be, relative to the sums of their terms."""
RIDGE = 1e-12
"""Of the scaled equations, whose features may depend on each other."""


@dataclass(frozen=True)
class Proof:
    """Coefficients θ of a constant function that are optimal, (n,), and c of their shares, (r + 1,)."""

    theta: Floats
    c: Floats


def constant(problem: Problem, form: AnyThin, clock: Clock, c: Floats | None = None) -> Proof | None:
    """The proof that a constant is optimal for two classes with a bias; None without any.

    A subset of the pairs has nearly the same c, from which all of them are a few steps away.

    >>> from pairlearn.operators.thin import Columns
    >>> y = np.array([1.0, -1.0, -1.0, -1.0])
    >>> problem = Problem(y, np.minimum(y, 0.0), np.maximum(y, 0.0), total=0.0)
    >>> proof = constant(problem, Columns(np.array([[1.0], [0.0], [1.0], [2.0]])), Clock.start())
    >>> [round(float(one), 3) for one in proof.theta]
    [1.0, -0.333, -0.333, -0.333]
    """
    w = np.where(problem.linear > 0, problem.upper, -problem.lower)
    one_sided = (problem.lower <= 0) & (problem.upper >= 0) & ((problem.lower == 0) | (problem.upper == 0))
    if problem.total != 0 or problem.epsilon or not one_sided.all() or (w < 0).any():
        return None
    side = problem.linear > 0
    rarer = side if w[side].sum() <= w[~side].sum() else ~side
    if w[rarer].sum() >= (1.0 - EXACT) * w[~rarer].sum():
        return None
    found = Moments.of(form, np.where(rarer, w, 0.0), np.where(rarer, 0.0, w)).matched(clock, c)
    if found is None:
        return None
    shares, c = found
    theta = np.where(rarer, 1.0, shares) * np.where(side, problem.upper, problem.lower)
    return Proof(np.clip(theta, problem.lower, problem.upper), c)


@dataclass(frozen=True)
class Moments:
    """Sums of (1, z) over pairs with the weights w, which shares of them are to have: `wanted`, (r + 1,)."""

    form: AnyThin
    w: Floats
    wanted: Floats
    unit: Floats
    """Of each sum: that of its terms, so that all are judged alike."""

    @classmethod
    def of(cls, form: AnyThin, theirs: Floats, w: Floats) -> Moments:
        """Those of `theirs`, by shares of w."""
        wanted = _bordered(form, theirs)
        squares = np.diag(form.weighted(theirs + w))
        unit = np.sqrt(np.concatenate([[(theirs + w).sum()], squares]) * theirs.sum())
        return cls(form, w, wanted, np.where(unit > 0, unit, 1.0))

    def matched(self, clock: Clock, c: Floats | None = None) -> tuple[Floats, Floats] | None:
        """Shares, (n,), and their c, or None; where they exist no c has a value below −½ Σ_rarer w."""
        if c is None:
            c = np.zeros(len(self.wanted))
            c[0] = self.wanted[0] / self.w.sum()
        u = c[0] + self.form.spread(c[1:])
        value = self.value(c, u)
        for _ in range(STEPS):
            t = np.clip(u, 0.0, 1.0)
            off = _bordered(self.form, self.w * t) - self.wanted
            if np.abs(off / self.unit).max() <= EXACT:
                return t, c
            step = self._step(t, off)
            if step is None or clock.expired or value < -0.5 * self.wanted[0]:
                return None
            du = step[0] + self.form.spread(step[1:])
            tried = ((length, self.value(c + length * step, u + length * du)) for length in LENGTHS)
            least = value + ROUNDING * self.wanted[0]
            length, value = next((one for one in tried if one[1] <= least), (0.0, -np.inf))
            c, u = c + length * step, u + length * du
        return None

    def value(self, c: Floats, u: Floats) -> float:
        """Σ w h(u) − ⟨c, wanted⟩, h' = clip, u = c₀ + ⟨c, z⟩: convex in c, and least where moments are matched."""
        t = np.clip(u, 0.0, 1.0)
        return float(self.w @ (t * (u - 0.5 * t)) - c @ self.wanted)

    def _step(self, t: Floats, off: Floats) -> Floats | None:
        """Newton's, where moments are too large by `off`: those of pairs inside their shares, which alone move."""
        d = np.where((t > 0) & (t < 1), self.w, 0.0)
        if not d.any():
            return None
        first = _bordered(self.form, d)
        J = np.empty((len(off), len(off)))
        J[0], J[1:, 0], J[1:, 1:] = first, first[1:], self.form.weighted(d)
        scale = np.sqrt(np.where(np.diag(J) > 0, np.diag(J), 1.0))
        J /= np.outer(scale, scale)
        J[np.diag_indices(len(off))] += RIDGE
        try:
            found: Floats = cho_solve(cho_factor(J, check_finite=False), -off / scale, check_finite=False) / scale
        except LinAlgError:
            return None
        return found if np.isfinite(found).all() else None


def _bordered(form: AnyThin, x: Floats) -> Floats:
    """Σ x (1, z), (r + 1,)."""
    return np.concatenate([[x.sum()], form.gathered(x)])
