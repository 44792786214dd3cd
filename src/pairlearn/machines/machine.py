"""What all machines on pairs share: their parameters, checks, the solve, and the learnt function.

`fit` of a machine checks its labels, states its `Problem` (labels, boxes, sum), and hands both to `_learn`. There the
kernel becomes an operator within the memory budget (`operation_for`), a solver finds the coefficients (`solve`), and
`_keep` stores the support pairs with their examples and forgets all others.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, Self, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pairlearn.cluster.operator import ClusterOperator, on_workers
from pairlearn.errors import ConstantWarning, InputError, warn_user
from pairlearn.examples import check_sides
from pairlearn.features import note_features, same_features
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import Gram, as_kernel
from pairlearn.kernels.rows import is_positive
from pairlearn.linalg.held import held_bytes
from pairlearn.linalg.room import give_back
from pairlearn.machines.parameters import constructor, parameter
from pairlearn.machines.resuming import ANEW, WARM, Journey, Store, put_by
from pairlearn.machines.start import carry_over
from pairlearn.machines.symmetry import Mirrored, sign_of
from pairlearn.machines.training import Scale, Training, refuse_ignored_blocks
from pairlearn.operators.base import PairOperator
from pairlearn.operators.build import Grams, Operation, build, refuse_large
from pairlearn.pair_kernels import PairKernel, View, pair_kernel
from pairlearn.pairs import as_pairs
from pairlearn.solvers import Callback, Solution, solver_for
from pairlearn.solvers.certificate import no_worse
from pairlearn.solvers.clock import Clock
from pairlearn.solvers.implicit import Outcome
from pairlearn.solvers.problem import Keeper, Problem, Progress, Status
from pairlearn.solvers.start import feasible
from pairlearn.types import Bools, Examples, Floats, Ints
from pairlearn.words import worth

ADVICE = {
    Status.ROUNDING: "float64 has too few digits for such kernel values to do better: look at its scores before you "
    "use it, scale the examples or {softer}",
    Status.STALLED: "no method gets further: look at its scores before you use it, scale the examples, {softer} or "
    "allow a larger tol",
}
"""What to do about a fit that ended above its tolerance, where starting again from there does not help."""
BY_NAME = 'this solver gets no further, and others may: choose solver="auto", which goes on with them'
OVERFLOW = "values of this kernel overflow on these pairs, so that nothing can be learnt; scale the examples"
CONSTANT = (
    "nothing was learnt: there are 0 support pairs, and every pair is given {value:.6g}. Give a smaller tol or "
    "{harder}, or look at whether the targets differ at all"
)
LATE = ("Newton's method", "interior point")
"""Solvers that are far from every solution until their end, so that another fit starts anew."""
FLAT = 2.0
"""Tolerances within which all values of a function say little: each of them is known to about one."""
HARDLY = (
    "hardly anything was learnt: the values of all training pairs lie within {spread:.2g} of each other, and they are "
    "known to about tol = {tol:g}. Give a smaller tol or {harder}; where "
    "none of it helps, this kernel does not tell these pairs apart"
)
SLOW = "a large working set, memory that is used for the first time, or a busy machine may be the reason"
GRACE = 2.0
"""Seconds beyond 1.2 × its time budget that a fit may take without a word."""
CAUSE = 5.0
"""Passes over all pairs beyond its time that a solver may need to end."""
LARGEST = 1e100
"""Largest size of a parameter: products of its squares with those of kernel values stay within float64."""
ONE = Scale()
"""Of labels, which have no unit."""


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter,))
class PairMachine(BaseEstimator):
    """A machine that learns g(a, b) = Σ θ_k K((a, b), pair_k) + b from pairs.

    Its attributes with a type are the parameters that machines have in common; a machine lists the ones that it takes,
    with its own, in the order of its signature: `class PairSVC(PairMachine, parameters="kernel base C … * solver")`.
    """

    _softer, _harder = "lower C", "a larger C"
    """What makes a function smoother, or lets it follow the pairs more closely, in the parameters of the machine;
    nothing where equal values of all training pairs are no reason for either."""

    kernel: str | PairKernel = parameter(default="tensor_metric", kw_only=False)
    base: Any = parameter(default="linear", kw_only=False)
    tol: float = 1e-3
    time_budget: float | None = None
    memory_budget: float | None = None
    random_state: int | None = None
    warm_start: bool = False
    mirrored: Mirrored = False
    solver: Literal["auto", "active_set", "nested", "newton", "interior", "splitting", "implicit", "smo"] = "auto"
    callback: Callback | None = None
    checkpoint: Store | None = None

    def __init_subclass__(cls, parameters: str | None = None, **options: Any) -> None:
        if parameters is not None:
            cls.__init__ = constructor(cls, parameters)  # type: ignore[method-assign]
        super().__init_subclass__(**options)

    # -- learning

    def _prepare(self, X: Any, sign: int | None) -> Training:
        """Check everything but the labels; `sign` None follows the kernel."""
        self._check_limits()
        solver_for(self.solver, self.tol, self.time_budget, 0, 0)  # refuses names that there are not
        clock, pairs = Clock.start(self.time_budget), as_pairs(X)
        if len(pairs) == 0:
            raise InputError("there are no pairs to learn from; give at least one")
        kernel = pair_kernel(self.kernel).on(as_kernel(self.base))
        if len(kernel.bases) > 1 and any(base.precomputed for base in kernel.bases if base is not None):
            raise InputError("a precomputed base cannot be mixed with one that needs features; compute both matrices")
        refuse_ignored_blocks(pairs, kernel)
        orders = 2 if self.mirrored else 1
        reserved = put_by(self.checkpoint, orders * len(pairs))
        refuse_large(kernel, pairs, orders, self.memory_budget, reserved)
        sign = sign_of(type(self).__name__, kernel, pairs, sign, self.mirrored)
        return Training(pairs, kernel, sign, np.arange(len(pairs)), clock)

    def _check_limits(self) -> None:
        check_positive(self, tol="1e-3")
        if self.time_budget is not None and not (isinstance(self.time_budget, Real) and self.time_budget >= 0):
            raise InputError(f"time_budget is in seconds and must be ≥ 0, got {self.time_budget!r}")
        try:
            np.random.default_rng(self.random_state)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"random_state must be a whole number ≥ 0 or None, got {self.random_state!r}; try random_state=0"
            ) from error

    def _weights(self, n_pairs: int, sample_weight: Any) -> Floats:
        """One weight ≥ 0 per pair, (n_pairs,); it multiplies the pair's box, so that weight 2 is the pair twice."""
        if sample_weight is None:
            return np.ones(n_pairs)
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (n_pairs,):
            raise InputError(f"sample_weight must hold one weight per pair, {n_pairs}, got {weights.shape}")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError("sample_weight must be finite and ≥ 0; drop pairs of unknown weight")
        if not weights.any():
            raise InputError("all weights of pairs are zero; give some of them a weight > 0")
        return weights

    def _learn(self, training: Training, problem: Problem, scale: Scale = ONE) -> Solution:
        """Solve this problem on the pairs, or on both orders of them, and keep the learnt function.

        `scale` says in which units the problem is stated.
        """
        if self.mirrored:
            training, problem = training.mirrored(problem)
        journey = Journey(self, training, problem)
        return self._followed(journey, training, problem, operation_for(self, training), scale)

    def _followed(
        self, journey: Journey, training: Training, problem: Problem, operation: Operation, scale: Scale = ONE
    ) -> Solution:
        """Solve from where an earlier run was broken off, or from the usual start, and keep the learnt function."""
        resumed = journey.start(problem)
        start = self._start(training, problem, scale) if resumed is None else resumed
        solution = journey.end(solve(self, problem, operation, start, training.clock, journey))
        self.n_runs_, self.total_seconds_ = journey.state.runs, journey.seconds
        self._keep(solution, problem, operation, training, scale, resumes=journey.resumes)
        return solution

    def _start(self, training: Training, problem: Problem, scale: Scale = ONE) -> Floats | None:
        """Where the solver starts: the previous fit, if asked for, else zero or the nearest feasible point."""
        if self.warm_start and self.__sklearn_is_fitted__():
            known = replace(self.function_, coefficients=self.function_.coefficients / scale.size)
            return carry_over(known, self.support_bounded_, training.pairs, problem)
        return feasible(np.zeros(len(problem)), problem) if problem.total else None

    def _keep(
        self,
        solution: Solution,
        problem: Problem,
        operation: Operation,
        training: Training,
        scale: Scale = ONE,
        *,
        resumes: str = WARM,
    ) -> None:
        """Keep the support pairs and their examples only.

        All other pairs have θ = 0 and are not needed for g; `support_bounded_` remembers which of them were at their
        bound, since a warm start with another C moves these to the new one.
        """
        if not np.isfinite(solution.gap):
            raise InputError(OVERFLOW)
        theta = solution.coefficients
        support = np.nonzero(theta)[0]
        bounded = (theta <= problem.lower) | (theta >= problem.upper)
        chosen = training.pairs[support]
        self.support_: Ints = training.given[support]
        self.support_bounded_: Bools = bounded[support]
        self.support_examples_: Ints = chosen.used_examples()
        bias = scale.centre + scale.size * solution.bias
        give_back(operation.held + solution.taken)
        self.function_ = PairFunction.of(operation.kernel, chosen, scale.size * theta[support], bias)
        self.plan_ = operation.used(max(solution.taken, theta.nbytes + held_bytes(self.function_, training.pairs)))
        self.path_ = solution.path
        note_features(self, training.pairs)
        self._record(solution, len(support), training.clock.seconds, resumes)

    def _record(self, solution: Solution | Outcome, n_support: int, seconds: float, resumes: str = WARM) -> None:
        """How the fit ended, with a word to the user unless it converged on something: `resumes` says how to go on."""
        self.kkt_gap_, self.fit_status_, self.objective_ = solution.gap, str(solution.status), solution.objective
        self.n_support_, self.n_iter_, self.history_ = n_support, len(solution.history), solution.history
        self.fit_seconds_ = seconds
        self.fit_verdict_ = self._verdict(solution)
        if solution.status is not Status.CONVERGED:
            resumes = ANEW if resumes == WARM and getattr(self, "path_", "").endswith(LATE) else resumes
            advice = ADVICE.get(solution.status, f"{worth(solution.gap, n_support)}, and {resumes}")
            if solution.status is Status.STALLED and getattr(self, "solver", "auto") != "auto":
                advice = BY_NAME
            warn_user(f"{self.fit_verdict_}; {advice.format(softer=self._softer)}", ConvergenceWarning)
        elif n_support == 0:
            warn_user(CONSTANT.format(value=self.function_.bias, harder=self._harder), ConstantWarning)
        elif self._harder and solution.spread <= FLAT * self.tol:
            words = HARDLY.format(spread=solution.spread, tol=self.tol, harder=self._harder)
            warn_user(words, ConstantWarning)

    def _verdict(self, solution: Solution | Outcome) -> str:
        """How the fit ended, in words: what stopped it where, and why so late if it took far more than its time."""
        if solution.status is Status.CONVERGED:
            return str(solution.status)
        end = "interrupted" if solution.status is Status.INTERRUPTED else f"stopped by {solution.status}"
        words = f"{end} at KKT gap {solution.gap:.3g} {'>' if solution.gap > self.tol else '≤'} tol = {self.tol:g}"
        if self.time_budget is None or self.fit_seconds_ <= 1.2 * self.time_budget + GRACE:
            return words
        late = f"{words}, after {self.fit_seconds_:.3g} s instead of {self.time_budget:g}"
        cause = f"one pass over all pairs takes {solution.pass_seconds:.2g} s"
        if CAUSE * solution.pass_seconds < self.fit_seconds_ - self.time_budget:
            return f"{late}: {cause} only; {SLOW}"
        return f"{late}: {cause} here; allow more time, or train on fewer pairs"

    # -- using

    def __sklearn_is_fitted__(self) -> bool:
        return "function_" in vars(self)

    @property
    def dual_coef_(self) -> Floats:
        """θ of the support pairs, (n_support,)."""
        return self.function_.coefficients

    @property
    def intercept_(self) -> float:
        """Bias b."""
        return self.function_.bias

    def decision_function(self, X: Any) -> Floats:
        """g of every pair, (n_pairs,)."""
        check_is_fitted(self, "function_")
        pairs = same_features(self, as_pairs(X))
        refuse_ignored_blocks(pairs, self.function_.kernel)
        return self.function_(pairs)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """g of every probe (left) with every gallery example (right), (p, g), by matrix products in bounded memory."""
        check_is_fitted(self, "function_")
        return self.function_.block(*check_sides(self, probe, gallery))

    def with_view(self, old: View, new: View) -> Self:
        """A fitted copy whose kernel looks at pairs through another view, which must show the same of them.

        A machine that was trained on features that came with its pairs can so compute them for new pairs.
        """
        check_is_fitted(self, "function_")
        function, machine = self.function_, copy.copy(self)
        seen = tuple((new if view == old else view, order, table) for view, order, table in function.seen)
        machine.function_ = replace(function, kernel=function.kernel.with_view(old, new), seen=seen)
        machine.kernel = pair_kernel(self.kernel).with_view(old, new)
        return machine


