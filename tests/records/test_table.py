"""Records from anything, and messy tables: the right result or one clear line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest

import pairlearn as pl
from pairlearn.errors import InputError, MissingIdsError
from pairlearn.records.compare.comparer import Comparer


def test_the_same_from_everything(tmp_path: Path) -> None:
    columns = {"id": [1, 2], "name": ["Ann ", None], "age": [7.0, 8.5]}
    polars.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("id, name, age\n1, Ann , 7\n2, , 8.5\n")
    rows = [{"id": 1, "name": "Ann", "age": 7}, {"id": 2, "age": 8.5}]
    for given in (columns, rows, polars.DataFrame(columns), tmp_path / "t.parquet", tmp_path / "t.csv"):
        found = pl.Records.of(given)
        assert found.ids == ("1", "2")
        assert dict(found.columns) == {"name": ("Ann", None), "age": ("7", "8.5")}


def test_ids_by_numbers_of_any_type() -> None:
    table = pl.Records.of({"id": [10, 20], "x": ["a", "b"]})
    pairs = pl.records.RecordPairs.from_ids(table, None, np.array([10.0]), ["20"])
    assert pairs.left_rows.tolist() == [0]
    assert pairs.right_rows.tolist() == [1]
    with pytest.raises(MissingIdsError, match="30"):
        pl.records.RecordPairs.from_ids(table, None, [10], [30])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"id": ["a", "a"], "x": [1, 2]}, "stands in rows 0 and 1"),
        ({"id": ["a", None], "x": [1, 2]}, "is empty"),
        ({"x": [1, 2], "y": [1]}, "different lengths"),
        ({"x": []}, "no rows"),
        ({}, "no columns"),
        ({"x": [1], " x": [2]}, "two columns called 'x'"),
        ([1, 2], "records are a file"),
    ],
)
def test_one_clear_line(table: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        pl.Records.of(table)
    assert "\n" not in str(caught.value)


def test_latitude_and_longitude_become_one_place() -> None:
    table = pl.Records.of({"id": [1, 2], "lat": [52.5, 48.1], "lon": [13.4, 11.6]})
    assert Comparer.learn(table, None).kinds == {"lat, lon": "geo"}


def test_titles_are_no_ids() -> None:
    table = pl.Records.of({"title": ["red ale", "pale ale"], "year": [1999, 2000]})
    assert table.id_column is None
    assert "numbered" in table.notes[0]


def test_columns_on_one_side_are_not_compared() -> None:
    left = pl.Records.of({"id": [1], "name": ["ann"], "only": ["x"]})
    right = pl.Records.of({"id": [1], "name": ["anne"], "other": ["y"]})
    assert list(Comparer.learn(left, right).kinds) == ["name"]
    with pytest.raises(InputError, match="no column with values in common"):
        Comparer.learn(left, pl.Records.of({"id": [1], "title": ["ann"]}))


def test_all_missing_rows_single_rows_and_huge_cells() -> None:
    """Nothing fails, nothing is NaN, and a record that says nothing is like no other."""
    left = pl.Records.of({"id": [1, 2], "name": ["ann lee", None], "note": ["x" * 10**6, "N/A"]})
    right = pl.Records.of({"id": [1], "name": ["Ann Lee"], "note": ["x" * 10**6]})
    comparer = Comparer.learn(left, right)
    features = comparer.features(comparer.prepare(left, right), np.array([0, 1]), np.array([0, 0]))
    assert np.isfinite(features).all()
    place = comparer.feature_names.index("whole record: characters")
    assert features[:, place].tolist() == pytest.approx([1.0, 0.0], abs=1e-5)


def test_latin_1_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,name\n1,café\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8") as caught:
        pl.Records.of(tmp_path / "t.csv")
    assert "\n" not in str(caught.value)


def test_models_say_which_column_a_table_lacks() -> None:
    table = pl.Records.of({"id": [1, 2], "name": ["ann", "bob"], "town": ["x y", "z"]})
    comparer = Comparer.learn(table, None)
    with pytest.raises(InputError, match="lacks the column 'town'"):
        comparer.prepare(pl.Records.of({"id": [1], "name": ["ann"]}), None)


def test_names_of_columns_may_be_numbers() -> None:
    rows, columns = [{"id": 1, 2: "a"}, {"id": 2, 2: "b", 3: 4}], {"id": [1, 2], 2: ["a", "b"], 3: [None, 4]}
    for given in (rows, columns):
        assert dict(pl.Records.of(given).columns) == {"2": ("a", "b"), "3": (None, "4")}
