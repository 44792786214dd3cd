"""Kernels of low rank on MNIST (50 principal components, Gaussian base): what they miss, and what that costs.

20,000 pairs of 2,000 images of the digits 0 … 6 to learn from; tested on pairs of other images of these digits, and on
pairs of the digits 7, 8 and 9, which no model has seen. Every way to choose landmarks at every rank stands beside the
exact kernel on the same pairs: the error of the kernel as it is estimated and on unseen images, EERs, seconds of the
whole fit and by how much it made the process grow. "large" is a fit on 20,000 images within 1 GB, a third of their
Gram matrix.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.budgets import grown
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data, timed
from pairlearn.kernels import Gaussian, LowRank
from pairlearn.kernels.low_rank.landmarks import ORDERS

RANKS = (50, 100, 200, 400, 800)
SEEN = 7
"""Digits below this are learnt from."""
LARGE = 20_000
Array = np.ndarray[Any, Any]


@cache
def images() -> tuple[Array, Array]:
    """40,000 images in 50 components of root mean square length 1, and their digits."""
    data = np.load(data_folder() / "mnist" / "mnist.npz")
    drawn = np.random.default_rng(0).permutation(60_000)[:40_000]
    X = data["X_train"][drawn].reshape(len(drawn), -1) / 255.0
    X -= X.mean(axis=0)
    Z = X @ np.linalg.eigh(X[:10_000].T @ X[:10_000])[1][:, ::-1][:, :50]
    return Z / np.sqrt((Z**2).sum(axis=1).mean()), data["y_train"][drawn]


def drawn_pairs(X: Array, classes: Array, n: int) -> tuple[pl.Pairs, Array]:
    """n pairs, half of them of one digit."""
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, len(X), (2, 20 * n))
    same = classes[left] == classes[right]
    places = np.concatenate([np.nonzero(same & (left != right))[0][: n // 2], np.nonzero(~same)[0][: n - n // 2]])
    pairs = pl.Pairs(X, left[places], right[places])
    return pairs, pairs.labels(classes)


def parts(m: int) -> tuple[tuple[Array, Array], tuple[Array, Array], tuple[Array, Array]]:
    """Images to learn from, other images of the same digits, images of other digits."""
    X, classes = images()
    known, new = np.nonzero(classes < SEEN)[0], np.nonzero(classes >= SEEN)[0][:2000]
    train, test = known[:m], known[m : m + 2000]
    return (X[train], classes[train]), (X[test], classes[test]), (X[new], classes[new])


def fitted(base: Any, m: int, n: int, **options: Any) -> dict[str, float]:
    """One fit, its EERs, and the error of its kernel."""
    (X, classes), others, strangers = parts(m)
    pairs, y = drawn_pairs(X, classes, n)
    machine = pl.PairSVC("tensor_metric", base, C=1.0, random_state=0, time_budget=300.0, **options)
    used, (seconds, _) = grown(lambda: timed(lambda: machine.fit(pairs, y)))
    found = {"seconds": seconds, "MB": used, "converged": machine.fit_status_ == "converged"}
    for name, part in (("eer", others), ("eer_new_digits", strangers)):
        asked, truth = drawn_pairs(*part, 20_000)
        found[name] = pl.evaluation.EER().value(pl.Scores(machine.decision_function(asked), truth))
    kernel = machine.function_.kernel.bases[0]
    if isinstance(base, LowRank):
        own, left = kernel.kernel.diag(others[0]), kernel.kernel.diag(others[0]) - kernel.diag(others[0])
        found |= {"estimate": kernel.error, "error": float(left.sum() / own.sum())}
    return found


def sizes(quick: bool) -> tuple[int, int, tuple[int, ...]]:
    """Images and pairs to learn from, ranks."""
    return (500, 2000, RANKS[:2]) if quick else (2000, 20_000, RANKS)


def exact(quick: bool) -> dict[str, Any]:
    """The kernel itself."""
    m, n, _ = sizes(quick)
    return fitted(Gaussian(), m, n)


def low_rank(way: Any, quick: bool) -> dict[str, Any]:
    """One way to choose landmarks at every rank."""
    m, n, ranks = sizes(quick)
    return {str(rank): fitted(LowRank("rbf", rank, way), m, n) for rank in ranks}


def large(quick: bool) -> dict[str, Any]:
    """Many images within a budget that their Gram matrix would break."""
    m, n = (2000, 2000) if quick else (LARGE, 50_000)
    return fitted(LowRank("rbf", 400), m, n, memory_budget=1e9) | {"gram_MB": 8 * m**2 / 1e6}


def table(results: dict[str, Any]) -> None:
    """All fits, one per line."""
    print(f"\n{'landmarks':<10}{'rank':>6}{'estimate':>10}{'error':>8}{'EER':>8}{'new digits':>12}{'s':>8}{'MB':>8}")
    lines = [(way, rank, row) for way in ORDERS for rank, row in results.get(way, {}).items()]
    lines += [(name, "", results[name]) for name in ("exact", "large") if name in results]
    for way, rank, row in lines:
        errors = f"{row['estimate']:>10.4f}{row['error']:>8.4f}" if "error" in row else " " * 18
        rates = f"{100 * row['eer']:>7.2f}%{100 * row['eer_new_digits']:>11.2f}%"
        print(f"{way:<10}{rank:>6}{errors}{rates}{row['seconds']:>8.1f}{row['MB']:>8.0f}")


def figures(results: dict[str, Any], quick: bool) -> list[Figure]:
    """Goals: no EER lost at the largest rank, errors that are as estimated, time and memory below those of a matrix."""
    found, judged = [], not quick
    reference = results.get("exact")
    for way in (way for way in ORDERS if way in results):
        row = results[way]
        top = row[max(row, key=int)]
        off = max(abs(np.log(one["estimate"] / one["error"])) for one in row.values())
        found.append(Figure(f"{way}: estimate off by a factor of", float(np.exp(off)), "<= 1.2", judged=judged))
        if reference:
            lost = max(top[name] - reference[name] for name in ("eer", "eer_new_digits"))
            found.append(Figure(f"{way}: EER lost at the largest rank", lost, "<= 0.005", judged=judged))
    if reference and "uniform" in results and "200" in results["uniform"]:
        ratio = results["uniform"]["200"]["seconds"] / reference["seconds"]
        found.append(Figure("fit at rank 200 / exact fit, time", ratio, "<= 1", judged=judged))
    if "large" in results:
        found.append(Figure("large: converged", float(results["large"]["converged"]), "== 1", judged=judged))
        grown = results["large"]["MB"] / results["large"]["gram_MB"]
        found.append(Figure("large: memory / Gram matrix", grown, "<= 0.5", judged=judged))
    return found


if __name__ == "__main__":
    skip_without_data()
    ROWS = {
        "exact": exact,
        **{way: lambda quick, way=way: low_rank(way, quick) for way in ORDERS},
        "large": large,
    }
    rows, is_quick = run_rows(__file__, ROWS)
    table(rows)
    sys.exit(print_figures(figures(rows, is_quick)))
