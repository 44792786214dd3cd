"""Pair kernels with group features against literal formulas on (x_a, z, w, x_b), pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import SVC

import pairlearn as pl
from pairlearn.errors import InputError, SymmetryError
from pairlearn.functions import function as function_module
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import Cosine, Exponential, FromFunction, Gaussian, Linear, Polynomial
from pairlearn.machines.training import mirror
from pairlearn.operators.build import build
from pairlearn.pair_kernels import Blocks, PairKernel
from pairlearn.solvers import Problem


@dataclass(frozen=True)
class Pair:
    """One pair, written out."""

    a: np.ndarray
    z: np.ndarray
    w: np.ndarray
    b: np.ndarray

    @property
    def turned(self) -> Pair:
        return Pair(self.b, self.z, -self.w, self.a)

    @property
    def whole(self) -> np.ndarray:
        return np.concatenate([self.a, self.z, self.w, self.b])


Formula = Callable[[Pair, Pair], float]
D, Q, R = 2, 2, 3
WEIGHTS = np.diag(np.arange(1.0, 2 * D + Q + R + 1))
rng = np.random.default_rng(0)


def dot(x: np.ndarray, y: np.ndarray) -> float:
    return float(x @ y)


def gauss(gamma: float, x: np.ndarray, y: np.ndarray) -> float:
    return float(np.exp(-gamma * ((x - y) ** 2).sum()))


def linear(p: Pair, q: Pair) -> float:
    return dot(p.whole, q.whole)


def tensor(p: Pair, q: Pair) -> float:
    return (dot(p.a, q.a) * dot(p.b, q.b) + dot(p.a, q.b) * dot(p.b, q.a)) / 2


def direct_sum(p: Pair, q: Pair) -> float:
    return dot(p.a + p.b, q.a + q.b) / 2


def metric(p: Pair, q: Pair) -> float:
    return dot(p.a - p.b, q.a - q.b) ** 2 / 4


def weighted(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ WEIGHTS @ B.T


rbf, square, cube = Gaussian(0.3), Polynomial(2), Polynomial(3)
by_name = pl.pair_kernels.pair_kernel
# kernel, its formula, symmetry, order-invariant
KERNELS: dict[str, tuple[PairKernel, Formula, str, bool]] = {
    "on_invariant": (pl.pair_kernels.on_invariant(rbf), lambda p, q: gauss(0.3, p.z, q.z), "symmetric", True),
    "on_invariant_function": (
        pl.pair_kernels.on_invariant(FromFunction(lambda A, B: A @ np.diag([1.0, 2.0]) @ B.T)),
        lambda p, q: dot(p.z * [1.0, 2.0], q.z),
        "symmetric",
        True,
    ),
    "on_signed": (pl.pair_kernels.on_signed(), lambda p, q: dot(p.w, q.w), "antisymmetric", True),
    "on_signed_even": (pl.pair_kernels.on_signed(square), lambda p, q: dot(p.w, q.w) ** 2, "symmetric", True),
    "on_signed_odd_sum": (
        pl.pair_kernels.on_signed(Linear() + cube),
        lambda p, q: dot(p.w, q.w) + dot(p.w, q.w) ** 3,
        "antisymmetric",
        True,
    ),
    "on_signed_mixed": (
        pl.pair_kernels.on_signed(Linear() + square),
        lambda p, q: dot(p.w, q.w) + dot(p.w, q.w) ** 2,
        "none",
        True,
    ),
    "on_signed_cosine": (
        pl.pair_kernels.on_signed(Cosine()),
        lambda p, q: dot(p.w, q.w) / np.sqrt(dot(p.w, p.w) * dot(q.w, q.w)),
        "antisymmetric",
        True,
    ),
    "on_signed_rbf": (pl.pair_kernels.on_signed(rbf), lambda p, q: gauss(0.3, p.w, q.w), "none", True),
    "on_blocks": (pl.pair_kernels.on_blocks(), linear, "none", True),
    "on_blocks_rbf": (pl.pair_kernels.on_blocks(rbf), lambda p, q: gauss(0.3, p.whole, q.whole), "none", True),
    "on_blocks_exponential": (
        pl.pair_kernels.on_blocks(Exponential(Linear(), 2.0)),
        lambda p, q: float(np.exp(linear(p, q) / 4)),
        "none",
        True,
    ),
    "on_examples_only": (
        pl.pair_kernels.on_blocks(rbf, ("left", "right")),
        lambda p, q: gauss(0.3, p.a, q.a) * gauss(0.3, p.b, q.b),
        "none",
        True,
    ),
    "on_groups_only": (
        pl.pair_kernels.on_blocks(rbf, ("signed", "invariant")),
        lambda p, q: gauss(0.3, p.w, q.w) * gauss(0.3, p.z, q.z),
        "none",
        True,
    ),
    "weighted": (
        pl.pair_kernels.on_blocks(FromFunction(weighted)),
        lambda p, q: float(p.whole @ WEIGHTS @ q.whole),
        "none",
        False,
    ),
    "group_linear": (pl.pair_kernels.group_linear(), linear, "none", True),
    "group_linear_z": (
        pl.pair_kernels.group_linear(signed=False),
        lambda p, q: dot(p.a, q.a) + dot(p.b, q.b) + dot(p.z, q.z),
        "none",
        True,
    ),
    "group_linear_w": (
        pl.pair_kernels.group_linear(invariant=False),
        lambda p, q: dot(p.a, q.a) + dot(p.b, q.b) + dot(p.w, q.w),
        "none",
        True,
    ),
    "group_polynomial": (
        pl.pair_kernels.power(pl.pair_kernels.group_linear(), 2, 1.0),
        lambda p, q: (linear(p, q) + 1) ** 2,
        "none",
        True,
    ),
    "group_polynomial_3": (
        pl.pair_kernels.power(pl.pair_kernels.group_linear(), 3, 0.5),
        lambda p, q: (linear(p, q) + 0.5) ** 3,
        "none",
        True,
    ),
    "group_gaussian": (
        pl.pair_kernels.gaussian(pl.pair_kernels.group_linear(), 0.2),
        lambda p, q: gauss(0.2, p.whole, q.whole),
        "none",
        True,
    ),
    "group_gaussian_w": (
        pl.pair_kernels.gaussian(pl.pair_kernels.group_linear(invariant=False), 0.2),
        lambda p, q: gauss(0.2, p.a, q.a) * gauss(0.2, p.b, q.b) * gauss(0.2, p.w, q.w),
        "none",
        True,
    ),
    "balanced_composite": (
        pl.pair_kernels.balanced_composite(by_name("tensor"), invariant=rbf, signed=square),
        lambda p, q: tensor(p, q) + gauss(0.3, p.z, q.z) + dot(p.w, q.w) ** 2,
        "symmetric",
        True,
    ),
    "balanced_composite_z": (
        pl.pair_kernels.balanced_composite(by_name("direct_sum"), invariant="linear"),
        lambda p, q: direct_sum(p, q) + dot(p.z, q.z),
        "symmetric",
        True,
    ),
    "balanced_composite_w": (
        pl.pair_kernels.balanced_composite(by_name("tensor_metric"), signed=Polynomial(4)),
        lambda p, q: tensor(p, q) + metric(p, q) + dot(p.w, q.w) ** 4,
        "symmetric",
        True,
    ),
    "balanced_composite_of_half": (
        pl.pair_kernels.balanced_composite(pl.pair_kernels.poly_tensor().balanced(), invariant=rbf),
        lambda p, q: (
            ((dot(p.a, q.a) * dot(p.b, q.b) + 1) ** 2 + (dot(p.b, q.a) * dot(p.a, q.b) + 1) ** 2) / 2
            + gauss(0.3, p.z, q.z)
        ),
        "symmetric",
        True,
    ),
    "skew_composite": (
        pl.pair_kernels.skew_composite(by_name("tensor")),
        lambda p, q: tensor(p, q) * dot(p.w, q.w),
        "antisymmetric",
        True,
    ),
    "skew_composite_z": (
        pl.pair_kernels.skew_composite(by_name("direct_sum"), cube, invariant=rbf),
        lambda p, q: (direct_sum(p, q) + gauss(0.3, p.z, q.z)) * dot(p.w, q.w) ** 3,
        "antisymmetric",
        True,
    ),
    "skew_composite_metric": (
        pl.pair_kernels.skew_composite(by_name("tensor_metric"), "linear", invariant="linear"),
        lambda p, q: (tensor(p, q) + metric(p, q) + dot(p.z, q.z)) * dot(p.w, q.w),
        "antisymmetric",
        True,
    ),
    "sum_with_wedge": (
        by_name("wedge") + 0.5 * pl.pair_kernels.on_signed(),
        lambda p, q: (dot(p.a, q.a) * dot(p.b, q.b) - dot(p.a, q.b) * dot(p.b, q.a)) / 2 + 0.5 * dot(p.w, q.w),
        "antisymmetric",
        True,
    ),
    "product_of_odds": (
        by_name("difference") * pl.pair_kernels.on_signed(),
        lambda p, q: dot(p.a - p.b, q.a - q.b) / 2 * dot(p.w, q.w),
        "symmetric",
        True,
    ),
    "power_of_signed": (
        pl.pair_kernels.power(pl.pair_kernels.on_signed() + by_name("difference"), 3),
        lambda p, q: (dot(p.w, q.w) + dot(p.a - p.b, q.a - q.b) / 2) ** 3,
        "antisymmetric",
        True,
    ),
}
every_kernel = pytest.mark.parametrize(("kernel", "formula", "symmetry", "invariant"), KERNELS.values(), ids=KERNELS)
INVARIANT = {name: case for name, case in KERNELS.items() if case[3]}
every_invariant = pytest.mark.parametrize(("kernel", "formula"), [c[:2] for c in INVARIANT.values()], ids=INVARIANT)
SIGNED = {name: case for name, case in KERNELS.items() if case[2] != "none"}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Loops this short are done before a second thread has started."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def pairs_for(kernel: PairKernel, seed: int, n: int = 7) -> pl.Pairs:
    """Random pairs with the blocks that this kernel reads, and no others."""
    random = np.random.default_rng(seed)
    left, gap = random.integers(0, 6, n), random.integers(1, 6, n)
    blocks = {"invariant": 0.7 * random.normal(size=(n, Q)), "signed": 0.7 * random.normal(size=(n, R))}
    used = {name: block for name, block in blocks.items() if name in kernel.blocks}
    return pl.Pairs(0.7 * random.normal(size=(6, D)), left, (left + gap) % 6, **used)


def written_out(pairs: pl.Pairs) -> list[Pair]:
    none = [np.zeros(0)] * len(pairs)
    z, w = (none if block is None else block for block in (pairs.invariant, pairs.signed))
    return [Pair(*row) for row in zip(pairs.examples[pairs.left], z, w, pairs.examples[pairs.right], strict=True)]


def brute(formula: Formula, rows: list[Pair], cols: list[Pair]) -> np.ndarray:
    return np.array([[formula(p, q) for q in cols] for p in rows])


def values(kernel: PairKernel, rows: pl.Pairs, cols: pl.Pairs) -> np.ndarray:
    """K(row, column) through functions with one support pair each."""
    on_linear = kernel.on(Linear())
    one = [PairFunction.of(on_linear, cols[[k]], np.ones(1), 0.0)(rows) for k in range(len(cols))]
    return np.stack(one, axis=1)


def labels(n: int, seed: int = 0) -> np.ndarray:
    y = np.where(np.random.default_rng(seed).random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    return y


def machine_for(kernel: PairKernel, **options: Any) -> Any:
    return (pl.PairRanker if kernel.symmetry == "antisymmetric" else pl.PairSVC)(kernel=kernel, **options)


# --------------------------------------------------------------------------- values


@every_kernel
def test_values_equal_the_formula(kernel: PairKernel, formula: Formula, symmetry: str, invariant: bool) -> None:
    train, new = pairs_for(kernel, 1), pairs_for(kernel, 2)
    P, Q_ = written_out(new), written_out(train)
    np.testing.assert_allclose(values(kernel, new, train), brute(formula, P, Q_), rtol=1e-10, atol=1e-12)
    operator = build(kernel.on(Linear()), train).operator
    expected = brute(formula, Q_, Q_)
    np.testing.assert_allclose(operator.rows(np.arange(7)), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(operator.diagonal(), np.diagonal(expected), rtol=1e-10, atol=1e-12)
    theta = rng.normal(size=7)
    np.testing.assert_allclose(operator @ theta, expected @ theta, rtol=1e-9, atol=1e-10)
    function = PairFunction.of(kernel.on(Linear()), train, theta, 0.25)
    np.testing.assert_allclose(function(new), brute(formula, P, Q_) @ theta + 0.25, rtol=1e-9, atol=1e-10)
    own = np.array([formula(p, p) for p in P])
    np.testing.assert_allclose(function.self_values(new), own, rtol=1e-10, atol=1e-12)


@every_invariant
def test_halves_equal_half_sums_of_the_formula(kernel: PairKernel, formula: Formula) -> None:
    train, new = pairs_for(kernel, 3), pairs_for(kernel, 4)
    P, Q_ = written_out(new), written_out(train)
    straight, turned = brute(formula, P, Q_), brute(formula, [p.turned for p in P], Q_)
    for sign, half in ((1, kernel.balanced), (-1, kernel.skewed)):
        if kernel.symmetry == ("antisymmetric" if sign > 0 else "symmetric"):
            continue
        part = half()
        assert part.symmetry == ("symmetric" if sign > 0 else "antisymmetric")
        expected = 0.5 * (straight + sign * turned)
        np.testing.assert_allclose(values(part, new, train), expected, rtol=1e-9, atol=1e-11)
        diagonal = np.array([0.5 * (formula(p, p) + sign * formula(p.turned, p)) for p in Q_])
        np.testing.assert_allclose(build(part.on(Linear()), train).operator.diagonal(), diagonal, rtol=1e-9, atol=1e-11)


def test_any_kernel_has_an_order_invariant_part() -> None:
    """½(X P X' + TX P TX'), and the halves of that."""
    kernel = pl.pair_kernels.on_blocks(FromFunction(weighted))
    part = kernel.order_invariant_part()
    train, new = pairs_for(kernel, 5), pairs_for(kernel, 6)
    P, Q_ = written_out(new), written_out(train)

    def even(p: Pair, q: Pair) -> float:
        return float(p.whole @ WEIGHTS @ q.whole + p.turned.whole @ WEIGHTS @ q.turned.whole) / 2

    assert part.order_invariant
    np.testing.assert_allclose(values(part, new, train), brute(even, P, Q_), rtol=1e-10, atol=1e-12)
    for sign, half in ((1, part.balanced()), (-1, part.skewed())):
        expected = 0.5 * (brute(even, P, Q_) + sign * brute(even, [p.turned for p in P], Q_))
        np.testing.assert_allclose(values(half, new, train), expected, rtol=1e-10, atol=1e-12)
    operator = build(part.on(Linear()), train).operator
    np.testing.assert_allclose(operator.diagonal(), [even(q, q) for q in Q_], rtol=1e-10)


def test_other_base_kernels_on_the_examples() -> None:
    """Blocks have kernels of their own; tables take the machine's base."""
    kernel = pl.pair_kernels.balanced_composite(by_name("direct_sum"), invariant="linear")
    train, new = pairs_for(kernel, 1), pairs_for(kernel, 2)
    function = PairFunction.of(kernel.on(rbf), train, np.ones(7), 0.0)

    def formula(p: Pair, q: Pair) -> float:
        return sum(gauss(0.3, x, y) for x in (p.a, p.b) for y in (q.a, q.b)) / 2 + dot(p.z, q.z)

    np.testing.assert_allclose(function(new), brute(formula, written_out(new), written_out(train)).sum(axis=1))


