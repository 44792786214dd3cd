"""Names that moved keep working for one version, each with a warning that says where it is now."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from types import ModuleType

import pytest

import pairlearn as pl
from pairlearn import _moved
from pairlearn.errors import MovedWarning


def found(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"pairlearn.{module}"), name)


@pytest.mark.parametrize("name", _moved.ROOT)
def test_names_of_the_root_are_found_with_a_warning(name: str) -> None:
    place, _, instead = _moved.ROOT[name].partition(" = ")
    with pytest.warns(MovedWarning, match=re.escape(f"pairlearn.{name} is now pairlearn.{instead or place};")):
        value = getattr(pl, name)
    assert value is found(place)
    assert name not in dir(pl)


def test_old_modules_are_the_new_ones() -> None:
    """In a fresh interpreter, because a module is loaded only once."""
    code = """
import importlib, warnings
from pairlearn._moved import MODULES
from pairlearn.errors import MovedWarning
for old, new in MODULES.items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = importlib.import_module(f"pairlearn.{old}")
    told = [str(w.message) for w in caught if w.category is MovedWarning]
    assert len(told) == 1 and f"pairlearn.{old} is now pairlearn.{new};" in told[0], (old, told)
    assert module is importlib.import_module(f"pairlearn.{new}") and module.__name__ == f"pairlearn.{new}", old
print(len(MODULES))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(len(_moved.MODULES))]


def test_the_warning_points_at_the_line_of_the_caller() -> None:
    with pytest.warns(MovedWarning) as caught:
        _ = pl.Gram  # type: ignore[attr-defined]
    assert caught[0].filename == __file__


def test_the_door_is_small_and_shows_nothing_else() -> None:
    public = [name for name in dir(pl) if not name.startswith("_")]
    packages = [name for name in public if isinstance(getattr(pl, name), ModuleType)]
    assert len(public) - len(packages) <= 36
    for package in packages:
        module = getattr(pl, package)
        if package != "errors":
            assert set(dir(module)) == set(module.__all__), package
            assert not [name for name in dir(module) if name in ("annotations", "Any", "np")]
