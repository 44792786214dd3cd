"""All pairs of m examples with features and classes, looked at block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.linalg.tiles import product
from pairlearn.operators.form import PairForm, Sums
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import Source
from pairlearn.operators.thin import pair_features
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

    def values(self, left: Ints, right: Ints) -> Floats:
        """Of single pairs, (n,)."""
        out = np.zeros(len(left))
        loops.products.pair_dots(product(self.Z, self.matrix), self.Z, left, right, out)
        loops.products.add_own(self.own, self.own, left, right, out)
        return out


@dataclass(frozen=True)
class Ramps:
    """Where coefficients of all pairs come from: values g of a function, its bias, half the width of ramps, and the
    margin y(g + bias) that these are centred at.

    Pairs that are less than `apart` from it are left out.
    """

    scored: Scored
    bias: float
    half: float
    centre: float = 1.0
    apart: float = 0.0

    @property
    def place(self) -> tuple[float, float, float]:
        """(bias, centre, half), as scans take them."""
        return self.bias, self.centre, self.half


@dataclass(frozen=True)
class Ramped:
    """Coefficients of all pairs on such ramps: their form, Σθ and Σ|θ|, the smoothed loss, and how many pairs in one
    class and in two are on their ramps."""

    form: PairForm
    total: float
    absolute: float
    loss: float
    counts: tuple[int, int]

    @property
    def count(self) -> int:
        """All pairs on their ramps."""
        return sum(self.counts)


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

    def before(self, ramps: Ramps, left: Ints, right: Ints) -> Floats:
        """How far these pairs are before the centre of their ramps, s = centre − y(g + bias)."""
        return ramps.centre - self.labels(left, right) * (ramps.scored.values(left, right) + ramps.bias)

    def bounds(self, y: Floats) -> tuple[Floats, Floats]:
        """(lower, upper) of pairs with these labels."""
        return np.where(y > 0, 0.0, -self.boxes[1]), np.where(y > 0, self.boxes[0], 0.0)

    def features(self, left: Ints, right: Ints) -> Floats:
        """φ of these pairs, whose inner products are kernel values, (n, q)."""
        return pair_features(self.table, self.Z, left, right)

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

    def _blocks(self, ramps: Ramps) -> Iterator[tuple[slice, tuple[Any, ...]]]:
        """Rows of every block, and where a scan finds its pairs: values, classes, place."""
        for rows in self._slices():
            S = ramps.scored.block(rows)
            yield rows, (S, ramps.scored.own, self.classes, rows.start, self._shift)

    def ramped(self, ramps: Ramps) -> Ramped:
        """Every pair on its ramp or at its bound."""
        m, r = self.Z.shape
        inner, rows, cols, boxes = np.zeros((r, r)), np.zeros(m), np.zeros(m), np.array(self.boxes)
        sums = np.zeros(5)
        for part, place in self._blocks(ramps):
            theta, out = np.empty_like(place[0]), np.empty((len(place[0]), 5))
            loops.scans.ramp(*place, boxes, *ramps.place, ramps.apart, theta, out)
            inner += product(self.Z[part].T, product(theta, self.Z[part.start :]))
            rows[part] += out[:, 1] - out[:, 2]
            cols[part.start :] += np.ones(len(theta)) @ theta
            sums += out.sum(axis=0)
        loss, same, other, n_same, n_other = sums.tolist()
        form = self._form(inner, rows, cols)
        return Ramped(form, same - other, same + other, loss, (int(n_same), int(n_other)))

    def near(self, ramps: Ramps) -> tuple[Ints, Ints]:
        """The pairs on their ramps."""
        lefts, rights = [], []
        for _, place in self._blocks(ramps):
            on = np.empty(len(place[0]), dtype=np.int64)
            loops.scans.count(*place, *ramps.place, on)
            starts, total = np.cumsum(on) - on, int(on.sum())
            left, right = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
            loops.scans.gather(*place, *ramps.place, starts, left, right)
            lefts.append(left)
            rights.append(right)
        return np.concatenate(lefts), np.concatenate(rights)

    def judged(self, ramps: Ramps, scored: Scored) -> tuple[Certificate, int]:
        """The certificate of coefficients on ramps, whose values are `scored`, and how many of them are not 0."""
        total, support, boxes = Certificate(), 0, np.array(self.boxes)
        before, limits = ramps.scored, (*ramps.place, ramps.apart)
        for part, (S, own, *place) in self._blocks(replace(ramps, scored=scored)):
            out = np.empty((len(S), 6))
            loops.scans.judge(S, own, before.block(part), before.own, *place, boxes, *limits, out)
            free, n_free, work, some = out[:, 2:].sum(axis=0).tolist()
            found = Certificate(float(out[:, 0].max()), float(out[:, 1].min()), free, int(n_free), -0.5 * work)
            total, support = total.joined(found), support + int(some)
        return total, support

    # -- samples

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """So many pairs by chance, now and then one of them twice; all where there are no more."""
        chosen = rng.integers(len(self), size=count) if count < len(self) else np.arange(len(self))
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
