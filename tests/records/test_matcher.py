"""The matcher: learns, keeps what it learnt, explains, asks, and starts without labels."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.evaluation import interval
from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.judging import F1At, PrecisionAt, RecallAt, answers_among, cutoffs, scores_of
from pairlearn.records.machine import best_f1, deal_folds
from pairlearn.records.unsupervised import LEVELS, expectation_maximisation

Beers = tuple[pl.Records, pl.Records, np.ndarray]
Labelled = tuple[pl.records.RecordPairs, np.ndarray]


def test_new_pairs_are_told_apart(matcher: pl.RecordMatcher, beers: Beers) -> None:
    left, right, _ = beers
    rows = np.arange(80, 100)
    same = matcher.predict_proba(pl.records.RecordPairs(left, right, rows, rows))[:, 1]
    other = matcher.predict_proba(pl.records.RecordPairs(left, right, rows, rows - 6))[:, 1]
    assert np.median(same) > 0.8
    assert np.median(other) < 0.2


def test_match_is_one_to_one_and_right(matcher: pl.RecordMatcher, beers: Beers) -> None:
    found = matcher.match(*beers[:2])
    left, right = found.pairs.left_rows[found.chosen], found.pairs.right_rows[found.chosen]
    assert len(set(left)) == len(left) == len(set(right))
    assert (left == right).sum() > 90
    assert (found.probabilities[found.chosen] >= found.threshold).all()


def test_files_score_the_same(matcher: pl.RecordMatcher, labelled: Labelled, tmp_path: Path) -> None:
    path = tmp_path / "matcher.safetensors"
    pl.save(matcher, path)
    loaded = pl.load(path)
    np.testing.assert_array_equal(loaded.decision_function(labelled[0]), matcher.decision_function(labelled[0]))
    assert loaded.comparer_.kinds == matcher.comparer_.kinds
    with pytest.raises(InputError, match="call fit"):
        _ = loaded.held_out
    path.write_bytes(path.read_bytes().replace(b'"kind\\": \\"name', b'"kind\\": \\"geo_', 1))
    with pytest.raises(InputError):
        pl.load(path)


def test_new_tables_keep_the_rarity_that_was_learnt(matcher: pl.RecordMatcher, beers: Beers) -> None:
    """Columns of a pair do not change with the table it stands in; only rivals do."""
    left, right, _ = beers
    comparer = matcher.comparer_
    names = np.array([owner != "whole record" for owner in comparer.owners])
    whole = comparer.features(comparer.prepare(left, right), np.array([3]), np.array([3]))
    small = comparer.features(comparer.prepare(left.take([3, 5]), right.take([3])), np.array([0]), np.array([0]))
    np.testing.assert_allclose(whole[:, names], small[:, names], rtol=1e-6)


def test_swapping_tables_changes_nothing(matcher: pl.RecordMatcher, beers: Beers) -> None:
    left, right, same = beers
    there = matcher.decision_function(pl.records.RecordPairs(left, right, same, same))
    np.testing.assert_allclose(
        there, matcher.decision_function(pl.records.RecordPairs(right, left, same, same)), atol=1e-6
    )


def test_scikit_learn_can_clone_and_slice(labelled: Labelled) -> None:
    pairs, y = labelled
    copy = clone(pl.RecordMatcher(setting=pl.records.Setting(1.0), rivals=False)).fit(pairs[::2], y[::2])
    assert copy.score(pairs[1::2], y[1::2]) > 0.9


def test_settings_are_chosen_by_cross_validation(labelled: Labelled) -> None:
    found = pl.RecordMatcher().fit(*labelled)
    assert str(found.setting_) in dict(found.trials_)
    assert dict(found.trials_)[str(found.setting_)] == max(dict(found.trials_).values())


def test_folds_keep_left_records_together(labelled: Labelled) -> None:
    pairs, y = labelled
    folds = deal_folds(pairs.left_rows, y, 0)
    for row in np.unique(pairs.left_rows):
        assert len(set(folds[pairs.left_rows == row])) == 1
    with pytest.raises(InputError, match="too few"):
        deal_folds(np.arange(4), np.array([1, -1, -1, -1]), 0)


def test_reasons_speak_for_matches(matcher: pl.RecordMatcher, beers: Beers) -> None:
    left, right, same = beers
    reasons = pl.records.explain_pairs(matcher, pl.records.RecordPairs(left, right, same[:20], same[:20]))
    assert reasons.columns == ("name", "abv", "whole record")
    assert (reasons.values.sum(axis=1) > 0).mean() > 0.9


def test_review_asks_nothing_twice(matcher: pl.RecordMatcher, beers: Beers, labelled: Labelled) -> None:
    scored = matcher.match(*beers[:2])
    order = pl.records.review_order(scored, 20, labelled[0])
    asked = scored.pairs[order]
    assert not np.isin(asked.keys, labelled[0].keys).any()
    left, right = asked.names
    assert len({*left, *right}) == 2 * len(order)
    assert (scored.probabilities[order] >= scored.threshold).any()
    assert (scored.probabilities[order] < scored.threshold).any()


def test_duplicates_of_one_table(matcher: pl.RecordMatcher, beers: Beers) -> None:
    left, right, _ = beers
    cells = {name: (*left.columns[name][:100], *right.columns[name][:100]) for name in left.columns}
    table = pl.Records(tuple(map(str, range(200))), cells)
    groups = matcher.dedupe(table)
    assert (groups.clusters[:100] == groups.clusters[100:]).mean() > 0.8
    believed = matcher.dedupe(table, labelled=(pl.records.RecordPairs(table, None, [0], [100]), [-1]))
    assert believed.clusters[0] != believed.clusters[100]


def test_without_labels(beers: Beers, tmp_path: Path) -> None:
    left, right, same = beers
    rows = np.divmod(np.arange(120 * 150), 150)
    found = pl.records.UnlabelledMatcher().fit(pl.records.RecordPairs(left, right, *rows))
    assert (found.predict(pl.records.RecordPairs(left, right, same, same)) > 0).mean() > 0.8
    assert (found.predict(pl.records.RecordPairs(left, right, same[6:], same[:-6])) < 0).mean() > 0.95
    pl.save(found, tmp_path / "start.safetensors")
    pairs = pl.records.RecordPairs(left, right, same, same)
    loaded = pl.load(tmp_path / "start.safetensors")
    np.testing.assert_array_equal(loaded.decision_function(pairs), found.decision_function(pairs))
    reasons = pl.records.explain_pairs(found, pairs)
    expected = found.decision_function(pairs) - np.log(found.prior_ / (1 - found.prior_))
    np.testing.assert_allclose(reasons.values.sum(axis=1), expected, atol=1e-9)


def test_em_finds_the_parameters_that_made_the_data() -> None:
    rng = np.random.default_rng(0)
    match = rng.random(40_000) < 0.1
    m, u = np.array([0.05, 0.05, 0.2, 0.7, 0.0]), np.array([0.8, 0.1, 0.05, 0.05, 0.0])
    levels = np.stack([np.where(match, rng.choice(5, 40_000, p=m), rng.choice(5, 40_000, p=u)) for _ in range(4)], 1)
    weights, share = expectation_maximisation(levels)
    assert weights.shape == (4, LEVELS)
    assert share == pytest.approx(0.1, abs=0.01)
    np.testing.assert_allclose(weights[:, [0, 2, 3]], np.tile(np.log(m[[0, 2, 3]] / u[[0, 2, 3]]), (4, 1)), atol=0.3)


def test_ratios_by_hand_and_by_bootstrap(labelled: Labelled) -> None:
    pairs, y = labelled
    rng = np.random.default_rng(0)
    values = y + rng.normal(0, 1.2, len(y))
    scores, accepted = scores_of(pairs, values, y), values >= 0.0
    hits = (accepted & (y > 0)).sum()
    assert PrecisionAt(0.0)(scores) == pytest.approx(hits / accepted.sum())
    assert RecallAt(0.0)(scores) == pytest.approx(hits / (y > 0).sum())
    assert F1At(0.0)(scores) == pytest.approx(2 * hits / (accepted.sum() + (y > 0).sum()))
    quick, drawn = (interval(scores, F1At(0.0), unit="example", method=how) for how in ("jackknife", "bootstrap"))
    assert quick.low == pytest.approx(drawn.low, abs=0.02)
    assert quick.high == pytest.approx(drawn.high, abs=0.02)


def test_best_f1_against_every_threshold() -> None:
    rng = np.random.default_rng(3)
    values, y = rng.integers(0, 6, 40).astype(float), rng.choice([-1, 1], 40)
    best, threshold = best_f1(values, y)
    every = [2 * ((values >= t) & (y > 0)).sum() / ((values >= t).sum() + (y > 0).sum()) for t in range(7)]
    assert best == pytest.approx(max(every))
    assert F1At(threshold)(pl.Scores(values, y)) == pytest.approx(best)


def test_cutoffs_count() -> None:
    rows = cutoffs(np.array([0.05, 0.5, 0.95]), None)
    half = next(row for row in rows if row.probability == 0.5)
    assert (half.matches, half.doubtful) == (2, 1)
    assert half.expected_wrong == pytest.approx(0.55)
    assert half.expected_missed == pytest.approx(0.05)


def test_a_column_that_holds_the_answer_is_named(labelled: Labelled, beers: Beers) -> None:
    """As the class of Fodors-Zagats: equal exactly if two records match."""
    pairs, y = labelled
    left, right, _ = beers
    key = [f"key {k}" for k in range(150)]
    sides = [pl.Records(table.ids, {**table.columns, "key": tuple(key[: len(table)])}) for table in (left, right)]
    with_key = pl.records.RecordPairs(*sides, pairs.left_rows, pairs.right_rows)
    comparer = Comparer.learn(*sides)
    features = comparer.features(comparer.prepare(*sides), with_key.left_rows, with_key.right_rows)
    assert answers_among(comparer, features, y) == ["key"]
    assert answers_among(comparer, features, -y) == []


# --------------------------------------------------------------------------- what strangers found


def test_ctrl_c_within_a_fold_ends_all_of_it(labelled: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine keeps what it has; one of many fits is no result of a matcher."""
    fit = pl.PairSVC.fit

    def pressed(self: pl.PairSVC, *given: object) -> pl.PairSVC:
        fit(self.set_params(callback=lambda step: True), *given)
        return self

    monkeypatch.setattr(pl.PairSVC, "fit", pressed)
    with pytest.raises(KeyboardInterrupt):
        pl.RecordMatcher(setting=pl.records.Setting(C=3.0)).fit(*labelled)


