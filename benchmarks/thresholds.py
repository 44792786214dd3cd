"""Does a threshold keep its promise? P(true FMR ≤ target) over draws of identities, beside the plain threshold.

Negative scores a_i + a_j + e_u + e_v + noise with effects of identities and examples, 4 pairs for each two identities;
all normal, so that the true FMR of any threshold is known in closed form. "Large" effects of identities are as large as
the noise. The skewed case has exponential effects (true FMR by quadrature): nothing in the sample tells of their tail.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr

import pairlearn as pl
from benchmarks.harness import Figure, Row, print_figures, run_rows, timed
from pairlearn.errors import InputError
from pairlearn.evaluation.thresholds import threshold_at_fmr

EXAMPLE, NOISE, PAIRS_PER_COUPLE = 0.3, 1.0, 4
MODERATE, LARGE = 0.5, 1.0  # standard deviations of the effects of identities
CONFIDENCES = (0.9, 0.95)
SEED = 1_000_000  # apart from the runs by which the method was chosen

Truth = Callable[[float], float]


def normal_truth(deviation: float) -> Truth:
    """FMR of a threshold when all effects are normal."""
    total = np.sqrt(2 * deviation**2 + 2 * EXAMPLE**2 + NOISE**2)
    return lambda threshold: float(ndtr(-threshold / total))


def skewed_truth(deviation: float) -> Truth:
    """FMR when effects of identities are exponential, less their mean: their sum has a gamma distribution."""
    sums, step = np.linspace(0, 60, 60_001, retstep=True)
    weights = sums * np.exp(-sums) * step
    rest = np.sqrt(2 * EXAMPLE**2 + NOISE**2)
    return lambda threshold: float(weights @ ndtr((deviation * (sums - 2) - threshold) / rest))


def simulate(seed: int, n: int, deviation: float, skewed: bool) -> pl.Scores:
    """Negative pairs of n identities, and two positive ones, which FMR does not look at."""
    rng = np.random.default_rng(seed)
    one, other = (np.repeat(column, PAIRS_PER_COUPLE) for column in np.triu_indices(n, 1))
    turn = np.tile(np.arange(PAIRS_PER_COUPLE), len(one) // PAIRS_PER_COUPLE)
    a = deviation * (rng.exponential(size=n) - 1 if skewed else rng.normal(size=n))
    e = EXAMPLE * rng.normal(size=(n, 4))
    values = a[one] + a[other] + e[one, turn // 2] + e[other, 2 + turn % 2] + NOISE * rng.normal(size=len(one))
    labels = np.append(np.full(len(one), -1), [1, 1])
    ids = (np.append(column, [0, 1]) for column in (one, other))
    return pl.Scores(np.append(values, [20.0, 21.0]), labels, None, None, *ids)


def promise(n: int, deviation: float, fmr: float, runs: int, *, skewed: bool = False) -> Row:
    """Share of the runs whose threshold has a true FMR ≤ fmr: over identities, over pairs, and without a promise."""
    truth = (skewed_truth if skewed else normal_truth)(deviation)

    def row(quick: bool) -> dict[str, Any]:
        rules: dict[str, dict[str, Any]] = {"plain": {}}
        for confidence in CONFIDENCES:
            rules[f"{100 * confidence:g} %"] = {"confidence": confidence}
            rules[f"{100 * confidence:g} %, pairs"] = {"confidence": confidence, "unit": "pair"}
        true: dict[str, list[float]] = {name: [] for name in rules}
        for seed in range(40 if quick else runs):
            scores = simulate(SEED + seed, n, deviation, skewed)
            for name, options in rules.items():
                try:
                    true[name].append(truth(threshold_at_fmr(scores, fmr, **options).value))
                except InputError:
                    true[name].append(float("nan"))
        found: dict[str, Any] = {"runs": len(true["plain"])}
        for name, values in true.items():
            reached = np.array(values)[~np.isnan(values)]
            found[name] = {
                "held": float(np.mean(reached <= fmr)) if len(reached) else None,
                "reached": len(reached) / len(values),
                "true_over_target": float(np.median(reached) / fmr) if len(reached) else None,
            }
        return found

    return row


def cost(quick: bool) -> dict[str, Any]:
    """Seconds of a threshold with a promise beside a plain one, for the pairs of many identities."""
    scores = simulate(0, 300 if quick else 1000, MODERATE, False)
    plain, _ = timed(lambda: threshold_at_fmr(scores, 1e-3))
    safe, _ = timed(lambda: threshold_at_fmr(scores, 1e-3, confidence=0.95))
    return {"pairs": len(scores), "plain": plain, "safe": safe}


ROWS = {
    "50 identities": promise(50, MODERATE, 1e-2, 2000),
    "50 identities, large effects": promise(50, LARGE, 1e-2, 2000),
    "100 identities": promise(100, MODERATE, 1e-2, 1000),
    "100 identities, large effects": promise(100, LARGE, 1e-2, 1000),
    "200 identities": promise(200, MODERATE, 1e-3, 600),
    "200 identities, large effects": promise(200, LARGE, 1e-3, 600),
    "100 identities, large skewed effects": promise(100, LARGE, 1e-2, 600, skewed=True),
    "cost": cost,
}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """The promise is the goal; thresholds over pairs and plain ones are shown for comparison."""
    found = []
    for name, row in rows.items():
        if name == "cost":
            found.append(Figure("with a promise / plain, seconds", row["safe"] / row["plain"]))
            continue
        for confidence in CONFIDENCES:
            rule, goal = f"{100 * confidence:g} %", None if "skewed" in name else f">= {100 * confidence:g}"
            found.append(Figure(f"{name}: {rule}, kept (%)", 100 * row[rule]["held"], goal, judged=not quick))
            found.append(Figure(f"{name}: {rule}, as if pairs were independent", 100 * row[f"{rule}, pairs"]["held"]))
        found.append(Figure(f"{name}: without a promise", 100 * row["plain"]["held"]))
        found.append(Figure(f"{name}: true FMR / target at 95 %, median", row["95 %"]["true_over_target"]))
    return found


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, ROWS)
    sys.exit(print_figures(figures(results, is_quick)))
