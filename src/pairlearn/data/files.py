"""Tables in files: examples, pairs and scores, as CSV, Parquet or NumPy files.

Ids are strings inside; a table of examples without ids is numbered 0, 1, … by row. Polars reads the tables and
is imported only when one is read: pip install 'pairlearn[cli]'.
"""

from __future__ import annotations

import csv
import gzip
import os
import secrets
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.errors import InputError, MissingIdsError
from pairlearn.pairs import Pairs
from pairlearn.types import Floats, Ints

if TYPE_CHECKING:
    import polars

Arrays = Mapping[str, np.ndarray[Any, Any]]

CSV_NAMES = (".csv", ".csv.gz")
MISSING = ("", "nan", "na", "null", "none", "n/a")
SCHEMES: tuple[dict[str, int], ...] = (
    {"1": 1, "-1": -1},
    {"1": 1, "0": -1},
    {"true": 1, "false": -1},
    {"same": 1, "different": -1},
)
"""Spellings of labels that are accepted, each with its meaning."""


# --------------------------------------------------------------------------- what is read


@dataclass(frozen=True, eq=False)
class ExampleTable:
    """Examples with their ids and, if the file has them, their classes."""

    source: str
    examples: Floats
    ids: tuple[str, ...]
    classes: tuple[str, ...] | None = None

    def pairs(self, table: PairTable) -> Pairs:
        """Join a pair table to these examples."""
        try:
            return Pairs.from_ids(self.examples, self.ids, table.left, table.right)
        except MissingIdsError as error:
            raise MissingIdsError(f"{table.source} with {self.source}: {error}", error.missing) from None


@dataclass(frozen=True, eq=False)
class PairTable:
    """Ids of both sides of every pair and, if the file has them, labels ±1.

    `spelling` says what the labels were called in the file.
    """

    source: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    labels: Ints | None = None
    spelling: Mapping[str, int] | None = None

    def __len__(self) -> int:
        return len(self.left)


# --------------------------------------------------------------------------- reading


def read_examples(path: str | Path, class_column: str | None = None) -> ExampleTable:
    """Read examples from .npz, .npy, .csv, .csv.gz or .parquet.

    A column `id`, or a first column that is not numeric, holds the ids; `class_column` (by default a column
    `class`, if there is one) the classes; all others are features. In .npz files: `X`, `ids`, `classes`.
    """
    path = existing_file(path)
    if path.suffix == ".npy":
        return _examples_of_arrays(path, {"X": _read_npy(path)}, class_column)
    if path.suffix == ".npz":
        return _examples_of_arrays(path, _read_npz(path), class_column)
    return _examples_of_frame(path, read_frame(path), class_column)


def read_pairs(path: str | Path, left: str = "left", right: str = "right", label: str = "label") -> PairTable:
    """Read a pair table from .csv, .csv.gz, .parquet or .npz; the column of labels may be absent."""
    path = existing_file(path)
    if path.suffix == ".npz":
        columns = {name: _strings(path, name, array) for name, array in _read_npz(path).items()}
    else:
        frame = read_frame(path)
        columns = {name: _cells(frame, name) for name in frame.columns}
    require_columns(path, columns, (left, right))
    lefts, rights = (_ids(path, name, columns[name]) for name in (left, right))
    if len(lefts) != len(rights):
        raise InputError(f"{path}: {left!r} and {right!r} have {len(lefts)} and {len(rights)} entries")
    if not lefts:
        raise InputError(f"{path} holds no pairs; add one row per pair under the header {left},{right}")
    if label not in columns:
        return PairTable(str(path), lefts, rights)
    if len(columns[label]) != len(lefts):
        raise InputError(f"{path}: {len(columns[label])} labels for {len(lefts)} pairs; give one per pair")
    labels, spelling = read_labels(columns[label], f"{path}, column {label!r}")
    return PairTable(str(path), lefts, rights, labels, spelling)


def read_labels(cells: Sequence[str | None], source: str = "labels") -> tuple[Ints, dict[str, int]]:
    """Labels ±1 from one of the accepted spellings, and that spelling.

    >>> labels, spelling = read_labels(["same", "different", "same"])
    >>> labels.tolist(), spelling
    ([1, -1, 1], {'same': 1, 'different': -1})
    """
    plain = [_plain_label(cell) for cell in cells]
    found = dict.fromkeys(plain)
    for scheme in SCHEMES:
        if found.keys() <= scheme.keys():
            return np.array([scheme[cell] for cell in plain]), scheme
    known = {name for scheme in SCHEMES for name in scheme}
    row = next((i for i, cell in enumerate(plain) if cell not in known), None)
    problem = (
        f"mixes {', '.join(sorted(found))}"
        if row is None
        else f"{place_of(source, row)} holds {repr(cells[row]) if cells[row] else 'nothing'}"
    )
    raise InputError(
        f"{source}: {problem}; labels are 1/-1, 1/0, true/false or same/different, one spelling per column, "
        "and unlabelled pairs must be dropped"
    )


