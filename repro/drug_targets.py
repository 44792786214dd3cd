"""How strongly does a drug bind a target? Davis kinase affinities, for unseen drugs, unseen targets, and both.

Needs PAIRLEARN_DATA. Pairs of two tables: 68 drugs (structure similarity) × 442 targets (sequence similarity), both
precomputed, label pKd = 9 − log₁₀ Kd. Five folds of drugs and of targets; "both" leaves out the drugs and the targets
of a fold at once. Seven of ten pairs show no binding (pKd = 5) and would pull an ε-insensitive machine to that value,
so pairs that bind weigh more; C and that weight are chosen once per setting on a fold of the first training set.
Beside it: kernel ridge regression with the product kernel (closed form, λ chosen in the same way) and the mean of
what is known of the other side. Spearman's correlation and the concordance index are over all left-out pairs
together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data

Mask = np.ndarray

README = {"unseen drugs": "0.416", "unseen targets": "0.691"}
"""Spearman of leave-one-out kernel ridge, from the README of the data."""


def read(quick: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(drug similarities, target similarities, pKd)."""
    data = np.load(data_folder() / "davis_kiba" / "davis.npz")
    step = 4 if quick else 1
    T, Y = data["target_sim"][::step, ::step], 9.0 - np.log10(data["Kd_nM"][:, ::step])
    return data["drug_sim"].astype(np.float64), T.astype(np.float64), Y.astype(np.float64)


def splits(setting: str, shape: tuple[int, int], seed: int) -> Iterator[tuple[Mask, Mask]]:
    """(drugs, targets) to train on; the rest of the sides that the setting names is the test."""
    rng = np.random.default_rng(seed)
    drug_fold, target_fold = rng.permutation(shape[0]) % 5, rng.permutation(shape[1]) % 5
    for fold in range(5):
        drugs = drug_fold != fold if setting != "unseen targets" else np.ones(shape[0], dtype=bool)
        targets = target_fold != fold if setting != "unseen drugs" else np.ones(shape[1], dtype=bool)
        yield drugs, targets


def left_out(drugs: Mask, targets: Mask) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the test pairs."""
    rows = np.nonzero(~drugs)[0] if not drugs.all() else np.arange(len(drugs))
    cols = np.nonzero(~targets)[0] if not targets.all() else np.arange(len(targets))
    return rows, cols


class World:
    """The similarities and affinities, and models that fill in what is left out: (drugs, targets, option) → all pKd."""

    def __init__(self, D: np.ndarray, T: np.ndarray, Y: np.ndarray) -> None:
        self.D, self.T, self.Y = D, T, Y

    def machine(self, drugs: Mask, targets: Mask, option: tuple[float, float]) -> np.ndarray:
        """PairSVR, tensor kernel on two domains; C, ε and tol are in spreads of the affinities."""
        C, weight = option
        d, t = np.nonzero(drugs)[0], np.nonzero(targets)[0]
        left, right = (index.ravel() for index in np.meshgrid(np.arange(len(d)), np.arange(len(t)), indexing="ij"))
        pairs = pl.Pairs(self.D[np.ix_(d, d)], left, right, right_examples=self.T[np.ix_(t, t)])
        y = self.Y[d[left], t[right]]
        model = pl.PairSVR("tensor", ("precomputed", "precomputed"), C=C, epsilon=0.1, tol=2e-2, random_state=0)
        model.fit(pairs, y, np.where(y > 5.0, weight, 1.0))
        return model.score_block(self.D[:, d], self.T[:, t])

    def ridge(self, drugs: Mask, targets: Mask, option: float) -> np.ndarray:
        """(K_D ⊗ K_T + λ)⁻¹ by the eigenvalues of the two factors."""
        a, U = np.linalg.eigh(self.D[np.ix_(drugs, drugs)])
        b, V = np.linalg.eigh(self.T[np.ix_(targets, targets)])
        Y = self.Y[np.ix_(drugs, targets)]
        A = U @ ((U.T @ (Y - Y.mean()) @ V) / (np.outer(a, b) + option)) @ V.T
        return self.D[:, drugs] @ A @ self.T[:, targets].T + Y.mean()

    def mean(self, drugs: Mask, targets: Mask, option: float) -> np.ndarray:
        """The mean pKd of the drug and of the target, as far as they are known."""
        known = np.outer(drugs, targets)
        Y = np.where(known, self.Y, np.nan)
        overall = np.nanmean(Y)
        drug = np.where(drugs, np.nanmean(np.where(drugs[:, None], Y, overall), axis=1), overall)
        target = np.where(targets, np.nanmean(np.where(targets[None, :], Y, overall), axis=0), overall)
        return drug[:, None] + target[None, :]


OPTIONS: dict[str, list[Any]] = {
    "machine": [(C, weight) for C in (0.3, 1.0, 3.0) for weight in (1.0, 3.0)],
    "ridge": [0.1, 1.0, 10.0],
    "mean": [0.0],
}


def chosen(world: World, name: str, setting: str, drugs: Mask, targets: Mask, options: list[Any]) -> Any:
    """The option with the best Spearman on the first fold of these drugs and targets."""
    if len(options) == 1:
        return options[0]
    inner = World(world.D[np.ix_(drugs, drugs)], world.T[np.ix_(targets, targets)], world.Y[np.ix_(drugs, targets)])
    split = next(splits(setting, inner.Y.shape, seed=1))
    where = np.ix_(*left_out(*split))
    found = [spearmanr(getattr(inner, name)(*split, o)[where].ravel(), inner.Y[where].ravel())[0] for o in options]
    return options[int(np.argmax(found))]


def evaluate(name: str, setting: str, quick: bool) -> dict[str, Any]:
    """Spearman and concordance index over the left-out pairs of five folds."""
    world = World(*read(quick))
    options = OPTIONS[name][:1] if quick else OPTIONS[name]
    truth, predictions, option = [], [], None
    for drugs, targets in splits(setting, world.Y.shape, seed=0):
        option = chosen(world, name, setting, drugs, targets, options) if option is None else option
        where = np.ix_(*left_out(drugs, targets))
        truth.append(world.Y[where].ravel())
        predictions.append(getattr(world, name)(drugs, targets, option)[where].ravel())
    y, p = np.concatenate(truth), np.concatenate(predictions)
    return {
        "Spearman": float(spearmanr(p, y)[0]),
        "concordance": pl.evaluation.concordance_index(y, p),
        "option": option,
    }


def main() -> int:
    """Print Spearman and concordance index of every model and setting."""
    skip_without_data()
    settings = ("unseen drugs", "unseen targets", "both unseen")
    rows = {
        f"{name}, {setting}": lambda quick, name=name, setting=setting: evaluate(name, setting, quick)
        for setting in settings
        for name in OPTIONS
    }
    results, quick = run_rows(__file__, rows)
    figures = [
        Figure(f"{row}: {what}", found[what], None, README.get(row.split(", ")[1]) if what == "Spearman" else None)
        for row, found in results.items()
        for what in ("Spearman", "concordance")
    ]
    for setting in settings:
        gain = results[f"machine, {setting}"]["concordance"] - results[f"mean, {setting}"]["concordance"]
        figures.append(Figure(f"{setting}: concordance, machine − mean", gain, "> 0", judged=not quick))
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
