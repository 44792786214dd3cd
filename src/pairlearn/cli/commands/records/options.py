"""Options that `match` and `dedupe` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairlearn.cli.options import OUTPUT

if TYPE_CHECKING:
    from pairlearn.records.candidates import Blocking

LOOK, TELL = "Which pairs are looked at", "What is in the tables"

Labels = Annotated[
    Path | None,
    typer.Option(
        help="Labelled pairs: ids of both records in `left` and `right`, 1/0 or same/different in `label`; rows "
        "without a label are skipped. Without: a start by itself (Fellegi and Sunter)."
    ),
]
Using = Annotated[Path | None, typer.Option("--model", help="A saved matcher, instead of learning from labels.")]
Threshold = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Least probability of a match.", show_default="the one with the best F1"),
]


@dataclass(frozen=True)
class RecordOptions:
    """What the user says of the tables and of candidates."""

    id_column: Annotated[
        str | None,
        typer.Option(help="Column of the ids. Default: id, rec_id, key or the like; else row numbers.",
                     rich_help_panel=TELL),
    ] = None  # fmt: skip
    drop: Annotated[list[str] | None, typer.Option(help="Columns not to compare.", rich_help_panel=TELL)] = None
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="COLUMN=KIND instead of recognising it: text, name, number, date, category, code, list, geo.",
            rich_help_panel=TELL,
        ),
    ] = None
    neighbours: Annotated[
        int, typer.Option(min=0, help="Nearest records of each record that are looked at.", rich_help_panel=LOOK)
    ] = 10
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns whose equal values make a pair worth a look, several joined by +: surname+postcode. Default: "
            "codes, dates and names one by one, and rare words.",
            rich_help_panel=LOOK,
        ),
    ] = None
    rivals: Annotated[
        bool,
        typer.Option(help="Hold pairs against the nearest other records of both sides.", rich_help_panel=LOOK),
    ] = True
    limit: Annotated[int, typer.Option(min=1, help="Most pairs that are looked at.", rich_help_panel=LOOK)] = 2_000_000

    def blocking(self) -> Blocking:
        """How candidates are found."""
        from pairlearn.records.candidates import Blocking

        return Blocking(self.neighbours, None if self.rule is None else tuple(self.rule), self.limit)

    def kinds(self) -> dict[str, str] | None:
        """Kinds that were said."""
        found = {}
        for text in self.kind or ():
            column, equals, kind = text.rpartition("=")
            if not equals:
                raise typer.BadParameter(f"give COLUMN=KIND, got {text!r}", param_hint="--kind")
            found[column] = kind
        return found or None


@dataclass(frozen=True)
class RecordOutputs:
    """What is written beside the main table."""

    review: Annotated[
        Path | None,
        typer.Option(help="Doubtful pairs to label, most instructive first, as a table that --labels takes back.",
                     rich_help_panel=OUTPUT),
    ] = None  # fmt: skip
    questions: Annotated[int, typer.Option(min=1, help="Pairs in that table.", rich_help_panel=OUTPUT)] = 100
    report: Annotated[
        Path | None, typer.Option(help="Page with precision and recall by cutoff (.html).", rich_help_panel=OUTPUT)
    ] = None
    save_model: Annotated[
        Path | None, typer.Option(help="Write the matcher, for other tables.", rich_help_panel=OUTPUT)
    ] = None
