"""Journeys: from files to a decision on the command line, as text in docs/journeys that is made by running it.

A journey is a Markdown file; lines after `$ ` in its console blocks are commands, run in their order in one folder with
the tables of `tools/journey_data.py`. What they print stands below them. `python tools/journeys.py` writes the outputs
anew, `--check` compares: words must be the same, numbers may differ (machines round and hurry differently).
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from pairlearn.cli import main as pairlearn
from tools.journey_data import write_tables

FOLDER = Path(__file__).parent.parent / "docs" / "journeys"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = 100
FEW = 4
"""Words of an output that may differ: which of two equal baselines is the best, say."""
TIMED = " --budget "
"""Of a command in which time decides how far it gets, only the beginnings of lines are compared."""


def rerun(text: str, folder: Path) -> str:
    """The journey with what its commands print now, in a folder with all tables."""
    write_tables(folder)
    with inside(folder):
        return BLOCK.sub(lambda block: f"```console\n{_run_block(block.group(1))}```", text)


def _run_block(block: str) -> str:
    commands = re.findall(r"^\$ (.*(?:\\\n.*)*)$", block, re.MULTILINE)
    return "".join(f"$ {command}\n{run(command.replace(chr(92) + chr(10), ' '))}" for command in commands)


def run(command: str) -> str:
    """What a command prints on both streams, and how it ended if not well."""
    words = command.split()
    plain = words[0] == "pairlearn" and not re.search(r"[|<>;&*'\"]", command)
    output, code = _here(words[1:]) if plain else _by_shell(command)
    lines = [line.rstrip() for line in output.splitlines()]
    told = "\n".join(line for line in lines if line) + "\n" if any(lines) else ""
    return told + (f"(exit code {code})\n" if code else "")


def _here(args: list[str]) -> tuple[str, int]:
    """Run the command line in this process, which spares its start."""
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding="utf-8", line_buffering=True, write_through=True)
    code = 0
    with redirect_stdout(stream), redirect_stderr(stream):
        try:
            pairlearn(args)
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        except Exception:
            traceback.print_exc()
            code = 70
    stream.flush()
    return buffer.getvalue().decode(), code


def _by_shell(command: str) -> tuple[str, int]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    return done.stdout, done.returncode


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, with lines of one width and no colours."""
    before, environment = Path.cwd(), dict(os.environ)
    os.environ |= {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def differences(written: str, now: str, timed: tuple[str, ...] = (TIMED,)) -> list[str]:
    """Commands that are others or say something else, and which words came and went.

    Of commands that hold one of the words `timed`, only the beginnings of lines count.
    """
    before, after = _told(written), _told(now)
    if [command for command, _ in before] != [command for command, _ in after]:
        return ["the commands differ"]
    found = []
    for (command, old), (_, new) in zip(before, after, strict=True):
        told = beginnings if any(word in command for word in timed) else words_of
        gone, come = Counter(told(old)) - Counter(told(new)), Counter(told(new)) - Counter(told(old))
        if max(gone.total(), come.total()) > FEW:
            found.append(f"$ {command}\n  gone: {' '.join(gone.elements())}\n  come: {' '.join(come.elements())}")
    return found


def _told(text: str) -> list[tuple[str, str]]:
    """Commands and what they print, in their order."""
    return [
        (command, said)
        for block in BLOCK.findall(text)
        for command, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def words_of(text: str) -> list[str]:
    """Words of an output without numbers, dates, hashes and rules, which differ from machine to machine."""
    plain = re.sub(r"\b[0-9a-f]{12}…|\d{4}-\d\d-\d\dT[\d:+]+|\be\d+\b|[-−+]?\d[\d,.]*(e[-+]?\d+)?|[─╭╮╰╯│]+", " ", text)
    return [word for word in plain.split() if any(letter.isalpha() for letter in word)]


def beginnings(text: str) -> list[str]:
    """The first word of every line."""
    return [words[0] for words in map(words_of, text.splitlines()) if words]


def journeys() -> list[Path]:
    """All journeys but the list of them."""
    return sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def main() -> int:
    """Write or check all journeys, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="journeys, by file name without .md; default: all")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    failed = False
    for path in journeys():
        if args.names and path.stem not in args.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            now = rerun(path.read_text(), Path(folder))
        found = differences(path.read_text(), now)
        failed |= args.check and bool(found)
        print(f"{path.name}: {'as written' if not found else 'differs' if args.check else 'written anew'}")
        for text in found if args.check else ():
            print(text)
        if not args.check:
            path.write_text(now)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
