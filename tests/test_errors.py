"""Warnings point at the line of the user."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

import pytest

from pairlearn.errors import SymmetryWarning, warn_user

SOURCE = """
from pairlearn.errors import SymmetryWarning, warn_user
def descend(depth):
    return warn_user("look here", SymmetryWarning) if depth == 0 else descend(depth - 1)
"""


def _inside() -> Any:
    """A module that claims to be part of pairlearn and warns as many calls deep as it is told."""
    module = ModuleType("pairlearn.pretended")
    exec(SOURCE, vars(module))
    return module


@pytest.mark.parametrize("depth", [0, 1, 7])
def test_the_warning_points_at_the_caller_outside(depth: int) -> None:
    module = _inside()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.descend(depth)
        line = sys._getframe().f_lineno - 1
    assert [(w.filename, w.lineno, w.category) for w in caught] == [(__file__, line, SymmetryWarning)]


def test_outside_of_the_package_it_points_at_the_call_itself() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("look here", SymmetryWarning)
        line = sys._getframe().f_lineno - 1
    assert (caught[0].filename, caught[0].lineno) == (__file__, line)
