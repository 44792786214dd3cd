"""`pairlearn match` and `pairlearn dedupe`: tables in, matches, clusters, questions, page and model out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import pairlearn as pl
from pairlearn.cli.commands.records.options import RecordOptions
from pairlearn.cli.run import Run
from pairlearn.cli.steps.matching import could_be_missed, read_tables
from pairlearn.records.matcher import Matches
from pairlearn.records.table import RecordPairs
from tools.journey_data import write_tables


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """shop.csv, catalogue.csv, labels.csv, customers.csv."""
    folder = tmp_path_factory.mktemp("records")
    write_tables(folder)
    return folder


def test_match_learns_and_asks_and_learns_again(tables: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    common = ("match", tables / "shop.csv", tables / "catalogue.csv", "--force")
    outputs = {"--out": "m.csv", "--review": "r.csv", "--report": "p.html", "--save-model": "m.safetensors"}
    given = [part for option, name in outputs.items() for part in (option, tmp_path / name)]
    said = call(*common, "--labels", tables / "labels.csv", *given).output
    assert "name (text)" in said
    assert "price (number)" in said
    assert re.search(r"verdict: F1 [\d.]+ is .* (boosted trees|untrained)", said)
    assert "recall of candidates: 100.0 % of 90 labelled matches" in said
    found = polars.read_csv(tmp_path / "m.csv")
    right = found["left"].str.slice(1) == found["right"].str.slice(1)
    assert right.mean() > 0.95
    assert right.sum() > 130
    assert found["why"].str.contains("name").all()
    assert json.loads((tmp_path / "m.csv.run.json").read_text())["result"]["kinds"] == {
        "name": "text",
        "price": "number",
    }

    review = polars.read_csv(tmp_path / "r.csv")
    known = polars.read_csv(tables / "labels.csv")
    assert review.join(known, on=["left", "right"]).height == 0
    assert {"left_name", "right_name", "left_price"} <= set(review.columns)
    same = review["left"].str.slice(1) == review["right"].str.slice(1)
    answered = review.with_columns(label=polars.when(polars.arange(0, review.height) < 20).then(same.cast(int)))
    both = polars.concat([known, answered.select("left", "right", "label")], how="vertical_relaxed")
    both.write_csv(tmp_path / "more.csv")
    again = call(*common, "--labels", tmp_path / "more.csv", "--out", tmp_path / "m2.csv").output
    assert "290 labelled pairs" in again

    page = (tmp_path / "p.html").read_text()
    assert 'id="cutoffs"' in page
    assert "<svg" in page
    assert "<script" not in page
    call(*common, "--model", tmp_path / "m.safetensors", "--out", tmp_path / "m3.csv")
    assert (tmp_path / "m3.csv").read_text() == (tmp_path / "m.csv").read_text()
    wrong = call("score", tmp_path / "m.safetensors", tables / "shop.csv", tables / "labels.csv", code=1)
    assert "use it with pairlearn match or dedupe --model" in wrong.stderr
    assert "are two records" in " ".join(call("info", tmp_path / "m.safetensors").output.split())


def test_match_without_labels_says_so(tables: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    result = call("match", tables / "shop.csv", tables / "catalogue.csv", "--out", tmp_path / "m.csv", "--json")
    assert "no labels" in result.stderr
    told = json.loads(result.stdout)
    assert told["f1"] == {}
    assert told["matches"] > 100


@pytest.mark.parametrize("place", [0, 1])
def test_a_column_of_one_table_alone_is_left_out(place: int, tables: Path, tmp_path: Path) -> None:
    paths = [tables / "shop.csv", tables / "catalogue.csv"]
    noted = polars.read_csv(paths[place]).with_columns(note=polars.lit("new"))
    noted.write_csv(tmp_path / "noted.csv")
    paths[place] = tmp_path / "noted.csv"
    sides = read_tables(Run("match", {}), paths, RecordOptions(drop=["note", "price"]))
    assert [list(side.columns) for side in sides] == [["name"], ["name"]]
    with pytest.raises(pl.errors.InputError, match="--drop 'town': no table has this column"):
        read_tables(Run("match", {}), paths, RecordOptions(drop=["note", "town"]))


def test_dedupe_writes_clusters(tables: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    out = tmp_path / "c.csv"
    call("dedupe", tables / "customers.csv", "--out", out, "--matches", tmp_path / "m.csv")
    found = dict(polars.read_csv(out).select("id", "cluster").iter_rows())
    assert len(found) == 130
    assert sum(found[k] == found[100 + k] for k in range(30)) > 24


@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        ("left,right,label\ns1,c1,\n", "has no labelled pair"),
        ("left,right,label\ns1,c999,1\n", "c999"),
        ("left,right,label\ns1,c1,maybe\n", "labels are 1/-1"),
        ("left,right,label\ns1,c1,1\ns2,c5,0\n", "too few"),
    ],
)
def test_labels_that_cannot_be_used(
    labels: str, advice: str, tables: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    path = tmp_path / "l.csv"
    path.write_text(labels)
    common = ("match", tables / "shop.csv", tables / "catalogue.csv", "--out", tmp_path / "m.csv")
    error = call(*common, "--labels", path, code=1).stderr.splitlines()[-1]
    assert error.startswith("error: ")
    assert advice in error


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (("--kind", "name=money"), "kinds are text"),
        (("--rule", "town"), "no column 'town'"),
        (("--drop", "town"), "no table has this column"),
        (("--id-column", "sku"), "no column 'sku'"),
    ],
)
def test_options_that_cannot_be_meant(
    options: tuple[str, ...], advice: str, tables: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    common = ("match", tables / "shop.csv", tables / "catalogue.csv", "--out", tmp_path / "m.csv")
    assert advice in call(*common, *options, code=1).stderr.splitlines()[-1]


def test_one_row_each(tmp_path: Path, call: Callable[..., Any]) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("id,name\n1,ann lee\n")
    error = call("match", tmp_path / "a.csv", tmp_path / "b.csv", "--out", tmp_path / "m.csv", code=1).stderr
    assert "at least two pairs" in error.splitlines()[-1]


def test_labels_of_a_record_with_itself_are_left_out(tables: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    ids = polars.read_csv(tables / "customers.csv")[:, 0].to_list()
    rows = {"left": [ids[0], ids[1]], "right": [ids[0], ids[2]], "label": [1, 0]}
    polars.DataFrame(rows).write_csv(tmp_path / "own.csv")
    labels, out = tmp_path / "own.csv", tmp_path / "c.csv"
    said = call("dedupe", tables / "customers.csv", "--labels", labels, "--out", out, code=1)
    assert "1 label of a record with itself left out" in said.output


def test_models_do_not_go_to_standard_output(tables: Path, call: Callable[..., Any]) -> None:
    said = call("dedupe", tables / "customers.csv", "--save-model", "-", code=1)
    assert "a model cannot be written to standard output" in said.output
    assert not Path("-").exists()


def test_missed_are_candidates_of_records_without_a_match() -> None:
    """A candidate whose record has found its one match is not missed; with several matches each it may be."""
    beers = pl.records.Records.of({"id": ["a", "b", "c"], "name": ["Red", "red", "Pale"]})
    pairs = RecordPairs(beers, beers, [0, 0, 1, 2], [0, 1, 1, 2])
    chosen = np.array([True, False, False, False])
    alone = Matches(pairs, np.full(4, 0.5), chosen, 0.4, None)  # type: ignore[arg-type]
    assert could_be_missed(alone).tolist() == [False, False, True, True]
    several = alone._replace(chosen=np.array([True, True, False, False]))
    assert could_be_missed(several).tolist() == [False, False, True, True]
