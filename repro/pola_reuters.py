"""Document filtering with an online pseudo-metric: the balanced error of POLA, Perceptron, PAUM and 1-NN on Reuters.

Needs PAIRLEARN_DATA. The stream is the first 10,000 stories of the ModApte split in the order of their numbers; each
is judged before its label is told. The paper leaves open how its 500 words were found: here they have the largest χ²
with any topic among the 2902 *later* stories, which the filters never see (words of 10 stories or more, topics
likewise), and the inverse document frequencies come from there too. A story is (1 + log tf)·idf, scaled to length 1.

The 13 topics are the largest ones with a ratio of relevant to irrelevant stories in [0.01, 0.1]. POLA calls a story
relevant when it is nearer than b to the nearest relevant story so far, by a metric that learns from this pair; γ = 0.
The margins of PAUM have the smallest mean error on four other topics (the next smaller ones) out of a grid. "POLA,
chosen" has the length of the stories and the γ that are best there. Balanced error: the mean of the shares of wrongly
judged stories among the irrelevant and among the relevant ones.
"""

from __future__ import annotations

import csv
import gzip
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.feature_selection import chi2

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.metrics.filtering import PAUM, Filtered, NearestRelevant, Perceptron, run_filter

N_STREAM, N_QUICK, N_WORDS, FEWEST = 10_000, 1000, 500, 10
TOPICS = (
    *("money-fx", "grain", "crude", "trade", "interest", "wheat", "ship"),
    *("corn", "money-supply", "sugar", "dlr", "oilseed", "coffee"),
)
OTHERS = ("gnp", "gold", "veg-oil", "soybean")
MARGINS = tuple(product((0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0), (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0)))
SETTINGS = tuple(product((1.0, 3.0), (0.0, 1.0, 10.0, 30.0, 100.0)))
"""Length of the stories and γ."""
MARGINS_CHOSEN, SETTING_CHOSEN = (20.0, -1.0), (1.0, 30.0)
"""The best on OTHERS: row "other topics" shows it."""
FILTERS = ("POLA", "POLA, chosen", "Perceptron", "PAUM", "1-NN")
CLOSE = 0.03
"""Balanced errors that differ by no more are comparable."""
STOP_WORDS = ENGLISH_STOP_WORDS | {"reuter", "reuters"}
PICTURE = Path("results") / "pola_reuters.png"


@dataclass(frozen=True)
class Stream:
    """Stories of length 1 (or 0 without any of the words), (n, 500), and the topics of each."""

    X: np.ndarray
    topics: list[set[str]]

    def labels(self, topic: str) -> np.ndarray:
        """+1 relevant, −1 irrelevant."""
        return np.array([1 if topic in found else -1 for found in self.topics])

    def first(self, n: int) -> Stream:
        """The beginning of the stream."""
        return Stream(self.X[:n], self.topics[:n])


# --------------------------------------------------------------------------- data


def read() -> tuple[list[str], list[set[str]]]:
    """Texts and topics of all stories by number."""
    csv.field_size_limit(10**7)
    with gzip.open(data_folder() / "reuters21578" / "modapte.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [f"{row['title']} {row['body']}" for row in rows], [set(row["topics"].split("|")) - {""} for row in rows]


def words_of(text: str) -> list[str]:
    """Runs of at least two letters in lower case, without common English words and the agency's own name."""
    return [word for word in re.findall(r"[a-z]{2,}", text.lower()) if word not in STOP_WORDS]


def telling(present: Any, topics: list[set[str]]) -> np.ndarray:
    """Columns of the 500 words with the largest χ² with any topic."""
    names = sorted({topic for found in topics for topic in found})
    members = np.array([[topic in found for found in topics] for topic in names])
    members = members[members.sum(axis=1) >= FEWEST]
    largest = np.max([np.nan_to_num(chi2(present, member)[0]) for member in members], axis=0)
    return np.sort(np.argsort(-largest, kind="stable")[:N_WORDS])


@cache
def stream() -> Stream:
    """The stream in the words of the stories after it."""
    texts, topics = read()
    counter = CountVectorizer(analyzer=words_of, min_df=FEWEST)
    later = counter.fit_transform(texts[N_STREAM:])
    present = (later > 0).astype(float)
    words = telling(present, topics[N_STREAM:])
    idf = np.log(later.shape[0] / np.asarray(present.sum(axis=0)).ravel()[words])
    counts = counter.transform(texts[:N_STREAM])[:, words].toarray().astype(float)
    weights = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1.0)), 0.0) * idf
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    return Stream(weights / np.where(lengths > 0, lengths, 1.0), topics[:N_STREAM])


