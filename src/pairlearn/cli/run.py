"""What every command does: read tables and say what was taken, load models, write results with a record beside them."""

from __future__ import annotations

import gc
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from rich.console import Console

import pairlearn as pl
from pairlearn._version import __version__
from pairlearn.cli.options import RightOptions
from pairlearn.cli.terminal import say
from pairlearn.data.files.sheet import Sheet, read_sheet
from pairlearn.data.files.sources import Source, find_source
from pairlearn.data.layout import Columns
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.tables import ExampleTable, PairTable
from pairlearn.data.writing import check_table_target, check_target, write_table, write_whole
from pairlearn.errors import InputError
from pairlearn.words import counted

UNTRAINED = {"euclid": "EuclidBaseline", "cosine": "CosineBaseline"}
"""Models that need no file, by name."""
RECORDS, FOR_RECORDS = ("RecordMatcher", "UnlabelledMatcher"), "pairlearn match or dedupe --model"
"""Models that compare records instead of examples, and what they are for."""
RECORD = ".run.json"
"""What is added to the name of an output for the record of the run that wrote it."""


def untrained_models() -> dict[str, Any]:
    """These models, new ones."""
    return {name: getattr(pl, kind)() for name, kind in UNTRAINED.items()}


@dataclass
class Run:
    """One call of a command: its options, what it read and what it wrote.

    Words about the run go to stderr (`note`), what was asked for to stdout (`out`), or to stderr too if `as_json`.
    """

    command: str
    options: Mapping[str, Any]
    as_json: bool = False
    inputs: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        gc.freeze()
        gc.enable()
        self.err = Console(stderr=True)
        self.out = self.err if self.as_json else Console()

    # -- what is said

    def note(self, text: str) -> None:
        """A sentence about what is being done."""
        say(self.err, text)

    def warn(self, text: str) -> None:
        """A sentence that should not be overlooked."""
        say(self.err, text, lead="warning:", style="yellow")

    # -- what is read

    def examples(
        self, path: Path | Source, columns: Columns, *, learnt: Mapping[str, Any] | None = None, role: str = "examples"
    ) -> ExampleTable:
        """A table of examples; says what was taken from it."""
        source = self.noted(find_source(path), role)
        table = read_examples(source, columns, learnt=learnt)
        classes = "" if table.classes is None else f" of {counted(len(set(table.classes)), 'class')}"
        self.note(f"{table.source}: {counted(len(table.ids), 'example')}{classes}; {table.layout}")
        for text in table.notes:
            self.note(f"{table.source}: {text}")
        assert table.layout is not None
        self.inputs[role]["layout"] = table.layout.as_json()
        return table

    def right_examples(self, given: RightOptions, learnt: Mapping[str, Any] | None = None) -> ExampleTable | None:
        """The table of the right examples, if they have one of their own."""
        if given.right_examples is None:
            return None
        return self.examples(given.right_examples, given.columns(), learnt=learnt, role="right")

    def pairs(self, path: Path | Source, left: str, right: str, label: str | None, *, role: str = "pairs") -> PairTable:
        """A table of pairs."""
        table = read_pairs(self.noted(find_source(path), role), left, right, label)
        for text in table.notes:
            self.note(f"{table.source}: {text}")
        return table

    def sheet(self, path: Path, role: str) -> Sheet:
        """A table as it stands, whatever it holds."""
        return read_sheet(self.noted(find_source(path), role))

    def model(self, path: Path, *, records: bool = False) -> tuple[Any, dict[str, Any]]:
        """A model, and what its file says about how it was made; of records only where these are compared."""
        if str(path) in UNTRAINED and not path.exists():
            return untrained_models()[str(path)], {}
        machine = pl.load(path)
        if (type(machine).__name__ in RECORDS) != records:
            raise InputError(
                f"{path} holds a {type(machine).__name__}; "
                + ("it does not compare records: see pairlearn info" if records else f"use it with {FOR_RECORDS}")
            )
        self.noted(Source(str(path), "model", path), "model")
        return machine, read_about(path)

    def noted(self, source: Source, role: str) -> Source:
        """The source; its name and the hash of its content go into the record."""
        with source.open() as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        self.inputs[role] = {"file": str(source), "sha256": digest}
        return source

    # -- what is written

    def check_outputs(self, *paths: Path | None, force: bool) -> None:
        """Refuse outputs that cannot be written, or that would replace a file, before the work begins."""
        for path in paths:
            if path is not None and str(path) != "-":
                check_target(path, force=force)

    def check_models(self, *paths: Path | None, force: bool) -> None:
        """The same for models, which are no text for standard output and no other format than their own."""
        from pairlearn import persist

        if "-" in map(str, paths):
            raise InputError("a model cannot be written to standard output; name a file")
        for path in paths:
            if path is not None:
                persist.check_ending(path)
        self.check_outputs(*paths, force=force)

    def check_table(self, path: Path | None, *, force: bool) -> None:
        """The same for a table."""
        if path is not None:
            check_table_target(path, force=force)

    def about(self) -> dict[str, Any]:
        """What a model file should remember of this run."""
        return {**self._facts(), "written": _now()}

    def save(
        self, model: Any, path: Path, result: Mapping[str, Any], *, about: Mapping[str, Any] | None = None
    ) -> None:
        """Write a model that remembers how it was made, and the record of the run.

        `about` is what is known of the model that this one was made from: the table it was learnt from stays known.
        """
        facts = {**self.about(), "result": json.loads(json.dumps(result, default=str), parse_constant=str)}
        if about:
            facts["inputs"] = {**about.get("inputs", {}), **facts["inputs"]}
            facts["made_from"] = dict(about)
        pl.save(model, path, about=facts)
        self.record(path, result)
        say(self.out, f"model written to {path}")

    def table(self, path: Path, columns: Mapping[str, Any], what: str, result: Mapping[str, Any]) -> None:
        """Write a table, and the record of the run beside it; - is standard output, without a record."""
        write_table(path, columns)
        if str(path) != "-":
            self.record(path, result)
            self.note(f"{what} written to {path}")

    def beside(self, path: Path | None) -> Console:
        """Where words about a table go: a table on stdout keeps it to itself."""
        return self.err if str(path) == "-" else self.out

    def deliver(
        self, path: Path, columns: Mapping[str, Any], what: str, result: Mapping[str, Any], inline: Mapping[str, Any]
    ) -> None:
        """Write a table and finish; with --json and no file, the JSON object holds `inline` instead of the table."""
        on_stdout = str(path) == "-"
        if not (self.as_json and on_stdout):
            self.table(path, columns, what, result)
        self.finish({**result, **(inline if on_stdout else {"out": str(path)})})

    def record(self, path: Path, result: Mapping[str, Any]) -> None:
        """Write the record of this run beside one of its outputs."""
        facts = {**self._facts(), "finished": _now(), "seconds": time.perf_counter() - self.began}
        content = json.dumps({**facts, "output": str(path), "result": result}, indent=1, default=str)
        write_whole(path.with_name(path.name + RECORD), content.encode())

    def finish(self, result: Mapping[str, Any]) -> None:
        """Print the result as JSON, if that was asked for."""
        if self.as_json:
            print(json.dumps(result, default=str))

    def _facts(self) -> dict[str, Any]:
        groups = [asdict(value) for value in self.options.values() if is_dataclass(value)]  # type: ignore[arg-type]
        single = {name: value for name, value in self.options.items() if not is_dataclass(value)}
        options = {name: _plain(value) for part in (single, *groups) for name, value in part.items()}
        return {"command": self.command, "options": options, "pairlearn": __version__, "inputs": self.inputs}


