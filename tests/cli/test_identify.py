"""`pairlearn identify`: answers and rates are those of a search by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import pairlearn as pl
from pairlearn.cli.steps.gallery import searching
from pairlearn.cli.steps.gallery.identifying import _error
from pairlearn.persist.known import MODELS

KNOWN = ("--class-column", "person")
FEATURES = [f"e{t}" for t in range(6)]
Call = Callable[..., Any]


def by_hand(people: Path, threshold: float = -np.inf) -> dict[str, Any]:
    """Mean score of every probe with every enrolled person, pair by pair, and what follows from it."""
    model = pl.load(people / "model.safetensors")
    enrolled, probes = polars.read_csv(people / "gallery.csv"), polars.read_parquet(people / "probes.parquet")
    names = sorted(set(enrolled["person"]))
    scores = np.zeros((len(probes), len(names)))
    for k, name in enumerate(names):
        others = enrolled.filter(polars.col("person") == name).select(FEATURES).to_numpy()
        for i, row in enumerate(probes.select(FEATURES).to_numpy()):
            pairs = pl.Pairs(np.vstack([row, others]), [0] * len(others), range(1, len(others) + 1))
            scores[i, k] = model.decision_function(pairs).mean()
    best = np.array(names)[scores.argmax(axis=1)]
    truth = probes["person"].to_numpy()
    mated = np.isin(truth, names)
    right = (best == truth) & (scores.max(axis=1) >= threshold)
    return {
        "best": best,
        "score": scores.max(axis=1),
        "rank-1": (best == truth)[mated].mean(),
        "fnir": 1 - right[mated].mean(),
        "fpir": (scores.max(axis=1) >= threshold)[~mated].mean(),
    }


def test_answers_and_rates_are_those_of_a_search_by_hand(people: Path, call: Call) -> None:
    out, expected = people / "found.csv", by_hand(people, threshold=0.5)
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    result = json.loads(call(*args, "--out", out, "--threshold", 0.5, "--top", 3, "--json").stdout)
    found = polars.read_csv(out)
    assert found.columns == ["probe", "rank", "identity", "score", "decision"]
    first = found.filter(polars.col("rank") == 1)
    assert first["identity"].to_list() == expected["best"].tolist()
    np.testing.assert_allclose(first["score"], expected["score"], rtol=1e-9)
    assert (first["decision"] == "match").to_list() == (expected["score"] >= 0.5).tolist()
    for rate in ("rank-1", "fnir", "fpir"):
        assert result["rates"]["model"][rate] == pytest.approx(expected[rate])
    assert result["rates"]["euclid"]["fpir"] <= result["rates"]["model"]["fpir"]
    assert (result["mated"], result["others"], result["copies"]) == (30, 25, 0)
    assert (people / "found.csv.run.json").exists()


def test_a_threshold_for_searches_accepts_so_many_strangers(people: Path, call: Call) -> None:
    """Of the enrolled examples, searched among the others' identities, the share asked for is accepted."""
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    result = json.loads(call(*args, "--fpir", 0.2, "--json").stdout)
    enrolled = polars.read_csv(people / "gallery.csv")
    X, who = enrolled.select(FEATURES).to_numpy(), enrolled["person"].to_numpy()
    scores = pl.Gallery(pl.load(people / "model.safetensors"), X, who).score(X)
    scores[np.unique(who)[None, :] == who[:, None]] = -np.inf
    assert (scores.max(axis=1) >= result["threshold"]).sum() == 0.2 * len(X)


def test_without_identities_of_probes_it_answers_all_the_same(people: Path, call: Call) -> None:
    polars.read_parquet(people / "probes.parquet").drop("person").write_csv(people / "probes.csv")
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "probes.csv", *KNOWN)
    shown = call(*args, "--top", 2)
    assert len(shown.stdout.splitlines()) == 1 + 2 * 55
    assert "not known" in shown.stderr


def test_probes_that_are_enrolled_do_not_count(people: Path, call: Call) -> None:
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "faces.parquet", *KNOWN)
    result = json.loads(call(*args, "--json").stdout)
    assert (result["copies"], result["mated"], result["others"]) == (20, 30, 150)


