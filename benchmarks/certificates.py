"""Is every certificate true? 500 random problems against a dense recomputation of their own kernels, in more digits.

Scales of examples from 1e-8 to 1e8, contradictory pairs, weights (some 0), float32, C from 1e-4 to 1e6, every pair
kernel on every base, all machines, every solver that takes the kernel. The twin below knows nothing of the library:
kernels by definition, in long double, from the numbers that the user gave. Gap, objective and bias may differ by what
rounding explains,

    ROUNDING · ε · Σ_j M_ij |θ_j|,

where M is the kernel with every product taken by its absolute value: what float64 adds up on the way to K.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, timed
from pairlearn.errors import InputError

PROBLEMS = 500
PER_ROW = 50
QUICK = 5
"""Problems of a row in a quick run."""
BUDGET = 3.0
LIMIT = 1.2 * BUDGET + 2.0
"""Seconds that a fit may take with this budget."""
TOL = 1e-3
ROUNDING = 8.0
"""Roundings on the way from two examples to a product with θ, about."""
EPS = float(np.finfo(float).eps)
Wide = np.longdouble

# --------------------------------------------------------------------------- the twin: kernels by definition


def linear(X: Any) -> tuple[Any, Any]:
    """⟨a, b⟩ and Σ|a_i b_i|."""
    return X @ X.T, np.abs(X) @ np.abs(X).T


def squared(X: Any) -> tuple[Any, Any]:
    K, size = linear(X)
    return K**2, size**2


def gaussian(X: Any) -> tuple[Any, Any]:
    """exp(−γ‖a − b‖²); the exponent's rounding is that of the norms it is made of, wherever the origin is."""
    K, size = linear(X - X.mean(axis=0))
    own = np.diagonal(K)
    gamma = 1 / (X.shape[1] * X.var()) if X.var() > 0 else Wide(1)
    values = np.exp(-gamma * (own[:, None] + own - 2 * K))
    return values, values * (1 + gamma * (own[:, None] + own + 2 * size))


def cosine(X: Any) -> tuple[Any, Any]:
    norms = np.sqrt((X**2).sum(axis=1))
    K, size = linear(X / np.where(norms > 0, norms, 1)[:, None])
    return K, size


def standardised(X: Any) -> tuple[Any, Any]:
    """Differences from the mean carry the rounding of the numbers themselves."""
    mean, spread = X.mean(axis=0), X.std(axis=0)
    inverse = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1), 0)
    Z, size = (X - mean) * inverse, (np.abs(X) + np.abs(mean)) * inverse
    return Z @ Z.T, size @ size.T


BASES: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "linear": linear,
    "poly": squared,
    "rbf": gaussian,
    "cosine": cosine,
    "standardised": standardised,
}
KERNELS: dict[str, Callable[..., Any]] = {
    "direct_sum": lambda s, ac, ad, bc, bd: (ac + ad + bc + bd) / 2,
    "difference": lambda s, ac, ad, bc, bd: (ac - s * ad - s * bc + bd) / 2,
    "tensor": lambda s, ac, ad, bc, bd: (ac * bd + ad * bc) / 2,
    "wedge": lambda s, ac, ad, bc, bd: (ac * bd - s * ad * bc) / 2,
    "metric": lambda s, ac, ad, bc, bd: ((ac - s * ad - s * bc + bd) / 2) ** 2,
    "wedge_squared": lambda s, ac, ad, bc, bd: ((ac * bd - s * ad * bc) / 2) ** 2,
    "poly_direct_sum": lambda s, ac, ad, bc, bd: (ac + bd + 1) ** 2,
    "poly_tensor": lambda s, ac, ad, bc, bd: (ac * bd + 1) ** 2,
}
KERNELS |= {
    "direct_metric": lambda *look: KERNELS["direct_sum"](*look) + KERNELS["metric"](*look),
    "tensor_metric": lambda *look: KERNELS["tensor"](*look) + KERNELS["metric"](*look),
}
"""Every pair kernel of the library; s = 1, or −1 to add up sizes where values are subtracted."""
ANTISYMMETRIC = ("difference", "wedge")
ONE_SIDED = ("poly_direct_sum", "poly_tensor")
"""Neither symmetric nor antisymmetric: these are trained on both orders of every pair."""


