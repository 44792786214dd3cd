"""Models and values as JSON with their arrays apart, and back; every field is checked.

JSON has no tuples, infinities, numbers of a given width or arrays. What it lacks is an object with a key "is":
{"is": "array", "tensor": name}, {"is": "Gaussian", "gamma": 0.5}. Tuples, which values use throughout, are its lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.kernels import Gram
from pairlearn.machines.machine import PairMachine
from pairlearn.pair_kernels import MONOMIALS, Table
from pairlearn.persist.checks import check_function
from pairlearn.persist.known import ANY, MODELS, TRANSFORMERS, VALUES, known
from pairlearn.persist.transformers import learnt_names

WHOLE = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))
NUMBERS = (*WHOLE, "float16", "float32", "float64", "bool")
DTYPES: dict[str, type[Any]] = {"float32": np.float32, "float64": np.float64}
CSR = ("data", "indices", "indptr")
NOT_SAVED = ("callback", "progress", "memory")
"""Parameters that belong to the session and not to the model: functions, and the cache of a pipeline."""
DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What decoding a file with missing or wrong parts may raise; InputError is a ValueError."""

Parts = dict[str, Any]
Tensors = dict[str, np.ndarray[Any, Any]]
"""The arrays of a file by the name of their place, such as "function_.coefficients"."""


def _params(model: Any) -> dict[str, Any]:
    params = _fields(model) if is_dataclass(model) else model.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in NOT_SAVED}


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _fitted(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if _can_learn(type(model), name)}


def _can_learn(kind: type[Any], name: str) -> bool:
    """Whether a model of this kind may have learnt something of this name.

    A transformer of scikit-learn has a list; else it is one of scikit-learn's names for what was learnt, lower case
    with one "_" at the end, and neither a method nor a property. Frozen models learn nothing.
    """
    if known(TRANSFORMERS, kind.__name__) is kind:
        return name in learnt_names(kind)
    named = re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*_", name) is not None
    return named and not hasattr(kind, name) and not is_dataclass(kind)


def _plain(param: Any) -> Any:
    """A Gram matrix is a cache of its kernel; the kernel is enough."""
    if isinstance(param, tuple):
        return tuple(_plain(part) for part in param)
    return param.kernel if isinstance(param, Gram) else param


def content_of(model: Any, place: str, tensors: Tensors) -> dict[str, Any]:
    """Class, parameters and learnt attributes; `place` tells the arrays of several models apart."""
    params = {key: _encode(_plain(value), place + key, tensors) for key, value in _params(model).items()}
    fitted = {key: _encode(value, place + key, tensors) for key, value in _fitted(model).items()}
    return {"class": type(model).__name__, "params": params, "fitted": fitted}


def model_of(content: dict[str, Any], tensors: Tensors) -> Any:
    """The model of such content: built by its constructor, then given what it had learnt.

    Nothing but learnt attributes is set, and no method or property can be replaced by one.
    """
    kind = known(ANY, content["class"])
    if kind is None:
        raise InputError(f"it holds an unknown model {content['class']!r}")
    params = {name: decode(value, tensors) for name, value in content["params"].items()}
    fitted = {name: decode(value, tensors) for name, value in content["fitted"].items()}
    model = _build(kind, params) if is_dataclass(kind) else kind(**params)
    for name in fitted:
        if not _can_learn(kind, name):
            raise InputError(f"a {kind.__name__} has no learned attribute {name!r}")
    if fitted and issubclass(kind, PairMachine):  # at once, for what is read next may call it
        check_function(fitted["function_"])
    vars(model).update(fitted)
    return model


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
        encoded = {part: _encode(entry, f"{name}.{part}", tensors) for part, entry in _fields(value).items()}
        return {"is": type(value).__name__, **encoded}
    if ANY.get(type(value).__name__) is type(value):
        return {"is": "model", "content": content_of(value, f"{name}.", tensors)}
    if isinstance(value, type) and value.__name__ in DTYPES:
        return {"is": "dtype", "value": value.__name__}
    raise InputError(f"cannot save {name}: {_refusal(value)}")


