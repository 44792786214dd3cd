"""Model files of earlier versions: each loads and says what it said, to the last bit where rounding is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from golden_files import answers, read_case, rounding

import pairlearn as pl

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
        last_bits = 1e-6 if path.stem == "svc_float32" else 1e-13 if same_rounding(path.parent) else 1e-9
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


def test_the_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in GOLDEN.glob("*/*")) < 2**20
