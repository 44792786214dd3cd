"""A learnt function of pairs: Σ θ_k K(pair, support pair_k) + bias, from the support examples alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, take_examples
from pairlearn.kernels import Kernel, Precomputed, TwoDomains
from pairlearn.loops import products
from pairlearn.operators.blocked import fill, fill_apart, kernel_diagonal, own_values
from pairlearn.operators.form import PairForm, times
from pairlearn.operators.rows import PairRows, Shown, show, stacked
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import Leaf, PairKernel, Table, View, ViewKernel
from pairlearn.pair_kernels.canonical import Term
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats, Ints

BLOCK = 2**28
"""Bytes that scoring may use for one block of kernel values."""


@dataclass(frozen=True)
class PairFunction:
    """g(a, b) = Σ_k θ_k K((a, b), (left_k, right_k)) + bias.

    `anchor` holds what the base kernels need of the support examples (`right_anchor` of the right ones, in two
    domains); `left` and `right` count within it; `seen` is what each view shows of the support pairs (and whether
    of the swapped ones).
    """

    kernel: PairKernel
    anchor: Any
    left: Ints
    right: Ints
    coefficients: Floats
    bias: float
    right_anchor: Any = None
    seen: tuple[tuple[View, bool, Any], ...] = ()

    @classmethod
    def of(cls, kernel: PairKernel, pairs: Pairs, coefficients: Floats, bias: float) -> PairFunction:
        """The function of these support pairs; only their examples are kept."""
        used, used_right = pairs.used_examples(), pairs.used_right_examples()
        two = pairs.right_examples is not None
        base = next((base for base in kernel.bases if base is not None), None)
        shown = show(kernel, pairs)
        return cls(
            kernel=kernel,
            anchor=None if base is None else side(base, 0).anchor(pairs.examples, used),
            left=np.searchsorted(used, pairs.left).astype(np.int32),
            right=np.searchsorted(used_right, pairs.right).astype(np.int32),
            coefficients=coefficients,
            bias=bias,
            right_anchor=side(base, 1).anchor(pairs.right_examples, used_right) if two and base is not None else None,
            seen=tuple((view, turned, table) for (view, turned), table in shown.items()),
        )

    @cached_property
    def parts(self) -> tuple[FormPart, ...]:
        """One quadratic form for the terms of degree ≤ 2 of every base."""
        return tuple(_part(table, self) for table in self.kernel.split()[0])

    @cached_property
    def lines(self) -> tuple[LinePart, ...]:
        """One weight vector for every view with features."""
        found = (_line(factor, leaf, self) for factor, leaf in self.kernel.split()[1])
        return tuple(line for line in found if line is not None)

    @cached_property
    def rest(self) -> PairKernel | None:
        """All other terms: their kernel values are computed pair by pair."""
        _, seen, rest = self.kernel.split()
        lines = {line.leaf for line in self.lines}
        terms: list[Term] = [(factor, (leaf,)) for factor, leaf in seen if leaf not in lines]
        terms += [] if rest is None else rest.terms
        return PairKernel(tuple(terms)) if terms else None

    @property
    def support(self) -> PairRows:
        """The support pairs as a kernel sees them."""
        return PairRows(self.left, self.right, {(view, turned): table for view, turned, table in self.seen})

    @property
    def two_domains(self) -> bool:
        """Whether left and right examples come from two tables."""
        return any(isinstance(base, TwoDomains) for base in self.kernel.bases)

    @property
    def sign(self) -> int:
        """+1 for a symmetric function, −1 for an antisymmetric one up to the bias, 0 for neither."""
        if self.two_domains:
            return 0
        return {"symmetric": 1, "antisymmetric": -1, "none": 0}[self.kernel.symmetry]

    def __call__(self, pairs: Pairs) -> Floats:
        """Values of these pairs, (n_pairs,).

        Symmetric bit by bit: g(u, v) and g(v, u) of the same table of examples are equal to the last bit.
        """
        check_domains(pairs, self.two_domains, bool(self.kernel.bases))
        values = np.full(len(pairs), self.bias)
        if len(self.coefficients) == 0:
            return values
        step = self._pairs_per_block(len(pairs), len(pairs.used_examples()) + len(pairs.used_right_examples()))
        for start in range(0, len(pairs), step):
            part = pairs if step >= len(pairs) else pairs[start : start + step]
            values[start : start + step] += self._values(part)
        return values

    def block(self, probe: Examples, gallery: Examples) -> Floats:
        """Values of every probe with every gallery example, (p, g), by matrix products."""
        if self.kernel.blocks or not all(hasattr(view, "show_block") for view, _, _ in self.seen):
            raise InputError("this kernel uses features of pairs, which single examples do not have; score pl.Pairs")
        probe, gallery = check_examples(probe, "probe"), check_examples(gallery, "gallery")
        p, g = count_examples(probe), count_examples(gallery)
        values = np.full((p, g), self.bias)
        if len(self.coefficients) == 0:
            return values
        if self.rest is not None:
            self._fill_block_by_pairs(probe, gallery, values)
            return values
        for part in self.parts:
            step = max(64, BLOCK // (8 * part.width * 3))
            for cols in (slice(t, t + step) for t in range(0, g, step)):
                E = part.right(take_examples(gallery, np.arange(g)[cols]))
                own = part.form.own(E, left=False)
                for first in range(0, p, step):
                    rows = np.arange(p)[first : first + step]
                    part.add_block(take_examples(probe, rows), E, own, values, first, cols)
        for line in self.lines:
            line.add_block(probe, gallery, values)
        return values

    def self_values(self, pairs: Pairs) -> Floats:
        """K(pair, pair) of any pairs, (n_pairs,)."""
        local = Local.of(pairs, self)
        return kernel_diagonal(self.kernel, local.sources(self), local.rows)

    def _pairs_per_block(self, n_pairs: int, n_used: int) -> int:
        if self.rest is not None:
            return max(1, BLOCK // (8 * len(self.coefficients) * 3))
        width = max((part.width for part in self.parts), default=1)
        most = max(128, BLOCK // (8 * width * 2))
        return n_pairs if n_used <= most else max(1, most // 2)

    def _values(self, pairs: Pairs) -> Floats:
        local = Local.of(pairs, self)
        total = np.zeros(len(pairs))
        for part in self.parts:
            part.add_values(local, self.sign, total)
        if self.lines or self.rest is not None:
            # Both orders, where that makes the result (anti)symmetric bit by bit.
            straight = self._values_by_pairs(local, local.rows)
            turned = self._values_by_pairs(local, local.rows.swapped()) if self.sign else straight
            total += 0.5 * (straight + self.sign * turned) if self.sign else straight
        return total

    def _values_by_pairs(self, local: Local, rows: PairRows) -> Floats:
        values = np.zeros(len(rows))
        for line in self.lines:
            values += line(rows)
        if self.rest is not None:
            values += self.kernel_rows(self.rest, local, rows) @ self.coefficients
        return values

    def kernel_rows(self, kernel: PairKernel, local: Local, rows: PairRows) -> Floats:
        """Kernel values with every support pair, (n, n_support)."""
        support = self.support
        bases = [base for base in kernel.bases if base is not None]
        lefts = {base: _wide(side(base, 0)(local.left, self.anchor)) for base in bases}
        rights = {base: _wide(side(base, 1)(local.right, self.right_anchor)) for base in bases if self.two_domains}

        def across(leaf: Leaf) -> Floats:
            if isinstance(leaf, ViewKernel):
                return rows.compared(leaf, support)
            assert leaf.base is not None
            places = (rows.left, rows.right), (support.left, support.right)
            if self.two_domains:
                return fill_apart(leaf, lefts[leaf.base], rights[leaf.base], *places)
            return fill(leaf, lefts[leaf.base], *places)

        # Sources of self values are made only when asked for: a precomputed base has none.
        return kernel.evaluate(
            across,
            lambda leaf: own_values(leaf, local.sources(self), rows),
            lambda leaf: own_values(leaf, self._sources(self.anchor, self.right_anchor), support),
        )

    def _sources(self, left: Any, right: Any) -> dict[Kernel | None, Source]:
        return {base: _source(base, left, right) for base in self.kernel.bases if base is not None}

    def _fill_block_by_pairs(self, probe: Examples, gallery: Examples, values: Floats) -> None:
        p, g = values.shape
        rows = max(1, BLOCK // (24 * len(self.coefficients) * g))
        everyone = None if self.two_domains else stacked([probe, gallery])
        for first in range(0, p, rows):
            a, b = np.divmod(np.arange(first * g, min(p, first + rows) * g), g)
            pairs = Pairs(probe, a, b, right_examples=gallery) if everyone is None else Pairs(everyone, a, p + b)
            values[first : first + rows] = self(pairs).reshape(-1, g)


@dataclass(frozen=True, eq=False)
class Local:
    """Some pairs to score: the examples that occur in them, sorted, and their places.

    Sorted order makes swapped pairs compute the same.
    """

    left: Examples
    right: Examples
    rows: PairRows

    @classmethod
    def of(cls, pairs: Pairs, function: PairFunction) -> Local:
        shown: Shown = show(function.kernel, pairs, both_orders=function.sign != 0)
        if not function.kernel.bases:
            return cls(None, None, PairRows(pairs.left, pairs.right, shown))
        left, right = pairs.columns
        if function.two_domains:
            (used, a), (used_right, b) = (np.unique(column, return_inverse=True) for column in (left, right))
            tables = take_examples(pairs.examples, used), take_examples(pairs.right_table, used_right)
        else:
            used, places = np.unique(np.concatenate([left, right]), return_inverse=True)
            a, b = np.split(places, 2)
            table = take_examples(pairs.examples, used)
            tables = table, table
        return cls(*tables, PairRows(a.astype(np.int32), b.astype(np.int32), shown))

    def sources(self, function: PairFunction) -> dict[Kernel | None, Source]:
        """Values between these examples, for self values of pairs."""
        return function._sources(self.left, self.right if function.two_domains else None)


@dataclass(frozen=True)
class Embedding:
    """The row e_a of every example: its kernel values with the support examples, or its features."""

    base: Kernel
    anchor: Any
    width: int

    def __call__(self, examples: Examples) -> Floats:
        """(m, width)."""
        if self.anchor is not None:
            return _wide(self.base(examples, self.anchor))
        Z = self.base.features(examples.toarray() if sparse.issparse(examples) else examples)
        if Z is None or Z.shape[1] != self.width:
            found = "no features" if Z is None else f"{Z.shape[1]} features"
            raise InputError(f"examples have {found}, but the model was fitted with {self.width}")
        return _wide(Z)


@dataclass(frozen=True)
class FormPart:
    """One table's quadratic form, over the rows that its two embeddings give."""

    form: PairForm
    left: Embedding
    right: Embedding

    @property
    def width(self) -> int:
        """Length of the longer row."""
        return max(self.left.width, self.right.width)

    def add_values(self, local: Local, sign: int, total: Floats) -> None:
        """Add the form's values of pairs (a_i, b_i)."""
        a, b = local.rows.left, local.rows.right
        E = self.left(local.left)
        F = E if self.left is self.right else self.right(local.right)
        if self.form.cross is not None:
            T = np.ascontiguousarray(times(E, self.form.cross))
            cross = np.zeros(len(a))
            products.pair_dots(T, F, a, b, cross)
            if sign:
                other = np.zeros(len(a))
                products.pair_dots(T, F, b, a, other)
                cross = 0.5 * (cross + sign * other)
            total += cross
        own_left = self.form.own(E, left=True)
        own_right = own_left if self.form.same_own else self.form.own(F, left=False)
        total += own_left[a] + own_right[b]

    def add_block(self, probe: Examples, E: Floats, own: Floats, values: Floats, first: int, cols: slice) -> None:
        """Add the form's values of a block of probes with gallery rows E."""
        P = self.left(probe)
        rows = slice(first, first + len(P))
        if self.form.cross is not None:
            values[rows, cols] += times(P, self.form.cross) @ E.T
        values[rows, cols] += self.form.own(P, left=True)[:, None] + own


