"""`pairlearn pairs`: samples are what was asked for, parts share nothing, and faults are found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import pairlearn as pl

Call = Callable[..., Any]
KNOWN = ("--class-column", "person")


def ends(table: polars.DataFrame) -> set[str]:
    """Ids on both sides."""
    return {*table["left"], *table["right"]}


def person(key: str) -> str:
    return key.split("_")[0]


# --------------------------------------------------------------------------- sample


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "npz"])
def test_a_sample_is_labelled_by_class(people: Path, call: Call, ending: str) -> None:
    out = people / f"drawn.{ending}"
    call("pairs", "sample", people / "faces.parquet", *KNOWN, "--positives", 30, "--ratio", 2, "--out", out)
    drawn = pl.data.reading.read_pairs(out)
    labels = [1 if person(a) == person(b) else -1 for a, b in zip(drawn.left, drawn.right, strict=True)]
    assert drawn.labels.tolist() == labels
    assert (labels.count(1), labels.count(-1)) == (30, 60)


def test_a_cap_holds_and_equal_seeds_draw_the_same(people: Path, call: Call) -> None:
    args = ("pairs", "sample", people / "faces.parquet", *KNOWN, "--per-class-cap", 2, "--seed", 4)
    one, two = call(*args).stdout, call(*args).stdout
    assert one == two
    drawn = polars.read_csv(one.encode())
    same = drawn.filter(polars.col("label") == 1)["left"].str.slice(0, 3)
    assert same.value_counts()["count"].max() == 2


def test_a_sample_is_shuffled_by_its_seed(people: Path, call: Call) -> None:
    """Whoever learns from it row by row must not find all positive pairs first; in Python they are."""
    args = ("pairs", "sample", people / "faces.parquet", *KNOWN, "--positives", 50, "--ratio", 1)
    drawn = [polars.read_csv(call(*args, "--seed", seed).stdout.encode()) for seed in (0, 0, 1)]
    assert drawn[0].equals(drawn[1])
    assert not drawn[0].equals(drawn[2])
    for table in drawn:
        assert 30 < np.count_nonzero(np.diff(table["label"].to_numpy())) < 70
    table = polars.read_parquet(people / "faces.parquet")
    ids = table["photo"].to_numpy()
    pairs = pl.selection.PairSampler(positives=50, ratio=1, reflexive=False, seed=0).draw(
        np.zeros((len(ids), 1)), table["person"].to_list()
    )
    assert sorted(drawn[0].select("left", "right").rows()) == sorted(
        zip(ids[pairs.left], ids[pairs.right], strict=True)
    )


def test_a_sample_without_a_file_is_part_of_the_answer(people: Path, call: Call) -> None:
    args = ("pairs", "sample", people / "faces.parquet", *KNOWN, "--positives", 5, "--ratio", 1)
    told = json.loads(call(*args, "--json").stdout)
    drawn = polars.read_csv(call(*args).stdout.encode())
    assert {name: told[name] for name in drawn.columns} == drawn.to_dict(as_series=False)
    assert (told["out"], told["pairs"]) == ("-", len(drawn))


def test_hard_negatives_are_the_nearest(people: Path, call: Call) -> None:
    args = ("pairs", "sample", people / "faces.parquet", *KNOWN, "--positives", 1, "--negatives", 5, "--hard", "euclid")
    drawn = polars.read_csv(call(*args).stdout.encode()).filter(polars.col("label") == -1)
    table = polars.read_parquet(people / "faces.parquet")
    X, who = table.select(f"e{t}" for t in range(6)).to_numpy(), table["person"].to_numpy()
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    nearest = np.sort(gaps[np.triu(who[:, None] != who[None], 1)])[:5]
    rows = {key: row for row, key in enumerate(table["photo"])}
    found = [gaps[rows[a], rows[b]] for a, b in zip(drawn["left"], drawn["right"], strict=True)]
    np.testing.assert_allclose(np.sort(found), nearest)


def test_hard_negatives_of_a_model_do_not_depend_on_the_order_of_columns(people: Path, call: Call) -> None:
    table = polars.read_parquet(people / "faces.parquet")
    names = [f"e{t}" for t in range(6)]
    table.select("photo", "person", *reversed(names)).write_csv(people / "turned.csv")
    asked = ("--positives", 1, "--negatives", 5, "--hard", people / "model.safetensors")
    drawn = polars.read_csv(call("pairs", "sample", people / "turned.csv", *KNOWN, *asked).stdout.encode())
    pairs = pl.all_pairs(table.select(names).to_numpy(), reflexive=False)
    scores = pl.load(people / "model.safetensors").decision_function(pairs)
    who, ids = table["person"].to_numpy(), table["photo"].to_list()
    apart = np.flatnonzero(who[pairs.left] != who[pairs.right])
    most = apart[np.argsort(-scores[apart])[:5]]
    negative = drawn.filter(polars.col("label") == -1)
    found = {frozenset(row) for row in negative.select("left", "right").rows()}
    assert found == {frozenset((ids[pairs.left[k]], ids[pairs.right[k]])) for k in most}


# --------------------------------------------------------------------------- split


def test_parts_of_examples_share_no_class_and_lose_no_row(people: Path, call: Call) -> None:
    call("pairs", "split", people / "faces.parquet", *KNOWN, "--out-dir", people / "parts")
    whole = polars.read_parquet(people / "faces.parquet")
    parts = [polars.read_parquet(people / "parts" / f"{name}.parquet") for name in ("train", "development", "test")]
    assert polars.concat(parts).sort("photo").equals(whole.sort("photo"))
    assert sum(part["person"].n_unique() for part in parts) == whole["person"].n_unique()
    assert [len(part) for part in parts] == [120, 40, 40]


@pytest.mark.parametrize("classes", [True, False])
def test_parts_of_pairs_share_no_example(people: Path, call: Call, classes: bool) -> None:
    known = ("--examples", people / "faces.parquet", "--id-column", "photo", *KNOWN) if classes else ()
    out = people / "parts"
    args = ("pairs", "split", people / "pairs.csv", "--parts", "train=2,test=1", "--out-dir", out, *known, "--json")
    result = json.loads(call(*args).stdout)
    train, test = (polars.read_csv(out / f"{name}.csv") for name in ("train", "test"))
    assert not ends(train) & ends(test)
    # Positive pairs link all photos of a person here, so persons stay whole in either way.
    assert not {person(key) for key in ends(train)} & {person(key) for key in ends(test)}
    assert len(train) + len(test) + result["lost"] == len(polars.read_csv(people / "pairs.csv"))
    assert (out / "train.csv.run.json").exists()


def test_small_chains_stay_whole_and_nothing_is_lost(people: Path, call: Call) -> None:
    rows = "".join(f"a{k},b{k},same\nb{k},c{k},different\n" for k in range(60))
    (people / "chains.csv").write_text("left,right,label\n" + rows)
    args = ("pairs", "split", people / "chains.csv", "--out-dir", people / "parts", "--json")
    result = json.loads(call(*args).stdout)
    assert result["lost"] == 0
    assert sum(part["rows"] for part in result["parts"].values()) == 120


COUPLES = [*combinations("abcdefgh", 2)]


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "b"), ("b", "a"), ("a", "b"), ("c", "d")],
        [*COUPLES, *COUPLES, *((b, a) for a, b in COUPLES)],
        [(f"drug{i}", f"target{j}") for i in range(6) for j in range(5)] * 3,
    ],
)
def test_copies_and_mirrors_of_a_pair_are_in_one_part(people: Path, call: Call, rows: list[tuple[str, str]]) -> None:
    mixed = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
    (people / "many.csv").write_text("left,right,label\n" + "".join(f"{a},{b},1\n" for a, b in mixed))
    out = people / "parts"
    call("pairs", "split", people / "many.csv", "--apart", "pairs", "--parts", "train=1,test=1", "--out-dir", out)
    train, test = (polars.read_csv(out / f"{name}.csv") for name in ("train", "test"))
    assert len(train) + len(test) == len(rows)
    couples = [{frozenset(row) for row in part.select("left", "right").rows()} for part in (train, test)]
    assert not couples[0] & couples[1]
    checked = json.loads(call("pairs", "check", out / "train.csv", out / "test.csv", "--json").stdout)
    assert checked["leaks"]["shared"]["pairs"] == []


def test_cells_stay_as_they_stand(people: Path, call: Call) -> None:
    (people / "europe.csv").write_text("id;class;x\n007;ann;1,5\n008;bob;2,25\n")
    call("pairs", "split", people / "europe.csv", "--parts", "a=1,b=1", "--out-dir", people / "parts")
    both = polars.concat([polars.read_csv(people / "parts" / f"{name}.csv", infer_schema=False) for name in "ab"])
    assert sorted(both.rows()) == [("007", "ann", "1.5"), ("008", "bob", "2.25")]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["faces.parquet"], "--class-column"),
        (["pairs.csv", "--parts", "train"], "train=0.8,test=0.2"),
        (["pairs.csv", "--parts", "train=1,train=2"], "a name of its own"),
        (["pairs.csv", "--parts", "train=1,test=-1"], "shares > 0"),
        (["pairs.csv", "--format", "xlsx"], ".parquet"),
        (["pairs.csv", "--examples", "gallery.csv", "--id-column", "photo", *KNOWN], "not among the examples"),
    ],
)
def test_splits_that_cannot_be_are_one_line(people: Path, call: Call, args: list[str], words: str) -> None:
    placed = [people / arg if arg.endswith((".csv", ".parquet")) else arg for arg in args]
    result = call("pairs", "split", *placed, "--out-dir", people / "parts", code=1)
    assert words in result.stderr.splitlines()[-1]


# --------------------------------------------------------------------------- check

BAD = "left,right,label\na,b,same\nb,c,same\na,c,different\nb,a,different\nc,c,same\nd,e,same\nd,e,same\n"


def test_faults_of_one_table(people: Path, call: Call) -> None:
    (people / "bad.csv").write_text(BAD)
    result = json.loads(call("pairs", "check", people / "bad.csv", "--json").stdout)
    found = result["tables"][str(people / "bad.csv")]
    assert (found["pairs"], found["positive"], found["negative"]) == (7, 5, 2)
    assert (found["repeated"], found["of an example with itself"]) == (2, 1)
    assert found["contradictory"] == [["b", "a"]]
    assert found["against chains"] == [["a", "c"], ["b", "a"]]
    assert found["chain"] == ["a", "b", "c"]
    call("pairs", "check", people / "bad.csv", "--strict", code=1)


def test_shared_pairs_are_found_in_either_order(people: Path, call: Call) -> None:
    (people / "one.csv").write_text("left,right,label\na,b,1\nc,d,-1\n")
    (people / "two.csv").write_text("left,right,label\nd,c,-1\nx,b,1\n")
    result = json.loads(call("pairs", "check", people / "one.csv", people / "two.csv", "--json").stdout)
    shared = result["leaks"]["shared"]
    assert (set(shared["examples"]), shared["pairs"]) == ({"b", "c", "d"}, [["d", "c"]])
    assert "shared by both tables" in call("pairs", "check", people / "one.csv", people / "two.csv").stdout


def test_what_is_to_mend_is_named(people: Path, call: Call) -> None:
    (people / "one.csv").write_text("left,right,label\na,b,1\nc,d,-1\n")
    (people / "two.csv").write_text("left,right,label\nx,b,1\nx,b,-1\n")
    shown = call("pairs", "check", people / "one.csv", people / "two.csv", "--strict", code=1).stdout
    assert "Found 1 contradiction, 1 label against chains of others, 1 example in both tables." in shown


def test_a_label_column_that_was_named_must_be_there(people: Path, call: Call) -> None:
    (people / "plain.csv").write_text("left,right\na,b\nc,d\n")
    call("pairs", "check", people / "plain.csv")
    told = call("pairs", "check", people / "plain.csv", "--label-column", "nosuch", code=1)
    assert "no column 'nosuch'" in told.stderr


@pytest.mark.parametrize("cells", ["1,0,-1,1", "left,right,tie,left", "0.5,7.25,3,0.5", "home,away,home,home"])
def test_other_labels_leave_the_other_checks(people: Path, call: Call, cells: str) -> None:
    rows = zip(("a,b", "c,d", "b,a", "c,c"), cells.split(","), strict=True)
    (people / "games.csv").write_text("left,right,label\n" + "".join(f"{pair},{cell}\n" for pair, cell in rows))
    (people / "next.csv").write_text("left,right\nb,a\n")
    args = ("pairs", "check", people / "games.csv", people / "next.csv")
    result = json.loads(call(*args, "--json").stdout)
    found = result["tables"][str(people / "games.csv")]
    assert (found["pairs"], found["repeated"], found["of an example with itself"]) == (4, 1, 1)
    assert result["leaks"]["shared"]["pairs"] == [["b", "a"]]
    assert "contradictory" not in found
    shown = " ".join(call(*args).stdout.split())
    assert "labels not checked, since" in shown
    assert "are not same/different" in shown


def test_a_slip_among_same_and_different_is_refused(people: Path, call: Call) -> None:
    (people / "slip.csv").write_text("left,right,label\na,b,same\nc,d,smae\n")
    assert "line 3 holds 'smae'" in call("pairs", "check", people / "slip.csv", code=1).stderr


def test_copies_under_other_ids_leak(people: Path, call: Call) -> None:
    """An example that was saved twice is one example: by content, not by name."""
    table = polars.read_csv(people / "gallery.csv")
    copied = table.head(1).with_columns(photo=polars.lit("copy"), person=polars.lit("nobody"))
    train = polars.read_csv(people / "train.csv")
    polars.concat([train, copied]).write_csv(people / "leaky.csv")
    args = ("pairs", "check", people / "leaky.csv", people / "gallery.csv", *KNOWN)
    result = json.loads(call(*args, "--json").stdout)
    assert result["leaks"]["shared"] == {"examples": [table["photo"][0]], "classes": []}
    call(*args, "--strict", code=1)
    clean = call("pairs", "check", people / "train.csv", people / "gallery.csv", *KNOWN, "--strict")
    assert "new classes" in clean.stdout


def test_equal_examples_are_found_whatever_the_order_of_columns(people: Path, call: Call) -> None:
    table = polars.read_csv(people / "gallery.csv")
    turned = table.select("photo", "person", *(f"e{t}" for t in reversed(range(6))))
    turned.write_csv(people / "turned.csv")
    result = json.loads(call("pairs", "check", people / "gallery.csv", people / "turned.csv", *KNOWN, "--json").stdout)
    assert result["leaks"]["shared"]["examples"] == table["photo"].to_list()
    one, other = table["photo"][:2]
    turned.with_columns(photo="x" + polars.col("photo")).write_csv(people / "renamed.csv")
    (people / "one.csv").write_text(f"left,right,label\n{one},{other},1\n")
    (people / "two.csv").write_text(f"left,right,label\nx{other},x{one},1\n")
    tables = ("--examples", people / "gallery.csv", "--test-examples", people / "renamed.csv")
    result = json.loads(
        call("pairs", "check", people / "one.csv", people / "two.csv", *tables, *KNOWN, "--json").stdout
    )
    assert result["leaks"]["shared"]["pairs"] == [[f"x{other}", f"x{one}"]]
    turned.drop("e3").write_csv(people / "narrow.csv")
    refused = call("pairs", "check", people / "gallery.csv", people / "narrow.csv", *KNOWN, code=1).stderr
    assert f"lacks 1 of the 6 columns that {people / 'gallery.csv'} has: 'e3'" in refused


def test_labels_against_classes(people: Path, call: Call) -> None:
    (people / "wrong.csv").write_text("left,right,label\np00_0,p00_1,different\np00_0,p01_0,different\n")
    args = ("pairs", "check", people / "wrong.csv", "--examples", people / "faces.parquet", *KNOWN, "--json")
    found = json.loads(call(*args).stdout)["tables"][str(people / "wrong.csv")]
    assert found["against the classes"] == [["p00_0", "p00_1"]]


def test_parts_of_split_pass_the_check(people: Path, call: Call) -> None:
    call("pairs", "split", people / "pairs.csv", "--parts", "train=2,test=1", "--out-dir", people / "parts")
    call("pairs", "check", people / "parts" / "train.csv", people / "parts" / "test.csv", "--strict")


def test_a_group_without_a_command_is_a_usage_error(call: Call) -> None:
    assert call("pairs", code=2)
    assert "split" in call("pairs", "--help").stdout


@pytest.mark.skipif("PAIRLEARN_DATA" not in os.environ, reason="set PAIRLEARN_DATA to the folder of the real data")
def test_lfw_photos_under_two_names(tmp_path: Path, call: Call) -> None:
    """LFW holds photos twice under two names; they leak even between parts that share no person."""
    folder = Path(os.environ["PAIRLEARN_DATA"]) / "lfw"
    X, who = np.load(folder / "lfw_dlib128.npz")["E"], np.load(folder / "lfw_protocol.npz")["person"]
    np.savez(tmp_path / "lfw.npz", X=X, classes=who)
    result = json.loads(call("pairs", "check", tmp_path / "lfw.npz", "--json").stdout)
    assert result["tables"][str(tmp_path / "lfw.npz")]["contradictory"]
