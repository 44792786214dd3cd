"""Tables as they were read: examples with ids and classes, pairs with ids and labels, and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pairlearn.errors import MissingIdsError
from pairlearn.pairs import Pairs
from pairlearn.types import Floats, Ints
from pairlearn.words import counted


@dataclass(frozen=True, eq=False, repr=False)
class ExampleTable:
    """Examples with their ids and, if the file has them, their classes; `source` is the file, for messages.

    >>> import numpy as np
    >>> table = ExampleTable("faces.csv", np.eye(2), ("ann", "bob"))
    >>> table.pairs(PairTable("pairs.csv", ("ann",), ("bob",))).right.tolist()
    [1]
    """

    source: str
    examples: Floats
    ids: tuple[str, ...]
    classes: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f" of {counted(len(set(self.classes)), 'class')}"
        return f"ExampleTable({self.source}: {counted(len(self.ids), 'example')}{classes})"

    def pairs(self, table: PairTable) -> Pairs:
        """Join a pair table to these examples."""
        try:
            return Pairs.from_ids(self.examples, self.ids, table.left, table.right)
        except MissingIdsError as error:
            raise MissingIdsError(f"{table.source} with {self.source}: {error}", error.missing) from None


@dataclass(frozen=True, eq=False, repr=False)
class PairTable:
    """Ids of both sides of every pair and, if the file has them, labels ±1.

    `spelling` says what the labels were called in the file.
    """

    source: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    labels: Ints | None = None
    spelling: Mapping[str, int] | None = None

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        labelled = "no labels" if self.labels is None else "labelled"
        return f"PairTable({self.source}: {counted(len(self), 'pair')}, {labelled})"