def _plain_label(cell: str | None) -> str:
    text = (cell or "").strip().lower()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if np.isfinite(number) and number == int(number) else text


# --------------------------------------------------------------------------- writing


def write_scores(
    path: str | Path, left: Sequence[str], right: Sequence[str], scores: Floats, labels: Ints | None = None
) -> None:
    """Write left, right, score and, if given, label as .csv or .parquet, all or nothing."""
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
    return _polars().DataFrame(columns if labels is None else {**columns, "label": labels})


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that at any moment either the old or the new content is there, never half of it."""
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


# --------------------------------------------------------------------------- NumPy files


def _examples_of_arrays(path: Path, arrays: Arrays, class_column: str | None) -> ExampleTable:
    examples = _matrix(path, arrays)
    ids = None
    if "ids" in arrays:
        ids = _ids(path, "ids", _strings(path, "ids", arrays["ids"]))
        _one_per_row(path, "ids", ids, len(examples))
    key = class_column or "classes"
    if class_column is not None:
        require_columns(path, arrays, (class_column,))
    classes = None
    if key in arrays:
        classes = _ids(path, key, _strings(path, key, arrays[key]))
        _one_per_row(path, key, classes, len(examples))
    return _checked(path, examples, ids, classes, "ids")


def _matrix(path: Path, arrays: Arrays) -> Floats:
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if "X" not in arrays and len(tables) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise InputError(f"{path} needs an array X with one row per example; it holds {shapes}")
    X = arrays["X"] if "X" in arrays else arrays[tables[0]]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"{path}: examples are a 2-D array of numbers, got shape {X.shape} of {X.dtype}")
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{path}: row {row}, column {column} is {X[row, column]} ({bad.sum()} such cells in all); "
            "impute them or drop these rows first"
        )
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _read_npz(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputError(f"{path} holds a single array; name it .npy")
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error


def _read_npy(path: Path) -> np.ndarray[Any, Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} holds several arrays; name it .npz")
    return array


def _unreadable(path: Path, error: Exception) -> InputError:
    if isinstance(error, InputError):
        return error
    if "pickle" in str(error) and path.stat().st_size:
        return InputError(
            f"{path} is no NumPy file or holds pickled objects, which are never loaded; save numbers, and ids "
            "as strings: np.savez(path, X=X, ids=np.array(ids, dtype=str))"
        )
    return InputError(f"{path} is empty, truncated or no NumPy file ({error}); write it again with np.savez")


def _strings(path: Path, name: str, array: np.ndarray[Any, Any]) -> list[str | None]:
    if array.ndim != 1:
        return []
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind not in "biufU":
        raise InputError(f"{path}: {name} holds {array.dtype}; save numbers or strings")
    return [plain_text(value) for value in array.tolist()]


def plain_text(value: object) -> str | None:
    """A cell as text, None for an empty one."""
    # Parquet and NumPy may hold whole numbers as floats: 7.0 is the id 7.
    if isinstance(value, float):
        return None if np.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    return None if value is None else str(value)


# --------------------------------------------------------------------------- CSV and Parquet


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError("reading and writing tables needs Polars: pip install 'pairlearn[cli]'") from error
    return polars


def read_frame(path: Path) -> polars.DataFrame:
    """Cells of CSV files as text, so that ids stay as written and bad cells can be named."""
    pl = _polars()
    if path.name.endswith(CSV_NAMES):
        _check_header(path)
        try:
            frame = pl.read_csv(path, infer_schema=False, glob=False)
        except (pl.exceptions.PolarsError, ValueError, OSError) as error:
            _refuse_ragged(path)
            raise InputError(f"{path} is not a readable CSV table: {_first_line(error)}") from error
        if frame.null_count().row(0)[-1]:
            _refuse_ragged(path)
    elif path.suffix == ".parquet":
        try:
            frame = pl.read_parquet(path, glob=False)
        except (pl.exceptions.PolarsError, ValueError, OSError) as error:
            raise InputError(f"{path} is not a readable Parquet file: {_first_line(error)}") from error
    else:
        raise InputError(f"cannot read {path}; use .csv, .csv.gz, .parquet, .npz or .npy")
    if frame.height == 0:
        raise InputError(f"{path} has a header but no rows; add some")
    return frame


def _rows_of_csv(path: Path) -> Iterable[tuple[int, list[str]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        for row in reader:
            yield reader.line_num, row


def _check_header(path: Path) -> None:
    try:
        header = next((row for _, row in _rows_of_csv(path) if row), None)
    except (UnicodeDecodeError, OSError, EOFError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV table in UTF-8: {error}; save it as UTF-8 text") from error
    if header is None:
        raise InputError(f"{path} is empty; it needs a header line and one row per example or pair")
    if all(_is_number(name) for name in header):
        raise InputError(f"{path}: line 1 holds numbers where the names of the columns belong; add a header")
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise InputError(f"{path}: line 1 names the column {min(twice)!r} twice; rename one of them")


def _refuse_ragged(path: Path) -> None:
    expected = None
    for line, row in _rows_of_csv(path):
        expected = len(row) if expected is None else expected
        if row and len(row) != expected:
            raise InputError(f"{path}: line {line} has {len(row)} fields, but the header has {expected}")


def _examples_of_frame(path: Path, frame: polars.DataFrame, class_column: str | None) -> ExampleTable:
    if class_column is not None:
        require_columns(path, frame.columns, (class_column,))
    class_name = class_column or ("class" if "class" in frame.columns else None)
    names = [name for name in frame.columns if name != class_name]
    id_name = _id_column(frame, names)
    features = [name for name in names if name != id_name]
    if not features:
        raise InputError(f"{path} holds no features; its columns are {', '.join(frame.columns)}")
    examples = np.column_stack([_numbers(path, frame, name) for name in features])
    ids = None if id_name is None else _ids(path, id_name, _cells(frame, id_name))
    classes = None if class_name is None else _ids(path, class_name, _cells(frame, class_name))
    return _checked(path, examples, ids, classes, id_name or "id")


def _id_column(frame: polars.DataFrame, names: Sequence[str]) -> str | None:
    if "id" in names:
        return "id"
    first = names[0] if names else None
    if first is None or all(_is_number(cell) for cell in _cells(frame, first) if cell is not None):
        return None
    return first


def _numbers(path: Path, frame: polars.DataFrame, name: str) -> Floats:
    pl = _polars()
    column = frame[name]
    if not (column.dtype == pl.String or column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(f"{path}, column {name!r} holds {column.dtype}; features are numbers")
    if column.dtype == pl.String:
        column = column.str.strip_chars()
    numeric = pl.Float32 if column.dtype == pl.Float32 else pl.Float64
    values = column.cast(numeric, strict=False).fill_null(np.nan).to_numpy()
    bad = ~np.isfinite(values)
    if not bad.any():
        return values
    row = int(bad.argmax())
    cell = frame[name][row]
    place = f"{path}, {place_of(path, row)}, column {name!r}"
    if cell is None or str(cell).strip().lower() in MISSING:
        raise InputError(f"{place} is missing ({bad.sum()} bad cells in this column); impute it or drop the row")
    raise InputError(
        f"{place} holds {str(cell)!r}, which is no finite number; drop this column, or name it as the class "
        "column (--class-column) or `id`"
    )


def _cells(frame: polars.DataFrame, name: str) -> list[str | None]:
    return [plain_text(value) for value in frame[name].to_list()]


# --------------------------------------------------------------------------- checks


def existing_file(path: str | Path) -> Path:
    """The path, if there is a file."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}" + ("; it is a directory" if path.is_dir() else ""))
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")
    return path


