"""What a newcomer meets: make demo, test, docs on a fresh clone with an empty home, and the way from table to report.

    python -m tools.fresh                 # all of it; the tests alone take minutes
    python -m tools.fresh --only path     # install → table → report, under five minutes

Clones the last commit beside an empty HOME, without real data and without what this environment has installed. Times
of installing are told apart from those of the work itself. Ends with 1 if a step fails or the way takes too long.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 300.0
"""Seconds from an installed package to a report."""
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "PAIRLEARN_SKIP_BROWSER", "PAIRLEARN_CHROMIUM")
"""What is passed on of this environment, beside what tells pip where packages come from."""
WAY = """
pairlearn pairs split people.csv --class-column person
pairlearn select parts/train.csv --class-column person --budget 60 --out model.safetensors
pairlearn pairs sample parts/development.csv --class-column person --ratio 10 --out dev-pairs.csv
pairlearn decide model.safetensors parts/development.csv dev-pairs.csv --fmr 0.05 --out verifier.safetensors
pairlearn pairs sample parts/test.csv --class-column person --ratio 10 --out test-pairs.csv
pairlearn score verifier.safetensors parts/test.csv test-pairs.csv --out scores.csv
pairlearn evaluate scores.csv --examples parts/test.csv --class-column person --report report.html
"""


class StepError(Exception):
    """A step that failed, with what it said at last."""


def environment(home: Path) -> dict[str, str]:
    """That of somebody who has just come."""
    passed = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("PIP_")}
    return {**passed, "HOME": str(home)}


def run(words: list[str], folder: Path, home: Path) -> float:
    """Seconds of a command; what it says is shown if it fails."""
    began = time.perf_counter()
    done = subprocess.run(
        words, cwd=folder, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        raise StepError(f"{shlex.join(words)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return time.perf_counter() - began


def write_table(path: Path, people: int = 90, each: int = 10, size: int = 24) -> None:
    """People with several noisy rows of numbers each: a table as somebody may have it."""
    draw = random.Random(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["image", "person", *(f"x{k}" for k in range(size))])
        for person in range(people):
            middle = [draw.gauss(0, 1) for _ in range(size)]
            for number in range(each):
                row = [f"{value + draw.gauss(0, 0.8 + k % 3):.5f}" for k, value in enumerate(middle)]
                table.writerow([f"image{person}-{number}", f"person{person}", *row])


def way(clone: Path, home: Path) -> dict[str, float]:
    """Install the package into an environment of its own, and go from a table to a report."""
    folder = home / "work"
    folder.mkdir()
    own = folder / ".venv"
    installing = run([sys.executable, "-m", "venv", str(own)], folder, home)
    installing += run([str(own / "bin" / "pip"), "install", "--quiet", f"{clone}[all]"], folder, home)
    write_table(folder / "people.csv")
    lines = [shlex.split(line) for line in WAY.strip().splitlines()]
    working = sum(run([str(own / "bin" / line[0]), *line[1:]], folder, home) for line in lines)
    if "<html" not in (folder / "report.html").read_text()[:2000]:
        raise StepError("report.html is no page")
    return {"install, seconds": installing, "table to report, seconds": working}


def made(target: str) -> Callable[[Path, Path], dict[str, float]]:
    """The time of a target of make in the clone."""
    return lambda clone, home: {f"make {target}, seconds": run(["make", target], clone, home)}


STEPS: dict[str, Callable[[Path, Path], dict[str, float]]] = {
    "env": made("env"),
    "demo": made("demo"),
    "docs": made("docs"),
    "test": made("test"),
    "path": way,
}


def main() -> int:
    """Print the seconds of each step, at last as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(STEPS), default=list(STEPS))
    wanted = parser.parse_args().only
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="pairlearn-fresh-") as place:
        home, clone = Path(place) / "home", Path(place) / "pairlearn"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        for name in wanted:
            try:
                seconds = STEPS[name](clone, home)
            except StepError as failed:
                print(f"{name} failed: {failed}", file=sys.stderr)
                return 1
            for label, value in seconds.items():
                print(f"{label:<28} {value:8.1f}", flush=True)
            found |= seconds
    slow = found.get("install, seconds", 0.0) + found.get("table to report, seconds", 0.0) > LIMIT
    print(json.dumps({**found, "limit of the way": LIMIT, "missed": slow}))
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
