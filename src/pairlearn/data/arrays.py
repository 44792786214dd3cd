"""Examples and pairs in NumPy files, .npz and .npy; pickled objects are never loaded."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pairlearn.data.cells import plain_text
from pairlearn.errors import InputError
from pairlearn.types import Floats
from pairlearn.words import counted

Arrays = Mapping[str, np.ndarray[Any, Any]]


def read_npz(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """All arrays of an .npz file, by name."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputError(f"{path} holds a single array; name it .npy")
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error


def read_npy(path: Path) -> np.ndarray[Any, Any]:
    """The array of an .npy file."""
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} holds several arrays; name it .npz")
    return array


def feature_matrix(path: Path, arrays: Arrays) -> Floats:
    """The examples among these arrays, finite rows of numbers: `X`, or the only one with two dimensions."""
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if "X" not in arrays and len(tables) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise InputError(f"{path} needs an array X with one row per example; it holds {shapes}")
    X = arrays["X"] if "X" in arrays else arrays[tables[0]]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"{path}: examples are a 2-D array of numbers, got shape {X.shape} of {X.dtype}")
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{path}: row {row}, column {column} is {X[row, column]} ({counted(int(bad.sum()), 'such cell')} in all); "
            "impute them or drop these rows first"
        )
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def as_strings(path: Path, name: str, array: np.ndarray[Any, Any]) -> list[str | None]:
    """A column of ids, classes or labels as text; an array that is no column gives none."""
    if array.ndim != 1:
        return []
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind not in "biufU":
        raise InputError(f"{path}: {name} holds {array.dtype}; save numbers or strings")
    return [plain_text(value) for value in array.tolist()]


def _unreadable(path: Path, error: Exception) -> InputError:
    if isinstance(error, InputError):
        return error
    if "pickle" in str(error) and path.stat().st_size:
        return InputError(
            f"{path} is not a NumPy file or holds pickled objects, which are never loaded; save numbers, and ids "
            "as strings: np.savez(path, X=X, ids=np.array(ids, dtype=str))"
        )
    return InputError(f"{path} is empty, truncated or not a NumPy file ({error}); write it again with np.savez")
