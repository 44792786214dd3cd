"""Synthetic tasks: classes drawn without replacement, then the same number of examples for each.

Every generator returns `X, classes`: X of shape (m, d) and classes of shape (m,) with
m = n_classes · epcr, the examples of a class side by side. `classes` holds the number of the class
among *all* classes of the task, so draws can be compared and posteriors indexed by it. For the
interclass task draw the classes of training and test together and split between two classes.

`seed` is an int, a `numpy.random.Generator` or None (fresh data at every call).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairlearn.errors import InputError
from pairlearn.types import Bools, Floats, Ints
from pairlearn.words import counted

Seed = int | np.random.Generator | None
Sample = tuple[Floats, Ints]

SHIFTS = np.arange(-5, 6)
SHIFT_PROBABILITIES = np.array([0.01, 0.02, 0.02, 0.05, 0.05, 0.70, 0.05, 0.05, 0.02, 0.02, 0.01])
LARGEST_ORTHANT = 63  # class numbers are 64-bit integers


# --------------------------------------------------------------------------- generators


def checker_board(n_classes: int, epcr: int, s: int = 25, *, seed: Seed = None) -> Sample:
    """Draw points of a board of s × s cells; the class is the cell.

    class = ⌊x₁⌋·s + ⌊x₂⌋, x uniform in [0, s)²; s² classes, X of shape (m, 2).

    >>> X, classes = checker_board(n_classes=50, epcr=5, seed=0)
    >>> X.shape, bool(np.all(np.floor(X) @ [25, 1] == classes))
    ((250, 2), True)
    """
    _check_whole("s", s, least=1)
    rng = np.random.default_rng(seed)
    classes = _draw_classes(n_classes, epcr, s * s, rng)
    corners = np.column_stack(np.divmod(classes, s))
    points = corners + rng.random(corners.shape)
    # 24 + 0.99…9 rounds to 25, which is already the next cell.
    return np.minimum(points, np.nextafter(corners + 1.0, 0.0)), classes


def double_interval(n_classes: int, epcr: int, n: int = 500, *, seed: Seed = None) -> Sample:
    """Draw sign vectors with two positive intervals; the class is where they start.

    x = +1 on i..j and k..l, −1 elsewhere, 2 ≤ i ≤ j, j+2 ≤ k ≤ l ≤ n; class (i, k), numbered by k, then i;
    j uniform in i..k−2, l in k..n. (n−3)(n−2)/2 classes, X of shape (m, n).
    Small classes repeat examples: `identical_examples` finds them.

    >>> X, classes = double_interval(n_classes=50, epcr=15, n=500, seed=0)
    >>> X.shape, np.unique(X).tolist()
    ((750, 500), [-1.0, 1.0])
    """
    _check_whole("n", n, least=4)
    rng = np.random.default_rng(seed)
    classes = _draw_classes(n_classes, epcr, (n - 3) * (n - 2) // 2, rng)
    i, k = _double_interval_starts(classes, n)
    j = rng.integers(i, k - 2, endpoint=True)
    end = rng.integers(k, n, endpoint=True)
    return _signs(_interval(i, j, n) | _interval(k, end, n)), classes


def orthant(n_classes: int, epcr: int, n: int = 10, *, seed: Seed = None) -> Sample:
    """Draw points of a half cube; the class is the orthant, i.e. the signs.

    x = k∘x̄, k ∈ {1} × {−1, 1}ⁿ⁻¹, x̄ uniform in [0, 1]ⁿ; 2ⁿ⁻¹ classes, X of shape (m, n).
    Bit t of the class number is set where coordinate t+2 is negative.

    >>> X, classes = orthant(n_classes=4, epcr=8, n=3, seed=0)
    >>> X.shape, sorted(set(classes.tolist()))
    ((32, 3), [0, 1, 2, 3])
    """
    _check_whole("n", n, least=1, most=LARGEST_ORTHANT)
    rng = np.random.default_rng(seed)
    classes = _draw_classes(n_classes, epcr, 2 ** (n - 1), rng)
    return _orthant_signs(classes, n) * rng.random((classes.size, n)), classes


def disturbed_orthant(
    n_classes: int, epcr: int, n: int = 10, p1: float = 0.5, p2: float = 0.85, *, seed: Seed = None
) -> Sample:
    """Draw points whose signs may lie when all their coordinates are small.

    r = 2^(−1/n); with probability p₁ x̄ is uniform in [0,1]ⁿ outside [0,r]ⁿ, else inside [0,r]ⁿ;
    x = k∘x̄, but with probability 1−p₂ (inside only) x = k̄∘x̄ with k̄ ≠ k uniform over all other classes.
    2ⁿ⁻¹ classes numbered as in `orthant`, X of shape (m, n).

    >>> X, classes = disturbed_orthant(n_classes=25, epcr=8, n=9, seed=0)
    >>> X.shape, bool(np.all(X[:, 0] >= 0))
    ((200, 9), True)
    """
    _check_whole("n", n, least=2, most=LARGEST_ORTHANT)
    _check_disturbance(p1, p2)
    rng = np.random.default_rng(seed)
    n_orthants = 2 ** (n - 1)
    classes = _draw_classes(n_classes, epcr, n_orthants, rng)
    p = rng.random(classes.size)
    inside = 2 ** (-1 / n) * rng.random((classes.size, n))
    sizes = np.where((p < p1)[:, None], _outside_small_cube(classes.size, n, rng), inside)
    others = (classes + rng.integers(1, n_orthants, size=classes.size)) % n_orthants
    return _orthant_signs(np.where(p < p2, classes, others), n) * sizes, classes


def disturbed_single_interval(n_classes: int, epcr: int, n: int = 500, *, seed: Seed = None) -> Sample:
    """Draw sign vectors with one positive interval that starts near the place its class names.

    Class k ∈ 1..n (its number is k−1), k̃ = ((k−1+s) mod n)+1 with a random shift s ∈ −5..5
    (`SHIFT_PROBABILITIES`), l uniform in k̃..n, x = +1 on k̃..l, −1 elsewhere; X of shape (m, n).

    >>> X, classes = disturbed_single_interval(n_classes=25, epcr=8, seed=0)
    >>> X.shape, int((X > 0).any(axis=1).sum())
    ((200, 500), 200)
    """
    _check_whole("n", n, least=1)
    rng = np.random.default_rng(seed)
    classes = _draw_classes(n_classes, epcr, n, rng)
    shifts = rng.choice(SHIFTS, p=SHIFT_PROBABILITIES, size=classes.size)
    starts = (classes + shifts) % n + 1
    return _signs(_interval(starts, rng.integers(starts, n, endpoint=True), n)), classes


# --------------------------------------------------------------------------- posteriors


def checker_board_difference_posterior(delta: ArrayLike, s: int = 25) -> Floats:
    """Return P(same cell | δ = a − b) for two independent points of the board.

    P(same | δ) = Π_t s·max(0, 1−|δ_t|) / (s−|δ_t|); delta of shape (n_pairs, 2), result (n_pairs,).

    >>> checker_board_difference_posterior([[0.0, 0.0], [0.5, 0.0], [1.5, 0.2]], s=2).round(3).tolist()
    [1.0, 0.667, 0.0]
    """
    _check_whole("s", s, least=1)
    gaps = np.abs(_as_rows("delta", delta))
    if not np.all(gaps < s):
        raise InputError(f"delta must lie within (-{s}, {s}), the differences on this board; pass its s")
    posterior: Floats = np.prod(s * np.maximum(0.0, 1.0 - gaps) / (s - gaps), axis=1)
    return posterior


def disturbed_orthant_posterior(
    X: ArrayLike, p1: float = 0.5, p2: float = 0.85, *, classes: ArrayLike | None = None
) -> Floats:
    """Return P(class | x), one row per example, one column per class (or per entry of `classes`).

    max|x_t| > 2^(−1/n): 1 for the visible class; else (p₂−p₁)/(1−p₁) for the visible class and
    (1−p₂)/((1−p₁)(2ⁿ⁻¹−1)) for each other one. X of shape (m, n), result (m, 2ⁿ⁻¹).

    >>> disturbed_orthant_posterior([[0.1, -0.2], [0.1, -0.9]]).round(3).tolist()
    [[0.3, 0.7], [0.0, 1.0]]
    """
    X = _as_rows("X", X)
    n = X.shape[1]
    _check_whole("the number of columns of X", n, least=2, most=LARGEST_ORTHANT)
    _check_disturbance(p1, p2)
    if np.any(X[:, 0] < 0) or np.any(np.abs(X) > 1):
        raise InputError("X must lie in [-1, 1] with a first column >= 0; pass examples of disturbed_orthant")
    clear = np.abs(X).max(axis=1) > 2 ** (-1 / n)
    seen = np.where(clear, 1.0, (p2 - p1) / (1 - p1) if p1 < 1 else 1.0)
    unseen = (1.0 - seen) / (2 ** (n - 1) - 1)
    visible = (X[:, 1:] < 0) @ (1 << np.arange(n - 1))
    columns = _class_columns(classes, 2 ** (n - 1))
    return np.where(visible[:, None] == columns, seen[:, None], unseen[:, None])


def disturbed_single_interval_posterior(X: ArrayLike, *, classes: ArrayLike | None = None) -> Floats:
    """Return P(class | x), one row per example, one column per class (or per entry of `classes`).

    P(k | x) = P(s ≡ k̃−k mod n), k̃ the first positive coordinate; X of shape (m, n), result (m, n).

    >>> X, _ = disturbed_single_interval(n_classes=3, epcr=2, n=20, seed=0)
    >>> disturbed_single_interval_posterior(X).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    X = _as_rows("X", X)
    n = X.shape[1]
    rises = np.sum(np.diff(X > 0, axis=1, prepend=False, append=False), axis=1)
    if not (np.all(np.abs(X) == 1) and np.all(rises == 2)):
        raise InputError(
            "each row of X must be -1 except for one interval of +1; pass examples of disturbed_single_interval"
        )
    # Several shifts meet in one residue when n < 11.
    by_residue = np.bincount(SHIFTS % n, weights=SHIFT_PROBABILITIES, minlength=n)
    starts = np.argmax(X > 0, axis=1)
    posterior: Floats = by_residue[(starts[:, None] - _class_columns(classes, n)) % n]
    return posterior


