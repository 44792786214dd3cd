"""Small tables that look like real ones, for the journeys: the same on every machine but for the last bits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as po

FIRST = ("ada", "ben", "cleo", "dan", "eva", "fred", "gus", "hal", "ida", "jan")
LAST = ("ames", "boyd", "cole", "dunn", "east", "ford", "gray", "hill", "inch", "jost")
TEAMS = ("Ahr", "Bode", "Diemel", "Eder", "Fulda", "Glan", "Havel", "Isar", "Jagst", "Kocher", "Lahn", "Main")
WORDS = {
    "bird": ("sparrow", "swallow", "starling", "skylark", "sandpiper", "swan", "stork", "shelduck", "siskin", "shrike"),
    "tree": ("oakwood", "beechwood", "elmwood", "limewood", "pinewood", "ashwood", "yewwood", "firwood", "rosewood"),
    "salt": (
        "chloride",
        "fluoride",
        "bromide",
        "iodide",
        "oxide",
        "sulphide",
        "nitride",
        "carbide",
        "hydride",
        "cyanide",
    ),
}


def write_tables(folder: Path) -> None:
    """Every table of every journey."""
    for write in (_faces, _offers, _matches, _links, _words, _sensors, _records):
        write(folder)


def _faces(folder: Path) -> None:
    """photos.parquet: five photos each of 100 people in order, 24 numbers, as a network gives them, and new ones.

    Half of the directions tell people apart, the others light and pose: that is what there is to learn.
    """
    rng = np.random.default_rng(15)
    people = [f"{first} {last}" for last in LAST for first in FIRST]
    who = np.r_[np.repeat(np.arange(100), 5), np.repeat(np.arange(100), 2)]
    n = len(who)
    scale = np.r_[np.full(12, 0.35), np.full(12, 1.5)]
    spread = np.r_[np.ones(12), np.full(12, 0.05)]
    embedding = (rng.normal(size=(100, 24)) * spread)[who] + rng.normal(size=(n, 24)) * scale
    turned = embedding @ np.linalg.qr(rng.normal(size=(24, 24)))[0]
    columns = {f"e{t}": turned[:, t].round(4) for t in range(24)}
    facts = {"photo_id": 70_000 + np.arange(n), "person": [people[k] for k in who]}
    cameras = np.array(["door", "gate", "hall"])[rng.integers(0, 3, n)]
    photos = po.DataFrame({**facts, "camera": cameras, **columns})
    photos[:500].write_parquet(folder / "photos.parquet")
    photos[500:].write_parquet(folder / "visitors.parquet")


def _offers(folder: Path) -> None:
    """offers.csv and judged.csv, European: offers of shops and which of them somebody judged to be the same product."""
    rng = np.random.default_rng(7)
    n = 200
    product = np.repeat(np.arange(n), 3)
    facts = [rng.lognormal(3, 0.5, n), rng.uniform(40, 60, n), rng.uniform(10, 14, n), rng.uniform(1, 2, n)]
    seen = np.column_stack(facts)[product] * rng.lognormal(0, [0.25, 0.004, 0.006, 0.3], (3 * n, 4))
    rows = [
        f"A{1000 + i};{['Nord', 'Süd', 'West'][i % 3]};" + ";".join(f"{value:.3f}".replace(".", ",") for value in row)
        for i, row in enumerate(seen)
    ]
    header = "angebot;shop;preis;länge;gewicht;farbe"
    (folder / "offers.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8-sig")
    same = [(3 * k + i, 3 * k + j) for k in range(n) for i, j in ((0, 1), (0, 2), (1, 2))]
    other = [tuple(rng.choice(3 * n, 2, replace=False)) for _ in range(6000)]
    judged = [(i, j, "same" if product[i] == product[j] else "different") for i, j in [*same, *other]]
    order = rng.permutation(len(judged))
    lines = [f"A{1000 + judged[k][0]};A{1000 + judged[k][1]};{judged[k][2]}" for k in order]
    (folder / "judged.csv").write_text("\n".join(["left;right;label", *lines]) + "\n")


def _matches(folder: Path) -> None:
    """matches.csv: three seasons of twelve teams; the stronger one wins more often, and some matches are drawn."""
    rng = np.random.default_rng(3)
    strength = np.linspace(1.5, -1.5, 12)
    rows = ["left,right,label"]
    for i, j in [(i, j) for _ in range(3) for i in range(12) for j in range(12) if i != j]:
        margin = strength[i] - strength[j] + 0.3 + rng.logistic()
        rows.append(f"{TEAMS[i]},{TEAMS[j]},{'tie' if abs(margin) < 0.3 else 'left' if margin > 0 else 'right'}")
    (folder / "matches.csv").write_text("\n".join(rows) + "\n")


def _links(folder: Path) -> None:
    """enzymes.csv, compounds.csv, links.csv: which compound binds to which enzyme, a fit of hidden shapes."""
    rng = np.random.default_rng(11)
    enzymes, compounds = rng.normal(size=(40, 3)).round(3), rng.normal(size=(60, 4)).round(3)
    fit = np.tanh(enzymes @ rng.normal(size=(3, 2))) @ np.tanh(compounds @ rng.normal(size=(4, 2))).T
    for name, rows in (("enzymes", enzymes), ("compounds", compounds)):
        ids = [f"{name[0].upper()}{i:02d}" for i in range(len(rows))]
        po.DataFrame({"id": ids, **{f"d{t}": rows[:, t] for t in range(rows.shape[1])}}).write_csv(
            folder / f"{name}.csv"
        )
    chosen = rng.choice(fit.size, 1200, replace=False)
    left, right = np.unravel_index(chosen, fit.shape)
    links = {"left": [f"E{i:02d}" for i in left], "right": [f"C{j:02d}" for j in right]}
    affinity = (6 + fit.ravel()[chosen] + 0.2 * rng.normal(size=len(chosen))).round(2)
    po.DataFrame({**links, "label": np.where(affinity > 6.5, 1, 0)}).write_csv(folder / "links.csv")
    po.DataFrame({**links, "label": affinity}).write_csv(folder / "affinities.csv")


def _words(folder: Path) -> None:
    """words.csv: how alike words are by their longest common part: a similarity that no kernel is behind."""
    words = [(word, kind) for kind, some in WORDS.items() for word in some]
    alike = [[_common_part(one, other) for other, _ in words] for one, _ in words]
    columns = {word: [row[k] for row in alike] for k, (word, _) in enumerate(words)}
    frame = po.DataFrame({"word": [word for word, _ in words], "kind": [kind for _, kind in words], **columns})
    frame.write_csv(folder / "words.csv")


def _common_part(one: str, other: str) -> int:
    """Letters of the longest part that both words have."""
    parts = {one[i:j] for i in range(len(one)) for j in range(i + 1, len(one) + 1)}
    return max((len(part) for part in parts if part in other), default=0)


def _sensors(folder: Path) -> None:
    """pairs.jsonl: two readings of eight numbers at a time, and whether they were taken at the same place."""
    rng = np.random.default_rng(5)
    places = rng.normal(size=(30, 8)) * np.r_[np.ones(3), np.zeros(5)]
    lines = []
    for _ in range(3000):
        i, j = rng.integers(0, 30, 2) if rng.random() < 0.5 else [rng.integers(30)] * 2
        left, right = (places[k] + rng.normal(size=8) * np.r_[np.full(3, 0.1), np.ones(5)] for k in (i, j))
        pair = {"left": left.round(3).tolist(), "right": right.round(3).tolist(), "label": 1 if i == j else -1}
        lines.append(json.dumps(pair))
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n")


def _records(folder: Path) -> None:
    """shop.csv and catalogue.csv of 150 products, in two spellings, labels.csv, customers.csv with duplicates."""
    rng = np.random.default_rng(18)
    nouns = [word for words in WORDS.values() for word in words]
    names = [f"{TEAMS[k % 12]} {nouns[k % 29]} {k}" for k in range(150)]
    prices = rng.uniform(5, 90, 150).round(2)
    po.DataFrame({"id": [f"s{k}" for k in range(150)], "name": names, "price": prices}).write_csv(folder / "shop.csv")
    other = {"id": [f"c{k}" for k in range(150)], "name": [_misspelled(name, rng) for name in names]}
    po.DataFrame({**other, "price": (0.97 * prices).round(2)}).write_csv(folder / "catalogue.csv")
    rows = np.repeat(np.arange(90), 3)
    others = (rows + np.tile([0, 12, 29], 90)) % 150
    sides = {"left": [f"s{k}" for k in rows], "right": [f"c{k}" for k in others]}
    po.DataFrame({**sides, "label": (rows == others).astype(int)}).write_csv(folder / "labels.csv")
    people = [f"{first} {last}" for last in LAST for first in FIRST]
    twice = [*people, *(_misspelled(name, rng) for name in people[:30])]
    born = [f"19{k % 100:02d}-0{1 + k % 9}-1{k % 10}" for k in range(100)]
    columns = {"id": range(130), "name": twice, "born": [*born, *born[:30]]}
    po.DataFrame(columns).write_csv(folder / "customers.csv")


def _misspelled(text: str, rng: np.random.Generator) -> str:
    """In small letters, one of them left out."""
    place = int(rng.integers(1, len(text)))
    return (text[:place] + text[place + 1 :]).lower()
