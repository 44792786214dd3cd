"""How fast is the solver on real data, where classes overlap? Every row beside all its rivals in the same run.

Needs PAIRLEARN_DATA. A row is one fit (`real_rows.py`) on real pairs (`real_data.py`), and beside it, in processes
of their own (`real_parts.py`) and with a limit of time, what it has to be as good as: LIBSVM, LIBLINEAR where few
explicit features say the same, the solver of commit c3944b5, and, in one process, the choice once more and then every
path of our own by name, so that a wrong choice shows. A rival that reaches its limit counts with it: the ratio is then
a lower bound, marked ">".

Options beside the usual: --without leaves parts out, --again measures parts again (of the rows of --only, if there are
any). What was measured is kept by row and part.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import print_figures, skip_without_data
from benchmarks.real_rows import BY_NAME, GOALS, QUICK, SHORT, SPECIAL

ROOT = Path(__file__).resolve().parents[1]
OLD = "c3944b5"
"""The commit before this work, whose solver is measured beside ours."""
FORCED = ("auto", "active_set", "nested", "newton", "interior", "splitting", "smo")
"""Our own paths by name, and, for short rows, the choice in the same process; one that is refused is left out."""
MOST_SMO = 20_000
"""Pairs up to which plain SMO is among them: nobody chooses it, and beyond that it never came near its limit."""
OURS = (0, 900, 900)
LIMITS = {"ours": OURS, "forced auto": OURS, "old": (3, 5, 30), "libsvm": (35, 10, 105), "linear": (10, 10, 60)}
"""Times our own seconds, but at least and at most so many."""
FORCED_LIMIT, FORCED_LONG = (1.1, 1, 60), (0.77, 1, 240)
"""Paths by name, of rows up to `SHORT` and of longer ones: who needs more than .77 of our time leaves the choice within
1.3 of the best."""
JUDGED, BY_OLD = [row.name for row in GOALS.values() if row.m <= 1600], (12, 20, 300)
"""Rows that have to be so many times faster than the old solver, which is given more time for them."""
ROUNDS = 3
"""Fits of a short row by each path, in turn, of which the quickest counts: what is compared within a few tenths of a
second must not hang on chance, nor on when it was measured. The first of them pays for memory never touched before. Who
reached its limit once, or took long, is not asked again."""
QUICK_SECONDS = 1.0

Parts = dict[str, dict[str, Any]]
"""What was measured of a row, by part: "ours", "old", "libsvm", "linear", "forced NAME"."""


def cap(row: str, part: str, seconds: float) -> float:
    """The limit of a part, given what our fit took."""
    by_name = FORCED_LONG if seconds > SHORT else FORCED_LIMIT
    times, least, most = BY_OLD if part == "old" and row in JUDGED else LIMITS.get(part, by_name)
    return float(np.clip(times * seconds, least, most))


def rivals(without: Iterable[str]) -> list[str]:
    """Every part but our own fit."""
    parts = ["old", "libsvm", "linear", *(f"forced {name}" for name in FORCED)]
    return [part for part in parts if part.split()[0] not in without]


def worth_asking(part: str, mine: dict[str, Any]) -> bool:
    """Whether a path by name is measured beside our fit; of long ones chance is little: the choice counts itself."""
    if part == "forced auto":
        return mine.get("seconds", 0.0) <= SHORT
    return part != "forced smo" or mine.get("pairs", 0) <= MOST_SMO


# --------------------------------------------------------------------------- one process


def measured(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of jobs that share a source, in one process of their own."""
    source = old_source() if jobs[0]["part"] == "old" else ROOT / "src"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    command = [sys.executable, str(Path(__file__)), "--jobs", json.dumps(jobs)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    missing = jobs[len(found) :]
    if not missing:
        return found
    late = run.returncode == -signal.SIGALRM
    lost = {"status": "not within", "seconds": missing[0]["cap"]} if late else {"status": "crashed"}
    left = [job for job in missing if job != missing[0]]  # another process goes on with the others
    others = iter(measured(left) if left else [])
    return found + [lost if job == missing[0] else next(others) for job in missing]


def in_turn(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same of paths by name, each several times, every other round backwards: the quickest of each.

    Whoever comes after a path that takes little memory finds it cold: the same way took up to half as long again.
    """
    order = [i for number in range(ROUNDS) for i in sorted(range(len(jobs)), reverse=number % 2 == 1)]
    found = list(zip(order, measured([jobs[i] for i in order]), strict=True))
    each = [[one for i, one in found if i == job] for job in range(len(jobs))]
    return [min(of_one, key=lambda one: one.get("seconds", np.inf)) for of_one in each]


def old_source() -> Path:
    """The source of the old commit, unpacked once; results/ is not under version control."""
    folder = ROOT / "results" / f"source-{OLD}"
    if not folder.exists():
        folder.mkdir(parents=True)
        tree = subprocess.run(["git", "archive", OLD, "src"], check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
        subprocess.run(["tar", "x", "-C", str(folder)], check=True, input=tree)
    return folder / "src"


def serve(jobs: list[dict[str, Any]]) -> None:
    """What such a process does: one line for each result."""
    from benchmarks.real_parts import run_job
    from benchmarks.real_special import run_special

    known: dict[tuple[str, str], dict[str, Any]] = {}
    for job in jobs:
        run, key = run_special if job["row"] in SPECIAL else run_job, (job["row"], job["part"])
        before = known.get(key, {"status": "converged"})
        if job["row"] in SPECIAL or (before["status"] == "converged" and before.get("seconds", 0.0) <= SHORT):
            known[key] = run(job)
        print(json.dumps(known[key]), flush=True)


# --------------------------------------------------------------------------- all of them


def job_of(row: str, part: str, mine: dict[str, Any], quick: bool) -> dict[str, Any]:
    """What a process is asked for; rivals take our C, and LIBLINEAR has to reach our objective."""
    job = {"row": row, "part": part, "quick": quick}
    if part == "ours" or row in SPECIAL:
        return {**job, "cap": QUICK_SECONDS if quick else LIMITS["ours"][2]}
    seconds = QUICK_SECONDS if quick else cap(row, part, mine["seconds"])
    return {**job, "cap": seconds, "C": mine["C"], "objective": mine["objective"]}


def run_quickly(names: list[str], without: list[str]) -> dict[str, Parts]:
    """Rows on a few hundred pairs, in two processes in all; the old solver would first have to be compiled."""
    rows: dict[str, Parts] = {name: {} for name in names}

    def take(wanted: list[tuple[str, str]]) -> None:
        jobs = [job_of(name, part, rows[name].get("ours", {}), quick=True) for name, part in wanted]
        for (name, part), found in zip(wanted, measured(jobs) if jobs else [], strict=True):
            rows[name][part] = found

    take([(name, "ours") for name in names])
    fits = [name for name in names if name not in SPECIAL and "C" in rows[name]["ours"]]
    take([(name, part) for part in rivals([*without, "old"]) for name in fits])
    return rows


def run_fully(names: list[str], without: list[str], again: list[str], store: Path, rows: dict[str, Parts]) -> None:
    """Every part of every row that is not known yet, paths by name in one process; `rows` and the store grow."""
    for name in names:
        parts = rows.setdefault(name, {})
        beside = [part for part in rivals(without) if name not in SPECIAL or (name, part) == ("synthetic", "old")]
        wanted = ["ours", *beside]
        wanted = [part for part in wanted if part not in parts or part.split()[0] in again]
        forced = [part for part in wanted if part.startswith("forced")]
        for group in [*([part] for part in wanted if part not in forced), forced]:
            mine = parts.get("ours", {})
            if group is forced:
                group = forced = [part for part in forced if worth_asking(part, mine)]
            if not group or (group != ["ours"] and name not in SPECIAL and "C" not in mine):
                continue
            jobs = [job_of(name, part, mine, quick=False) for part in group]
            parts.update(zip(group, in_turn(jobs) if group is forced else measured(jobs), strict=True))
            for part in group:
                print(f"{name} {part}: {short(parts[part])}", flush=True)
            store.parent.mkdir(exist_ok=True)
            store.write_text(json.dumps(rows, indent=1))


def short(found: dict[str, Any]) -> str:
    """One result on one line."""
    words = {key: f"{value:.4g}" if isinstance(value, float) else str(value) for key, value in found.items()}
    return ", ".join(f"{key} {word[:60]}" for key, word in words.items())


def parsed() -> argparse.Namespace:
    names, parts = [*BY_NAME, *SPECIAL], ["old", "libsvm", "linear", "forced"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="some rows on a few hundred pairs, under 50 s; nothing is judged"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run has measured")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, help="only these rows, measured again")
    parser.add_argument("--without", nargs="+", default=[], choices=parts, help="leave these parts out")
    parser.add_argument("--again", nargs="+", default=[], choices=["ours", *parts], help="measure these parts again")
    parser.add_argument("--jobs", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    from benchmarks.real_figures import figures, table

    arguments = parsed()
    if arguments.jobs:
        serve(arguments.jobs)
        return 0
    skip_without_data()
    names = arguments.only or [*(QUICK if arguments.quick else BY_NAME), *SPECIAL]
    store = ROOT / "results" / "real_solver.json"
    if arguments.quick:
        rows = run_quickly(names, arguments.without)
    else:
        rows = {} if arguments.fresh or not store.exists() else json.loads(store.read_text())
        again = arguments.again or (["ours", "old", "libsvm", "linear", "forced"] if arguments.only else [])
        run_fully(names, arguments.without, again, store, rows)
    table(rows)
    return print_figures(figures(rows, arguments.quick))


if __name__ == "__main__":
    sys.exit(main())