def _encode_single(value: Any, name: str) -> Any:
    """A number or a text; numbers of NumPy keep their width."""
    if isinstance(value, np.generic) and value.dtype.name in NUMBERS:
        return {"is": "number", "dtype": value.dtype.name, "value": _encode_single(value.item(), name)}
    if isinstance(value, np.generic) and not isinstance(value, str):
        raise InputError(f"cannot save {name}: {_refusal(value)}")
    if isinstance(value, float) and not isfinite(value):
        return {"is": "float", "value": repr(value)}
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
        parts = {part: _encode_array(getattr(rows, part), f"{name}.{part}", tensors) for part in CSR}
        return {"is": "csr", "shape": list(rows.shape), **parts}
    if table.dtype.kind in "UO" and all(isinstance(entry, str) for entry in table.flat):
        dtype = {"dtype": "object"} if table.dtype.kind == "O" else {}
        return {"is": "strings", "items": table.tolist(), **dtype}
    if table.dtype.name not in NUMBERS:
        raise InputError(f"cannot save {name}: {_refusal(table)}")
    return _encode_array(table, name, tensors)


def _refusal(value: Any) -> str:
    """Why a value cannot be saved, and what could be in its place."""
    kind = type(value).__name__
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
    name = next((known for known, stored in tensors.items() if stored is tensor), name)
    tensors[name] = tensor
    return {"is": "array", "tensor": name, "order": "F" if columns_first else "C"}


# --------------------------------------------------------------------------- JSON to values


def decode(document: Any, tensors: Tensors) -> Any:
    """The value that `_encode` wrote so; every class must be known, and every field fit its annotation."""
    if isinstance(document, list):
        return tuple(decode(entry, tensors) for entry in document)
    if not isinstance(document, dict):
        return document
    parts = {name: part for name, part in document.items() if name != "is"}
    kind = document["is"]
    value = known(VALUES, kind)
    if value is not None:
        return _build(value, {name: decode(part, tensors) for name, part in parts.items()})
    if kind not in READERS:
        raise InputError(f"it holds an unknown value {kind!r}")
    return READERS[kind](parts, tensors)


def _number(parts: Parts, tensors: Tensors) -> Any:
    if parts["dtype"] not in NUMBERS:
        raise InputError(f"unknown type of number {parts['dtype']!r}")
    return np.dtype(parts["dtype"]).type(decode(parts["value"], tensors))


def _strings(parts: Parts, tensors: Tensors) -> Any:
    dtype = object if parts.get("dtype") == "object" else str
    return np.array([str(item) for item in parts["items"]], dtype=dtype)


def _csr(parts: Parts, tensors: Tensors) -> Any:
    arrays = tuple(decode(parts[part], tensors) for part in CSR)
    matrix = sparse.csr_array(arrays, shape=tuple(parts["shape"]))
    matrix.check_format(full_check=True)
    return matrix


READERS: dict[str, Callable[[Parts, Tensors], Any]] = {
    "model": lambda parts, tensors: model_of(parts["content"], tensors),
    "list": lambda parts, tensors: list(decode(parts["items"], tensors)),
    "mapping": lambda parts, tensors: {decode(key, tensors): decode(entry, tensors) for key, entry in parts["items"]},
    "dtype": lambda parts, tensors: DTYPES[parts["value"]],
    "float": lambda parts, tensors: float(parts["value"]),
    "number": _number,
    "strings": _strings,
    "array": lambda parts, tensors: np.asarray(tensors[parts["tensor"]], order=parts["order"]),
    "csr": _csr,
}
"""How everything is read that is neither JSON's own nor a frozen value, by its "is"."""


def _build(kind: type[Any], parts: dict[str, Any]) -> Any:
    """A frozen value from its fields, each held against its annotation; monomials of a table become attribute names."""
    hints = _hints(kind)
    for name, part in parts.items():
        if name not in hints:
            raise InputError(f"a {kind.__name__} has no {name!r}")
        if not _fits(part, hints[name]):
            raise InputError(f"{kind.__name__}.{name} has the wrong type")
    if kind is Table and any(monomial not in MONOMIALS for monomial, _ in parts["terms"]):
        raise InputError("a table holds an unknown monomial")
    return kind(**parts)


def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value has the annotated type, for the annotations that stored values use."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, arg) for arg in args)
    if origin is Literal:
        return value in args
    if origin is tuple:
        hints = args[:1] * len(value) if args[-1] is Ellipsis and isinstance(value, tuple) else args
        return (
            isinstance(value, tuple)
            and len(value) == len(hints)
            and all(_fits(v, h) for v, h in zip(value, hints, strict=True))
        )
    if origin is np.ndarray:
        scalar = get_args(args[1])[0]
        return isinstance(value, np.ndarray) and issubclass(value.dtype.type, get_origin(scalar) or scalar)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    return isinstance(value, hint)
