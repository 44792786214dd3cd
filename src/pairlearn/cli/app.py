"""The commands put together, and one line of advice instead of a traceback.

What a user can mend (a wrong file, column or option, too little memory) ends with exit code 1 and one line on stderr
that says what to do. Everything else is a defect of pairlearn and keeps its traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

import pairlearn
from pairlearn.cli.demo import demo
from pairlearn.cli.evaluate import evaluate
from pairlearn.cli.fit import fit
from pairlearn.cli.score import score
from pairlearn.cli.select import select
from pairlearn.cli.stream import stream
from pairlearn.errors import InputError

app = typer.Typer(
    help="Learn from pairs of examples whether two belong together, also for classes never seen before.",
    epilog="Start with: pairlearn demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Show what the user can mend as one line on stderr and end with exit code 1."""
    try:
        yield
    except (InputError, MemoryError, OSError, ImportError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"error: {text}", file=sys.stderr)
        raise typer.Exit(1) from None


def run(args: list[str] | None) -> int:
    """Run a command and return its exit code."""
    try:
        return int(app(args=args, prog_name="pairlearn", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        print("stopped; nothing was written", file=sys.stderr)
        return 130
    except Exception as error:
        # Typer brings its own copy of Click or imports it, by version; both usage errors can format themselves.
        advice = getattr(error, "format_message", None)
        if advice is None:
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "pairlearn")
        print(f"error: {' '.join(advice().split())} See: {command} --help", file=sys.stderr)
        return 1


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"pairlearn {pairlearn.__version__}")
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


def _add(command: Callable[..., Any], *, epilog: str) -> None:
    app.command(command.__name__, epilog=epilog)(one_line_errors()(command))


_add(fit, epilog="Example: pairlearn fit faces.parquet pairs.csv --out model.safetensors --C 10")
_add(
    select, epilog="Example: pairlearn select faces.parquet --class-column person --budget 600 --out model.safetensors"
)
_add(score, epilog="Example: pairlearn score model.safetensors faces.parquet test-pairs.csv --out scores.csv")
_add(
    evaluate,
    epilog="Example: pairlearn evaluate scores.csv --examples faces.parquet --class-column person --report report.html",
)
_add(
    stream, epilog="Example: tail -f pairs.jsonl | pairlearn stream - --model metric.safetensors --out predictions.csv"
)
_add(demo, epilog="Example: pairlearn demo --out-dir pairlearn-demo")
