"""Measures as scorers of scikit-learn, under their own names and under the old ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

import pairlearn as pl
from pairlearn.errors import InputError, MovedWarning
from pairlearn.evaluation import AUC, EER, MEASURES, FnmrAtFmr, Scorer

rng = np.random.default_rng(0)
classes = np.repeat(np.arange(12), 4)
X = rng.normal(size=(12, 3))[classes] + 0.7 * rng.normal(size=(48, 3))
pairs = pl.all_pairs(X)
y = pairs.labels(classes)
model = pl.EuclidBaseline()
eer, auc = EER().scorer(), AUC().scorer()


def test_reflexive_pairs_do_not_flatter() -> None:
    honest = ~pairs.reflexive
    g = model.decision_function(pairs[honest])
    assert auc(model, pairs, y) == pytest.approx(roc_auc_score(y[honest], g))
    assert auc(model, pairs, y) < roc_auc_score(y, model.decision_function(pairs))


def test_smaller_errors_score_higher() -> None:
    good, bad = pl.EuclidBaseline(), pl.CosineBaseline()
    shifted = pl.all_pairs(X + 100.0)  # angles say nothing so far from the origin
    for measure in (EER(), AUC(), FnmrAtFmr(0.1), pl.evaluation.DPrime(), pl.evaluation.MinCllr()):
        assert measure.scorer()(good, shifted, y) > measure.scorer()(bad, shifted, y)


def test_errors_equal_the_rates() -> None:
    scores = pl.Scores(model.decision_function(pairs), y, left=pairs.left, right=pairs.right)
    assert eer(model, pairs, y) == -pl.equal_error_rate(scores)
    assert FnmrAtFmr(0.05).scorer()(model, pairs, y) == -pl.evaluation.fnmr_at_fmr(scores, 0.05)
    # No false match at all: what the highest negative pair leaves of the positive ones.
    honest = scores.without_reflexive()
    missed = np.mean(honest.positives <= honest.negatives.max())
    assert FnmrAtFmr(0.0).scorer()(model, pairs, y) == -missed


def test_two_tables_have_no_reflexive_pairs() -> None:
    left, right = np.divmod(np.arange(16), 4)
    two = pl.Pairs(X[:4], left, right, right_examples=X[4:8])
    labels = np.where(left == right, 1, -1)
    fitted = pl.PairSVC("tensor", "linear").fit(two, labels)
    assert auc(fitted, two, labels) == pytest.approx(roc_auc_score(labels, fitted.decision_function(two)))


@pytest.mark.parametrize("measure", [*MEASURES, FnmrAtFmr(0.1)], ids=lambda measure: measure.key)
def test_grid_search_on_unseen_classes(measure: pl.evaluation.Measure) -> None:
    search = GridSearchCV(
        pl.PairSVC("metric", "linear"),
        {"C": [0.01, 1.0]},
        scoring=measure.scorer(),
        cv=pl.selection.ClassKFold(classes, n_splits=3),
    )
    copied = clone(search).fit(pairs, y)
    assert copied.scoring == measure.scorer()
    assert np.isfinite(copied.cv_results_["mean_test_score"]).all()
    best = copied.best_estimator_
    assert copied.score(pairs, y) == measure.scorer()(best, pairs, y)


@pytest.mark.parametrize("package", [pl.selection.scorers, pl.scorers], ids=lambda package: package.__name__)
def test_old_names_work_and_say_what_to_write(package: object) -> None:
    for name, now in (("eer", "EER().scorer()"), ("auc", "AUC().scorer()")):
        with pytest.warns(MovedWarning, match=rf"{name} is now pairlearn.evaluation.{now[:3]}") as caught:
            found = getattr(package, name)
        assert now in str(caught[0].message)
        assert caught[0].filename == __file__
        assert isinstance(found, Scorer)
        assert found(model, pairs, y) == {"eer": eer, "auc": auc}[name](model, pairs, y)
    with pytest.warns(MovedWarning, match="FnmrAtFmr"):
        old = package.FNMRAt  # type: ignore[attr-defined]
    assert old(fmr=0.05) == FnmrAtFmr(0.05).scorer()
    with pytest.raises(InputError, match="between 0 and 1"):
        old(1.5)
    with pytest.raises(AttributeError):
        package.nothing  # type: ignore[attr-defined]  # noqa: B018
