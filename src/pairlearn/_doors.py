"""The doors of the public packages: names stand once, in `__init__.pyi`, and are loaded when they are first used.

`lazy_loader.attach_stub` does this for lines such as `from .gram import Gram as Gram`. Here a line `from .vector import
*` is understood too: every public class and function that vector.py defines, so that a new one there is a public name
without a second line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lazy_loader

Door = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def attach(package: str, file: str) -> Door:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the stub beside its `__init__.py`."""
    folder = Path(file).parent
    names: dict[str, list[str]] = {}
    for line in ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8")).body:
        assert isinstance(line, ast.ImportFrom)
        assert line.module
        given = [alias.name for alias in line.names]
        names.setdefault(line.module, []).extend(_defined(folder / f"{line.module}.py") if given == ["*"] else given)
    return lazy_loader.attach(package, submod_attrs=names)


def _defined(module: Path) -> list[str]:
    """Public classes and functions of a module, read and not imported: nothing is loaded before it is used."""
    return re.findall(r"^(?:class|def) ([A-Za-z]\w*)", module.read_text(encoding="utf-8"), re.MULTILINE)
