"""Symmetric and antisymmetric machines: every theorem of the theory, each side of each equation computed apart."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

import pairlearn as pl
from pairlearn.errors import SymmetryWarning
from pairlearn.kernels import Gaussian, Linear
from pairlearn.machines import machine as machine_module
from pairlearn.pair_kernels import PairKernel
from pairlearn.solvers import PlainSMO


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Loops this short are done before a second thread has started."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


class Parts(NamedTuple):
    """The four blocks of every pair."""

    a: np.ndarray
    z: np.ndarray
    w: np.ndarray
    b: np.ndarray


def parts(pairs: pl.Pairs) -> Parts:
    none = np.zeros((len(pairs), 0))
    z, w = (none if block is None else block for block in (pairs.invariant, pairs.signed))
    return Parts(pairs.examples[pairs.left], z, w, pairs.examples[pairs.right])


def dots(P: Parts, Q: Parts) -> np.ndarray:
    return sum(p @ q.T for p, q in zip(P, Q, strict=True))


def rbf(gamma: float, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2))


def spread(P: Parts, Q: Parts) -> np.ndarray:
    return ((np.hstack(P)[:, None] - np.hstack(Q)) ** 2).sum(axis=2)


def difference(P: Parts, Q: Parts) -> np.ndarray:
    return (((P.a - P.b)[:, None] - (Q.a - Q.b)) ** 2).sum(axis=2)


@dataclass(frozen=True)
class Case:
    """An order-invariant kernel, its base, the same by a literal formula, and the blocks that it reads."""

    kernel: PairKernel
    base: Any
    formula: Callable[[Parts, Parts], np.ndarray]
    blocks: tuple[str, ...] = ()

    def half(self, sign: int) -> PairKernel:
        return self.kernel.balanced() if sign > 0 else self.kernel.skewed()


ALL = ("invariant", "signed")
CASES = {
    "poly_direct_sum": Case(
        pl.pair_kernels.poly_direct_sum(),
        Gaussian(0.5),
        lambda P, Q: (rbf(0.5, P.a, Q.a) + rbf(0.5, P.b, Q.b) + 1) ** 2,
    ),
    "poly_tensor": Case(
        pl.pair_kernels.poly_tensor(), Gaussian(0.5), lambda P, Q: (rbf(0.5, P.a, Q.a) * rbf(0.5, P.b, Q.b) + 1) ** 2
    ),
    "gaussian_difference": Case(
        pl.pair_kernels.gaussian("difference", 2.0), Linear(), lambda P, Q: np.exp(-difference(P, Q))
    ),
    "group_linear_z": Case(pl.pair_kernels.group_linear(signed=False), Linear(), dots, ("invariant",)),
    "group_linear_w": Case(pl.pair_kernels.group_linear(invariant=False), Linear(), dots, ("signed",)),
    "group_polynomial": Case(
        pl.pair_kernels.power(pl.pair_kernels.group_linear(), 2, 1.0), Linear(), lambda P, Q: (dots(P, Q) + 1) ** 2, ALL
    ),
    "group_polynomial_3": Case(
        pl.pair_kernels.power(pl.pair_kernels.group_linear(), 3, 0.5),
        Linear(),
        lambda P, Q: (dots(P, Q) + 0.5) ** 3,
        ALL,
    ),
    "group_gaussian": Case(
        pl.pair_kernels.gaussian(pl.pair_kernels.group_linear(), 0.2),
        Linear(),
        lambda P, Q: np.exp(-0.2 * spread(P, Q)),
        ALL,
    ),
    "blocks_rbf": Case(
        pl.pair_kernels.on_blocks(Gaussian(0.2)), Linear(), lambda P, Q: np.exp(-0.2 * spread(P, Q)), ALL
    ),
    "blocks_rbf_w": Case(
        pl.pair_kernels.on_blocks(Gaussian(0.2), ("left", "signed", "right")),
        Linear(),
        lambda P, Q: np.exp(-0.2 * spread(P, Q)),
        ("signed",),
    ),
}
# A linear kernel has nothing of z in its skew part and nothing of w in its balanced one.
SYMMETRIC = [name for name in CASES if name != "group_linear_w"]
SKEW = [name for name in CASES if name != "group_linear_z"]
BOTH = [*((name, 1) for name in SYMMETRIC), *((name, -1) for name in SKEW)]
both_halves = pytest.mark.parametrize(("name", "sign"), BOTH)
every_symmetric = pytest.mark.parametrize("name", SYMMETRIC)
every_skew = pytest.mark.parametrize("name", SKEW)


def pairs_of(case: Case, seed: int = 0, m: int = 8, n: int = 24, reflexive: bool = False) -> pl.Pairs:
    """Different unordered pairs in a random order, with the blocks that the kernel reads."""
    rng = np.random.default_rng(seed)
    X = 0.7 * rng.normal(size=(m, 2))
    every = pl.all_pairs(X, reflexive=reflexive)
    every = every[rng.permutation(len(every))[:n]]
    flip = rng.random(len(every)) < 0.5
    left, right = np.where(flip, every.right, every.left), np.where(flip, every.left, every.right)
    w = 0.7 * rng.normal(size=(len(every), 2)) + 0.4
    w[left == right] = 0.0
    blocks = {"invariant": 0.7 * rng.normal(size=(len(every), 1)) + 0.7, "signed": w}
    return pl.Pairs(X, left, right, **{name: blocks[name] for name in case.blocks})


def labels(n: int, seed: int = 0) -> np.ndarray:
    y = np.where(np.random.default_rng(seed + 1).random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    return y


def partly_labelled(case: Case, seed: int) -> tuple[pl.Pairs, np.ndarray]:
    pairs = pairs_of(case, seed)
    return pairs, np.where(np.arange(len(pairs)) < 4, labels(len(pairs), seed), 0)


def mirrored_set(pairs: pl.Pairs, y: np.ndarray, sign: int) -> tuple[pl.Pairs, np.ndarray]:
    """Both orders of pairs that are not reflexive: (ab, …, ba, …)."""
    return pairs.followed_by(pairs.swapped()), np.concatenate([y, sign * y])


def close(found: Any, expected: Any, rtol: float = 1e-4) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * max(1.0, float(np.abs(expected).max())))


@contextmanager
def stopping_allowed() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


# --------------------------------------------------------------------------- the formulas are the kernels


@both_halves
def test_the_halves_are_half_sums_of_the_formula(name: str, sign: int) -> None:
    """K(p, q) through a machine with one support pair at its bound: g = C K(p, q)."""
    case = CASES[name]
    train, new = pairs_of(case, n=3), pairs_of(case, seed=5)
    fit = pl.PairSVR(kernel=case.half(sign), base=case.base, C=2.0, tol=1e-6).fit(train, np.array([50.0, 0.0, 0.0]))
    P, Q, T = parts(new), parts(train), parts(train.swapped())
    K = 0.5 * (case.formula(P, Q) + sign * case.formula(P, T))
    theta = np.zeros(3)
    theta[fit.support_] = fit.dual_coef_
    assert theta[0] > 0
    np.testing.assert_allclose(fit.decision_function(new), K @ theta + fit.intercept_, rtol=1e-9, atol=1e-9)


# --------------------------------------------------------------------------- lemma 1, lemma 2


def dual(model: Any, n: int) -> np.ndarray:
    theta = np.zeros(n)
    theta[model.support_] = model.dual_coef_[0]
    return theta


@both_halves
def test_averaging_mirrored_coefficients_keeps_the_optimum(name: str, sign: int) -> None:
    """Lemma 1 at LIBSVM's solution of the mirrored problem."""
    case = CASES[name]
    pairs, y = mirrored_set(p := pairs_of(case), labels(len(p)), sign)
    K = case.formula(parts(pairs), parts(pairs))
    alpha = y * dual(SVC(kernel="precomputed", C=0.5, tol=1e-8).fit(K, y), len(y))
    ab, ba = np.split(alpha, 2)
    even = np.tile(0.5 * (ab + ba), 2)

    def objective(values: np.ndarray) -> float:
        return float(0.5 * (y * values) @ K @ (y * values) - values.sum())

    assert objective(even) == pytest.approx(objective(alpha), rel=1e-6)
    assert objective(even) <= objective(alpha) + 1e-9 * abs(objective(alpha))
    assert (y * even).sum() == pytest.approx(0.0, abs=1e-9)
    assert even.min() >= 0.0
    assert even.max() <= 0.5


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, -1]), st.sampled_from(list(CASES)))
def test_exchanging_mirrored_coefficients_changes_no_objective(seed: int, sign: int, name: str) -> None:
    """The step behind both lemmas: θ_ab ↔ ±θ_ba keeps θᵀKθ, yᵀθ and ‖θ‖₁ for any θ, and averaging never loses."""
    case, rng = CASES[name], np.random.default_rng(seed)
    pairs, y = mirrored_set(p := pairs_of(case, seed), rng.normal(size=len(p)), sign)
    K = case.formula(parts(pairs), parts(pairs))
    theta = rng.normal(size=len(y))
    turned = sign * np.roll(theta, len(p))

    def objective(values: np.ndarray) -> float:
        return float(0.5 * values @ K @ values - y @ values + 0.1 * np.abs(values).sum())

    assert objective(turned) == pytest.approx(objective(theta), rel=1e-10, abs=1e-10)
    assert objective(0.5 * (theta + turned)) <= objective(theta) + 1e-10