# --------------------------------------------------------------------------- symmetry


def probe(kernel: PairKernel) -> tuple[str, bool]:
    """Symmetry and order invariance as the values show them."""
    rows, cols = pairs_for(kernel, 11, 5), pairs_for(kernel, 12, 5)
    straight, turned = values(kernel, rows, cols), values(kernel, rows.swapped(), cols)
    both = values(kernel, rows.swapped(), cols.swapped())
    limit = 1e-9 * np.abs(straight).max()

    def equal(a: np.ndarray, b: np.ndarray) -> bool:
        return bool(np.abs(a - b).max() <= limit)

    symmetry = "symmetric" if equal(turned, straight) else "antisymmetric" if equal(turned, -straight) else "none"
    return symmetry, equal(both, straight)


@every_kernel
def test_derived_symmetry_equals_the_probe(
    kernel: PairKernel, formula: Formula, symmetry: str, invariant: bool
) -> None:
    assert (kernel.symmetry, kernel.order_invariant) == (symmetry, invariant) == probe(kernel)


atoms = st.sampled_from(
    [case[0] for case in KERNELS.values()] + [by_name("tensor"), by_name("wedge"), pl.pair_kernels.poly_tensor()]
)
composed = st.one_of(
    atoms,
    st.builds(lambda p, q: p + q, atoms, atoms),
    st.builds(lambda p, q: p * q, atoms, atoms),
    st.builds(lambda c, p: c * p, st.sampled_from([0.25, 2.0]), atoms),
)


