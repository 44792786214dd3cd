"""Values that hold arrays: equal by content, printed by shape."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from pairlearn.types import Examples


class ByContent(ABC):
    """A frozen value with arrays: equal when its content is equal bit by bit, compared through a digest.

    The generated `__eq__` of a dataclass compares arrays with `==`, which has no truth value, and `__hash__` fails on
    them; but kernels are keys of dictionaries and are compared whenever symmetry is derived. A digest, computed once,
    makes both cheap even for matrices of gigabytes.
    """

    @abstractmethod
    def _content(self) -> Iterator[Any]:
        """Everything that tells two values apart, as buffers of bytes."""

    def _summary(self) -> str:
        """What `repr` shows before the digest."""
        return ""

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the content, 40 hexadecimal digits."""
        found = hashlib.blake2b(digest_size=20)
        for part in self._content():
            found.update(part)
        return found.hexdigest()

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and other.digest == self.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        """Summary and the first digits of the digest: short, yet different for different content."""
        parts = [part for part in (self._summary(), self.digest[:8]) if part]
        return f"{type(self).__name__}({', '.join(parts)})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # A value: scikit-learn's clone may share it instead of copying the matrix for every fold.
        return self


def shape_of(table: Any) -> str:
    """Shape and type of an array, for `repr`.

    >>> import numpy as np
    >>> shape_of(np.eye(2))
    '(2, 2) float64'
    """
    return f"{table.shape} {table.dtype}"


def table_content(examples: Examples) -> Iterator[Any]:
    """Everything that tells tables of examples apart, as buffers of bytes; objects are told apart by their repr.

    >>> [bytes(part) for part in table_content(["a", "b"])]
    [b"'a'", b"'b'"]
    """
    if sparse.issparse(examples):
        yield str(examples.shape).encode()
        for part in (examples.data, examples.indices, examples.indptr):
            yield from table_content(part)
    elif isinstance(examples, np.ndarray) and examples.dtype != object:
        yield shape_of(examples).encode()
        yield np.ascontiguousarray(examples).data.cast("B") if examples.size else b""
    else:
        for example in examples:
            yield from table_content(example) if isinstance(example, np.ndarray) else [repr(example).encode()]
