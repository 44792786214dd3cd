"""Scores over variants against loops over pairs, symmetry to the last bit, and learning from copies without leaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.baselines.registry import BASELINES, fit_baseline
from pairlearn.errors import InputError
from pairlearn.images import Centred, Hog, Orbit
from pairlearn.scorers import Copies, OnCopies, OrbitScorer

rng = np.random.default_rng(5)
CLASSES = np.repeat(np.arange(6), 4)
X = rng.normal(size=(6, 5))[CLASSES] + 0.5 * rng.normal(size=(24, 5))
PAIRS = pl.all_pairs(X)
Y = PAIRS.labels(CLASSES)
IMAGES = rng.random((6, 12, 12))[CLASSES] + 0.3 * rng.random((24, 12, 12))
SHOWN = pl.all_pairs(IMAGES)
ORBIT = Orbit(shifts=(1,), degrees=(15,))
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def turned(table: Any) -> list[Any]:
    """Three variants of rows: as they are, rolled, mirrored."""
    return [table, np.roll(table, 1, axis=1), table[:, ::-1]]


def on_images(last: Any) -> Any:
    return make_pipeline(pl.OnExamples(make_pipeline(Centred(), Hog(cell=4))), last)


def by_hand(model: Any, pairs: pl.Pairs, how: str, moved: str) -> np.ndarray:
    """One call of the model for every pair of variants of every pair."""
    tables, found = turned(pairs.examples), []
    for left, right in zip(*pairs.columns, strict=True):
        places = [(i, j) for i in range(3) for j in range(3) if moved == "both" or 0 in (i, j)]
        values = [
            model.decision_function(pl.Pairs(np.stack([tables[i][left], tables[j][right]]), [0], [1]))[0]
            for i, j in places
        ]
        found.append(np.mean(values) if how == "mean" else np.max(values))
    return np.array(found)


MODELS: dict[str, Any] = {
    "tensor": pl.PairSVC("tensor_metric", "rbf", C=1.0).fit(PAIRS, Y),
    "metric": pl.PairSVC("metric", "linear").fit(PAIRS, Y),
    "pipeline": make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC("tensor", "poly")).fit(PAIRS, Y),
    "one class": pl.OneClassPairSVM("tensor", "rbf").fit(PAIRS[Y > 0]),
    "stream": pl.OnlinePseudoMetric(max_sweeps=1).partial_fit(PAIRS, Y),
    **{name: fit_baseline(name, PAIRS, Y, CLASSES) for name in BASELINES},
}


@pytest.mark.parametrize("moved", ["one", "both"])
@pytest.mark.parametrize("how", ["mean", "max"])
@pytest.mark.parametrize("name", ["tensor", "pipeline", "plda"])
def test_it_is_the_mean_or_best_of_all_variants(name: str, how: Any, moved: Any) -> None:
    some = PAIRS[::29]
    scorer = OrbitScorer(MODELS[name], turned, how, moved)
    expected = by_hand(MODELS[name], some, how, moved)
    np.testing.assert_allclose(scorer.decision_function(some), expected, rtol=1e-9, atol=1e-9)
    left, right = some.columns
    block = scorer.score_block(X[left], X[right])
    np.testing.assert_allclose(np.diagonal(block), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("moved", ["one", "both"])
@pytest.mark.parametrize("how", ["mean", "max"])
@pytest.mark.parametrize("name", MODELS)
def test_it_is_as_symmetric_as_the_model_to_the_last_bit(name: str, how: Any, moved: Any) -> None:
    model = MODELS[name]
    np.testing.assert_array_equal(model.decision_function(PAIRS), model.decision_function(PAIRS.swapped()))
    scorer = OrbitScorer(model, turned, how, moved)
    np.testing.assert_array_equal(scorer.decision_function(PAIRS), scorer.decision_function(PAIRS.swapped()))


def test_the_mean_of_an_antisymmetric_model_is_antisymmetric() -> None:
    ranker = pl.PairRanker("wedge", "rbf").fit(PAIRS[~PAIRS.reflexive], np.where(np.arange(276) % 3, 1, -1))
    scorer = OrbitScorer(ranker, turned, moved="both")
    np.testing.assert_array_equal(scorer.decision_function(PAIRS), -scorer.decision_function(PAIRS.swapped()))


def test_features_of_pairs_go_along() -> None:
    more = pl.Pairs(X, *PAIRS.columns, invariant=rng.normal(size=(len(PAIRS), 1)))
    model = pl.PairSVC(pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant("linear"), "rbf").fit(more, Y)
    np.testing.assert_allclose(
        OrbitScorer(model, lambda table: [table, table.copy()]).decision_function(more),
        model.decision_function(more),
        rtol=1e-12,
    )
    copied = Copies.of(X, turned).pairs(more)
    np.testing.assert_array_equal(copied.pairs.invariant, more.invariant[copied.origins])  # type: ignore[index]


@pytest.mark.parametrize("how", ["mean", "max"])
def test_over_a_group_it_is_invariant(how: Any) -> None:
    """All rolls of a row are the orbit of each of them, so that all score the same; the model alone does not."""
    scorer = OrbitScorer(MODELS["tensor"], lambda table: [np.roll(table, k, axis=1) for k in range(5)], how, "both")
    moved = PAIRS.with_examples(np.array([np.roll(row, k % 5) for k, row in enumerate(X)]))
    np.testing.assert_allclose(scorer.decision_function(moved), scorer.decision_function(PAIRS), rtol=1e-9, atol=1e-9)
    before, after = (MODELS["tensor"].decision_function(pairs) for pairs in (PAIRS, moved))
    assert np.abs(before - after).max() > 0.1


@pytest.mark.parametrize(
    ("orbit", "message"),
    [
        (lambda table: [], "lists nothing"),
        (lambda table: [table, table[:-1]], "variant 1 has 23 rows for 24 examples"),
        (lambda table: [table[:, ::-1], table], "as they are"),
        (lambda table: [table, np.full_like(table, np.nan)], "NaN"),
    ],
)
def test_orbits_that_lose_examples_are_refused(orbit: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OrbitScorer(pl.EuclidBaseline(), orbit).decision_function(PAIRS)


def test_what_is_no_orbit_is_refused() -> None:
    for wrong in (("model", None, turned), ("orbit", pl.EuclidBaseline(), 3)):
        with pytest.raises(InputError, match=r"decision_function|Orbit"):
            OrbitScorer(*wrong[1:])
    with pytest.raises(InputError, match='"mean" or "max"'):
        OrbitScorer(pl.EuclidBaseline(), turned, "median")  # type: ignore[arg-type]
    two = pl.Pairs(X, [0], [0], right_examples=X)
    with pytest.raises(InputError, match="one table"):
        OrbitScorer(pl.EuclidBaseline(), turned).decision_function(two)


# --------------------------------------------------------------------------- copies


def test_copied_pairs_move_one_side_at_a_time() -> None:
    small = pl.Pairs(X[:3], [0, 1, 2], [1, 1, 0])
    copies = Copies.of(X[:3], turned)
    pairs, origins, shares = copies.pairs(small)
    tables = turned(X[:3])
    expected = {
        (k, tables[i][a].tobytes(), tables[j][b].tobytes())
        for k, (a, b) in enumerate([(0, 1), (1, 1), (2, 0)])
        for i, j in [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2)]
        if a != b or j == 0  # (a, a_i) is (a_i, a), in the other order
    }
    left, right = pairs.columns
    found = [
        (int(k), pairs.examples[a].tobytes(), pairs.examples[b].tobytes())
        for k, a, b in zip(origins, left, right, strict=True)
    ]
    assert set(found) == expected
    assert len(found) == len(expected)
    np.testing.assert_allclose(np.bincount(origins, shares), 1.0)
    np.testing.assert_array_equal(pairs.labels(np.array([7, 8, 7])[copies.sources]), small.labels([7, 8, 7])[origins])


def test_an_orbit_of_the_examples_themselves_changes_nothing() -> None:
    """Five copies with a fifth of the weight each are the pair itself: the same optimum."""
    plain = pl.PairSVC("tensor_metric", "rbf", C=0.5, tol=1e-7).fit(PAIRS, Y)
    copied = OnCopies(clone_of(plain), lambda table: [table, table.copy(), table.copy()]).fit(PAIRS, Y)
    assert copied.n_pairs_ == 5 * 276 + 3 * 24
    np.testing.assert_allclose(copied.decision_function(PAIRS), plain.decision_function(PAIRS), atol=1e-5)
    assert copied.model_.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def clone_of(model: Any) -> Any:
    return type(model)(**model.get_params())


def test_weights_of_pairs_are_shared_among_copies_in_pipelines_too() -> None:
    weights = rng.random(len(PAIRS)) + 0.5
    machine = pl.PairSVC("metric", "rbf", C=0.5, tol=1e-7)
    piped = make_pipeline(pl.OnExamples(StandardScaler()), clone_of(machine))
    found = OnCopies(piped, lambda table: [table, table.copy()]).fit(PAIRS, Y, sample_weight=weights)
    scaled = PAIRS.with_examples(StandardScaler().fit_transform(X))
    plain = machine.fit(scaled, Y, sample_weight=weights)
    np.testing.assert_allclose(found.decision_function(PAIRS), plain.decision_function(scaled), atol=1e-5)


def test_learning_from_copies_is_learning_from_the_copied_pairs() -> None:
    copied, origins, shares = Copies.of(X, turned).pairs(PAIRS)
    machine = pl.PairSVC("tensor", "rbf", random_state=0)
    expected = clone_of(machine).fit(copied, Y[origins], sample_weight=shares)
    found = OnCopies(machine, turned).fit(PAIRS, Y)
    np.testing.assert_array_equal(found.decision_function(PAIRS), expected.decision_function(PAIRS))
    np.testing.assert_array_equal(found.predict(PAIRS), expected.predict(PAIRS))
    np.testing.assert_array_equal(found.score_block(X[:2], X), expected.score_block(X[:2], X))


def test_classes_are_those_of_the_sources() -> None:
    """RCA learns from classes: given for all examples, of which the training pairs use some, in another order."""
    some = PAIRS[np.flatnonzero((PAIRS.left >= 4) & ~PAIRS.reflexive)[::-1]]
    found = OnCopies(pl.baselines.RCABaseline(), turned).fit(some, some.labels(CLASSES), classes=CLASSES)
    copies = Copies.of(X[4:], turned)
    every = pl.all_pairs(copies.examples, reflexive=False)
    names = CLASSES[4:][copies.sources]
    expected = pl.baselines.RCABaseline().fit(every, every.labels(names), classes=names)
    np.testing.assert_allclose(found.decision_function(PAIRS), expected.decision_function(PAIRS), rtol=1e-9)


def test_copies_of_an_example_without_positive_pairs_are_one_class() -> None:
    """Without classes given; also where the baseline is the last step of a pipeline."""
    lonely = np.r_[CLASSES[:20], 50, 51, 52, 53]
    some = pl.all_pairs(X, reflexive=False)
    y = some.labels(lonely)
    read_off = OnCopies(pl.baselines.PLDABaseline(), turned).fit(some, y)
    given = OnCopies(pl.baselines.PLDABaseline(), turned).fit(some, y, classes=lonely)
    np.testing.assert_array_equal(read_off.decision_function(PAIRS), given.decision_function(PAIRS))
    assert read_off.predict(PAIRS).shape == (len(PAIRS),)
    piped = make_pipeline("passthrough", pl.baselines.PLDABaseline())
    piped = OnCopies(piped, turned).fit(some, y, classes=lonely)
    np.testing.assert_array_equal(piped.decision_function(PAIRS), given.decision_function(PAIRS))


def test_more_copies_than_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairlearn.scorers.copies.available_memory", lambda: 10_000)
    with pytest.raises(InputError, match="fewer variants"):
        OnCopies(pl.PairSVC(), turned).fit(PAIRS, Y)
    with pytest.raises(InputError, match="copies of 24"):
        Copies.of(X, turned).pairs(pl.all_pairs(X[:3]))


def test_copies_stay_within_their_fold() -> None:
    """What an orbit is given while cross-validating are the training examples of the fold, and no others."""
    seen: list[set[bytes]] = []

    def noted(table: Any) -> list[Any]:
        seen.append({row.tobytes() for row in table})
        return turned(table)

    folds = pl.selection.ExampleKFold(CLASSES, n_splits=2)
    cross_val_score(OnCopies(pl.PairSVC("metric"), noted), PAIRS, Y, cv=folds, scoring=pl.evaluation.EER().scorer())
    for given, (train, test) in zip(seen, folds.split(PAIRS, Y), strict=True):
        assert given == {X[row].tobytes() for row in PAIRS[train].used_examples()}
        assert not given & {X[row].tobytes() for row in PAIRS[test].used_examples()}


def test_sources_keep_copies_together_where_users_split() -> None:
    copies = Copies.of(X, turned)
    every = pl.all_pairs(copies.examples)
    for train, test in pl.selection.ClassKFold(copies.sources, n_splits=3).split(every):
        rows = [set(copies.sources[every[half].used_examples()]) for half in (train, test)]
        assert rows[0].isdisjoint(rows[1])


def test_learning_from_copies_keeps_the_laws_of_estimators() -> None:
    pl.testing.check_pair_estimator(OnCopies(pl.PairSVC("metric", "linear", random_state=0), turned))


def test_labels_by_classes_or_none() -> None:
    one, other = (
        OnCopies(pl.PairSVC("metric", random_state=0), turned).fit(PAIRS, y) for y in (Y, pl.ClassLabels(CLASSES))
    )
    np.testing.assert_array_equal(one.decision_function(PAIRS), other.decision_function(PAIRS))
    alike = PAIRS[Y > 0]
    assert OnCopies(pl.OneClassPairSVM("tensor", "rbf"), turned).fit(alike).n_pairs_ == 24 * 3 + 36 * 5


def test_orbits_of_texts() -> None:
    """Examples of any kind: words and their mirror images, by a kernel on strings."""
    words = ["pair", "pear", "riap", "kernel", "lenrek", "colonel"]
    pairs = pl.all_pairs(words, reflexive=False)
    overlap = pl.kernels.FromFunction(lambda a, b: float(a[0] == b[0]) + float(a == b), scalar=True, definite=True)
    model = pl.PairSVC("tensor", overlap).fit(pairs, pairs.labels([0, 0, 0, 1, 1, 1]))
    scorer = OrbitScorer(model, lambda table: [table, [word[::-1] for word in table]], moved="both")
    for either_way, system in ((True, scorer), (False, model)):
        one, other = system.score_block(["pump"], ["pond", "dnop"])[0]
        assert (one == pytest.approx(other)) == either_way


def test_labels_must_fit_the_pairs() -> None:
    with pytest.raises(InputError, match="one label per pair"):
        OnCopies(pl.PairSVC(), turned).fit(PAIRS, Y[:-1])


# --------------------------------------------------------------------------- images, and files


def test_models_on_images_travel_with_their_orbit(tmp_path: Path) -> None:
    y, path = SHOWN.labels(CLASSES), tmp_path / "model.safetensors"
    learnt = OnCopies(on_images(pl.PairSVC("tensor_metric", "rbf")), ORBIT).fit(SHOWN, y)
    around = pl.Verifier(OrbitScorer(learnt, ORBIT, "max", "both"), 0.1)
    for model in (learnt, around.model, pl.Gallery(around, IMAGES[::2], CLASSES[::2]).model):
        pl.save(model, path)
        first = path.read_bytes()
        loaded = pl.load(path)
        np.testing.assert_array_equal(loaded.decision_function(SHOWN), model.decision_function(SHOWN))
        pl.save(loaded, path)
        assert path.read_bytes() == first
    assert loaded.model.orbit == ORBIT


def test_functions_are_not_saved_and_advice_is_given(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must not hold code.*save the model inside"):
        pl.save(OrbitScorer(pl.EuclidBaseline(), turned), tmp_path / "model.safetensors")
