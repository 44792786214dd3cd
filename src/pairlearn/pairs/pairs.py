"""Pairs of examples: tables by reference, two index columns, and features of pairs."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from pairlearn import inline
from pairlearn.errors import InputError
from pairlearn.examples import (
    as_float,
    check_examples,
    check_numbers,
    count_examples,
    in_use,
    merge_equal_rows,
    refuse_nonfinite,
)
from pairlearn.features import feature_names
from pairlearn.pairs.classes import class_codes
from pairlearn.pairs.columns import Columns, Triangle, as_index, check_columns
from pairlearn.pairs.conflicts import Conflicts, find_conflicts
from pairlearn.pairs.ids import check_ids, find_rows, rows_by_id
from pairlearn.pairs.labels import one_per_pair
from pairlearn.pairs.tables import (
    Renumbered,
    Tables,
    renumbered,
    require_one_table,
    sizes,
    tables_of,
    take_rows,
    used_rows,
)
from pairlearn.types import Bools, Examples, Floats, Ints
from pairlearn.words import counted, crossed


class Pairs:
    """n pairs of m examples: the table of examples by reference and two index columns.

    Pair k joins example `left[k]` with example `right[k]`: one table of examples serves any number of pairs, and
    everything computed per example is computed once. `tables` says whether both columns point into one table.

    Slicing copies indices only. `right_examples` is a second table for the right side (two domains);
    `invariant` and `signed` are per-pair features (n, q) that stay or change sign when a pair is swapped;
    `feature_names` are the columns of a data frame, if both sides are of one;
    `ids` names the examples for kernels that know them by name (arcs of a graph).

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.eye(3), left=[0, 0, 1], right=[1, 2, 2])
    >>> len(pairs), pairs.labels(["u", "u", "v"]).tolist()
    (3, [1, -1, -1])
    >>> pairs[[2, 0]].left.tolist()
    [1, 0]
    """

    tables: Tables
    feature_names: Any
    invariant: Floats | None
    signed: Floats | None
    ids: tuple[Any, ...] | None
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
        sides = [check_examples(examples)]
        self.feature_names = feature_names(examples) if right_examples is None else None
        if right_examples is not None:
            sides.append(check_examples(right_examples, "right_examples"))
        self.tables = tables_of(tuple(sides))
        self._columns = check_columns(left, right, self.n_examples, count_examples(self.right_table))
        self.invariant = _check_block(invariant, "invariant", len(self))
        self.signed = _check_block(signed, "signed", len(self))
        self.ids = None if ids is None else tuple(check_ids(ids, self.n_examples))
        if self.signed is not None and np.any(self.signed[self.reflexive] != 0):
            raise InputError("a reflexive pair is its own mirror, so its `signed` features must be 0")

    # -- other ways to make pairs

    def _replaced(self, **parts: Any) -> Pairs:
        """The same pairs but for these parts, which were checked before."""
        pairs = object.__new__(Pairs)
        pairs.__dict__.update(self.__dict__, **parts)
        return pairs

    @classmethod
    def from_array(cls, array: Any) -> Pairs:
        """Fold a (n_pairs, 2, d) array into pairs; equal rows become one example.

        The Gram matrix has a row per example, so finding the examples again is what keeps it small.

        >>> import numpy as np, pairlearn as pl
        >>> pairs = pl.Pairs.from_array(np.array([[[1., 0.], [0., 1.]], [[0., 1.], [0., 1.]]]))
        >>> pairs.n_examples, pairs.left.tolist(), pairs.right.tolist()
        (2, [0, 1], [1, 1])
        """
        tensor = np.asarray(array)
        if tensor.ndim != 3 or tensor.shape[1] != 2:
            order = " (pairs come first, then labels)" if tensor.ndim == 1 else ""
            raise InputError(
                f"an array of pairs has shape (n_pairs, 2, n_features), got {tensor.shape}{order}; "
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
        ids = check_ids(example_ids, count_examples(examples))
        left, right = find_rows(rows_by_id(ids), left_ids, right_ids)
        return cls(examples, left, right, ids=ids)

    # -- shape

    @property
    def examples(self) -> Examples:
        """The table that `left` points into."""
        return self.tables.sides[0]

    @property
    def right_examples(self) -> Examples | None:
        """The table of the right examples if it is one of its own, else None."""
        return None if len(self.tables.sides) == 1 else self.right_table

    @property
    def right_table(self) -> Examples:
        """The table that `right` points into."""
        return self.tables.sides[-1]

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
        return self.tables.reflexive(self.columns)

    def __len__(self) -> int:
        return len(self._columns) if isinstance(self._columns, Triangle) else len(self._columns[0])

    def __repr__(self) -> str:
        kind = "all " if self.triangle else ""
        return f"Pairs({kind}{counted(len(self), 'pair')} of {crossed(sizes(self.tables), 'example')})"

    def _repr_html_(self) -> str:
        first = self[: inline.ROWS]
        sides = zip(first.left.tolist(), first.right.tolist(), strict=True)
        cells = [tuple(row if self.ids is None else self.ids[row] for row in pair) for pair in sides]
        kind = "" if self.ids else " row"
        return inline.table(repr(self), (f"left{kind}", f"right{kind}"), cells, len(self))

    # -- slicing

    def __getitem__(self, key: Any) -> Pairs:
        """Some of the pairs, by slice, mask or numbers; examples are shared, not copied.

        `(key, Ellipsis)` is how scikit-learn takes rows of an array with more than two dimensions.
        """
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        index = as_index(key, len(self))
        if isinstance(self._columns, Triangle):
            columns = self._columns.columns(index)
        else:
            columns = self._columns[0][index], self._columns[1][index]
        invariant, signed = (None if block is None else block[index] for block in (self.invariant, self.signed))
        return self._replaced(_columns=columns, invariant=invariant, signed=signed)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        _refuse_transformers_of_examples()
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
        tables = self.tables.swapped()
        ids = self.ids if tables is self.tables else None  # they name the left examples
        return self._replaced(tables=tables, _columns=(right, left), signed=signed, ids=ids)

    def followed_by(self, others: Pairs) -> Pairs:
        """These pairs, then the others; both point into the same table of examples.

        >>> import numpy as np, pairlearn as pl
        >>> pairs = pl.Pairs(np.eye(2), [0], [1])
        >>> pairs.followed_by(pairs.swapped()).left.tolist()
        [0, 1]
        """
        if list(map(id, self.tables.sides)) != list(map(id, others.tables.sides)):
            raise InputError("these pairs point into different tables of examples; join the tables first")
        left, right = (np.concatenate(both) for both in zip(self.columns, others.columns, strict=True))
        invariant, signed = (
            _joined(getattr(self, name), getattr(others, name), name) for name in ("invariant", "signed")
        )
        return self._replaced(_columns=(left, right), invariant=invariant, signed=signed)

    def with_examples(self, examples: Examples) -> Pairs:
        """The same pairs over another table with as many rows (e.g. after a transformation)."""
        names, examples = feature_names(examples), check_examples(examples)
        names = names if self.right_examples is None else None
        if count_examples(examples) != self.n_examples:
            raise InputError(
                f"{counted(count_examples(examples), 'row')} for {counted(self.n_examples, 'example')}; keep every row"
            )
        return self._replaced(tables=tables_of((examples, *self.tables.sides[1:])), feature_names=names)

    def with_columns(self, left: Any, right: Any) -> Pairs:
        """Other pairs of the same examples, which are not checked again: for pairs that come some after the other.

        >>> import numpy as np, pairlearn as pl
        >>> pl.Pairs(np.eye(3), [0], [1]).with_columns([0, 1], [2, 2]).right.tolist()
        [2, 2]
        """
        if self.invariant is not None or self.signed is not None:
            raise InputError("these pairs have features of their own; make new pairs with pl.Pairs(…)")
        columns = check_columns(left, right, self.n_examples, count_examples(self.right_table))
        return self._replaced(_columns=columns)

    def between(self, examples: Examples, left: Any, right: Any) -> Pairs:
        """As many pairs with the same features of their own, between other rows of another table.

        >>> import numpy as np, pairlearn as pl
        >>> pl.Pairs(np.eye(2), [0], [1], invariant=[7.0]).between(np.eye(4), [2], [3]).invariant.tolist()
        [[7.0]]
        """
        return Pairs(examples, left, right, invariant=self.invariant, signed=self.signed)

    # -- the examples in use

    def used_examples(self) -> Ints:
        """Sorted indices of the examples that occur in these pairs (of two tables: in the left one)."""
        return self.used_rows()[0]

    def used_right_examples(self) -> Ints:
        """Sorted indices of the rows of `right_table` that occur in these pairs."""
        return self.used_rows()[-1]

    def used_rows(self) -> tuple[Ints, ...]:
        """Sorted rows that occur in these pairs, of each table."""
        return (np.arange(self.n_examples),) if self.triangle else used_rows(self.tables, self.columns)

    def renumbered(self) -> Renumbered:
        """The rows in use of each table, and both columns as places among them."""
        return renumbered(self.tables, self.columns, self.used_rows())

    def compacted(self) -> Compacted:
        """The same pairs over the examples in use only, and which rows these were.

        Everything learnt or computed per example starts here, so that examples that no pair refers to neither cost
        anything nor leak into a model. A table whose rows are all used is shared, not copied.

        >>> import numpy as np, pairlearn as pl
        >>> pairs, used = pl.Pairs(np.arange(9.0)[:, None], [7, 2], [2, 5]).compacted()
        >>> pairs.examples.ravel().tolist(), pairs.left.tolist(), used[0].tolist()
        ([2.0, 5.0, 7.0], [2, 0], [2, 5, 7])
        """
        used = self.used_rows()
        if sum(map(len, used)) == sum(sizes(self.tables)):
            return Compacted(self, used)
        return self._over(used, take_rows(self.tables, used))

    def compacted_in_float64(self, room: float) -> Compacted:
        """The same with examples in float64 where they were float32, which changes no number.

        A copy of more than `room` bytes of examples in a memory-mapped file goes to a temporary file.
        """
        used = self.used_rows()
        return self._over(used, take_rows(self.tables, used, lambda side, rows: in_use(side, rows, room)))

    def _over(self, used: tuple[Ints, ...], tables: Tables) -> Compacted:
        """The pairs over tables with the rows in use."""
        if sum(map(len, used)) == sum(sizes(self.tables)):
            return Compacted(self._replaced(tables=tables), used)
        columns = renumbered(self.tables, self.columns, used).columns
        ids = None if self.ids is None else tuple(self.ids[row] for row in used[0])
        return Compacted(self._replaced(tables=tables, _columns=columns, ids=ids), used)

    def require_one_table(self, message: str) -> Pairs:
        """These pairs, or this message as an error if they join two tables."""
        require_one_table(self.tables, message)
        return self

    # -- labels

    def labels(self, classes: Any) -> Ints:
        """+1 where both examples have the same class, −1 elsewhere, (n_pairs,).

        `classes` holds one value per example, numbers or strings; they are compared, never ordered.
        """
        self.require_one_table("labels(classes) needs one table of examples; compare the two class columns yourself")
        codes = class_codes(classes, self.n_examples)
        left, right = self.columns
        return np.where(codes[left] == codes[right], 1, -1)

    def codes(self, *, ordered: bool = False) -> Ints:
        """One number per pair, (n_pairs,): equal for the same pair, (a, b) and (b, a) of one table being the same.

        It is low · m + high, m the rows of the right table; with `ordered` left · m + right.
        """
        left, right = (column.astype(np.int64) for column in self.columns)
        if not ordered:
            flip = self.tables.falling((left, right))
            left, right = np.where(flip, right, left), np.where(flip, left, right)
        return left * count_examples(self.right_table) + right

    def conflicts(self, y: Any, *, antisymmetric: bool = False, ordered: bool = False) -> Conflicts:
        """Pairs that occur more than once with different labels, in either order; per-pair features must agree.

        With `antisymmetric` the label of (b, a) is minus the label of (a, b); with `ordered` they are two pairs.

        >>> import numpy as np, pairlearn as pl
        >>> list(pl.Pairs(np.eye(2), [0, 1], [1, 0]).conflicts([1, -1]))
        [(0, 1, 1, 0)]
        """
        return find_conflicts(self, one_per_pair(y, len(self)), antisymmetric=antisymmetric, ordered=ordered)


class Compacted(NamedTuple):
    """Pairs over the examples in use, and the rows that were kept of each table."""

    pairs: Pairs
    used: tuple[Ints, ...]


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
        raise InputError(
            f"{counted(m, 'example gives', 'examples give')} no pairs; pass at least {1 if reflexive else 2}"
        )
    return Pairs(checked, [0], [m - 1])._replaced(_columns=triangle, feature_names=feature_names(examples))


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


def _refuse_transformers_of_examples() -> None:
    """Refuse the array of pairs to scikit-learn where it wants rows of features, and say what to do instead.

    A scaler or PCA put before a machine in a pipeline asks the pairs for a table, gets three dimensions, and would
    complain about these; only here is it known that they are pairs. The way there leads through `check_array`.
    """
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("sklearn.utils"):
        if frame.f_code.co_name == "check_array" and not frame.f_locals.get("allow_nd"):
            raise InputError(
                "this step of the pipeline transforms examples, but it was given pairs of them; wrap it: "
                "make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC())"
            )
        frame = frame.f_back


def _check_block(block: Any, name: str, n_pairs: int) -> Floats | None:
    if block is None:
        return None
    values = as_float(np.asarray(block), name)
    values = values.reshape(-1, 1) if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != n_pairs:
        raise InputError(f"{name} must have shape (n_pairs, q) with n_pairs = {n_pairs}, got {values.shape}")
    refuse_nonfinite(values, name)
    return values


def _joined(first: Floats | None, second: Floats | None, name: str) -> Floats | None:
    if first is None and second is None:
        return None
    if first is None or second is None:
        raise InputError(f"only one of the two sets of pairs has `{name}` features; give them to both or to none")
    return np.concatenate([first, second])
