"""Records of persons and products: Splink, dedupe and scikit-learn beside pairlearn.

Needs PAIRLEARN_DATA. "Febrl, one table": 5,000 records with up to five duplicates each; "Febrl, two tables": 5,000 and
5,000. Precision, recall and F1 of pairs, counted over all true pairs. Rows with labels learn from the same 500 random
candidate pairs of pairlearn, with their labels (scikit-learn: 500 of its own candidates):

    Splink        no labels: blocking rules, comparisons and training as in its tutorials (`repro/febrl.py`), p ≥ 0.5
    dedupe        the 500 labelled pairs as its training file; it learns weights from them and blocking rules from them
                  and 1,000 random records of each table; threshold 0.5; clusters of one table, one-to-one matches of
                  two, both of all records. It is made to ask a person for labels instead
    scikit-learn  character n-grams of whole records, the ten nearest by cosine as candidates, cosines of every column
                  as features of a logistic regression, p ≥ 0.5
    pairlearn     `RecordMatcher` from the labels and `UnlabelledMatcher` without; clusters, or one-to-one matches

"Amazon-Google": product names, makers and prices, 1,000 labelled pairs drawn from the official training and validation
pairs, F1 on the official test pairs, with limits over records where pairlearn computes them. Thresholds are the best on
the 1,000 labels, by cross-validation for pairlearn and scikit-learn (on the features above, boosted trees), on the
labels themselves for dedupe and for Splink, which uses no label but for this. Seconds of the processor: everything. A
row is ended after 300 s; that of dedupe on persons holds some ten seconds in which its labelled pairs are looked for.

Changed after runs that did not end: the limit (40 s before), and the records from which dedupe learns its rules. It
keeps every pair of records that each possible rule puts together; given both tables of persons whole, it had filled 18
GB after five minutes and was stopped by hand. Its argument sample_size changes nothing in 3.0.3. It is trained in one
process (its grid search takes all cores) and with rules by an index, its default, which an earlier version here turned
off.
"""

from __future__ import annotations

import importlib
import io
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors

import pairlearn as pl
from benchmarks.harness import skip_without_data
from benchmarks.rivals import Tool, compare
from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.machine import best_f1
from repro import entity_matching, febrl

LABELS, PRODUCT_LABELS, NEAREST = 500, 1000, 10
SAMPLED = 1000
"""Records of each table from which dedupe learns blocking rules."""
Tables = tuple[pl.Records, pl.Records | None]


def tables(data: str) -> Tables:
    """One table of persons or two."""
    return febrl.read("dataset3" if data == "Febrl, one table" else "dataset4")


def shown(found: list[float], began: float) -> dict[str, Any]:
    """Columns of a row of persons."""
    names = ("precision, %", "recall, %", "F1, %")
    return {name: 100 * value for name, value in zip(names, found, strict=True)} | {
        "seconds": time.process_time() - began
    }


