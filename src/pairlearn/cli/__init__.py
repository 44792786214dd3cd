"""The command line: `pairlearn fit`, `pairlearn score`, `pairlearn demo`."""

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
