"""Verify identities that were never seen in training: same person or not?

Embeddings and identities → split by identity → learn from pairs → compare with baselines → save and load.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import pairlearn as pl


def embeddings(n_people: int, n_photos: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Identity lives in 8 of 40 directions; the rest is light, pose and noise."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(40, 40)) / np.sqrt(40)
    person = np.repeat(rng.normal(size=(n_people, 8)), n_photos, axis=0)
    photo = np.hstack([person + 0.25 * rng.normal(size=person.shape), rng.normal(size=(len(person), 32))])
    return photo @ mixing, np.repeat(np.arange(n_people), n_photos)


def main() -> None:
    X, identity = embeddings(n_people=80, n_photos=4, seed=0)

    # Split by identity: nobody in the test set was seen in training.
    seen = identity < 40
    train = pl.all_pairs(X[seen], reflexive=False)
    test = pl.all_pairs(X[~seen], reflexive=False)
    truth = test.labels(identity[~seen])

    model = pl.PairSVC(kernel="tensor_metric", base="linear", C=1.0, class_weight="balanced")
    model.fit(train, train.labels(identity[seen]))
    print(f"{len(train):,} training pairs, {model.n_support_:,} support pairs, {model.fit_status_}")

    machines = {"pair SVM": model, "cosine": pl.CosineBaseline(), "Euclid": pl.EuclidBaseline()}
    for name, machine in machines.items():
        scores = pl.Scores(machine.decision_function(test), truth)
        print(f"{name:>9}: EER {100 * pl.equal_error_rate(scores):5.2f} % on unseen people")

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "verifier.safetensors"
        pl.save(model, path)
        same = np.array_equal(pl.load(path).decision_function(test), model.decision_function(test))
        print(f"saved {path.stat().st_size / 1024:.0f} KiB; loaded model gives the same scores: {same}")


if __name__ == "__main__":
    main()
