"""Tables of JSON lines: what is checked before Polars reads them.

Polars reads deeply nested objects by recursion, until the stack ends, and makes a column of every key of any line.
"""

from __future__ import annotations

import json
import re

from pairlearn.data.files.delimited import FEW_CELLS
from pairlearn.data.files.lines import lines_of
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError
from pairlearn.words import counted

DEEPEST = 16
"""Lists and objects within each other; a vector in a row is two."""
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"\s*+(:)?')
"""A string and, if it is a key, the colon behind it."""
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
    """Name the first line that is not an object."""
    with source.open() as file:
        for number, line in enumerate(lines_of(source, file), start=1):
            if line.strip() and not _is_object(line):
                raise InputError(f'{source}: line {number} is not a JSON object such as {{"id": "a", "x": 0.5}}')


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
