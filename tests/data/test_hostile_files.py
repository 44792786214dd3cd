"""Files that lie, break off or explode: each is refused in one line that names the file and the place."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from pairlearn.data.files import bounds, frames
from pairlearn.data.files.sheet import read_sheet
from pairlearn.data.files.sources import find_source
from pairlearn.data.layout import Columns
from pairlearn.data.protocols import read_lfw_pairs
from pairlearn.data.reading import read_examples, read_pairs
from pairlearn.errors import InputError
from pairlearn.report.tables import read_scores
from pairlearn.selection.search.journal import NAME, Journal
from pairlearn.selection.search.trials import Trial

TABLE = b"id,x\na,1\nb,2\n"


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def refusal(path: Path, read: Any = read_examples) -> str:
    """The words with which a file is refused; they name it in one line."""
    with pytest.raises(InputError) as caught:
        read(path)
    text = str(caught.value)
    assert path.name in text
    assert "\n" not in text
    assert len(text) < 1000
    return text


def npy(shape: object, descr: object = "<f8", data: bytes = b"") -> bytes:
    """An .npy file whose header says anything."""
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def zipped(members: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def saved(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def parquet(frame: polars.DataFrame, **options: Any) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **options)
    return buffer.getvalue()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files may become 16 kB instead of 16 MB: small ones show the same, sooner."""
    monkeypatch.setattr(bounds, "FREE", 2**14)


# --------------------------------------------------------------------------- packed files


def test_gzip_that_breaks_off_or_is_damaged(tmp_path: Path) -> None:
    packed = gzip.compress(TABLE * 100)
    damaged = packed[:12] + bytes(8) + packed[20:]
    for content in (packed[:-9], damaged, b"\x1f\x8b", TABLE):
        assert "not a gzip file or it is truncated" in refusal(put(tmp_path / "x.csv.gz", content))


@pytest.mark.usefixtures("small")
def test_a_bomb_is_not_unpacked_and_a_large_table_is(tmp_path: Path) -> None:
    assert "unpack it first (gunzip)" in refusal(put(tmp_path / "x.csv.gz", gzip.compress(TABLE + bytes(3 * 10**6))))
    rows = np.random.default_rng(0).integers(0, 10**9, size=(200, 10))
    text = "\n".join(",".join(map(str, row)) for row in rows.tolist())
    content = f"{','.join('abcdefghij')}\n{text}\n".encode()
    assert len(content) > bounds.FREE
    path = put(tmp_path / "large.csv.gz", gzip.compress(content))
    assert read_examples(path, Columns(features=("*",))).examples.shape == (200, 10)


def test_single_digits_of_a_small_file(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv.gz", gzip.compress(b"a\n" + b"1\n" * 5 * 10**6, 1))
    assert "unpack it first (gunzip)" in refusal(path)


def test_unpacking_stops_at_a_share_of_the_free_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "x.csv.gz", gzip.compress(TABLE * 10))
    monkeypatch.setattr(bounds, "available_memory", lambda: 400)
    assert "when it is read" in refusal(path)


# --------------------------------------------------------------------------- text

TEXTS = {
    "UTF-16": ("id,x\na,1\n".encode("utf-16"), "is text in UTF-16; save it as UTF-8"),
    "UTF-32": ("id,x\na,1\n".encode("utf-32"), "is text in UTF-32; save it as UTF-8"),
    "UTF-32, big end": (b"\x00\x00\xfe\xff" + "id,x\na,1\n".encode("utf-32-be"), "is text in UTF-32"),
    "not UTF-8": (b"id,x\na,1\nb\xff,2\n", r"line 3 is not text in UTF-8 (byte 0xff at place 2)"),
    "open quote": (b'x,id\n1,a\n2,"b\n3,c\n4,d\n', "line 3 opens a quote that is not closed"),
    "long name": (b"id," + b"x" * 70_000 + b"\na,1\n", "the name of column 2 has 70,000 characters"),
    "wide": (b",".join(b"c%d" % k for k in range(100_000)) + b"\n" + b"1," * 99_999 + b"1\n", "has 100,000 columns"),
    "short lines": (b",".join(b"c%d" % k for k in range(999)) + b"\n" + b"1\n" * 9_000, "line 2 has 1 field"),
    "blank lines": (
        b",".join(b"c%d" % k for k in range(999)) + b"\n" * 9_000,
        "most cells of its 9,000 lines are empty",
    ),
    "digits": (b"id,x\na,1\nb," + b"9" * 5000 + b"\n", "line 3, column 'x' holds '999"),
    "1e400": (b"id,x\na,1\nb,1e400\n", "line 3, column 'x' holds '1e400', which is not a finite number"),
}


