"""Tables of JSON lines: what is checked before Polars reads them.

Polars reads deeply nested objects by recursion, until the stack ends, and makes a column of every key of any line.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from pairlearn.data.files.cells import shortened
from pairlearn.data.files.delimited import FEW_CELLS
from pairlearn.data.files.lines import lines_of
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError
from pairlearn.words import counted

DEEPEST = 16
"""Lists and objects within each other; a vector in a row is two."""
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"\s*+(:)?')
"""A string and, if it is a key, the colon behind it."""
KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "true or false"),
    ((int, float), "a number"),
    (str, "text"),
    (dict, "an object"),
)
PLURALS = {"a number": "numbers", "text": "texts", "true or false": "truth values", "an object": "objects"}
BRACKETS = {"[": 1, "{": 1, "]": -1, "}": -1}


def check_json_lines(source: Source) -> None:
    """Refuse lines that are nested too deeply, and a file in which every line has keys of its own."""
    keys: set[str] = set()
    with source.open() as file:
        for number, line in enumerate(lines_of(source, file), start=1):
            if line.count("[") + line.count("{") > DEEPEST and _depth(line) > DEEPEST:
                raise InputError(
                    f"{source}: line {number} nests lists and objects more than {DEEPEST} deep; flatten it"
                )
            keys.update(found[0] for found in STRING.finditer(line) if found[1])
            if len(keys) * number > max(source.size, FEW_CELLS):
                raise InputError(
                    f"{source} has {counted(len(keys), 'different key')} in its first {counted(number, 'line')}; "
                    "give every line the same keys, as columns of a table"
                )


def _depth(line: str) -> int:
    """How many brackets are open at once; those within strings do not count."""
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", STRING.sub("", line)):
        depth += BRACKETS[bracket]
        deepest = max(deepest, depth)
    return deepest


def refuse_bad_json(source: Source) -> None:
    """Name the first line that is not an object, holds no number where one stands, or another kind of value."""
    seen: dict[str, tuple[str, int]] = {}
    with source.open() as file:
        for number, line in enumerate(lines_of(source, file), start=1):
            if not line.strip():
                continue
            found = _object(source, line, number)
            for name, value in found.items():
                kind = _kind(value)
                first, where = seen.setdefault(name, (kind, number)) if kind else ("", 0)
                if kind and kind != first:
                    raise InputError(
                        f"{source}: line {number} holds {kind} in {shortened(name)}, where line {where} holds {first}; "
                        "write one kind of value per column"
                    )


def _object(source: Source, line: str, number: int) -> dict[str, Any]:
    """The object of a line; JSON has no NaN and no infinity, though some writers do."""

    def refuse(word: str) -> float:
        raise InputError(
            f"{source}: line {number} holds {word}, which is no number of JSON; write null, or drop the row"
        )

    def finite(text: str) -> float:
        value = float(text)
        return value if isfinite(value) else refuse(text)

    try:
        found = json.loads(line, parse_constant=refuse, parse_float=finite)
    except InputError:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f'{source}: line {number} is not a JSON object such as {{"id": "a", "x": 0.5}}')
    return found


def _kind(value: Any) -> str:
    """What a value is, in words; "" for a missing one.

    >>> _kind(True), _kind(2), _kind([1.0]), _kind([[0], 1]), _kind(None)
    ('true or false', 'a number', 'a list of numbers', 'a list of mixed values', '')
    """
    if isinstance(value, list):
        kinds = {_kind(item) for item in value} - {""}
        return f"a list of {PLURALS.get(kinds.pop(), 'mixed values') if len(kinds) == 1 else 'mixed values'}"
    return next((words for kind, words in KINDS if isinstance(value, kind)), "")
