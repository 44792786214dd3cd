"""Model files of earlier versions: each loads and says what it said, to the last bit where rounding is the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
from golden_files import answers, held_classes, read_case, rounding

import pairlearn as pl
from pairlearn import persist
from pairlearn.persist.known import ANY, MODELS, VALUES
from tools import model_format

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.safetensors"))
every_file = pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])


def same_rounding(version: Path) -> bool:
    """Whether this machine rounds as the one that wrote the files did."""
    return np.array_equal(np.load(version / "rounding.npy"), rounding())


@every_file
def test_a_model_of_an_earlier_version_says_what_it_said(path: Path) -> None:
    asked, said = read_case(path.with_suffix(".npz"))
    found = answers(pl.load(path), asked)
    assert sorted(found) == sorted(said)
    for name, values in said.items():
        if values.dtype.kind != "f":
            if same_rounding(path.parent):
                np.testing.assert_array_equal(found[name], values, err_msg=name)
            continue
        # Sums may be grouped otherwise in a later version: the last bits may differ, and nothing more.
        # Version 0.1.0 scored examples of float32 in float32.
        # Cells of images are float32: processors that round otherwise do so in the seventh digit.
        elsewhere = 1e-5 if "rigid" in path.stem or "images" in path.stem else 1e-9
        last_bits = 1e-6 if path.stem == "svc_float32" else 1e-13 if same_rounding(path.parent) else elsewhere
        scale = np.abs(values).max(initial=1e-300)
        np.testing.assert_allclose(found[name], values, rtol=last_bits, atol=last_bits * scale / 10, err_msg=name)


@every_file
def test_it_can_be_saved_again_and_says_the_same(path: Path, tmp_path: Path) -> None:
    asked, _ = read_case(path.with_suffix(".npz"))
    model = pl.load(path)
    pl.save(model, tmp_path / "again.safetensors")
    once, twice = answers(model, asked), answers(pl.load(tmp_path / "again.safetensors"), asked)
    for name in once:
        np.testing.assert_array_equal(twice[name], once[name], err_msg=name)


# --------------------------------------------------------------------------- files of this version

NOW = GOLDEN / "0.2.0"
OWN = sorted(NOW.glob("*.safetensors"))
every_own = pytest.mark.parametrize("path", OWN, ids=[path.stem for path in OWN])


def content(path: Path) -> tuple[Any, dict[str, Any]]:
    """Document and tensors of a file, without what tells who wrote it."""
    with safetensors.safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["pairlearn"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return {name: part for name, part in document.items() if name not in ("pairlearn", "sha256")}, tensors


@every_own
def test_loading_and_saving_gives_the_same_file(path: Path, tmp_path: Path) -> None:
    pl.save(pl.load(path), tmp_path / path.name)
    (document, tensors), (again, arrays) = content(path), content(tmp_path / path.name)
    assert again == document
    assert {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()} == {
        name: (array.dtype, array.shape, array.tobytes()) for name, array in tensors.items()
    }
    if persist.read_about(path)["pairlearn"] == pl.__version__:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_every_class_of_a_file_has_a_golden_one() -> None:
    assert {*ANY, *VALUES} - held_classes(NOW) == set()
    assert set(MODELS) <= {persist.read_about(path)["class"] for path in OWN}


def test_the_files_are_those_that_were_written() -> None:
    listed = dict(line.split() for line in (NOW / "SHA256").read_text().splitlines())
    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in OWN}


@pytest.mark.parametrize("version", sorted(path for path in GOLDEN.iterdir() if path.name[0].isdigit()))
def test_the_files_stay_small(version: Path) -> None:
    assert sum(path.stat().st_size for path in version.iterdir()) < 2**20


def test_the_page_of_the_format_is_current() -> None:
    assert model_format.TARGET.read_text() == model_format.page(), "run python tools/model_format.py"
