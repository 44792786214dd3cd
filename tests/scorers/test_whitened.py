"""Scores in whitened spaces of base kernels: against other estimators, closed forms and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import pairlearn as pl
from pairlearn.baselines import WCCNBaseline
from pairlearn.errors import InputError
from pairlearn.scorers import NormalisedScorer, View, WhitenedScorer

X, CLASSES = pl.data.double_interval(16, 6, n=12, seed=1)
PAIRS = pl.all_pairs(X[:60], reflexive=False)
LABELS = PAIRS.labels(CLASSES[:60])
TEST = pl.all_pairs(X[60:], reflexive=False)


def fitted(*views: View, **options: object) -> WhitenedScorer:
    return WhitenedScorer(views, **options).fit(PAIRS, LABELS, classes=CLASSES[:60])  # type: ignore[arg-type]


def order(values: np.ndarray) -> list[int]:
    return np.argsort(values, kind="stable").tolist()


def test_linear_cosine_is_within_class_covariance_normalisation() -> None:
    """Classes of one size: S_w/(m − c) and the mean over classes differ by a factor, which no cosine sees."""
    own = fitted(View("linear", 0.2)).decision_function(TEST)
    other = WCCNBaseline(shrinkage=0.2).fit(PAIRS, LABELS, classes=CLASSES[:60]).decision_function(TEST)
    assert np.corrcoef(own, other)[0, 1] == pytest.approx(1.0, abs=1e-9)


def test_ratio_is_that_of_two_gaussian_densities() -> None:
    """log p(a, b | same) − log p(a, b | different) from full covariances, W and B by the scorer's own moments."""
    scorer = fitted(View("linear", 0.3, "ratio"))
    view, rows = scorer.learnt_[0], X[:60] - X[:60].mean(axis=0)
    groups = CLASSES[:60]
    means = np.array([rows[groups == c].mean(axis=0) for c in np.unique(groups)])
    rest = rows - means[np.unique(groups, return_inverse=True)[1]]
    within = rest.T @ rest / (len(rows) - len(means))
    within = 0.7 * within + 0.3 * np.trace(within) / len(within) * np.eye(len(within))
    root = np.linalg.cholesky(within)
    centred = np.linalg.solve(root, (means - means.mean(axis=0)).T)
    values, axes = np.linalg.eigh(centred @ centred.T / len(means))
    psi = np.maximum(values - 1.0 / 6.0, 0.0)
    between = root @ (axes * psi) @ axes.T @ root.T
    total, none = within + between, np.zeros_like(within)
    same = multivariate_normal(cov=np.block([[total, between], [between, total]]))
    apart = multivariate_normal(cov=np.block([[total, none], [none, total]]))
    T = X[60:70] - X[:60].mean(axis=0)
    pairs = pl.all_pairs(X[60:70], reflexive=False)
    both = np.hstack([T[pairs.left], T[pairs.right]])
    assert scorer.decision_function(pairs) * view.scale == pytest.approx(same.logpdf(both) - apart.logpdf(both))


@pytest.mark.parametrize(("cohort", "top"), [("all", None), ("nearest", 20)])
@pytest.mark.parametrize("compare", ["cosine", "ratio"])
def test_a_cohort_is_symmetric_normalisation(compare: str, cohort: str, top: int | None) -> None:
    bare = fitted(View("rbf", 0.1, compare))  # type: ignore[arg-type]
    own = fitted(View("rbf", 0.1, compare, cohort))  # type: ignore[arg-type]
    by_hand = NormalisedScorer(bare, X[:60], top=top).decision_function(TEST)
    assert own.decision_function(TEST) * own.learnt_[0].scale == pytest.approx(by_hand, rel=1e-8)


def test_several_views_are_added_up_in_units_of_strangers() -> None:
    views = [View("linear", 0.1), View("rbf", 0.3, "ratio", "all"), View("linear", 0.6, "ratio")]
    alone = [fitted(view).decision_function(TEST) for view in views]
    assert fitted(*views).decision_function(TEST) == pytest.approx(np.mean(alone, axis=0), rel=1e-9)