@settings(max_examples=30, deadline=None)
@given(composed)
def test_derived_symmetry_of_sums_and_products(kernel: PairKernel) -> None:
    symmetry, invariant = probe(kernel)
    assert kernel.symmetry == symmetry
    assert kernel.order_invariant == invariant


@settings(max_examples=20, deadline=None)
@given(composed, st.integers(0, 10**6))
def test_gram_matrices_are_positive_semidefinite(kernel: PairKernel, seed: int) -> None:
    pairs = pairs_for(kernel, seed)
    K = build(kernel.on(Linear()), pairs).operator.rows(np.arange(7))
    np.testing.assert_allclose(K, K.T, rtol=1e-9, atol=1e-11 * np.abs(K).max())
    assert np.linalg.eigvalsh(0.5 * (K + K.T))[0] >= -1e-9 * np.abs(K).max()


@pytest.mark.parametrize("name", SIGNED)
def test_decisions_are_symmetric_bit_by_bit(name: str) -> None:
    kernel = SIGNED[name][0]
    train, new = pairs_for(kernel, 1, 30), pairs_for(kernel, 2, 40)
    model = machine_for(kernel, base="rbf").fit(train, labels(30))
    sign = 1 if kernel.symmetry == "symmetric" else -1
    g = model.decision_function(new)
    assert np.ptp(g) > 0
    np.testing.assert_array_equal(model.decision_function(new.swapped()), sign * g)


