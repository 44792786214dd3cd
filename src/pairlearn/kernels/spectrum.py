"""The spectrum of a similarity matrix: how indefinite it is, and four ways to make it definite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import refuse_nonfinite
from pairlearn.kernels.content import shape_of
from pairlearn.kernels.similarity import check_symmetric
from pairlearn.types import Floats
from pairlearn.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Treatment = Literal["clip", "flip", "shift", "square"]

TREATMENTS: dict[str, Callable[[Floats], Floats]] = {
    "clip": lambda values: np.maximum(values, 0.0),
    "flip": np.abs,
    "shift": lambda values: values - min(float(values.min(initial=0.0)), 0.0),
    "square": np.square,
}
"""f(λ) of every treatment, for all eigenvalues of one matrix."""

SMALLEST = 1e-10
"""Eigenvalues below this share of the largest one are taken for rounding, unless the caller says otherwise."""


@dataclass(frozen=True, repr=False)
class Spectrum:
    """Eigenvalues in rising order and what counts as rounding: |λ| ≤ tol · max|λ|.

    `negative_ratio` (NgRat) is the share of negative eigenvalues among all, `negative_energy` (NgEng) is
    Σ|λ < 0| / Σ|λ > 0|; both leave out what counts as rounding.
    """

    eigenvalues: Floats
    tol: float

    @property
    def negative(self) -> Floats:
        """The eigenvalues λ < −tol · max|λ|."""
        return self.eigenvalues[self.eigenvalues < -self._floor]

    @property
    def positive(self) -> Floats:
        """The eigenvalues λ > tol · max|λ|."""
        return self.eigenvalues[self.eigenvalues > self._floor]

    @property
    def negative_ratio(self) -> float:
        """NgRat: number of negative eigenvalues / number of eigenvalues."""
        return len(self.negative) / len(self.eigenvalues)

    @property
    def negative_energy(self) -> float:
        """NgEng: Σ|λ < 0| / Σ|λ > 0|; infinite when only negative ones are left, 0 for a matrix of zeros."""
        below, above = float(np.abs(self.negative).sum()), float(self.positive.sum())
        if above > 0:
            return below / above
        return float("inf") if below > 0 else 0.0

    @property
    def _floor(self) -> float:
        return self.tol * float(np.abs(self.eigenvalues).max(initial=0.0))

    def __repr__(self) -> str:
        return f"Spectrum({self}, tol={self.tol:g})"

    def __str__(self) -> str:
        n, ratio, energy = len(self.eigenvalues), self.negative_ratio, self.negative_energy
        return f"{counted(n, 'eigenvalue')}, {len(self.negative)} negative: NgRat {ratio:.3g}, NgEng {energy:.3g}"


def spectrum_report(K: Any, tol: float | None = None) -> Spectrum:
    """How indefinite a symmetric similarity matrix K (m, m) is.

    NgRat = #{λ < −tol·max|λ|} / m,  NgEng = Σ|λ < 0| / Σ|λ > 0|. `tol` None takes 1e-10, or m · eps of a float32
    matrix: without it, rounding alone makes half of the spectrum of a definite matrix of low rank negative.

    >>> spectrum_report([[0.0, 1.0], [1.0, 0.0]])
    Spectrum(2 eigenvalues, 1 negative: NgRat 0.5, NgEng 1, tol=1e-10)
    >>> spectrum_report([[0.0, 1.0], [1.0, 0.0]]).eigenvalues.tolist()
    [-1.0, 1.0]
    """
    matrix = check_square(K)
    tol = rounding(matrix) if tol is None else tol
    if not 0 <= tol < 1:
        raise InputError(f"tol is a share of the largest eigenvalue, 0 ≤ tol < 1, got {tol!r}; try tol=1e-10")
    return Spectrum(np.linalg.eigvalsh(matrix.astype(np.float64)), float(tol))


@dataclass(frozen=True, repr=False)
class Treated:
    """A definite `matrix` (m, m) in place of K, and the `transform` P (m, m) that takes new rows along.

    New similarities to the m examples, s (n, m), become s @ P: the clipped, flipped and squared matrix is K @ P, and
    new rows must be treated alike. A shift changes only how an example resembles itself, hence P = 1.
    """

    matrix: Floats
    transform: Floats

    def __repr__(self) -> str:
        return f"Treated({shape_of(self.matrix)})"


def treat_spectrum(K: Any, treatment: Treatment = "clip") -> Treated:
    """Replace the eigenvalues λ of K = U diag(λ) Uᵀ: U diag(f(λ)) Uᵀ, shape (m, m).

    clip: max(λ, 0), the nearest definite matrix in the Frobenius norm; flip: |λ|; shift: λ − min(λ_min, 0); square: λ².

    >>> treat_spectrum([[0.0, 1.0], [1.0, 0.0]], "clip").matrix.round(12).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    values, U = np.linalg.eigh(check_square(K).astype(np.float64))
    treated = _treatment(treatment)(values)
    return Treated(_compose(U, treated), _compose(U, _FACTORS[treatment](values)))


