"""Similarities of series and strings against plain dynamic programming."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.base import clone

from pairlearn.errors import InputError
from pairlearn.kernels import DTW, AlignmentSimilarity, EditSimilarity
from pairlearn.similarities.basis_svc import BasisSVC

rng = np.random.default_rng(0)
SERIES = [rng.normal(size=length) for length in (5, 7, 6, 9)]
WORDS = ["kitten", "sitting", "", "mitten", "knitting"]


def warped(a: np.ndarray, b: np.ndarray, window: float = np.inf) -> float:
    """√ of the cheapest warping path, cell by cell."""
    cost = np.full((len(a) + 1, len(b) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if abs(i - j) < window:
                step = min(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
                cost[i, j] = step + (a[i - 1] - b[j - 1]) ** 2
    return float(np.sqrt(cost[-1, -1]))


def edit_cost(a: str, b: str, insertion: int, deletion: int, mismatch: int) -> int:
    """Cheapest way to turn a into b."""
    row = [j * insertion for j in range(len(b) + 1)]
    for i, s in enumerate(a, 1):
        new = [i * deletion]
        for j, t in enumerate(b, 1):
            new.append(min(row[j - 1] + mismatch * (s != t), row[j] + deletion, new[j - 1] + insertion))
        row = new
    return row[-1]


def largest_cost(a: str, b: str, insertion: int, deletion: int, mismatch: int) -> int:
    """Delete all and insert all, or replace what can be replaced."""
    replaced = min(len(a), len(b))
    rest = (len(a) - replaced) * deletion + (len(b) - replaced) * insertion
    return min(len(a) * deletion + len(b) * insertion, replaced * mismatch + rest)


# --------------------------------------------------------------------------- warping


def test_distances_equal_plain_dynamic_programming() -> None:
    pytest.importorskip("dtaidistance")
    expected = [[warped(a, b) for b in SERIES] for a in SERIES[:2]]
    np.testing.assert_allclose(DTW().distances(SERIES[:2], SERIES), expected, rtol=1e-12)


@pytest.mark.parametrize("window", [1, 2, 4])
def test_a_window_bounds_the_warping_of_series_of_one_length(window: int) -> None:
    pytest.importorskip("dtaidistance")
    X = rng.normal(size=(5, 8))
    expected = [[warped(a, b, window) for b in X] for a in X[:3]]
    np.testing.assert_allclose(DTW(window=window).distances(X[:3], X), expected, rtol=1e-12)


def test_a_window_of_one_is_the_euclidean_distance() -> None:
    pytest.importorskip("dtaidistance")
    X = rng.normal(size=(5, 8))
    expected = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(DTW(window=1).distances(X, X), expected, atol=1e-12)


def test_the_similarity_is_the_exponential_of_squared_distances() -> None:
    pytest.importorskip("dtaidistance")
    kernel = DTW(gamma=0.3)
    expected = [[np.exp(-0.3 * warped(a, b) ** 2) for b in SERIES] for a in SERIES]
    np.testing.assert_allclose(kernel(SERIES, SERIES), expected, rtol=1e-12)
    np.testing.assert_array_equal(kernel.diag(SERIES), np.diagonal(kernel(SERIES, SERIES)))


def test_scale_is_one_over_the_mean_squared_distance() -> None:
    pytest.importorskip("dtaidistance")
    resolved = DTW().resolved(SERIES)
    mean = np.mean([[warped(a, b) ** 2 for b in SERIES] for a in SERIES])
    assert isinstance(resolved, DTW)
    assert resolved.gamma == pytest.approx(1 / mean)
    with pytest.raises(InputError, match="resolved"):
        DTW()(SERIES, SERIES)


def test_series_that_cannot_be_compared_are_refused() -> None:
    pytest.importorskip("dtaidistance")
    with pytest.raises(InputError, match="series 1 contains NaN"):
        DTW(gamma=1.0)([[1.0], [np.nan]], [[1.0]])
    with pytest.raises(InputError, match="1-D series"):
        DTW(gamma=1.0)(np.ones((2, 3, 4)), np.ones((2, 3, 4)))
    with pytest.raises(InputError, match="window must be"):
        DTW(window=0)
    for gamma in (-1.0, np.inf, True):
        with pytest.raises(InputError, match="gamma must be a finite number > 0"):
            DTW(gamma=gamma)


# --------------------------------------------------------------------------- strings


def test_edit_similarity_equals_plain_dynamic_programming() -> None:
    pytest.importorskip("rapidfuzz")
    expected = [
        [1.0 if a == b else 1 - edit_cost(a, b, 1, 1, 1) / max(len(a), len(b)) for b in WORDS] for a in WORDS[:3]
    ]
    np.testing.assert_allclose(EditSimilarity()(WORDS[:3], WORDS), expected, rtol=1e-12)
    np.testing.assert_array_equal(EditSimilarity().diag(WORDS), np.diagonal(EditSimilarity()(WORDS, WORDS)))


def test_indel_similarity_never_replaces() -> None:
    pytest.importorskip("rapidfuzz")
    words = [word for word in WORDS if word]
    expected = [[1 - edit_cost(a, b, 1, 1, 2) / (len(a) + len(b)) for b in words] for a in words]
    np.testing.assert_allclose(EditSimilarity("indel")(words, words), expected, rtol=1e-12)


@pytest.mark.parametrize("costs", [(1, 1, 2), (1, 1, 1), (2, 1, 3), (1, 3, 2)])
def test_alignment_equals_plain_dynamic_programming(costs: tuple[int, int, int]) -> None:
    pytest.importorskip("rapidfuzz")
    words = [word for word in WORDS if word]
    expected = [[1 - edit_cost(a, b, *costs) / largest_cost(a, b, *costs) for b in words] for a in words]
    found = AlignmentSimilarity(*costs)(words, words)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.allclose(found, found.T) == (costs[0] == costs[1])


@pytest.mark.parametrize("measure", ["damerau", "jaro", "jaro_winkler", "common_subsequence"])
def test_other_measures_are_one_for_equal_strings_only(measure: str) -> None:
    pytest.importorskip("rapidfuzz")
    words = [word for word in WORDS if word]
    S = EditSimilarity(measure)(words, words)
    np.testing.assert_array_equal(np.diagonal(S), 1.0)
    assert (S[~np.eye(len(words), dtype=bool)] < 1.0).all()
    assert (S >= 0.0).all()


def test_unknown_measures_costs_and_missing_strings_are_refused() -> None:
    pytest.importorskip("rapidfuzz")
    with pytest.raises(InputError, match="unknown measure"):
        EditSimilarity("soundex")
    with pytest.raises(InputError, match="costs must be"):
        AlignmentSimilarity(mismatch=-1)
    with pytest.raises(InputError, match="replace missing ones"):
        EditSimilarity()(["a", None], ["b"])


# --------------------------------------------------------------------------- both


@pytest.mark.parametrize("package", ["dtaidistance", "rapidfuzz"])
def test_a_missing_library_is_named_with_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [known for known in sys.modules if known.split(".")[0] == package] or [package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs {package}: pip install \"pairlearn\[sequences\]\""):
        DTW(gamma=1.0)(SERIES, SERIES) if package == "dtaidistance" else EditSimilarity()(["a"], ["b"])


def test_series_and_strings_are_classified() -> None:
    pytest.importorskip("rapidfuzz")
    pytest.importorskip("dtaidistance")
    words = ["aaab", "aaba", "abaa", "xxyx", "yxxx", "xyxx"]
    model = BasisSVC(EditSimilarity()).fit(words, list("aaaxxx"))
    assert model.predict(["baaa", "xxxy", "aaaaa"]).tolist() == ["a", "x", "a"]
    t = np.linspace(0, 1, 20)
    noise = np.random.default_rng(0)
    waves = [
        np.sin(2 * np.pi * k * t[: 15 + i % 5]) + 0.1 * noise.normal(size=15 + i % 5) for k in (1, 3) for i in range(8)
    ]
    kinds = np.repeat(["slow", "fast"], 8)
    chosen = clone(BasisSVC(DTW(window=10), random_state=0))
    assert chosen.fit(waves[::2], kinds[::2]).score(waves[1::2], kinds[1::2]) == 1.0
