"""Write docs/reproductions.md, comparison.md and solver-rows.md from results/figures, which tools/record.py keeps.

python tools/figures.py

The words of the comparison are in tools/comparison.md; a line <!-- NAME --> there becomes the tables of compare_NAME.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.real_figures import HEAD, cells
from benchmarks.real_rows import BY_NAME

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "results" / "figures"
WORDS = ROOT / "tools" / "comparison.md"
NOT_A_SCRIPT = {"tasks"}
"""Modules of repro/ that others share."""
VERDICTS = {True: "met", False: "**MISSED**", None: ""}
REPRODUCTIONS = """# Reproductions

What papers claim, and what the scripts of `repro/` find. `python tools/figures.py` writes this page from
`results/figures`, where `python tools/record.py repro/NAME.py` keeps what a script printed; a test compares page and
figures. Goals were written into the scripts, most of them the papers' own figures, some of them ours; the head of each
script says which, and how it reads what a paper leaves open. "MISSED" is said as loudly as "met". Figures of real data
need `PAIRLEARN_DATA`. Machines were shared.
"""
QUICK = """## Not run at full size for this page

The full runs of these scripts take from some minutes to days. Quick sizes show that they run and what they print; they
judge nothing and are no evidence for or against a paper. What earlier full runs found stands in [claims](claims.md).
"""


def kept() -> dict[str, dict[str, Any]]:
    """The kept runs by name of their script."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(KEPT.glob("*.json"))}


def summary(script: Path) -> str:
    """The first sentence of a script's head."""
    return (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").split("\n\n")[0].replace("\n", " ")


def number(value: float | str | None) -> str:
    """Four digits, as a person would write them; words as they are.

    >>> number(0.00012345), number(2000.0), number(99.0214), number("none"), number(None)
    ('0.0001234', '2000', '99.02', 'none', '')
    """
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.strip().replace('|', '∣') for cell in row)} |"


# --------------------------------------------------------------------------- reproductions


def counted(run: Mapping[str, Any]) -> str:
    """How many goals a full run met and missed."""
    verdicts = [figure["ok"] for figure in run["figures"] if figure["ok"] is not None]
    met, missed = sum(verdicts), len(verdicts) - sum(verdicts)
    return f"{met} met, **{missed} missed**" if missed else f"{met} met" if met else "no goals"


def findings(run: Mapping[str, Any]) -> Iterator[str]:
    """Figures with a goal or a paper's value, those without in a sentence; a run without either shows all."""
    judged = [figure for figure in run["figures"] if figure["goal"] or figure["paper"]]
    shown = judged or run["figures"]
    yield from table(
        ["claim", "paper", "goal", "here", "verdict"],
        [[f["name"], f["paper"] or "", f["goal"] or "", number(f["value"]), VERDICTS[f["ok"]]] for f in shown],
    )
    rest = len(run["figures"]) - len(shown)
    if rest:
        yield f"\n{rest} further figure{'s' if rest > 1 else ''} without a goal: see `results/figures`."
    yield ""


def section(script: Path, run: Mapping[str, Any]) -> Iterator[str]:
    """One script with its command, its day and its figures."""
    yield f"### {script.stem}\n\n{summary(script)}\n\n`{run['command']}`, {run['date']}\n"
    yield from findings(run)


def reproductions() -> str:
    """The whole page."""
    runs = kept()
    scripts = [path for path in sorted((ROOT / "repro").glob("*.py")) if path.stem not in NOT_A_SCRIPT]
    begun = {name: run["rows"] for name, run in runs.items() if not run["figures"]}
    full = [s for s in scripts if s.stem in runs and s.stem not in begun and not runs[s.stem]["quick"]]
    rest = [script for script in scripts if script not in full]
    overview = [[f"[{s.stem}](#{s.stem})", summary(s), counted(runs[s.stem]), runs[s.stem]["date"]] for s in full]
    overview += [[f"`{s.stem}`", summary(s), "not run at full size for this page", ""] for s in rest]
    lines = [REPRODUCTIONS, *table(["script of `repro/`", "", "goals", "date"], overview), "\n## At full size\n"]
    lines += [line for script in full for line in section(script, runs[script.stem])]
    lines.append(QUICK)
    for script in rest:
        if script.stem in runs and script.stem not in begun:
            lines += section(script, runs[script.stem])
            continue
        kept_rows = begun.get(script.stem)
        found = f"begun, {len(kept_rows)} rows kept; no figures yet" if kept_rows else "no figures kept"
        lines.append(f"### {script.stem}\n\n{summary(script)}\n\n`python repro/{script.name}`: {found}.\n")
    return "\n".join(lines)