@pytest.mark.parametrize("view", [View("rbf", cohort="nearest"), View("poly", 0.5, "ratio", "all")])
def test_scores_are_symmetric_to_the_last_bit_and_blocks_agree(view: View) -> None:
    scorer = fitted(view)
    scores = scorer.decision_function(TEST)
    assert (scorer.decision_function(TEST.swapped()) == scores).all()
    block = scorer.score_block(X[60:], X[60:])
    assert block[TEST.left, TEST.right] == pytest.approx(scores, rel=1e-9)


def test_more_features_than_examples_keep_what_no_training_example_has() -> None:
    """Two new examples that differ only outside of the span of all training examples are told apart."""
    wide = np.zeros((60, 80))
    wide[:, :12] = X[:60]
    scorer = WhitenedScorer(View("linear", 0.1)).fit(PAIRS.with_examples(wide), LABELS, classes=CLASSES[:60])
    new = np.repeat(wide[:1], 3, axis=0)
    new[1, 70] = new[2, 71] = 5.0
    a, b = scorer.decision_function(pl.Pairs(new, [0, 1], [0, 2]))
    assert a > b


def test_many_features_are_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    from pairlearn.scorers.whitened import spaces

    X = np.random.default_rng(0).normal(size=(60, 12))
    pairs, view = PAIRS.with_examples(X), View("linear", 0.2)
    whole = WhitenedScorer(view).fit(pairs, LABELS).decision_function(pairs)
    monkeypatch.setattr(spaces, "WIDEST", 3)
    reduced = WhitenedScorer(view, rank=12).fit(pairs, LABELS)
    assert reduced.decision_function(pairs) == pytest.approx(whole, rel=1e-6)
    assert WhitenedScorer(view, rank=4).fit(pairs, LABELS).learnt_[0].projection.shape == (12, 4)


def test_it_learns_from_classes_or_from_pairs_and_one_seed_gives_one_result() -> None:
    by_pairs = WhitenedScorer(View("rbf")).fit(PAIRS, LABELS)
    assert (by_pairs.decision_function(TEST) == fitted(View("rbf")).decision_function(TEST)).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_saved_scorer_scores_alike(tmp_path: object, kind: type[np.floating]) -> None:
    views = [View("linear", 0.3), View("rbf", 0.3, "ratio", "nearest")]
    scorer = WhitenedScorer(views).fit(PAIRS.with_examples(X[:60].astype(kind)), LABELS, classes=CLASSES[:60])
    path = f"{tmp_path}/model.safetensors"
    pl.save(scorer, path)
    assert (pl.load(path).decision_function(TEST) == scorer.decision_function(TEST)).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: View("rbf", 0.0), "shrinkage"),
        (lambda: View("rbf", "auto"), "shrinkage"),  # type: ignore[arg-type]
        (lambda: View("rbf", compare="dot"), "compare is one of cosine, ratio"),  # type: ignore[arg-type]
        (lambda: View("precomputed"), "one table"),
        (lambda: WhitenedScorer([]).fit(PAIRS, LABELS), "at least one"),
        *(
            (lambda rank=rank: WhitenedScorer(rank=rank).fit(PAIRS, LABELS), "rank must be a whole number")
            for rank in (0, None, float("nan"), 2.5, "x", True)
        ),
        (lambda: fitted(View("linear")).decision_function(pl.Pairs(X[:, :5], [0], [1])), "features"),
        (lambda: WhitenedScorer().fit(PAIRS, LABELS, classes=np.arange(60)), "two examples"),
        (lambda: WhitenedScorer(View("linear")).fit(PAIRS.with_examples(np.ones((60, 2))), LABELS), "equal"),
    ],
)
def test_what_is_wrong_is_told(wrong: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        wrong()  # type: ignore[operator]


def test_pairs_of_an_example_with_itself_set_no_threshold() -> None:
    """They are alike whatever the data: of noise they would take it far above all other pairs."""
    m, known = 60, {"classes": CLASSES[:60]}
    noise = np.random.default_rng(0).normal(size=(m, 12))
    proper = PAIRS.with_examples(noise)
    own = pl.all_pairs(noise)
    labels = own.labels(CLASSES[:m])
    found = WhitenedScorer(View("linear", 0.9)).fit(own, labels, **known)
    assert found.threshold_ == WhitenedScorer(View("linear", 0.9)).fit(proper, LABELS, **known).threshold_
    left = np.flatnonzero((labels < 0) | own.reflexive)
    with pytest.raises(InputError, match="one label only"):
        WhitenedScorer(View("linear")).fit(own[left], labels[left], **known)
