"""Features whose inner products stand for a similarity, after its spectrum has been made definite."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels import as_kernel, inverse_root, spectrum_report
from pairlearn.similarities.bases import choose_bases, count_bases
from pairlearn.similarities.basis_expansion import is_precomputed, similarity_tags
from pairlearn.similarities.blocks import Batching, Block, Progress, evaluate, keep_bases, validated_examples
from pairlearn.types import Examples, Floats, Ints


class IndefiniteNystrom(TransformerMixin, BaseEstimator):
    """Nyström features of a symmetric similarity that need not be definite.

    Ψ(x) = f(K_mm)^(−½) [k(x, b₁), …, k(x, b_m)], f the treatment of the spectrum of K_mm, with a pseudo-inverse.
    Inner products of the bases are then K₊ for "clip", |K| for "flip", λ² / (λ − λ_min) per eigenvalue for "shift" and
    the projection on the range of K for "square". A definite similarity is not changed by clip and flip.

    Parameters
    ----------
    similarity : "rbf", …, "precomputed", a Kernel or a callable k(A, B) → matrix.
    n_bases, bases, batch_size, n_jobs, progress, random_state : as for BasisExpansion.
    treatment : "clip", "flip", "shift" or "square".
    symmetrise : use ½(k(a, b) + k(b, a)), the explicit choice for an asymmetric k; without it one is refused.
    tol : eigenvalues below this share of the largest are left out; None is 1e-10 (more for float32).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> psi = IndefiniteNystrom(lambda A, B: -abs(A - B.T), treatment="flip").fit_transform(X)
    >>> bool(np.linalg.eigvalsh(psi @ psi.T).min() > -1e-12)
    True
    """

    def __init__(
        self,
        similarity: Any = "rbf",
        n_bases: int | None = None,
        bases: Any = "random",
        treatment: Literal["clip", "flip", "shift", "square"] = "clip",
        symmetrise: bool = False,
        tol: float | None = None,
        batch_size: int | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.n_bases = n_bases
        self.bases = bases
        self.treatment = treatment
        self.symmetrise = symmetrise
        self.tol = tol
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the bases and treat the spectrum of their similarities; y only for bases per class."""
        if self.symmetrise and is_precomputed(self.similarity):
            raise InputError("new rows of a precomputed matrix have one direction; symmetrise the matrix beforehand")
        examples = validated_examples(self, X, reset=True)
        n = count_examples(examples)
        n_bases = count_bases(self.n_bases, n) if isinstance(self.bases, str) else 0
        kernel = as_kernel(self.similarity).resolved(examples)

        def compare(index: Ints) -> Floats:
            return self._similarities(self._blocks(kernel, examples, index), take_examples(examples, index))

        rng = check_random_state(self.random_state)
        self.basis_index_ = choose_bases(self.bases, n_bases, n, y, compare, rng)
        self.blocks_ = self._blocks(kernel, examples, self.basis_index_)
        K = compare(self.basis_index_)
        self.spectrum_ = spectrum_report(K, self.tol)
        self.whitening_ = inverse_root(K, self.treatment, self.tol)
        return self

    def transform(self, X: Any) -> Floats:
        """Features Ψ, shape (n, number of bases)."""
        check_is_fitted(self, "whitening_")
        examples = validated_examples(self, X, reset=False)
        return self._similarities(self.blocks_, examples) @ self.whitening_

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names indefinitenystrom0, indefinitenystrom1, …"""
        check_is_fitted(self, "whitening_")
        return np.array([f"indefinitenystrom{i}" for i in range(len(self.basis_index_))], dtype=object)

    def _blocks(self, kernel: Any, examples: Examples, index: Ints) -> tuple[Block, ...]:
        kept = keep_bases(kernel, examples, index)
        directions = (False, True) if self.symmetrise else (False,)
        return tuple(Block(kernel, kept, index, basis_first) for basis_first in directions)

    def _similarities(self, blocks: tuple[Block, ...], examples: Examples) -> Floats:
        batching = Batching(self.batch_size, self.n_jobs, self.progress)
        parts = np.split(evaluate(blocks, examples, batching, np.float64), len(blocks), axis=1)
        return parts[0] if len(parts) == 1 else 0.5 * (parts[0] + parts[1])

    def __sklearn_tags__(self) -> Any:
        return similarity_tags(super().__sklearn_tags__(), self.similarity)
