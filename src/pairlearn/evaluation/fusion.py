"""One score from several systems that scored the same pairs, and the logistic regression behind it.

fused = Σ_k w_k·(s_k − c_k) + b. What differs is how w, c and b are learnt from development scores. Reflexive pairs are
fused like all others, but nothing is learnt from them. Platt's calibration is the case of one system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from pairlearn.errors import InputError
from pairlearn.evaluation.scores import Scores, check_scores
from pairlearn.types import Bools, Floats
from pairlearn.words import counted

COLUMNS = ("labels", "left", "right", "left_identity", "right_identity")


@dataclass(frozen=True, eq=False)
class FittedFusion:
    """fused = Σ_k weights_k·(s_k − centres_k) + offset; weights and centres of shape (n_systems,).

    >>> voice, face = Scores([1.0, 2.0], [-1, 1]), Scores([5.0, 9.0], [-1, 1])
    >>> FittedFusion(np.array([1.0, 0.5]), np.array([0.0, 5.0]), 0.0).fuse([voice, face]).values.tolist()
    [1.0, 4.0]
    """

    weights: Floats
    centres: Floats
    offset: float

    def __post_init__(self) -> None:
        if self.weights.ndim != 1 or self.weights.shape != self.centres.shape:
            raise InputError(f"one centre per weight, got shapes {self.centres.shape} and {self.weights.shape}")

    def fuse(self, systems: Sequence[Scores]) -> Scores:
        """One value per pair, with the labels and ids of the systems, in the order of systems used for fitting."""
        table = same_pairs(systems)
        if len(systems) != len(self.weights):
            raise InputError(
                f"this fusion was fitted with {counted(len(self.weights), 'system')}, got {len(systems)}; "
                "give the scores of the same systems in the same order"
            )
        return replace(systems[0], values=(table - self.centres) @ self.weights + self.offset)


@dataclass(frozen=True)
class SumFusion:
    """fused = Σ_k s_k, for systems on one scale, such as log-likelihood ratios of independent sources.

    >>> systems = [Scores([1.0, 2.0], [-1, 1]), Scores([5.0, 9.0], [-1, 1])]
    >>> SumFusion().fit(systems).fuse(systems).values.tolist()
    [6.0, 11.0]
    """

    def fit(self, systems: Sequence[Scores]) -> FittedFusion:
        """Count the systems."""
        k = same_pairs(systems).shape[1]
        return FittedFusion(np.ones(k), np.zeros(k), 0.0)


@dataclass(frozen=True)
class ZNormFusion:
    """fused = Σ_k (s_k − mean_k)/deviation_k, both over all development pairs of two different examples.

    >>> systems = [Scores([1.0, 3.0], [-1, 1]), Scores([50.0, 90.0], [-1, 1])]
    >>> ZNormFusion().fit(systems).fuse(systems).values.tolist()
    [-2.0, 2.0]
    """

    def fit(self, systems: Sequence[Scores]) -> FittedFusion:
        """Learn mean and deviation of each system; labels do not matter."""
        Z, centre, spread = standardise(same_pairs([system.without_reflexive() for system in _listed(systems)]))
        constant = np.flatnonzero(~Z.any(axis=0))
        if len(constant):
            raise InputError(f"system {constant[0]} gives the same value to every pair, so it says nothing; drop it")
        return FittedFusion(1.0 / spread, centre, 0.0)


@dataclass(frozen=True)
class LogisticFusion:
    """Learnt weights, pulled towards the best single system; fused values are log-likelihood ratios.

    min Σ log loss(w, b) + ½ ridge ‖w − w*‖² over standardised scores; w* is the Platt curve, alone, of the system whose
    curve has the least log loss. So on the development pairs the log loss is never above that of any single system,
    and few of them cannot do harm: ridge → ∞ gives w*. Weights may be negative. From the log-odds that are learnt,
    logit of the share of positive pairs is subtracted.

    >>> rng = np.random.default_rng(0)
    >>> labels = np.where(np.arange(300) < 100, 1, -1)
    >>> systems = [Scores(labels + rng.normal(size=300), labels), Scores(labels + 3 * rng.normal(size=300), labels)]
    >>> (LogisticFusion().fit(systems).weights > 0).tolist()
    [True, True]
    """

    ridge: float = 1.0

    def fit(self, systems: Sequence[Scores]) -> FittedFusion:
        """Learn from positive and negative pairs."""
        if not 0 < self.ridge < np.inf:
            raise InputError(f"ridge must be a finite number > 0, got {self.ridge}; try 1.0")
        Z, centre, spread = standardise(same_pairs([both_labels(system) for system in _listed(systems)]))
        positive = both_labels(systems[0]).labels > 0
        start, offset = _best_alone(Z, positive)
        weights, offset = minimise_log_loss(Z, positive, start, offset, self.ridge / len(Z))
        return FittedFusion(weights / spread, centre, offset - float(logit(positive.mean())))


def _best_alone(Z: Floats, positive: Bools) -> tuple[Floats, float]:
    """Weights (k,), all zero but one, and offset of the Platt curve with the least log loss."""
    curves = [platt(z, positive) for z in Z.T]
    losses = [_loss(slope * z + offset, positive) for z, (slope, offset, _) in zip(Z.T, curves, strict=True)]
    best = int(np.argmin(losses))
    slope, offset, _ = curves[best]
    return np.where(np.arange(Z.shape[1]) == best, slope, 0.0), offset


# --------------------------------------------------------------------------- input


def same_pairs(systems: Sequence[Scores]) -> Floats:
    """The values of all systems, (n_pairs, n_systems), if labels and ids agree."""
    first, *others = _listed(systems)
    for number, other in enumerate(others, 1):
        for name in COLUMNS:
            if not np.array_equal(getattr(first, name), getattr(other, name)):
                raise InputError(
                    f"systems 0 and {number} differ in {name}; score the same pairs in the same order with all systems"
                )
    return np.column_stack([system.values for system in (first, *others)])


def _listed(systems: Iterable[Scores]) -> list[Scores]:
    if isinstance(systems, Scores) or not (found := list(systems)) or not all(isinstance(s, Scores) for s in found):
        raise InputError("fusion takes a list of Scores, one per system, such as [Scores(…), Scores(…)]")
    return found


def both_labels(scores: Scores) -> Scores:
    """The scores without reflexive pairs, if positive and negative ones are left."""
    kept = check_scores(scores).without_reflexive()
    n_positives = len(kept.positives)
    if 0 < n_positives < len(kept):
        return kept
    raise InputError(
        f"{n_positives} positive and {len(kept) - n_positives} negative pairs of two different examples are too few; "
        f"add pairs of {'different classes' if n_positives else 'the same class'}"
    )


# --------------------------------------------------------------------------- logistic regression


def standardise(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Columns (n, k) with mean 0 and deviation 1, their means and deviations; a constant column becomes 0.

    >>> standardise(np.array([[1.0, 7.0], [3.0, 7.0]]))[0].tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    low, high = values.min(axis=0), values.max(axis=0)
    varies = high > low
    if max(-low.min(), high.max()) > 1e150 or np.any(varies & (high - low < 1e-150)):
        raise InputError("scores reach beyond 1e150 or differ by less than 1e-150; rescale them, e.g. to ±1")
    centre, spread = values.mean(axis=0), np.where(varies, values.std(axis=0), 1.0)
    return np.where(varies, (values - centre) / spread, 0.0), centre, spread


def platt(z: Floats, positive: Bools) -> tuple[float, float, float]:
    """Slope a ≥ 0 and offset b of the log-odds az + b with the least log loss against targets, and the mean target.

    Platt's targets, (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), keep the curve finite; z is standardised, (n_pairs,).

    >>> platt(np.array([1.0, -1.0]), np.array([False, True]))
    (0.0, 0.0, 0.5)
    """
    p, n = int(positive.sum()), int((~positive).sum())
    targets = np.where(positive, (p + 1) / (p + 2), 1 / (n + 2))
    mean = float(targets.mean())
    weights, offset = minimise_log_loss(z[:, None], targets, np.zeros(1), float(logit(mean)), 0.0)
    return (float(weights[0]), offset, mean) if weights[0] > 0 else (0.0, float(logit(mean)), mean)


def minimise_log_loss(
    Z: Floats, targets: Floats | Bools, start: Floats, offset: float, ridge: float
) -> tuple[Floats, float]:
    """Weights w (k,) and offset b with the least mean log(1 + e^η) − tη + ½ ridge ‖w − start‖², η = Zw + b, by Newton.

    >>> w, b = minimise_log_loss(np.array([[1.0], [-1.0]]), np.array([0.75, 0.25]), np.zeros(1), 0.0, 0.0)
    >>> float(np.exp(w[0]).round(9)), abs(b) < 1e-9
    (3.0, True)
    """
    A, origin = np.column_stack([Z, np.ones(len(Z))]), np.append(start, offset)
    penalty = np.append(np.full(len(start), ridge), 0.0)

    def loss(x: Floats) -> float:
        return _loss(A @ x, targets) + float(0.5 * penalty @ (x - origin) ** 2)

    x, now, size = origin, loss(origin), 1.0
    for _ in range(200):
        p = expit(A @ x)
        gradient = A.T @ (p - targets) / len(A) + penalty * (x - origin)
        hessian = (A * (p * (1.0 - p))[:, None]).T @ A / len(A) + np.diag(penalty)
        # A little of the identity keeps the step finite where all probabilities are 0 or 1.
        step = np.linalg.solve(hessian + 1e-12 * np.eye(len(x)), gradient)
        gain, size = float(gradient @ step), 1.0
        if gain < 1e-12 * now:
            x = x - step
            break
        while size > 1e-9 and loss(x - size * step) > now - 1e-4 * size * gain:
            size /= 2
        if size <= 1e-9:
            break
        x = x - size * step
        now = loss(x)
    return x[:-1], float(x[-1])


def _loss(eta: Floats, targets: Floats | Bools) -> float:
    return float(np.mean(np.logaddexp(0.0, eta) - targets * eta))


# --------------------------------------------------------------------------- log loss of probabilities


def log_loss(probabilities: Any, labels: Any) -> float:
    """Mean −log p over positive and −log(1 − p) over negative pairs; p is kept 2e-16 away from 0 and 1.

    >>> round(log_loss([0.5, 0.25], [1, -1]), 4)
    0.4904
    """
    p, positive = check_probabilities(probabilities, labels)
    eps = np.finfo(np.float64).eps
    return float(-np.mean(np.log(np.clip(np.where(positive, p, 1.0 - p), eps, 1.0 - eps))))


def check_probabilities(probabilities: Any, labels: Any) -> tuple[Floats, Bools]:
    """Probabilities and which pairs are positive, (n_pairs,), or an error that says what to do."""
    pairs = Scores(probabilities, labels)
    if not len(pairs) or pairs.values.min() < 0 or pairs.values.max() > 1:
        raise InputError("probabilities must be one or more numbers from 0 to 1; calibrate scores first")
    return pairs.values, pairs.labels > 0
