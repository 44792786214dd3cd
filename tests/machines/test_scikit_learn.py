"""Pairs and estimators inside scikit-learn's machinery, each result against the same done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.kernels import Gaussian, Gram

rng = np.random.default_rng(0)
CLASSES = np.repeat(np.arange(5), 4)
X = 2.0 * rng.normal(size=(5, 3))[CLASSES] + 0.5 * rng.normal(size=(20, 3))
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
ESTIMATORS = {
    "svc": pl.PairSVC(kernel="metric", C=10.0, random_state=0),
    "euclid": pl.EuclidBaseline(threshold=-2.0),
    "cosine": pl.CosineBaseline(threshold=0.5),
}
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


def by_hand(estimator: Any) -> list[float]:
    """Accuracy per fold."""
    scores = []
    for train, test in FOLDS.split(np.zeros(len(Y)), Y):
        model = clone(estimator).fit(PAIRS[train], Y[train])
        scores.append(float(np.mean(model.predict(PAIRS[test]) == Y[test])))
    return scores


# --------------------------------------------------------------------------- selection


@every_estimator
def test_cross_val_score(estimator: Any) -> None:
    scores = cross_val_score(estimator, PAIRS, Y, cv=FOLDS)
    np.testing.assert_allclose(scores, by_hand(estimator))
    assert scores.mean() > 0.7


@every_estimator
def test_cross_val_score_of_arrays(estimator: Any) -> None:
    """(n, 2, d) straight in: folded into pairs inside every fold."""
    scores = cross_val_score(estimator, np.asarray(PAIRS), Y, cv=FOLDS)
    np.testing.assert_allclose(scores, by_hand(estimator))


@every_estimator
def test_ranking_scorers_use_decision_values(estimator: Any) -> None:
    areas = cross_val_score(estimator, PAIRS, Y, cv=FOLDS, scoring="roc_auc")
    for area, (train, test) in zip(areas, FOLDS.split(np.zeros(len(Y)), Y), strict=True):
        values = clone(estimator).fit(PAIRS[train], Y[train]).decision_function(PAIRS[test])
        positive, negative = values[Y[test] > 0], values[Y[test] < 0]
        wins = (positive[:, None] > negative).mean() + 0.5 * (positive[:, None] == negative).mean()
        assert area == pytest.approx(wins)


def test_cross_val_predict_gives_each_pair_a_held_out_prediction() -> None:
    estimator = ESTIMATORS["svc"]
    values = cross_val_predict(estimator, PAIRS, Y, cv=FOLDS)
    train, test = next(iter(FOLDS.split(np.zeros(len(Y)), Y)))
    expected = clone(estimator).fit(PAIRS[train], Y[train]).predict(PAIRS[test])
    np.testing.assert_array_equal(values[test], expected)


def test_encoded_labels_are_refused_with_advice() -> None:
    """scikit-learn encodes labels as 0 and 1 here; taking them for ±1 would hide real mistakes elsewhere."""
    with pytest.raises(InputError, match=r"labels must be \+1 or -1"):
        cross_val_predict(ESTIMATORS["svc"], PAIRS, Y, cv=FOLDS, method="decision_function")


def test_grid_search_over_boxes_and_kernels() -> None:
    grid = {"C": [1e-3, 10.0], "kernel": ["metric", "direct_sum", pl.pair_kernel("tensor")]}
    search = GridSearchCV(pl.PairSVC(), grid, cv=FOLDS).fit(PAIRS, Y)
    means = search.cv_results_["mean_test_score"]
    assert len(means) == 6
    for parameters, mean in zip(search.cv_results_["params"], means, strict=True):
        assert mean == pytest.approx(np.mean(by_hand(pl.PairSVC(**parameters))))
    assert search.best_score_ == means.max()
    refitted = pl.PairSVC(**search.best_params_).fit(PAIRS, Y)
    np.testing.assert_array_equal(search.predict(PAIRS), refitted.predict(PAIRS))


def test_grid_search_shares_one_gram_matrix() -> None:
    gram = Gram(Gaussian(0.2), X)
    search = GridSearchCV(pl.PairSVC(base=gram), {"C": [0.1, 1.0]}, cv=FOLDS).fit(PAIRS, Y)
    assert search.best_estimator_.base is gram
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"],
        [np.mean(by_hand(pl.PairSVC(base=Gaussian(0.2), C=C))) for C in (0.1, 1.0)],
    )


def test_train_test_split_keeps_pairs_and_labels_together() -> None:
    weights = np.arange(len(Y))
    train, test, y_train, y_test, w_train, w_test = train_test_split(PAIRS, Y, weights, random_state=0)
    assert isinstance(train, pl.Pairs)
    assert train.examples is X
    for part, y, numbers in ((train, y_train, w_train), (test, y_test, w_test)):
        np.testing.assert_array_equal(part.labels(CLASSES), y)
        np.testing.assert_array_equal(part.left, PAIRS.left[numbers])
        np.testing.assert_array_equal(part.right, PAIRS.right[numbers])
    assert sorted([*w_train, *w_test]) == weights.tolist()


def test_plain_folds_split_pairs() -> None:
    seen = np.concatenate([test for _, test in KFold(3).split(PAIRS)])
    np.testing.assert_array_equal(seen, np.arange(len(PAIRS)))


# --------------------------------------------------------------------------- wrappers


@pytest.mark.parametrize(
    ("name", "ensemble"),
    [
        ("svc", True),
        ("euclid", True),
        ("euclid", False),
        ("cosine", True),
        ("cosine", False),
    ],
)
def test_calibration(name: str, ensemble: bool) -> None:
    estimator = ESTIMATORS[name]
    model = CalibratedClassifierCV(estimator, method="sigmoid", ensemble=ensemble, cv=FOLDS).fit(PAIRS, Y)
    chances = model.predict_proba(PAIRS)
    assert chances.shape == (len(Y), 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert model.classes_.tolist() == [-1, 1]
    assert len(model.calibrated_classifiers_) == (4 if ensemble else 1)
    assert chances[Y > 0, 1].mean() > chances[Y < 0, 1].mean() + 0.2
    if not ensemble:  # one sigmoid of one decision function: the order of the pairs is kept
        values = clone(estimator).fit(PAIRS, Y).decision_function(PAIRS)
        rising = np.diff(chances[np.argsort(values), 1])
        assert rising.min() >= -1e-9
        assert model.predict_proba(PAIRS.swapped())[:, 1] == pytest.approx(chances[:, 1], abs=1e-12)


@every_estimator
def test_fixed_threshold(estimator: Any) -> None:
    model = FixedThresholdClassifier(estimator, threshold=0.4, response_method="decision_function").fit(PAIRS, Y)
    values = clone(estimator).fit(PAIRS, Y).decision_function(PAIRS)
    np.testing.assert_array_equal(model.predict(PAIRS), np.where(values >= 0.4, 1, -1))


@every_estimator
def test_tuned_threshold(estimator: Any) -> None:
    model = TunedThresholdClassifierCV(
        estimator, scoring="balanced_accuracy", response_method="decision_function", cv=FOLDS, thresholds=20
    ).fit(PAIRS, Y)
    values = clone(estimator).fit(PAIRS, Y).decision_function(PAIRS)
    np.testing.assert_array_equal(model.predict(PAIRS), np.where(values >= model.best_threshold_, 1, -1))


# --------------------------------------------------------------------------- pipelines


def test_transformers_are_fitted_on_referenced_examples_only() -> None:
    examples = np.concatenate([X, 1e6 * np.ones((3, 3))])
    pairs = pl.Pairs(examples, PAIRS.left, PAIRS.right)
    model = make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC(kernel="metric", tol=1e-6)).fit(pairs, Y)
    scaler = model[0].transformer_
    np.testing.assert_allclose(scaler.mean_, X.mean(axis=0))
    np.testing.assert_allclose(scaler.scale_, X.std(axis=0))
    by_hand = pl.PairSVC(kernel="metric", tol=1e-6).fit(
        pl.Pairs((X - X.mean(axis=0)) / X.std(axis=0), PAIRS.left, PAIRS.right), Y
    )
    new = rng.normal(size=(6, 3))
    scaled = pl.all_pairs((new - X.mean(axis=0)) / X.std(axis=0))
    np.testing.assert_allclose(model.decision_function(pl.all_pairs(new)), by_hand.decision_function(scaled), atol=1e-4)


def test_repeated_references_count_once() -> None:
    pairs = pl.Pairs(X, [0, 0, 0], [1, 2, 0])
    scaler = pl.OnExamples(StandardScaler()).fit(pairs).transformer_
    np.testing.assert_allclose(scaler.mean_, X[:3].mean(axis=0))


def test_principal_components_in_a_pipeline() -> None:
    model = make_pipeline(pl.OnExamples(PCA(2)), pl.PairSVC(kernel="metric", tol=1e-6))
    scores = cross_val_score(model, PAIRS, Y, cv=FOLDS)
    assert scores.mean() > 0.7
    fitted = model.fit(PAIRS, Y)
    assert fitted[0].transform(PAIRS).shape == (len(Y), 2, 2)
    centred = X - X.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    projected = pl.Pairs(centred @ axes.T, PAIRS.left, PAIRS.right)
    expected = pl.PairSVC(kernel="metric", tol=1e-6).fit(projected, Y).decision_function(projected)
    np.testing.assert_allclose(fitted.decision_function(PAIRS), expected, atol=1e-4)


def test_pipelines_take_arrays_and_grids() -> None:
    model = make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC(kernel="metric"))
    grid = {"pairsvc__C": [0.01, 1.0], "onexamples__transformer__with_mean": [True, False]}
    search = GridSearchCV(model, grid, cv=FOLDS).fit(np.asarray(PAIRS), Y)
    # The difference of two examples does not see the mean, so neither does the metric kernel.
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    np.testing.assert_allclose(scores[0], scores[1])


@pytest.mark.parametrize("transformer", [StandardScaler(), PCA(2)])
@pytest.mark.parametrize("examples", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
def test_a_transformer_without_on_examples_is_refused_with_advice(transformer: Any, examples: Any) -> None:
    pairs = pl.Pairs(examples, PAIRS.left, PAIRS.right)
    with pytest.raises(InputError, match=r"wrap it: make_pipeline\(pl\.OnExamples"):
        make_pipeline(transformer, pl.PairSVC()).fit(pairs, Y)
    assert np.asarray(PAIRS).shape == (len(PAIRS), 2, 3)  # whoever wants three dimensions gets them


def test_on_examples_refuses_two_tables_and_unfitted_use() -> None:
    pairs = pl.Pairs(X, [0], [1], right_examples=X)
    with pytest.raises(InputError, match="transforms one table of examples"):
        pl.OnExamples(StandardScaler()).fit(pairs)
    with pytest.raises(ValueError, match="not fitted yet"):
        pl.OnExamples(StandardScaler()).transform(PAIRS)


def test_on_examples_leaves_its_transformer_alone() -> None:
    scaler = StandardScaler()
    pl.OnExamples(scaler).fit(PAIRS)
    assert not hasattr(scaler, "mean_")


# --------------------------------------------------------------------------- features

FITTED = {
    "svc": pl.PairSVC(kernel="metric"),
    "ranker": pl.PairRanker(),
    "svr": pl.PairSVR(),
    "ridge": pl.PairRidge(),
    "transductive": pl.TransductivePairSVC(),
    "metric": pl.OnlinePseudoMetric(max_sweeps=1),
    "kernel metric": pl.metrics.KernelPseudoMetric("rbf", max_sweeps=1),
    "stacked": pl.StackedPairSVC(n_folds=2),
    "pipeline": make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC(kernel="metric")),
    **{name: make() for name, make in pl.baselines.BASELINES.items()},
}
every_fit = pytest.mark.parametrize("estimator", FITTED.values(), ids=FITTED)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Frame:
    """A table with named columns, as a data frame is one."""

    columns = ("width", "height", "depth")

    def to_numpy(self) -> np.ndarray:
        return X


@every_fit
def test_every_estimator_knows_its_features(estimator: Any) -> None:
    named = pl.all_pairs(Frame(), reflexive=False)
    model = clone(estimator).fit(named, Y)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["width", "height", "depth"]
    model.fit(PAIRS, Y)
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


def test_names_stay_with_the_pairs_and_go_with_the_table() -> None:
    named = pl.Pairs(Frame(), [0, 1, 2], [3, 4, 5])
    for pairs in (named, named[1:], named.swapped(), pl.all_pairs(Frame())):
        assert pairs.feature_names.tolist() == ["width", "height", "depth"]
    assert named.with_examples(X).feature_names is None


def test_features_of_other_examples() -> None:
    left, right = pl.Pairs(X[:, :2], [0, 1], [1, 2], right_examples=X), pl.all_pairs(X @ X.T, reflexive=False)
    assert pl.PairSVC(base=("linear", "linear")).fit(left, [1, -1]).n_features_in_ == 2
    assert pl.PairSVC(base="precomputed").fit(right, Y).n_features_in_ == len(X)
    overlap = pl.kernels.FromFunction(lambda a, b: float(len(set(a) & set(b))), scalar=True, definite=True)
    words = pl.all_pairs(["pair", "pear", "learn"], reflexive=False)
    assert not hasattr(pl.PairSVC(base=overlap).fit(words, [1, -1, -1]), "n_features_in_")


# --------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("estimator", [*ESTIMATORS.values(), pl.OnExamples(StandardScaler())])
def test_clone_copies_parameters_only(estimator: Any) -> None:
    fitted = clone(estimator).fit(PAIRS, Y)
    copy = clone(fitted)
    assert str(copy.get_params()) == str(estimator.get_params())
    assert not [name for name in vars(copy) if name.endswith("_") and name != "classes_"]


def test_parameters() -> None:
    svc = pl.PairSVC(C=3.0, class_weight="balanced")
    parameters = svc.get_params()
    assert parameters["C"] == 3.0
    assert parameters["kernel"] == "tensor_metric"
    assert parameters["base"] == "linear"
    assert parameters["tol"] == 1e-3
    assert svc.set_params(C=5.0) is svc
    assert svc.C == 5.0
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        svc.set_params(gamma=1.0)
    positional = pl.PairSVC("metric", "rbf", 2.0, 1e-4, {1: 2.0}, 10.0, 1e9, 7)
    assert clone(positional).get_params() == positional.get_params()
    assert (positional.time_budget, positional.memory_budget, positional.random_state) == (10.0, 1e9, 7)


def test_repr_shows_what_was_changed() -> None:
    assert repr(pl.PairSVC(kernel="metric", C=10.0)) == "PairSVC(C=10.0, kernel='metric')"
    assert repr(pl.PairSVC()) == "PairSVC()"
    assert repr(pl.EuclidBaseline(threshold=-1.0)) == "EuclidBaseline(threshold=-1.0)"
    assert repr(pl.OnExamples(StandardScaler())) == "OnExamples(transformer=StandardScaler())"


# --------------------------------------------------------------------------- baselines


def test_baselines_equal_their_formulas() -> None:
    pairs = pl.all_pairs(X)
    a, b = X[pairs.left], X[pairs.right]
    distances = np.sqrt(((a - b) ** 2).sum(axis=1))
    cosines = (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    for model, expected in ((pl.EuclidBaseline(-2.0), -distances), (pl.CosineBaseline(0.5), cosines)):
        np.testing.assert_allclose(model.decision_function(pairs), expected, atol=1e-12)
        np.testing.assert_allclose(model.score_block(X, X)[pairs.left, pairs.right], expected, atol=1e-7)
        np.testing.assert_array_equal(model.predict(pairs), np.where(expected > model.threshold, 1, -1))
        np.testing.assert_array_equal(model.decision_function(pairs), model.decision_function(pairs.swapped()))


def test_baselines_refuse_objects() -> None:
    with pytest.raises(InputError, match="compares rows of numbers in one table"):
        pl.EuclidBaseline().decision_function(pl.Pairs(["a", "b"], [0], [1]))
