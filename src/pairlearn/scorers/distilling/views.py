"""Whitened views as a distilled function stores and computes them: what views of one space share stands once.

In units of a cohort, with g = ⟨u_a, u_b⟩ + h_a + h_b, the mean μ and the deviation σ of what an example scores with it,
a view gives ½(g − μ_a)/σ_a + ½(g − μ_b)/σ_b; without a cohort, g. Views that compare alike differ only in μ and σ: with
weights ω of those that ask a cohort, ω₀ of the one that does not, Q = Σ ω/σ, R = ω₀ + Q and t = ω₀h + ½Σ ω(h − μ)/σ
their sum is ½⟨u_a, u_b⟩(R_a + R_b) + ½(Q_a h_b + h_a Q_b) + t_a + t_b, and products xy' + yx' are squares:
½((x + y)(x' + y') − (x − y)(x' − y')).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import count_examples, take_examples
from pairlearn.linalg.tiles import product
from pairlearn.scorers.distilling.rows import FeatureRows, KernelRows, LinearRows, UnitRows
from pairlearn.scorers.whitened.learnt import AT_ONCE, cohort_moments, compared
from pairlearn.types import Examples, Floats
from pairlearn.words import counted


@dataclass(frozen=True, eq=False)
class Counted:
    """Examples of one group of views: unit (n, k), which is `length` (n,) times what it is made of; h, Q and t (n,)."""

    unit: Floats
    length: Floats
    h: Floats
    Q: Floats
    t: Floats


@dataclass(frozen=True, eq=False)
class ViewGroup:
    """Views that compare alike: z is stretched by (r,) numbers or an (r, k) matrix, then compared by cosine or ratio.

    `weights`, `own` and `offset` are those of a ratio. `plain`, `whole` and `nearest` say how much each way to count is
    worth: as it is, by all of the cohort, by the nearest of it. Of the cohort of the space, `scales` (c,) turn
    stretched rows to units, and `owns` (c,) are their h.
    """

    stretch: Floats
    weights: Floats | None
    own: Floats | None
    offset: float
    plain: float
    whole: float
    nearest: float
    scales: Floats | None = None
    owns: Floats | None = None

    @property
    def asks(self) -> bool:
        """Whether a cohort is asked."""
        return self.whole != 0.0 or self.nearest != 0.0

    @property
    def width(self) -> int:
        """Numbers of a unit."""
        return int(self.stretch.shape[-1])

    def times(self, weight: float) -> ViewGroup:
        """So many times the scores."""
        return replace(self, plain=weight * self.plain, whole=weight * self.whole, nearest=weight * self.nearest)

    def with_cohort(self, cohort: Floats) -> ViewGroup:
        """With what is needed of this cohort, (c, r)."""
        Z = self.stretched(cohort)
        return replace(self, scales=self._lengths(Z), owns=compared(Z, *self._terms).own)

    def counted(self, Z: Floats, cohort: Floats | None) -> Counted:
        """Turned rows z, (n, r), as the views of this group count them; the cohort (c, r) is needed if one asks."""
        stretched = self.stretched(Z)
        mapped, length = compared(stretched, *self._terms), self._lengths(stretched)
        h, Q, t = mapped.own, np.zeros(len(Z)), self.plain * mapped.own
        if cohort is not None and self.asks:
            assert self.owns is not None
            scores = self._products(mapped.unit, cohort) + h[:, None] + self.owns
            for weight, nearest in ((self.whole, False), (self.nearest, True)):
                if weight:
                    mean, deviation = cohort_moments(scores, nearest)
                    Q, t = Q + weight / deviation, t + 0.5 * weight * (h - mean) / deviation
        return Counted(mapped.unit, length, h, Q, t)

    @property
    def stretches(self) -> Floats:
        """What each number of z, or of z @ matrix, is multiplied by before lengths, (k,)."""
        one = np.ones(self.width) if self.stretch.ndim > 1 else _wide(self.stretch)
        return one if self.weights is None else one * self.weights

    @property
    def _terms(self) -> tuple[Floats | None, Floats | None, float]:
        return self.weights, self.own, self.offset

    def stretched(self, Z: Floats) -> Floats:
        """Turned rows in the axes of this group, (n, k)."""
        return Z * self.stretch if self.stretch.ndim == 1 else product(Z, _wide(self.stretch))

    def _lengths(self, stretched: Floats) -> Floats:
        """What units are multiplied by: 1/‖z‖ for a cosine, 1 for a ratio."""
        if self.weights is not None:
            return np.ones(len(stretched))
        norms = np.linalg.norm(stretched, axis=1)
        return 1.0 / np.where(norms > 0, norms, 1.0)

    def _products(self, unit: Floats, cohort: Floats) -> Floats:
        """Units of examples go to the space of the cohort, not the other way: cohort are many."""
        assert self.scales is not None
        back = unit if self.weights is None else unit * self.weights
        back = back * self.stretch if self.stretch.ndim == 1 else product(back, _wide(self.stretch).T)
        return product(back, cohort.T) * self.scales


@dataclass(frozen=True, eq=False)
class ViewRows:
    """Rows whose products, with `signs`, are the scores of all views in one space, (n, w); the last number is own.

    z = (rows − centre) @ axes, (n, r), is what the views share, and so are the cohort, (c, r): the cohort, if any view
    asks one.
    """

    rows: LinearRows | KernelRows | FeatureRows
    centre: Floats
    axes: Floats
    groups: tuple[ViewGroup, ...]
    cohort: Floats | None = None

    def __call__(self, examples: Examples) -> Floats:
        """(n, w) float64."""
        return self.by_parts(examples, self._explicit)

    @property
    def signs(self) -> Floats:
        """Of the products, (w − 1,)."""
        return np.concatenate([_signs(group) for group in self.groups])

    def times(self, weight: float) -> ViewRows:
        """So many times the scores."""
        return replace(self, groups=tuple(group.times(weight) for group in self.groups))

    def with_cohort(self, cohort: Floats) -> ViewRows:
        """With these cohort, (c, r)."""
        return replace(self, cohort=cohort, groups=tuple(group.with_cohort(cohort) for group in self.groups))

    def turned(self, examples: Examples) -> Floats:
        """z, (n, r)."""
        E = self.rows(examples)
        if E.shape[1] != len(self.centre):
            raise InputError(
                f"examples have {counted(E.shape[1], 'feature')}, but the model was distilled with {len(self.centre)}"
            )
        return product(E - self.centre, _wide(self.axes))

    def counted(self, Z: Floats) -> list[Counted]:
        """Turned rows as each group counts them."""
        cohort = None if self.cohort is None else _wide(self.cohort)
        return [group.counted(Z, cohort) for group in self.groups]

    def _explicit(self, Z: Floats) -> Floats:
        found = self.counted(Z)
        blocks = [_squares(group, each) for group, each in zip(self.groups, found, strict=True)]
        return np.column_stack([*blocks, np.sum([each.t for each in found], axis=0)])

    def by_parts(self, examples: Examples, work: Callable[[Floats], Floats]) -> Floats:
        """Some examples after the other, so that few scores with cohort are held."""
        n, size = count_examples(examples), 1 if self.cohort is None else len(self.cohort)
        step = max(1, AT_ONCE // size)
        parts = [np.arange(start, min(n, start + step)) for start in range(0, max(n, 1), step)]
        found = [work(self.turned(examples if len(parts) == 1 else take_examples(examples, part))) for part in parts]
        return found[0] if len(found) == 1 else np.vstack(found)


@dataclass(frozen=True, eq=False)
class Family:
    """Groups whose units are the same numbers, stretched otherwise: e_g ∘ v · f_g(x), counted R_g(x) times.

    Their products are Σ_i v_i v'_i qᵀ M_i q' with q = (f, R f), (2G,): lengths and counts of an example, which rise and
    fall together. `into` (2G, J) makes few numbers y of q, `turn` (k, J, J) of v_i and y the J rows of each i.
    """

    members: tuple[int, ...]
    into: Floats
    turn: Floats

    @classmethod
    def of(cls, groups: Sequence[ViewGroup], members: tuple[int, ...], q: Floats, J: int) -> tuple[Family, Floats]:
        """By the q (n, 2G) of some examples, and the signs of the rows, (k · J,)."""
        scale = np.maximum(np.sqrt(np.mean(q**2, axis=0)), 1e-300)
        B = np.linalg.eigh((q / scale).T @ (q / scale))[1][:, ::-1][:, :J]
        one, other = np.split(B * scale[:, None], 2)
        squares = np.array([groups[place].stretches ** 2 for place in members])
        half = 0.5 * np.einsum("gi,gj,gl->ijl", squares, one, other)
        values, V = np.linalg.eigh(half + half.transpose(0, 2, 1))
        turn = V * np.sqrt(np.abs(values))[:, None, :]
        return cls(members, B / scale[:, None], turn), np.sign(values).ravel()

    def __call__(self, groups: Sequence[ViewGroup], Z: Floats, found: Sequence[Counted]) -> Floats:
        """Rows of turned examples, (n, k · J)."""
        first = groups[self.members[0]]
        V = Z if first.stretch.ndim == 1 else first.stretched(Z)
        mixed = np.tensordot(factors(groups, self.members, found) @ self.into, _wide(self.turn), (1, 1))
        return (V[:, :, None] * mixed).reshape(len(Z), -1)


def factors(groups: Sequence[ViewGroup], members: Sequence[int], found: Sequence[Counted]) -> Floats:
    """q = (f, R f) of examples, (n, 2G)."""
    lengths = np.column_stack([found[place].length for place in members])
    counts = np.column_stack([groups[place].plain + found[place].Q for place in members])
    return np.hstack([lengths, counts * lengths])


@dataclass(frozen=True, eq=False)
class ShortRows:
    """Rows as those of `views`, but few numbers for all groups of a family; then h and Q; own is the last number."""

    views: ViewRows
    families: tuple[Family, ...]

    @classmethod
    def of(cls, views: ViewRows, sample: Examples, J: int) -> tuple[ShortRows, Floats]:
        """By sample examples, with J numbers per direction; after it the signs of the rows."""
        groups, found = views.groups, views.counted(views.turned(sample))
        made = [Family.of(groups, some, factors(groups, some, found), J) for some in _families(groups)]
        asking = sum(group.asks and group.own is not None for group in groups)
        return cls(views, tuple(family for family, _ in made)), np.concatenate(
            [*(signs for _, signs in made), np.tile([1.0, -1.0], asking)]
        )

    def __call__(self, examples: Examples) -> Floats:
        """(n, w) float64."""
        return self.views.by_parts(examples, self._short)

    def _short(self, Z: Floats) -> Floats:
        groups, found = self.views.groups, self.views.counted(Z)
        rows = [family(groups, Z, found) for family in self.families]
        for group, each in zip(groups, found, strict=True):
            if group.asks and group.own is not None:
                rows.append(0.5 * np.column_stack([each.Q + each.h, each.Q - each.h]))
        return np.column_stack([*rows, np.sum([each.t for each in found], axis=0)])


def _families(groups: Sequence[ViewGroup]) -> list[tuple[int, ...]]:
    """Groups that only stretch the axes are one family; those that turn them are one each."""
    turning: list[tuple[int, ...]] = [(place,) for place, group in enumerate(groups) if group.stretch.ndim > 1]
    stretching = tuple(place for place, group in enumerate(groups) if group.stretch.ndim == 1)
    return [stretching, *turning] if stretching else turning


Rows = LinearRows | UnitRows | KernelRows | FeatureRows | ViewRows | ShortRows
"""Whatever becomes rows."""


def _squares(group: ViewGroup, found: Counted) -> Floats:
    """The products of a group as squares, (n, w), whose signs are `_signs`."""
    if not group.asks:
        return np.sqrt(abs(group.plain)) * found.unit
    Q, h = found.Q[:, None], found.h[:, None]
    R = group.plain + Q
    return 0.5 * np.hstack([(1.0 + R) * found.unit, Q + h, (1.0 - R) * found.unit, Q - h])


def _signs(group: ViewGroup) -> Floats:
    if not group.asks:
        return np.full(group.width, np.sign(group.plain))
    return np.repeat([1.0, -1.0], group.width + 1)


def _wide(array: Any) -> Floats:
    return np.asarray(array, dtype=np.float64)
