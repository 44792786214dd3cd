"""Affinities of drugs and targets: Kronecker ridge in plain NumPy and scikit-learn beside pairlearn, on Davis.

Needs PAIRLEARN_DATA. 68 drugs × 442 targets, all measured; two of the five folds of `repro/drug_targets.py`, with
unseen drugs, unseen targets, and both. RLScore 0.8.1, whose method the first row is, does not build here; on
complete data its closed form is ten lines of NumPy:

    NumPy        A = U [(Uᵀ(Y − mean)V) / (λμᵀ + α)] Vᵀ from D = U diag(λ) Uᵀ and T = V diag(μ) Vᵀ, scores D A Tᵀ
    KernelRidge  scikit-learn's, with the same kernel K(p, q) = D T on 2,000 random training pairs: all 24,000 would be
                 a matrix of 4.6 GB
    trees        boosted trees on the similarities of both sides to the training drugs and targets, side by side
    PairRidge    chooses α itself by what is left out in closed form
    PairSVC      of "binds" (pKd > 7), C from 0.3, 1, 3

α of the first two is one of 0.01 … 10 that has the best Spearman on a fold of the first training part, C of PairSVC the
one with the best AUPR there. Spearman, concordance and the area under the precision-recall curve of "binds" are over
the left-out pairs of both folds; seconds of the processor are all fits of the row, choices included.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import average_precision_score

import pairlearn as pl
from benchmarks.harness import skip_without_data
from benchmarks.rivals import Tool, compare
from repro.drug_targets import SETTINGS, World, davis, judged, left_out, splits

FOLDS, SOME = 2, 2000
ALPHAS = [0.01, 0.1, 1.0, 10.0]
Mask = np.ndarray


@dataclass(frozen=True)
class Method:
    """(world, drugs and targets to learn from, option) → scores of all pairs; options to choose from; judged `like`."""

    fill: Callable[[World, Mask, Mask, Any], np.ndarray]
    options: Callable[[str], list[Any]]
    like: str = "ridge"


def in_numpy(world: World, drugs: Mask, targets: Mask, alpha: float) -> np.ndarray:
    """The closed form."""
    part = world.cut(drugs, targets)
    (left, U), (right, V) = eigh(part.D), eigh(part.T)
    mean = part.Y.mean()
    A = U @ ((U.T @ (part.Y - mean) @ V) / (np.outer(left, right) + alpha)) @ V.T
    return mean + world.D[:, drugs] @ A @ world.T[:, targets].T


def in_scikit_learn(world: World, drugs: Mask, targets: Mask, alpha: float) -> np.ndarray:
    """Kernel ridge on some of the training pairs."""
    rows, cols = (grid.ravel() for grid in np.meshgrid(*map(np.flatnonzero, (drugs, targets)), indexing="ij"))
    some = np.random.default_rng(0).permutation(len(rows))[:SOME]
    rows, cols = rows[some], cols[some]
    y = world.Y[rows, cols]
    K = world.D[np.ix_(rows, rows)] * world.T[np.ix_(cols, cols)]
    model = KernelRidge(alpha=alpha, kernel="precomputed").fit(K, y - y.mean())
    found = [
        y.mean() + model.predict(world.D[np.full(len(world.T), drug)][:, rows] * world.T[:, cols])
        for drug in range(len(world.D))
    ]
    return np.array(found)


def by_trees(world: World, drugs: Mask, targets: Mask, option: None) -> np.ndarray:
    """Similarities side by side as features."""

    def features(rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        return np.hstack([world.D[rows][:, drugs], world.T[cols][:, targets]])

    rows, cols = (grid.ravel() for grid in np.meshgrid(*map(np.flatnonzero, (drugs, targets)), indexing="ij"))
    model = HistGradientBoostingRegressor(random_state=0).fit(features(rows, cols), world.Y[rows, cols])
    every = np.arange(len(world.T))
    return np.array([model.predict(features(np.full(len(every), drug), every)) for drug in range(len(world.D))])


METHODS = {
    "NumPy": Method(in_numpy, lambda setting: ALPHAS),
    "KernelRidge": Method(in_scikit_learn, lambda setting: ALPHAS),
    "trees": Method(by_trees, lambda setting: [None]),
    "PairRidge": Method(World.ridge, lambda setting: [SETTINGS[setting]]),
    "PairSVC": Method(World.svc, lambda setting: [0.3, 1.0, 3.0], "svc"),
}


def chosen(world: World, method: Method, setting: str, drugs: Mask, targets: Mask, quick: bool) -> Any:
    """The option that is best on the first fold of these drugs and targets."""
    options = method.options(setting)
    if len(options) == 1 or quick:
        return options[0]
    inner = world.cut(drugs, targets)
    split = next(splits(setting, inner.Y.shape, seed=1))
    where = left_out(inner, *split)
    values = [judged(inner, method.like, where, method.fill(inner, *split, option)) for option in options]
    return options[int(np.argmax(values))]


def measured(name: str) -> Callable[[str, bool], dict[str, Any]]:
    """Figures over the left-out pairs of the folds."""

    def measure(setting: str, quick: bool) -> dict[str, Any]:
        world, method, truth, found, option = davis(quick), METHODS[name], [], [], None
        began = time.process_time()
        for drugs, targets in splits(setting, world.Y.shape, seed=0, folds=FOLDS):
            if not truth:
                option = chosen(world, method, setting, drugs, targets, quick)
            where = left_out(world, drugs, targets)
            truth.append(world.Y[where])
            found.append(method.fill(world, drugs, targets, option)[where])
        seconds = time.process_time() - began
        y, p = np.concatenate(truth), np.concatenate(found)
        return {
            "Spearman": float(spearmanr(p, y)[0]),
            "concordance": float(pl.evaluation.concordance_index(y, p)),
            "AUPR of binding": float(average_precision_score(y > world.binds, p)),
            "seconds": seconds,
        }

    return measure


TOOLS = (
    Tool("Kronecker ridge, ten lines", "numpy", measured("NumPy")),
    Tool("KernelRidge, 2,000 pairs", "scikit-learn", measured("KernelRidge")),
    Tool("boosted trees", "scikit-learn", measured("trees")),
    Tool("PairRidge", None, measured("PairRidge")),
    Tool("PairSVC of binding", None, measured("PairSVC")),
)


if __name__ == "__main__":
    skip_without_data()
    sys.exit(compare(__file__, dict.fromkeys(SETTINGS, TOOLS), 40.0))
