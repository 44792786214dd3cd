"""Models and values as JSON with their arrays apart, and back; every field is checked against its kind both ways.

JSON has no tuples, infinities, numbers of a given width or arrays. What it lacks is an object with a key "is":
{"is": "array", "tensor": name}, {"is": "Gaussian", "gamma": 0.5}. Tuples, which values use throughout, are its lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels import Gram, Kernel
from pairlearn.persist.files import FREE, Tensors
from pairlearn.persist.kinds import LARGEST, NUMBER, TEXT, WIDEST, check_fields, indices, shown
from pairlearn.persist.known import ANY, MODELS, VALUES, known
from pairlearn.persist.rules import check_rules
from pairlearn.persist.schemas import NOT_SAVED, is_fitted, saved_fields, schema_of
from pairlearn.persist.transformers import TRANSFORMERS, is_transformer

WHOLE = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))
NUMBERS = (*WHOLE, "float16", "float32", "float64", "bool")
DTYPES: dict[str, type[Any]] = {"float32": np.float32, "float64": np.float64}
CSR = ("data", "indices", "indptr")
ENDLESS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
MOST_USES = 100
"""Places in which one tensor may stand: each costs a look at all of it."""

Parts = dict[str, Any]


class Arrays:
    """The tensors of a file as arrays; none is copied more often than the file is large."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.room = FREE // 2 + sum(array.nbytes for array in tensors.values())
        self._turned: Tensors = {}
        self._uses = dict.fromkeys(tensors, 0)

    def take(self, name: Any, order: Any, place: str) -> np.ndarray[Any, Any]:
        """The tensor of this name, in the order of memory that it had."""
        if not isinstance(name, str) or name not in self.tensors or order not in ("C", "F"):
            raise InputError(f"{place} refers to the tensor {shown(name)}, which is not there")
        self._uses[name] += 1
        if self._uses[name] > MOST_USES:
            raise InputError(f"{place} is the {MOST_USES + 1}th place with the tensor {name!r}")
        if order == "C":
            return self.tensors[name]
        if name not in self._turned:
            self.spend(self.tensors[name].nbytes, place)
            self._turned[name] = np.asarray(self.tensors[name], order="F")
        return self._turned[name]

    def spend(self, nbytes: int, place: str) -> None:
        """Note that something of this size is made of tensors or of texts."""
        self.room -= nbytes
        if self.room < 0:
            raise InputError(f"{place} takes more memory than a file of this size may")


# --------------------------------------------------------------------------- models


def params_of(model: Any) -> Parts:
    """The parameters of a model that belong to it and not to the session."""
    params = _fields(model) if is_dataclass(model) else model.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in NOT_SAVED}


def _fields(value: Any) -> Parts:
    return {field.name: getattr(value, field.name) for field in saved_fields(type(value))}


def _learnt(model: Any) -> Parts:
    """What a model has learnt. Of scikit-learn's transformers only what transforming needs is known and kept."""
    listed = schema_of(type(model)).learnt
    if is_transformer(type(model)) or is_dataclass(model):
        return {name: value for name, value in vars(model).items() if name in listed}
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    for name in learnt:
        if name not in listed and type(model).__name__ in ANY:
            raise InputError(
                f"a {type(model).__name__} has no learnt attribute {name!r}; drop it, or write notes with about="
            )
    return learnt


def _plain(param: Any) -> Any:
    """A Gram matrix is a cache of its kernel; the kernel is enough."""
    if isinstance(param, tuple):
        return tuple(_plain(part) for part in param)
    return param.kernel if isinstance(param, Gram) else param


def content_of(model: Any, place: str, tensors: Tensors) -> dict[str, Any]:
    """Class, parameters and learnt attributes; `place` tells the arrays of several models apart."""
    given = {name: _plain(value) for name, value in params_of(model).items()}
    found = given, _learnt(model)
    params, fitted = ({key: _encode(part, place + key, tensors) for key, part in parts.items()} for parts in found)
    _check_model(type(model), *found, place)
    if is_fitted(model):
        check_rules(model, place)
    return {"class": type(model).__name__, "params": params, "fitted": fitted}


def model_of(content: Any, arrays: Arrays, place: str = "") -> Any:
    """The model of such content: built by its constructor, then given what it had learnt.

    Nothing but learnt attributes is set, and no method or property can be replaced by one.
    """
    kind = known(ANY, content["class"])
    if kind is None:
        raise InputError(f"it holds an unknown model {shown(content['class'])}")
    named = {name: part for name, part in content["params"].items() if is_dataclass(kind) or name not in NOT_SAVED}
    params = {name: decode(part, arrays, place + name) for name, part in named.items()}
    fitted = {name: decode(part, arrays, place + name) for name, part in content["fitted"].items()}
    _check_model(kind, params, fitted, place)
    model = kind(**params)
    vars(model).update(fitted)
    if is_fitted(model):
        check_rules(model, place)
    return model


