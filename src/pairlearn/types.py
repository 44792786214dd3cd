"""Names for the types that many modules share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
Precision = type[np.floating[Any]]
"""float32 or float64."""
Bools = NDArray[np.bool_]
Examples = Any
"""A 2-D array, a sparse matrix or a sequence of any objects; rows are examples."""
UNSAVED = {"saved": False}
"""Metadata of a field of a value that model files do not hold."""
