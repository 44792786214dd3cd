"""Scores of simulated people, shared by the tests of the record, the texts and the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pairlearn.evaluation import Scores


def simulated(shift: float, seed: int = 0, n: int = 40, k: int = 3, **rename: Any) -> Scores:
    """All pairs of n people with k pictures each, some people harder than others; names are strings."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n * k, 1)
    same = left // k == right // k
    effect = rng.normal(size=n)
    values = shift * same + 0.4 * (effect[left // k] + effect[right // k]) + rng.normal(size=len(left))
    pictures = np.array([rename.get("picture", "picture") + f" {i}" for i in range(n * k)])
    people = np.array([rename.get("person", "person") + f" {i // k}" for i in range(n * k)])
    return Scores(values, np.where(same, 1, -1), pictures[left], pictures[right], people[left], people[right])


@pytest.fixture(scope="session")
def simulate() -> Callable[..., Scores]:
    return simulated


@pytest.fixture(scope="session")
def systems() -> dict[str, Scores]:
    return {"model": simulated(3.0), "cosine": simulated(2.0, seed=1)}