def _check_model(kind: type[Any], params: Parts, fitted: Parts, place: str) -> None:
    """Every parameter and learnt attribute fits its kind and the others; learnt are all of them, or none."""
    schema, name = schema_of(kind), kind.__name__
    _check_present(schema.required, params, place)
    check_fields(name, schema.parameters, params, place)
    if fitted:
        _check_present((key for key, one in schema.learnt.items() if one.always), fitted, place)
    check_fields(name, schema.learnt, fitted, place)


def _check_present(names: Any, parts: Parts, place: str) -> None:
    for name in names:
        if name not in parts:
            raise InputError(f"{place}{name} is missing")


def check_texts(content: Any, tensors: Tensors) -> None:
    """Refuse texts that fill much memory with nothing: in an array, each has the room of the longest."""
    room, level = FREE + sum(array.nbytes for array in tensors.values()), [content]
    while level:
        part = level.pop()
        if isinstance(part, dict) and part.get("is") == "strings" and part.get("dtype") != "object":
            room -= _padding(part.get("items"))
        elif isinstance(part, (dict, list)):
            level += part.values() if isinstance(part, dict) else part
    if room < 0:
        raise InputError("texts of very different lengths take too much memory; keep them as array.astype(object)")


def _padding(items: Any) -> int:
    """Bytes of an array of these texts that no character fills."""
    lengths = [len(item) for item in items if isinstance(item, str)] if isinstance(items, list) else []
    return 4 * (len(lengths) * max(lengths, default=0) - sum(lengths))


# --------------------------------------------------------------------------- values to JSON


def _encode(value: Any, name: str, tensors: Tensors) -> Any:
    """JSON for a value; arrays go to `tensors` under a name that shows their place."""
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        return _encode_single(value, name)
    if isinstance(value, (tuple, list, Mapping)):
        return _encode_several(value, name, tensors)
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return _encode_table(value, name, tensors)
    if VALUES.get(type(value).__name__) is type(value):
        return _encode_value(value, name, tensors)
    if ANY.get(type(value).__name__) is type(value):
        return {"is": "model", "content": content_of(value, f"{name}.", tensors)}
    if isinstance(value, type) and value.__name__ in DTYPES:
        return {"is": "dtype", "value": value.__name__}
    raise InputError(f"cannot save {name}: {_refusal(value)}")


def _encode_value(value: Any, name: str, tensors: Tensors) -> dict[str, Any]:
    """A frozen value, field by field."""
    parts = _fields(value)
    encoded = {part: _encode(entry, f"{name}.{part}", tensors) for part, entry in parts.items()}
    check_fields(type(value).__name__, schema_of(type(value)).parameters, parts, f"{name}.")
    check_rules(value, name)
    return {"is": type(value).__name__, **encoded}


def _encode_single(value: Any, name: str) -> Any:
    """A number or a text; numbers of NumPy keep their width."""
    if isinstance(value, np.generic) and value.dtype.name in NUMBERS:
        return {"is": "number", "dtype": value.dtype.name, "value": _encode_single(value.item(), name)}
    if isinstance(value, np.generic) and not isinstance(value, str):
        raise InputError(f"cannot save {name}: {_refusal(value)}")
    if isinstance(value, float) and not isfinite(value):
        return {"is": "float", "value": repr(value)}
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise InputError(f"cannot save {name}: whole numbers of a file are below 2⁶³")
    return value


def _encode_several(values: Any, name: str, tensors: Tensors) -> Any:
    """A tuple, list or mapping, entry by entry."""
    if isinstance(values, Mapping):
        pairs = enumerate(values.items())
        items = [[_encode(key, name, tensors), _encode(entry, f"{name}.{i}", tensors)] for i, (key, entry) in pairs]
        return {"is": "mapping", "items": items}
    entries = [_encode(entry, f"{name}.{i}", tensors) for i, entry in enumerate(values)]
    return {"is": "list", "items": entries} if isinstance(values, list) else entries


def _encode_table(table: Any, name: str, tensors: Tensors) -> dict[str, Any]:
    """An array of numbers or texts, or a sparse matrix by its three arrays."""
    if sparse.issparse(table):
        rows = sparse.csr_array(table)
        rows.prune()  # room that was never filled
        parts = {part: _encode_array(getattr(rows, part), f"{name}.{part}", tensors) for part in CSR}
        return {"is": "csr", "shape": list(rows.shape), **parts}
    if table.dtype.kind in "UO" and table.ndim == 1 and all(isinstance(entry, str) for entry in table):
        dtype = {"dtype": "object"} if table.dtype.kind == "O" else {}
        return {"is": "strings", "items": table.tolist(), **dtype}
    if table.dtype.name not in NUMBERS:
        raise InputError(f"cannot save {name}: {_refusal(table)}")
    return _encode_array(table, name, tensors)


def _refusal(value: Any) -> str:
    """Why a value cannot be saved, and what could be in its place."""
    kind = type(value).__name__
    if isinstance(value, Kernel) or (callable(value) and not hasattr(value, "fit")):
        return (
            f"a {kind} cannot be stored safely, for a file must not hold code; fit with a kernel of pl.kernels, or "
            'compute the matrix beforehand and use base="precomputed"; in place of an orbit take pl.images.Orbit, or '
            "save the model inside and wrap it again after loading"
        )
    if hasattr(value, "transform"):
        return f"a {kind} is none of the transformers that a file may hold; these are {', '.join(TRANSFORMERS)}"
    if hasattr(value, "fit"):
        return f"a {kind} is none of the models that a file may hold; these are {', '.join(MODELS)}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} is neither numbers nor text; pass its values as text, array.astype(str)"
    return f"{kind} is not a number, an array or a known kernel"


