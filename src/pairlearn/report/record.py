"""One record of an evaluation: measured once, read by every format.

Keys of the record (its format and version are in it):

- `title`, `task`, `source`, `level`, `fmrs`, `cost`: what was asked; `pairlearn`: the version that answered.
- `systems`: one entry each with `name`, `baseline` (untrained), `unit` and `n_units` of its limits, `counts`, every
  measure of `MEASURES` under its key as `{value, low, high}` or null, `points` (thresholds worth knowing, with FMR and
  FNMR there), `operating` (the point that a page opens at), `curve`, `histogram`, `ties`, `worst` and `groups`.
  Of a system that is not a baseline also `verdict`: how it stands to the best baseline, or null.
- `differences`: paired differences of each system to each untrained baseline on the same pairs.
- `warnings`, each with a stable `code`, and `verdict`, what is to be said of each system in words.

The way: check → leave reflexive pairs out → number the ids → measure each system → compare → warn.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairlearn._version import __version__
from pairlearn.errors import InputError
from pairlearn.evaluation import EER, FnmrAtFmr, Interval, Measure, Scores, Verdict
from pairlearn.evaluation.intervals import paired_difference
from pairlearn.evaluation.scores import Column
from pairlearn.evaluation.verdicts import best_of, in_hindsight
from pairlearn.report.codes import KINDS, Names, numbered
from pairlearn.report.details import group_rates, worst_errors
from pairlearn.report.doubts import SIDES, baseline_doubts, doubt, doubts_about, leak_doubts, pair_doubts, same_pairs
from pairlearn.report.system import Basis, Cost, Plan, basis_of, measure_system, rate_of
from pairlearn.report.text import short_words

FORMAT, VERSION = "pairlearn evaluation", 1
"""The version rises when a key goes away or changes its meaning, not when one is added."""
FMRS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Where FNMR and threshold are given unless asked otherwise."""
USE = "Choose its threshold by the false matches that you can afford, and check it on other pairs."
"""What to do with a system that is better than the baselines, once its thresholds are known."""

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

    baselines: names of the untrained systems among them. threshold: the one in use, by name or for all that are not a
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
    progress("numbering examples and identities")
    prepared = _prepared(systems, baselines, threshold, groups, names or {})
    warnings, entries, differences = [doubt("note", text) for text in notes], [], []
    for system in prepared:
        progress(f"intervals of {system.name}")
        basis = basis_of(system.coded, plan.level)
        entries.append(system.entry(basis, plan, names or {}))
        warnings += doubts_about(system.name, entries[-1], basis)
        warnings += pair_doubts(system.name, system.kept, prepared[0].kept)
        if not system.baseline:
            progress(f"differences of {system.name} to the baselines")
            differences += _compare(system, basis, entries[-1], prepared, plan.level)
    warnings += leak_doubts(prepared[0].kept, trained or {}, names) + baseline_doubts(differences)
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
        "verdict": [_told(entry, bool(baselines)) for entry in entries if not entry["baseline"]],
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
    """Some system, and no baseline that is not one of them."""
    if not systems:
        raise InputError("there is nothing to evaluate; give at least one system and its scores")
    unknown = [name for name in baselines if name not in systems]
    if unknown:
        raise InputError(f"the baseline {unknown[0]!r} is not among the systems {', '.join(map(repr, systems))}")


def _check_numbers(systems: Mapping[str, Scores], names: Names) -> None:
    """Where names are given, ids must be the numbers of names."""
    for kind, known in names.items():
        for name, scores in systems.items():
            for side in KINDS[kind]:
                column = getattr(scores, side)
                if column is not None and (
                    column.dtype.kind not in "iu" or not np.all((column >= 0) & (column < len(known)))
                ):
                    raise InputError(f"{side} of {name} must be numbers of the {len(known)} names of {kind}, from 0")


def _checked_fmrs(fmrs: Sequence[float]) -> tuple[float, ...]:
    """Each rate once, from lax to strict."""
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


# --------------------------------------------------------------------------- systems on their way into the record


@dataclass(frozen=True, eq=False)
class System:
    """One system with all that is known of it before measuring.

    given: its scores as they came. kept: without reflexive pairs. coded: the same with numbers for ids, because text is
    slow to sort and every interval sorts. Numbers stand for different ids in different systems.
    """

    name: str
    baseline: bool
    given: Scores
    kept: Scores
    coded: Scores
    threshold: float | None
    groups: Column | None

    def entry(self, basis: Basis, plan: Plan, names: Names) -> Record:
        """What the record says of it."""
        entry: Record = {"name": self.name, "baseline": self.baseline, **measure_system(basis, plan, self.threshold)}
        entry["counts"]["reflexive"] = len(self.given) - len(self.kept)
        entry["worst"] = worst_errors(self.kept, names)
        entry["groups"] = self._group_rows(entry["points"][entry["operating"]]["threshold"], plan.level)
        return entry

    def _group_rows(self, threshold: float, level: float) -> list[Record] | None:
        groups = self.groups
        if groups is None:
            return None
        if self.given.left is not None and self.given.right is not None:
            groups = groups[self.given.left != self.given.right]
        return group_rates(self.coded, groups, threshold, level)