@both_halves
def test_averaging_keeps_the_optimum_of_regression(name: str, sign: int) -> None:
    """Lemma 2: (α, α̂) exchanged with their mirror images, or with each other's."""
    case = CASES[name]
    p = pairs_of(case)
    pairs, y = mirrored_set(p, np.random.default_rng(3).normal(size=len(p)), sign)
    K = case.formula(parts(pairs), parts(pairs))
    theta = dual(SVR(kernel="precomputed", C=0.5, epsilon=0.1, tol=1e-8).fit(K, y), len(y))
    even = 0.5 * (theta + sign * np.roll(theta, len(p)))

    def objective(values: np.ndarray) -> float:
        return float(0.5 * values @ K @ values - y @ values + 0.1 * np.abs(values).sum())

    assert objective(even) == pytest.approx(objective(theta), rel=1e-6)
    assert np.abs(even).max() <= 0.5
    assert even.sum() == pytest.approx(0.0, abs=1e-9)


# --------------------------------------------------------------------------- theorem 1


def mirrored_machine(name: str, sign: int, kind: str) -> tuple[Any, pl.Pairs]:
    """A machine fitted on both orders with the order-invariant kernel itself."""
    case = CASES[name]
    pairs = pairs_of(case)
    options = {"kernel": case.kernel, "base": case.base, "tol": 1e-7}
    if kind == "regression":
        values = np.random.default_rng(3).normal(size=len(pairs))
        way = "symmetric" if sign > 0 else "antisymmetric"
        return pl.PairSVR(**options, C=1.0, mirrored=way).fit(pairs, values), pairs_of(case, seed=7)  # type: ignore[arg-type]
    model = (pl.PairSVC if sign > 0 else pl.PairRanker)(**options, mirrored=True)
    return model.fit(pairs, labels(len(pairs))), pairs_of(case, seed=7)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@both_halves
