"""The table and the goals of `real_solver.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Figure
from benchmarks.real_rows import GOALS, SPECIAL

Rows = dict[str, dict[str, dict[str, Any]]]
MANY, LIBSVM_FROM = 40_000, 10_000
FEW_FEATURES = 40
"""Explicit features up to which our time is judged by LIBLINEAR's."""


def ratio(parts: dict[str, dict[str, Any]], rival: str) -> float | None:
    """Seconds of a rival / ours, a lower bound where it reached its limit; None if it was not measured."""
    seconds, mine = parts.get(rival, {}).get("seconds"), parts.get("ours", {}).get("seconds")
    return seconds / mine if seconds and mine else None


def by_name(parts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Paths by name and the choice, "auto": in one process; of a long row, whose choice is measured once, our fit."""
    found = {part.removeprefix("forced "): one for part, one in parts.items() if part.startswith("forced")}
    return {"auto": parts["ours"], **found} if found else {}


def best_path(parts: dict[str, dict[str, Any]]) -> str | None:
    """The fastest of these that ended within its limit."""
    ended = {name: one["seconds"] for name, one in by_name(parts).items() if one.get("status") == "converged"}
    return min(ended, key=ended.__getitem__) if ended else None


def choice(parts: dict[str, dict[str, Any]]) -> float | None:
    """Seconds of the choice / those of the best path."""
    best, found = best_path(parts), by_name(parts)
    return found["auto"]["seconds"] / found[best]["seconds"] if best else None


# --------------------------------------------------------------------------- the table


def bound(parts: dict[str, dict[str, Any]], rival: str) -> str:
    """The ratio to a rival, ">" where it is a lower bound."""
    value = ratio(parts, rival)
    if value is None:
        return "–"
    return f"{'' if parts[rival]['status'] == 'converged' else '>'}{value:.3g}"


HEAD = ["row", "pairs", "seconds", "gemm", "steps", "support", "free", "gap", "GB (plan)", "path", "× old", "× LIBSVM",
        "× LIBLINEAR", "/ best", "best path"]  # fmt: skip


def cells(name: str, parts: dict[str, dict[str, Any]]) -> list[str]:
    """One fit, below `HEAD`: what it took, how it ended, and how many times longer each rival took."""
    mine = parts.get("ours", {})
    if "gap" not in mine:
        return [name, mine.get("status", "not measured"), *([""] * (len(HEAD) - 2))]
    chosen, ended = choice(parts), "" if mine["status"] == "converged" else f" ({mine['status']})"
    return [
        name,
        f"{mine['pairs']:,}",
        f"{mine['seconds']:,.2f}",
        f"{mine['seconds'] / mine['gemm']:,.1f}",
        *(f"{mine[key]:,}" for key in ("outer", "support", "free")),
        f"{mine['gap']:.1e}{ended}",
        f"{mine['used_gb']:.2f} ({mine['plan_gb']:.2f})",
        mine["path"] or "–",
        *(bound(parts, rival) for rival in ("old", "libsvm", "linear")),
        "–" if chosen is None else f"{chosen:.2f}",
        best_path(parts) or "–",
    ]


def table(rows: Rows) -> None:
    """Every row, and what the special ones say."""
    lines = [HEAD, *(cells(name, parts) for name, parts in rows.items() if name not in SPECIAL)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print()
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    for name in SPECIAL:
        for part, found in rows.get(name, {}).items():
            for key, value in found.items():
                lines = value.items() if key in ("settings", "paths", "fits") else [(key, value)]
                print("\n".join(f"{name} {part} {each}: {what}" for each, what in lines))


# --------------------------------------------------------------------------- the goals


def figures(rows: Rows, quick: bool) -> list[Figure]:
    """The goals; of a part that was left out there is no figure, and a quick run is not judged."""
    fits = {name: parts for name, parts in rows.items() if name not in SPECIAL}
    found = [*of_all(fits), *of_rivals(fits), *of_goals(fits), *of_special(rows)]
    return [Figure(name, float(value), goal, judged=not quick) for name, value, goal in found]


Found = list[tuple[str, float, str | None]]


def of_all(fits: Rows) -> Found:
    """What holds of every row."""
    ended = [parts["ours"].get("status") == "converged" for parts in fits.values()]
    choices = [value for value in map(choice, fits.values()) if value is not None]
    found: Found = [("rows measured", len(fits), ">= 30"), ("rows that did not converge", ended.count(False), "== 0")]
    if choices:
        found += [
            ("time / best path by name, worst row", max(choices), "<= 2"),
            ("share of rows within 1.3 of the best path", float(np.mean(np.array(choices) <= 1.3)), ">= 0.9"),
        ]
    return found


def of_rivals(fits: Rows) -> Found:
    """LIBSVM and LIBLINEAR."""
    sized = [(parts["ours"].get("pairs", 0), ratio(parts, "libsvm")) for parts in fits.values()]
    ratios = [value for n, value in sized if value is not None and n >= LIBSVM_FROM]
    many = [value for n, value in sized if value is not None and n >= MANY]
    pairs = [(parts["ours"], parts.get("libsvm", {})) for parts in fits.values()]
    excess = [(a["objective"] - b["objective"]) / abs(b["objective"]) for a, b in pairs if "objective" in b]
    few = [parts for parts in fits.values() if parts.get("linear", {}).get("features", np.inf) <= FEW_FEATURES]
    slower = [1.0 / value for parts in few if (value := ratio(parts, "linear"))]
    found: Found = []
    if ratios:
        found.append(("times faster than LIBSVM from 10,000 pairs on, least", min(ratios), ">= 1"))
    if many:
        found.append(("times faster than LIBSVM from 40,000 pairs on, median", float(np.median(many)), ">= 30"))
    if excess:
        found.append(("relative objective above LIBSVM's, most", max(excess), "<= 1e-5"))
    if slower:
        found.append(("few features: time / LIBLINEAR's, worst row", max(slower), "<= 5"))
    return found


def of_goals(fits: Rows) -> Found:
    """Rows with goals of their own."""
    found: Found = []
    for key, row in GOALS.items():
        parts = fits.get(row.name, {})
        mine, old = parts.get("ours", {}), ratio(parts, "old")
        if "gap" not in mine:
            continue
        gemms, metric = mine["seconds"] / mine["gemm"], row.kernel == "metric"
        least = {300: ">= 10", 800: ">= 4" if row.C <= 1 else None, 1600: ">= 2"}.get(row.m)
        if old is not None and least:
            found.append((f"{key}: times faster than the old solver", old, least))
        if metric and row.m == 800 and row.C <= 1:
            found.append((f"{key}: outer steps", mine["outer"], "<= 45"))
        if (metric and row.C > 1) or row.m == 2500:
            found.append((f"{key}: gemm", gemms, "<= 150" if metric else "<= 900"))
            found.append((f"{key}: certified gap", mine["gap"], "<= 1e-3"))
        if not metric:
            found.append((f"{key}: GB", mine["used_gb"], "<= 3" if row.m == 1600 else "<= 6"))
    return found


def of_special(rows: Rows) -> Found:
    """Small fits, paths of C, a busy machine, made data."""
    found: Found = []
    parts = {name: rows.get(name, {}).get("ours", {}) for name in SPECIAL}
    if "settings" in parts["small"]:
        ratios = [each["ratio"] for each in parts["small"]["settings"].values()]
        found.append(("small: time / LIBSVM's, worst of the kernels", max(ratios), "<= 2"))
        found.append(("small: time / LIBSVM's, median", float(np.median(ratios)), None))
    if "paths" in parts["c_path"]:
        ratios = [each["ratio"] for each in parts["c_path"]["paths"].values()]
        found.append(("five values of C / slowest of them cold, worst way", max(ratios), "<= 2.5"))
    if "quiet" in parts["busy"]:
        quiet, loud, single = (parts["busy"][key] for key in ("quiet", "loud", "single"))
        found += [
            ("product, quiet: rate / that of BLAS", quiet["blas"] / quiet["product"], ">= 0.95"),
            ("product, busy: rate / that of one thread", single["product"] / loud["product"], ">= 1"),
            ("product, busy: rate / quiet", quiet["product"] / loud["product"], None),
            ("fit, busy: rate / that with one thread", single["fit"] / loud["fit"], ">= 1"),
            ("fit, busy: rate / quiet", quiet["fit"] / loud["fit"], None),
        ]
    mine, old = parts["synthetic"].get("fits"), rows.get("synthetic", {}).get("old", {}).get("fits")
    if mine and old:
        slower = {name: seconds / old[name] for name, seconds in mine.items()}
        worst = max(slower, key=slower.__getitem__)
        found.append((f"made data: time / that of the old solver, worst ({worst})", slower[worst], "<= 1.1"))
        found.append(("made data: time / that of the old solver, median", float(np.median([*slower.values()])), None))
    return found
