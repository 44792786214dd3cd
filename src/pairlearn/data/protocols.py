"""Fixed test protocols from files: the pairs and folds that everyone reports on.

Labeled Faces in the Wild: `pairs.txt` (View 2: ten folds, report on these) and `pairsDevTrain.txt` with
`pairsDevTest.txt` (View 1: choose kernels and parameters on these). Files may be gzipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from pairlearn.data.files.cells import shortened
from pairlearn.data.files.lines import lines_of
from pairlearn.data.files.sources import existing_file, unpacked
from pairlearn.errors import InputError, MissingIdsError
from pairlearn.pairs import Pairs
from pairlearn.types import Examples, Ints
from pairlearn.words import counted

NEVER_TESTED = -1
"""Fold of the pairs that only train, as in scikit-learn's PredefinedSplit."""

ImageId = tuple[str, int]


# --------------------------------------------------------------------------- a protocol


@dataclass(frozen=True, eq=False, repr=False)
class Protocol:
    """Pairs of images by (name, number), with labels ±1 and the fold that tests them (−1: never).

    `places` says for each pair where it stands, for messages.

    >>> import numpy as np
    >>> protocol = Protocol(("ann", "ann"), (1, 1), ("ann", "bob"), (2, 1), np.array([1, -1]), np.array([0, 1]))
    >>> protocol.pairs(np.eye(3), [("ann", 1), ("ann", 2), ("bob", 1)]).right.tolist()
    [1, 2]
    >>> [(train.tolist(), test.tolist()) for train, test in protocol.splits()]
    [([1], [0]), ([0], [1])]
    """

    left_names: tuple[str, ...]
    left_numbers: tuple[int, ...]
    right_names: tuple[str, ...]
    right_numbers: tuple[int, ...]
    labels: Ints
    fold: Ints
    places: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        columns = ("left_numbers", "right_names", "right_numbers", "labels", "fold", *(("places",) * bool(self.places)))
        for name in columns:
            if len(getattr(self, name)) != len(self):
                raise InputError(
                    f"{name} has {counted(len(getattr(self, name)), 'entry')} for {counted(len(self), 'pair')}; "
                    "give one each"
                )

    def __len__(self) -> int:
        return len(self.left_names)

    def __repr__(self) -> str:
        folds = int(np.unique(self.fold[self.fold != NEVER_TESTED]).size)
        return f"Protocol({counted(len(self), 'pair')}, {counted(folds, 'tested fold')})"

    @property
    def left_ids(self) -> list[ImageId]:
        """(name, number) of each left image."""
        return list(zip(self.left_names, self.left_numbers, strict=True))

    @property
    def right_ids(self) -> list[ImageId]:
        """(name, number) of each right image."""
        return list(zip(self.right_names, self.right_numbers, strict=True))

    def pairs(self, examples: Examples, image_ids: Iterable[tuple[Any, Any]]) -> Pairs:
        """Join with examples whose rows are the images `image_ids`, one (name, number) per row."""
        try:
            return Pairs.from_ids(examples, _image_ids(image_ids), self.left_ids, self.right_ids)
        except MissingIdsError as error:
            raise MissingIdsError(f"{self._place_of(error.missing[0])}: {error}", error.missing) from None

    def splits(self) -> list[tuple[Ints, Ints]]:
        """(train, test) pair numbers for each fold in turn; usable as cv=."""
        folds = [k for k in np.unique(self.fold) if k != NEVER_TESTED]
        splits: list[tuple[Ints, Ints]] = [
            (np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k)) for k in folds
        ]
        if not splits or any(len(train) == 0 for train, _ in splits):
            raise InputError("one fold cannot both train and test; read View 1 with read_lfw_view1(train, test)")
        return splits

    def _place_of(self, image: object) -> str:
        ids = zip(self.left_ids, self.right_ids, strict=True)
        number = next(k for k, sides in enumerate(ids) if image in sides)
        return self.places[number] if self.places else f"pair {number}"


def _image_ids(image_ids: Iterable[tuple[Any, Any]]) -> list[ImageId]:
    try:
        return [(str(name), int(number)) for name, number in image_ids]
    except (TypeError, ValueError) as error:
        raise InputError("image_ids must be couples (name, number); build them by zip(names, numbers)") from error


# --------------------------------------------------------------------------- reading