@pytest.mark.parametrize("name", ["group_polynomial", "on_blocks_rbf", "group_gaussian", "on_signed_mixed"])
@pytest.mark.parametrize("sign", [1, -1])
def test_halves_are_symmetric_bit_by_bit(name: str, sign: int) -> None:
    kernel = KERNELS[name][0].balanced() if sign > 0 else KERNELS[name][0].skewed()
    train, new = pairs_for(kernel, 1, 30), pairs_for(kernel, 2, 40)
    g = (model := machine_for(kernel, base="linear").fit(train, labels(30))).decision_function(new)
    np.testing.assert_array_equal(model.decision_function(new.swapped()), sign * g)


@pytest.mark.parametrize("name", [*SIGNED, "group_gaussian", "on_blocks"])
def test_scoring_in_small_pieces_gives_the_same_values(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = KERNELS[name][0]
    kernel = kernel if kernel.symmetry != "none" else kernel.skewed() * 1.0
    train = pairs_for(kernel, 1, 30)
    new = joined([pairs_for(kernel, seed, 6) for seed in range(2, 27)])
    model = machine_for(kernel, base=rbf).fit(train, labels(30))
    g = model.decision_function(new)
    monkeypatch.setattr(function_module, "BLOCK", 1)
    assert model.function_._pairs_per_block(len(new), 2 * len(new.used_examples())) <= len(new) / 2
    pieces = model.decision_function(new)
    np.testing.assert_allclose(pieces, g, rtol=1e-10, atol=1e-12 * np.abs(g).max())
    sign = 1 if kernel.symmetry == "symmetric" else -1
    np.testing.assert_array_equal(model.decision_function(new.swapped()), sign * pieces)


def joined(parts: list[pl.Pairs]) -> pl.Pairs:
    shift = np.cumsum([0] + [part.n_examples for part in parts])
    columns = [
        np.concatenate([getattr(part, side) + s for part, s in zip(parts, shift[:-1], strict=True)])
        for side in ("left", "right")
    ]
    blocks = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("invariant", "signed")
        if getattr(parts[0], name) is not None
    }
    return pl.Pairs(np.vstack([part.examples for part in parts]), *columns, **blocks)


