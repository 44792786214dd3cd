"""What operators allocate against what their plan says: NumPy reports every array to tracemalloc."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import TooLargeError
from pairlearn.operators import source
from pairlearn.operators.base import PairOperator
from pairlearn.operators.build import build, refuse_large
from pairlearn.operators.plan import make_plan

M = 300
X = np.random.default_rng(0).normal(size=(M, 6))
ALL = pl.all_pairs(X)
SAMPLED = ALL[np.random.default_rng(1).choice(len(ALL), 20_000, replace=False)]
FEW = SAMPLED[:2000]


def peak(action: Callable[[], Any]) -> int:
    """Most bytes that a call holds beside what was there before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def use(operator: PairOperator) -> None:
    """All that a solver asks of an operator: the diagonal, products with few and with all pairs, blocks."""
    pairs, theta = np.arange(operator.n_pairs), np.zeros(operator.n_pairs)
    for count in (10, len(pairs)):
        theta[:count] = 1.0
        for _ in operator.blocks(theta):
            pass
    operator.diagonal()
    operator.submatrix(pairs[: operator.block_bytes // (8 * 500)], pairs[:500])


@pytest.mark.parametrize(
    ("name", "base", "pairs", "budget"),
    [
        ("tensor_metric", pl.kernels.Linear(), ALL, 30e6),
        ("tensor_metric", pl.kernels.Linear(), SAMPLED, 10e6),
        ("tensor_metric", pl.kernels.Gaussian(0.1), ALL, 30e6),
        ("tensor_metric", pl.kernels.Gaussian(0.1), SAMPLED, 30e6),
        ("tensor_metric", pl.kernels.Gaussian(0.1), FEW, 6e6),
        ("tensor_metric", pl.kernels.Polynomial(), FEW, 30e6),
        ("wedge", pl.kernels.Gaussian(0.1), ALL, 30e6),
        ("difference", pl.kernels.Gaussian(0.1), SAMPLED, 30e6),
        ("wedge_squared", pl.kernels.Gaussian(0.1), FEW, 30e6),
        ("wedge_squared", pl.kernels.Gaussian(0.1), FEW, 6e6),
    ],
)
def test_an_operator_takes_no_more_than_its_plan_holds(
    name: str, base: pl.kernels.Kernel, pairs: pl.Pairs, budget: float
) -> None:
    """What machine and solver hold per pair is not here; what building passes through, the solver has later."""
    kernel = pl.pair_kernel(name).on(base)
    for few in (FEW[:50], pl.all_pairs(X[:20])):  # compiles, also what serves more pairs than examples
        use(build(kernel, few).operator)
    assert peak(lambda: build(kernel, pairs, memory_budget=budget)) <= budget
    operation = build(kernel, pairs, memory_budget=budget)
    held = 8 * M**2 if operation.plan.gram else 0
    use(operation.operator)  # compiles what only this plan uses
    assert held + peak(lambda: use(operation.operator)) <= operation.plan.budget - operation.plan.memory


@pytest.mark.parametrize("pairs", [ALL, SAMPLED], ids=["all", "sampled"])
@pytest.mark.parametrize("name", ["tensor_metric", "tensor", "wedge", "difference", "metric", "direct_sum"])
@pytest.mark.parametrize("base", [pl.kernels.Linear(), pl.kernels.Gaussian(0.1)], ids=str)
def test_sums_over_many_pairs_are_those_over_few(
    name: str, base: pl.kernels.Kernel, pairs: pl.Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A product with all pairs at once, as a dense sum or in parts, against the sum of products with some of them."""
    operator = build(pl.pair_kernel(name).on(base), pairs).operator
    theta = np.random.default_rng(2).normal(size=len(pairs))
    expected = sum(operator @ np.where(np.arange(len(pairs)) % 20 == part, theta, 0.0) for part in range(20))
    for name, value in (("MANY", 0), ("PART", 1000)):
        monkeypatch.setattr(source, name, value)
    np.testing.assert_allclose(operator @ theta, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_hopeless_pairs_are_refused_before_anything_is_computed() -> None:
    """Also those with wide features of pairs: one of them says how wide."""
    kernel = pl.pair_kernels.on_invariant(pl.kernels.Gaussian())
    wide = pl.Pairs(X, SAMPLED.left, SAMPLED.right, invariant=np.ones((len(SAMPLED), 100)))

    def attempt() -> None:
        with pytest.raises(TooLargeError, match="20,000 pairs of 300 examples need about"):
            refuse_large(kernel, wide, 1, 20e6)

    attempt()
    assert peak(attempt) < 10**5
    refuse_large(kernel, wide, 1, 200e6)


def test_what_a_refusal_asks_for_is_enough() -> None:
    kernel = pl.pair_kernel("tensor_metric").on(pl.kernels.Gaussian(1.0))
    for n_pairs in (10**5, 10**6, 10**7):
        with pytest.raises(TooLargeError) as caught:
            make_plan(kernel, n_pairs, 2000, 10**6, ranks={})
        asked = float(str(caught.value).split("about ")[1].split(" MiB")[0].replace(",", ""))
        plan = make_plan(kernel, n_pairs, 2000, int((asked + 0.1) * 2**20), ranks={})
        assert plan.bytes <= plan.budget
        with pytest.raises(TooLargeError):
            make_plan(kernel, n_pairs, 2000, int((asked - 0.1) * 2**20), ranks={})


CASES = [
    ("tensor_metric", pl.kernels.Linear(), ALL, 60e6),
    ("tensor_metric", pl.kernels.Linear(), SAMPLED, 10e6),
    ("tensor_metric", pl.kernels.Gaussian(0.1), ALL, 60e6),
    ("tensor_metric", pl.kernels.Gaussian(0.1), SAMPLED, 60e6),
    ("tensor_metric", pl.kernels.Gaussian(0.1), FEW, 60e6),
    ("tensor_metric", pl.kernels.Gaussian(0.1), FEW, 6e6),
    ("tensor", pl.kernels.Gaussian(0.1), SAMPLED, 60e6),
    ("wedge_squared", pl.kernels.Gaussian(0.1), FEW, 60e6),
    ("wedge_squared", pl.kernels.Gaussian(0.1), FEW, 6e6),
]


@pytest.mark.parametrize(("name", "base", "pairs", "budget"), CASES)
def test_an_operator_counts_what_it_passes_through(
    name: str, base: pl.kernels.Kernel, pairs: pl.Pairs, budget: float
) -> None:
    """By the shapes of its arrays; small ones do not matter. Product and block are asked for one by one."""
    kernel = pl.pair_kernel(name).on(base)
    for few in (FEW[:50], pl.all_pairs(X[:20])):  # compiles, also what serves more pairs than examples
        use(build(kernel, few).operator)
    few, all_pairs = np.zeros(len(pairs)), np.ones(len(pairs))
    few[:500] = 1.0
    rows = np.arange(200)
    for action in (
        lambda operator: [len(values) for _, values in operator.blocks(few)],
        lambda operator: [len(values) for _, values in operator.blocks(all_pairs)],
        lambda operator: operator.submatrix(rows, np.arange(1000)),
    ):
        operator = build(kernel, pairs, memory_budget=budget).operator
        taken = peak(lambda: action(operator))  # noqa: B023 called at once
        assert 0.75 * taken - 3e5 <= operator.passed <= 1.3 * taken + 3e5


@pytest.mark.parametrize(("name", "base", "pairs", "budget"), CASES)
def test_a_built_operator_is_counted_by_its_arrays(
    name: str, base: pl.kernels.Kernel, pairs: pl.Pairs, budget: float
) -> None:
    """Its Gram matrix, its order, its columns: what is still there after building it; the caller's pairs are not."""
    kernel = pl.pair_kernel(name).on(base)
    kept = []
    tracemalloc.start()
    kept.append(build(kernel, pairs, memory_budget=budget))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert abs(kept[0].held - 40 * len(pairs) - held) <= 1e5


def test_after_a_fit_the_plan_says_what_was_used() -> None:
    operation = build(pl.pair_kernel("tensor_metric").on(pl.kernels.Linear()), FEW)
    most = max(operation.operator.passed, operation.building)
    assert operation.used(0).bytes == operation.held + most
    assert operation.used(most + 25).bytes == operation.held + most + 25
    assert "up to 1 MiB of" in str(operation.plan.after(2**20))
