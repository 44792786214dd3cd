"""What can go wrong, each with advice in its message."""

from __future__ import annotations

import sys
import warnings


class InputError(ValueError):
    """The data or an argument cannot be used; the message says what to do."""


class OutputError(InputError, OSError):
    """A file cannot be written; the message names it."""


class SymmetryError(InputError):
    """A pair kernel has the wrong symmetry for this machine."""


class MissingIdsError(InputError):
    """Some ids of a pair table are not in the table of examples.

    `missing` holds them all, the message only the first few.
    """

    def __init__(self, message: str, missing: list[object]) -> None:
        super().__init__(message)
        self.missing = missing


class TooLargeError(MemoryError):
    """The plan needs more memory than the budget allows."""


class ConflictWarning(UserWarning):
    """The same pair carries contradictory labels."""


class SymmetryWarning(UserWarning):
    """The decision function will not be symmetric: g(u, v) != g(v, u)."""


class DefinitenessWarning(UserWarning):
    """A kernel is not known to be positive semidefinite."""


class ApproximationWarning(UserWarning):
    """A kernel of low rank, or an index, misses more than was allowed."""


class ConstantWarning(UserWarning):
    """Nothing, or hardly anything, was learnt from the pairs: the function has one value for all of them."""


class ClusterWarning(UserWarning):
    """Scheduler or workers are gone; the message says what becomes of the work."""


class CheckpointWarning(UserWarning):
    """What a fit has found so far could not be written; it goes on."""


class MovedWarning(FutureWarning):
    """A name has moved; the message says where to."""


INSIDE = ("pairlearn", "functools")
"""Packages whose lines a user cannot change: this one, and the one through which cached properties are called."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of pairlearn that led here, however deep inside it is noticed.

    A fixed `stacklevel` would be a guess about the way that the caller took; Python shows (and filters) a warning
    by the line that it points at, and that should be one that the user can change.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
