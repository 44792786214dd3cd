"""Protocol files: small ones written here, malformed ones, and the real ones if they are there."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairlearn as pl
from pairlearn.data.protocols import Protocol, read_lfw_pairs, read_lfw_view1
from pairlearn.errors import InputError, MissingIdsError
from pairlearn.selection import refuse_leaks

TWO_FOLDS = """2\t2
ann\t1\t2
ann\t1\t3
ann\t1\tbob\t1
bob\t2\tann\t3
cat\t1\t4
dan\t2\t1
cat\t1\tdan\t1
dan\t2\teve\t1
"""
IDS = [("ann", 1), ("ann", 2), ("ann", 3), ("bob", 1), ("bob", 2), ("cat", 1), ("cat", 4), ("dan", 1), ("dan", 2)]
IDS += [("eve", 1)]


def written(folder: Path, text: str, name: str = "pairs.txt") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


# --------------------------------------------------------------------------- reading


@pytest.mark.parametrize("name", ["pairs.txt", "pairs.txt.gz"])
@pytest.mark.parametrize("change", [str, str.rstrip, lambda t: t + "\n\n", lambda t: t.replace("\n", "\r\n")])
def test_two_folds_are_read(tmp_path: Path, name: str, change: object) -> None:
    protocol = read_lfw_pairs(written(tmp_path, change(TWO_FOLDS), name))  # type: ignore[operator]
    assert len(protocol) == 8
    assert protocol.labels.tolist() == [1, 1, -1, -1, 1, 1, -1, -1]
    assert protocol.fold.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert protocol.left_ids[1:4] == [("ann", 1), ("ann", 1), ("bob", 2)]
    assert protocol.right_ids[1:4] == [("ann", 3), ("bob", 1), ("ann", 3)]
    assert protocol.right_names[0] == "ann"


def test_pairs_join_with_images(tmp_path: Path) -> None:
    protocol, images = read_lfw_pairs(written(tmp_path, TWO_FOLDS)), np.eye(10)
    names, numbers = zip(*IDS, strict=True)
    for ids in (IDS, zip(np.array(names), np.array(numbers), strict=True), [(n, str(k)) for n, k in IDS]):
        pairs = protocol.pairs(images, ids)
        assert pairs.left.tolist() == [0, 0, 0, 4, 5, 8, 5, 8]
        assert pairs.right.tolist() == [1, 2, 3, 2, 6, 7, 7, 9]
    assert pairs.labels(names).tolist() == protocol.labels.tolist()


def test_folds_are_tested_in_turn(tmp_path: Path) -> None:
    protocol = read_lfw_pairs(written(tmp_path, TWO_FOLDS))
    splits = [(train.tolist(), test.tolist()) for train, test in protocol.splits()]
    assert splits == [([4, 5, 6, 7], [0, 1, 2, 3]), ([0, 1, 2, 3], [4, 5, 6, 7])]
    pairs = protocol.pairs(np.eye(10), IDS)
    for train, test in protocol.splits():
        refuse_leaks(pairs[train], pairs[test], [name for name, _ in IDS])


def test_view_1_trains_on_one_file_and_tests_on_the_other(tmp_path: Path) -> None:
    train = written(tmp_path, "1\nann\t1\t2\nann\t1\tbob\t1\n", "pairsDevTrain.txt")
    test = written(tmp_path, "1\ncat\t1\t4\ncat\t1\tdan\t1\n", "pairsDevTest.txt")
    protocol = read_lfw_view1(train, test)
    assert [(a.tolist(), b.tolist()) for a, b in protocol.splits()] == [([0, 1], [2, 3])]
    assert protocol.labels.tolist() == [1, -1, 1, -1]
    with pytest.raises(MissingIdsError, match=r"pairsDevTest.txt, line 3: 1 id .*'dan'"):
        protocol.pairs(np.eye(7), IDS[:7])
    with pytest.raises(InputError, match="one fold cannot both train and test; read View 1 with read_lfw_view1"):
        read_lfw_pairs(train).splits()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, n_folds: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = []
    for fold in range(n_folds):
        for same in (True, False):
            for _ in range(n):
                (a, b), (i, j) = rng.permutation(5)[:2], rng.permutation(9)[:2] + 1
                rows.append((f"p{fold}_{a}", int(i), f"p{fold}_{a if same else b}", int(j), 1 if same else -1, fold))
    lines = ["\t".join(map(str, r[:2] + (r[3:4] if r[4] == 1 else r[2:4]))) for r in rows]
    path = written(tmp_path_factory.mktemp("lfw"), "\n".join([f"{n_folds}\t{n}", *lines]))
    p = read_lfw_pairs(path)
    columns = (p.left_names, p.left_numbers, p.right_names, p.right_numbers, p.labels.tolist(), p.fold.tolist())
    assert list(zip(*columns, strict=True)) == rows


# --------------------------------------------------------------------------- what is refused


def changed(line: int, text: str) -> str:
    lines = TWO_FOLDS.split("\n")
    lines[line - 1] = text
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pairs.txt is empty"),
        (changed(1, "ann\t1"), r"pairs.txt, line 1 must hold the number of folds .* got 'ann\\t1'"),
        (changed(1, "2\t2\t2"), "line 1 must hold"),
        (changed(1, "0\t2"), "line 1 must hold"),
        (changed(1, "-2\t2"), "line 1 must hold"),
        (changed(1, "2\t1"), "pairs.txt, line 3 has 3 fields, but should hold a mismatched pair"),
        (changed(1, "1\t2"), "announces 1 × 2 × 2 = 4 pairs, but 8 lines follow; get the file anew"),
        (changed(1, "3\t2"), "announces 3 × 2 × 2 = 12 pairs, but 8 lines follow"),
        (changed(3, "ann\t1\tbob\t3"), "line 3 has 4 fields, but should hold a matched pair: name, number, number"),
        (changed(4, ""), "line 4 has 0 fields"),
        (changed(2, "ann\t1\ttwo"), "line 2: 'two' is not an image number"),
        (changed(2, "ann\t0\t1"), "line 2: '0' is not an image number"),
        (changed(5, "bob\t1.5\tann\t3"), "line 5: '1.5' is not an image number"),
        (changed(5, "bob\t²\tann\t3"), "line 5: '²' is not an image number"),
        (changed(2, "ann\t2\t2"), "line 2 names the same image twice"),
        (changed(9, "dan\t1\tdan\t2"), "line 9 names the same name twice"),
    ],
)
def test_malformed_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_lfw_pairs(written(tmp_path, text))


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*missing.txt"):
        read_lfw_pairs(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="it is a directory"):
        read_lfw_pairs(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "b.txt.gz").write_bytes(b"2\t2\n")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(TWO_FOLDS.encode())[:-12])
    for name, kind in {"a.txt": "text in UTF-16", "b.txt.gz": "not a gzip file", "c.txt.gz": "not a gzip file"}.items():
        with pytest.raises(InputError, match=f"{name} is {kind}"):
            read_lfw_pairs(tmp_path / name)


def test_missing_images_are_named_with_their_line(tmp_path: Path) -> None:
    protocol = read_lfw_pairs(written(tmp_path, TWO_FOLDS))
    with pytest.raises(MissingIdsError, match=r"pairs.txt, line 5: 2 ids .* \('bob', 2\), \('eve', 1\)") as caught:
        protocol.pairs(np.eye(8), [key for key in IDS if key not in (("bob", 2), ("eve", 1))])
    assert caught.value.missing == [("bob", 2), ("eve", 1)]
    with pytest.raises(InputError, match="couples"):
        protocol.pairs(np.eye(10), range(10))
    with pytest.raises(InputError, match="must be unique"):
        protocol.pairs(np.eye(11), [*IDS, IDS[0]])


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="labels has 2 entries for 1 pair"):
        Protocol(("a",), (1,), ("b",), (1,), np.array([1, -1]), np.array([0]))
    one = Protocol(("a",), (1,), ("b",), (1,), np.array([-1]), np.array([0]))
    with pytest.raises(MissingIdsError, match=r"^pair 0: 1 id "):
        one.pairs(np.eye(1), [("a", 1)])


# --------------------------------------------------------------------------- the real files


@pytest.fixture
def lfw() -> Path:
    folder = Path(os.environ.get("PAIRLEARN_DATA", "")) / "lfw"
    if "PAIRLEARN_DATA" not in os.environ or not (folder / "pairs.txt.gz").is_file():
        pytest.skip("set PAIRLEARN_DATA to the folder with the data sets")
    return folder


def test_the_real_protocol_is_as_published(lfw: Path) -> None:
    known = np.load(lfw / "lfw_protocol.npz")
    names = known["people"][known["person"]].tolist()
    ids = list(zip(names, known["img_no"].tolist(), strict=True))
    images = np.arange(len(ids), dtype=float)[:, None]
    view2 = read_lfw_pairs(lfw / "pairs.txt.gz")
    pairs = view2.pairs(images, ids)
    np.testing.assert_array_equal(np.column_stack(pairs.columns), known["view2_pairs"])
    np.testing.assert_array_equal(view2.labels == 1, known["view2_same"])
    np.testing.assert_array_equal(pairs.labels(names), view2.labels)
    assert np.bincount(view2.fold).tolist() == [600] * 10
    for train, test in view2.splits():
        refuse_leaks(pairs[train], pairs[test], names)


def test_the_real_view_1_has_no_shared_persons(lfw: Path) -> None:
    view1 = read_lfw_view1(lfw / "pairsDevTrain.txt.gz", lfw / "pairsDevTest.txt.gz")
    ids = sorted({*view1.left_ids, *view1.right_ids})
    pairs: pl.Pairs = view1.pairs(np.arange(len(ids), dtype=float)[:, None], ids)
    ((train, test),) = view1.splits()
    assert (len(train), len(test)) == (2200, 1000)
    refuse_leaks(pairs[train], pairs[test], [name for name, _ in ids])
