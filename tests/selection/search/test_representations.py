"""Several representations of the same examples: kernels and baselines on each, together, and which of them help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.baselines.columns import ColumnsBaseline
from pairlearn.baselines.registry import fit_scores
from pairlearn.errors import InputError
from pairlearn.kernels import Gaussian, Linear, OnColumns, Polynomial, Standardised
from pairlearn.selection import Representations
from pairlearn.selection.search.settings import Space, baselines_of

SMALL: dict[str, Any] = {"kernels": ["tensor_metric"], "bases": ["linear", "poly"], "Cs": [1.0]}
X, CLASSES = pl.data.double_interval(14, 6, n=20, seed=3)
NOISE = 1000.0 * np.random.default_rng(3).normal(size=(len(X), 25))
OTHER = X @ np.random.default_rng(4).normal(size=(20, 12))


@pytest.fixture(scope="module")
def search() -> Any:
    given = Representations({"shape": X, "noise": NOISE})
    return pl.StagedSearch(**SMALL, test_share=0.2).fit(given, CLASSES)


# --------------------------------------------------------------------------- kernels and baselines on columns


def scaled(part: Any) -> Any:
    return part / np.sqrt((part**2).sum(axis=1).mean())


def test_a_sum_on_two_parts_is_the_sum_of_two_matrices() -> None:
    both = np.hstack([X, NOISE])
    kernel = OnColumns(Linear(), (0,), (20,)) + OnColumns(Polynomial(2), (20,), (45,))
    fixed = kernel.resolved(both)
    expected = scaled(X) @ scaled(X).T + (scaled(NOISE) @ scaled(NOISE).T) ** 2
    np.testing.assert_allclose(fixed(both, both), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fixed.diag(both), np.diag(expected), rtol=1e-12)
    np.testing.assert_allclose(fixed.first.diag(both).mean(), 1.0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kernel", [Linear(), Standardised()])
def test_side_by_side_a_linear_kernel_is_the_sum_of_those_of_each(kernel: Any) -> None:
    both = np.hstack([X, NOISE])
    whole = OnColumns(kernel, (0, 20), (20, 45)).resolved(both)
    parts = (OnColumns(kernel, (0,), (20,)) + OnColumns(kernel, (20,), (45,))).resolved(both)
    np.testing.assert_allclose(whole(both, both), parts(both, both), rtol=1e-9, atol=1e-9)


def test_side_by_side_a_gaussian_is_the_product_of_those_of_each() -> None:
    both = np.hstack([X, NOISE])
    whole = OnColumns(Gaussian(0.7), (0, 20), (20, 45)).resolved(both)
    parts = (OnColumns(Gaussian(0.7), (0,), (20,)) * OnColumns(Gaussian(0.7), (20,), (45,))).resolved(both)
    np.testing.assert_allclose(whole(both, both), parts(both, both), rtol=1e-9)


def test_a_baseline_on_columns_is_that_of_the_columns() -> None:
    both = np.hstack([NOISE, X])
    pairs, labels = pl.all_pairs(both, reflexive=False), pl.all_pairs(X, reflexive=False).labels(CLASSES)
    model = ColumnsBaseline(pl.baselines.WCCNBaseline(), (25,), (45,)).fit(pairs, labels, classes=CLASSES)
    alone = pl.all_pairs(scaled(X), reflexive=False)
    plain = pl.baselines.WCCNBaseline().fit(alone, labels, classes=CLASSES)
    np.testing.assert_allclose(model.decision_function(pairs), plain.decision_function(alone), rtol=1e-9)
    assert (model.predict(pairs) == plain.predict(alone)).all()
    block = model.score_block(both[:4], both[4:9])
    np.testing.assert_allclose(block, plain.score_block(scaled(X)[:4], scaled(X)[4:9]), rtol=1e-9)


# --------------------------------------------------------------------------- the search


def test_noise_is_left_out_and_the_record_says_so(search: Any) -> None:
    results = {line["what"]: line["eer"] for line in search.record_["stages"][0]["rungs"][0]["results"]}
    assert results["tensor_metric / linear on shape, C = 1"] < results["tensor_metric / linear on noise, C = 1"]
    chosen = search.record_["chosen"]
    asked = {chosen["base"], *(baselines_of(chosen["start"]) if chosen["start"] else ())}
    assert any("shape" in name for name in asked)
    assert all(name in chosen["sentence"] for name in asked if name != "scores")
    test = search.record_["test"]["eer"]
    assert test["model"] <= test["cosine on shape & noise"]
    assert abs(test["cosine on noise"] - 0.5) < 0.2


def test_the_model_scores_rows_that_hold_all_representations(search: Any, tmp_path: Path) -> None:
    pairs = pl.all_pairs(np.hstack([X, NOISE])[:12])
    pl.save(search.best_estimator_, tmp_path / "model.safetensors")
    again = pl.load(tmp_path / "model.safetensors").decision_function(pairs)
    np.testing.assert_array_equal(again, search.decision_function(pairs))
    assert search.best_estimator_.n_features_in_ == 45


def test_baselines_of_a_search_are_those_of_each_representation(search: Any) -> None:
    pairs = pl.all_pairs(np.hstack([X, NOISE])[:12], reflexive=False)
    scores, _ = search.score_by_baselines(pairs)
    left, right = scaled(X)[pairs.left], scaled(X)[pairs.right]
    distances = np.linalg.norm(left - right, axis=1)
    assert abs(np.corrcoef(scores["euclid on shape"], -distances)[0, 1] - 1) < 1e-9


def test_one_representation_is_the_search_without_any() -> None:
    plain = pl.StagedSearch(**SMALL).fit(X, CLASSES)
    alone = pl.StagedSearch(**SMALL).fit(Representations({"shape": X}), CLASSES)
    assert alone.record_["validation"] == plain.record_["validation"]
    told = [[trial["score"] for trial in search.record_["trials"]] for search in (plain, alone)]
    assert told[0] == told[1]


def test_all_but_one_are_tried_where_all_together_do_well() -> None:
    spans = Representations({"a": X, "b": OTHER, "c": NOISE}).spans
    space = Space.of(["tensor_metric", "metric"], ["linear", "rbf"], [1.0], [1.0]).on_each(spans)
    first = {family.base for family in space.families}
    assert first == {
        *(f"{base} on {part}" for base in ("linear", "rbf") for part in ("a", "b", "c", "a & b & c")),
        "rbf on a + rbf on b + rbf on c",
    }
    whole = next(family for family in space.families if family.base == "linear on a & b & c")
    assert {setting.base for setting in space.around([whole])} == {
        "linear on a & b & c", "linear on a & b", "linear on a & c", "linear on b & c",
    }  # fmt: skip
    assert {setting.kernel for setting in space.around([whole])} == {"tensor_metric", "metric"}


def test_a_journal_belongs_to_representations_and_not_to_their_joint_table_alone(tmp_path: Path) -> None:
    """The same table and the same names, parted elsewhere: trials of one were taken for those of the other."""
    both = np.hstack([X, OTHER])
    search = pl.StagedSearch(**SMALL, directory=tmp_path)
    for _ in range(2):
        search._runner(Representations({"a": both[:, :20], "b": both[:, 20:]}), CLASSES)
    with pytest.raises(InputError, match="other data or other settings"):
        search._runner(Representations({"a": both[:, :5], "b": both[:, 5:]}), CLASSES)


def test_the_journal_of_one_representation_is_that_of_its_table(tmp_path: Path) -> None:
    for given in (X, Representations({"shape": X}), X):
        pl.StagedSearch(**SMALL, directory=tmp_path)._runner(given, CLASSES)


# --------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"a": X, "b": X[:-1]}, "so many rows: a 84, b 83"),
        ({}, "tables by name"),
        ([X, X], "tables by name"),
        ({"a & b": X}, "plain word"),
        ({"a": X[:, 0]}, "one row per example"),
        ({"a": X, "b": X[:, :0]}, "'b' has no columns"),
        ({"a": X, "b": np.where(X > 0, X, np.nan)}, "NaN|finite|missing"),
    ],
)
def test_bad_representations_are_refused(tables: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Representations(tables)


def test_a_matrix_of_similarities_has_no_columns() -> None:
    given = Representations({"a": X, "b": OTHER})
    with pytest.raises(InputError, match="precomputed"):
        pl.StagedSearch(bases=["precomputed"]).fit(given, CLASSES)


def test_too_few_columns_and_bad_parts_are_refused() -> None:
    with pytest.raises(InputError, match="reads 30 columns"):
        OnColumns(Linear(), (0,), (30,)).resolved(X)
    with pytest.raises(InputError, match="start to stop"):
        OnColumns(Linear(), (3,), (3,))
    with pytest.raises(InputError, match="resolved"):
        OnColumns(Linear(), (0,), (3,))(X, X)
    with pytest.raises(InputError, match="unknown baseline"):
        fit_scores("cosine", None, None, makers={})
