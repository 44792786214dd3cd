"""One record of an evaluation: measured once, read by every format."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pairlearn._version import __version__
from pairlearn.errors import InputError
from pairlearn.evaluation import EER, FnmrAtFmr, Measure, Scores, difference_interval
from pairlearn.evaluation.scores import Column
from pairlearn.report.codes import KINDS, Names, numbered
from pairlearn.report.details import group_rates, worst_errors
from pairlearn.report.doubts import SIDES, baseline_doubts, doubt, doubts_about, leak_doubts, pair_doubts, same_pairs
from pairlearn.report.system import Cost, Plan, basis_of, measure_system, rate, rate_of
from pairlearn.report.text import difference_words, measure_name, short_words

FORMAT, VERSION = "pairlearn evaluation", 1
FMRS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

Record = dict[str, Any]


def _silent(text: str) -> None:
    """Report no progress."""


def evaluate(
    systems: Mapping[str, Scores],
    *,
    baselines: Collection[str] = (),
    title: str = "Evaluation",
    task: str = "",
    source: str | Sequence[str] = (),
    fmrs: Sequence[float] = FMRS,
    level: float = 0.95,
    threshold: float | Mapping[str, float] | None = None,
    cost: tuple[float, ...] | None = None,
    groups: Column | Mapping[str, Column] | None = None,
    trained: Mapping[str, Collection[Any]] | None = None,
    notes: Iterable[str] = (),
    names: Names | None = None,
    progress: Callable[[str], None] = _silent,
) -> Record:
    """Measure systems on pairs and return everything that is known, as a record that JSON can hold.

    baselines: names of the untrained systems among them. threshold: the one in use, by name or for all that are no
    baseline. cost: of a false match, of a false non-match and, if known, the share of positive pairs. groups: one name
    per pair, as given. trained: "identities" and "examples" of the training set. notes: further warnings.
    names: what "examples" and "identities" are called if the ids of all scores are numbers 0, 1, …; progress is told
    what is being done.

    >>> from pairlearn.evaluation import equal_error_rate
    >>> left, right = np.triu_indices(120, 1)
    >>> same = left // 3 == right // 3
    >>> values = 1.2 * same + np.sin(np.arange(len(left)))
    >>> scores = Scores(values, np.where(same, 1, -1), left, right, left // 3, right // 3)
    >>> record = evaluate({"model": scores}, task="who is who")
    >>> found = record["systems"][0]["eer"]
    >>> found["value"] == equal_error_rate(scores), found["low"] < found["value"] < found["high"]
    (True, True)
    """
    plan = Plan(_checked_fmrs(fmrs), _checked_level(level), None if cost is None else _cost(cost))
    _check_names(systems, baselines)
    kept = _aligned({name: scores.without_reflexive() for name, scores in systems.items()})
    _check_numbers(kept, names or {})
    first = next(iter(kept.values()))
    codes: dict[tuple[int, int], Any] = {}
    progress("numbering examples and identities")
    coded = {name: _coded(scores, codes) for name, scores in kept.items()}
    thresholds = _thresholds(threshold, [name for name in systems if name not in baselines])
    grouped = _groups(groups, systems)
    warnings, entries = [doubt("note", text) for text in notes], []
    for name, scores in kept.items():
        progress(f"intervals of {name}")
        basis = basis_of(coded[name], plan.level)
        entry: Record = {"name": name, "baseline": name in baselines}
        entry |= measure_system(basis, plan, thresholds.get(name))
        entry["counts"]["reflexive"] = len(systems[name]) - len(scores)
        entry["worst"] = worst_errors(scores, names)
        entry["groups"] = _group_rows(coded[name], systems[name], grouped.get(name), entry, plan.level)
        entries.append(entry)
        warnings += doubts_about(name, entry, basis) + pair_doubts(name, scores, first)
    progress("differences to the baselines")
    differences = [row for entry in entries for row in _differences(entry, entries, kept, coded, plan.level)]
    warnings += leak_doubts(first, trained or {}, names) + baseline_doubts(differences)
    return {
        "format": FORMAT,
        "version": VERSION,
        "pairlearn": __version__,
        "title": title,
        "task": task,
        "source": [source] if isinstance(source, str) else list(source),
        "level": plan.level,
        "fmrs": list(plan.fmrs),
        "cost": None if plan.cost is None else vars(plan.cost),
        "warnings": _merged(warnings),
        "verdict": [_verdict(entry, entries, differences) for entry in entries if not entry["baseline"]],
        "systems": entries,
        "differences": differences,
    }


def as_json(record: Record, *, indent: int | None = None) -> str:
    """The record as JSON, which has no NaN and no infinity.

    >>> as_json({"eer": 0.5})
    '{"eer": 0.5}'
    """
    return json.dumps(record, indent=indent, allow_nan=False)


# --------------------------------------------------------------------------- checks


def _check_names(systems: Mapping[str, Scores], baselines: Collection[str]) -> None:
    if not systems:
        raise InputError("there is nothing to evaluate; give at least one system and its scores")
    unknown = [name for name in baselines if name not in systems]
    if unknown:
        raise InputError(f"the baseline {unknown[0]!r} is not among the systems {', '.join(map(repr, systems))}")


def _check_numbers(systems: Mapping[str, Scores], names: Names) -> None:
    for kind, known in names.items():
        for name, scores in systems.items():
            for side in KINDS[kind]:
                column = getattr(scores, side)
                if column is not None and (
                    column.dtype.kind not in "iu" or not np.all((column >= 0) & (column < len(known)))
                ):
                    raise InputError(f"{side} of {name} must be numbers of the {len(known)} names of {kind}, from 0")


def _checked_fmrs(fmrs: Sequence[float]) -> tuple[float, ...]:
    bad = [fmr for fmr in fmrs if not 0 < fmr < 1]
    if bad:
        raise InputError(f"fmrs are rates between 0 and 1, got {bad[0]:g}; try 0.01 for 1 %")
    return tuple(sorted({float(fmr) for fmr in fmrs}, reverse=True))


def _checked_level(level: float) -> float:
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}; try 0.95")
    return float(level)


def _cost(cost: tuple[float, ...]) -> Cost:
    if len(cost) not in (2, 3):
        raise InputError(
            "cost is a false match's, a false non-match's and perhaps the share of positive pairs: 10,1,0.5"
        )
    return Cost(*map(float, cost))


def _thresholds(threshold: float | Mapping[str, float] | None, names: Sequence[str]) -> dict[str, float]:
    if threshold is None:
        return {}
    found = dict(threshold) if isinstance(threshold, Mapping) else dict.fromkeys(names, threshold)
    for name, value in found.items():
        if not math.isfinite(value):
            raise InputError(f"the threshold of {name} is {value}; give a finite number")
    return {name: float(value) for name, value in found.items()}


def _groups(groups: Column | Mapping[str, Column] | None, systems: Mapping[str, Scores]) -> dict[str, Column]:
    if groups is None:
        return {}
    given = groups if isinstance(groups, Mapping) else dict.fromkeys(systems, groups)
    columns = {name: np.asarray(column) for name, column in given.items()}
    for name, column in columns.items():
        if name in systems and column.shape != (len(systems[name]),):
            raise InputError(f"groups of {name} need one entry for each of its {len(systems[name])} pairs")
    return columns


# --------------------------------------------------------------------------- the same pairs


def _aligned(systems: Mapping[str, Scores]) -> dict[str, Scores]:
    """Systems on the same pairs share their columns, so that ids are numbered once."""
    first = next(iter(systems.values()))
    shared = {side: getattr(first, side) for side in SIDES}
    return {
        name: replace(scores, **shared) if scores is not first and same_pairs(first, scores) else scores
        for name, scores in systems.items()
    }


def _coded(scores: Scores, codes: dict[tuple[int, int], Any]) -> Scores:
    """The scores with numbers for ids: strings are sorted once here instead of in every interval."""
    columns: dict[str, Any] = {}
    for left, right in KINDS.values():
        one, other = getattr(scores, left), getattr(scores, right)
        if one is None:
            continue
        key = (id(one), id(other))
        if key not in codes:
            codes[key] = numbered(one, other)
        columns |= zip((left, right), codes[key], strict=True)
    return replace(scores, **columns)


def _group_rows(
    scores: Scores, given: Scores, groups: Column | None, entry: Record, level: float
) -> list[Record] | None:
    if groups is None:
        return None
    if given.left is not None and given.right is not None:
        groups = groups[given.left != given.right]
    return group_rates(scores, groups, entry["points"][entry["operating"]]["threshold"], level)


# --------------------------------------------------------------------------- systems against baselines


def _differences(
    entry: Record, entries: Sequence[Record], kept: Mapping[str, Scores], coded: Mapping[str, Scores], level: float
) -> list[Record]:
    """Paired differences of a system to every baseline on the same pairs; below 0 is better than the baseline."""
    if entry["baseline"]:
        return []
    own, strict = coded[entry["name"]], strictest_fmr(entry)
    measures: list[tuple[Measure, float | None]] = [(EER(), None)]
    if strict is not None:
        measures.append((FnmrAtFmr(strict), strict))
    rows = []
    for other in (other for other in entries if other["baseline"]):
        # Numbers stand for different ids in different systems, so the given ids are compared.
        if not same_pairs(kept[entry["name"]], kept[other["name"]]):
            continue
        for measure, at in measures:
            found = _difference(own, coded[other["name"]], measure, entry["unit"], level)
            rows.append({"system": entry["name"], "baseline": other["name"], "measure": measure.key, "at": at, **found})
    return rows


def _difference(own: Scores, theirs: Scores, measure: Measure, unit: str | None, level: float) -> Record:
    if unit is None:
        return rate(measure.value(own) - measure.value(theirs))
    return rate_of(difference_interval(own, theirs, measure, level=level, unit=unit))


def strictest_fmr(entry: Record) -> float | None:
    """The smallest FMR for which ten false matches are expected, else the smallest that can be measured at all."""
    found = [point["at"] for point in entry["points"] if point["kind"] == "fmr" and point["measurable"]]
    solid = [at for at in found if at * entry["counts"]["negatives"] >= 10]
    return min(solid or found, default=None)


def _verdict(entry: Record, entries: Sequence[Record], differences: Sequence[Record]) -> str:
    """One sentence on one system: its EER, its FNMR at the strictest FMR, and whether it beats the baselines."""
    parts = [f"{entry['name']}: EER {short_words(entry['eer'])}{_strict_verdict(entry)}"]
    rows = [row for row in differences if row["system"] == entry["name"] and row["measure"] == EER.key]
    if rows:
        parts.append(_baseline_verdict(max(rows, key=lambda row: row["value"])))
    elif any(other["baseline"] for other in entries):
        parts.append("It was scored on other pairs than the baselines")
    return ". ".join(parts) + "."


def _strict_verdict(entry: Record) -> str:
    strict = strictest_fmr(entry)
    found = [point for point in entry["points"] if point["kind"] == "fmr" and point["at"] == strict]
    return "".join(
        f"; at FMR {100 * point['at']:g} % it misses {short_words(point['fnmr'])} of the pairs that belong together"
        f" (threshold {point['threshold']:.6g})"
        for point in found
    )


def _baseline_verdict(best: Record) -> str:
    is_sure = best["high"] is not None and best["high"] < 0
    verb = "does NOT beat" if best["value"] >= 0 else "beats" if is_sure else "may or may not beat"
    by = f"{difference_words(best)} points of {measure_name(best)}"
    return f"It {verb} the best untrained baseline, {best['baseline']}: {by}"


def _merged(warnings: Sequence[dict[str, str | None]]) -> list[Record]:
    """Equal warnings of several systems once, with the systems' names."""
    merged: dict[tuple[str | None, str | None], list[str]] = {}
    for each in warnings:
        names = merged.setdefault((each["code"], each["text"]), [])
        if each["system"] is not None:
            names.append(each["system"])
    return [{"code": code, "text": text, "systems": names} for (code, text), names in merged.items()]
