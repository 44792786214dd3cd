"""Verdicts: the limits decide, hindsight is paid for, and every situation has its words and its next step."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from pairlearn.errors import InputError
from pairlearn.evaluation import (
    AUC,
    EER,
    AccuracyAt,
    DPrime,
    Scores,
    Verdict,
    difference_interval,
    equal_error_rate,
    verdict,
)
from pairlearn.evaluation.intervals import Interval
from pairlearn.evaluation.verdicts import SEARCH, THRESHOLD

Simulate = Callable[..., Scores]


def interval(low: float, high: float, n_units: int = 500, unit: str = "identity") -> Interval:
    return Interval((low + high) / 2, low, high, 0.95, (high - low) / 4, 60.0, "jackknife", unit, n_units)


@pytest.mark.parametrize("measure", [EER(), AUC(), DPrime()], ids=lambda each: each.key)
@pytest.mark.parametrize(("shift", "other"), [(3.0, 1.5), (2.0, 2.0), (1.5, 3.0)])
def test_the_limits_of_the_paired_difference_decide(simulate: Simulate, measure, shift: float, other: float) -> None:
    model, baseline = simulate(shift), simulate(other, seed=1)
    found = verdict(model, {"cosine": baseline}, measure=measure)
    wanted = difference_interval(model, baseline, measure)
    assert found.difference == wanted
    assert (found.value, found.against) == (measure.value(model), {"cosine": measure.value(baseline)})
    sign = 1 if measure.larger_is_better else -1
    gains = sorted((sign * wanted.low, sign * wanted.high))
    assert found.relation == ("better" if gains[0] > 0 else "worse" if gains[1] < 0 else "tied")
    assert found.relation == {3.0: "better", 2.0: "tied", 1.5: "worse"}[shift]


def test_the_best_baseline_is_named_and_its_hindsight_paid_for(simulate: Simulate) -> None:
    model = simulate(2.0)
    baselines = {f"b{k}": simulate(2.0 + 0.1 * k, seed=k + 1) for k in range(5)}
    found = verdict(model, baselines)
    rates = {name: equal_error_rate(scores) for name, scores in baselines.items()}
    assert found.best == min(rates, key=lambda name: rates[name])
    assert f"than {found.best}, the best of 5 baselines here" in found.words
    plain = difference_interval(model, baselines[found.best], EER())
    assert found.difference.high == plain.high  # what decides about "better" stays
    t = stats.t(plain.degrees).ppf(1 - 0.025 / 5)
    assert found.difference.low == pytest.approx(plain.estimate - t * plain.standard_error, abs=1e-12)


def test_the_side_of_worse_is_the_upper_one_where_larger_is_better(simulate: Simulate) -> None:
    model, others = simulate(2.5), {"a": simulate(1.0, seed=1), "b": simulate(1.5, seed=2)}
    found, plain = verdict(model, others, measure=AUC()), difference_interval(model, others["b"], AUC())
    assert found.best == "b"
    assert (found.relation, found.difference.low) == ("better", plain.low)
    assert found.difference.high > plain.high


def test_equal_baselines_seldom_make_a_model_look_worse() -> None:
    """Nine baselines as good as the model: without hindsight's price one in eight tests would call it worse."""
    rng = np.random.default_rng(0)
    left, right = np.triu_indices(90, 1)
    one, other = left // 3, right // 3
    same = one == other
    plain = corrected = better = 0
    for _ in range(60):
        common, effect = rng.normal(size=len(left)), rng.normal(size=(10, 30))
        values = 2.5 * same + common + rng.normal(size=(10, len(left))) / 2 + (effect[:, one] + effect[:, other]) / 2
        model, *rest = (Scores(each, np.where(same, 1, -1), left, right, one, other) for each in values)
        found = verdict(model, dict(zip("abcdefghi", rest, strict=True)))
        best = dict(zip("abcdefghi", rest, strict=True))[found.best]
        plain += difference_interval(model, best, EER()).low > 0
        corrected, better = corrected + (found.relation == "worse"), better + (found.relation == "better")
    assert plain >= 6
    assert corrected <= 3
    assert better <= 1


def test_preferences_are_judged_by_the_share_of_right_orders() -> None:
    rng = np.random.default_rng(0)
    strength, (left, right) = rng.normal(size=60), np.triu_indices(60, 1)
    truth = np.where(rng.random(len(left)) < stats.norm.cdf(strength[left] - strength[right]), 1, -1)

    def ranked(noise: float) -> Scores:
        seen = strength + noise * rng.normal(size=60)
        return Scores(seen[left] - seen[right], truth, left, right)

    found = verdict(ranked(0.1), {"win rate": ranked(1.5)}, measure=AccuracyAt(0.0), use="Rank with it.")
    assert (found.relation, found.difference.unit, found.next_step) == ("better", "example", "Rank with it.")


