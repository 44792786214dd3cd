"""What views became at fit, and the scores that they give: g(a, b) = ⟨u_a, u_b⟩ + h_a + h_b, counted as a cohort does.

Cosine: u = z/‖z‖, h = 0. Ratio, with variances ψ of class centres and 1 within: g = Σ log(1 + ψ) − ½ log(1 + 2ψ) +
ψ(z + z')²/(4(1 + ψ)(1 + 2ψ)) − ψ(z − z')²/(4(1 + ψ)), which has the same form with u = z √(ψ/(1 + 2ψ)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pairlearn import loops
from pairlearn.scorers.whitened.spaces import Space
from pairlearn.scorers.whitened.views import View
from pairlearn.types import Floats, Ints

NEAREST, LEAST_NEAREST = 0.1, 20
"""Share of the cohort that "nearest" takes, and the fewest."""
AT_ONCE = 2**22
"""Scores with the cohort that are held at once (32 MB)."""


@dataclass(frozen=True, eq=False)
class Mapped:
    """Examples as one view compares them: `unit` (n, k) and `own` (n,); with a cohort mean and deviation (n,)."""

    unit: Floats
    own: Floats
    mean: Floats | None = None
    deviation: Floats | None = None

    def pairs(self, left: Ints, right: Ints) -> Floats:
        """Scores of these pairs, equal to the last bit for (a, b) and (b, a)."""
        found = self.own[left] + self.own[right]
        loops.products.pair_dots(self.unit, self.unit, left, right, found)
        if self.mean is None or self.deviation is None:
            return found
        one, other = ((found - self.mean[side]) / self.deviation[side] for side in (left, right))
        return 0.5 * (one + other)

    def block(self, other: Mapped) -> Floats:
        """Scores of all these with all others, (n, n')."""
        found = self.unit @ other.unit.T + self.own[:, None] + other.own[None, :]
        if self.mean is None or self.deviation is None or other.mean is None or other.deviation is None:
            return found
        one = (found - self.mean[:, None]) / self.deviation[:, None]
        return 0.5 * (one + (found - other.mean[None, :]) / other.deviation[None, :])


@dataclass(frozen=True, eq=False)
class LearntView:
    """One view after fit: `place` of its space, the map of its features, what is needed for own terms, its cohort.

    `projection` (r, k) whitens; `weights` (k,) are √ of ψ/(1 + 2ψ) for "ratio", None for "cosine"; `own` (k,) and
    `offset` give h. `cohort` and `cohort_own` are mapped training examples, None without; `scale` is the deviation of
    the scores of strangers, in units of which views are added up.
    """

    place: int
    projection: Floats
    weights: Floats | None
    own: Floats | None
    offset: float
    cohort: Floats | None
    cohort_own: Floats | None
    nearest: bool
    scale: float

    @classmethod
    def every(cls, views: Sequence[View], place: int, space: Space, drawn: Ints) -> Iterator[LearntView]:
        """Learn views in one space; `drawn` are the training examples of the cohort. What they share is made once."""
        made: dict[tuple[float, str], tuple[LearntView, Mapped]] = {}
        for view in views:
            key = (view.shrinkage, view.compare)
            if key not in made:
                made[key] = cls._bare(view, place, space, drawn)
            bare, strangers = made[key]
            if view.cohort != "none":
                bare = replace(bare, cohort=strangers.unit, cohort_own=strangers.own, nearest=view.cohort == "nearest")
                strangers = bare.with_moments(strangers)
            yield replace(bare, scale=_spread(strangers, space.groups[drawn]))

    @classmethod
    def _bare(cls, view: View, place: int, space: Space, drawn: Ints) -> tuple[LearntView, Mapped]:
        """The view without a cohort, and the training examples that would be one."""
        whiten = 1.0 / space.deviations(view.shrinkage)
        if view.compare == "cosine":
            bare, rows = cls(place, space.axes * whiten, None, None, 0.0, None, None, False, 1.0), space.rows * whiten
            return bare, bare.compared(rows[drawn])
        axes, psi = space.between(view.shrinkage)
        inner = whiten[:, None] * axes
        bare = cls(place, space.axes @ inner, *_ratio(psi), None, None, False, 1.0)
        return bare, bare.compared(space.rows[drawn] @ inner)

    def compared(self, Z: Floats) -> Mapped:
        """Whitened rows as they are compared, before a cohort is asked."""
        return compared(Z, self.weights, self.own, self.offset)

    def with_moments(self, rows: Mapped) -> Mapped:
        """With mean and deviation of the scores of each row with the cohort."""
        if self.cohort is None or self.cohort_own is None:
            return rows
        n, size = len(rows.unit), len(self.cohort)
        mean, deviation = np.empty(n), np.empty(n)
        step = max(1, AT_ONCE // size)
        for start in range(0, n, step):
            part = np.s_[start : start + step]
            scores = rows.unit[part] @ self.cohort.T + rows.own[part, None] + self.cohort_own
            mean[part], deviation[part] = cohort_moments(scores, self.nearest)
        return replace(rows, mean=mean, deviation=deviation)


def compared(Z: Floats, weights: Floats | None, own: Floats | None, offset: float) -> Mapped:
    """Whitened rows as they are compared: by cosine without weights, by ratio with them."""
    if weights is None or own is None:
        norms = np.linalg.norm(Z, axis=1, keepdims=True)
        return Mapped(np.divide(Z, norms, out=np.zeros_like(Z), where=norms > 0), np.zeros(len(Z)))
    return Mapped(Z * weights, Z**2 @ own + offset)


def cohort_moments(scores: Floats, nearest: bool) -> tuple[Floats, Floats]:
    """Mean and deviation (n,) of the scores (n, c) with all of a cohort, or with the nearest of it."""
    size = scores.shape[1]
    if nearest:
        top = min(size, max(LEAST_NEAREST, round(NEAREST * size)))
        scores = np.partition(scores, size - top, axis=1)[:, size - top :]
    mean, deviation = scores.mean(axis=1), scores.std(axis=1)
    return mean, np.maximum(deviation, 1e-9 * (1.0 + np.abs(mean)))


def _ratio(psi: Floats) -> tuple[Floats, Floats, float]:
    """Weights of u, coefficients of h and its offset, from variances ψ of class centres."""
    plus, minus = psi / (4.0 * (1.0 + psi) * (1.0 + 2.0 * psi)), psi / (4.0 * (1.0 + psi))
    offset = 0.5 * float(np.sum(np.log1p(psi) - 0.5 * np.log1p(2.0 * psi)))
    return np.sqrt(2.0 * (plus + minus)), plus - minus, offset


def _spread(rows: Mapped, groups: Ints) -> float:
    """Deviation of the scores of training examples of different classes, 1 where they are all the same."""
    chosen = np.random.default_rng(0).integers(0, len(groups), (2, 20_000))
    left, right = chosen[:, groups[chosen[0]] != groups[chosen[1]]]
    found = float(rows.pairs(left, right).std()) if len(left) else 0.0
    return found if found > 0 and np.isfinite(found) else 1.0
