"""What it means to break a law: one kind of error, raised by two questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pairlearn.types import Ints


class LawError(AssertionError):
    """A law does not hold; `law` is its name, the message says by which values it was broken."""

    def __init__(self, message: str, law: str = "") -> None:
        super().__init__(message)
        self.law = law


Law = Callable[..., None]


def try_all(laws: Iterable[Law], subject: Any, *given: Any) -> None:
    """Each law in turn, until one is broken; the error then names the law and what broke it."""
    for law in laws:
        try:
            law(subject, *given)
        except LawError as broken:
            raise LawError(f"{subject!r} breaks the law {law.__name__!r}: {broken}", law.__name__) from None


def require(holds: bool | np.bool_, message: str) -> None:
    """The law holds, or this is what is wrong."""
    if not holds:
        raise LawError(message)


def require_close(found: Any, expected: Any, what: str, tolerance: float = 1e-9) -> None:
    """Two arrays of one shape that differ by no more than a share of the largest value expected.

    A share of the largest and not of each value, for sums of large numbers of both signs may be as small as rounding.
    """
    left, right = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    require(left.shape == right.shape, f"{what}: shape {left.shape} instead of {right.shape}")
    require(bool(np.isfinite(left).all()), f"{what}: NaN or infinity")
    difference = np.abs(left - right)
    if left.size and difference.max() > tolerance * max(float(np.abs(right).max()), np.finfo(float).tiny):
        place = np.unravel_index(int(difference.argmax()), difference.shape)
        where = tuple(int(i) for i in place)
        raise LawError(f"{what}: {left[place]:.6g} instead of {right[place]:.6g} at {where}")


def require_error(kinds: type[Exception] | tuple[type[Exception], ...], action: Callable[[], Any], what: str) -> None:
    """The action is refused with an error of one of these kinds."""
    try:
        action()
    except kinds:
        return
    except Exception as error:
        raise LawError(f"{what} raises {type(error).__name__} ({error}), which does not say what to do") from error
    raise LawError(f"{what} is accepted")


def sample(n: int, count: int, seed: int = 0) -> Ints:
    """`count` indices below n, some of them twice."""
    return np.random.default_rng(seed).integers(0, n, count)
