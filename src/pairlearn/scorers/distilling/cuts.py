"""Rows cut to what scores need, form by form.

Every cut is by eigenvalues in units of scores: with EᵀE the second moments of rows and G = E M Eᵀ = U Λ Uᵀ, leaving out
some λ changes scores of independent examples by √Σλ² (root mean square). The largest |λ| are kept, and the rows of any
example become z(x) = |Λ|^(−½) Uᵀ E M e(x), which is linear in e(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from pairlearn.examples import count_examples, stack_examples, take_examples
from pairlearn.interrupts import delayed
from pairlearn.kernels.low_rank.landmarks import pivots
from pairlearn.operators.form import SideForm
from pairlearn.scorers.distilling.function import Distance, DistilledFunction, Part, Side, partners_of
from pairlearn.scorers.distilling.rows import KernelRows, LinearRows, UnitRows
from pairlearn.scorers.distilling.terms import Form, Matrix, Sum
from pairlearn.scorers.distilling.views import Rows, ShortRows, ViewRows
from pairlearn.types import Examples, Floats, Ints

ROUNDING = 1e-12
"""Share of the largest eigenvalue below which one is rounding."""
LANDMARKS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Shares of the support examples that are tried."""
FEW = 64
"""Support examples that are not worth being fewer."""
NUMBERS = (1, 2, 3)
"""Numbers for lengths and counts of an example in a space of views, that are tried."""
MOST = 1000
"""Support examples that cuts are made by, at most, beside the sample."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A form over fewer numbers: a part of either side (the same in one table), signs of numbers, and a constant."""

    left: Part
    right: Part
    signs: Floats
    bias: float = 0.0


def reduced(total: Sum, tables: Sequence[Examples], error: float) -> DistilledFunction:
    """The sum with rows cut by these sample examples of each table, so that scores miss about `error` (as RMS).

    With error = 0 nothing is cut: the explicit bilinear form, exact up to rounding.
    """
    each = error / np.sqrt(max(1, 2 * len(total.forms) + len(total.distances)))
    cuts = [_cut(form, total.sign, tables, each) for form in total.forms]
    distances = tuple(_distance_cut(one, tables[0], each) for one in total.distances)
    signs = np.concatenate([cut.signs for cut in cuts]) if cuts else np.zeros(0)
    right = Side(tuple(cut.right for cut in cuts)) if total.sign == 0 else None
    bias = total.bias + sum(cut.bias for cut in cuts)
    return DistilledFunction(Side(tuple(cut.left for cut in cuts)), right, total.sign, signs, bias, distances)


# --------------------------------------------------------------------------- one form


def _cut(form: Form, sign: int, tables: Sequence[Examples], error: float) -> Cut:
    if isinstance(form.cross, float) and isinstance(form.left, UnitRows):
        return _unit_cut(form.left, form.cross, tables[0], error)
    if isinstance(form.cross, float) and isinstance(form.left, ViewRows):
        return _view_cut(form.left.times(form.cross), tables[0], error)
    left = _root(form.left, tables[0], error)
    right = left if sign else _root(form.right, tables[-1], error)
    G = _times(left, form.cross) @ right.T
    if sign == 0:
        P, Q = _two_sided(G, error)
        mine, lost = _part(form.left, left, _after(form.cross, right.T @ P), form.own, error)
        theirs, missing = _part(form.right, right, _after(_turned(form.cross), left.T @ Q), form.others, error)
        found = Cut(mine, theirs, np.ones(mine.length), lost + missing)
    else:
        P, signs = _symmetric(G, error) if sign > 0 else _antisymmetric(G, error)
        part, lost = _part(form.left, left, _after(form.cross, right.T @ P), form.own, error)
        found = Cut(part, part, signs, (1 + sign) * lost)
    return _pruned(found, sign, tables, error) if error > 0 else found


def _part(rows: Rows, E: Floats, mix: Floats, own: SideForm | None, error: float) -> tuple[Part, float]:
    """z and own of one side; after it the mean of what is cut off own, which is the same for all."""
    square: Matrix = 0.0 if own is None or own.square is None else own.square
    H = _times(E, square) @ E.T
    P, squares = _symmetric(H, error)
    quadratic = _after(square, E.T @ P)
    line = np.zeros((len(mix), 1)) if own is None else np.asarray(own.linear, dtype=np.float64)[:, None]
    matrix = np.hstack([mix, quadratic, line])
    lost = float(np.trace(H) - np.sum((E @ quadratic) ** 2 @ squares)) if error else 0.0
    if not isinstance(rows, LinearRows):
        return Part(rows, matrix, mix.shape[1], squares), lost
    # A linear map after a linear map is one.
    folded = LinearRows(rows.centre, matrix if rows.axes is None else rows.axes @ matrix)
    return Part(folded, None, mix.shape[1], squares), lost


