"""More than memory holds: memory-mapped examples, tables of pairs streamed from Parquet, a Gram matrix on disk.

Memory is what a process holds for itself (RssAnon, looked at every few milliseconds): pages of a mapped file, which the
system takes back when others need the room, do not count. Every row makes its files in a temporary directory (TMPDIR)
and measures in processes of their own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, timed
from pairlearn.data.reading import read_pairs

PAUSE = 0.003
"""Seconds between two looks at the memory."""


def own_memory(process: int | str = "self") -> float:
    """RssAnon of a process in MB; 0 after its end."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("RssAnon")), 0.0)


def watched(action: Callable[[], Any]) -> tuple[float, float, Any]:
    """(growth of this process's own memory at its peak in MB, seconds, result) of a call."""
    before, peak, done = own_memory(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(PAUSE):
            peak[0] = max(peak[0], own_memory())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        seconds, result = timed(action)
    finally:
        done.set()
        thread.join()
    return max(0.0, peak[0] - before), seconds, result


def command(*words: object) -> tuple[float, float]:
    """(peak MB, seconds) of a command of pairlearn."""
    began, peak = time.perf_counter(), 0.0
    with subprocess.Popen([sys.executable, "-m", "pairlearn", *map(str, words)], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, own_memory(process.pid))
            time.sleep(PAUSE)
    if process.returncode:
        raise RuntimeError(f"pairlearn {words[0]} ended with {process.returncode}")
    return peak, time.perf_counter() - began


# --------------------------------------------------------------------------- data


def write_examples(path: Path, m: int, d: int) -> None:
    """m × d numbers of float32, written some rows after the other."""
    rng = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(m, d))
    for start in range(0, m, 50_000):
        part = rows[start : start + 50_000]
        part[:] = rng.normal(size=part.shape)
    rows.flush()


def write_pairs(path: Path, m: int, n: int, *, labels: bool = False) -> None:
    """n pairs of m examples by row number."""
    import polars

    rng = np.random.default_rng(1)
    left, right = rng.integers(0, m, (2, n))
    more = {"label": rng.integers(0, 2, n)} if labels else {}
    polars.DataFrame({"left": left, "right": right, **more}).write_parquet(path)


def model(d: int) -> pl.PairSVC:
    """A machine whose scores are a form of d numbers."""
    rng, classes = np.random.default_rng(2), np.arange(300) // 5
    X = rng.normal(size=(60, d))[classes] + rng.normal(size=(300, d))
    pairs = pl.all_pairs(X, reflexive=False)
    return pl.PairSVC("metric", "linear", C=1e-4, random_state=0).fit(pairs, pairs.labels(classes))


# --------------------------------------------------------------------------- rows


def mapped(quick: bool) -> dict[str, Any]:
    """Scores in Python: examples in a file beside the same in memory."""
    m, d, n = (100_000, 64, 10**6) if quick else (10**6, 64, 10**7)
    clf = model(d)
    with tempfile.TemporaryDirectory() as folder:
        write_examples(Path(folder) / "X.npy", m, d)
        left, right = np.random.default_rng(1).integers(0, m, (2, n), dtype=np.int32)
        X = np.load(Path(folder) / "X.npy", mmap_mode="r")
        clf.decision_function(pl.Pairs(X, left[:200_000], right[:200_000]))  # what is compiled, is compiled
        mb, seconds, values = watched(lambda: clf.decision_function(pl.Pairs(X, left, right)))
        there = np.array(X)
        beside, in_memory, same = watched(lambda: clf.decision_function(pl.Pairs(there, left, right)))
    return {
        "mb": mb,
        "in memory mb": beside + there.nbytes / 1e6,
        "file mb": there.nbytes / 1e6,
        "own mb": 16 * n / 1e6,
        "seconds": seconds,
        "ratio": seconds / in_memory,
        "equal": bool(np.array_equal(values, same)),
    }


def streamed(quick: bool) -> dict[str, Any]:
    """`pairlearn score` of tables of growing length, examples mapped; and the same without --stream."""
    m, d, sizes = (100_000, 64, (10**5, 10**6)) if quick else (10**6, 64, (10**5, 10**6, 10**7))
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_examples(folder / "X.npy", m, d)
        pl.save(model(d), folder / "m.safetensors")
        words = ("score", folder / "m.safetensors", folder / "X.npy")
        for n in sizes:
            write_pairs(folder / f"{n}.parquet", m, n)
            out = folder / f"scores-{n}.parquet"
            found[f"mb {n}"], found[f"seconds {n}"] = command(*words, folder / f"{n}.parquet", "--stream", "--out", out)
        n = sizes[1]
        found["whole mb"], found["whole seconds"] = command(
            *words, folder / f"{n}.parquet", "--no-stream", "--out", folder / "whole.parquet"
        )
        found["equal"] = (folder / "whole.parquet").read_bytes() != b"" and _equal(folder, n)
    found["growth"] = found[f"mb {sizes[-1]}"] / found[f"mb {sizes[0]}"]
    found["tenfold"] = found[f"mb {sizes[-1]}"] / found[f"mb {sizes[-2]}"]
    found["per second"] = (sizes[-1] - sizes[0]) / (found[f"seconds {sizes[-1]}"] - found[f"seconds {sizes[0]}"])
    return found


