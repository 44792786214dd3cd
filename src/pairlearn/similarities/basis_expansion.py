"""Any similarity as features: how much an example resembles each of some basis examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels import Kernel, as_kernel
from pairlearn.similarities.bases import choose_bases, count_bases
from pairlearn.similarities.blocks import (
    Batching,
    Block,
    Progress,
    evaluate,
    keep_bases,
    name_of,
    validated_examples,
)
from pairlearn.types import Bools, Examples, Floats, Ints

DIRECTIONS: dict[str, tuple[bool, ...]] = {"to_bases": (False,), "from_bases": (True,), "both": (False, True)}


class BasisExpansion(TransformerMixin, BaseEstimator):
    """Similarities to B basis examples as features; the similarity need not be symmetric or definite.

    φ̃(x) = [k(x, b₁), …, k(x, b_B)],   φ = (φ̃ − mean φ̃) / (mean ‖φ̃ − mean φ̃‖), means over the training examples.

    The basis is the second argument: a callable or Kernel is called as k(X, bases) and gives a (n, B) matrix, as are
    the columns of the bases in a precomputed matrix (rows × training examples), symmetric or not.

    Parameters
    ----------
    similarity : "rbf", "linear", "poly", "cosine", "precomputed", a Kernel, a callable k(A, B) → matrix, or a list of
        these: the normalised features of all are put side by side. For k(a, b) → number: FromFunction(k, scalar=True).
    n_bases : number of bases; None is all training examples, at most 1000.
    bases : "random", "index" (evenly along the rows), "medoids" (k-medoids on the similarity), "per_class" (as many of
        each class, at random), "medoids_per_class", or an array of row numbers (then n_bases is None).
    normalise : "be" (above), "z" (every feature to mean 0 and variance 1) or "none".
    direction : "to_bases" is k(x, b), "from_bases" k(b, x), "both" has both, each normalised for itself.
    shared : several similarities share their bases (medoids: those of the first one), or choose their own.
    dtype : float64 or float32, of the features.
    batch_size : examples per batch; None keeps a batch within 64 MB.
    n_jobs : threads over batches.
    progress : called with a Done(done, total) after every batch.
    random_state : seed of the choice of bases.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> from pairlearn.similarities.basis_expansion import BasisExpansion
    >>> overlap = pl.kernels.FromFunction(lambda a, b: len(set(a) & set(b)), scalar=True)
    >>> words = ["pair", "pear", "learn", "kernel"]
    >>> expansion = BasisExpansion(overlap, bases=[0, 3], normalise="none").fit(words)
    >>> expansion.transform(["rain", "bee"]).tolist()
    [[3.0, 2.0], [0.0, 1.0]]
    >>> expansion.get_feature_names_out().tolist()
    ['similarity(x, 0)', 'similarity(x, 3)']

    Pairs of words, on an indefinite similarity:

    >>> pairs = pl.OnExamples(BasisExpansion(overlap)).fit_transform(pl.all_pairs(words, reflexive=False))
    >>> pl.PairSVC(base="linear").fit(pairs, [1, -1, -1, -1, -1, 1]).fit_status_
    'converged'
    """

    def __init__(
        self,
        similarity: Any = "rbf",
        n_bases: int | None = None,
        bases: Any = "random",
        normalise: Literal["be", "z", "none"] = "be",
        direction: Literal["to_bases", "from_bases", "both"] = "to_bases",
        shared: bool = True,
        dtype: Any = np.float64,
        batch_size: int | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.n_bases = n_bases
        self.bases = bases
        self.normalise = normalise
        self.direction = direction
        self.shared = shared
        self.dtype = dtype
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    # -- learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the bases and learn mean and scale of the similarities to them; y only for bases per class."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit and return the features of the training examples, (n, B), without evaluating them twice."""
        return self.fit_examples(validated_examples(self, X, reset=True), y)

    def fit_examples(self, examples: Examples, y: Any, weights: Floats | None = None) -> Floats:
        """The same for examples that were checked; weights (n,) count in mean and scale as copies would."""
        self._check()
        kernels = [kernel.resolved(examples) for kernel in self._kernels()]
        self.blocks_ = self._choose(kernels, examples, y)
        raw = evaluate(self.blocks_, examples, self._batching(), self.dtype)
        widths = [len(block) for block in self.blocks_]
        parts = np.split(raw, np.cumsum(widths)[:-1], axis=1)
        moments = [NORMALISATIONS[self.normalise](part, weights) for part in parts]
        self.mean_ = np.concatenate([mean for mean, _ in moments])
        self.scale_ = np.concatenate([scale for _, scale in moments])
        return self._normalised(raw)

    def _choose(self, kernels: list[Kernel], examples: Examples, y: Any) -> tuple[Block, ...]:
        n = count_examples(examples)
        given = not isinstance(self.bases, str)
        n_bases = len(np.atleast_1d(self.bases)) if given else count_bases(self.n_bases, n)
        rng = check_random_state(self.random_state)
        blocks, index = [], None
        for kernel in kernels:
            if index is None or not self.shared:
                similarity = _Compared(kernel, examples, self._batching())
                index = choose_bases(self.bases, n_bases, n, y, similarity, rng)
            kept = keep_bases(kernel, examples, index)
            blocks += [Block(kernel, kept, index, first) for first in DIRECTIONS[self.direction]]
        return tuple(blocks)

    # -- using

    def transform(self, X: Any) -> Floats:
        """Features φ of examples, shape (n, B · number of similarities)."""
        check_is_fitted(self, "blocks_")
        examples = validated_examples(self, X, reset=False)
        return self._normalised(evaluate(self.blocks_, examples, self._batching(), self.dtype))

    def _normalised(self, raw: Floats) -> Floats:
        raw -= self.mean_.astype(raw.dtype)
        raw /= self.scale_.astype(raw.dtype)
        return raw

    def keep(self, mask: Bools) -> BasisExpansion:
        """A fitted copy with only the features of the mask (number of features,)."""
        check_is_fitted(self, "blocks_")
        fewer = BasisExpansion(**self.get_params(deep=False))
        fewer.__dict__.update(self.__dict__)
        parts = np.split(np.asarray(mask, dtype=bool), np.cumsum([len(block) for block in self.blocks_])[:-1])
        fewer.blocks_ = tuple(block.keep(part) for block, part in zip(self.blocks_, parts, strict=True))
        fewer.mean_, fewer.scale_ = self.mean_[mask], self.scale_[mask]
        return fewer

    @property
    def basis_index_(self) -> Ints:
        """Row numbers of all training examples that serve as a basis, rising."""
        check_is_fitted(self, "blocks_")
        return np.unique(np.concatenate([block.index for block in self.blocks_]))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names such as "gaussian(x, 12)": similarity of x to training example 12."""
        check_is_fitted(self, "blocks_")
        self._check_names(input_features)
        many = len(self.blocks_) > len(DIRECTIONS[self.direction])
        names = []
        for number, block in enumerate(self.blocks_):
            name = name_of(block.kernel) + (str(number // len(DIRECTIONS[self.direction])) if many else "")
            names += [f"{name}({i}, x)" if block.basis_first else f"{name}(x, {i})" for i in block.index]
        return np.array(names, dtype=object)

    def _check_names(self, names: Any) -> None:
        n_features = getattr(self, "n_features_in_", None)
        if names is not None and n_features is not None and len(names) != n_features:
            raise InputError(f"input_features should have length equal to number of features ({n_features})")
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and not np.array_equal(known, names):
            raise InputError("input_features is not equal to feature_names_in_")

    # -- checks

    def _kernels(self) -> list[Kernel]:
        several = self.similarity if isinstance(self.similarity, list) else [self.similarity]
        kernels = [as_kernel(one) for one in several]
        if not kernels:
            raise InputError('there are no similarities in the list; try similarity="rbf"')
        if len(kernels) > 1 and any(kernel.precomputed for kernel in kernels):
            raise InputError(
                "a precomputed matrix must be the only similarity; expand each apart and hstack the features"
            )
        return kernels

    def _check(self) -> None:
        if self.normalise not in NORMALISATIONS:
            raise InputError(f'normalise is "be", "z" or "none", got {self.normalise!r}')
        if self.direction not in DIRECTIONS:
            raise InputError(f'direction is "to_bases", "from_bases" or "both", got {self.direction!r}')
        if np.dtype(self.dtype) not in (np.float32, np.float64):
            raise InputError(f"features are float32 or float64, got {self.dtype!r}")
        if not isinstance(self.bases, str) and self.n_bases is not None:
            raise InputError("bases given one by one need n_bases=None")
        if is_precomputed(self.similarity) and self.direction != "to_bases":
            raise InputError('a precomputed matrix has one direction; use direction="to_bases"')

    def _batching(self) -> Batching:
        return Batching(self.batch_size, self.n_jobs, self.progress)

    def __sklearn_tags__(self) -> Any:
        return similarity_tags(super().__sklearn_tags__(), self.similarity)


class _Compared:
    """Similarity matrix of some training examples, for the choice of bases."""

    def __init__(self, kernel: Kernel, examples: Examples, batching: Batching) -> None:
        self.kernel, self.examples, self.batching = kernel, examples, batching

    def __call__(self, index: Ints) -> Floats:
        block = Block(self.kernel, keep_bases(self.kernel, self.examples, index), index)
        return evaluate([block], take_examples(self.examples, index), self.batching, np.float64)


def is_precomputed(similarity: Any) -> bool:
    """Whether examples are given by their similarities alone."""
    several: Sequence[Any] = similarity if isinstance(similarity, list) else [similarity]
    return any(one.precomputed if isinstance(one, Kernel) else one == "precomputed" for one in several)


def similarity_tags(tags: Any, similarity: Any) -> Any:
    """scikit-learn's tags: splits of a precomputed matrix cut rows and columns alike."""
    tags.input_tags.pairwise = is_precomputed(similarity)
    tags.input_tags.sparse = not is_precomputed(similarity)
    return tags


