"""How fast does a pseudo-metric learn? Beside a twin that decomposes the whole matrix at every update.

Pairs of MNIST images of two digits (PAIRLEARN_DATA; else random rows), and of random rows with a falling spectrum,
after 2,000 pairs have been learnt; time per update, pairs without an update included. The twin does what the algorithm
says with one full `eigh` of all dimensions per similar pair that costs a loss. Some 200 pixels of the images never
differ and cost the library nothing. `growth`: the exponent of the time of an update in the dimension, random rows.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, timed
from pairlearn.errors import InputError

DIMENSION, DIGITS = 784, (3, 5)


def images() -> tuple[Any, Any, str]:
    """Rows and classes: MNIST digits, or something like them."""
    try:
        stored = np.load(data_folder() / "mnist" / "mnist.npz")
    except InputError:
        return *random_rows(DIMENSION, 2000), "random rows"
    chosen = np.isin(stored["y_train"], DIGITS)
    return stored["X_train"][chosen][:2000].reshape(-1, DIMENSION) / 255.0, stored["y_train"][chosen][:2000], "MNIST"


def random_rows(d: int, n: int) -> tuple[Any, Any]:
    """Two classes in d dimensions with a falling spectrum; lengths do not depend on d."""
    rng = np.random.default_rng(0)
    scales = 1.0 / np.sqrt(1.0 + np.arange(d))
    classes = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d)) * (scales / np.linalg.norm(scales))
    X[:, 0] += classes
    return X, classes


def stream(X: Any, classes: Any, n: int) -> tuple[Any, Any]:
    """n random differences with their labels."""
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, len(X), (2, n))
    apart = left != right
    return (X[left] - X[right])[apart], np.where(classes[left] == classes[right], 1, -1)[apart]


def as_pairs(V: Any) -> pl.Pairs:
    """Pairs with these differences: rows beside the origin."""
    return pl.Pairs(np.vstack([V, np.zeros((1, V.shape[1]))]), np.arange(len(V)), np.full(len(V), len(V)))


def twin(A: Any, b: float, V: Any, labels: Any) -> tuple[Any, float]:
    """The algorithm with a full eigendecomposition for every similar pair that costs a loss."""
    for v, y in zip(V, labels.tolist(), strict=True):
        loss = max(0.0, y * (v @ A @ v - b) + 1)
        if loss == 0:
            continue
        alpha = loss / ((v @ v) ** 2 + 1)
        A, b = A - y * alpha * np.outer(v, v), max(1.0, b + y * alpha)
        if y > 0:
            values, vectors = np.linalg.eigh(A)
            A = (vectors * np.maximum(values, 0)) @ vectors.T
    return A, b


def speed(V: Any, labels: Any, quick: bool) -> dict[str, Any]:
    """Seconds per update of both on the same pairs, in turn, from the same start."""
    known, part, parts = (300, 30, 1) if quick else (2000, 100, 3)
    metric = pl.OnlinePseudoMetric().partial_fit(as_pairs(V[:known]), labels[:known])
    best: dict[str, list[float]] = {"fast": [], "twin": []}
    gap = 0.0
    for start in range(known, known + part * parts, part):
        here, y = V[start : start + part], labels[start : start + part]
        A, b, before = metric.mahalanobis_matrix_, metric.threshold_, metric.state_.n_updates
        pairs = as_pairs(here)
        best["fast"].append(timed(partial(metric.partial_fit, pairs, y))[0])
        seconds, (A, b) = timed(partial(twin, A, b, here, y))
        best["twin"].append(seconds)
        for times in best.values():
            times[-1] /= metric.state_.n_updates - before
        gap = max(gap, float(np.abs(A - metric.mahalanobis_matrix_).max() / np.abs(A).max()))
    values = np.linalg.eigvalsh(metric.state_.matrix)
    return {
        "features in use": len(metric.span_.active),
        "fast": min(best["fast"]),
        "twin": min(best["twin"]),
        "difference": gap,
        "lowest": float(values[0] / values[-1]),
        "fallbacks": metric.state_.n_fallbacks,
    }


def speed_images(quick: bool) -> dict[str, Any]:
    """On images, whose corners never differ."""
    X, classes, source = images()
    return {"source": source, **speed(*stream(X, classes, 3000), quick)}


def speed_random(quick: bool) -> dict[str, Any]:
    """On random rows, where every feature differs."""
    return speed(*stream(*random_rows(DIMENSION, 2000), 3000), quick)


def growth(quick: bool) -> dict[str, Any]:
    """Seconds per update by dimension, random rows."""
    found = {}
    for d in (64, 128, 256) if quick else (256, 512, 1024, 2048):
        V, labels = stream(*random_rows(d, 2000), 5000)
        known = 400 if quick else 2500
        metric = pl.OnlinePseudoMetric().partial_fit(as_pairs(V[:known]), labels[:known])
        seconds = []
        for start in range(known, known + 600, 200):
            pairs, before = as_pairs(V[start : start + 200]), metric.state_.n_updates
            took = timed(partial(metric.partial_fit, pairs, labels[start : start + 200]))[0]
            seconds.append(took / (metric.state_.n_updates - before))
        found[str(d)] = min(seconds)
    return found


def one_by_one(quick: bool) -> dict[str, Any]:
    """Pairs per second through `learn_one`, checks included, 20 dimensions."""
    X, classes = random_rows(20, 500)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(X), (500 if quick else 5000, 2))
    metric = pl.OnlinePseudoMetric()

    def run() -> None:
        for i, j in pairs.tolist():
            metric.learn_one(X[i], X[j], 1 if classes[i] == classes[j] else -1)

    run()
    return {"pairs_per_second": len(pairs) / timed(run)[0]}


ROWS = {"images": speed_images, "random": speed_random, "growth": growth, "one_by_one": one_by_one}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """Goals: 20 times the updates per second of the twin at d = 784; time like d²."""
    found = []
    for name, goal in (("images", ">= 20"), ("random", None)):
        if name not in rows:
            continue
        row, text = rows[name], f"d = 784, {rows[name].get('source', 'random rows')}"
        found += [
            Figure(f"{text}: updates per second / those of the eigh twin", row["twin"] / row["fast"], goal),
            Figure(f"{text}: updates per second", 1 / row["fast"]),
            Figure(f"{text}: features in use", row["features in use"]),
            Figure(f"{text}: largest relative difference to the twin's matrix", row["difference"], "<= 1e-8"),
            Figure(f"{text}: lowest / largest eigenvalue", row["lowest"], ">= -1e-12"),
            Figure(f"{text}: updates that fell back to a factorisation", float(row["fallbacks"])),
        ]
    if "growth" in rows:
        sizes = np.array([int(d) for d in rows["growth"]])
        slope = np.polyfit(np.log(sizes), np.log(list(rows["growth"].values())), 1)[0]
        found.append(Figure("exponent of the time of an update in d", float(slope), "<= 2.3", judged=not quick))
    if "one_by_one" in rows:
        found.append(Figure("pairs per second through learn_one, d = 20", rows["one_by_one"]["pairs_per_second"]))
    return found


if __name__ == "__main__":
    results, is_quick = run_rows(__file__, ROWS)
    sys.exit(print_figures(figures(results, is_quick)))
