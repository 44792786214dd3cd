"""Every operator against the explicit matrix of the formulas, and the memory plan that chooses among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import cg

import pairlearn as pl
from pairlearn import loops
from pairlearn.errors import InputError, TooLargeError
from pairlearn.kernels import FromFunction, Gaussian, Gram, Kernel, Linear, Polynomial
from pairlearn.operators import source as sources
from pairlearn.operators.base import PairOperator
from pairlearn.operators.blocked import BlockedOperator
from pairlearn.operators.build import build
from pairlearn.operators.dense import DenseOperator
from pairlearn.operators.form import PairForm, Sums
from pairlearn.operators.plan import check_budget, make_plan
from pairlearn.operators.product import FEW_PAIRS, ProductOperator, SumOperator
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import Source, TwoSources, _nonzeros, folded_cells
from pairlearn.pair_kernels import CATALOG, PairKernel
from pairlearn.pairs import Pairs
from pairlearn.testing import check_operator

FORMULAS: dict[str, Callable[..., np.ndarray]] = {
    "poly_direct_sum": lambda ac, ad, bc, bd: (ac + bd + 1) ** 2,
    "poly_tensor": lambda ac, ad, bc, bd: (ac * bd + 1) ** 2,
    "direct_sum": lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2,
    "difference": lambda ac, ad, bc, bd: (ac - ad - bc + bd) / 2,
    "metric": lambda ac, ad, bc, bd: (ac - ad - bc + bd) ** 2 / 4,
    "tensor": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2,
    "wedge": lambda ac, ad, bc, bd: (ac * bd - ad * bc) / 2,
    "wedge_squared": lambda ac, ad, bc, bd: (ac * bd - ad * bc) ** 2 / 4,
    "direct_metric": lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2 + (ac - ad - bc + bd) ** 2 / 4,
    "tensor_metric": lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2 + (ac - ad - bc + bd) ** 2 / 4,
    "tensor_sum": lambda ac, ad, bc, bd: (ac * bd + ad * bc + ac + ad + bc + bd) / 2,
}
TABLES = [name for name, kernel in CATALOG.items() if kernel.tables is not None]
M, D = 70, 4
rng = np.random.default_rng(1)
X = rng.normal(size=(M, D))


def explicit(name: str, K: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The n × n matrix of the pairs, from four look-ups per entry."""
    sides = left.astype(int), right.astype(int)
    return FORMULAS[name](*(K[np.ix_(row, col)] for row in sides for col in sides))


def columns(kind: str) -> Pairs:
    """Pairs that take each of the product's ways: all in order, many sampled, few sampled."""
    pairs = pl.all_pairs(X, reflexive=kind != "triangle, irreflexive")
    if kind.startswith("triangle"):
        return pairs
    count = int(1.5 * FEW_PAIRS * M * M) if kind == "many" else int(0.5 * FEW_PAIRS * M * M)
    left, right = np.random.default_rng(2).integers(0, M, (2, count))  # repeated, mirrored and reflexive ones too
    return pl.Pairs(X, left, right)


KINDS = ["triangle", "triangle, irreflexive", "many", "few"]


def source_of(base: Kernel, form: str) -> Source:
    matrix = None if form == "features" else Gram(base, X).matrix
    features = None if form == "gram" else base.features(X)
    return Source(base, X, matrix, features)


# --------------------------------------------------------------------------- laws


def test_dense_operator() -> None:
    A = rng.normal(size=(60, 20))
    check_operator(DenseOperator(A @ A.T), A @ A.T)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("held", [True, False], ids=["gram", "anew"])
def test_blocked_operator(name: str, held: bool) -> None:
    base = Gaussian(0.4)
    pairs = columns("few")
    K = Gram(base, X).matrix
    source = Source(base, X, K if held else None)
    kernel = pl.pair_kernel(name).on(base)
    operator = BlockedOperator(kernel, {base: source}, PairRows(pairs.left, pairs.right))
    operator.block_bytes = 4096
    check_operator(operator, explicit(name, K, pairs.left, pairs.right))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TABLES)
def test_product_operator_over_a_gram_matrix(name: str, kind: str) -> None:
    base, pairs = Gaussian(0.4), columns(kind)
    tables = pl.pair_kernel(name).on(base).tables
    assert tables is not None
    operator = ProductOperator(tables[0], source_of(base, "gram"), pairs.left, pairs.right, pairs.triangle)
    check_operator(operator, explicit(name, Gram(base, X).matrix, pairs.left, pairs.right))


