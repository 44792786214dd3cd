"""Markdown, CSV and pictures say what the record says."""

from __future__ import annotations

import csv
import zlib
from io import StringIO
from typing import Any

import numpy as np
import pytest

from pairlearn.errors import InputError
from pairlearn.evaluation import Scores
from pairlearn.report import as_csv, as_html, as_markdown, evaluate
from pairlearn.report.html import embedded
from pairlearn.report.png import data_uri, png
from pairlearn.report.text import rate_words


@pytest.fixture(scope="module")
def record(systems: dict[str, Scores]) -> dict[str, Any]:
    groups = np.where(np.arange(len(systems["model"])) % 2, "odd", "even")
    return evaluate(systems, baselines=["cosine"], threshold=1.0, groups=groups, title="A | B", source=["s.csv"])


def test_csv_holds_every_number_with_all_digits(record: dict[str, Any]) -> None:
    rows = list(csv.DictReader(StringIO(as_csv(record))))
    for system in record["systems"]:
        own = [row for row in rows if row["system"] == system["name"] and not row["group"]]
        found = {(row["measure"], row["at"]): row for row in own}
        for name in ("eer", "auc", "d_prime"):
            assert [float(found[name, ""][key]) for key in ("value", "low", "high")] == list(system[name].values())
        for name in ("min_cllr", "cllr"):
            assert [found[name, ""][key] for key in ("value", "low", "high")] == [repr(system[name]["value"]), "", ""]
        assert ("calibrated" in found["cllr", ""]["note"], found["min_cllr", ""]["note"]) == (True, "")
        for point in (point for point in system["points"] if point["kind"] == "fmr"):
            row = found["fnmr_at", str(point["at"])]
            if not point["measurable"]:
                assert (row["value"], row["note"]) == ("", "not measurable with this many negatives")
                continue
            assert float(row["value"]) == point["fnmr"]["value"]
            assert float(row["threshold"]) == point["threshold"]
        grouped = [row for row in rows if row["system"] == system["name"] and row["group"] == "odd"]
        assert {row["measure"] for row in grouped} == {"fmr", "fnmr", "eer"}
    differences = [float(row["value"]) for row in rows if row["measure"] == "eer_difference"]
    assert differences == [record["differences"][0]["value"]]


def test_markdown_shows_the_same_numbers(record: dict[str, Any]) -> None:
    text = as_markdown(record)
    lines = [line.replace("\\", "") for line in text.splitlines()]
    assert lines[0] == "# A | B"
    for system in record["systems"]:
        assert any(line.startswith(f"| {system['name']}") and rate_words(system["eer"]) in line for line in lines)
        both = f"| {system['min_cllr']['value']:.4f} | {system['cllr']['value']:.4f} |"
        assert any(line.startswith(f"| {system['name']}") and both in line for line in lines)
        assert any("not measurable" in line for line in lines if line.startswith(f"| {system['name']}"))
    for warning in record["warnings"]:
        assert any(warning["text"] in line for line in lines)
    assert any(record["verdict"][0] in line for line in lines)
    assert any("Cllr: bits lost" in line and "calibrated scores only" in line for line in lines)
    tables = [line for line in text.splitlines() if line.startswith("| model")]
    assert all(line.replace("\\|", "").endswith(" |") for line in tables)


def test_hostile_names_stay_text(systems: dict[str, Scores]) -> None:
    name = "=1+1 <script>alert(1)</script> | `x`\n# head"
    record = evaluate({name: systems["model"]}, title=name, task=name, source=name)
    markdown = as_markdown(record)
    assert "<script" not in markdown
    assert "\n# head" not in markdown
    bars = 0
    for line in (line.replace("\\|", "") for line in markdown.splitlines() if line.startswith("|")):
        bars = line.count("|") if line.startswith("| system") else bars
        assert line.count("|") == bars
    rows = list(csv.DictReader(StringIO(as_csv(record))))
    assert {row["system"] for row in rows} == {"'" + name}


def test_embedded_json_cannot_end_its_element() -> None:
    text = embedded({"a": "</script><!--&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)


def test_png_is_read_back() -> None:
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    content = png(image)
    start = content.index(b"IDAT") + 4
    size = int.from_bytes(content[start - 8 : start - 4], "big")
    rows = np.frombuffer(zlib.decompress(content[start : start + size]), dtype=np.uint8).reshape(2, 13)
    assert (rows[:, 0] == 0).all()
    assert np.array_equal(rows[:, 1:].reshape(image.shape), image)
    assert content[16:24] == (4).to_bytes(4, "big") + (2).to_bytes(4, "big")
    for bad in (np.zeros(3), np.zeros((2, 2, 4)), np.zeros((0, 2))):
        with pytest.raises(InputError, match="shape"):
            png(bad)


def test_thumbnails_of_the_worst_errors_are_embedded(record: dict[str, Any]) -> None:
    shown = record["systems"][0]["worst"]["false_matches"][0]["left"]
    page = as_html(record, thumbnails={shown: png(np.zeros((4, 4))), "not shown": png(np.ones((4, 4)))})
    assert data_uri(png(np.zeros((4, 4)))) in page
    assert data_uri(png(np.ones((4, 4)))) not in page
    with pytest.raises(InputError, match="PNG or JPEG"):
        as_html(record, thumbnails={shown: b"<svg onload=alert(1)>"})
    with pytest.raises(InputError, match="smaller"):
        data_uri(png(np.zeros((1, 1))) + bytes(60_000))


def test_many_scores_make_a_small_page() -> None:
    rng = np.random.default_rng(0)
    n = 60_000
    values = np.r_[rng.normal(3, 1, n // 10), rng.normal(0, 1, n)]
    scores = Scores(values, np.repeat([1, -1], [n // 10, n]))
    few, many = (len(as_html(evaluate({"a": part}))) for part in (scores[::6], scores))
    # The size follows the number of kept points, not the number of scores.
    assert few < many < min(1.2 * few, 200_000)