def test_mirrored_training_makes_the_function_symmetric(name: str, sign: int, kind: str) -> None:
    model, new = mirrored_machine(name, sign, kind)
    g, turned = model.decision_function(new), model.decision_function(new.swapped())
    assert np.ptp(g) > 1e-2
    close(turned, sign * g)
    if sign < 0:
        assert model.intercept_ == pytest.approx(0.0, abs=1e-5)


def test_one_order_alone_does_not() -> None:
    """The control: the same kernel, labels and pairs without their mirror images."""
    case = CASES["group_gaussian"]
    pairs, new = pairs_of(case), pairs_of(case, seed=7)
    with pytest.warns(SymmetryWarning):
        model = pl.PairSVC(kernel=case.kernel, base=case.base).fit(pairs, labels(len(pairs)))
    assert np.abs(model.decision_function(new) - model.decision_function(new.swapped())).max() > 0.1


def test_a_kernel_that_is_not_order_invariant_does_not_either() -> None:
    """The scenario of a weighted inner product: mirrored training is warned about and stays asymmetric."""
    weights = np.array([3.0, 1.0, 1.0, 1.0, 0.1, 0.1])
    case = Case(
        pl.pair_kernels.on_blocks(pl.kernels.FromFunction(lambda A, B: ((A * weights) @ B.T) ** 3, definite=True)),
        Linear(),
        lambda P, Q: np.zeros(0),
        ALL,
    )
    pairs = pairs_of(case)
    pairs = pl.Pairs(pairs.examples, pairs.left, pairs.right, invariant=pairs.invariant, signed=pairs.signed[:, :1])
    with pytest.warns(SymmetryWarning, match=r"not order-invariant.*order_invariant_part"):
        model = pl.PairSVC(kernel=case.kernel, mirrored=True).fit(pairs, labels(len(pairs)))
    g, turned = model.decision_function(pairs), model.decision_function(pairs.swapped())
    assert np.abs(g - turned).max() > 0.1 * np.abs(g).max()
    whole = pl.PairSVC(kernel=case.kernel.order_invariant_part(), mirrored=True, tol=1e-7)
    whole.fit(pairs, labels(len(pairs)))
    close(whole.decision_function(pairs.swapped()), whole.decision_function(pairs))


