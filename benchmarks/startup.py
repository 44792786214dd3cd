"""How long until something happens? Imports, the first fit with all compilation, the command line's help and scores."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows, timed
from pairlearn.data.writing import write_table

FIRST_FIT = """
import pairlearn as pl
X, classes = pl.data.double_interval(20, 5, n=50, seed=0)
pairs = pl.all_pairs(X)
clf = pl.PairSVC().fit(pairs, pairs.labels(classes))
clf.decision_function(pairs)
"""


def run(code: str, **environment: str) -> float:
    """Seconds of a fresh interpreter that runs this code."""
    command = [sys.executable, "-c", code]
    return timed(lambda: subprocess.run(command, check=True, env={**os.environ, **environment}))[0]


def imports(quick: bool) -> dict[str, Any]:
    """Interleaved, so that a busy machine slows both alike."""
    codes = ("import pairlearn", "from pairlearn import PairSVC", "import sklearn.svm", "pass")
    rounds = [[run(code) for code in codes] for _ in range(3 if quick else 9)]
    ours, machine, sklearn, empty = np.median(np.array(rounds), axis=0)
    return {
        "seconds": dict(zip(codes, (ours, machine, sklearn, empty), strict=True)),
        "ratio": float((ours - empty) / (sklearn - empty)),
        "machine_ratio": float((machine - empty) / (sklearn - empty)),
    }


def first_fit(quick: bool) -> dict[str, Any]:
    """With an empty compilation cache."""
    with tempfile.TemporaryDirectory() as folder:
        return {"seconds": run(FIRST_FIT, NUMBA_CACHE_DIR=folder)}


def command_line(quick: bool) -> dict[str, Any]:
    """Medians of fresh processes, interleaved with `import numpy`: help, and scores of 1,000 labelled pairs."""
    with tempfile.TemporaryDirectory() as folder:
        _write_faces(Path(folder))
        score = ["score", "model.safetensors", "faces.csv", "pairs.csv", "--out", "scores.csv", "--force"]
        calls = {
            "import numpy": [sys.executable, "-c", "import numpy"],
            "help": [sys.executable, "-m", "pairlearn", "--help"],
            "fit --help": [sys.executable, "-m", "pairlearn", "fit", "--help"],
            "score": [sys.executable, "-m", "pairlearn", *score],
        }
        _call(calls["score"], folder)
        rounds = [[_call(call, folder) for call in calls.values()] for _ in range(3 if quick else 10)]
    seconds = dict(zip(calls, np.median(np.array(rounds), axis=0).tolist(), strict=True))
    return {"seconds": seconds, "ratio": {name: value / seconds["import numpy"] for name, value in seconds.items()}}


def _write_faces(folder: Path) -> None:
    """A table of 180 examples with 60 features, 1,000 labelled pairs of it, and a model learnt from them."""
    X, classes = pl.data.double_interval(30, 6, n=60, seed=0)
    ids = [f"face{i}" for i in range(len(X))]
    write_table(folder / "faces.csv", {"id": ids, "class": classes, **{f"e{t}": X[:, t] for t in range(60)}})
    pairs = pl.all_pairs(X, reflexive=False)
    chosen = pairs[np.random.default_rng(0).choice(len(pairs), 1000, replace=False)]
    left, right = ([ids[i] for i in side] for side in (chosen.left, chosen.right))
    write_table(folder / "pairs.csv", {"left": left, "right": right, "label": chosen.labels(classes)})
    pl.save(pl.PairSVC().fit(chosen, chosen.labels(classes)), folder / "model.safetensors")


def _call(command: list[str], folder: str) -> float:
    """Seconds of a process."""
    return timed(lambda: subprocess.run(command, check=True, cwd=folder, capture_output=True))[0]


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, {"imports": imports, "first_fit": first_fit, "command_line": command_line})
    cli = results["command_line"]
    figures = [
        Figure("import pairlearn / import sklearn.svm", results["imports"]["ratio"], "<= 1.2"),
        Figure("from pairlearn import PairSVC / import sklearn.svm", results["imports"]["machine_ratio"]),
        Figure("seconds of the first fit, compilation included", results["first_fit"]["seconds"], "<= 30"),
        Figure("seconds of pairlearn --help, median", cli["seconds"]["help"], "<= 0.35"),
        Figure("pairlearn --help / import numpy", cli["ratio"]["help"]),
        Figure("seconds of pairlearn fit --help, median", cli["seconds"]["fit --help"]),
        Figure("seconds of pairlearn score, 1,000 labelled pairs, median", cli["seconds"]["score"], "<= 1.5"),
        Figure("pairlearn score / import numpy", cli["ratio"]["score"]),
    ]
    sys.exit(print_figures(figures))
