"""What all machines on pairs share: checks, mirrored training, the solve, and the learnt function."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError, SymmetryError, SymmetryWarning
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import Gram, as_kernel
from pairlearn.machines.start import carry_over, feasible
from pairlearn.operators.build import Grams, Operation, build
from pairlearn.pair_kernels import PairKernel, pair_kernel
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.solvers import Callback, Solution, solver_for
from pairlearn.solvers.problem import Problem, Status
from pairlearn.types import Bools, Examples, Floats, Ints

Mirrored = bool | Literal["symmetric", "antisymmetric"]


@dataclass(frozen=True)
class Training:
    """Checked training pairs, the kernel with its bases, and the sign of the learnt function.

    `sign` is +1 for g(b, a) = g(a, b) and −1 for g(b, a) = −g(a, b); the latter has no bias.
    `given` is the number of each row among the pairs that the caller passed.
    """

    pairs: Pairs
    kernel: PairKernel
    sign: int
    given: Ints

    def chosen(self, order: Ints) -> Training:
        """The same with these rows."""
        return replace(self, pairs=self.pairs[order], given=self.given[order])

    def mirrored(self, problem: Problem) -> tuple[Training, Problem]:
        """Both orders of every pair."""
        pairs, problem, order = mirror(self.pairs, problem, self.sign)
        return replace(self, pairs=pairs, given=self.given[order]), problem


class PairMachine(BaseEstimator):
    """A machine that learns g(a, b) = Σ θ_k K((a, b), pair_k) + b from pairs."""

    kernel: str | PairKernel
    base: Any
    tol: float
    time_budget: float | None
    memory_budget: float | None
    random_state: int | None
    warm_start: bool
    mirrored: Mirrored
    solver: Literal["active_set", "smo"]
    callback: Callback | None

    # -- learning

    def _prepare(self, X: Any, sign: int | None) -> Training:
        """Check everything but the labels; `sign` None follows the kernel."""
        check_positive(self, tol="1e-3")
        if self.time_budget is not None and not self.time_budget >= 0:
            raise InputError(f"time_budget is in seconds and must be ≥ 0, got {self.time_budget!r}")
        pairs = as_pairs(X)
        kernel = pair_kernel(self.kernel).on(as_kernel(self.base))
        if len(kernel.bases) > 1 and any(base.precomputed for base in kernel.bases if base is not None):
            raise InputError("a precomputed base cannot be mixed with one that needs features; compute both matrices")
        refuse_ignored_blocks(pairs, kernel)
        return Training(pairs, kernel, self._sign(kernel, pairs, sign), np.arange(len(pairs)))

    def _sign(self, kernel: PairKernel, pairs: Pairs, sign: int | None) -> int:
        name = type(self).__name__
        if pairs.right_examples is not None:
            if self.mirrored:
                raise InputError("pairs of two tables have no mirror image; use mirrored=False")
            if sign == -1 or kernel.symmetry == "antisymmetric":
                raise SymmetryError(
                    f"{name} on two tables needs a symmetric kernel, e.g. tensor: its pairs have no order"
                )
            return 1
        if self.mirrored:
            return self._mirrored_sign(kernel, sign)
        if kernel.symmetry == "none" and sign != -1:
            warnings.warn(
                "this pair kernel is not symmetric, so g(u, v) ≠ g(v, u); kernel.balanced() makes it symmetric",
                SymmetryWarning,
                stacklevel=4,
            )
        found = -1 if kernel.symmetry == "antisymmetric" else 1
        if sign is not None and (sign != found):
            raise SymmetryError(_wrong_symmetry(name, kernel.symmetry, sign))
        return found

    def _mirrored_sign(self, kernel: PairKernel, sign: int | None) -> int:
        signs = {"symmetric": 1, "antisymmetric": -1}
        if self.mirrored not in (True, *signs):
            raise InputError(f'mirrored is True, False, "symmetric" or "antisymmetric", got {self.mirrored!r}')
        own = signs.get(kernel.symmetry)
        asked = signs[self.mirrored] if isinstance(self.mirrored, str) else own or sign
        if asked is None:
            raise SymmetryError(
                'mirrored training of this kernel needs to know: mirrored="symmetric" or "antisymmetric"'
            )
        if any(known not in (None, asked) for known in (sign, own)):
            raise SymmetryError(_wrong_symmetry(type(self).__name__, kernel.symmetry, sign or asked))
        if not kernel.order_invariant:
            warnings.warn(
                "this pair kernel is not order-invariant, so mirrored training does not make g symmetric; "
                "kernel.order_invariant_part() is",
                SymmetryWarning,
                stacklevel=5,
            )
        return asked

    def _weights(self, n_pairs: int, sample_weight: Any) -> Floats:
        """One weight ≥ 0 per pair."""
        if sample_weight is None:
            return np.ones(n_pairs)
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (n_pairs,):
            raise InputError(f"sample_weight must hold one weight per pair, {n_pairs}, got {weights.shape}")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError("sample_weight must be finite and ≥ 0; drop pairs of unknown weight")
        if not weights.any():
            raise InputError("all pairs have weight 0; give some of them a weight > 0")
        return weights

    def _learn(self, training: Training, problem: Problem) -> Solution:
        """Solve this problem on the pairs, or on both orders of them, and keep the learnt function."""
        if self.mirrored:
            training, problem = training.mirrored(problem)
        operation = self._build(training)
        solution = self._solve(problem, operation, self._start(training.pairs, problem), self.time_budget)
        self._keep(solution, problem, operation, training)
        return solution

    def _start(self, pairs: Pairs, problem: Problem) -> Floats | None:
        """Where the solver starts: the previous fit, if asked for, else zero or the nearest feasible point."""
        if self.warm_start and hasattr(self, "function_"):
            return carry_over(self.function_, self.support_bounded_, pairs, problem)
        return feasible(np.zeros(len(problem)), problem) if problem.total else None

    def _build(self, training: Training) -> Operation:
        return build(training.kernel, training.pairs, _grams(self.base), self.memory_budget)

    def _solve(
        self, problem: Problem, operation: Operation, start: Floats | None, time_budget: float | None
    ) -> Solution:
        solver = solver_for(self.solver, self.tol, time_budget, operation.plan.memory, self.random_state or 0)
        return solver.solve(problem, operation.operator, start, self.callback)

    def _keep(self, solution: Solution, problem: Problem, operation: Operation, training: Training) -> None:
        """Keep the support pairs and their examples only."""
        theta = solution.coefficients
        support = np.nonzero(theta)[0]
        bounded = (theta <= problem.lower) | (theta >= problem.upper)
        chosen = training.pairs[support]
        self.support_: Ints = training.given[support]
        self.support_bounded_: Bools = bounded[support]
        self.support_examples_: Ints = chosen.used_examples()
        self.function_ = PairFunction.of(operation.kernel, chosen, theta[support], solution.bias)
        self.kkt_gap_, self.fit_status_, self.objective_ = solution.gap, str(solution.status), solution.objective
        self.n_support_, self.n_iter_, self.history_ = len(support), len(solution.history), solution.history
        self.plan_ = operation.plan
        if solution.status is not Status.CONVERGED:
            advice = (
                "but values of this kernel are too large for float64 to do better: scale the examples"
                if solution.status is Status.ROUNDING
                else "and warm_start=True continues from here"
            )
            warnings.warn(
                f"stopped by {solution.status} at KKT gap {solution.gap:.3g} > tol = {self.tol:g}; the model is "
                f"usable, {advice}",
                ConvergenceWarning,
                stacklevel=4,
            )

    # -- using

    @property
    def dual_coef_(self) -> Floats:
        """θ of the support pairs."""
        return self.function_.coefficients

    @property
    def intercept_(self) -> float:
        """Bias b."""
        return self.function_.bias

    def decision_function(self, X: Any) -> Floats:
        """g of every pair, (n_pairs,)."""
        check_is_fitted(self, "function_")
        pairs = as_pairs(X)
        refuse_ignored_blocks(pairs, self.function_.kernel)
        return self.function_(pairs)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """g of every probe (left) with every gallery example (right), (p, g), by matrix products in bounded memory."""
        check_is_fitted(self, "function_")
        return self.function_.block(probe, gallery)


def mirror(pairs: Pairs, problem: Problem, sign: int) -> tuple[Pairs, Problem, Ints]:
    """Every pair in both orders with half the box each (reflexive ones once, with the whole), and whose row is whose.

    The twin of an antisymmetric problem has minus the label and the bounds; it needs no bias, but Σθ = 0 lets the
    solver show that it finds none.
    """
    once, twice = np.nonzero(pairs.reflexive)[0], np.nonzero(~pairs.reflexive)[0]
    straight = np.concatenate([once, twice])
    both = pairs[straight].followed_by(pairs[twice].swapped())
    share = np.concatenate([np.ones(len(once)), np.full(len(twice), 0.5)])

    def join(values: Floats, twins: Floats) -> Floats:
        return np.concatenate([share * values[straight], 0.5 * twins[twice]])

    p, lower, upper = problem.linear, problem.lower, problem.upper
    bounds = (lower, upper) if sign > 0 else (-upper, -lower)
    mirrored = replace(
        problem,
        linear=np.concatenate([p[straight], sign * p[twice]]),
        lower=join(lower, bounds[0]),
        upper=join(upper, bounds[1]),
        total=problem.total if sign > 0 else 0.0,
    )
    return both, mirrored, np.concatenate([straight, twice])


def refuse_ignored_blocks(pairs: Pairs, kernel: PairKernel) -> None:
    """Refuse per-pair features that the kernel would not see."""
    for name in ("invariant", "signed"):
        if getattr(pairs, name) is not None and name not in kernel.blocks:
            raise InputError(
                f"these pairs have `{name}` features, which this kernel ignores; "
                f"add pl.on_{name}(…) to it, or drop them"
            )


def check_positive(machine: Any, **examples: str) -> None:
    """Refuse parameters that are not finite and > 0; `examples` names them with a value to try."""
    for name, example in examples.items():
        value = getattr(machine, name)
        if not (isinstance(value, (int, float, np.number)) and np.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a finite number > 0, got {value!r}; try {name}={example}")


def _grams(base: Any) -> Grams:
    first, second = base if isinstance(base, tuple) else (base, base)
    return first if isinstance(first, Gram) else None, second if isinstance(second, Gram) else None


def _wrong_symmetry(name: str, symmetry: str, sign: int | None) -> str:
    if sign == 1:
        return (
            f"{name} answers a symmetric question, but this pair kernel is {symmetry}; "
            "use pl.PairRanker, or a symmetric kernel such as its square"
        )
    return (
        f"{name} answers an antisymmetric question, but this pair kernel is {symmetry if symmetry != 'none' else 'not'}"
        "; use difference or wedge, or kernel.skewed() of an order-invariant one such as poly_tensor"
    )
