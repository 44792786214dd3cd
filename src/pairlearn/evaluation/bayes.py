"""What the best decision could reach: posteriors of pairs, Bayes DET curves, risks.

With class posteriors P_c(u) of independently drawn examples, P(same | u, v) = Σ_c P_c(u)·P_c(v).
Interclass task: over all classes. Interexample task: `ClassPosteriors.among` drops the absent classes first.

Two Bayes DET curves: `det_curve(Scores(posteriors, labels))` is what the posteriors reach on a test set, noise
included; `bayes_det` is what they reach on average. Jumps of both are joined by straight lines, which a rule that
tosses a coin at the threshold attains: `fnmr_on_line`. A test set with the same number of examples per class has
another share of positive pairs than independent draws; that moves the posteriors (`at_prior`), not their order.
For the checker board see `pairlearn.data.checker_board_difference_posterior`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pairlearn.data import synthetic
from pairlearn.errors import InputError
from pairlearn.evaluation.rates import DetCurve, Rates
from pairlearn.types import Floats, Ints

CHUNK, KEPT_BITS = 2**15, 40  # pairs at a time; bits of 53: sums in another order must not break ties


@dataclass(frozen=True, eq=False)
class ClassPosteriors:
    """P(class | example) for any number of classes: a background plus an excess for the listed classes.

    P_c(u) = background[u] + excess[u, c], the excess being 0 for the n_classes − k classes that are not listed;
    classes (k,), excess (m, k), an array or a sparse matrix, background (m,). Rows sum to one.

    >>> P = ClassPosteriors.of([[0.8, 0.15, 0.05], [0.2, 0.6, 0.2]])
    >>> P.same([0], [1]).round(3).tolist(), P.among([1, 2]).same([0], [1]).round(3).tolist()
    ([0.26], [0.625])
    """

    classes: Ints
    excess: Any
    background: Floats
    n_classes: int

    @classmethod
    def of(cls, P: Any, classes: ArrayLike | None = None) -> ClassPosteriors:
        """Posteriors from a matrix (m, c), dense or sparse; `classes` names its columns (0, …, c−1 unless given)."""
        matrix = P.tocsr() if sparse.issparse(P) else np.asarray(P, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] == 0:
            raise InputError(f"P must have one row per example and one column per class, got shape {matrix.shape}")
        names = np.arange(matrix.shape[1]) if classes is None else np.asarray(classes)
        if names.shape != matrix.shape[1:] or len(np.unique(names)) < len(names):
            raise InputError(f"classes must name each of the {matrix.shape[1]} columns of P once")
        if not (np.all(np.abs(_row_sums(matrix) - 1.0) < 1e-6) and matrix.min() >= 0):
            raise InputError("rows of P must be probabilities that sum to one; divide each row by its sum")
        return cls(names, matrix, np.zeros(matrix.shape[0]), len(names))

    def __len__(self) -> int:
        return len(self.background)

    def among(self, classes: ArrayLike) -> ClassPosteriors:
        """Posteriors when only these classes exist (repeats count once): the others dropped, rows renormalised."""
        present = np.unique(np.asarray(classes))
        kept = np.flatnonzero(np.isin(self.classes, present))
        if not 0 < len(present) <= len(kept) + self.n_classes - len(self.classes):
            raise InputError(f"classes must be some of the {self.n_classes} classes of these posteriors")
        excess = self.excess[:, kept]
        sums = len(present) * self.background + _row_sums(excess)
        if np.any(sums <= 0):
            raise InputError(f"example {np.argmax(sums <= 0)} cannot be of any of these classes; add its class")
        scaled = excess.multiply(1.0 / sums[:, None]).tocsr() if sparse.issparse(excess) else excess / sums[:, None]
        return ClassPosteriors(self.classes[kept], scaled, self.background / sums, len(present))

    def same(self, left: ArrayLike, right: ArrayLike) -> Floats:
        """P(same | u, v) of the pairs (left[i], right[i]), rows of these posteriors; shapes (n_pairs,)."""
        u, v = np.asarray(left), np.asarray(right)
        if u.ndim != 1 or u.shape != v.shape or any(np.any(column < 0) for column in (u, v)):
            raise InputError("left and right must be two columns of row numbers, 0 or more, of the same length")
        found = np.empty(len(u))
        for start in range(0, len(u), CHUNK):
            part = slice(start, start + CHUNK)
            one, other = self.excess[u[part]], self.excess[v[part]]
            both = _row_sums(one.multiply(other) if sparse.issparse(one) else one * other)
            found[part] = self._total(u[part], v[part], both)
        return found

    def matrix(self) -> Floats:
        """P(same | u, v) of all pairs of examples by one matrix product; shape (m, m)."""
        product = self.excess @ self.excess.T
        everyone = np.arange(len(self))
        return self._total(everyone[:, None], everyone, product.toarray() if sparse.issparse(product) else product)

    def _total(self, u: Ints, v: Ints, both: Floats) -> Floats:
        # Σ_c (b_u + e_uc)(b_v + e_vc)
        b, e = self.background, _row_sums(self.excess)
        total = self.n_classes * (b[u] * b[v]) + (b[u] * e[v] + b[v] * e[u]) + both
        mantissa, exponent = np.frexp(np.clip(total, 0.0, 1.0))
        return np.ldexp(np.round(np.ldexp(mantissa, KEPT_BITS)), exponent - KEPT_BITS)


def peaked_posteriors(visible: ArrayLike, probability: ArrayLike, n_classes: int) -> ClassPosteriors:
    """Posteriors with one visible class per example, all other classes equally likely.

    P_c(u) = p_u for c = visible[u], else (1 − p_u)/(n_classes − 1); visible (m,), probability (m,) or a number.
    No class is listed but those in sight, so 2⁶² classes are as quick as two.

    >>> P = peaked_posteriors([5, 5, 2**40], 0.75, n_classes=2**62)
    >>> P.same([0, 0], [1, 2]).round(4).tolist()
    [0.5625, 0.0]
    """
    classes, column = np.unique(visible, return_inverse=True)
    p = np.broadcast_to(np.asarray(probability, dtype=np.float64), column.shape)
    if not np.all((p >= 0) & (p <= 1)) or n_classes < max(2, len(classes)):
        raise InputError("probability must lie between 0 and 1, n_classes be at least 2 and count unseen classes too")
    background = (1.0 - p) / (n_classes - 1)
    excess = sparse.csr_array((p - background, (np.arange(len(p)), column)), shape=(len(p), len(classes)))
    return ClassPosteriors(classes, excess, background, int(n_classes))


def orthant_posteriors(X: ArrayLike, p1: float = 0.5, p2: float = 0.85) -> ClassPosteriors:
    """Posteriors of `pairlearn.data.disturbed_orthant`, without listing its 2ⁿ⁻¹ classes.

    p = 1 for the visible orthant if max|x_t| > 2^(−1/n), else (p₂−p₁)/(1−p₁); others uniform. X of shape (m, n).

    >>> orthant_posteriors([[0.1, -0.2], [0.1, -0.9]]).matrix().round(3).tolist()
    [[0.58, 0.7], [0.7, 1.0]]
    """
    synthetic.disturbed_orthant_posterior(X, p1, p2, classes=[0])  # checks its input
    rows = np.asarray(X, dtype=np.float64)
    n = rows.shape[1]
    hidden = (p2 - p1) / (1 - p1) if p1 < 1 else 1.0
    seen = np.where(np.abs(rows).max(axis=1) > 2 ** (-1 / n), 1.0, hidden)
    return peaked_posteriors((rows[:, 1:] < 0) @ (1 << np.arange(n - 1)), seen, 2 ** (n - 1))


def interval_posteriors(X: ArrayLike) -> ClassPosteriors:
    """Posteriors of `pairlearn.data.disturbed_single_interval`, at most 11 classes per example.

    P_c(x) = P(shift ≡ start − c mod n), start the first positive coordinate; X of shape (m, n), n classes.

    >>> interval_posteriors(2 * np.eye(30) - 1).same([0, 0, 0], [0, 1, 15]).round(4).tolist()
    [0.5018, 0.0782, 0.0]
    """
    synthetic.disturbed_single_interval_posterior(X, classes=[0])  # checks its input
    rows = np.asarray(X)
    m, n = rows.shape
    classes = (np.argmax(rows > 0, axis=1)[:, None] - synthetic.SHIFTS) % n
    places = np.repeat(np.arange(m), classes.shape[1]), classes.ravel()
    return ClassPosteriors.of(sparse.coo_array((np.tile(synthetic.SHIFT_PROBABILITIES, m), places), shape=(m, n)))


def at_prior(posteriors: ArrayLike, old: float, new: float) -> Floats:
    """Posteriors when the share of positive pairs is `new` instead of `old`; their order stays.

    The odds π/(1−π) are multiplied by new·(1−old)/(old·(1−new)); shape (n_pairs,).
    1/c for independent examples of c classes; (epcr−1)/(m−1) for all pairs of m examples, epcr of each class.

    >>> at_prior([0.0, 0.2, 1.0], old=0.2, new=0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    if not (0 < old < 1 and 0 < new < 1):
        raise InputError(f"shares must lie strictly between 0 and 1, got old={old}, new={new}")
    values = _checked_posteriors(posteriors)
    positive, negative = new * (1 - old) * values, old * (1 - new) * (1.0 - values)
    return positive / (positive + negative)


def bayes_det(posteriors: ArrayLike, weights: ArrayLike | None = None) -> DetCurve:
    """DET curve of the Bayes rules on average: each pair is positive with its posterior probability π.

    FNMR(b) = Σ_{π<b} wπ / Σwπ, FMR(b) = Σ_{π≥b} w(1−π) / Σw(1−π); one point per distinct π, then the end point.
    Convex; strictly monotone but for pairs with π = 0 (FNMR stays 0) or 1 (FMR stays 0). Posteriors and pairs must
    have the same share of positives (`at_prior`). Shapes (n_pairs,).

    >>> curve = bayes_det([0.0, 0.5, 0.5, 1.0])
    >>> curve.thresholds.tolist(), curve.fmr.tolist(), curve.fnmr.tolist(), curve.equal_error_rate
    ([0.0, 0.5, 1.0, inf], [1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0], 0.25)
    """
    values, w = _weighted(posteriors, weights)
    thresholds, group = np.unique(values[w > 0], return_inverse=True)
    mass = np.bincount(group, weights=w[w > 0])
    rejected = np.append(0.0, np.cumsum(mass * thresholds))
    accepted = np.append(np.cumsum((mass * (1.0 - thresholds))[::-1])[::-1], 0.0)
    return DetCurve(np.append(thresholds, np.inf), accepted / accepted[0], rejected / rejected[-1])


def fnmr_on_line(curve: DetCurve, fmr: ArrayLike) -> Floats:
    """FNMR at the given FMRs on the polyline through the points, as a coin at the threshold attains; any shape.

    >>> fnmr_on_line(bayes_det([0.0, 0.5, 0.5, 1.0]), [0.0, 0.25, 0.5]).tolist()
    [0.5, 0.25, 0.0]
    """
    return np.interp(np.asarray(fmr, dtype=np.float64), curve.fmr[::-1], curve.fnmr[::-1])


def expected_rates(posteriors: ArrayLike, accepted: ArrayLike, weights: ArrayLike | None = None) -> Rates:
    """FMR and FNMR of any rule, on average: `accepted` is the probability that it accepts a pair (0 or 1 is a rule).

    FMR = Σw(1−π)a / Σw(1−π), FNMR = Σwπ(1−a) / Σwπ; shapes (n_pairs,).

    >>> expected_rates([0.0, 0.5, 0.5, 1.0], [0, 0, 1, 1])
    Rates(fmr=0.25, fnmr=0.25)
    """
    values, w = _weighted(posteriors, weights)
    a = np.asarray(accepted, dtype=np.float64)
    if a.shape != values.shape or not np.all((a >= 0) & (a <= 1)):
        raise InputError(f"accepted must hold one probability per pair, {len(values)} in all")
    positive, negative = w * values, w * (1.0 - values)
    return Rates(float(negative @ a / negative.sum()), float(positive @ (1.0 - a) / positive.sum()))


def risk(rates: Rates, positive: float, d: float = 1.0) -> float:
    """R_d = d·P(+)·FNMR + P(−)·FMR: a false non-match costs d, a false match 1; `positive` is P(+).

    >>> risk(Rates(fmr=0.25, fnmr=0.5), positive=0.2, d=2.0)
    0.4
    """
    return d * positive * rates.fnmr + (1.0 - positive) * rates.fmr


def bayes_threshold(d: float = 1.0) -> float:
    """1/(d+1): accepting the pairs whose posterior is at least this minimises R_d, d > 0.

    >>> bayes_threshold(3.0)
    0.25
    """
    return 1.0 / (d + 1.0)


def _row_sums(matrix: Any) -> Floats:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()


def _checked_posteriors(posteriors: ArrayLike) -> Floats:
    values = np.asarray(posteriors, dtype=np.float64)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise InputError("posteriors must be one column of probabilities; try matrix()[np.triu_indices(m, 1)]")
    return values


def _weighted(posteriors: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats]:
    values = _checked_posteriors(posteriors)
    w = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != values.shape or not np.all((w >= 0) & (w < np.inf)):
        raise InputError(f"weights must be finite and not negative, one per pair, {len(values)} in all")
    if not (w @ values > 0 and w @ (1.0 - values) > 0):
        raise InputError("all pairs are certainly positive or all certainly negative; a DET curve needs both kinds")
    return values, w
