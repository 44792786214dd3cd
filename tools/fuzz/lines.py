"""Files of lines: JSON lines as tables and as streams, journals of a search, protocols."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from rich.console import Console

import pairlearn as pl
from pairlearn.cli.steps.streaming import Course
from pairlearn.data.protocols import read_lfw_pairs
from pairlearn.selection.search.journal import NAME as JOURNAL
from pairlearn.selection.search.journal import Journal
from pairlearn.selection.search.settings import Setting
from pairlearn.selection.search.sizes import Size
from pairlearn.selection.search.trials import Trial
from tools.fuzz.doors import DOORS, through
from tools.fuzz.mutations import NASTY, Rng, bytes_mutated, friendly, pick

NAME = "lines"


def make(rng: Rng, folder: Path) -> Path:
    """One file of lines: each is an object; some are changed, or their bytes are."""
    name, lines = pick(rng, (_table, _table, _stream, _journal, _protocol))(rng)
    content = ("\n".join(lines) + "\n").encode(errors="surrogatepass")
    content = bytes_mutated(rng, content) if rng.random() < 0.4 else content
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def warm() -> None:
    """Load what learning from a stream compiles."""
    pl.OnlinePseudoMetric().learn_one([0.0, 1.0], [1.0, 0.0], -1).predict_one([0.0, 1.0], [1.0, 0.0])


def use(path: Path) -> str:
    """Read it as its name says."""
    return USES.get(path.name.partition("-")[0], through)(path)


# --------------------------------------------------------------------------- what is written


def _table(rng: Rng) -> tuple[str, list[str]]:
    door = pick(rng, list(DOORS))
    columns = friendly(rng, DOORS[door][0])
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*map(list, columns.values()), strict=True)]
    if DOORS[door][0] == "examples" and rng.random() < 0.5:
        rows = [{"id": row["id"], "class": row["class"], "X": rng.normal(size=3).tolist()} for row in rows]
    lines = _spoilt(rng, rows) if rng.random() < 0.9 else _many_keys(rng)
    return f"{door}-lines.jsonl{pick(rng, ('', '', '.gz'))}", lines


def _stream(rng: Rng) -> tuple[str, list[str]]:
    n = int(rng.integers(1, 12))
    rows = [{"left": rng.normal(size=3).tolist(), "right": rng.normal(size=3).tolist(), "label": 1} for _ in range(n)]
    return "stream-pairs.jsonl", _spoilt(rng, rows)


def _journal(rng: Rng) -> tuple[str, list[str]]:
    setting = Setting("metric", "linear", 1.0)
    size = Size(100, 1000)
    shown: dict[str, Any] = {"score": -0.1, "seconds": 0.5, "n_pairs": 9, "low": 0.05, "high": 0.2}
    trials = [Trial("pair", size, k, setting, None, 0.1, status="converged", **shown) for k in range(3)]
    trials += [Trial("interclass", size, 0, None, "euclid", 0.2, status="fitted", **shown)]
    rows = [{"fingerprint": "abc"}, *({"elapsed": 1.0, **trial.as_json()} for trial in trials)]
    return JOURNAL, _spoilt(rng, rows)


def _protocol(rng: Rng) -> tuple[str, list[str]]:
    lines = ["2\t1", "ann\t1\t2", "ann\t1\tbob\t1", "cat\t1\t2", "cat\t1\tdan\t3"]
    for _ in range(int(rng.integers(0, 3))):
        place = int(rng.integers(len(lines)))
        fields = lines[place].split("\t")
        fields[int(rng.integers(len(fields)))] = pick(rng, NASTY)
        lines[place] = "\t".join(fields)
    return f"protocol-pairs.txt{pick(rng, ('', '.gz'))}", lines


def _spoilt(rng: Rng, rows: list[dict[str, Any]]) -> list[str]:
    """Rows as JSON after a few changes of values, keys and shapes."""
    for _ in range(int(rng.integers(1, 4))):
        pick(rng, CHANGES)(rng, pick(rng, rows))
    lines = [json.dumps(row) for row in rows]
    if rng.random() < 0.3:
        lines[int(rng.integers(len(lines)))] = pick(rng, LINES)()
    return lines


def _value(rng: Rng, row: dict[str, Any]) -> None:
    if row:
        row[pick(rng, list(row))] = _any(rng)


def _inner(rng: Rng, row: dict[str, Any]) -> None:
    """A value within a list or an object."""
    inside = [value for value in row.values() if isinstance(value, (list, dict)) and value]
    if inside:
        value = pick(rng, inside)
        value[pick(rng, list(value)) if isinstance(value, dict) else 0] = _any(rng)


def _key(rng: Rng, row: dict[str, Any]) -> None:
    if row and rng.random() < 0.7:
        row.pop(pick(rng, list(row)))
    else:
        row[pick(rng, ("extra", "", "id", "label", "elapsed", "\ud800"))] = _any(rng)


def _any(rng: Rng) -> Any:
    """A value of any kind, a new one: it may be changed."""
    return deepcopy(pick(rng, VALUES))


CHANGES: tuple[Callable[[Rng, dict[str, Any]], None], ...] = (_value, _value, _inner, _key)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**400, 10**25, float("nan"), float("inf"), 1e300, "", "x", [], {}, [[1], [2]]),
    *([1.5, None], ["a"], {"a": {"b": 1}}, [1.0] * 50, [10**400], *NASTY),
)
LINES: tuple[Callable[[], str], ...] = (
    *(lambda: "", lambda: "null", lambda: "[1, 2]", lambda: "7", lambda: '"text"', lambda: "{", lambda: '{"a": 1'),
    *(lambda: '{"a":' * 150 + "1" + "}" * 150, lambda: '{"a":' * 1000 + "1" + "}" * 1000, lambda: "[" * 100_000),
    *(lambda: '{"id": "a", "id": "b"}', lambda: '{"x0": ' + "9" * 5000 + "}", lambda: '{"x0": 1e400}'),
    *(lambda: '{"left":' + "[" * 900 + "]" * 900 + "}", lambda: '{"id": "\\ud800"}', lambda: '{"id": "' + "a" * 10**6),
)


def _many_keys(rng: Rng) -> list[str]:
    """Every line with a key of its own: as many columns as rows."""
    n = int(10 ** rng.uniform(1, pick(rng, (2, 2, 4.5))))
    return [f'{{"k{k}": 1}}' if rng.random() < 0.99 else f'{{"a": {{"k{k}": 1}}}}' for k in range(n)]


# --------------------------------------------------------------------------- how it is read


def _use_stream(path: Path) -> str:
    course = Course(pl.OnlinePseudoMetric(), None, 10**9, 10**9, Console(quiet=True), 0, dict)
    record = course.through(str(path), None, ("left", "right", "label"), None)
    return f"{record['pairs']} pairs"


def _use_journal(path: Path) -> str:
    journal = Journal(path.parent, "abc")
    return f"{len(journal)} trials after {journal.spent:.1f} s"


USES: dict[str, Callable[[Path], str]] = {
    "stream": _use_stream,
    "protocol": lambda path: repr(read_lfw_pairs(path)),
    JOURNAL: _use_journal,
}
"""What is not a table, by the first word of its name."""
