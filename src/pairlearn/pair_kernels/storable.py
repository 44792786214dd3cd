"""The values of this package that a model file may hold, by class name."""

from __future__ import annotations

from typing import Any

from pairlearn.pair_kernels.finite import Arcs, Finite
from pairlearn.pair_kernels.kernel import Expression, PairKernel
from pairlearn.pair_kernels.outer import GaussianOf, Power
from pairlearn.pair_kernels.scored import ModelScores
from pairlearn.pair_kernels.table import Table
from pairlearn.pair_kernels.views import Blocks, InvariantColumns, ViewKernel

STORABLE: tuple[type[Any], ...] = (
    *(PairKernel, Table, Expression, Power, GaussianOf),
    *(ViewKernel, Blocks, InvariantColumns, ModelScores, Arcs, Finite),
)
"""A pair kernel is made of these alone, so a new name in the catalog needs no entry here."""
RENAMED = {"Seen": "ViewKernel", "Scored": "ModelScores"}
"""Names in files of 0.1, and what these classes are called now; their fields kept their names."""
