"""Two Dask workers with one thread each beside one process with two threads: seconds, rounds, bytes, the same optimum.

Fits of MNIST's principal components (made ones without PAIRLEARN_DATA): features of the examples, their Gram matrix,
and a kernel whose values are computed block by block; once more while a worker is killed. `product` is one product over
all pairs, the unit of docs/scale.md; `scores` a block of probes × gallery. All is compiled and started before.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

import pairlearn as pl
from benchmarks import real_data
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, timed
from benchmarks.real_rows import Row
from pairlearn.cluster import worker
from pairlearn.cluster.operator import ClusterOperator
from pairlearn.cluster.session import Cluster
from pairlearn.errors import InputError
from pairlearn.operators.build import build
from pairlearn.solvers.problem import Progress

WORKERS = 2


@contextmanager
def two_workers() -> Iterator[Any]:
    """A client of two processes with one thread each."""
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def examples(m: int) -> tuple[Any, Any]:
    """m digits in 50 principal components and their classes."""
    try:
        data_folder()
    except InputError:
        X, classes = pl.data.double_interval(10, -(-m // 10), n=50, seed=0)
        order = np.random.default_rng(0).permutation(len(X))[:m]
        return X[order] + 0.5 * np.random.default_rng(1).normal(size=(m, 50)), classes[order]
    X, classes = real_data.mnist(Row("mnist50", m, "", "", 1.0))
    return X[:m], classes[:m].astype(int)


def training(m: int) -> tuple[pl.Pairs, Any]:
    X, classes = examples(m)
    pairs = pl.all_pairs(X, reflexive=False)
    return pairs, pairs.labels(classes)


def compared(m: int, kernel: str, base: str, C: float, kill: bool = False) -> dict[str, Any]:
    """The same fit here and with the workers."""
    pairs, y = training(m)
    few = np.arange(0, len(pairs), max(1, len(pairs) // 2500))
    options: dict[str, Any] = {"kernel": kernel, "base": base, "C": C, "random_state": 0}
    pl.PairSVC(**options).fit(pairs[few], y[few])
    here, alone = timed(lambda: pl.PairSVC(**options).fit(pairs, y))
    with two_workers() as client:
        with pl.on_cluster(client, least=0):
            pl.PairSVC(**options).fit(pairs[few], y[few]).decision_function(pairs[few])
        callback = _killing(client) if kill else None
        with pl.on_cluster(client, least=0) as cluster:
            there, helped = timed(lambda: pl.PairSVC(**options, callback=callback).fit(pairs, y))
    sent, received = cluster.traffic.per_round
    return {
        "pairs": len(pairs),
        "seconds here": here,
        "seconds there": there,
        "path": helped.path_,
        "rounds": cluster.traffic.rounds,
        "held": cluster.traffic.held,
        "sent": sent,
        "received": received,
        "difference": abs(helped.objective_ - alone.objective_) / abs(alone.objective_),
        "gap": helped.kkt_gap_,
        "lost": cluster.lost or "",
    }


def _killing(client: Any) -> Callable[[Progress], None]:
    """Kill a worker after the first step over all pairs that has learnt something."""
    victims = [min(client.run(os.getpid).values())]

    def callback(progress: Progress) -> None:
        if victims and progress.n_support:
            os.kill(victims.pop(), signal.SIGKILL)

    return callback


def features(quick: bool) -> dict[str, Any]:
    return compared(300 if quick else 1600, "metric", "linear", 0.1)


def gram(quick: bool) -> dict[str, Any]:
    return compared(200 if quick else 800, "tensor", "rbf", 1.0)


def blocked(quick: bool) -> dict[str, Any]:
    return compared(100 if quick else 300, "wedge_squared", "rbf", 1.0)


def killed(quick: bool) -> dict[str, Any]:
    return compared(200 if quick else 800, "tensor", "rbf", 1.0, kill=True)


def product(quick: bool) -> dict[str, Any]:
    """One product K θ with 2,000 non-zeros, medians of three: all pairs over features, drawn ones, Gram matrix, blocks.

    Beside seconds by the clock, those of the processor, which a busy machine does not change: of the product here, of
    the larger part on one thread as a worker has it, and of the driver (and scheduler) in a round.
    """
    rng, row = np.random.default_rng(0), dict[str, Any]()
    whole, _ = training(500 if quick else 2000)
    X, _ = examples(3000 if quick else 10_000)
    drawn = pl.Pairs(X, *rng.integers(0, len(X), (2, 100_000 if quick else 2_000_000)))
    linear, rbf = pl.kernels.Linear(), pl.kernels.Gaussian(1.0)
    cases = {
        "features": (pl.pair_kernel("tensor_metric").on(linear), whole),
        "sampled": (pl.pair_kernel("tensor_metric").on(linear), drawn),
        "gram": (pl.pair_kernel("tensor_metric").on(rbf), whole),
        "blocked": (pl.pair_kernel("wedge_squared").on(rbf), whole[:: 10 if quick else 100]),
    }
    with two_workers() as client:
        for name, (kernel, pairs) in cases.items():
            theta = np.zeros(len(pairs))
            theta[rng.choice(len(pairs), 2000, replace=False)] = 1.0
            local, cluster = build(kernel, pairs).operator, Cluster(client, 0)
            found = _rounds(local, ClusterOperator(local, cluster), theta)  # type: ignore[arg-type]
            sent, received = cluster.traffic.per_round
            found |= {"pairs": len(pairs), "held": cluster.traffic.held, "sent": sent, "received": received}
            row |= {f"{name} {key}": float(value) for key, value in found.items()}
    return row


def _rounds(local: Any, helped: ClusterOperator, theta: Any) -> dict[str, float]:
    """Seconds of a product by clock and processor, here, in a part, and on the driver."""
    told, parts = local.told(theta), [helped.shared.over(helped._held(part)) for part in helped.slices]
    error = np.abs(helped @ theta - local @ theta).max()
    here, there = (np.median([_seconds(lambda: op @ theta) for _ in range(3)], axis=0) for op in (local, helped))  # noqa: B023
    slowest = max(
        np.median([_seconds(lambda: worker.run(worker.product, part, told))[1] for _ in range(3)])  # noqa: B023
        for part in parts
    )
    return {
        "here": here[0],
        "there": there[0],
        "cpu here": here[1],
        "cpu driver": there[1],
        "cpu part": slowest,
        "error": error,
    }


def _seconds(action: Callable[[], Any]) -> tuple[float, float]:
    """By the clock and by the processor."""
    began = time.process_time()
    return timed(action)[0], time.process_time() - began


def scores(quick: bool) -> dict[str, Any]:
    """Probes × gallery of a function over a Gram matrix: kernel values, two products, all scores sent back."""
    X, classes = examples(1000 if quick else 8000)
    pairs = pl.all_pairs(X[:200], reflexive=False)
    model = pl.PairSVC("tensor", "rbf", random_state=0).fit(pairs, pairs.labels(classes[:200]))
    probes, gallery = X[: len(X) // 2], X[len(X) // 2 :]
    here, alone = timed(lambda: model.score_block(probes, gallery))
    with two_workers() as client, pl.on_cluster(client, least=0) as cluster:
        model.score_block(probes[:100], gallery[:100])
        there, helped = timed(lambda: model.score_block(probes, gallery))
    return {
        "scores": alone.size,
        "seconds here": here,
        "seconds there": there,
        "received": cluster.traffic.received,
        "error": float(np.abs(helped - alone).max() / np.abs(alone).max()),
    }


ROWS = {
    "features": features, "gram": gram, "blocked": blocked, "killed": killed, "product": product, "scores": scores
}  # fmt: skip


TIMES = {
    "here": "ns per pair, two threads here",
    "there": "ns per pair, two workers",
    "cpu here": "processor ns per pair, two threads here",
    "cpu driver": "processor ns per pair, driver of two workers",
    "cpu part": "processor ns per pair, the slower of two workers",
}
"""What is told of one product, over the number of all pairs: a worker has half of them."""


def figures(results: dict[str, dict[str, Any]], quick: bool) -> Iterator[Figure]:
    for name, row in results.items():
        if "difference" in row:
            yield Figure(f"{name}: pairs", row["pairs"])
            yield Figure(f"{name}: seconds, two threads of one process", row["seconds here"])
            limit = None if name == "killed" else "<= 1.5"
            ratio = row["seconds there"] / row["seconds here"]
            yield Figure(f"{name}: seconds with two workers, of these", ratio, limit, judged=not quick)
            yield Figure(f"{name}: rounds", row["rounds"])
            yield Figure(f"{name}: MB sent before the first round", row["held"] / 1e6)
            yield Figure(f"{name}: kB sent per round", row["sent"] / 1e3)
            yield Figure(f"{name}: bytes received per pair and round", row["received"] / row["pairs"], "<= 8")
            yield Figure(f"{name}: relative difference of the objectives", row["difference"], "<= 1e-6")
            yield Figure(f"{name}: KKT gap with workers", row["gap"], "<= 1e-3")
            yield Figure(f"{name}: cluster lost", float(bool(row["lost"])), "== 0")
    for name in ("features", "sampled", "gram", "blocked"):
        if f"{name} here" in (row := results.get("product", {})):
            ns = {key: 1e9 * row[f"{name} {key}"] / row[f"{name} pairs"] for key in TIMES}
            yield Figure(f"product, {name}: pairs", row[f"{name} pairs"])
            yield from (Figure(f"product, {name}: {TIMES[key]}", value) for key, value in ns.items())
            yield Figure(f"product, {name}: kB sent", row[f"{name} sent"] / 1e3)
    if row := results.get("scores", {}):
        yield Figure("scores: ns per score, two threads here", 1e9 * row["seconds here"] / row["scores"])
        yield Figure("scores: seconds with two workers, of these", row["seconds there"] / row["seconds here"])
        yield Figure("scores: largest difference, of the largest score", row["error"], "<= 1e-12")


if __name__ == "__main__":
    sys.exit(print_figures(figures(*run_rows(__file__, ROWS))))
