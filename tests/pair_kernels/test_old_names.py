"""Names and model files of 0.1 still work, and the names say what took their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy

import pairlearn as pl
from pairlearn import pair_kernels
from pairlearn.errors import MovedWarning
from pairlearn.pair_kernels import gaussian, group_linear, power
from pairlearn.persist.documents import digest

CALLS: dict[str, tuple[tuple[Any, ...], pair_kernels.PairKernel, str]] = {
    "outer_power": (("wedge", 3, 0.5), power("wedge", 3, 0.5), "pair_kernels.power;"),
    "outer_gaussian": (("tensor", 0.3), gaussian("tensor", 0.3), "pair_kernels.gaussian;"),
    "power_of": ((pl.pair_kernel("tensor"), 3), power("tensor", 3), "pair_kernels.power;"),
    "gaussian_of": ((pl.pair_kernel("tensor"), 2.0), gaussian("tensor", 2.0), "pair_kernels.gaussian;"),
    "group_polynomial": ((3, 0.5), power(group_linear(), 3, 0.5), r"pair_kernels.power\(group_linear\(\), degree"),
    "group_gaussian": ((0.2,), gaussian(group_linear(), 0.2), r"pair_kernels.gaussian\(group_linear\(\), gamma\)"),
}


@pytest.mark.parametrize("package", [pl, pair_kernels], ids=["root", "package"])
@pytest.mark.parametrize("name", CALLS)
def test_old_names_build_the_same_kernels(name: str, package: Any) -> None:
    given, expected, advice = CALLS[name]
    with pytest.warns(MovedWarning, match=f"{name} is now pairlearn.{advice}") as caught:
        found = getattr(package, name)(*given)
    assert found == expected
    assert caught[0].filename == __file__


def test_group_features_may_still_be_left_out_by_the_old_names() -> None:
    with pytest.warns(MovedWarning):
        found = pair_kernels.group_gaussian(0.2, signed=False)
    assert found == gaussian(group_linear(signed=False), 0.2)


@pytest.mark.parametrize(("old", "new"), [("Seen", "ViewKernel"), ("Scored", "ModelScores")])
def test_renamed_classes(old: str, new: str) -> None:
    with pytest.warns(MovedWarning, match=f"{old} is now pairlearn.pair_kernels.{new}"):
        assert getattr(pair_kernels, old) is getattr(pair_kernels, new)
    assert old not in dir(pair_kernels)


def test_files_with_the_old_names_of_classes_are_read(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 3)
    pairs = pl.all_pairs(random.normal(size=(4, 3))[classes] + 0.3 * random.normal(size=(12, 3)), reflexive=False)
    kernel = pl.pair_kernel("tensor") + pair_kernels.on_score(pl.CosineBaseline(), weight=2.0)
    model = pl.PairSVC(kernel).fit(pairs, pairs.labels(classes))
    path = tmp_path / "model.safetensors"
    pl.save(model, path)
    with safetensors.safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["pairlearn"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    text = json.dumps(document["content"])
    assert '"ViewKernel"' in text
    assert '"ModelScores"' in text
    document["content"] = json.loads(text.replace('"ViewKernel"', '"Seen"').replace('"ModelScores"', '"Scored"'))
    document["sha256"] = digest(document, tensors)
    safetensors.numpy.save_file(tensors, path, metadata={"pairlearn": json.dumps(document)})
    loaded = pl.load(path)
    np.testing.assert_array_equal(loaded.decision_function(pairs), model.decision_function(pairs))
    assert loaded.function_.kernel == model.function_.kernel
