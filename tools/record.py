"""Run a script of repro/ or benchmarks/ and keep the figures it prints in results/figures, for the pages of docs/.

python tools/record.py repro/febrl.py              # full size: kept rows of an earlier run are not measured again
python tools/record.py repro/febrl.py --quick      # quick figures, shown as such; never in place of full ones
python tools/record.py benchmarks/compare_rates.py --only "LFW: pyeer"    # one row again, beside the kept ones
python tools/record.py benchmarks/real_solver.py --resume    # in a new clone too: only what the kept rows lack

A full run that is broken off leaves the rows it measured, for --resume, and no figures.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "results" / "figures"
WITH_ROWS = ("compare_", "real_solver")
"""Scripts whose pages are made of rows, which hold words too."""


def record(script: str, options: list[str], figures: list[dict[str, Any]], rows: Path) -> dict[str, Any]:
    """What is kept of one run: the command, day and commit at which its last row was measured, rows and figures.

    Rows are kept where a page is made of them, and where others are still to be measured: there are no figures yet.
    """
    quick = "--quick" in options
    measured = not quick and rows.exists()
    day = date.fromtimestamp(rows.stat().st_mtime) if measured else date.today()
    found = {
        "command": " ".join(["python", script, *options]),
        "date": day.isoformat(),
        "commit": commit(),
        "quick": quick,
    }
    if Path(script).stem.startswith(WITH_ROWS) or not figures:
        found["command"] = f"python {script}"  # with --only, the other rows are kept ones
        found["rows"] = json.loads(rows.read_text()) if measured else {}
    return {**found, "figures": figures}


def commit() -> str:
    """The commit at which the last row was measured; with "-dirty" if files differ from it, empty outside a clone."""
    asked = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(asked, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()


def restore(target: Path, rows: Path) -> None:
    """Kept rows where a script looks for them, if it has none of its own: a new clone holds the figures only."""
    kept = json.loads(target.read_text(encoding="utf-8")).get("rows") if target.exists() else None
    if kept and not rows.exists():
        rows.parent.mkdir(exist_ok=True)
        rows.write_text(json.dumps(kept, indent=1))


def run(script: str, options: list[str]) -> Path | None:
    """Run the script, show what it prints and keep its last line; None if there is nothing to keep."""
    target = KEPT / f"{Path(script).stem}.json"
    rows = ROOT / "results" / target.name
    if {"--only", "--resume"} & set(options):
        restore(target, rows)
    options = [option for option in options if option != "--resume"]
    process = subprocess.Popen([sys.executable, script, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    last = "[]"
    try:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
    process.wait()
    figures = json.loads(last) if last.startswith("[") else []
    before = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {"figures": [], "quick": True}
    if not figures and ("--quick" in options or not rows.exists() or before["figures"]):
        print(f"{script} printed no figures: nothing kept", file=sys.stderr)
        return None
    if "--quick" in options and not before["quick"]:
        print(f"{target.name} holds a full run: the quick one is not kept", file=sys.stderr)
        return None
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = record(script, options, figures, rows)
    target.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(0 if run(sys.argv[1], sys.argv[2:]) else 1)
