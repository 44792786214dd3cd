"""How fast are scores? One decision value whatever the dimension, and whole probe × gallery blocks."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, gemm_seconds, peak_memory, print_figures, run_rows, timed
from pairlearn.functions.function import PairFunction


def dimension(quick: bool) -> dict[str, Any]:
    """Seconds per decision value of given Gram rows, for examples of growing dimension."""
    rng = np.random.default_rng(0)
    support, n_pairs = (400, 20_000) if quick else (1000, 100_000)
    left, right = rng.integers(0, support, (2, 5 * support))
    found = {}
    for d in (10, 100, 1000):
        X, test = rng.normal(size=(support, d)), rng.normal(size=(300, d))
        K = np.exp(-((test[:, None, :8] - X[None, :, :8]) ** 2).sum(-1) / d)
        precomputed = pl.kernels.Precomputed()
        kernel = pl.pair_kernel("tensor_metric").on(precomputed)
        anchor = precomputed.anchor(np.eye(support), np.arange(support))
        function = PairFunction(kernel, anchor, left, right, rng.normal(size=len(left)), 0.0)
        pairs = pl.Pairs(K, *rng.integers(0, 300, (2, n_pairs)))
        function(pairs)
        found[str(d)] = min(timed(lambda f=function, p=pairs: f(p))[0] for _ in range(7)) / n_pairs
    return {"seconds_per_value": found, "spread": max(found.values()) / min(found.values())}


def block(quick: bool) -> dict[str, Any]:
    """3,000 × 9,000 scores with a Gaussian base and 2,500 support examples, in float64 operations per second."""
    p, g, m, d = (600, 1800, 500, 50) if quick else (3000, 9000, 2500, 50)
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, m, (2, 10 * m))
    kernel = pl.pair_kernel("tensor_metric").on(pl.kernels.Gaussian(gamma=0.01))
    function = PairFunction(kernel, rng.normal(size=(m, d)), left, right, rng.normal(size=len(left)), 0.0)
    probe, gallery = rng.normal(size=(p, d)), rng.normal(size=(g, d))
    function.block(probe[:200], gallery[:200])
    before = peak_memory()
    seconds = min(timed(lambda: function.block(probe, gallery))[0] for _ in range(3))
    # What must be done: kernel rows, one product with M, one with N on each side, one product of both sides.
    operations = 2.0 * ((p + g) * m * d + p * m * m + (p + g) * m * m + p * g * m)
    size = 1000 if quick else 2500
    rate = 2.0 * size**3 / gemm_seconds(size)
    return {
        "seconds": seconds,
        "rate": operations / seconds / rate,
        "extra_gb": peak_memory() - before,
        "result_gb": 8e-9 * p * g,
    }


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, {"dimension": dimension, "block": block})
    figures = [
        Figure("slowest / fastest time per value over d = 10, 100, 1000", results["dimension"]["spread"], "<= 1.5"),
        Figure("block scoring rate / matrix-product rate", results["block"]["rate"], ">= 0.3333", judged=not is_quick),
        Figure("peak GB above start (result included)", results["block"]["extra_gb"], "<= 2", judged=not is_quick),
    ]
    sys.exit(print_figures(figures))
