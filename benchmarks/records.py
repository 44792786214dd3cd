"""Records at size: features of a million pairs, candidates of 200,000 rows, and what labels teach in which order.

"features": 10⁶ pairs of 100,000 made-up records with ten columns of all kinds. "candidates": a made table of 200,000
persons, 40,000 of them duplicates with typing errors; recall, share of pairs, time, memory. "labels": on Amazon-Google
(needs PAIRLEARN_DATA), F1 on the official test pairs against the number of labelled pairs, chosen by the review order
from the training and validation pairs or drawn from them at random, three seeds each.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, gemm_seconds, peak_memory, print_figures, run_rows
from pairlearn.records.candidates import Candidates
from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.matcher import BLOCK, Matches

LETTERS = np.array(list("abcdefghiklmnoprstuvw"))


def words(rng: np.random.Generator, n: int) -> np.ndarray:
    """Made-up words of 4 to 9 letters, some far more frequent than others when drawn by `draw`."""
    return np.array(["".join(rng.choice(LETTERS, rng.integers(4, 10))) for _ in range(n)])


def draw(rng: np.random.Generator, known: np.ndarray, n: int) -> np.ndarray:
    """Words with frequencies as in life: few frequent ones, many rare ones."""
    places = (len(known) * rng.random(n) ** 3).astype(int)
    return known[places]


def made_records(n: int, seed: int) -> dict[str, list[Any]]:
    """Ten columns of persons who bought something."""
    rng = np.random.default_rng(seed)
    names, towns, goods = words(rng, 5_000), words(rng, 40), words(rng, 20_000)
    days = np.datetime64("1930-01-01") + rng.integers(0, 25_000, n)
    titles = [" ".join(row) for row in draw(rng, goods, 6 * n).reshape(n, 6)]
    return {
        "given_name": draw(rng, names, n).tolist(),
        "surname": draw(rng, names[::-1], n).tolist(),
        "street": [f"{rng.integers(1, 200)} {name} street" for name in draw(rng, names, n)],
        "town": rng.choice(towns, n).tolist(),
        "postcode": [f"{code:05d}" for code in rng.integers(1000, 99_999, n)],
        "born": days.astype(str).tolist(),
        "phone": [f"0{number}" for number in rng.integers(10**8, 10**9, n)],
        "title": titles,
        "price": rng.lognormal(3, 1, n).round(2).tolist(),
        "authors": [", ".join(row) for row in draw(rng, names, 3 * n).reshape(n, 3)],
    }  # fmt: skip


def misspelled(text: str, rng: np.random.Generator) -> str:
    """One letter dropped, doubled or changed."""
    place = int(rng.integers(0, max(len(text), 1)))
    kind = rng.integers(0, 3)
    middle = "" if kind == 0 else text[place : place + 1] * 2 if kind == 1 else str(rng.choice(LETTERS))
    return text[:place] + middle + text[place + 1 :]


def features(quick: bool) -> dict[str, Any]:
    """Seconds to compare a million pairs in ten columns, everything included."""
    n, pairs = (10_000, 100_000) if quick else (100_000, 1_000_000)
    table = pl.Records.of(made_records(n, 0))
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, n, (2, pairs))
    began = time.perf_counter()
    comparer = Comparer.learn(table, None, rivals=False)
    ready = comparer.prepare(table, None)
    prepared = time.perf_counter() - began
    for first in range(0, pairs, BLOCK):
        comparer.features(ready, left[first : first + BLOCK], right[first : first + BLOCK])
    seconds = time.perf_counter() - began
    told = {"seconds": seconds, "prepared": prepared, "columns": len(comparer.columns)}
    return {**told, "gemm": gemm_seconds(), "gigabytes": peak_memory()}


def candidates(quick: bool) -> dict[str, Any]:
    """Recall of the candidates of a table with known duplicates."""
    n = 20_000 if quick else 200_000
    rng = np.random.default_rng(2)
    columns = made_records(4 * n // 5, 3)
    copied = rng.choice(4 * n // 5, n // 5, replace=False)
    rows = [{name: cells[row] for name, cells in columns.items()} for row in copied]
    for row in rows:
        for name in rng.choice(list(row), 3, replace=False):
            row[name] = None if rng.random() < 0.2 else misspelled(str(row[name]), rng)
    table = pl.Records.of({name: [*cells, *(row[name] for row in rows)] for name, cells in columns.items()})
    began = time.perf_counter()
    comparer = Comparer.learn(table, None, rivals=False)
    found = pl.records.find_candidates(comparer, comparer.prepare(table, None), table, None)
    seconds = time.perf_counter() - began
    truth = pl.records.RecordPairs(table, None, copied, np.arange(4 * n // 5, n))
    near = found.pairs[np.flatnonzero(found.neighbours)]
    return {
        "recall": float(np.isin(truth.keys, found.pairs.keys).mean()),
        "recall of neighbours alone": float(np.isin(truth.keys, near.keys).mean()),
        "share": found.share,
        "pairs": len(found.pairs),
        "seconds": seconds,
        "gigabytes": peak_memory(),
    }


def labels(quick: bool) -> dict[str, Any]:
    """F1 on test pairs against labelled pairs, by review order and at random."""
    if not os.environ.get("PAIRLEARN_DATA"):
        return {}
    from repro.entity_matching import joined, read

    warnings.simplefilter("ignore")
    pairs, y = read("Amazon-Google")
    pool, truth = joined(pairs, ("train", "valid")), np.concatenate([y["train"], y["valid"]])
    steps = (50, 100) if quick else (50, 100, 200, 400, 800)
    result: dict[str, Any] = {}
    for order in ("review", "random"):
        for seed in range(1 if quick else 3):
            for n, value in curve(pool, truth, pairs["test"], y["test"], order, steps, seed).items():
                result.setdefault(f"{order} {n}", []).append(value)
    return {name: float(np.mean(values)) for name, values in result.items()}


def curve(
    pool: pl.records.RecordPairs,
    truth: np.ndarray,
    test: pl.records.RecordPairs,
    y: np.ndarray,
    order: str,
    steps: Any,
    seed: int,
) -> dict[int, float]:
    """F1 on the test pairs after each step; the first pairs are drawn at random for both."""
    rng = np.random.default_rng(seed)
    taken = first_pairs(rng, truth, steps[0])
    found: dict[int, float] = {}
    matcher = None
    for n in steps:
        taken = taken if matcher is None else grown(pool, matcher, taken, n, order, rng, seed)
        matcher = pl.RecordMatcher(setting=pl.records.Setting(3.0), random_state=seed).fit(pool[taken], truth[taken])
        found[n] = pl.records.F1At(matcher.threshold_)(pl.Scores(matcher.decision_function(test), y))
    return found


def first_pairs(rng: np.random.Generator, truth: np.ndarray, n: int) -> np.ndarray:
    """Random pairs with a few matches among them, as somebody would find to start with."""
    matches, others = (rng.permutation(np.flatnonzero(truth == label)) for label in (1, -1))
    return np.concatenate([matches[: n // 5], others[: n - n // 5]])


def grown(pool: Any, matcher: Any, taken: np.ndarray, n: int, order: str, rng: Any, seed: int) -> np.ndarray:
    """More pairs, by the review order of the matcher so far or at random."""
    free = np.setdiff1d(np.arange(len(pool)), taken)
    if order == "random":
        return np.concatenate([taken, rng.permutation(free)[: n - len(taken)]])
    while len(taken) < n:
        some = pool[free]
        p = matcher.predict_proba(some)[:, 1]
        every = np.ones(len(free), dtype=bool)
        scored = Matches(some, p, p >= 0.5, matcher.probability_threshold, Candidates(some, every, every, len(free)))
        chosen = pl.records.review_order(scored, min(n - len(taken), 50), None, seed)
        taken = np.concatenate([taken, free[chosen]])
        free = np.setdiff1d(free, taken)
    return taken


def main() -> int:
    """Print what was measured."""
    results, quick = run_rows(__file__, {"features": features, "candidates": candidates, "labels": labels})
    figures = []
    if "features" in results:
        row = results["features"]
        title = f"10⁶ pairs × {row['columns']} columns: seconds ({row['seconds'] / row['gemm']:.0f} gemm)"
        figures += [Figure(title, row["seconds"], "< 60", judged=not quick), Figure("features: GB", row["gigabytes"])]
    if "candidates" in results:
        row = results["candidates"]
        figures.append(Figure("200,000 rows: recall of candidates", row["recall"], ">= 0.98", judged=not quick))
        names = ("recall of neighbours alone", "share", "pairs", "seconds", "gigabytes")
        figures += [Figure(f"200,000 rows: {name}", row[name]) for name in names]
    row = results.get("labels", {})
    figures += [Figure(f"Amazon-Google, F1 with labels by {name}", value) for name, value in row.items()]
    for n in (200, 400):
        if f"review {n}" in row:
            gain = row[f"review {n}"] - row[f"random {n}"]
            figures.append(
                Figure(f"Amazon-Google, {n} labels: gain of the review order", gain, "> 0", judged=not quick)
            )
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
