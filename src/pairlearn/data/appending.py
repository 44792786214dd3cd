"""Tables written as their rows come: memory for one part, and no name before the last."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Protocol, Self

from pairlearn.data.writing import as_frame, check_table_target, drafted, naming, take_place
from pairlearn.errors import InputError

if TYPE_CHECKING:
    import polars

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
"""Tables that can be written part by part."""
AHEAD = 2
"""Parts that may wait for the disk."""
PATIENCE = 0.1
"""Seconds after which a thread that waits for another looks whether it is still there."""


class TableWriter:
    """A table that is written part by part: a draft until its end, then a file of this name, in one step.

    Leaving the block with an error leaves no file, and an older one of this name as it was; `keep(path)` ends it early
    under another name. The end of the name says how: .csv, .tsv, .jsonl or .parquet; - is standard output, as CSV.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> with TableWriter(path) as table:
    ...     table.write({"left": ["ann"], "score": [0.5]})
    ...     table.write({"left": ["bob"], "score": [1.5]})
    ...     path.exists()
    False
    >>> path.read_text()
    'left,score\\nann,0.5\\nbob,1.5\\n'
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.rows = Path(path), 0
        self._ending = ".csv" if str(path) == "-" else Path(path).suffix.lower()
        if self._ending not in ENDINGS:
            raise InputError(f"cannot write {path} part by part; the name must end in one of {', '.join(ENDINGS)}")
        self._target = check_table_target(path, force=True)
        self._file: IO[bytes] | None = None
        self._sink: _Sink | None = None

    def __enter__(self) -> Self:
        with naming(self.path):
            self._file = sys.stdout.buffer if str(self.path) == "-" else drafted(self._target)
        return self

    def write(self, columns: Mapping[str, Any]) -> None:
        """Some more rows; every part has the same columns."""
        frame = as_frame(columns)
        assert self._file is not None, "a table is written inside of its with block"
        with naming(self.path):
            if self._sink is None:
                self._sink = (
                    _Parquet(self._file, frame) if self._ending == ".parquet" else _Text(self._file, self._ending)
                )
            self._sink.add(frame)
        self.rows += frame.height

    def keep(self, path: str | Path) -> None:
        """End here, and let what was written take this name instead."""
        self._target = check_table_target(path, force=True)
        self._end(whole=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(whole=kind is None)

    def _end(self, *, whole: bool) -> None:
        file, sink, self._file, self._sink = self._file, self._sink, None, None
        if file is None:
            return
        on_stdout = str(self.path) == "-"
        with naming(self.path):
            try:
                if sink is not None:
                    sink.end(whole=whole)
                if on_stdout:
                    file.flush()
                elif whole and self.rows:
                    take_place(file, self._target)
            finally:
                if not on_stdout:
                    _discard(file)


def _discard(file: IO[bytes]) -> None:
    """Close a draft, and remove it if it has not become something."""
    with suppress(OSError):
        file.close()
    with suppress(OSError):
        os.unlink(file.name)


class _Sink(Protocol):
    """Where parts go: `end` writes what is left, unless nobody wants it."""

    def add(self, frame: polars.DataFrame) -> None: ...

    def end(self, *, whole: bool) -> None: ...


class _Text:
    """Lines; the first part brings the header."""

    def __init__(self, file: IO[bytes], ending: str) -> None:
        self._file, self._ending, self._begun = file, ending, False

    def add(self, frame: polars.DataFrame) -> None:
        # Polars would write to the file itself, and its errors tell nothing apart: a closed pipe, a full disk.
        lines = BytesIO()
        if self._ending == ".jsonl":
            frame.write_ndjson(lines)
        else:
            frame.write_csv(lines, include_header=not self._begun, separator="\t" if self._ending == ".tsv" else ",")
        self._file.write(lines.getbuffer())
        self._begun = True

    def end(self, *, whole: bool) -> None:
        self._file.flush()


class _Parquet:
    """Groups of rows. Polars writes them from a source that it asks for more, so it has a thread to wait in."""

    def __init__(self, file: IO[bytes], first: polars.DataFrame) -> None:
        self._parts: Queue[polars.DataFrame | None] = Queue(AHEAD)
        self._error: BaseException | None = None
        self._dropped = False
        self._thread = Thread(target=self._run, args=(file, dict(first.schema)), daemon=True)
        self._thread.start()

    def add(self, frame: polars.DataFrame | None) -> None:
        while self._thread.is_alive():
            try:
                self._parts.put(frame, timeout=PATIENCE)
                return
            except Full:
                continue
        if self._error is not None:
            raise self._error

    def end(self, *, whole: bool) -> None:
        self._dropped = not whole
        self.add(None)
        self._thread.join()
        if whole and self._error is not None:
            raise self._error

    def _come(self, *_: Any) -> Iterator[polars.DataFrame]:
        while not self._dropped:
            with suppress(Empty):
                part = self._parts.get(timeout=PATIENCE)
                if part is None:
                    return
                yield part

    def _run(self, file: IO[bytes], schema: dict[str, Any]) -> None:
        from polars.io.plugins import register_io_source

        try:
            register_io_source(self._come, schema=schema).sink_parquet(file)
        except BaseException as error:  # a panic of Polars too; whoever writes the next part is told
            self._error = error if isinstance(error, OSError) else OSError(None, str(error).splitlines()[0])
