"""What the Gram matrix of a pair kernel can do, whatever holds it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator

from pairlearn.types import Floats, Ints

if TYPE_CHECKING:
    from pairlearn.operators.thin import Thin


class Bounds(Protocol):
    """What a scan needs of a problem: min ½θᵀKθ − pᵀθ + ε‖θ‖₁ over l ≤ θ ≤ u."""

    @property
    def linear(self) -> Floats: ...
    @property
    def lower(self) -> Floats: ...
    @property
    def upper(self) -> Floats: ...
    @property
    def epsilon(self) -> float: ...


@dataclass(frozen=True)
class Scan:
    """What one pass over all pairs finds, without ever holding a number per pair.

    `up` is the largest rate at which a coefficient may still rise, `low` the smallest at which one may still fall;
    `rising` and `falling` are the q best of either side; the rest gives bias and objective.
    """

    up: float
    low: float
    rising: Ints
    falling: Ints
    rising_rates: Floats
    falling_rates: Floats
    free_sum: float
    n_free: int
    objective: float
    q: int

    @classmethod
    def empty(cls, q: int) -> Scan:
        """Of no pairs."""
        none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        return cls(-np.inf, np.inf, none, none, nothing, nothing, 0.0, 0, 0.0, q)

    @classmethod
    def of(cls, start: int, theta: Floats, product: Floats, bounds: Bounds, part: slice, q: int) -> Scan:
        """Of the pairs of one block."""
        lower, upper, eps = bounds.lower[part], bounds.upper[part], bounds.epsilon
        residual = bounds.linear[part] - product
        up, low = rates(theta, lower, upper, residual, eps)
        free = (theta > lower) & (theta < upper) & ((theta != 0) if eps > 0 else True)
        rising, falling = largest(up, q), largest(-low, q)
        smooth = -0.5 * float(theta @ (bounds.linear[part] + residual))
        return cls(
            up=float(up.max(initial=-np.inf)),
            low=float(low.min(initial=np.inf)),
            rising=start + rising,
            falling=start + falling,
            rising_rates=up[rising],
            falling_rates=low[falling],
            free_sum=float(up[free].sum()),
            n_free=int(free.sum()),
            objective=smooth + eps * float(np.abs(theta).sum()),
            q=q,
        )

    def joined(self, other: Scan) -> Scan:
        """Both together."""
        rising, rising_rates = _best(self.rising, other.rising, self.rising_rates, other.rising_rates, self.q, 1)
        falling, falling_rates = _best(self.falling, other.falling, self.falling_rates, other.falling_rates, self.q, -1)
        return Scan(
            max(self.up, other.up),
            min(self.low, other.low),
            rising,
            falling,
            rising_rates,
            falling_rates,
            self.free_sum + other.free_sum,
            self.n_free + other.n_free,
            self.objective + other.objective,
            self.q,
        )

    def gap(self, constrained: bool) -> float:
        """KKT gap: max up − min low with the equality constraint, the larger one-sided rate without."""
        return max(0.0, self.up - self.low) if constrained else max(0.0, self.up, -self.low)

    def bias(self) -> float:
        """Mean over the free coefficients; the midpoint of the feasible interval when there is none."""
        if self.n_free:
            return self.free_sum / self.n_free
        ends = [end for end in (self.up, self.low) if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0


def rates(theta: Floats, lower: Floats, upper: Floats, residual: Floats, eps: float) -> tuple[Floats, Floats]:
    """Descent rates (up, low) of raising and of lowering each θ_i, ∓inf where its bound forbids it.

    residual = p − Kθ; up_i = residual − (right derivative of ε|θ|), low_i = residual − (left derivative).
    """
    up = np.where(theta < upper, residual - np.where(theta >= 0, eps, -eps), -np.inf)
    low = np.where(theta > lower, residual - np.where(theta > 0, eps, -eps), np.inf)
    return up, low


def largest(values: Floats, count: int) -> Ints:
    """Indices of the `count` largest finite values, largest first."""
    count = min(count, len(values))
    chosen = np.argpartition(values, len(values) - count)[len(values) - count :] if count else np.zeros(0, np.int64)
    chosen = chosen[np.isfinite(values[chosen])]
    return chosen[np.argsort(-values[chosen], kind="stable")]


def _best(a: Ints, b: Ints, rates_a: Floats, rates_b: Floats, count: int, sign: int) -> tuple[Ints, Floats]:
    pairs, values = np.concatenate([a, b]), np.concatenate([rates_a, rates_b])
    chosen = np.argsort(-sign * values, kind="stable")[:count]
    return pairs[chosen], values[chosen]


class PairOperator(ABC):
    """The n × n Gram matrix of n pairs, never formed unless it is small."""

    n_pairs: int

    @abstractmethod
    def diagonal(self) -> Floats:
        """K(i, i) of every pair, (n,)."""

    @abstractmethod
    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        """Block of these pairs, (len(rows), len(cols)); square and symmetric without `cols`."""

    @abstractmethod
    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        """K @ coefficients piece by piece: (number of the first pair, values); cost follows the non-zeros."""

    def thin(self) -> Thin | None:
        """The same matrix as a thin product, where its rank is far below the number of pairs; None elsewhere."""
        return None

    def add_product(self, coefficients: Floats, out: Floats) -> None:
        """out += K @ coefficients."""
        for start, values in self.blocks(coefficients):
            out[start : start + len(values)] += values

    def scan(self, coefficients: Floats, bounds: Bounds, q: int = 0) -> Scan:
        """One pass over all pairs: certificate, and the q pairs that violate most (or least miss) on either side."""
        total = Scan.empty(q)
        for start, product in self.blocks(coefficients):
            part = slice(start, start + len(product))
            total = total.joined(Scan.of(start, coefficients[part], product, bounds, part, q))
        return total

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n_pairs, self.n_pairs

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Always float64."""
        return np.dtype(np.float64)

    def __matmul__(self, coefficients: Floats) -> Floats:
        out = np.zeros(self.n_pairs)
        self.add_product(np.asarray(coefficients, dtype=np.float64), out)
        return out

    def rows(self, index: Ints) -> Floats:
        """Whole rows, (len(index), n)."""
        return self.submatrix(np.asarray(index), np.arange(self.n_pairs))

    def as_linear_operator(self) -> LinearOperator:
        """The same for SciPy's iterative methods."""
        return LinearOperator(self.shape, matvec=self.__matmul__, rmatvec=self.__matmul__, dtype=self.dtype)
