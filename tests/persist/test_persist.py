"""Model files: what is saved comes back to the last bit, and bad files are refused in words."""

from __future__ import annotations

import json
import os
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hostile import put, rewritten
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.kernels import Cosine, Exponential, Gaussian, Linear, Polynomial
from pairlearn.kernels.base import Kernel
from pairlearn.pair_kernels import CATALOG

SYMMETRIC = [name for name, kernel in CATALOG.items() if kernel.symmetry == "symmetric"]
ONE_SIDED = [name for name, kernel in CATALOG.items() if kernel.symmetry == "none"]
COMPOSED = {
    "balanced": pl.pair_kernels.poly_tensor(2, 1.0).balanced(),
    "sum on two bases": pl.pair_kernel("tensor").on(Linear()) + pl.pair_kernel("metric").on(Gaussian(0.3)),
    "product": pl.pair_kernel("tensor") * pl.pair_kernel("metric"),
    "scaled": 0.1 * pl.pair_kernel("tensor") + 3.0 * pl.pair_kernel("direct_sum"),
    "outer gaussian": pl.pair_kernels.gaussian("tensor", gamma=0.01),
    "outer power": pl.pair_kernels.power("direct_sum", 3, offset=0.5),
}
BASES = {
    "linear": "linear",
    "poly": "poly",
    "rbf": "rbf",
    "cosine": "cosine",
    "Polynomial": Polynomial(degree=3, gamma=0.1, coef0=1.0),
    "Exponential": Exponential(Cosine(Linear()), sigma=1.3),
    "Cosine of poly": Cosine(Polynomial(2)),
    "combined": Linear() * Cosine() + 0.1 * Gaussian("scale"),
    "numpy scalars": Gaussian(np.float64(0.3)) + Polynomial(gamma=np.float64(0.7)),
}


