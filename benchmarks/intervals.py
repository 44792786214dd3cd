"""Do 95 % intervals hold the true rate in 95 % of all cases? Over identities, and as if pairs were independent.

Scores with effects of identities and examples, whose rates are known in closed form:
negative = a_i + a_j + e_u + e_v + noise, positive = μ + b_i + e_u + e_v + noise, all normal.
50 identities, 4 examples each: 300 positive pairs, and 4 of the 16 pairs of each two identities (4,900 negative).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

import pairlearn as pl
from benchmarks.harness import Figure, Row, peak_memory, print_figures, run_rows, timed
from pairlearn.evaluation import FmrAt, FnmrAt, Interval, difference_interval, interval

N_IDENTITIES, PER_IDENTITY = 50, 4
MEANS = (3.2, 2.9)  # of the positive pairs of the two systems
IDENTITY, POSITIVE_IDENTITY, EXAMPLE, NOISE = 0.5, 0.7, 0.3, 1.0  # standard deviations of a, b, e and noise
THRESHOLD, FMR = 2.6, 1e-2
RATES = {
    "EER": pl.equal_error_rate,
    "FNMR at a threshold": FnmrAt(THRESHOLD),
    "FMR at a threshold": FmrAt(THRESHOLD),
    "FNMR at FMR 1e-2": partial(pl.evaluation.fnmr_at_fmr, fmr=FMR),
}
DIFFERENCE = "difference of two EERs"


def true_rates(mean: float) -> dict[str, float]:
    """Both kinds of scores are normal."""
    negative = np.sqrt(2 * IDENTITY**2 + 2 * EXAMPLE**2 + NOISE**2)
    positive = np.sqrt(POSITIVE_IDENTITY**2 + 2 * EXAMPLE**2 + NOISE**2)
    rates = (
        ndtr(-mean / (negative + positive)),
        ndtr((THRESHOLD - mean) / positive),
        ndtr(-THRESHOLD / negative),
        ndtr((-ndtri(FMR) * negative - mean) / positive),
    )
    return dict(zip(RATES, map(float, rates), strict=True))


def pairs_of(n_identities: int) -> tuple[Any, Any, Any, Any]:
    """Examples left and right, and their identities: all pairs in an identity, a quarter of the others."""
    left, right = np.triu_indices(n_identities * PER_IDENTITY, 1)
    one, other = left // PER_IDENTITY, right // PER_IDENTITY
    kept = (one == other) | ((left % PER_IDENTITY < 2) & (right % PER_IDENTITY >= 2))
    return left[kept], right[kept], one[kept], other[kept]


def two_systems(seed: int, n_identities: int = N_IDENTITIES) -> list[pl.Scores]:
    """Scores of two systems on the same pairs; half of each effect's variance is common to both."""
    rng = np.random.default_rng(seed)
    left, right, one, other = pairs_of(n_identities)
    same = one == other
    sizes = (n_identities, n_identities, n_identities * PER_IDENTITY, len(left))
    common = [rng.normal(size=size) for size in sizes]
    found = []
    for mean in MEANS:
        a, b, e, noise = ((shared + rng.normal(size=shared.size)) / np.sqrt(2) for shared in common)
        of_identity = np.where(same, mean + POSITIVE_IDENTITY * b[one], IDENTITY * (a[one] + a[other]))
        values = of_identity + EXAMPLE * (e[left] + e[right]) + NOISE * noise
        found.append(pl.Scores(values, np.where(same, 1, -1), left, right, one, other))
    return found


def intervals(seed: int, **options: Any) -> dict[str, Interval]:
    """All intervals from one simulated evaluation."""
    first, second = two_systems(seed)
    found = {name: interval(first, rate, seed=seed, **options) for name, rate in RATES.items()}
    return {**found, DIFFERENCE: difference_interval(first, second, pl.equal_error_rate, seed=seed, **options)}


def coverage(runs: int, **options: Any) -> Row:
    """Share of the runs in which each interval holds the truth, and by how much its width exceeds the ideal one."""

    def row(quick: bool) -> dict[str, Any]:
        first, second = (true_rates(mean) for mean in MEANS)
        truth = {**first, DIFFERENCE: first["EER"] - second["EER"]}
        found = [intervals(seed, **options) for seed in range(30 if quick else runs)]
        result: dict[str, Any] = {"runs": len(found)}
        for name, true in truth.items():
            mine = [each[name] for each in found]
            ideal = 2 * 1.959964 * np.std([each.estimate for each in mine], ddof=1)
            result[name] = {
                "truth": round(true, 5),
                "coverage": float(np.mean([each.low <= true <= each.high for each in mine])),
                "truth_below": float(np.mean([true < each.low for each in mine])),
                "truth_above": float(np.mean([true > each.high for each in mine])),
                "width": float(np.mean([each.high - each.low for each in mine]) / ideal),
            }
        return result

    return row


def cost(quick: bool) -> dict[str, Any]:
    """Seconds per resample of the EER on a million pairs, beside one sort of the values."""
    first, _ = two_systems(0, 100 if quick else 700)
    sort = min(timed(lambda: np.sort(first.values))[0] for _ in range(3))
    few, _ = timed(lambda: interval(first, pl.equal_error_rate, n_resamples=50))
    many, _ = timed(lambda: interval(first, pl.equal_error_rate, n_resamples=150))
    # A fifth more curves for the cells; preparation falls out of the difference.
    return {"pairs": len(first), "per_resample": (many - few) / 100, "sort": sort, "peak_gb": peak_memory()}


ROWS = {
    "bootstrap": coverage(2000, method="bootstrap", n_resamples=150),
    "jackknife": coverage(2000, method="jackknife"),
    "pairs": coverage(1000, method="bootstrap", n_resamples=100, unit="pair"),
    "cost": cost,
}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """Goals: coverage between 93 and 97 %; without identities it is shown for comparison."""
    found = []
    for row in ("bootstrap", "jackknife"):
        for name in (*RATES, DIFFERENCE) if row in rows else ():
            value = 100 * rows[row][name]["coverage"]
            found.append(Figure(f"{row}: {name}, coverage (%)", value, ">= 93", judged=not quick))
            found.append(Figure(f"{row}: {name}, coverage, from above (%)", value, "<= 97", judged=not quick))
    for name in (*RATES, DIFFERENCE) if "pairs" in rows else ():
        found.append(Figure(f"as if pairs were independent: {name} (%)", 100 * rows["pairs"][name]["coverage"]))
    if "cost" in rows:
        found.append(
            Figure("one resample / one sort of the values", rows["cost"]["per_resample"] / rows["cost"]["sort"])
        )
    return found


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, ROWS)
    sys.exit(print_figures(figures(results, is_quick)))
