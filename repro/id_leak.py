"""What an id among the features does, and whether reading a table refuses it: LFW photos sorted by person.

Needs PAIRLEARN_DATA. Photos of people with at least four, dlib embeddings, as a table with an integer `photo_id` in the
order of the people. Untrained Euclid compares the photos with and without that column (which looks better or worse, by
the number of photos per person; either is wrong); then the table is read as the command line reads it, with nothing
said of its columns but the class.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.data.layout import Columns
from pairlearn.data.reading import read_examples
from pairlearn.data.writing import write_table
from pairlearn.errors import InputError

FEWEST = 4
"""Photos of a person."""


def photos(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings and people, rows in the order of the people."""
    folder = data_folder() / "lfw"
    person = np.load(folder / "lfw_protocol.npz")["person"].astype(int)
    X = np.load(folder / "lfw_dlib128.npz")["E"].astype(float)
    counts = np.bincount(person)
    kept = np.flatnonzero(counts[person] >= FEWEST)
    order = kept[np.argsort(person[kept], kind="stable")]
    order = order[: 400 if quick else 1500]
    return X[order], person[order]


def error_of(X: np.ndarray, person: np.ndarray) -> float:
    """Equal error rate of untrained Euclid over all pairs."""
    pairs = pl.all_pairs(X, reflexive=False)
    return pl.equal_error_rate(pl.Scores(pl.EuclidBaseline().decision_function(pairs), pairs.labels(person)))


def leak(quick: bool) -> dict[str, Any]:
    """EER in % with and without the id, and what reading the table says."""
    X, person = photos(quick)
    ids = 10_000 + np.arange(len(X))
    columns = {"photo_id": ids, "person": person, **{f"e{t}": X[:, t] for t in range(X.shape[1])}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "photos.csv"
        write_table(path, columns)
        try:
            read_examples(path, Columns(classes="person"))
            refused = ""
        except InputError as error:
            refused = str(error)
        taken = read_examples(path, Columns(id="photo_id", classes="person")).examples.shape[1]
    return {
        "photos": len(X),
        "people": len(set(person.tolist())),
        "without": 100 * error_of(X, person),
        "with": 100 * error_of(np.column_stack([X, ids]), person),
        "refused": float("photo_id" in refused),
        "features": taken,
        "message": refused,
    }


if __name__ == "__main__":
    skip_without_data()
    results, _ = run_rows(__file__, {"leak": leak})
    row = results["leak"]
    figures = [
        Figure("EER of untrained Euclid in %, embeddings alone", row["without"]),
        Figure("EER of untrained Euclid in %, photo_id among the features", row["with"]),
        Figure("the table is refused unless the column is named (1 = yes)", row["refused"], ">= 1"),
        Figure("features taken with --id-column photo_id", row["features"], "<= 128"),
    ]
    sys.exit(print_figures(figures))
