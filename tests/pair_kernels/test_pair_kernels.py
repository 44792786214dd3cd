"""Pair kernels against their formulas in the four look-ups, and symmetry against numerical probes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.errors import InputError, SymmetryError
from pairlearn.kernels import Gaussian, Kernel, Linear, Polynomial
from pairlearn.operators.blocked import kernel_block, kernel_diagonal
from pairlearn.operators.rows import PairRows
from pairlearn.operators.source import Source
from pairlearn.pair_kernels import CATALOG, PROJECTIONS, Expression, PairKernel, Power, from_table, table
from pairlearn.testing import check_pair_kernel

Pair = tuple[np.ndarray, np.ndarray]
Formula = Callable[..., np.ndarray]

rng = np.random.default_rng(0)
M = 6
Z = 0.6 * rng.normal(size=(M, 4))
K = Z @ Z.T
K = 0.5 * (K + K.T)
EVERY = tuple(v.ravel().astype(np.int32) for v in np.meshgrid(np.arange(M), np.arange(M), indexing="ij"))

# (a, b) against (c, d), as in the table of definitions: formula, symmetry.
DEFINITIONS: dict[str, tuple[Formula, str]] = {
    "poly_direct_sum": (lambda ac, ad, bc, bd: (ac + bd + 1) ** 2, "none"),
    "poly_tensor": (lambda ac, ad, bc, bd: (ac * bd + 1) ** 2, "none"),
    "direct_sum": (lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2, "symmetric"),
    "difference": (lambda ac, ad, bc, bd: (ac - ad - bc + bd) / 2, "antisymmetric"),
    "metric": (lambda ac, ad, bc, bd: (ac - ad - bc + bd) ** 2 / 4, "symmetric"),
    "tensor": (lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2, "symmetric"),
    "wedge": (lambda ac, ad, bc, bd: (ac * bd - ad * bc) / 2, "antisymmetric"),
    "wedge_squared": (lambda ac, ad, bc, bd: (ac * bd - ad * bc) ** 2 / 4, "symmetric"),
    "direct_metric": (
        lambda ac, ad, bc, bd: (ac + ad + bc + bd) / 2 + (ac - ad - bc + bd) ** 2 / 4,
        "symmetric",
    ),
    "tensor_metric": (
        lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 2 + (ac - ad - bc + bd) ** 2 / 4,
        "symmetric",
    ),
    "tensor_sum": (lambda ac, ad, bc, bd: (ac * bd + ad * bc + ac + ad + bc + bd) / 2, "symmetric"),
}
every_name = pytest.mark.parametrize("name", DEFINITIONS)


def look_ups(gram: np.ndarray, rows: Pair, cols: Pair) -> list[np.ndarray]:
    return [gram[np.ix_(row, col)] for row in rows for col in cols]


def block(kernel: PairKernel, rows: Pair = EVERY, cols: Pair = EVERY) -> np.ndarray:
    """Values of the kernel whose base has the Gram matrix K."""
    return kernel_block(kernel, {None: Source(Linear(), None, K)}, PairRows(*rows), PairRows(*cols))


def across(kernel: PairKernel, rows: Pair, cols: Pair, gram: np.ndarray) -> np.ndarray:
    """Values from base values between two tables of examples, for kernels without self values."""
    source = Source(Linear(), None, gram)
    return kernel.evaluate(
        lambda part: source.table_block(part, PairRows(*rows), PairRows(*cols)),
        lambda _: np.full(len(rows[0]), np.nan),
        lambda _: np.full(len(cols[0]), np.nan),
    )


def swapped(pairs: Pair) -> Pair:
    return pairs[1], pairs[0]


def probe(kernel: PairKernel) -> tuple[str, bool]:
    """Symmetry and order invariance as the values show them."""
    values, turned = block(kernel), block(kernel, swapped(EVERY))
    both = block(kernel, swapped(EVERY), swapped(EVERY))
    limit = 1e-9 * np.abs(values).max()

    def equal(a: np.ndarray, b: np.ndarray) -> bool:
        return bool(np.abs(a - b).max() <= limit)

    symmetry = "symmetric" if equal(turned, values) else "antisymmetric" if equal(turned, -values) else "none"
    return symmetry, equal(both, values)


# --------------------------------------------------------------------------- the catalog


def test_the_catalog_holds_these_kernels() -> None:
    assert set(CATALOG) == set(DEFINITIONS)


@every_name
def test_values_equal_the_formula(name: str) -> None:
    np.testing.assert_allclose(
        block(pl.pair_kernel(name)),
        DEFINITIONS[name][0](*look_ups(K, EVERY, EVERY)),
        rtol=1e-12,
        atol=1e-14,
    )


@every_name
def test_rectangular_values_equal_the_formula(name: str) -> None:
    """Test examples against training examples: the base matrix is neither square nor symmetric."""
    gram = rng.normal(size=(5, 7))
    rows, cols = (rng.integers(0, 5, 9), rng.integers(0, 5, 9)), (rng.integers(0, 7, 11), rng.integers(0, 7, 11))
    kernel = pl.pair_kernel(name)
    np.testing.assert_allclose(
        across(kernel, rows, cols, gram), DEFINITIONS[name][0](*look_ups(gram, rows, cols)), rtol=1e-11, atol=1e-12
    )


@every_name
def test_diagonal(name: str) -> None:
    kernel = pl.pair_kernel(name)
    diagonal = kernel_diagonal(kernel, {None: Source(Linear(), None, K)}, PairRows(*EVERY))
    np.testing.assert_allclose(diagonal, np.diagonal(block(kernel)), rtol=1e-12, atol=1e-14)


@every_name
def test_symmetry_of_the_catalog(name: str) -> None:
    kernel = pl.pair_kernel(name)
    assert kernel.symmetry == DEFINITIONS[name][1] == probe(kernel)[0]
    assert kernel.order_invariant is True is probe(kernel)[1]


@every_name
@pytest.mark.parametrize("base", [Linear(), Gaussian(0.4)], ids=["linear", "rbf"])
def test_laws(name: str, base: Kernel) -> None:
    check_pair_kernel(name, pl.Pairs(Z, *EVERY), base, DEFINITIONS[name][0])


@pytest.mark.parametrize(("degree", "offset"), [(1, 0.0), (1, 2.0), (2, 0.0), (3, 0.5), (4, 1.0)])
def test_polynomial_kernels_of_any_degree(degree: int, offset: float) -> None:
    ac, _, _, bd = look_ups(K, EVERY, EVERY)
    np.testing.assert_allclose(
        block(pl.pair_kernels.poly_direct_sum(degree, offset)), (ac + bd + offset) ** degree, atol=1e-13
    )
    np.testing.assert_allclose(
        block(pl.pair_kernels.poly_tensor(degree, offset)), (ac * bd + offset) ** degree, atol=1e-13
    )


def test_kernels_of_degree_two_are_tables() -> None:
    """Only these have fast products; degree four is left to blocks."""
    assert {name for name, kernel in CATALOG.items() if kernel.tables is None} == {"poly_tensor", "wedge_squared"}


# --------------------------------------------------------------------------- exactness


@pytest.mark.parametrize("name", [name for name, (_, kind) in DEFINITIONS.items() if kind != "none"])
def test_swapping_changes_no_bit(name: str) -> None:
    gram = np.exp(rng.normal(size=(20, 30)))
    rows, cols = (rng.integers(0, 20, 90), rng.integers(0, 20, 90)), (rng.integers(0, 30, 80), rng.integers(0, 30, 80))
    kernel = pl.pair_kernel(name)
    sign = 1.0 if kernel.symmetry == "symmetric" else -1.0
    straight = across(kernel, rows, cols, gram)
    np.testing.assert_array_equal(across(kernel, swapped(rows), cols, gram), sign * straight)
    np.testing.assert_array_equal(across(kernel, rows, swapped(cols), gram), sign * straight)


@pytest.mark.parametrize("make", [pl.pair_kernels.poly_direct_sum, pl.pair_kernels.poly_tensor])
def test_swapping_changes_no_bit_of_balanced_and_skewed_kernels(make: Callable[[], PairKernel]) -> None:
    gram = rng.normal(size=(20, 20))
    pairs = rng.integers(0, 20, 90), rng.integers(0, 20, 90)
    for kernel, sign in ((make().balanced(), 1.0), (make().skewed(), -1.0)):
        straight = across(kernel, pairs, pairs, gram)
        np.testing.assert_array_equal(across(kernel, swapped(pairs), pairs, gram), sign * straight)


@pytest.mark.parametrize("name", ["metric", "difference", "wedge", "wedge_squared"])
def test_reflexive_rows_are_exactly_zero(name: str) -> None:
    gram = np.exp(rng.normal(size=(30, 30)))
    same = np.arange(30)
    others = rng.integers(0, 30, 50), rng.integers(0, 30, 50)
    assert not across(pl.pair_kernel(name), (same, same), others, gram).any()
    assert not across(pl.pair_kernel(name), others, (same, same), gram).any()


# --------------------------------------------------------------------------- outer functions


@pytest.mark.parametrize("offset", [0.0, 0.5])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("projection", PROJECTIONS)
def test_powers_of_projections(projection: str, degree: int, offset: float) -> None:
    kernel = pl.pair_kernels.power(projection, degree, offset)  # type: ignore[arg-type]
    s = DEFINITIONS[projection][0](*look_ups(K, EVERY, EVERY))
    np.testing.assert_allclose(block(kernel), (s + offset) ** degree, rtol=1e-11, atol=1e-13)
    if projection in ("direct_sum", "tensor"):
        expected = "symmetric"
    elif offset:
        expected = "none"
    else:
        expected = "symmetric" if degree % 2 == 0 else "antisymmetric"
    assert kernel.symmetry == expected == probe(kernel)[0]
    assert kernel.order_invariant is True is probe(kernel)[1]


@pytest.mark.parametrize("gamma", [0.3, 2.0])
@pytest.mark.parametrize("projection", PROJECTIONS)
def test_gaussians_of_projections(projection: str, gamma: float) -> None:
    kernel = pl.pair_kernels.gaussian(projection, gamma)  # type: ignore[arg-type]
    s = DEFINITIONS[projection][0](*look_ups(K, EVERY, EVERY))
    own = np.diagonal(s)
    np.testing.assert_allclose(block(kernel), np.exp(-gamma * (own[:, None] + own - 2 * s)), rtol=1e-11)
    np.testing.assert_allclose(np.diagonal(block(kernel)), 1.0, rtol=1e-14)
    expected = "symmetric" if projection in ("direct_sum", "tensor") else "none"
    assert kernel.symmetry == expected == probe(kernel)[0]
    assert kernel.order_invariant is True is probe(kernel)[1]
    assert np.linalg.eigvalsh(block(kernel))[0] >= -1e-12


def test_gaussian_of_the_tensor_projection_written_out() -> None:
    sigma = 0.8
    ac, ad, bc, bd = look_ups(K, EVERY, EVERY)
    left, right = EVERY
    own = K[left, left] * K[right, right] + K[left, right] ** 2
    expected = np.exp(-(sigma**2) / 2 * (own[:, None] + own - 2 * ac * bd - 2 * ad * bc))
    np.testing.assert_allclose(block(pl.pair_kernels.gaussian("tensor", sigma**2)), expected, rtol=1e-12)


# --------------------------------------------------------------------------- balanced, skewed


CRUDE = {
    "poly_direct_sum": pl.pair_kernels.poly_direct_sum(),
    "poly_direct_sum_3": pl.pair_kernels.poly_direct_sum(3, 0.7),
    "poly_tensor": pl.pair_kernels.poly_tensor(),
    "poly_tensor_1": pl.pair_kernels.poly_tensor(1, 0.0),
    "gaussian_difference": pl.pair_kernels.gaussian("difference", 0.4),
    "gaussian_wedge": pl.pair_kernels.gaussian("wedge", 0.4),
    "power_difference": pl.pair_kernels.power("difference", 3, 0.5),
    "product": pl.pair_kernels.poly_tensor(1, 0.3)
    * pl.pair_kernels.poly_direct_sum(1, 0.1)
    * pl.pair_kernels.gaussian("wedge", 0.2),
}


@pytest.mark.parametrize("kernel", CRUDE.values(), ids=CRUDE)
def test_balanced_and_skewed_are_half_sums(kernel: PairKernel) -> None:
    check_pair_kernel(kernel, pl.Pairs(Z, *EVERY))
    straight, turned = block(kernel), block(kernel, swapped(EVERY))
    balanced, skewed = kernel.balanced(), kernel.skewed()
    np.testing.assert_allclose(block(balanced), (straight + turned) / 2, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(block(skewed), (straight - turned) / 2, rtol=1e-11, atol=1e-13)
    assert balanced.symmetry == "symmetric"
    assert skewed.symmetry == "antisymmetric"
    for half in (balanced, skewed):
        assert half.order_invariant
        diagonal = kernel_diagonal(half, {None: Source(Linear(), None, K)}, PairRows(*EVERY))
        np.testing.assert_allclose(diagonal, np.diagonal(block(half)), rtol=1e-11, atol=1e-13)
        assert np.linalg.eigvalsh(block(half))[0] >= -1e-12 * np.abs(block(half)).max()


def test_well_known_halves() -> None:
    assert pl.pair_kernels.poly_tensor(1, 0.0).balanced() == pl.pair_kernel("tensor")
    assert pl.pair_kernels.poly_tensor(1, 0.0).skewed() == pl.pair_kernel("wedge")
    assert pl.pair_kernels.poly_direct_sum(1, 0.0).balanced() == pl.pair_kernel("direct_sum")
    assert pl.pair_kernels.poly_direct_sum(1, 0.0).skewed() == pl.pair_kernel("difference")


@pytest.mark.parametrize("name", [name for name, (_, kind) in DEFINITIONS.items() if kind == "symmetric"])
def test_symmetric_kernels_are_their_own_balanced_version(name: str) -> None:
    kernel = pl.pair_kernel(name)
    assert kernel.balanced() == kernel
    with pytest.raises(SymmetryError, match=r"its skew part is zero; skew one that is not, e\.g\. poly_tensor"):
        kernel.skewed()


@pytest.mark.parametrize("name", ["difference", "wedge"])
def test_antisymmetric_kernels_have_no_balanced_part(name: str) -> None:
    kernel = pl.pair_kernel(name)
    assert kernel.skewed() == kernel
    with pytest.raises(SymmetryError, match="zero everywhere"):
        block(kernel.balanced())


ONE_SIDED = {
    "ac": (from_table(table(ac=1.0)), lambda ac, ad, bc, bd: ac),
    "two": (from_table(table(ac=2.0, bd=0.5, ac_ac=1.0)), lambda ac, ad, bc, bd: 2 * ac + bd / 2 + ac**2),
    "product": (
        from_table(table(ac=1.0)) * pl.pair_kernels.poly_tensor(1, 0.5),
        lambda ac, ad, bc, bd: ac * (ac * bd + 0.5),
    ),
}


@pytest.mark.parametrize(("kernel", "formula"), ONE_SIDED.values(), ids=ONE_SIDED)
def test_kernels_that_depend_on_the_order(kernel: PairKernel, formula: Formula) -> None:
    ac, ad, bc, bd = look_ups(K, EVERY, EVERY)
    np.testing.assert_allclose(block(kernel), formula(ac, ad, bc, bd), rtol=1e-12, atol=1e-14)
    assert kernel.order_invariant is False is probe(kernel)[1]
    for half in (kernel.balanced, kernel.skewed):
        with pytest.raises(SymmetryError, match=r"call \.order_invariant_part\(\) first"):
            half()
    part = kernel.order_invariant_part()
    expected = (formula(ac, ad, bc, bd) + formula(bd, bc, ad, ac)) / 2
    np.testing.assert_allclose(block(part), expected, rtol=1e-11, atol=1e-13)
    assert part.order_invariant is True
    assert part.balanced().symmetry == "symmetric"
    assert part.skewed().symmetry == "antisymmetric"


def test_order_invariant_part_of_an_order_invariant_kernel_is_itself() -> None:
    assert pl.pair_kernels.poly_tensor().order_invariant_part() == pl.pair_kernels.poly_tensor()


# --------------------------------------------------------------------------- random compositions

projections = st.sampled_from(list(PROJECTIONS))


def compositions(offsets: list[float], factors: list[float]) -> st.SearchStrategy[PairKernel]:
    offset = st.sampled_from(offsets)
    atoms = st.one_of(
        st.sampled_from(list(CATALOG)).map(pl.pair_kernels.pair_kernel),
        st.builds(pl.pair_kernels.power, projections, st.integers(1, 4), offset),
        st.builds(pl.pair_kernels.gaussian, projections, st.sampled_from([0.1, 0.5])),
        st.builds(pl.pair_kernels.poly_direct_sum, st.integers(1, 3), offset),
        st.builds(pl.pair_kernels.poly_tensor, st.integers(1, 3), offset),
        st.sampled_from([from_table(table(ac=1.0)), from_table(table(ac=0.5, bd=0.25, ad=2.0))]),
    )

    def compose(part: st.SearchStrategy[PairKernel]) -> st.SearchStrategy[PairKernel]:
        return st.one_of(
            st.builds(lambda p, q: p + q, part, part),
            st.builds(lambda p, q: p * q, part, part),
            st.builds(lambda factor, p: factor * p, st.sampled_from(factors), part),
        )

    return st.recursive(atoms, compose, max_leaves=3)


exact = compositions(offsets=[0.0, 0.5, 1.0], factors=[0.25, 0.5, 2.0])
rounded = compositions(offsets=[0.0, 0.3, 0.7], factors=[0.1, 0.3, 0.7, 3.3])
quick = settings(max_examples=30, deadline=None)


@quick
@given(exact)
def test_derived_symmetry_equals_the_numerical_probe(kernel: PairKernel) -> None:
    assert (kernel.symmetry, kernel.order_invariant) == probe(kernel)


@quick
@given(rounded)
def test_derived_symmetry_is_never_wrong(kernel: PairKernel) -> None:
    """Coefficients that round may hide a symmetry, but never feign one."""
    symmetry, order_invariant = probe(kernel)
    assert kernel.symmetry in ("none", symmetry)
    assert order_invariant or not kernel.order_invariant


@pytest.mark.parametrize(("r", "q"), [(0.1, 0.3), (0.9, 0.3), (0.9, 0.1)])
def test_rounded_coefficients_keep_order_invariance(r: float, q: float) -> None:
    kernel = q * pl.pair_kernels.poly_tensor(1, r) * pl.pair_kernels.poly_direct_sum(2, q)
    assert probe(kernel)[1]
    assert kernel.order_invariant
    assert kernel.balanced().symmetry == "symmetric"


@quick
@given(exact, rounded)
def test_sums_and_products_of_values(p: PairKernel, q: PairKernel) -> None:
    one, two = block(p), block(q)
    scale = np.abs(one).max() + np.abs(two).max()
    np.testing.assert_allclose(block(p + q), one + two, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_allclose(block(p * q), one * two, rtol=1e-9, atol=1e-11 * scale**2)


@pytest.mark.parametrize("factor", [0.1, 3.0, np.float32(0.5), 2])
@every_name
def test_multiples_of_values(name: str, factor: float) -> None:
    kernel = pl.pair_kernel(name)
    expected = float(factor) * block(kernel)
    np.testing.assert_allclose(block(factor * kernel), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(block(kernel * factor), expected, rtol=1e-12, atol=1e-14)
    assert (factor * kernel).symmetry == kernel.symmetry


@quick
@given(exact)
def test_halves_of_random_kernels(kernel: PairKernel) -> None:
    part = kernel.order_invariant_part()
    assert part.order_invariant
    values, turned = block(part), block(part, swapped(EVERY))
    close = {"rtol": 1e-9, "atol": 1e-11 * np.abs(values).max()}
    symmetry = probe(part)[0]
    if symmetry != "antisymmetric":
        assert part.balanced().symmetry == "symmetric"
        np.testing.assert_allclose(block(part.balanced()), (values + turned) / 2, **close)
    if symmetry != "symmetric":
        assert part.skewed().symmetry == "antisymmetric"
        np.testing.assert_allclose(block(part.skewed()), (values - turned) / 2, **close)


# --------------------------------------------------------------------------- several bases


def two_based(kernel: PairKernel, k1: Kernel, k2: Kernel) -> np.ndarray:
    sources = {k: Source(k, None, k(Z, Z)) for k in (k1, k2)}
    return kernel_block(kernel, sources, PairRows(*EVERY), PairRows(*EVERY))


@pytest.mark.parametrize("first", ["tensor", "metric", "wedge_squared"])
@pytest.mark.parametrize("second", ["metric", "direct_sum", "poly_tensor"])
def test_parts_on_different_bases(first: str, second: str) -> None:
    k1, k2 = Gaussian(0.5), Polynomial(2)
    one = DEFINITIONS[first][0](*look_ups(k1(Z, Z), EVERY, EVERY))
    two = DEFINITIONS[second][0](*look_ups(k2(Z, Z), EVERY, EVERY))
    p, q = pl.pair_kernel(first).on(k1), pl.pair_kernel(second).on(k2)
    np.testing.assert_allclose(two_based(p + q, k1, k2), one + two, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(two_based(p * q, k1, k2), one * two, rtol=1e-11, atol=1e-13)
    expected = "symmetric" if DEFINITIONS[second][1] == "symmetric" else "none"
    assert (p + q).symmetry == (p * q).symmetry == expected
    assert set((p + q).bases) == {k1, k2}


def test_a_base_once_given_stays() -> None:
    kernel = (pl.pair_kernel("tensor").on(Gaussian(0.5)) + pl.pair_kernel("metric")).on(Linear())
    assert set(kernel.bases) == {Gaussian(0.5), Linear()}
    rebased = kernel.rebased({Gaussian(0.5): Gaussian(2.0), Linear(): Linear()})
    assert set(rebased.bases) == {Gaussian(2.0), Linear()}


def test_equal_bases_are_merged() -> None:
    tensor, metric = (pl.pair_kernel(name).on(Linear()) for name in ("tensor", "metric"))
    assert tensor + metric == pl.pair_kernel("tensor_metric").on(Linear())
    assert tensor + metric == metric + tensor
    assert 2.0 * tensor == tensor + tensor


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pl.pair_kernel("DS"), "unknown pair kernel 'DS'; choose direct_sum, "),
        (lambda: pl.pair_kernel(3), "unknown pair kernel 3"),  # type: ignore[arg-type]
        (lambda: pl.pair_kernels.power("sum", 2), "unknown pair kernel 'sum'; choose direct_sum, difference"),
        (lambda: pl.pair_kernels.gaussian("sum"), "unknown pair kernel 'sum'"),
        (lambda: pl.pair_kernels.power("tensor", 0), "degree must be a whole number from 1 to 100, got 0"),
        (lambda: pl.pair_kernels.power("tensor", 1.5), "degree must be a whole number from 1 to 100"),  # type: ignore[arg-type]
        (
            lambda: pl.pair_kernels.poly_tensor(2, -1.0),
            r"offset must be ≥ 0 \(otherwise the kernel is indefinite\), got -1",
        ),
        (lambda: pl.pair_kernels.poly_direct_sum(2, math.nan), "offset must be ≥ 0"),
        (lambda: pl.pair_kernels.gaussian("tensor", 0.0), "gamma must be a finite number > 0"),
        (lambda: pl.pair_kernels.gaussian("tensor", math.inf), "gamma must be a finite number > 0"),
        (lambda: pl.pair_kernels.gaussian("tensor", True), "gamma must be a finite number > 0"),
        (lambda: 0.0 * pl.pair_kernel("tensor"), "finite factor > 0, got 0"),
        (lambda: pl.pair_kernel("tensor") * -1.0, "finite factor > 0"),
        (lambda: math.inf * pl.pair_kernel("tensor"), "finite factor > 0"),
        (lambda: table(ab=1.0), r"unknown look-ups in \['ab'\]"),
        (lambda: table(ac_ad_bc=1.0), "degree ≤ 2"),
        (lambda: Expression(Power(2), from_table(table(ac=1.0))), "needs an order-invariant projection"),
    ],
)
def test_refusals(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_only_pair_kernels_are_added() -> None:
    with pytest.raises(TypeError):
        pl.pair_kernel("tensor") + 1.0  # type: ignore[operator]
