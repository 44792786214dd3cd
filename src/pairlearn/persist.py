"""Model files: one safetensors file, arrays as tensors and everything else as one JSON document.

Loading builds values of a closed list of classes and checks every field; nothing in a file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import safetensors
import safetensors.numpy
from scipy import sparse

from pairlearn.data.files import write_whole
from pairlearn.errors import InputError
from pairlearn.estimators.baselines import CosineBaseline, EuclidBaseline
from pairlearn.estimators.decided import Decided
from pairlearn.estimators.learnt_baselines import (
    KISSMEBaseline,
    LDABaseline,
    LogisticBaseline,
    PCACosineBaseline,
    PLDABaseline,
    RCABaseline,
    WCCNBaseline,
)
from pairlearn.estimators.machine import PairMachine
from pairlearn.estimators.metric_state import MetricState
from pairlearn.estimators.one_class import OneClassPairSphere, OneClassPairSVM
from pairlearn.estimators.pair_ranker import PairRanker
from pairlearn.estimators.pair_svc import PairSVC
from pairlearn.estimators.pair_svr import PairSVR
from pairlearn.estimators.pseudo_metric import KernelPseudoMetric, OnlinePseudoMetric
from pairlearn.estimators.spans import KernelSpan, RowSpan
from pairlearn.estimators.transductive import Switching, TransductivePairSVC
from pairlearn.evaluation.calibration import FittedCalibration, Knots, Line
from pairlearn.evaluation.fusion import FittedFusion
from pairlearn.evaluation.thresholds import Threshold
from pairlearn.examples import count_examples
from pairlearn.kernels import Cosine, Exponential, Gaussian, Gram, Kernel, Linear, Polynomial, Precomputed, Standardised
from pairlearn.kernels.base import Product, Scaled, Sum, TwoDomains
from pairlearn.kernels.mapped import Mapped
from pairlearn.kernels.similarity import Columns
from pairlearn.operators.function import PairFunction
from pairlearn.operators.plan import Plan
from pairlearn.pair_kernels import MONOMIALS, Blocks, Expression, GaussianOf, PairKernel, Power, Scored, Seen, Table
from pairlearn.pair_kernels.finite import Arcs, Finite
from pairlearn.solvers.problem import Progress

FORMAT = "pairlearn model"
VERSION = 1

MACHINES = (PairSVC, PairRanker, PairSVR, OneClassPairSVM, OneClassPairSphere, TransductivePairSVC)
METRICS = (OnlinePseudoMetric, KernelPseudoMetric)
UNTRAINED = (EuclidBaseline, CosineBaseline)
LEARNT = (PCACosineBaseline, WCCNBaseline, RCABaseline, LDABaseline, KISSMEBaseline, PLDABaseline, LogisticBaseline)
MODELS: dict[str, type[Any]] = {model.__name__: model for model in (*MACHINES, *METRICS, *UNTRAINED, *LEARNT, Decided)}
VALUES: dict[str, type[Any]] = {
    value.__name__: value
    for value in (
        *(
            Linear,
            Polynomial,
            Gaussian,
            Exponential,
            Cosine,
            Precomputed,
            Standardised,
            Sum,
            Product,
            Scaled,
            TwoDomains,
        ),
        *(PairKernel, Table, Expression, Power, GaussianOf, Seen, Blocks, Scored, Arcs, Finite),
        *(MetricState, RowSpan, KernelSpan, Mapped),
        *(PairFunction, Columns, Plan, Progress, Switching),
        *(Threshold, FittedCalibration, Line, Knots, FittedFusion),
    )
}
"""The frozen values that a file may hold, by name: to store a new kernel, add it here."""

WHOLE = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))
NUMBERS = (*WHOLE, "float16", "float32", "float64", "bool")
NOT_SAVED = ("callback",)
DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What decoding a file with missing or wrong parts may raise; InputError is a ValueError."""

Tensors = dict[str, np.ndarray[Any, Any]]


