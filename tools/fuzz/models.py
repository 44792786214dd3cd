"""Mutated model files: the golden files of every class with something wrong in them, and a checksum that is right.

Documents get extreme numbers, other types, deep nesting, other classes, lost and doubled entries, and references to
other tensors; tensors get other types and shapes, extreme entries and indices out of range; some files are cut or lose
bits. What loads all the same is asked about three pairs, told about, and saved again.
"""

from __future__ import annotations

import copy
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

import pairlearn as pl
from pairlearn import persist
from pairlearn.persist.documents import digest
from pairlearn.persist.files import opened, parsed

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "persist" / "golden"))

from golden_files import read_case  # noqa: E402

NAME = "models"
GOLDEN = sorted((ROOT / "tests" / "persist" / "golden").glob("*/*.safetensors"))
ENDS = b'\x00\x01\x7f\x80\xff{}[]",:0'
Place = tuple[list[Any] | dict[str, Any], Any]
Rng = np.random.Generator

NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 3, 5, 7, 100, 101, 10**6, 2**24, 2**31 - 1, 2**31, 2**32, 2**33, 2**53, 2**63 - 1, 2**63, 10**19),
    *(
        -(2**31),
        -(2**63),
        10**12,
        10**30,
        0.0,
        -0.0,
        0.5,
        -1.0,
        1e-320,
        1e-300,
        1e150,
        1e300,
        -1e308,
        1.7976931348623157e308,
    ),
)
OTHERS: tuple[Any, ...] = (
    *(None, True, False, "", "scale", "linear", "precomputed", "C", "F", "x" * 10_000, [], {}, [[]], [None], [1, 2]),
    *({"is": "Linear"}, {"is": "Gaussian", "gamma": "scale"}, {"is": "Precomputed", "definite": None}),
    *({"is": "Cosine", "kernel": {"is": "Precomputed", "definite": True}}, {"is": "Polynomial", "degree": 100}),
    *({"is": "float", "value": "nan"}, {"is": "float", "value": "inf"}, {"is": "list", "items": []}),
    *({"is": "number", "dtype": "float64", "value": 1e308}, {"is": "number", "dtype": "int8", "value": 300}),
    *({"is": "number", "dtype": "float16", "value": 1}, {"is": "strings", "items": ["a", "b"]}),
    *({"is": "mapping", "items": [["a", 1], [1, 2]]}, {"is": "dtype", "value": "float32"}, {"is": "model"}),
    *({"is": "Standardised", "mean": [0.0], "scale": [0.0]}, {"is": "Rigid", "h": 10**9}, {"is": "EditSimilarity"}),
    *({"is": "DTW", "window": 1, "gamma": 1.0}, {"is": "Deformable", "h_rigid": 10**9, "h_local": 10**9}),
)
KINDS = [*persist.values.VALUES, *persist.values.ANY, "list", "mapping", "array", "csr", "strings", "number", "object"]


# --------------------------------------------------------------------------- documents


def places(document: Any) -> Iterator[Place]:
    """Every entry of a document, as what it stands in and its key."""
    level = [document]
    while level:
        part = level.pop()
        keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        for key in keys:
            yield part, key
            level.append(part[key])


def pick(rng: Rng, several: Any) -> Any:
    """One of several."""
    return several[int(rng.integers(len(several)))]


def _replace(rng: Rng, place: Place, document: Any) -> None:
    part, key = place
    part[key] = copy.deepcopy(pick(rng, NUMBERS if rng.random() < 0.5 else OTHERS))


def _nudge(rng: Rng, place: Place, document: Any) -> None:
    """A number like the one that was there."""
    part, key = place
    if isinstance(part[key], (int, float)) and not isinstance(part[key], bool):
        part[key] = pick(rng, (part[key] + 1, part[key] - 1, -part[key], part[key] * 1000, part[key] * 10**9))
    else:
        _replace(rng, place, document)


def _nest(rng: Rng, place: Place, document: Any) -> None:
    part, key = place
    for _ in range(int(pick(rng, (1, 3, 20, 70, 200)))):
        inner = part[key]
        part[key] = pick(
            rng, ([inner], {"is": "Scaled", "kernel": inner, "factor": 2.0}, {"is": "list", "items": [inner]})
        )


def _drop(rng: Rng, place: Place, document: Any) -> None:
    part, key = place
    del part[key]


def _double(rng: Rng, place: Place, document: Any) -> None:
    part, key = place
    if isinstance(part, list):
        part.insert(key, copy.deepcopy(part[key]))
    else:
        part[pick(rng, ("evil", "n_jobs", "function_", "decision_function", "__class__", "memory"))] = copy.deepcopy(
            part[key]
        )


def _graft(rng: Rng, place: Place, document: Any) -> None:
    """Another part of the document instead."""
    other, name = pick(rng, list(places(document)))
    part, key = place
    part[key] = copy.deepcopy(other[name])


def _rename(rng: Rng, place: Place, document: Any) -> None:
    """Another class, or another tensor."""
    named = [(part, key) for part, key in places(document) if key in ("is", "class", "tensor", "order")]
    part, key = pick(rng, named) if named else place
    tensors = [one[name] for one, name in places(document) if name == "tensor"]
    part[key] = pick(rng, tensors if key == "tensor" and tensors else KINDS)


DOCUMENTS: tuple[Callable[[Rng, Place, Any], None], ...] = (
    *(_replace, _replace, _nudge, _nudge, _nest, _drop, _double, _graft, _graft, _rename, _rename),
)

