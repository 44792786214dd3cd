"""Which options take effect only beside others: one table, so that none is accepted and then overlooked.

Only what the user typed is refused, not a default. What depends on the content of a file is checked where that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import typer


class Condition(NamedTuple):
    """Where options take effect: in words, by which other options, and whether it is so by the values of these."""

    words: str
    by: tuple[str, ...]
    holds: Callable[[Mapping[str, Any]], bool]


class Need(NamedTuple):
    """Some options, as they are typed, and where they take effect."""

    options: str
    condition: Condition


def beside(*others: str) -> Condition:
    """One of these is given."""
    return Condition(f"with {' or '.join(others)}", others, lambda values: any(map(_is_given, values.values())))


def without(*others: str) -> Condition:
    """None of these is given."""
    return Condition(f"without {' or '.join(others)}", others, lambda values: not any(map(_is_given, values.values())))


def among(other: str, *choices: str) -> Condition:
    """This one has one of these values."""
    return Condition(f"with {other} {' or '.join(choices)}", (other,), lambda values: values[other] in choices)


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and (value != 0 or isinstance(value, float))  # rates may be 0


TESTED = Condition("with --folds of 1 or more", ("--folds",), lambda values: values["--folds"] > 0)
TESTED_OR_CHOSEN = Condition(
    "with --folds of 1 or more, or --alpha auto",
    ("--folds", "--alpha"),
    lambda values: values["--folds"] > 0 or values["--alpha"] == "auto",
)
OF_RIGHT = Need("--right-id-column --right-features --right-drop", beside("--right-examples"))
PAIR_COLUMNS = "--left-column --right-column --label-column"
TABLE_COLUMNS = "--id-column --class-column --features --drop"

NEEDS: dict[str, tuple[Need, ...]] = {
    "pairs sample": (Need("--candidates --random-share", beside("--hard")),),
    "pairs split": (Need("--id-column", beside("--examples")), Need("--examples", among("--apart", "both"))),
    "pairs check": (Need("--test-examples", beside("--examples")), Need("--test-examples", beside("TEST"))),
    "select": (
        Need(f"--task --unseen --right-examples {PAIR_COLUMNS}", beside("PAIRS")),
        Need("--representation --jobs", without("PAIRS")),
        Need("--right-examples", among("--task", "link", "number")),
        OF_RIGHT,
    ),
    "fit": (
        Need("--C", among("--machine", "svc", "transductive")),
        Need("--class-weight", among("--machine", "svc")),
        Need("--alpha", among("--machine", "ridge")),
        Need("--nu", among("--machine", "one_class", "sphere")),
        Need("--reflexive", without("PAIRS")),
        Need(PAIR_COLUMNS, beside("PAIRS")),
        Need("--checkpoint-every", beside("--checkpoint")),
        OF_RIGHT,
    ),
    "decide": (OF_RIGHT,),
    "score": (
        Need("--confidence --prior --development", beside("--fmr")),
        Need("--reflexive", without("--stream", "--skip")),
        OF_RIGHT,
    ),
    "evaluate": (
        Need("--images", beside("--report")),
        Need("--title --task", beside("--report", "--csv", "--markdown", "--json")),
        Need("--baselines", beside("--examples")),
        Need(TABLE_COLUMNS, beside("--examples", "--train")),
    ),
    "explain": (OF_RIGHT,),
    "match": (
        Need("--kind --rivals --no-rivals", without("--model")),
        Need("--questions", beside("--review")),
        Need(PAIR_COLUMNS, beside("--labels")),
    ),
    "dedupe": (
        Need("--kind --rivals --no-rivals", without("--model")),
        Need("--questions", beside("--review")),
        Need(PAIR_COLUMNS, beside("--labels")),
    ),
    "rank fit": (Need(TABLE_COLUMNS, beside("--examples")), Need("--unseen", TESTED)),
    "rank predict": (Need(TABLE_COLUMNS, beside("--examples")),),
    "rank order": (Need(TABLE_COLUMNS, beside("--examples")),),
    "regress": (
        Need("--C --epsilon", among("--machine", "svr")),
        Need("--alpha", among("--machine", "ridge")),
        Need("--unseen", TESTED_OR_CHOSEN),
        OF_RIGHT,
    ),
    "stream": (Need(TABLE_COLUMNS, beside("--examples")), Need("--save-every", beside("--model"))),
}
"""By command."""


def check_needs(command: str, context: typer.Context, values: Mapping[str, Any]) -> None:
    """Refuse options that were typed and would do nothing; `values` are those of all parameters by name."""
    parameters = {each.name: each for each in context.command.params}
    typed = {_shown(parameters[name], value) for name, value in values.items() if _is_typed(context, name)}
    known = {_shown(parameters[name]): value for name, value in values.items()}
    for options, condition in NEEDS.get(command, ()):
        idle = [option for option in options.split() if option in typed]
        if idle and not condition.holds({name: known[name] for name in condition.by}):
            from pairlearn.errors import InputError

            them = "it" if len(idle) == 1 else "them"
            raise InputError(
                f"{', '.join(idle)} can take effect only {condition.words}: change that, or leave {them} out"
            )


def _shown(parameter: Any, value: Any = True) -> str:
    """An option as it is typed, an argument as help calls it."""
    if parameter.param_type_name == "argument":
        return str(parameter.name.upper())
    return str((parameter.secondary_opts if value is False else parameter.opts)[0])


def _is_typed(context: typer.Context, name: str) -> bool:
    """Whether a parameter stands on the command line; the enumeration is that of whatever Click this Typer brings."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
