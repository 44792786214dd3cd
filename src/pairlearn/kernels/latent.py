"""The best over versions of two examples: mirrored, shifted, shortened, translated, whatever a function lists.

Versions of many examples are laid one after another, compared by one call of the inner kernel and reduced by a maximum
per example: a loop over couples of examples would call the kernel len(A)·len(B) times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import count_examples
from pairlearn.kernels.base import Kernel, self_products
from pairlearn.types import Examples, Floats, Ints

BLOCK = 1024
"""About as many versions of either side are compared at a time."""


@dataclass(frozen=True)
class Latent(Kernel):
    """max over z and z' of k(a_z, b_z') + R(z) + R(z'), where a_z is the version z of the example a.

    `versions(a)` lists the versions of one example, in the form that `kernel` compares (several stacked arrays, or a
    list of objects); `regulariser(a)` lists R(z), a number for each of them (default: all 0). Symmetric if the kernel
    is. Both sides move: shifts by 0 … h cells in a frame that is h cells larger give all displacements up to ±h.
    A parameter that the kernel takes from data, such as gamma="scale", is fixed on the first version of each example.

    >>> import numpy as np
    >>> from pairlearn.kernels import Linear
    >>> either_way = Latent(Linear(), lambda a: [a, a[::-1]], lambda a: [0.0, -1.0])
    >>> either_way(np.array([[1.0, 5.0]]), np.array([[4.0, 0.0]])).item()
    19.0
    """

    kernel: Kernel
    versions: Callable[[Any], Sequence[Any]]
    regulariser: Callable[[Any], Sequence[float]] | None = None
    definite = False

    def __call__(self, A: Examples, B: Examples) -> Floats:
        columns = [self._against(A, versions) for versions in self._blocks(B)]
        return np.concatenate(columns, axis=1) if columns else np.empty((count_examples(A), 0))

    def diag(self, A: Examples) -> Floats:
        return self_products(self, A)

    def resolved(self, examples: Examples) -> Kernel:
        first = [self._listed(examples[i])[0] for i in range(count_examples(examples))]
        return replace(self, kernel=self.kernel.resolved(_table(first)))

    def _against(self, A: Examples, right: _Versions) -> Floats:
        """Values of all examples A with those whose versions are given, (len(A), n)."""
        rows = [_best_versions(self.kernel, left, right) for left in self._blocks(A)]
        return np.concatenate(rows) if rows else np.empty((0, len(right.starts)))

    def _blocks(self, examples: Examples) -> Iterator[_Versions]:
        """Examples in turn, as many at a time as have about BLOCK versions together."""
        listed: list[Any] = []
        regulariser: list[float] = []
        starts: list[int] = []
        for i in range(count_examples(examples)):
            starts.append(len(listed))
            listed.extend(self._listed(examples[i]))
            regulariser.extend(self._regularised(examples[i], len(listed) - starts[-1]))
            if len(listed) >= BLOCK or i + 1 == count_examples(examples):
                yield _Versions(_table(listed), np.array(regulariser), np.array(starts))
                listed, regulariser, starts = [], [], []

    def _listed(self, example: Any) -> Sequence[Any]:
        """The versions of an example, at least one: a maximum over none is not a number."""
        versions = self.versions(example)
        if len(versions) == 0:
            raise InputError("versions(example) listed no version; list at least the example itself")
        return versions

    def _regularised(self, example: Any, n: int) -> Sequence[float]:
        """R(z) for each of the n versions of an example."""
        values = [0.0] * n if self.regulariser is None else list(self.regulariser(example))
        if len(values) != n or not np.isfinite(values).all():
            raise InputError(f"regulariser(example) must list one finite number for each of {n} versions, got {values}")
        return values


@dataclass(frozen=True)
class _Versions:
    """The versions of some examples one after another, and where those of each example start."""

    table: Any
    regulariser: Floats
    starts: Ints


def _table(versions: Sequence[Any]) -> Any:
    """Versions as a table of examples: arrays stacked, other objects in a list."""
    return np.stack(versions) if all(isinstance(version, np.ndarray) for version in versions) else list(versions)


def _best_versions(kernel: Kernel, left: _Versions, right: _Versions) -> Floats:
    """max over z and z' of k(a_z, b_z') + R(z) + R(z') for every couple of examples."""
    values = kernel(left.table, right.table) + left.regulariser[:, None] + right.regulariser
    rows: Floats = np.maximum.reduceat(values, left.starts, axis=0)
    best: Floats = np.maximum.reduceat(rows, right.starts, axis=1)
    return best