def _symmetric(G: Floats, error: float) -> tuple[Floats, Floats]:
    """P (n, r) = U |Λ|^(−½) of the largest |λ|, and their signs."""
    values, U = linalg.eigh(0.5 * (G + G.T))
    kept = largest(values, error)
    return U[:, kept] / np.sqrt(np.abs(values[kept])), np.sign(values[kept])


def _antisymmetric(G: Floats, error: float) -> tuple[Floats, Floats]:
    """Of G = Σ p qᵀ − q pᵀ the largest pairs: i G v = μ v with v = a + ib gives p = √(2μ) b and q = √(2μ) a."""
    values, V = linalg.eigh(0.5j * (G - G.T))
    values = np.maximum(values, 0.0)
    kept = largest(values, error / np.sqrt(2.0))
    P, weights = np.empty((len(G), 2 * len(kept))), np.sqrt(2.0 / values[kept])
    P[:, 0::2], P[:, 1::2] = weights * V[:, kept].real, -weights * V[:, kept].imag
    return P, np.ones(2 * len(kept))


def _two_sided(G: Floats, error: float) -> tuple[Floats, Floats]:
    U, values, V = linalg.svd(G, full_matrices=False)
    kept = largest(values, error)
    roots = np.sqrt(values[kept])
    return V[kept].T / roots, U[:, kept] / roots


def largest(values: Floats, limit: float) -> Ints:
    """Places of the largest |values|, largest first: the others have a root sum of squares of at most `limit`.

    >>> largest(np.array([1.0, -5.0, 3.0]), 1.5).tolist()
    [1, 2]
    """
    sizes = np.abs(values)
    order = np.argsort(-sizes, kind="stable")
    left = np.sqrt(np.cumsum(sizes[order][::-1] ** 2)[::-1])
    needed = (left > limit) & (sizes[order] > ROUNDING * sizes.max(initial=0.0))
    return order[: int(needed.sum())]


# --------------------------------------------------------------------------- unit rows, views, distances


def _unit_cut(rows: UnitRows, weight: float, sample: Examples, error: float) -> Cut:
    """A multiple of ⟨e_a, e_b⟩ needs no mixing, and rows of the examples themselves have nothing to store."""
    if error > 0 and rows.linear.axes is not None:
        values, V = linalg.eigh(moments(rows(sample)))
        kept = largest(values, error / max(abs(weight), 1e-300))
        rest = _mean_square(rows.linear(sample)) * max(0.0, 1.0 - float(values[kept].sum() / values.sum()))
        rows = UnitRows(LinearRows(rows.linear.centre, rows.linear.axes @ V[:, kept]), rest)
    r = rows(take_examples(sample, np.arange(1))).shape[1]
    part = Part(rows, None, r, np.zeros(0), float(np.sqrt(abs(weight))))
    return Cut(part, part, np.full(r, np.sign(weight)))


def _view_cut(rows: ViewRows, sample: Examples, error: float) -> Cut:
    """Directions stay, for a few hundred examples do not tell which of a whitened space others need.

    What is cut are lengths and counts of examples, which all views of a space see nearly alike: as few numbers as miss
    no more than `error` between sample examples.
    """
    E, signs = rows(sample), rows.signs
    scores = (E[:, :-1] * signs) @ E[:, :-1].T
    for J in NUMBERS if error > 0 else ():
        short, turned = ShortRows.of(rows, sample, J)
        S = short(sample)[:, :-1]
        if len(turned) < len(signs) and np.sqrt(np.mean(((S * turned) @ S.T - scores) ** 2)) <= error:
            return _as_they_are(short, turned)
    return _as_they_are(rows, signs)


def _as_they_are(rows: Rows, signs: Floats) -> Cut:
    part = Part(rows, None, len(signs), np.zeros(0))
    return Cut(part, part, signs)


