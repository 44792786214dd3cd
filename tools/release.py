"""Is it ready to publish? Build sdist and wheel, install them into clean environments, and use them there.

    python tools/release.py            # make release-check

The oldest supported Python gets the wheel with the lower bounds of pyproject.toml, the newest at hand gets the sdist
with the newest releases; a third environment has no extras, and every command and name that needs one must say which.
Pythons are looked for on PATH and among pyenv's; what is not at hand is told and not tested.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MINORS = (11, 12, 13)
"""Supported versions of Python 3, oldest first."""

USE = """
import importlib.metadata, pathlib, sys, tempfile
import numpy, scipy, sklearn, pairlearn as pl
assert "site-packages" in pl.__file__, pl.__file__
assert pathlib.Path(pl.__file__).with_name("py.typed").exists(), "py.typed is missing"
assert importlib.metadata.version("pairlearn") == pl.__version__
X, person = pl.data.double_interval(12, 4, n=30, seed=0)
pairs = pl.all_pairs(X)
clf = pl.PairSVC("tensor_metric", "poly", C=1000.0).fit(pairs, pairs.labels(person))
assert clf.fit_status_ == "converged"
with tempfile.TemporaryDirectory() as folder:
    pl.save(clf, folder + "/m.safetensors")
    assert (pl.load(folder + "/m.safetensors").decision_function(pairs) == clf.decision_function(pairs)).all()
versions = {m.__name__: m.__version__ for m in (numpy, scipy, sklearn)}
print("python", sys.version.split()[0], *(f"{k} {v}" for k, v in versions.items()), "pairlearn", pl.__version__)
"""
MISSING = {
    "cli": "import sys; from pairlearn.cli import main; main(['--version'])",
    "plots": "from pairlearn.evaluation.plots import new_axes; new_axes()",
    "report": "from pairlearn.report.html import environment; environment()",
    "records": "from pairlearn.records.compare.comparisons import load_rapidfuzz; load_rapidfuzz()",
}
"""What needs an extra, each a line that must fail in an environment without any, by an error that names the extra."""


class NotReadyError(Exception):
    """Why it is not ready."""


def pythons() -> dict[int, Path]:
    """Interpreters of the supported versions by minor version."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for minor in MINORS:
        known = [Path(path) for path in [shutil.which(f"python3.{minor}")] if path]
        known += sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}"))
        works = [path for path in known if run([path, "-c", "import venv, ensurepip"], check=False) is not None]
        if works:
            found[minor] = works[0]
    return found


def lower_bounds(project: Mapping[str, object]) -> list[str]:
    """The oldest releases that pyproject.toml allows, as constraints: "numpy>=2.0" → "numpy==2.0.*".

    >>> lower_bounds({"dependencies": ["numpy>=2.0"], "optional-dependencies": {"cli": ["rich>=13"], "all": ["x"]}})
    ['numpy==2.0.*', 'rich==13.*']
    """
    extras = project["optional-dependencies"]
    assert isinstance(extras, Mapping)
    given = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]  # type: ignore[misc]
    pattern = re.compile(r"([A-Za-z0-9_.-]+)>=([\d.]+)$")
    return sorted({f"{m[1]}=={m[2]}.*" for line in given if (m := pattern.match(line))})


def run(command: Sequence[object], *, check: bool = True, cwd: Path | None = None) -> str | None:
    """The output of a command; None if it failed and need not succeed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, cwd=cwd, env=clean
    )
    if done.returncode and check:
        raise NotReadyError(f"{' '.join(map(str, command))[:200]}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return None if done.returncode else done.stdout + done.stderr


def build(folder: Path) -> tuple[Path, Path]:
    """sdist and wheel; the wheel is built from the sdist, as an index would get it."""
    run([sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder], cwd=ROOT)
    sdist = next(folder.glob("*.tar.gz"))
    shutil.unpack_archive(sdist, folder / "source", filter="data")
    source = next((folder / "source").iterdir())
    run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder], cwd=source)
    return sdist, next(folder.glob("*.whl"))


def environment(python: Path, folder: Path, what: str, constraints: Sequence[str] = ()) -> Path:
    """A new environment with this installed; returns its interpreter."""
    run([python, "-m", "venv", folder])
    (folder / "constraints.txt").write_text("\n".join(constraints) + "\n")
    inside = folder / "bin" / "python"
    install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*install, "--constraint", folder / "constraints.txt", what])
    return inside


def use(inside: Path, folder: Path) -> str:
    """Fit, save and load, and show a demonstration on the command line."""
    told = run([inside, "-c", USE], cwd=folder)
    shown = run([inside.parent / "pairlearn", "demo", "matches"], cwd=folder)
    if not (folder / "pairlearn-matches" / "order.html").exists():
        raise NotReadyError(f"pairlearn demo matches wrote no page:\n{shown}")
    return str(told).strip()


def names_its_extra(inside: Path, folder: Path) -> None:
    """Without extras the library works, and what needs one says how to get it."""
    run([inside, "-c", USE], cwd=folder)
    for extra, line in MISSING.items():
        wrapped = f"try:\n    {line}\nexcept ImportError as error:\n    print(error)"
        done = subprocess.run([str(inside), "-c", wrapped], capture_output=True, text=True, check=False, cwd=folder)
        if f"pairlearn[{extra}]" not in done.stdout + done.stderr:
            raise NotReadyError(f"without the extra {extra!r} nothing names it:\n{done.stdout}{done.stderr}")


def main() -> int:
    """Build, install, use; print a line for each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--keep", type=Path, help="keep sdist and wheel in this folder")
    chosen = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = pythons()
    absent = [f"3.{minor}" for minor in MINORS if minor not in found]
    print(
        f"pythons at hand: {', '.join(f'3.{minor}' for minor in found)}"
        + (f"; not tested: {', '.join(absent)}" if absent else "")
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            sdist, wheel = build(folder)
            print(f"built {sdist.name} and {wheel.name}")
            oldest, newest = found[min(found)], found[max(found)]
            inside = environment(oldest, folder / "oldest", f"{wheel}[all]", lower_bounds(project))
            print("oldest, wheel:", use(inside, folder / "oldest"), flush=True)
            inside = environment(newest, folder / "newest", f"{sdist}[all]")
            print("newest, sdist:", use(inside, folder / "newest"), flush=True)
            names_its_extra(environment(newest, folder / "plain", str(wheel)), folder / "plain")
            print(f"without extras: works, and names {', '.join(MISSING)} where they are missing")
        except NotReadyError as why:
            print(f"not ready: {why}")
            return 1
        if chosen.keep:
            chosen.keep.mkdir(parents=True, exist_ok=True)
            for file in (sdist, wheel):
                shutil.copy(file, chosen.keep)
    print("ready to publish")
    return 0


if __name__ == "__main__":
    sys.exit(main())
