"""Covariances and the maps that follow from them: what the learnt baselines are made of.

`shrinkage` mixes a covariance with a multiple of the identity, C ← (1 − ρ) C + ρ (tr C / d) I, which keeps it
invertible with more features than examples; "auto" takes ρ from Ledoit and Wolf's formula. `pca` reduces the
examples first: a number of components or the share of variance to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from pairlearn.baselines.training import TrainingRows
from pairlearn.errors import InputError
from pairlearn.interrupts import delayed
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


def covariance(rows: Floats, shrinkage: Shrinkage) -> Floats:
    """Mean of xxᵀ over the rows, shrunk, (d, d)."""
    return _shrunk(rows.T @ rows / len(rows), lambda: _mean_fourth([rows]), len(rows), shrinkage)


def covariance_of_differences(training: TrainingRows, sign: int, shrinkage: Shrinkage) -> Floats:
    """Mean of (a − b)(a − b)ᵀ over the pairs with this label, shrunk, (d, d), as XᵀLX, L the Laplacian of the pairs.

    n pairs of m examples cost n·d + m·d² that way instead of n·d². Pairs share examples, so their differences are not
    independent: n pairs of m examples tell no more than m rows, or automatic shrinkage would trust them too much.
    """
    chosen, X = training.labels == sign, training.rows - training.rows.mean(axis=0)
    left, right = training.left[chosen], training.right[chosen]
    n, m = len(left), len(X)
    joined = sparse.coo_array((np.ones(n), (left, right)), shape=(m, m)).tocsr()
    degrees = np.bincount(left, minlength=m) + np.bincount(right, minlength=m)
    C = X.T @ (degrees[:, None] * X - joined @ X - joined.T @ X) / n
    return _shrunk((C + C.T) / 2.0, lambda: _mean_fourth(training.differences(sign)), min(n, m), shrinkage)


def _shrunk(C: Floats, fourth: Callable[[], float], n: int, shrinkage: Shrinkage) -> Floats:
    """C mixed with a multiple of the identity; `fourth` gives the mean of ‖x‖⁴, n is the number of independent rows."""
    if shrinkage != "auto" and not 0.0 <= shrinkage <= 1.0:
        raise InputError(f'shrinkage must lie in [0, 1] or be "auto", got {shrinkage!r}; try "auto"')
    rho = ledoit_wolf(C, fourth(), n) if shrinkage == "auto" else shrinkage
    return (1.0 - rho) * C + rho * (np.trace(C) / len(C)) * np.eye(len(C))


def _mean_fourth(blocks: Iterable[Floats]) -> float:
    """Mean of ‖x‖⁴ over the rows of all blocks: differences of millions of pairs are never held at once."""
    squares = np.concatenate([np.einsum("ij,ij->i", rows, rows) for rows in blocks])
    return float(np.mean(squares**2))


def ledoit_wolf(C: Floats, fourth: float, n: int) -> float:
    """Ledoit and Wolf's shrinkage ρ from a covariance C, (d, d), the mean of ‖x‖⁴ and the number n of rows.

    ρ = min(β, δ)/δ with δ = ‖C − (tr C / d) I‖² = ‖C‖² − (tr C)²/d, how far C is from the multiple of the identity
    that it is mixed with, and β = (mean ‖x‖⁴ − ‖C‖²)/n, the expected squared error of C itself: the noisier C is for
    its distance from the target, the more of the target is taken. Two sums over the rows, so one pass is enough.
    """
    squares = float(np.sum(C * C))
    misfit = squares - float(np.trace(C)) ** 2 / len(C)
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
