"""Every left example with every right one: least squares and what is left out of it, in closed form.

With G = UΛUᵀ and G' = WMWᵀ the matrix of the system is A = s·G ⊗ G' + α, so that A⁻¹ is D = 1 / (s·λμᵀ + α) in the
eigenbasis, whatever α. A function that was learnt without some pairs B is that of all pairs with the answers of B
replaced by its own, hence y_B − g₋B = (Q_BB)⁻¹ θ_B with θ = Qy, Q = A⁻¹ − vvᵀ/c for v = A⁻¹1 and c = 1ᵀA⁻¹1 (the bias).
For one pair Q_BB is a number; for the pairs of one right example it is U diag(f) Uᵀ and a term of rank one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pairlearn.operators.sandwich import Sandwich
from pairlearn.solvers.splitting.eigenbasis import Eigenbasis, decomposed
from pairlearn.types import Floats

Setting = Literal["pair", "left", "right", "both"]
Part = tuple[int, Any, Floats]
"""Number of an α, cells of the grid, and their answers."""


@dataclass(frozen=True)
class Grid:
    """Targets (m, k) of all pairs of m left with k right examples, and the eigenbasis of either side.

    >>> from pairlearn.operators.sandwich import Sandwich
    >>> a, b = np.divmod(np.arange(6), 2)
    >>> sandwich = Sandwich(np.eye(3), np.eye(2), a, b, 0, 1.0)
    >>> grid = Grid.of(Eigenbasis.of(sandwich), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    >>> grid.left_out(1.0, "left")[0].round(6).tolist()             # unlike all others: their mean
    [4.5, 4.5]
    """

    grams: tuple[Floats, Floats]
    left: tuple[Floats, Floats]
    right: tuple[Floats, Floats]
    scale: float
    targets: Floats
    projected: Floats
    """Targets times the eigenvectors of the right side, (m, k)."""

    @classmethod
    def of(cls, basis: Eigenbasis, targets: Floats) -> Grid:
        """The grid of these pairs, which `fills` it, in any order."""
        of = basis.sandwich
        Y = np.empty((len(of.left), len(of.right)))
        Y[of.rows, of.cols] = targets
        return cls((of.left, of.right), basis.left, basis.right, of.scale, Y, Y @ basis.right[1])

    @property
    def turned(self) -> Grid:
        """Left and right exchanged."""
        Y = np.ascontiguousarray(self.targets.T)
        return Grid(self.grams[::-1], self.right, self.left, self.scale, Y, Y @ self.left[1])

    def without(self, row: int) -> Grid:
        """The same without one left example."""
        gram = np.delete(np.delete(self.grams[0], row, axis=0), row, axis=1)
        targets, projected = (np.delete(rows, row, axis=0) for rows in (self.targets, self.projected))
        return replace(self, grams=(gram, self.grams[1]), left=decomposed(gram), targets=targets, projected=projected)

    def left_out(self, alpha: float, unseen: Setting) -> Floats:
        """The answer of every pair by what is learnt without it, or without its examples, (m, k)."""
        answers = np.empty(self.targets.shape)
        for _, cells, values in SETTINGS[unseen](self, [alpha]):
            answers[cells] = values
        return answers

    def errors(self, alphas: Sequence[float], unseen: Setting) -> Floats:
        """Root mean squared errors of these answers, (len(alphas),); one decomposition serves all α."""
        totals = np.zeros(len(alphas))
        for number, cells, values in SETTINGS[unseen](self, alphas):
            totals[number] += float(((values - self.targets[cells]) ** 2).sum())
        return np.sqrt(totals / self.targets.size)


def fills(sandwich: Sandwich | None) -> bool:
    """Whether these are all pairs of left with right examples, each once, with a product as their kernel."""
    if sandwich is None or sandwich.sign or len(sandwich.rows) != sandwich.size:
        return False
    cells = sandwich.rows.astype(np.int64) * len(sandwich.right) + sandwich.cols
    return len(np.unique(cells)) == sandwich.size


@dataclass(frozen=True)
class Fitted:
    """What is learnt of a grid with one α; hatted matrices are in the eigenbasis of both sides, (m, k)."""

    grid: Grid
    alpha: float

    @cached_property
    def D(self) -> Floats:  # noqa: N802
        """A⁻¹."""
        (values, _), (others, _) = self.grid.left, self.grid.right
        return 1.0 / (self.grid.scale * np.outer(values, others) + self.alpha)

    @cached_property
    def ones(self) -> Floats:
        """The matrix of ones, hatted."""
        return np.outer(self.grid.left[1].sum(axis=0), self.grid.right[1].sum(axis=0))

    @cached_property
    def v(self) -> Floats:
        """A⁻¹1, hatted."""
        return self.D * self.ones

    @cached_property
    def c(self) -> float:
        """1ᵀA⁻¹1."""
        return float((self.v * self.ones).sum())

    @cached_property
    def _targets(self) -> Floats:
        return self.grid.left[1].T @ self.grid.projected

    @cached_property
    def bias(self) -> float:
        """b."""
        return float((self.v * self._targets).sum()) / self.c

    @cached_property
    def theta(self) -> Floats:
        """Coefficients, hatted."""
        return self.D * (self._targets - self.bias * self.ones)

    @cached_property
    def right_errors(self) -> tuple[Floats, Floats]:
        """(Uᵀ(y − g), vᵀ(y − g)) of every right example that is left out: (m, k) and (k,).

        F holds f_b = D W_b² of every b in its columns; (diag(f) − vvᵀ/c)⁻¹ by Sherman's and Morrison's formula.
        """
        W = self.grid.right[1]
        theta, v, F = self.theta @ W.T, self.v @ W.T, self.D @ (W**2).T
        rest = self.c - (v**2 / F).sum(axis=0)
        errors = (theta + v * ((v * theta / F).sum(axis=0) / rest)) / F
        return errors, (v * errors).sum(axis=0)


def _without_pairs(grid: Grid, alphas: Sequence[float]) -> Iterator[Part]:
    U, W = grid.left[1], grid.right[1]
    for number, alpha in enumerate(alphas):
        fit = Fitted(grid, alpha)
        own = U**2 @ fit.D @ (W**2).T - (U @ fit.v @ W.T) ** 2 / fit.c
        yield number, ..., grid.targets - (U @ fit.theta @ W.T) / own


def _without_right(grid: Grid, alphas: Sequence[float]) -> Iterator[Part]:
    for number, alpha in enumerate(alphas):
        yield number, ..., grid.targets - grid.left[1] @ Fitted(grid, alpha).right_errors[0]


def _without_left(grid: Grid, alphas: Sequence[float]) -> Iterator[Part]:
    for number, _, values in _without_right(grid.turned, alphas):
        yield number, ..., values.T


def _without_both(grid: Grid, alphas: Sequence[float]) -> Iterator[Part]:
    """One decomposition for every example of the smaller side; of the others each is left out in closed form then."""
    gram, other = grid.grams
    if len(gram) > len(other):
        yield from ((number, (slice(None), row), values) for number, row, values in _without_both(grid.turned, alphas))
        return
    for row in range(len(gram)):
        rest = grid.without(row)
        between = np.delete(gram[row], row) @ rest.left[1]
        for number, alpha in enumerate(alphas):
            yield number, row, _of_new_row(Fitted(rest, alpha), grid.scale * between)


def _of_new_row(fit: Fitted, between: Floats) -> Floats:
    """Answers for a new left example and every right one that is left out, (k,).

    `between` are its kernel values with the left examples that are known, times s, in their eigenbasis. Replacing the
    answers y_b by g₋b = y_b − e takes A⁻¹(e ⊗ δ_b) off θ, less a multiple of v that keeps the sum.
    """
    values, W = fit.grid.right
    errors, sums = fit.right_errors
    known = ((between @ fit.theta) * values) @ W.T + fit.bias
    taken = between @ (errors * (fit.D @ (values * W**2).T))
    shift = (((between @ fit.v) * values) @ W.T - 1.0) * sums / fit.c
    return np.asarray(known - taken + shift)


SETTINGS: dict[Setting, Callable[[Grid, Sequence[float]], Iterator[Part]]] = {
    "pair": _without_pairs,
    "left": _without_left,
    "right": _without_right,
    "both": _without_both,
}
"""What is left out for every pair: itself, all pairs of its left example, of its right one, or of either."""