@pytest.mark.parametrize("form", ["features", "both"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["tensor_metric", "direct_sum", "wedge", "poly_direct_sum"])
def test_product_operator_over_features(name: str, kind: str, form: str) -> None:
    base, pairs = Linear(), columns(kind)
    tables = pl.pair_kernel(name).on(base).tables
    assert tables is not None
    operator = ProductOperator(tables[0], source_of(base, form), pairs.left, pairs.right, pairs.triangle)
    check_operator(operator, explicit(name, X @ X.T, pairs.left, pairs.right))


def test_sum_operator() -> None:
    k1, k2, pairs = Gaussian(0.4), Linear(), columns("many")
    tables = (pl.pair_kernel("tensor").on(k1) + pl.pair_kernel("metric").on(k2)).tables
    assert tables is not None
    parts: list[PairOperator] = [
        ProductOperator(t, source_of(t.base, "gram"), pairs.left, pairs.right)  # type: ignore[arg-type]
        for t in tables
    ]
    expected = explicit("tensor", Gram(k1, X).matrix, pairs.left, pairs.right)
    expected = expected + explicit("metric", X @ X.T, pairs.left, pairs.right)
    check_operator(SumOperator(parts), expected)


def test_conjugate_gradients_run_on_an_operator() -> None:
    pairs, base = columns("few"), Linear()
    tables = pl.pair_kernel("tensor_metric").on(base).tables
    assert tables is not None
    operator = ProductOperator(tables[0], source_of(base, "features"), pairs.left, pairs.right)
    wanted = operator @ rng.normal(size=len(pairs))
    found, info = cg(operator.as_linear_operator(), wanted, rtol=1e-10, maxiter=2000)
    assert info == 0
    np.testing.assert_allclose(operator @ found, wanted, atol=1e-8 * np.abs(wanted).max())


# --------------------------------------------------------------------------- forms and sources


@pytest.mark.parametrize("name", TABLES)
def test_forms_give_the_weighted_sum_of_kernels(name: str) -> None:
    pairs, theta = columns("few"), rng.normal(size=len(columns("few")))
    tables = pl.pair_kernel(name).tables
    assert tables is not None
    form = PairForm.of(tables[0], Sums.sparse(pairs.left, pairs.right, theta, (M, M)))
    probe = rng.normal(size=(5, D))
    E = probe @ X.T
    index = np.arange(5)

    def values(of: PairForm, rows: np.ndarray) -> np.ndarray:
        cross = 0.0 if of.cross is None else rows @ (of.cross @ rows.T)
        return cross + of.at_left(rows)[:, None] + of.at_right(rows)

    a, b = np.repeat(index, 5), np.tile(index, 5)
    four = (E[np.ix_(side, column)] for side in (a, b) for column in (pairs.left, pairs.right))
    expected = (FORMULAS[name](*four) @ theta).reshape(5, 5)
    tolerance = 1e-11 * np.abs(expected).max()
    np.testing.assert_allclose(values(form, E), expected, rtol=1e-9, atol=tolerance)
    np.testing.assert_allclose(values(form.dense(), E), expected, rtol=1e-9, atol=tolerance)
    np.testing.assert_allclose(values(form.collapsed(X, X), probe), expected, rtol=1e-9, atol=tolerance)


def crowd(others: int) -> tuple[PairRows, np.ndarray]:
    """So many pairs that a matrix of all sums takes little more: repeated, mirrored and reflexive ones, some with 0."""
    random = np.random.default_rng(5)
    left, right = random.integers(0, min(M, others), (2, 700))
    more = random.integers(0, M, 700), random.integers(0, others, 700)
    sides = np.concatenate([left, right, left, more[0]]), np.concatenate([right, left, right, more[1]])
    theta = np.where(random.random(2800) < 0.1, 0.0, random.normal(size=2800))
    assert folded_cells(theta, (M, others)) == M * others
    return PairRows(*sides), theta


@pytest.fixture
def folding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few coefficients and few examples are served as many are."""
    monkeypatch.setattr(sources, "MANY", 0)
    monkeypatch.setattr(sources, "LITTLE", 0)


def is_exactly(matrix: np.ndarray | None, sign: int) -> bool:
    return matrix is None or np.array_equal(matrix, sign * matrix.T)


@pytest.mark.usefixtures("folding")
@pytest.mark.parametrize("name", TABLES)
def test_many_pairs_are_summed_up_and_folded_to_features_at_once(name: str) -> None:
    """Against the formula at new examples; symmetric, or antisymmetric, to the last bit."""
    (table,), (pairs, theta) = pl.pair_kernel(name).on(Linear()).tables or (), crowd(M)
    form = source_of(Linear(), "features").form(table, pairs, theta)
    probe, (a, b) = rng.normal(size=(6, D)), np.divmod(np.arange(36), 6)
    K = probe @ X.T
    four = (K[np.ix_(side, column.astype(int))] for side in (a, b) for column in (pairs.left, pairs.right))
    expected = (FORMULAS[name](*four) @ theta).reshape(6, 6)
    found = form.at_left(probe)[:, None] + form.at_right(probe)
    found += 0.0 if form.cross is None else probe @ form.cross @ probe.T
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    weights = dict(table.terms)
    straight, swapped = (weights.get(term, 0.0) for term in (("ac", "bd"), ("ad", "bc")))
    assert straight != swapped or is_exactly(form.cross, 1)
    assert name != "wedge" or is_exactly(form.cross, -1)
    assert is_exactly(form.left.square, 1)
    assert is_exactly(form.right.square, 1)
    assert all(held is None or held.shape == (D, D) for held in (form.cross, form.left.square, form.right.square))


@pytest.mark.usefixtures("folding")
@pytest.mark.parametrize("name", TABLES)
def test_many_pairs_of_two_tables_are_folded_to_features_at_once(name: str) -> None:
    """Against the formula with ad = bc = 0; left and right examples differ in number and in features."""
    Y, base = rng.normal(size=(50, D + 2)), Linear()
    (table,), (pairs, theta) = pl.pair_kernel(name).on(base).tables or (), crowd(len(Y))
    form = TwoSources(Source(base, X, None, X), Source(base, Y, None, Y)).form(table, pairs, theta)
    E, F, (a, b) = rng.normal(size=(6, D)), rng.normal(size=(5, D + 2)), np.divmod(np.arange(30), 5)
    ac, bd = (E @ X.T)[np.ix_(a, pairs.left.astype(int))], (F @ Y.T)[np.ix_(b, pairs.right.astype(int))]
    expected = (FORMULAS[name](ac, np.zeros_like(ac), np.zeros_like(bd), bd) @ theta).reshape(6, 5)
    found = form.at_left(E)[:, None] + form.at_right(F)
    found += 0.0 if form.cross is None else E @ form.cross @ F.T
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    assert is_exactly(form.left.square, 1)
    assert is_exactly(form.right.square, 1)


@pytest.mark.usefixtures("folding")
@pytest.mark.parametrize("name", TABLES)
def test_product_operator_over_features_of_many_pairs(name: str) -> None:
    (table,), (pairs, _) = pl.pair_kernel(name).on(Linear()).tables or (), crowd(M)
    operator = ProductOperator(table, source_of(Linear(), "features"), pairs.left, pairs.right)
    check_operator(operator, explicit(name, X @ X.T, pairs.left, pairs.right))


@given(n=st.integers(0, 200), most=st.integers(1, 50), share=st.floats(0, 1), seed=st.integers(0, 2**16))
def test_non_zeros_come_in_order_and_few_at_once(n: int, most: int, share: float, seed: int) -> None:
    values = (np.random.default_rng(seed).random(n) < share).astype(float)
    parts = list(_nonzeros(values, most))
    np.testing.assert_array_equal(np.concatenate(parts), np.nonzero(values)[0])
    assert all(len(part) <= most for part in parts)
    assert len(parts) <= 1 + 2 * np.count_nonzero(values) / most


@pytest.mark.parametrize("form", ["gram", "features", "anew"])
def test_sources_agree(form: str) -> None:
    base = Linear()
    source = Source(base, X) if form == "anew" else source_of(base, form)
    rows, cols = rng.integers(0, M, 700), rng.integers(0, M, 700)
    K = X @ X.T
    np.testing.assert_allclose(source.elements(rows, cols), K[rows, cols], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(source.block(rows[:9], cols), K[np.ix_(rows[:9], cols)], rtol=1e-12, atol=1e-13)
    assert source.n_examples == M


def test_sources_of_objects() -> None:
    words = ["pair", "learn", "fast", "exact"]
    base = FromFunction(lambda a, b: len(set(a) & set(b)), scalar=True)
    source = Source(base, words)
    assert source.elements(np.array([0, 3]), np.array([1, 3])).tolist() == [
        len(set("pair") & set("learn")),
        len(set("exact")),
    ]
    assert source.n_examples == 4


# --------------------------------------------------------------------------- the plan


def bases_of(kernel: str, base: Kernel) -> PairKernel:
    return pl.pair_kernel(kernel).on(base)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "base", "expected"),
    [
        ("tensor_metric", Linear(), ProductOperator),
        ("tensor_metric", Polynomial(), ProductOperator),
        ("wedge_squared", Linear(), BlockedOperator),
        ("poly_tensor", Gaussian(0.4), BlockedOperator),
    ],
)
def test_build_serves_the_explicit_matrix(name: str, base: Kernel, expected: type, kind: str) -> None:
    pairs = columns(kind)
    operation = build(bases_of(name, base), pairs)
    assert isinstance(operation.operator, expected)
    check_operator(operation.operator, explicit(name, base(X, X), pairs.left, pairs.right))


def test_build_sums_parts_on_several_bases() -> None:
    pairs = columns("triangle")
    kernel = bases_of("tensor", Gaussian(0.4)) + bases_of("metric", Linear())
    operation = build(kernel, pairs)
    assert isinstance(operation.operator, SumOperator)
    expected = explicit("tensor", Gaussian(0.4)(X, X), pairs.left, pairs.right)
    check_operator(operation.operator, expected + explicit("metric", X @ X.T, pairs.left, pairs.right))


def test_build_uses_only_examples_of_the_pairs() -> None:
    left, right = np.array([5, 60, 5, 33]), np.array([33, 5, 5, 60])
    spoilt = X.copy()
    spoilt[[0, 1]] = 1e6
    operation = build(bases_of("tensor_metric", Gaussian()), pl.Pairs(spoilt, left, right))
    assert operation.operator.source.n_examples == 3  # type: ignore[attr-defined]
    resolved = Gaussian().resolved(X[[5, 33, 60]])
    assert operation.kernel.bases == (resolved,)
    expected = explicit("tensor_metric", resolved(X, X), left, right)
    np.testing.assert_allclose(operation.operator.rows(np.arange(4)), expected, rtol=1e-12)


def test_build_shares_a_gram_matrix() -> None:
    calls = []

    def similarity(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        calls.append(len(A))
        return A @ B.T

    gram = Gram(FromFunction(similarity, definite=True), X)
    for pairs in (columns("triangle"), columns("few")):
        operation = build(bases_of("tensor", gram.kernel), pairs, (gram, None))
        expected = explicit("tensor", X @ X.T, pairs.left, pairs.right)
        np.testing.assert_allclose(operation.operator.rows(np.arange(5)), expected[:5], rtol=1e-10, atol=1e-12)
    assert calls == [M]


@pytest.mark.parametrize(
    ("name", "base", "ranks"),
    [
        ("tensor_metric", Linear(), {Linear(): 4}),
        ("tensor_metric", Gaussian(0.4), {}),
        ("wedge_squared", Linear(), {Linear(): 4}),
    ],
)
def test_plans_stay_within_the_budget(name: str, base: Kernel, ranks: dict[Kernel, int]) -> None:
    """From plenty to too little: the Gram matrix is given up first, then the plan is refused."""
    m, n = 5000, 100_000

    def attempt(budget: int) -> bool | None:
        """Whether the Gram matrix is held, None when the plan is refused."""
        try:
            plan = make_plan(bases_of(name, base), n, m, budget, ranks=ranks)
        except TooLargeError:
            return None
        assert (8 * m * m if plan.gram else 0) + 8 * n + 8 * plan.working_set**2 <= budget
        assert plan.working_set >= 400
        return plan.gram

    found = [attempt(int(budget)) for budget in np.geomspace(1e10, 1e6, 100)]
    assert list(dict.fromkeys(found)) == [True, False, None]
    assert found == sorted(found, key=[True, False, None].index)


def test_refused_plans_give_advice() -> None:
    with pytest.raises(TooLargeError) as caught:
        make_plan(bases_of("tensor_metric", Gaussian(0.4)), 100_000, 2000, 10**6, ranks={})
    for part in ("100,000 pairs of 2,000 examples need about", "raise memory_budget", "fewer pairs", "pairs sample"):
        assert part in str(caught.value)


def test_features_make_a_plan_possible_where_a_gram_matrix_does_not_fit() -> None:
    kernel = bases_of("tensor_metric", Linear())
    plan = make_plan(kernel, 10**6, 10**6, 10**9, ranks={Linear(): 10})
    assert (plan.kind, plan.gram) == ("product", False)
    plan = make_plan(bases_of("tensor_metric", Gaussian(1.0)), 10**6, 10**6, 10**9, ranks={})
    assert (plan.kind, plan.gram) == ("blocked", False)


def test_plans_say_what_they_hold() -> None:
    kernel = bases_of("tensor_metric", Gaussian(0.4))
    plan = make_plan(kernel, 1000, 100, 10**9, ranks={})
    roomy = str(plan)
    assert f"product operator, base Gram matrix held, working set up to {plan.working_set:,} pairs" in roomy
    assert 12 * plan.working_set**2 <= 10**9 < 15 * (plan.working_set + 1) ** 2
    assert roomy.endswith("of 954 MiB")
    tight = str(make_plan(kernel, 1000, 10_000, 2 * 10**8, ranks={}))
    assert "blocked operator, base kernel values computed anew" in tight


def test_operators_without_a_gram_matrix_serve_the_same_values() -> None:
    """Examples so many that the budget forbids their Gram matrix."""
    m = 3000
    examples = rng.normal(size=(m, 3))
    left, right = np.arange(0, m, 2), np.arange(1, m, 2)
    for base, kind in ((Linear(), "product"), (Gaussian(0.4), "blocked")):
        operation = build(bases_of("tensor_metric", base), pl.Pairs(examples, left, right), memory_budget=6e7)
        assert (operation.plan.kind, operation.plan.gram) == (kind, False)
        check_operator(operation.operator, explicit("tensor_metric", base(examples, examples), left, right))


@pytest.mark.parametrize("name", ["tensor_metric", "direct_sum", "wedge_squared"])
def test_pairs_that_share_few_examples_are_a_matrix_of_their_own(name: str) -> None:
    """As many pairs as examples; one more, and the matrix of the examples is the smaller one."""
    m, base = 520, Gaussian(0.4)
    examples, (left, right) = rng.normal(size=(m, 3)), rng.permutation(np.tile(np.arange(m), 2)).reshape(2, m)
    operation = build(bases_of(name, base), pl.Pairs(examples, left, right))
    assert operation.plan.kind == "dense"
    assert operation.held + operation.building >= 8 * 2 * m**2
    check_operator(operation.operator, explicit(name, base(examples, examples), left, right))
    more = pl.Pairs(examples, np.append(left, 0), np.append(right, 1))
    assert build(bases_of(name, base), more).plan.kind != "dense"


def test_budgets_are_checked() -> None:
    assert check_budget(1e6) == 10**6
    assert check_budget(None) > 0
    assert check_budget(10**400) == 10**400
    for bad in (0, -1.0, np.nan, np.inf, "1e9"):
        with pytest.raises(InputError, match="memory_budget is in bytes and must be > 0 and finite"):
            check_budget(bad)


@pytest.mark.parametrize("budget", [2 * 10**7, 10**8, 10**9, 10**11])
@pytest.mark.parametrize("n_pairs", [100, 10_000, 100_000])
def test_what_is_promised_fits_into_the_budget(budget: int, n_pairs: int) -> None:
    """Fixed parts and the working set together, however the budget and the number of pairs stand to each other."""
    kernel = bases_of("tensor_metric", Gaussian(0.4))
    plan = make_plan(kernel, n_pairs, 300, budget, ranks={})
    assert plan.bytes <= budget
    assert 12 * plan.working_set**2 <= plan.memory < budget
    held = 2 * 8 * 300**2 if plan.kind == "product" else 0  # the Gram matrix and its product with the coefficients
    assert plan.memory + held + 8 * n_pairs <= budget
    assert plan.bytes >= held + 8 * min(n_pairs, plan.working_set) ** 2


@settings(deadline=None)  # the first call compiles
@given(n=st.integers(2, 300), seed=st.integers(0, 2**16))
def test_pairs_with_themselves_are_filled_to_the_same_bits_by_half_and_example_by_example(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    K, (a, b), w = rng.normal(size=(9, 9)), rng.integers(9, size=(2, n)), rng.normal(size=8)
    K, w[2], w[5], w[7] = K + K.T, 0.0, 0.0, w[6]
    half, many, whole = np.empty((3, n, n))
    loops.tables.fill_symmetric(K, a, b, w, half)
    loops.tables.fill_many(K, a, b, a, b, w, many)
    loops.tables.fill_block(K, a, b, a, b, w, whole)
    np.testing.assert_array_equal(half, whole)
    np.testing.assert_array_equal(many, whole)
