"""Model files: one safetensors file, arrays as tensors and everything else as one JSON document.

Loading builds values of a closed list of classes and checks every field; nothing in a file is ever executed.
`known` is that list, `values` turns models into JSON and arrays and back, `checks` looks at what compiled loops would
trust. The document holds `format`, `version`, a checksum of all content, and the content:
{"class": name, "params": {…}, "fitted": {…}}, arrays by the name of their tensor.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from pairlearn.data.writing import write_whole
from pairlearn.errors import InputError
from pairlearn.machines.machine import PairMachine
from pairlearn.persist.checks import check_function
from pairlearn.persist.known import MODELS
from pairlearn.persist.values import Tensors, content_of, model_of

FORMAT = "pairlearn model"
VERSION = 1

DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What decoding a file with missing or wrong parts may raise; InputError is a ValueError."""


def save(model: Any, path: str | Path, *, about: dict[str, Any] | None = None) -> None:
    """Save a fitted model to one file, all or nothing: if it fails, an older file stays as it was.

    A `callback` or `progress` is not saved; a loaded model has none. A Gram given as `base` is saved as its kernel.

    >>> import pairlearn as pl, tempfile, os
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "model.safetensors")
    ...     pl.save(pl.EuclidBaseline(threshold=-2.5), path)
    ...     pl.load(path)
    EuclidBaseline(threshold=-2.5)
    """
    name = type(model).__name__
    if MODELS.get(name) is not type(model):
        raise InputError(f"cannot save a {name}; models that can be saved: {', '.join(MODELS)}")
    if isinstance(model, PairMachine):
        if not model.__sklearn_is_fitted__():
            raise InputError(f"this {name} is not fitted; call fit first, or save its parameters yourself")
        check_function(model.function_)
    tensors: Tensors = {}
    content = content_of(model, "", tensors)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": _digest(content, tensors),
        "content": content,
        **({} if about is None else {"about": about}),
    }
    metadata = {"pairlearn": json.dumps(document, allow_nan=False)}
    write_whole(path, safetensors.numpy.save(tensors, metadata=metadata))


def load(path: str | Path) -> Any:
    """Load a model that `save` wrote; its decision values are the same to the last bit."""
    document, tensors = _read(Path(path))
    try:
        content = document["content"]
        if document["sha256"] != _digest(content, tensors):
            raise InputError("its checksum is wrong")
        return model_of(content, tensors)
    except DAMAGE as error:
        raise InputError(f"{path} is damaged: {error}; take a copy or save the model again") from error


def read_about(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself, without its arrays."""
    document, _ = _read(Path(path))
    return {"about": document.get("about", {}), "class": document["content"]["class"]}


# --------------------------------------------------------------------------- files


def _read(path: Path) -> tuple[dict[str, Any], Tensors]:
    if path.is_dir():
        raise InputError(f"{path} is a directory; name the model file in it")
    if not path.exists():
        raise InputError(f"there is no model file {path}")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            document = json.loads((file.metadata() or {}).get("pairlearn", "null"))
            _check_format(document, path)
            # Copies own their memory: writable and aligned like the arrays of a fresh fit.
            return document, {name: np.array(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, json.JSONDecodeError, RecursionError, TypeError) as error:
        raise InputError(f"{path} is not a model file, or it is truncated or damaged ({error})") from error


def _check_format(document: Any, path: Path) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{path} is a safetensors file, but not a pairlearn model")
    version = document.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise InputError(
            f"{path} was written by a newer pairlearn (format {version}, this one reads up to {VERSION}); "
            "upgrade pairlearn"
        )


def _digest(content: Any, tensors: Tensors) -> str:
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
