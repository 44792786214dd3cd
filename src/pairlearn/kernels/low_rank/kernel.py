"""The wish for a kernel of low rank, or of a similarity that is none, and the kernel that it becomes at fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.linalg import solve_triangular

from pairlearn.errors import ApproximationWarning, InputError, warn_user
from pairlearn.examples import count_examples, take_examples, widened
from pairlearn.kernels.base import Kernel
from pairlearn.kernels.content import ByContent, table_content
from pairlearn.kernels.gram import check_definite, gram_matrix
from pairlearn.kernels.low_rank.landmarks import ORDERS, Candidates, blocks
from pairlearn.kernels.rows import squared_norms
from pairlearn.kernels.spectrum import rounding
from pairlearn.linalg.tiles import gram, product
from pairlearn.types import Examples, Floats, Ints
from pairlearn.words import counted

HELD, LEAST_HELD = 500, 30
"""Examples on which the error is estimated, at most, and the fewest that are worth being kept from the landmarks."""
LOOKED, TIMES = 5000, 5
"""Landmarks are chosen among so many examples, or among so many times their number, drawn at random."""


@dataclass(frozen=True)
class LowRank(Kernel):
    """k(a, b) ≈ ⟨z(a), z(b)⟩ with at most `rank` features z: m examples take m · rank numbers instead of m².

    At fit, `rank` training examples become landmarks B and z(x) = W k(B, x) with K_BB = (WᵀW)⁻¹, so that the kernel is
    exact between a landmark and any example (Nyström). What it becomes is a `Nystrom`, which knows its `error`: the
    share trace(K − ZZᵀ) / trace(K) that the features miss, on at most 500 training examples that could not become
    landmarks (on all examples where fewer than 30 can be spared). With `tol` it takes no more landmarks than bring that
    below `tol`, in the order in which they were chosen, `rank` at most.

    `landmarks` are chosen among 5,000 examples, or 5 · rank: "uniform", at random; "kmeans++", far from each other;
    "leverage", by approximate ridge leverage scores; "pivoted", always the example that is represented worst, which
    knows no chance but may spend landmarks on outliers. `seed` settles what is random.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> kernel = LowRank("rbf", rank=40, landmarks="pivoted").resolved(X)
    >>> kernel.features(X).shape, kernel.error < 0.02
    ((200, 40), True)
    """

    kernel: Kernel
    rank: int = 500
    landmarks: Literal["uniform", "kmeans++", "leverage", "pivoted"] = "uniform"
    tol: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        from pairlearn.kernels.named import as_kernel  # which lists this kernel too

        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        _check_landmarks(self.kernel, self.rank, self.seed)
        if self.kernel.definite is False:
            raise InputError(
                f"{self.kernel!r} is not positive semidefinite, so that it has no features; treat its spectrum with "
                "pl.similarities.IndefiniteNystrom, or take pl.kernels.Clipped"
            )
        if self.landmarks not in ORDERS:
            raise InputError(f"landmarks is {', '.join(map(repr, ORDERS))}, got {self.landmarks!r:.40}")
        if self.tol is not None and not (isinstance(self.tol, (int, float, np.number)) and 0 < self.tol < 1):
            raise InputError(f"tol is an error, 0 < tol < 1, or None, got {self.tol!r:.40}; try tol=0.01")

    def resolved(self, examples: Examples) -> Kernel:
        m = count_examples(examples)
        if not m:
            raise InputError("there are no examples to choose landmarks from; give at least one")
        kernel, rng = self.kernel.resolved(examples), np.random.default_rng(self.seed)
        spared = min(HELD, (m - self.rank) // 2)
        spared = spared if spared >= LEAST_HELD else 0
        drawn = rng.permutation(m)
        held = _taken(examples, drawn[:spared]) if spared else widened(examples)
        candidates = _taken(examples, drawn[spared:][: max(LOOKED, TIMES * self.rank)])
        order = ORDERS[self.landmarks](Candidates(kernel, candidates), min(self.rank, count_examples(candidates)), rng)
        return self._on(kernel, take_examples(candidates, order), held)

    def _on(self, kernel: Kernel, landmarks: Examples, held: Examples) -> Nystrom:
        """The kernel with the first of these landmarks, as many as are needed."""
        K = gram_matrix(kernel, landmarks, np.arange(count_examples(landmarks)))
        check_definite(kernel, K)
        if self.tol is not None:
            n = least_rank(K, kernel, landmarks, held, self.tol)
            K, landmarks = K[:n, :n], take_examples(landmarks, np.arange(n))
        made = Nystrom(kernel, landmarks, whitening(K), 0.0)
        made = replace(made, error=trace_error(made, held))
        if self.tol is not None and made.error > self.tol:
            warn_user(
                f"{counted(len(K), 'landmark')} leave an error of {made.error:.2g}, more than tol={self.tol:g}; raise "
                "rank, or tol",
                ApproximationWarning,
            )
        return made

    def __call__(self, A: Examples, B: Examples) -> Floats:
        raise InputError("landmarks are chosen at fit; call kernel.resolved(examples) first")

    def diag(self, A: Examples) -> Floats:
        return self(A, A)


@dataclass(frozen=True)
class Clipped(Kernel):
    """A symmetric similarity that is no kernel, as one: what is positive of it between `rank` training examples.

    With K_BB = UΛUᵀ of random landmarks B, z(x) = Λ₊^(−½) U₊ᵀ k(B, x) over the eigenvalues that are larger than the
    most negative one is long, for those below tell no more than it does. At fit it becomes a `Nystrom` whose `error` is
    the share Σ|λ| that is left out. So alignment of images is a base like any other, also in a search:
    `Clipped(Shaped(Rigid(1), (4, 4, 31)))` on rows of `pl.images.Hog`.

    >>> import numpy as np
    >>> from pairlearn.kernels import FromFunction
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> near = FromFunction(lambda A, B: (np.abs(A - B.T) < 0.2).astype(float), definite=False)
    >>> K = Clipped(near).resolved(X)(X, X)
    >>> bool(np.linalg.eigvalsh(near(X, X))[0] < -0.5), bool(np.linalg.eigvalsh(K)[0] > -1e-12)
    (True, True)
    """

    kernel: Kernel
    rank: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        from pairlearn.kernels.named import as_kernel  # which lists this kernel too

        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        _check_landmarks(self.kernel, self.rank, self.seed)

    def resolved(self, examples: Examples) -> Kernel:
        kernel, m = self.kernel.resolved(examples), count_examples(examples)
        landmarks = _taken(examples, np.random.default_rng(self.seed).permutation(m)[: self.rank])
        K = gram_matrix(kernel, landmarks, np.arange(count_examples(landmarks)))
        W = whitening(K)
        if not W.size:
            raise InputError(f"{kernel!r} is more negative than positive on these examples; is it a distance?")
        kept = 1.0 / np.sum(W**2, axis=0)  # the columns of W have the length λ^(−½)
        left_out = 1.0 - float(kept.sum() / np.abs(np.linalg.eigvalsh(K)).sum())
        return Nystrom(kernel, landmarks, W, float(np.clip(left_out, 0.0, 1.0)))

    def __call__(self, A: Examples, B: Examples) -> Floats:
        raise InputError("landmarks are chosen at fit; call kernel.resolved(examples) first")

    def diag(self, A: Examples) -> Floats:
        return self(A, A)


def _check_landmarks(kernel: Kernel, rank: int, seed: int) -> None:
    """Refuse kernels that have no landmarks, and what is no number of them."""
    if kernel.precomputed:
        raise InputError(
            "the matrix of a precomputed kernel is in memory already, so that a low rank saves none; use it as it is"
        )
    if len(kernel.sides) > 1:
        raise InputError("each of two domains has landmarks of its own: (LowRank(left), LowRank(right))")
    for name, value, least in (("rank", rank, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"{name} must be a whole number ≥ {least}, got {value!r:.40}; try {name}=300")


def _taken(examples: Examples, places: Ints) -> Examples:
    """These rows in their order, in float64."""
    return widened(take_examples(examples, np.sort(places)))


@dataclass(frozen=True, eq=False, repr=False)
class Nystrom(ByContent, Kernel):
    """⟨z(a), z(b)⟩ with z(x) = Wᵀ k(B, x): what `LowRank` becomes on training examples.

    `landmarks` are the b examples B, `whitening` is W (b, r) with WWᵀ = K_BB⁻¹, or the pseudo-inverse; r < b where
    landmarks repeat each other. `error` is the share of k(x, x) that the features of other examples miss.

    >>> import numpy as np
    >>> from pairlearn.kernels import Linear
    >>> kernel = Nystrom(Linear(), np.array([[2.0, 0.0]]), np.array([[0.5]]), 0.5)
    >>> kernel(np.array([[3.0, 4.0]]), np.array([[5.0, 6.0]])).tolist()
    [[15.0]]
    """

    kernel: Kernel
    landmarks: Examples
    whitening: Floats
    error: float
    by_column = False

    def features(self, A: Examples) -> Floats:
        """z of every example, (len(A), r) float64, some rows after the other: no more than the result is held."""
        n, (b, r) = count_examples(A), self.whitening.shape
        Z = np.empty((n, r))
        for rows in blocks(n, b):
            part = widened(A if len(rows) == n else take_examples(A, rows))
            values = np.asarray(self.kernel(part, self.landmarks), dtype=np.float64)
            product(values, self.whitening, out=Z[rows[0] : rows[-1] + 1])
        return Z

    def __call__(self, A: Examples, B: Examples) -> Floats:
        Z = self.features(A)
        return gram(Z) if A is B else product(Z, self.features(B).T)

    def diag(self, A: Examples) -> Floats:
        return squared_norms(self.features(A))

    def _content(self) -> Iterator[Any]:
        yield f"{self.kernel!r} {self.error!r}".encode()
        yield from table_content(self.landmarks)
        yield from table_content(self.whitening)

    def _summary(self) -> str:
        return f"{self.kernel!r}, rank {self.whitening.shape[1]}, error {self.error:.2g}"


# --------------------------------------------------------------------------- what landmarks know


def whitening(K: Floats) -> Floats:
    """W (b, r) with WWᵀ the pseudo-inverse of K (b, b); r < b where eigenvalues are rounding, or below −λ_min.

    >>> whitening(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5], [0.0]]
    """
    values, U = np.linalg.eigh(K)
    known = values > max(rounding(K) * float(values[-1]), -float(values[0]), 0.0)
    return np.ascontiguousarray(U[:, known] / np.sqrt(values[known]))


def trace_error(made: Nystrom, held: Examples) -> float:
    """Σ (k(x, x) − ‖z(x)‖²) / Σ k(x, x) over these examples, from 0 to 1; 0 where all k(x, x) are 0."""
    own = np.asarray(made.kernel.diag(held), dtype=np.float64)
    left = own - made.diag(held)
    if left.min() < -1e-6 * own.max():
        raise InputError(
            "the base kernel is not positive semidefinite: features of landmarks say more of an example than "
            "k(x, x); treat its spectrum with pl.similarities.IndefiniteNystrom"
        )
    return float(np.clip(left.sum() / own.sum(), 0.0, 1.0)) if own.sum() > 0 else 0.0


def least_rank(K: Floats, kernel: Kernel, landmarks: Examples, held: Examples, tol: float) -> int:
    """How many of the landmarks, whose Gram matrix is K (b, b), bring the error on other examples below tol; else b.

    With K = LLᵀ and V = L⁻¹ k(B, x) the first t landmarks miss k(x, x) − Σ_{s ≤ t} V_s(x)²: one factor tells the error
    of every t. A little on the diagonal keeps repeated landmarks from breaking it; errors become a little larger.
    """
    own = float(np.sum(kernel.diag(held)))
    values = np.linalg.eigvalsh(K)
    lift = rounding(K) * (float(values[-1]) or 1.0) - 2.0 * min(float(values[0]), 0.0)
    L, known = np.linalg.cholesky(K + lift * np.eye(len(K))), np.zeros(len(K))
    for rows in blocks(count_examples(held), len(K)):
        V = solve_triangular(L, kernel(widened(take_examples(held, rows)), landmarks).T, lower=True)
        known += np.einsum("ij,ij->i", V, V)
    enough = np.cumsum(known) >= (1.0 - tol) * own
    enough[-1] = True
    return int(enough.argmax()) + 1