def _distance_cut(distance: Distance, sample: Examples, error: float) -> Distance:
    """Directions that hardly vary add nearly the same to every distance: their mean is kept, and they are not.

    With variances λ, what is cut off ‖d_a − d_b‖² varies by 2√2 √Σλ², and its root by that over twice itself.
    """
    if distance.rows.axes is None or error == 0:
        return distance
    D = distance.rows(sample)
    values, V = linalg.eigh(moments(D - D.mean(axis=0)))
    total = max(float(values.sum()), 0.0)
    kept = largest(values, error * np.sqrt(total) / max(abs(distance.weight), 1e-300))
    rest = max(0.0, 2.0 * (total - float(values[kept].sum())))
    return Distance(distance.weight, LinearRows(distance.rows.centre, distance.rows.axes @ V[:, kept]), rest)


# --------------------------------------------------------------------------- what rows are like


def _root(rows: Rows, sample: Examples, error: float) -> Floats:
    """E with EᵀE the second moments of rows; the identity where nothing is to be cut.

    Of kernel values it has a row per sample or support example, of others one per number.
    """
    if error == 0:
        width = rows(take_examples(sample, np.arange(1))).shape[1]
        return np.eye(width)
    if isinstance(rows, KernelRows):
        some = np.linspace(0, len(rows) - 1, min(MOST, len(rows))).astype(np.int64)
        both = stack_examples(sample, take_examples(rows.landmarks, some))
        return rows(both) / np.sqrt(count_examples(both))
    values, V = linalg.eigh(moments(rows(sample)))
    return np.sqrt(np.maximum(values, 0.0))[:, None] * V.T


def moments(E: Floats) -> Floats:
    """Second moments of rows to come, (w, w): that of their mean, and Ledoit's and Wolf's shrunk covariance.

    A sample of fewer rows than numbers knows nothing of some directions; shrinking gives them their share.
    """
    with delayed():
        from sklearn.covariance import ledoit_wolf_shrinkage

    mean = E.mean(axis=0)
    C = (E - mean).T @ (E - mean) / len(E)
    share = float(ledoit_wolf_shrinkage(E - mean, assume_centered=True)) if E.shape[1] > 1 else 0.0
    return np.asarray((1.0 - share) * C + share * np.trace(C) / len(C) * np.eye(len(C)) + np.outer(mean, mean))


def _mean_square(U: Floats) -> float:
    return float(np.mean(np.einsum("ij,ij->i", U, U)))


# --------------------------------------------------------------------------- landmarks


def _pruned(cut: Cut, sign: int, tables: Sequence[Examples], error: float) -> Cut:
    """Fewer support examples where fewer tell as much; errors of both examples of a pair add up."""
    (Z, _), (W, _) = cut.left(tables[0]), cut.right(tables[-1])
    each = error / np.sqrt(2.0)
    left = _fewer(cut.left, tables[0], W if sign == 0 else partners_of(Z, sign, cut.signs), each)
    return replace(cut, left=left, right=left if sign else _fewer(cut.right, tables[-1], Z, each))


def _fewer(part: Part, sample: Examples, partners: Floats, error: float) -> Part:
    """Landmarks by pivots of a Cholesky factor, weights by least squares on support examples and half of the sample.

    The other half tells what scores lose.
    """
    rows = part.rows
    if not isinstance(rows, KernelRows) or len(rows) < FEW or rows.kernel.definite is False or part.matrix is None:
        return part
    support, target, values = rows(rows.landmarks), part.matrix, rows(sample)
    order = pivots(np.diagonal(support).copy(), support.__getitem__, len(support) // 2)
    known, other = np.vstack([support, values[::2]]), values[1::2]
    for share in LANDMARKS:
        chosen = np.sort(order[: round(share * len(support))])
        weights = linalg.lstsq(known[:, chosen], known @ target, cond=1e-10)[0]
        if _missed(other[:, chosen] @ weights, other @ target, part, partners) <= error:
            return replace(part, rows=KernelRows(rows.kernel, take_examples(rows.landmarks, chosen)), matrix=weights)
    return part


def _missed(now: Floats, before: Floats, part: Part, partners: Floats) -> float:
    """Root mean square of what scores change with other rows."""
    (z, own), (w, others) = part.split(now), part.split(before)
    return float(np.sqrt(np.mean(((z - w) @ partners.T) ** 2) + np.mean((own - others) ** 2)))


# --------------------------------------------------------------------------- matrices that may be numbers


def _times(E: Floats, matrix: Matrix) -> Floats:
    return E * matrix if isinstance(matrix, float) else E @ matrix


def _after(matrix: Matrix, right: Any) -> Floats:
    return np.asarray(matrix * right if isinstance(matrix, float) else matrix @ right)


def _turned(matrix: Matrix) -> Matrix:
    return matrix if isinstance(matrix, float) else matrix.T
