"""Arrays of NumPy files, .npz and .npy; pickled objects are never loaded."""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

import numpy as np

from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError

DAMAGE = (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError)
"""What NumPy raises on files that are not what their name says."""


def read_arrays(source: Source) -> dict[str, np.ndarray[Any, Any]]:
    """All arrays of an .npz file by name, or that of an .npy file as X."""
    try:
        with source.open() as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.lib.npyio.NpzFile):
                if source.format == "npy":
                    raise InputError(f"{source} holds several arrays; name it .npz")
                return {name: loaded[name] for name in loaded.files}
    except InputError:
        raise
    except DAMAGE as error:
        raise _unreadable(source, error) from error
    if source.format == "npz":
        raise InputError(f"{source} holds a single array; name it .npy")
    return {"X": loaded}


def _unreadable(source: Source, error: Exception) -> InputError:
    if "pickle" in str(error):
        return InputError(
            f"{source} is not a NumPy file or holds pickled objects, which are never loaded; save numbers, and ids "
            "as strings: np.savez(path, X=X, ids=np.array(ids, dtype=str))"
        )
    return InputError(f"{source} is empty, truncated or not a NumPy file ({error}); write it again with np.savez")
