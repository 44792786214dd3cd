"""Does a fit keep to its memory budget, and does the plan say what is used? A grid of sizes, bases, pairs and budgets.

Every fit has a process of its own. What counts is the growth of its resident memory over what it was right before the
fit: examples, pairs and labels are the caller's and there already, and a few small fits have loaded the libraries,
compiled loops and threads. The kernel itself keeps the peak (VmHWM, reset before the fit).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figure, print_figures, run_rows

MB = 10**6
BUDGETS = (100, 200, 500, 1000, 4000)
SIZES = (500, 1000, 2000, 4000)
MUCH = 50
"""MB from which on the plan has to say what is used."""
KEPT = 15
"""MB that BLAS and the C library may keep for themselves, or have kept before the fit began."""
PATIENCE = 90
"""Seconds beyond its time budget after which a fit is ended from outside."""


@dataclass(frozen=True)
class Cell:
    """One fit: m examples with d numbers each, so many of their pairs (0: all), and a budget in MB."""

    m: int
    base: str
    pairs: int
    budget: int
    kernel: str = "tensor_metric"
    d: int = 50
    C: float = 1.0
    spread: float = 1.0
    machine: str = "PairSVC"
    options: str = "{}"
    data: str = "rows"
    seconds: float = 5.0

    def __str__(self) -> str:
        pairs = f"{self.pairs} pairs" if self.pairs else "all pairs"
        rest = [self.data, f"d={self.d}", f"C={self.C:g}", f"spread={self.spread:g}", self.options]
        usual = ["rows", "d=50", "C=1", "spread=1", "{}"]
        special = [word for word, common in zip(rest, usual, strict=True) if word != common]
        return ", ".join([f"{self.machine} {self.kernel} {self.base} m={self.m}", pairs, *special])


# --------------------------------------------------------------------------- one fit, in its own process


def drawn(cell: Cell) -> tuple[Any, Any]:
    """(pairs, labels) of overlapping classes with ten examples each."""
    import pairlearn as pl

    rng = np.random.default_rng(0)
    classes = np.arange(cell.m) // 10
    X = rng.normal(size=(cell.m // 10, cell.d))[classes] + cell.spread * rng.normal(size=(cell.m, cell.d))
    if cell.data == "float32":
        X = X.astype(np.float32)
    if cell.data == "precomputed":
        X = X @ X.T
    pairs = pl.all_pairs(X, reflexive=False)
    if cell.pairs:
        same = np.nonzero(pairs.labels(classes) > 0)[0]
        others = rng.choice(len(pairs), cell.pairs, replace=False)
        pairs = pairs[np.unique(np.concatenate([rng.permutation(same)[: cell.pairs // 5], others]))[: cell.pairs]]
    y = pairs.labels(classes)
    if cell.data == "two tables":
        pairs = pl.Pairs(X, pairs.left, pairs.right, right_examples=X + 0.1)
    if cell.machine == "PairRanker":
        y = np.where(X[pairs.left, 0] + rng.normal(size=len(y)) > X[pairs.right, 0], 1, -1)
    if cell.machine == "PairSVR":
        return pairs, y + 0.5 * rng.normal(size=len(y))
    if cell.machine == "TransductivePairSVC":
        return pairs, np.where(rng.random(len(y)) < 0.5, y, 0)
    return pairs, None if cell.machine.startswith("OneClass") else y


def machine_of(cell: Cell) -> Any:
    """The machine with the budget of the cell."""
    import pairlearn as pl

    options = {"kernel": cell.kernel, "base": cell.base, "random_state": 0, "time_budget": cell.seconds}
    if not cell.machine.startswith("OneClass"):
        options["C"] = cell.C
    return getattr(pl, cell.machine)(**options, **json.loads(cell.options), memory_budget=cell.budget * MB)


def warm_up(cell: Cell) -> None:
    """Load and start all that a fit loads and starts, on a few examples; one large product gives BLAS its buffers."""
    for C, spread in ((1.0, 1.0), (100.0, 2.0)):
        small = replace(cell, m=60, d=min(cell.d, 10), pairs=0, C=C, spread=spread, budget=4000, seconds=5.0)
        machine_of(small).fit(*drawn(small))
    A = np.ones((1500, 1500))
    A @ A
    np.linalg.cholesky(A + 1500 * np.eye(1500))


def resident(name: str) -> int:
    """VmRSS (now) or VmHWM (peak) of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def grown(action: Callable[[], Any]) -> tuple[float, Any]:
    """(growth of resident memory at its peak in MB, result) of a call."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    result = action()
    return (resident("VmHWM") - before) / MB, result


def fitted(cell: Cell) -> dict[str, Any]:
    """What one fit uses, and what its plan says."""
    from pairlearn.errors import TooLargeError

    warnings.simplefilter("ignore")
    pairs, y = drawn(cell)
    warm_up(cell)
    machine, began = machine_of(cell), time.perf_counter()

    def attempt() -> str:
        try:
            machine.fit(pairs, y)
        except TooLargeError as error:
            return f"refused: {error}"
        return str(machine.fit_status_)

    used, status = grown(attempt)
    plan = getattr(machine, "plan_", None)
    return {
        "used": round(used, 1),
        "plan": None if plan is None else round(plan.bytes / MB, 1),
        "text": str(plan),
        "seconds": round(time.perf_counter() - began, 1),
        "support": getattr(machine, "n_support_", 0),
        "status": status,
    }


# --------------------------------------------------------------------------- the grid


def measured(cell: Cell) -> dict[str, Any]:
    """One cell, in its own process; one that is refused once more with the budget that the refusal asks for."""
    command = [sys.executable, __file__, "--cell", json.dumps(asdict(cell))]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=cell.seconds + PATIENCE)
        found = json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else {"status": "crashed"}
    except subprocess.TimeoutExpired:
        found = {"status": "did not end"}
    show(cell, found)
    asked = re.search(r"need about ([\d,.]+) MiB", found["status"])
    if asked:
        budget = int(float(asked[1].replace(",", "")) * 2**20 / MB) + 1
        found["enough"] = measured(replace(cell, budget=budget))
    return {"cell": asdict(cell), **found}


def show(cell: Cell, found: dict[str, Any]) -> None:
    """One line of the table."""
    used, plan = found.get("used"), found.get("plan")
    shares = [f"{used / plan:6.2f}" if used and plan else " " * 6, f"{used / cell.budget:6.2f}" if used else " " * 6]
    sizes = [f"{value:8.1f}" if value is not None else " " * 8 for value in (plan, used)]
    support = found.get("support", 0)
    line = f"{cell.budget:5d} MB  {'  '.join(sizes + shares)}  {found.get('seconds', 0):6.1f} s  {support:8,d}"
    print(f"  {line}  {found['status'][:60]:<16}  {cell}", file=sys.stderr, flush=True)


def grid(base: str, pairs: int) -> Iterator[Cell]:
    """All sizes and budgets; few support pairs at every other budget."""
    for m in SIZES:
        for number, budget in enumerate(BUDGETS):
            if pairs < m * (m - 1) // 2:
                yield Cell(m, base, pairs, budget, spread=0.5 if number % 2 else 1.0)


def special() -> Iterator[Cell]:
    """Other kernels, machines and tables."""
    cells = [
        Cell(2000, "linear", 200_000, 200, kernel="direct_sum"),
        Cell(1000, "rbf", 0, 500, kernel="difference", machine="PairRanker"),
        Cell(2000, "linear", 0, 1000, kernel="difference", machine="PairRanker"),
        Cell(1000, "rbf", 100_000, 500, kernel="tensor"),
        Cell(1000, "poly", 20_000, 200, kernel="wedge_squared"),
        Cell(1000, "linear", 100_000, 200, options='{"mirrored": true}'),
        Cell(1000, "rbf", 100_000, 500, options='{"mirrored": true}'),
        Cell(2000, "rbf", 100_000, 500, data="float32"),
        Cell(2000, "linear", 100_000, 200, data="float32"),
        Cell(2000, "linear", 100_000, 200, d=2000),
        Cell(2000, "rbf", 100_000, 200, d=2000),
        Cell(1000, "rbf", 100_000, 200, data="two tables", kernel="tensor"),
        Cell(2000, "precomputed", 100_000, 500, data="precomputed"),
        Cell(1000, "rbf", 100_000, 200, machine="PairSVR"),
        Cell(1000, "linear", 100_000, 500, machine="PairSVR", d=5),
        Cell(1000, "rbf", 100_000, 200, machine="OneClassPairSVM"),
        Cell(1000, "rbf", 100_000, 200, machine="OneClassPairSphere"),
        Cell(1000, "rbf", 100_000, 200, machine="TransductivePairSVC"),
        Cell(1000, "rbf", 100_000, 200, options='{"solver": "smo"}'),
        Cell(1000, "rbf", 0, 1000, options='{"solver": "smo"}'),
        Cell(500, "rbf", 20_000, 200, C=1000.0),
        Cell(500, "linear", 20_000, 200, C=1000.0, d=5),
        Cell(500, "linear", 100_000, 500, C=100.0, d=20),
    ]
    return iter(cells)


def cells_of(name: str, quick: bool) -> list[Cell]:
    """The cells of a row; quick takes a few of each."""
    base, _, pairs = name.partition(" ")
    counts = {"all": 0, "20k": 20_000, "200k": 200_000}
    cells = list(special() if base == "special" else grid(base, counts[pairs]))
    return [replace(cell, seconds=2.0) for cell in cells if cell.m < 2000][1::6] if quick else cells


NAMES = ("linear all", "linear 20k", "linear 200k", "rbf all", "rbf 20k", "rbf 200k", "special")
ROWS = {name: lambda quick, name=name: {"cells": [measured(cell) for cell in cells_of(name, quick)]} for name in NAMES}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """The goals."""
    cells = [cell for row in rows.values() for cell in row["cells"]]
    refused = [cell for cell in cells if "enough" in cell]
    fits = [cell for cell in cells if "enough" not in cell] + [cell["enough"] for cell in refused]
    ended = [cell for cell in fits if "used" in cell]
    shares = [cell["used"] / cell["cell"]["budget"] for cell in ended]
    plans = [(cell["used"], cell["plan"]) for cell in ended if cell["plan"] and cell["used"] > MUCH]
    off = [used / plan for used, plan in plans if abs(used - plan) > 0.1 * plan]
    far = [abs(used - plan) for used, plan in plans if abs(used - plan) > max(0.1 * plan, KEPT)]
    small = [cell["enough"]["used"] / cell["cell"]["budget"] for cell in refused if "used" in cell["enough"]]
    return [
        Figure("fits", len(fits)),
        Figure("fits that crashed or did not end", len(fits) - len(ended), "== 0"),
        Figure("fits above 110 % of the budget", sum(share > 1.1 for share in shares), "== 0"),
        Figure("most used / budget", max(shares), "<= 1.1"),
        Figure(f"fits above {MUCH} MB", len(plans)),
        Figure("of these the plan is off by more than 10 %", len(off)),
        Figure("most used / plan", max((used / plan for used, plan in plans), default=1.0)),
        Figure("least used / plan", min((used / plan for used, plan in plans), default=1.0)),
        Figure(f"the plan is off by more than 10 % and {KEPT} MB", len(far), "== 0"),
        Figure("refused", len(refused)),
        Figure("most MB used by a refusal", max((cell["used"] for cell in refused), default=0.0), "<= 10"),
        Figure("least used with the budget asked for / budget refused", min(small, default=1.0), ">= 0.8"),
    ]


if __name__ == "__main__":
    if "--cell" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("--cell", type=json.loads)
        print(json.dumps(fitted(Cell(**parser.parse_args().cell))))
    else:
        sys.exit(print_figures(figures(*run_rows(__file__, ROWS))))
