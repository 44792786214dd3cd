"""The equations of the free coefficients, Q_FF x = r, for sets F that change little from one to the next."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from pairlearn.linalg.cholesky import cholesky, forward
from pairlearn.loops.blocks import copy_lower
from pairlearn.types import Bools, Floats, Ints

SHARE = 0.1
"""Share of the factored set that may leave or join before a new factor costs less than the correction."""
SMALL = 256
"""Fewer equations than this are factored anew: that costs nothing, and singular ones lose no digit."""


class FreeSystem:
    """One Cholesky factor of Q_GG serves every F near G.

    With O = G∖F for those that left, J = F∖G for those that joined, and multipliers μ that keep x_O = 0:

        Q_GG z + E_O μ + Q_GJ w = r_G,   z_O = 0,   Q_JG z + Q_JJ w = r_J:

    k = |O| + |J| more columns for the factor and a k × k system instead of |F|³/3 operations. Members are known by
    their pairs, so that the factor outlives changes of the working set; a pair that is gone from it has left.
    """

    def __init__(self) -> None:
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.L: Floats = np.zeros((0, 0), order="F")
        self.corrected = False
        """Whether the last solution came from the factor of another set."""

    def solve(self, Q: Floats, pairs: Ints, free: Bools, right: Floats, ridge: float) -> Floats | None:
        """x with (Q_FF + ridge·I) x_F = right_F and 0 elsewhere, (n, columns); None where Q_FF is not definite.

        Q: its leading n × n part belongs to these pairs. free: marks F. right: (n, columns).
        """
        place = _places(self.members, pairs)
        kept = place >= 0
        kept[kept] = free[place[kept]]
        joined = free.copy()
        joined[place[kept]] = False
        changes = int(np.sum(~kept)) + int(np.sum(joined))
        self.corrected = changes > 0
        if changes > SHARE * len(place) or len(place) < SMALL:
            self.corrected = False
            place, kept, joined = np.nonzero(free)[0], np.ones(int(free.sum()), dtype=bool), np.zeros(len(free), bool)
            if not self._factor(Q, pairs, place, ridge):
                return None
        return self._bordered(Q, place, kept, np.nonzero(joined)[0], right, ridge)

    def forget(self) -> None:
        """Drop the factor."""
        self.members, self.L = np.zeros(0, dtype=np.int64), np.zeros((0, 0), order="F")

    def _factor(self, Q: Floats, pairs: Ints, index: Ints, ridge: float) -> bool:
        self.forget()  # before the new one takes its memory
        L = np.empty((len(index), len(index)), order="F")
        copy_lower(Q, index, L)
        # Decides only between solutions that rounding cannot tell apart.
        L[np.diag_indices(len(index))] += ridge
        if not cholesky(L):
            return False
        self.members, self.L = pairs[index], L
        return True

    def _bordered(
        self, Q: Floats, place: Ints, kept: Bools, joined: Ints, right: Floats, ridge: float
    ) -> Floats | None:
        out = np.zeros_like(right)
        known = np.zeros((len(place), right.shape[1]))
        known[kept] = right[place[kept]]
        g = forward(self.L, known)
        left = np.nonzero(~kept)[0]
        k = len(left) + len(joined)
        if k:
            B = np.zeros((len(place), k), order="F")
            B[left, np.arange(len(left))] = 1.0
            B[np.ix_(kept, np.arange(len(left), k))] = Q[np.ix_(joined, place[kept])].T
            Y = forward(self.L, B)
            S, h = -(Y.T @ Y), -(Y.T @ g)
            S[len(left) :, len(left) :] += Q[np.ix_(joined, joined)] + ridge * np.eye(len(joined))
            h[len(left) :] += right[joined]
            try:
                t = np.linalg.solve(S, h)
            except np.linalg.LinAlgError:
                return None
            g -= Y @ t
            out[joined] = t[len(left) :]
        z = lapack.dtrtrs(self.L, g, lower=1, trans=1)[0]
        out[place[kept]] = z[kept]
        return out


def _places(members: Ints, pairs: Ints) -> Ints:
    """Where each member stands among the pairs, −1 for those that are gone.

    >>> _places(np.array([7, 5, 9]), np.array([9, 7, 3])).tolist()
    [1, -1, 0]
    """
    order = np.argsort(pairs)
    found = np.minimum(np.searchsorted(pairs, members, sorter=order), len(pairs) - 1)
    return np.where(pairs[order[found]] == members, order[found], -1)
