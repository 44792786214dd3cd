"""Fits, scores and searches with two workers of one thread each: the answers of one machine, whatever happens there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info

import pairlearn as pl
from pairlearn.cluster import worker
from pairlearn.cluster.operator import ClusterOperator
from pairlearn.cluster.session import ACTIVE, Cluster
from pairlearn.errors import ClusterWarning, InputError
from pairlearn.linalg.pool import POOL
from pairlearn.operators.base import Divisible
from pairlearn.operators.build import build
from pairlearn.solvers.problem import Progress
from pairlearn.testing import check_operator

distributed = pytest.importorskip("distributed", reason="more than one machine: pip install 'pairlearn[dask]'")

LEAST = 500
"""Pairs from which on the workers are asked here."""
EXAMPLES, CLASSES = pl.data.double_interval(12, 8, n=20, seed=1)
EXAMPLES = EXAMPLES + 0.3 * np.random.default_rng(0).normal(size=EXAMPLES.shape)
PAIRS = pl.all_pairs(EXAMPLES, reflexive=False)
LABELS = PAIRS.labels(CLASSES)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def machine(**options: Any) -> pl.PairSVC:
    return pl.PairSVC(**{"kernel": "tensor_metric", "base": "rbf", "C": 1.0, "random_state": 0, **options})


# --------------------------------------------------------------------------- the operator, by the laws of all


def operators() -> dict[str, tuple[pl.pair_kernels.PairKernel, pl.Pairs, float | None]]:
    rng, few = np.random.default_rng(3), PAIRS[::40]
    featured = pl.Pairs(EXAMPLES, few.left, few.right, invariant=rng.normal(size=(len(few), 3)))
    apart = pl.Pairs(EXAMPLES[:40], few.left % 40, few.right % 30, right_examples=EXAMPLES[40:70, :5])
    rbf, linear = pl.kernels.Gaussian(0.1), pl.kernels.Linear()
    return {
        "features": (pl.pair_kernel("tensor_metric").on(linear), few, None),
        "gram": (pl.pair_kernel("tensor_metric").on(rbf), few, None),
        "triangle": (pl.pair_kernel("wedge").on(rbf), pl.all_pairs(EXAMPLES[:20]), None),
        "two tables": (pl.pair_kernel("tensor").on(rbf), apart, None),
        "sum with a view": (pl.pair_kernel("metric").on(rbf) + pl.pair_kernels.on_invariant(linear), featured, None),
        "blocked": (pl.pair_kernel("wedge_squared").on(rbf), few, None),
        "blocked, with a view": (
            pl.pair_kernel("wedge_squared").on(rbf) + pl.pair_kernels.on_invariant(rbf),
            featured,
            None,
        ),
    }


@pytest.mark.parametrize("name", operators())
def test_a_cluster_keeps_the_laws_of_operators(name: str, client: Any) -> None:
    kernel, pairs, budget = operators()[name]
    local = build(kernel, pairs, memory_budget=budget).operator
    assert isinstance(local, Divisible)
    every = np.arange(len(pairs))
    check_operator(ClusterOperator(local, Cluster(client, 0)), local.submatrix(every))


def test_what_is_sent_has_no_gram_matrix_beside_features(client: Any) -> None:
    kernel = pl.pair_kernel("tensor_metric").on(pl.kernels.Linear())
    operator = build(kernel, PAIRS).operator
    assert operator.source.matrix is not None  # type: ignore[attr-defined]
    cluster = Cluster(client, 0)
    ClusterOperator(operator, cluster)  # type: ignore[arg-type]
    columns = PAIRS.columns
    arrays = EXAMPLES.nbytes + columns[0].nbytes + columns[1].nbytes
    assert arrays < cluster.traffic.held < arrays + 5000


# --------------------------------------------------------------------------- fits


@pytest.mark.parametrize(
    "options",
    [{}, {"base": "linear"}, {"base": "linear", "solver": "active_set"}, {"kernel": "wedge_squared", "C": 0.1}],
    ids=["gram", "features", "features, active set", "blocked"],
)
def test_a_fit_finds_the_optimum_of_one_machine(options: dict[str, Any], client: Any) -> None:
    few = slice(None, None, 5 if "kernel" in options else 1)
    pairs, labels = PAIRS[few], LABELS[few]
    alone = machine(**options).fit(pairs, labels)
    with pl.on_cluster(client, least=LEAST) as cluster:
        helped = machine(**options).fit(pairs, labels)
    assert helped.fit_status_ == alone.fit_status_ == "converged"
    assert helped.kkt_gap_ <= helped.tol
    assert helped.objective_ == pytest.approx(alone.objective_, rel=1e-6)
    assert helped.path_ == alone.path_
    traffic = cluster.traffic
    assert traffic.rounds >= 2  # at least one step and the certificate
    assert traffic.received == 8 * len(pairs) * traffic.rounds
    assert 0 < traffic.per_round[0] < 8 * len(pairs) * 8


def test_other_machines_go_the_same_way(client: Any) -> None:
    targets = np.abs(PAIRS.examples[PAIRS.left, 0] - PAIRS.examples[PAIRS.right, 0])
    pairs, targets = PAIRS[::6], targets[::6]
    alone = pl.PairSVR("metric", "linear", random_state=0).fit(pairs, targets)
    with pl.on_cluster(client, least=LEAST) as cluster:
        helped = pl.PairSVR("metric", "linear", random_state=0).fit(pairs, targets)
    assert cluster.traffic.rounds > 0
    assert helped.objective_ == pytest.approx(alone.objective_, rel=1e-6)


def test_few_pairs_stay_here(client: Any) -> None:
    with pl.on_cluster(client) as cluster:
        machine().fit(PAIRS[:400], LABELS[:400]).decision_function(PAIRS[:400])
    assert cluster.traffic.rounds == cluster.traffic.held == 0
    assert ACTIVE.get() is None


def test_nothing_of_it_is_saved(client: Any, tmp_path: Path) -> None:
    with pl.on_cluster(client, least=LEAST):
        helped = machine().fit(PAIRS, LABELS)
        pl.save(helped, tmp_path / "model.safetensors")
    loaded = pl.load(tmp_path / "model.safetensors")
    assert loaded.get_params() == machine().get_params()
    assert np.array_equal(loaded.decision_function(PAIRS), helped.decision_function(PAIRS))


# --------------------------------------------------------------------------- what may happen


def once(action: Callable[[], None]) -> Callable[[Progress], None]:
    """A callback that does it after the first step."""
    done: list[bool] = []

    def call(progress: Progress) -> None:
        if progress.n_support and not done:
            done.append(True)
            action()

    return call


def test_a_worker_that_dies_in_the_middle_changes_nothing(client: Any) -> None:
    options = {"base": "linear", "solver": "active_set"}
    alone = machine(**options).fit(PAIRS, LABELS)
    killed = min(client.run(os.getpid).values())
    with pl.on_cluster(client, least=LEAST) as cluster, warnings.catch_warnings():
        warnings.simplefilter("error", ClusterWarning)
        helped = machine(**options, callback=once(lambda: os.kill(killed, signal.SIGKILL))).fit(PAIRS, LABELS)
    assert helped.fit_status_ == "converged"
    assert helped.objective_ == pytest.approx(alone.objective_, rel=1e-6)
    assert cluster.lost is None
    client.wait_for_workers(2, timeout=60)
    assert killed not in client.run(os.getpid).values()


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[tuple[Any, subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    """A client, a scheduler and a worker in processes of their own, none of which is started again."""

    def start(command: str, *arguments: str) -> subprocess.Popen[bytes]:
        options = ["--scheduler-file", str(tmp_path / "scheduler.json"), *arguments, "--no-dashboard"]
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{command}", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    scheduler = start("scheduler", "--port", "0", "--host", "127.0.0.1")
    one = start("worker", "--nthreads", "1", "--no-nanny")
    try:
        with distributed.Client(scheduler_file=str(tmp_path / "scheduler.json"), timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            yield client, scheduler, one
    finally:
        for process in (one, scheduler):
            process.kill()
            process.wait()


def test_without_its_scheduler_a_fit_keeps_what_it_has(apart: Any) -> None:
    client, scheduler, _ = apart
    with pl.on_cluster(client, least=LEAST) as cluster:
        helped = machine(solver="active_set", callback=once(scheduler.kill))
        with pytest.warns(ClusterWarning, match=r"cluster was lost .*start them again"), pytest.warns(match="interr"):
            helped.fit(PAIRS, LABELS)
        assert helped.fit_status_ == "interrupted"
        assert cluster.lost is not None
        found = helped.decision_function(PAIRS)  # by this process
    assert helped.n_support_ > 0
    assert np.isfinite(helped.kkt_gap_)
    assert (np.sign(found) == LABELS).mean() > 0.7
    whole = machine(solver="active_set").fit(PAIRS, LABELS)
    continued = helped.set_params(warm_start=True, callback=None).fit(PAIRS, LABELS)
    assert continued.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    with pytest.raises(InputError, match="new one"), pl.on_cluster(client):
        pass


def test_without_any_worker_a_fit_does_not_wait_for_ever(apart: Any) -> None:
    client, _, one = apart
    with pl.on_cluster(client, least=LEAST, patience=0.0):
        helped = machine(solver="active_set", callback=once(one.kill))
        with pytest.warns(ClusterWarning, match="no worker"), pytest.warns(match="interrupted"):
            helped.fit(PAIRS, LABELS)
    assert helped.fit_status_ == "interrupted"


def test_an_error_of_the_work_is_raised_as_it_is(client: Any) -> None:
    helped = machine(base="linear").fit(PAIRS, LABELS)
    with pl.on_cluster(client, least=LEAST) as cluster, pytest.raises(InputError, match=r"fitted with"):
        helped.function_.block(EXAMPLES[:, :5], EXAMPLES[:, :5])
    assert cluster.lost is None


def test_what_is_no_client_is_refused(client: Any) -> None:
    with pytest.raises(InputError, match=r"takes a dask.distributed.Client, got str"), pl.on_cluster("tcp://somewhere"):
        pass
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as empty:  # noqa: SIM117
        with distributed.Client(empty) as idle:
            with pytest.raises(InputError, match="no workers"), pl.on_cluster(idle):
                pass
            idle.close()
            with pytest.raises(InputError, match="closed"), pl.on_cluster(idle):
                pass


# --------------------------------------------------------------------------- threads, scores, searches


def threads() -> list[int]:
    """Threads that a piece of work gets: of BLAS, of tiles, of compiled loops."""
    blas = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    return [*blas, POOL.threads(), numba.get_num_threads()]


def test_tasks_have_one_thread(client: Any) -> None:
    assert set(client.submit(worker.run, threads, pure=False).result()) == {1}
    found: list[list[int]] = []
    before = threads()
    other = threading.Thread(target=lambda: found.append(worker.run(threads)))
    other.start()
    other.join()
    assert set(found[0]) == {1}
    assert threads() == before


@pytest.mark.parametrize("options", [{}, {"base": "linear"}, {"kernel": "wedge_squared", "C": 0.1}])
def test_scores_are_those_of_one_machine(options: dict[str, Any], client: Any) -> None:
    helped = machine(**options).fit(PAIRS[::10], LABELS[::10])
    probes = EXAMPLES[:30]
    pairs, block, turned = (
        helped.decision_function(PAIRS),
        helped.score_block(probes, EXAMPLES),
        helped.score_block(EXAMPLES, probes),
    )
    with pl.on_cluster(client, least=LEAST) as cluster:
        np.testing.assert_allclose(helped.decision_function(PAIRS), pairs, rtol=0, atol=1e-12 * np.abs(pairs).max())
        assert cluster.traffic.received == pairs.nbytes
        np.testing.assert_allclose(
            helped.score_block(probes, EXAMPLES), block, rtol=0, atol=1e-12 * np.abs(block).max()
        )
        assert cluster.traffic.received == pairs.nbytes + block.nbytes
        np.testing.assert_allclose(
            helped.score_block(EXAMPLES, probes), turned, rtol=0, atol=1e-12 * np.abs(block).max()
        )
        swapped = helped.decision_function(PAIRS.swapped())
        assert np.array_equal(swapped, helped.decision_function(PAIRS))


def where(model: Any, X: Any, y: Any) -> float:
    """A scorer that tells which process it runs in."""
    return float(os.getpid())


def test_searches_run_on_the_workers(client: Any) -> None:
    with pl.on_cluster(client):
        search = GridSearchCV(machine(), {"C": [0.1, 1.0]}, scoring=where, cv=2, refit=False)
        search.fit(np.stack([EXAMPLES[PAIRS.left[:200]], EXAMPLES[PAIRS.right[:200]]], axis=1), LABELS[:200])
    seen = {float(search.cv_results_[f"split{k}_test_score"][i]) for k in range(2) for i in range(2)}
    assert seen <= set(map(float, client.run(os.getpid).values()))


def test_a_staged_search_chooses_the_same(client: Any) -> None:
    options: dict[str, Any] = {"kernels": ["metric", "tensor"], "bases": ["linear"], "Cs": [1.0, 10.0], "n_splits": 1}
    alone = pl.StagedSearch(**options, weights=()).fit(EXAMPLES, CLASSES)
    began = time.perf_counter()
    with pl.on_cluster(client, least=LEAST):
        helped = pl.StagedSearch(**options, weights=()).fit(EXAMPLES, CLASSES)
    assert time.perf_counter() - began < 120
    assert helped.best_setting_ == alone.best_setting_
    assert helped.best_score_ == pytest.approx(alone.best_score_, abs=1e-9)


def test_what_cannot_be_sent_is_told(client: Any) -> None:
    lock = threading.Lock()

    def dots(A: Any, B: Any) -> Any:
        with lock:
            return A @ B.T

    with pl.on_cluster(client, least=LEAST), pytest.raises(InputError, match="do not pickle"):
        machine(kernel="wedge_squared", base=pl.kernels.FromFunction(dots)).fit(PAIRS[:600], LABELS[:600])