@pytest.mark.parametrize("behind", [False, True])
def test_a_baseline_is_not_compared_with_itself(people: Path, call: Call, behind: bool) -> None:
    plain = pl.EuclidBaseline(threshold=-1.0)
    pl.save(pl.Verifier(plain, -1.0) if behind else plain, people / "euclid.safetensors")
    args = ("identify", people / "euclid.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    shown = call(*args, "--json")
    result = json.loads(shown.stdout)
    assert set(result["rates"]) == {"model", "cosine"}
    assert result["verdict"]["against"] == "cosine"
    assert "Euclid" not in shown.stderr


@pytest.mark.parametrize("asked", ["--fpir", "--threshold"])
def test_no_rate_of_strangers_is_stated_without_strangers(people: Path, call: Call, asked: str) -> None:
    """Probes that are the gallery itself do not count; of enrolled people none is a stranger."""
    args = ("identify", "euclid", people / "gallery.csv")
    itself = call(*args, people / "gallery.csv", *KNOWN, asked, 0.1, "--json")
    result = json.loads(itself.stdout)
    assert (result["mated"], result["others"], result["copies"]) == (0, 0, 20)
    assert "rates" not in result
    assert "strangers is taken" not in " ".join(itself.stderr.split())
    assert "no probe counts" in " ".join(itself.stderr.split())
    enrolled = set(polars.read_csv(people / "gallery.csv")["person"])
    probes = polars.read_parquet(people / "probes.parquet")
    probes.filter(polars.col("person").is_in(enrolled)).write_csv(people / "theirs.csv")
    theirs = call(*args, people / "theirs.csv", *KNOWN, asked, 0.1, "--json")
    assert all("fpir" not in rates for rates in json.loads(theirs.stdout)["rates"].values())
    assert "FPIR" not in theirs.stderr


def test_strangers_are_those_that_count_only(people: Path, call: Call) -> None:
    """A probe that is enrolled under another name has the best score of all, and is no stranger."""
    enrolled, probes = polars.read_csv(people / "gallery.csv"), polars.read_parquet(people / "probes.parquet")
    strangers = probes.filter(~polars.col("person").is_in(set(enrolled["person"])))
    renamed = enrolled.with_columns(polars.lit("nobody").alias("person"), polars.lit("c_") + polars.col("photo"))
    polars.concat([strangers, renamed.select(strangers.columns)]).write_csv(people / "mixed.csv")
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "mixed.csv", *KNOWN)
    result = json.loads(call(*args, "--threshold", 0.5, "--json").stdout)
    assert (result["mated"], result["others"], result["copies"]) == (0, 25, 20)
    assert result["rates"]["model"]["fpir"] == pytest.approx(by_hand(people, 0.5)["fpir"])


def test_one_identity_says_nothing_of_who_wins(people: Path, call: Call) -> None:
    probes = polars.read_parquet(people / "probes.parquet")
    probes.filter(polars.col("person") == "p30").write_csv(people / "few.csv")
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "few.csv", *KNOWN)
    assert json.loads(call(*args, "--json").stdout)["verdict"]["verdict"] == "too few"


def test_limits_are_those_of_a_bootstrap_over_identities() -> None:
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(60), 5)
    gain = (rng.normal(size=60)[unit] + rng.normal(size=300) > 1.2).astype(float)
    sums = np.bincount(unit, gain)
    drawn = sums[rng.integers(0, 60, (4000, 60))].sum(axis=1) / 300
    assert _error(gain, unit) == pytest.approx(drawn.std(), rel=0.06)