_FACTORS: dict[str, Callable[[Floats], Floats]] = {
    "clip": lambda values: (values > 0).astype(np.float64),
    "flip": np.sign,
    "shift": np.ones_like,
    "square": lambda values: values,
}


def inverse_root(K: Any, treatment: Treatment = "clip", tol: float | None = None) -> Floats:
    """f(K)^(−½), symmetric (m, m); eigenvalues f(λ) ≤ tol · max f are left out, as in a pseudo-inverse.

    >>> inverse_root([[4.0, 0.0], [0.0, -9.0]], "flip").round(6).tolist()
    [[0.5, 0.0], [0.0, 0.333333]]
    """
    matrix = check_square(K)
    values, U = np.linalg.eigh(matrix.astype(np.float64))
    treated = _treatment(treatment)(values)
    share = rounding(matrix) if tol is None else tol
    # Rounding is a share of the largest |λ|; for f = λ² it is the square of that which cannot be trusted.
    floor = (share * float(np.abs(values).max())) ** (2 if treatment == "square" else 1)
    roots = np.sqrt(treated, where=treated > floor, out=np.full_like(treated, np.inf))
    return _compose(U, 1.0 / roots)


def _compose(U: Floats, values: Floats) -> Floats:
    product = (U * values) @ U.T
    return 0.5 * (product + product.T)


def _treatment(name: str) -> Callable[[Floats], Floats]:
    if name not in TREATMENTS:
        raise InputError(f'treatment is "clip", "flip", "shift" or "square", got {name!r}')
    return TREATMENTS[name]


def rounding(matrix: Floats) -> float:
    """Share of the largest eigenvalue below which the others may be rounding alone."""
    return max(SMALLEST, len(matrix) * float(np.finfo(matrix.dtype).eps))


def check_square(K: Any) -> Floats:
    """K as a float array, square, symmetric and finite, or say what is wrong with it."""
    matrix = np.asarray(K)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise InputError(f"a similarity matrix must be square, examples × the same examples, got shape {matrix.shape}")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    refuse_nonfinite(matrix, "similarities")
    check_symmetric(matrix)
    return matrix


def draw_spectrum(spectrum: Spectrum, ax: Axes | None = None) -> Axes:
    """Draw |λ| by rank, positive and negative eigenvalues apart, and return the axes; needs matplotlib.

    >>> draw_spectrum(spectrum_report([[0.0, 1.0], [1.0, 0.0]])).get_xlabel()
    'rank'
    """
    axes = _new_axes() if ax is None else ax
    parts = (("positive", spectrum.positive, "#0072B2", "-"), ("negative", -spectrum.negative, "#D55E00", "--"))
    for name, sizes, colour, line in parts:
        ranks, falling = np.arange(1, len(sizes) + 1), np.sort(sizes)[::-1]
        axes.plot(ranks, falling, line, color=colour, marker=".", label=f"{name} ({len(sizes)})")
    axes.set(xlabel="rank", ylabel="|eigenvalue|", title=f"NgEng {spectrum.negative_energy:.3g}", yscale="log")
    axes.legend(frameon=False)
    return axes


def _new_axes() -> Axes:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError('drawing needs matplotlib: pip install "pairlearn[plots]"') from error
    return Figure(figsize=(5.0, 3.5), layout="constrained").add_subplot()
