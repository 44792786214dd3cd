"""Triangular solves that let other threads run: SciPy's own wrappers hold Python's lock while they compute.

The routine is the one that SciPy offers to compiled code (`scipy.linalg.cython_blas`); a call through ctypes releases
the lock. Matrix products need none of this, for NumPy releases it.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from pairlearn.types import Floats


@cache
def _routine(name: str, arguments: int) -> Any:
    """The BLAS routine of this name; every argument is an address."""
    from scipy.linalg import cython_blas

    capsule = vars(cython_blas)["__pyx_capi__"][name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


def solve_right(L: Floats, X: Floats) -> None:
    """X ← X L⁻ᵀ in place, for a lower triangle L (k, k) and X (n, k), column-major views of float64 both.

    >>> import numpy as np
    >>> X = np.array([[2.0, 9.0]], order="F")
    >>> solve_right(np.array([[2.0, 0.0], [1.0, 4.0]], order="F"), X)
    >>> X.tolist()
    [[1.0, 2.0]]
    """
    _solve(b"R", b"T", L, X)


def solve_left(L: Floats, X: Floats) -> None:
    """X ← L⁻¹ X in place, for a lower triangle L (k, k) and X (k, n), column-major views of float64 both."""
    _solve(b"L", b"N", L, X)


def _solve(side: bytes, transposed: bytes, L: Floats, X: Floats) -> None:
    """`dtrsm` of BLAS."""
    if not X.size:
        return
    sizes = [ctypes.c_int(n) for n in (*X.shape, _leading(L), _leading(X))]
    rows, cols, of_L, of_X = (ctypes.byref(size) for size in sizes)
    one = ctypes.byref(ctypes.c_double(1.0))
    _routine("dtrsm", 11)(side, b"L", transposed, b"N", rows, cols, one, L.ctypes.data, of_L, X.ctypes.data, of_X)


def _leading(A: Floats) -> int:
    """Numbers from one column to the next; anything but float64 columns without gaps would be read as garbage."""
    assert A.dtype == "float64"
    assert A.strides[0] == A.itemsize or A.shape[0] == 1
    return max(1, A.shape[0], A.strides[1] // A.itemsize if A.shape[1] > 1 else 1)
