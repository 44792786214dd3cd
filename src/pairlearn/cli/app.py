"""The commands put together, and one line of advice instead of a traceback.

What a user can mend (a wrong file, column or value, too little memory) ends with exit code 1 and one line on stderr
that says what to do; a command that cannot be understood ends with 2. Everything else is a defect and keeps its
traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from pairlearn._version import __version__
from pairlearn.cli import CLOSED, stopped
from pairlearn.cli.options import HELP, spread, steps


class Command(NamedTuple):
    """A line of the list: what the command does, an example, and where it is, if not in the file of its name."""

    help: str
    example: str
    panel: str = "From a table to a decision"
    module: str = ""


COMMANDS: dict[str, Command] = {
    "pairs": Command(
        "Sample pairs from classes, split tables without leaks, and check tables for leaks and contradictions.",
        "pairlearn pairs split faces.parquet --class-column person --out-dir parts",
    ),
    "select": Command(
        "Choose kernel, C and training set in stages, judge on classes never seen, and write the best model.",
        "pairlearn select parts/train.parquet --class-column person --budget 600 --out selected.safetensors",
    ),
    "fit": Command(
        "Learn from labelled pairs, or from all pairs of classes, and write a model file.",
        "pairlearn fit parts/train.parquet --class-column person --kernel metric --out model.safetensors",
    ),
    "decide": Command(
        "Set a threshold at a false match rate, and probabilities, and write a model that decides.",
        "pairlearn decide model.safetensors faces.parquet dev-pairs.csv --fmr 0.02 --out verifier.safetensors",
        module="score",
    ),
    "distil": Command(
        "Make a smaller, quicker model of a fitted one, and tell what it loses.",
        "pairlearn distil verifier.safetensors parts/development.parquet --class-column person --out small.safetensors",
        module="score",
    ),
    "score": Command(
        "Score pairs with a model: larger means more alike; of a ranker, who comes first; of a regression, how much.",
        "pairlearn score verifier.safetensors faces.parquet test-pairs.csv --out scores.csv",
    ),
    "evaluate": Command(
        "Tell error rates, thresholds and how sure they are, for one or more systems on labelled pairs.",
        "pairlearn evaluate scores.csv --examples faces.parquet --class-column person --report report.html",
    ),
    "identify": Command(
        "Find out who each probe is among enrolled identities, or that nobody fits.",
        "pairlearn identify model.safetensors parts/test.parquet visitors.parquet --fpir 0.05 --out found.csv",
    ),
    "explain": Command(
        "Tell what speaks for and against one pair, in words and as a picture.",
        "pairlearn explain model.safetensors faces.parquet 70000 70006 --picture why.png",
    ),
    "match": Command(
        "Match the records of two tables, learning from labelled pairs, and write matches with reasons by column.",
        "pairlearn match shop.csv catalogue.csv --labels labels.csv --review review.csv --out matched.csv",
        "Tables of records",
        "records.match",
    ),
    "dedupe": Command(
        "Find records of one table that are the same and write the cluster of each.",
        "pairlearn dedupe customers.csv --out clusters.csv",
        "Tables of records",
        "records.dedupe",
    ),
    "rank": Command(
        "Learn from preferences who comes first, predict, and put all in order.",
        "pairlearn rank fit matches.csv --out ranker.safetensors",
        "Other tasks",
    ),
    "regress": Command(
        "Learn a number per pair, test on held-out pairs beside means, and write a model file; then `pairlearn score`.",
        "pairlearn regress enzymes.csv affinities.csv --right-examples compounds.csv --out affinity.safetensors",
        "Other tasks",
    ),
    "classify": Command(
        "Learn classes from any similarity of two examples, definite or not.",
        "pairlearn classify fit words.csv --class-column kind --similarity precomputed",
        "Other tasks",
    ),
    "stream": Command(
        "Learn a distance from a stream of pairs; each pair is predicted first, then learnt from if it has a label.",
        "tail -f pairs.jsonl | pairlearn stream - --model metric.safetensors --out predictions.csv",
        "Other tasks",
    ),
    "info": Command(
        "Tell what a model file is, what it was learnt from, when and how.",
        "pairlearn info model.safetensors --verify parts/train.parquet",
        "About",
    ),
    "demo": Command(
        "Show what pairlearn does in half a minute: unseen classes, or digits, records, matches.",
        "pairlearn demo --out-dir pairlearn-demo",
        "About",
    ),
}
"""The commands in the order of the help; each is the function of its name in `commands/NAME.py`, or a Typer group
of its steps. The examples run in this order on one set of tables, and a test does that."""


class Commands(TyperGroup):
    """Commands that are imported when they are called; help shows their first lines without importing them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or its line of the list while help is shown."""
        if cmd_name not in COMMANDS:
            return None
        command = COMMANDS[cmd_name]
        if ctx.meta.get("pairlearn.help"):
            return TyperCommand(cmd_name, help=command.help, rich_help_panel=command.panel)
        return load_command(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of the whole command line."""
        ctx.meta["pairlearn.help"] = True
        super().format_help(ctx, formatter)


@cache
def load_command(name: str) -> Any:
    """The command with its options, or the group of its steps; once, since a group remembers what became of it."""
    found = getattr(import_module(f"pairlearn.cli.commands.{COMMANDS[name].module or name}"), name)
    epilog = f"Example: {COMMANDS[name].example}"
    alone = steps("")
    if not isinstance(found, typer.Typer):
        alone.command(name, epilog=epilog)(found)
        found = alone
    for each in found.registered_commands:
        assert each.callback is not None
        path = name if found is alone else f"{name} {each.callback.__name__}"
        each.callback = spread(path, each.callback)
    command: Any = typer.main.get_command(found)
    for each in getattr(command, "commands", {name: command}).values():
        each.callback = one_line_errors(each.callback)
    command.name, command.epilog = name, epilog
    return command


def one_line_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Show what the user can mend as one line on stderr and end with exit code 1."""
    return _mendable()(function)


@contextmanager
def _mendable() -> Iterator[None]:
    from pairlearn.cli.deferred import defer
    from pairlearn.errors import InputError

    defer("scipy.stats")
    try:
        yield
    except KeyboardInterrupt:
        print(stopped(), file=sys.stderr)
        raise typer.Exit(130) from None
    except BrokenPipeError:
        raise typer.Exit(CLOSED) from None  # Click would call it an error
    except (InputError, MemoryError, OSError, ImportError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"error: {text}", file=sys.stderr)
        raise typer.Exit(1) from None


app = typer.Typer(
    cls=Commands,
    help="Learn from pairs of examples whether two belong together, also for classes never seen before.",
    epilog="Start with: pairlearn demo digits",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings=HELP,
)


def run(args: list[str] | None) -> int:
    """Run a command and return its exit code."""
    try:
        return int(app(args=args, prog_name="pairlearn", standalone_mode=False) or 0)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        # Typer brings its own copy of Click or imports it, by version; both usage errors can format themselves.
        advice = getattr(error, "format_message", None)
        if advice is None:
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "pairlearn")
        print(f"error: {' '.join(advice().split())} See: {command} --help", file=sys.stderr)
        return 2


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"pairlearn {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def _commands(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())