@pytest.mark.parametrize(("content", "words"), TEXTS.values(), ids=TEXTS.keys())
def test_text_tables(content: bytes, words: str, tmp_path: Path) -> None:
    assert words in refusal(put(tmp_path / "x.csv", content))


def test_long_cells_and_doubled_quotes_are_read(tmp_path: Path) -> None:
    long = put(tmp_path / "long.csv", b"id,v\n" + b'a,"[' + b"1.25, " * 40_000 + b'1.25]"\n')
    assert read_examples(long).examples.shape == (1, 40_001)
    inches = put(tmp_path / "inches.csv", b'id,x\n"5"" disk",1\n"3"" disk",2\n')
    assert read_examples(inches).ids == ('5" disk', '3" disk')


def test_doubled_quotes_in_names_of_columns(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", b'id,"na""me"\na,1\nb,2\n')
    assert list(read_sheet(path).columns) == ["id", 'na"me']


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairlearn.data.files.lines.MOST_LINE", 1000)
    assert "line 2 is longer than" in refusal(put(tmp_path / "x.csv", b"id,x\na," + b"1" * 2000 + b"\n"))


LINES = {
    "deep objects": (b'{"a":' * 1000 + b"1" + b"}" * 1000, "line 2 nests lists and objects more than 16 deep"),
    "deep lists": (b'{"a":' + b"[" * 900 + b"]" * 900 + b"}", "line 2 nests lists and objects more than 16 deep"),
    "not UTF-8": (b'{"id": "\xff", "x": 1}', "line 2 is not text in UTF-8"),
    "not an object": (b"[1, 2]", "line 2 is not a JSON object"),
    "not a number": (b'{"id": "b", "x": NaN}', "line 2 holds NaN, which is no number of JSON"),
    "not a number in a list": (b'{"id": "b", "x": [NaN]}', "line 2 holds NaN, which is no number of JSON"),
    "too large": (b'{"id": "b", "x": 1e999}', "line 2 holds 1e999, which is no number of JSON"),
    "a truth value": (b'{"id": "b", "x": true}', "line 2 holds true or false in 'x', where line 1 holds a number"),
    "lists in lists": (b'{"id": "b", "x": [[0], 1]}', "line 2 holds a list of mixed values in 'x', where line 1"),
}


@pytest.mark.parametrize(("line", "words"), LINES.values(), ids=LINES.keys())
def test_json_lines(line: bytes, words: str, tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b'{"id": "a", "x": 1}\n' + line + b"\n")
    assert words in refusal(path)


def test_brackets_in_strings_are_no_nesting(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b'{"id": "' + b"[{" * 50 + b'", "x": 1}\n{"id": "\\"[[", "x": 2}\n')
    assert read_examples(path).examples.tolist() == [[1.0], [2.0]]


def test_a_key_of_its_own_in_every_line(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"".join(b'{"k%d": 1}\n' % k for k in range(3000)))
    assert "give every line the same keys" in refusal(path)


# --------------------------------------------------------------------------- NumPy

ARRAYS = {
    "too many rows": npy((2**60,)),
    "rows of nothing": npy((2**40, 0), data=b""),
    "negative": npy((-1, 2), data=bytes(64)),
    "no bytes": npy((2**40,), "|S0"),
    "objects": saved(np.array([{}, {}])),
    "many objects": npy((2**62,), "|O"),
    "deep header": b"\x93NUMPY\x01\x00" + struct.pack("<H", 9001) + b"(" * 9000 + b"\n",
    "no characters": npy((2,), "<U1", b"\xff" * 8),
    "complex": saved(np.ones((3, 2), dtype=complex)),
    "structured": saved(np.zeros(3, dtype="i4,f8")),
}


@pytest.mark.parametrize("content", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays_that_are_none(content: bytes, tmp_path: Path) -> None:
    refusal(put(tmp_path / "x.npy", content))
    refusal(tmp_path / "x.npy", lambda path: read_examples(path, Columns(features=("*",))))
    refusal(put(tmp_path / "x.npz", zipped({"X.npy": content})))


@pytest.mark.parametrize("dtype", [">f8", "f2", "g", "u1", ">i4"])
def test_numbers_of_every_kind(dtype: str, tmp_path: Path) -> None:
    X = np.asfortranarray(np.arange(6).reshape(3, 2).astype(dtype))
    np.testing.assert_array_equal(read_examples(put(tmp_path / "x.npy", saved(X))).examples, X.astype(float))


@pytest.mark.usefixtures("small")
def test_members_that_nobody_uses_are_not_read(tmp_path: Path) -> None:
    X, zeros, objects = np.arange(6.0).reshape(3, 2), np.zeros((3, 100_000)), np.array([{}] * 3)
    members = {"X.npy": saved(X), "zeros.npy": saved(zeros), "../up.npy": saved(objects), "read me.txt": b"hello"}
    path = put(tmp_path / "x.npz", zipped(members))
    np.testing.assert_array_equal(read_examples(path).examples, X)
    text = refusal(path, lambda path: read_examples(path, Columns(features=("zeros",))))
    assert "'zeros.npy' has" in text
    assert "but becomes 2.4 MB or more" in text


def test_bytes_that_are_not_utf_8_are_no_ids(tmp_path: Path) -> None:
    members = {"X.npy": saved(np.eye(2)), "ids.npy": saved(np.array([b"\xff", b"a"]))}
    assert "ids.npy' holds text that is not UTF-8" in refusal(put(tmp_path / "x.npz", zipped(members)))


def test_packed_by_another_method(tmp_path: Path) -> None:
    path = put(tmp_path / "x.npz", zipped({"X.npy": saved(np.eye(2))}, zipfile.ZIP_LZMA))
    assert "packed in a way that NumPy does not write" in refusal(path)


# --------------------------------------------------------------------------- Parquet


@pytest.mark.usefixtures("small")
def test_few_bytes_that_hold_many_values(tmp_path: Path) -> None:
    many = polars.DataFrame({"x": polars.repeat(0.0, 50_000, eager=True)})
    lists = polars.DataFrame({"x": [[0.0] * 50_000]})
    for frame in (many, lists):
        assert "but becomes 400 kB or more" in refusal(put(tmp_path / "x.parquet", parquet(frame)))


def varint(number: int, width: int) -> bytes:
    """A whole number as the footer writes it, filled up to so many bytes."""
    return bytes([*((2 * number >> 7 * k) & 127 | 128 for k in range(width - 1)), 2 * number >> 7 * (width - 1)])


@pytest.mark.usefixtures("small")
def test_a_footer_that_lies_about_lists(tmp_path: Path) -> None:
    content = parquet(polars.DataFrame({"x": [[0.0] * 50_000]}))
    size = struct.unpack("<I", content[-8:-4])[0] + 8
    footer = content[-size:]
    for told in (50_000, 400_063):  # values, and bytes with the lengths of the lists
        assert varint(told, 3) in footer
        footer = footer.replace(varint(told, 3), varint(10, 3))
    assert "but becomes 400 kB or more" in refusal(put(tmp_path / "x.parquet", content[:-size] + footer))


def test_a_panic_of_the_reader_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "x.parquet", parquet(polars.DataFrame({"x": [1.0]})))

    def panic(*_: Any) -> None:
        raise polars.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(frames.load_polars(), "read_parquet", panic)
    assert "not a readable Parquet file: 'index out of bounds'" in refusal(path)


NESTED = b"PAR1" + b"\x19" * 5000 + struct.pack("<I", 5000) + b"PAR1"
"""A footer of lists within lists."""


def test_damaged_parquet(tmp_path: Path) -> None:
    content = parquet(polars.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0]}))
    for bad in (
        content[:-20],
        content[20:],
        content[:4] + content[-8:],
        b"PAR1",
        content[:-8] + b"\xff\xff\xff\x7fPAR1",
        NESTED,
    ):
        assert "not a readable Parquet file" in refusal(put(tmp_path / "x.parquet", bad))


