"""Without an optional package, whatever needs it says which extra of pairlearn brings it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
DOORS = {
    "curves": ("plots", "from pairlearn.evaluation.plots import new_axes; new_axes()"),
    "a spectrum": ("plots", "from pairlearn.kernels.spectrum import _new_axes; _new_axes()"),
    "a page": ("report", "import pairlearn as pl; pl.report.as_html({})"),
    "records": ("records", "from pairlearn.records.compare.comparisons import load_rapidfuzz; load_rapidfuzz()"),
    "warping": ("sequences", "import pairlearn as pl; pl.kernels.DTW(gamma=1.0)([[1.0, 2.0]], [[1.0]])"),
    "spelling": ("sequences", "import pairlearn as pl; pl.kernels.EditSimilarity()(['ab'], ['ac'])"),
    "an index": ("search", "from pairlearn.scorers.index import load_faiss; load_faiss()"),
    "lbp": (
        "images",
        "import numpy as np; from pairlearn.images.lbp import _uniform_codes as f; f(np.zeros((9, 9)), 8, 1)",
    ),
    "a cluster": ("dask", "import pairlearn as pl\n    with pl.on_cluster(None): pass"),
    "a table": ("cli", "import pairlearn as pl; pl.data.read_examples('{folder}/t.csv')"),
    "a command": ("cli", "from pairlearn.cli import main; main(['--help'])"),
}
IMPORTED = {"scikit-image": "skimage", "faiss-cpu": "faiss"}
BLOCK = """
import sys
for name in {names}:
    sys.modules[name] = None
try:
    {code}
except Exception as error:
    print(error)
"""


def packages(extra: str) -> set[str]:
    """Names under which the packages of an extra are imported."""
    names = {re.split(r"[><=\\[]", line)[0] for line in EXTRAS[extra]}
    return {IMPORTED.get(name, name) for name in names}


@pytest.mark.parametrize("door", DOORS)
def test_what_is_missing_is_named_by_its_extra(door: str, tmp_path: Path) -> None:
    extra, code = DOORS[door]
    (tmp_path / "t.csv").write_text("id,x\na,1\n")
    text = BLOCK.format(names=sorted(packages(extra)), code=code.replace("{folder}", str(tmp_path)))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert f"pairlearn[{extra}]" in said, said
    assert "Traceback" not in said


def test_every_extra_that_is_imported_is_tried() -> None:
    """networkx alone is never imported: who gives a graph has it."""
    assert {extra for extra, _ in DOORS.values()} == set(EXTRAS) - {"graphs", "all"}
    wanted = json.dumps(EXTRAS["all"])
    assert all(extra in wanted for extra in EXTRAS if extra != "all")
