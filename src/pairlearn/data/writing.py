"""Files written all or nothing: scores as tables, and any content."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairlearn.data.frames import load_polars
from pairlearn.errors import InputError
from pairlearn.types import Floats, Ints

if TYPE_CHECKING:
    import polars


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that at any moment either the old or the new content is there, never half of it.

    The content goes to a draft in the same directory, reaches the disk, and takes the name of the target in one step:
    a crash, a full disk or two writers at once leave the old file or one of the new ones.
    """
    target = check_target(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def check_target(path: str | Path) -> Path:
    """Where a file will be written, or what stands in its way: worth asking before a long computation."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path} is a directory; name a file in it")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no directory {target.parent}; create it first")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: no permission to write in {target.parent}; choose another place")
    return target


def write_scores(
    path: str | Path, left: Sequence[str], right: Sequence[str], scores: Floats, labels: Ints | None = None
) -> None:
    """Write left, right, score and, if given, label as .csv or .parquet, all or nothing.

    Scores are written with all their digits: read again they are equal to the last bit.
    """
    target = check_scores_target(path)
    frame = _scores_frame(left, right, scores, labels)
    buffer = BytesIO()
    if Path(path).suffix == ".parquet":
        frame.write_parquet(buffer)
    else:
        frame.write_csv(buffer)
    write_whole(target, buffer.getvalue())


def check_scores_target(path: str | Path) -> Path:
    """Where scores will be written, or what stands in their way."""
    if Path(path).suffix not in (".csv", ".parquet"):
        raise InputError(f"cannot write scores to {path}; the name must end in .csv or .parquet")
    return check_target(path)


def scores_as_csv(left: Sequence[str], right: Sequence[str], scores: Floats, labels: Ints | None = None) -> str:
    """The text that `write_scores` puts into a CSV file."""
    return _scores_frame(left, right, scores, labels).write_csv()


def _scores_frame(left: Sequence[str], right: Sequence[str], scores: Floats, labels: Ints | None) -> polars.DataFrame:
    columns: dict[str, Any] = {"left": left, "right": right, "score": scores}
    return load_polars().DataFrame(columns if labels is None else {**columns, "label": labels})
