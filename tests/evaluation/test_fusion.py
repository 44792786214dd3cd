"""Fusion against closed forms, brute-force minimisation, scikit-learn and its promise on the training pairs."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from pairlearn.errors import InputError
from pairlearn.evaluation import Scores, equal_error_rate
from pairlearn.evaluation.calibration import LogisticCalibration, cllr
from pairlearn.evaluation.fusion import (
    FittedFusion,
    LogisticFusion,
    SumFusion,
    ZNormFusion,
    log_loss,
    minimise_log_loss,
)

unhurried = settings(deadline=None, max_examples=60)
every_fusion = pytest.mark.parametrize("fusion", [SumFusion(), ZNormFusion(), LogisticFusion()])


def systems(n: int, qualities: Any, seed: int, share: float = 0.3) -> list[Scores]:
    """Systems with independent normal scores on the same pairs, of different scale and offset."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < share, 1, -1)
    labels[:2] = 1, -1
    signals = [quality * (labels > 0) + rng.normal(size=n) for quality in qualities]
    return [Scores(10.0**k * signal + k, labels) for k, signal in enumerate(signals)]


def probabilities(fused: Scores) -> Any:
    """What fused log-likelihood ratios say with the share of positive pairs as prior."""
    return expit(fused.values + logit(np.mean(fused.labels > 0)))


@st.composite
def small_systems(draw: Any) -> list[Scores]:
    """A few systems with many ties: useless, reversed, equal, constant and separating ones among them."""
    n = draw(st.integers(2, 15))
    labels = [1, -1, *draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))]
    values = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    return [Scores(draw(values), labels) for _ in range(draw(st.integers(1, 4)))]


# --------------------------------------------------------------------------- what each does


def test_sum_adds_and_keeps_who_is_in_the_pair() -> None:
    ids: dict[str, Any] = {"left": [0, 1], "right": [1, 2], "left_identity": ["a", "b"], "right_identity": ["b", "b"]}
    one, other = Scores([1.0, 2.0], [-1, 1], **ids), Scores([0.5, -9.0], [-1, 1], **ids)
    fused = SumFusion().fit([one, other]).fuse([one, other])
    assert fused.values.tolist() == [1.5, -7.0]
    assert fused.labels.tolist() == [-1, 1]
    assert fused.right_identity is not None
    assert fused.right_identity.tolist() == ["b", "b"]


def test_z_norm_uses_means_and_deviations_of_the_development_scores() -> None:
    development, test = systems(200, [1, 2, 3], 0), systems(30, [1, 2, 3], 1)
    expected = sum((t.values - d.values.mean()) / d.values.std() for d, t in zip(development, test, strict=True))
    np.testing.assert_allclose(ZNormFusion().fit(development).fuse(test).values, expected, atol=1e-12)


def test_logistic_with_hardly_any_ridge_is_plain_logistic_regression() -> None:
    development = systems(400, [1.0, 2.0, 0.5], 2)
    fitted = LogisticFusion(ridge=1e-9).fit(development)
    table = np.column_stack([system.values / 10.0**k for k, system in enumerate(development)])
    plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(table, development[0].labels)
    expected = plain.decision_function(table) - logit(np.mean(development[0].labels > 0))
    np.testing.assert_allclose(fitted.fuse(development).values, expected, atol=1e-4)


@unhurried
@given(small_systems(), st.sampled_from([1e-2, 1.0, 30.0]))
def test_logistic_minimises_the_loss_of_the_docstring(group: list[Scores], ridge: float) -> None:
    labels, table = group[0].labels > 0, np.column_stack([system.values for system in group])
    spread = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    curves = [LogisticCalibration().fit(system) for system in group]
    losses = [log_loss(c.probability(s.values), s.labels) for c, s in zip(curves, group, strict=True)]
    fitted = LogisticFusion(ridge).fit(group)

    def objective(x: Any, target: Any) -> float:
        eta = (table - table.mean(axis=0)) / spread @ x[:-1] + x[-1]
        penalty = 0.5 * ridge * np.sum((x[:-1] - target) ** 2)
        return float(np.sum(np.logaddexp(0, eta) - labels * eta) + penalty)

    own = np.append(fitted.weights * spread, fitted.offset + logit(labels.mean()))
    checked = []
    for best in np.flatnonzero(np.array(losses) <= min(losses) + 1e-9):  # systems may be equally good
        target = np.where(np.arange(len(group)) == best, curves[best].curve.slope * spread[best], 0.0)
        brute = minimize(objective, np.append(target, 0.0), args=(target,), tol=1e-12)
        checked.append(objective(own, target) <= brute.fun + 1e-6)
    assert any(checked)