# --------------------------------------------------------------------------- from pairs to coefficients


def operation_for(machine: PairMachine, training: Training) -> Operation:
    """The Gram operator of the training pairs, planned within the machine's memory budget."""
    reserved = put_by(machine.checkpoint, len(training.pairs))
    operation = build(training.kernel, training.pairs, _grams(machine.base), machine.memory_budget, reserved)
    with np.errstate(all="ignore"):
        # Where values come block by block, this would be no small part of the fit; its end tells then.
        if not operation.operator.grows and not np.isfinite(operation.operator.largest):
            raise InputError(OVERFLOW)
    return replace(operation, operator=on_workers(operation.operator))


def solve(
    machine: PairMachine, problem: Problem, operation: Operation, start: Floats | None, clock: Clock, journey: Journey
) -> Solution:
    """The solution by the machine's solver, from `start` (None: zero), in the time that the clock has left."""
    seed = fresh_seed() if machine.random_state is None else machine.random_state
    memory, before = operation.plan.memory, journey.before
    solver = solver_for(machine.solver, machine.tol, clock.budget, memory, seed, before.begun, before.reached)
    found = solver.solve(problem, operation.operator, start, helped(operation.operator, journey.watch))
    return no_worse(found, problem, operation.operator, start, machine.tol)


@dataclass
class Helped(Keeper):
    """A callback that also stops a solver whose cluster is lost: its last coefficients are worth keeping."""

    operator: ClusterOperator
    callback: Callback | None

    def keep(self, theta: Floats, line: Progress, by: str) -> None:
        """Coefficients, for whoever keeps them."""
        if isinstance(self.callback, Keeper):
            self.callback.keep(theta, line, by)

    def __call__(self, line: Progress) -> bool:
        return self.operator.lost or (self.callback is not None and bool(self.callback(line)))


def helped(operator: PairOperator, callback: Callback | None) -> Callback | None:
    """The callback, told of a cluster where the products are made on one."""
    return Helped(operator, callback) if isinstance(operator, ClusterOperator) else callback


def fresh_seed() -> int:
    """Another seed each time: what `random_state=None` means, as everywhere in scikit-learn."""
    return int(np.random.SeedSequence().generate_state(1)[0])


# --------------------------------------------------------------------------- checks


def check_positive(machine: Any, **examples: str) -> None:
    """Refuse parameters that are not finite and > 0, or near overflow; `examples` names them with a value to try."""
    for name, example in examples.items():
        value = getattr(machine, name)
        if not is_positive(value):
            raise InputError(f"{name} must be a finite number > 0, got {value!r}; try {name}={example}")
        if value > LARGEST:
            advice = f"squares of it overflow; try {name}={example}"
            raise InputError(f"{name} must be at most {LARGEST:g}, got {value!r}: {advice}")


def _grams(base: Any) -> Grams:
    first, second = base if isinstance(base, tuple) else (base, base)
    return first if isinstance(first, Gram) else None, second if isinstance(second, Gram) else None