# --------------------------------------------------------------------------- machines


def test_a_balanced_composite_equals_libsvm_on_the_explicit_matrix() -> None:
    kernel, formula, _, _ = KERNELS["balanced_composite"]
    train, new = pairs_for(kernel, 1, 30), pairs_for(kernel, 2, 20)
    y = labels(30)
    K = brute(formula, written_out(train), written_out(train))
    theirs = SVC(kernel="precomputed", tol=1e-7).fit(K, y)
    ours = pl.PairSVC(kernel=kernel, tol=1e-7).fit(train, y)
    expected = theirs.decision_function(brute(formula, written_out(new), written_out(train)))
    np.testing.assert_allclose(ours.decision_function(new), expected, atol=1e-3 * np.abs(expected).max())


def test_a_skew_composite_equals_a_bounded_programme() -> None:
    kernel, formula, _, _ = KERNELS["skew_composite_z"]
    train, new = pairs_for(kernel, 1, 30), pairs_for(kernel, 2, 20)
    y = labels(30)
    K = brute(formula, written_out(train), written_out(train))
    bounds = np.sort(np.stack([np.zeros(30), y]), axis=0).T
    options = {"maxiter": 10_000, "maxfun": 10**5, "ftol": 1e-15, "gtol": 1e-9}
    theta = minimize(
        lambda t: (0.5 * t @ K @ t - y @ t, K @ t - y),
        np.zeros(30),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options=options,
    ).x
    ours = pl.PairRanker(kernel=kernel, tol=1e-7).fit(train, y)
    expected = brute(formula, written_out(new), written_out(train)) @ theta
    np.testing.assert_allclose(ours.decision_function(new), expected, atol=1e-3 * np.abs(expected).max())