# --------------------------------------------------------------------------- theorem 2


def assert_equal_machines(one: Any, two: Any, new: pl.Pairs, total: bool = True) -> None:
    assert one.fit_status_ == two.fit_status_ == "converged"
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)
    g = one.decision_function(new)
    close(two.decision_function(new) - two.intercept_, g - one.intercept_)
    assert np.ptp(g) > 1e-2
    if total:  # with a free coefficient b is unique
        assert (~one.support_bounded_).any()
        close(two.intercept_, one.intercept_)


@every_symmetric
def test_balanced_classification_equals_mirrored_training(name: str) -> None:
    case = CASES[name]
    pairs, new = pairs_of(case, reflexive=True, n=30), pairs_of(case, seed=7)
    assert pairs.reflexive.any()
    y = labels(len(pairs))
    one = pl.PairSVC(kernel=case.half(1), base=case.base, tol=1e-7).fit(pairs, y)
    two = pl.PairSVC(kernel=case.kernel, base=case.base, tol=1e-7, mirrored=True).fit(pairs, y)
    assert_equal_machines(one, two, new)


@every_skew
def test_skew_classification_equals_mirrored_training(name: str) -> None:
    case = CASES[name]
    pairs, new = pairs_of(case), pairs_of(case, seed=7)
    y = labels(len(pairs))
    one = pl.PairRanker(kernel=case.half(-1), base=case.base, tol=1e-7).fit(pairs, y)
    two = pl.PairRanker(kernel=case.kernel, base=case.base, tol=1e-7, mirrored=True).fit(pairs, y)
    assert one.intercept_ == 0.0
    assert_equal_machines(one, two, new, total=False)
    close(two.decision_function(new), one.decision_function(new))


@both_halves
def test_classification_equals_libsvm_on_the_mirrored_set(name: str, sign: int) -> None:
    """The same theorem against a solver and a matrix that share no code with ours."""
    case = CASES[name]
    p, new = pairs_of(case), pairs_of(case, seed=7)
    pairs, y = mirrored_set(p, labels(len(p)), sign)
    K = case.formula(parts(pairs), parts(pairs))
    theirs = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, y)
    model = (pl.PairSVC if sign > 0 else pl.PairRanker)(kernel=case.half(sign), base=case.base, C=2.0, tol=1e-7)
    model.fit(p, y[: len(p)])
    theta = dual(theirs, len(y))
    assert model.objective_ == pytest.approx(0.5 * theta @ K @ theta - np.abs(theta).sum(), rel=1e-6)
    offset = theirs.intercept_[0] if sign > 0 else 0.0
    values = case.formula(parts(new), parts(pairs)) @ theta
    close(model.decision_function(new) - model.intercept_, values)
    if (~model.support_bounded_).any():
        close(model.intercept_, offset)


@both_halves
def test_regression_equals_mirrored_training(name: str, sign: int) -> None:
    case = CASES[name]
    pairs, new = pairs_of(case, reflexive=True, n=30), pairs_of(case, seed=7)
    y = np.random.default_rng(3).normal(size=len(pairs))
    y[pairs.reflexive] *= sign > 0
    options = {"base": case.base, "tol": 1e-7, "epsilon": 0.2}
    one = pl.PairSVR(kernel=case.half(sign), **options).fit(pairs, y)
    way = "symmetric" if sign > 0 else "antisymmetric"
    two = pl.PairSVR(kernel=case.kernel, mirrored=way, **options).fit(pairs, y)  # type: ignore[arg-type]
    assert_equal_machines(one, two, new, total=sign > 0)
    if sign < 0:
        assert one.intercept_ == 0.0
        close(two.decision_function(new), one.decision_function(new))