def test_labels_that_no_clusters_can_respect(matcher: pl.RecordMatcher, beers: Beers) -> None:
    left = beers[0]
    pairs = pl.records.RecordPairs(left, None, [0, 1, 0], [1, 2, 2])
    ids = left.ids
    with pytest.warns(pl.errors.ConflictWarning, match=f"{ids[0]} = {ids[1]} = {ids[2]}"):
        matcher.dedupe(left, labelled=(pairs, np.array([1, 1, -1])))


def test_bad_calls_of_a_matcher_say_what_is_wanted(matcher: pl.RecordMatcher, beers: Beers) -> None:
    left, right, _ = beers
    with pytest.raises(NotFittedError):
        pl.RecordMatcher().match(left, right)
    with pytest.raises(InputError, match=r"pl.Records.of"):
        matcher.match("a.csv", "b.csv")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="from 0 to 1"):
        matcher.match(left, right, threshold=2.0)
    with pytest.raises(InputError, match="RecordPairs"):
        pl.RecordMatcher().fit(np.zeros((3, 2)), [1, 1, -1])
    with pytest.raises(InputError, match="with itself"):
        pl.RecordMatcher().fit(pl.records.RecordPairs(left, None, [0, 1, 2], [1, 1, 3]), [1, 1, -1])
    for nothing in (None, 5):
        with pytest.raises(InputError, match="records are a file"):
            pl.Records.of(nothing)


def test_nothing_taken_has_no_precision() -> None:
    pairs = pl.records.RecordPairs(*([pl.Records.of({"name": list("abcdef")})] * 2), range(6), range(6))
    rows = cutoffs(np.full(4, 0.5), scores_of(pairs, [0.1, 0.2, 0.3, 0.6, 0.7, 0.8], [-1, -1, -1, 1, 1, 1]))
    assert rows[-1].precision is None
    assert rows[-1].recall is not None
    assert rows[0].precision is not None


def test_a_refused_fit_leaves_the_model_as_it_was(matcher: pl.RecordMatcher, labelled: Labelled) -> None:
    again, (pairs, _) = copy(matcher), labelled
    before = again.decision_function(pairs)
    other = pl.Records.of({"title": ["red", "red ale", "stout", "porter"]})
    with pytest.raises(InputError, match="too few"):
        again.fit(pl.records.RecordPairs(other, None, [0, 1, 2], [1, 2, 3]), [1, -1, -1])
    np.testing.assert_array_equal(again.decision_function(pairs), before)
