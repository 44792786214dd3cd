"""Tables as people have them: each gives the right examples, or one line that says what to do."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.data.files.frames import column_names
from pairlearn.data.files.sheet import read_sheet
from pairlearn.data.files.sources import Source, find_source
from pairlearn.data.layout import Columns
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.data.suspects import find_suspects
from pairlearn.errors import InputError

PEOPLE = [f"p{i // 4}" for i in range(24)]
X = np.random.default_rng(0).normal(size=(24, 3)).round(3)


def table(**columns: Any) -> polars.DataFrame:
    """24 photos of six people in order, three features, and what else a test adds in front."""
    return polars.DataFrame({**columns, "person": PEOPLE, **{f"e{t}": X[:, t] for t in range(3)}})


def text_of(frame: polars.DataFrame, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    frame.write_csv(buffer, **settings)
    return buffer.getvalue()


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


PERSON = Columns(classes="person")
NAMES = [f"photo {i}" for i in range(24)]


# --------------------------------------------------------------------------- tables that are read right


def test_a_byte_order_mark(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", b"\xef\xbb\xbf" + text_of(table(id=NAMES)))
    assert read_examples(path, PERSON).ids == tuple(NAMES)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_and_decimal_commas(delimiter: str, tmp_path: Path) -> None:
    content = text_of(table(id=NAMES), separator=delimiter).replace(b".", b",")
    found = read_examples(put(tmp_path / "x.csv", content), PERSON)
    np.testing.assert_array_equal(found.examples, X)
    assert any("between columns" in note for note in found.notes)
    assert "decimal commas read as points" in found.notes


def test_tab_separated_by_name(tmp_path: Path) -> None:
    found = read_examples(put(tmp_path / "x.tsv", text_of(table(id=NAMES), separator="\t")), PERSON)
    np.testing.assert_array_equal(found.examples, X)


def test_quoted_commas_and_line_breaks(tmp_path: Path) -> None:
    ids = [f"photo, {i}" if i % 2 else f'a "{i}"\nb' for i in range(24)]
    assert read_examples(put(tmp_path / "x.csv", text_of(table(id=ids))), PERSON).ids == tuple(ids)


@pytest.mark.parametrize("dtype", [polars.List(polars.Float64), polars.Array(polars.Float32, 3)])
def test_a_column_of_vectors(dtype: Any, tmp_path: Path) -> None:
    vectors = polars.Series("embedding", X.tolist(), dtype=dtype)
    frame = polars.DataFrame({"doc": NAMES, "person": PEOPLE, "embedding": vectors, "page": range(24), "note": NAMES})
    frame.write_parquet(tmp_path / "x.parquet")
    found = read_examples(tmp_path / "x.parquet", PERSON)
    np.testing.assert_allclose(found.examples, X, atol=1e-6)
    assert found.examples.dtype == (np.float32 if "Array" in str(dtype) else np.float64)
    assert str(found.layout) == "3 features in embedding; id doc; class person; left out: page, note"


def test_vectors_written_as_text_and_as_json(tmp_path: Path) -> None:
    frame = polars.DataFrame({"id": NAMES, "person": PEOPLE, "v": [str(row.tolist()) for row in X]})
    np.testing.assert_array_equal(read_examples(put(tmp_path / "x.csv", text_of(frame)), PERSON).examples, X)
    polars.DataFrame({"id": NAMES, "person": PEOPLE, "v": X.tolist()}).write_ndjson(tmp_path / "x.jsonl")
    np.testing.assert_array_equal(read_examples(tmp_path / "x.jsonl", PERSON).examples, X)


def test_booleans_are_numbers(tmp_path: Path) -> None:
    flags = [bool(i % 3) for i in range(24)]
    for name in ("x.csv", "x.parquet"):
        frame = table(id=NAMES, glasses=flags)
        frame.write_parquet(tmp_path / name) if name.endswith("parquet") else frame.write_csv(tmp_path / name)
        found = read_examples(tmp_path / name, PERSON)
        np.testing.assert_array_equal(found.examples[:, 0], np.array(flags, dtype=float))


def test_constant_columns_are_told_and_may_be_dropped(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", text_of(table(id=NAMES, camera=[1] * 24, dead=[0] * 24)))
    found = read_examples(path, PERSON)
    assert found.examples.shape == (24, 5)
    assert [note for note in found.notes if "camera" in note and "--drop" in note and "dead" not in note]
    assert read_examples(path, Columns(classes="person", drop=("camera,dead",))).notes == ()


def test_columns_of_the_class_are_told(tmp_path: Path) -> None:
    """Two persons share a value, so that it is no code of persons; one value that differs makes it one of examples."""
    persons = table(id=NAMES)["person"]
    counts = dict(zip(dict.fromkeys(persons), (5, 9, 5, 4, 9, 4), strict=True))
    photos = [counts[person] for person in persons]
    told = read_examples(put(tmp_path / "x.csv", text_of(table(id=NAMES, photos=photos))), PERSON).notes
    assert [note for note in told if "photos" in note and "within every class" in note and "--drop" in note]
    photos[3] += 1
    assert read_examples(put(tmp_path / "y.csv", text_of(table(id=NAMES, photos=photos))), PERSON).notes == ()


def test_a_hundred_thousand_columns(tmp_path: Path) -> None:
    wide = np.random.default_rng(1).normal(size=(3, 20_000)).round(2)
    names = ",".join(f"e{t}" for t in range(20_000))
    rows = "".join(f"a{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(wide.tolist()))
    found = read_examples(put(tmp_path / "x.csv", f"id,{names}\n{rows}".encode()))
    np.testing.assert_array_equal(found.examples, wide)
    assert str(found.layout) == "20,000 features e0 … e19999; id id"


def test_standard_input_tells_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    table(id=NAMES).write_parquet(buffer)
    arrays = io.BytesIO()
    np.savez(arrays, X=X, ids=NAMES, person=PEOPLE)
    lines = table(id=NAMES).write_ndjson().encode()
    for content in (buffer.getvalue(), arrays.getvalue(), lines, text_of(table(id=NAMES))):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        found = read_examples("-", PERSON)
        np.testing.assert_array_equal(found.examples, X)
        assert found.source == "standard input"


def test_names_of_columns_are_read_from_the_head(tmp_path: Path) -> None:
    frame = table(id=NAMES)
    frame.write_csv(tmp_path / "x.csv", separator=";")
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_ndjson(tmp_path / "x.jsonl")
    np.savez(tmp_path / "x.npz", id=NAMES, person=PEOPLE, e0=X[:, 0], e1=X[:, 1], e2=X[:, 2])
    for name in ("x.csv", "x.parquet", "x.jsonl", "x.npz"):
        assert sorted(column_names(find_source(tmp_path / name))) == sorted(frame.columns)
    with pytest.raises(InputError, match="not a readable Parquet file"):
        column_names(find_source(put(tmp_path / "bad.parquet", b"PAR1 and nothing else")))


# --------------------------------------------------------------------------- tables that get one line of advice


CODES = {f"p{i}": code for i, code in enumerate((4, 9, 2, 7, 1, 5))}
DAYS = [f"2024-03-{1 + i:02d}" for i in range(24)]
ADVICE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "whole number per row": ({"photo_id": range(7000, 7024)}, ["'photo_id'", "different whole number", "--id-column"]),
    "shuffled ids": ({"key": [(7 * i) % 24 for i in range(24)]}, ["'key'", "different whole number", "--drop key"]),
    "times in order": ({"t": [0.5 * i for i in range(24)]}, ["'t'", "sorted along the rows", "--drop t"]),
    "code of the class": ({"id": NAMES, "code": [CODES[person] for person in PEOPLE]}, ["'code'", "for every class"]),
    "year": ({"id": NAMES, "year": [2020] * 24}, ["'year'", "2020 in every row", "--drop year"]),
    "dates as text": ({"id": NAMES, "day": DAYS}, ["'day'", "2024-03-01", "--drop day"]),
    "words": ({"id": NAMES, "mood": ["calm", "glad"] * 12}, ["'mood'", "text such as 'calm'", "--drop mood"]),
    "two ids": ({"id": NAMES[:23] + NAMES[:1]}, ["'photo 0'", "line 2 and line 25", "unique"]),
    "no id": ({"id": [*NAMES[:5], "", *NAMES[6:]]}, ["line 7", "'id' is empty"]),
    "mixed types": (
        {"id": NAMES, "age": [str(30 + i % 7) for i in range(23)] + ["old"]},
        ["line 25", "'age'", "'old'"],
    ),
    "a hole": ({"id": NAMES, "age": [31.5 + i % 7 for i in range(23)] + [None]}, ["line 25", "'age' is missing"]),
}


@pytest.mark.parametrize(("columns", "words"), ADVICE.values(), ids=ADVICE.keys())
def test_one_line_says_what_to_do(columns: dict[str, Any], words: list[str], tmp_path: Path) -> None:
    frame = table(**{name: polars.Series(list(cells), strict=False) for name, cells in columns.items()})
    with pytest.raises(InputError) as caught:
        read_examples(put(tmp_path / "x.csv", text_of(frame)), PERSON)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in ["x.csv", *words]), message


def test_dates_of_parquet_are_named(tmp_path: Path) -> None:
    table(id=NAMES, day=polars.Series(DAYS).str.to_date()).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"column 'day' holds dates or times such as '2024-03-01'.*--drop day"):
        read_examples(tmp_path / "x.parquet", PERSON)


def test_two_columns_of_vectors_are_asked_about(tmp_path: Path) -> None:
    polars.DataFrame({"id": NAMES, "a": X.tolist(), "b": X.tolist()}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"several columns of vectors, 'a', 'b'; choose with --features a"):
        read_examples(tmp_path / "x.parquet")
    assert read_examples(tmp_path / "x.parquet", Columns(features=("b",))).layout.left_out == ("a",)  # type: ignore[union-attr]


def test_vectors_of_different_lengths(tmp_path: Path) -> None:
    rows = [*X.tolist()[:-1], [1.0]]
    polars.DataFrame({"id": NAMES, "v": rows}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"row 23, column 'v' is not a list of 3 numbers"):
        read_examples(tmp_path / "x.parquet")


def test_a_flaw_in_a_vector_and_numbers_too_large(tmp_path: Path) -> None:
    rows = X.tolist()
    rows[7][1] = float("nan")
    polars.DataFrame({"id": NAMES, "v": rows}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"row 7, column 'v' holds nan at place 1 of its list"):
        read_examples(tmp_path / "x.parquet")
    frame = table(id=NAMES).with_columns(e1=polars.when(polars.col("id") == NAMES[4]).then(1e200).otherwise("e1"))
    with pytest.raises(InputError, match=r"line 6, column 'e1' holds a number beyond 1e\+100.*scale"):
        read_examples(put(tmp_path / "x.csv", text_of(frame)), PERSON)


def test_rows_are_numbered_with_a_hint(tmp_path: Path) -> None:
    frame = polars.DataFrame({"person": PEOPLE, "nr": range(500, 524), "v": X.tolist()})
    frame.write_parquet(tmp_path / "x.parquet")
    assert any("'nr' looks like ids" in note for note in read_examples(tmp_path / "x.parquet", PERSON).notes)
    assert read_examples(tmp_path / "x.parquet", Columns(id="nr", classes="person")).notes == ()


def test_points_beside_decimal_commas_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'x' has decimal commas and column 'y' has points"):
        read_examples(put(tmp_path / "x.csv", b"id;x;y\na;1,5;1.234\nb;2,5;2.345\n"))


@pytest.mark.parametrize(
    ("cells", "taken"),
    [
        (["3,5", "XL", "4"], ["3,5", "XL"]),  # sizes
        (["3,7", "3,7,9", "2"], ["3,7", "3,7,9"]),  # lists
        (["1,50", "n/a", ""], ["1,50", "n/a"]),  # prices, one unknown
        (["1,5", "", "2,25"], [1.5, None]),  # numbers, one missing
    ],
)
def test_only_columns_of_numbers_lose_their_decimal_commas(
    cells: list[str], taken: list[object], tmp_path: Path
) -> None:
    """Rows that are written elsewhere are written whole."""
    rows = "".join(f"p{i};{cell}\n" for i, cell in enumerate(cells))
    sheet = read_sheet(put(tmp_path / "x.csv", f"id;size\n{rows}".encode()))
    found = list(sheet.take(np.array([0, 1]))["size"])
    assert [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in found] == taken


# --------------------------------------------------------------------------- what the user says


def test_a_named_feature_is_no_suspect(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", text_of(table(photo_id=range(24))))
    taken = read_examples(path, Columns(classes="person", features=("*",)))
    assert taken.layout is not None
    assert taken.layout.columns == ("photo_id", "e0", "e1", "e2")
    as_id = read_examples(path, Columns(id="photo_id", classes="person"))
    assert (as_id.ids[5], as_id.examples.shape) == ("5", (24, 3))


@pytest.mark.parametrize(
    ("features", "taken"),
    [
        (("e0:e1",), ("e0", "e1")),
        (("e2:e1",), ("e1", "e2")),
        (("e*",), ("e0", "e1", "e2")),
        (("e0,e2",), ("e0", "e2")),
        (("e2", "e0"), ("e2", "e0")),
    ],
)
def test_names_globs_and_ranges(features: tuple[str, ...], taken: tuple[str, ...], tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", text_of(table(id=NAMES)))
    found = read_examples(path, Columns(classes="person", features=features))
    assert found.layout is not None
    assert found.layout.columns == taken
    with pytest.raises(InputError, match="no column that --features 'f9' means"):
        read_examples(path, Columns(features=("f9",)))


def test_scoring_takes_what_the_model_was_learnt_from(tmp_path: Path) -> None:
    first = read_examples(put(tmp_path / "x.csv", text_of(table(id=NAMES))), PERSON)
    assert first.layout is not None
    learnt = first.layout.as_json()
    moved = table(id=NAMES, age=range(24)).select("e2", "age", "e0", "person", "id", "e1")
    again = read_examples(put(tmp_path / "y.csv", text_of(moved)), learnt=learnt)
    np.testing.assert_array_equal(again.examples, X)
    assert again.classes == tuple(PEOPLE)
    with pytest.raises(InputError, match="lacks 1 of the 3 columns that the model was learnt from: 'e1'"):
        read_examples(put(tmp_path / "z.csv", text_of(table(id=NAMES).drop("e1"))), learnt=learnt)
    np.save(tmp_path / "x.npy", X)
    np.testing.assert_array_equal(read_examples(tmp_path / "x.npy", learnt=learnt).examples, X)


# --------------------------------------------------------------------------- laws


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(10, 40), st.sampled_from(["float", "int", "bit"]))
def test_honest_features_are_no_suspects(seed: int, n: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    values = {"float": rng.normal(size=(n, 4)), "int": rng.integers(0, 9, (n, 4)), "bit": rng.integers(0, 2, (n, 4))}
    columns = np.asarray(values[kind], dtype=float)
    classes = [f"c{c}" for c in rng.integers(0, 3, n)]
    found = [s for s in find_suspects(list("abcd"), columns, classes) if "drowns" not in s.looks]
    assert found == []


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(20, 60))
def test_ids_row_numbers_and_sorted_codes_are_suspects(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    ids = rng.choice(10**9, n, replace=False)
    codes = np.sort(np.arange(n) % 5)
    columns = np.column_stack([ids, np.arange(n), codes, rng.normal(size=n)]).astype(float)
    assert [s.name for s in find_suspects(["id", "row", "code", "x"], columns)] == ["id", "row", "code"]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["csv", "tsv", "jsonl", "parquet", "npz", "npy"]))
def test_any_bytes_are_read_or_refused(content: bytes, kind: str) -> None:
    for read in (read_examples, read_pairs):
        try:
            read(Source("bytes", kind, None, content))
        except InputError:
            continue


def test_patterns_of_representations_leave_ids_and_classes_out(tmp_path: Path) -> None:
    path = tmp_path / "faces.csv"
    path.write_text("photo,person,p0,p1,q0\na,ann,1,2,3\nb,bob,4,5,6\n")
    parts = (("pix", "p*"), ("rest", "q*"))
    found = read_examples(path, Columns(id="photo", classes="person", parts=parts))
    assert found.layout is not None
    assert found.layout.parts == (("pix", ("p0", "p1")), ("rest", ("q0",)))
    assert found.parts == (("pix", 2), ("rest", 1))
