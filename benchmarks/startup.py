"""How long until something happens? Import time, and the first fit after installation with all compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from benchmarks.harness import Figure, print_figures, run_rows, timed

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


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, {"imports": imports, "first_fit": first_fit})
    figures = [
        Figure("import pairlearn / import sklearn.svm", results["imports"]["ratio"], "<= 1.2"),
        Figure("from pairlearn import PairSVC / import sklearn.svm", results["imports"]["machine_ratio"]),
        Figure("seconds of the first fit, compilation included", results["first_fit"]["seconds"], "<= 30"),
    ]
    sys.exit(print_figures(figures))
