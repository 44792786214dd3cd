"""What is shown of a model tells what it is, and never its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pairlearn as pl
from pairlearn.baselines.stacked import cross_fit

X, CLASSES = pl.data.double_interval(9, 5, n=20, seed=0)
PAIRS = pl.all_pairs(X, reflexive=False)
Y = PAIRS.labels(CLASSES)
MACHINE = pl.PairSVC(C=0.1).fit(PAIRS, Y)
METRIC = pl.OnlinePseudoMetric(max_sweeps=1).partial_fit(PAIRS, Y)
KERNELISED = pl.metrics.KernelPseudoMetric("rbf").partial_fit(PAIRS[:9], Y[:9])
RANKER = pl.PairRanker().fit(PAIRS, np.where(np.arange(len(PAIRS)) % 3, 1, -1))
SHOWN: dict[str, tuple[Any, str]] = {
    "machine": (MACHINE, "PairSVC(C=0.1)"),
    "verifier": (pl.Verifier(MACHINE, 0.5), "Verifier(model=PairSVC(C=0.1), threshold=0.5)"),
    "gallery": (
        pl.Gallery(MACHINE, X, CLASSES),
        "Gallery(PairSVC(C=0.1), 45 examples of 9 identities, pool='scores', how='mean')",
    ),
    "normalised": (
        pl.scorers.NormalisedScorer(MACHINE, X, "z"),
        "NormalisedScorer(PairSVC(C=0.1), cohort of 45 examples, method='z', top=None)",
    ),
    "explanation": (pl.explain(MACHINE, PAIRS[:1]), "Explanation("),
    "ranking": (RANKER.rank(X), "Ranking(45 examples, "),
    "filtered": (
        pl.metrics.run_filter(pl.metrics.Perceptron(), X, np.where(np.arange(45) % 3, 1, -1)),
        "Filtered(45 examples, balanced_error=",
    ),
    "stack": (cross_fit(PAIRS, Y, CLASSES, ["euclid", "rca"]), "Stack(euclid, rca; 315 pairs)"),
    "baselines": (pl.run_baselines(PAIRS, Y, PAIRS), "BaselineScores(scores of euclid, cosine,"),
    "metric": (METRIC, "OnlinePseudoMetric(max_sweeps=1)"),
    "state": (METRIC.state_, "MetricState(threshold="),
    "span": (METRIC.span_, "RowSpan(19 of 20 dimensions)"),
    "kernel span": (KERNELISED.span_, "KernelSpan(Gaussian("),
    "expansion": (pl.BasisExpansion("rbf", 5).fit(X).blocks_[0], "Block(gaussian, 5 bases)"),
}


@pytest.mark.parametrize(("value", "start"), SHOWN.values(), ids=SHOWN)
def test_a_repr_is_one_short_line(value: Any, start: str) -> None:
    assert repr(value).startswith(start)
    assert len(repr(value)) < 250
    assert "array(" not in repr(value)
    assert "\n" not in repr(value)
