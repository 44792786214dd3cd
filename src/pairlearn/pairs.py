"""Pairs of examples, by index: the one form in which data travels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from pairlearn.errors import InputError, MissingIdsError
from pairlearn.examples import (
    as_float,
    check_examples,
    check_numbers,
    count_examples,
    merge_equal_rows,
    refuse_nonfinite,
)
from pairlearn.features import feature_names, rows_are_wanted
from pairlearn.types import Bools, Examples, Floats, Ints

Columns = tuple[Ints, Ints]


# --------------------------------------------------------------------------- columns by arithmetic


@dataclass(frozen=True)
class Triangle:
    """All pairs i ≤ j (or i < j) of m examples in row order, never stored.

    Pair number k of row i is offset(i) + j − i, with offset(i) = Σ_{t<i} (row length of t).
    """

    n_examples: int
    reflexive: bool = True

    def __len__(self) -> int:
        m = self.n_examples
        return m * (m + 1) // 2 if self.reflexive else m * (m - 1) // 2

    def offset(self, row: Any) -> Any:
        """Number of the first pair of a row."""
        m = self.n_examples + (0 if self.reflexive else -1)
        return row * m - row * (row - 1) // 2

    def columns(self, index: Ints) -> Columns:
        """Left and right example of the pairs with these numbers."""
        k = np.asarray(index, dtype=np.int64)
        length = self.n_examples + (0 if self.reflexive else -1)
        b = 2.0 * length + 1.0
        row = np.floor((b - np.sqrt(np.maximum(b * b - 8.0 * k, 0.0))) / 2.0).astype(np.int64)
        # The square root may be off by one in the last bit: settle it in integers.
        row = np.where(self.offset(row) > k, row - 1, row)
        row = np.where(self.offset(row + 1) <= k, row + 1, row)
        right = row + (k - self.offset(row)) + (0 if self.reflexive else 1)
        return row.astype(np.int32), right.astype(np.int32)

    def all_columns(self) -> Columns:
        """Left and right example of every pair."""
        rows, shift = np.arange(self.n_examples), 0 if self.reflexive else 1
        left = np.repeat(rows.astype(np.int32), self.n_examples - shift - rows)
        right = np.arange(len(self), dtype=np.int64) - self.offset(rows)[left] + left + shift
        return left, right.astype(np.int32)


# --------------------------------------------------------------------------- contradictions


@dataclass(frozen=True)
class Conflicts:
    """Contradictory labels: pair number `first[k]` and pair number `second[k]` name the same pair."""

    first: Ints
    second: Ints
    left: Ints
    right: Ints

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        rows = zip(self.first, self.second, self.left, self.right, strict=True)
        return ((int(i), int(j), int(a), int(b)) for i, j, a, b in rows)

    def message(self) -> str:
        """One line with the count and an example."""
        i, j, a, b = next(iter(self))
        return (
            f"{len(self)} pairs carry contradictory labels, e.g. pairs {i} and {j} both join "
            f"examples {a} and {b}; pairs.conflicts(y) lists them all"
        )


# --------------------------------------------------------------------------- pairs


class Pairs:
    """n pairs of m examples: the table of examples by reference and two index columns.

    Slicing copies indices only. `right_examples` is a second table for the right side (two domains);
    `invariant` and `signed` are per-pair features (n, q) that stay or change sign when a pair is swapped;
    `ids` names the examples for kernels that know them by name (arcs of a graph).

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.eye(3), left=[0, 0, 1], right=[1, 2, 2])
    >>> len(pairs), pairs.labels(["u", "u", "v"]).tolist()
    (3, [1, -1, -1])
    >>> pairs[[2, 0]].left.tolist()
    [1, 0]
    """

    examples: Examples
    right_examples: Examples | None
    invariant: Floats | None
    signed: Floats | None
    ids: tuple[Any, ...] | None
    feature_names: Any
    _columns: Columns | Triangle

    def __init__(
        self,
        examples: Examples,
        left: Any,
        right: Any,
        *,
        right_examples: Examples | None = None,
        invariant: Any = None,
        signed: Any = None,
        ids: Any = None,
    ) -> None:
        self.examples, self.feature_names = check_examples(examples), feature_names(examples)
        self.right_examples = None if right_examples is None else check_examples(right_examples, "right_examples")
        self._columns = (
            _check_column(left, "left", self.n_examples),
            _check_column(right, "right", count_examples(self.right_table)),
        )
        if len(self._columns[0]) != len(self._columns[1]):
            raise InputError(
                f"left has {len(self._columns[0])} entries and right has {len(self._columns[1])}; "
                "each pair needs one of both"
            )
        self.invariant = _check_block(invariant, "invariant", len(self))
        self.signed = _check_block(signed, "signed", len(self))
        self.ids = None if ids is None else tuple(_check_ids(ids, self.n_examples))
        if self.signed is not None and np.any(self.signed[self.reflexive] != 0):
            raise InputError("a reflexive pair is its own mirror, so its `signed` features must be 0")

    # -- other ways to make pairs

    @classmethod
    def _of(cls, like: Pairs, columns: Columns | Triangle, **blocks: Any) -> Pairs:
        pairs = object.__new__(cls)
        pairs.examples, pairs.right_examples, pairs.ids = like.examples, like.right_examples, like.ids
        pairs._columns, pairs.feature_names = columns, like.feature_names
        pairs.invariant, pairs.signed = blocks.get("invariant"), blocks.get("signed")
        return pairs

    @classmethod
    def from_array(cls, array: Any) -> Pairs:
        """Fold a (n_pairs, 2, d) array into pairs; equal rows become one example.

        >>> import numpy as np, pairlearn as pl
        >>> pairs = pl.Pairs.from_array(np.array([[[1., 0.], [0., 1.]], [[0., 1.], [0., 1.]]]))
        >>> pairs.n_examples, pairs.left.tolist(), pairs.right.tolist()
        (2, [0, 1], [1, 1])
        """
        tensor = np.asarray(array)
        if tensor.ndim != 3 or tensor.shape[1] != 2:
            raise InputError(
                f"an array of pairs has shape (n_pairs, 2, n_features), got {tensor.shape}; "
                "or pass pl.Pairs(examples, left, right)"
            )
        if tensor.dtype.kind not in "biufc":
            tensor = as_float(tensor, "array")
        if 0 in tensor.shape:
            raise InputError(f"the array of pairs is empty: shape {tensor.shape}; give at least one pair")
        flat = check_numbers(tensor.reshape(-1, tensor.shape[2]), "pairs")
        examples, index = merge_equal_rows(flat + 0.0)  # -0.0 and 0.0 are one value
        return cls(examples, index[0::2], index[1::2])

    @classmethod
    def from_ids(cls, examples: Examples, example_ids: Any, left_ids: Any, right_ids: Any) -> Pairs:
        """Join a pair table with ids (strings or numbers) to a table of examples.

        >>> import numpy as np, pairlearn as pl
        >>> pairs = pl.Pairs.from_ids(np.eye(2), ["ann", "bob"], ["ann", "bob"], ["bob", "bob"])
        >>> pairs.left.tolist(), pairs.right.tolist()
        ([0, 1], [1, 1])
        """
        ids = _check_ids(example_ids, count_examples(examples))
        position = {key: row for row, key in enumerate(ids)}
        columns = [list(left_ids), list(right_ids)]
        missing = list(dict.fromkeys(key for column in columns for key in column if key not in position))
        if missing:
            shown = ", ".join(repr(key) for key in missing[:5]) + (", …" if len(missing) > 5 else "")
            raise MissingIdsError(
                f"{len(missing)} ids of the pair table are not among the examples: {shown}; "
                "add their rows or drop these pairs",
                missing,
            )
        left, right = (np.array([position[key] for key in column], dtype=np.int64) for column in columns)
        return cls(examples, left, right, ids=ids)

    # -- shape

    @property
    def left(self) -> Ints:
        """Index of the left example of each pair, (n_pairs,)."""
        return self.columns[0]

    @property
    def right(self) -> Ints:
        """Index of the right example of each pair, (n_pairs,)."""
        return self.columns[1]

    @property
    def columns(self) -> Columns:
        """Both index columns."""
        return self._columns.all_columns() if isinstance(self._columns, Triangle) else self._columns

    @property
    def triangle(self) -> Triangle | None:
        """The rule behind the columns when these are all pairs in row order, else None."""
        return self._columns if isinstance(self._columns, Triangle) else None

    @property
    def right_table(self) -> Examples:
        """The table that `right` points into."""
        return self.examples if self.right_examples is None else self.right_examples

    @property
    def n_examples(self) -> int:
        """Number of rows of `examples`."""
        return count_examples(self.examples)

    @property
    def shape(self) -> tuple[int, ...]:
        """(n_pairs, 2, …features), as scikit-learn expects of an array."""
        return (len(self), 2, *getattr(self.examples, "shape", (0,))[1:])

    @property
    def reflexive(self) -> Bools:
        """Mask of the pairs (i, i)."""
        if self.right_examples is not None:
            return np.zeros(len(self), dtype=bool)
        left, right = self.columns
        return cast(Bools, left == right)

    def __len__(self) -> int:
        return len(self._columns) if isinstance(self._columns, Triangle) else len(self._columns[0])

    def __repr__(self) -> str:
        kind = "all " if self.triangle else ""
        if self.right_examples is not None:
            sizes = f"{self.n_examples} × {count_examples(self.right_examples)}"
            return f"Pairs({len(self)} pairs of {sizes} examples)"
        return f"Pairs({kind}{len(self)} pairs of {self.n_examples} examples)"

    # -- slicing

    def __getitem__(self, key: Any) -> Pairs:
        """Some of the pairs; examples are shared, not copied."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        index = _as_index(key, len(self))
        columns = (
            self._columns.columns(index)
            if isinstance(self._columns, Triangle)
            else (self._columns[0][index], self._columns[1][index])
        )
        blocks = {
            name: None if block is None else block[index]
            for name, block in (("invariant", self.invariant), ("signed", self.signed))
        }
        return Pairs._of(self, columns, **blocks)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        if rows_are_wanted():
            raise InputError(
                "estimators of scikit-learn see rows of examples, not pairs; put a transformer into "
                "pl.OnExamples(…), which applies it to the examples: make_pipeline(pl.OnExamples(StandardScaler()), …)"
            )
        if not isinstance(self.examples, np.ndarray) or self.examples.ndim != 2:
            raise TypeError("these examples are not a 2-D array; use pairs.examples, pairs.left, pairs.right")
        if copy is False:
            raise ValueError("an array of pairs is always a copy; use pairs.examples[pairs.left] for one side")
        left, right = self.columns
        return np.stack([self.examples[left], self.right_table[right]], axis=1).astype(dtype or self.examples.dtype)

    # -- derived pairs

    def swapped(self) -> Pairs:
        """Every pair (a, b) as (b, a)."""
        left, right = self.columns
        signed = None if self.signed is None else -self.signed
        pairs = Pairs._of(self, (right, left), invariant=self.invariant, signed=signed)
        if self.right_examples is not None:
            pairs.examples, pairs.right_examples = self.right_examples, self.examples
            pairs.ids = None
        return pairs

    def followed_by(self, others: Pairs) -> Pairs:
        """These pairs, then the others; both point into the same table of examples.

        >>> import numpy as np, pairlearn as pl
        >>> pairs = pl.Pairs(np.eye(2), [0], [1])
        >>> pairs.followed_by(pairs.swapped()).left.tolist()
        [0, 1]
        """
        if self.examples is not others.examples or self.right_examples is not others.right_examples:
            raise InputError("these pairs point into different tables of examples; join the tables first")
        columns = [np.concatenate(both) for both in zip(self.columns, others.columns, strict=True)]
        blocks = {name: _joined(getattr(self, name), getattr(others, name), name) for name in ("invariant", "signed")}
        return Pairs._of(self, (columns[0], columns[1]), **blocks)

    def with_examples(self, examples: Examples) -> Pairs:
        """The same pairs over another table with as many rows (e.g. after a transformation)."""
        names, examples = feature_names(examples), check_examples(examples)
        if count_examples(examples) != self.n_examples:
            raise InputError(f"{count_examples(examples)} rows for {self.n_examples} examples; keep every row")
        pairs = Pairs._of(self, self._columns, invariant=self.invariant, signed=self.signed)
        pairs.examples, pairs.feature_names = examples, names
        return pairs

    def used_examples(self) -> Ints:
        """Sorted indices of the examples that occur in these pairs (of two tables: in the left one)."""
        if self.triangle and (self.triangle.reflexive or self.n_examples > 1):
            return np.arange(self.n_examples)
        return _occurring(self.columns if self.right_examples is None else self.columns[:1], self.n_examples)

    def used_right_examples(self) -> Ints:
        """Sorted indices of the rows of `right_table` that occur in these pairs."""
        if self.right_examples is None:
            return self.used_examples()
        return _occurring(self.columns[1:], count_examples(self.right_examples))

    def labels(self, classes: Any) -> Ints:
        """+1 where both examples have the same class, −1 elsewhere, (n_pairs,)."""
        if self.right_examples is not None:
            raise InputError("labels(classes) needs one table of examples; compare the two class columns yourself")
        codes = np.asarray(classes)
        if codes.shape != (self.n_examples,):
            raise InputError(f"classes must hold one value per example, {self.n_examples}, got shape {codes.shape}")
        if codes.dtype.kind == "f" and not np.isfinite(codes).all():
            raise InputError("classes contain NaN or infinity; drop the pairs of these examples first")
        _, codes = np.unique(codes, return_inverse=True)
        left, right = self.columns
        return np.where(codes[left] == codes[right], 1, -1)

    def conflicts(self, y: Any, *, antisymmetric: bool = False, ordered: bool = False) -> Conflicts:
        """Pairs that occur more than once with different labels, in either order; per-pair features must agree.

        With `antisymmetric` the label of (b, a) is minus the label of (a, b); with `ordered` they are two pairs.

        >>> import numpy as np, pairlearn as pl
        >>> list(pl.Pairs(np.eye(2), [0, 1], [1, 0]).conflicts([1, -1]))
        [(0, 1, 1, 0)]
        """
        labels = np.asarray(y)
        if labels.shape != (len(self),):
            raise InputError(f"y must hold one label per pair, {len(self)}, got shape {labels.shape}")
        empty = np.zeros(0, dtype=np.int64)
        if self.triangle:
            return Conflicts(empty, empty, empty, empty)
        left, right = self.columns
        one_order = ordered or self.right_examples is not None
        flip = np.zeros(len(self), dtype=bool) if one_order else left > right
        low, high = np.where(flip, right, left).astype(np.int64), np.where(flip, left, right).astype(np.int64)
        if antisymmetric:
            labels = np.where(flip, -labels, labels)
        key = low * count_examples(self.right_table) + high
        blocks = [self.invariant, None if self.signed is None else np.where(flip[:, None], -self.signed, self.signed)]
        features = [block for block in blocks if block is not None]
        if features:
            key = merge_equal_rows(np.hstack([key[:, None].astype(np.float64), *features]) + 0.0)[1].astype(np.int64)
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        second = np.nonzero(labels != labels[first[group]])[0]
        return Conflicts(first[group[second]], second, left[second], right[second])


