"""A Gram matrix whose products are computed on workers, each of which holds some of the pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from pairlearn.cluster import worker
from pairlearn.cluster.session import Cluster, active, sent_bytes
from pairlearn.operators.base import Divisible, PairOperator
from pairlearn.operators.sandwich import Sandwich
from pairlearn.operators.thin import AnyThin
from pairlearn.types import Floats, Ints


class ClusterOperator(PairOperator):
    """The same matrix as `local`, with products by the workers of a cluster.

    Every worker holds what all pairs share (features or Gram matrix of the examples) and its part of the pairs. A round
    sends what is told of θ, a form of some r² numbers or the pairs with θ ≠ 0, and brings n values back. Blocks of a
    working set, features of subsets and whatever else a solver asks for are computed here.
    """

    def __init__(self, local: Divisible, cluster: Cluster) -> None:
        self.local, self.cluster = local, cluster
        self.n_pairs, self.block_bytes, self.grows = local.n_pairs, local.block_bytes, local.grows
        self.shared = local.shared
        cluster.traffic.held += sent_bytes(self.shared)
        kept = cluster.keep(self.shared)
        self.slices = cluster.parts(self.n_pairs)
        self.parts = [self._sent(kept, part) for part in self.slices]

    def _held(self, part: slice) -> Any:
        return self.local.held(np.arange(part.start, part.stop))

    def _sent(self, shared: Any, part: slice) -> Any:
        """A future of the operator of these pairs."""
        held = self._held(part)
        self.cluster.traffic.held += sent_bytes(held)
        return self.cluster.submit(worker.part_of, shared, held)

    def blocks(self, coefficients: Floats) -> Iterator[tuple[int, Floats]]:
        told, traffic = self.local.told(coefficients), self.cluster.traffic
        size, sent = sent_bytes(told), self.cluster.keep(told)
        traffic.rounds, traffic.sent = traffic.rounds + 1, traffic.sent + size
        futures = [self.cluster.submit(worker.product, part, sent) for part in self.parts]
        for part, future in zip(self.slices, futures, strict=True):
            values = self.cluster.result(future, partial(self._here, part, told))
            traffic.received += values.nbytes
            self.passes(max(size + values.nbytes, self.local.passed))
            yield part.start, values

    def _here(self, part: slice, told: Any) -> Floats:
        return worker.product(self.shared.over(self._held(part)), told)

    @property
    def lost(self) -> bool:
        """Whether the cluster is gone, so that whoever computes should end with what there is."""
        return self.cluster.lost is not None

    # -- what stays here

    def diagonal(self) -> Floats:
        return self.local.diagonal()

    def submatrix(self, rows: Ints, cols: Ints | None = None) -> Floats:
        block = self.local.submatrix(rows, cols)
        self.passes(self.local.passed)
        return block

    def restricted(self, index: Ints) -> PairOperator:
        return self.local.restricted(index)

    def thin(self) -> AnyThin | None:
        return self.local.thin()

    def thin_size(self) -> tuple[int, int] | None:
        return self.local.thin_size()

    def sandwich(self) -> Sandwich | None:
        return self.local.sandwich()


def on_workers(operator: PairOperator) -> PairOperator:
    """The same operator, with products by the workers of the cluster where one is in use for so many pairs."""
    cluster = active(operator.n_pairs)
    return operator if cluster is None or not isinstance(operator, Divisible) else ClusterOperator(operator, cluster)
