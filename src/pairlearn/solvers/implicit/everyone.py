"""All pairs of m examples with features and classes, looked at block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.linalg.tiles import product
from pairlearn.operators.form import PairForm, SideForm, Sums
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import Table
from pairlearn.pairs import Triangle
from pairlearn.solvers.certificate import Certificate
from pairlearn.types import Floats, Ints

BLOCK = 2**22
"""Values of pairs that are looked at together: 32 MB."""


@dataclass(frozen=True)
class Scored:
    """Values g(a, b) − b = z_aᵀM z_b + own_a + own_b of a symmetric form over the features Z, (m, r)."""

    Z: Floats
    form: PairForm

    @cached_property
    def matrix(self) -> Floats:
        """The matrix between two examples, (r, r)."""
        cross = self.form.cross
        return np.zeros((self.Z.shape[1],) * 2) if cross is None else np.asarray(cross)

    @cached_property
    def own(self) -> Floats:
        """What depends on one example only, (m,)."""
        return self.form.at_left(self.Z)

    def block(self, rows: slice) -> Floats:
        """z_aᵀM z_b of these examples with all from the first of them on."""
        return product(product(self.Z[rows], self.matrix), self.Z[rows.start :].T)

    def towards(self, other: Scored, t: float) -> Scored:
        """(1 − t)·this + t·the other."""
        return Scored(self.Z, _scaled(self.form, 1.0 - t) + _scaled(other.form, t))

    def values(self, left: Ints, right: Ints) -> Floats:
        """Of single pairs, (n,)."""
        out = np.zeros(len(left))
        loops.products.pair_dots(product(self.Z, self.matrix), self.Z, left, right, out)
        loops.products.add_own(self.own, self.own, left, right, out)
        return out


@dataclass(frozen=True)
class Assignment:
    """Coefficients of all pairs: at bounds where |v − bias| > half by `scored`; `left` and `right` are the others."""

    scored: Scored
    bias: float
    half: float
    left: Ints
    right: Ints
    far: PairForm
    """The form of those at their bounds."""
    total: float
    """Their sum."""


@dataclass(frozen=True)
class Everyone:
    """All pairs of a triangle over examples with features Z (m, r) of a table's base and codes of classes, (m,).

    `boxes` bounds the coefficients of pairs in one class (0 … C) and in two (−C … 0).
    """

    table: Table
    Z: Floats
    classes: Ints
    triangle: Triangle
    boxes: tuple[float, float]

    def __len__(self) -> int:
        return len(self.triangle)

    @cached_property
    def n_same(self) -> int:
        """Pairs in one class."""
        return self.triangle.n_alike(self.classes)

    def labels(self, left: Ints, right: Ints) -> Floats:
        """±1 of these pairs."""
        return np.where(self.classes[left] == self.classes[right], 1.0, -1.0)

    def rates(self, scored: Scored, bias: float, left: Ints, right: Ints) -> Floats:
        """y − g − bias of these pairs: above 0 their coefficients belong to the upper bound, below 0 to the lower."""
        return self.labels(left, right) - scored.values(left, right) - bias

    def bounds(self, y: Floats) -> tuple[Floats, Floats]:
        """(lower, upper) of pairs with these labels."""
        return np.where(y > 0, 0.0, -self.boxes[1]), np.where(y > 0, self.boxes[0], 0.0)

    def form(self, left: Ints, right: Ints, coefficients: Floats) -> PairForm:
        """The form of listed pairs."""
        assert self.table.base is not None
        source = Source(self.table.base, None, features=self.Z)
        return source.form(self.table, PairRows(left, right), coefficients).dense()

    def _form(self, inner: Floats, r: Floats, s: Floats) -> PairForm:
        """The form of coefficients A with inner = ZᵀAZ, row sums r and column sums s.

        A form is linear in these three: A itself is a matrix over features already, the sums belong to examples.
        """
        features = PairForm.of(self.table, Sums(inner.copy(), np.zeros(len(inner)), np.zeros(len(inner)))).dense()
        nothing = sparse.csr_array((len(self.Z), len(self.Z)))
        examples = PairForm.of(self.table, Sums(nothing, r, s)).collapsed(self.Z, self.Z).dense()
        return features + examples

    def _slices(self) -> Iterator[slice]:
        """Rows in blocks of about BLOCK pairs each."""
        m, start = len(self.Z), 0
        while start < m:
            stop = min(m, start + max(1, BLOCK // (m - start)))
            yield slice(start, stop)
            start = stop

    @property
    def _shift(self) -> int:
        return 0 if self.triangle.reflexive else 1

    def assigned(self, scored: Scored, bias: float, half: float) -> Assignment:
        """Every pair at its bound by these values, but for those near the margin."""
        m, r = self.Z.shape
        inner, rows, cols, boxes = np.zeros((r, r)), np.zeros(m), np.zeros(m), np.array(self.boxes)
        lefts, rights = [], []
        for part in self._slices():
            S, first = scored.block(part), part.start
            theta, near = np.empty_like(S), np.zeros(len(S), dtype=np.int64)
            place = (S, scored.own, self.classes, first, self._shift)
            loops.scans.assign(*place, boxes, bias, half, theta, near)
            inner += product(self.Z[part].T, product(theta, self.Z[first:]))
            rows[part] += theta.sum(axis=1)
            cols[first:] += theta.sum(axis=0)
            starts, count = np.cumsum(near) - near, int(near.sum())
            left, right = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
            loops.scans.gather(*place, bias, half, starts, left, right)
            lefts.append(left)
            rights.append(right)
        left, right = np.concatenate(lefts), np.concatenate(rights)
        return Assignment(scored, bias, half, left, right, self._form(inner, rows, cols), float(rows.sum()))

    def judged(self, scored: Scored, assignment: Assignment) -> tuple[Certificate, Floats]:
        """Of the pairs at their bounds, for the values g that all coefficients lead to: their certificate, and
        (Σθg, Σθg before, number with θ ≠ 0)."""
        total, sums, boxes = Certificate(), np.zeros(3), np.array(self.boxes)
        for part in self._slices():
            S, R = scored.block(part), assignment.scored.block(part)
            out = np.empty((len(S), 6))
            place = (self.classes, part.start, self._shift, boxes, assignment.bias, assignment.half)
            loops.scans.judge(S, scored.own, R, assignment.scored.own, *place, out)
            work = -0.5 * float(out[:, 2].sum())
            found = Certificate(float(out[:, 0].max()), float(out[:, 1].min()), objective=work)
            total, sums = total.joined(found), sums + out[:, 3:].sum(axis=0)
        return total, sums

    def losses(self, old: Scored, new: Scored, biases: tuple[float, float], steps: Floats) -> Floats:
        """Σ box·max(0, 1 − y(g + b)) of all pairs on the way from the old values to the new ones, at these steps."""
        total, boxes = np.zeros(len(steps)), np.array(self.boxes)
        for part in self._slices():
            S, R = new.block(part), old.block(part)
            out = np.empty((len(S), len(steps)))
            place = (self.classes, part.start, self._shift, boxes, np.array(biases), steps)
            loops.scans.losses(S, new.own, R, old.own, *place, out)
            total += out.sum(axis=0)
        return total

    # -- samples

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """About so many pairs by chance, each once."""
        chosen = np.unique(rng.integers(len(self), size=min(count, len(self))))
        return self.triangle.columns(chosen)

    def alike(self) -> tuple[Ints, Ints]:
        """All pairs in one class."""
        order = np.argsort(self.classes, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(self.classes))
        lefts, rights = [], []
        for members in np.split(order, ends[:-1]):
            a, b = np.triu_indices(len(members), self._shift)
            lefts.append(members[a])
            rights.append(members[b])
        return np.concatenate(lefts), np.concatenate(rights)


def _scaled(form: PairForm, t: float) -> PairForm:
    """t · a dense symmetric form."""
    square = None if form.left.square is None else t * form.left.square
    side = SideForm(square, t * form.left.linear)
    return PairForm(None if form.cross is None else t * form.cross, side, side, t * form.constant)