def test_units_fall_back_and_the_sentence_says_so(simulate: Simulate) -> None:
    model, baseline = simulate(3.0), simulate(2.0, seed=1)
    assert "95 % limits over 40 identities)" in verdict(model, {"b": baseline}).words
    model, baseline = (replace(each, left_identity=None, right_identity=None) for each in (model, baseline))
    assert "over 120 examples, too narrow where" in verdict(model, {"b": baseline}).words
    model, baseline = (replace(each, left=None, right=None) for each in (model, baseline))
    assert "over 7,140 pairs, taken for independent" in verdict(model, {"b": baseline}).words
    tiny = verdict(model[np.array([0, 2, 3])], {"b": baseline[np.array([0, 2, 3])]})
    assert (tiny.relation, tiny.difference.n_units) == ("tied", 0)
    assert "too few pairs for limits" in tiny.words
    assert "more pairs" in tiny.next_step


def test_every_situation_has_its_next_step() -> None:
    def step(low: float, high: float, n_units: int = 500, search: str = SEARCH, best: str = "Euclid") -> str:
        return Verdict(EER(), 0.05, {best: 0.06}, interval(low, high, n_units), search=search).next_step

    assert step(-0.02, -0.01) == THRESHOLD
    assert (
        step(0.01, 0.02) == "Use Euclid: it needs no training; or try `pairlearn select`, which compares many machines."
    )
    assert step(0.01, 0.02, search="", best="plda") == "Use plda: it is simpler."
    assert step(-0.01, 0.02) == "Try `pairlearn select`, which compares many machines."
    assert step(-0.01, 0.02, search="") == "Use Euclid, which is as good here: it needs no training."
    # The very same scores: no number of identities would tell them apart.
    assert step(0.0, 0.0, n_units=5, search="").startswith("Use Euclid, which is as good")


def test_a_tie_of_few_identities_asks_for_as_many_as_would_tell() -> None:
    # ± 4 points at 40 identities are ± 1 point, the difference seen, at 16 times as many.
    few = Verdict(EER(), 0.05, {"Euclid": 0.06}, interval(-0.05, 0.03, n_units=40))
    assert few.next_step == (
        "Test on more identities: 40 leave ± 4 points open; about 640 would tell such a difference."
    )
    # A difference that is nearly none would take any number.
    none = replace(few, difference=interval(-0.0401, 0.0399, n_units=40))
    assert none.next_step == "Test on more identities: 40 leave ± 4 points open."


def test_words_have_the_unit_of_the_measure() -> None:
    found = interval(0.01, 0.03)
    assert "EER 5 % against 3 %, +2 points [+1, +3] (" in Verdict(EER(), 0.05, {"b": 0.03}, found).words
    assert "AUC 0.98 against 0.96, +0.02 [+0.01, +0.03] (" in Verdict(AUC(), 0.98, {"b": 0.96}, found).words
    named = Verdict(EER(), 0.05, {"b": 0.03}, found, subject="tensor").words
    assert named.startswith("tensor is worse than b: ")


def test_a_record_holds_plain_numbers(simulate: Simulate) -> None:
    model = simulate(3.0)
    told = verdict(model, {"cosine": simulate(2.0, seed=1)}).as_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert (told["relation"], told["best"], told["unit"], told["n_units"]) == ("better", "cosine", "identity", 40)
    tiny = Scores([1.0, 0.0, 0.5], [1, -1, -1])
    open_ended = verdict(tiny, {"b": tiny}).as_json()
    assert open_ended["difference"] == {"value": 0.0, "low": None, "high": None}


def test_measures_without_influences_repeat_by_seed(simulate: Simulate) -> None:
    def share_above(scores: Scores) -> float:
        return float(np.mean(scores.positives > np.median(scores.negatives)))

    model, other = simulate(1.0, n=12), {"b": simulate(0.5, seed=1, n=12)}
    first, again, third = (verdict(model, other, measure=share_above, seed=seed) for seed in (0, 0, 1))
    assert first.difference == again.difference != third.difference


def test_what_cannot_be_compared_is_refused(simulate: Simulate) -> None:
    model = simulate(2.0, n=10)
    with pytest.raises(InputError, match="needs a baseline"):
        verdict(model, {})
    with pytest.raises(InputError, match="the same pairs in the same order"):
        verdict(model, {"b": model[::-1]})
