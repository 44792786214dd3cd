"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from pairlearn.cli.needs import check_needs

if TYPE_CHECKING:
    from pairlearn.data.layout import Columns

FORMATS = ".csv, .tsv, .jsonl, .parquet, .npz or .npy; - for standard input"
TABLE, PAIRS, OUTPUT = "The table of examples", "The table of pairs", "Output"
RIGHT = "The table of right examples, if they are of another kind"
LONG = "Long runs"

HELP = {"help_option_names": ["-h", "--help"]}

Examples = Annotated[Path, typer.Argument(metavar="EXAMPLES", help=f"Examples: {FORMATS}.")]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file that pairlearn wrote, or euclid or cosine, untrained."),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of the ids. Default: `id`, or the first column if a cell of it is text.", rich_help_panel=TABLE
    ),
]
ClassColumn = Annotated[
    str | None, typer.Option(help="Column of the classes. Default: `class`, if present.", rich_help_panel=TABLE)
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns to learn from: names, globs (e*), ranges (e0:e127), parted by commas. Default: the one column of "
        "vectors, else all that are left and are numbers.",
        rich_help_panel=TABLE,
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option(help="Columns to leave out: names, globs, ranges.", rich_help_panel=TABLE)
]
LeftColumn = Annotated[str, typer.Option(help="Column with the id of the left example.", rich_help_panel=PAIRS)]
RightColumn = Annotated[str, typer.Option(help="Column with the id of the right example.", rich_help_panel=PAIRS)]
LabelColumn = Annotated[
    str,
    typer.Option(help="Column of the labels: 1/-1, 1/0, true/false or same/different.", rich_help_panel=PAIRS),
]
Fmr = Annotated[
    float | None,
    typer.Option(help="False match rate that decisions shall keep, e.g. 0.001.", rich_help_panel="Decisions"),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        help="How sure the false match rate shall be kept for identities not seen, e.g. 0.95; 0: only on "
        "the pairs at hand.",
        rich_help_panel="Decisions",
    ),
]
TableOut = Annotated[
    Path, typer.Option("--out", "-o", help="Table to write: .csv, .tsv, .jsonl, .parquet or .npz; - for stdout.")
]
Folds = Annotated[
    int, typer.Option(min=0, help="Parts that are held out in turn to test the model beside baselines; 0 for no test.")
]
Alpha = Annotated[
    str,
    typer.Option(
        help="ridge: smaller fits the training pairs closer; auto, for all pairs of two tables, takes the one with the "
        "least error on what is left out, pair by pair or as --unseen says."
    ),
]
Unseen = Annotated[
    str,
    typer.Option(
        help="What the held-out test is new in: none (new pairs of known examples), left, right or both (examples that "
        "were not learnt from)."
    ),
]
Tol = Annotated[float, typer.Option(help="KKT gap at which the solver stops.")]
ModelOut = Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")]
Prior = Annotated[
    float,
    typer.Option(
        help="Share of pairs that belong together where probabilities are used; 0.5 is even odds.",
        rich_help_panel="Decisions",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of every random choice.")]
RightExamples = Annotated[Path | None, typer.Option(help="Table of the right examples.", rich_help_panel=RIGHT)]
TimeBudget = Annotated[float | None, typer.Option(help="Seconds after which the best model so far is kept.")]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        help="File for what was found so far; the same command goes on from it, and removes it at the end.",
        rich_help_panel=LONG,
    ),
]
CheckpointEvery = Annotated[float, typer.Option(min=0.0, help="Seconds between two checkpoints.", rich_help_panel=LONG)]
MemoryBudget = Annotated[str | None, typer.Option(help="Most memory to use, e.g. 4GB. Default: 60 % of what is free.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist already.", rich_help_panel=OUTPUT)]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object on stdout and everything else on stderr.", rich_help_panel=OUTPUT
    ),
]


def steps(text: str) -> typer.Typer:
    """A group of commands under one name; its functions are added by `.command(epilog=…)`."""
    return typer.Typer(
        help=text,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings=HELP,
    )


# --------------------------------------------------------------------------- options that belong together


@dataclass(frozen=True)
class TableOptions:
    """What the user says of the table of examples."""

    id_column: IdColumn = None
    class_column: ClassColumn = None
    features: Features = None
    drop: Drop = None

    def columns(self) -> Columns:
        """The same for reading."""
        from pairlearn.data.layout import Columns

        return Columns(self.id_column, self.class_column, tuple(self.features or ()), tuple(self.drop or ()))


@dataclass(frozen=True)
class RightOptions:
    """The table of the right examples, and what the user says of it."""

    right_examples: RightExamples = None
    right_id_column: Annotated[
        str | None, typer.Option(help="Column of its ids. Default: as for EXAMPLES.", rich_help_panel=RIGHT)
    ] = None
    right_features: Annotated[
        list[str] | None, typer.Option(help="Its columns to learn from.", rich_help_panel=RIGHT)
    ] = None
    right_drop: Annotated[list[str] | None, typer.Option(help="Its columns to leave out.", rich_help_panel=RIGHT)] = (
        None
    )

    def columns(self) -> Columns:
        """The same for reading."""
        return TableOptions(self.right_id_column, None, self.right_features, self.right_drop).columns()


@dataclass(frozen=True)
class PairOptions:
    """What the user says of the table of pairs."""

    left_column: LeftColumn = "left"
    right_column: RightColumn = "right"
    label_column: LabelColumn = "label"

    @property
    def names(self) -> tuple[str, str, str]:
        """The columns of left and right ids and of labels."""
        return self.left_column, self.right_column, self.label_column


def spread(name: str, function: Callable[..., None]) -> Callable[..., None]:
    """A command whose groups of options are single options for the user: a group stands once, here, and is one value.

    Parameters that are annotated with a dataclass are replaced by its fields; calls put the fields together again,
    after a look at the table of what options need.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for own in signature(function).parameters.values():
        group = groups.get(own.name)
        given = [own] if group is None else signature(group).parameters.values()
        known = hints if group is None else get_type_hints(group, include_extras=True)
        parameters += [each.replace(annotation=known[each.name], kind=Parameter.KEYWORD_ONLY) for each in given]

    @wraps(function)
    def command(context: typer.Context, **options: Any) -> None:
        check_needs(name, context, options)
        put_together = {
            name: group(**{field.name: options.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        function(**options, **put_together)

    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def memory_bytes(text: str | None) -> float | None:
    """Bytes of a text such as 500MB or 4GB; decimal prefixes unless there is an i, as in GiB."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+\.?\d*(?:e\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if found is None:
        raise typer.BadParameter(
            f"give a number of bytes such as 500MB or 4GB, got {text!r}", param_hint="--memory-budget"
        )
    number, prefix, binary = found.groups()
    return float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " ")


def class_weights(text: str | None) -> Mapping[int, float] | Literal["balanced"] | None:
    """`balanced`, or the weights of positive and negative pairs in that order: 10,1."""
    if text is None:
        return None
    if text == "balanced":
        return "balanced"
    try:
        positive, negative = (float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"give `balanced` or two numbers, positive first, such as 10,1; got {text!r}", param_hint="--class-weight"
        ) from None
    return {1: positive, -1: negative}
