"""A demonstration: tables that a user can look at, and three commands that are run on them and shown to be typed."""

from __future__ import annotations

import io
import json
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from pairlearn.cli.steps.evaluating import status
from pairlearn.cli.terminal import say
from pairlearn.data.writing import write_table
from pairlearn.errors import InputError

Results = Sequence[Mapping[str, Any]]
"""What the commands answered, as JSON."""
DEMOS = {"digits": "digits", "records": "products", "matches": "players"}
"""Modules by the names that are typed."""
HERE = "@/"
"""In a command, the folder of the tables."""


@dataclass(frozen=True)
class Demo:
    """What it shows, its tables by file name, the commands, and what is told of their answers; the page comes last.

    In commands `@/` is the folder of the tables; what they write goes to the current folder, under names that no other
    demonstration uses: somebody may type those of all.
    """

    title: str
    tables: Callable[[int], Mapping[str, Any]]
    commands: tuple[str, str, str]
    tell: Callable[[Console, Path, Results], None]
    page: str


def find(name: str) -> Demo:
    """The demonstration of this name; each is imported when it is shown."""
    if name not in DEMOS:
        raise InputError(f"there is no demonstration {name!r}; choose classes, {', '.join(DEMOS)}")
    found: Demo = import_module(f"pairlearn.cli.demos.{DEMOS[name]}").DEMO
    return found


def show(console: Console, demo: Demo, folder: Path, seed: int) -> None:
    """Write the tables, run the commands beside them, tell what came out and what to type."""
    began = time.perf_counter()
    say(console, "", lead=demo.title)
    write_tables(folder, demo.tables(seed))
    with status() as progress:
        results = [answer(command, folder, progress) for command in demo.commands]
    demo.tell(console, folder, results)
    say(console, f"{folder / demo.page}   ({time.perf_counter() - began:.0f} s)", lead="page:")
    say(console, "", lead="The same by hand, or on files of your own:")
    for command in demo.commands:
        say(console, f"  {typed(command, folder)}")


def typed(command: str, folder: Path) -> str:
    """The command as it is typed where the demonstration was started.

    >>> typed("rank fit @/matches.csv --out r.safetensors", Path("my demo"))
    "pairlearn rank fit 'my demo/matches.csv' --out r.safetensors"
    """
    words = [str(folder / word[len(HERE) :]) if word.startswith(HERE) else word for word in command.split()]
    return shlex.join(["pairlearn", *words])


def answer(command: str, folder: Path, progress: Callable[[str], None]) -> dict[str, Any]:
    """What a command answers as JSON; it is run in this process, which spares its start, inside the folder."""
    from pairlearn.cli.app import run

    words = [word.removeprefix(HERE) for word in command.split()]
    progress(f"pairlearn {' '.join(words)}")
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = run([*words, "--force", "--json"])
    if code:
        said = err.getvalue().strip().splitlines() or [f"exit code {code}"]
        raise InputError(f"pairlearn {words[0]}: {said[-1].removeprefix('error: ')}")
    return dict(json.loads(out.getvalue()))


def check_directory(folder: Path) -> None:
    """Refuse a file where a directory is meant."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a directory with --out-dir")


def write_tables(folder: Path, tables: Mapping[str, Any]) -> None:
    """Tables by file name; bytes are written as they are, in folders of their own if the name has one.

    A folder with some of these names but not all of them is somebody else's.
    """
    check_directory(folder)
    there = [name for name in tables if (folder / name).exists()]
    if 0 < len(there) < len(tables):
        raise InputError(f"{folder / there[0]} exists and is not of this demonstration; choose another --out-dir")
    for name, content in tables.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            write_table(path, content)
