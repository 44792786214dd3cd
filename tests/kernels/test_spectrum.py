"""Treatments of the spectrum by their dense formulas, and reports by closed form."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairlearn.errors import InputError
from pairlearn.kernels import draw_spectrum, inverse_root, spectrum_report, treat_spectrum
from pairlearn.kernels.spectrum import TREATMENTS

every_treatment = pytest.mark.parametrize("treatment", TREATMENTS)


def indefinite(n: int = 8, seed: int = 0) -> np.ndarray:
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def by_formula(K: np.ndarray, treatment: str) -> np.ndarray:
    """f(K) without eigenvectors of eigh: matrix square roots and products."""
    values = np.linalg.eigvals(K).real
    if treatment == "square":
        return K @ K
    if treatment == "shift":
        return K - min(values.min(), 0.0) * np.eye(len(K))
    _, s, Vt = np.linalg.svd(K)
    absolute = Vt.T @ np.diag(s) @ Vt
    return absolute if treatment == "flip" else 0.5 * (K + absolute)


@every_treatment
def test_a_treated_matrix_equals_its_dense_formula_and_is_definite(treatment: Any) -> None:
    K = indefinite()
    treated = treat_spectrum(K, treatment).matrix
    np.testing.assert_allclose(treated, by_formula(K, treatment), atol=1e-10)
    assert np.linalg.eigvalsh(treated).min() > -1e-10


@pytest.mark.parametrize("treatment", ["clip", "flip", "square"])
def test_training_rows_taken_along_become_the_treated_matrix(treatment: Any) -> None:
    K = indefinite()
    treated = treat_spectrum(K, treatment)
    np.testing.assert_allclose(K @ treated.transform, treated.matrix, atol=1e-10)


def test_a_shift_leaves_new_rows_alone() -> None:
    K = indefinite()
    treated = treat_spectrum(K, "shift")
    np.testing.assert_allclose(treated.transform, np.eye(len(K)), atol=1e-12)
    off = ~np.eye(len(K), dtype=bool)
    np.testing.assert_allclose(treated.matrix[off], K[off], atol=1e-10)


def test_a_shift_does_not_touch_a_definite_matrix() -> None:
    K = indefinite()
    np.testing.assert_allclose(treat_spectrum(K @ K, "shift").matrix, K @ K, rtol=1e-10, atol=1e-10)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), rank=st.integers(1, 6))
def test_clip_is_the_projection_on_definite_matrices(seed: int, rank: int) -> None:
    """⟨K − P, X − P⟩ ≤ 0 for every definite X characterises the nearest point of a convex set."""
    K = indefinite(6, seed)
    P = treat_spectrum(K, "clip").matrix
    A = np.random.default_rng(seed + 1).normal(size=(6, rank))
    X = A @ A.T
    assert np.sum((K - P) * (X - P)) <= 1e-9
    assert np.linalg.norm(K - P) <= np.linalg.norm(K - X) + 1e-12


@every_treatment
def test_inverse_root_whitens_the_treated_matrix(treatment: Any) -> None:
    K = indefinite()
    W, f = inverse_root(K, treatment), by_formula(K, treatment)
    projection = W @ f @ W
    np.testing.assert_allclose(projection @ projection, projection, atol=1e-7)
    ranks = {"clip": int((np.linalg.eigvalsh(K) > 0).sum()), "shift": len(K) - 1}
    assert np.trace(projection) == pytest.approx(ranks.get(treatment, len(K)), abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_definite_matrix_of_low_rank_has_no_negative_share(dtype: Any) -> None:
    Z = np.random.default_rng(0).normal(size=(60, 3)).astype(dtype)
    K = Z @ Z.T
    report = spectrum_report(0.5 * (K + K.T))
    assert report.negative_ratio == 0.0
    assert report.negative_energy == 0.0
    assert len(report.positive) == 3
    # Without a tolerance rounding would count: the reason why there is one.
    assert spectrum_report(0.5 * (K + K.T), tol=0.0).negative_ratio > 0.2


def test_ratio_and_energy_by_closed_form() -> None:
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    K = U @ np.diag([4.0, 2.0, 0.0, -1.0, -2.0]) @ U.T
    report = spectrum_report(0.5 * (K + K.T))
    assert report.negative_ratio == pytest.approx(2 / 5)
    assert report.negative_energy == pytest.approx(3 / 6)
    np.testing.assert_allclose(report.eigenvalues, [-2, -1, 0, 2, 4], atol=1e-12)
    assert "NgRat 0.4, NgEng 0.5" in str(report)


def test_eigenvalues_below_the_tolerance_count_neither_way() -> None:
    report = spectrum_report(np.diag([1.0, 1e-3, -1e-3, -0.1]), tol=0.01)
    assert report.negative_ratio == 0.25
    assert report.negative_energy == pytest.approx(0.1)


def test_matrices_of_one_sign() -> None:
    assert spectrum_report(-np.eye(3)).negative_energy == np.inf
    assert spectrum_report(np.zeros((3, 3))).negative_energy == 0.0


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), "must be square"),
        (np.zeros((0, 0)), "must be square"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN"),
    ],
)
def test_a_matrix_that_has_no_spectrum_is_refused(K: np.ndarray, message: str) -> None:
    for action in (spectrum_report, treat_spectrum, inverse_root):
        with pytest.raises(InputError, match=message):
            action(K)


def test_unknown_treatments_and_tolerances_are_refused() -> None:
    with pytest.raises(InputError, match="treatment is"):
        treat_spectrum(np.eye(2), "bend")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 ≤ tol < 1"):
        spectrum_report(np.eye(2), tol=-1.0)


def test_drawing_shows_both_parts_of_the_spectrum() -> None:
    pytest.importorskip("matplotlib")
    ax = draw_spectrum(spectrum_report(np.diag([3.0, 1.0, -2.0])))
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}
    assert lines == {"positive (2)": [3.0, 1.0], "negative (1)": [2.0]}


def test_drawing_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install \"pairlearn\[plots\]\""):
        draw_spectrum(spectrum_report(np.eye(2)))


@pytest.mark.parametrize(("treatment", "root"), [("clip", 1e-3), ("square", 1e-6)])
def test_a_small_eigenvalue_is_kept_and_rounding_left_out_whatever_the_treatment(treatment: Any, root: float) -> None:
    """λ = 1e-6 counts, λ = 1e-13 does not, although (1e-6)² is smaller than the tolerance."""
    W = inverse_root(np.diag([1.0, 1e-6, 1e-13]), treatment)
    np.testing.assert_allclose(W, np.diag([1.0, 1 / root, 0.0]), rtol=1e-9, atol=1e-9)
