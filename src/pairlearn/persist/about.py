"""What a file says about its model: notes of whoever saved it, and class and parameters in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from pairlearn.errors import InputError
from pairlearn.persist.kinds import LARGEST
from pairlearn.persist.rules import DAMAGE
from pairlearn.persist.values import Arrays, decode

Facts = dict[str, str]
"""Type and shape of every tensor of a file, by name."""


def check_notes(about: Mapping[str, Any] | None) -> dict[str, Any]:
    """The notes as JSON has them, or an error that names the one it has not.

    >>> check_notes({"data": "faces.csv", "examples": 400, "folds": [1, 2]})
    {'data': 'faces.csv', 'examples': 400, 'folds': [1, 2]}
    """
    if about is not None and not isinstance(about, Mapping):
        raise InputError(f'about is a dictionary of notes such as {{"data": "faces.csv"}}, got {about!r}')
    return dict(_plain(about or {}, "about"))


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(entry, f"{place}[{key!r}]") for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry, f"{place}[{i}]") for i, entry in enumerate(value)]
    if value is None or (isinstance(value, (bool, int, float, str)) and not _is_endless(value)):
        return value
    raise InputError(
        f"{place} is {value!r} ({type(value).__name__}); notes are text, finite numbers, booleans, None, lists and "
        "dictionaries of these with names: write it as text"
    )


def _is_endless(value: Any) -> bool:
    return (isinstance(value, float) and not isfinite(value)) or (isinstance(value, int) and abs(value) >= LARGEST)


def described(content: Mapping[str, Any], tensors: Facts) -> dict[str, Any]:
    """Class and parameters of a model, of models within it too; arrays by type and shape."""
    params = {name: _readable(value, tensors) for name, value in content["params"].items()}
    return {"class": content["class"], "params": params}


def _readable(document: Any, tensors: Facts) -> Any:
    """A stored value as plain JSON: what `values` writes as objects with "is" becomes text, a list or a dictionary."""
    match document:
        case list():
            return [_readable(entry, tensors) for entry in document]
        case {"is": "list" | "strings", "items": items}:
            return _readable(items, tensors)
        case {"is": "mapping", "items": items}:
            return {str(_readable(key, tensors)): _readable(entry, tensors) for key, entry in items}
        case {"is": "number" | "float" | "dtype", "value": value}:
            return _readable(value, tensors)
        case {"is": "array", "tensor": name}:
            return f"array {tensors[name]}"
        case {"is": "csr", "shape": shape}:
            return f"sparse matrix {tuple(shape)}"
        case {"is": "model", "content": content}:
            return described(content, tensors)
        case {"is": kind}:
            return _written(kind, document)
    return document


def _written(kind: str, document: dict[str, Any]) -> str:
    """A kernel or threshold as Python writes it; those that hold arrays by their name."""
    try:
        return repr(decode(document, Arrays({}), kind))
    except DAMAGE:
        return f"{kind}(…)"