@cache
def candidates(data: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Candidate pairs of pairlearn, their truth, and which of them are labelled; cached for dedupe, which gets them."""
    left, right = tables(data)
    comparer = Comparer.learn(left, right)
    pairs = pl.records.find_candidates(comparer, comparer.prepare(left, right), left, right).pairs
    y = febrl.truth(pairs)
    return pairs, y, np.random.default_rng(0).permutation(len(y))[:LABELS]


# --------------------------------------------------------------------------- persons


def with_matcher(data: str, quick: bool) -> dict[str, Any]:
    """Pairlearn from labels."""
    began, (left, right) = time.process_time(), tables(data)
    pairs, y, some = candidates.__wrapped__(data)  # not those that another row has found
    known = (pairs[some], y[some])
    matcher = pl.RecordMatcher().fit(*known)
    every = febrl.all_matches(left, right)
    return shown(febrl.decided(matcher, left, right, every, known if right is None else None), began)


def without_labels(data: str, quick: bool) -> dict[str, Any]:
    """Pairlearn from no labels."""
    began, (left, right) = time.process_time(), tables(data)
    matcher = pl.records.UnlabelledMatcher().fit(candidates.__wrapped__(data)[0])
    return shown(febrl.decided(matcher, left, right, febrl.all_matches(left, right), None), began)


def with_splink(data: str, quick: bool) -> dict[str, Any]:
    """Splink without labels."""
    importlib.import_module("splink.comparison_library")  # before the clock
    began, (left, right) = time.process_time(), tables(data)
    return shown(febrl.splink_rates(left, right, febrl.all_matches(left, right))["Splink, no labels"], began)


def as_dicts(table: pl.Records) -> list[dict[str, str | None]]:
    """Records as dedupe takes them."""
    names = list(table.columns)
    return [
        dict(zip(names, (value or None for value in row), strict=True))
        for row in zip(*table.columns.values(), strict=True)
    ]


def labelled_file(pairs: Any, y: np.ndarray) -> io.StringIO:
    """Labelled pairs in dedupe's format."""
    left, right = as_dicts(pairs.left), as_dicts(pairs.right_table)
    both = [
        {"__class__": "tuple", "__value__": [left[i], right[j]]}
        for i, j in zip(pairs.left_rows, pairs.right_rows, strict=True)
    ]
    return io.StringIO(
        json.dumps(
            {
                "match": [pair for pair, label in zip(both, y, strict=True) if label > 0],
                "distinct": [pair for pair, label in zip(both, y, strict=True) if label < 0],
            }
        )
    )


def trained(machine: Any, tables: list[dict[int, Any]], pairs: Any, y: np.ndarray) -> Any:
    """A machine of dedupe, trained in this process, whose seconds are counted."""
    random.seed(0)  # dedupe draws by it too
    some = [{row: table[row] for row in random.sample(list(table), min(SAMPLED, len(table)))} for table in tables]
    machine.classifier.set_params(n_jobs=1)
    machine.prepare_training(*some, training_file=labelled_file(pairs, y))
    machine.train()
    return machine


def with_dedupe(data: str, quick: bool) -> dict[str, Any]:
    """Dedupe from the same labels."""
    import dedupe

    pairs, y, some = candidates(data)
    began, (left, right) = time.process_time(), tables(data)
    fields = [
        (dedupe.variables.Exact if how == "exact" else dedupe.variables.String)(field, has_missing=True)
        for field, how in febrl.FIELDS.items()
    ]
    numbered = [dict(enumerate(as_dicts(table))) for table in (left, right) if table is not None]
    kind = dedupe.Dedupe if right is None else dedupe.RecordLink
    machine = trained(kind(fields, num_cores=1, in_memory=True), numbered, pairs[some], y[some])
    every = febrl.all_matches(left, right)
    if right is None:
        clusters = np.empty(len(left), dtype=int)
        for number, (members, _) in enumerate(machine.partition(numbered[0], 0.5)):
            clusters[list(members)] = number
        return shown(febrl.of_clusters(left, clusters, every), began)
    rows = np.array([pair for pair, _ in machine.join(*numbered, 0.5, "one-to-one")]).reshape(-1, 2)
    hits = int((febrl.persons(left)[rows[:, 0]] == febrl.persons(right)[rows[:, 1]]).sum())
    return shown(febrl.rates(hits, len(rows), every), began)


def grams(tables: list[pl.Records], columns: list[str]) -> list[Any]:
    """Character n-grams of some columns, one matrix of unit rows per table."""
    texts = [
        [" ".join(value or "" for value in row) for row in zip(*(table.columns[c] for c in columns), strict=True)]
        for table in tables
    ]
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), min_df=1).fit(itertools.chain(*texts))
    return [vectors.transform(text) for text in texts]


