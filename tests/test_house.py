"""How many files an addition touches, done in a copy of the project; and the bounds that `tools/house.py` measures.

Each addition is made as a newcomer would make it, in a copy of `src` and `tests`; changed files are counted, and the
tests of the copy that concern it are run there.
"""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Addition:
    """What is written into which file, how many files that may be, what then holds, and which tests say so.

    `edits` gives for every file (text to find, text to put in its place); no text to find makes a new file.
    """

    edits: Mapping[str, tuple[str, str]]
    files: int
    holds: str
    tests: str


ADDITIONS = {
    "a pair kernel": Addition(
        {
            "src/pairlearn/pair_kernels/catalog.py": (
                '    "poly_tensor": poly_tensor(),\n',
                '    "poly_tensor": poly_tensor(),\n    "half_tensor": 0.5 * from_table(PROJECTIONS["tensor"]),\n',
            ),
            "tests/pair_kernels/test_pair_kernels.py": (
                "DEFINITIONS: dict[str, tuple[Formula, str]] = {\n",
                "DEFINITIONS: dict[str, tuple[Formula, str]] = {\n"
                '    "half_tensor": (lambda ac, ad, bc, bd: (ac * bd + ad * bc) / 4, "symmetric"),\n',
            ),
        },
        files=2,
        holds='pl.PairSVC("half_tensor").fit(pairs, y).fit_status_ == "converged"',
        tests="tests/pair_kernels/test_pair_kernels.py -k half_tensor",
    ),
    "a base kernel": Addition(
        {
            "src/pairlearn/kernels/vector.py": (
                "@dataclass(frozen=True)\nclass Cosine(",
                "@dataclass(frozen=True)\nclass Affine(Kernel):\n"
                '    """a·b + 1."""\n\n'
                "    def __call__(self, A: Examples, B: Examples) -> Floats:\n"
                "        return Linear()(A, B) + 1.0\n\n"
                "    def diag(self, A: Examples) -> Floats:\n"
                "        return Linear().diag(A) + 1.0\n\n\n"
                "@dataclass(frozen=True)\nclass Cosine(",
            ),
            "tests/kernels/test_kernels.py": (
                '    "linear": (Linear(), dot),\n',
                '    "linear": (Linear(), dot),\n'
                '    "affine": (pl.kernels.Affine(), lambda a, b: dot(a, b) + 1),  # type: ignore[attr-defined]\n',
            ),
        },
        files=2,
        holds="saved(pl.PairSVC(base=pl.kernels.Affine()).fit(pairs, y))",
        tests="tests/kernels/test_kernels.py -k affine",
    ),
    "a baseline": Addition(
        {
            "src/pairlearn/baselines/linear.py": (
                "class PCACosineBaseline(",
                "class CentredCosineBaseline(MetricBaseline):\n"
                '    """The cosine of x − mean and x\' − mean."""\n\n'
                '    presets: ClassVar[Presets] = {"centred_cosine": {}}\n'
                '    measure: Measure = "cosine"\n\n'
                "    def __init__(self, *, threshold: float | None = None) -> None:\n"
                "        self.threshold = threshold\n\n"
                "    def _projection(self, training: TrainingRows) -> Projection:\n"
                "        return Projection(np.eye(training.rows.shape[1]), 1.0)\n\n\n"
                "class PCACosineBaseline(",
            ),
            "tests/baselines/test_untrained.py": (
                "\n\n\ndef ",
                "\n\n\ndef test_centred_cosine() -> None:\n"
                "    X = np.random.default_rng(0).normal(size=(6, 3))\n"
                "    pairs = pl.all_pairs(X, reflexive=False)\n"
                '    model = fit_baseline("centred_cosine", pairs, pairs.labels([0, 0, 1, 1, 2, 2]))\n'
                "    Z = X - X.mean(axis=0)\n"
                "    Z /= np.linalg.norm(Z, axis=1, keepdims=True)\n"
                "    values = (Z @ Z.T)[pairs.left, pairs.right]\n"
                "    np.testing.assert_allclose(model.decision_function(pairs), values)\n"
                "\n\ndef ",
            ),
        },
        files=2,
        holds='"centred_cosine" in pl.run_baselines(pairs, y, pairs).scores '
        "and saved(pl.baselines.CentredCosineBaseline().fit(pairs, y))",
        tests="tests/baselines -k centred_cosine",
    ),
    "a machine": Addition(
        {
            "src/pairlearn/machines/hard_svc.py": (
                "",
                '"""Classification that forgives nothing."""\n\n'
                "from __future__ import annotations\n\n"
                "from pairlearn.machines.pair_svc import PairSVC\n\n\n"
                'class HardPairSVC(PairSVC, parameters="kernel base C tol"):\n'
                '    """PairSVC for pairs that can be told apart without error: the box is out of reach."""\n\n'
                "    C: float = 1e6\n",
            ),
            "src/pairlearn/machines/__init__.pyi": ("", "from .hard_svc import HardPairSVC as HardPairSVC\n"),
            "tests/machines/test_hard_svc.py": (
                "",
                "import numpy as np\nimport pairlearn as pl\n\n\n"
                "def test_no_pair_is_wrong() -> None:\n"
                "    pairs = pl.all_pairs(np.array([[0.0], [0.1], [5.0], [5.1]]), reflexive=False)\n"
                "    y = pairs.labels([0, 0, 1, 1])\n"
                '    assert (pl.HardPairSVC("metric").fit(pairs, y).predict(pairs) == y).all()\n',
            ),
        },
        files=3,
        holds='saved(pl.HardPairSVC("metric").fit(pairs, y)) and pl.HardPairSVC().C == 1e6',
        tests="tests/machines/test_hard_svc.py",
    ),
}
"""A measure has a test of its own: tests/evaluation/test_new_measure.py."""