def _equal(folder: Path, n: int) -> bool:
    """Whether both ways wrote the same table."""
    import polars

    one, other = (polars.read_parquet(folder / f"{name}.parquet") for name in (f"scores-{n}", "whole"))
    return one.equals(other)


def table(quick: bool) -> dict[str, Any]:
    """Reading a labelled table of pairs to fit on: bytes per pair at the peak, and those that are held."""
    m, n = (50_000, 10**6) if quick else (50_000, 10**7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.parquet"
        write_pairs(path, m, 1000, labels=True)
        read_pairs(path)  # Polars and its threads are there
        write_pairs(path, m, n, labels=True)
        mb, seconds, found = watched(lambda: _fit_columns(path))
    return {"bytes per pair": 1e6 * mb / n, "seconds": seconds, "held": sum(each.nbytes for each in found) / n}


def _fit_columns(path: Path) -> tuple[Any, Any, Any]:
    found = read_pairs(path)
    return found.left.codes, found.right.codes, found.required_labels()[0]


def gram(quick: bool) -> dict[str, Any]:
    """A fit whose Gram matrix is larger than its budget: values computed anew, beside a matrix on disk."""
    m, n, budget = (1500, 5_000, 1.5e7) if quick else (3000, 15_000, 4e7)
    rng, classes = np.random.default_rng(0), np.arange(m) // 10
    X = rng.normal(size=(m // 10, 200))[classes] + 0.5 * rng.normal(size=(m, 200))
    left = rng.integers(0, m, n)
    right = np.where(rng.random(n) < 0.2, 10 * classes[left] + rng.integers(0, 10, n), rng.integers(0, m, n))
    pairs = pl.Pairs(X, left, right)
    y, kernel = pairs.labels(classes), pl.kernels.Gaussian(1e-3)

    def fit(base: Any) -> tuple[float, float, pl.PairSVC]:
        machine = pl.PairSVC("tensor", base, C=1.0, memory_budget=budget, random_state=0, time_budget=120)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return watched(lambda: machine.fit(pairs, y))

    few = pairs[:2000]
    for base in (kernel, pl.kernels.Gram(kernel, X[:300], on_disk=True)):  # what is compiled, is compiled
        some = pl.Pairs(X[:300], few.left % 300, few.right % 300)
        pl.PairSVC("tensor", base, memory_budget=2e7, time_budget=5).fit(some, some.labels(classes[:300]))
    anew_mb, anew, one = fit(kernel)
    disk_mb, disk, other = fit(pl.kernels.Gram(kernel, X, on_disk=True))
    return {
        "matrix mb": 8e-6 * m**2,
        "budget mb": budget / 1e6,
        "anew seconds": anew,
        "disk seconds": disk,
        "ratio": disk / anew,
        "anew mb": anew_mb,
        "mb": disk_mb,
        "plans": [str(one.plan_), str(other.plan_)],
        "status": [one.fit_status_, other.fit_status_],
        "objective off": abs(one.objective_ - other.objective_) / abs(one.objective_),
    }


ROWS = {"mapped": mapped, "streamed": streamed, "table": table, "gram": gram}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """The goals."""
    found: list[Figure] = []
    if row := rows.get("mapped"):
        beyond = (row["mb"] - row["own mb"]) / 1e3
        found += [
            Figure("mapped: equal to scores of examples in memory", float(row["equal"]), "== 1"),
            Figure("mapped: seconds / seconds of examples in memory", row["ratio"], "<= 1.5", judged=not quick),
            Figure("mapped: peak GB beside indices and scores", beyond, "<= 0.6", judged=not quick),
        ]
    if row := rows.get("streamed"):
        last = [key for key in row if key.startswith("mb ")][-1]
        found += [
            Figure("streamed: equal to the table scored whole", float(row["equal"]), "== 1"),
            Figure("streamed: peak of most pairs / peak of fewest", row["growth"], "<= 1.25", judged=not quick),
            Figure("streamed: peak of most pairs / peak of a tenth of them", row["tenfold"]),
            Figure("streamed: peak GB of most pairs", row[last] / 1e3, "<= 1", judged=not quick),
            Figure("streamed: pairs per second", row["per second"]),
            Figure("scored whole: peak GB", row["whole mb"] / 1e3),
        ]
    if row := rows.get("table"):
        found += [
            Figure("table: bytes per pair held", row["held"]),
            Figure("table: bytes per pair at the peak of reading", row["bytes per pair"], "<= 60", judged=not quick),
        ]
    if row := rows.get("gram"):
        found += [
            Figure("gram: seconds with a matrix on disk / anew", row["ratio"], "<= 1", judged=not quick),
            Figure("gram: peak MB / budget", row["mb"] / row["budget mb"], "<= 1", judged=not quick),
            Figure("gram: objective off, relative", row["objective off"], "<= 0.001"),
        ]
    return found


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, ROWS)
    sys.exit(print_figures(figures(results, is_quick)))
