"""Other readings of the paper on POLA: errors of nearest neighbours for several k are those of scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from repro import pola_mnist


def test_errors_for_several_k_and_some_references() -> None:
    rng = np.random.default_rng(0)
    y, y_test = rng.integers(2, size=80), rng.integers(2, size=50)
    X, X_test = rng.normal(size=(80, 5)) + y[:, None], rng.normal(size=(50, 5)) + y_test[:, None]
    task = pola_mnist.with_pairs(X, y, X_test, y_test, 0, 20)
    W, references = rng.normal(size=(5, 3)), rng.permutation(80)[:40]
    found = pola_mnist.errors_by_k(task, pola_mnist.distances(task, W), references, [1, 5, 15])
    for k, error in zip((1, 5, 15), found, strict=True):
        model = KNeighborsClassifier(k).fit(X[references] @ W, y[references])
        assert error == 100 * np.mean(model.predict(X_test @ W) != y_test)
    assert pola_mnist.outcome(3.0, 2.0).tolist() == [1, 0]
    assert pola_mnist.outcome(2.0, 2.0).tolist() == [0, 1]
