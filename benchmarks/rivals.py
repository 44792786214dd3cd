"""What comparisons with other tools share: who is installed, a time limit for each, one row per tool and data set.

A row is named "data: tool" and holds what its table shows: numbers, and words where there is no number ("timed out").
Seconds are those of the processor, over all threads: machines are shared, and a clock on the wall would measure others.
Tools that are not installed are told and left out; benchmarks/rivals.txt names the versions that were compared.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pairlearn as pl
from benchmarks.harness import Figure, Row, print_figures, run_rows


class TimedOutError(Exception):
    """A tool took longer than it may."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End what runs inside after so many seconds of processor time, at the next step of the interpreter."""

    def stop(*_: Any) -> None:
        raise TimedOutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def told(action: Callable[[], dict[str, Any]], limit: float) -> dict[str, Any]:
    """What the action finds, or in words why it found nothing.

    >>> told(lambda: {"EER": 0.1}, 5.0), told(lambda: {"EER": 1 / 0}, 5.0)
    ({'EER': 0.1}, {'ended': 'ZeroDivisionError: division by zero'})
    """
    try:
        with within(limit), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return action()
    except TimedOutError:
        return {"ended": f"timed out after {limit:g} s"}
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        return {"ended": f"{type(error).__name__}: {first[:90]}"}


@dataclass(frozen=True)
class Tool:
    """A name for its rows, the package that it needs (None: pairlearn itself), and what it measures on some data."""

    name: str
    package: str | None
    measure: Callable[[str, bool], dict[str, Any]]

    @property
    def version(self) -> str | None:
        """Package and version; None if it is not installed."""
        if self.package is None:
            return f"pairlearn {pl.__version__}"
        try:
            return f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            return None


def compare(script: str, data: Mapping[str, tuple[Tool, ...]], limit: float) -> int:
    """Run every tool on every data set that it is listed for; print and return as all benchmarks do."""

    def row(tool: Tool, name: str) -> Row:
        return lambda quick: {"version": tool.version, **told(lambda: tool.measure(name, quick), limit)}

    rows, absent = {}, set()
    for name, tools in data.items():
        for tool in tools:
            if tool.version is None:
                absent.add(tool.package)
            else:
                rows[f"{name}: {tool.name}"] = row(tool, name)
    for package in sorted(absent, key=str):
        print(f"{package} is not installed: left out (see benchmarks/rivals.txt)")
    results, _ = run_rows(script, rows, alone=False)
    found = [
        Figure(f"{name}: {what}", value)
        for name, columns in results.items()
        for what, value in columns.items()
        if isinstance(value, float)
    ]
    return print_figures([*found, Figure("rows", float(len(results)))])