def matrices(kernel: str, base: str, X: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """K of all pairs with each other, and what was added up on the way, in long double."""

    def look(matrix: Any) -> list[Any]:
        return [matrix[np.ix_(row, col)] for row in (left, right) for col in (left, right)]

    values, sizes = BASES[base](X.astype(Wide))
    return KERNELS[kernel](1, *look(values)), KERNELS[kernel](-1, *look(sizes))


# --------------------------------------------------------------------------- random problems


@dataclass(frozen=True)
class Case:
    """One random problem: what a user would pass, and what is to be solved of it."""

    kind: str
    kernel: str
    base: str
    C: float
    solver: str
    mirrored: Any
    X: Any
    left: Any
    right: Any
    y: Any
    weights: Any

    @property
    def sign(self) -> int:
        """−1 where g(b, a) = −g(a, b)."""
        return -1 if self.kind == "ranker" or self.kernel in ANTISYMMETRIC or self.mirrored == "antisymmetric" else 1


def random_case(number: int) -> Case:
    """The problem of this number, always the same."""
    rng = np.random.default_rng(number)
    kind = ("svc", "svr", "ranker", "one class")[number % 4]
    names = [name for name in KERNELS if (name in ANTISYMMETRIC + ONE_SIDED) == (kind == "ranker")]
    kernel = str(rng.choice([*names, *ONE_SIDED] if kind != "svr" else list(KERNELS)))
    mirrored: Any = kernel in ONE_SIDED
    if mirrored and kind == "svr":
        mirrored = str(rng.choice(["symmetric", "antisymmetric"]))
    n, m, d = int(rng.integers(30, 401)), int(rng.integers(8, 61)), int(rng.integers(1, 13))
    X = rng.normal(size=(m, d)) * 10.0 ** rng.integers(-8, 9) + rng.choice([0.0, 0.0, 1.0])
    X = X.astype(np.float32) if rng.random() < 0.4 else X
    left = rng.integers(0, m, n)
    right = (left + rng.integers(1, m, n)) % m
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0) if kind != "one class" else np.ones(n)
    if rng.random() < 0.5 and kind in ("svc", "ranker"):  # something to learn instead of contradictions alone
        y = np.where(X[left, 0] > X[right, 0], 1.0, -1.0)
    y[:2] = 1.0, (1.0 if kind == "one class" else -1.0)
    y = y * 10.0 ** rng.integers(-8, 9) * rng.random(n) if kind == "svr" else y
    weights = rng.random(n) * 10.0 ** rng.uniform(-3, 3, n) if rng.random() < 0.5 else np.ones(n)
    weights[2:][rng.random(n - 2) < rng.choice([0.0, 0.2])] = 0.0
    base, solver = str(rng.choice(list(BASES))), SOLVERS[int(rng.integers(len(SOLVERS)))]
    base = "linear" if solver in ("newton", "interior") else base  # others have no features of pairs
    C = float(10 ** rng.uniform(-4, 6))
    kept = firsts(left, right) if solver == "splitting" else np.arange(n)
    return Case(kind, kernel, base, C, solver, mirrored, X, left[kept], right[kept], y[kept], weights[kept])


def firsts(left: Any, right: Any) -> Any:
    """Each pair once, in whatever order it comes: splitting takes no other, here with both labels among the first."""
    pairs = np.sort(np.stack([left, right], axis=1), axis=1)
    return np.sort(np.unique(pairs, axis=0, return_index=True)[1])


SOLVERS = ("auto", "active_set", "nested", "newton", "interior", "splitting", "smo")
"""Each of them for about as many problems; what cannot take a kernel leaves it to "auto"."""
UNFIT = ("solver=", "antisymmetric matrix")
"""Words of a refusal that is about the solver."""


def fitted(case: Case) -> tuple[Any, str]:
    """The library's model of this problem, and the solver that took it."""
    try:
        return fitted_by(case, case.solver), case.solver
    except InputError as error:
        if not any(words in str(error) for words in UNFIT):
            raise
    return fitted_by(case, "auto"), "auto"


def fitted_by(case: Case, solver: str) -> Any:
    """By this solver."""
    options: dict[str, Any] = {
        "kernel": case.kernel,
        "base": case.base,
        "solver": solver,
        "mirrored": case.mirrored,
        "tol": TOL,
        "time_budget": BUDGET,
        "random_state": 0,
    }
    machine: Any = {"svc": pl.PairSVC, "svr": pl.PairSVR, "ranker": pl.PairRanker, "one class": pl.OneClassPairSVM}
    options |= {"nu": 0.3} if case.kind == "one class" else {"C": case.C}
    y = None if case.kind == "one class" else case.y
    return machine[case.kind](**options).fit(pl.Pairs(case.X, case.left, case.right), y, sample_weight=case.weights)


# --------------------------------------------------------------------------- the twin: what is to be certified


