"""Each law is broken on purpose, by something that keeps all the laws tried before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

import pairlearn as pl
from pairlearn import testing
from pairlearn.kernels import Gaussian, Kernel, Linear, Polynomial
from pairlearn.operators.dense import DenseOperator
from pairlearn.pair_kernels import PairKernel, from_table, on_blocks, table
from pairlearn.pairs import as_pairs
from pairlearn.solvers import ActiveSet, PlainSMO, Problem, Solution, Status
from pairlearn.testing import LawError, scikit
from pairlearn.testing.estimators import training_pairs
from pairlearn.testing.laws import try_all

rng = np.random.default_rng(0)
X = rng.normal(size=(8, 3))
PAIRS = pl.Pairs(X, *rng.integers(0, 8, (2, 20)))


def broken_law(check: Any, *given: Any) -> str:
    with pytest.raises(LawError) as caught:
        check(*given)
    assert f"breaks the law {caught.value.law!r}: " in str(caught.value)
    return caught.value.law


# --------------------------------------------------------------------------- base kernels


@dataclass(frozen=True)
class Honest(Kernel):
    """The linear kernel, written out; every class below breaks one promise of it."""

    def __call__(self, A: Any, B: Any) -> Any:
        return A @ B.T

    def diag(self, A: Any) -> Any:
        return np.diagonal(self(A, A)).copy()


@dataclass(frozen=True)
class Flat(Honest):
    def __call__(self, A: Any, B: Any) -> Any:
        return (A @ B.T).ravel()


@dataclass(frozen=True)
class Lopsided(Honest):
    def __call__(self, A: Any, B: Any) -> Any:
        return A @ np.triu(np.ones((3, 3))) @ B.T


@dataclass(frozen=True)
class WrongDiagonal(Honest):
    def diag(self, A: Any) -> Any:
        return super().diag(A) + 1e-3


@dataclass(frozen=True)
class Centred(Honest):
    """Subtracts the mean of whatever it is given."""

    def __call__(self, A: Any, B: Any) -> Any:
        return (A - A.mean(axis=0)) @ (B - B.mean(axis=0)).T


@dataclass(frozen=True)
class Negative(Honest):
    def __call__(self, A: Any, B: Any) -> Any:
        return -(A @ B.T)


@dataclass(frozen=True)
class WrongFeatures(Honest):
    def features(self, A: Any) -> Any:
        return A[:, :2]


@dataclass(frozen=True)
class NotIsotropic(Honest):
    isotropic = True

    def __call__(self, A: Any, B: Any) -> Any:
        return A[:, :1] @ B[:, :1].T


@dataclass(frozen=True)
class WrongParity(Honest):
    parity = 1


@dataclass(frozen=True)
class BadSum(Honest):
    def __add__(self, other: Kernel) -> Kernel:
        return self


@dataclass(frozen=True)
class NeverFixed(Honest):
    scale: float = 1.0

    def resolved(self, examples: Any) -> Kernel:
        return replace(self, scale=self.scale + 1.0)


class NotAValue(Honest):
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


@dataclass(frozen=True)
class Scribbles(Honest):
    def diag(self, A: Any) -> Any:
        own = np.einsum("ij,ij->i", A, A)
        A += 0.0 * A + 1e-12
        return own


BROKEN_KERNELS = {
    "shape": Flat(),
    "symmetry": Lopsided(),
    "diagonal": WrongDiagonal(),
    "independence": Centred(),
    "definiteness": Negative(),
    "features": WrongFeatures(),
    "isotropy": NotIsotropic(),
    "parity": WrongParity(),
    "combinations": BadSum(),
    "resolution": NeverFixed(),
    "value": NotAValue(),
    "purity": Scribbles(),
}


@pytest.mark.parametrize("law", [law.__name__ for law in testing.KERNEL_LAWS])
def test_every_law_of_kernels_can_be_broken(law: str) -> None:
    assert broken_law(testing.check_kernel, BROKEN_KERNELS[law], X.copy()) == law


def test_an_honest_kernel_passes() -> None:
    testing.check_kernel(Honest(), X)


def test_kernels_are_tried_on_two_examples_at_least() -> None:
    with pytest.raises(ValueError, match="two examples"):
        testing.check_kernel(Honest(), X[:1])


# --------------------------------------------------------------------------- pair kernels


def test_values_that_differ_from_the_formula() -> None:
    assert broken_law(testing.check_pair_kernel, "tensor", PAIRS, "linear", lambda ac, ad, bc, bd: ac * bd) == "values"


def test_a_kernel_that_is_not_symmetric_in_its_pairs() -> None:
    lopsided = from_table(table(ac_bc=1.0, ad_bd=0.5))
    assert broken_law(testing.check_pair_kernel, lopsided, PAIRS) == "gram_symmetry"


def test_a_sum_that_is_not_definite() -> None:
    assert broken_law(testing.check_pair_kernel, from_table(table(ac=-1.0, bd=-1.0)), PAIRS) == "definiteness"


def test_a_wrong_claim_of_symmetry_or_order() -> None:
    """A kernel of examples that claims a parity or isotropy which it does not have deceives the pair kernel."""
    apart = pl.all_pairs(X, reflexive=False)
    signed = pl.Pairs(X, apart.left, apart.right, signed=rng.normal(size=(len(apart), 3)))
    deceived = pl.pair_kernels.on_signed(WrongParity())
    assert deceived.symmetry == "symmetric"
    assert broken_law(testing.check_pair_kernel, deceived, signed) == "swapping"
    deceived = on_blocks(NotIsotropic(), ("left", "right"))
    assert deceived.order_invariant
    assert broken_law(testing.check_pair_kernel, deceived, PAIRS) == "order_invariance"


def tried(law: str, kernel: PairKernel, pairs: pl.Pairs = PAIRS) -> None:
    """One law alone, on a kernel that already has its base."""
    try_all([one for one in testing.PAIR_KERNEL_LAWS if one.__name__ == law], kernel, pairs)


@pytest.mark.parametrize(
    ("law", "name", "wrong"),
    [
        ("halves", "balanced", lambda self: self),
        ("combinations", "__add__", lambda self, other: self),
        ("value", "__hash__", lambda self: id(self)),
    ],
)
def test_a_method_that_is_wrong(law: str, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = pl.pair_kernels.poly_tensor(1, 0.3).on(Linear())
    tried(law, kernel)
    monkeypatch.setattr(PairKernel, name, wrong)
    assert broken_law(tried, law, kernel) == law


def test_values_that_depend_on_other_pairs() -> None:
    """A kernel of a view that centres what it is given."""
    kernel = on_blocks(Centred(), ("left", "right"))
    assert broken_law(tried, "slicing", kernel) == "slicing"
    assert broken_law(tried, "operation", kernel) == "operation"


# --------------------------------------------------------------------------- operators


M = X @ X.T


class Unsized(DenseOperator):
    @property
    def shape(self) -> tuple[int, int]:
        return 1, 1


class NoDiagonal(DenseOperator):
    def diagonal(self) -> Any:
        return np.ones(self.n_pairs)


class ZeroProduct(DenseOperator):
    def blocks(self, coefficients: Any) -> Iterator[tuple[int, Any]]:
        yield 0, np.zeros(self.n_pairs)


class Overwrites(DenseOperator):
    def add_product(self, coefficients: Any, out: Any) -> None:
        out[:] = self.matrix @ coefficients

    def __matmul__(self, coefficients: Any) -> Any:
        return self.matrix @ coefficients


class Transposed(DenseOperator):
    def submatrix(self, rows: Any, cols: Any = None) -> Any:
        return self.matrix[np.ix_(rows, rows if cols is None else cols)] + (0.0 if cols is None else 1e-6)


class FewRows(DenseOperator):
    def rows(self, index: Any) -> Any:
        return super().rows(index)[:, :-1]


class NoAdjoint(DenseOperator):
    def as_linear_operator(self) -> Any:
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(self.shape, matvec=self.__matmul__, rmatvec=lambda x: 2 * x, dtype=self.dtype)


BROKEN_OPERATORS = {
    "size": Unsized,
    "diagonal": NoDiagonal,
    "products": ZeroProduct,
    "added_products": Overwrites,
    "blocks": Transposed,
    "rows": FewRows,
    "linear_operator": NoAdjoint,
}


@pytest.mark.parametrize("law", [law.__name__ for law in testing.OPERATOR_LAWS])
def test_every_law_of_operators_can_be_broken(law: str) -> None:
    assert broken_law(testing.check_operator, BROKEN_OPERATORS[law](M), M) == law


def test_a_sound_operator_of_another_matrix_is_found() -> None:
    testing.check_operator(DenseOperator(M), M)
    changed = M.copy()
    changed[0, 1] += 1e-6
    assert broken_law(testing.check_operator, DenseOperator(changed), M)


# --------------------------------------------------------------------------- solvers


@dataclass(frozen=True)
class Wrapped:
    """A sound solver whose solution is spoilt."""

    tol: float = 1e-6

    def solve(self, problem: Problem, operator: Any, start: Any = None, callback: Any = None) -> Solution:
        solution = ActiveSet(tol=self.tol).solve(problem, operator, start, callback)
        return self.spoilt(solution, problem, operator, start)

    def spoilt(self, solution: Solution, problem: Problem, operator: Any, start: Any) -> Solution:
        return solution


class LeavesTheBox(Wrapped):
    def spoilt(self, solution: Solution, problem: Problem, operator: Any, start: Any) -> Solution:
        return replace(solution, coefficients=solution.coefficients + 1e-6)


class ForgetsTheTotal(Wrapped):
    def solve(self, problem: Problem, operator: Any, start: Any = None, callback: Any = None) -> Solution:
        return ActiveSet(tol=self.tol).solve(replace(problem, total=None), operator)


class GivesUp(Wrapped):
    def spoilt(self, solution: Solution, problem: Problem, operator: Any, start: Any) -> Solution:
        return replace(solution, status=Status.ITERATION_LIMIT)


class StopsEarly(Wrapped):
    def solve(self, problem: Problem, operator: Any, start: Any = None, callback: Any = None) -> Solution:
        return ActiveSet(tol=0.05).solve(problem, operator, start)


class Boasts(Wrapped):
    def spoilt(self, solution: Solution, problem: Problem, operator: Any, start: Any) -> Solution:
        return replace(solution, gap=solution.gap + 1e-7)


class WrongBias(Wrapped):
    def spoilt(self, solution: Solution, problem: Problem, operator: Any, start: Any) -> Solution:
        return replace(solution, bias=solution.bias + 5.0)


RANDOM = np.random.default_rng(1)


class Wavers(Wrapped):
    """Another method every second time; both are right, but not to the last bit."""

    methods = cycle([ActiveSet, PlainSMO])

    def solve(self, problem: Problem, operator: Any, start: Any = None, callback: Any = None) -> Solution:
        return next(self.methods)(tol=self.tol).solve(problem, operator, start)


class Restarts(Wrapped):
    def spoilt(self, solution: Solution, problem: Problem, operator: Any, start: Any) -> Solution:
        warm = start is not None and problem.total in (None, 0.0)  # only another total needs a start of its own
        return replace(solution, status=Status.ITERATION_LIMIT) if warm else solution


class ChangesTheProblem(Wrapped):
    def spoilt(self, solution: Solution, problem: Problem, operator: Any, start: Any) -> Solution:
        problem.linear[2] += 1.0  # of the pair of weight zero, so that nothing else changes
        return solution


@pytest.mark.parametrize(
    ("solver", "law"),
    [
        (LeavesTheBox(), "feasibility"),
        (ForgetsTheTotal(), "feasibility"),
        (GivesUp(), "optimality"),
        (StopsEarly(), "optimality"),
        (Boasts(), "certificate"),
        (WrongBias(), "bias"),
        (Wavers(), "repetition"),
        (Restarts(), "warm_start"),
        (ChangesTheProblem(), "purity"),
    ],
)
def test_every_law_of_solvers_can_be_broken(solver: Wrapped, law: str) -> None:
    assert broken_law(testing.check_solver, solver) == law


def test_a_solver_that_keeps_the_laws_passes() -> None:
    testing.check_solver(Wrapped())


# --------------------------------------------------------------------------- estimators


class Plain(ClassifierMixin, BaseEstimator):
    """−γ‖a − b‖² with γ learnt from the pairs: keeps every law; each class below breaks one."""

    def __init__(self, power: float = 2.0) -> None:
        self.power = power

    def fit(self, X: Any, y: Any) -> Any:
        pairs = as_pairs(X)
        if len(y) != len(pairs):
            raise ValueError("one label per pair")
        self.classes_ = np.array([-1, 1])
        self.mean_ = pairs.examples.mean(axis=0)
        self.gamma_ = 1.0 / pairs.examples.var()
        return self

    def decision_function(self, X: Any) -> Any:
        check_is_fitted(self, "gamma_")
        pairs = as_pairs(X)
        a, b = pairs.examples[pairs.left], pairs.examples[pairs.right]
        if a.shape[1] != len(self.mean_):
            raise ValueError("another number of features")
        return self.score(a, b)

    def score(self, a: Any, b: Any) -> Any:  # type: ignore[override]
        return -self.gamma_ * (np.abs(a - b) ** self.power).sum(axis=1)

    def score_block(self, probe: Any, gallery: Any) -> Any:
        return np.array([self.score(np.broadcast_to(p, gallery.shape), gallery) for p in probe])


class TunesItself(Plain):
    def fit(self, X: Any, y: Any) -> Any:
        self.power = 1.0
        return super().fit(X, y)


class Unsettable(Plain):
    def set_params(self, **params: Any) -> Any:
        return None


class ReturnsNothing(Plain):
    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        return Plain(self.power).fit(X, y)


class NoCheck(Plain):
    def decision_function(self, X: Any) -> Any:
        self.gamma_  # noqa: B018
        return super().decision_function(X)


class Columns(Plain):
    def decision_function(self, X: Any) -> Any:
        return super().decision_function(X)[:, None]


class Inverted(Plain):
    def predict(self, X: Any) -> Any:
        return np.where(self.decision_function(X) > 0, -1, 1)


class Ranks(Plain):
    def decision_function(self, X: Any) -> Any:
        return np.argsort(np.argsort(super().decision_function(X))).astype(float)


class OneSided(Plain):
    def score(self, a: Any, b: Any) -> Any:  # type: ignore[override]
        return super().score(a, b) + a[:, 0]


class OtherArrays(Plain):
    def decision_function(self, X: Any) -> Any:
        return super().decision_function(X) - (0.0 if isinstance(X, pl.Pairs) else 1.0)


class BadBlocks(Plain):
    def score_block(self, probe: Any, gallery: Any) -> Any:
        return super().score_block(gallery, probe)


class Forgetful(Plain):
    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        self.gamma_ *= 1.0 + RANDOM.random()
        return self


class BadPickle(Plain):
    def __setstate__(self, state: Any) -> None:
        vars(self).update(state)
        if "gamma_" in state:
            self.gamma_ *= 2.0


class Standardises(Plain):
    def fit(self, X: Any, y: Any) -> Any:
        pairs = as_pairs(X)
        super().fit(pairs, y)
        examples = pairs.examples
        examples += 1e-3
        return self


class TakesNaN(Plain):
    def decision_function(self, X: Any) -> Any:
        return super().decision_function(np.nan_to_num(X) if isinstance(X, np.ndarray) else X)


class TakesAnyShape(Plain):
    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, np.resize(y, len(X)))


BROKEN_ESTIMATORS = {
    "parameters": TunesItself(),
    "settable": Unsettable(),
    "returns_itself": ReturnsNothing(),
    "unfitted": NoCheck(),
    "one_value_per_pair": Columns(),
    "predictions": Inverted(),
    "slicing": Ranks(),
    "swapping": OneSided(),
    "arrays_too": OtherArrays(),
    "blocks": BadBlocks(),
    "repetition": Forgetful(),
    "storage": BadPickle(),
    "purity": Standardises(),
    "missing_values": TakesNaN(),
    "wrong_shapes": TakesAnyShape(),
}


@pytest.mark.parametrize("law", [law.__name__ for law in testing.ESTIMATOR_LAWS])
def test_every_law_of_estimators_can_be_broken(law: str) -> None:
    assert broken_law(testing.check_pair_estimator, BROKEN_ESTIMATORS[law]) == law


class InvertedSVC(pl.PairSVC, parameters="kernel base C tol"):
    def predict(self, X: Any) -> Any:
        return -super().predict(X)


class InvertedRanker(pl.PairRanker, parameters="kernel base C tol"):
    def predict(self, X: Any) -> Any:
        return -super().predict(X)


class InvertedOneClass(pl.OneClassPairSVM, parameters="kernel base nu tol"):
    def predict(self, X: Any) -> Any:
        return -super().predict(X)


class HalvedSVR(pl.PairSVR, parameters="kernel base C tol"):
    def predict(self, X: Any) -> Any:
        return 0.5 * super().predict(X)


class HalvedRidge(pl.PairRidge, parameters="kernel base alpha"):
    def predict(self, X: Any) -> Any:
        return 0.5 * super().predict(X)


class InvertedMetric(pl.OnlinePseudoMetric):
    def predict(self, X: Any) -> Any:
        return -super().predict(X)


@pytest.mark.parametrize(
    "kind", [InvertedSVC, InvertedRanker, InvertedOneClass, HalvedSVR, HalvedRidge, InvertedMetric]
)
def test_a_prediction_that_contradicts_the_score_fails_for_every_kind_of_machine(kind: Any) -> None:
    pairs, labels = training_pairs()
    y = {
        InvertedRanker: np.where(pairs.left % 3 > pairs.right % 3, 1, -1),
        InvertedOneClass: np.ones(len(pairs)),
    }.get(kind, labels)
    with pytest.raises(LawError, match="predict") as broken:
        testing.check_pair_estimator(kind(), pairs, y)
    assert broken.value.law == "predictions"


class NoBlocks(Plain):
    @property
    def score_block(self) -> Any:  # type: ignore[override]
        raise AttributeError("score_block")


def test_an_estimator_without_blocks_passes() -> None:
    testing.check_pair_estimator(NoBlocks())


def test_a_class_that_pickle_cannot_find_is_told() -> None:
    class Local(Plain):
        pass

    with pytest.raises(LawError, match=r"'storage': pickle refuses it .*define its class in a module"):
        testing.check_pair_estimator(Local())


def test_a_plain_estimator_keeps_them_all() -> None:
    testing.check_pair_estimator(Plain())


# --------------------------------------------------------------------------- scikit-learn's own checks


class Weighted(Plain):
    """γ from the weighted mean square of differences: keeps every check; each class below fails one."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        pairs = as_pairs(X)
        super().fit(pairs, y)
        weights = np.ones(len(pairs)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if weights.shape != (len(pairs),):
            raise ValueError("one weight per pair")
        if not weights.any():
            raise ValueError("all weights are zero")
        self.mean_ = np.zeros(pairs.shape[2])
        a, b = pairs.examples[pairs.left], pairs.examples[pairs.right]
        self.gamma_ = 1.0 / np.average(((a - b) ** 2).sum(axis=1) + 1e-6, weights=weights)
        return self


class SetsMore(Weighted):
    def __init__(self, power: float = 2.0) -> None:
        super().__init__(power)
        self.n_fits = 0


class RaisesEarly(Weighted):
    def __init__(self, power: float = 2.0) -> None:
        if not isinstance(power, float):
            raise TypeError("power is a float")
        super().__init__(power)


class ShowsPublic(Weighted):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.seen = len(X)
        return super().fit(X, y, sample_weight)


class Counts(Weighted):
    def decision_function(self, X: Any) -> Any:
        values = super().decision_function(X)
        self.calls_ = getattr(self, "calls_", 0) + 1
        return values


class SpoilsWeights(Weighted):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if isinstance(sample_weight, np.ndarray) and sample_weight.dtype == float:
            sample_weight /= sample_weight.sum() or 1.0
        return super().fit(X, y, sample_weight)


class RoundsWeights(Weighted):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if sample_weight is not None and np.any(np.asarray(sample_weight)):
            sample_weight = np.maximum(np.asarray(sample_weight, dtype=float), 1.0)
        return super().fit(X, y, sample_weight)


class TakesNoWeights(Weighted):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, y, None)


