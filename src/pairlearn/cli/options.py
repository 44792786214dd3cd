"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import typer

from pairlearn.errors import InputError

ClassColumn = Annotated[
    str | None,
    typer.Option(help="Column of the classes, not a feature. Default: `class` (`classes` in .npz), if present."),
]
LeftColumn = Annotated[str, typer.Option(help="Column with the id of the left example.")]
RightColumn = Annotated[str, typer.Option(help="Column with the id of the right example.")]
LabelColumn = Annotated[str, typer.Option(help="Column of the labels: 1/-1, 1/0, true/false or same/different.")]
Seed = Annotated[int, typer.Option(help="Seed of every random choice.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and everything else on stderr.")]


def memory_bytes(text: str | None) -> float | None:
    """Bytes of a text such as 500MB or 4GB; decimal prefixes unless there is an i, as in GiB."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*([\d.]+(?:e\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if found is None:
        raise InputError(f"--memory-budget is a number of bytes such as 500MB or 4GB, got {text!r}")
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
        raise InputError(
            f"--class-weight is `balanced` or two numbers, positive first, such as 10,1; got {text!r}"
        ) from None
    return {1: positive, -1: negative}
