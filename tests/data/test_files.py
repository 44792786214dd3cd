"""Tables in files: what is read, and how bad files are named."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from pairlearn.data.labels import read_labels
from pairlearn.data.layout import Columns
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.writing import check_target, write_table, write_whole
from pairlearn.errors import InputError, MissingIdsError

FACES = "id,class,x0,x1\nann1,ann,1.5,-2\nann2,ann,1e-3,0\nbob1,bob,0.1,7\n"


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# --------------------------------------------------------------------------- examples


def test_csv_gzip_and_parquet_say_the_same(tmp_path: Path) -> None:
    plain = put(tmp_path / "faces.csv", FACES)
    packed = tmp_path / "faces.csv.gz"
    packed.write_bytes(gzip.compress(FACES.encode()))
    columns = tmp_path / "faces.parquet"
    polars.read_csv(plain).write_parquet(columns)
    for path in (plain, packed, columns):
        table = read_examples(path)
        assert table.examples.tolist() == [[1.5, -2.0], [0.001, 0.0], [0.1, 7.0]]
        assert table.ids == ("ann1", "ann2", "bob1")
        assert table.classes == ("ann", "ann", "bob")


def test_ids_by_name_by_kind_or_by_row(tmp_path: Path) -> None:
    named = read_examples(put(tmp_path / "named.csv", "x,id\n1,007\n2,8\n"))
    assert named.ids == ("007", "8")
    assert named.examples.tolist() == [[1.0], [2.0]]
    assert read_examples(put(tmp_path / "first.csv", "face,x\na7,1\n8,2\n")).ids == ("a7", "8")
    rows = read_examples(put(tmp_path / "rows.csv", "x,y\n1,2\n3,4\n"))
    assert rows.ids == ("0", "1")
    assert rows.classes is None
    assert rows.examples.shape == (2, 2)


def test_a_class_column_by_name(tmp_path: Path) -> None:
    path = put(tmp_path / "faces.csv", "id,who,x\n1,7,0.5\n2,7,0.25\n")
    assert read_examples(path).examples.shape == (2, 2)
    table = read_examples(path, Columns(classes="who"))
    assert (table.examples.shape, table.classes) == ((2, 1), ("7", "7"))
    with pytest.raises(InputError, match=r"no column 'whom'; it has 'id', 'who', 'x'"):
        read_examples(path, Columns(classes="whom"))


def test_numbers_are_read_exactly(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)) * 10.0 ** np.arange(-150, 150, 100)
    path = tmp_path / "x.csv"
    polars.DataFrame(X, schema=["a", "b", "c"]).write_csv(path)
    np.testing.assert_array_equal(read_examples(path).examples, X)


def test_numpy_files(tmp_path: Path) -> None:
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X, ids=np.array(["a", "b", "c"]), classes=np.array([1.0, 1.0, 2.0]))
    np.savez(tmp_path / "other.npz", embeddings=X.astype(int), person=np.array([b"u", b"u", b"v"]))
    assert read_examples(tmp_path / "x.npy").examples.dtype == np.float32
    table = read_examples(tmp_path / "x.npz")
    assert (table.ids, table.classes) == (("a", "b", "c"), ("1", "1", "2"))
    other = read_examples(tmp_path / "other.npz", Columns(classes="person"))
    assert (other.examples.dtype, other.ids, other.classes) == (np.float64, ("0", "1", "2"), ("u", "u", "v"))


BAD_CSV = {
    "empty": ("", "is empty"),
    "blank": ("\n\n", "is empty"),
    "header only": ("id,x\n", "has a header but no rows"),
    "no header": ("1,2\n3,4\n", "line 1 holds numbers"),
    "column twice": ("x,x\n1,2\n", "names the column 'x' twice"),
    "empty cell": ("id,x,y\na,1,2\nb,,3\n", r"line 3, column 'x' is missing"),
    "nan cell": ("id,x\na,1\nb,NaN\n", r"line 3, column 'x' is missing"),
    "infinite cell": ("id,x\na,1\nb,inf\n", r"line 3, column 'x' holds 'inf'"),
    "word": ("id,x\na,1\nb,two\n", r"line 3, column 'x' holds 'two'.*--class-column"),
    "short row": ("id,x,y\na,1,2\nb,3\n", "line 3 has 2 fields, but the header has 3"),
    "long row": ("id,x,y\na,1,2\nb,3,4,5\n", "line 3 has 4 fields, but the header has 3"),
    "same id twice": ("id,x\na,1\nb,2\na,3\n", r"id 'a' \(column 'id'\) stands in line 2 and line 4"),
    "empty id": ("id,x\na,1\n,2\n", r"line 3, column 'id' is empty"),
    "no features": ("id,class\na,1\n", "no features; its columns are 'id', 'class'"),
}


@pytest.mark.parametrize(("text", "message"), BAD_CSV.values(), ids=BAD_CSV.keys())
def test_bad_csv_names_file_and_place(text: str, message: str, tmp_path: Path) -> None:
    path = put(tmp_path / "bad.csv", text)
    with pytest.raises(InputError, match=message) as caught:
        read_examples(path)
    assert str(path) in str(caught.value)


def test_bad_bytes(tmp_path: Path) -> None:
    for name in ("x.csv", "x.csv.gz", "x.parquet", "x.npz", "x.npy"):
        path = tmp_path / name
        path.write_bytes(b"\xff\xfe\x00\x01junk\n\xff")
        with pytest.raises(InputError, match=name):
            read_examples(path)
    with pytest.raises(InputError, match=r"must end in one of \.csv, \.tsv"):
        read_examples(put(tmp_path / "x.xlsx", "x"))
    with pytest.raises(InputError, match="there is no file"):
        read_examples(tmp_path / "absent.csv")


def test_bad_arrays(tmp_path: Path) -> None:
    X = np.ones((3, 2))
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "pickled": ({"X": X, "ids": np.array(["a", None, "c"], dtype=object)}, "never loaded"),
        "nan": ({"X": np.where(np.eye(3, 2) > 0, np.nan, 1.0)}, r"row 0, column 'X' is missing \(2 bad cells"),
        "two": ({"A": X, "B": X}, r"several columns of vectors, 'A', 'B'; choose with --features A"),
        "cube": ({"X": np.ones((3, 2, 2))}, r"column 'X' holds an array \(3, 2, 2\)"),
        "ids": ({"X": X, "ids": np.array(["a", "b"])}, "2 entries for 3 rows"),
        "classes": ({"X": X, "classes": np.array([1, 2])}, "2 entries for 3 rows"),
        "twice": ({"X": X, "ids": np.array(["a", "b", "a"])}, "stands in row 0 and row 2"),
    }
    for name, (arrays, message) in cases.items():
        path = tmp_path / f"{name}.npz"
        np.savez(path, **arrays)
        with pytest.raises(InputError, match=message):
            read_examples(path)


def test_truncated_npz(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, X=np.ones((30, 2)))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"np\.savez"):
        read_examples(path)


# --------------------------------------------------------------------------- pairs


def test_pair_tables_of_every_kind(tmp_path: Path) -> None:
    text = put(tmp_path / "p.csv", "left,right,label\n1,2,same\n1,3,different\n")
    polars.DataFrame({"left": [1.0, 1.0], "right": [2, 3], "label": [True, False]}).write_parquet(
        tmp_path / "p.parquet"
    )
    np.savez(tmp_path / "p.npz", left=[1, 1], right=[2, 3], label=[1, 0])
    for path in (text, tmp_path / "p.parquet", tmp_path / "p.npz"):
        table = read_pairs(path)
        assert (table.left, table.right, len(table)) == (("1", "1"), ("2", "3"), 2)
        assert table.labels is not None
        assert table.labels.tolist() == [1, -1]


def test_columns_by_name_and_without_labels(tmp_path: Path) -> None:
    path = put(tmp_path / "p.csv", "a,b,truth\nu,v,1\n")
    assert read_pairs(path, "a", "b").labels is None
    assert read_pairs(path, "a", "b", "truth").labels is not None
    with pytest.raises(InputError, match="no column 'left'; it has 'a', 'b', 'truth'"):
        read_pairs(path)


@pytest.mark.parametrize(
    ("cells", "labels", "spelling"),
    [
        (["1", "-1", "+1"], [1, -1, 1], {"1": 1, "-1": -1}),
        (["1.0", "-1.0"], [1, -1], {"1": 1, "-1": -1}),
        (["1", "0"], [1, -1], {"1": 1, "0": -1}),
        (["0", "0"], [-1, -1], {"1": 1, "0": -1}),
        (["True", "FALSE "], [1, -1], {"true": 1, "false": -1}),
        (["same", "Different"], [1, -1], {"same": 1, "different": -1}),
    ],
)
def test_spellings_of_labels(cells: list[str], labels: list[int], spelling: dict[str, int]) -> None:
    found, used = read_labels(cells)
    assert found.tolist() == labels
    assert used == spelling


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "2"], "row 1 holds '2'"),
        (["1", ""], "row 1 holds nothing"),
        (["1", None], "row 1 holds nothing"),
        (["0", "-1", "1"], "mixes -1, 0, 1"),
        (["same", "0"], "mixes 0, same"),
        (["yes"], "row 0 holds 'yes'"),
    ],
)
def test_unclear_labels_are_refused(cells: list[str | None], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_labels(cells)


def test_bad_pair_tables(tmp_path: Path) -> None:
    for text, message in {
        "left,right\n": "no rows",
        "left,right\na,\n": "line 2, column 'right' is empty",
        "left,right,label\na,b,1\na,c,maybe\n": "line 3 holds 'maybe'",
    }.items():
        with pytest.raises(InputError, match=message):
            read_pairs(put(tmp_path / "p.csv", text)).required_labels()
    np.savez(tmp_path / "p.npz", left=[1, 2], right=[2])
    with pytest.raises(InputError, match=r"2 entries|1 entry"):
        read_pairs(tmp_path / "p.npz")


def test_joining_and_missing_ids(tmp_path: Path) -> None:
    faces = read_examples(put(tmp_path / "faces.csv", FACES))
    pairs = read_pairs(put(tmp_path / "p.csv", "left,right\nann1, bob1\nbob1,bob1\n")).on(faces)
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([0, 2], [2, 2])
    table = read_pairs(put(tmp_path / "q.csv", "left,right\nann1,eve\nmal,eve\n"))
    with pytest.raises(MissingIdsError, match=r"q\.csv .*2 ids .* 'eve', 'mal'|'mal', 'eve'") as caught:
        table.on(faces)
    assert set(caught.value.missing) == {"eve", "mal"}


# --------------------------------------------------------------------------- writing


def test_scores_come_back_exactly(tmp_path: Path) -> None:
    values = np.array([0.1 + 0.2, -1e-300, 1 / 3])
    sides = ("a", "b", "c,d"), ("b", "b", 'e"')
    for name in ("s.csv", "s.parquet"):
        write_table(tmp_path / name, {"left": sides[0], "right": sides[1], "score": values, "label": [1, -1, 1]})
        frame = (polars.read_csv if name.endswith("csv") else polars.read_parquet)(tmp_path / name)
        assert frame.columns == ["left", "right", "score", "label"]
        assert frame["score"].to_list() == values.tolist()
        assert tuple(frame["left"]) == sides[0]
    with pytest.raises(InputError, match=r"must end in one of \.csv, \.tsv"):
        write_table(tmp_path / "s.txt", {"score": values})


def test_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "old.txt", "old")

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        with pytest.raises(OSError, match=r"old\.txt: disk full; make room"):
            write_whole(path, b"new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["old.txt"]
    write_whole(path, b"new")
    assert path.read_text() == "new"


def test_targets_are_checked_early(tmp_path: Path) -> None:
    assert check_target(tmp_path / "new.csv") == (tmp_path / "new.csv").resolve()
    with pytest.raises(InputError, match="is a directory"):
        check_target(tmp_path)
    with pytest.raises(InputError, match="create it first"):
        check_target(tmp_path / "absent" / "new.csv")


@pytest.mark.parametrize("name", ["faces[1].csv", "faces*.parquet"])
def test_brackets_and_stars_in_a_name_are_just_a_name(name: str, tmp_path: Path) -> None:
    frame = polars.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0]})
    path = tmp_path / name
    frame.write_csv(path) if name.endswith("csv") else frame.write_parquet(path)
    assert np.asarray(read_examples(path).examples).tolist() == [[1.0], [2.0]]


# --------------------------------------------------------------------------- labels of preferences


def test_preferences_in_four_spellings(tmp_path: Path) -> None:
    for cells in (("1", "-1", "0"), ("1.0", "0.0", "0.5"), ("left", "Right", "tie"), ("win", "loss", "draw")):
        lines = [f"a,b,{cell}" for cell in cells]
        table = read_pairs(put(tmp_path / "games.csv", "\n".join(["left,right,label", *lines]) + "\n"))
        assert table.outcomes()[0].tolist() == [1, -1, 0]


def test_a_zero_that_can_mean_two_things_is_asked_about(tmp_path: Path) -> None:
    table = read_pairs(put(tmp_path / "games.csv", "left,right,label\na,b,1\nb,c,0\n"))
    with pytest.raises(InputError, match=r"holds 0, 1 only, which can mean two things; labels are 1/-1/0, 1/0/0.5"):
        table.outcomes()


def test_empty_labels_are_left_out_and_places_stay(tmp_path: Path) -> None:
    table = read_pairs(put(tmp_path / "games.csv", "left,right,label\na,b,\nb,c,1\nc,d,won\n")).labelled()
    assert table.left == ("b", "c")
    assert table.notes == ("1 pair without a label left out (column 'label')",)
    with pytest.raises(InputError, match="line 4 holds 'won'"):
        table.outcomes()


def test_columns_in_another_order_are_those_that_were_learnt(tmp_path: Path) -> None:
    first = read_examples(put(tmp_path / "first.csv", "id,x,y\na,1,2.5\nb,3,4.5\n"))
    assert first.layout is not None
    other = put(tmp_path / "other.csv", "id,y,x\na,2.5,1\nb,4.5,3\n")
    table = read_examples(other, learnt=first.layout.as_json())
    assert table.examples.tolist() == first.examples.tolist()


def test_columns_that_parts_name_are_no_suspects(tmp_path: Path) -> None:
    """Whole numbers that rise with the rows look like row numbers, unless somebody names them."""
    rows = "".join(f"p{k % 4},{k},{np.sin(k)}\n" for k in range(24))
    path = put(tmp_path / "faces.csv", "who,count,x\n" + rows)
    with pytest.raises(InputError, match=r"'count'.*would be learnt as a feature"):
        read_examples(path, Columns(classes="who"))
    table = read_examples(path, Columns(classes="who", parts=(("counted", "count"), ("measured", "x"))))
    assert table.parts == (("counted", 1), ("measured", 1))
    assert table.examples[:, 0].tolist() == list(range(24))
