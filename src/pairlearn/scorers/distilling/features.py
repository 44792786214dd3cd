"""Which features a distilled score comes from: rows that are linear in features, up to a length, are sums over them."""

from __future__ import annotations

import numpy as np

from pairlearn.errors import InputError
from pairlearn.scorers.distilling.function import Distance, DistilledFunction, Part, partners_of
from pairlearn.scorers.distilling.rows import FeatureRows, LinearRows, UnitRows, dense
from pairlearn.scorers.distilling.views import Rows
from pairlearn.types import Examples, Floats


def by_feature(function: DistilledFunction, left: Examples, right: Examples) -> tuple[Floats, float]:
    """What every feature adds to the score of a pair of one table, (d,), and what is left: their sum is the score.

    Products go half to either example. A length that rows are divided by counts as a number, not as a function of them.
    """
    if function.right is not None:
        raise InputError("features of two tables are not explained; explain the model that was distilled")
    a, b = dense(left), dense(right)
    values, constant, start = np.zeros(a.shape[1]), function.bias, 0
    for part in function.left.parts:
        signs = function.signs[start : start + part.length]
        values += _of_part(part, a, b, function.sign, signs)
        start += part.length
    for distance in function.distances:
        added, rest = _of_distance(distance, a, b)
        values, constant = values + added, constant + rest
    return values, constant


def _of_part(part: Part, left: Floats, right: Floats, sign: int, signs: Floats) -> Floats:
    shares = [_mixed(part, x) for x in (left, right)]
    H = [share.sum(axis=0)[None, :] for share in shares]
    r, end = part.length, part.length + len(part.squares)
    total = np.zeros(left.shape[1])
    for share, own, other, side in zip(shares, H, reversed(H), (1, sign), strict=True):
        partners = side * part.scale**2 * partners_of(other[:, :r], sign, signs)[0]
        total += 0.5 * share[:, :r] @ partners
        total += side * (share[:, r:end] @ (part.squares * own[0, r:end]) + share[:, end:].sum(axis=1))
    return total


def _of_distance(distance: Distance, left: Floats, right: Floats) -> tuple[Floats, float]:
    """−w√(‖D‖² + rest) = −w(Σ_j D·D_j + rest)/√…, D_j what feature j adds to the difference D."""
    shares = _shares(distance.rows, left) - _shares(distance.rows, right)
    D = shares.sum(axis=0)
    length = float(np.sqrt(D @ D + distance.rest)) or 1.0
    return -distance.weight * (shares @ D) / length, -distance.weight * distance.rest / length


def _mixed(part: Part, x: Floats) -> Floats:
    shares = _shares(part.rows, x)
    return shares if part.matrix is None else shares @ np.asarray(part.matrix, dtype=np.float64)


def _shares(rows: Rows, x: Floats) -> Floats:
    """What every feature of one example adds to its row, (d, w)."""
    match rows:
        case LinearRows():
            values = x[0] if rows.centre is None else x[0] - rows.centre
            return np.diag(values) if rows.axes is None else values[:, None] * rows.axes
        case UnitRows():
            shares = _shares(rows.linear, x)
            U = shares.sum(axis=0)
            return shares / (float(np.sqrt(U @ U + rows.rest)) or 1.0)
        case FeatureRows() if rows.kernel.by_column:
            return np.diag(rows(x)[0])
    raise InputError(
        "this distilled model compares examples by a kernel that is not linear in the features; explain the model that "
        "it was made from"
    )