@pytest.mark.parametrize("cells", [[[1.0], [1.0, 2.0]], [{"a": 1}, {"a": 2}], [b"\xff", b"a"]])
def test_scores_are_one_number_each(cells: list[Any], tmp_path: Path) -> None:
    path = put(tmp_path / "x.parquet", parquet(polars.DataFrame({"score": cells, "label": [1, -1]})))
    assert "column 'score' holds" in refusal(path, read_scores)


# --------------------------------------------------------------------------- what is no file


def test_devices_are_not_read_and_pipes_once(tmp_path: Path) -> None:
    assert "it is a device" in refusal(Path("/dev/zero"), find_source)
    assert "it is a directory" in refusal(tmp_path, find_source)
    os.mkfifo(tmp_path / "pipe")
    assert "is empty; pipe a table into it" in refusal(tmp_path / "pipe", find_source)
    reading, writing = os.pipe()
    os.write(writing, TABLE)
    os.close(writing)
    assert read_examples(f"/dev/fd/{reading}").ids == ("a", "b")
    os.close(reading)


def test_a_pipe_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "available_memory", lambda: 10**7)
    with open("/dev/zero", "rb") as endless:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(endless))
        with pytest.raises(InputError, match=r"standard input goes on after 2\.5 MB"):
            read_pairs("-")


