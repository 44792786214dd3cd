"""Persons with typing errors (Febrl): duplicates in one table, matches of two, with few labels and with none.

Needs PAIRLEARN_DATA. dataset3 is one table of 5,000 records with up to five duplicates each, dataset4 two tables of
5,000. Labelled pairs are drawn at random from the candidates, 100, 500 and 2,000 of them; figures count all true pairs,
also those that no candidate holds and those that were labelled. Beside it, on the same candidates, recordlinkage's
classifiers (logistic regression and SVM from the same labels, ECM from none) on its own comparisons, and Splink with
its own blocking and EM, without labels, at probability 0.5. Both are used if they are installed.
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data
from pairlearn.records.compare.comparer import Comparer

LABELS = (100, 500, 2000)
FIELDS = {
    **dict.fromkeys(("given_name", "surname", "address_1", "address_2", "suburb"), "jarowinkler"),
    **dict.fromkeys(("street_number", "postcode", "state", "date_of_birth", "soc_sec_id"), "exact"),
}
GOAL = ">= 0.97"


def read(name: str) -> tuple[pl.Records, pl.Records | None]:
    """One table or two."""
    folder = data_folder() / "febrl"
    if name == "dataset3":
        return pl.Records.of(folder / "dataset3.csv"), None
    return pl.Records.of(folder / "dataset4a.csv"), pl.Records.of(folder / "dataset4b.csv")


def persons(table: pl.Records) -> np.ndarray:
    """Number of the person behind every record."""
    return np.array([int(re.findall(r"rec-(\d+)-", key)[0]) for key in table.ids])


def all_matches(left: pl.Records, right: pl.Records | None) -> int:
    """How many pairs are true."""
    if right is not None:
        return int(np.isin(persons(left), persons(right)).sum())
    sizes = np.bincount(persons(left))
    return int((sizes * (sizes - 1) // 2).sum())


def truth(pairs: pl.records.RecordPairs) -> np.ndarray:
    """Labels ±1."""
    same = persons(pairs.left)[pairs.left_rows] == persons(pairs.right_table)[pairs.right_rows]
    return np.where(same, 1, -1)


def rates(hits: int, found: int, every: int) -> list[float]:
    """Precision, recall and F1."""
    return [hits / max(found, 1), hits / every, 2 * hits / max(found + every, 1)]


def of_pairs(pairs: pl.records.RecordPairs, chosen: np.ndarray, every: int) -> list[float]:
    """Rates of the chosen pairs."""
    return rates(int((truth(pairs)[chosen] > 0).sum()), int(chosen.sum()), every)


def of_clusters(table: pl.Records, clusters: np.ndarray, every: int) -> list[float]:
    """Rates of all pairs within clusters."""
    sizes = np.bincount(clusters)
    both = np.unique(np.column_stack([clusters, persons(table)]), axis=0, return_counts=True)[1]
    return rates(int((both * (both - 1) // 2).sum()), int((sizes * (sizes - 1) // 2).sum()), every)


def decided(matcher: Any, left: pl.Records, right: pl.Records | None, every: int, known: Any) -> list[float]:
    """Rates of clusters of one table, or of one-to-one matches of two."""
    if right is None:
        return of_clusters(left, matcher.dedupe(left, labelled=known).clusters, every)
    found = matcher.match(left, right)
    return of_pairs(found.pairs, found.chosen, every)


def measure(name: str, quick: bool) -> dict[str, Any]:
    """All figures of one set."""
    warnings.simplefilter("ignore")
    left, right = read(name)
    every, comparer = all_matches(left, right), Comparer.learn(left, right)
    began = time.perf_counter()
    found = pl.records.find_candidates(comparer, comparer.prepare(left, right), left, right)
    result: dict[str, Any] = {"share": found.share, "candidate seconds": time.perf_counter() - began}
    y = truth(found.pairs)
    result["candidate recall"] = float((y > 0).sum() / every)
    order = np.random.default_rng(0).permutation(len(y))
    for n in LABELS[:2] if quick else LABELS:
        some, began = order[:n], time.perf_counter()
        known = (found.pairs[some], y[some])
        matcher = pl.RecordMatcher(setting=pl.records.Setting(3.0) if quick else None).fit(*known)
        result[f"{n} labels"] = decided(matcher, left, right, every, known if right is None else None)
        result[f"{n} labels, seconds"] = time.perf_counter() - began
    began = time.perf_counter()
    start = pl.records.UnlabelledMatcher().fit(found.pairs)
    result["no labels"] = decided(start, left, right, every, None)
    result["no labels, seconds"] = time.perf_counter() - began
    if not quick:
        result |= optional(lambda: recordlinkage_rates(found.pairs, y, order, every), "recordlinkage")
        result |= optional(lambda: splink_rates(left, right, every), "Splink")
    return result


def optional(action: Callable[[], dict[str, Any]], name: str) -> dict[str, Any]:
    """Figures of another package, if it is installed."""
    try:
        return action()
    except ImportError:
        print(f"{name} is not installed: left out", file=sys.stderr)
        return {}


def recordlinkage_rates(pairs: pl.records.RecordPairs, y: np.ndarray, order: np.ndarray, every: int) -> dict[str, Any]:
    """Its classifiers on its own comparisons of the same candidates."""
    import pandas
    import recordlinkage

    tables = [pandas.DataFrame(dict(table.columns)) for table in (pairs.left, pairs.right_table)]
    index = pandas.MultiIndex.from_arrays([pairs.left_rows, pairs.right_rows])
    compare = recordlinkage.Compare()
    for field, how in FIELDS.items():
        compare.exact(field, field) if how == "exact" else compare.string(field, field, method=how)
    began = time.perf_counter()
    vectors = compare.compute(index, *tables) if pairs.right is not None else compare.compute(index, tables[0])
    spent = time.perf_counter() - began
    result: dict[str, Any] = {}
    makers = {"logistic": recordlinkage.LogisticRegressionClassifier, "SVM": recordlinkage.SVMClassifier}
    for n in LABELS:
        some = order[:n]
        for title, maker in makers.items():
            began = time.perf_counter()
            machine = maker()
            machine.fit(vectors.iloc[some], index[some][y[some] > 0])
            chosen = np.asarray(index.isin(machine.predict(vectors)))
            result[f"recordlinkage {title}, {n} labels"] = of_pairs(pairs, chosen, every)
            result[f"recordlinkage {title}, {n} labels, seconds"] = spent + time.perf_counter() - began
    binary = (vectors > 0.85).astype(int)
    chosen = np.asarray(index.isin(recordlinkage.ECMClassifier().fit_predict(binary)))
    result["recordlinkage ECM, no labels"] = of_pairs(pairs, chosen, every)
    return result


def splink_rates(left: pl.Records, right: pl.Records | None, every: int) -> dict[str, Any]:
    """Splink with blocking rules as in its tutorials, u by random pairs and m by EM."""
    import pandas
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    began = time.perf_counter()
    rules = [block_on("given_name"), block_on("surname"), block_on("date_of_birth"), block_on("soc_sec_id")]
    rules += [block_on("postcode", "street_number"), block_on("address_1")]
    comparisons = [
        cl.JaroWinklerAtThresholds(field, [0.92, 0.8])
        if how == "jarowinkler"
        else cl.LevenshteinAtThresholds(field, [1])
        for field, how in FIELDS.items()
    ]
    tables = [left] if right is None else [left, right]
    frames = [pandas.DataFrame({"unique_id": table.ids, **table.columns}) for table in tables]
    api = DuckDBAPI()
    settings = SettingsCreator(
        link_type="dedupe_only" if right is None else "link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=rules,
    )
    registered = [api.register(frame, table_name=f"table{place}") for place, frame in enumerate(frames)]
    linker = Linker(registered if right is not None else registered[0], settings, log_level="ERROR")
    linker.training.estimate_probability_two_random_records_match([block_on("soc_sec_id")], recall=0.8)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in (block_on("surname", "date_of_birth"), block_on("given_name", "postcode")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    scored = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
    numbers = [scored[f"unique_id_{side}"].str.extract(r"rec-(\d+)-")[0] for side in ("l", "r")]
    hits = int((numbers[0] == numbers[1]).sum())
    seconds = time.perf_counter() - began
    return {"Splink, no labels": rates(hits, len(scored), every), "Splink, no labels, seconds": seconds}


def main() -> int:
    """Print precision, recall and F1."""
    skip_without_data()
    names = ("dataset3", "dataset4")
    results, quick = run_rows(__file__, {name: lambda q, name=name: measure(name, q) for name in names})
    figures = []
    for name, row in results.items():
        figures.append(Figure(f"{name}: share of pairs scored", row["share"]))
        figures.append(Figure(f"{name}: recall of candidates", row["candidate recall"], ">= 0.99", judged=not quick))
        for title, value in row.items():
            if isinstance(value, list):
                precision, recall, f1 = value
                goal = GOAL if title in ("500 labels", "2000 labels") else None
                words = f"{name}, {title}: F1 (precision {precision:.3f}, recall {recall:.3f})"
                figures.append(Figure(words, f1, goal, judged=not quick))
            elif title.endswith("seconds"):
                figures.append(Figure(f"{name}, {title}", value))
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
