"""Modules that a command may never need, loaded at the first use of something in them.

scikit-learn imports scipy.stats, half a second and more, for functions that scoring never calls. The command line is a
process of its own, so it may put a stand-in there; the library never does.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

from pairlearn.interrupts import delayed


class Deferred(ModuleType):
    """Stands for a module until something of it is used; names that it gave out before go on working."""

    def __getattr__(self, name: str) -> Any:
        # What the import system asks of every module must not load this one.
        if name.startswith("__"):
            raise AttributeError(name)
        own = self.__name__
        if sys.modules.get(own) is self:
            parent, _, child = own.rpartition(".")
            del sys.modules[own]
            delattr(sys.modules[parent], child)
            with delayed():
                importlib.import_module(own)
        return getattr(sys.modules[own], name)


def defer(name: str) -> None:
    """Put off loading a module of a package until its first use; nothing happens if it is loaded already."""
    if name in sys.modules:
        return
    parent, _, child = name.rpartition(".")
    stand_in = Deferred(name)
    stand_in.__spec__ = importlib.util.find_spec(name)
    stand_in.__path__ = []
    sys.modules[name] = stand_in
    setattr(importlib.import_module(parent), child, stand_in)