@every_symmetric
def test_one_class_equals_mirrored_training(name: str) -> None:
    case = CASES[name]
    pairs, new = pairs_of(case, reflexive=True, n=30), pairs_of(case, seed=7)
    options = {"base": case.base, "nu": 0.3, "tol": 1e-7}
    one = pl.OneClassPairSVM(kernel=case.half(1), **options).fit(pairs)
    two = pl.OneClassPairSVM(kernel=case.kernel, mirrored=True, **options).fit(pairs)
    assert_equal_machines(one, two, new)


@pytest.mark.parametrize(("share", "seed"), [(None, 7), (None, 0), (0.5, 1)])
@both_halves
def test_transduction_equals_mirrored_training(name: str, sign: int, share: float | None, seed: int) -> None:
    case = CASES[name]
    pairs, y = partly_labelled(case, seed)
    options = {"base": case.base, "C": 0.2, "tol": 1e-7, "positive_share": share, "max_switches": 2}
    one = pl.TransductivePairSVC(kernel=case.half(sign), **options).fit(pairs, y)
    way = "symmetric" if sign > 0 else "antisymmetric"
    two = pl.TransductivePairSVC(kernel=case.kernel, mirrored=way, **options).fit(pairs, y)  # type: ignore[arg-type]
    np.testing.assert_array_equal(two.transduction_, one.transduction_)
    assert [step.switched for step in two.switching_] == [step.switched for step in one.switching_]
    np.testing.assert_allclose(
        [step.objective for step in two.switching_], [step.objective for step in one.switching_], rtol=1e-5
    )
    new = pairs_of(case, seed=seed + 1)
    close(two.decision_function(new) - two.intercept_, one.decision_function(new) - one.intercept_)


@pytest.mark.parametrize("machine", [pl.PairSVC, pl.PairRanker, pl.OneClassPairSVM])
def test_a_scale_from_the_data_is_that_of_both_orders(machine: Any) -> None:
    """gamma="scale" on blocks: the mean of w depends on the order in which pairs are given, the model must not."""
    kernel = pl.pair_kernels.on_blocks("rbf")
    case = Case(kernel, Linear(), lambda P, Q: np.zeros(0), ALL)
    pairs, y = pairs_of(case), labels(24)
    flip = np.arange(len(pairs)) % 2 == 0
    turned = pairs.swapped()
    mixed = pl.Pairs(
        pairs.examples,
        np.where(flip, turned.left, pairs.left),
        np.where(flip, turned.right, pairs.right),
        invariant=pairs.invariant,
        signed=np.where(flip[:, None], turned.signed, pairs.signed),
    )
    sign = -1 if machine is pl.PairRanker else 1
    half = kernel.skewed() if sign < 0 else kernel.balanced()
    y, z = (None, None) if machine is pl.OneClassPairSVM else (y, np.where(flip, sign * y, y))
    one, two = machine(kernel=half, tol=1e-7).fit(pairs, y), machine(kernel=half, tol=1e-7).fit(mixed, z)
    whole = machine(kernel=kernel, tol=1e-7, mirrored=True).fit(pairs, y)
    for other in (two, whole):
        assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)
        close(other.decision_function(pairs), one.decision_function(pairs))
    rows = np.vstack([np.hstack(parts(pairs)), np.hstack(parts(turned))])
    (gamma,) = {leaf.kernel.gamma for leaf in one.function_.kernel.leaves}  # type: ignore[union-attr]
    assert gamma == pytest.approx(1.0 / (rows.shape[1] * rows.var()))


# --------------------------------------------------------------------------- theorem 3


def machines(sign: int, case: Case, **options: Any) -> list[tuple[Any, Any]]:
    """Every machine of this symmetry with labels for 24 pairs."""
    options = {"kernel": case.half(sign), "base": case.base, "tol": 1e-6, **options}
    y, values = labels(24), np.random.default_rng(3).normal(size=24)
    some = np.where(np.arange(24) < 8, y, 0)
    found = [(pl.PairSVR(**options), values), (pl.TransductivePairSVC(**options), some)]
    if sign > 0:
        return [*found, (pl.PairSVC(**options), y), (pl.OneClassPairSVM(**options), None)]
    return [*found, (pl.PairRanker(**options), y)]