def test_a_verifier_brings_threshold_and_probability(people: Path, call: Call) -> None:
    verifier = pl.Verifier(pl.load(people / "model.safetensors"), 0.25)
    pl.save(verifier, people / "verifier.safetensors")
    args = ("identify", people / "verifier.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    out = people / "found.npz"
    call(*args, "--out", out)
    found = np.load(out)
    assert ((found["decision"] == "match") == (found["score"] >= 0.25)).all()


@pytest.mark.skipif("Gallery" not in MODELS, reason="galleries cannot be saved")
def test_a_saved_gallery_gives_the_same_answers(people: Path, call: Call) -> None:
    saved, one, two = (people / name for name in ("saved.safetensors", "one.csv", "two.csv"))
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    call(*args, "--fpir", 0.1, "--out", one, "--save-gallery", saved)
    call("identify", saved, people / "probes.parquet", "--out", two)
    assert one.read_text() == two.read_text()
    call("identify", saved, people / "gallery.csv", people / "probes.parquet", code=1)


@pytest.mark.parametrize("written_by", ["command", "python"])
def test_options_are_those_of_the_probes_of_a_saved_gallery(people: Path, call: Call, written_by: str) -> None:
    saved = people / "saved.safetensors"
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    expected = json.loads(call(*args, "--save-gallery", saved, "--json").stdout)
    if written_by == "python":  # such a file says nothing of columns
        enrolled = polars.read_csv(people / "gallery.csv")
        model = pl.load(people / "model.safetensors")
        pl.save(pl.Gallery(model, enrolled.select(FEATURES).to_numpy(), enrolled["person"].to_numpy()), saved)
    probes = polars.read_parquet(people / "probes.parquet").rename({"photo": "shot", "person": "who"})
    probes.select("who", "shot", *FEATURES, polars.lit("door").alias("camera")).write_csv(people / "other.csv")
    told = ("--class-column", "who", "--id-column", "shot", "--drop", "camera")
    found = json.loads(call("identify", saved, people / "other.csv", *told, "--json").stdout)
    assert found["probe"] == expected["probe"]
    assert found["rates"] == expected["rates"]


def test_a_saved_gallery_is_pooled_already(people: Path, call: Call) -> None:
    enrolled = polars.read_csv(people / "gallery.csv")
    gallery = pl.Gallery(pl.EuclidBaseline(), enrolled.select(FEATURES).to_numpy(), enrolled["person"].to_numpy())
    pl.save(gallery, people / "saved.safetensors")
    told = call("identify", people / "saved.safetensors", people / "probes.parquet", "--pool", "max", code=1).stderr
    assert "leave --pool out" in told.splitlines()[-1]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["gallery.csv"], "give GALLERY and PROBES"),
        (["gallery.csv", "probes.parquet", "--pool", "median"], "--pool is one of mean"),
        (["gallery.csv", "probes.parquet", "--fmr", "0.1", "--fpir", "0.1"], "give one of them"),
        (["gallery.csv", "probes.parquet", "--fpir", "7"], "between 0 and 1"),
        (["gallery.csv", "nobody.csv"], "there is no file"),
        (["gallery.csv", "probes.parquet", "--search", "fast"], "--search is one of auto, exact, index"),
    ],
)
def test_what_a_user_can_mend_is_one_line(people: Path, call: Call, args: list[str], words: str) -> None:
    placed = [people / arg if "." in arg and "0" not in arg else arg for arg in args]
    result = call("identify", people / "model.safetensors", *placed, *KNOWN, code=1)
    assert words in result.stderr.splitlines()[-1]


def test_a_saved_gallery_that_no_index_searches_is_told_the_way_out(people: Path, call: Call) -> None:
    """What one error advises, the other does not refuse."""
    pytest.importorskip("faiss")
    saved, args = (
        people / "saved.safetensors",
        ("identify", "euclid", people / "gallery.csv", people / "probes.parquet"),
    )
    call(*args, *KNOWN, "--save-gallery", saved)
    refused = call("identify", saved, people / "probes.parquet", "--search", "index", code=1).stderr
    assert "a saved gallery keeps its pooling, so enrol anew" in " ".join(refused.split())
    assert "--search exact" in " ".join(refused.split())
    pooled = call("identify", saved, people / "probes.parquet", "--pool", "max", "--search", "index", code=1).stderr
    assert "enrol anew: MODEL GALLERY PROBES --pool max --save-gallery" in " ".join(pooled.split())
    call("identify", saved, people / "probes.parquet", "--search", "exact")
    call(*args, *KNOWN, "--pool", "max", "--save-gallery", saved, "--force")
    found = call("identify", saved, people / "probes.parquet", "--search", "index", "--json").stdout
    assert json.loads(found)["search"] == "index"


def test_a_ranker_does_not_identify(people: Path, call: Call) -> None:
    X = polars.read_csv(people / "train.csv").select(FEATURES).to_numpy()
    pl.save(pl.PairRanker().fit(pl.Pairs(X, [0, 2], [1, 3]), [1, -1]), people / "ranker.safetensors")
    result = call("identify", people / "ranker.safetensors", people / "gallery.csv", people / "probes.parquet", code=1)
    assert "which of two examples comes first" in result.stderr


