"""Limits of FMR and FNMR at many thresholds in one pass.

The same numbers as `interval(scores, FmrAt(b), method="jackknife")` for every threshold b, and FnmrAt(b): errors only
add up as the threshold moves, so E_u, the errors of unit u, and Σ E_c² over the cells c are updated, not counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairlearn.evaluation.resampling.limits import share_limits
from pairlearn.evaluation.resampling.spread import Spread
from pairlearn.evaluation.resampling.units import Units, earlier_equals
from pairlearn.evaluation.scores import Scores
from pairlearn.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a rate at each threshold; shapes (n_thresholds,)."""

    low: Floats
    high: Floats


def fmr_limits_along(scores: Scores, units: Units, thresholds: Floats, level: float) -> Limits:
    """Limits of the share of negative pairs with value ≥ each threshold; thresholds rise.

    >>> from pairlearn.evaluation.resampling import units_of
    >>> scores = Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1])
    >>> fmr_limits_along(scores, units_of(scores, "pair"), np.array([0.9]), 0.95).high.round(3).tolist()
    [0.842]
    """
    chosen = scores.labels < 0
    order = np.flatnonzero(chosen)[np.argsort(-scores.values[chosen], kind="stable")]
    errors = np.searchsorted(-scores.values[order], -thresholds, side="right")
    found = _accumulated(units, chosen, order, errors[::-1], level)
    return Limits(found.low[::-1], found.high[::-1])


def fnmr_limits_along(scores: Scores, units: Units, thresholds: Floats, level: float) -> Limits:
    """Limits of the share of positive pairs with value < each threshold; thresholds rise.

    >>> from pairlearn.evaluation.resampling import units_of
    >>> scores = Scores([0.1, 0.6, 0.7, 0.9], [-1, -1, 1, 1])
    >>> fnmr_limits_along(scores, units_of(scores, "pair"), np.array([0.5]), 0.95).low.tolist()
    [0.0]
    """
    chosen = scores.labels > 0
    order = np.flatnonzero(chosen)[np.argsort(scores.values[chosen], kind="stable")]
    errors = np.searchsorted(scores.values[order], thresholds, side="left")
    return _accumulated(units, chosen, order, errors, level)


def _accumulated(units: Units, chosen: Bools, order: Ints, errors: Ints, level: float) -> Limits:
    """Limits when the first errors[k] pairs of `order` are wrong; errors never fall."""
    rates = errors / len(order)
    sums = _unit_sums(units, chosen, order, errors, rates)
    cells = _cell_variance(units, chosen, order, errors, rates)
    n = units.n_units
    variance = np.maximum((n - 1) / n * sums[0] - cells, cells)
    # Sums that are zero in theory are some 1e-20 of rounding here.
    variance[variance < 1e-25] = 0.0
    low, high = share_limits(rates, Spread.of(n, variance, *sums), units.effective_number(chosen), level)
    return Limits(np.minimum(low, rates), np.maximum(high, rates))


def _unit_sums(units: Units, chosen: Bools, order: Ints, errors: Ints, rates: Floats) -> Floats:
    """Σ e_u², Σ e_u³ and Σ e_u⁴ of the centred effects e_u of leaving unit u out, (3, n_errors)."""
    if units.n_units == len(chosen) and bool(units.inside.all()):
        return _pair_sums(len(order), rates)
    n, N = units.n_units, len(order)
    sizes = units.sums(chosen)
    rest = 1 - sizes / N
    first, second = units.first[order], units.second[order]
    wrong, start = np.zeros(n), 0
    sums = np.zeros((3, len(errors)))
    for k, stop in enumerate(errors):
        if stop > start:
            wrong += np.bincount(first[start:stop], minlength=n)
            wrong += np.bincount(second[start:stop], minlength=n + 1)[:n]
            start = int(stop)
        effects = (wrong - rates[k] * sizes) / (N * rest)
        effects -= effects.mean()
        squares = effects * effects
        sums[:, k] = squares.sum(), squares @ effects, squares @ squares
    return sums


def _pair_sums(N: int, rates: Floats) -> Floats:
    """The same where every pair is a unit of its own: N·r effects (1 − r)/(N − 1), N·(1 − r) effects −r/(N − 1)."""
    r, q = rates, 1 - rates
    return np.array([N * r * q * (q ** (k - 1) - (-r) ** (k - 1)) / (N - 1) ** k for k in (2, 3, 4)])


def _cell_variance(units: Units, chosen: Bools, order: Ints, errors: Ints, rates: Floats) -> Floats:
    """Σ_c ((E_c − r·N_c)/N)² over the cells c, at each number of errors."""
    between = units.cells[order] >= 0
    if not between.any():
        return np.zeros(len(errors))
    cells = units.cells[order][between]
    sizes = np.bincount(cells).astype(np.float64)
    # One more error in a cell that has E already adds (E + 1)² − E² = 2E + 1 to ΣE².
    steps = np.zeros((2, len(order) + 1))
    steps[0, 1:][between] = 2 * earlier_equals(cells) + 1
    steps[1, 1:][between] = sizes[cells]
    of_squares, of_sizes = np.cumsum(steps, axis=1)[:, errors]
    return np.asarray((of_squares - 2 * rates * of_sizes + rates**2 * (sizes @ sizes)) / len(order) ** 2)
