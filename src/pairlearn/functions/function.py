"""A learnt function of pairs: Σ θ_k K(pair, support pair_k) + bias, from the support examples alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pairlearn.cluster.session import Cluster, active
from pairlearn.errors import InputError
from pairlearn.examples import check_examples, count_examples, stack_examples, take_examples, widened
from pairlearn.functions.batch import Batch, sources_of
from pairlearn.functions.parts import BLOCK, FormPart, LinePart, as_rows
from pairlearn.kernels import Kernel
from pairlearn.operators.blocked import kernel_diagonal, self_values
from pairlearn.operators.rows import PairRows, show
from pairlearn.operators.source import AnySource, Source, join_sources
from pairlearn.pair_kernels import Leaf, PairKernel, View, ViewKernel
from pairlearn.pair_kernels.canonical import Term
from pairlearn.pair_kernels.views import PAIRS_ONLY
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted, crossed

SIGNS = {"symmetric": 1, "antisymmetric": -1, "none": 0}


@dataclass(frozen=True, repr=False)
class PairFunction:
    """g(a, b) = Σ_k θ_k K((a, b), (left_k, right_k)) + bias.

    Computed from that sum, one value would cost a kernel value per support pair, of which there may be millions over
    a few thousand examples. So the kernel is split once: terms of degree ≤ 2 in the base kernel become a quadratic form
    over the support examples (`parts`), terms on views with features a weight vector (`lines`); only the `rest`
    (products, powers and Gaussians of pair kernels) is summed as it stands.

    `anchor` holds what the base kernels need of the support examples (`right_anchor` of the right ones, in two
    domains); `left` and `right` count within it; `seen` is what each view shows of the support pairs (and whether
    of the swapped ones). Model files store these fields by name.
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
        """The function of these support pairs; only their examples are kept.

        All bases of a kernel see the same examples, so one anchor serves them all.

        >>> import pairlearn as pl
        >>> kernel = pl.pair_kernel("tensor").on(pl.kernels.Linear())
        >>> g = PairFunction.of(kernel, pl.Pairs([[1.0], [2.0], [9.0]], [0], [1]), np.array([0.5]), 1.0)
        >>> g, g(pl.Pairs([[3.0], [1.0]], [0], [1])).tolist()
        (PairFunction(1 support pair of 2 examples), [4.0])
        """
        used, (left, right) = pairs.renumbered()
        base = next((base for base in kernel.bases if base is not None), None)
        sides = () if base is None else zip(base.sides, pairs.tables.sides, used, strict=True)
        anchors = [side.anchor(table, rows) for side, table, rows in sides]
        return cls(
            kernel=kernel,
            anchor=anchors[0] if anchors else None,
            left=left.astype(np.int32),
            right=right.astype(np.int32),
            coefficients=coefficients,
            bias=bias,
            right_anchor=anchors[1] if len(anchors) > 1 else None,
            seen=tuple((view, order, table) for (view, order), table in show(kernel, pairs).items()),
        )

    def __repr__(self) -> str:
        examples = crossed([count_examples(anchor) for anchor in self.anchors], "example")
        return f"PairFunction({counted(len(self.coefficients), 'support pair')} of {examples})"

    # -- what it consists of

    @property
    def n_tables(self) -> int:
        """How many tables of examples its pairs have: 1, or 2 in two domains; 0 if it sees views of pairs only."""
        return max((len(base.sides) for base in self.kernel.bases if base is not None), default=0)

    @cached_property
    def anchors(self) -> tuple[Any, ...]:
        """What is kept of the support examples of each table, in float64: values are those of the certified fit."""
        return tuple(map(widened, (self.anchor, self.right_anchor)[: self.n_tables]))

    @property
    def support(self) -> PairRows:
        """The support pairs as a kernel sees them."""
        return PairRows(self.left, self.right, {(view, order): table for view, order, table in self.seen})

    @property
    def sign(self) -> int:
        """+1 for a symmetric function, −1 for an antisymmetric one up to the bias, 0 for neither."""
        return 0 if self.n_tables == 2 else SIGNS[self.kernel.symmetry]

    @cached_property
    def parts(self) -> tuple[FormPart, ...]:
        """One quadratic form for the terms of degree ≤ 2 of every base."""
        tables = self.kernel.split()[0]
        return tuple(FormPart.of(table, self.anchors, self.support, self.coefficients) for table in tables)

    @cached_property
    def lines(self) -> tuple[LinePart, ...]:
        """One weight vector for every view with features."""
        terms = self.kernel.split()[1]
        found = (LinePart.of(factor, leaf, self.support, self.coefficients) for factor, leaf in terms)
        return tuple(line for line in found if line is not None)

    @cached_property
    def rest(self) -> PairKernel | None:
        """All other terms: their kernel values are computed pair by pair."""
        _, seen, rest = self.kernel.split()
        lines = {line.leaf for line in self.lines}
        terms: list[Term] = [(factor, (leaf,)) for factor, leaf in seen if leaf not in lines]
        terms += [] if rest is None else rest.terms
        return PairKernel(tuple(terms)) if terms else None

    # -- pairs

    def __call__(self, pairs: Pairs) -> Floats:
        """Values of these pairs, (n_pairs,).

        Symmetric bit by bit: g(u, v) and g(v, u) of the same table of examples are equal to the last bit.
        """
        self.check(pairs)
        values = np.full(len(pairs), self.bias, dtype=np.float64)
        if len(self.coefficients) == 0 or len(pairs) == 0:
            return values
        if (cluster := active(len(pairs))) is not None:
            parts = [pairs[part].compacted().pairs for part in cluster.parts(len(pairs))]
            return np.concatenate(cluster.map(PairFunction.__call__, self, parts))
        step = self._pairs_per_block(len(pairs), sum(map(len, pairs.used_rows())), _numbers(pairs))
        for start in range(0, len(pairs), step):
            part = pairs if step >= len(pairs) else pairs[start : start + step]
            values[start : start + step] += self._values(self.batch(part), self._sign_on(pairs))
        return values

    def check(self, pairs: Pairs) -> None:
        """Refuse pairs of one table where two are needed, and the other way round."""
        if self.n_tables == 2 and len(pairs.tables.sides) == 1:
            raise InputError("this model was fitted on pairs of two tables; pass pl.Pairs(…, right_examples=…)")
        if self.n_tables == 1:
            pairs.require_one_table(
                "this model compares examples of one table, but these pairs have right_examples of their own"
            )

    def batch(self, pairs: Pairs) -> Batch:
        """These pairs, to be scored together."""
        return Batch.of(pairs, self.kernel, both_orders=self.sign != 0)

    def _sign_on(self, pairs: Pairs) -> int:
        """Its sign on these pairs: those of two tables have one order, also where no base kernel compares them."""
        return self.sign if len(pairs.tables.sides) == 1 else 0

    def self_values(self, pairs: Pairs) -> Floats:
        """K(pair, pair) of any pairs, (n_pairs,)."""
        batch = self.batch(pairs)
        return kernel_diagonal(self.kernel, sources_of(self.kernel, batch.tables), batch.rows)

    def kernel_rows(self, kernel: PairKernel, batch: Batch, rows: PairRows) -> Floats:
        """Kernel values with every support pair, (n, n_support).

        The base kernel compares every example of the batch with every support example once; all pairs look their
        four values up in that matrix.
        """
        support = self.support
        sources = {base: self._compared(base, batch) for base in kernel.bases if base is not None}

        def across(leaf: Leaf) -> Floats:
            if isinstance(leaf, ViewKernel):
                return rows.compared(leaf, support)
            assert leaf.base is not None
            return sources[leaf.base].table_block(leaf, rows, support)

        # Self values are computed only when asked for: between new rows of a precomputed matrix there are none.
        return kernel.evaluate(
            across,
            lambda leaf: self_values(leaf, sources_of(self.kernel, batch.tables), rows),
            lambda leaf: self_values(leaf, sources_of(self.kernel, self.anchors), support),
        )

    def _compared(self, base: Kernel, batch: Batch) -> AnySource:
        """Values of the batch's examples (rows) with the support examples (columns)."""
        sides = zip(base.sides, batch.tables, self.anchors, strict=True)
        return join_sources([Source(side, None, as_rows(side(table, kept))) for side, table, kept in sides])

    def _pairs_per_block(self, n_pairs: int, n_used: int, n_numbers: int = 1) -> int:
        """How many pairs of examples with so many numbers each to score together, within BLOCK bytes.

        Kernel values of pairs take room per pair; forms take it per example, of which a block of k pairs has at most
        2k, so if the examples of all pairs fit there is one block.
        """
        if self.rest is not None:
            return max(1, BLOCK // (8 * len(self.coefficients) * 3))
        width = max([n_numbers, *(part.width for part in self.parts)])
        most = max(128, BLOCK // (8 * width * 2))
        return n_pairs if n_used <= most else max(1, most // 2)

    def _values(self, batch: Batch, sign: int) -> Floats:
        total = np.zeros(len(batch.rows))
        for part in self.parts:
            part.add_values(batch, sign, total)
        if self.lines or self.rest is not None:
            # Both orders, where that makes the result (anti)symmetric bit by bit.
            straight = self._values_by_pairs(batch, batch.rows)
            swapped = self._values_by_pairs(batch, batch.rows.swapped()) if sign else straight
            total += 0.5 * (straight + sign * swapped) if sign else straight
        return total

    def _values_by_pairs(self, batch: Batch, rows: PairRows) -> Floats:
        values = np.zeros(len(rows))
        for line in self.lines:
            values += line(rows)
        if self.rest is not None:
            values += self.kernel_rows(self.rest, batch, rows) @ self.coefficients
        return values

    # -- all probes with all gallery examples

    def block(self, probe: Examples, gallery: Examples) -> Floats:
        """Values of every probe with every gallery example, (p, g), by matrix products.

        E M Fᵀ with E a row per probe and F a row per gallery example: p·s² + p·g·s operations instead of p·g·s².
        """
        if any(view.needs_pairs for view, _, _ in self.seen):
            raise InputError(PAIRS_ONLY)
        probe, gallery = check_examples(probe, "probe"), check_examples(gallery, "gallery")
        values = np.full((count_examples(probe), count_examples(gallery)), self.bias, dtype=np.float64)
        if len(self.coefficients) == 0 or values.size == 0:
            return values
        if (cluster := active(values.size)) is not None:
            return _block_by_parts(self, probe, gallery, cluster)
        if self.rest is not None:
            self._fill_block_by_pairs(probe, gallery, values)
            return values
        for part in self.parts:
            part.add_block(probe, gallery, values)
        for line in self.lines:
            line.add_block(probe, gallery, values)
        return values

    def pairs_between(self, probe: Examples, gallery: Examples) -> Callable[[Ints, Ints], Pairs]:
        """Makes pairs of probes a and gallery examples b, in as many tables as this function compares."""
        if self.n_tables == 2:
            return lambda a, b: Pairs(probe, a, b, right_examples=gallery)
        everyone, first = stack_examples(probe, gallery), count_examples(probe)
        return lambda a, b: Pairs(everyone, a, first + b)

    def _fill_block_by_pairs(self, probe: Examples, gallery: Examples, values: Floats) -> None:
        p, g = values.shape
        between = self.pairs_between(probe, gallery)
        rows = max(1, BLOCK // (24 * len(self.coefficients) * g))
        for first in range(0, p, rows):
            a, b = np.divmod(np.arange(first * g, min(p, first + rows) * g), g)
            values[first : first + rows] = self(between(a, b)).reshape(-1, g)


def _numbers(pairs: Pairs) -> int:
    """Of an example, at most; 1 where these are no rows of numbers."""
    tables = [table for table in pairs.tables.sides if isinstance(table, np.ndarray) and table.ndim == 2]
    return max((table.shape[1] for table in tables), default=1)


# --------------------------------------------------------------------------- on workers


def _block_by_parts(function: PairFunction, probe: Examples, gallery: Examples, cluster: Cluster) -> Floats:
    """The longer side in parts, one per task; the shorter one goes to every worker."""
    p, g = count_examples(probe), count_examples(gallery)
    longer, shorter = (probe, gallery) if p >= g else (gallery, probe)
    parts = [take_examples(longer, np.arange(part.start, part.stop)) for part in cluster.parts(max(p, g))]
    work = _block_of_probes if p >= g else _block_of_gallery
    return np.concatenate(cluster.map(work, (function, shorter), parts), axis=0 if p >= g else 1)


def _block_of_probes(shared: tuple[PairFunction, Examples], probe: Examples) -> Floats:
    function, gallery = shared
    return function.block(probe, gallery)


def _block_of_gallery(shared: tuple[PairFunction, Examples], gallery: Examples) -> Floats:
    function, probe = shared
    return function.block(probe, gallery)