# --------------------------------------------------------------------------- filters


def nearest_before(X: np.ndarray, block: int = 500) -> np.ndarray:
    """Number of the nearest earlier story (the first of them), (n,); it depends on no topic. −1 for the first story."""
    squares, found = np.einsum("ij,ij->i", X, X), np.full(len(X), -1)
    for start in range(0, len(X), block):
        stop = min(start + block, len(X))
        D = squares[:stop] - 2.0 * (X[start:stop] @ X[:stop].T)
        D[np.arange(stop)[None, :] >= np.arange(start, stop)[:, None]] = np.inf
        found[start:stop] = D.argmin(axis=1)
    found[0] = -1
    return found


def by_neighbour(X: np.ndarray, y: np.ndarray) -> Filtered:
    """1-NN over all earlier stories; the first one is called irrelevant."""
    nearest = nearest_before(X)
    return Filtered(np.where(nearest < 0, -1, y[nearest]), y)


def pola(gamma: float = 0.0) -> NearestRelevant:
    """POLA as a filter."""
    return NearestRelevant(pl.OnlinePseudoMetric(gamma=gamma))


def errors(filtered: Filtered) -> list[float]:
    """[balanced error, false positives, false negatives]."""
    return [filtered.balanced_error, filtered.false_positives, filtered.false_negatives]


# --------------------------------------------------------------------------- rows


def mean_error(data: Stream, topics: tuple[str, ...], build: Any, length: float = 1.0) -> float:
    """Mean balanced error of fresh filters."""
    runs = [run_filter(build(), length * data.X, data.labels(topic)) for topic in topics]
    return float(np.mean([run.balanced_error for run in runs]))


def settings(quick: bool) -> dict[str, Any]:
    """Errors on the other topics: all margins of PAUM, all lengths and γ of POLA (one topic in a quick run)."""
    data = stream().first(N_QUICK if quick else N_STREAM)
    topics = OTHERS[:1] if quick else OTHERS
    paum = {margins: mean_error(data, topics, lambda margins=margins: PAUM(*margins)) for margins in MARGINS}
    metric = {
        (length, gamma): mean_error(data, topics, lambda gamma=gamma: pola(gamma), length) for length, gamma in SETTINGS
    }
    best, setting = (min(table, key=table.__getitem__) for table in (paum, metric))
    return {
        "best margins": list(best),
        "PAUM, best and worst": [paum[best], max(paum.values())],
        "best length, gamma": list(setting),
        **{f"POLA, length {length:g}, gamma {gamma:g}": error for (length, gamma), error in metric.items()},
        "Perceptron": mean_error(data, topics, Perceptron),
    }


def topic_row(topic: str, quick: bool) -> dict[str, Any]:
    """Errors of the filters on one topic."""
    data = stream().first(N_QUICK if quick else N_STREAM)
    y = data.labels(topic)
    relevant = int(np.sum(y > 0))
    return {
        "relevant": relevant,
        "ratio": relevant / (len(y) - relevant),
        "POLA": errors(run_filter(pola(), data.X, y)),
        "Perceptron": errors(run_filter(Perceptron(), data.X, y)),
        "PAUM": errors(run_filter(PAUM(*MARGINS_CHOSEN), data.X, y)),
        "1-NN": errors(by_neighbour(data.X, y)),
    }