def read_about(path: Path) -> dict[str, Any]:
    """What a model file says about how it was made; nothing, for a file that was written in Python."""
    from pairlearn import persist

    return dict(persist.read_about(path)["about"])


def learnt_from(about: Mapping[str, Any], role: str = "examples") -> dict[str, Any]:
    """The layout of the table that a model was learnt from, as `read_examples` wants it."""
    return dict(about.get("inputs", {}).get(role, {}).get("layout", {}))


def training_of(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a model file says of the run that learnt: runs that decided or distilled came after it.

    >>> training_of({"command": "decide", "made_from": {"command": "fit"}})
    {'command': 'fit'}
    """
    return _behind(about, "decide", "distil")


def inputs_learnt_from(about: Mapping[str, Any]) -> dict[str, Any]:
    """The files that a model was learnt from, by their roles; of a stream nobody knows the pairs."""
    training = training_of(about)
    return {} if training.get("command") == "stream" else dict(training.get("inputs", {}))


def decided_by(about: Mapping[str, Any]) -> dict[str, Any]:
    """The file of pairs that the threshold of a model was set by; empty if there is none."""
    about = _behind(about, "distil")
    return dict(about.get("inputs", {}).get("pairs", {})) if about.get("command") == "decide" else {}


def _behind(about: Mapping[str, Any], *commands: str) -> Mapping[str, Any]:
    """What a model was made from by these commands, one after the other."""
    while about.get("command") in commands and about.get("made_from"):
        about = about["made_from"]
    return about


def known_ids(about: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The ids that a model without a table of examples knows; None for a model with one."""
    ids = about.get("inputs", {}).get("examples", {}).get("ids")
    return None if ids is None else tuple(ids)


def _plain(value: Any) -> Any:
    """A value of an option as JSON, which has no infinity: none may keep a model from being saved."""
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
