"""What does the theorem save? Training on both orders of every pair against the balanced kernel on each pair once."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, timed


def mirrored(quick: bool) -> dict[str, Any]:
    """poly_direct_sum with a Gaussian base, C = 1, solved by plain SMO in both ways to the same gap."""
    warnings.simplefilter("ignore", pl.errors.SymmetryWarning)
    rng = np.random.default_rng(0)
    n_classes = 8 if quick else 20
    classes = np.repeat(np.arange(n_classes), 8)
    X = rng.normal(size=(n_classes, 10))[classes] + 0.5 * rng.normal(size=(len(classes), 10))
    pairs = pl.all_pairs(X)
    y = pairs.labels(classes)
    plain = pl.pair_kernels.poly_direct_sum(degree=2, offset=1.0)
    direct = pl.PairSVC(plain.balanced(), "rbf", tol=1e-4, solver="smo")
    both = pl.PairSVC(plain, "rbf", tol=1e-4, solver="smo", mirrored=True)
    direct.fit(pairs, y)
    seconds = [min(timed(lambda clf=clf: clf.fit(pairs, y))[0] for _ in range(3)) for clf in (direct, both)]
    difference = np.abs(direct.decision_function(pairs) - both.decision_function(pairs)).max()
    scale = np.abs(direct.decision_function(pairs)).max()
    return {"pairs": len(pairs), "direct": seconds[0], "mirrored": seconds[1], "difference": float(difference / scale)}


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, {"mirrored": mirrored})
    row = results["mirrored"]
    slower = Figure("mirrored training / direct", row["mirrored"] / row["direct"], ">= 1", "3–4", judged=not is_quick)
    equal = Figure("largest relative difference of decision values", row["difference"], "<= 1e-3")
    sys.exit(print_figures([slower, equal]))
