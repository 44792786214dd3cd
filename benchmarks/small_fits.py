"""Fits of fewer than 2,000 pairs, which cross-validation makes by the thousand, beside LIBSVM: at most twice its time.

All pairs of 41 and 60 MNIST digits (PCA 30; synthetic classes without PAIRLEARN_DATA), six pair kernels on three bases,
C = 0.1, 1, 10 over the mean self value of a pair. LIBSVM gets the Gram matrix of the pairs ready made ("solver"), and
with the time that it takes to compute it by this library's own operator ("whole"), without which nobody has such a
matrix. A metric kernel of a linear base is also SVC(kernel="poly") on differences ("differences"), without a matrix.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.svm import SVC

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, timed
from pairlearn.errors import InputError
from pairlearn.operators.build import build

KERNELS = ("metric", "tensor", "tensor_metric", "direct_sum", "direct_metric", "wedge_squared")
BASES = ("linear", "rbf", "poly")
STRENGTHS = (0.1, 1.0, 10.0)
WAYS = ("solver", "whole", "differences")
Data = tuple[np.ndarray, np.ndarray]


def digits(m: int) -> Data:
    """m examples with their classes."""
    try:
        data = np.load(data_folder() / "mnist" / "mnist.npz")
    except InputError:
        X, classes = pl.data.double_interval(10, 10, n=30, seed=0)
        return X[:m], classes[:m]
    images, classes = (data[name][:2000] for name in ("X_train", "y_train"))
    X = PCA(30, random_state=0).fit_transform(images.reshape(len(images), -1) / 255.0)
    chosen = np.random.default_rng(0).choice(len(X), m, replace=False)
    return X[chosen], classes[chosen]


def quickest(action: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """(seconds, result) of the quickest of some calls: what is left is the work itself."""
    runs = [timed(action) for _ in range(repeats)]
    return min(seconds for seconds, _ in runs), runs[-1][1]


def compared(name: str, base: str, strength: float, data: Data, repeats: int) -> dict[str, float]:
    """Milliseconds of one fit in every way, and how far the decision values are from LIBSVM's, relative."""
    X, classes = data
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes)
    kernel = pl.pair_kernel(name).on(pl.kernels.as_kernel(base))
    everything = np.arange(len(pairs))
    gram_seconds, K = quickest(lambda: build(kernel, pairs).operator.submatrix(everything), repeats)
    C = strength / float(np.mean(np.diagonal(K)))
    ours, machine = quickest(lambda: pl.PairSVC(name, base, C=C).fit(pairs, y), repeats)
    theirs, svc = quickest(lambda: SVC(C=C, kernel="precomputed", cache_size=500).fit(K, y), repeats)
    result = {"ours": 1e3 * ours, "solver": 1e3 * theirs, "whole": 1e3 * (theirs + gram_seconds)}
    if (name, base) == ("metric", "linear"):
        D = X[pairs.left] - X[pairs.right]
        poly = SVC(C=C, kernel="poly", degree=2, gamma=0.5, coef0=0.0, cache_size=500)
        result["differences"] = 1e3 * quickest(lambda: poly.fit(D, y), repeats)[0]
    expected = svc.decision_function(K)
    off = np.abs(machine.decision_function(pairs) - expected).max() / np.abs(expected).max()
    return {**result, "off": float(off), "converged": float(machine.kkt_gap_ <= machine.tol)}


def row(m: int) -> Callable[[bool], dict[str, Any]]:
    def measure(quick: bool) -> dict[str, Any]:
        data, found = digits(m), {}
        strengths, bases = (STRENGTHS[1:2], BASES[:2]) if quick else (STRENGTHS, BASES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pl.PairSVC().fit(pl.all_pairs(data[0]), pl.all_pairs(data[0]).labels(data[1]))  # the first compiles
            for name in KERNELS:
                for base in bases:
                    for strength in strengths:
                        case = compared(name, base, strength, data, 2 if quick else 5)
                        found[f"{name} {base} {strength:g}"] = {key: round(value, 6) for key, value in case.items()}
        return found

    return measure


ROWS = {"820 pairs": row(41), "1770 pairs": row(60)}


def figures(results: dict[str, dict[str, Any]], quick: bool) -> Iterator[Figure]:
    for size, cases in results.items():
        for way in WAYS:
            ratios = np.array([case["ours"] / case[way] for case in cases.values() if way in case])
            goal = None if way == "differences" else "<= 2"
            yield Figure(f"{size}: median time, of LIBSVM's ({way})", float(np.median(ratios)), goal, judged=not quick)
            yield Figure(f"{size}: longest time, of LIBSVM's ({way})", float(ratios.max()), goal, judged=not quick)
        yield Figure(f"{size}: decision values off, relative", max(case["off"] for case in cases.values()), "<= 0.01")
        yield Figure(f"{size}: fits that converged", min(case["converged"] for case in cases.values()), "== 1")


if __name__ == "__main__":
    sys.exit(print_figures(figures(*run_rows(__file__, ROWS))))