@unhurried
@given(small_systems(), st.sampled_from([1e-6, 1e-2, 1.0, 1e6]))
def test_logistic_is_never_worse_than_the_best_system_on_its_training_pairs(group: list[Scores], ridge: float) -> None:
    alone = [log_loss(LogisticCalibration().fit(system).probability(system.values), system.labels) for system in group]
    fused = LogisticFusion(ridge).fit(group).fuse(group)
    assert log_loss(probabilities(fused), fused.labels) <= min(alone) + 1e-9


def test_much_ridge_gives_the_best_system_alone() -> None:
    group = systems(300, [0.5, 2.0, 1.0], 3)
    fused = LogisticFusion(ridge=1e12).fit(group)
    best = LogisticCalibration().fit(group[1])
    np.testing.assert_allclose(fused.weights, [0.0, best.curve.slope, 0.0], atol=1e-9)
    np.testing.assert_allclose(probabilities(fused.fuse(group)), best.probability(group[1].values), atol=2e-3)


def test_independent_normal_systems_get_the_weights_of_theory() -> None:
    # log N(s; q, 1)/N(s; 0, 1) = q s − q²/2, and ratios of independent systems add up.
    development, test = systems(100_000, [1.0, 2.0], 4, share=0.1), systems(100_000, [1.0, 2.0], 5, share=0.1)
    fitted = LogisticFusion().fit(development)
    np.testing.assert_allclose(fitted.weights * [1, 10], [1.0, 2.0], rtol=0.05)
    expected = test[0].values - 0.5 + 2 * (test[1].values - 1) / 10 - 2
    np.testing.assert_allclose(fitted.fuse(test).values, expected, atol=0.4)
    fused, alone = fitted.fuse(test), LogisticCalibration().fit(development[1])
    assert cllr(fused) < cllr(Scores(alone.llr(test[1].values), test[1].labels))
    assert equal_error_rate(fused) < min(equal_error_rate(system) for system in test)


def test_equal_systems_share_the_weight_and_change_nothing() -> None:
    one = systems(200, [1.5], 6)[0]
    twice, once = LogisticFusion(1e-6).fit([one, one]), LogisticFusion(1e-6).fit([one])
    np.testing.assert_allclose(twice.fuse([one, one]).values, once.fuse([one]).values, atol=1e-4)


def test_separated_and_constant_systems_have_finite_weights() -> None:
    labels = np.repeat([1, -1], [20, 500])
    group = [Scores(labels * 1e6, labels), Scores(np.zeros(520), labels), Scores(labels * 1e-9 + 1, labels)]
    fitted = LogisticFusion().fit(group)
    assert np.isfinite(fitted.weights).all()
    assert fitted.weights[1] == 0.0
    assert equal_error_rate(fitted.fuse(group)) == 0.0


def test_newton_finds_a_far_optimum() -> None:
    z = np.r_[np.full(10**5, -0.001), np.full(10, 100.0)][:, None]
    targets = np.where(z[:, 0] > 0, 1 - 1e-9, 1e-9)
    w, b = minimise_log_loss(z, targets, np.zeros(1), 0.0, 0.0)
    np.testing.assert_allclose(z[[0, -1], 0] * w[0] + b, [logit(1e-9), logit(1 - 1e-9)], rtol=1e-4)


# --------------------------------------------------------------------------- laws of all


@every_fusion
@unhurried
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_systems_and_pairs_does_not_matter(fusion: Any, seed: int) -> None:
    group = systems(40, [1.0, 2.0, 0.0], seed)
    order = np.random.default_rng(seed).permutation(40)
    values = fusion.fit(group).fuse(group).values
    np.testing.assert_allclose(fusion.fit(group[::-1]).fuse(group[::-1]).values, values, atol=1e-6)
    shuffled = [system[order] for system in group]
    np.testing.assert_allclose(fusion.fit(shuffled).fuse(shuffled).values, values[order], atol=1e-6)