def require_columns(path: Path, there: Iterable[str], wanted: Iterable[str]) -> None:
    """Refuse a file that lacks a column."""
    there = list(there)
    for name in wanted:
        if name not in there:
            raise InputError(f"{path} has no column {name!r}; it has {', '.join(map(repr, there))}")


def _ids(path: Path, name: str, cells: Sequence[str | None]) -> tuple[str, ...]:
    ids = tuple("" if cell is None else cell.strip() for cell in cells)
    if "" in ids:
        raise InputError(f"{path}, {place_of(path, ids.index(''))}, column {name!r} is empty; fill it in")
    return ids


def _checked(
    path: Path,
    examples: Floats,
    ids: tuple[str, ...] | None,
    classes: tuple[str, ...] | None,
    id_name: str,
) -> ExampleTable:
    ids = ids or tuple(str(row) for row in range(len(examples)))
    seen: dict[str, int] = {}
    for row, key in enumerate(ids):
        if seen.setdefault(key, row) != row:
            raise InputError(
                f"{path}: the id {key!r} (column {id_name!r}) stands in {place_of(path, seen[key])} and "
                f"{place_of(path, row)}; ids must be unique"
            )
    return ExampleTable(str(path), examples, ids, classes)


def _one_per_row(path: Path, name: str, column: Sequence[str], rows: int) -> None:
    if len(column) != rows:
        raise InputError(f"{path}: {name} has {len(column)} entries for {rows} examples; give one per row")


def place_of(source: str | Path, row: int) -> str:
    """Where a row stands: the line of a CSV file, else the number of the row."""
    return f"line {row + 2}" if ".csv" in str(source) else f"row {row}"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
