"""A learnt function of pairs: Σ θ_k K(pair, support pair_k) + bias, from the support examples alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.kernels import Kernel, Precomputed
from pairlearn.loops import products, tables
from pairlearn.operators.blocked import table_diagonal
from pairlearn.operators.form import PairForm, times
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import PairKernel, Quad, Table
from pairlearn.pair_kernels.table import weights
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats, Ints

BLOCK = 2**28
"""Bytes that scoring may use for one block of kernel values."""


@dataclass(frozen=True)
class PairFunction:
    """g(a, b) = Σ_k θ_k K((a, b), (left_k, right_k)) + bias.

    `anchor` holds what the base kernels need of the support examples; `left` and `right` count within it.
    """

    kernel: PairKernel
    anchor: Any
    left: Ints
    right: Ints
    coefficients: Floats
    bias: float

    @cached_property
    def parts(self) -> tuple[FormPart, ...] | None:
        """One quadratic form per base, or None when the kernel is not of degree ≤ 2."""
        if self.kernel.tables is None:
            return None
        return tuple(_part(table, self) for table in self.kernel.tables)

    @property
    def sign(self) -> int:
        """+1 for a symmetric function, −1 for an antisymmetric one up to the bias, 0 for neither."""
        return {"symmetric": 1, "antisymmetric": -1, "none": 0}[self.kernel.symmetry]

    def __call__(self, pairs: Pairs) -> Floats:
        """Values of these pairs, (n_pairs,).

        Symmetric bit by bit: g(u, v) and g(v, u) of the same table of examples are equal to the last bit.
        """
        values = np.full(len(pairs), self.bias)
        left, right = pairs.columns
        if len(self.coefficients) == 0:
            return values
        step = self._pairs_per_block(len(pairs), len(pairs.used_examples()))
        for start in range(0, len(pairs), step):
            chosen = slice(start, start + step)
            used, positions = np.unique(np.concatenate([left[chosen], right[chosen]]), return_inverse=True)
            a, b = np.split(positions.astype(np.int32), 2)
            # Each block sees its examples in sorted order, so swapping pairs changes nothing of what is computed.
            values[chosen] += self._values(take_examples(pairs.examples, used), a, b)
        return values

    def block(self, probe: Examples, gallery: Examples) -> Floats:
        """Values of every probe with every gallery example, (p, g), by matrix products."""
        probe, gallery = check_examples(probe, "probe"), check_examples(gallery, "gallery")
        p, g = count_examples(probe), count_examples(gallery)
        values = np.full((p, g), self.bias)
        if len(self.coefficients) == 0:
            return values
        if self.parts is None:
            self._add_block_by_pairs(probe, gallery, values)
            return values
        for part in self.parts:
            step = max(64, BLOCK // (8 * part.width * 3))
            gallery_blocks = [slice(t, t + step) for t in range(0, g, step)]
            for cols in gallery_blocks:
                E = part.rows(take_examples(gallery, np.arange(g)[cols]))
                own = part.form.own(E, left=False)
                for first in range(0, p, step):
                    part.add_block(
                        take_examples(probe, np.arange(p)[first : first + step]), E, own, values, first, cols
                    )
        return values

    def _pairs_per_block(self, n_pairs: int, n_used: int) -> int:
        if self.parts is None:
            return max(1, BLOCK // (8 * len(self.coefficients) * 3))
        width = max(part.width for part in self.parts)
        most = max(128, BLOCK // (8 * width * 2))
        return n_pairs if n_used <= most else max(1, most // 2)

    def _values(self, examples: Examples, a: Ints, b: Ints) -> Floats:
        if self.parts is None:
            return self._values_by_pairs(examples, a, b)
        total = np.zeros(len(a))
        for part in self.parts:
            part.add_values(examples, a, b, self.sign, total)
        return total

    def _values_by_pairs(self, examples: Examples, a: Ints, b: Ints) -> Floats:
        """Kernel values with every support pair; both orders where that makes the result symmetric bit by bit."""
        straight = self._kernel_rows(examples, a, b) @ self.coefficients
        if self.sign == 0:
            return straight
        return 0.5 * (straight + self.sign * (self._kernel_rows(examples, b, a) @ self.coefficients))

    def _kernel_rows(self, examples: Examples, a: Ints, b: Ints) -> Floats:
        cross = {base: _wide(base(examples, self.anchor)) for base in self.kernel.bases if base is not None}

        def across(table: Table) -> Floats:
            assert table.base is not None
            K, w = cross[table.base], weights(table)
            c, d = self.left, self.right
            if w is None:
                return table.evaluate(Quad(K[np.ix_(a, c)], K[np.ix_(a, d)], K[np.ix_(b, c)], K[np.ix_(b, d)]))
            out = np.empty((len(a), len(c)))
            tables.fill_block(K, a, b, c, d, w, out)
            return out

        return self.kernel.evaluate(
            across,
            lambda table: _self_values(table, examples, a, b),
            lambda table: _self_values(table, self.anchor, self.left, self.right),
        )

    def _add_block_by_pairs(self, probe: Examples, gallery: Examples, values: Floats) -> None:
        p, g = values.shape
        rows = max(1, BLOCK // (24 * len(self.coefficients) * g))
        everyone = _stacked(probe, gallery)
        for first in range(0, p, rows):
            a, b = np.divmod(np.arange(first * g, min(p, first + rows) * g), g)
            pairs = Pairs(everyone, a, p + b)
            values[first : first + rows] = self(pairs).reshape(-1, g)


@dataclass(frozen=True)
class FormPart:
    """One table's quadratic form, over kernel values with the support examples or over features."""

    form: PairForm
    base: Kernel
    anchor: Any
    collapsed: bool

    @property
    def width(self) -> int:
        """Length of a row: support examples or features."""
        return len(self.form.linear_left)

    def rows(self, examples: Examples) -> Floats:
        """e_a of every example, (m, width)."""
        if not self.collapsed:
            return _wide(self.base(examples, self.anchor))
        Z = self.base.features(examples.toarray() if sparse.issparse(examples) else examples)
        if Z is None or Z.shape[1] != self.width:
            found = "no features" if Z is None else f"{Z.shape[1]} features"
            raise InputError(f"examples have {found}, but the model was fitted with {self.width}")
        return _wide(Z)

    def add_values(self, examples: Examples, a: Ints, b: Ints, sign: int, total: Floats) -> None:
        """Add the form's values of pairs (a_i, b_i)."""
        E = self.rows(examples)
        if self.form.cross is not None:
            T = np.ascontiguousarray(times(E, self.form.cross))
            cross = np.zeros(len(a))
            products.pair_dots(T, E, a, b, cross)
            if sign:
                other = np.zeros(len(a))
                products.pair_dots(T, E, b, a, other)
                cross = 0.5 * (cross + sign * other)
            total += cross
        own_left = self.form.own(E, left=True)
        own_right = own_left if self.form.same_own else self.form.own(E, left=False)
        total += own_left[a] + own_right[b]

    def add_block(self, probe: Examples, E: Floats, own: Floats, values: Floats, first: int, cols: slice) -> None:
        """Add the form's values of a block of probes with gallery rows E."""
        P = self.rows(probe)
        rows = slice(first, first + len(P))
        if self.form.cross is not None:
            values[rows, cols] += times(P, self.form.cross) @ E.T
        values[rows, cols] += self.form.own(P, left=True)[:, None] + own


def _part(table: Table, function: PairFunction) -> FormPart:
    assert table.base is not None
    n = count_examples(function.anchor)
    form = PairForm.of(table, function.left, function.right, function.coefficients, n)
    features = None if isinstance(table.base, Precomputed) else table.base.features(function.anchor)
    if features is not None and features.shape[1] <= n:
        return FormPart(form.collapsed(_wide(features)), table.base, None, True)
    return FormPart(form.dense(), table.base, function.anchor, False)


def _self_values(table: Table, examples: Any, left: Ints, right: Ints) -> Floats:
    assert table.base is not None
    if isinstance(table.base, Precomputed):
        raise InputError(
            "this pair kernel needs k(a, b) between new examples, which a precomputed matrix of rows × training "
            "examples does not hold; use a kernel of degree ≤ 2 or a computed base"
        )
    return table_diagonal(table, Source(table.base, examples, None, table.base.features(examples)), left, right)


def _stacked(first: Examples, second: Examples) -> Examples:
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    return [*first, *second]


def _wide(values: Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)
