"""The three steps to an operator: what is fixed on the training pairs, and on them alone."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.kernels import FromFunction, Gaussian, Linear, Polynomial, TwoDomains
from pairlearn.operators.form import PairForm
from pairlearn.operators.plan import Needs, choose
from pairlearn.operators.resolve import resolve
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import Source, TwoSources

rng = np.random.default_rng(7)
X, Y = rng.normal(size=(40, 3)), rng.normal(size=(30, 2))


def test_bandwidths_come_from_the_examples_in_use() -> None:
    spoilt = X.copy()
    spoilt[20:] *= 1e6
    left, right = rng.integers(0, 20, (2, 50))
    found = resolve(pl.pair_kernel("tensor").on(Gaussian()), pl.Pairs(spoilt, left, right))
    used = np.unique([left, right])
    assert found.bases == (Gaussian().resolved(X[used]),)
    assert found.sizes == (len(used),)
    np.testing.assert_array_equal(found.pairs.examples, X[used])
    np.testing.assert_array_equal(found.used[0][found.rows.left], left)


def test_one_base_becomes_one_per_table() -> None:
    pairs = pl.Pairs(X, rng.integers(0, 40, 60), rng.integers(0, 30, 60), right_examples=Y)
    found = resolve(pl.pair_kernel("tensor").on(Gaussian()), pairs)
    lefts, rights = X[np.unique(pairs.left)], Y[np.unique(pairs.right)]
    assert found.bases == (TwoDomains(Gaussian().resolved(lefts), Gaussian().resolved(rights)),)
    with pytest.raises(InputError, match="two base kernels need pairs of two domains"):
        resolve(pl.pair_kernel("tensor").on(TwoDomains(Linear(), Linear())), pl.all_pairs(X))


def test_features_are_used_where_they_are_few() -> None:
    pairs = pl.all_pairs(X[:12])
    kernel = pl.pair_kernel("tensor").on(Linear()) + pl.pair_kernel("metric").on(Polynomial(3))
    ranks = resolve(kernel, pairs).ranks
    assert ranks == {Linear(): 3}  # of a cubic kernel on three numbers there are ten, of twelve examples
    assert resolve(pl.pair_kernel("tensor").on(FromFunction(lambda A, B: A @ B.T)), pairs).ranks == {}


def test_a_kernel_without_base_is_refused() -> None:
    with pytest.raises(InputError, match=r"no base kernel; use kernel\.on\(base\)"):
        resolve(pl.pair_kernel("tensor"), pl.all_pairs(X))


@pytest.mark.parametrize("features", [None, 10**5])
def test_the_fastest_choice_that_fits(features: int | None) -> None:
    """Products before blocks, a Gram matrix before none, as the budget shrinks; what is fixed always leaves room."""
    needs = Needs(pairs=10**6, gram=10**8, features=features, products=True)
    found = [choose(needs, int(budget)) for budget in np.geomspace(1e10, 1e6, 200)]
    order = list(dict.fromkeys((choice.kind, choice.gram) for choice in found))
    if features is None:
        assert order == [("product", True), ("blocked", True), ("blocked", False)]
    else:
        assert order == [("product", True), ("product", False), ("blocked", False)]
    slow = Needs(pairs=10**6, gram=10**8, features=features, products=False)
    assert {choose(slow, int(budget)).kind for budget in np.geomspace(1e10, 1e6, 20)} == {"blocked"}


@pytest.mark.parametrize("held", ["matrix", "features", "anew"])
def test_two_sources_are_one_with_zero_cross_terms(held: str) -> None:
    """Blocks, self values and forms of two tables against the disjoint union of both, as one table."""

    def source(table: np.ndarray) -> Source:
        return Source(
            Linear(), table, table @ table.T if held == "matrix" else None, table if held == "features" else None
        )

    union = np.zeros((70, 70))
    union[:40, :40], union[40:, 40:] = X @ X.T, Y @ Y.T
    two, one = TwoSources(source(X), source(Y)), Source(Linear(), None, union)
    left, right, theta = rng.integers(0, 40, 25), rng.integers(0, 30, 25), rng.normal(size=25)
    apart, together = PairRows(left, right), PairRows(left, right + 40)
    for name in ("tensor", "metric", "tensor_metric", "direct_sum"):
        tables = pl.pair_kernel(name).on(Linear()).tables
        assert tables is not None
        table = tables[0]
        close = {"rtol": 1e-10, "atol": 1e-10}
        np.testing.assert_allclose(
            two.table_block(table, apart, apart), one.table_block(table, together, together), **close
        )
        np.testing.assert_allclose(two.table_diagonal(table, apart), one.table_diagonal(table, together), **close)
        lefts, rights = (X, Y) if held == "features" else (X @ X.T, Y @ Y.T)
        np.testing.assert_allclose(
            all_values(two.form(table, apart, theta), lefts, rights),
            all_values(one.form(table, together, theta), union[:40], union[40:]),
            **close,
        )


def all_values(form: PairForm, E: np.ndarray, F: np.ndarray) -> np.ndarray:
    cross = 0.0 if form.cross is None else E @ (form.cross @ F.T)
    return cross + form.at_left(E)[:, None] + form.at_right(F)