# --------------------------------------------------------------------------- tensors

DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint64", "bool")
EXTREMES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e150, 1e-308, 0.0, -1.0, 1e6, 2.0**31, 2.0**62, 0.5)


def _cast(rng: Rng, array: Any) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(pick(rng, DTYPES))


def _reshape(rng: Rng, array: Any) -> Any:
    n = array.size
    shapes = [
        (n,),
        (1, n),
        (n, 1),
        (n, 0),
        (0, n),
        (0,),
        (),
        (2**20, 0),
        (2**33, 0),
        array.shape[::-1],
        (1, *array.shape),
    ]
    shape = pick(rng, shapes)
    return np.resize(array, shape) if n else np.zeros(shape, array.dtype)


def _cut(rng: Rng, array: Any) -> Any:
    axis = int(rng.integers(max(1, array.ndim)))
    if not array.ndim or not array.size:
        return array
    if rng.random() < 0.3:
        return np.concatenate([array, array], axis=axis)
    return np.take(array, np.arange(rng.integers(0, array.shape[axis] + 1)), axis=axis)


def _fill(rng: Rng, array: Any) -> Any:
    changed = np.array(array)
    if changed.size:
        entries = slice(None) if rng.random() < 0.3 else rng.integers(changed.size, size=1 + int(rng.integers(3)))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            changed.reshape(-1)[entries] = np.asarray(pick(rng, EXTREMES)).astype(changed.dtype)
    return changed


def _shuffle(rng: Rng, array: Any) -> Any:
    return rng.permutation(array) if array.ndim and array.size else array


TENSORS: tuple[Callable[[Rng, Any], Any], ...] = (_cast, _reshape, _reshape, _cut, _cut, _fill, _fill, _fill, _shuffle)

# --------------------------------------------------------------------------- files


def make(rng: Rng, folder: Path) -> Path:
    """One mutated file, whose name begins with that of the golden file it was."""
    golden = pick(rng, GOLDEN)
    path = folder / f"{golden.parent.name}@{golden.stem}@{rng.integers(2**62)}.safetensors"
    try:
        path.write_bytes(_bytes(rng, golden) if rng.random() < 0.1 else _written(rng, golden))
    except RecursionError:  # nested deeper than can be written: cut instead
        path.write_bytes(_bytes(rng, golden))
    return path


def _bytes(rng: Rng, golden: Path) -> bytes:
    """The file cut, or with some of its bytes changed."""
    whole = bytearray(golden.read_bytes())
    if rng.random() < 0.3:
        return bytes(whole[: int(rng.integers(len(whole)))])
    head = min(len(whole), 8 + int.from_bytes(whole[:8], "little"))
    for _ in range(1 + int(rng.integers(4))):
        whole[int(rng.integers(8 if rng.random() < 0.2 else head))] = pick(rng, ENDS)
    return bytes(whole)


def _written(rng: Rng, golden: Path) -> bytes:
    with opened(golden) as file:
        document, tensors = parsed(file.texts["pairlearn"]), file.tensors()
    for _ in range(pick(rng, (1, 1, 1, 2, 3))):
        if tensors and rng.random() < 0.4:
            name = pick(rng, sorted(tensors))
            tensors[name] = pick(rng, TENSORS)(rng, tensors[name])
        else:
            _change(rng, document.get("content") if rng.random() < 0.9 else document)
    return _file(document, {name: np.ascontiguousarray(array) for name, array in tensors.items()}, rng.random() < 0.97)


def _change(rng: Rng, document: Any) -> None:
    """One mutation, if an earlier one has left anything."""
    if found := list(places(document)):
        pick(rng, DOCUMENTS)(rng, pick(rng, found), document)


def _file(document: Any, tensors: Any, valid: bool) -> bytes:
    try:
        document["sha256"] = digest(document, tensors) if valid else "0"
    except (KeyError, TypeError):
        document["sha256"] = "0"
    return safetensors.numpy.save(tensors, metadata={"pairlearn": json.dumps(document)})


# --------------------------------------------------------------------------- use


def use(path: Path) -> str:
    """Load, ask, tell and save again: what came of it, or an error."""
    version, name, _ = path.stem.split("@")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        persist.read_about(path)
        model = pl.load(path)
        word = _asked(model, *read_case(ROOT / "tests" / "persist" / "golden" / version / f"{name}.npz"))
        repr(model)
        _saved_again(model, path.with_suffix(".again"))
    return word


def _asked(model: Any, asked: Any, said: dict[str, Any]) -> str:
    """What the golden model was asked; a class that has another kind of question may refuse it."""
    asked = asked[:3] if isinstance(asked, pl.Pairs) else asked
    tables = (asked.examples, asked.right_table) if isinstance(asked, pl.Pairs) else (asked, asked)
    arguments = {"transform": tables[:1], "score_block": tables, "score": tables[:1]}
    for name in said:
        if callable(getattr(model, name, None)):
            try:
                getattr(model, name)(*arguments.get(name, (asked,)))
            except pl.errors.InputError as error:
                return f"refused when asked: {error}"
    return "used"


def _saved_again(model: Any, path: Path) -> None:
    """What was loaded can be saved and loaded."""
    try:
        pl.save(model, path)
        pl.load(path)
    except pl.errors.InputError as error:
        raise AssertionError("a loaded model cannot be saved again") from error
