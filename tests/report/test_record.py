"""The record against the library's own rates and intervals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.errors import InputError
from pairlearn.evaluation import (
    FmrAt,
    FnmrAt,
    Scores,
    area_under_roc,
    cllr,
    difference_interval,
    equal_error_rate,
    fnmr_at_fmr,
    interval,
    min_cllr,
    rates_at,
    verdict,
)
from pairlearn.evaluation.measures import Rate
from pairlearn.evaluation.resampling import fmr_limits_along, fnmr_limits_along, units_of
from pairlearn.report import as_json, as_markdown, evaluate
from pairlearn.report.codes import distinct, numbered
from pairlearn.report.curves import thin
from pairlearn.report.details import worst_errors


def codes(record: dict[str, object]) -> set[str]:
    return {warning["code"] for warning in record["warnings"]}  # type: ignore[index,union-attr]


def anonymous(scores: Scores) -> Scores:
    return Scores(scores.values, scores.labels)


# --------------------------------------------------------------------------- the same numbers


def test_rates_and_limits_are_the_librarys(systems: dict[str, Scores]) -> None:
    record = evaluate(systems, baselines=["cosine"])
    for system in record["systems"]:
        scores = systems[system["name"]]
        measured: list[tuple[Rate, dict[str, float]]] = [
            (equal_error_rate, system["eer"]),
            (area_under_roc, system["auc"]),
        ]
        for point in system["points"]:
            if point["kind"] == "fmr" and point["measurable"]:
                measured.append((partial(fnmr_at_fmr, fmr=point["at"]), point["fnmr"]))
        assert len(measured) == 5  # 7020 negatives measure FMR down to 1e-3
        for rate, found in measured:
            wanted = interval(scores, rate, method="jackknife")
            assert [found["value"], found["low"], found["high"]] == pytest.approx(
                [wanted.estimate, wanted.low, wanted.high], rel=1e-9
            )
            assert found["value"] == rate(scores)


def test_the_costs_of_likelihood_ratios_are_the_librarys(systems: dict[str, Scores]) -> None:
    for system in evaluate(systems, baselines=["cosine"])["systems"]:
        scores = systems[system["name"]]
        assert system["cllr"] == {"value": cllr(scores), "low": None, "high": None}
        assert system["min_cllr"] == {"value": min_cllr(scores), "low": None, "high": None}
        assert 0 < system["min_cllr"]["value"] < min(system["cllr"]["value"], 1)


@pytest.mark.parametrize("scale", [1e200, 1e306])
def test_values_near_the_largest_number_leave_measures_out_not_the_record(
    systems: dict[str, Scores], scale: float
) -> None:
    scores = systems["model"]
    record = evaluate({"m": replace(scores, values=scale * scores.values)})
    assert json.loads(as_json(record)) == record
    system = record["systems"][0]
    assert system["d_prime"] is None
    assert (system["cllr"] is None) == (scale == 1e306)  # the sum of 7020 such values overflows
    assert system["min_cllr"]["value"] == pytest.approx(min_cllr(scores), rel=1e-12)
    assert system["eer"]["value"] == equal_error_rate(scores)
    assert "– |" in as_markdown(record)


def test_only_min_cllr_survives_a_change_of_scale(systems: dict[str, Scores]) -> None:
    scores = systems["model"]
    stretched = replace(scores, values=5 * scores.values - 3)
    one, other = (evaluate({"m": each})["systems"][0] for each in (scores, stretched))
    assert other["min_cllr"]["value"] == pytest.approx(one["min_cllr"]["value"], rel=1e-12)
    assert abs(other["cllr"]["value"] - one["cllr"]["value"]) > 0.1


def test_every_point_of_the_curve_has_the_librarys_rates(systems: dict[str, Scores]) -> None:
    record = evaluate(systems, threshold={"model": 1.25}, cost=(10, 1, 0.2))
    for system in record["systems"]:
        scores, curve = systems[system["name"]], system["curve"]
        assert 500 < len(curve["thresholds"]) <= 1000
        for k in range(0, len(curve["thresholds"]), 37):
            rates = rates_at(scores, curve["thresholds"][k])
            assert curve["false_matches"][k] / system["counts"]["negatives"] == rates.fmr
            assert curve["false_non_matches"][k] / system["counts"]["positives"] == rates.fnmr
            for name, rate in (("fmr", FmrAt), ("fnmr", FnmrAt)):
                wanted = interval(scores, rate(curve["thresholds"][k]), method="jackknife")
                assert curve[f"{name}_low"][k] == pytest.approx(wanted.low, rel=1e-3)
                assert curve[f"{name}_high"][k] == pytest.approx(wanted.high, rel=1e-3)
        for point in (point for point in system["points"] if point["measurable"]):
            rates = rates_at(scores, point["threshold"])
            assert (point["fmr"]["value"], point["fnmr"]["value"]) == rates
            assert point["kind"] != "fmr" or rates.fmr <= point["at"]


@pytest.mark.parametrize("unit", ["identity", "example", "pair"])
def test_limits_at_many_thresholds_equal_single_intervals(systems: dict[str, Scores], unit: str) -> None:
    scores = replace(systems["model"], values=systems["model"].values.round(1))
    thresholds = np.array([-9.0, -1.0, 0.5, 1.3, 2.0, 5.0, 9.0])
    units = units_of(scores, unit)
    for limits, rate in ((fmr_limits_along, FmrAt), (fnmr_limits_along, FnmrAt)):
        found = limits(scores, units, thresholds, 0.9)
        for k, threshold in enumerate(thresholds):
            wanted = interval(scores, rate(float(threshold)), method="jackknife", unit=unit, level=0.9)
            assert [found.low[k], found.high[k]] == pytest.approx([wanted.low, wanted.high], rel=1e-6, abs=1e-12)


def test_the_given_threshold_and_the_cheapest_one(systems: dict[str, Scores]) -> None:
    record = evaluate(systems, baselines=["cosine"], threshold=1.25, cost=(10, 1, 0.2))
    model, cosine = record["systems"]
    assert [point["kind"] for point in model["points"][:3]] == ["given", "eer", "cost"]
    assert model["points"][model["operating"]]["threshold"] == 1.25
    assert model["curve"]["thresholds"].count(1.25) == 1
    assert cosine["points"][cosine["operating"]]["kind"] == "cost"

    def cost(threshold: float) -> float:
        rates = rates_at(systems["model"], threshold)
        return 10 * 0.8 * rates.fmr + 0.2 * rates.fnmr

    cheapest = model["points"][2]
    assert cheapest["at"] == pytest.approx(cost(cheapest["threshold"]))
    assert all(cheapest["at"] <= cost(each) + 1e-12 for each in systems["model"].values[::50])


def test_differences_are_paired(systems: dict[str, Scores]) -> None:
    record = evaluate(systems, baselines=["cosine"])
    eer, fnmr = record["differences"]
    wanted = difference_interval(systems["model"], systems["cosine"], equal_error_rate, method="jackknife")
    assert [eer["value"], eer["low"], eer["high"]] == pytest.approx([wanted.estimate, wanted.low, wanted.high])
    assert (fnmr["measure"], fnmr["at"]) == ("fnmr", 1e-2)  # the strictest one with ten false matches
    told = record["systems"][0]["verdict"]
    assert (told["relation"], told["best"], told["difference"]["high"]) == ("better", "cosine", eer["high"])
    assert told["words"] in record["verdict"][0]
    assert told["next_step"] in record["verdict"][0]
    assert not {"not_better", "not_surely_better"} & codes(record)


def test_d_prime_of_normal_scores_and_its_limits() -> None:
    rng = np.random.default_rng(0)
    draws, held = [], 0
    for _ in range(60):
        values = np.concatenate([rng.normal(2, 1, 150), rng.normal(0, 1, 300)])
        found = evaluate({"m": Scores(values, np.repeat([1, -1], [150, 300]))}, fmrs=[0.1])["systems"][0]["d_prime"]
        draws.append(found["value"])
        held += found["low"] < 2 < found["high"]
    assert np.mean(draws) == pytest.approx(2, abs=0.06)
    assert held >= 52
    assert evaluate({"m": Scores([1.0, 0.0], [1, -1])}, fmrs=[0.1])["systems"][0]["d_prime"] is None


def test_histogram_and_worst_errors_count_every_pair(systems: dict[str, Scores]) -> None:
    scores = systems["model"]
    system = evaluate({"model": scores})["systems"][0]
    assert sum(system["histogram"]["positives"]) == len(scores.positives)
    assert sum(system["histogram"]["negatives"]) == len(scores.negatives)
    matches, misses = system["worst"]["false_matches"], system["worst"]["false_non_matches"]
    assert [row["value"] for row in matches] == sorted(scores.negatives, reverse=True)[:20]
    assert [row["value"] for row in misses] == sorted(scores.positives)[:20]
    columns = ("values", "left", "right", "left_identity", "right_identity")
    pairs = list(zip(*(getattr(scores, name).tolist() for name in columns), scores.labels.tolist(), strict=True))
    for rows, label, sign in ((matches, -1, -1), (misses, 1, 1)):
        wanted = sorted((pair for pair in pairs if pair[-1] == label), key=lambda pair: sign * pair[0])[:20]
        assert [tuple(row.values()) for row in rows] == [pair[:-1] for pair in wanted]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(-3, 3)), min_size=1), st.integers(1, 8))
def test_worst_errors_list_every_two_examples_once(drawn: list[tuple[int, int, int]], most: int) -> None:
    kept = [each for each in drawn if each[0] != each[1]]
    left, right, values = ([each[side] for each in kept] for side in range(3))
    scores = Scores(np.array(values, dtype=float), -np.ones(len(kept), dtype=int), np.array(left), np.array(right))
    worst: dict[frozenset[int], float] = {}
    for a, b, value in kept:
        worst[frozenset((a, b))] = max(value, worst.get(frozenset((a, b)), -np.inf))
    found = worst_errors(scores, most=most)["false_matches"]
    assert [row["value"] for row in found] == sorted(worst.values(), reverse=True)[:most]
    assert len({frozenset((row["left"], row["right"])) for row in found}) == len(found)
    assert all(worst[frozenset((int(row["left"]), int(row["right"])))] == row["value"] for row in found)


def test_pairs_without_ids_are_all_listed() -> None:
    found = worst_errors(Scores([1.0, 1.0, 0.5], [-1, -1, 1]))
    assert [row["value"] for row in found["false_matches"]] == [1.0, 1.0]


def test_groups_have_the_rates_of_their_pairs(systems: dict[str, Scores]) -> None:
    scores = systems["model"]
    groups = np.where(np.arange(len(scores)) % 3 == 0, "a", "b")
    system = evaluate({"model": scores}, groups=groups)["systems"][0]
    threshold = system["points"][system["operating"]]["threshold"]
    for row in system["groups"]:
        part = scores[groups == row["group"]]
        assert (row["fmr"]["value"], row["fnmr"]["value"]) == rates_at(part, threshold)
        assert row["eer"]["value"] == equal_error_rate(part)
        wanted = interval(part, FmrAt(threshold), method="jackknife")
        assert row["fmr"]["high"] == pytest.approx(wanted.high)


def test_a_group_of_one_label_has_one_rate(systems: dict[str, Scores]) -> None:
    scores = systems["model"]
    rows = evaluate({"m": scores}, groups=np.where(scores.labels > 0, "same", "other"))["systems"][0]["groups"]
    assert [(row["fmr"] is None, row["fnmr"] is None) for row in rows] == [(False, True), (True, False)]


def test_thin_curves_keep_shape_and_ends() -> None:
    rng = np.random.default_rng(0)
    scores = Scores(np.r_[rng.normal(2, 1, 20_000), rng.normal(0, 1, 200_000)], np.repeat([1, -1], [20_000, 200_000]))
    from scipy.special import ndtri

    from pairlearn.evaluation import det_curve

    curve = det_curve(scores)
    rows = thin(curve, 20_000, 200_000, np.array([5, 77]))
    assert len(rows) <= 1000
    assert {0, 5, 77, len(curve.fmr) - 1} <= set(rows.tolist())
    inside = (curve.fmr > 1e-4) & (curve.fmr < 0.999) & (curve.fnmr > 1e-3) & (curve.fnmr < 0.999)
    between = np.interp(
        curve.thresholds[inside], curve.thresholds[rows[:-1]], ndtri(np.clip(curve.fnmr[rows[:-1]], 1e-6, 1 - 1e-6))
    )
    assert np.abs(between - ndtri(curve.fnmr[inside])).max() < 0.03


# --------------------------------------------------------------------------- honesty


def test_unmeasurable_rates_are_not_given(systems: dict[str, Scores]) -> None:
    record = evaluate({"model": systems["model"]}, fmrs=[1e-2, 1e-4, 1e-5])
    hidden = [point for point in record["systems"][0]["points"] if point["kind"] == "fmr" and not point["measurable"]]
    assert [point["at"] for point in hidden] == [1e-4, 1e-5]
    assert all("fnmr" not in point and "threshold" not in point for point in hidden)
    text = next(warning["text"] for warning in record["warnings"] if warning["code"] == "few_negatives")
    assert "7,020 negative pairs" in text
    assert "10,000" in text


def test_limits_fall_back_and_say_so(systems: dict[str, Scores]) -> None:
    scores = systems["model"]
    by_example = evaluate({"m": replace(scores, left_identity=None, right_identity=None)})
    assert (by_example["systems"][0]["unit"], "unit_example" in codes(by_example)) == ("example", True)
    by_pair = evaluate({"m": anonymous(scores)})
    assert (by_pair["systems"][0]["unit"], "unit_pair" in codes(by_pair)) == ("pair", True)
    assert by_pair["systems"][0]["counts"]["identities"] is None
    nothing = evaluate({"m": Scores([1.0, 0.0, 0.5], [1, -1, -1])})
    assert nothing["systems"][0]["eer"] == {"value": 0.0, "low": None, "high": None}
    assert {"no_limits", "unit_refused", "few_positives"} <= codes(nothing)
    alone = Scores([1.0, 0.9, 0.0, 0.1], [1, 1, -1, -1], left_identity=[0, 0, 0, 0], right_identity=[0, 0, 1, 2])
    assert {"unit_refused", "few_identities"} <= codes(evaluate({"m": alone}))


def test_reflexive_pairs_ties_and_contradictions_are_told(systems: dict[str, Scores]) -> None:
    scores = systems["model"]
    assert scores.left is not None
    assert scores.right is not None
    right = scores.right.copy()
    right[:7] = scores.left[:7]
    record = evaluate(
        {"m": replace(scores, right=right, values=scores.values.round())}, groups=np.full(len(scores), "g")
    )
    assert record["systems"][0]["counts"]["reflexive"] == 7
    assert record["systems"][0]["groups"][0]["counts"]["pairs"] == len(scores) - 7
    assert {"reflexive", "ties"} <= codes(record)
    swapped = scores.labels.copy()
    swapped[:3] *= -1
    assert "contradictions" in codes(evaluate({"m": replace(scores, labels=swapped)}))
    assert not {"reflexive", "ties", "contradictions"} & codes(evaluate({"m": scores}))
    assert "reversed" in codes(evaluate({"m": replace(scores, values=-scores.values)}))


def test_shared_identities_are_told(systems: dict[str, Scores]) -> None:
    trained = {"identities": {"person 3", "somebody"}, "examples": {"picture 5"}}
    record = evaluate({"m": systems["model"]}, trained=trained)
    assert {"shared_identities", "shared_examples"} <= codes(record)
    text = next(warning["text"] for warning in record["warnings"] if warning["code"] == "shared_identities")
    assert text.startswith("1 of 40 identities were seen in training (person 3)")
    assert "shared_identities" not in codes(evaluate({"m": systems["model"]}, trained={"identities": {"nobody"}}))
    assert "unknown_identities" in codes(evaluate({"m": anonymous(systems["model"])}, trained=trained))


def test_a_model_that_does_not_beat_the_baseline_is_told(systems: dict[str, Scores]) -> None:
    worse = evaluate(dict(reversed(systems.items())), baselines=["model"])
    assert "not_better" in codes(worse)
    assert "It is worse than model: EER" in worse["verdict"][0]
    assert worse["systems"][0]["verdict"]["relation"] == "worse"
    near = replace(systems["model"], values=systems["model"].values + 1e-3 * np.sin(np.arange(len(systems["model"]))))
    unsure = evaluate({"m": near, "b": systems["model"]}, baselines=["b"])
    assert "not_surely_better" in codes(unsure)
    assert unsure["systems"][0]["verdict"]["relation"] == "tied"


def test_the_verdict_is_that_of_the_library_and_agrees_with_the_rows(simulate: Callable[..., Scores]) -> None:
    systems = {"m": simulate(2.4), **{f"b{k}": simulate(2.0 + 0.2 * k, seed=k + 1) for k in range(3)}}
    record = evaluate(systems, baselines=["b0", "b1", "b2"])
    told = verdict(systems["m"], {name: scores for name, scores in systems.items() if name != "m"}).as_json()
    found = record["systems"][0]["verdict"]
    assert {key: found[key] for key in ("relation", "best", "unit", "n_units")} == {
        key: told[key] for key in ("relation", "best", "unit", "n_units")
    }
    row = next(r for r in record["differences"] if (r["baseline"], r["measure"]) == (found["best"], "eer"))
    assert [row[end] for end in ("value", "low", "high")] == pytest.approx(list(told["difference"].values()))
    assert list(found["difference"].values()) == [row[end] for end in ("value", "low", "high")]


def test_systems_on_other_pairs_are_not_compared(systems: dict[str, Scores]) -> None:
    record = evaluate({"model": systems["model"], "cosine": systems["cosine"][::-1]}, baselines=["cosine"])
    assert record["differences"] == []
    assert "other_pairs" in codes(record)
    assert "other pairs" in record["verdict"][0]


def test_a_shared_column_does_not_mix_up_the_other_one(systems: dict[str, Scores]) -> None:
    one = replace(systems["model"], left_identity=None, right_identity=None)
    assert one.right is not None
    other = replace(one, right=np.char.add(one.right, "'"))
    together, alone = evaluate({"a": one, "b": other})["systems"][1], evaluate({"b": other})["systems"][0]
    assert (together["eer"], together["curve"]) == (alone["eer"], alone["curve"])


def test_the_same_numbers_are_not_the_same_ids(systems: dict[str, Scores], simulate: Callable[..., Scores]) -> None:
    renamed = simulate(2.0, picture="photo", person="someone")
    assert evaluate({"model": systems["model"], "cosine": renamed}, baselines=["cosine"])["differences"] == []


def numbered_like(scores: Scores) -> tuple[Scores, dict[str, list[str]]]:
    columns: dict[str, np.ndarray] = {}
    names = {}
    for kind, sides in {"examples": ("left", "right"), "identities": ("left_identity", "right_identity")}.items():
        both = np.concatenate([getattr(scores, side) for side in sides])
        names[kind] = ["", *np.unique(both).tolist()]  # a name that nobody has changes nothing
        columns |= {side: np.searchsorted(names[kind], getattr(scores, side)) for side in sides}
    return replace(scores, **columns), names


def test_numbers_with_names_give_the_same_record_as_the_names(systems: dict[str, Scores]) -> None:
    numbers, names = numbered_like(systems["model"])
    trained = {"identities": {"person 3"}, "examples": {"picture 5"}}
    assert evaluate({"m": numbers}, names=names, trained=trained) == evaluate({"m": systems["model"]}, trained=trained)


def test_numbers_without_a_name_are_refused(systems: dict[str, Scores]) -> None:
    numbers, names = numbered_like(systems["model"])
    for scores, known in (
        (numbers, names | {"examples": names["examples"][:-1]}),
        (systems["model"], names),
        (replace(numbers, left_identity=-np.ones(len(numbers), dtype=int)), names),
    ):
        with pytest.raises(InputError, match="must be numbers of the"):
            evaluate({"m": scores}, names=known)


def test_progress_is_told(systems: dict[str, Scores]) -> None:
    told: list[str] = []
    evaluate(systems, baselines=["cosine"], progress=told.append)
    assert [text for text in told if text.startswith("intervals")] == ["intervals of model", "intervals of cosine"]


@given(
    st.lists(st.integers(-3, 40), min_size=1, max_size=12),
    st.lists(st.integers(-3, 40), min_size=1, max_size=12),
    st.sampled_from([np.int64, np.int16, np.float64, str]),
)
def test_counted_codes_equal_sorted_ones(one: list[int], other: list[int], dtype: type) -> None:
    n = min(len(one), len(other))
    left, right = np.array(one[:n]).astype(dtype), np.array(other[:n]).astype(dtype)
    names, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
    assert np.array_equal(np.concatenate(numbered(left, right)), codes)
    assert np.array_equal(distinct(left, right), names)


def test_the_record_is_json_and_repeatable(systems: dict[str, Scores]) -> None:
    record = evaluate(systems, baselines=["cosine"], title="T", task="who", source="x.csv", notes=["seen twice"])
    assert json.loads(as_json(record)) == record
    assert (
        evaluate(systems, baselines=["cosine"], title="T", task="who", source="x.csv", notes=["seen twice"]) == record
    )
    assert (record["format"], record["version"], record["source"]) == ("pairlearn evaluation", 1, ["x.csv"])
    assert record["warnings"][0] == {"code": "note", "text": "seen twice", "systems": []}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"systems": {}}, "nothing to evaluate"),
        ({"baselines": ["euclid"]}, "not among the systems"),
        ({"fmrs": [0.0]}, "between 0 and 1"),
        ({"level": 1.0}, "level must be"),
        ({"threshold": float("nan")}, "finite"),
        ({"cost": (1.0,)}, "cost is"),
        ({"cost": (1.0, -1.0)}, "positive costs"),
        ({"groups": np.array(["a"])}, "one entry for each"),
        ({"groups": np.arange(7140)}, "at most 50"),
    ],
)
def test_bad_input_is_refused(systems: dict[str, Scores], change: dict[str, object], words: str) -> None:
    given = {"systems": systems, **change}
    with pytest.raises(InputError, match=words):
        evaluate(given.pop("systems"), **given)  # type: ignore[arg-type]


def test_one_label_alone_is_refused() -> None:
    with pytest.raises(InputError, match="positive and negative"):
        evaluate({"m": Scores([1.0, 2.0], [1, 1])})
