"""The distilled function: few numbers per example, and a dot product of them per pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn import loops
from pairlearn.errors import InputError
from pairlearn.examples import count_examples
from pairlearn.linalg.tiles import product
from pairlearn.pairs import Pairs
from pairlearn.scorers.distilling.rows import LinearRows
from pairlearn.scorers.distilling.views import Rows
from pairlearn.types import Examples, Floats, Ints


@dataclass(frozen=True, eq=False)
class Part:
    """What one form needs of an example: z, (n, r), and own, (n,), from its rows @ matrix = (z | y | l).

    own = Σ_i squares_i · y_i² + Σ l; z is multiplied by `scale`. `length` is r; without a matrix the rows stand as
    they are.
    """

    rows: Rows
    matrix: Floats | None
    length: int
    squares: Floats
    scale: float = 1.0

    def __call__(self, examples: Examples) -> tuple[Floats, Floats]:
        """z and own of every example."""
        E = self.rows(examples)
        return self.split(E if self.matrix is None else product(E, np.asarray(self.matrix, dtype=np.float64)))

    def split(self, H: Floats) -> tuple[Floats, Floats]:
        """z and own of rows (z | y | l)."""
        r, end = self.length, self.length + len(self.squares)
        if not end <= H.shape[1] <= end + 1:
            raise InputError(f"examples have {H.shape[1]} features, but the model was distilled with {end}")
        own = H[:, r:end] ** 2 @ self.squares + H[:, end:].sum(axis=1)
        return H[:, :r] if self.scale == 1.0 else self.scale * H[:, :r], own


@dataclass(frozen=True, eq=False)
class Side:
    """What one example of a pair brings to all forms: z of all parts side by side, own of all together."""

    parts: tuple[Part, ...]

    def __call__(self, examples: Examples) -> tuple[Floats, Floats]:
        """z, (n, r), and own, (n,)."""
        n = count_examples(examples)
        if not self.parts:
            return np.zeros((n, 0)), np.zeros(n)
        found = [part(examples) for part in self.parts]
        Z = np.ascontiguousarray(np.hstack([z for z, _ in found]))
        return Z, np.sum([own for _, own in found], axis=0)

    @property
    def length(self) -> int:
        """Numbers of z."""
        return sum(part.length for part in self.parts)


@dataclass(frozen=True, eq=False)
class Distance:
    """−weight · √(‖d_a − d_b‖² + rest), d linear rows; `rest` is the mean square of what was cut off the difference."""

    weight: float
    rows: LinearRows
    rest: float = 0.0

    def of_pairs(self, examples: Examples, a: Ints, b: Ints) -> Floats:
        """(n_pairs,), from ‖d_a‖² + ‖d_b‖² − 2⟨d_a, d_b⟩: the same bits in both orders."""
        D = self.rows(examples)
        norms = np.einsum("ij,ij->i", D, D)
        return self._of_squares(norms[a] + norms[b] - 2.0 * dots(D, D, a, b))

    def of_tables(self, probe: Examples, gallery: Examples) -> Floats:
        """(p, g)."""
        A, B = self.rows(probe), self.rows(gallery)
        norms = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)[None, :]
        return self._of_squares(norms - 2.0 * product(A, B.T))

    def _of_squares(self, squares: Floats) -> Floats:
        return -self.weight * np.sqrt(np.maximum(squares, 0.0) + self.rest)


@dataclass(frozen=True, eq=False, repr=False)
class DistilledFunction:
    """g(a, b) = bias + ⟨z_a, J z_b⟩ + own(a) + sign · own(b) + Σ distances.

    J is diag(signs) of a symmetric function (sign = 1) and swaps neighbours, (q, −p), in an antisymmetric one (sign =
    −1). Pairs of two tables (`right` is given) have z and own of either side: ⟨z_a, z'_b⟩ + own(a) + own'(b).
    """

    left: Side
    right: Side | None
    sign: int
    signs: Floats
    bias: float
    distances: tuple[Distance, ...] = ()

    def __repr__(self) -> str:
        return f"DistilledFunction({self.left.length} numbers per example, {len(self.distances)} distances)"

    def __call__(self, pairs: Pairs) -> Floats:
        """Values of these pairs, (n_pairs,); of one table the same bits, up to the sign, in both orders."""
        self.check(pairs)
        if len(pairs) == 0:
            return np.zeros(0)
        compact = pairs.compacted().pairs
        tables, (a, b) = compact.tables.sides, compact.columns
        Z, own = self.left(tables[0])
        if self.right is not None:
            W, others = self.right(tables[-1])
            return self.bias + dots(Z, W, a, b) + (own[a] + others[b])
        values = self.bias + (self._crossed(Z, a, b) + (own[a] + self.sign * own[b]))
        for distance in self.distances:
            values += distance.of_pairs(tables[0], a, b)
        return values

    def block(self, probe: Examples, gallery: Examples) -> Floats:
        """Values of every probe with every gallery example, (p, g)."""
        (Z, own), (W, others) = self.left(probe), (self.right or self.left)(gallery)
        partners, sign = (W, 1) if self.right is not None else (self.partners(W), self.sign)
        values = self.bias + product(Z, partners.T) + (own[:, None] + sign * others[None, :])
        for distance in self.distances:
            values += distance.of_tables(probe, gallery)
        return values

    def check(self, pairs: Pairs) -> None:
        """Refuse pairs of one table where two are needed, and the other way round."""
        if self.right is not None and len(pairs.tables.sides) == 1:
            raise InputError("this model was fitted on pairs of two tables; pass pl.Pairs(…, right_examples=…)")
        if self.right is None:
            pairs.require_one_table(
                "this model compares examples of one table, but these pairs have right_examples of their own"
            )

    def partners(self, Z: Floats) -> Floats:
        """J z of every example, (n, r)."""
        return partners_of(Z, self.sign, self.signs)

    def _crossed(self, Z: Floats, a: Ints, b: Ints) -> Floats:
        """Products of single numbers commute, so that one sum serves both orders; of differences it takes two."""
        partners = self.partners(Z)
        if self.sign > 0:
            return dots(Z, partners, a, b)
        return 0.5 * (dots(Z, partners, a, b) - dots(Z, partners, b, a))


def partners_of(Z: Floats, sign: int, signs: Floats) -> Floats:
    """J z, (n, r): signs · z, or neighbours (p, q) as (q, −p)."""
    if sign > 0:
        return Z * signs
    partners = np.empty_like(Z)
    partners[:, 0::2], partners[:, 1::2] = Z[:, 1::2], -Z[:, 0::2]
    return partners


def dots(Z: Floats, W: Floats, a: Ints, b: Ints) -> Floats:
    """⟨z_a, w_b⟩ of every pair, (n_pairs,)."""
    values = np.zeros(len(a))
    if Z.shape[1]:
        loops.products.pair_dots(Z, W, a, b, values)
    return values
