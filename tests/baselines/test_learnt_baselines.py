"""Learnt baselines against independent closed forms, their invariances, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.baselines import (
    BASELINES,
    KISSMEBaseline,
    LDABaseline,
    LogisticBaseline,
    PCACosineBaseline,
    PLDABaseline,
    RCABaseline,
    WCCNBaseline,
    run_baselines,
)
from pairlearn.baselines.baseline import best_threshold
from pairlearn.baselines.covariances import covariance, covariance_of_differences
from pairlearn.baselines.learnt import MetricBaseline
from pairlearn.baselines.training import TrainingRows, training_rows
from pairlearn.errors import ConflictWarning, InputError

LEARNT = {name: make for name, make in BASELINES.items() if name not in ("euclid", "cosine")}
every_baseline = pytest.mark.parametrize("make", BASELINES.values(), ids=BASELINES)
every_learnt = pytest.mark.parametrize("make", LEARNT.values(), ids=LEARNT)


def gaussian_classes(n_classes: int, d: int, noise: Any, seed: int, epcr: int = 6) -> tuple[Any, Any]:
    """Examples around standard normal class centres with noise of these deviations, off the origin."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(n_classes), epcr)
    return 0.5 + rng.normal(size=(n_classes, d))[classes] + noise * rng.normal(size=(len(classes), d)), classes


# Classes of 6, 5, 4 … examples: weights of classes and of examples differ.
X, CLASSES = gaussian_classes(8, 4, np.array([2.0, 0.3, 0.3, 1.0]), seed=0)
KEPT = np.nonzero(np.arange(48) % 6 < np.repeat([6, 6, 5, 4, 4, 3, 2, 2], 6))[0]
X, CLASSES = X[KEPT], CLASSES[KEPT]
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
NEW = np.random.default_rng(1).normal(size=(9, 4))
TEST = pl.all_pairs(NEW)


def scatter_by_loops(weights: str) -> Any:
    """Within-class covariance, every example or every class weighing the same."""
    total, count = np.zeros((4, 4)), 0.0
    for c in range(8):
        rows = X[c == CLASSES]
        own = np.zeros((4, 4))
        for row in rows:
            own += np.outer(row - rows.mean(axis=0), row - rows.mean(axis=0))
        total += own if weights == "examples" else own / len(rows)
        count += len(rows) if weights == "examples" else 1
    return total / count


def mahalanobis(A: Any) -> Any:
    """(a − b)ᵀA(a − b) of every test pair, one by one."""
    differences = (NEW[i] - NEW[j] for i, j in zip(TEST.left, TEST.right, strict=True))
    return np.array([difference @ A @ difference for difference in differences])


def cosines(Z: Any) -> Any:
    """Cosine of every test pair, from the mapped test examples."""
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return (Z[TEST.left] * Z[TEST.right]).sum(axis=1)


# --------------------------------------------------------------------------- closed forms


def test_rca_is_the_inverse_within_chunklet_covariance() -> None:
    values = RCABaseline(shrinkage=0.0).fit(PAIRS, Y).decision_function(TEST)
    expected = -np.sqrt(mahalanobis(np.linalg.inv(scatter_by_loops("examples"))))
    np.testing.assert_allclose(values, expected, atol=1e-10)


def test_rca_after_pca() -> None:
    values = RCABaseline(3, shrinkage=0.0).fit(PAIRS, Y).decision_function(TEST)
    P = PCA(3).fit(X).components_.T
    A = P @ np.linalg.inv(P.T @ scatter_by_loops("examples") @ P) @ P.T
    np.testing.assert_allclose(values, -np.sqrt(np.maximum(mahalanobis(A), 0)), atol=1e-7)


def test_wccn_weighs_classes_alike() -> None:
    C = scatter_by_loops("classes")
    euclid = WCCNBaseline("euclid", shrinkage=0.0).fit(PAIRS, Y).decision_function(TEST)
    np.testing.assert_allclose(euclid, -np.sqrt(mahalanobis(np.linalg.inv(C))), atol=1e-10)
    cosine = WCCNBaseline(shrinkage=0.0).fit(PAIRS, Y).decision_function(TEST)
    L = np.linalg.cholesky(np.linalg.inv(C))
    np.testing.assert_allclose(cosine, cosines((NEW - X.mean(axis=0)) @ L), atol=1e-10)