def save(model: Any, path: str | Path) -> None:
    """Save a fitted model to one file, all or nothing: if it fails, an older file stays as it was.

    A `callback` is not saved; a loaded model has none. A Gram given as `base` is saved as its kernel.

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
        if not hasattr(model, "function_"):
            raise InputError(f"this {name} is not fitted; call fit first, or save its parameters yourself")
        _check_function(model.function_)
    tensors: Tensors = {}
    content = _content(model, "", tensors)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": _digest(content, tensors),
        "content": content,
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
        return _model(content, tensors)
    except DAMAGE as error:
        raise InputError(f"{path} is damaged: {error}; take a copy or save the model again") from error


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
        raise InputError(f"{path} is no model file, or it is truncated or damaged ({error})") from error


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


# --------------------------------------------------------------------------- models


def _params(model: Any) -> dict[str, Any]:
    params = model.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in NOT_SAVED}


def _fitted(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if _is_learned(name)}


def _is_learned(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*_", name) is not None


def _plain(param: Any) -> Any:
    if isinstance(param, tuple):
        return tuple(_plain(part) for part in param)
    return param.kernel if isinstance(param, Gram) else param


def _content(model: Any, place: str, tensors: Tensors) -> dict[str, Any]:
    """Class, parameters and learnt attributes; `place` tells the arrays of several models apart."""
    params = {key: _encode(_plain(value), place + key, tensors) for key, value in _params(model).items()}
    fitted = {key: _encode(value, place + key, tensors) for key, value in _fitted(model).items()}
    return {"class": type(model).__name__, "params": params, "fitted": fitted}


def _model(content: dict[str, Any], tensors: Tensors) -> Any:
    kind = MODELS.get(content["class"])
    if kind is None:
        raise InputError(f"it holds an unknown model {content['class']!r}")
    params = {name: _decode(value, tensors) for name, value in content["params"].items()}
    fitted = {name: _decode(value, tensors) for name, value in content["fitted"].items()}
    model = kind(**params)
    for name in fitted:
        if not _is_learned(name) or hasattr(kind, name):
            raise InputError(f"a {kind.__name__} has no learned attribute {name!r}")
    if issubclass(kind, PairMachine):
        _check_function(fitted["function_"])
    vars(model).update(fitted)
    return model


def _check_function(function: Any) -> None:
    """Compiled loops trust the indices of a function, so they are checked before anyone calls it."""
    if not isinstance(function, PairFunction):
        raise InputError("it holds no learnt function")
    for leaf in function.kernel.leaves:
        _check_storable(leaf.kernel if isinstance(leaf, Seen) else leaf.base)
        if isinstance(leaf, Seen):
            _check_finite(leaf)
    columns = (function.left, function.right, function.coefficients)
    if any(column.ndim != 1 or len(column) != len(function.left) for column in columns):
        raise InputError("support pairs and coefficients differ in number")
    if function.kernel.bases:
        _check_anchor(function.anchor, function.left)
        _check_anchor(function.right_anchor if function.two_domains else function.anchor, function.right)
    seen = {(leaf.view, order) for leaf in function.kernel.leaves if isinstance(leaf, Seen) for order in leaf.swapped}
    if not seen <= {(view, order) for view, order, _ in function.seen}:
        raise InputError("what its kernel sees of the support pairs is missing")
    for view, _, table in function.seen:
        if not _is_matrix(table) or len(table) != len(function.left):
            raise InputError(f"what {view} shows of the support pairs is incomplete")
        if isinstance(view, Arcs):
            _check_range(table[:, 0], len(view))
    if not np.isfinite(function.coefficients).all():
        raise InputError("coefficients are not finite")


def _check_finite(leaf: Seen) -> None:
    """A matrix between arcs has one row for each of them."""
    n_arcs = len(leaf.view) if isinstance(leaf.view, Arcs) else None
    if isinstance(leaf.kernel, Finite) and len(leaf.kernel.matrix) != n_arcs:
        raise InputError("a kernel on arcs and its matrix differ in size")


def _check_anchor(anchor: Any, column: np.ndarray[Any, Any]) -> None:
    if isinstance(anchor, Columns):
        _check_range(anchor.index, anchor.n_columns)
    elif not (_is_matrix(anchor) or sparse.issparse(anchor)):
        raise InputError(
            f"examples of type {type(anchor).__name__} cannot be stored safely; compute the similarities "
            'beforehand and fit with base="precomputed"'
        )
    _check_range(column, count_examples(anchor))


def _check_storable(base: Kernel | None) -> None:
    if base is None or VALUES.get(type(base).__name__) is not type(base):
        name = "a pair kernel without base" if base is None else type(base).__name__
        raise InputError(
            f"{name} cannot be stored safely: a file must not hold code; fit with a kernel of pl.kernels, or "
            'compute the matrix beforehand and use base="precomputed"'
        )
    for field in fields(base):  # type: ignore[arg-type]
        value = getattr(base, field.name)
        if isinstance(value, Kernel):
            _check_storable(value)


def _is_matrix(anchor: Any) -> bool:
    return isinstance(anchor, np.ndarray) and anchor.ndim == 2 and anchor.dtype in (np.float32, np.float64)


def _check_range(index: np.ndarray[Any, Any], n: int) -> None:
    if index.ndim != 1 or (index.size and not 0 <= index.min() <= index.max() < n):
        raise InputError("an index of a support example is out of range")


# --------------------------------------------------------------------------- values to JSON


def _encode(value: Any, name: str, tensors: Tensors) -> Any:
    """JSON for a value; arrays go to `tensors` under a name that shows their place."""
    if isinstance(value, np.generic) and value.dtype.name in NUMBERS:
        return {"is": "number", "dtype": value.dtype.name, "value": _encode(value.item(), name, tensors)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"is": "float", "value": repr(value)}
    if isinstance(value, (list, tuple)):
        return [_encode(entry, f"{name}.{i}", tensors) for i, entry in enumerate(value)]
    if isinstance(value, Mapping):
        items = [[_encode(key, name, tensors), _encode(entry, name, tensors)] for key, entry in value.items()]
        return {"is": "mapping", "items": items}
    if isinstance(value, np.ndarray) and value.dtype.name in NUMBERS:
        return _encode_array(value, name, tensors)
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        parts = {part: getattr(rows, part) for part in ("data", "indices", "indptr")}
        encoded = {part: _encode(array, f"{name}.{part}", tensors) for part, array in parts.items()}
        return {"is": "csr", "shape": list(rows.shape), **encoded}
    if VALUES.get(type(value).__name__) is type(value):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        encoded = {part: _encode(entry, f"{name}.{part}", tensors) for part, entry in parts.items()}
        return {"is": type(value).__name__, **encoded}
    if MODELS.get(type(value).__name__) is type(value):
        return {"is": "model", "content": _content(value, f"{name}.", tensors)}
    raise InputError(f"cannot save {name}: {type(value).__name__} is not a number, an array or a known kernel")


def _encode_array(array: np.ndarray[Any, Any], name: str, tensors: Tensors) -> dict[str, Any]:
    # The order in memory decides how matrix products round, so it is kept.
    columns_first = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    tensor = np.ascontiguousarray(array)
    # One array in several places, such as the matrix of a kernel, is stored once.
    name = next((known for known, stored in tensors.items() if stored is tensor), name)
    tensors[name] = tensor
    return {"is": "array", "tensor": name, "order": "F" if columns_first else "C"}


# --------------------------------------------------------------------------- JSON to values


def _decode(document: Any, tensors: Tensors) -> Any:
    if isinstance(document, list):
        return tuple(_decode(entry, tensors) for entry in document)
    if not isinstance(document, dict):
        return document
    parts = {name: part for name, part in document.items() if name != "is"}
    kind = document["is"]
    if kind in VALUES:
        return _build(VALUES[kind], {name: _decode(part, tensors) for name, part in parts.items()})
    match kind:
        case "model":
            return _model(parts["content"], tensors)
        case "float":
            return float(parts["value"])
        case "number":
            if parts["dtype"] not in NUMBERS:
                raise InputError(f"unknown type of number {parts['dtype']!r}")
            return np.dtype(parts["dtype"]).type(_decode(parts["value"], tensors))
        case "mapping":
            return {_decode(key, tensors): _decode(entry, tensors) for key, entry in parts["items"]}
        case "array":
            return np.asarray(tensors[parts["tensor"]], order=parts["order"])
        case "csr":
            rows = tuple(_decode(parts[part], tensors) for part in ("data", "indices", "indptr"))
            matrix = sparse.csr_array(rows, shape=tuple(parts["shape"]))
            matrix.check_format(full_check=True)
            return matrix
    raise InputError(f"it holds an unknown value {kind!r}")


def _build(kind: type[Any], parts: dict[str, Any]) -> Any:
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
