"""One JSON document and the arrays that it names, as a safetensors file with a checksum: what every file of ours is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from pairlearn._version import __version__
from pairlearn.data.writing import write_whole
from pairlearn.errors import InputError
from pairlearn.persist.files import ModelFile, Tensors, in_one_line, opened, parsed
from pairlearn.persist.rules import DAMAGE

Document = dict[str, Any]


@dataclass(frozen=True)
class Format:
    """A kind of file: what it is called, its latest version, and what to do about a damaged one."""

    name: str
    version: int
    mend: str

    @property
    def title(self) -> str:
        """What it is in a sentence."""
        return f"pairlearn {self.name}"

    def write(self, path: str | Path, parts: Document, tensors: Tensors) -> None:
        """Write a file, all or nothing; `parts` is what the document holds beside its format and checksum."""
        document = {"format": self.title, "version": self.version, "pairlearn": __version__, **parts}
        document["sha256"] = digest(document, tensors)
        metadata = {"pairlearn": json.dumps(document, allow_nan=False)}
        write_whole(path, safetensors.numpy.save(tensors, metadata=metadata))

    def read(self, path: Path) -> tuple[Document, Tensors]:
        """The document and its arrays, exactly as they were written."""
        with opened(path, self.name) as file:
            document = self.document(file, path)
            with self.noticing_damage(path):
                tensors = file.tensors()
        with self.noticing_damage(path):
            if document["sha256"] != digest(document, tensors):
                raise InputError("its checksum is wrong")
        return document, tensors

    def document(self, file: ModelFile, path: Path) -> Document:
        """The document of an open file, of a version that is known."""
        text = file.texts.get("pairlearn", "null")
        with self.noticing_damage(path):
            document = parsed(text) if isinstance(text, str) else None
        if not isinstance(document, dict) or document.get("format") != self.title:
            raise InputError(f"{path} is a safetensors file, but not a {self.title}")
        version = document.get("version")
        if not isinstance(version, int) or version > self.version:
            raise InputError(
                f"{path} was written by a newer pairlearn (format {in_one_line(version)}, this one reads up to "
                f"{self.version}); upgrade pairlearn"
            )
        return document

    @contextmanager
    def noticing_damage(self, path: str | Path) -> Iterator[None]:
        """Whatever is wrong with what a file holds is one error that names the file."""
        try:
            yield
        except DAMAGE as error:
            raise InputError(f"{path} is damaged: {in_one_line(error)}; {self.mend}") from error


def digest(document: Document, tensors: Tensors) -> str:
    """Checksum of all but itself; of models of format 1, which had no notes, of content and tensors."""
    parts = {name: part for name, part in document.items() if name != "sha256"}
    covered = parts["content"] if document["version"] == 1 and "content" in parts else parts
    found = hashlib.sha256(json.dumps(covered, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name]
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()
