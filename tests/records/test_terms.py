"""Terms, cosines and nearest rows against scikit-learn and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from pairlearn import loops
from pairlearn.records.compare import terms as module
from pairlearn.records.compare.nearest import nearest
from pairlearn.records.compare.terms import Terms, cosines, counted_rows

ANALYZERS = {
    "words": {"analyzer": "word", "token_pattern": r"\S+"},
    "grams": {"analyzer": "char_wb", "ngram_range": (2, 4)},
}


def texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list("abcdef1"), rng.integers(1, 7))) for _ in range(40)]
    return [" ".join(rng.choice(words, rng.integers(0, 6))) for _ in range(n)]


@pytest.mark.parametrize("analyzer", ["words", "grams"])
def test_rows_are_those_of_tfidf(analyzer: str) -> None:
    """Same Gram matrix as scikit-learn's vectorizer, which knows terms by name: hashes collide hardly ever."""
    some = texts(60, 0)
    expected = TfidfVectorizer(sublinear_tf=True, **ANALYZERS[analyzer]).fit_transform(some)
    rows = Terms.learn(analyzer, some).rows(some)
    left, right = np.divmod(np.arange(60 * 60), 60)
    np.testing.assert_allclose(cosines(rows, rows, left, right), (expected @ expected.T).toarray().ravel(), atol=2e-5)


def test_numbers_of_terms_are_those_of_the_loops() -> None:
    assert loops.terms.TERMS == module.TERMS


def test_digits_are_marked_by_the_last_bit() -> None:
    found = counted_rows("words", ["ale", "ale2", "2.0"])
    assert (found.indices % 2).tolist() == [0, 1, 1]


def test_empty_texts_have_empty_rows() -> None:
    rows = Terms.learn("grams", ["", "ale"]).rows(["", "ale", ""])
    assert np.diff(rows.indptr).tolist() == [0, 9, 0]
    assert cosines(rows, rows, np.array([0, 1]), np.array([1, 1])).tolist() == pytest.approx([0.0, 1.0])


def test_shared_terms_against_sets() -> None:
    """Every column of compare_rows by Python's sets."""
    some = texts(40, 1)
    terms = Terms.learn("words", some)
    rows = terms.rows(some)
    left, right = np.random.default_rng(0).integers(0, 40, (2, 200))
    out = np.empty((200, loops.terms.ROW_FEATURES), dtype=np.float32)
    loops.terms.compare_rows(*rows, *rows, terms.idf, left, right, out)
    for k in range(200):
        a, b = (set(rows.indices[rows.indptr[i] : rows.indptr[i + 1]].tolist()) for i in (left[k], right[k]))
        idf = terms.idf
        expected = [sum(idf[t] for t in part) for part in (a & b, a, b)]
        expected += [max((idf[t] for t in part), default=0.0) for part in (a & b, a - b, b - a)]
        expected += [sum(t & 1 for t in part) for part in (a & b, a - b, b - a)]
        np.testing.assert_allclose(out[k, 1:], expected, rtol=1e-5)


@pytest.mark.parametrize("same", [True, False])
def test_nearest_against_all_pairs(same: bool) -> None:
    some, other = texts(80, 2), texts(50, 3)
    terms = Terms.learn("grams", some + other)
    a, b = terms.rows(some), terms.rows(some if same else other)
    found = nearest(a, b, 3, same=same, budget=10**9)
    full = (a.matrix() @ b.matrix().T).toarray()
    if same:
        np.fill_diagonal(full, 0.0)
    np.testing.assert_allclose(found.scores, -np.sort(-full, axis=1)[:, :3], atol=1e-5)
    there = found.found >= 0
    rows = np.repeat(np.arange(80), 3).reshape(80, 3)
    np.testing.assert_allclose(full[rows[there], found.found[there]], found.scores[there], atol=1e-5)


def test_small_budget_takes_rare_terms() -> None:
    some = ["ale red", "ale pale", "ale zyx", "ale zyx"]
    rows = Terms.learn("words", some).rows(some)
    assert nearest(rows, rows, 1, same=True, budget=2).found[2:, 0].tolist() == [3, 2]