def test_blocks_side_by_side_of_two_tables() -> None:
    """on_blocks needs no swap here: it is an ordinary kernel on (x_a, x_b)."""
    left, right = rng.normal(size=(6, 2)), rng.normal(size=(5, 3))
    pairs = pl.Pairs(left, *np.divmod(np.arange(30), 5), right_examples=right)
    y = labels(30)
    ours = pl.PairSVC(kernel=pl.pair_kernels.on_blocks(rbf, ("left", "right")), tol=1e-7).fit(pairs, y)
    rows = np.hstack([left[pairs.left], right[pairs.right]])
    theirs = SVC(gamma=0.3, tol=1e-7).fit(rows, y)
    np.testing.assert_allclose(ours.decision_function(pairs), theirs.decision_function(rows), atol=1e-4)
    with pytest.raises(InputError, match="two tables have one order; use the kernel itself"):
        pl.PairSVC(kernel=pl.pair_kernels.on_blocks(rbf, ("left", "right")).balanced()).fit(pairs, y)


# --------------------------------------------------------------------------- pairs carry their blocks


@pytest.fixture
def grouped() -> pl.Pairs:
    return pl.Pairs(
        rng.normal(size=(5, 2)),
        [0, 1, 2, 3, 4],
        [1, 1, 3, 0, 2],
        invariant=np.arange(5.0),
        signed=[[5], [0], [7], [8], [9]],
    )


