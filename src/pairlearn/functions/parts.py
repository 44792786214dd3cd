"""The parts of a learnt function that are scored without kernel values of pairs: forms and weight vectors.

Both score pairs of a batch, and whole blocks of probes × gallery examples tile by tile: memory stays within BLOCK
however large the block, and matrix products stay large enough to run at full speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_examples, widened
from pairlearn.functions.batch import Batch
from pairlearn.kernels import Kernel
from pairlearn.linalg.tiles import product
from pairlearn.operators.form import PairForm, times
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import Source, join_sources
from pairlearn.pair_kernels import Table, ViewKernel
from pairlearn.pair_kernels.table import compares_only
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

BLOCK = 2**28
"""Bytes that scoring may use for one block of kernel values."""
SMALL = 2**20
"""Products that NumPy sums up sooner than compiled loops are loaded."""


@dataclass(frozen=True)
class Embedding:
    """The row e_a of every example: its kernel values with the s support examples, or its features.

    `anchor` is what the base keeps of the support examples, None for features; `width` the length of a row. With r ≤ s
    features rows are shorter and cost no kernel values; a linear kernel on 100 numbers has 100, whatever s. `thin` says
    that the base has features of sparse rows as they are; others get dense ones. `origin` is taken from features where
    the form sees differences only.
    """

    base: Kernel
    anchor: Any
    width: int
    thin: bool = False
    origin: Floats | None = None

    @classmethod
    def of(cls, source: Source, origin: Floats | None = None) -> Embedding:
        """Features where the source has them, else kernel values with its examples."""
        if source.features is not None:
            return cls(source.kernel, None, source.features.shape[1], sparse.issparse(source.examples), origin)
        return cls(source.kernel, source.examples, source.n_examples)

    def __call__(self, examples: Examples) -> Floats:
        """(m, width)."""
        examples = widened(examples)
        if self.anchor is not None:
            return as_rows(self.base(examples, self.anchor))
        Z = self.base.features(examples.toarray() if sparse.issparse(examples) and not self.thin else examples)
        rows = as_rows(_of_width(Z, self.width, "examples"))
        return rows if self.origin is None else rows - self.origin


@dataclass(frozen=True)
class FormPart:
    """One table's quadratic form, over the rows that its two embeddings give."""

    form: PairForm
    left: Embedding
    right: Embedding

    @classmethod
    def of(cls, table: Table, anchors: tuple[Any, ...], support: PairRows, coefficients: Floats) -> FormPart:
        """The form of the support pairs. Over features where they are no longer than rows of kernel values."""
        assert table.base is not None
        sides = [_support_source(base, anchor) for base, anchor in zip(table.base.sides, anchors, strict=True)]
        if len(sides) == 1 and sides[0].features is not None and compares_only(table):
            origin = sides[0].features.mean(axis=0)
            sides = [replace(sides[0], features=sides[0].features - origin)]
            embeddings = [Embedding.of(sides[0], origin)]
        else:
            embeddings = [Embedding.of(side) for side in sides]
        form = join_sources(sides).form(table, support, coefficients)
        return cls(form.dense(), embeddings[0], embeddings[-1])

    @property
    def width(self) -> int:
        """Length of the longer row, at least 1: a map that has learnt nothing has no features."""
        return max(1, self.left.width, self.right.width)

    def add_values(self, batch: Batch, sign: int, total: Floats) -> None:
        """Add the form's values of pairs (a_i, b_i): one product E M, then a dot product per pair."""
        a, b = batch.rows.left, batch.rows.right
        E = self.left(batch.left)
        F = E if self.left is self.right else self.right(batch.right)
        if self.form.cross is not None:
            total += _crossed(np.ascontiguousarray(times(E, self.form.cross)), F, a, b, sign)
        at_left = self.form.at_left(E)
        at_right = at_left if self.form.same_sides else self.form.at_right(F)
        total += at_left[a] + at_right[b]

    def add_block(self, probe: Examples, gallery: Examples, values: Floats) -> None:
        """Add the form's values of every probe with every gallery example, (p, g), tile by tile.

        Rows of the gallery are computed once per column of tiles, those of the probes once per tile: where the gallery
        is larger than a tile, that is cheaper than holding all of them.
        """
        step = max(64, BLOCK // (8 * self.width * 3))
        for cols in _slices(values.shape[1], step):
            F = self.right(_taken(gallery, cols))
            at_right = self.form.at_right(F)
            for rows in _slices(values.shape[0], step):
                E = self.left(_taken(probe, rows))
                if self.form.cross is not None:
                    values[rows, cols] += product(times(E, self.form.cross), F.T)
                values[rows, cols] += self.form.at_left(E)[:, None] + at_right


@dataclass(frozen=True)
class LinePart:
    """⟨φ(a, b), w⟩ for a view whose kernel has features; w = factor · Σ_k θ_k φ(pair_k).

    Support pairs are not needed any more: the sum over them is in the weights, (q,).
    """

    leaf: ViewKernel
    weights: Floats

    @classmethod
    def of(cls, factor: float, leaf: ViewKernel, support: PairRows, coefficients: Floats) -> LinePart | None:
        """The weights of the support pairs, None where the kernel on this view has no features."""
        Z = leaf.kernel.features(support.shown[leaf.view, False])
        return None if Z is None else cls(leaf, factor * (coefficients @ as_rows(Z)))

    def __call__(self, rows: PairRows) -> Floats:
        return self._of(rows.shown[self.leaf.view, False])

    def add_block(self, probe: Examples, gallery: Examples, values: Floats) -> None:
        """Add ⟨φ(a, b), w⟩ of every probe with every gallery example, a few probes at a time."""
        p, g = values.shape
        for rows in _slices(p, max(1, BLOCK // (8 * g * max(1, len(self.weights))))):
            shown = self.leaf.view.show_block(_taken(probe, rows), gallery)
            values[rows] += self._of(shown).reshape(-1, g)

    def _of(self, shown: Examples) -> Floats:
        Z = self.leaf.kernel.features(shown)
        return as_rows(_of_width(Z, len(self.weights), "pairs")) @ self.weights


def _support_source(base: Kernel, anchor: Any) -> Source:
    Z = base.features(anchor)
    worth = Z is not None and Z.shape[1] <= count_examples(anchor)
    return Source(base, anchor, features=as_rows(Z) if worth and Z is not None else None)


def _crossed(T: Floats, F: Floats, a: Ints, b: Ints, sign: int) -> Floats:
    """⟨T_a, F_b⟩ of every pair; of a symmetric function the mean of both orders, equal bit by bit in both."""
    cross = _dots(T, F, a, b)
    return 0.5 * (cross + sign * _dots(T, F, b, a)) if sign else cross


def _dots(T: Floats, F: Floats, a: Ints, b: Ints) -> Floats:
    """⟨T_a, F_b⟩ of every pair, (n,); few of them by NumPy, which is there before compiled loops are loaded."""
    if len(a) * T.shape[1] <= SMALL:
        return np.einsum("ij,ij->i", T[a], F[b])
    dots = np.zeros(len(a))
    loops.products.pair_dots(T, F, a, b, dots)
    return dots


def _of_width(Z: Floats | None, width: int, what: str) -> Floats:
    if Z is None or Z.shape[1] != width:
        found = "no features" if Z is None else counted(Z.shape[1], "feature")
        raise InputError(f"{what} have {found}, but the model was fitted with {width}")
    return Z


def _slices(n: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _taken(examples: Examples, rows: slice) -> Examples:
    return take_examples(examples, np.arange(rows.start, rows.stop))


def as_rows(values: Floats) -> Floats:
    """float64 without gaps, as compiled loops want it."""
    return np.ascontiguousarray(values, dtype=np.float64)
