"""A base kernel and a pair kernel are added in one file each (and its test): done here, in a copy of the library."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pairlearn as pl
from pairlearn.kernels import STORABLE, FromFunction, Kernel, Latent, Linear
from pairlearn.persist.known import VALUES

SOURCE = Path(pl.__file__).parent
LAPLACE = '''

@dataclass(frozen=True)
class Laplace(Kernel):
    """exp(−γ‖a − b‖₁)."""

    gamma: float = 1.0

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return np.exp(-self.gamma * np.abs(A[:, None] - B[None]).sum(axis=2))

    def diag(self, A: Examples) -> Floats:
        return np.ones(len(A))
'''
TRY = """
import numpy as np, pairlearn as pl
X = np.random.default_rng(0).normal(size=(9, 3))
pairs = pl.all_pairs(X, reflexive=False)
y = np.where(np.arange(len(pairs)) % 3 == 0, 1, -1)
def round_trip(model):
    pl.save(model.fit(pairs, y), "model.safetensors")
    assert (pl.load("model.safetensors").decision_function(pairs) == model.decision_function(pairs)).all()
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE, tmp_path / "pairlearn", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "pairlearn"


def run(copy: Path, code: str) -> None:
    environment = {"PYTHONPATH": str(copy.parent), "PATH": "", "NUMBA_CACHE_DIR": str(copy.parent / "cache")}
    command = [sys.executable, "-c", TRY + code]
    result = subprocess.run(command, cwd=copy.parent, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_base_kernel_is_one_class_in_one_file(copy: Path) -> None:
    file = copy / "kernels" / "vector.py"
    file.write_text(file.read_text() + LAPLACE)
    laws = "pl.testing.check_kernel(pl.kernels.Laplace(0.5), X); assert 'Laplace' in dir(pl.kernels)\n"
    run(copy, laws + "round_trip(pl.PairSVC(base=0.5 * pl.kernels.Laplace() + pl.kernels.Linear()))")


def test_a_pair_kernel_is_one_line_in_one_file(copy: Path) -> None:
    file = copy / "pair_kernels" / "catalog.py"
    line = '    "metric": power("difference", 2),\n'
    assert line in file.read_text()
    file.write_text(file.read_text().replace(line, line + '    "tensor_squared": power("tensor", 2),\n'))
    laws = (
        "pl.testing.check_pair_kernel('tensor_squared', pairs, formula=lambda ac, ad, bc, bd: (ac*bd + ad*bc)**2 / 4)\n"
    )
    run(copy, laws + "round_trip(pl.PairSVC('tensor_squared'))")


def test_the_door_leaks_nothing() -> None:
    for package in (pl.kernels, pl.pair_kernels, pl.graphs, pl.images, pl.testing):
        assert set(dir(package)) == set(package.__all__)
        assert [name for name in dir(package) if not hasattr(package, name)] == []
    assert not {"np", "inner", "rows", "dataclass"} & set(dir(pl.kernels))


def test_kernels_with_code_inside_are_not_stored() -> None:
    assert not {FromFunction, Latent, Kernel} & set(STORABLE)
    assert Linear in STORABLE
    assert set(STORABLE) <= set(VALUES.values())
    assert set(pl.pair_kernels.STORABLE) <= set(VALUES.values())