def chosen_row(topic: str, quick: bool) -> dict[str, Any]:
    """The same for POLA with the settings that are best on the other topics; most pairs change it, so it is slow."""
    data, (length, gamma) = stream().first(N_QUICK if quick else N_STREAM), SETTING_CHOSEN
    return {"POLA, chosen": errors(run_filter(pola(gamma), length * data.X, data.labels(topic)))}


# --------------------------------------------------------------------------- figures


def draw(found: dict[str, dict[str, Any]], path: Path) -> None:
    """Balanced errors of POLA against those of each rival, one point per topic."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    top = 105 * max(row[name][0] for row in found.values() for name in FILTERS if name in row)
    for axis, rival in zip(axes, FILTERS[2:], strict=True):
        for name, mark in (("POLA", "o"), ("POLA, chosen", "x")):
            points = [(100 * row[rival][0], 100 * row[name][0]) for row in found.values() if name in row]
            axis.plot(*np.array(points).reshape(-1, 2).T, mark, label=name)
        axis.plot([0, top], [0, top], color="grey", linewidth=0.8)
        axis.set(xlim=(0, top), ylim=(0, top), xlabel=f"{rival}, balanced error, %", ylabel="POLA, balanced error, %")
        axis.set_aspect("equal")
    axes[0].legend()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def table(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Balanced errors in per cent, with the shares of false positives and false negatives."""
    yield f"{'balanced error, % (FP, FN)':<28}" + "".join(f"{name:<21}" for name in FILTERS)
    for topic, row in found.items():
        shares = (100 * np.array(row.get(name, [np.nan] * 3)) for name in FILTERS)
        cells = ("{:5.2f} ({:5.2f}, {:5.2f})".format(*three) for three in shares)
        yield f"{topic:<14}{row['relevant']:>4} relevant " + " ".join(cells)


def comparisons(found: dict[str, dict[str, Any]], quick: bool) -> Iterator[Figure]:
    """Mean errors, and on how many topics POLA errs less than each rival."""
    for name in FILTERS:
        values = [row[name][0] for row in found.values() if name in row]
        if values:
            yield Figure(f"mean balanced error of {len(values)} topics, %: {name}", 100 * float(np.mean(values)))
    for name, rival in product(FILTERS[:2], FILTERS[2:]):
        gains = np.array([row[rival][0] - row[name][0] for row in found.values() if name in row])
        full = not quick and len(gains) == len(TOPICS)
        goal, paper = (">= 12", "nearly all") if rival == "1-NN" else (None, None)
        yield Figure(
            f"topics of {len(gains)} where {name} is better than {rival}", float(np.sum(gains > 0)), goal, paper, full
        )
        if rival != "1-NN":
            close = float(np.sum(gains <= CLOSE))
            what = f"topics where {rival} is better or at most 3 points worse than {name}"
            yield Figure(what, close, ">= 7", "often", full)


def main() -> int:
    """Print the table of topics and the claims, and draw the scatter plots."""
    skip_without_data()
    rows: dict[str, Any] = {"other topics": settings}
    rows |= {topic: lambda quick, topic=topic: topic_row(topic, quick) for topic in TOPICS}
    rows |= {f"{topic}, chosen": lambda quick, topic=topic: chosen_row(topic, quick) for topic in TOPICS}
    results, quick = run_rows(__file__, rows)
    found = {topic: results[topic] | results.get(f"{topic}, chosen", {}) for topic in TOPICS if topic in results}
    figures: list[Figure] = []
    if found:
        print("\n" + "\n".join(table(found)))
        figures += comparisons(found, quick)
    if "other topics" in results:
        row = results["other topics"]
        fits = row["best margins"] == [*MARGINS_CHOSEN] and row["best length, gamma"] == [*SETTING_CHOSEN]
        figures.append(
            Figure("settings in use are the best on the other topics", float(fits), "== 1", judged=not quick)
        )
    if found and not quick:
        draw(found, PICTURE)
        print(f"figure: {PICTURE}")
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