@pytest.mark.parametrize("fusion", [ZNormFusion(), LogisticFusion()])
@unhurried
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-50, 0.1, 1e50]))
def test_learnt_fusion_does_not_see_the_scale_of_a_system(fusion: Any, seed: int, scale: float) -> None:
    group = systems(40, [1.0, 2.0], seed)
    scaled = [Scores((group[0].values + 5) * scale, group[0].labels), group[1]]
    one, other = fusion.fit(group).fuse(group), fusion.fit(scaled).fuse(scaled)
    np.testing.assert_allclose(one.values, other.values, atol=1e-5)


@every_fusion
def test_reflexive_pairs_are_fused_but_teach_nothing(fusion: Any) -> None:
    def pairs(values: list[float], *more: float) -> Scores:
        k = len(more)
        return Scores([*values, *more], [1, -1, 1, -1] + [1] * k, [0, 1, 2, 3] + [7] * k, [1, 2, 3, 0] + [7] * k)

    without = [pairs([1.0, 0.0, 2.0, 1.5]), pairs([4.0, 1.0, 0.0, 3.0])]
    reflexive = [pairs([1.0, 0.0, 2.0, 1.5], 90.0), pairs([4.0, 1.0, 0.0, 3.0], 80.0)]
    np.testing.assert_array_equal(fusion.fit(without).weights, fusion.fit(reflexive).weights)
    assert len(fusion.fit(reflexive).fuse(reflexive)) == 5


@every_fusion
def test_one_system_is_fine(fusion: Any) -> None:
    group = systems(50, [1.0], 0)
    fused = fusion.fit(group).fuse(group)
    np.testing.assert_array_equal(np.argsort(fused.values), np.argsort(group[0].values))


# --------------------------------------------------------------------------- refusals


@every_fusion
def test_systems_must_agree_about_the_pairs(fusion: Any) -> None:
    one = Scores([1.0, 2.0, 3.0], [1, -1, 1], [0, 1, 2], [1, 2, 0])
    fitted = fusion.fit([one, one])
    others = {
        "labels": Scores([1.0, 2.0, 3.0], [1, -1, -1], [0, 1, 2], [1, 2, 0]),
        "right": Scores([1.0, 2.0, 3.0], [1, -1, 1], [0, 1, 2], [1, 2, 3]),
        "left": Scores([1.0, 2.0, 3.0], [1, -1, 1]),
        "left_identity": Scores([1.0, 2.0, 3.0], [1, -1, 1], [0, 1, 2], [1, 2, 0], [0, 0, 1], [0, 1, 1]),
    }
    for name, other in others.items():
        for use in (fusion.fit, fitted.fuse):
            with pytest.raises(InputError, match=f"systems 0 and 1 differ in {name}; score the same pairs"):
                use([one, other])
    with pytest.raises(InputError, match="systems 0 and 1 differ in labels"):
        fitted.fuse([one, one[:2]])
    with pytest.raises(InputError, match="fitted with 2 systems, got 3"):
        fitted.fuse([one, one, one])
    for bad in ([], one, [one, one.values]):
        with pytest.raises(InputError, match="a list of Scores, one per system"):
            fusion.fit(bad)
        with pytest.raises(InputError, match="a list of Scores, one per system"):
            fitted.fuse(bad)


def test_bad_development_scores_are_refused_with_advice() -> None:
    labels = [1, 1, -1]
    with pytest.raises(InputError, match="system 1 gives the same value to every pair"):
        ZNormFusion().fit([Scores([1.0, 2.0, 3.0], labels), Scores([2.0, 2.0, 2.0], labels)])
    with pytest.raises(InputError, match="add pairs of different classes"):
        LogisticFusion().fit([Scores([1.0, 2.0], [1, 1])])
    with pytest.raises(InputError, match="rescale"):
        LogisticFusion().fit([Scores([1e200, 2.0], [1, -1])])
    for ridge in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="ridge must be"):
            LogisticFusion(ridge).fit([Scores([1.0, 2.0], [1, -1])])


def test_fitted_fusion_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        FittedFusion(np.ones(1), np.zeros(1), 0.0).offset = 1.0
