"""A new baseline is two files and a new machine two and its test: done in a copy of the package, then used there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pairlearn

BASELINE = '''
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from pairlearn.baselines.baseline import Presets
from pairlearn.baselines.learnt import LearntBaseline
from pairlearn.baselines.training import TrainingRows


class CityBlockBaseline(LearntBaseline):
    """g(a, b) = -sum |a - b| / deviation."""

    presets: ClassVar[Presets] = {"city_block": {}}

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = threshold

    def _learn(self, training: TrainingRows) -> None:
        self.mean_, self.scale_ = training.rows.mean(axis=0), training.rows.std(axis=0)

    def _map(self, rows: Any) -> Any:
        return (rows - self.mean_) / self.scale_

    def _scores(self, Z: Any, left: Any, right: Any) -> Any:
        return -np.abs(Z[left] - Z[right]).sum(axis=1)

    def _block(self, probe: Any, gallery: Any) -> Any:
        return -cdist(probe, gallery, "cityblock")
'''
MACHINE = '''
from typing import Any, Self

from sklearn.base import ClassifierMixin

from pairlearn.machines.machine import PairMachine
from pairlearn.machines.pair_svc import classification
from pairlearn.pairs import check_labels


class PairWithoutBias(ClassifierMixin, PairMachine, parameters="kernel base C tol * solver"):
    """A PairSVC without bias."""

    C: float = 2.0

    def fit(self, X: Any, y: Any) -> Self:
        training = self._prepare(X, sign=1)
        labels = check_labels(y, len(training.pairs))
        self._learn(training, classification(labels, self.C + 0 * labels, total=None))
        return self
'''
USE = """
import sys, numpy as np, pairlearn as pl
X, classes = pl.data.double_interval(6, 5, n=8, seed=0)
X = X + np.random.default_rng(0).normal(size=X.shape)
pairs = pl.all_pairs(X, reflexive=False)
y = pairs.labels(classes)
"""
USE_BASELINE = """
found = pl.run_baselines(pairs, y, pairs)
assert "city_block" in found.scores, found
model = pl.baselines.CityBlockBaseline().fit(pairs, y)
assert np.array_equal(found.scores["city_block"], model.decision_function(pairs))
"""
USE_MACHINE = """
model = pl.machines.PairWithoutBias(tol=1e-4).fit(pairs, y)
assert sorted(model.get_params()) == ["C", "base", "kernel", "solver", "tol"] and model.C == 2.0
assert model.intercept_ == 0.0 and model.n_features_in_ == 8
"""
KEEP = """
pl.save(model, sys.argv[1])
again = pl.load(sys.argv[1])
assert type(again) is type(model)
assert np.array_equal(again.decision_function(pairs), model.decision_function(pairs))
"""


def extended(copy: Path, package: str, module: str, source: str, name: str) -> None:
    """A copy of the package with one more file and one more line."""
    shutil.copytree(Path(pairlearn.__file__).parent, copy / "pairlearn")
    (copy / "pairlearn" / package / f"{module}.py").write_text(source)
    with (copy / "pairlearn" / package / "__init__.pyi").open("a") as stub:
        stub.write(f"from .{module} import {name} as {name}\n")


def run(copy: Path, script: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    arguments = [sys.executable, "-c", script, str(copy / "model.safetensors")]
    done = subprocess.run(arguments, env=environment, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_baseline_is_one_class_and_one_line(tmp_path: Path) -> None:
    extended(tmp_path, "baselines", "city_block", BASELINE, "CityBlockBaseline")
    run(tmp_path, USE + USE_BASELINE + KEEP)


def test_a_machine_is_one_file_and_one_line(tmp_path: Path) -> None:
    extended(tmp_path, "machines", "without_bias", MACHINE, "PairWithoutBias")
    run(tmp_path, USE + USE_MACHINE + KEEP)
