"""Examples and matrices in memory-mapped files: the same results, and copies that are no longer in memory."""

from __future__ import annotations

import errno
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import pairlearn as pl
from pairlearn.data.files import arrays
from pairlearn.data.reading import read_examples
from pairlearn.errors import InputError, OutputError, TooLargeError
from pairlearn.examples import in_use, refuse_nonfinite
from pairlearn.kernels import rows
from pairlearn.linalg import mapped
from pairlearn.linalg.held import held_bytes
from pairlearn.linalg.mapped import is_mapped, on_disk
from pairlearn.operators.build import build
from pairlearn.operators.resolve import resolve

RNG = np.random.default_rng(0)
CLASSES = np.arange(120) // 4
X = (RNG.normal(size=(30, 8))[CLASSES] + 0.5 * RNG.normal(size=(120, 8))).astype(np.float32)


def saved(folder: Path, array: Any, name: str = "X.npy") -> Any:
    """The array as a memory-mapped file."""
    np.save(folder / name, array)
    return np.load(folder / name, mmap_mode="r")


def some_pairs(examples: Any) -> pl.Pairs:
    left, right = np.random.default_rng(1).integers(0, 100, (2, 900))
    return pl.Pairs(examples, left, right)


def test_what_is_a_mapped_array(tmp_path: Path) -> None:
    file = saved(tmp_path, X)
    assert is_mapped(file)
    assert is_mapped(np.asarray(file)[3:].reshape(-1))
    assert not is_mapped(file[[1, 2]])
    assert not is_mapped(file.astype(np.float64))
    assert held_bytes([file, np.ones(2)]) == 16


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("used", [np.arange(120), np.array([3, 5, 100])])
def test_a_copy_of_mapped_rows_goes_to_a_file(tmp_path: Path, dtype: Any, used: Any) -> None:
    file = saved(tmp_path, X.astype(dtype))
    found = in_use(file, used, room=0)
    assert is_mapped(found)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, X[used])
    assert np.shares_memory(found, file) == (dtype == np.float64 and len(used) == 120)
    assert is_mapped(in_use(file, used)) == np.shares_memory(found, file)
    assert not is_mapped(in_use(np.array(file), used, room=0)), "arrays in memory are the caller's choice"


@pytest.mark.parametrize("base", ["linear", "rbf", pl.kernels.LowRank("rbf", 20)])
def test_fits_and_scores_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: Any) -> None:
    monkeypatch.setattr("pairlearn.operators.build.COPIED", 0.0)
    pairs, there = some_pairs(saved(tmp_path, X)), some_pairs(X)
    assert is_mapped(resolve(pl.pair_kernel("metric").on(pl.kernels.Linear()), pairs, 0).pairs.examples)
    y = there.labels(CLASSES)
    one, other = (pl.PairSVC("metric", base, C=1.0, random_state=0).fit(each, y) for each in (pairs, there))
    assert one.fit_status_ == other.fit_status_ == "converged"
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    np.testing.assert_array_equal(other.decision_function(pairs), other.decision_function(there))
    np.testing.assert_array_equal(other.score_block(pairs.examples, pairs.examples), other.score_block(X, X))


def test_the_plan_counts_what_is_in_memory(tmp_path: Path) -> None:
    wide = np.random.default_rng(2).normal(size=(2000, 300)).astype(np.float32)
    left, right = np.random.default_rng(3).integers(0, 2000, (2, 3000))
    kernel, budget = pl.pair_kernel("tensor").on(pl.kernels.Gaussian(1e-3)), 9e6
    file = pl.Pairs(saved(tmp_path, wide), left, right)
    operation = build(kernel, file, memory_budget=budget)
    assert resolve(kernel, file, 0).copies[0] == 0
    assert operation.held < 0.1 * budget
    chosen = np.arange(0, 3000, 7)
    in_memory = build(kernel, pl.Pairs(wide, left, right), memory_budget=1e9).operator
    np.testing.assert_allclose(operation.operator.submatrix(chosen), in_memory.submatrix(chosen), rtol=1e-9)
    with pytest.raises(TooLargeError):
        build(kernel, pl.Pairs(wide[:, :], left, right), memory_budget=budget)


def test_blocks_of_scores_count_the_numbers_of_an_example() -> None:
    pairs = pl.Pairs(
        np.random.default_rng(0).normal(size=(60, 500)), *np.random.default_rng(1).integers(0, 60, (2, 200))
    )
    machine = pl.PairSVC("tensor", "rbf").fit(pairs[:40], np.where(np.arange(40) % 2, 1, -1))
    blocks = machine.function_._pairs_per_block
    assert blocks(10**7, 10**6, 500) < blocks(10**7, 10**6, 10)
    assert 16 * 500 * 2 * blocks(10**7, 10**6, 500) <= 2**28


