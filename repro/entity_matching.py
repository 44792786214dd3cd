"""Are two records the same? Four sets of labelled pairs with their official splits, beside cosine and boosted trees.

Needs PAIRLEARN_DATA. Everything is chosen on the training and validation pairs by cross-validation over records
(`RecordMatcher`), then the test pairs are scored once. "train only" learns from the training pairs alone, with the
threshold from its own cross-validation, as published systems do. Both tables are known as a whole, without labels, as
they are in practice; "without rivals" leaves out how a pair stands beside the nearest other records. Cosine is that of
character n-grams of all words; boosted trees (scikit-learn) learn from the same features; their thresholds are set in
the same folds. "held-out folds" is the F1 of the pairs learnt from, each scored by a machine that had not seen it: what
the test pairs, some of them 14 or 22 matches, should be like. The column `class` of Fodors-Zagats is equal in two
records exactly if they match, so it is left out; published figures are of all columns, hence "all columns" too.
Published F1 (Magellan / DeepMatcher / Ditto) as cited in the literature.
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.records.judging import F1At, boosted_trees, limits, scores_of
from pairlearn.records.machine import best_f1, deal_folds

PUBLISHED = {
    "Amazon-Google": (0.72, ".491/.693/.756"),
    "DBLP-ACM": (0.985, ".984/.984/.990"),
    "Beer": (0.84, ".788/.727/.944"),
    "Fodors-Zagats": (1.0, "1.00/1.00/1.00"),
}
LEFT_OUT = {"Fodors-Zagats": ("class",)}
SPLITS = ("train", "valid", "test")
MOST_SECONDS = 60.0
SHOWN = ("matcher", "all columns", "held-out folds", "train only", "without rivals", "boosted trees", "cosine")


def read(name: str, left_out: tuple[str, ...] = ()) -> tuple[dict[str, pl.records.RecordPairs], dict[str, np.ndarray]]:
    """Pairs and labels of every split over two tables; equal lines of one side are one record."""
    tables: tuple[dict[str, int], dict[str, int]] = ({}, {})
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for split in SPLITS:
        lines = (data_folder() / "entity_matching" / name / f"{split}.txt").read_text(encoding="utf-8").splitlines()
        rows[split] = []
        for line in lines:
            left, right, label = line.split("\t")
            a, b = (
                table.setdefault(text.strip(), len(table)) for table, text in zip(tables, (left, right), strict=True)
            )
            rows[split].append((a, b, 1 if label == "1" else -1))
    sides = [pl.Records.of([record(text) for text in table], drop=left_out) for table in tables]
    columns = {split: np.array(found).T for split, found in rows.items()}
    pairs = {split: pl.records.RecordPairs(*sides, found[0], found[1]) for split, found in columns.items()}
    return pairs, {split: found[2] for split, found in columns.items()}


def record(text: str) -> dict[str, str]:
    """`COL name VAL value COL …` as columns."""
    parts = re.split(r"COL (\S+) VAL ?", f"{text} ")[1:]
    return {name: value.strip() for name, value in zip(parts[::2], parts[1::2], strict=True)}


def joined(pairs: dict[str, pl.records.RecordPairs], splits: tuple[str, ...]) -> pl.records.RecordPairs:
    """Pairs of several splits as one."""
    first = pairs[splits[0]]
    sides = (np.concatenate([getattr(pairs[s], side) for s in splits]) for side in ("left_rows", "right_rows"))
    return pl.records.RecordPairs(first.left, first.right, *sides)


def f1(pairs: pl.records.RecordPairs, values: np.ndarray, labels: np.ndarray, threshold: float) -> list[float]:
    """F1 with its limits over records."""
    found = limits(scores_of(pairs, values, labels), F1At(threshold))
    return [found.estimate, found.low, found.high]


def rivals(matcher: pl.RecordMatcher, test: pl.records.RecordPairs, truth: np.ndarray) -> dict[str, Any]:
    """Cosine and boosted trees, thresholds from the pairs that the matcher learnt from."""
    known = matcher.held_out
    names = matcher.comparer_.feature_names
    cosine = names.index("whole record: characters")
    features = matcher.comparer_.features(matcher.ready(test.left, test.right), test.left_rows, test.right_rows)
    folds = deal_folds(known.pairs.left_rows, known.labels, 0)
    threshold = best_f1(boosted_trees(known.features, known.labels, folds, 0), known.labels)[1]
    trees = HistGradientBoostingClassifier(max_iter=100, random_state=0, early_stopping=False)
    scores = trees.fit(known.features, known.labels).decision_function(features)
    start = best_f1(known.features[:, cosine].astype(float), known.labels)[1]
    return {
        "cosine": f1(test, features[:, cosine], truth, start),
        "boosted trees": f1(test, scores, truth, threshold),
    }


def measure(name: str, quick: bool) -> dict[str, Any]:
    """All figures of one set."""
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    variants = {"matcher": (("train", "valid"), True, LEFT_OUT.get(name, ()))}
    if not quick:
        variants |= {"train only": (("train",), True, variants["matcher"][2])}
        variants |= {"without rivals": (("train", "valid"), False, variants["matcher"][2])}
    if not quick and name in LEFT_OUT:
        variants |= {"all columns": (("train", "valid"), True, ())}
    for label, (splits, context, left_out) in variants.items():
        pairs, labels = read(name, left_out)
        test, truth = pairs["test"], labels["test"]
        began = time.perf_counter()
        setting = pl.records.Setting(3.0, words=0.3) if quick else None
        y = np.concatenate([labels[split] for split in splits])
        matcher = pl.RecordMatcher(rivals=context, setting=setting).fit(joined(pairs, splits), y)
        seconds = time.perf_counter() - began
        found[label] = f1(test, matcher.decision_function(test), truth, matcher.threshold_)
        if label == "matcher":
            known = matcher.held_out
            found["held-out folds"] = f1(known.pairs, known.scores, known.labels, matcher.threshold_)
            found |= {"seconds": seconds, "setting": str(matcher.setting_), **rivals(matcher, test, truth)}
    return found


def main() -> int:
    """Print F1 of every set with limits over records."""
    skip_without_data()
    names = ["Beer", "Fodors-Zagats"] if "--quick" in sys.argv else list(PUBLISHED)
    results, quick = run_rows(__file__, {name: lambda q, name=name: measure(name, q) for name in names})
    figures = []
    for name, row in results.items():
        goal, paper = PUBLISHED[name]
        for label in SHOWN:
            if label in row:
                value, low, high = row[label]
                own = f">= {goal}" if label in ("matcher", "all columns") else None
                title = f"{name}, {label}: F1 [{low:.3f}, {high:.3f}]"
                figures.append(Figure(title, value, own, paper if own else None, judged=not quick))
        figures.append(
            Figure(f"{name}: seconds of fit and selection", row["seconds"], f"<= {MOST_SECONDS:g}", judged=not quick)
        )
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
