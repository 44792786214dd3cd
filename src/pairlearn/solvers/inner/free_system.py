"""The equations of the free coefficients, Q_FF x = r, for sets F that change little from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from pairlearn import loops
from pairlearn.linalg.cholesky import cholesky, factor_bytes, forward
from pairlearn.linalg.tiles import gram
from pairlearn.solvers.inner.quadratic import Explicit
from pairlearn.solvers.tuning import TUNING, Tuning
from pairlearn.types import Bools, Floats, Ints


class FreeSystem:
    """One Cholesky factor of Q_GG serves every F near G.

    With O = G∖F for those that left, J = F∖G for those that joined, and multipliers μ that keep x_O = 0:

        Q_GG z + E_O μ + Q_GJ w = r_G,   z_O = 0,   Q_JG z + Q_JJ w = r_J:

    k = |O| + |J| more columns for the factor and a k × k system instead of |F|³/3 operations. Pivoting on a hard margin
    exchanges 31, 2 and then no coefficient of 7,600, and near the end of a fit the set hardly changes between outer
    steps either. Members are known by their pairs, so that the factor outlives changes of the working set; a pair that
    is gone from it has left. The caller checks solutions by their residual: a nearly singular Q_GG spoils them.
    """

    def __init__(self, tuning: Tuning = TUNING) -> None:
        self.tuning = tuning
        self.members: Ints = np.zeros(0, dtype=np.int64)
        """G, as numbers of pairs."""
        self.L: Floats = np.zeros((0, 0), order="F")
        self.corrected = False
        """Whether the last solution came from the factor of another set."""
        self.taken = 0
        """Most bytes of a factor so far, with what making or correcting it took."""
        self.order = 0
        """Rows of the largest factor so far."""
        self.operations = 0.0
        """Of all factors so far."""

    def solve(self, Q: Explicit, free: Bools, right: Floats, ridge: float) -> Floats | None:
        """x with (Q_FF + ridge·I) x_F = right_F and 0 elsewhere, (n, columns); None where Q_FF is not definite.

        free: (n,) marks F. right: (n, columns).
        """
        change = _Change.between(self.members, Q.pairs, free)
        self.corrected = change.size > 0
        if change.size > self.tuning.corrected * len(self.members) or len(self.members) < self.tuning.factored_anew:
            self.corrected, index = False, np.nonzero(free)[0]
            if not self._factor(Q, index, ridge):
                return None
            change = _Change(index, np.ones(len(index), dtype=bool), index[:0])
        return self._bordered(Q.store, change, right, ridge)

    def forget(self) -> None:
        """Drop the factor, and with it its memory."""
        self.members, self.L = np.zeros(0, dtype=np.int64), np.zeros((0, 0), order="F")

    def _factor(self, Q: Explicit, index: Ints, ridge: float) -> bool:
        """Factor Q at these places; whether that was possible."""
        self.forget()  # before the new one takes its memory
        self.operations += len(index) ** 3 / 3
        self.taken, self.order = max(self.taken, factor_bytes(len(index))), max(self.order, len(index))
        L = np.empty((len(index), len(index)), order="F")
        loops.blocks.copy_lower(Q.store, index, L)
        L[np.diag_indices(len(index))] += ridge
        if not cholesky(L, look=Q.look):
            return False
        self.members, self.L = Q.pairs[index], L
        return True

    def _bordered(self, Q: Floats, change: _Change, right: Floats, ridge: float) -> Floats | None:
        """The solution for F by the factor of G and the border that the change makes."""
        place, kept = change.place, change.kept
        out = np.zeros_like(right)
        known = np.zeros((len(place), right.shape[1]))
        known[kept] = right[place[kept]]
        g = forward(self.L, known)
        if change.size:
            t = self._border(Q, change, g, right, ridge)
            if t is None:
                return None
            out[change.joined] = t[change.n_left :]
        z = lapack.dtrtrs(self.L, g, lower=1, trans=1)[0]
        out[place[kept]] = z[kept]
        return out

    def _border(self, Q: Floats, change: _Change, g: Floats, right: Floats, ridge: float) -> Floats | None:
        """(μ, w) of the change, (k, columns), and what they take from g = L⁻¹ right, in place.

        With B = [E_O, Q_GJ] and Y = L⁻¹B: (diag(0, Q_JJ) − YᵀY) (μ, w) = (0, r_J) − Yᵀg.
        """
        # The border, its copy that becomes Y, and the columns of Q that it is made of.
        self.taken = max(self.taken, self.L.nbytes + 3 * 8 * len(self.L) * change.size)
        Y = forward(self.L, change.border(Q))
        S, h, n_left, joined = -gram(Y.T), -(Y.T @ g), change.n_left, change.joined
        S[n_left:, n_left:] += Q[np.ix_(joined, joined)] + ridge * np.eye(len(joined))
        h[n_left:] += right[joined]
        try:
            t: Floats = np.linalg.solve(S, h)
        except np.linalg.LinAlgError:
            return None
        g -= Y @ t
        return t


@dataclass(frozen=True)
class _Change:
    """From G to F: `place` of the members of G in the working set (−1: gone), which are `kept`, and which `joined`."""

    place: Ints
    kept: Bools
    joined: Ints

    @classmethod
    def between(cls, members: Ints, pairs: Ints, free: Bools) -> _Change:
        """From these pairs to the free ones of a working set of `pairs`."""
        place = _places(members, pairs)
        kept = place >= 0
        kept[kept] = free[place[kept]]
        joined = free.copy()
        joined[place[kept]] = False
        return cls(place, kept, np.nonzero(joined)[0])

    @property
    def n_left(self) -> int:
        """|O|."""
        return int(np.sum(~self.kept))

    @property
    def size(self) -> int:
        """k = |O| + |J|."""
        return self.n_left + len(self.joined)

    def border(self, Q: Floats) -> Floats:
        """[E_O, Q_GJ], (|G|, k) column-major; rows of those that left are 0 in Q_GJ, since z is 0 there."""
        left = np.nonzero(~self.kept)[0]
        B = np.zeros((len(self.place), self.size), order="F")
        B[left, np.arange(len(left))] = 1.0
        B[np.ix_(self.kept, np.arange(len(left), self.size))] = Q[np.ix_(self.joined, self.place[self.kept])].T
        return B


def _places(members: Ints, pairs: Ints) -> Ints:
    """Where each member stands among the pairs, −1 for those that are gone.

    >>> _places(np.array([7, 5, 9]), np.array([9, 7, 3])).tolist()
    [1, -1, 0]
    """
    order = np.argsort(pairs)
    found = np.minimum(np.searchsorted(pairs, members, sorter=order), len(pairs) - 1)
    return np.where(pairs[order[found]] == members, order[found], -1)
