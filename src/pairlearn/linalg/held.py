"""What a thing holds in memory: the arrays that it refers to, counted instead of estimated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from pairlearn.linalg.mapped import is_mapped


def held_bytes(thing: Any, *given: Any) -> int:
    """Bytes of all arrays that a thing refers to, each once, without those that what is `given` refers to.

    A view counts as the array behind it; an array in a file is not in memory.

    >>> held_bytes({"a": np.ones(10), "b": (np.ones(4), None)})
    112
    >>> X = np.ones(10)
    >>> held_bytes([X, X[2:], np.ones(1)], X[1:])
    8
    """
    known = {id(array) for array in _arrays(given, set())}
    return sum(array.nbytes for array in _arrays(thing, set()) if id(array) not in known)


def _arrays(thing: Any, seen: set[int]) -> Iterator[Any]:
    """The arrays behind a thing; `seen` are the ids of what was visited already."""
    while isinstance(thing, np.ndarray) and isinstance(thing.base, np.ndarray):
        thing = thing.base
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        if not is_mapped(thing):
            yield thing
        return
    for part in _parts(thing):
        yield from _arrays(part, seen)


def _parts(thing: Any) -> list[Any]:
    """What a container holds or an object knows; nothing of a class, a module, or a function, compiled ones included.

    Kernels can be called and hold arrays; what else can be called and is not ours leads through all of a compiler.
    """
    if isinstance(thing, Mapping):
        return list(thing.values())
    if isinstance(thing, (tuple, list)):
        return list(thing)
    foreign = callable(thing) and not type(thing).__module__.startswith("pairlearn.")
    return [] if foreign or isinstance(thing, (type, ModuleType)) else list(getattr(thing, "__dict__", {}).values())