def all_pairs(examples: Examples, reflexive: bool = True) -> Pairs:
    """All pairs i ≤ j of the examples (i < j without reflexive ones), columns by arithmetic.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.all_pairs(np.eye(3), reflexive=False)
    >>> list(zip(pairs.left.tolist(), pairs.right.tolist()))
    [(0, 1), (0, 2), (1, 2)]
    """
    checked = check_examples(examples)
    m = count_examples(checked)
    triangle = Triangle(m, reflexive)
    if len(triangle) == 0:
        raise InputError(f"{m} examples give no pairs; pass at least {1 if reflexive else 2}")
    empty = np.zeros(0, dtype=np.int32)
    pairs = object.__new__(Pairs)
    pairs.examples, pairs.right_examples, pairs.ids, pairs._columns = checked, None, None, (empty, empty)
    pairs.feature_names = feature_names(examples)
    return Pairs._of(pairs, triangle)


def as_pairs(X: Any) -> Pairs:
    """Pairs as they are, or an array of shape (n_pairs, 2, d) folded into pairs."""
    if isinstance(X, Pairs):
        return X
    if hasattr(X, "shape") or isinstance(X, (list, tuple)):
        return Pairs.from_array(X)
    raise InputError(
        f"expected pl.Pairs or an array of shape (n_pairs, 2, n_features), got {type(X).__name__}; "
        "build pairs with pl.Pairs(examples, left, right) or pl.all_pairs(examples)"
    )