def test_slices_take_their_rows(grouped: pl.Pairs) -> None:
    for key in (slice(1, 4), [3, 0], np.array([True, False, True, False, False]), np.array([-1])):
        part = grouped[key]
        np.testing.assert_array_equal(part.invariant, grouped.invariant[key])
        np.testing.assert_array_equal(part.signed, grouped.signed[key])
        np.testing.assert_array_equal(part.left, grouped.left[key])
    assert grouped.invariant.shape == grouped.signed.shape == (5, 1)


def test_swapping_turns_the_sign_of_w_alone(grouped: pl.Pairs) -> None:
    turned = grouped.swapped()
    np.testing.assert_array_equal(turned.left, grouped.right)
    np.testing.assert_array_equal(turned.invariant, grouped.invariant)
    np.testing.assert_array_equal(turned.signed, -grouped.signed)
    again = turned.swapped()
    np.testing.assert_array_equal(again.signed, grouped.signed)


def test_joining_pairs_joins_blocks(grouped: pl.Pairs) -> None:
    both = grouped.followed_by(grouped[[2]].swapped())
    np.testing.assert_array_equal(both.invariant.ravel(), [0, 1, 2, 3, 4, 2])
    np.testing.assert_array_equal(both.signed.ravel(), [5, 0, 7, 8, 9, -7])
    bare = pl.Pairs(grouped.examples, [0], [1])
    with pytest.raises(InputError, match="only one of the two sets of pairs has `invariant` features"):
        grouped.followed_by(bare)
    with pytest.raises(InputError, match="different tables of examples"):
        grouped.followed_by(pl.Pairs(grouped.examples.copy(), [0], [1], invariant=[1.0], signed=[1.0]))


def test_mirroring_pairs_and_their_boxes(grouped: pl.Pairs) -> None:
    problem = Problem(np.arange(1.0, 6.0), -np.arange(5.0), np.arange(5.0) + 1, 0.1, 0.0)
    for sign in (1, -1):
        both, mirrored, _ = mirror(grouped, problem, sign)
        assert len(both) == 9  # one of the five is reflexive
        order = [1, 0, 2, 3, 4]
        np.testing.assert_array_equal(both.left, np.concatenate([grouped.left[order], grouped.right[order[1:]]]))
        np.testing.assert_array_equal(both.invariant.ravel(), [1, 0, 2, 3, 4, 0, 2, 3, 4])
        np.testing.assert_array_equal(both.signed.ravel(), [0, 5, 7, 8, 9, -5, -7, -8, -9])
        np.testing.assert_array_equal(mirrored.linear, [2, 1, 3, 4, 5, *(sign * np.array([1, 3, 4, 5]))])
        lower, upper = np.array([1, 0, 1, 1.5, 2]), np.array([2, 0.5, 1.5, 2, 2.5])
        np.testing.assert_array_equal(mirrored.upper, [*upper, *(upper if sign > 0 else lower)[1:]])
        np.testing.assert_array_equal(-mirrored.lower, [*lower, *(lower if sign > 0 else upper)[1:]])
        assert (mirrored.total, mirrored.epsilon) == (0.0, 0.1)


def test_other_examples_keep_blocks(grouped: pl.Pairs) -> None:
    moved = grouped.with_examples(2 * grouped.examples)
    np.testing.assert_array_equal(moved.signed, grouped.signed)
    np.testing.assert_array_equal(moved.invariant, grouped.invariant)


# --------------------------------------------------------------------------- refusals

X3 = np.eye(3)
BAD_PAIRS: dict[str, tuple[dict[str, Any], str]] = {
    "rows": (
        {"invariant": np.ones((2, 1))},
        r"invariant must have shape \(n_pairs, q\) with n_pairs = 3, got \(2, 1\)",
    ),
    "cube": ({"signed": np.ones((3, 1, 1))}, "signed must have shape"),
    "nan": ({"signed": [1.0, np.nan, 0.0]}, "signed contains NaN"),
    "text": ({"invariant": ["a", "b", "c"]}, "non-numbers"),
    "reflexive": (
        {"signed": [1.0, 1.0, 1.0]},
        "a reflexive pair is its own mirror, so its `signed` features must be 0",
    ),
}