def data(dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    X, classes = pl.data.orthant(6, 5, n=7, seed=1)
    return X.astype(dtype), classes


def fitted(examples: Any = None, **params: Any) -> pl.PairSVC:
    X, classes = data()
    pairs = pl.all_pairs(X if examples is None else examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pl.PairSVC(**params).fit(pairs, pairs.labels(classes))


def assert_same(model: Any, path: Path, examples: Any = None) -> Any:
    """Save, load and compare on pairs in both orders and on a block."""
    X = data()[0] if examples is None else examples
    pairs = pl.all_pairs(X)
    pl.save(model, path)
    loaded = pl.load(path)
    for tested in (pairs, pairs.swapped()):
        np.testing.assert_array_equal(loaded.decision_function(tested), model.decision_function(tested))
    np.testing.assert_array_equal(loaded.score_block(X[:4], X), model.score_block(X[:4], X))
    return loaded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


# --------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("kernel", [*SYMMETRIC, *ONE_SIDED])
def test_every_named_pair_kernel(kernel: str, path: Path) -> None:
    assert assert_same(fitted(kernel=kernel, base="poly"), path).kernel == kernel


@pytest.mark.parametrize("kernel", COMPOSED.values(), ids=COMPOSED.keys())
def test_composed_pair_kernels(kernel: pl.pair_kernels.PairKernel, path: Path) -> None:
    loaded = assert_same(fitted(kernel=kernel), path)
    assert loaded.kernel == kernel


@pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())
def test_every_base_kernel(base: Any, path: Path) -> None:
    assert assert_same(fitted(base=base), path).base == base


@pytest.mark.parametrize("base", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_float32_and_memory_order(base: str, order: Any, path: Path) -> None:
    X = np.array(data(np.float32)[0], order=order)
    loaded = assert_same(fitted(X, base=base), path, X)
    assert loaded.function_.anchor.dtype == np.float32


def test_numpy_gamma_on_float32(path: Path) -> None:
    X = data(np.float32)[0]
    assert_same(fitted(X, base=Polynomial(gamma=np.float64(0.3))), path, X)


@pytest.mark.parametrize("base", ["linear", "poly", "rbf"])
def test_sparse_examples(base: str, path: Path) -> None:
    X = sparse.csr_array(np.where(np.abs(data()[0]) > 0.5, data()[0], 0.0))
    loaded = assert_same(fitted(X, base=base), path, X)
    assert sparse.issparse(loaded.function_.anchor)


def test_precomputed(path: Path) -> None:
    X, _ = data()
    K = X @ X.T
    model = fitted(K, base="precomputed")
    pl.save(model, path)
    rows = pl.Pairs(K[:6], [0, 1, 2], [3, 4, 5])
    np.testing.assert_array_equal(pl.load(path).decision_function(rows), model.decision_function(rows))


def test_gram_is_saved_as_its_kernel(path: Path) -> None:
    X, _ = data()
    loaded = assert_same(fitted(X, base=pl.kernels.Gram(Gaussian(0.5), X)), path, X)
    assert loaded.base == Gaussian(0.5)


def test_parameters_and_facts_come_back(path: Path) -> None:
    model = fitted(C=0.3, tol=1e-4, class_weight={1: 2.0, -1: 1 / 3}, random_state=7, callback=lambda step: None)
    loaded = assert_same(model, path)
    assert loaded.get_params() == {**model.get_params(), "callback": None}
    for name in ("kkt_gap_", "fit_status_", "objective_", "n_support_", "n_iter_", "history_", "plan_"):
        assert getattr(loaded, name) == getattr(model, name), name
    for name in ("support_", "support_examples_", "classes_", "dual_coef_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.intercept_ == model.intercept_


def test_a_loaded_model_can_be_fitted_again_and_saved_again(path: Path) -> None:
    loaded = assert_same(fitted(base="rbf"), path)
    first = path.read_bytes()
    pl.save(loaded, path)
    assert path.read_bytes() == first
    X, classes = data()
    pairs = pl.all_pairs(X)
    assert loaded.set_params(warm_start=True).fit(pairs, pairs.labels(classes)).fit_status_ == "converged"


def test_a_model_without_support_pairs(path: Path) -> None:
    model = fitted(callback=lambda step: True)
    assert model.n_support_ == 0
    assert_same(model, path)


@pytest.mark.parametrize("threshold", [0.0, -2.5, np.inf, -np.inf, 0.1 + 0.2, np.float32(0.1)])
@pytest.mark.parametrize("kind", [pl.EuclidBaseline, pl.CosineBaseline])
def test_baselines_and_exact_numbers(kind: Any, threshold: float, path: Path) -> None:
    loaded = assert_same(kind(threshold), path)
    assert type(loaded) is kind
    assert loaded.threshold == threshold
    assert type(loaded.threshold) is type(threshold)


def test_nan_survives(path: Path) -> None:
    pl.save(pl.EuclidBaseline(float("nan")), path)
    assert np.isnan(pl.load(path).threshold)


# --------------------------------------------------------------------------- what cannot be saved


@dataclass(frozen=True)
class Homemade(Kernel):
    def __call__(self, A: Any, B: Any) -> Any:
        return A @ B.T

    def diag(self, A: Any) -> Any:
        return (A * A).sum(axis=1)


@pytest.mark.parametrize("base", [lambda A, B: A @ B.T, Homemade(), Linear() + Homemade()])
def test_code_is_refused_with_advice(base: Any, path: Path) -> None:
    path.write_bytes(b"older model")
    with pytest.raises(InputError, match="precomputed"):
        pl.save(fitted(base=base), path)
    assert path.read_bytes() == b"older model"


def test_objects_are_refused(path: Path) -> None:
    words = ["pair", "pear", "bear", "learn", "lean"]
    overlap = pl.kernels.FromFunction(lambda a, b: float(len(set(a) & set(b))), scalar=True, definite=True)
    pairs = pl.all_pairs(words)
    model = pl.PairSVC(base=overlap).fit(pairs, pairs.labels([0, 0, 0, 1, 1]))
    with pytest.raises(InputError, match="stored safely"):
        pl.save(model, path)


def test_unfitted_and_foreign_models(path: Path) -> None:
    with pytest.raises(InputError, match="call fit first"):
        pl.save(pl.PairSVC(), path)
    with pytest.raises(InputError, match=r"PairSVC, .*EuclidBaseline"):
        pl.save(pl.OnExamples(None), path)
    assert not path.exists()


# --------------------------------------------------------------------------- all or nothing


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_write_keeps_the_old_file(step: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.save(pl.EuclidBaseline(-1.0), path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        pl.save(pl.EuclidBaseline(-2.0), path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        pl.save(pl.EuclidBaseline(), tmp_path)
    with pytest.raises(InputError, match="create it first"):
        pl.save(pl.EuclidBaseline(), tmp_path / "nowhere" / "model.safetensors")


def test_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.safetensors", tmp_path / "link.safetensors"
    pl.save(pl.EuclidBaseline(-1.0), real)
    link.symlink_to(real)
    pl.save(pl.EuclidBaseline(-2.0), link)
    assert link.is_symlink()
    assert pl.load(real).threshold == -2.0


# --------------------------------------------------------------------------- hostile and broken files


def test_every_truncation_is_refused(path: Path) -> None:
    pl.save(fitted(), path)
    whole = path.read_bytes()
    for length in (0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="truncated"):
            pl.load(path)


def test_a_flipped_bit_is_noticed(path: Path) -> None:
    pl.save(fitted(), path)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="checksum"):
        pl.load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    safetensors.numpy.save_file({"weight": np.eye(2)}, other)
    with pytest.raises(InputError, match="not a pairlearn model"):
        pl.load(other)
    other.write_bytes(b"\x80\x04cos\nsystem\n(S'touch hacked'\ntR.")
    with pytest.raises(InputError, match="is not a model file"):
        pl.load(other)
    other.write_bytes(struct.pack("<Q", 2**62) + b"{}")
    with pytest.raises(InputError, match="is not a model file"):
        pl.load(other)
    with pytest.raises(InputError, match="no model file"):
        pl.load(tmp_path / "absent.safetensors")
    with pytest.raises(InputError, match="is a directory"):
        pl.load(tmp_path)


def test_newer_versions_are_refused(path: Path) -> None:
    pl.save(fitted(), path)
    rewritten(path, lambda document: document.update(version=3))
    with pytest.raises(InputError, match="upgrade pairlearn"):
        pl.load(path)


HOSTILE = {
    "class": put("content", "class", value="BaseEstimator"),
    "class of another type": put("content", "class", value=["PairSVC"]),
    "no content": lambda document: document.pop("content"),
    "content of another type": put("content", value=[]),
    "unknown parameter": put("content", "params", "evil", value=1),
    "unknown value": put("content", "params", "base", value={"is": "os.system", "command": "true"}),
    "value without a kind": put("content", "params", "base", value={"a": 1}),
    "method overwritten": put("content", "fitted", "decision_function", value=1),
    "property overwritten": put("content", "fitted", "dual_coef_", value=1),
    "dunder": put("content", "fitted", "__class__", value=1),
    "no function": lambda document: document["content"]["fitted"].pop("function_"),
    "function of another type": put("content", "fitted", "function_", value=3),
    "missing tensor": put("content", "fitted", "function_", "left", "tensor", value="absent"),
    "text for a number": put("content", "fitted", "function_", "bias", value="0"),
    "array for a kernel": put("content", "fitted", "function_", "kernel", value=None),
    "unknown field": put("content", "fitted", "function_", "evil", value=1),
    "unknown dtype": put("content", "params", "C", value={"is": "number", "dtype": "O", "value": 1}),
    "deep nesting": put("content", "params", "base", value=json.loads("[" * 900 + "]" * 900)),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_documents_are_refused(change: Any, path: Path) -> None:
    pl.save(fitted(), path)
    rewritten(path, change)
    with pytest.raises(InputError, match="damaged"):
        pl.load(path)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("left", lambda a: np.full_like(a, 10**6)),
        ("right", lambda a: np.full_like(a, -1)),
        ("left", lambda a: a[:-1]),
        ("left", lambda a: a.astype(np.float64)),
        ("coefficients", lambda a: np.full_like(a, np.nan)),
        ("coefficients", lambda a: a[:, None]),
        ("anchor", lambda a: a[:1]),
        ("anchor", lambda a: a.ravel()),
    ],
)
def test_hostile_arrays_are_refused(name: str, bad: Any, path: Path) -> None:
    model = fitted()
    pl.save(model, path)
    rewritten(path, lambda document: None, {f"function_.{name}": bad(getattr(model.function_, name))})
    with pytest.raises(InputError, match="damaged"):
        pl.load(path)


def test_hostile_table(path: Path) -> None:
    pl.save(fitted(kernel=pl.pair_kernel("tensor") + pl.pair_kernel("metric")), path)
    rewritten(path, put("content", "params", "kernel", "terms", 0, 1, 0, "terms", 0, 0, 0, value="__class__"))
    with pytest.raises(InputError, match="monomial"):
        pl.load(path)


@pytest.mark.parametrize(
    "calibration", [pl.evaluation.LogisticCalibration(prior=0.1), pl.evaluation.IsotonicCalibration(), None]
)
def test_a_model_keeps_its_threshold_and_its_probabilities(calibration: Any, tmp_path: Path) -> None:
    X, classes = pl.data.double_interval(12, 5, n=20, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    machine = pl.PairSVC("tensor_metric", C=0.01).fit(pairs, pairs.labels(classes))
    scores = pl.Scores(machine.decision_function(pairs), pairs.labels(classes))
    fitted = None if calibration is None else calibration.fit(scores)
    model = pl.Verifier(machine, pl.threshold_at_fmr(scores, 0.05), fitted)
    pl.save(model, tmp_path / "m.safetensors")
    again = pl.load(tmp_path / "m.safetensors")
    assert again.threshold == model.threshold
    assert np.array_equal(again.predict(pairs), model.predict(pairs))
    if calibration is not None:
        assert np.array_equal(again.predict_proba(pairs), model.predict_proba(pairs))


@pytest.mark.parametrize("name", ["model.pkl", "model.NPZ", "model.json"])
def test_names_of_other_formats_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"would be a safetensors file, .*name it .*model\.safetensors"):
        pl.save(pl.EuclidBaseline(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    pl.save(pl.EuclidBaseline(), tmp_path / "model")
