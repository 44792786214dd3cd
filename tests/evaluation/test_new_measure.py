"""A new measure is one class and one line in one file; everything else follows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pairlearn as pl

CLASS = '''
@dataclass(frozen=True)
class Gini(CurveMeasure):
    """2·AUC − 1."""

    key, name, larger_is_better, bounds = "gini", "Gini index", True, (-1.0, 1.0)
    explanation = "how far a random pair of each label is in the right order"

    def of_curve(self, curve: DetCurve) -> float:
        return 2 * curve.area_under_roc - 1

    def influence(self, scores: Scores, units: Units | None = None) -> Floats:
        return 2 * placements(scores)


MEASURES'''

SCRIPT = """
import json, sys
import numpy as np
import pairlearn as pl
from typer.testing import CliRunner
from pairlearn.cli.app import app

folder = sys.argv[1]
wide = {"COLUMNS": "200"}
outputs = ["--report", folder + "/r.html", "--csv", folder + "/r.csv", "--markdown", folder + "/r.md"]
shown = CliRunner().invoke(app, ["evaluate", folder + "/scores.csv", *outputs], env=wide)
record = json.loads(CliRunner().invoke(app, ["evaluate", folder + "/scores.csv", "--json"], env=wide).stdout)
gini = pl.evaluation.measures.Gini()
X, classes = pl.data.double_interval(6, 4, n=30, seed=0)
pairs = pl.all_pairs(X)
scored = gini.scorer()(pl.EuclidBaseline(), pairs, pairs.labels(classes))
area = pl.evaluation.AUC().scorer()(pl.EuclidBaseline(), pairs, pairs.labels(classes))
found = pl.interval(pl.report.read_scores(folder + "/scores.csv").scores, gini, unit="pair")
print(json.dumps({"file": pl.__file__, "terminal": shown.stdout, "code": shown.exit_code, "scored": [scored, area],
                  "record": record["systems"][0], "low": found.low, "high": found.high}))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a copy of the package with one more measure says of some scores."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(pl.__file__).parent, root / "pairlearn", ignore=shutil.ignore_patterns("__pycache__"))
    file = root / "pairlearn" / "evaluation" / "measures.py"
    before, listed, after = file.read_text(encoding="utf-8").partition("\nMEASURES")
    changed = (before + CLASS + after).replace("MinCllr(), Cllr())", "MinCllr(), Cllr(), Gini())")
    assert (listed, changed.count("Gini()")) == ("\nMEASURES", 1)
    file.write_text(changed, encoding="utf-8")
    rng = np.random.default_rng(0)
    labels = np.repeat([1, -1], [40, 200])
    rows = "".join(f"{value},{label}\n" for value, label in zip(rng.normal(size=240) + labels, labels, strict=True))
    (root / "scores.csv").write_text("score,label\n" + rows)
    environment = {**os.environ, "PYTHONPATH": str(root)}
    run = subprocess.run([sys.executable, "-c", SCRIPT, root], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout.splitlines()[-1])
    assert Path(answer["file"]).is_relative_to(root)
    return {**answer, **{kind: (root / f"r.{kind}").read_text(encoding="utf-8") for kind in ("html", "csv", "md")}}


def test_it_stands_in_record_page_tables_and_terminal(told: dict[str, str]) -> None:
    assert told["code"] == 0
    gini, auc = (told["record"][key] for key in ("gini", "auc"))  # type: ignore[index]
    assert gini["value"] == pytest.approx(2 * auc["value"] - 1)
    written = f"{gini['value']:.4f} [{gini['low']:.4f}, {gini['high']:.4f}]"
    assert "<th>Gini index</th>" in told["html"]
    assert f'data-value="{gini["value"]}">{written.split(" [", maxsplit=1)[0]}' in told["html"]
    assert "| Gini index |" in told["md"]
    assert written in told["md"].replace("\\", "")
    assert f",gini,,{gini['value']!r},{gini['low']!r},{gini['high']!r}," in told["csv"]
    for text in (told["md"], told["html"]):
        assert "Gini index: how far a random pair of each label is in the right order." in text
    assert "Gini index" in told["terminal"]
    assert f"{gini['value']:.4f}" in told["terminal"]


def test_it_has_intervals_and_a_scorer(told: dict[str, object]) -> None:
    gini, (scored, area) = told["record"]["gini"], told["scored"]  # type: ignore[index,misc]
    assert scored == pytest.approx(2 * area - 1)
    assert (told["low"], told["high"]) == pytest.approx((gini["low"], gini["high"]))
    assert gini["low"] < gini["value"] < gini["high"]
