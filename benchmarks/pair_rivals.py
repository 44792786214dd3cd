"""Other methods for pairs of unseen classes, beside those of pairlearn: trees, networks and NCA, untuned.

All learn from the pairs that a search gave to its machine and to the baselines (`search.training_`), at most `most` of
them drawn at random. What is not installed is not in `rivals()`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.neural_network import MLPClassifier

import pairlearn as pl

DIMENSIONS, MOST_EXAMPLES = 50, 2_000
"""Of the PCA before all but the convolutional network; examples that NCA learns from."""
STEPS, BATCH = 1_000, 128
"""Of the convolutional network: steps of Adam, pairs in each, half of them positive."""


@dataclass(frozen=True)
class Given:
    """Training rows with their classes, some of their pairs, and test pairs; raw and as principal components."""

    raw: np.ndarray
    classes: np.ndarray
    left: np.ndarray
    right: np.ndarray
    labels: np.ndarray
    test: pl.Pairs
    train_rows: np.ndarray
    test_rows: np.ndarray

    @classmethod
    def of(cls, search: Any, test: pl.Pairs, most: int) -> Given:
        """What a fitted search learnt from, and the pairs to score."""
        pairs, labels, classes = search.training_
        pca = PCA(min(DIMENSIONS, *pairs.examples.shape), random_state=0).fit(pairs.examples)
        size = np.sqrt(pca.explained_variance_.mean())
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(~pairs.reflexive))[:most]
        left, right = (column[chosen] for column in pairs.columns)
        rows = pca.transform(pairs.examples) / size, pca.transform(test.examples) / size
        return cls(pairs.examples, classes, left, right, labels[chosen], test, *rows)

    def training_features(self) -> np.ndarray:
        """Symmetric features of the training pairs."""
        return symmetric(self.train_rows[self.left], self.train_rows[self.right])

    def test_features(self) -> np.ndarray:
        """Symmetric features of the test pairs."""
        return symmetric(self.test_rows[self.test.left], self.test_rows[self.test.right])

    def batches(self, size: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Numbers of training pairs, half of each batch positive."""
        sides = [np.flatnonzero(self.labels == sign) for sign in (1, -1)]
        return [np.concatenate([rng.choice(side, size // 2) for side in sides]) for _ in range(count)]


def symmetric(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """|a − b| and a · b of every feature, which do not change when a and b are swapped."""
    return np.hstack([np.abs(a - b), a * b])


def by_trees(given: Given) -> np.ndarray:
    """LightGBM, 300 trees."""
    from lightgbm import LGBMClassifier  # type: ignore[import-not-found, unused-ignore]

    trees = LGBMClassifier(n_estimators=300, class_weight="balanced", random_state=0, n_jobs=1, verbose=-1)
    trees.fit(given.training_features(), given.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about names of features, of which there are none
        return np.asarray(trees.predict(given.test_features(), raw_score=True))


def by_network(given: Given) -> np.ndarray:
    """100 and 50 hidden units; positive pairs repeated until they are as many as the negative ones."""
    sides = [np.flatnonzero(given.labels == sign) for sign in (1, -1)]
    both = np.concatenate([np.random.default_rng(0).choice(sides[0], len(sides[1])), sides[1]])
    network = MLPClassifier((100, 50), early_stopping=True, max_iter=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(given.training_features()[both], given.labels[both])
    return np.asarray(network.predict_proba(given.test_features())[:, 1])


def by_nca(given: Given) -> np.ndarray:
    """Neighbourhood components analysis, then Euclid."""
    chosen = np.random.default_rng(0).permutation(len(given.train_rows))[:MOST_EXAMPLES]
    nca = NeighborhoodComponentsAnalysis(max_iter=50, random_state=0)
    Z = nca.fit(given.train_rows[chosen], given.classes[chosen]).transform(given.test_rows)
    return -np.linalg.norm(Z[given.test.left] - Z[given.test.right], axis=1)


def by_convolutions(given: Given, shape: tuple[int, int, int]) -> np.ndarray:
    """A network that maps images (channels, height, width) to 64 numbers; logistic loss of their squared distance."""
    import torch  # type: ignore[import-not-found, unused-ignore]
    from torch import nn  # type: ignore[import-not-found, unused-ignore]

    torch.manual_seed(0)
    channels, height, width = shape
    convolutions = [nn.Conv2d(channels, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    convolutions += [nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    embed = nn.Sequential(*convolutions, nn.Linear(32 * (height // 4) * (width // 4), 64))
    scale = nn.Parameter(torch.tensor([1.0, 1.0]))
    adam = torch.optim.Adam([*embed.parameters(), scale], lr=1e-3)
    images = torch.tensor(given.raw.reshape(-1, *shape), dtype=torch.float32)
    truth = torch.tensor(given.labels > 0, dtype=torch.float32)
    for batch in given.batches(BATCH, STEPS, np.random.default_rng(0)):
        a, b = (embed(images[torch.as_tensor(column[batch])]) for column in (given.left, given.right))
        score = scale[0] - scale[1] * ((a - b) ** 2).mean(dim=1)
        adam.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(score, truth[torch.as_tensor(batch)]).backward()
        adam.step()
    with torch.no_grad():
        Z = embed(torch.tensor(given.test.examples.reshape(-1, *shape), dtype=torch.float32)).numpy()
    return -((Z[given.test.left] - Z[given.test.right]) ** 2).mean(axis=1)


Rival = Callable[[Given], np.ndarray]
NAMES = ("LightGBM on pairs", "MLP on pairs", "NCA", "network of images")


def rivals(shape: tuple[int, int, int] | None = None) -> dict[str, Rival]:
    """Those that are installed; `shape` is that of images, None for other rows."""
    found: dict[str, Rival] = {"MLP on pairs": by_network, "NCA": by_nca}
    if find_spec("lightgbm") is not None:
        found["LightGBM on pairs"] = by_trees
    if shape is not None and find_spec("torch") is not None:
        found["network of images"] = lambda given: by_convolutions(given, shape)
    return found
