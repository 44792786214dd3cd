"""What a model was asked and what it said, as one small file of plain arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from scipy import sparse

import pairlearn as pl

PARTS = ("left", "right", "invariant", "signed")
METHODS = ("decision_function", "predict", "predict_proba", "transform", "score_samples")
ANSWER = "answer."
COLUMN = "column."
Arrays = dict[str, np.ndarray[Any, Any]]


def answers(model: Any, asked: Any) -> Arrays:
    """What every method of the model says: about pairs or examples, and about examples against each other."""
    tables = (asked.examples, asked.right_table) if isinstance(asked, pl.Pairs) else (asked, asked)
    if isinstance(asked, pl.records.RecordPairs):
        return {name: np.asarray(getattr(model, name)(asked)) for name in METHODS[:3]}
    asking: Any = dict.fromkeys(METHODS, (asked,)) | {"transform": tables[:1], "score_block": tables}
    if isinstance(model, pl.Gallery):
        asking = {"score": tables[:1]}
    found: Arrays = {}
    for name, arguments in asking.items():
        try:
            found[name] = np.asarray(getattr(model, name)(*arguments))
        except (AttributeError, pl.errors.InputError):
            continue  # this model has no such method, or none for such inputs
    return found


def rounding() -> np.ndarray[Any, Any]:
    """A few sums, products and exponentials: their last bits tell how this processor and its libraries round."""
    rows = np.random.default_rng(0).normal(size=(61, 37))
    return np.concatenate(
        [(rows @ rows.T).ravel(), rows.sum(axis=0), np.exp(rows).ravel(), np.einsum("ij,ij->i", rows, rows)]
    )


def write_case(path: Path, asked: Any, found: Arrays) -> None:
    """Inputs and answers of one model."""
    if isinstance(asked, pl.records.RecordPairs):
        columns = asked.left.columns.items()
        inputs = {f"{COLUMN}{name}": np.array([cell or "" for cell in cells]) for name, cells in columns}
        inputs |= {"left": asked.left_rows, "right": asked.right_rows}
    elif not isinstance(asked, pl.Pairs):
        inputs = {"examples": np.asarray(asked)}
    else:
        inputs = {name: np.asarray(getattr(asked, name)) for name in PARTS if getattr(asked, name) is not None}
        inputs |= _table("examples", asked.examples)
        if asked.right_examples is not None:
            inputs |= _table("right_examples", asked.right_examples)
        if asked.ids is not None:
            inputs["ids"] = np.asarray(asked.ids)
    np.savez_compressed(path, **inputs, **{ANSWER + name: values for name, values in found.items()})  # type: ignore[arg-type]


def read_case(path: Path) -> tuple[Any, Arrays]:
    """Inputs and answers of one model."""
    with np.load(path) as file:
        arrays: Mapping[str, Any] = dict(file)
    found = {name.removeprefix(ANSWER): values for name, values in arrays.items() if name.startswith(ANSWER)}
    records = {name.removeprefix(COLUMN): cells.tolist() for name, cells in arrays.items() if name.startswith(COLUMN)}
    if records:
        return pl.records.RecordPairs(pl.Records.of(records), None, arrays["left"], arrays["right"]), found
    examples = _examples(arrays, "examples")
    if "left" not in arrays:
        return examples, found
    given: Any = {name: arrays[name] for name in (*PARTS, "ids") if name in arrays}
    if "right_examples" in arrays:
        given["right_examples"] = arrays["right_examples"]
    return pl.Pairs(examples, **given), found


def _table(name: str, examples: Any) -> Arrays:
    if not sparse.issparse(examples):
        return {name: np.asarray(examples)}
    rows = sparse.csr_array(examples)
    return {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")} | {
        f"{name}.shape": np.array(rows.shape)
    }


def _examples(arrays: Mapping[str, Any], name: str) -> Any:
    if name in arrays:
        table = arrays[name]
        return table.tolist() if table.dtype.kind == "U" else table
    parts = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array(tuple(parts), shape=tuple(arrays[f"{name}.shape"]))


def names_in(document: Any) -> set[str]:
    """All classes that a document names."""
    if isinstance(document, list):
        return set().union(*map(names_in, document)) if document else set()
    if not isinstance(document, dict):
        return set()
    own = {document[key] for key in ("is", "class") if isinstance(document.get(key), str)}
    return own.union(*map(names_in, document.values()))


def held_classes(directory: Path) -> set[str]:
    """The names of all classes in the model files of a directory."""
    held: set[str] = set()
    for path in directory.glob("*.safetensors"):
        with safetensors.safe_open(path, framework="numpy") as file:
            held |= names_in(json.loads(file.metadata()["pairlearn"])["content"])
    return held
