"""Similarities of sequences: time series by dynamic time warping, strings by edit distance. None is definite.

A warping path or an alignment is a choice of its own for every couple, so no feature map stands behind these values and
Gram matrices may have negative eigenvalues: `definite` is None, machines check a sample and warn or refuse. To be safe,
expand over basis examples (`pl.BasisExpansion`) or treat the spectrum (`pl.kernels.treat_spectrum`). The distances
come from dtaidistance and rapidfuzz, compiled and optional: pip install "pairlearn[sequences]".
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels.base import Kernel
from pairlearn.kernels.rows import is_positive
from pairlearn.types import Examples, Floats

SAMPLE = 100
"""Series whose distances fix gamma="scale": 100² of them, whatever the size of the table."""
MEASURES = {
    "levenshtein": "Levenshtein",
    "indel": "Indel",
    "damerau": "DamerauLevenshtein",
    "jaro": "Jaro",
    "jaro_winkler": "JaroWinkler",
    "common_subsequence": "LCSseq",
}
"""What rapidfuzz calls each measure."""


def _library(name: str) -> Any:
    """An optional package, imported when it is first needed, or an error that says what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise InputError(f'this similarity needs {package}: pip install "pairlearn[sequences]"') from error


@dataclass(frozen=True)
class DTW(Kernel):
    """exp(−γ d²), d the dynamic time warping distance: √ of the least sum of squared differences along a warping path.

    Series are rows of an array or a list of 1-D arrays of any lengths. `window` bounds |i − j| < window along the
    path; None allows all. "scale" is γ = 1 / (mean d² of up to 100 training series). It is not definite in general.

    >>> series = [[0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0, 1.0], [3.0, 1.0, 2.0]]
    >>> DTW(gamma=0.1)(series[:1], series).round(4).tolist()
    [[1.0, 1.0, 0.3679]]
    """

    window: int | None = None
    gamma: float | Literal["scale"] = "scale"
    definite = None

    def __post_init__(self) -> None:
        if self.window is not None and not (float(self.window).is_integer() and self.window >= 1):
            raise InputError(f"window must be an integer ≥ 1 or None, got {self.window!r}; try window=10")
        if self.gamma != "scale" and not is_positive(self.gamma):
            raise InputError(f'gamma must be a finite number > 0 or "scale", got {self.gamma!r:.40}; try gamma="scale"')

    def __call__(self, A: Examples, B: Examples) -> Floats:
        if self.gamma == "scale":
            raise InputError('gamma="scale" is fixed at fit; call kernel.resolved(examples) first')
        return np.exp(-float(self.gamma) * self.distances(A, B) ** 2)

    def diag(self, A: Examples) -> Floats:
        return np.ones(count_examples(A))

    def resolved(self, examples: Examples) -> Kernel:
        if self.gamma != "scale":
            return self
        spread = np.unique(np.linspace(0, count_examples(examples) - 1, SAMPLE).astype(np.int64))
        sample = take_examples(examples, spread)
        distances = self.distances(sample, sample)
        mean = float(np.mean(distances[np.isfinite(distances)] ** 2))
        return replace(self, gamma=1.0 / mean if mean > 0 else 1.0)

    def distances(self, A: Examples, B: Examples) -> Floats:
        """d(a, b) for all series, shape (len(A), len(B)); infinite where no path fits in the window."""
        dtw = _library("dtaidistance.dtw")
        left, right = _series(A), _series(B)
        n, m = len(left), len(right)
        if not n or not m:
            return np.zeros((n, m))
        block = ((0, n), (n, n + m))
        fast = dtw.dtw_cc is not None
        found = dtw.distance_matrix(left + right, block=block, window=self.window, compact=True, use_c=fast)
        return np.asarray(found, dtype=np.float64).reshape(n, m)


def _series(table: Examples) -> list[Floats]:
    """Every example as a 1-D float64 array, or an error that names the first that is not one."""
    rows: list[Floats] = [np.ascontiguousarray(row, dtype=np.float64) for row in table]
    for number, row in enumerate(rows):
        if row.ndim != 1 or not len(row):
            raise InputError(f"series {number} has shape {row.shape}; pass 1-D series with at least one value")
        if not np.isfinite(row).all():
            raise InputError(f"series {number} contains NaN or infinity; cut or interpolate it first")
    return rows


@dataclass(frozen=True)
class EditSimilarity(Kernel):
    """1 − (edit distance) / (largest distance that strings of these lengths can have), between 0 and 1.

    measure: "levenshtein", "indel" (insertions and deletions only), "damerau" (swaps of neighbours too), "jaro",
    "jaro_winkler", "common_subsequence". Strings or sequences of hashable objects. None is definite in general.

    >>> EditSimilarity()(["pairs", "pear"], ["pair"]).tolist()
    [[0.8], [0.5]]
    """

    measure: str = "levenshtein"
    definite = None

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise InputError(f"unknown measure {self.measure!r}; choose one of {', '.join(MEASURES)}")

    def __call__(self, A: Examples, B: Examples) -> Floats:
        scorer = getattr(_library("rapidfuzz.distance"), MEASURES[self.measure]).normalized_similarity
        return _compare(A, B, scorer, {})

    def diag(self, A: Examples) -> Floats:
        return np.ones(count_examples(A))


@dataclass(frozen=True)
class AlignmentSimilarity(Kernel):
    """Global alignment (Needleman–Wunsch, linear gaps), normalised: 1 − cost / (largest cost for these lengths).

    k(a, b) aligns by turning a into b. `insertion` and `deletion` are the costs of a symbol that only b or only a has,
    `mismatch` that of two different ones, integers ≥ 0; with insertion ≠ deletion the similarity is asymmetric.

    >>> AlignmentSimilarity(mismatch=2)(["GATTACA"], ["GCATGCU", "GATTACA"]).round(3).tolist()
    [[0.571, 1.0]]
    """

    insertion: int = 1
    deletion: int = 1
    mismatch: int = 1
    definite = None

    def __post_init__(self) -> None:
        costs = (self.insertion, self.deletion, self.mismatch)
        if not all(float(cost).is_integer() and cost >= 0 for cost in costs) or not self.insertion + self.deletion:
            raise InputError(f"costs must be integers ≥ 0, a gap must cost something, got {costs}; try (1, 1, 2)")

    def __call__(self, A: Examples, B: Examples) -> Floats:
        scorer = _library("rapidfuzz.distance").Levenshtein.normalized_similarity
        costs = (int(self.insertion), int(self.deletion), int(self.mismatch))
        return _compare(A, B, scorer, {"weights": costs})

    def diag(self, A: Examples) -> Floats:
        return np.ones(count_examples(A))


def _compare(A: Examples, B: Examples, scorer: Any, options: dict[str, Any]) -> Floats:
    """scorer(a, b) for all strings or sequences, (len(A), len(B)); missing ones are refused, not taken for empty."""
    left, right = list(A), list(B)
    if not left or not right:
        return np.zeros((len(left), len(right)))
    for item in (*left, *right):
        if not isinstance(item, Sized):
            raise InputError(f"strings or sequences are compared, got {item!r}; replace missing ones first")
    cdist = _library("rapidfuzz.process").cdist
    found = cdist(left, right, scorer=scorer, scorer_kwargs=options, dtype=np.float64)
    return np.asarray(found, dtype=np.float64)
