"""Double interval at the papers' largest sizes: 2.5 to 20 million pairs over 2,000 to 16,000 classes of eight examples.

n = 2000, tensor_metric over the squared base (homogeneous polynomial of degree 2), all positive pairs and random
negative ones. C = 1 over the square of k(x, x). Where a Gram matrix is too large, features of a stated rank take its
place (`LowRank`, k-means++ landmarks); rows "exact" hold it. Tested on all pairs of 100 other classes, beside the
cosine. Every row has a process of its own; times are in products of 2500 × 2500 matrices ("gemm").
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, Row, gemm_seconds, peak_memory, print_figures, run_rows, timed

N, EPCR, TESTED = 2000, 8, 100
SECONDS, BYTES = 3000.0, 14e9


def row(n_classes: int, n_pairs: int, rank: int | None, epcr: int = EPCR) -> Row:
    """A row of so many classes and pairs; rank None is exact, 0 pairs are all of them."""

    def measure(quick: bool) -> dict[str, Any]:
        n, classes, most = (60, 40, 20_000) if quick else (N, n_classes, n_pairs)
        X, codes = pl.data.double_interval(classes + TESTED, epcr, n=n, seed=0)
        tested = np.isin(codes, np.random.default_rng(0).permutation(np.unique(codes))[:TESTED])
        train, test = X[~tested].astype(np.float32), X[tested].astype(np.float32)
        some = pl.selection.PairSampler(negatives=most or None, reflexive=False, seed=0)
        pairs = some.draw(train, codes[~tested])
        del X
        base = "poly" if rank is None else pl.kernels.LowRank("poly", min(rank, 50) if quick else rank)
        machine = pl.PairSVC(
            "tensor_metric", base, C=float(n) ** -4, random_state=0, memory_budget=BYTES, time_budget=SECONDS
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, _ = timed(lambda: machine.fit(pairs, pairs.labels(codes[~tested])))
        unseen = pl.all_pairs(test, reflexive=False)
        truth = unseen.labels(codes[tested])
        untrained = pl.baselines.fit_baseline("cosine", unseen, truth, codes[tested])
        rates = {
            name: float(pl.equal_error_rate(pl.Scores.of(model, unseen, truth)))
            for name, model in {"eer": machine, "untrained": untrained}.items()
        }
        return {
            "examples": len(train),
            "pairs": len(pairs),
            "rank": rank,
            "seconds": seconds,
            "gemm": seconds / gemm_seconds(),
            "status": machine.fit_status_,
            "gap": machine.kkt_gap_,
            "support": machine.n_support_,
            "path": machine.path_,
            "peak_gb": peak_memory(),
            **rates,
        }

    return measure


ROWS = {
    "250 classes exact": row(250, 300_000, None),
    "250 classes rank 100": row(250, 300_000, 100),
    "250 classes rank 400": row(250, 300_000, 400),
    "1000 classes rank 200": row(1000, 1_250_000, 200),
    "2000 classes rank 200": row(2000, 2_500_000, 200),
    "2000 classes rank 400": row(2000, 2_500_000, 400),
    "4000 classes rank 200": row(4000, 5_000_000, 200),
    "8000 classes rank 200": row(8000, 10_000_000, 200),
    "16000 classes rank 200": row(16_000, 20_000_000, 200),
    "500 classes exact": row(500, 625_000, None),
    "1000 classes exact": row(1000, 1_250_000, None),
    "2000 classes exact": row(2000, 2_500_000, None),
    "4000 classes exact": row(4000, 5_000_000, None),
    "750 classes, all 18 million pairs": row(750, 0, None),
}
FALLING = {
    kind: [f"{classes} classes {kind}" for classes in (250, 500, 1000, 2000, 4000, 8000, 16_000)]
    for kind in ("exact", "rank 200", "rank 400")
}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """The goals: certified, below 16 GB, and an EER that falls with the number of classes."""
    found: list[Figure] = []
    for name, cells in rows.items():
        found += [
            Figure(f"{name}: pairs", cells["pairs"]),
            Figure(f"{name}: gemm", cells["gemm"]),
            Figure(f"{name}: certified gap", cells["gap"], "<= 0.001", judged=not quick),
            Figure(f"{name}: peak GB of the process", cells["peak_gb"], "<= 16", judged=not quick),
            Figure(f"{name}: EER on {TESTED} unseen classes, %", 100 * cells["eer"]),
            Figure(f"{name}: EER untrained, %", 100 * cells["untrained"]),
        ]
    for kind, names in FALLING.items():
        rates = [rows[name]["eer"] for name in names if name in rows]
        if len(rates) > 1:
            name = f"{kind}: largest rise of the EER with more classes, points"
            found.append(Figure(name, 100 * float(np.max(np.diff(rates))), "<= 0", judged=not quick))
    return found


if __name__ == "__main__":
    sys.exit(print_figures(figures(*run_rows(__file__, ROWS))))
