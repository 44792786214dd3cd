"""The record as Markdown and as CSV, and the words for numbers that the page and the terminal use too.

Tables loop over `MEASURES`: a measure has a column wherever its key stands in the record, written in its unit. Records
of other versions may lack a measure; it is shown as "–".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from pairlearn.evaluation import EER, MEASURES, FnmrAtFmr
from pairlearn.evaluation.measures import BITS, PERCENT, PLAIN
from pairlearn.evaluation.verdicts import relation_of

Record = Mapping[str, Any]

COLUMNS = ("system", "baseline", "group", "measure", "at", "value", "low", "high", "threshold", "unit", "note")
NOT_MEASURABLE = "not measurable with this many negatives"
COUNTS = ("pairs", "positives", "negatives", "examples", "identities", "reflexive")
"""What is counted of every system."""


# --------------------------------------------------------------------------- words for numbers


def per_cent(value: float | None) -> str:
    """A rate as a percentage with three or more digits.

    >>> per_cent(0.12345), per_cent(0.0001234), per_cent(0.0), per_cent(None)
    ('12.35 %', '0.0123 %', '0 %', '–')
    """
    if value is None:
        return "–"
    if value == 0:
        return "0 %"
    return f"{100 * value:.2f} %" if abs(value) >= 0.00995 else f"{100 * value:.3g} %"


def four_digits(value: float | None) -> str:
    """A number that is not a percentage.

    >>> four_digits(0.98765), four_digits(None)
    ('0.9877', '–')
    """
    return "–" if value is None else f"{value:.4f}"


WRITTEN: dict[str, Callable[[float | None], str]] = {PERCENT: per_cent, BITS: four_digits, PLAIN: four_digits}
"""How the numbers of each unit are written."""


def rate_words(measured: Record | None, unit: str = PERCENT) -> str:
    """A number between its limits, in its unit.

    >>> measured = {"value": 0.1, "low": 0.05, "high": 0.2}
    >>> rate_words(measured), rate_words(measured, "plain")
    ('10.00 % [5.00, 20.00]', '0.1000 [0.0500, 0.2000]')
    """
    if measured is None:
        return "–"
    words = WRITTEN[unit]
    if measured["low"] is None:
        return words(measured["value"])
    low, high = (words(measured[side]).removesuffix(" %") for side in ("low", "high"))
    return f"{words(measured['value'])} [{low}, {high}]"


def short_words(measured: Record) -> str:
    """A rate between its limits with three digits, for sentences.

    >>> short_words({"value": 0.12345, "low": 0.1, "high": 0.2})
    '12.3 % [10, 20]'
    """
    limits = "" if measured["low"] is None else f" [{100 * measured['low']:.3g}, {100 * measured['high']:.3g}]"
    return f"{100 * measured['value']:.3g} %{limits}"


def are(number: int) -> str:
    """The verb after a number of things."""
    return "is" if number == 1 else "are"


def measure_words() -> str:
    """What the less known measures are, for under a table.

    >>> measure_words().split(":")[0]
    'min Cllr'
    """
    return " ".join(f"{each.name}: {each.explanation}." for each in MEASURES if each.explanation)


def point_name(point: Record) -> str:
    """What a threshold is good for.

    >>> point_name({"kind": "fmr", "at": 0.001})
    'FMR ≤ 0.1 %'
    """
    names = {"given": "given threshold", "eer": "equal error rate", "cost": "least cost"}
    return names.get(point["kind"]) or f"FMR ≤ {100 * point['at']:g} %"


def difference_words(row: Record) -> str:
    """A difference to a baseline in percentage points."""
    limits = "" if row["low"] is None else f" [{100 * row['low']:+.3g}, {100 * row['high']:+.3g}]"
    return f"{100 * row['value']:+.3g}{limits}"


def row_relation(row: Record) -> str:
    """What a difference means, by its limits: better, tied or worse than the baseline.

    >>> row_relation({"value": -0.02, "low": -0.03, "high": -0.01})
    'better'
    """
    return relation_of(row["low"], row["high"])


def measure_name(row: Record) -> str:
    """The measure of a difference in words."""
    return EER().name if row["measure"] == EER.key else FnmrAtFmr(row["at"]).name


# --------------------------------------------------------------------------- Markdown


def as_markdown(record: Record) -> str:
    """Return the record as a Markdown page: verdict, warnings, tables."""
    parts = [f"# {_plain(record['title'])}", _plain(record["task"]), *map(_plain, record["verdict"])]
    if record["warnings"]:
        parts += ["## Warnings", "\n".join(f"* {_plain(warning_words(each))}" for each in record["warnings"])]
    parts += ["## Summary", _summary(record), measure_words(), "## Thresholds", _thresholds(record)]
    if record["differences"]:
        rows = [
            (row["system"], row["baseline"], measure_name(row), difference_words(row), row_relation(row))
            for row in record["differences"]
        ]
        head = ("system", "baseline", "measure", "difference in points (below 0 is better)", "relation")
        parts += ["## Against the baselines", _table(head, rows)]
    groups = [_group_row(system, row) for system in record["systems"] for row in system["groups"] or ()]
    if groups:
        parts += ["## Subgroups", _table(("system", "group", "pairs", "FMR", "FNMR", "own EER"), groups)]
    parts += ["## Data", _data(record)]
    return "\n\n".join(part for part in parts if part) + "\n"


def warning_words(warning: Record) -> str:
    """A warning with the systems that it is about.

    >>> warning_words({"systems": ["a", "b", "c", "d", "e"], "text": "few pairs"})
    'a, b, c and 2 more: few pairs'
    """
    names = warning["systems"]
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    return (f"{', '.join(names[: 3 if more else 4])}{more}: " if names else "") + warning["text"]


def _summary(record: Record) -> str:
    """One line per system: every measure, then FNMR at every FMR that was asked for."""
    head = ["system", *(measure.name for measure in MEASURES), *(FnmrAtFmr(fmr).name for fmr in record["fmrs"])]
    rows = []
    for system in record["systems"]:
        cells = [rate_words(system.get(measure.key), measure.unit) for measure in MEASURES]
        cells += [_missed(point) for point in system["points"] if point["kind"] == "fmr"]
        rows.append((titled(system), *cells))
    return _table(head, rows)


def _missed(point: Record) -> str:
    """FNMR at an FMR, if there are negative pairs enough to measure it."""
    return rate_words(point["fnmr"]) if point["measurable"] else "not measurable"


def unmeasurable(record: Record) -> list[float]:
    """The FMRs at which no system has enough negative pairs."""
    points = [point for system in record["systems"] for point in system["points"] if point["kind"] == "fmr"]
    return [fmr for fmr in record["fmrs"] if not any(each["at"] == fmr and each["measurable"] for each in points)]


def titled(system: Record) -> str:
    """The name of a system, marked if it is untrained."""
    return f"{system['name']} (untrained)" if system["baseline"] else str(system["name"])


def _thresholds(record: Record) -> str:
    """One line per system and threshold worth knowing; those that cannot be measured have none."""
    rows = []
    for system in record["systems"]:
        for point in system["points"]:
            if point["measurable"]:
                found = (rate_words(point["fmr"]), rate_words(point["fnmr"]))
                rows.append((titled(system), point_name(point), f"{point['threshold']:.8g}", *found))
    return _table(("system", "for", "threshold", "FMR", "FNMR"), rows)


def _group_row(system: Record, row: Record) -> tuple[str, ...]:
    """Rates of one subgroup at the threshold of the whole, and its own equal error rate."""
    rates = (rate_words(row[name]) for name in ("fmr", "fnmr", "eer"))
    return (titled(system), row["group"], f"{row['counts']['pairs']:,}", *rates)


def _data(record: Record) -> str:
    """Where the scores came from, how many there are, and what the limits are over."""
    rows = []
    for system in record["systems"]:
        counts = system["counts"]
        cells = ("unknown" if counts[name] is None else f"{counts[name]:,}" for name in COUNTS)
        rows.append((titled(system), *cells, system["unit"] or "none"))
    head = ("system", "pairs", "same", "different", "examples", "identities", "reflexive left out", "limits over each")
    note = f"Limits hold the truth in {100 * record['level']:g} % of such tests. pairlearn {record['pairlearn']}."
    sources = "\n".join(f"* {_plain(source)}" for source in record["source"])
    return "\n\n".join(part for part in (sources, _table(head, rows), note) if part)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; cells are escaped here, once."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_plain(cell) for cell in line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line.

    >>> print(_plain("a|b <i>*c*"))
    a\\|b &lt;i&gt;\\*c\\*
    """
    line = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return line if line == "---" else re.sub(r"([\\`*_|\[\]~])", r"\\\1", line)