def test_variance_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    far = (1e6 + RNG.normal(size=(301, 7))).astype(np.float32)
    expected = float(np.var(far.astype(np.longdouble)))
    monkeypatch.setattr(rows, "LARGE", 10)
    monkeypatch.setattr(rows, "row_blocks", lambda table: mapped.row_blocks(table, 100))
    assert rows.variance(far) == pytest.approx(expected, rel=1e-12)


def test_numbers_that_are_none_are_found_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt = X.copy()
    spoilt[50, 3], spoilt[77, 0] = np.inf, np.nan
    monkeypatch.setattr("pairlearn.examples.row_blocks", lambda table: mapped.row_blocks(table, 300))
    with pytest.raises(InputError, match=r"contain NaN \(first in row 50, 2 in all\)"):
        refuse_nonfinite(spoilt, "examples")


# --------------------------------------------------------------------------- Gram matrices


@pytest.mark.parametrize("kernel", [pl.kernels.Linear(), pl.kernels.Gaussian(0.1)])
def test_a_gram_matrix_on_disk(kernel: Any) -> None:
    gram, there = (pl.kernels.Gram(kernel, X, on_disk=choice) for choice in (True, False))
    assert is_mapped(gram.matrix)
    np.testing.assert_allclose(gram.matrix, there.matrix, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(gram.matrix, gram.matrix.T)
    pairs = pl.all_pairs(gram.examples)
    y = pairs.labels(CLASSES)
    one, other = (pl.PairSVC("tensor", base, random_state=0).fit(pairs, y) for base in (gram, there))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)
    assert one.plan_.gram


def test_little_memory_takes_a_matrix_on_disk_and_no_other() -> None:
    many = np.random.default_rng(0).normal(size=(3000, 5))
    pairs = pl.Pairs(many, *np.random.default_rng(1).integers(0, 3000, (2, 4000)))
    kernel = pl.kernels.Gaussian(0.1)
    gram = pl.kernels.Gram(kernel, pairs.examples, on_disk=True)
    assert len(pairs.used_examples()) < 3000
    on = pl.pair_kernel("tensor").on(kernel)
    disk, anew = build(on, pairs, (gram, gram), 3e7), build(on, pairs, (None, None), 3e7)
    assert (disk.plan.kind, disk.plan.gram) == ("blocked", True)
    assert (anew.plan.kind, anew.plan.gram) == ("blocked", False)
    assert disk.held < 3e6
    some = np.arange(0, 4000, 40)
    np.testing.assert_allclose(disk.operator.submatrix(some), anew.operator.submatrix(some), rtol=1e-9)


def test_a_precomputed_matrix_in_a_file_is_used_as_it_stands(tmp_path: Path) -> None:
    many = np.random.default_rng(0).normal(size=(1500, 5))
    K = pl.kernels.Gram(pl.kernels.Gaussian(0.1), many).matrix
    rough = K.copy()
    rough[0, 1] += 1e-12
    columns = np.random.default_rng(1).integers(0, 1500, (2, 4000))
    columns[0, :1500] = np.arange(1500)
    kernel = pl.pair_kernel("tensor").on(pl.kernels.Precomputed(definite=True))
    some = np.arange(0, 4000, 40)
    expected = build(kernel, pl.Pairs(K, *columns)).operator.submatrix(some)
    for matrix, whole in ((K, True), (rough, False)):
        file = saved(tmp_path, matrix, "K.npy")
        found = build(kernel, pl.Pairs(file, *columns), memory_budget=3e7)
        (source,) = found.operator.sources.values()  # type: ignore[attr-defined]
        assert np.shares_memory(source.matrix, file) == whole
        assert is_mapped(source.matrix)
        assert found.held < 3e6
        np.testing.assert_allclose(found.operator.submatrix(some), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("base", "values"),
    [
        (pl.kernels.Precomputed(definite=True), lambda K: K),
        (pl.kernels.Precomputed(), lambda K: K),
        (2.0 * pl.kernels.Precomputed(definite=True), lambda K: 2.0 * K),
        (pl.kernels.Exponential(pl.kernels.Precomputed(definite=True)), np.exp),
    ],
    ids=["known", "unknown", "scaled", "exponential"],
)
@pytest.mark.filterwarnings("ignore::pairlearn.errors.DefinitenessWarning")
def test_without_room_for_another_matrix_values_are_looked_up_in_the_callers(base: Any, values: Any) -> None:
    many = np.random.default_rng(0).normal(size=(1500, 5))
    K = pl.kernels.Gaussian(0.1)(many, many)
    K[0, 1] += 1e-9
    left, right = np.random.default_rng(1).integers(0, 1500, (2, 4000))
    left[:1500] = np.arange(1500)
    kernel, some, budget = pl.pair_kernel("tensor").on(base), np.arange(0, 4000, 40), 3e7
    found = build(kernel, pl.Pairs(K, left, right), memory_budget=budget)
    assert (found.plan.kind, found.plan.gram) == ("blocked", False)
    assert found.held < 1e6
    a, b, mean = left[some], right[some], 0.5 * values(K) + 0.5 * values(K).T
    expected = 0.5 * (mean[np.ix_(a, a)] * mean[np.ix_(b, b)] + mean[np.ix_(a, b)] * mean[np.ix_(b, a)])
    np.testing.assert_allclose(found.operator.submatrix(some), expected, rtol=1e-8)
    np.testing.assert_allclose(found.operator.diagonal()[some], np.diagonal(expected), rtol=1e-8)
    tracemalloc.start()
    theta = np.ones(4000)
    product = found.operator @ theta
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(product, build(kernel, pl.Pairs(K, left, right)).operator @ theta, rtol=1e-8)
    assert most <= budget - found.plan.memory


