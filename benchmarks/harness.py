"""What benchmarks and reproductions share: figures with goals, timing by reference, resumable rows."""

from __future__ import annotations

import argparse
import json
import operator
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pairlearn.errors import InputError

COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "==": operator.eq}


@dataclass(frozen=True)
class Figure:
    """One number that a script prints, beside its goal and the paper's value.

    >>> Figure("ratio", 24.0, goal=">= 20").ok
    True
    """

    name: str
    value: float
    goal: str | None = None
    paper: str | None = None
    judged: bool = True

    @property
    def ok(self) -> bool | None:
        """Whether the goal is met; None without a goal or when the size at hand does not count."""
        if self.goal is None or not self.judged:
            return None
        sign, bound = self.goal.split()
        return bool(COMPARE[sign](self.value, float(bound)))

    def as_json(self) -> dict[str, Any]:
        """The record that scripts print as their last line."""
        record = asdict(self)
        del record["judged"]
        return {**record, "ok": self.ok}


def print_figures(figures: Iterable[Figure]) -> int:
    """Print a table, then one JSON list as the last line; returns the exit code."""
    figures = list(figures)
    width = max(len(figure.name) for figure in figures)
    marks = {True: "met", False: "MISSED", None: ""}
    print(f"\n{'figure':<{width}}  {'value':>12}  {'goal':>10}  {'paper':>14}")
    for figure in figures:
        goal, paper = figure.goal or "", figure.paper or ""
        print(f"{figure.name:<{width}}  {figure.value:>12.5g}  {goal:>10}  {paper:>14}  {marks[figure.ok]}")
    print(json.dumps([figure.as_json() for figure in figures]))
    return 1 if any(figure.ok is False for figure in figures) else 0


def gemm_seconds(n: int = 2500, repeats: int = 5) -> float:
    """Seconds of one n × n × n float64 matrix product: the unit of absolute times (median of a few)."""
    A = np.random.default_rng(0).random((n, n))
    A @ A
    return float(np.median([timed(lambda: A @ A)[0] for _ in range(repeats)]))


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """(seconds, result) of one call."""
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def peak_memory() -> float:
    """Largest resident size of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def data_folder() -> Path:
    """The folder of real data sets named by the environment variable PAIRLEARN_DATA."""
    folder = os.environ.get("PAIRLEARN_DATA")
    if not folder or not Path(folder).is_dir():
        raise InputError("set PAIRLEARN_DATA to the folder with the data sets; without it this part is skipped")
    return Path(folder)


def skip_without_data() -> None:
    """End a script that needs real data with a clear message when there is none."""
    try:
        data_folder()
    except InputError as error:
        print(f"skipped: {error}\n[]")
        sys.exit(0)


Row = Callable[[bool], dict[str, Any]]
"""A measurement: takes `quick`, returns plain numbers and strings."""


def run_rows(script: str, rows: dict[str, Row], *, alone: bool = True) -> tuple[dict[str, dict[str, Any]], bool]:
    """Run each row and keep its result, so that a full run can be resumed; full rows have a process of their own.

    alone=False saves these processes where nobody asks for the peak memory of a row.
    Returns the results by row name and whether this was a quick run. Options: --quick, --fresh, --only NAME….
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, under 50 s; full-size goals are not judged")
    parser.add_argument("--fresh", action="store_true", help="forget the rows of an earlier, interrupted run")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(rows), help="measure these rows only")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        print(json.dumps(rows[arguments.row](False)))
        sys.exit(0)
    store = Path("results") / f"{Path(script).stem}.json"
    known = {} if arguments.fresh or arguments.quick or not store.exists() else json.loads(store.read_text())
    for name in arguments.only or rows:
        if name in known and not arguments.only:
            print(f"{name}: kept from an earlier run (--fresh measures again)")
            continue
        print(f"{name} …", flush=True)
        here = arguments.quick or not alone
        known[name] = rows[name](arguments.quick) if here else _in_process(script, name)
        print("   ", known[name], flush=True)
        if not arguments.quick:
            store.parent.mkdir(exist_ok=True)
            known = {each: known[each] for each in (*rows, *known) if each in known}  # in the order of the script
            store.write_text(json.dumps(known, indent=1))
    return known, arguments.quick


def _in_process(script: str, name: str) -> dict[str, Any]:
    """One row in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, script, "--row", name]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    return result