# --------------------------------------------------------------------------- comparison


def of_data(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """One table: a line per tool, a column per figure; how a tool ended stands in place of figures."""
    columns = list(dict.fromkeys(what for found in rows.values() for what in found if what not in ("version", "ended")))
    lines = []
    for tool, found in rows.items():
        cells = [number(found.get(what)) for what in columns]
        if "ended" in found:
            cells[0] = found["ended"]
        lines.append([tool, found["version"], *cells])
    yield from table(["", "by", *columns], lines)
    yield ""


def of_features(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A line per feature, a column per tool."""
    features = list(rows["features: pairlearn"])
    features = [feature for feature in features if feature != "version"]
    lines = [[feature, *(str(found.get(feature, "")) for found in rows.values())] for feature in features]
    yield from table(["", *(found["version"] for found in rows.values())], lines)
    yield ""


def tables_of(name: str, run: Mapping[str, Any] | None) -> Iterator[str]:
    """The tables of one comparison with command and day."""
    if run is None:
        yield f"`python benchmarks/compare_{name}.py` has not been run at full size.\n"
        return
    yield f"`{run['command']}`, {run['date']}\n"
    if name == "features":
        yield from of_features(run["rows"])
        return
    sets: dict[str, dict[str, Any]] = {}
    for row, found in run["rows"].items():
        data, tool = row.split(": ", 1)
        sets.setdefault(data, {})[tool] = found
    for data, rows in sets.items():
        yield f"**{data}**\n"
        yield from of_data(rows)


def comparison() -> str:
    """The words with the tables in their places."""
    runs, lines = kept(), []
    for line in WORDS.read_text(encoding="utf-8").splitlines():
        if line.startswith("<!-- ") and line.endswith(" -->"):
            name = line[5:-4]
            lines += tables_of(name, runs.get(f"compare_{name}"))
        else:
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"


# --------------------------------------------------------------------------- rows of the solver

ROWS = """# Solvers on real data, row by row

Every fit of `benchmarks/real_solver.py` (data, kernel, base, m examples, C absolute or c in units of 1 / mean K(p, p))
beside its rivals in the same run; [decision 17](decisions/017-which-solver.md) says which solver when.
`python tools/record.py benchmarks/real_solver.py` measures, `python tools/figures.py` writes this page. KKT gap 1e-3,
in float64 over all pairs. One gemm is a 2500³ float64 product timed with the row. "× old" (the solver of c3944b5),
"× LIBSVM" and "× LIBLINEAR" say how many times longer they took; ">" is a lower bound, where a rival was cut off.
"/ best" is the time of the choice over that of the best path by name, in one process, the quickest of up to three
rounds.
"""


def solver_rows() -> str:
    """The whole page."""
    run = kept().get("real_solver")
    if run is None:
        return ROWS + "\nNo figures kept.\n"
    rows = run["rows"]
    measured = [name for name in BY_NAME if name in rows]
    left = [f"`{name}`" for name in BY_NAME if name not in rows]
    at = f", commit {run['commit']}" if run.get("commit") else ""
    lines = [ROWS, f"`{run['command']}`, {run['date']}{at}: {len(measured)} of {len(BY_NAME)} fits.\n"]
    if left:
        lines.append(f"Not measured: {', '.join(left)}.\n")
    lines += [*table(HEAD, [cells(name, rows[name]) for name in measured]), "\n## Goals\n", *findings(run)]
    return "\n".join(lines)


PAGES = {
    ROOT / "docs" / "reproductions.md": reproductions,
    ROOT / "docs" / "comparison.md": comparison,
    ROOT / "docs" / "solver-rows.md": solver_rows,
}


if __name__ == "__main__":
    for target, page in PAGES.items():
        target.write_text(page(), encoding="utf-8")
        print(target.relative_to(ROOT))