class WritesInPlace(Weighted):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if isinstance(X, np.ndarray):
            X[...] = X + 0.0
        return super().fit(X, y, sample_weight)


class MixedUp(BaseEstimator, ClassifierMixin):
    fit, decision_function, score, score_block = Plain.fit, Plain.decision_function, Plain.score, Plain.score_block

    def __init__(self, power: float = 2.0) -> None:
        self.power = power


FAILING = {
    "check_no_attributes_set_in_init": SetsMore(),
    "check_do_not_raise_errors_in_init_or_set_params": RaisesEarly(),
    "check_dont_overwrite_parameters": ShowsPublic(),
    "check_dict_unchanged": Counts(),
    "check_sample_weights_not_overwritten": SpoilsWeights(),
    "check_sample_weight_equivalence_on_dense_data": RoundsWeights(),
    "check_sample_weights_shape": TakesNoWeights(),
    "check_readonly_memmap_input": WritesInPlace(),
    "check_mixin_order": MixedUp(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FAILING)
def test_scikit_learns_check_catches_it(name: str) -> None:
    if not hasattr(estimator_checks, name):
        pytest.skip("this scikit-learn has no such check")
    assert broken_law(testing.check_pair_estimator, FAILING[name]) == name


@pytest.mark.filterwarnings("ignore")
def test_a_weighted_estimator_passes_scikit_learns_checks() -> None:
    testing.check_pair_estimator(Weighted())


def test_the_names_are_scikit_learns() -> None:
    """A check that scikit-learn renames would be left out without a word."""
    known = [
        name
        for name in (*scikit.ITSELF, *scikit.STATE, *scikit.INPUT, *scikit.WEIGHTS)
        if hasattr(estimator_checks, name)
    ]
    assert len(known) >= 25


# --------------------------------------------------------------------------- the suite itself


def test_what_cannot_be_tried_is_refused() -> None:
    with pytest.raises(pl.errors.InputError, match=r"PairSVC is a class; check an object of it, PairSVC\(\)"):
        testing.check_pair_estimator(pl.PairSVC)
    with pytest.raises(
        pl.errors.InputError,
        match=r"a dict is no estimator on pairs: it has no get_params, fit.*inherit from sklearn.base.BaseEstimator",
    ):
        testing.check_pair_estimator({})


def test_an_estimator_that_takes_pairs_only_is_told_how_to_take_arrays() -> None:
    class PairsOnly(pl.EuclidBaseline):
        def decision_function(self, X: Any) -> Any:
            return super().decision_function(pl.Pairs(X.examples, X.left, X.right))

    with pytest.raises(LawError, match=r"'arrays_too': an array \(n, 2, d\) raises AttributeError .*as_pairs\(X\)"):
        testing.check_pair_estimator(PairsOnly())


def test_nothing_here_needs_a_test_runner() -> None:
    import subprocess
    import sys

    load = "import sys, pairlearn.testing as t; [getattr(t, name) for name in dir(t)]"
    code = f"{load}; print('pytest' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False"]


def test_messages_name_the_law_and_the_values() -> None:
    with pytest.raises(LawError, match=r"WrongDiagonal\(\) breaks the law 'diagonal': diag and .*: .* instead of "):
        testing.check_kernel(WrongDiagonal(), X)


def test_other_kernels_pass() -> None:
    for kernel in (Linear(), Polynomial(3), Gaussian(), Linear() * Gaussian(0.3)):
        testing.check_kernel(kernel, X)
