"""The benchmark on real data: its rows, its references, and what it does without data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import pairlearn as pl
from benchmarks import real_solver
from benchmarks.real_data import balanced, played, quick_row, sampled, task_of
from benchmarks.real_figures import choice, figures, of_rivals
from benchmarks.real_parts import explicit_features, operator_on, primal_objective
from benchmarks.real_rows import BY_NAME, FITS, QUICK, Row
from pairlearn.errors import InputError


def test_rows_cover_what_they_should() -> None:
    assert len(FITS) == len(BY_NAME) >= 30
    assert {row.kernel for row in FITS} >= {"metric", "tensor", "tensor_metric", "difference", "direct_sum"}
    assert {row.base for row in FITS} >= {"linear", "rbf", "poly", "precomputed"}
    relative = {row.C for row in FITS if not row.absolute}
    assert min(relative) == 0.01
    assert max(relative) == 1000.0
    assert {row.m * (row.m - 1) // 2 for row in FITS} >= {44_850, 319_600, 1_279_200, 3_123_750}


def test_quick_rows_are_the_same_but_small() -> None:
    assert set(QUICK) <= set(BY_NAME)
    assert {BY_NAME[name].machine for name in QUICK} == {"PairSVC", "PairRanker", "PairSVR"}
    for row in FITS:
        small = quick_row(row)
        assert (small.data, small.kernel, small.base, small.C) == (row.data, row.kernel, row.base, row.C)
        assert small.m <= 400
        assert small.sampled <= 500


def test_ends_without_data(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("PAIRLEARN_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["real_solver.py", "--quick"])
    with pytest.raises(SystemExit) as ended:
        real_solver.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines()[-1] == "[]"
    for row in FITS:
        with pytest.raises(InputError, match="PAIRLEARN_DATA"):
            task_of(row)


@pytest.mark.parametrize("kernel", ["difference", "direct_sum", "metric", "tensor"])
def test_explicit_features_are_the_kernel(kernel: str) -> None:
    """LIBLINEAR is given the same problem: ZZᵀ = K."""
    X = np.random.default_rng(0).normal(size=(8, 3))
    pairs = pl.all_pairs(X, reflexive=False)
    row = Row("letter", 8, kernel, "linear", 1.0)
    Z = explicit_features(row, pairs)
    assert Z is not None
    np.testing.assert_allclose(Z @ Z.T, operator_on(row, pairs).submatrix(np.arange(len(pairs))), atol=1e-12)
    assert explicit_features(Row("letter", 8, kernel, "rbf", 1.0), pairs) is None


def test_primal_objective_is_minus_the_dual_one() -> None:
    """Strong duality, with weights: what says that LIBLINEAR has solved our problem."""
    from types import SimpleNamespace

    from benchmarks.real_data import Task

    X = np.random.default_rng(1).normal(size=(12, 3))
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(np.arange(12) // 4)
    row, weight = Row("letter", 12, "direct_sum", "linear", 1.0), balanced(y)
    clf = pl.PairSVC("direct_sum", "linear", C=0.7, tol=1e-9).fit(pairs, y, weight)
    Z = explicit_features(row, pairs)
    assert Z is not None
    w = Z[clf.support_].T @ clf.dual_coef_
    linear = SimpleNamespace(coef_=w, intercept_=clf.intercept_, fit_intercept=True)
    found = primal_objective(row, Task(pairs, y, weight), 0.7, linear, Z)
    assert found == pytest.approx(-clf.objective_, rel=1e-6)


def test_samples_and_weights() -> None:
    y = np.where(np.arange(1000) % 50 == 0, 1, -1)
    places = sampled(y, 200)
    assert len(np.unique(places)) == 200
    assert (y[places] > 0).sum() == 20
    weight = balanced(y)
    assert weight.sum() == pytest.approx(1000)
    assert weight[y > 0].sum() == pytest.approx(500)


def test_features_of_a_match_are_those_before_it() -> None:
    """The result of a match shows in the features of the next one only."""
    days = {"day": [0, 7], "home_team": ["A", "A"], "away_team": ["B", "B"], "neutral": [True, True]}
    won = polars.DataFrame({**days, "home_score": [5, 0], "away_score": [0, 0]})
    lost = polars.DataFrame({**days, "home_score": [0, 0], "away_score": [5, 0]})
    (first, second), (other_first, other_second) = list(played(won)), list(played(lost))
    assert first == other_first
    assert first[0] == first[1]
    assert second[0][0] > second[1][0]
    assert other_second[0][0] < other_second[1][0]


def parts(**seconds: float) -> dict[str, dict[str, object]]:
    """Converged parts of a row with 50,000 pairs."""
    given = {name.replace("_", " ", 1): each for name, each in seconds.items()}
    common = {"status": "converged", "pairs": 50_000, "objective": -1.0, "gap": 1e-4}
    return {name: {**common, "seconds": each} for name, each in given.items()}


def test_figures_compare_with_the_best_path_and_with_libsvm() -> None:
    mine = parts(ours=2.0, forced_auto=3.0, forced_smo=8.0, forced_newton=1.0, libsvm=100.0)
    rows = {"a": mine, "b": parts(ours=1.0, libsvm=10.0)}
    assert choice(rows["a"]) == 3.0
    assert choice(rows["b"]) is None
    found = {name: value for name, value, _ in of_rivals(rows)}
    assert sorted(found.values())[-2:] == [10.0, 30.0]
    rows["a"]["forced newton"]["status"] = "time budget"
    assert choice(rows["a"]) == 1.0
    assert all(figure.ok is None for figure in figures(rows, quick=True))


def test_a_run_resumes_and_measures_parts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def measured(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked.extend(jobs)
        return [{"status": "converged", "seconds": 2.0, "C": 7.0, "objective": -1.0}] * len(jobs)

    monkeypatch.setattr(real_solver, "measured", measured)
    store, rows = tmp_path / "results" / "real.json", dict[str, Any]()
    name = FITS[0].name
    real_solver.run_fully([name], ["forced", "libsvm"], [], store, rows)
    assert [job["part"] for job in asked] == ["ours", "old", "linear"]
    assert [job["cap"] for job in asked] == [900, 24, 20]
    assert [job.get("C") for job in asked] == [None, 7.0, 7.0]
    assert json.loads(store.read_text()) == rows
    asked.clear()
    real_solver.run_fully([name, "small"], ["forced", "libsvm"], ["old"], store, rows)
    assert [(job["row"], job["part"]) for job in asked] == [(name, "old"), ("small", "ours")]
    asked.clear()
    real_solver.run_fully([name], ["old", "libsvm", "linear"], [], store, rows)
    once = [f"forced {path}" for path in real_solver.FORCED]
    assert [job["part"] for job in asked] == once + once[::-1] + once
    assert set(rows[name]) == {"ours", "old", "linear", *(f"forced {path}" for path in real_solver.FORCED)}


def test_the_choice_of_a_long_row_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"status": "converged", "seconds": 6.0, "C": 7.0, "objective": -1.0}
    asked: list[int] = []
    monkeypatch.setattr(real_solver, "measured", lambda jobs: asked.append(len(jobs)) or [found] * len(jobs))
    name, rows = FITS[0].name, dict[str, Any]()
    for _ in range(2):
        real_solver.run_fully([name], ["old", "libsvm", "linear"], [], tmp_path / "real.json", rows)
    assert asked == [1, real_solver.ROUNDS * (len(real_solver.FORCED) - 1)]
    assert set(rows[name]) == {"ours", *(f"forced {path}" for path in real_solver.FORCED if path != "auto")}
    rows[name]["forced smo"] = {**found, "seconds": 4.0}
    assert choice(rows[name]) == 1.5


def test_the_quickest_of_several_rounds_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths take turns, and one that crashed in one round has the time of another."""
    seconds = iter([3.0, 5.0, None, 2.0, 4.0, 6.0])

    def measured(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = ((job["part"], next(seconds)) for job in jobs)
        return [{"part": part} | ({"seconds": took} if took else {"status": "crashed"}) for part, took in found]

    monkeypatch.setattr(real_solver, "measured", measured)
    found = real_solver.in_turn([{"part": "a"}, {"part": "b"}])
    assert found == [{"part": "a", "seconds": 2.0}, {"part": "b", "seconds": 5.0}]