ITERATED = ["poly_tensor", "poly_direct_sum", "group_polynomial", "blocks_rbf"]


@pytest.mark.parametrize("solver", ["active_set", "smo"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ITERATED)
def test_every_iterate_is_symmetric_bit_by_bit(
    name: str, sign: int, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    pairs, new = pairs_of(case), pairs_of(case, seed=7, n=28)
    if solver == "smo":
        monkeypatch.setattr(machine_module, "solver_for", lambda name, tol, *_: PlainSMO(tol=tol, report_every=1))
    for model, y in machines(sign, case, solver=solver):
        seen = []
        model.set_params(callback=lambda progress, seen=seen: seen.append(progress.iteration)).fit(pairs, y)
        last, functions = max(seen), set()
        for stop in dict.fromkeys([*range(min(last, 9) + 1), last // 2, last]):
            model.set_params(callback=lambda progress, stop=stop: progress.iteration >= stop)
            with stopping_allowed():
                g = model.fit(pairs, y).decision_function(new)
            np.testing.assert_array_equal(model.decision_function(new.swapped()), sign * g)
            functions.add(g.tobytes())
        assert len(functions) >= (2 if solver == "active_set" else 4), type(model)


class MirroredSMO(NamedTuple):
    """One iterate of SMO with maximal violating couples on (ab, …, ba, …) with labels (y, −y)."""

    alpha: np.ndarray
    gap: float


def smo_on_mirrored_couples(K: np.ndarray, y: np.ndarray, C: float, tol: float) -> Iterator[MirroredSMO]:
    """The first index by the rule; the second is its mirror image, which the rule allows as well."""
    n = len(y)
    alpha = np.zeros(n)
    while True:
        rate = y - K @ (y * alpha)  # −yF, the quantity that the rule compares
        up = ((y > 0) & (alpha < C)) | ((y < 0) & (alpha > 0))
        low = ((y < 0) & (alpha < C)) | ((y > 0) & (alpha > 0))
        i = int(np.argmax(np.where(up, rate, -np.inf)))
        j = (i + n // 2) % n
        gap = rate[i] - rate[low].min()
        yield MirroredSMO(alpha, gap)
        if gap <= tol:
            return
        assert low[j]
        assert rate[j] == pytest.approx(rate[low].min(), abs=1e-9 * max(1.0, np.abs(rate).max()))
        curvature = K[i, i] + K[j, j] - 2 * K[i, j]
        step = (rate[i] - rate[j]) / curvature
        room = (C - alpha[i] if y[i] > 0 else alpha[i], alpha[j] if y[j] > 0 else C - alpha[j])
        step = min(step, *room)
        alpha = alpha.copy()
        alpha[i] += y[i] * step
        alpha[j] -= y[j] * step


@every_skew
def test_mirrored_couples_keep_smo_antisymmetric(name: str) -> None:
    """Theorem 3 (b): α stays mirrored at every step and ends at the optimum that PairRanker finds on J."""
    case = CASES[name]
    p = pairs_of(case, n=12)
    pairs, y = mirrored_set(p, labels(len(p)), -1)
    K = case.formula(parts(pairs), parts(pairs))
    steps = list(smo_on_mirrored_couples(K, y, 0.5, 1e-8))
    for step in steps:
        np.testing.assert_array_equal(*np.split(step.alpha, 2))
    alpha = steps[-1].alpha
    assert steps[0].gap > 1.0 > 1e-8 >= steps[-1].gap
    assert len(steps) > 10
    model = pl.PairRanker(kernel=case.half(-1), base=case.base, C=1.0, tol=1e-8).fit(p, y[: len(p)])
    new = pairs_of(case, seed=7)
    close(model.decision_function(new), case.formula(parts(new), parts(pairs)) @ (y * alpha), 1e-6)
    assert model.objective_ == pytest.approx(0.5 * (y * alpha) @ K @ (y * alpha) - alpha.sum(), rel=1e-8)


def test_mirrored_couples_are_no_choice_for_symmetric_labels() -> None:
    """Why (b) is for antisymmetric labels only: here the mirror image of the worst violator is as bad, not opposite."""
    case = CASES["group_gaussian"]
    p = pairs_of(case, n=12)
    pairs, y = mirrored_set(p, labels(len(p)), 1)
    K = case.formula(parts(pairs), parts(pairs))
    rate = y - K @ np.zeros(len(y))
    i = int(np.argmax(rate))
    assert rate[(i + len(p)) % len(y)] == rate[i] > rate.min()


# --------------------------------------------------------------------------- theorem 4


class Switch(NamedTuple):
    """State of literal label switching on the mirrored set after each solve."""

    labels: np.ndarray
    values: np.ndarray
    switched: int


def label_switching(
    K: np.ndarray, first: np.ndarray, unknown: np.ndarray, C: float, S: int, sign: int
) -> Iterator[Switch]:
    """Solve; L⁺ rising, L⁻ falling, mirrored pairs adjacent or in equal places; switch up to S couples; repeat."""
    y, n, switched = first.copy(), len(first), 0
    mirror = np.roll(np.arange(n), n // 2)
    while True:
        fit = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y)
        theta = dual(fit, n)
        theta = 0.5 * (theta + sign * theta[mirror])  # lemma 1
        g = K @ theta + (fit.intercept_[0] if sign > 0 else 0.0)
        yield Switch(y.copy(), g, switched)
        active, g = unknown & (np.abs(theta) > 1e-7), 0.5 * (g + sign * g[mirror])
        # Equal outputs: mirrored pairs are neighbours, in the order of J.
        places = np.minimum(np.arange(n), mirror)
        plus = sorted(np.nonzero(active & (y > 0))[0], key=lambda k: (g[k], places[k]))
        minus = sorted(np.nonzero(active & (y < 0))[0], key=lambda k: (-g[k], places[k]))
        assert sign > 0 or [mirror[k] for k in plus] == minus
        couples = 0
        for i, j in list(zip(plus, minus, strict=False))[:S]:
            if g[i] >= g[j]:
                break
            couples += 1
        if couples == 0:
            return
        chosen = [*plus[:couples], *minus[:couples]]
        y[chosen] *= -1
        switched = len(chosen)


SWITCHING = [("blocks_rbf", 1), ("poly_direct_sum", 1), ("group_gaussian", -1), ("poly_tensor", -1)]


@pytest.mark.parametrize("S", [2, 4, 100])
@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize(("name", "sign"), SWITCHING)
def test_literal_label_switching_on_the_mirrored_set(name: str, sign: int, seed: int, S: int) -> None:
    case = CASES[name]
    p, known = partly_labelled(case, seed)
    # In both orders S couples are S/2 on J (symmetric: both members double) or S pairs with their mirror images.
    options = {"kernel": case.half(sign), "base": case.base, "C": 0.2, "tol": 1e-8}
    ours = pl.TransductivePairSVC(**options, anneal=(1.0,), max_switches=S // 2 if sign > 0 else S).fit(p, known)
    supervised = (pl.PairSVC if sign > 0 else pl.PairRanker)(**options).fit(p[known != 0], known[known != 0])
    first = np.where(known != 0, known, np.where(supervised.decision_function(p) >= 0, 1, -1))
    pairs, y = mirrored_set(p, first, sign)
    K = case.formula(parts(pairs), parts(pairs))
    states = list(label_switching(K, y, np.tile(known == 0, 2), 0.1, S, sign))
    for state in states:
        ab, ba = np.split(state.labels, 2)
        np.testing.assert_array_equal(ba, sign * ab)
        one, two = np.split(state.values, 2)
        close(two, sign * one)
    assert [state.switched // 2 for state in states] == [step.switched for step in ours.switching_]
    np.testing.assert_array_equal(ours.transduction_, states[-1].labels[: len(p)])
    close(ours.decision_function(p), states[-1].values[: len(p)], 1e-3)


@pytest.mark.parametrize(("name", "sign"), SWITCHING)
def test_switching_happens_in_these_problems(name: str, sign: int) -> None:
    """Otherwise the equality above would be empty."""
    case = CASES[name]
    model = pl.TransductivePairSVC(kernel=case.half(sign), base=case.base, C=0.2, anneal=(1.0,), max_switches=1)
    assert sum(len(model.fit(*partly_labelled(case, seed)).switching_) - 1 for seed in (0, 1, 7)) >= 3
