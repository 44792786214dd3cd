"""Someone with a stream: a distance that learns pair by pair, is stopped, goes on, and serves a neighbour search."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import pairlearn as pl

rng = np.random.default_rng(0)
n, d = 600, 40
kind = rng.integers(0, 4, n)
X = rng.normal(size=(n, d)) / np.sqrt(d)
X[:, :4] += np.eye(4)[kind] / 2  # four kinds of things, told apart by four of forty numbers

# Pairs come in one by one. Each is predicted before it is learnt, so the error is one of unseen pairs.
metric, wrong = pl.OnlinePseudoMetric(gamma=1.0), []
with tempfile.TemporaryDirectory() as folder:
    for step in range(6000):
        i, j = rng.integers(0, 300, 2)
        y = 1 if kind[i] == kind[j] else -1
        wrong.append(metric.predict_one(X[i], X[j]) != y)
        metric.learn_one(X[i], X[j], y)
        if step == 2999:  # a restart: the state comes back to the last bit
            pl.save(metric, Path(folder) / "metric.safetensors")
            metric = pl.load(Path(folder) / "metric.safetensors")
print(f"error before learning: first 500 pairs {np.mean(wrong[:500]):.1%}, last 500 pairs {np.mean(wrong[-500:]):.1%}")

# The learnt distance is Euclid's after `transform`: any neighbour search takes it. The rows from 300 on are new.
known, new = slice(0, 300), slice(300, None)
test = pl.all_pairs(X[new], reflexive=False)
for name, model, rows in (("untrained Euclid", pl.EuclidBaseline(), X), ("learnt", metric, metric.transform(X))):
    neighbours = KNeighborsClassifier(5).fit(rows[known], kind[known])
    eer = pl.equal_error_rate(pl.Scores.of(model, test, classes=kind[new]))
    right = neighbours.score(rows[new], kind[new])
    print(f"{name:>16}: EER of new pairs {eer:.1%}, 5 nearest neighbours {right:.1%} right")