def test_ridge_is_the_documented_mixture() -> None:
    C = scatter_by_loops("examples")
    mixed = 0.7 * C + 0.3 * np.trace(C) / 4 * np.eye(4)
    values = RCABaseline(shrinkage=0.3).fit(PAIRS, Y).decision_function(TEST)
    np.testing.assert_allclose(values, -np.sqrt(mahalanobis(np.linalg.inv(mixed))), atol=1e-10)


def test_automatic_shrinkage_is_that_of_ledoit_and_wolf() -> None:
    rows = np.random.default_rng(2).normal(size=(30, 7)) * np.arange(1, 8)
    rho = ledoit_wolf_shrinkage(rows, assume_centered=True)
    C = rows.T @ rows / 30
    expected = (1 - rho) * C + rho * np.trace(C) / 7 * np.eye(7)
    np.testing.assert_allclose(covariance(rows, "auto").inside, expected)
    assert 0 < rho < 1


@pytest.mark.parametrize("far", [0.0, 1e4])
def test_differences_of_pairs_have_the_covariance_of_their_rows_but_count_no_more_than_the_examples(far: float) -> None:
    training = training_rows(PAIRS.with_examples(X + far), Y)
    for sign in (1, -1):
        chosen = training.labels == sign
        rows = training.rows[training.left[chosen]] - training.rows[training.right[chosen]]
        C, n, m = rows.T @ rows / len(rows), len(rows), len(training.rows)
        rho = ledoit_wolf_shrinkage(rows, assume_centered=True) * n / min(n, m)
        expected = (1 - rho) * C + rho * np.trace(C) / 4 * np.eye(4)
        found = covariance_of_differences(training, sign, "auto").inside
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["rca", "wccn_cosine", "wccn_euclid", "lda_euclid", "lda_cosine", "plda", "kissme"])
def test_more_features_than_examples_give_what_the_whole_space_gives(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin takes the (d, d) matrices of the whole space apart, as if there were enough rows."""
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(6), 4)
    rows, new = rng.normal(size=(6, 60))[classes] + 0.5 * rng.normal(size=(24, 60)), rng.normal(size=(7, 60))
    pairs, test = pl.all_pairs(rows, reflexive=False), pl.all_pairs(new, reflexive=False)
    found = BASELINES[name](threshold=0.0).fit(pairs, pairs.labels(classes), classes=classes)

    def whole(self: MetricBaseline, training: TrainingRows) -> None:
        self.mean_ = training.rows.mean(axis=0)
        self.projection_ = self._projection(replace(training, rows=training.rows - self.mean_)).inside

    monkeypatch.setattr(MetricBaseline, "_learn", whole)
    twin = BASELINES[name](threshold=0.0).fit(pairs, pairs.labels(classes), classes=classes)
    np.testing.assert_allclose(found.decision_function(test), twin.decision_function(test), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_lda_spans_the_directions_of_scikit_learn(k: int) -> None:
    ours = LDABaseline(k, shrinkage=0.0).fit(PAIRS, Y).projection_
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, CLASSES).scalings_[:, :k]
    # Same directions up to sign and one common factor: S_w over m − c here, over m there.
    ratio = ours / theirs
    np.testing.assert_allclose(np.abs(ratio), np.sqrt((len(X) - 8) / len(X)), rtol=1e-8)
    assert (np.sign(ratio) == np.sign(ratio[0])).all()


def test_lda_scores() -> None:
    V = LDABaseline(2).fit(PAIRS, Y).projection_
    values = LDABaseline(2).fit(PAIRS, Y).decision_function(TEST)
    np.testing.assert_allclose(values, -np.sqrt(mahalanobis(V @ V.T)), atol=1e-10)
    values = LDABaseline(2, "cosine").fit(PAIRS, Y).decision_function(TEST)
    np.testing.assert_allclose(values, cosines((NEW - X.mean(axis=0)) @ V), atol=1e-10)


@pytest.mark.parametrize("clip", [False, True])
def test_kissme_is_its_formula(clip: bool) -> None:
    differences = X[PAIRS.left] - X[PAIRS.right]
    plus, minus = (
        np.cov(D.T, bias=True) + np.outer(D.mean(0), D.mean(0)) for D in (differences[Y > 0], differences[Y < 0])
    )
    M = np.linalg.inv(plus) - np.linalg.inv(minus)
    if clip:
        values, U = np.linalg.eigh(M)
        M = (U * np.maximum(values, 0)) @ U.T
    model = KISSMEBaseline(shrinkage=0.0, clip=clip).fit(PAIRS, Y)
    np.testing.assert_allclose(model.decision_function(TEST), -mahalanobis(M), atol=1e-10)
    if clip:
        assert (model.decision_function(TEST) <= 0).all()


@pytest.mark.parametrize("n_iter", [0, 3])
def test_plda_is_the_ratio_of_joint_gaussians(n_iter: int) -> None:
    model = PLDABaseline(n_iter=n_iter).fit(PAIRS, Y)
    B, T, mean = model.between_, model.between_ + model.within_, np.tile(X.mean(axis=0), 2)
    joint = np.hstack([NEW[TEST.left], NEW[TEST.right]])
    same = multivariate_normal(mean, np.block([[T, B], [B, T]])).logpdf(joint)
    different = multivariate_normal(mean, np.block([[T, 0 * B], [0 * B, T]])).logpdf(joint)
    np.testing.assert_allclose(model.decision_function(TEST), same - different, atol=1e-9)


def log_likelihood(W: Any, B: Any) -> float:
    total = 0.0
    for c in range(8):
        rows = (X - X.mean(axis=0))[c == CLASSES]
        n = len(rows)
        total += multivariate_normal(np.zeros(4 * n), np.kron(np.eye(n), W) + np.kron(np.ones((n, n)), B)).logpdf(
            rows.ravel()
        )
    return total


def test_em_raises_the_likelihood() -> None:
    models = [PLDABaseline(shrinkage=0.0, n_iter=n).fit(PAIRS, Y) for n in (0, 1, 2, 5, 50)]
    values = [log_likelihood(model.within_, model.between_) for model in models]
    assert (np.diff(values) > -1e-9).all()
    assert values[-1] > values[0]


def test_moments_find_the_covariances() -> None:
    many, classes = gaussian_classes(800, 3, np.array([2.0, 0.5, 1.0]), seed=3, epcr=5)
    pairs = pl.Pairs(many, np.arange(len(many) - 1), np.arange(1, len(many)))
    model = PLDABaseline().fit(pairs, pairs.labels(classes))
    np.testing.assert_allclose(model.within_, np.diag([4.0, 0.25, 1.0]), atol=0.2)
    np.testing.assert_allclose(model.between_, np.eye(3), atol=0.2)


def test_logistic_is_a_pipeline_on_explicit_features() -> None:
    scaler = StandardScaler().fit(X)

    def features(pairs: Any) -> Any:
        Z = scaler.transform(pairs.examples)
        A, B = Z[pairs.left], Z[pairs.right]
        return np.hstack([np.abs(A - B), A * B])

    theirs = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=1000)).fit(features(PAIRS), Y)
    ours = LogisticBaseline(C=0.5).fit(PAIRS, Y)
    np.testing.assert_allclose(ours.decision_function(TEST), theirs.decision_function(features(TEST)), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(PAIRS), theirs.predict(features(PAIRS)))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("k", [2, 4, 0.8])
def test_pca_is_that_of_scikit_learn(k: Any, whiten: bool) -> None:
    values = PCACosineBaseline(k, whiten).fit(PAIRS, Y).decision_function(TEST)
    np.testing.assert_allclose(values, cosines(PCA(k, whiten=whiten).fit(X).transform(NEW)), atol=1e-10)


# --------------------------------------------------------------------------- what all have in common


@every_baseline
def test_scores_are_symmetric_to_the_last_bit(make: Any) -> None:
    model = make().fit(PAIRS, Y)
    np.testing.assert_array_equal(model.decision_function(TEST), model.decision_function(TEST.swapped()))


@every_learnt
def test_swapped_training_pairs_change_nothing(make: Any) -> None:
    expected = make().fit(PAIRS, Y).decision_function(TEST)
    np.testing.assert_allclose(make().fit(PAIRS.swapped(), Y).decision_function(TEST), expected, atol=1e-6)


@every_baseline
def test_blocks_equal_pairs(make: Any) -> None:
    model = make().fit(PAIRS, Y)
    block = model.score_block(NEW, NEW)
    np.testing.assert_allclose(block[TEST.left, TEST.right], model.decision_function(TEST), atol=1e-6)
    np.testing.assert_allclose(model.score_block(NEW[:2], NEW), block[:2], atol=1e-6)


@every_learnt
def test_only_referenced_examples_count(make: Any) -> None:
    table = np.concatenate([1e6 * np.ones((2, 4)), X, -1e6 * np.ones((3, 4))])
    pairs = pl.Pairs(table, PAIRS.left + 2, PAIRS.right + 2)
    one, other = make().fit(PAIRS, Y), make().fit(pairs, Y)
    np.testing.assert_array_equal(one.decision_function(TEST), other.decision_function(TEST))
    assert one.threshold_ == other.threshold_


@every_learnt
def test_clone_copies_parameters_only(make: Any) -> None:
    model = make().set_params(threshold=-0.25).fit(PAIRS, Y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    assert model.threshold_ == -0.25
    assert model.classes_.tolist() == [-1, 1]
    with pytest.raises(NotFittedError):
        copy.decision_function(PAIRS)
    with pytest.raises(NotFittedError):
        copy.score_block(X, X)


@every_learnt
def test_predictions_and_selection(make: Any) -> None:
    model = make().fit(PAIRS, Y)
    np.testing.assert_array_equal(
        model.predict(PAIRS), np.where(model.decision_function(PAIRS) > model.threshold_, 1, -1)
    )
    scores = cross_val_score(make(), PAIRS, Y, cv=3, scoring="roc_auc")
    assert scores.shape == (3,)
    array = make().fit(np.asarray(PAIRS), Y)
    np.testing.assert_allclose(array.decision_function(TEST), model.decision_function(TEST), atol=1e-6)


@every_learnt
def test_rotations_turn_nothing(make: Any) -> None:
    if isinstance(make(), LogisticBaseline):
        pytest.skip("|a − b| and a∘b are taken by coordinate")
    Q = np.linalg.qr(np.random.default_rng(4).normal(size=(4, 4)))[0]
    expected = make().fit(PAIRS, Y).decision_function(TEST)
    turned = make().fit(PAIRS.with_examples(X @ Q), Y).decision_function(TEST.with_examples(NEW @ Q))
    np.testing.assert_allclose(turned, expected, atol=1e-9)


@every_learnt
def test_translations_move_nothing(make: Any) -> None:
    shift = np.array([3.0, -2.0, 0.5, 1.0])
    expected = make().fit(PAIRS, Y).decision_function(TEST)
    moved = make().fit(PAIRS.with_examples(X + shift), Y).decision_function(TEST.with_examples(NEW + shift))
    np.testing.assert_allclose(moved, expected, atol=1e-6)


@pytest.mark.parametrize("kind", [RCABaseline, LDABaseline, KISSMEBaseline, PLDABaseline, WCCNBaseline])
def test_linear_maps_change_nothing_without_shrinkage(kind: Any) -> None:
    model = kind(shrinkage=0.0)
    A = np.random.default_rng(5).normal(size=(4, 4))
    expected = clone(model).fit(PAIRS, Y).decision_function(TEST)
    mapped = clone(model).fit(PAIRS.with_examples(X @ A), Y).decision_function(TEST.with_examples(NEW @ A))
    np.testing.assert_allclose(mapped, expected, atol=1e-7)


@every_learnt
def test_more_features_than_examples(make: Any) -> None:
    wide, classes = gaussian_classes(6, 60, 0.5, seed=6, epcr=4)
    pairs = pl.all_pairs(wide)
    y = pairs.labels(classes)
    model = make().fit(pairs, y)
    unseen, others = gaussian_classes(6, 60, 0.5, seed=7, epcr=4)
    test = pl.all_pairs(unseen, reflexive=False)
    values = model.decision_function(test)
    assert np.isfinite(values).all()
    assert roc_auc_score(test.labels(others), values) > 0.8


@pytest.mark.parametrize("d", [1, 2, 50])
def test_a_few_pairs_are_enough(d: int) -> None:
    """One direction of difference alone: automatic shrinkage falls back on the identity."""
    rows = np.random.default_rng(10).normal(size=(3, d))
    scores, skipped = run_baselines(pl.Pairs(rows, [0, 0], [1, 2]), [1, -1], pl.all_pairs(rows))
    assert skipped == {}
    assert all(np.isfinite(values).all() for values in scores.values())


@every_learnt
def test_scale_of_the_features(make: Any) -> None:
    """Every learnt score is free of the unit of measurement; extreme features are refused."""
    expected = make().fit(PAIRS, Y).decision_function(TEST)
    for factor in (1e-12, 1e12):
        values = make().fit(PAIRS.with_examples(factor * X), Y).decision_function(TEST.with_examples(factor * NEW))
        np.testing.assert_allclose(values, expected, atol=1e-6)
    for factor in (1e-90, 1e90):
        with pytest.raises(InputError, match="too extreme for covariances; rescale"):
            make().fit(PAIRS.with_examples(factor * X), Y)


def test_constant_features_are_harmless() -> None:
    far = np.hstack([X, np.full((len(X), 1), 1e6 + 0.1)])
    scores, skipped = run_baselines(PAIRS.with_examples(far), Y, PAIRS.with_examples(far))
    assert skipped == {}
    off = LogisticBaseline().fit(PAIRS.with_examples(far), Y)
    np.testing.assert_allclose(off.decision_function(PAIRS.with_examples(far + 1e-9)), scores["logistic"], atol=1e-6)
    for name in ("pca_cosine", "logistic"):
        expected = BASELINES[name]().fit(PAIRS, Y).decision_function(PAIRS)
        np.testing.assert_allclose(scores[name], expected, atol=1e-6)


@every_learnt
def test_float32_is_computed_in_double(make: Any) -> None:
    single = X.astype(np.float32)
    values = make().fit(PAIRS.with_examples(single), Y).decision_function(TEST)
    expected = make().fit(PAIRS.with_examples(single.astype(np.float64)), Y).decision_function(TEST)
    np.testing.assert_array_equal(values, expected)


# --------------------------------------------------------------------------- anisotropic noise, unseen classes

OTHERS = ("pca_cosine", "whitened_pca_cosine", "ridge")
NOISE = np.array([3.0, 3.0, 2.0, 0.3, 0.3, 0.3, 0.3, 0.3])


@pytest.mark.parametrize("seed", [8, 9, 10, 11])
def test_learning_beats_euclid_on_unseen_classes(seed: int) -> None:
    """Plain PCA is no part of the claim: without labels it keeps the loud directions, which are noise here.

    Least squares, which whiten nothing, gain less than the others.
    """
    examples, classes = gaussian_classes(60, 8, NOISE, seed)
    known = pl.all_pairs(examples[:240], reflexive=False)
    unseen = pl.all_pairs(examples[240:], reflexive=False)
    scores, skipped = run_baselines(known, known.labels(classes[:240]), unseen)
    assert skipped == {}
    assert list(scores) == list(BASELINES)
    areas = {name: roc_auc_score(unseen.labels(classes[240:]), values) for name, values in scores.items()}
    assert areas["whitened_pca_cosine"] > areas["euclid"] + 0.1
    assert areas["ridge"] > areas["euclid"] + 0.15
    assert min(areas[name] for name in LEARNT if name not in OTHERS) > areas["euclid"] + 0.25, areas


def test_all_principal_components_keep_the_centred_cosine() -> None:
    values = PCACosineBaseline(None).fit(PAIRS, Y).decision_function(TEST)
    np.testing.assert_allclose(values, cosines(NEW - X.mean(axis=0)), atol=1e-10)


# --------------------------------------------------------------------------- classes


def test_classes_are_components_of_positive_pairs() -> None:
    chain = pl.Pairs(X, [0, 1, 5, 0], [1, 2, 6, 5])
    groups = training_rows(chain, [1, 1, 1, -1]).groups
    assert groups.tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("model", [RCABaseline(), WCCNBaseline(), LDABaseline(), PLDABaseline()])
def test_given_classes_replace_components(model: Any) -> None:
    expected = clone(model).fit(PAIRS, Y).decision_function(TEST)
    names = np.array([f"class {c}" for c in CLASSES])
    np.testing.assert_allclose(clone(model).fit(PAIRS, Y, names).decision_function(TEST), expected, atol=1e-9)
    few = np.concatenate([np.nonzero(Y > 0)[0][:3], np.nonzero(Y < 0)[0]])
    given = clone(model).fit(PAIRS[few], Y[few], classes=names).decision_function(TEST)
    np.testing.assert_allclose(given, expected, atol=1e-9)


def test_merged_classes_are_warned_of() -> None:
    with pytest.warns(ConflictWarning, match="1 negative pair joins examples that positive pairs connect"):
        RCABaseline().fit(pl.Pairs(X, [0, 1, 0], [1, 2, 2]), [1, 1, -1])


def test_reflexive_pairs_teach_nothing() -> None:
    reflexive = pl.Pairs(X, np.arange(5), np.arange(5))
    pairs, y = PAIRS[:].followed_by(reflexive), np.concatenate([Y, np.ones(5)])
    for make in LEARNT.values():
        expected = make().fit(PAIRS, Y).decision_function(TEST)
        np.testing.assert_array_equal(make().fit(pairs, y).decision_function(TEST), expected)


# --------------------------------------------------------------------------- refusals


@every_learnt
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(3), "both classes are needed"),
        (-np.ones(3), "both classes are needed"),
        ([1, -1, -1], "no positive pair joins two different examples; add"),
        ([-1, 1, 1], "no negative pair joins two different examples; add"),
        ([0, 1, 1], r"labels must be \+1 or -1"),
    ],
)
def test_labels_without_contrast_are_refused(make: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make().fit(pl.Pairs(X, [0, 0, 1], [0, 20, 20]), y)


@every_learnt
def test_sparse_rows_are_refused_with_advice_that_works(make: Any) -> None:
    pairs = PAIRS.with_examples(sparse.csr_array(X))
    with pytest.raises(InputError, match=r"needs dense rows; put pl.OnExamples\(TruncatedSVD"):
        make().fit(pairs, Y)
    model = make_pipeline(pl.OnExamples(TruncatedSVD(3)), make()).fit(pairs, Y)
    assert np.isfinite(model.decision_function(pairs)).all()


@every_learnt
def test_other_features_and_objects_are_refused(make: Any) -> None:
    model = make().fit(PAIRS, Y)
    with pytest.raises(InputError, match="3 features, but the baseline was fitted with 4"):
        model.decision_function(pl.all_pairs(NEW[:, :3]))
    with pytest.raises(InputError, match="3 features, but the baseline was fitted with 4"):
        model.score_block(NEW, NEW[:, :3])
    with pytest.raises(InputError, match="compares rows of numbers"):
        make().fit(pl.Pairs(["a", "b"], [0], [1]), [1])
    with pytest.raises(InputError, match="compares rows of numbers"):
        model.score_block(["a"], ["b"])


@pytest.mark.parametrize(
    ("model", "classes", "message"),
    [
        (LDABaseline(), np.zeros(len(X)), "fall into one class"),
        (PLDABaseline(), np.zeros(len(X)), "fall into one class"),
        (RCABaseline(), np.arange(len(X)), "every class has a single example"),
        (RCABaseline(), np.zeros(3), "one value per example"),
        (RCABaseline(), np.full(len(X), np.nan), "missing or infinite value"),
        (LDABaseline(5), None, "n_components must lie in 1 … 4"),
        (LDABaseline(1.5), None, "n_components must lie in 1 … 4"),  # type: ignore[arg-type]
        (RCABaseline(7), None, "span 4; pass an integer"),
        (PCACosineBaseline(0), None, "span 4; pass an integer"),
        (RCABaseline(shrinkage=2.0), None, r"shrinkage must lie in \[0, 1\]"),
        (WCCNBaseline("manhattan"), None, "measure must be"),  # type: ignore[arg-type]
        (LogisticBaseline(memory_budget=64), None, "holds fewer than two pairs; raise it"),
    ],
)
def test_arguments_that_cannot_work(model: Any, classes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(PAIRS, Y, classes=classes)


@pytest.mark.parametrize("model", [RCABaseline(shrinkage=0.0), KISSMEBaseline(shrinkage=0.0), LDABaseline(shrinkage=0)])
def test_singular_covariances_are_refused_with_advice(model: Any) -> None:
    flat = np.hstack([X, X[:, :1]])
    with pytest.raises(InputError, match=r'covariance is singular; pass shrinkage="auto" or larger, pca=0.95'):
        model.fit(PAIRS.with_examples(flat), Y)
    model.set_params(pca=0.999).fit(PAIRS.with_examples(flat), Y)
    model.set_params(pca=None, shrinkage="auto").fit(PAIRS.with_examples(flat), Y)


def test_equal_examples_are_refused() -> None:
    same = pl.Pairs(np.ones((3, 2)), [0, 0], [1, 2])
    for make in (PCACosineBaseline, RCABaseline, WCCNBaseline, LDABaseline, KISSMEBaseline, PLDABaseline):
        with pytest.raises(InputError, match="examples that differ"):
            make().fit(same, [1, -1])


def test_a_small_memory_budget_samples_pairs() -> None:
    model = LogisticBaseline(memory_budget=2 * 16 * 4 * 200).fit(PAIRS, Y)
    assert 190 <= model.n_pairs_ <= 200
    assert LogisticBaseline().fit(PAIRS, Y).n_pairs_ == len(PAIRS)
    again = LogisticBaseline(memory_budget=2 * 16 * 4 * 200).fit(PAIRS, Y)
    np.testing.assert_array_equal(model.decision_function(TEST), again.decision_function(TEST))


# --------------------------------------------------------------------------- thresholds and the table


def test_thresholds_by_brute_force() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        scores, y = rng.integers(0, 8, size=15).astype(float), np.where(rng.random(15) < 0.4, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        chosen = best_threshold(scores, y)

        def gain(t: float, scores: Any = scores, y: Any = y) -> float:
            return float((scores[y > 0] > t).mean() - (scores[y < 0] > t).mean())

        cuts = (np.unique(scores)[1:] + np.unique(scores)[:-1]) / 2
        assert gain(chosen) == pytest.approx(max(gain(t) for t in cuts))
    assert best_threshold(np.ones(2), np.array([1.0, -1.0])) == 1.0


def test_running_all_skips_with_reasons() -> None:
    scores, skipped = run_baselines(PAIRS.with_examples(sparse.csr_array(X)), Y, TEST)
    assert list(scores) == ["euclid", "cosine"]
    assert set(skipped) == set(LEARNT)
    assert all("needs dense rows" in reason for reason in skipped.values())
    scores, skipped = run_baselines(PAIRS, Y, TEST, classes=np.zeros(len(X)))
    assert set(skipped) == {"lda_euclid", "lda_cosine", "plda", "ridge"}
    for name, values in run_baselines(PAIRS, Y, TEST).scores.items():
        np.testing.assert_array_equal(values, BASELINES[name]().fit(PAIRS, Y).decision_function(TEST))