@dataclass(frozen=True)
class Stated:
    """min ½θᵀKθ − pᵀθ + ε‖θ‖₁ over lower ≤ θ ≤ upper, for the pairs (left, right); `scale` and `centre` of targets."""

    left: Any
    right: Any
    p: Any
    lower: Any
    upper: Any
    epsilon: float
    constrained: bool
    scale: float = 1.0
    centre: float = 0.0


def stated(case: Case) -> Stated:
    """The problem in the order in which it was given."""
    boxes, y, sign = case.C * case.weights, case.y, case.sign
    if case.kind == "one class":
        zero = np.zeros(len(y))
        return Stated(case.left, case.right, zero, zero, case.weights, 0.0, True)
    if case.kind != "svr":
        bounds = np.minimum(0, y * boxes), np.maximum(0, y * boxes)
        return Stated(case.left, case.right, y, *bounds, 0.0, sign > 0)
    centre = np.sum(case.weights * y) / case.weights.sum() if sign > 0 else 0.0
    scale = np.sqrt(np.sum(case.weights * (y - centre) ** 2) / case.weights.sum())
    return Stated(
        case.left, case.right, (y - centre) / scale, -boxes, boxes, 0.1, sign > 0, float(scale), float(centre)
    )


def both_orders(one: Stated, sign: int) -> Stated:
    """Every pair and its mirror image with half the box each; none of these pairs is reflexive."""
    lower, upper = (one.lower, one.upper) if sign > 0 else (-one.upper, -one.lower)
    return Stated(
        np.concatenate([one.left, one.right]),
        np.concatenate([one.right, one.left]),
        np.concatenate([one.p, sign * one.p]),
        np.concatenate([0.5 * one.lower, 0.5 * lower]),
        np.concatenate([0.5 * one.upper, 0.5 * upper]),
        one.epsilon,
        True,
        one.scale,
        one.centre,
    )


def coefficients(case: Case, problem: Stated, model: Any) -> Any:
    """θ of every pair of the problem from the support pairs of the model, which know their row and their order."""
    theta, n = np.zeros(len(problem.p)), len(case.left)
    ends = model.support_examples_[model.function_.left]
    twin = (ends != case.left[model.support_]) & bool(case.mirrored)
    theta[model.support_ + n * twin] = model.dual_coef_ / problem.scale
    return theta


@dataclass(frozen=True)
class Recomputed:
    """Gap and objective of θ, and the biases that are as good as each other."""

    gap: float
    objective: float
    biases: tuple[float, float]


def recomputed(problem: Stated, K: Any, x: Any, bits: int) -> Recomputed:
    """By the definition of LIBSVM's largest violation.

    θ that went through the units of targets and back, or keeps a sum, may be off a bound by some last bits: it counts
    as being there.
    """
    v, eps = problem.p - K @ x, problem.epsilon
    at_upper = (x >= problem.upper * (1 - bits * EPS)) & ((problem.upper > 0) | (x >= 0))
    at_lower = (x <= problem.lower * (1 - bits * EPS)) & ((problem.lower < 0) | (x <= 0))
    up = np.where(at_upper, -np.inf, v - np.where(x >= 0, eps, -eps))
    low = np.where(at_lower, np.inf, v - np.where(x > 0, eps, -eps))
    highest, lowest = float(up.max()), float(low.min())
    gap = max(0.0, highest - lowest) if problem.constrained else max(0.0, highest, -lowest)
    free = ~at_upper & ~at_lower & ((x != 0) | (eps == 0))
    mean = float(up[free].mean()) if free.any() else None
    ends = (min(highest, lowest), max(highest, lowest)) if mean is None else (mean, mean)
    return Recomputed(gap, float(-0.5 * x @ (problem.p + v) + eps * np.abs(x).sum()), ends)


def excess_loss(problem: Stated, K: Any, x: Any, bias: float) -> float:
    """The loss of the function of θ with this bias above the least of any, which is at one of its kinks."""
    v, eps, total = (problem.p - K @ x).astype(float), problem.epsilon, float(x.sum())
    r = v - np.concatenate([v - eps, v + eps, [bias]])[:, None]
    gains = np.maximum(problem.upper * (r - eps), problem.lower * (r + eps))
    losses = np.maximum(0.0, gains).sum(axis=1) + total * (v[0] - r[:, 0])
    return float(losses[-1] - losses.min())