def _prepared(
    systems: Mapping[str, Scores],
    baselines: Collection[str],
    threshold: float | Mapping[str, float] | None,
    groups: Column | Mapping[str, Column] | None,
    names: Names,
) -> list[System]:
    kept = _aligned({name: scores.without_reflexive() for name, scores in systems.items()})
    _check_numbers(kept, names)
    thresholds = _thresholds(threshold, [name for name in systems if name not in baselines])
    grouped = _groups(groups, systems)
    codes: dict[tuple[int, int], Any] = {}
    return [
        System(
            name,
            name in baselines,
            given,
            kept[name],
            _coded(kept[name], codes),
            thresholds.get(name),
            grouped.get(name),
        )
        for name, given in systems.items()
    ]


def _aligned(systems: Mapping[str, Scores]) -> dict[str, Scores]:
    """Systems on the same pairs share their columns, so that ids are numbered once."""
    first = next(iter(systems.values()))
    shared = {side: getattr(first, side) for side in SIDES}
    return {
        name: replace(scores, **shared) if scores is not first and same_pairs(first, scores) else scores
        for name, scores in systems.items()
    }


def _coded(scores: Scores, codes: dict[tuple[int, int], Any]) -> Scores:
    """The scores with numbers for ids; `codes` remembers those of columns that were numbered before."""
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


# --------------------------------------------------------------------------- systems against baselines


def _compare(system: System, basis: Basis, entry: Record, systems: Sequence[System], level: float) -> list[Record]:
    """Paired differences of a system to every baseline on the same pairs, and its verdict into its entry.

    In EER, and in FNMR at the strictest FMR that can be measured well: a system may win one and lose the other. Below 0
    is better than the baseline.
    """
    # Numbers stand for different ids in different systems, so the given ids are compared.
    rivals = {each.name: each.coded for each in systems if each.baseline and same_pairs(system.kept, each.kept)}
    strict = strictest_fmr(entry)
    measures = [EER(), *(() if strict is None else (FnmrAtFmr(strict),))]

    def difference(name: str, measure: Measure) -> Interval:
        # The best baseline is seen on the same pairs.
        found = paired_difference(basis.sample, basis.scores, rivals[name], measure, level)
        return in_hindsight(found, len(rivals))

    found = {(name, measure): difference(name, measure) for name in rivals for measure in measures}
    entry["verdict"] = _verdict(entry, rivals, {name: found[name, EER()] for name in rivals})
    return [
        {"system": system.name, "baseline": name, "measure": each.key, "at": getattr(each, "fmr", None), **rate_of(gap)}
        for (name, each), gap in found.items()
    ]


def _verdict(entry: Record, rivals: Mapping[str, Scores], differences: Mapping[str, Interval]) -> Record | None:
    """How a system stands to the best baseline; None where there is none on the same pairs."""
    if not rivals:
        return None
    against = {name: EER().value(scores) for name, scores in rivals.items()}
    gap = differences[best_of(against, EER())]
    return Verdict(EER(), entry["eer"]["value"], against, gap, subject="It", use=USE).as_json()


def strictest_fmr(entry: Record) -> float | None:
    """The smallest FMR for which ten false matches are expected, else the smallest that can be measured at all.

    With fewer than ten the rate is known to within a third at best, too little for a sentence about a system.
    """
    found = [point["at"] for point in entry["points"] if point["kind"] == "fmr" and point["measurable"]]
    solid = [at for at in found if at * entry["counts"]["negatives"] >= 10]
    return min(solid or found, default=None)


def _told(entry: Record, has_baselines: bool) -> str:
    """What is to be said of one system: its EER, its FNMR at the strictest FMR, the verdict and the next step."""
    parts = [f"{entry['name']}: EER {short_words(entry['eer'])}{_strict_words(entry)}."]
    if entry["verdict"] is not None:
        parts += [entry["verdict"]["words"], entry["verdict"]["next_step"]]
    elif has_baselines:
        parts.append("It was scored on other pairs than the baselines.")
    return " ".join(parts)


def _strict_words(entry: Record) -> str:
    """What the strictest FMR costs."""
    strict = strictest_fmr(entry)
    found = [point for point in entry["points"] if point["kind"] == "fmr" and point["at"] == strict]
    return "".join(
        f"; at FMR {100 * point['at']:g} % it misses {short_words(point['fnmr'])} of the pairs that belong together"
        f" (threshold {point['threshold']:.6g})"
        for point in found
    )


def _merged(warnings: Sequence[dict[str, str | None]]) -> list[Record]:
    """Equal warnings of several systems once, with the systems' names: ten systems on the same pairs share most."""
    merged: dict[tuple[str | None, str | None], list[str]] = {}
    for each in warnings:
        names = merged.setdefault((each["code"], each["text"]), [])
        if each["system"] is not None:
            names.append(each["system"])
    return [{"code": code, "text": text, "systems": names} for (code, text), names in merged.items()]
