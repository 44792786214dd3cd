"""A fitted WhitenedScorer, space by space, as rows that a distilled function can store.

All projections of a space are the same axes, stretched (cosine) or turned further (ratio), and all cohorts are the same
training examples: both are found again and stand once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pairlearn.kernels import Kernel, Linear
from pairlearn.kernels.low_rank.kernel import Nystrom
from pairlearn.scorers.distilling.rows import FeatureRows, KernelRows, LinearRows
from pairlearn.scorers.distilling.views import ViewGroup, ViewRows
from pairlearn.scorers.whitened.learnt import LearntView
from pairlearn.scorers.whitened.scorer import WhitenedScorer
from pairlearn.types import Floats

ROUNDING = 1e-10
"""Share of the largest singular value below which one is rounding."""


def rows_of_base(base: Kernel) -> tuple[LinearRows | KernelRows | FeatureRows, Floats | None]:
    """Rows that are stored, and the map from them to the features of the kernel; None for the identity."""
    if isinstance(base, Nystrom):
        return KernelRows(base.kernel, base.landmarks), base.whitening
    return (LinearRows() if isinstance(base, Linear) else FeatureRows(base)), None


def view_rows(scorer: WhitenedScorer) -> list[ViewRows]:
    """The rows of every space; the sum of their products is the score."""
    spaces = list(zip(scorer.kernels_, scorer.means_, strict=True))
    views = [[view for view in scorer.learnt_ if view.place == place] for place in range(len(spaces))]
    share = 1.0 / len(scorer.learnt_)
    return [_space(*space, own).times(share) for space, own in zip(spaces, views, strict=True) if own]


def _space(kernel: Kernel, mean: Floats, views: Sequence[LearntView]) -> ViewRows:
    alike = [[other for other in views if other.projection is view.projection] for view in _distinct(views)]
    axes = _axes([several[0] for several in alike])
    stretches = [_stretch(several[0].projection, axes) for several in alike]
    groups = tuple(_group(several, stretch) for several, stretch in zip(alike, stretches, strict=True))
    rows, into = rows_of_base(kernel)
    if into is not None:  # φ − mean = (k − centre) @ into
        mean, axes = np.linalg.lstsq(into.T, mean, rcond=None)[0], into @ axes
    found = ViewRows(rows, mean, axes, groups)
    cohort = _cohort([(view, stretch) for several, stretch in zip(alike, stretches, strict=True) for view in several])
    return found if cohort is None else found.with_cohort(cohort)


def _distinct(views: Sequence[LearntView]) -> list[LearntView]:
    """One view of every projection."""
    return list({id(view.projection): view for view in views}.values())


def _group(views: Sequence[LearntView], stretch: Floats) -> ViewGroup:
    plain, whole, nearest = (
        sum(1.0 / view.scale for view in views if (view.cohort is not None, view.nearest) == kind)
        for kind in ((False, False), (True, False), (True, True))
    )
    return ViewGroup(stretch, views[0].weights, views[0].own, views[0].offset, plain, whole, nearest)


# --------------------------------------------------------------------------- what views share


def _axes(views: Sequence[LearntView]) -> Floats:
    """Axes (q, r) whose span has all projections: those of a cosine, which keeps all of them, if there is one."""
    for view in views:
        if view.weights is None:
            return view.projection / np.linalg.norm(view.projection, axis=0)
    if len(views) == 1:
        return views[0].projection
    U, values, _ = np.linalg.svd(np.hstack([view.projection for view in views]), full_matrices=False)
    return U[:, values > ROUNDING * values[0]]


def _stretch(projection: Floats, axes: Floats) -> Floats:
    """What makes the axes this projection: a number for each, (r,), or a matrix, (r, k)."""
    if projection.shape == axes.shape:
        each = np.einsum("ij,ij->j", axes, projection) / np.einsum("ij,ij->j", axes, axes)
        if np.allclose(axes * each, projection, rtol=ROUNDING, atol=ROUNDING * np.abs(projection).max()):
            return each
    return np.asarray(np.linalg.lstsq(axes, projection, rcond=None)[0])


def _cohort(views: Sequence[tuple[LearntView, Floats]]) -> Floats | None:
    """The cohort in the axes, (c, r), from the units that views keep of it; None if no view asks one.

    A cosine tells directions, a ratio what it looks at: lengths, where both are there, or the whole example.
    """
    asked = [(view.cohort, view.weights, stretch) for view, stretch in views if view.cohort is not None]
    ratios = [(units / weights, _matrix(stretch)) for units, weights, stretch in asked if weights is not None]
    for units, weights, stretch in asked:
        if weights is None:
            directions = _solved(_matrix(stretch), units)
            return directions if not ratios else directions * _lengths(directions, *ratios[0])
    if not ratios:
        return None
    return _solved(np.hstack([stretch for _, stretch in ratios]), np.hstack([Z for Z, _ in ratios]))


def _matrix(stretch: Floats) -> Floats:
    return np.diag(stretch) if stretch.ndim == 1 else stretch


def _solved(stretch: Floats, Z: Floats) -> Floats:
    """The shortest rows with rows @ stretch = Z."""
    return np.ascontiguousarray(np.linalg.lstsq(stretch.T, Z.T, rcond=None)[0].T)


def _lengths(directions: Floats, Z: Floats, stretch: Floats) -> Floats:
    """By how much directions @ stretch must be multiplied to be Z, (c, 1)."""
    shown = directions @ stretch
    squares = np.einsum("ij,ij->i", shown, shown)
    return (np.einsum("ij,ij->i", shown, Z) / np.where(squares > 0, squares, 1.0))[:, None]
