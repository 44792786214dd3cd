"""Predict missing links of a network: which two people are joined, though nobody has recorded it?

A network with groups and noisy profiles → hide a fifth of the links → learn from the others → compare with baselines.
"""

from __future__ import annotations

import sys

import numpy as np

import pairlearn as pl
from pairlearn.graphs import Graph

Columns = tuple[np.ndarray, np.ndarray]
N_NETWORKS = 5
OURS = "pair SVM on neighbourhoods"


def network(n_nodes: int, n_groups: int, seed: int) -> Graph:
    """More links inside groups than between them; 4 of 12 profile features say a little about the group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(n_groups, size=n_nodes)
    chance = np.where(group[:, None] == group, 0.12, 0.006)
    joined = np.triu(rng.random((n_nodes, n_nodes)) < chance, 1)
    centres = rng.normal(size=(n_groups, 4))
    profile = np.hstack([centres[group] + rng.normal(size=(n_nodes, 4)), rng.normal(size=(n_nodes, 8))])
    return Graph(joined, nodes=profile)


def without_link(graph: Graph, seed: int) -> Columns:
    """All pairs of nodes that are not joined, in random order."""
    free = np.triu(graph.adjacency.toarray() == 0, 1)
    left, right = np.nonzero(free)
    order = np.random.default_rng(seed).permutation(len(left))
    return left[order], right[order]


def candidates(graph: Graph, links: np.ndarray, others: Columns) -> tuple[Columns, np.ndarray]:
    """These links (+1), then these pairs without a link (−1)."""
    columns = np.r_[graph.left[links], others[0]], np.r_[graph.right[links], others[1]]
    return columns, np.repeat([1, -1], [links.sum(), len(others[0])])


def untrained(known: Graph, columns: Columns) -> dict[str, np.ndarray]:
    """What the known network and the profiles say without learning."""
    common = np.asarray((known.adjacency @ known.adjacency)[columns]).ravel()
    either = known.degrees[columns[0]] + known.degrees[columns[1]] - common
    profiles = pl.CosineBaseline().decision_function(known.pairs(*columns))
    return {"common neighbours": common, "Jaccard": common / np.maximum(either, 1), "cosine of profiles": profiles}


def trained(train: pl.Pairs, y: np.ndarray, test: pl.Pairs) -> np.ndarray:
    """Scores of a pair SVM."""
    return pl.PairSVC(kernel="tensor", base="linear", C=0.01).fit(train, y).decision_function(test)


def areas(graph: Graph, seed: int) -> dict[str, float]:
    """Area under the ROC curve of every way to score hidden links against pairs without a link."""
    n_links = len(graph.left)
    hidden = np.random.default_rng(seed).permutation(n_links) < 0.2 * n_links
    known, n_test = graph.subgraph(~hidden), int(hidden.sum())

    # Test: the hidden links and as many pairs without one. Training sees neither, only the known network.
    left, right = without_link(graph, seed)
    test, truth = candidates(graph, hidden, (left[:n_test], right[:n_test]))
    train, y = candidates(graph, ~hidden, (left[n_test:][:n_links], right[n_test:][:n_links]))
    print(f"{graph}, {n_test} links hidden, {len(y):,} training pairs")

    scores = untrained(known, test)
    scores["pair SVM on profiles"] = trained(known.pairs(*train), y, known.pairs(*test))
    # A known link is left out of its own neighbourhoods, so that training pairs look like hidden ones.
    scores[OURS] = trained(known.neighbourhoods(*train), y, known.neighbourhoods(*test))
    return {name: pl.evaluation.area_under_roc(pl.Scores(values, truth)) for name, values in scores.items()}


def main() -> int:
    rows = [areas(network(n_nodes=300, n_groups=6, seed=seed), seed) for seed in range(100, 100 + N_NETWORKS)]
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    print(f"\narea under ROC on hidden links, mean and range of {N_NETWORKS} networks")
    for name, values in found.items():
        print(f"{name:>26}: {values.mean():.3f}  ({values.min():.3f} … {values.max():.3f})")
    ahead = [bool((found[OURS] > values).all()) for name, values in found.items() if name != OURS]
    print(f"neighbourhoods are ahead on every network: {all(ahead)}")
    return 0 if max(found, key=lambda name: found[name].mean()) == OURS else 1


if __name__ == "__main__":
    sys.exit(main())
