"""Several representations of the same examples, such as two descriptors of images and an embedding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pairlearn.errors import InputError
from pairlearn.examples import check_examples
from pairlearn.types import Examples

WORDS = (" on ", " & ", " + ", ",")
"""What names of representations do not hold, since records use it between them."""


@dataclass(frozen=True, eq=False, repr=False)
class Representations:
    """Tables of the same examples by name, row i of each about example i.

    `pl.StagedSearch().fit(representations, classes)` finds out which of them help. What it chooses scores rows of
    `table`, all representations side by side in the given order.

    >>> import numpy as np
    >>> both = Representations({"hog": np.zeros((5, 3)), "lbp": np.ones((5, 2))})
    >>> both, both.table.shape, both.spans
    (Representations(hog: 3 columns, lbp: 2 columns; 5 examples), (5, 5), {'hog': (0, 3), 'lbp': (3, 5)})
    """

    tables: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.tables, Mapping) or not self.tables:
            raise InputError(f'representations are tables by name, {{"hog": H, "lbp": L}}, got {self.tables!r:.60}')
        for name in self.tables:
            if not isinstance(name, str) or not name.strip() or any(word in name for word in WORDS):
                raise InputError(f"{name!r} is no name of a representation; use a plain word such as hog")
        checked = {name: check_examples(table) for name, table in self.tables.items()}
        for name, table in checked.items():
            if not (sparse.issparse(table) or isinstance(table, np.ndarray)) or table.ndim != 2:
                raise InputError(f"the representation {name!r} is no table of numbers, (examples, columns)")
            if not table.shape[1]:
                raise InputError(f"the representation {name!r} has no columns; leave it out")
        counts = {name: table.shape[0] for name, table in checked.items()}
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise InputError(f"representations are of the same examples, row by row, but have so many rows: {told}")
        object.__setattr__(self, "tables", checked)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {stop - start} columns" for name, (start, stop) in self.spans.items())
        return f"Representations({parts}; {self.table.shape[0]} examples)"

    @cached_property
    def table(self) -> Examples:
        """All of them side by side, (examples, columns of all)."""
        tables = list(self.tables.values())
        if len(tables) == 1:
            return tables[0]
        if any(map(sparse.issparse, tables)):
            return sparse.hstack(tables, format="csr")
        return np.hstack(tables)

    @property
    def spans(self) -> dict[str, tuple[int, int]]:
        """First column of each in the joint table, and the one after its last."""
        widths = [table.shape[1] for table in self.tables.values()]
        stops = np.cumsum(widths).tolist()
        return {name: (stop - width, stop) for name, width, stop in zip(self.tables, widths, stops, strict=True)}
