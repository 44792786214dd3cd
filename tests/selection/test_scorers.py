from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.selection import scorers

rng = np.random.default_rng(0)
classes = np.repeat(np.arange(12), 4)
X = rng.normal(size=(12, 3))[classes] + 0.7 * rng.normal(size=(48, 3))
pairs = pl.all_pairs(X)
y = pairs.labels(classes)
model = pl.EuclidBaseline()


def test_reflexive_pairs_do_not_flatter() -> None:
    honest = ~pairs.reflexive
    g = model.decision_function(pairs[honest])
    assert scorers.auc(model, pairs, y) == pytest.approx(roc_auc_score(y[honest], g))
    assert scorers.auc(model, pairs, y) < roc_auc_score(y, model.decision_function(pairs))


def test_smaller_errors_score_higher() -> None:
    good, bad = pl.EuclidBaseline(), pl.CosineBaseline()
    shifted = pl.all_pairs(X + 100.0)  # angles say nothing so far from the origin
    for scorer in (scorers.eer, scorers.auc, scorers.FNMRAt(0.1)):
        assert scorer(good, shifted, y) > scorer(bad, shifted, y)


def test_errors_equal_the_rates() -> None:
    scores = pl.Scores(model.decision_function(pairs), y, left=pairs.left, right=pairs.right)
    assert scorers.eer(model, pairs, y) == -pl.equal_error_rate(scores)
    assert scorers.FNMRAt(0.05)(model, pairs, y) == -pl.evaluation.fnmr_at_fmr(scores, 0.05)


def test_two_tables_have_no_reflexive_pairs() -> None:
    left, right = np.divmod(np.arange(16), 4)
    two = pl.Pairs(X[:4], left, right, right_examples=X[4:8])
    labels = np.where(left == right, 1, -1)
    fitted = pl.PairSVC("tensor", "linear").fit(two, labels)
    assert scorers.auc(fitted, two, labels) == pytest.approx(roc_auc_score(labels, fitted.decision_function(two)))


@pytest.mark.parametrize("scorer", [scorers.eer, scorers.auc, scorers.FNMRAt(0.1)])
def test_grid_search_on_unseen_classes(scorer: object) -> None:
    search = GridSearchCV(
        pl.PairSVC("metric", "linear"),
        {"C": [0.01, 1.0]},
        scoring=scorer,
        cv=pl.selection.ClassKFold(classes, n_splits=3),
    )
    search.fit(pairs, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("fmr", [0.0, 1.0, -0.1, float("nan")])
def test_rates_out_of_range_are_refused(fmr: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        scorers.FNMRAt(fmr)