def check_labels(y: Any, n_pairs: int) -> Floats:
    """Labels ±1 as float64 with both classes present, or an error that says what to do."""
    labels = np.asarray(y)
    if labels.shape != (n_pairs,):
        raise InputError(f"y must hold one label per pair, {n_pairs}, got shape {labels.shape}")
    if labels.dtype.kind not in "biuf" or not np.isin(labels, (-1, 1)).all():
        found = np.unique(labels.astype(str))[:5].tolist()
        raise InputError(f"labels must be +1 or -1, found {found}; use np.where(same, 1, -1)")
    values = labels.astype(np.float64)
    if abs(values.sum()) == n_pairs:
        raise InputError(
            f"all {n_pairs} labels are {int(values[0]):+d}; both classes are needed "
            "(pl.OneClassPairSVM learns from positive pairs alone)"
        )
    return values


def check_signs(y: Any, n_pairs: int, meaning: str, advice: str = "") -> Floats:
    """Labels +1, −1 or 0 as float64; `meaning` says what they stand for, `advice` what to do about others."""
    labels = np.asarray(y)
    if labels.shape != (n_pairs,):
        raise InputError(f"y must hold one label per pair, {n_pairs}, got shape {labels.shape}")
    if labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 0, 1)).all():
        found = np.unique(labels.astype(str))[:5].tolist()
        raise InputError(f"labels must be {meaning}, found {found}{advice}")
    return labels.astype(np.float64)


