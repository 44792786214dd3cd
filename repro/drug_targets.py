"""How strongly does a drug bind a target? Davis and KIBA affinities, for unseen drugs, unseen targets, and both.

Needs PAIRLEARN_DATA. Pairs of two tables: 68 drugs (structure similarity) × 442 targets (sequence similarity), all
measured (Davis, pKd = 9 − log₁₀ Kd); 2,111 drugs (Tanimoto of fingerprints, a stand-in for the published matrix) × 229
targets, 118,254 of 483,419 measured (KIBA). Five folds of drugs and of targets; "both" leaves out the drugs and the
targets of a fold at once; of KIBA's the first is taken. Models with the tensor kernel:

    svr    PairSVR; seven of ten pairs of Davis show no binding (pKd = 5), so pairs that bind may weigh more
    svc    PairSVC on "binds" (pKd > 7; KIBA score > 12.1), its decision values as scores
    ridge  PairRidge on the affinities; ridge ±1 on "binds"
    mean   the mean of what is known of the drug and of the target
    search what pl.PairSearch chooses on the first training set, by concordance or by AUPR: machine (svr, svc, ridge) or
           a mean of several, C, and similarities or their profiles as base; by AUPR on affinities and on "binds", the
           better. Without a budget, so that the choice depends on the seed alone and not on what else the
           machine does; on KIBA by 12,000 pairs at most, and what is chosen learns from all of them

Ridge on Davis chooses α itself, by what is left out in closed form; everything else is chosen once per setting on a
fold of the first training set (svc and ridge ±1 by AUPR, all others by Spearman). Spearman's correlation, the
concordance index and the area under the precision-recall curve of "binds" are over all left-out pairs together;
seconds are those of fits, the choice included and without it. A fit may take two minutes; `converged` is the
share of fits that were not ended by that.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.metrics import average_precision_score

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.evaluation import judgement_named
from pairlearn.evaluation.resampling.units import numbered_units

Mask = np.ndarray
SETTINGS = {"unseen drugs": "left", "unseen targets": "right", "both unseen": "both"}
BASES = ("precomputed", "precomputed")
README = {"Davis: ridge, unseen drugs": "0.416", "Davis: ridge, unseen targets": "0.691"}
"""Spearman of leave-one-out kernel ridge, from the README of the data."""
MOST = 120.0
"""Seconds that one fit may take."""


class World:
    """Similarities, affinities (NaN: not measured) and from where on a pair binds.

    Its models fill in what is left out: (drugs, targets, option) → all affinities or scores.
    """

    def __init__(self, D: np.ndarray, T: np.ndarray, Y: np.ndarray, binds: float, floor: float) -> None:
        self.D, self.T, self.Y, self.binds, self.floor = D, T, Y, binds, floor
        self.seconds: list[float] = []
        self.converged: list[bool] = []

    def cut(self, drugs: Mask, targets: Mask) -> World:
        """The same with these drugs and targets only."""
        D, T, Y = self.D[np.ix_(drugs, drugs)], self.T[np.ix_(targets, targets)], self.Y[np.ix_(drugs, targets)]
        return World(D, T, Y, self.binds, self.floor)

    def learnt(self, model: Any, drugs: Mask, targets: Mask, labels: np.ndarray, weight: float = 1.0) -> np.ndarray:
        """What a machine says of all pairs after it was fitted on the known ones."""
        inner = self.cut(drugs, targets)
        left, right = np.nonzero(np.isfinite(inner.Y))
        pairs = pl.Pairs(inner.D, left, right, right_examples=inner.T)
        y = labels[np.ix_(drugs, targets)][left, right]
        weights = None if weight == 1.0 else np.where(y > self.floor, weight, 1.0)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(pairs, y, weights)
        self.seconds.append(time.perf_counter() - began)
        self.converged.append(model.fit_status_ == "converged")
        return model.score_block(self.D[:, drugs], self.T[:, targets])

    @property
    def signs(self) -> np.ndarray:
        """+1 where a pair binds, else −1."""
        return np.where(self.binds < self.Y, 1, -1)

    def svr(self, drugs: Mask, targets: Mask, option: tuple[float, float]) -> np.ndarray:
        """C, ε and tol are in spreads of the affinities."""
        C, weight = option
        model = pl.PairSVR("tensor", BASES, C=C, tol=2e-2, time_budget=MOST, random_state=0)
        return self.learnt(model, drugs, targets, self.Y, weight)

    def svc(self, drugs: Mask, targets: Mask, option: float) -> np.ndarray:
        """Whether it binds."""
        model = pl.PairSVC("tensor", BASES, C=option, tol=2e-2, time_budget=MOST, random_state=0)
        return self.learnt(model, drugs, targets, self.signs)

    def ridge(self, drugs: Mask, targets: Mask, option: Any) -> np.ndarray:
        """Least squares; a setting as option chooses α by it."""
        return self.learnt(_ridge(option), drugs, targets, self.Y)

    def signed_ridge(self, drugs: Mask, targets: Mask, option: Any) -> np.ndarray:
        """Least squares of ±1."""
        return self.learnt(_ridge(option), drugs, targets, self.signs)

    def pairs(self, where: Mask) -> tuple[pl.Pairs, np.ndarray]:
        """The measured pairs among these, by rows of the whole matrices, and their affinities."""
        left, right = np.nonzero(where & np.isfinite(self.Y))
        return pl.Pairs(self.D, left, right, right_examples=self.T), self.Y[left, right]

    def mean(self, drugs: Mask, targets: Mask, option: float) -> np.ndarray:
        """The mean of the drug and of the target, as far as they are known."""
        Y = np.where(np.outer(drugs, targets), self.Y, np.nan)
        overall = np.nanmean(Y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows without a number
            sides = [np.nan_to_num(np.nanmean(Y, axis=axis), nan=overall) for axis in (1, 0)]
        return sides[0][:, None] + sides[1][None, :]


def _ridge(option: Any) -> pl.PairRidge:
    if isinstance(option, str):
        return pl.PairRidge("tensor", BASES, "auto", unseen=option)  # type: ignore[arg-type]
    return pl.PairRidge("tensor", BASES, option)


# --------------------------------------------------------------------------- the data


def davis(quick: bool) -> World:
    """68 × 442, complete."""
    data = np.load(data_folder() / "davis_kiba" / "davis.npz")
    step = 4 if quick else 1
    T, Y = data["target_sim"][::step, ::step], 9.0 - np.log10(data["Kd_nM"][:, ::step])
    return World(*(matrix.astype(np.float64) for matrix in (data["drug_sim"], T, Y)), binds=7.0, floor=5.0)


def kiba(quick: bool) -> World:
    """2,111 × 229, a quarter of it known."""
    data = np.load(data_folder() / "davis_kiba" / "kiba.npz")
    bits = np.unpackbits(data["drug_morgan1024_packed"], axis=1).astype(np.float64)
    both, own = bits @ bits.T, bits.sum(axis=1)
    Y = np.full(tuple(data["shape"]), np.nan)
    Y[data["row"], data["col"]] = data["score"]
    step = 8 if quick else 1
    D, T = both / (own[:, None] + own - both), data["target_sim"].astype(np.float64)
    return World(D[::step, ::step], T, Y[::step], binds=12.1, floor=np.inf)


WORLDS = {"Davis": davis, "KIBA": kiba}
FOLDS = {"Davis": 5, "KIBA": 1}
WEIGHTED = [(C, weight) for C in (0.3, 1.0, 3.0) for weight in (1.0, 3.0)]
ALPHAS = [0.03, 0.1, 0.3, 1.0, 3.0]
OPTIONS: dict[str, dict[str, list[Any]]] = {
    "Davis": {"svr": WEIGHTED, "svc": [0.3, 1.0, 3.0], "ridge": [], "signed_ridge": [], "mean": [0.0]},
    "KIBA": {
        "svr": [(C, 1.0) for C in (0.3, 1.0, 3.0)],
        "svc": [0.3, 1.0, 3.0],
        "ridge": ALPHAS,
        "signed_ridge": ALPHAS,
        "mean": [0.0],
    },
}
"""What is chosen from; nothing where the machine chooses itself."""
TITLES = {"signed_ridge": "ridge ±1"}
FIGURES = ("Spearman", "concordance", "AUPR", "seconds", "seconds a fit", "converged")


# --------------------------------------------------------------------------- learning and judging


def splits(setting: str, shape: tuple[int, int], seed: int, folds: int = 5) -> Iterator[tuple[Mask, Mask]]:
    """(drugs, targets) to train on; the rest of the sides that the setting names is the test."""
    rng = np.random.default_rng(seed)
    drug_fold, target_fold = rng.permutation(shape[0]) % 5, rng.permutation(shape[1]) % 5
    for fold in range(folds):
        drugs = drug_fold != fold if setting != "unseen targets" else np.ones(shape[0], dtype=bool)
        targets = target_fold != fold if setting != "unseen drugs" else np.ones(shape[1], dtype=bool)
        yield drugs, targets


def left_out(world: World, drugs: Mask, targets: Mask) -> Mask:
    """The test pairs that were measured."""
    rows = ~drugs if not drugs.all() else drugs
    cols = ~targets if not targets.all() else targets
    return np.outer(rows, cols) & np.isfinite(world.Y)


def judged(world: World, name: str, where: Mask, found: np.ndarray) -> float:
    """What options are chosen by."""
    if name in ("svc", "signed_ridge"):
        return float(average_precision_score(world.Y[where] > world.binds, found[where]))
    return float(spearmanr(found[where], world.Y[where])[0])


def chosen(world: World, name: str, setting: str, drugs: Mask, targets: Mask, options: list[Any]) -> Any:
    """The option that is best on the first fold of these drugs and targets; the setting, where there are none."""
    if len(options) < 2:
        return options[0] if options else SETTINGS[setting]
    inner = world.cut(drugs, targets)
    split = next(splits(setting, inner.Y.shape, seed=1))
    where = left_out(inner, *split)
    values = [judged(inner, name, where, getattr(inner, name)(*split, option)) for option in options]
    world.seconds += inner.seconds
    return options[int(np.argmax(values))]


SEARCHES: dict[str, list[tuple[str, str]]] = {
    "concordance": [("number", "concordance")],
    "AUPR": [("number", "aupr@{binds:g}"), ("link", "aupr")],
}
"""What is asked for, and the questions that may answer it."""
CS = [0.1, 1.0, 10.0, 100.0]
SEARCHED = {"similarities": BASES, "profiles": "rbf"}
"""Bases: similarities as they are, and a Gaussian of the rows of their matrix."""
SEARCHED_PAIRS = {"Davis": 50_000, "KIBA": 12_000}
"""Pairs that a machine of a search learns from."""


def found_by(world: World, setting: str, what: str, where: Mask, most: int, quick: bool) -> tuple[Any, str]:
    """The machine that does best on what the search leaves out of these pairs, and the question it answers."""
    pairs, y = world.pairs(where)
    best: tuple[float, Any, str] | None = None
    for question, objective in SEARCHES[what]:
        labels = y if question == "number" else np.where(y > world.binds, 1, -1)
        search = pl.PairSearch(
            question,  # type: ignore[arg-type]
            SETTINGS[setting],
            objective.format(binds=world.binds),
            kernels=["tensor"],
            bases=SEARCHED,
            Cs=CS,
            test_share=0.0,
            max_pairs=most,
            time_budget=1.0 if quick else None,
        ).fit(pairs, labels)
        if best is None or search.best_score_ > best[0]:
            best = search.best_score_, search.best_estimator_, f"{question}, {search.best_setting_}"
    assert best is not None
    return best[1:]


def searched(data: str, what: str, setting: str, quick: bool) -> dict[str, Any]:
    """Figures of what the search finds on the first training set, fitted on every one; beside ridge on Davis."""
    world, machine, option = WORLDS[data](quick), None, ""
    found: dict[str, list[np.ndarray]] = {"truth": [], "search": [], "ridge": [], "left": [], "right": []}
    began = time.perf_counter()
    for drugs, targets in splits(setting, world.Y.shape, seed=0, folds=1 if quick else FOLDS[data]):
        if machine is None:
            machine, option = found_by(world, setting, what, np.outer(drugs, targets), SEARCHED_PAIRS[data], quick)
        pairs, y = world.pairs(np.outer(drugs, targets))
        model = clone(machine)
        for part in getattr(model, "machines", [model]):
            part.set_params(time_budget=MOST)
        test, truth = world.pairs(left_out(world, drugs, targets))
        model.fit(pairs, y if option.startswith("number") else np.where(y > world.binds, 1, -1))
        answers = {"truth": truth, "search": model.decision_function(test), "left": test.left, "right": test.right}
        if data == "Davis":
            answers["ridge"] = world.ridge(drugs, targets, SETTINGS[setting])[test.left, test.right]
        for name, column in answers.items():
            found[name].append(column)
    columns = {name: np.concatenate(parts) for name, parts in found.items() if parts}
    y, p = columns["truth"], columns["search"]
    return {
        "concordance": pl.evaluation.concordance_index(y, p),
        "AUPR": float(average_precision_score(y > world.binds, p)),
        "seconds": time.perf_counter() - began,
        "option": option,
        **(beside(world, what, columns) if data == "Davis" else {}),
    }


def beside(world: World, what: str, columns: dict[str, np.ndarray]) -> dict[str, float]:
    """The figure that was asked for less that of ridge on the same pairs, with limits over drugs and targets."""
    units = numbered_units(columns["left"], columns["right"] + world.Y.shape[0])
    judgement = judgement_named("concordance" if what == "concordance" else f"aupr@{world.binds:g}", "number")
    worth = [judgement.worth(columns[name], columns["truth"]) for name in ("search", "ridge")]
    gap = judgement.figure.difference(*worth, units, "example")
    return {"gain": gap.estimate, "low": gap.low, "high": gap.high}


def evaluate(data: str, name: str, setting: str, quick: bool) -> dict[str, Any]:
    """Figures over the left-out pairs of all folds."""
    world = WORLDS[data](quick)
    options = OPTIONS[data][name][:1] if quick else OPTIONS[data][name]
    truth, predictions, option, fits = [], [], None, []
    for drugs, targets in splits(setting, world.Y.shape, seed=0, folds=1 if quick else FOLDS[data]):
        option = chosen(world, name, setting, drugs, targets, options) if option is None else option
        where = left_out(world, drugs, targets)
        truth.append(world.Y[where])
        predictions.append(getattr(world, name)(drugs, targets, option)[where])
        fits += world.seconds[-1:]
    y, p = np.concatenate(truth), np.concatenate(predictions)
    return {
        "Spearman": float(np.nan_to_num(spearmanr(p, y)[0])),  # a constant orders nothing
        "concordance": pl.evaluation.concordance_index(y, p),
        "AUPR": float(average_precision_score(y > world.binds, p)),
        "seconds": float(sum(world.seconds)),
        "seconds a fit": float(np.median(fits)) if fits else 0.0,
        "converged": float(np.mean(world.converged)) if world.converged else 1.0,
        "option": option,
    }


def main() -> int:
    """Print the figures of every model and setting."""
    skip_without_data()
    rows = {
        f"{data}: {TITLES.get(name, name)}, {setting}": lambda quick, given=(data, name, setting): evaluate(
            *given, quick
        )
        for data in WORLDS
        for setting in SETTINGS
        for name in OPTIONS[data]
    }
    rows |= {
        f"{data}: search by {what}, {setting}": lambda quick, given=(data, what, setting): searched(*given, quick)
        for data in WORLDS
        for setting in SETTINGS
        for what in SEARCHES
    }
    results, quick = run_rows(__file__, rows)
    figures = [
        Figure(f"{row}: {what}", found[what], None, README.get(row) if what == "Spearman" else None)
        for row, found in results.items()
        for what in FIGURES
        if what in found
    ]
    for data in WORLDS:
        for setting in SETTINGS:
            known = {name: results.get(f"{data}: {name}, {setting}") for name in ("svr", "ridge", "mean")}
            for name in ("svr", "ridge"):
                one, other = known[name], known["mean"]
                if one is not None and other is not None:
                    gain, title = one["concordance"] - other["concordance"], f"{data}, {setting}"
                    figures.append(Figure(f"{title}: concordance, {name} − mean", gain, "> 0", judged=not quick))
            figures += compared(results, data, setting, quick)
    return print_figures(figures)


def compared(results: dict[str, dict[str, Any]], data: str, setting: str, quick: bool) -> Iterator[Figure]:
    """What was searched for less the best that kernel ridge has of it, on affinities or on ±1; limits where known."""
    for what in SEARCHES:
        found = results.get(f"{data}: search by {what}, {setting}")
        ridge = [results.get(f"{data}: {name}, {setting}") for name in ("ridge", "ridge ±1")]
        known = [row[what] for row in ridge if row is not None]
        if found is None or len(known) < 2:
            continue
        title = f"{data}, {setting}: {what}, search − best of ridge"
        yield Figure(title, found[what] - max(known), ">= 0", judged=not quick)
        for end in ("gain", "low", "high"):
            if end in found:
                yield Figure(f"{data}, {setting}: {what}, search − ridge: {end}", found[end], None)


if __name__ == "__main__":
    sys.exit(main())
