"""Similarities that are no kernels as bases: what is positive of them, on rows of numbers, in machines and searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.kernels import Clipped, Deformable, FromFunction, Gaussian, Nystrom, Rigid, Shaped
from pairlearn.testing import check_kernel

rng = np.random.default_rng(1)
CLASSES = np.repeat(np.arange(8), 5)
SHAPE = (3, 3, 2)
X = (rng.normal(size=(8, 18))[CLASSES] + 0.8 * rng.normal(size=(40, 18))).clip(0)
ALIGNED = Shaped(Rigid(1), SHAPE)


def made(kernel: Any, *args: Any, examples: np.ndarray = X) -> Nystrom:
    found = Clipped(kernel, *args).resolved(examples)
    assert isinstance(found, Nystrom)
    return found


@pytest.mark.parametrize("inner", [Rigid(0), Rigid(1), Deformable(0, 1, symmetrise=True)])
def test_rows_are_seen_as_arrays(inner: Any) -> None:
    kernel, cells = Shaped(inner, SHAPE), X.reshape(40, *SHAPE)
    np.testing.assert_array_equal(kernel(X[:7], X), inner(cells[:7], cells))
    np.testing.assert_array_equal(kernel.diag(X), inner.diag(cells))
    assert (kernel.definite, kernel.symmetric) == (inner.definite, inner.symmetric)
    assert (kernel.features(X) is None) == (inner.features(cells) is None)


@pytest.mark.parametrize(
    ("rows", "message"), [(X[:, :17], "18 numbers"), (X.reshape(40, *SHAPE), "18 numbers"), (["a"], "18 numbers")]
)
def test_rows_of_another_length_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ALIGNED(rows, rows)
    with pytest.raises(InputError, match="one example"):
        Shaped(Rigid(1), (0, 4))


def test_a_kernel_stays_what_it_is() -> None:
    np.testing.assert_allclose(made(Gaussian(0.1))(X[:9], X), Gaussian(0.1)(X[:9], X), atol=1e-7)
    assert made(Gaussian(0.1)).error < 1e-9


def test_what_is_positive_is_kept() -> None:
    """Over all examples the Gram matrix is UΛUᵀ over eigenvalues beyond −λ_min, the error the share of others."""
    kernel = Shaped(Deformable(0, 1, symmetrise=True), SHAPE)
    values, U = np.linalg.eigh(kernel(X, X))
    assert values[0] < -0.01 * values[-1]
    kept = values > -values[0]
    found = made(kernel)
    np.testing.assert_allclose(found(X, X), (U[:, kept] * values[kept]) @ U[:, kept].T, atol=1e-9 * values[-1])
    assert found.error == pytest.approx(1 - values[kept].sum() / np.abs(values).sum())
    check_kernel(found, X)


def test_landmarks_are_training_examples() -> None:
    found = made(ALIGNED, 10)
    assert len(found.landmarks) == 10
    assert {row.tobytes() for row in found.landmarks} <= {row.tobytes() for row in X}
    np.testing.assert_array_equal(found.landmarks, made(ALIGNED, 10).landmarks)
    assert not np.array_equal(found.landmarks, made(ALIGNED, 10, 1).landmarks)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Shaped(Deformable(0, 1), SHAPE), "symmetrise"),
        (FromFunction(lambda A, B: -Gaussian(1.0)(A, B), definite=False), "is it a distance"),
    ],
)
def test_what_has_no_positive_part_is_refused(kernel: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Clipped(kernel).resolved(X)


def test_bad_ranks_and_kernels_are_refused() -> None:
    with pytest.raises(InputError, match="rank must be"):
        Clipped(ALIGNED, 0)
    with pytest.raises(InputError, match="in memory already"):
        Clipped("precomputed")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="chosen at fit"):
        Clipped(ALIGNED)(X, X)
    with pytest.raises(InputError, match=r"pl\.kernels\.Clipped"):
        pl.kernels.LowRank(ALIGNED)


def test_alignment_is_a_base_of_machines_and_files(tmp_path: Path) -> None:
    pairs = pl.all_pairs(X)
    model = pl.PairSVC("tensor_metric", Clipped(ALIGNED), C=0.1).fit(pairs, pairs.labels(CLASSES))
    assert model.fit_status_ == "converged"
    pl.save(model, tmp_path / "model.safetensors")
    loaded = pl.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.decision_function(pairs), model.decision_function(pairs))


def test_alignment_is_a_base_of_a_search() -> None:
    """Beside other bases and all baselines, which compare the same rows."""
    bases = {"linear": "linear", "rigid": Clipped(ALIGNED, 20)}
    search = pl.StagedSearch(["metric"], bases, [1.0], weights=[], n_splits=1, random_state=0).fit(X, CLASSES)
    tried = {t["setting"]["base"] for t in search.record_["trials"] if t["setting"] and t["eer"] is not None}
    assert {"linear", "rigid"} <= tried
    assert len(search.record_["baselines"]) > 10
