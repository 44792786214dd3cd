"""Model files: one safetensors file, arrays as tensors and everything else as one JSON document.

Loading builds values of a closed list of classes and checks every field; nothing in a file is ever executed.
`known` is that list, with the `transformers` that pipelines may have; `schemas` says what each class may hold, in the
words of `kinds`, and `rules` what else must hold; `files` reads a file within bounds, `values` turns models into JSON
and arrays and back, `documents` writes and reads both with a checksum, and `about` has the notes. `checkpoint` keeps
fits that are under way in files of the same kind. The document holds `format`, `version`, the `pairlearn` that wrote
it, `about`, a checksum of all, and the content: {"class": name, "params": {…}, "fitted": {…}}, arrays by the name of
their tensor (docs/model-format.md, written from the same table). The same model gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pairlearn.errors import InputError
from pairlearn.on_examples import is_pipeline
from pairlearn.persist.about import check_notes, described
from pairlearn.persist.documents import Format
from pairlearn.persist.files import Tensors, check_depth, opened, too_deep
from pairlearn.persist.known import MODELS
from pairlearn.persist.schemas import check_fitted
from pairlearn.persist.values import Arrays, check_texts, content_of, model_of
from pairlearn.scorers.scorer import as_scorer

VERSION = 2
"""2 since 0.2: notes, pipelines and galleries; the checksum covers the whole document. 1 is still read."""
FOREIGN = frozenset(
    (
        *(".pkl", ".pickle", ".joblib", ".skops", ".onnx", ".pmml", ".pt", ".pth", ".h5", ".hdf5"),
        *(".json", ".jsonl", ".npy", ".npz", ".csv", ".tsv", ".parquet", ".txt", ".html"),
        *(".zip", ".gz", ".bz2", ".xz", ".zst"),
    )
)
"""Endings that promise another format."""
MODEL = Format("model", VERSION, "take a copy or save the model again")


def save(model: Any, path: str | Path, *, about: Mapping[str, Any] | None = None) -> None:
    """Save a fitted model to one file, all or nothing: if it fails, an older file stays as it was.

    Whatever its name, the file is a safetensors file; names that promise another format (.pkl, .npz, …) are refused.
    A `callback` or `progress` is not saved; a loaded model has none. A Gram given as `base` is saved as its kernel.
    `about` holds notes that `read_about` gives back: text, numbers, booleans, None, lists and dictionaries of these.

    >>> import pairlearn as pl, tempfile, os
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "model.safetensors")
    ...     pl.save(pl.EuclidBaseline(threshold=-2.5), path)
    ...     pl.load(path)
    EuclidBaseline(threshold=-2.5)
    """
    check_ending(path)
    _check_kind(model)
    tensors: Tensors = {}
    parts = {"about": check_notes(about), "content": _content(model, tensors)}
    MODEL.write(path, parts, tensors)


def check_ending(path: str | Path) -> None:
    """Refuse names of model files that promise another format, by which somebody would open them.

    >>> check_ending("model.pkl")
    Traceback (most recent call last):
    pairlearn.errors.InputError: model.pkl would be a safetensors file, which is not what .pkl means; name it \
model.safetensors
    """
    ending = Path(path).suffix
    if ending.lower() in FOREIGN:
        better = Path(path).with_suffix(".safetensors")
        raise InputError(f"{path} would be a safetensors file, which is not what {ending} means; name it {better}")


def _content(model: Any, tensors: Tensors) -> dict[str, Any]:
    try:
        content = content_of(model, "", tensors)
    except RecursionError as error:
        raise too_deep() from error
    check_depth(content)
    check_texts(content, tensors)
    return content


def load(path: str | Path) -> Any:
    """Load a model that `save` wrote; its decision values are the same to the last bit."""
    document, tensors = MODEL.read(Path(path))
    with MODEL.noticing_damage(path):
        check_texts(document["content"], tensors)
        model = model_of(document["content"], Arrays(tensors))
        _check_kind(model)
        return model


def read_about(path: str | Path) -> dict[str, Any]:
    """What a model file is, without its arrays: class, parameters and notes, who wrote it, its format and size.

    "params" are plain JSON, arrays in them by type and shape; "pairlearn" is None for files before 0.2; "size" is in
    bytes. Only the head of the file is read, so that the checksum, which covers all of it, is left to `load`.

    >>> import pairlearn as pl, tempfile, os
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "model.safetensors")
    ...     pl.save(pl.EuclidBaseline(threshold=-2.5), path, about={"data": "faces.csv"})
    ...     found = read_about(path)
    >>> found["class"], found["params"], found["about"]
    ('EuclidBaseline', {'threshold': -2.5}, {'data': 'faces.csv'})
    """
    with opened(Path(path)) as file:
        document = MODEL.document(file, Path(path))
    with MODEL.noticing_damage(path):
        return {
            **described(document["content"], {name: str(entry) for name, entry in file.entries.items()}),
            "about": dict(document.get("about", {})),
            "pairlearn": document.get("pairlearn"),
            "format": document["version"],
            "size": file.size,
        }


def _check_kind(model: Any) -> None:
    """Whether this is a fitted model of the list; a pipeline must give scores."""
    name = type(model).__name__
    if MODELS.get(name) is type(model):
        if is_pipeline(model):
            as_scorer(model)
        check_fitted(model)
        return
    if hasattr(model, "best_estimator_"):
        raise InputError(f"a {name} is a search, not a model; save its best_estimator_")
    raise InputError(f"cannot save a {name}; models that can be saved: {', '.join(MODELS)}")