# --------------------------------------------------------------------------- pairs and repeats


def identical_examples(X: ArrayLike) -> Ints:
    """Return a group number per row of X; rows share it exactly when they are equal.

    Groups are numbered in the order of their first row; X of shape (m, d), result (m,).

    >>> identical_examples([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]).tolist()
    [0, 1, 0]
    """
    rows = np.ascontiguousarray(_as_rows("X", X) + 0.0)  # −0.0 + 0.0 = 0.0: equal numbers get equal bytes
    if rows.size == 0:
        return np.zeros(len(rows), dtype=np.intp)
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, group = np.unique(as_bytes, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[group]


def sliding_memory_pairs(classes: ArrayLike, memory: int, epcr: int) -> Iterator[tuple[Ints, Ints]]:
    """Return an iterator of `(left, right)` index columns, one couple for each new class.

    The first `memory` classes only fill the memory. Every later class gives its epcr·(epcr+1)/2 own pairs,
    reflexive ones included, then epcr²·memory pairs with the memory, and replaces the oldest class there.
    Classes come in the order of their first example, the first `epcr` examples of each are used, the left
    example is the older one. A set that is cut between two couples is cut at a class boundary.

    >>> for left, right in sliding_memory_pairs([0, 0, 1, 1, 2, 2], memory=1, epcr=2):
    ...     print(left.tolist(), right.tolist())
    [2, 2, 3, 0, 0, 1, 1] [2, 3, 3, 2, 3, 2, 3]
    [4, 4, 5, 2, 2, 3, 3] [4, 5, 5, 4, 5, 4, 5]
    """
    _check_whole("memory", memory, least=1)
    _check_whole("epcr", epcr, least=1)
    members = _first_examples(np.asarray(classes), epcr)
    if len(members) <= memory:
        raise InputError(
            f"a memory of {memory} classes needs at least {memory + 1} classes, got {len(members)}; "
            f"use memory <= {len(members) - 1} or more classes"
        )
    return _slide(members, memory)


def _slide(members: list[Ints], memory: int) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of each new class with itself and with the classes remembered, of which the oldest drops out."""
    upper = np.triu_indices(members[0].size)
    remembered = deque(members[:memory], maxlen=memory)
    for new in islice(members, memory, None):
        old = np.concatenate(remembered)
        left = np.concatenate([new[upper[0]], np.repeat(old, new.size)])
        right = np.concatenate([new[upper[1]], np.tile(new, old.size)])
        yield left, right
        remembered.append(new)


def _first_examples(classes: np.ndarray[Any, Any], epcr: int) -> list[Ints]:
    """The first `epcr` rows of every class, classes in order of appearance."""
    if classes.ndim != 1 or classes.size == 0:
        raise InputError(f"classes must be a column with one class per example, got shape {classes.shape}")
    names, first, group = np.unique(classes, return_index=True, return_inverse=True)
    counts = np.bincount(group)
    if counts.min() < epcr:
        raise InputError(
            f"class {names[counts.argmin()]} has {counted(int(counts.min()), 'example')} but epcr={epcr} are needed; "
            f"use epcr <= {counts.min()} or drop the small classes"
        )
    by_class = np.split(np.argsort(group, kind="stable"), np.cumsum(counts)[:-1])
    return [by_class[c][:epcr] for c in np.argsort(first)]


# --------------------------------------------------------------------------- parts


def _draw_classes(n_classes: int, epcr: int, available: int, rng: np.random.Generator) -> Ints:
    """The class of every example: classes without replacement, each `epcr` times in a row."""
    _check_whole("n_classes", n_classes, least=1, most=available, reason="this task has so many classes")
    _check_whole("epcr", epcr, least=1)
    return np.repeat(rng.choice(available, size=n_classes, replace=False), epcr)


def _double_interval_starts(classes: Ints, n: int) -> tuple[Ints, Ints]:
    """(i, k) of each class number: the starts of its two intervals."""
    # k = 4..n has k−3 partners i = 2..k−2, so the classes of k begin at 0+1+…+(k−4).
    begins = np.cumsum(np.arange(n - 3))
    row = np.searchsorted(begins, classes, side="right") - 1
    return classes - begins[row] + 2, row + 4


def _interval(first: Ints, last: Ints, n: int) -> Bools:
    places = np.arange(1, n + 1)
    return (first[:, None] <= places) & (places <= last[:, None])


def _signs(positive: Bools) -> Floats:
    return np.where(positive, 1.0, -1.0)


def _orthant_signs(classes: Ints, n: int) -> Floats:
    """The signs of each orthant, (m, n): plus at the first coordinate, minus at each other one whose bit is set."""
    # Doubling puts a zero bit, hence a plus, at the first coordinate.
    return _signs((2 * classes[:, None] >> np.arange(n)) & 1 == 0)


def _outside_small_cube(m: int, n: int, rng: np.random.Generator) -> Floats:
    """Points uniform in the unit cube without the cube of half its volume at the origin, (m, n)."""
    # The largest coordinate M has P(M ≤ t) = tⁿ, and rⁿ = ½; given M the others are uniform below it.
    largest = (1.0 - 0.5 * rng.random(m)) ** (1 / n)
    points = largest[:, None] * rng.random((m, n))
    points[np.arange(m), rng.integers(n, size=m)] = largest
    return points


def _class_columns(classes: ArrayLike | None, available: int) -> Ints:
    if classes is None:
        if available > 2**20:
            raise InputError(f"there are {available} classes, too many columns; pass classes=… to choose some")
        return np.arange(available)
    columns = np.asarray(classes)
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or np.any((columns < 0) | (columns >= available)):
        raise InputError(f"classes must be a list of class numbers from 0 to {available - 1}")
    return columns


def _as_rows(name: str, rows: ArrayLike) -> Floats:
    array = np.asarray(rows, dtype=np.float64)
    if array.ndim != 2:
        raise InputError(f"{name} must have one row per example, got shape {array.shape}; try {name}[None, :]")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} contains NaN or infinity; drop these rows first")
    return array


def _check_whole(name: str, value: object, least: int, most: int | None = None, reason: str = "") -> None:
    if isinstance(value, int | np.integer) and least <= value and (most is None or value <= most):
        return
    wanted = f"at least {least}" if most is None else f"from {least} to {most}"
    raise InputError(f"{name} must be an integer {wanted}{reason and f' ({reason})'}, got {value!r}")


def _check_disturbance(p1: float, p2: float) -> None:
    if not 0 <= p1 <= p2 <= 1:
        raise InputError(f"need 0 <= p1 <= p2 <= 1, got p1={p1}, p2={p2}; try p1=0.5, p2=0.85")
