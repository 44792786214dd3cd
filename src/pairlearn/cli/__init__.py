"""The command line: from a table to a decision.

`commands/` holds what a user can type, one file per command: signature, help, and the steps in their order. These files
import nothing heavy, so that help appears at once; the steps stand in the files beside them (`fitting.py` for `fit`)
and in `steps/`, which call public names of pairlearn. `app.py` lists the commands and turns what a user can mend into
one line of advice, `options.py` holds the options that several commands share, `run.py` what every command does (read
tables and say what was taken, load models, write results with a record of the run beside them), `terminal.py`
everything that is shown.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]

STOPPED = "stopped before anything was learnt; nothing was written"
"""What an early Ctrl-C says; later ones keep what there is."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; exit code 0 when all went well, 1 with one line of advice when not, 2 for wrong usage."""
    try:
        # Nothing is garbage while modules are loaded; `Run` collects again when a command begins its work.
        gc.disable()
        for stream in (sys.stdout, sys.stderr):
            # What a command has said is there, also in a file or a pipe, while it goes on.
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        from pairlearn.cli.app import run

        sys.exit(run(None if args is None else list(args)))
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has enough of it, as in `pairlearn … | head`.
        sys.stderr.close()
        sys.exit(141)
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "polars"):
            raise
        print(f"error: the command line needs {error.name}: pip install 'pairlearn[cli]'", file=sys.stderr)
        sys.exit(1)
