"""The doors of the public packages: names stand once, in `__init__.pyi`, and are loaded when they are first used.

`lazy_loader.attach_stub` does this for lines such as `from .gram import Gram as Gram`. Here a line `from .vector import
*` is understood too: every public class and function that vector.py defines, or every name of a package, so that
a new one there is a public name without a second line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lazy_loader

from pairlearn.interrupts import delayed

Door = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def attach(package: str, file: str) -> Door:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the stub beside its `__init__.py`."""
    modules, names = _listed(Path(file).parent)
    load, listed, public = lazy_loader.attach(package, submodules=modules, submod_attrs=names)

    def load_whole(name: str) -> Any:
        with delayed():
            return load(name)

    return load_whole, listed, public


def _listed(folder: Path) -> tuple[set[str], dict[str, list[str]]]:
    """What a stub lists: modules, and names by the module that they come from."""
    modules: set[str] = set()
    names: dict[str, list[str]] = {}
    for line in ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8")).body:
        assert isinstance(line, ast.ImportFrom)
        given = [alias.name for alias in line.names]
        if line.module is None:
            modules.update(given)
        else:
            names.setdefault(line.module, []).extend(_defined(folder / line.module) if given == ["*"] else given)
    return modules, names


def _defined(module: Path) -> list[str]:
    """Names of a package, or public classes and functions of a module: read, for nothing is loaded before its use."""
    if module.is_dir():
        return [name for names in _listed(module)[1].values() for name in names]
    return re.findall(
        r"^(?:class|def) ([A-Za-z]\w*)", module.with_suffix(".py").read_text(encoding="utf-8"), re.MULTILINE
    )