@pytest.mark.filterwarnings("ignore::pairlearn.errors.DefinitenessWarning")
def test_fits_on_looked_up_values_are_those_on_a_held_matrix() -> None:
    many = np.random.default_rng(0).normal(size=(1500, 5))
    K = pl.kernels.Gaussian(0.1)(many, many)
    left, right = np.random.default_rng(1).integers(0, 1500, (2, 1500))
    pairs = pl.Pairs(K, left, right)
    y = np.where(many[left, 0] * many[right, 0] > 0, 1, -1)
    machine = pl.PairSVC("tensor", pl.kernels.Precomputed(), tol=1e-5, random_state=0)
    held = clone(machine).fit(pairs, y)
    machine.set_params(memory_budget=2.6e7)
    whole = np.unique(np.concatenate([left, right]))
    used = np.ix_(whole, whole)
    inside = pl.Pairs(K[used], np.searchsorted(whole, left), np.searchsorted(whole, right))
    for given in (pairs, inside):
        anew = clone(machine).fit(given, y)
        assert "computed anew" in str(anew.plan_)
        assert anew.objective_ == pytest.approx(held.objective_, rel=1e-5)
    with pytest.raises(InputError, match="not positive semidefinite"):
        machine.fit(inside.with_examples(-K[used]), y)
    K[0, 1] = 3.0
    with pytest.raises(InputError, match="the Gram matrix is not symmetric"):
        machine.fit(pairs, y)


def test_centred_features_of_a_file_go_to_another(tmp_path: Path) -> None:
    """A kernel that only compares takes the mean row from its features: no copy of them is in memory."""
    many = 5.0 + np.random.default_rng(0).normal(size=(4000, 60))
    columns = np.random.default_rng(1).integers(0, 4000, (2, 9000))
    columns[0, :4000] = np.arange(4000)
    kernel = pl.pair_kernel("metric").on(pl.kernels.Linear())
    there, file = pl.Pairs(many, *columns), pl.Pairs(saved(tmp_path, many), *columns)
    expected = build(kernel, there, memory_budget=3e7).operator
    tracemalloc.start()
    found = build(kernel, file, memory_budget=3e7).operator
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert is_mapped(found.source.features)  # type: ignore[attr-defined]
    assert most < many.nbytes
    some = np.arange(0, 9000, 90)
    np.testing.assert_allclose(found.submatrix(some), expected.submatrix(some), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), many)


def test_no_room_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OutputError, match=r"no room for a file of .* TMPDIR"):
        on_disk((1000, 1000))


# --------------------------------------------------------------------------- files


def test_large_arrays_of_files_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "X.npy", X)
    assert not is_mapped(read_examples(tmp_path / "X.npy").examples)
    monkeypatch.setattr(arrays, "LARGE", 100)
    table = read_examples(tmp_path / "X.npy")
    assert is_mapped(table.examples)
    np.testing.assert_array_equal(table.examples, X)
    assert list(table.ids[:2]) == ["0", "1"]
    spoilt = X.copy()
    spoilt[70, 2] = np.nan
    np.save(tmp_path / "X.npy", spoilt)
    with pytest.raises(InputError, match="row 70, column 'X' is missing"):
        read_examples(tmp_path / "X.npy")
    np.save(tmp_path / "X.npy", np.where(np.arange(120)[:, None] == 9, 1e200, 1.0) * X.astype(np.float64))
    with pytest.raises(InputError, match=r"row 9, .*too large"):
        read_examples(tmp_path / "X.npy")