HOLDS = """
import tempfile, numpy as np, pairlearn as pl
rng = np.random.default_rng(0)
X, classes = np.repeat(rng.normal(size=(5, 4)), 3, axis=0) + 0.1 * rng.normal(size=(15, 4)), np.repeat(np.arange(5), 3)
pairs = pl.all_pairs(X, reflexive=False)
y = pairs.labels(classes)

def saved(model):
    with tempfile.TemporaryDirectory() as folder:
        pl.save(model, folder + "/m.safetensors")
        loaded = pl.load(folder + "/m.safetensors")
    return bool((loaded.decision_function(pairs) == model.decision_function(pairs)).all())

assert pl.__file__.startswith({here!r}), pl.__file__
assert {statement}
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what the tests of the project need, with its compiled loops: compiling takes longer than all tests.

    Files that somebody writes at this moment are left out.
    """
    unneeded = shutil.ignore_patterns("*.pyc*", "*.tmp.*")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=unneeded)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def changed(one: Path, other: Path) -> Iterator[str]:
    """Files of `one` that are not the same in `other`."""
    for path in sorted(one.rglob("*.py*")):
        name = path.relative_to(one)
        if "__pycache__" not in path.parts and path.suffix in (".py", ".pyi"):
            twin = other / name
            if not (twin.exists() and filecmp.cmp(path, twin, shallow=False)):
                yield name.as_posix()


def make(addition: Addition, folder: Path) -> None:
    for name, (old, new) in addition.edits.items():
        path = folder / name
        text = path.read_text() if path.exists() else ""
        assert old in text, f"{name} has no place for it"
        path.write_text(text.replace(old, new, 1) if old else text + new)


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_touches_few_files(name: str, copy: Path) -> None:
    addition = ADDITIONS[name]
    make(addition, copy)
    assert len(list(changed(copy, ROOT))) == addition.files
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True, check=False
        )

    held = run("-c", HOLDS.format(here=str(copy), statement=addition.holds))
    assert held.returncode == 0, held.stderr
    tests = run("-m", "pytest", "-p", "no:cacheprovider", "-n", "0", *addition.tests.split())
    assert re.search(r"[1-9]\d* passed", tests.stdout), tests.stdout + tests.stderr
    assert tests.returncode == 0, tests.stdout


def test_the_bounds_of_the_house_are_kept() -> None:
    """Files and lines per package, lines per function, repeated runs: the command that prints them says so."""
    house = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "house.py")], capture_output=True, text=True, check=False
    )
    assert house.returncode == 0, house.stdout
    assert house.stdout.endswith("all bounds kept\n")


def test_a_broken_bound_is_told(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    package = tmp_path / "src" / "pairlearn"
    package.mkdir(parents=True)
    lines = "\n".join(f"    x = {number}" for number in range(20))
    (package / "one.py").write_text(f"def f():\n{lines}\n")
    (package / "two.py").write_text(f"def g():\n{lines}\n")
    house = subprocess.run(
        [sys.executable, str(tmp_path / "tools" / "house.py")], capture_output=True, text=True, check=False
    )
    assert house.returncode == 1
    assert "bodies: 90th percentile 20 > 12 lines" in house.stdout
    assert "10 equal lines: src/pairlearn/one.py:2 and src/pairlearn/two.py:2" in house.stdout
