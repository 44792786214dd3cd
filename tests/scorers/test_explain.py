"""Contributions add up to the score, and are those of the definitions, term by term."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.scorers.explain import Explanation, explain
from pairlearn.scorers.verifier import Verifier
from pairlearn.scorers.waterfall import draw_waterfall

KERNELS = ["tensor", "metric", "tensor_metric", "direct_sum", "direct_metric", "wedge_squared"]


def fit(kernel: object = "tensor_metric", base: object = "linear", d: int = 6, seed: int = 0, **options: object):
    """A small machine and pairs of new examples."""
    rng = np.random.default_rng(seed)
    X, classes = rng.normal(size=(20, d)), np.arange(20) // 4
    pairs = pl.all_pairs(X, reflexive=False)
    machine = pl.PairSVC(kernel, base, C=1.0, **options).fit(pairs, pairs.labels(classes))
    return machine, pl.all_pairs(rng.normal(size=(6, d)))


def check_sum(found: Explanation, score: float) -> None:
    assert found.score == pytest.approx(score, rel=1e-9, abs=1e-12)
    size = np.abs(found.values).sum() + abs(found.bias)
    assert found.values.sum() + found.bias == pytest.approx(score, abs=1e-9 * size)
    assert len(found.names) == len(set(found.names)) == len(found.values)


@pytest.mark.parametrize("base", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_examples_add_up(kernel: str, base: str) -> None:
    machine, test = fit(kernel, base)
    for place in (0, 3, 11):
        found = explain(machine, test[place : place + 1])
        check_sum(found, machine.decision_function(test)[place])
        assert found.names == tuple(f"example {row}" for row in machine.support_examples_)


def test_pairs_are_the_terms_of_the_sum_with_their_labels() -> None:
    """Tensor kernel with a linear base, written out as below; support pairs of one class are labelled +1."""
    machine, test = fit("tensor")
    a, b = test.examples[1], test.examples[4]
    function, used, expected = machine.function_, machine.support_examples_, {}
    X = function.anchor
    for c, d, theta in zip(function.left, function.right, function.coefficients, strict=True):
        label = 1 if used[c] // 4 == used[d] // 4 else -1
        value = theta * 0.5 * ((a @ X[c]) * (b @ X[d]) + (a @ X[d]) * (b @ X[c]))
        expected[f"x{used[c]} – x{used[d]}: {label:+d}"] = value
    found = explain(machine, (a, b), by="pair", names=[f"x{row}" for row in range(20)])
    assert dict(zip(found.names, found.values, strict=True)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_examples_get_half_of_each_term() -> None:
    """Tensor kernel with a linear base, written out: θ_k ½(⟨a,c⟩⟨b,d⟩ + ⟨a,d⟩⟨b,c⟩)."""
    machine, test = fit("tensor")
    a, b = test.examples[1], test.examples[4]
    function, total = machine.function_, np.zeros(20)
    X = function.anchor
    for c, d, theta in zip(function.left, function.right, function.coefficients, strict=True):
        term = theta * 0.5 * ((a @ X[c]) * (b @ X[d]) + (a @ X[d]) * (b @ X[c]))
        total[machine.support_examples_[c]] += term / 2
        total[machine.support_examples_[d]] += term / 2
    found = explain(machine, (a, b))
    np.testing.assert_allclose(found.values, total[machine.support_examples_], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [4, 40])
@pytest.mark.parametrize("kernel", KERNELS[:-1])
def test_features_add_up(kernel: str, d: int) -> None:
    """Fewer features than support examples, and more: the quadratic form is held over the smaller of both."""
    machine, test = fit(kernel, d=d)
    for place in (0, 3, 11):
        found = explain(machine, test[place : place + 1], by="feature")
        check_sum(found, machine.decision_function(test)[place])
        assert found.names == tuple(f"feature {f}" for f in range(d))


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000))
def test_feature_shares_are_shapley_values_of_products(seed: int) -> None:
    """Half of each product to each factor: what a feature adds, averaged over all orders in which features come in.

    For a quadratic form v(S), with features outside S set to zero, that is ½(v(all) − v(all but f) + v(f) − v(none)).
    """
    machine, _ = fit("tensor_metric", d=5, seed=seed % 7)
    a, b = np.random.default_rng(seed).normal(size=(2, 5))

    def value(*kept: int) -> float:
        mask = np.isin(np.arange(5), kept)
        return float(machine.decision_function(pl.Pairs(np.stack([a * mask, b * mask]), [0], [1]))[0])

    found = explain(machine, (a, b), by="feature")
    everyone = set(range(5))
    for f in range(5):
        with_all = value(*everyone) - value(*(everyone - {f}))
        alone = value(f) - value()
        assert found.values[f] == pytest.approx(0.5 * (with_all + alone), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("by", ["example", "feature"])
def test_order_of_the_two_examples_does_not_matter(by: str) -> None:
    machine, test = fit()
    a, b = test.examples[:2]
    np.testing.assert_allclose(
        explain(machine, (a, b), by=by).values, explain(machine, (b, a), by=by).values, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("by", ["example", "feature"])
def test_baselines_have_bars_of_their_own(by: str) -> None:
    scores = pl.pair_kernels.on_score(pl.CosineBaseline(), pl.EuclidBaseline(), weight=3.0)
    machine, test = fit(pl.pair_kernel("tensor_metric") + scores)
    for place in (1, 8):
        found = explain(machine, test[place : place + 1], by=by)
        check_sum(found, machine.decision_function(test)[place])
        assert found.names[-2:] == ("score of CosineBaseline", "score of EuclidBaseline")
        # weight · Σ_k θ_k z_k z for the standardised scores z of each baseline
        line = machine.function_.lines[0]
        mean, scale = np.array(line.leaf.kernel.mean), np.array(line.leaf.kernel.scale)
        one = test[place : place + 1]
        raw = np.array([model.decision_function(one)[0] for model in (pl.CosineBaseline(), pl.EuclidBaseline())])
        np.testing.assert_allclose(found.values[-2:], line.weights * (raw - mean) / scale, rtol=1e-9)


def test_scores_alone_leave_nothing_for_examples() -> None:
    machine, test = fit(pl.pair_kernels.on_score(pl.CosineBaseline()))
    found = explain(machine, test[1:2])
    check_sum(found, machine.decision_function(test)[1])
    assert np.count_nonzero(found.values[:-1]) == 0
    assert explain(machine, test[1:2], by="feature").names == ("score of CosineBaseline",)


def test_models_around_a_machine_are_explained_by_it() -> None:
    X, classes = pl.data.double_interval(12, 4, n=20, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    stacked = pl.StackedPairSVC(pl.PairSVC("tensor", C=0.1), ["euclid", "rca"])
    stacked.fit(pairs, pairs.labels(classes), classes=classes)
    found = explain(Verifier(stacked, 0.3), pairs[5:6])
    check_sum(found, stacked.decision_function(pairs)[5])
    assert found.names[-2:] == ("score of EuclidBaseline", "score of RCABaseline")


def test_antisymmetric_machine_turns_the_signs() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 4))
    pairs = pl.all_pairs(X, reflexive=False)
    ranker = pl.PairRanker("difference").fit(pairs, np.where(X[pairs.left, 0] > X[pairs.right, 0], 1, -1))
    a, b = rng.normal(size=(2, 4))
    for by in ("example", "feature"):
        straight, turned = explain(ranker, (a, b), by=by), explain(ranker, (b, a), by=by)
        check_sum(straight, ranker.decision_function(pl.Pairs(np.stack([a, b]), [0], [1]))[0])
        np.testing.assert_allclose(straight.values, -turned.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("by", ["example", "feature"])
def test_two_tables(by: str) -> None:
    rng = np.random.default_rng(0)
    drugs, targets = rng.normal(size=(9, 3)), rng.normal(size=(8, 5))
    left, right = np.divmod(np.arange(72), 8)
    y = np.where(drugs[left, 0] * targets[right, 0] > 0, 1, -1)
    machine = pl.PairSVC("tensor").fit(pl.Pairs(drugs, left, right, right_examples=targets), y)
    a, b = rng.normal(size=3), rng.normal(size=5)
    one = pl.Pairs(a[None], [0], [0], right_examples=b[None])
    found = explain(machine, (a, b), by=by)
    check_sum(found, machine.decision_function(one)[0])
    assert {name.split()[0] for name in found.names} == {"left", "right"}
    if by == "feature":
        assert len(found.names) == 3 + 5
        assert found.values[:3].sum() == pytest.approx(found.values[3:].sum())


def test_features_of_pairs_and_constants_have_bars() -> None:
    rng = np.random.default_rng(0)
    X, left, right = rng.normal(size=(12, 3)), *np.triu_indices(12, 1)
    pairs = pl.Pairs(X, left, right, invariant=rng.normal(size=(66, 2)))
    kernel = pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant()
    machine = pl.PairSVC(kernel).fit(pairs, np.where(rng.random(66) > 0.5, 1, -1))
    for by in ("example", "feature"):
        check_sum(explain(machine, pairs[7:8], by=by), machine.decision_function(pairs)[7])
    assert explain(machine, pairs[7:8], by="feature").names[-1] == "pair feature 1"


def test_sparse_examples() -> None:
    machine, test = fit()
    rows = sparse.csr_array(test.examples)
    thin = pl.PairSVC("tensor_metric").fit(
        pl.all_pairs(sparse.csr_array(machine.function_.anchor)), np.where(np.arange(210) % 2 == 0, 1, -1)
    )
    pairs = pl.Pairs(rows, [0], [1])
    for by in ("example", "feature"):
        check_sum(explain(thin, pairs, by=by), thin.decision_function(pairs)[0])


def test_names() -> None:
    machine, test = fit()
    people = [f"person {row // 4}" for row in range(20)]
    found, single = explain(machine, test[1:2], names=people), explain(machine, test[1:2])
    check_sum(found, machine.decision_function(test)[1])
    # A person's bar is the sum of the bars of the person's examples.
    wanted = dict.fromkeys((people[row] for row in machine.support_examples_), 0.0)
    for name, value in zip(single.names, single.values, strict=True):
        wanted[people[int(name.removeprefix("example "))]] += value
    assert dict(zip(found.names, found.values, strict=True)) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert explain(machine, test[1:2], by="feature", names=list("uvwxyz")).names == tuple("uvwxyz")
    with pytest.raises(InputError, match="one per feature"):
        explain(machine, test[1:2], by="feature", names=["u"])
    with pytest.raises(InputError, match="support example"):
        explain(machine, test[1:2], names=["u"])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.integers(1, 14))
def test_largest_keeps_the_sum(values: list[float], k: int) -> None:
    found = Explanation(tuple(map(str, range(len(values)))), np.array(values), 0.5, sum(values) + 0.5)
    few = found.largest(k)
    assert few.values.sum() == pytest.approx(sum(values), abs=1e-12)
    assert len(few.names) == len(few.values) == min(k + 1, len(values))
    sizes = np.abs(few.values[: min(k, len(values))])
    assert np.all(np.diff(sizes) <= 0)
    assert sizes.min() >= np.sort(np.abs(values))[::-1][: len(sizes)].min()


def test_waterfall_ends_at_the_score(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    machine, test = fit()
    found = explain(machine, test[1:2])
    ax = draw_waterfall(found, tmp_path / "why.svg", most=5)
    assert (tmp_path / "why.svg").stat().st_size > 1000
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["bias", *found.largest(5).names, "score"]
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert ends[-2] == pytest.approx(found.score, abs=1e-9)
    assert ends[-1] == found.score
    with pytest.raises(InputError, match="must end in"):
        draw_waterfall(found, tmp_path / "why.bmp")


def test_the_two_examples_go_by_their_ids(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    machine, test = fit()
    one = pl.Pairs.from_ids(test.examples, [f"photo {k}" for k in range(6)], ["photo 4"], ["photo 2"])
    found = explain(machine, one)
    assert (found.pair, found.largest(2).pair) == (("photo 4", "photo 2"),) * 2
    assert explain(machine, test[1:2]).pair is None
    title = draw_waterfall(found).figure.get_suptitle()
    assert title == f"photo 4 and photo 2: score {found.score:.3g}".replace("-", "−")
    alike = [f"{'a folder with a long name/' * 3}support {row}" for row in range(20)]
    named = replace(explain(machine, one, names=alike), pair=("costs $5 " * 9, "$6 " * 30))
    ax = draw_waterfall(named, tmp_path / "why.png", most=4)
    ax.figure.draw_without_rendering()
    figure = ax.figure.bbox
    texts = [ax.figure._suptitle, *ax.get_yticklabels(), *ax.texts]
    boxes = [text.get_window_extent() for text in texts]
    assert all(figure.x0 <= box.x0 and box.x1 <= figure.x1 for box in boxes)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(set(labels)) == len(labels)  # what tells long names apart is not cut


def test_errors_say_what_to_do() -> None:
    machine, test = fit(base="rbf")
    with pytest.raises(InputError, match='not linear in the features; use by="example"'):
        explain(machine, test[:1], by="feature")
    outer, _ = fit(pl.pair_kernels.power("tensor", 2))
    with pytest.raises(InputError, match="not of degree"):
        explain(outer, test[:1], by="feature")
    with pytest.raises(InputError, match="one pair is explained at a time, got 2"):
        explain(machine, test[:2])
    with pytest.raises(InputError, match="no learnt function"):
        explain(pl.CosineBaseline(), test[:1])
    with pytest.raises(InputError, match="by must be"):
        explain(machine, test[:1], by="pixel")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k must be"):
        explain(machine, test[:1]).largest(0)


@pytest.mark.parametrize("by", ["example", "pair", "feature"])
def test_scores_alone_of_two_tables(by: str) -> None:
    """Such a function holds no table; right examples may be more than left ones."""
    rng = np.random.default_rng(0)
    drugs, targets = rng.normal(size=(6, 4)), rng.normal(size=(40, 4))
    left, right = np.divmod(np.arange(240), 40)
    pairs = pl.Pairs(drugs, left, right, right_examples=targets)
    y = np.where(drugs[left, 0] * targets[right, 0] > 0, 1, -1)
    inner = pl.PairSVC("tensor").fit(pairs, y)
    machine = pl.PairSVC(pl.pair_kernels.on_score(inner)).fit(pairs, y)
    found = explain(machine, pairs[3:4], by=by)
    check_sum(found, machine.decision_function(pairs)[3])
    assert found.names[-1] == "score of PairSVC"
    assert not found.values[:-1].any()
    assert by == "feature" or any("right support example 9" in name for name in found.names)
