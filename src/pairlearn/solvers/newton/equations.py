"""The equations of one Newton step, by conjugate gradients that a sample of the pairs on their ramps leads.

A step (u, β) of the function and of the bias solves

    u + Σ D_i (⟨u, z_i⟩ + β) z_i = g,    Σ D_i (⟨u, z_i⟩ + β) = excess,

over the pairs on their ramps, D their slopes. Solved by the features or kernel values of a sample alone it leaves about
a third of the distance, or worse than nothing where the sample is smaller than what the function is free in. As a
preconditioner the same sample leads to within a few percent in five or six products over all that is looked at.

No vector has features: u = γ g + Σ x_i z_i is told by γ, x and its values on the pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pairlearn.linalg.cholesky import cholesky
from pairlearn.operators.base import PairOperator
from pairlearn.solvers.clock import Clock
from pairlearn.types import Floats, Ints

Solve = Callable[[Floats], Floats]
STEPS = 20
"""Most conjugate gradients of one step."""
ENOUGH = 0.05
"""Share of all that they have gained below which the last of them is the last."""
WHOLE = 1.5
"""Samples up to which all pairs are taken instead: the equations are solved at once then."""


@dataclass(frozen=True)
class Vector:
    """u = γ g + Σ x_i z_i, a bias beside it, and the values ⟨u, z_i⟩ on the pairs that are looked at."""

    along: float
    x: Floats
    bias: float
    values: Floats

    def plus(self, t: float, other: Vector) -> Vector:
        """u + t·other."""
        return Vector(
            self.along + t * other.along,
            self.x + t * other.x,
            self.bias + t * other.bias,
            self.values + t * other.values,
        )


@dataclass(frozen=True)
class Equations:
    """Those of the pairs that are looked at: their operator, slopes, values of g, and ⟨g, g⟩; with a bias or not."""

    operator: PairOperator
    slopes: Floats
    moved: Floats
    square: float
    biased: bool

    def dot(self, u: Vector, other: Vector) -> float:
        """⟨u, other⟩ and the product of their biases."""
        crossed = u.along * float(self.moved @ other.x) + other.along * float(self.moved @ u.x)
        own = float(u.x @ (other.values - other.along * self.moved))
        return u.along * other.along * self.square + crossed + own + u.bias * other.bias

    def times(self, u: Vector) -> Vector:
        """The left side of the equations."""
        pull = self.slopes * (u.values + u.bias)
        bias = float(pull.sum()) if self.biased else 0.0
        return Vector(u.along, u.x + pull, bias, u.values + self.operator @ pull)

    def solved(self, excess: float, lead: Lead, clock: Clock) -> Vector:
        """The step, from zero; γ, x and the bias of it."""
        n = len(self.slopes)
        found, rest = Vector(0.0, np.zeros(n), 0.0, np.zeros(n)), Vector(1.0, np.zeros(n), excess, self.moved)
        direction = led = lead.applied(rest, self)
        if len(lead.few) == n:
            return led
        power, gained = self.dot(rest, led), 0.0
        for _ in range(STEPS):
            product = self.times(direction)
            curvature = self.dot(direction, product)
            if not 0 < curvature < np.inf or not power > 0:
                break
            length = power / curvature
            found = found.plus(length, direction)
            gained += length * power
            if length * power <= ENOUGH * gained or clock.expired:
                break
            rest = rest.plus(-length, product)
            led = lead.applied(rest, self)
            before, power = power, self.dot(rest, led)
            direction = led.plus(power / before, direction)
        return found if gained else led


@dataclass(frozen=True)
class Lead:
    """The inverse of the equations of a sample, `few` among the pairs that are looked at, each standing for several."""

    few: Ints
    inverse: Solve
    unit: Floats
    """(D⁻¹ + K)⁻¹ 1 of the sample."""

    @classmethod
    def of(cls, equations: Equations, few: Ints, look: Callable[[], None] | None, *, by_features: bool) -> Lead:
        """By features of the sample where a pair has few of them, else by its kernel values; `look` may raise."""
        D, operator = equations.slopes[few] * (len(equations.slopes) / len(few)), equations.operator
        inverse = _by_features(operator, few, D) if by_features else _by_values(operator, few, D, look)
        return cls(few, inverse, inverse(np.ones(len(few))))

    def applied(self, r: Vector, equations: Equations) -> Vector:
        """u with u + Σ D_i (⟨u, z_i⟩ + β) z_i = r and ΣD_i (⟨u, z_i⟩ + β) = the bias of r, over the sample."""
        e, bias = self.inverse(r.values[self.few]), 0.0
        if equations.biased:
            bias = (r.bias - float(e.sum())) / float(self.unit.sum())
            e = e + bias * self.unit
        x = np.zeros(len(r.x))
        x[self.few] = e
        return Vector(r.along, r.x - x, bias, r.values - equations.operator @ x)


def _by_features(operator: PairOperator, few: Ints, D: Floats) -> Solve:
    """x ↦ (D⁻¹ + ZZᵀ)⁻¹ x = D(x − Z (I + ZᵀDZ)⁻¹ ZᵀD x)."""
    thin = operator.restricted(few).thin()
    assert thin is not None
    system = thin.weighted(D)
    system[np.diag_indices(len(system))] += 1.0
    factor = cho_factor(system, lower=True, overwrite_a=True)
    return lambda x: D * (x - thin.spread(cho_solve(factor, thin.gathered(D * x))))


def _by_values(operator: PairOperator, few: Ints, D: Floats, look: Callable[[], None] | None) -> Solve:
    """x ↦ (D⁻¹ + K)⁻¹ x = S (I + SKS)⁻¹ S x, S² = D."""
    S, K = np.sqrt(D), operator.submatrix(few)
    K *= S
    K *= S[:, None]
    K[np.diag_indices(len(K))] += 1.0
    if not cholesky(K.T, look=look):
        raise LinAlgError("not positive definite")
    return lambda x: S * cho_solve((K.T, True), S * x, check_finite=False)
