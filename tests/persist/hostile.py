"""Changing a model file as an attacker would, with a checksum that is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy

from pairlearn.persist.documents import digest

Change = Callable[[Any], Any]


def rewritten(path: Path, change: Change = lambda document: None, arrays: dict[str, Any] | None = None) -> None:
    """The same file with a changed document and other arrays in place of its own."""
    with safetensors.safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["pairlearn"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert set(arrays or {}) <= set(tensors), sorted(tensors)
    tensors.update(arrays or {})
    change(document)
    if "content" in document:
        document["sha256"] = digest(document, tensors)
    safetensors.numpy.save_file(tensors, path, metadata={"pairlearn": json.dumps(document)})


def put(*place: Any, value: Any) -> Change:
    """The change that puts a value at this place of the document."""

    def change(document: Any) -> None:
        for key in place[:-1]:
            document = document[key]
        document[place[-1]] = value

    return change
