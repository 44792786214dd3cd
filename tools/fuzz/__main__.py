"""Attack every reader with mutated files; exit code 1 if one crashes, hangs, raises what is not ours or takes too much.

python -m tools.fuzz --cases 2000                  # so many per target; the table is the last but one thing printed
python -m tools.fuzz --targets tables --case 17    # one case again, in this process, with its traceback
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import warnings
from pathlib import Path

from tools.fuzz.harness import Case, Tally, print_tallies, run_cases, targets

QUICK = 150
"""Cases per target that end within 50 s."""


def main() -> int:
    """Run the cases, or one of them."""
    given = _options()
    folder = Path(given.folder or tempfile.mkdtemp(prefix="pairlearn-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    if given.case is not None:
        return _again(Case(given.targets[0], given.seed, given.case), folder)
    numbers = range(given.start, given.start + (QUICK if given.quick else given.cases))
    cases = (Case(name, given.seed, number) for number, name in itertools.product(numbers, given.targets))
    tallies = {name: Tally(name) for name in given.targets}
    warnings.simplefilter("ignore")  # of zipfile, about members of one name
    for outcome in run_cases(cases, folder, given.workers):
        tallies[outcome.case.target].add(outcome)
        if outcome.wrong:
            print(ascii(str(outcome)), flush=True)
    kept = folder / "kept"
    print(f"files that broke a promise are kept in {kept}" if kept.exists() else "no promise was broken")
    return print_tallies(tallies.values())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000, help="mutated files per target")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    names = [name for name in targets() if not name.startswith("_")]
    parser.add_argument("--targets", nargs="+", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} cases per target")
    parser.add_argument("--case", type=int, help="make and use this one case here")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", help="where files are made and kept (default: a new temporary folder)")
    return parser.parse_args()


def _again(case: Case, folder: Path) -> int:
    path = case.make(folder)
    print(f"{path}: {path.stat().st_size:,} bytes", flush=True)
    print(targets()[case.target].use(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
