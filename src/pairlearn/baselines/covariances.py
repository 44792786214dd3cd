"""Covariances and the maps that follow from them: what the learnt baselines are made of.

`shrinkage` mixes a covariance with a multiple of the identity, C ← (1 − ρ) C + ρ (tr C / d) I, which keeps it
invertible with more features than examples; "auto" takes ρ from Ledoit and Wolf's formula. `pca` reduces the
examples first: a number of components or the share of variance to keep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from pairlearn import loops
from pairlearn.baselines.training import TrainingRows
from pairlearn.errors import InputError
from pairlearn.interrupts import delayed
from pairlearn.linalg.spectral import eigh
from pairlearn.types import Floats, Ints

Shrinkage = float | Literal["auto"]
Components = int | float | None


def class_means(rows: Floats, groups: Ints) -> tuple[Floats, Ints]:
    """Mean of each class, (c, d), and its size, (c,)."""
    sizes = np.bincount(groups)
    members = sparse.csr_array((np.ones(len(rows)), (groups, np.arange(len(rows)))), shape=(len(sizes), len(rows)))
    return (members @ rows) / sizes[:, None], sizes


def residuals(training: TrainingRows) -> tuple[Floats, Ints]:
    """Rows minus their class mean for classes of at least two examples, and the size of each row's class."""
    means, sizes = class_means(training.rows, training.groups)
    of_row = sizes[training.groups]
    shared = of_row > 1
    if not shared.any():
        raise InputError("every class has a single example; add positive pairs or classes with two examples")
    return training.rows[shared] - means[training.groups[shared]], of_row[shared]


class Covariance(NamedTuple):
    """A shrunk covariance of rows in a space of d dimensions, in coordinates of a part of it that holds all rows.

    `inside` (q, q) is for that part; in every direction outside of it the variance is the multiple of the identity that
    was mixed in, `outside`. With more features than rows nothing of size d × d is ever taken apart that way.
    """

    inside: Floats
    outside: float


def covariance(rows: Floats, shrinkage: Shrinkage, dimension: int | None = None) -> Covariance:
    """Mean of xxᵀ over the rows, shrunk; `dimension` is that of the whole space, None for the rows' own."""
    C, d = rows.T @ rows / len(rows), rows.shape[1] if dimension is None else dimension
    return _shrunk(C, lambda: _mean_fourth(rows), len(rows), shrinkage, d)


def covariance_of_differences(training: TrainingRows, sign: int, shrinkage: Shrinkage) -> Covariance:
    """Mean of (a − b)(a − b)ᵀ over the pairs with this label, shrunk, as XᵀLX, L the Laplacian of the pairs.

    n pairs of m examples cost n·d + m·d² that way instead of n·d². Pairs share examples, so their differences are not
    independent: n pairs of m examples tell no more than m rows, or automatic shrinkage would trust them too much.
    """
    chosen, X = training.labels == sign, training.rows - training.rows.mean(axis=0)
    left, right = training.left[chosen], training.right[chosen]
    n, m = len(left), len(X)
    joined = sparse.coo_array((np.ones(n), (left, right)), shape=(m, m)).tocsr()
    degrees = np.bincount(left, minlength=m) + np.bincount(right, minlength=m)
    C = X.T @ (degrees[:, None] * X - joined @ X - joined.T @ X) / n
    independent, d = min(n, m), training.dimension
    return _shrunk((C + C.T) / 2.0, lambda: _fourth_of_pairs(X, left, right), independent, shrinkage, d)


def _shrunk(C: Floats, fourth: Callable[[], float], n: int, shrinkage: Shrinkage, d: int) -> Covariance:
    """C mixed with a multiple of the identity; `fourth` gives the mean of ‖x‖⁴, n is the number of independent rows."""
    if shrinkage != "auto" and not 0.0 <= shrinkage <= 1.0:
        raise InputError(f'shrinkage must lie in [0, 1] or be "auto", got {shrinkage!r}; try "auto"')
    rho = ledoit_wolf(C, fourth(), n, d) if shrinkage == "auto" else shrinkage
    mixed_in = rho * float(np.trace(C)) / d
    return Covariance((1.0 - rho) * C + mixed_in * np.eye(len(C)), mixed_in)


def _mean_fourth(rows: Floats) -> float:
    """Mean of ‖x‖⁴ over the rows."""
    return float(np.mean(np.einsum("ij,ij->i", rows, rows) ** 2))


def _fourth_of_pairs(X: Floats, left: Ints, right: Ints) -> float:
    """Mean of ‖a − b‖⁴ over pairs of centred rows, from ‖a‖² + ‖b‖² − 2⟨a, b⟩: no difference is ever held."""
    norms, dots = np.einsum("ij,ij->i", X, X), np.zeros(len(left))
    loops.products.pair_dots(X, X, left, right, dots)
    return float(np.mean(np.maximum(norms[left] + norms[right] - 2.0 * dots, 0.0) ** 2))


def ledoit_wolf(C: Floats, fourth: float, n: int, d: int) -> float:
    """Ledoit and Wolf's shrinkage ρ from a covariance C in d dimensions, the mean of ‖x‖⁴ and the number n of rows.

    ρ = min(β, δ)/δ with δ = ‖C − (tr C / d) I‖² = ‖C‖² − (tr C)²/d, how far C is from the multiple of the identity
    that it is mixed with, and β = (mean ‖x‖⁴ − ‖C‖²)/n, the expected squared error of C itself: the noisier C is for
    its distance from the target, the more of the target is taken. Two sums over the rows, so one pass is enough.
    """
    squares = float(np.sum(C * C))
    misfit = squares - float(np.trace(C)) ** 2 / d
    if fourth - squares <= 1e-12 * squares:
        # All rows are one vector up to sign, which tells nothing of the other directions: treat all alike.
        return 1.0
    noise = min((fourth - squares) / n, misfit)
    return noise / misfit if noise > 0 else 0.0


def inverse_root(C: Floats, name: str) -> Floats:
    """W with WWᵀ = C⁻¹, or an error that says how to make C invertible."""
    values, vectors = eigh(C)
    if values[0] <= values[-1] * len(C) * np.finfo(float).eps:
        raise InputError(
            f'the {name} covariance is singular; pass shrinkage="auto" or larger, pca=0.95, '
            "or more pairs of examples that differ"
        )
    return vectors / np.sqrt(values)


def principal_axes(rows: Floats, n_components: Components) -> tuple[Floats, Floats]:
    """Axes (d, k) of largest variance and their variances; axes without variance are left out."""
    if not np.any(rows != rows[0]):
        raise InputError("all training examples are equal; give examples that differ")
    # Loaded here: a model that needs none of it is read and scored in half the time.
    with delayed():
        from sklearn.decomposition import PCA

    pca = PCA().fit(rows)
    variances = pca.explained_variance_
    rank = int(np.sum(variances > variances[0] * max(rows.shape) * np.finfo(float).eps))
    k = _how_many(n_components, variances[:rank])
    return pca.components_[:k].T, variances[:k]


def _how_many(n_components: Components, variances: Floats) -> int:
    if n_components is None:
        return len(variances)
    if isinstance(n_components, float) and 0.0 < n_components < 1.0:
        shares = np.cumsum(variances) / np.sum(variances)
        return min(int(np.searchsorted(shares, n_components)) + 1, len(variances))
    if n_components != int(n_components) or not 1 <= n_components <= len(variances):
        raise InputError(
            f"{n_components!r} principal components cannot be had: the training examples span {len(variances)}; "
            "pass an integer up to that, or a share of variance such as 0.95"
        )
    return int(n_components)
