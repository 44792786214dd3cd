"""Products in tiles: right, the same bits whoever computes, and no harm done by Ctrl-C, forks and other threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from pairlearn.linalg import tiles
from pairlearn.linalg.pool import POOL, Pool, _cores_by_quota
from pairlearn.linalg.threads import BLAS
from pairlearn.linalg.tiles import gram, product
from pairlearn.linalg.unlocked import solve_left, solve_right

SMALL = 2e7
"""Operations from which on there are several tiles, here: a tenth of what users have."""
LARGE = (300, 260, 280)
"""Enough operations for several tiles."""
SHAPES = [LARGE, (1000, 40, 600), (64, 5000, 70), (1, 5000, 2400), (800, 5, 2600), (400, 400, 400)]
GRAMS = [(400, 300), (70, 6000), (800, 60)]


@pytest.fixture(autouse=True, scope="module")
def tiles_of_few_operations() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "SMALL", SMALL)
        yield


def factors(m: int, k: int, n: int, dtype: Any = np.float64, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)


@pytest.fixture(params=[1, 3])
def pool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """The pool with so many threads, whatever the machine has."""
    monkeypatch.setattr(POOL, "threads", lambda: request.param)
    return POOL


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_any_order_and_type(shape: tuple[int, int, int], dtype: Any, pool: Pool) -> None:
    A, B = factors(*shape, dtype)
    expected, bound = A.astype(np.float64) @ B.astype(np.float64), 5 * np.finfo(dtype).eps * (shape[1] + 30)
    for left in (A, np.asfortranarray(A)):
        for right in (B, np.asfortranarray(B)):
            found = product(left, right)
            assert found.dtype == dtype
            assert found.flags.c_contiguous
            assert np.abs(found - expected).max() <= bound


def test_the_shapes_are_cut_along_rows_columns_and_sums() -> None:
    cuts = [[len(parts) for parts in tiles._cut(m, n, k)] for m, k, n in (*SHAPES, *((m, k, m) for m, k in GRAMS))]
    assert min(np.prod(cut) for cut in cuts) > 1
    assert np.max(cuts, axis=0).min() > 1


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.booleans(), st.integers(0, 9))
def test_products_of_small_matrices(m: int, k: int, n: int, mixed: bool, seed: int) -> None:
    A, B = factors(m, k, n, seed=seed)
    B = B.astype(np.float32) if mixed else B
    np.testing.assert_allclose(product(A, B), np.einsum("ik,kj->ij", A, B), atol=1e-12)
    np.testing.assert_array_equal(gram(A), gram(A).T)
    np.testing.assert_allclose(gram(A), np.einsum("ik,jk->ij", A, A), atol=1e-12)


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 50_000))
def test_tiles_cover_everything_once(m: int, n: int, k: int) -> None:
    for size, parts in zip((m, n, k), tiles._cut(m, n, k), strict=True):
        ends = [0, *(part.stop for part in parts)]
        assert [part.start for part in parts] == ends[:-1]
        assert ends[-1] == size


def test_types_that_differ_meet_in_the_wider_one() -> None:
    A, B = factors(*LARGE)
    found = product(A.astype(np.float32), B)
    np.testing.assert_allclose(found, A.astype(np.float32).astype(np.float64) @ B, atol=1e-10)


@pytest.mark.parametrize("shape", GRAMS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_gram_matrices_are_symmetric_bit_by_bit(shape: tuple[int, int], order: Any, pool: Pool) -> None:
    A = np.asarray(factors(*shape, 1)[0], order=order)
    found = gram(A)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, A @ A.T, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_bits_do_not_depend_on_the_number_of_threads(
    shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    A, B = factors(*shape)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(POOL, "threads", lambda threads=threads: threads)
        found.append((product(A, B), gram(A)))
    for values in zip(*found, strict=True):
        np.testing.assert_array_equal(values[1], values[0])
        np.testing.assert_array_equal(values[2], values[0])


def test_a_result_goes_where_it_is_wanted() -> None:
    A, B = factors(*LARGE)
    whole = np.zeros((500, 600))
    product(A, B, out=whole[100:400, 200:480])
    np.testing.assert_allclose(whole[100:400, 200:480], A @ B, atol=1e-10)
    assert not whole[:100].any()
    assert not whole[400:].any()
    assert not whole[:, :200].any()
    assert not whole[:, 480:].any()


def test_triangular_solves() -> None:
    rng = np.random.default_rng(0)
    whole = np.asfortranarray(np.tril(rng.normal(size=(9, 9))) + 9 * np.eye(9))
    L = whole[2:7, 2:7]
    for n in (0, 1, 4):
        X = np.asfortranarray(rng.normal(size=(n + 3, 5)))
        Y = X.copy()
        solve_right(L, X[2 : n + 2])
        np.testing.assert_allclose(X[2 : n + 2] @ L.T, Y[2 : n + 2], atol=1e-12)
        np.testing.assert_array_equal(X[:2], Y[:2])
        Z = np.asfortranarray(rng.normal(size=(5, n)))
        W = Z.copy()
        solve_left(L, Z)
        np.testing.assert_allclose(L @ Z, W, atol=1e-12)


# --------------------------------------------------------------------------- who else is there


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, os.cpu_count()),
        ({"cpu.max": "max 100000"}, os.cpu_count()),
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "50000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, os.cpu_count()),
    ],
)
def test_the_quota_of_a_container_counts(files: dict[str, str], cores: int, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert _cores_by_quota(tmp_path) == cores


def test_what_a_tile_raises_is_raised_and_the_pool_goes_on(pool: Pool) -> None:
    done = []

    def work(number: int) -> None:
        if number == 5:
            raise ValueError("five")
        done.append(number)

    with pytest.raises(ValueError, match="five"):
        pool.run(work, 1000)
    assert len(done) < 999
    assert pool.busy == 0
    pool.run(done.append, 3)
    assert sorted(done[-3:]) == [0, 1, 2]


def test_a_limit_of_the_user_is_kept() -> None:
    with threadpool_limits(1, user_api="blas"):
        seen = set()
        POOL.run(lambda number: seen.add(threading.get_ident()), 50)
        assert seen == {threading.get_ident()}


def test_no_more_threads_than_allowed_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(POOL, "threads", lambda: 3)
    most, now, lock = [0], [0], threading.Lock()

    def work(number: int) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.002)
        with lock:
            now[0] -= 1

    POOL.run(work, 30)
    assert 1 < most[0] <= 3
    most[0] = 0
    with ThreadPoolExecutor(3) as callers:
        list(callers.map(lambda number: POOL.run(work, 30), range(3)))
    # A helper that is at work when somebody else comes ends its piece first.
    assert most[0] <= 5
    assert POOL.busy == 0


def test_pieces_may_ask_for_products_themselves(pool: Pool) -> None:
    A, B = factors(*LARGE)
    found: dict[int, np.ndarray] = {}
    pool.run(lambda number: found.update({number: product(A, B)}), 6)
    assert len(found) == 6
    for values in found.values():
        np.testing.assert_array_equal(values, found[0])


def test_many_threads_at_once_find_the_same(pool: Pool) -> None:
    A, B = factors(*LARGE)
    expected, before = product(A, B), BLAS.found()
    with ThreadPoolExecutor(4) as callers:
        for found in callers.map(lambda number: product(A, B), range(12)):
            np.testing.assert_array_equal(found, expected)
    assert BLAS.found() == before


def _product_in_a_child(connection: Any) -> None:
    A, B = factors(*LARGE)
    connection.send(product(A, B))


@pytest.mark.parametrize("at_work", [False, True])
def test_a_forked_child_has_a_pool_of_its_own(at_work: bool, pool: Pool) -> None:
    A, B = factors(*LARGE)
    expected = product(A, B)
    context = multiprocessing.get_context("fork")

    stop = threading.Event()
    others = threading.Thread(target=pool.run, args=(lambda number: stop.wait(0.001), 10**5))
    if at_work:
        others.start()
    here, there = context.Pipe()
    process = context.Process(target=_product_in_a_child, args=(there,))
    process.start()
    assert here.poll(60)
    np.testing.assert_array_equal(here.recv(), expected)
    process.join(60)
    assert process.exitcode == 0
    stop.set()
    if at_work:
        others.join()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_leaves_nobody_at_work(pool: Pool) -> None:
    before, after, ended = BLAS.found(), [], [False]

    def work(number: int) -> None:
        if number == 10:
            signal.raise_signal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else os.kill(
                os.getpid(), signal.SIGINT
            )
        time.sleep(0.001)
        if ended[0]:
            after.append(number)

    with pytest.raises(KeyboardInterrupt):
        pool.run(work, 10_000)
    ended[0] = True
    time.sleep(0.05)
    assert not after
    assert pool.busy == 0
    assert BLAS.found() == before
    A, B = factors(*LARGE)
    np.testing.assert_allclose(product(A, B), A @ B, atol=1e-10)