# --------------------------------------------------------------------------- normalisations


def mean_norm_moments(raw: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Mean of every feature, and the mean length of centred rows for all of them: two vectors (B,)."""
    mean = _mean(raw, weights)
    step = max(1, 2**20 // max(1, raw.shape[1]))
    lengths = [np.linalg.norm(raw[start : start + step] - mean, axis=1) for start in range(0, len(raw), step)]
    length = float(_mean(np.concatenate(lengths), weights))
    return mean, np.full(len(mean), length if _varies(length, raw) else 1.0)


def z_moments(raw: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every feature, 1 for a constant one: two vectors (B,)."""
    mean = _mean(raw, weights)
    deviation = np.sqrt(_mean((raw - mean) ** 2, weights))
    constant = deviation <= 10 * np.finfo(raw.dtype).eps * np.abs(raw).max(axis=0, initial=0.0)
    return mean, np.where(constant, 1.0, deviation)


def no_moments(raw: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Features stay as they are: zeros and ones (B,)."""
    return np.zeros(raw.shape[1]), np.ones(raw.shape[1])


def _mean(values: Floats, weights: Floats | None) -> Any:
    """Σ w v / Σ w over the first axis, in float64."""
    return values.mean(axis=0, dtype=np.float64) if weights is None else np.average(values, axis=0, weights=weights)


def _varies(length: float, raw: Floats) -> bool:
    return length > 10 * float(np.finfo(raw.dtype).eps) * float(np.abs(raw).max(initial=0.0))


NORMALISATIONS = {"be": mean_norm_moments, "z": z_moments, "none": no_moments}
