"""Coordinates for differences x − x': in an orthonormal basis of those that were learnt from.

A pseudo-metric changes only within the span of these differences, in the space of the examples as in the feature space
of a kernel. A new difference v has coordinates in the basis and a rest, orthogonal to it; the rest becomes the next
basis vector when v is learnt from (Gram–Schmidt).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from pairlearn.examples import count_examples, stack_examples, take_examples
from pairlearn.kernels import Kernel
from pairlearn.types import Examples, Floats, Ints

ROUNDING = 1e-10
"""A rest shorter than this share of its difference is rounding."""
MOST_FOR_BASIS = 1 / 3
"""From this share of the features in use on, plain coordinates are cheaper than a basis."""


class Located(NamedTuple):
    """Coordinates of a difference, (r,), its ‖v‖², what extends the span by it, and a length: 0 when it lies inside."""

    coordinates: Floats
    square: float
    rest: Any
    length: float


@dataclass(frozen=True, eq=False, repr=False)
class RowSpan:
    """Basis vectors as rows, (r, d), or None for plain coordinates: those of the features that are in use.

    active: numbers of the features in which some difference was not zero; A is zero in all others.

    >>> span = RowSpan.of(5)
    >>> found = span.locate(np.array([3.0, 0.0, 0.0, 0.0, 4.0]))
    >>> span, coordinates = span.extended(found)
    >>> found.coordinates.tolist(), coordinates.tolist(), span.locate(np.eye(5)[0]).coordinates.tolist()
    ([], [5.0], [0.6])
    """

    n_features: int
    basis: Floats | None
    active: Ints

    @classmethod
    def of(cls, n_features: int) -> RowSpan:
        """The span of nothing; few dimensions need no basis."""
        few = n_features <= 3
        return cls(n_features, None if few else np.zeros((0, n_features)), np.arange(n_features if few else 0))

    def __len__(self) -> int:
        return len(self.active) if self.basis is None else len(self.basis)

    def __repr__(self) -> str:
        return f"RowSpan({len(self)} of {self.n_features} dimensions)"

    def locate(self, v: Floats) -> Located:
        """Project twice: the second time removes what rounding left."""
        square = float(v @ v)
        if self.basis is None:
            coordinates = v[self.active]
            is_inside = np.count_nonzero(coordinates) == np.count_nonzero(v)
            return Located(coordinates, square, v, 0.0 if is_inside else 1.0)
        coordinates = self.basis @ v
        rest = v - coordinates @ self.basis
        again = self.basis @ rest
        rest -= again @ self.basis
        length = float(np.sqrt(rest @ rest))
        is_rounding = length <= ROUNDING * np.sqrt(square)
        return Located(coordinates + again, square, rest, 0.0 if is_rounding else length)

    def extended(self, found: Located) -> tuple[RowSpan, Floats]:
        """With the rest of a difference as the next basis vector, or with its features; and its coordinates there."""
        active = np.union1d(self.active, np.flatnonzero(found.rest))
        if self.basis is not None:
            basis = np.vstack([self.basis, found.rest / found.length])
            return replace(self, basis=basis, active=active), np.append(found.coordinates, found.length)
        # New features come last, so that the old rows of A stay where they are.
        active = np.append(self.active, np.setdiff1d(active, self.active))
        return replace(self, active=active), found.rest[active]

    def simplified(self, matrix: Floats) -> tuple[RowSpan, Floats]:
        """Span and matrix in plain coordinates once the basis is large, else as they are.

        A = BᵀMB for basis rows B, (r, d): projecting a difference twice costs about 4·r·d products, which from r = d/3
        on is more than the d² of an update in plain coordinates, where nothing needs to be projected.
        """
        if self.basis is None or len(self.basis) < MOST_FOR_BASIS * len(self.active):
            return self, matrix
        plain = self.basis[:, self.active]
        wide = plain.T @ matrix @ plain
        return replace(self, basis=None), np.ascontiguousarray(0.5 * (wide + wide.T))

    def coordinates(self, X: Examples) -> Floats:
        """Coordinates of examples, (n, r)."""
        if self.basis is not None:
            return np.asarray(X @ self.basis.T)
        columns = X[:, self.active]
        return np.asarray(columns.todense() if sparse.issparse(columns) else columns, dtype=np.float64)

    def directions(self, W: Floats) -> Floats:
        """Vectors given by coordinates, (r, q), as columns in the space of the examples, (d, q)."""
        if self.basis is not None:
            return self.basis.T @ W
        out = np.zeros((self.n_features, W.shape[1]))
        out[self.active] = W
        return out


class AnchoredPair(NamedTuple):
    """Two examples, and what the kernel needs of them to compare others with them later."""

    examples: Examples
    anchors: Any

    @classmethod
    def each(cls, kernel: Kernel, examples: Examples, left: Ints, right: Ints) -> Iterator[AnchoredPair]:
        """The pairs of a table one by one."""
        anchors = kernel.anchor(examples, np.arange(count_examples(examples)))
        for both in np.column_stack([left, right]):
            yield cls(take_examples(examples, both), take_examples(anchors, both))


@dataclass(frozen=True, eq=False, repr=False)
class KernelSpan:
    """Differences φ(x_i) − φ(x'_i) in the feature space of a kernel, with the Cholesky factor L of their Gram matrix.

    The basis is Q = V L⁻ᵀ for the differences V as columns; nothing but kernel values is ever needed.
    `budget`: at most so many differences are kept; others are projected on their span.
    """

    kernel: Kernel
    left: Any
    right: Any
    factor: Floats
    budget: int | None

    def __len__(self) -> int:
        return len(self.factor)

    def __repr__(self) -> str:
        return f"KernelSpan({self.kernel!r}, {len(self)} differences)"

    def locate(self, pair: AnchoredPair) -> Located:
        """Coordinates of φ(x) − φ(x') by forward substitution."""
        own = self.kernel(pair.examples, pair.anchors)
        square = max(float(own[0, 0] - own[0, 1] - own[1, 0] + own[1, 1]), 0.0)
        coordinates = self._solve(self._products(pair.examples) @ np.array([1.0, -1.0]))
        inside = float(coordinates @ coordinates)
        if self.budget is not None and len(self) >= self.budget:
            return Located(coordinates, inside, None, 0.0)
        # Kernel values carry 16 digits, so the length of the rest is known to 8 of them.
        length = float(np.sqrt(square - inside)) if square - inside > 1e-12 * square else 0.0
        return Located(coordinates, square, pair.anchors, length)

    def extended(self, found: Located) -> tuple[KernelSpan, Floats]:
        """With one more pair; and the coordinates of its difference."""
        row = np.append(found.coordinates, found.length)
        factor = np.vstack([np.pad(self.factor, ((0, 0), (0, 1))), row])
        left, right = (take_examples(found.rest, np.array([k])) for k in (0, 1))
        if len(self):
            left, right = stack_examples(self.left, left), stack_examples(self.right, right)
        return replace(self, left=left, right=right, factor=factor), row

    def simplified(self, matrix: Floats) -> tuple[KernelSpan, Floats]:
        """A feature space has no coordinates of its own."""
        return self, matrix

    def coordinates(self, X: Examples) -> Floats:
        """Coordinates of φ(x), (n, r)."""
        return self._solve(self._products(X)).T

    def _products(self, X: Examples) -> Floats:
        """⟨φ(x_i) − φ(x'_i), φ(x)⟩, (r, n)."""
        if not len(self):
            return np.zeros((0, count_examples(X)))
        return (self.kernel(X, self.left) - self.kernel(X, self.right)).T

    def _solve(self, products: Floats) -> Floats:
        return np.asarray(solve_triangular(self.factor, products, lower=True, check_finite=False))
