"""Nyström features against dense formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.estimator_checks import parametrize_with_checks

from pairlearn.errors import InputError
from pairlearn.kernels import FromFunction, Gaussian
from pairlearn.similarities.nystrom import IndefiniteNystrom

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
EVERYONE = np.arange(30)


def taxi(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return 1.0 - np.abs(A[:, None] - B[None]).sum(axis=2)


def lean(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return taxi(A, B) + A[:, :1] * B[:, 1:2].T


@parametrize_with_checks([IndefiniteNystrom(), IndefiniteNystrom("precomputed")])
def test_scikit_learn_accepts_the_transformer(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("treatment", ["clip", "flip"])
@pytest.mark.parametrize("similarity", [Gaussian(0.5), "linear", "poly"])
def test_all_examples_as_bases_reproduce_a_definite_kernel(similarity: Any, treatment: Any) -> None:
    model = IndefiniteNystrom(similarity, bases=EVERYONE, treatment=treatment).fit(X)
    psi = model.transform(X)
    K = {"linear": X @ X.T, "poly": (X @ X.T) ** 2}.get(similarity if isinstance(similarity, str) else "")
    K = Gaussian(0.5)(X, X) if K is None else K
    np.testing.assert_allclose(psi @ psi.T, K, atol=1e-7)
    assert model.spectrum_.negative_ratio == 0.0


def test_a_definite_kernel_on_few_bases_equals_the_one_of_scikit_learn() -> None:
    theirs = Nystroem(gamma=0.5, n_components=10, random_state=0).fit(X)
    ours = IndefiniteNystrom(Gaussian(0.5), bases=theirs.component_indices_).fit(X)
    np.testing.assert_allclose(ours.transform(NEW), theirs.transform(NEW), atol=1e-8)


@pytest.mark.parametrize("treatment", ["clip", "flip", "shift", "square"])
def test_inner_products_of_the_bases_follow_the_spectrum(treatment: Any) -> None:
    """K₊, |K|, λ² / (λ + δ) and the identity, on the range where f(λ) > 0."""
    bases = EVERYONE[:12]
    psi = IndefiniteNystrom(taxi, bases=bases, treatment=treatment).fit(X).transform(X[bases])
    values, U = np.linalg.eigh(taxi(X[bases], X[bases]))
    assert values.min() < -0.1
    delta = -values.min()
    wanted = {
        "clip": np.maximum(values, 0.0),
        "flip": np.abs(values),
        "shift": np.concatenate([[0.0], values[1:] ** 2 / (values[1:] + delta)]),
        "square": np.ones(12),
    }[treatment]
    np.testing.assert_allclose(psi @ psi.T, U @ np.diag(wanted) @ U.T, atol=1e-7)


def test_new_rows_are_the_similarities_times_the_inverse_root() -> None:
    bases = EVERYONE[:12]
    values, U = np.linalg.eigh(taxi(X[bases], X[bases]))
    W = U @ np.diag(1 / np.sqrt(np.abs(values))) @ U.T
    found = IndefiniteNystrom(taxi, bases=bases, treatment="flip", batch_size=2).fit(X).transform(NEW)
    np.testing.assert_allclose(found, taxi(NEW, X[bases]) @ W, atol=1e-9)


def test_a_precomputed_matrix_equals_the_function() -> None:
    ours = IndefiniteNystrom(taxi, 9, "medoids", random_state=0).fit(X)
    theirs = IndefiniteNystrom("precomputed", 9, "medoids", random_state=0).fit(taxi(X, X))
    np.testing.assert_allclose(theirs.transform(taxi(NEW, X)), ours.transform(NEW), atol=1e-10)


def test_an_asymmetric_similarity_needs_an_explicit_choice() -> None:
    with pytest.raises(InputError, match="not symmetric"):
        IndefiniteNystrom(lean, 9).fit(X)
    found = IndefiniteNystrom(lean, bases=EVERYONE[:9], symmetrise=True).fit(X).transform(NEW)
    even = FromFunction(lean, symmetrise=True)
    np.testing.assert_allclose(found, IndefiniteNystrom(even, bases=EVERYONE[:9]).fit(X).transform(NEW), atol=1e-10)
    with pytest.raises(InputError, match="symmetrise the matrix beforehand"):
        IndefiniteNystrom("precomputed", symmetrise=True).fit(taxi(X, X))


def test_unknown_treatments_and_too_many_bases_are_refused() -> None:
    with pytest.raises(InputError, match="treatment is"):
        IndefiniteNystrom(treatment="bend").fit(X)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="more than the 30"):
        IndefiniteNystrom(n_bases=31).fit(X)
