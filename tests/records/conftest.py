"""A shop and a catalogue of made-up beers: spelled differently, with known matches."""

from __future__ import annotations

import numpy as np
import pytest

import pairlearn as pl

BREWERS = ("Redwood", "Kinetic", "Boneyard", "Ballast", "Sanibel", "Wolf Hills", "Seven Fjell", "Point Ybel")
STYLES = ("Red Ale", "Pale Ale", "Porter", "Stout", "Lager", "Bock")


def misspelled(text: str, rng: np.random.Generator) -> str:
    """One letter left out."""
    place = int(rng.integers(1, len(text)))
    return text[:place] + text[place + 1 :]


@pytest.fixture(scope="session")
def beers() -> tuple[pl.Records, pl.Records, np.ndarray]:
    """Two tables of 120 and 150 beers; the first 100 of each are the same; left rows and right rows of matches."""
    rng = np.random.default_rng(0)
    names = [f"{BREWERS[k % 8]} {STYLES[k % 6]} No {k}" for k in range(170)]
    strength = rng.uniform(3, 12, 170).round(1)
    left = {"id": [f"s{k}" for k in range(120)], "name": names[:120], "abv": [f"{s} %" for s in strength[:120]]}
    other = [*range(100), *range(120, 170)]
    right = {
        "id": [f"c{k}" for k in range(150)],
        "name": [misspelled(names[k].lower(), rng) for k in other],
        "abv": [strength[k] for k in other],
    }
    return pl.Records.of(left), pl.Records.of(right), np.arange(100)


@pytest.fixture(scope="session")
def labelled(beers: tuple[pl.Records, pl.Records, np.ndarray]) -> tuple[pl.records.RecordPairs, np.ndarray]:
    """Matches and others, 240 pairs."""
    left, right, _ = beers
    rows = np.arange(80)
    a, b = np.concatenate([rows, rows, rows]), np.concatenate([rows, (rows + 6) % 100, (rows + 24) % 100])
    return pl.records.RecordPairs(left, right, a, b), np.where(a == b, 1, -1)


@pytest.fixture(scope="session")
def matcher(labelled: tuple[pl.records.RecordPairs, np.ndarray]) -> pl.RecordMatcher:
    """Learnt from them."""
    return pl.RecordMatcher(setting=pl.records.Setting(3.0, words=0.3, vectors=0.3)).fit(*labelled)