# --------------------------------------------------------------------------- CSV


def as_csv(record: Record) -> str:
    """Return the record as CSV, one line per number, all digits."""
    buffer = StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(record))
    return buffer.getvalue()


def _rows(record: Record) -> Iterator[dict[str, Any]]:
    for system in record["systems"]:
        yield from _system_rows(system)
    for row in record["differences"]:
        note = f"difference to {row['baseline']}"
        known = {"system": _cell(row["system"]), "baseline": 0, "at": row["at"], "note": note}
        yield known | {"measure": f"{row['measure']}_difference"} | _numbers(row)


def _system_rows(system: Record) -> Iterator[dict[str, Any]]:
    """Counts, measures, points and subgroups of one system, one number per row."""
    who = {"system": _cell(system["name"]), "baseline": int(system["baseline"]), "unit": system["unit"] or ""}
    for name in COUNTS:
        if system["counts"][name] is not None:
            yield who | {"measure": name, "value": system["counts"][name]}
    for measure in MEASURES:
        yield who | {"measure": measure.key, "note": measure.caution} | _numbers(system.get(measure.key))
    for point in system["points"]:
        yield from (who | row for row in _point_rows(point))
    for group in system["groups"] or ():
        for name in ("fmr", "fnmr", "eer"):
            yield who | {"group": _cell(group["group"]), "measure": name} | _numbers(group[name])


def _point_rows(point: Record) -> Iterator[dict[str, Any]]:
    """FMR and FNMR at one threshold, or that they cannot be measured."""
    at = {"eer": "eer", "cost": "cost", "given": "given"}.get(point["kind"], point["at"])
    if not point["measurable"]:
        yield {"measure": "fnmr_at", "at": at, "note": NOT_MEASURABLE}
        return
    for name in ("fmr", "fnmr"):
        yield {"measure": f"{name}_at", "at": at, "threshold": repr(point["threshold"])} | _numbers(point[name])


def _numbers(measured: Record | None) -> dict[str, Any]:
    """Value and limits with all digits; nothing where there is no number."""
    if measured is None:
        return {}
    return {key: "" if measured[key] is None else repr(measured[key]) for key in ("value", "low", "high")}


def _cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    >>> _cell("=1+1"), _cell("model")
    ("'=1+1", 'model')
    """
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
