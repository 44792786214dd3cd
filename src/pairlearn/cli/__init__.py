"""The command line, one file per command: `fit`, `select`, `score`, `evaluate`, `stream`, `demo`.

`app.py` puts the commands together and turns what a user can mend into one line of advice. `options.py` holds the
options that several commands share, `terminal.py` everything they show (sentences, tables, progress, Ctrl-C), and
`comparison.py` sets a model beside the untrained baselines. A command reads files, calls public names of pairlearn,
and shows a record; with `--json` it prints that record.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; exit code 0 when all went well, 1 with one line of advice when not."""
    try:
        from pairlearn.cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "polars"):
            raise
        print(f"error: the command line needs {error.name}: pip install 'pairlearn[cli]'", file=sys.stderr)
        sys.exit(1)
    sys.exit(run(None if args is None else list(args)))