def compared(case: Case, model: Any) -> dict[str, float]:
    """How far the certificate is from the recomputed one, in units of what rounding explains; and the true gap."""
    problem = both_orders(stated(case), case.sign) if case.mirrored else stated(case)
    used = np.unique(np.concatenate([case.left, case.right]))
    places = np.searchsorted(used, problem.left), np.searchsorted(used, problem.right)
    K, size = matrices(case.kernel, case.base, case.X[used], *places)
    theta = coefficients(case, problem, model)
    # The solver may have seen a coefficient at its bound or just beside it: both are true.
    twins = [recomputed(problem, K, theta, bits) for bits in (4, 0)]
    found = min(twins, key=lambda twin: abs(model.kkt_gap_ - twin.gap))
    off = ROUNDING * EPS * (size @ np.abs(theta) + np.abs(problem.p) + abs(problem.centre / problem.scale))
    allowed, bias = 2 * float(off.max()), (model.intercept_ - problem.centre) / problem.scale
    ends = min(twin.biases[0] for twin in twins), max(twin.biases[1] for twin in twins)
    outside = max(0.0, ends[0] - bias, bias - ends[1]) if problem.constrained else abs(bias)
    off_bias = outside / allowed
    if problem.constrained and found.gap > model.tol:  # a fit that was stopped keeps the bias of the least loss
        boxes = float(np.maximum(problem.upper, -problem.lower).sum())
        off_bias = min(off_bias, excess_loss(problem, K, theta, float(bias)) / (allowed * boxes))
    return {
        "gap": found.gap,
        "allowed": allowed,
        "off_gap": abs(model.kkt_gap_ - found.gap) / allowed,
        "off_objective": abs(model.objective_ - found.objective) / max(float(off @ np.abs(theta)), 1e-300),
        "off_bias": off_bias,
    }


# --------------------------------------------------------------------------- rows


def checked(number: int) -> dict[str, Any]:
    """One problem: status, seconds and how far its certificate is off."""
    case = random_case(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            seconds, (model, solver) = timed(lambda: fitted(case))
        except InputError as error:
            return {"number": number, "status": "refused", "message": str(error), "seconds": 0.0}
    found = compared(case, model)
    honest = (
        found["gap"] <= TOL + found["allowed"]
        if model.fit_status_ == "converged"
        else found["gap"] > TOL - found["allowed"]
    )
    known = {"number": number, "solver": solver, "status": model.fit_status_, "seconds": seconds}
    return {**known, "honest": bool(honest), **found}


def part(first: int, quick: bool) -> dict[str, Any]:
    """Counts and worst figures of some problems, and those that are not as they should be."""
    checked(first)  # compile outside of what is timed
    problems = [checked(number) for number in range(first, first + (QUICK if quick else PER_ROW))]
    solved = [problem for problem in problems if problem["status"] != "refused"]
    return {
        "statuses": dict(Counter(problem["status"] for problem in problems)),
        "solvers": dict(Counter(problem["solver"] for problem in solved)),
        **{name: max(problem[name] for problem in solved) for name in (*WORST, "seconds")},
        "untrue": [problem for problem in solved if not problem["honest"]],
        "late": [problem for problem in solved if problem["seconds"] > LIMIT],
        "unnamed": [p for p in problems if p["status"] == "refused" and "scale" not in p["message"]],
        "beyond": sum(problem["allowed"] > TOL for problem in solved),
    }


WORST = ("off_gap", "off_objective", "off_bias")
ROWS = {f"problems_{first}": partial(part, first) for first in range(0, PROBLEMS, PER_ROW)}


def figures(rows: list[dict[str, Any]], quick: bool) -> list[Figure]:
    """The goals."""
    statuses, solvers = (sum((Counter(row[key]) for row in rows), Counter[str]()) for key in ("statuses", "solvers"))

    def count(name: str) -> int:
        return sum(len(row[name]) for row in rows)

    def worst(name: str) -> float:
        return float(max(row[name] for row in rows))

    return [
        Figure("problems", statuses.total(), f">= {len(ROWS) * QUICK if quick else PROBLEMS}"),
        *(Figure(f"status {name}", number) for name, number in statuses.most_common()),
        *(Figure(f"solver {name}", number) for name, number in solvers.most_common()),
        *(Figure(f"{name[4:]} off, in roundings allowed", worst(name), "<= 1") for name in WORST),
        Figure("statuses that are not true", count("untrue"), "== 0"),
        Figure("problems whose rounding is above the tolerance", sum(row["beyond"] for row in rows)),
        Figure(f"fits that took more than {LIMIT:.2g} s", count("late"), "== 0"),
        Figure("longest fit, s", worst("seconds")),
        Figure("refusals that do not name the scale", count("unnamed"), "== 0"),
    ]


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, ROWS)
    sys.exit(print_figures(figures(list(results.values()), is_quick)))
