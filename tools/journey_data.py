"""Small tables that look like real ones, for the journeys: the same on every machine but for the last bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as po

FIRST = ("ada", "ben", "cleo", "dan", "eva", "fred", "gus", "hal", "ida", "jan")
LAST = ("ames", "boyd", "cole", "dunn", "east", "ford")


def write_tables(folder: Path) -> None:
    """Every table of every journey."""
    _faces(folder)
    _offers(folder)


def _faces(folder: Path) -> None:
    """photos.parquet: photos of 120 people in order, 24 numbers each, as a face recognition network gives them.

    Half of the directions tell people apart, the others light and pose: that is what there is to learn.
    """
    rng = np.random.default_rng(15)
    people = [f"{first} {last}" for last in LAST for first in FIRST]
    who = np.repeat(np.arange(60), 8)
    scale = np.r_[np.full(12, 0.35), np.full(12, 1.5)]
    spread = np.r_[np.ones(12), np.full(12, 0.05)]
    embedding = (rng.normal(size=(60, 24)) * spread)[who] + rng.normal(size=(480, 24)) * scale
    turned = embedding @ np.linalg.qr(rng.normal(size=(24, 24)))[0]
    columns = {f"e{t}": turned[:, t].round(4) for t in range(24)}
    facts = {"photo_id": 70_000 + np.arange(480), "person": [people[k] for k in who]}
    cameras = np.array(["door", "gate", "hall"])[rng.integers(0, 3, 480)]
    po.DataFrame({**facts, "camera": cameras, **columns}).write_parquet(folder / "photos.parquet")


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
