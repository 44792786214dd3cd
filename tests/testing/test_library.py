"""Every solver and estimator of the library keeps the laws; kernels and operators are tried beside their tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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


@pytest.mark.parametrize("machine", [pl.PairSVC("metric", C=10.0), pl.OneClassPairSphere()], ids=["svc", "sphere"])
def test_the_width_alone_does_not_know_of_weights(machine: Any) -> None:
    """With a width that is given, weights are as good as copies: the reason of `WIDTH` is the true one."""
    try_scikit(machine.set_params(base=Gaussian(0.3), random_state=0))
    with pytest.raises(LawError) as broken:
        try_scikit(machine.set_params(base="rbf"))
    assert [broken.value.law] == list(WIDTH)
