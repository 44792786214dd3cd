"""Do two yeast proteins interact? Splits that share no protein, beside untrained similarities.

Needs PAIRLEARN_DATA. Examples are counts of residue-class triads (343), scaled to unit length; repeated pairs are
removed. Ten random splits of the proteins, 60 : 40: pairs within the larger part train, pairs within the other test,
pairs between the parts are left out, so that every test pair consists of two unseen proteins. Kernel, γ and C are
chosen on a split of the training proteins in the same way. The untrained scores are cosine and Euclid of the same
features.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.kernels import Gaussian

SHARE = 0.6
"""Of the proteins, for training."""
GRID = [
    (kernel, gamma, C)
    for kernel in ("tensor", "tensor_metric", "direct_metric")
    for gamma in (2.0, 8.0)
    for C in (1.0, 10.0)
]


def read() -> tuple[pl.Pairs, np.ndarray]:
    """Every pair once, labels ±1."""
    data = np.load(data_folder() / "ppi_yeast" / "ppi_yeast.npz")
    X = np.sqrt(data["conjoint_triad"].astype(np.float64))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    ordered = np.sort(data["pairs"].astype(np.int64), axis=1)
    _, first = np.unique(ordered, axis=0, return_index=True)
    return pl.Pairs(X, ordered[first, 0], ordered[first, 1]), np.where(data["label"][first] > 0, 1, -1)


def parts(pairs: pl.Pairs, proteins: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(numbers of training pairs, of test pairs, training proteins), no protein in both."""
    rng = np.random.default_rng(seed)
    train = np.zeros(pairs.n_examples, dtype=bool)
    train[rng.permutation(proteins)[: int(SHARE * len(proteins))]] = True
    test = np.zeros(pairs.n_examples, dtype=bool)
    test[proteins] = ~train[proteins]
    both = [np.nonzero(side[pairs.left] & side[pairs.right])[0] for side in (train, test)]
    return both[0], both[1], np.nonzero(train)[0]


def area(scorer: Any, pairs: pl.Pairs, y: np.ndarray) -> float:
    """Area under the ROC curve."""
    return pl.evaluation.area_under_roc(pl.Scores(scorer.decision_function(pairs), y))


def machine(option: tuple[str, float, float]) -> pl.PairSVC:
    """The machine of one line of the grid."""
    kernel, gamma, C = option
    return pl.PairSVC(kernel, Gaussian(gamma), C=C, random_state=0)


def chosen(pairs: pl.Pairs, y: np.ndarray, proteins: np.ndarray, grid: list[Any]) -> Any:
    """The option with the largest area on unseen proteins among the training ones."""
    train, test, _ = parts(pairs, proteins, seed=1)
    areas = [area(machine(option).fit(pairs[train], y[train]), pairs[test], y[test]) for option in grid]
    return grid[int(np.argmax(areas))]


def split(seed: int, quick: bool) -> dict[str, Any]:
    """Areas of one split."""
    pairs, y = read()
    train, test, proteins = parts(pairs, np.arange(pairs.n_examples), seed)
    option = chosen(pairs, y, proteins, GRID[:2] if quick else GRID)
    model = machine(option).fit(pairs[train], y[train])
    scorers = {"PairSVC": model, "cosine": pl.CosineBaseline(), "Euclid": pl.EuclidBaseline()}
    found: dict[str, Any] = {name: area(scorer, pairs[test], y[test]) for name, scorer in scorers.items()}
    return {**found, "train": len(train), "test": len(test), "option": option}


def main() -> int:
    """Print mean areas over the splits."""
    skip_without_data()
    rows = {f"split {seed}": lambda quick, seed=seed: split(seed, quick) for seed in range(10)}
    if "--quick" in sys.argv:
        rows = {"split 0": rows["split 0"]}
    results, quick = run_rows(__file__, rows)
    figures = []
    for name in ("PairSVC", "cosine", "Euclid"):
        values = np.array([row[name] for row in results.values()])
        figures.append(Figure(f"{name}: mean AUC", float(values.mean())))
        if len(values) > 1:
            figures.append(Figure(f"{name}: standard error", float(values.std(ddof=1) / np.sqrt(len(values)))))
    gains = [row["PairSVC"] - max(row["cosine"], row["Euclid"]) for row in results.values()]
    figures.append(Figure("smallest gain over the better untrained score", min(gains), "> 0", judged=not quick))
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