@pytest.mark.parametrize(("blocks", "message"), BAD_PAIRS.values(), ids=BAD_PAIRS)
def test_bad_blocks_are_refused(blocks: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pl.Pairs(X3, [0, 1, 2], [1, 2, 2], **blocks)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pl.pair_kernels.balanced_composite(by_name("wedge")), "K₁ must be symmetric"),
        (
            lambda: pl.pair_kernels.balanced_composite(pl.pair_kernels.poly_tensor()),
            r"K₁ must be symmetric.*or \.balanced\(\)",
        ),
        (lambda: pl.pair_kernels.balanced_composite(by_name("tensor"), signed="linear"), "homogeneous of even degree"),
        (lambda: pl.pair_kernels.balanced_composite(by_name("tensor"), signed="rbf"), "homogeneous of even degree"),
        (lambda: pl.pair_kernels.skew_composite(by_name("difference")), "K₁ must be symmetric"),
        (lambda: pl.pair_kernels.skew_composite(by_name("tensor"), square), "homogeneous of odd degree"),
        (
            lambda: pl.pair_kernels.skew_composite(by_name("tensor"), Polynomial(3, coef0=1.0)),
            "homogeneous of odd degree",
        ),
        (lambda: pl.pair_kernels.on_invariant().skewed(), "this kernel is symmetric, so its skew part is zero"),
        (lambda: pl.pair_kernels.on_signed(square).skewed(), "its skew part is zero"),
        (lambda: KERNELS["balanced_composite"][0].skewed(), "its skew part is zero"),
        (
            lambda: pl.pair_kernels.on_blocks(FromFunction(weighted)).balanced(),
            r"call \.order_invariant_part\(\) first",
        ),
        (
            lambda: pl.pair_kernels.power(pl.pair_kernels.on_blocks(FromFunction(weighted)), 2),
            "needs an order-invariant projection",
        ),
    ],
)
def test_wrong_symmetries_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises((SymmetryError, InputError), match=message):
        make()


@pytest.mark.parametrize("names", [(), ("left",), ("left", "left", "right"), ("middle",), ("signed", "right")])
def test_impossible_views_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"blocks are some of|take left and right, or neither"):
        Blocks(names)


@pytest.mark.parametrize("name", ["invariant", "signed"])
def test_missing_and_unused_blocks(name: str) -> None:
    kernel = by_name("tensor") + (
        pl.pair_kernels.on_invariant() if name == "invariant" else pl.pair_kernels.on_signed(square)
    )
    bare, full = pairs_for(by_name("tensor"), 1), pairs_for(kernel, 1)
    y = labels(7)
    with pytest.raises(
        InputError, match=rf"reads the '{name}' block.*no `{name}` features; pass pl\.Pairs\(…, {name}="
    ):
        pl.PairSVC(kernel=kernel).fit(bare, y)
    with pytest.raises(
        InputError, match=rf"`{name}` features, which this kernel ignores; add pl\.pair_kernels\.on_{name}\(…\)"
    ):
        pl.PairSVC(kernel="tensor").fit(full, y)
    model = pl.PairSVC(kernel=kernel).fit(full, y)
    with pytest.raises(InputError, match=f"reads the '{name}' block"):
        model.decision_function(bare)
    with pytest.raises(InputError, match="features of pairs, which single examples do not have"):
        model.score_block(full.examples, full.examples)
    wide = pl.Pairs(full.examples, full.left, full.right, **{name: np.ones((7, 5))})
    with pytest.raises(InputError, match="5 features, but the model was fitted with"):
        model.decision_function(wide)


def test_views_of_examples_need_rows_of_numbers() -> None:
    pairs = pl.Pairs(["a", "b", "c"], [0, 1], [1, 2], invariant=[1.0, 2.0], signed=[1.0, 2.0])
    with pytest.raises(InputError, match="have no rows of numbers as examples; use a dense 2-D array"):
        pl.PairSVC(kernel=pl.pair_kernels.on_blocks(rbf).balanced()).fit(pairs, [1, -1])