def _check_column(column: Any, name: str, n_examples: int) -> Ints:
    index = np.asarray(column)
    if index.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {index.shape}")
    if len(index) == 0:
        raise InputError("there are no pairs: left and right are empty; give at least one pair")
    if index.dtype.kind not in "iu":
        raise InputError(
            f"{name} must hold integer row numbers, got {index.dtype}; "
            "join a table with other ids by pl.Pairs.from_ids(examples, example_ids, left_ids, right_ids)"
        )
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= n_examples:
        bad = low if low < 0 else high
        raise InputError(f"{name} has index {bad}, but the examples are 0 … {n_examples - 1}")
    return index.astype(np.int32 if n_examples <= 2**31 - 1 else np.int64)


def _check_block(block: Any, name: str, n_pairs: int) -> Floats | None:
    if block is None:
        return None
    values = as_float(np.asarray(block), name)
    values = values.reshape(-1, 1) if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != n_pairs:
        raise InputError(f"{name} must have shape (n_pairs, q) with n_pairs = {n_pairs}, got {values.shape}")
    refuse_nonfinite(values, name)
    return values


def _check_ids(ids: Any, n_examples: int) -> list[Any]:
    names = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if len(names) != n_examples:
        raise InputError(f"{len(names)} ids for {n_examples} examples; give one id per row")
    if len(set(names)) != len(names):
        seen: set[object] = set()
        twice = next(key for key in names if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"example ids must be unique, but {twice!r} occurs more than once; drop the copies")
    return names


def _occurring(columns: tuple[Ints, ...], n_examples: int) -> Ints:
    used = np.zeros(n_examples, dtype=bool)
    for column in columns:
        used[column] = True
    return np.nonzero(used)[0]


def _joined(first: Floats | None, second: Floats | None, name: str) -> Floats | None:
    if first is None and second is None:
        return None
    if first is None or second is None:
        raise InputError(f"only one of the two sets of pairs has `{name}` features; give them to both or to none")
    return np.concatenate([first, second])


def _as_index(key: Any, n: int) -> Ints:
    if isinstance(key, slice):
        return np.arange(*key.indices(n))
    index = np.asarray(key)
    if index.dtype == bool:
        if index.shape != (n,):
            raise IndexError(f"a mask needs one entry per pair, {n}, got shape {index.shape}")
        return np.nonzero(index)[0]
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise IndexError("index pairs with a slice, a mask or an array of integers")
    index = index.astype(np.int64)
    if index.size and (index.min() < -n or index.max() >= n):
        raise IndexError(f"pair number out of range: there are {n} pairs")
    return np.where(index < 0, index + n, index)
