"""Comparisons with other tools: time limits, absent tools, rates by definition, the closed form of Kronecker ridge."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import compare_affinities, compare_rates, rivals


def test_a_tool_is_ended_after_its_seconds_and_the_next_one_is_not() -> None:
    assert rivals.told(lambda: {"n": sum(1 for _ in itertools.count())}, 0.05) == {"ended": "timed out after 0.05 s"}
    assert rivals.told(lambda: {"n": 1}, 0.05) == {"n": 1}
    assert sum(1 for _ in range(3_000_000)) == 3_000_000  # no alarm is left behind


def test_a_tool_that_is_not_installed_is_told_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["compare_x.py"])
    absent = rivals.Tool("other", "no-such-package", lambda data, quick: {"EER": 0.5})
    ours = rivals.Tool("ours", None, lambda data, quick: {"EER": 0.25, "limits": "0 to 1"})
    assert rivals.compare("compare_x.py", {"faces": (absent, ours)}, 5.0) == 0
    printed = capsys.readouterr().out
    assert "no-such-package is not installed" in printed
    assert "faces: ours: EER" in printed
    assert "other" not in printed


def test_rates_by_definition_are_those_of_a_loop_over_thresholds() -> None:
    rng = np.random.default_rng(0)
    positive, negative = rng.normal(1.0, 1.0, 60).round(1), rng.normal(0.0, 1.0, 400).round(1)
    rates = [
        (np.mean(negative >= t), np.mean(positive < t)) for t in [*np.unique(np.append(positive, negative)), np.inf]
    ]
    nearest = min(rates, key=lambda pair: abs(pair[0] - pair[1]))
    area = np.mean([(p > n) + 0.5 * (p == n) for p in positive for n in negative])
    expected = (sum(nearest) / 2, *(min(b for a, b in rates if a <= fmr) for fmr in compare_rates.FMRS), area)
    assert compare_rates.by_definition(positive, negative) == pytest.approx(expected)
    assert compare_rates.by_scikit_learn(positive, negative)[1:] == pytest.approx(expected[1:])


def test_kronecker_ridge_in_numpy_is_ridge_on_all_pairs() -> None:
    rng = np.random.default_rng(1)
    D, T = (A @ A.T for A in (rng.normal(size=(6, 6)), rng.normal(size=(5, 5))))
    world = compare_affinities.World(D, T, rng.normal(size=(6, 5)), 0.0, 0.0)
    drugs, targets = np.arange(6) < 4, np.arange(5) < 3
    inner = world.cut(drugs, targets)
    mean = inner.Y.mean()
    solution = np.linalg.solve(np.kron(inner.D, inner.T) + 0.3 * np.eye(12), (inner.Y - mean).ravel())
    expected = mean + np.kron(D[:, drugs], T[:, targets]) @ solution
    np.testing.assert_allclose(compare_affinities.in_numpy(world, drugs, targets, 0.3).ravel(), expected)
