"""Tables of pairs read some rows after the other, and tables written as they come: the same as at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.data.appending import TableWriter
from pairlearn.data.files import bounds
from pairlearn.data.files.cells import plain_text
from pairlearn.data.reading import read_pairs, scan_pairs
from pairlearn.data.tables import ExampleTable
from pairlearn.data.texts import Collected, Numerals, Texts
from pairlearn.data.writing import write_table
from pairlearn.errors import InputError, MissingIdsError

IDS = tuple(f"e{i}" for i in range(20))
EXAMPLES = ExampleTable("examples", np.random.default_rng(0).normal(size=(20, 3)), IDS)
SMALL = """
import resource, sys
from pairlearn.data.appending import TableWriter
with TableWriter(sys.argv[1]) as warm:
    warm.write({"x": list(range(9))})
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    with TableWriter(sys.argv[1]) as table:
        for part in range(50):
            table.write({"x": [hash((part, row)) for row in range(500)]})
except OSError as error:
    print(type(error).__name__, error)
"""


def write(path: Path, left: list[Any], right: list[Any], **more: list[Any]) -> Path:
    write_table(path, {"left": left, "right": right, **more})
    return path


def drawn(n: int) -> tuple[list[str], list[str]]:
    left, right = np.random.default_rng(n).integers(0, 20, (2, n))
    return [IDS[i] for i in left], [IDS[i] for i in right]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet", ".npz"])
@pytest.mark.parametrize("skip", [0, 4])
def test_batches_are_the_table(tmp_path: Path, ending: str, skip: int) -> None:
    left, right = drawn(11)
    path = write(tmp_path / f"pairs{ending}", left, right, label=["1", "0"] * 5 + ["1"])
    batches = list(scan_pairs(path, EXAMPLES, rows=3, skip=skip))
    assert [len(pairs) for _, pairs in batches] == [3] * ((11 - skip) // 3) + [(11 - skip) % 3][: (11 - skip) % 3]
    assert [key for table, _ in batches for key in table.left] == left[skip:]
    assert [IDS[row] for _, pairs in batches for row in pairs.right] == right[skip:]
    assert [cell for table, _ in batches for cell in table.cells or ()] == (["1", "0"] * 5 + ["1"])[skip:]
    assert all(pairs.examples is EXAMPLES.examples for _, pairs in batches)


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.lists(st.one_of(st.none(), st.sampled_from(["a", " a", "b", "", "007", "7", "ü "]))),
        st.lists(st.integers(-3, 3)),
        st.lists(st.one_of(st.none(), st.integers(-3, 3))),
        st.lists(st.one_of(st.none(), st.sampled_from([1.0, 0.5, -0.0, 0.0, 1e20]))),
        st.lists(st.booleans()),
    )
)
def test_texts_are_the_cells(cells: list[Any]) -> None:
    found = Texts.read(polars.Series(cells, strict=False))
    expected = [(plain_text(cell) or "").strip() for cell in cells]
    if cells and all(isinstance(cell, bool) for cell in cells):
        expected = [cell.lower() for cell in expected]
    assert found == expected
    assert list(found.distinct) == list(dict.fromkeys(expected))
    assert found.series().to_list() == expected
    half = np.arange(0, len(cells), 2)
    assert found.take(half) == expected[::2]
    assert list(found.take(half).distinct) == list(dict.fromkeys(expected[::2]))
    assert np.asarray(found).tolist() == expected or not cells


def test_parts_of_a_column_are_one_column() -> None:
    cells = ["b", " a", None, "b", "a", "c"]
    collected = Collected()
    for start in range(0, 6, 2):
        collected.add(polars.Series(cells[start : start + 2], dtype=polars.String))
    assert collected.names() == ["b", "a", "", "b", "a", "c"]
    assert list(collected.names().distinct) == ["b", "a", "", "c"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["e3", "nobody"], r"\(line 7\).*nobody"),
        (["", "e1"], "line 7, column 'left' is empty"),
        (["e1"], "line 7 has 1 field"),
    ],
)
def test_bad_rows_are_named_by_their_line(tmp_path: Path, row: list[str], message: str) -> None:
    lines = [f"{a},{b}" for a, b in zip(*drawn(8), strict=True)]
    lines[5] = ",".join(row)
    (tmp_path / "p.csv").write_text("\n".join(["left,right", *lines]) + "\n")
    with pytest.raises(InputError, match=message):
        list(scan_pairs(tmp_path / "p.csv", EXAMPLES, rows=2))


def test_a_null_and_a_number_beyond_the_rows_of_parquet(tmp_path: Path) -> None:
    numbered = ExampleTable("X.npy", np.eye(3), Numerals(range(3)))
    path = tmp_path / "p.parquet"
    polars.DataFrame({"left": [0, 1, None, 2], "right": [0, 1, 2, 0]}).write_parquet(path)
    with pytest.raises(InputError, match="row 2, column 'left' is empty"):
        list(scan_pairs(path, numbered, rows=2))
    polars.DataFrame({"left": [0, 1, 2, 7], "right": [0, -1, 2, 0]}).write_parquet(path)
    with pytest.raises(MissingIdsError, match=r"row 1\).*2 ids .*'7', '-1'") as caught:
        list(scan_pairs(path, numbered))
    assert caught.value.missing == ["7", "-1"]


def test_a_table_larger_than_memory_is_streamed_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.parquet"
    polars.DataFrame({"left": ["e1"] * 8000, "right": ["e2"] * 8000}).write_parquet(path, row_group_size=500)
    monkeypatch.setattr(bounds, "most_held", lambda: 50_000)
    assert sum(len(pairs) for _, pairs in scan_pairs(path, EXAMPLES)) == 8000
    with pytest.raises(InputError, match="becomes 128 kB"):
        read_pairs(path)


def test_two_tables_and_no_rows(tmp_path: Path) -> None:
    other = ExampleTable("targets", np.eye(2), ("s", "t"))
    path = write(tmp_path / "p.csv", ["e1", "e2"], ["t", "s"])
    ((_, pairs),) = scan_pairs(path, EXAMPLES, other)
    assert pairs.columns[0].tolist() == [1, 2]
    assert pairs.columns[1].tolist() == [1, 0]
    assert pairs.right_examples is other.examples
    with pytest.raises(InputError, match="no rows behind the first 5"):
        list(scan_pairs(path, EXAMPLES, other, skip=5))


# --------------------------------------------------------------------------- writing


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_parts_make_the_table(tmp_path: Path, ending: str) -> None:
    columns = {"left": Texts.of(drawn(9)[0]), "score": np.random.default_rng(0).normal(size=9)}
    write_table(tmp_path / f"whole{ending}", columns)
    with TableWriter(tmp_path / f"parts{ending}") as table:
        for start in range(0, 9, 4):
            table.write({name: column[start : start + 4] for name, column in columns.items()})
        assert not (tmp_path / f"parts{ending}").exists()
    whole, parts = ((tmp_path / f"{name}{ending}") for name in ("whole", "parts"))
    if ending == ".parquet":
        assert polars.read_parquet(parts).equals(polars.read_parquet(whole))
    else:
        assert parts.read_bytes() == whole.read_bytes()
    assert table.rows == 9


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scores{ending}"
    path.write_text("old")

    def broken_off() -> None:
        with TableWriter(path) as table:
            table.write({"score": [1.0]})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken_off()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_is_kept_has_a_name_of_its_own(tmp_path: Path, ending: str) -> None:
    with TableWriter(tmp_path / f"scores{ending}") as table:
        table.write({"score": [1.0, 2.0]})
        table.keep(tmp_path / f"part{ending}")
    assert [each.name for each in tmp_path.iterdir()] == [f"part{ending}"]
    read = polars.read_csv if ending == ".csv" else polars.read_parquet
    assert read(tmp_path / f"part{ending}")["score"].to_list() == [1.0, 2.0]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_full_disk_is_named_and_leaves_the_old_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scores{ending}"
    done = subprocess.run([sys.executable, "-c", SMALL, str(path)], capture_output=True, text=True)
    assert done.stdout.startswith(f"OutputError cannot write {path}"), done.stderr
    assert "too large" in done.stdout.lower()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    read = polars.read_csv if ending == ".csv" else polars.read_parquet
    assert read(path)["x"].to_list() == list(range(9))


def test_arrays_cannot_be_written_part_by_part(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.csv, \.tsv, \.jsonl, \.parquet"):
        TableWriter(tmp_path / "scores.npz")


def test_pairs_of_the_same_examples_are_not_checked_again() -> None:
    X = np.eye(3)
    pairs = pl.Pairs(X, [0], [1])
    X[2] = np.nan
    others = pairs.with_columns([0, 1], [1, 1])
    assert others.columns[0].tolist() == [0, 1]
    with pytest.raises(InputError, match="index 3"):
        pairs.with_columns([3], [0])
    with pytest.raises(InputError, match="features of their own"):
        pl.Pairs(np.eye(3), [0], [1], signed=[[1.0]]).with_columns([0], [1])