def cosines(tables: list[pl.Records], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cosine of every column and of the whole record, (n_pairs, n_columns + 1)."""
    names = list(tables[0].columns)

    def column(chosen: list[str]) -> np.ndarray:
        A, *rest = grams(tables, chosen)
        return np.asarray(A[left].multiply((rest[0] if rest else A)[right]).sum(axis=1)).ravel()

    return np.column_stack([column([name]) for name in names] + [column(names)])


def with_scikit_learn(data: str, quick: bool) -> dict[str, Any]:
    """Nearest by n-grams, cosines, logistic regression."""
    began, (left, right) = time.process_time(), tables(data)
    both = [left] if right is None else [left, right]
    A, *rest = grams(both, list(left.columns))
    near = NearestNeighbors(n_neighbors=NEAREST + (right is None), metric="cosine").fit(rest[0] if rest else A)
    rows = near.kneighbors(A, return_distance=False)
    pairs = np.column_stack([np.repeat(np.arange(len(rows)), rows.shape[1]), rows.ravel()])
    if right is None:
        pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    y = febrl.persons(left)[pairs[:, 0]] == febrl.persons(right or left)[pairs[:, 1]]
    X, some = cosines(both, *pairs.T), np.random.default_rng(0).permutation(len(y))[:LABELS]
    chosen = LogisticRegression(max_iter=2000).fit(X[some], y[some]).predict(X)
    found = febrl.rates(int((y & chosen).sum()), int(chosen.sum()), febrl.all_matches(left, right))
    return shown(found, began)


# --------------------------------------------------------------------------- products


@cache
def products() -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Some labelled pairs, and the test pairs."""
    pairs, labels = entity_matching.read("Amazon-Google", ())
    known = entity_matching.joined(pairs, ("train", "valid"))
    y = np.concatenate([labels["train"], labels["valid"]])
    some = np.sort(np.random.default_rng(0).permutation(len(y))[:PRODUCT_LABELS])
    return known[some], y[some], pairs["test"], labels["test"]


def of_products(score: Callable[[], tuple[np.ndarray, float]]) -> dict[str, Any]:
    """F1 on the test pairs at the threshold that the tool chose, with limits over records."""
    began = time.process_time()
    values, threshold = score()
    seconds = time.process_time() - began
    _, _, test, truth = products()
    chosen = values >= threshold
    hits = int((truth[chosen] > 0).sum())
    precision, recall, f1 = febrl.rates(hits, int(chosen.sum()), int((truth > 0).sum()))
    _, low, high = entity_matching.f1(test, values, truth, threshold)
    return {
        **{"precision, %": 100 * precision, "recall, %": 100 * recall, "F1, %": 100 * f1},
        "95 % limits of F1": f"{100 * low:.1f} to {100 * high:.1f}",
        "seconds": seconds,
    }


def products_by_matcher(data: str, quick: bool) -> dict[str, Any]:
    """Pairlearn from 1,000 labels."""
    known, y, test, _ = products()

    def score() -> tuple[np.ndarray, float]:
        matcher = pl.RecordMatcher().fit(known, y)
        return matcher.decision_function(test), matcher.threshold_

    return of_products(score)


def products_by_scikit_learn(data: str, quick: bool) -> dict[str, Any]:
    """Cosines of columns and boosted trees."""
    known, y, test, _ = products()

    def score() -> tuple[np.ndarray, float]:
        both = [known.left, known.right_table]
        X, X_test = (cosines(both, pairs.left_rows, pairs.right_rows) for pairs in (known, test))
        trees = HistGradientBoostingClassifier(max_iter=100, random_state=0)
        held_out = cross_val_predict(trees, X, y, cv=5, method="decision_function")
        return trees.fit(X, y).decision_function(X_test), best_f1(held_out, y)[1]

    return of_products(score)


def products_by_dedupe(data: str, quick: bool) -> dict[str, Any]:
    """Dedupe's scores from 1,000 labels."""
    import dedupe

    known, y, test, _ = products()

    def score() -> tuple[np.ndarray, float]:
        fields = [
            dedupe.variables.Text("title"),
            dedupe.variables.String("manufacturer", has_missing=True),
            dedupe.variables.ShortString("price", has_missing=True),
        ]
        tables = [as_dicts(known.left), as_dicts(known.right_table)]
        link = dedupe.RecordLink(fields, num_cores=1, in_memory=True)
        machine = trained(link, [dict(enumerate(table)) for table in tables], known, y)

        def scores(pairs: Any) -> np.ndarray:
            both = zip(pairs.left_rows, pairs.right_rows, strict=True)
            distances = machine.data_model.distances([(tables[0][i], tables[1][j]) for i, j in both])
            return np.asarray(machine.classifier.predict_proba(distances))[:, -1]

        return scores(test), best_f1(scores(known), y)[1]

    return of_products(score)


def products_by_splink(data: str, quick: bool) -> dict[str, Any]:
    """Splink's match weights, trained on both tables without labels."""
    import pandas
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    known, y, test, _ = products()
    comparisons = [
        cl.JaccardAtThresholds("title", [0.8, 0.6, 0.4]),
        cl.JaroWinklerAtThresholds("manufacturer", [0.92, 0.8]),
        cl.LevenshteinAtThresholds("price", [1]),
    ]

    def frames(pairs: Any) -> Iterator[Any]:
        """Each side of the pairs as a table with the number of the pair, so that blocking by it gives these pairs."""
        for table, rows in ((pairs.left, pairs.left_rows), (pairs.right_table, pairs.right_rows)):
            columns = {name: [values[row] or None for row in rows] for name, values in table.columns.items()}
            yield pandas.DataFrame({"unique_id": range(len(rows)), "pair": range(len(rows)), **columns})

    def linker(given: list[Any], settings: Any) -> Any:
        api = DuckDBAPI()
        registered = [api.register(frame, table_name=f"table{place}") for place, frame in enumerate(given)]
        return Linker(registered, settings, log_level="ERROR")

    def score() -> tuple[np.ndarray, float]:
        every = [
            pandas.DataFrame({"unique_id": range(len(t)), **{n: [v or None for v in c] for n, c in t.columns.items()}})
            for t in (known.left, known.right_table)
        ]
        rules = [block_on("substr(title, 1, 6)"), block_on("manufacturer"), block_on("price")]
        settings = SettingsCreator(
            link_type="link_only", comparisons=comparisons, blocking_rules_to_generate_predictions=rules
        )
        learnt = linker(every, settings)
        learnt.training.estimate_probability_two_random_records_match([block_on("title")], recall=0.2)
        learnt.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
        for rule in (rules[0], rules[2]):
            learnt.training.estimate_parameters_using_expectation_maximisation(rule)
        model = learnt.misc.save_model_to_json()
        model["blocking_rules_to_generate_predictions"] = [
            {"blocking_rule": "l.pair = r.pair", "sql_dialect": "duckdb"}
        ]

        def weights(pairs: Any) -> np.ndarray:
            found = linker(list(frames(pairs)), model).inference.predict().as_pandas_dataframe()
            values = np.full(len(pairs), -100.0)
            values[found["unique_id_l"]] = found["match_weight"]
            return values

        return weights(test), best_f1(weights(known), y)[1]

    return of_products(score)


PERSONS = (
    Tool("Splink, no labels", "splink", with_splink),
    Tool("dedupe, 500 labels, rules from 1,000 records", "dedupe", with_dedupe),
    Tool("scikit-learn, 500 labels", "scikit-learn", with_scikit_learn),
    Tool("pairlearn, no labels", None, without_labels),
    Tool("pairlearn, 500 labels", None, with_matcher),
)
PRODUCTS = (
    Tool("Splink, labels for the threshold", "splink", products_by_splink),
    Tool("dedupe, 1,000 labels, rules from 1,000 records", "dedupe", products_by_dedupe),
    Tool("scikit-learn, 1,000 labels", "scikit-learn", products_by_scikit_learn),
    Tool("pairlearn, 1,000 labels", None, products_by_matcher),
)


if __name__ == "__main__":
    skip_without_data()
    data = {"Febrl, one table": PERSONS, "Febrl, two tables": PERSONS, "Amazon-Google": PRODUCTS}
    quick = "--quick" in sys.argv
    if quick:
        data = {"Febrl, one table": tuple(tool for tool in PERSONS if "no labels" in tool.name)}
    sys.exit(compare(__file__, data, 40.0 if quick else 300.0))
