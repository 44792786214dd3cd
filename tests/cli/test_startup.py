"""What is loaded for small work: help, and scores of a few pairs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pairlearn as pl
from pairlearn.data.writing import write_table

HEAVY = ("scipy.stats._stats_py", "sklearn.linear_model", "sklearn.decomposition", "sklearn.svm", "numba", "matplotlib")


def loaded_after(code: str, folder: Path) -> set[str]:
    told = f"{code}\nimport sys\nprint('LOADED', *(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_scores_of_a_few_pairs_need_nothing_heavy(tmp_path: Path) -> None:
    X, classes = pl.data.double_interval(8, 4, n=20, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    pl.save(pl.PairSVC().fit(pairs, pairs.labels(classes)), tmp_path / "m.safetensors")
    write_table(tmp_path / "x.csv", {"id": [f"a{i}" for i in range(32)], **{f"e{t}": X[:, t] for t in range(20)}})
    columns = {"left": ["a0", "a0"], "right": ["a1", "a9"], "label": [1, -1]}
    write_table(tmp_path / "p.csv", columns)
    call = "from pairlearn.cli.app import run; run(['score', 'm.safetensors', 'x.csv', 'p.csv', '--out', 's.csv'])"
    assert loaded_after(call, tmp_path) == set()
    assert (tmp_path / "s.csv").exists()


def test_what_is_put_off_works_when_it_is_used(tmp_path: Path) -> None:
    code = """
from pairlearn.cli.deferred import defer
defer("scipy.stats")
import sys
from scipy import stats as early
import scipy.stats
assert "scipy.stats._stats_py" not in sys.modules
assert scipy.stats.mode([3, 3, 1]).mode == 3 and early.norm.cdf(0.0) == 0.5
from scipy.stats import rankdata
import scipy
assert scipy.stats.norm is early.norm and rankdata([2, 1]).tolist() == [2, 1]
assert sys.modules["scipy.stats"].__file__.endswith("__init__.py")
defer("scipy.stats")
assert sys.modules["scipy.stats"] is scipy.stats
"""
    assert loaded_after(code, tmp_path) == {"scipy.stats._stats_py"}