@dataclass(frozen=True)
class LinePart:
    """⟨φ(a, b), w⟩ for a view whose kernel has features."""

    leaf: ViewKernel
    weights: Floats

    def __call__(self, rows: PairRows) -> Floats:
        return self._of(rows.shown[self.leaf.view, False])

    def add_block(self, probe: Examples, gallery: Examples, values: Floats) -> None:
        """Add ⟨φ(a, b), w⟩ of every probe with every gallery example, a few probes at a time."""
        p, g = values.shape
        step = max(1, BLOCK // (8 * g * max(1, len(self.weights))))
        for first in range(0, p, step):
            rows = np.arange(first, min(p, first + step))
            shown = self.leaf.view.show_block(take_examples(probe, rows), gallery)  # type: ignore[attr-defined]
            values[rows] += self._of(shown).reshape(-1, g)

    def _of(self, shown: Examples) -> Floats:
        Z = self.leaf.kernel.features(shown)
        if Z is None or Z.shape[1] != len(self.weights):
            found = "no features" if Z is None else f"{Z.shape[1]} features"
            raise InputError(f"pairs have {found}, but the model was fitted with {len(self.weights)}")
        return _wide(Z) @ self.weights


def _part(table: Table, function: PairFunction) -> FormPart:
    assert table.base is not None
    left, right, theta = function.left, function.right, function.coefficients
    first = _embedding(side(table.base, 0), function.anchor)
    if not function.two_domains:
        form = PairForm.of(table, left, right, theta, count_examples(function.anchor))
        return FormPart(_fitted(form, first[1], first[1]), first[0], first[0])
    second = _embedding(side(table.base, 1), function.right_anchor)
    sizes = count_examples(function.anchor), count_examples(function.right_anchor)
    return FormPart(_fitted(PairForm.of(table, left, right, theta, *sizes), first[1], second[1]), first[0], second[0])


def _fitted(form: PairForm, Z: Floats | None, W: Floats | None) -> PairForm:
    return form.collapsed(Z, W).dense()


def _embedding(base: Kernel, anchor: Any) -> tuple[Embedding, Floats | None]:
    """How to get the rows of new examples, and the features of the support examples where they are fewer than these."""
    n = count_examples(anchor)
    Z = None if isinstance(base, Precomputed) else base.features(anchor)
    if Z is not None and Z.shape[1] <= n:
        return Embedding(base, None, Z.shape[1]), _wide(Z)
    return Embedding(base, anchor, n), None


def _line(factor: float, leaf: ViewKernel, function: PairFunction) -> LinePart | None:
    Z = leaf.kernel.features(function.support.shown[leaf.view, False])
    return None if Z is None else LinePart(leaf, factor * (function.coefficients @ _wide(Z)))


def side(base: Kernel | None, number: int) -> Kernel:
    """The base kernel of left (0) or right (1) examples."""
    assert base is not None
    if isinstance(base, TwoDomains):
        return base.right if number else base.left
    return base


def check_domains(pairs: Pairs, two_domains: bool, uses_examples: bool = True) -> None:
    """Refuse pairs of one table where two are needed, and the other way round."""
    if uses_examples and two_domains != (pairs.right_examples is not None):
        raise InputError(
            "this model was fitted on pairs of two tables; pass pl.Pairs(…, right_examples=…)"
            if two_domains
            else "this model compares examples of one table, but these pairs have right_examples of their own"
        )


def _source(base: Kernel, left: Any, right: Any) -> Source:
    parts = [_one_source(side(base, 0), left)]
    if right is not None:
        parts.append(_one_source(side(base, 1), right))
    return Source(*parts[0], other=None if right is None else Source(*parts[1]))


def _one_source(base: Kernel, examples: Any) -> tuple[Kernel, Any, None, Floats | None]:
    if isinstance(base, Precomputed):
        raise InputError(
            "this pair kernel needs k(a, b) between new examples, which a precomputed matrix of rows × training "
            "examples does not hold; use a kernel of degree ≤ 2 or a computed base"
        )
    return base, examples, None, base.features(examples)


def _wide(values: Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)
