"""The command line: from a table to a decision.

`commands/` holds what a user can type, one file per command: signature, help, and the steps in their order. These files
import nothing heavy, so that help appears at once; the steps stand in the files beside them (`fitting.py` for `fit`)
and in `steps/`, which call public names of pairlearn. `app.py` lists the commands and turns what a user can mend into
one line of advice, `options.py` holds the options that several commands share, `needs.py` which options take effect
only beside others, `run.py` what every command does (read tables and say what was taken, load models, write results
with a record of the run beside them), `terminal.py` everything that is shown.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence

__all__ = ["main"]

CLOSED = 141
"""Exit code where whoever read the output has enough of it, as in `pairlearn … | head`; a shell says the same."""


def stopped() -> str:
    """What a command says that Ctrl-C has ended: which files it has written before."""
    writing = sys.modules.get("pairlearn.data.writing")
    files = [] if writing is None else list(dict.fromkeys(path.name for path in writing.WRITTEN))
    return f"stopped; written before: {', '.join(files)}" if files else "stopped; no result was written"


def _drop_output() -> None:
    """What is left of it must not fail once more when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; exit code 0 when all went well, 1 with one line of advice when not, 2 for wrong usage."""
    try:
        # Nothing is garbage while modules are loaded; `Run` collects again when a command begins its work.
        gc.disable()
        for stream in (sys.stdout, sys.stderr):
            # What a command has said is there, also in a file or a pipe, while it goes on.
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        from pairlearn.cli.app import run

        code = run(None if args is None else list(args))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(stopped(), file=sys.stderr)
        code = 130
    except BrokenPipeError:
        code = CLOSED
    except OSError as error:
        print(f"error: cannot write to standard output: {error.strerror}", file=sys.stderr)
        _drop_output()
        code = 1
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "polars"):
            raise
        print(f"error: the command line needs {error.name}: pip install 'pairlearn[cli]'", file=sys.stderr)
        sys.exit(1)
    if code == CLOSED:
        _drop_output()
    if args is None:
        # Only Python's own end is left to interrupt, which would answer with a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
