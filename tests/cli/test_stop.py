"""Ctrl-C in a stream comes between two pairs: no pair is learnt and not counted, or counted and not learnt."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator

import pytest

from pairlearn.interrupts import Stop


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def follow(stop: Stop, entries: Iterable[int], done: list[int]) -> None:
    for entry in stop.between(entries):
        if entry == 2:
            interrupt()
            interrupt()
        done.append(entry)


def test_it_waits_for_the_end_of_an_entry() -> None:
    stop, done = Stop(), list[int]()
    with stop.heeded(), pytest.raises(KeyboardInterrupt):
        follow(stop, range(5), done)
    assert done == [0, 1, 2]


def test_it_does_not_wait_for_the_next_entry() -> None:
    def slow() -> Iterator[int]:
        yield 0
        interrupt()
        raise AssertionError("not reached: the signal ends the wait")

    stop, done = Stop(), list[int]()
    with stop.heeded(), pytest.raises(KeyboardInterrupt):
        follow(stop, slow(), done)
    assert done == [0]


def test_what_follows_the_stream_is_not_interrupted() -> None:
    stop = Stop()
    with stop.heeded():
        assert list(stop.between([1, 2])) == [1, 2]
        interrupt()