def test_an_index_gives_the_same_answers_and_tells_its_recall(people: Path, call: Call) -> None:
    pytest.importorskip("faiss")
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    one, two = (
        json.loads(call(*args, "--threshold", 0.5, "--top", 3, "--search", way, "--json").stdout)
        for way in ("exact", "index")
    )
    assert (one.pop("search"), two.pop("search")) == ("exact", "index")
    assert two.pop("recall") == {"value": 1.0, "top": 3, "probes": 55}
    np.testing.assert_allclose(one.pop("score"), two.pop("score"), rtol=1e-9)
    assert one == two
    shown = call(*args, "--search", "index").stderr
    assert "searched by an index, recall@5 1.000 on 55 probes" in " ".join(shown.split())
    assert "euclid is compared with everyone: means of distances" in " ".join(shown.split())


def test_a_large_search_takes_an_index_by_itself(people: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss")
    args = ("identify", people / "model.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    assert "compared with 20 enrolled examples" in " ".join(call(*args).stderr.split())
    monkeypatch.setattr(searching, "LARGE", 20)
    monkeypatch.setattr(searching, "MANY", 55)
    assert json.loads(call(*args, "--json").stdout)["search"] == "index"
    assert json.loads(call(*args, "--json", "--search", "exact").stdout)["search"] == "exact"


def test_a_model_without_an_index_is_compared_with_everyone_unless_one_is_asked_for(
    people: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = polars.read_csv(people / "train.csv").select(FEATURES).to_numpy()
    pl.save(pl.scorers.NormalisedScorer(pl.CosineBaseline(), X, "z"), people / "normed.safetensors")
    args = ("identify", people / "normed.safetensors", people / "gallery.csv", people / "probes.parquet", *KNOWN)
    refused = call(*args, "--search", "index", code=1)
    assert "have no form that an index can search" in refused.stderr
    monkeypatch.setattr(searching, "LARGE", 1)
    monkeypatch.setattr(searching, "MANY", 1)
    assert json.loads(call(*args, "--json").stdout)["search"] == "exact"


def test_numbers_of_a_saved_gallery_are_those_of_a_file(people: Path, call: Call) -> None:
    """Classes in a file are text, and as text 101 comes before 12."""
    who, X = np.array([7, 12, 101, 7, 12, 101]), np.repeat(np.eye(3), 2, axis=0)[[0, 2, 4, 1, 3, 5]]
    pl.save(pl.Gallery(pl.EuclidBaseline(), X, who), people / "numbers.safetensors")
    rows = [f"{name},{','.join(map(str, row + 0.01))}" for name, row in zip(who, X, strict=True)]
    (people / "visitors.csv").write_text("\n".join(["class,a,b,c", *rows]) + "\n")
    args = ("identify", people / "numbers.safetensors", people / "visitors.csv", "--json", "--top", 1)
    found = json.loads(call(*args).stdout)
    assert found["mated"] == len(who)
    assert found["rates"]["model"]["rank-1"] == 1.0


def test_whole_numbers_are_one_identity_however_they_are_written(people: Path, call: Call) -> None:
    """A column of numbers with a gap is written with fractions, and nobody becomes a stranger by that."""
    who = polars.col("person").str.slice(1).cast(polars.Int64)
    polars.read_csv(people / "gallery.csv").with_columns(who).write_parquet(people / "numbers.parquet")
    probes = polars.read_parquet(people / "probes.parquet").with_columns(who)
    probes.write_parquet(people / "whole.parquet")
    last = polars.int_range(polars.len()) % 2 == 1  # of one person some one way, some the other
    text = polars.col("person").cast(polars.String)
    probes.with_columns(polars.col("person").cast(polars.Float64)).write_csv(people / "all.csv")
    probes.with_columns(polars.when(last).then(text + ".0").otherwise(text)).write_csv(people / "some.csv")
    one, *others = (
        json.loads(call("identify", "euclid", people / "numbers.parquet", people / name, *KNOWN, "--json").stdout)
        for name in ("whole.parquet", "all.csv", "some.csv")
    )
    assert (one["mated"], one["others"]) == (30, 25)
    for other in others:
        assert (other["mated"], other["others"]) == (30, 25)
        assert other["rates"] == one["rates"]
        assert other["verdict"] == one["verdict"]
