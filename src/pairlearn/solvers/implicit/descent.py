"""Newton's method on the smoothed problem of all pairs, none of them listed: scans give values and gradients.

    min ½‖w‖² + Σ Φ_h(y − ⟨w, φ⟩ − b),   Φ_h' = θ_h

has a derivative everywhere (`solvers/newton.py` says why that helps). Its gradient w − Σ θ_h φ is one scan of all
pairs; its curvature comes from the features of pairs on their ramps, a sample while they are many. w is a vector of as
many numbers as a pair has features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from pairlearn.operators.form import PairForm
from pairlearn.operators.thin import Columns
from pairlearn.solvers.box import behind_margin
from pairlearn.solvers.implicit.everyone import Everyone, Ramped, Ramps, Scored
from pairlearn.types import Floats, Ints

SPANNING = (2, 4, 8)
"""Pairs per feature by whose values a form becomes a vector; more of them where features of other pairs lie outside."""
CHECKED, ACCURACY = 4096, 1e-7
"""Pairs that this is checked with, and what may lie outside."""
PER_FEATURE, LEAST, MOST = 8, 4000, 16_000
"""Pairs that curvature is taken from, per feature, and at least and most."""
GATHERED = 3 * 10**6
"""Pairs on their ramps up to which these are gathered before some of them are chosen; more are met by chance."""
WIDEST = 2.0
"""Half of the first ramps: at the beginning all pairs are on them."""
FIRST, FEWER = 0.1, 3.0
"""Share of the pairs on their ramps after a first width with all of them, and how many times fewer at the next."""
NARROWER = 2.0, 4.0
"""How many times narrower the next ramps are, at least and at most."""
STEPS = 12
"""Steps at one width at most, but for the last one."""
SETTLED, GAIN = 0.2, 0.01
"""Fall that a step promised, as a share of what ramps add to the objective and of this itself, below which narrower
ones follow."""
FEW = 1.0
"""Pairs on their ramps per feature, below which curvature is that of wider ramps."""
ENOUGH = 1e-4
"""Share of the promised fall that a step has to keep."""
BALANCING = 80
"""Scans that the bias is looked for with at most; two or three are usual."""
SHORTEST = 1e-4
"""Length of a step below which it is no longer halved."""
PROBED = 2**18
"""Pairs by which widths of ramps are chosen."""
DRAWN = 10**6
"""Pairs that are looked at for a sample, at most."""


def centre(half: float) -> float:
    """The margin that ramps of this half width are centred at."""
    return 1.0 - behind_margin(half)


def curved(q: int) -> int:
    """Pairs that curvature is taken from, if so many are on their ramps."""
    return int(np.clip(PER_FEATURE * q, LEAST, MOST))


def bytes_needed(q: int) -> int:
    """Features of the sample and of spanning pairs (twice), the equations three times; draws for a sample."""
    return 8 * q * (curved(q) + 2 * SPANNING[0] * q + 3 * q) + 40 * max(DRAWN, GATHERED)


class Span:
    """Forms of pairs as vectors w with g(p) = ⟨w, φ(p)⟩, and back, by values on pairs whose features span all."""

    def __init__(self, everyone: Everyone, left: Ints, right: Ints) -> None:
        self.everyone, self.left, self.right = everyone, left, right
        F = everyone.features(left, right)
        self.scale = np.sqrt((F**2).sum(axis=0))
        self.scale[self.scale == 0.0] = 1.0
        F /= self.scale
        values, vectors = eigh(F.T @ F, overwrite_a=True, check_finite=False)
        large = values > 1e-13 * values[-1]
        self.V = vectors[:, large]
        self.inverse = (F @ (self.V / values[large])) @ self.V.T / self.scale
        """F⁺ᵀ, (pairs, q)."""

    def lacks(self, left: Ints, right: Ints) -> float:
        """How much of the features of these pairs is outside, relative."""
        F = self.everyone.features(left, right) / self.scale
        rest = F - (F @ self.V) @ self.V.T
        return float(np.sqrt((rest**2).sum(axis=1).max() / max((F**2).sum(axis=1).max(), 1e-300)))

    def coefficients(self, form: PairForm) -> Floats:
        """Of the spanning pairs, whose sum the form is too."""
        return self.inverse @ self.vector(form)

    def vector(self, form: PairForm) -> Floats:
        """w, (q,)."""
        return self.values(form) @ self.inverse

    def values(self, form: PairForm) -> Floats:
        """Those of the spanning pairs."""
        return Scored(self.everyone.Z, form).values(self.left, self.right)

    def form(self, w: Floats) -> PairForm:
        """Of the coefficients F⁺ᵀw."""
        return self.everyone.form(self.left, self.right, self.inverse @ w)


@dataclass(frozen=True)
class Smooth:
    """A function of all pairs, and the coefficients that it gives them on ramps of one width."""

    span: Span
    w: Floats
    ramps: Ramps
    ramped: Ramped

    @classmethod
    def at(cls, span: Span, w: Floats, bias: float, half: float) -> Smooth:
        """One scan."""
        ramps = Ramps(Scored(span.everyone.Z, span.form(w)), bias, half, centre(half))
        return cls(span, w, ramps, span.everyone.ramped(ramps))

    @property
    def objective(self) -> float:
        """Of the smoothed problem."""
        return 0.5 * float(self.w @ self.w) + self.ramped.loss

    @cached_property
    def led_to(self) -> Floats:
        """Values that the coefficients lead to, on the spanning pairs."""
        return self.span.values(self.ramped.form)

    @cached_property
    def gradient(self) -> Floats:
        """w − Σθφ."""
        return self.w - self.led_to @ self.span.inverse

    @cached_property
    def drift(self) -> float:
        """How far these values are from those that the coefficients came from."""
        return float(np.abs(self.led_to - self.ramps.scored.values(self.span.left, self.span.right)).max())

    @property
    def weight(self) -> float:
        """Sum of the boxes of pairs on their ramps."""
        return float(np.dot(self.span.everyone.boxes, self.ramped.counts))

    def balanced(self) -> Smooth:
        """The same with the bias that makes Σθ = 0, which falls with it from ramp to ramp in straight lines."""
        now, below, above, stride = self, -np.inf, np.inf, self.ramps.half
        for _ in range(BALANCING):
            bias, excess, half = now.ramps.bias, now.ramped.total, now.ramps.half
            if now.is_balanced:
                break
            below, above = (bias, above) if excess > 0 else (below, bias)
            bias += excess * 2.0 * half / now.weight if now.weight else np.copysign(stride, excess)
            stride *= 2.0
            if not below < bias < above:
                bias = 0.5 * (below + above)
            now = Smooth.at(self.span, self.w, bias, half)
        return now

    @property
    def is_balanced(self) -> bool:
        """Whether Σθ = 0 but for rounding."""
        return abs(self.ramped.total) <= 1e-12 * self.ramped.absolute


class Descent:
    """Narrower and narrower ramps, each from where the one before ended."""

    def __init__(self, everyone: Everyone, seed: int) -> None:
        self.everyone, self.rng = everyone, np.random.default_rng(seed)
        self.q = everyone.features(*everyone.sample(1, self.rng)).shape[1]
        for times in SPANNING:
            self.span = Span(everyone, *self._drawn(times * self.q + 50))
            if self.span.lacks(*self._drawn(CHECKED)) <= ACCURACY:
                break

    def steps(self, last: float) -> Iterator[tuple[Smooth, bool]]:
        """The function after every step, and whether its width is done with; at the last width without end, until
        rounding hides what a step gains."""
        now, count = Smooth.at(self.span, np.zeros(self.q), 0.0, WIDEST), len(self.everyone)
        while True:
            final, done, taken = now.ramps.half <= last, False, 0
            while not done:
                now, promised = self._step(now)
                taken += 1
                done = taken == STEPS or promised <= min(SETTLED * now.ramps.half * now.weight, GAIN * now.objective)
                yield now, done
                if final and promised <= 1e-16 * abs(now.objective):
                    return
                done = done and not final
            count = max(1, int(FIRST * count if now.ramps.half == WIDEST else now.ramped.count / FEWER))
            wanted = self.width(now.ramps, count / len(self.everyone))
            half = float(np.clip(wanted, now.ramps.half / NARROWER[1], now.ramps.half / NARROWER[0]))
            now = Smooth.at(self.span, now.w, now.ramps.bias, max(last, half))

    def width(self, ramps: Ramps, share: float) -> float:
        """Half of the ramps that this share of all pairs is on."""
        left, right = self.everyone.sample(PROBED, self.rng)
        far = np.abs(self.everyone.before(replace(ramps, centre=1.0), left, right))
        known = min(1.0, max(share, 200 / len(far)))  # nearer to the margin pairs are evenly spread
        return float(np.quantile(far, known)) * share / known

    def _step(self, now: Smooth) -> tuple[Smooth, float]:
        """One step with its length searched, and by how much it promised to lower the objective."""
        dw, db = self._direction(now)
        slope, t = float(now.gradient @ dw) - now.ramped.total * db, 1.0
        noise = 1e-14 * abs(now.objective)
        while True:
            new = Smooth.at(self.span, now.w + t * dw, now.ramps.bias + t * db, now.ramps.half)
            rise = new.objective - now.objective
            if rise <= ENOUGH * t * slope + noise:
                return new, -slope
            if t < SHORTEST:
                return now, 0.0
            t *= float(np.clip(-0.5 * t * slope / (rise - t * slope), 0.1, 0.5))

    def _direction(self, now: Smooth) -> tuple[Floats, float]:
        """Change of w and of the bias: (I + FᵀDF) dw + FᵀD1·db = −gradient, 1ᵀDF dw + 1ᵀD1·db = Σθ."""
        left, right, D = self._curved(now)
        F = Columns(self.everyone.features(left, right))
        system = F.weighted(D)
        system[np.diag_indices(self.q)] += 1.0
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        across = F.gathered(D)
        straight, aside = (cho_solve(factor, x, check_finite=False) for x in (-now.gradient, across))
        bend, total = float(D.sum() - across @ aside), now.ramped.total
        # Without a pair on its ramp nothing bends: towards where Σθ = 0.
        db = (total - float(across @ straight)) / bend if bend > 0 else float(np.copysign(now.ramps.half, total))
        return straight - db * aside, db

    def _curved(self, now: Smooth) -> tuple[Ints, Ints, Floats]:
        """Pairs on their ramps, all or a sample, each with the slopes of all that it stands for.

        Where they are fewer than features, the slopes are those of wider ramps: a step knows nothing of the pairs that
        it is about to meet.
        """
        everyone, ramps, wanted, counts = self.everyone, now.ramps, curved(self.q), now.ramped.counts
        few = now.ramped.count < FEW * self.q
        if few:
            share = min(1.0, FEW * self.q / len(everyone))
            half = max(ramps.half, self.width(ramps, share))
            ramps = replace(ramps, half=half, centre=centre(half))
        if few or now.ramped.count <= GATHERED:
            left, right = everyone.near(ramps)
            same = everyone.labels(left, right) > 0
            counts = int(same.sum()), int((~same).sum())
            if len(left) > wanted:
                chosen = np.sort(self.rng.choice(len(left), wanted, replace=False))
                left, right = left[chosen], right[chosen]
        else:
            left, right = self._drawn(int(min(DRAWN, 1.2 * wanted * len(everyone) / now.ramped.count)))
            on = np.abs(everyone.before(ramps, left, right)) < ramps.half
            left, right = left[on], right[on]
        same = everyone.labels(left, right) > 0
        stand = np.array(counts) / np.maximum(1, [same.sum(), (~same).sum()])
        slopes = np.array(everyone.boxes) / (2.0 * ramps.half) * stand
        return left, right, np.where(same, slopes[0], slopes[1])

    def _drawn(self, count: int) -> tuple[Ints, Ints]:
        """Pairs by chance; all of those in one class where these are few."""
        everyone = self.everyone
        left, right = everyone.sample(count, self.rng)
        if 0 < everyone.n_same <= count // 2:
            apart, alike = everyone.labels(left, right) < 0, everyone.alike()
            left, right = np.concatenate([left[apart], alike[0]]), np.concatenate([right[apart], alike[1]])
        return left, right
