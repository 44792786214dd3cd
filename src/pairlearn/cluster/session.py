"""`with pl.on_cluster(client):` — which Dask client helps, what it was sent, and what happens when it is lost.

Everything that workers hold is the result of a task that the scheduler can run again elsewhere: if a worker dies, Dask
makes its part once more and nothing here knows of it. If the scheduler dies, or no worker is left, the driver goes
on with what it holds itself, by the same functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import joblib

from pairlearn._version import __version__
from pairlearn.cluster import worker
from pairlearn.errors import ClusterWarning, InputError, warn_user
from pairlearn.linalg.tiles import evenly
from pairlearn.types import Floats

LOOK = 2.0
"""Seconds between two looks at whether there is anyone left who could answer."""
PATIENCE = 60.0
"""Seconds without any worker after which a cluster is given up: a nanny starts a dead one again in some seconds."""
LARGE = {"distributed.admin.large-graph-warning-threshold": "1TiB"}
"""The scheduler keeps what workers hold, so that it can be made again; Dask would warn that tasks are large."""


@dataclass
class Traffic:
    """What went over the network: `sent` once from the driver to the scheduler, `received` by the driver, in bytes.

    `held` is what was sent before the first round; a round is one product over all pairs.
    """

    held: int = 0
    rounds: int = 0
    sent: int = 0
    received: int = 0

    @property
    def per_round(self) -> tuple[float, float]:
        """Bytes (sent, received) of a round, in the mean."""
        return self.sent / max(1, self.rounds), self.received / max(1, self.rounds)


@dataclass(eq=False)
class Cluster:
    """A Dask client and how it is used; `lost` says why it is not any more, None while it is."""

    client: Any
    least: int
    patience: float = PATIENCE
    traffic: Traffic = field(default_factory=Traffic)
    lost: str | None = None

    @property
    def n_threads(self) -> int:
        """Tasks that the workers run at once."""
        try:
            return max(1, sum(self.client.nthreads().values())) if self.lost is None else 1
        except OSError as error:
            self._lose(str(error))
            return 1

    def parts(self, n: int) -> list[slice]:
        """0 … n − 1 in a part for each thread of the workers."""
        return evenly(n, min(n, self.n_threads))

    def submit(self, work: Callable[..., Any], *given: Any) -> Any:
        """A future of work(*given), None without a cluster."""
        if self.lost is None and self.client.status != "running":
            self._lose(f"the client is {self.client.status}")
        if self.lost is not None:
            return None
        import dask

        with dask.config.set(LARGE):
            return self.client.submit(worker.run, work, *given, pure=False)

    def keep(self, thing: Any) -> Any:
        """A future of the thing itself: workers fetch it from each other, and the scheduler can send it again."""
        return self.submit(worker.keep, thing)

    def result(self, future: Any, here: Callable[[], Any]) -> Any:
        """What the future holds; here() where the cluster is lost. An error of the work itself is raised."""
        if future is not None and self.lost is None:
            try:
                return self._awaited(future)
            except self._losses() as error:
                self._lose(str(error) or type(error).__name__)
        return here()

    def map(self, work: Callable[..., Floats], shared: Any, items: Sequence[Any]) -> list[Floats]:
        """work(shared, item) of every item, in order."""
        self.traffic.held += sent_bytes((shared, items))
        kept = self.keep(shared)
        futures = [self.submit(work, kept, item) for item in items]
        here = [partial(work, shared, item) for item in items]
        found = [self.result(*each) for each in zip(futures, here, strict=True)]
        self.traffic.received += sum(part.nbytes for part in found)
        return found

    def _awaited(self, future: Any) -> Any:
        """The result, waited for as long as there is somebody who works on it."""
        alone_since = None
        while True:
            try:
                return future.result(timeout=LOOK)
            except TimeoutError:
                if future.status == "error":  # the work itself ended so
                    raise
            if self.client.status != "running":
                raise CancelledError(f"the client is {self.client.status}")
            now = time.monotonic()
            alone_since = None if self.client.nthreads() else alone_since or now
            if alone_since is not None and now - alone_since > self.patience:
                raise CancelledError(f"there has been no worker for {self.patience:g} seconds")

    @staticmethod
    def _losses() -> tuple[type[BaseException], ...]:
        """What is raised where scheduler or workers are gone; of the work itself it is raised once more, here."""
        from distributed import KilledWorker

        return CancelledError, OSError, KilledWorker

    def _lose(self, why: str) -> None:
        self.lost = " ".join(why.split())
        warn_user(
            f"the cluster was lost ({self.lost}): a fit ends with the coefficients that it has, scores are computed in "
            "this process. Look at the logs of scheduler and workers, start them again, and enter pl.on_cluster with a "
            "new client; warm_start=True continues the fit",
            ClusterWarning,
        )


def sent_bytes(thing: Any) -> int:
    """Bytes that a thing takes on its way, as Dask pickles it; its arrays are counted, not copied."""
    from distributed.protocol import pickle

    arrays: list[Any] = []
    try:
        head = pickle.dumps(thing, buffer_callback=arrays.append)
    except Exception as error:  # whatever the objects of a user's kernel raise
        raise InputError(
            f"workers cannot be sent this kernel or these examples, which do not pickle: {error}"
        ) from error
    return len(head) + sum(array.raw().nbytes for array in arrays)


ACTIVE: ContextVar[Cluster | None] = ContextVar("cluster", default=None)
"""The cluster of this thread; tasks and threads that others start have none, so that no worker asks for workers."""


def active(n: int) -> Cluster | None:
    """The cluster that helps with n pairs; None without one, or where these are too few."""
    cluster = ACTIVE.get()
    return cluster if cluster is not None and cluster.lost is None and n >= cluster.least else None


@contextmanager
def on_cluster(client: Any, *, least: int = 100_000, patience: float = PATIENCE) -> Iterator[Cluster]:
    """Fit, score and select with the workers of a dask.distributed.Client inside the block.

    Products over all pairs of a fit, and scores of pairs and of probe × gallery blocks, are computed in a part per
    thread of the workers; whatever uses joblib (StagedSearch, scikit-learn's searches) runs its jobs there. Parameters
    of machines and saved models know nothing of it. Fewer pairs (or scores) than `least` stay here: sending them takes
    longer. After `patience` seconds without a worker the cluster is given up.

    The value is the cluster: its `traffic` counts rounds and bytes.

    >>> import numpy as np, pairlearn as pl
    >>> from distributed import Client
    >>> pairs = pl.all_pairs(np.arange(12.0)[:, None] // 3, reflexive=False)
    >>> y = pairs.labels(np.arange(12) // 3)
    >>> with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
    ...     with pl.on_cluster(client, least=1) as cluster:
    ...         machine = pl.PairSVC("metric", "linear").fit(pairs, y)
    >>> machine.fit_status_, cluster.traffic.received == 8 * len(pairs) * cluster.traffic.rounds
    ('converged', True)
    """
    cluster = Cluster(_checked(client), least, patience)
    token = ACTIVE.set(cluster)
    try:
        with client.as_current(), joblib.parallel_config(backend="dask", n_jobs=-1):
            yield cluster
    finally:
        ACTIVE.reset(token)


def _checked(client: Any) -> Any:
    """The client, if it has workers with the same pairlearn."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("more than one machine needs Dask: pip install 'pairlearn[dask]'") from error
    if not isinstance(client, Client) or client.asynchronous:
        raise InputError(
            f"on_cluster takes a dask.distributed.Client, got {type(client).__name__}; try Client(address)"
        )
    if client.status != "running":
        raise InputError(f"this client is {client.status}; connect to the scheduler with a new one, Client(address)")
    try:
        found = client.run(_version)
    except ModuleNotFoundError as error:
        raise InputError(f"workers lack {error.name}; install pairlearn {__version__} on all of them") from error
    if not found:
        raise InputError("this cluster has no workers; start some, and client.wait_for_workers(1) before")
    others = {version for version in found.values() if version != __version__}
    if others:
        raise InputError(f"workers have pairlearn {', '.join(sorted(others))}; install {__version__} on all of them")
    return client


def _version() -> str:
    return __version__
