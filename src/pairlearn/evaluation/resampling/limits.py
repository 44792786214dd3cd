"""From an estimate and its spread to limits: Student's t on a scale that suits the measure, and counting.

**Shares** (0 … 1) have their limits on the logit scale, so that they never leave the interval, and bent: the lower
distance t·s becomes t·s/(1 + a·t), the upper one t·s/(1 − a·t), with the acceleration a of `Spread`. Where few units
make most errors, a sample that misses them looks too good and too sure; symmetric limits would fail on that side.
**Others** (d′, costs) and differences have theirs on the plain scale.
**Nothing varies** (such as 0 errors): then a variance says nothing, and Clopper and Pearson's limits for the number of
independent pairs that the units guarantee (`Units.effective_number`) take its place; [0, 0] would be wrong.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, expit, logit, stdtrit

from pairlearn.evaluation.resampling.spread import Spread
from pairlearn.types import Floats


def share_limits(estimate: Floats, spread: Spread, number: float, level: float) -> tuple[Floats, Floats]:
    """Limits of shares, shapes as the estimate; `number` of independent pairs counts where nothing varies.

    >>> still = Spread(np.zeros(()), np.zeros(()), np.zeros(()))
    >>> [float(end.round(3)) for end in share_limits(np.asarray(0.0), still, 50, 0.95)]
    [0.0, 0.071]
    """
    varies = (spread.variance > 0) & (estimate > 0) & (estimate < 1)
    safe, t = np.where(varies, estimate, 0.5), np.where(varies, quantile(spread, level), 0.0)
    half = t * np.sqrt(spread.variance) / (safe * (1 - safe))
    bend = np.minimum(np.abs(spread.acceleration) * t, 0.5) * np.sign(spread.acceleration)
    low, high = counted_limits(estimate, number, level)
    low = np.where(varies, expit(logit(safe) - half / (1 + bend)), low)
    return low, np.where(varies, expit(logit(safe) + half / (1 - bend)), high)


def plain_limits(estimate: float, half: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """estimate ± half, cut off at the bounds.

    >>> plain_limits(0.5, 1.0, (0.0, float("inf")))
    (0.0, 1.5)
    """
    low, high = bounds
    return float(np.maximum(estimate - half, low)), float(np.minimum(estimate + half, high))


def half_width(spread: Spread, level: float) -> float:
    """t·s: half the width of limits on the plain scale, 0 where nothing varies."""
    return float(quantile(spread, level) * np.sqrt(spread.variance))


def quantile(spread: Spread, level: float) -> Floats:
    """The t of two-sided limits at this level, with the degrees of freedom of the spread."""
    return np.asarray(stdtrit(spread.degrees, 0.5 + level / 2))


def counted_limits(estimate: Floats, number: float, level: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's limits of a share of `number` independent pairs, which need not be whole.

    >>> [float(end.round(3)) for end in counted_limits(np.asarray(0.0), 25, 0.95)]
    [0.0, 0.137]
    """
    errors, tail = estimate * number, (1 - level) / 2
    low = np.where(estimate > 0, betaincinv(np.maximum(errors, 1e-9), number - errors + 1, tail), 0.0)
    high = np.where(estimate < 1, betaincinv(errors + 1, np.maximum(number - errors, 1e-9), 1 - tail), 1.0)
    return low, high