def read_lfw_pairs(path: str | Path) -> Protocol:
    """Read `pairs.txt` (header "10<tab>300": ten folds of 300 matched, then 300 mismatched pairs) or a View 1 file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pairs.txt"
    >>> _ = path.write_text("2\\t1\\nann\\t1\\t2\\nann\\t1\\tbob\\t1\\ncat\\t1\\t2\\ncat\\t1\\tdan\\t3\\n")
    >>> protocol = read_lfw_pairs(path)
    >>> protocol.labels.tolist(), protocol.fold.tolist()
    ([1, -1, 1, -1], [0, 0, 1, 1])
    """
    lines = _lines(Path(path))
    n_folds, n_each = _header(path, lines[0])
    expected = 2 * n_folds * n_each
    rows = [_row(path, k + 2, line, same=k // n_each % 2 == 0) for k, line in enumerate(lines[1 : expected + 1])]
    if len(lines) - 1 != expected:
        raise InputError(
            f"{path}: line 1 announces {n_folds} × 2 × {n_each} = {expected} pairs, but {len(lines) - 1} lines follow; "
            "get the file anew or correct line 1"
        )
    left_names, left_numbers, right_names, right_numbers = zip(*rows, strict=True)
    number = np.arange(expected)
    labels, fold = np.where(number // n_each % 2 == 0, 1, -1), number // (2 * n_each)
    places = tuple(f"{path}, line {k + 2}" for k in range(expected))
    return Protocol(left_names, left_numbers, right_names, right_numbers, labels, fold, places)


def read_lfw_view1(train_path: str | Path, test_path: str | Path) -> Protocol:
    """Read `pairsDevTrain.txt` and `pairsDevTest.txt` as one protocol: the first only trains, the second is tested.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "train.txt").write_text("1\\nann\\t1\\t2\\nann\\t1\\tbob\\t1\\n")
    >>> _ = (folder / "test.txt").write_text("1\\ncat\\t1\\t2\\ncat\\t1\\tdan\\t3\\n")
    >>> protocol = read_lfw_view1(folder / "train.txt", folder / "test.txt")
    >>> [(train.tolist(), test.tolist()) for train, test in protocol.splits()]
    [([0, 1], [2, 3])]
    """
    train, test = read_lfw_pairs(train_path), read_lfw_pairs(test_path)
    return Protocol(
        train.left_names + test.left_names,
        train.left_numbers + test.left_numbers,
        train.right_names + test.right_names,
        train.right_numbers + test.right_numbers,
        np.concatenate([train.labels, test.labels]),
        np.concatenate([np.full(len(train), NEVER_TESTED), np.zeros(len(test), dtype=np.int64)]),
        train.places + test.places,
    )


def _lines(path: Path) -> list[str]:
    """Lines of a text file, without blank ones at its end."""
    path = existing_file(path)
    with BytesIO(unpacked(path)) if path.suffix == ".gz" else path.open("rb") as file:
        lines = [line.rstrip("\n") for line in lines_of(path, file)]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InputError(f"{path} is empty; get the file anew")
    return lines


def _number(cell: str) -> int:
    """A number from 1 on; 0 for anything else, such as numbers that no file needs."""
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 10 else 0


def _header(path: str | Path, line: str) -> tuple[int, int]:
    fields = line.split()
    numbers = [_number(cell) for cell in fields]
    if len(fields) not in (1, 2) or not all(numbers):
        raise InputError(
            f"{path}, line 1 must hold the number of folds and of matched pairs per fold (10<tab>300), or the number "
            f"of matched pairs alone (1100), got {shortened(line.strip())}"
        )
    return (1, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])


Row = tuple[str, int, str, int]


def _row(path: str | Path, number: int, line: str, same: bool) -> Row:
    place, fields = f"{path}, line {number}", line.split()
    if len(fields) != (3 if same else 4):
        wanted = "a matched pair: name, number, number" if same else "a mismatched pair: name, number, name, number"
        raise InputError(f"{place} has {counted(len(fields), 'field')}, but should hold {wanted}; correct it or line 1")
    left, right = (fields[0], fields[1]), (fields[0] if same else fields[2], fields[-1])
    for _, cell in (left, right):
        if not _number(cell):
            raise InputError(f"{place}: {shortened(cell)} is not an image number; numbers are 1, 2, …")
    if (left[0] == right[0]) != same or (same and int(left[1]) == int(right[1])):
        problem = "the same image" if same else "the same name"
        raise InputError(f"{place} names {problem} twice, got {shortened(line.strip())}; correct this line")
    return left[0], int(left[1]), right[0], int(right[1])