def _encode_array(array: np.ndarray[Any, Any], name: str, tensors: Tensors) -> dict[str, Any]:
    # The order in memory decides how matrix products round, so it is kept.
    columns_first = not array.flags.c_contiguous and abs(array.strides[0]) < abs(array.strides[-1])
    tensor = np.ascontiguousarray(array)
    # One array in several places, such as the matrix of a kernel, is stored once.
    name = next((known for known, stored in tensors.items() if _are_one(stored, tensor)), name)
    tensors[name] = tensor
    return {"is": "array", "tensor": name, "order": "F" if columns_first else "C"}


def _are_one(stored: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays without gaps are the same memory."""
    return stored.shape == other.shape and stored.dtype == other.dtype and stored.ctypes.data == other.ctypes.data


# --------------------------------------------------------------------------- JSON to values


def decode(document: Any, arrays: Arrays, place: str) -> Any:
    """The value that `_encode` wrote so; every class must be known, and every field fit its kind."""
    if isinstance(document, list):
        return tuple(decode(entry, arrays, f"{place}[{i}]") for i, entry in enumerate(document))
    if not isinstance(document, dict):
        return document
    parts = {name: part for name, part in document.items() if name != "is"}
    kind = document.get("is")
    value = known(VALUES, kind)
    if value is not None:
        return _build(value, {name: decode(part, arrays, f"{place}.{name}") for name, part in parts.items()}, place)
    if not isinstance(kind, str) or kind not in READERS:
        raise InputError(f"{place} is an unknown value {shown(kind)}")
    return READERS[kind](parts, arrays, place)


def _build(kind: type[Any], parts: Parts, place: str) -> Any:
    """A frozen value from its fields, each held against its kind before the constructor sees it."""
    schema = schema_of(kind)
    _check_present(schema.required, parts, f"{place}.")
    check_fields(kind.__name__, schema.parameters, parts, f"{place}.")
    built = kind(**parts)
    check_rules(built, place)
    return built


def _number(parts: Parts, arrays: Arrays, place: str) -> Any:
    number = decode(parts["value"], arrays, place)
    if parts["dtype"] not in NUMBERS or not (NUMBER.fits(number) or isinstance(number, bool)):
        raise InputError(f"{place} is no number of type {shown(parts['dtype'])}")
    return np.dtype(parts["dtype"]).type(number)


def _strings(parts: Parts, arrays: Arrays, place: str) -> Any:
    """Texts as an array."""
    items = parts["items"]
    if not isinstance(items, list) or not all(map(TEXT.fits, items)):
        raise InputError(f"{place} must be texts")
    return np.array(items, dtype=object if parts.get("dtype") == "object" else str)


def _csr(parts: Parts, arrays: Arrays, place: str) -> Any:
    """A sparse matrix by rows; its shape is checked before SciPy makes room for it."""
    data, columns, starts = (decode(parts[part], arrays, f"{place}.{part}") for part in CSR)
    n, width = parts["shape"]
    if not (indices("n").fits(columns) and indices("n").fits(starts) and np.shape(data) == np.shape(columns)):
        raise InputError(f"{place} must be numbers, their columns, and where each row starts")
    if len(starts) != n + 1 or not 0 <= width <= WIDEST:
        raise InputError(f"{place} has shape {shown(n)} × {shown(width)} with {len(starts):,} starts of rows")
    # SciPy's own check leaves out all of this where the last start is 0, and its loops trust what is written there.
    if starts[0] != 0 or starts[-1] != len(columns) or (np.diff(starts) < 0).any():
        raise InputError(f"{place}.indptr must rise from 0 to {len(columns):,}")
    if columns.max(initial=-1) >= width:
        raise InputError(f"{place}.indices must be below {width:,}")
    arrays.spend(columns.nbytes + starts.nbytes, place)  # SciPy may widen or narrow them
    return sparse.csr_array((data, columns, starts), shape=(n, width))


READERS: dict[str, Callable[[Parts, Arrays, str], Any]] = {
    "model": lambda parts, arrays, place: model_of(parts["content"], arrays, f"{place}."),
    "list": lambda parts, arrays, place: list(decode(parts["items"], arrays, place)),
    "mapping": lambda parts, arrays, place: {
        decode(key, arrays, place): decode(entry, arrays, place) for key, entry in parts["items"]
    },
    "dtype": lambda parts, arrays, place: DTYPES[parts["value"]],
    "float": lambda parts, arrays, place: ENDLESS[parts["value"]],
    "number": _number,
    "strings": _strings,
    "array": lambda parts, arrays, place: arrays.take(parts["tensor"], parts["order"], place),
    "csr": _csr,
}
"""How everything is read that is neither JSON's own nor a frozen value, by its "is"."""
