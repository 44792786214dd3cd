"""Every solver and estimator of the library keeps the laws; kernels and operators are tried beside their tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import pairlearn as pl
from pairlearn.kernels import Gaussian
from pairlearn.solvers import ActiveSet, PlainSMO
from pairlearn.testing.estimators import training_pairs
from pairlearn.testing.laws import LawError
from pairlearn.testing.scikit import try_scikit

PAIRS, Y = training_pairs()
CLASSES = np.repeat(np.arange(4), 3)
WINS = np.where(PAIRS.examples[PAIRS.left, 0] > PAIRS.examples[PAIRS.right, 0], 1, -1)
SOME = np.where(np.arange(len(Y)) % 3 == 0, 0, Y)


@pytest.mark.parametrize("solver", [ActiveSet(tol=1e-6), ActiveSet(tol=1e-8, memory=12 * 5**2), PlainSMO(tol=1e-6)])
def test_solvers(solver: Any) -> None:
    pl.testing.check_solver(solver)


ESTIMATORS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "svc": (pl.PairSVC(), Y, {}),
    "svc rbf": (pl.PairSVC(kernel="metric", base="rbf", C=10.0), Y, {}),
    "svr": (pl.PairSVR(kernel="tensor"), Y, {}),
    "svr antisymmetric": (pl.PairSVR(kernel="wedge"), WINS, {}),
    "ridge": (pl.PairRidge(), Y, {}),
    "ridge antisymmetric": (pl.PairRidge(kernel="wedge", base="rbf"), WINS, {}),
    "ranker": (pl.PairRanker(), WINS, {}),
    "one class": (pl.OneClassPairSVM(base=Gaussian(0.3)), np.ones(len(Y)), {}),
    "sphere": (pl.OneClassPairSphere(), np.ones(len(Y)), {}),
    "transductive": (pl.TransductivePairSVC(), SOME, {}),
    "euclid": (pl.EuclidBaseline(), Y, {}),
    "cosine": (pl.CosineBaseline(), Y, {}),
    "online": (pl.OnlinePseudoMetric(), Y, {}),
    "online kernel": (pl.metrics.KernelPseudoMetric(), Y, {}),
    "pca": (pl.baselines.PCACosineBaseline(), Y, {}),
    "wccn": (pl.baselines.WCCNBaseline(), Y, {"classes": CLASSES}),
    "rca": (pl.baselines.RCABaseline(), Y, {"classes": CLASSES}),
    "lda": (pl.baselines.LDABaseline(), Y, {"classes": CLASSES}),
    "kissme": (pl.baselines.KISSMEBaseline(), Y, {}),
    "plda": (pl.baselines.PLDABaseline(), Y, {"classes": CLASSES}),
    "logistic": (pl.baselines.LogisticBaseline(), Y, {}),
    "ridge baseline": (pl.baselines.RidgeBaseline(), Y, {"classes": CLASSES}),
    "whitened": (pl.scorers.WhitenedScorer(pl.scorers.View("linear")), Y, {"classes": CLASSES}),
    "stacked": (pl.StackedPairSVC(), Y, {"classes": CLASSES}),
    "mean": (pl.baselines.MeanValue(), Y, {}),
    "neighbours": (pl.baselines.NeighbourMeans(), Y, {}),
}


WIDTH = {
    "check_sample_weight_equivalence_on_dense_data": 'base="rbf" takes its width from all rows of the table, like '
    'gamma="scale" of scikit-learn\'s SVC'
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "y", "given"), ESTIMATORS.values(), ids=ESTIMATORS)
def test_estimators(estimator: Any, y: Any, given: dict[str, Any]) -> None:
    failing = WIDTH if getattr(estimator, "base", None) == "rbf" else None
    pl.testing.check_pair_estimator(estimator, PAIRS, y, expected_failed_checks=failing, **given)


BY_ROW = {
    "Bradley-Terry": (pl.baselines.BradleyTerry(), WINS),
    "Elo": (pl.baselines.Elo(), WINS),
    "win share": (pl.baselines.WinShare(), WINS),
    "means of examples": (pl.baselines.ExampleMeans(), Y),
}
OTHER_TABLES = dict.fromkeys(
    ("check_fit_idempotent", "check_methods_sample_order_invariance", "check_methods_subset_invariance"),
    "examples are known by their row, and these checks make other tables",
)
APART = {
    "Coin": "asks nothing and learns nothing (below)",
    "DistilledScorer": "made by pl.distil, not by fit",
    "DistilledRegressor": "made by pl.distil, not by fit",
    "PairMean": "made of fitted models by pl.PairSearch, not by fit",
    "Verifier": "holds a fitted model and a threshold",
    "OnCopies": "is as good as the machine inside; tests/scorers/test_orbit_scorer.py",
    "PairSearch": "chooses by the clock; tests/selection",
    "StagedSearch": "learns from examples and classes; tests/selection",
    "RecordMatcher": "learns from pairs of records; tests/records",
    "UnlabelledMatcher": "learns from pairs of records; tests/records",
    "BasisSVC": "classifies examples: check_estimator, tests/similarities",
    "TwoKernelSVC": "classifies examples: check_estimator, tests/similarities",
    "GreedySimilarities": "classifies examples: tests/similarities",
}
"""Public classes with a score that these checks are not for, and why."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "y"), BY_ROW.values(), ids=BY_ROW)
def test_estimators_that_know_examples_by_their_row(estimator: Any, y: Any) -> None:
    pl.testing.check_pair_estimator(estimator, PAIRS, y, expected_failed_checks=OTHER_TABLES)
    with pytest.raises(pl.errors.InputError, match="Pairs of the same table"):
        estimator.fit(PAIRS, y).decision_function(pl.Pairs(PAIRS.examples[:3], [0], [1]))
    with pytest.raises(pl.errors.InputError, match=r"labels must be|NaN or infinity"):
        estimator.fit(PAIRS, np.where(np.arange(len(y)) == 1, np.nan, y))


def test_a_coin_keeps_the_laws_of_what_needs_no_training() -> None:
    nothing = {"check_estimators_nan_inf": "nothing is looked at"}
    pl.testing.check_pair_estimator(pl.baselines.Coin(), PAIRS, WINS, expected_failed_checks=nothing)


def test_every_public_estimator_with_a_score_is_tried_or_told_apart() -> None:
    rooms = (pl, pl.machines, pl.baselines, pl.metrics, pl.similarities, pl.scorers, pl.selection, pl.records)
    found = {value for room in rooms for name in dir(room) if isinstance(value := getattr(room, name), type)}
    public = {kind.__name__ for kind in found if issubclass(kind, BaseEstimator) and hasattr(kind, "decision_function")}
    tried = {type(estimator).__name__ for estimator, *_ in (*ESTIMATORS.values(), *BY_ROW.values())}
    assert public == tried | set(APART)


@pytest.mark.parametrize("machine", [pl.PairSVC("metric", C=10.0), pl.OneClassPairSphere()], ids=["svc", "sphere"])
def test_the_width_alone_does_not_know_of_weights(machine: Any) -> None:
    """With a width that is given, weights are as good as copies: the reason of `WIDTH` is the true one."""
    try_scikit(machine.set_params(base=Gaussian(0.3), random_state=0))
    with pytest.raises(LawError) as broken:
        try_scikit(machine.set_params(base="rbf"))
    assert [broken.value.law] == list(WIDTH)
