"""Disturb pairlearn in every way that machines do, and print a table: `make faults`.

Every row is a kind of fault: how often it was tried, how often something went wrong, and what was seen. The last line
is one JSON list, as of every script here; the exit code is 1 if anything went wrong.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable

from tools.faults import Row, disk, resuming, signals, workers
from tools.faults.jobs import JOBS


def budgets(quick: bool) -> list[Row]:
    """The grid of memory budgets, which has a script of its own."""
    command = [sys.executable, "benchmarks/budgets.py", *(["--quick"] if quick else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    return [(f"budgets: {each['name']}", 1, int(each["ok"] is False), f"{each['value']:.4g}") for each in figures]


SECTIONS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "signals": lambda options: signals.run(8 if options.quick else 50, options.jobs),
    "resume": lambda options: resuming.run(6 if options.quick else 20),
    "disk": lambda options: disk.run(),
    "workers": lambda options: workers.run(),
    "budgets": lambda options: budgets(options.quick),
}


def main() -> int:
    """Run the sections that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="fewer signals, a smaller grid of budgets")
    parser.add_argument(
        "--jobs", nargs="+", default=(), choices=[job.name for job in JOBS], help="signals to these only"
    )
    options = parser.parse_args()
    rows = [row for name in options.sections or SECTIONS for row in SECTIONS[name](options)]
    width = max(len(row[0]) for row in rows)
    print(f"\n{'fault':<{width}}  {'tried':>5}  {'wrong':>5}  seen")
    for name, tried, wrong, seen in rows:
        print(f"{name:<{width}}  {tried:>5}  {wrong:>5}  {seen}")
    print(json.dumps([{"fault": name, "tried": tried, "wrong": wrong} for name, tried, wrong, _ in rows]))
    return int(any(row[2] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
