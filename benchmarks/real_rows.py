"""The rows of `real_solver.py`: data × kernel × base × C × pairs, chosen before any of them was measured."""

from __future__ import annotations

from dataclasses import dataclass

SHORT = 5.0
"""Seconds up to which a fit is measured again."""


@dataclass(frozen=True)
class Row:
    """One fit: all pairs of m examples (matches, or drugs, where the data say so), or `sampled` of them.

    C is in units of 1 / mean K(p, p), so that it means the same whatever the scale of data and kernel; with `absolute`
    it is the machine's own C. `weighted` gives both classes of pairs half of all weight, and matches less with age.
    """

    data: str
    m: int
    kernel: str
    base: str
    C: float
    sampled: int = 0
    machine: str = "PairSVC"
    absolute: bool = False
    weighted: bool = False

    @property
    def name(self) -> str:
        """Unique and short: data, kernel, base, examples, pairs if sampled, C (absolute) or c (relative)."""
        size = f"m{self.m}" + (f"of{self.sampled}" if self.sampled else "")
        marks = [{"PairSVC": "", "PairRanker": "rank", "PairSVR": "svr"}[self.machine], "weighted" * self.weighted]
        C = f"{'C' if self.absolute else 'c'}{self.C:g}"
        return "-".join([self.data, self.kernel, self.base, size, C, *filter(None, marks)])


def exactly(data: str, m: int, kernel: str, base: str, C: float) -> Row:
    """A row with the machine's own C, as the goals name it."""
    return Row(data, m, kernel, base, C, absolute=True)


GOALS = {
    "45k C=0.1": exactly("mnist30", 300, "metric", "linear", 0.1),
    "45k C=1": exactly("mnist30", 300, "metric", "linear", 1.0),
    "320k C=0.1": exactly("mnist30", 800, "metric", "linear", 0.1),
    "320k C=1": exactly("mnist30", 800, "metric", "linear", 1.0),
    "320k C=100": exactly("mnist30", 800, "metric", "linear", 100.0),
    "tensor 1600": exactly("mnist50", 1600, "tensor", "rbf", 1.0),
    "tensor_metric 1600": exactly("mnist50", 1600, "tensor_metric", "rbf", 1.0),
    "tensor 2500": exactly("mnist50", 2500, "tensor", "rbf", 1.0),
    "tensor_metric 2500": exactly("mnist50", 2500, "tensor_metric", "rbf", 1.0),
}
"""Rows that have goals of their own."""

FITS = [
    *GOALS.values(),
    # MNIST: few features and many bounded pairs; a base of high rank and many free pairs; raw pixels
    exactly("mnist50", 450, "metric", "linear", 0.1),
    exactly("mnist50", 450, "metric", "linear", 100.0),
    exactly("mnist50", 800, "tensor", "rbf", 1.0),
    exactly("mnist50", 800, "tensor_metric", "rbf", 1.0),
    Row("mnist30", 1600, "metric", "linear", 1.0),
    Row("mnist30", 2500, "metric", "linear", 0.01),
    Row("mnist30", 800, "metric", "linear", 1.0, weighted=True),
    Row("mnist50", 200, "tensor", "rbf", 1.0, weighted=True),
    Row("mnist50", 2500, "tensor_metric", "rbf", 1.0, sampled=100_000),
    Row("mnist30", 200, "tensor_metric", "rbf", 1.0, machine="PairSVR"),
    Row("mnist", 300, "metric", "linear", 1.0),
    Row("mnist", 300, "tensor", "linear", 10.0),
    Row("mnist", 800, "tensor_metric", "poly", 1.0),
    # faces: many classes of few images
    Row("olivetti", 400, "tensor_metric", "poly", 10.0),
    Row("olivetti", 400, "tensor", "rbf", 1000.0),
    Row("olivetti", 300, "metric", "linear", 0.01),
    Row("lfw", 800, "tensor_metric", "rbf", 1.0),
    Row("lfw", 1500, "metric", "linear", 100.0),
    Row("lfw", 1500, "tensor", "linear", 1.0, sampled=100_000),
    Row("lfw_view2", 6000, "tensor_metric", "rbf", 1.0),
    Row("lfw_view2", 6000, "metric", "linear", 10.0),
    # letters, spoken and printed
    Row("letter", 800, "metric", "linear", 1.0),
    Row("letter", 300, "metric", "rbf", 100.0),
    Row("letter", 1600, "tensor_metric", "rbf", 10.0, sampled=320_000),
    Row("letter", 800, "tensor", "linear", 0.1, sampled=45_000),
    Row("isolet", 300, "tensor", "rbf", 1.0),
    Row("isolet", 800, "metric", "linear", 0.01),
    Row("isolet", 200, "tensor_metric", "poly", 1.0),
    # pictures
    Row("cifar", 800, "metric", "linear", 1.0),
    Row("cifar", 300, "tensor", "rbf", 0.1),
    Row("cifar", 200, "tensor", "rbf", 1000.0),
    Row("cifar", 1600, "tensor_metric", "rbf", 1.0, sampled=320_000),
    # two tables
    Row("davis", 68, "tensor", "precomputed", 1.0),
    Row("davis", 45, "tensor", "precomputed", 100.0),
    Row("davis", 68, "tensor", "precomputed", 1.0, machine="PairSVR"),
    Row("davis_features", 68, "tensor", "linear", 10.0, machine="PairSVR"),
    Row("davis_features", 45, "tensor", "rbf", 1.0),
    # matches: every side with its features on that day, so that no two pairs share an example; teams
    Row("matches", 16_000, "difference", "linear", 0.01, machine="PairRanker"),
    Row("matches", 16_000, "difference", "linear", 1.0, machine="PairRanker"),
    Row("matches", 16_000, "difference", "linear", 100.0, machine="PairRanker"),
    Row("matches", 16_000, "difference", "rbf", 1.0, machine="PairRanker"),
    Row("matches", 16_000, "difference", "linear", 1.0, machine="PairSVR"),
    Row("matches", 16_000, "direct_sum", "linear", 1.0),
    Row("matches", 16_000, "direct_sum", "linear", 100.0),
    Row("teams", 16_000, "difference", "linear", 1.0, machine="PairRanker", weighted=True),
]
"""Every fit; the number of pairs is that of all pairs without reflexive ones unless `sampled`."""
BY_NAME = {row.name: row for row in FITS}
QUICK = [
    "mnist30-metric-linear-m300-C1",
    "mnist50-tensor-rbf-m200-c1-weighted",
    "mnist30-tensor_metric-rbf-m200-c1-svr",
    "olivetti-tensor_metric-poly-m400-c10",
    "letter-tensor-linear-m800of45000-c0.1",
    "davis-tensor-precomputed-m45-c100",
    "matches-difference-linear-m16000-c1-rank",
    "matches-direct_sum-linear-m16000-c1",
]
"""Fits of a quick run, on a few hundred pairs: each machine, kind of data and reference once."""
SPECIAL = ("small", "c_path", "busy", "synthetic")
"""Rows that are not one fit beside its references: many small fits, paths of C, a busy machine, made data."""