def test_names_that_no_system_allows() -> None:
    for name in ("x" * 5000 + ".csv", "x\x00.csv"):
        with pytest.raises(InputError, match="cannot read x"):
            find_source(name)


# --------------------------------------------------------------------------- journals and protocols


def test_a_journal_that_somebody_edited(tmp_path: Path) -> None:
    record = {
        **{"stage": "pair", "size": {"n_classes": 2, "epcr": 3}, "split": 0, "setting": None, "baseline": "euclid"},
        **{"eer": 0.1, "score": -0.1, "status": "fitted", "seconds": 1.0, "n_pairs": 9},
    }
    journal = Journal(tmp_path, "abc")
    journal.add([Trial.from_json(record)], 2.5)
    again = Journal(tmp_path, "abc")
    assert (len(again), again.spent) == (1, 2.5)
    good = (tmp_path / NAME).read_text()
    spoilt = {"eer": "0.1", "size": {"n_classes": 2}, "split": None, "stage": "other", "n_pairs": 10**400, "extra": 1}
    lines = [json.dumps({"elapsed": 1.0, **record, name: value}) for name, value in spoilt.items()]
    for line in ("{", "[]", "7", "[" * 100_000, json.dumps(record), *lines):
        (tmp_path / NAME).write_text(f"{good}{line}\n")
        assert "line 3 is not the record of a trial" in refusal(
            tmp_path / NAME, lambda path: Journal(path.parent, "abc")
        )


def test_half_a_first_line_of_a_journal_starts_anew(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"finger')
    assert len(Journal(tmp_path, "abc")) == 0
    assert (tmp_path / NAME).read_text() == '{"fingerprint": "abc"}\n'
    other = put(tmp_path / NAME, b"dear diary")
    assert "other data or other settings" in refusal(other, lambda path: Journal(path.parent, "abc"))
    assert other.read_bytes() == b"dear diary"


def test_protocols_of_absurd_numbers(tmp_path: Path) -> None:
    for text in ("9" * 5000, "2\t" + "9" * 5000, "1\nann\t1\t" + "9" * 5000):
        refusal(put(tmp_path / "pairs.txt", text.encode()), read_lfw_pairs)
    packed = gzip.compress(b"1\nann\t1\t2\nann\t1\tbob\t1\n")
    assert "truncated" in refusal(put(tmp_path / "pairs.txt.gz", packed[:-5]), read_lfw_pairs)
