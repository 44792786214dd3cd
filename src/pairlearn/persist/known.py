"""The closed list of classes that a model file may hold: to store a new kernel or model, add it here."""

from __future__ import annotations

from typing import Any

from pairlearn.baselines.registry import (
    KISSMEBaseline,
    LDABaseline,
    LogisticBaseline,
    PCACosineBaseline,
    PLDABaseline,
    RCABaseline,
    WCCNBaseline,
)
from pairlearn.baselines.untrained import CosineBaseline, EuclidBaseline
from pairlearn.evaluation.calibration import FittedCalibration, Knots, Line
from pairlearn.evaluation.fusion import FittedFusion
from pairlearn.evaluation.thresholds import Threshold
from pairlearn.examples import Columns
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import Cosine, Exponential, Gaussian, Linear, Polynomial, Precomputed, Standardised
from pairlearn.kernels.base import Product, Scaled, Sum, TwoDomains
from pairlearn.kernels.mapped import Mapped
from pairlearn.kernels.matching import Deformable, Rigid
from pairlearn.kernels.sequences import DTW, AlignmentSimilarity, EditSimilarity
from pairlearn.kernels.spectrum import Spectrum
from pairlearn.machines.one_class import OneClassPairSphere, OneClassPairSVM
from pairlearn.machines.pair_ranker import PairRanker
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.machines.pair_svr import PairSVR
from pairlearn.machines.transductive import Switching, TransductivePairSVC
from pairlearn.metrics.metric_state import MetricState
from pairlearn.metrics.pseudo_metric import KernelPseudoMetric, OnlinePseudoMetric
from pairlearn.metrics.spans import KernelSpan, RowSpan
from pairlearn.operators.plan import Plan
from pairlearn.pair_kernels import Blocks, Expression, GaussianOf, PairKernel, Power, Scored, Seen, Table
from pairlearn.pair_kernels.finite import Arcs, Finite
from pairlearn.scorers.decided import Decided
from pairlearn.similarities.basis_expansion import BasisExpansion
from pairlearn.similarities.basis_svc import BasisSVC
from pairlearn.similarities.blocks import Block
from pairlearn.similarities.nystrom import IndefiniteNystrom
from pairlearn.solvers.problem import Progress

MACHINES = (PairSVC, PairRanker, PairSVR, OneClassPairSVM, OneClassPairSphere, TransductivePairSVC)
METRICS = (OnlinePseudoMetric, KernelPseudoMetric)
EXPANSIONS = (BasisExpansion, BasisSVC, IndefiniteNystrom)
UNTRAINED = (EuclidBaseline, CosineBaseline)
LEARNT = (PCACosineBaseline, WCCNBaseline, RCABaseline, LDABaseline, KISSMEBaseline, PLDABaseline, LogisticBaseline)
MODELS: dict[str, type[Any]] = {
    model.__name__: model for model in (*MACHINES, *METRICS, *EXPANSIONS, *UNTRAINED, *LEARNT, Decided)
}
VALUES: dict[str, type[Any]] = {
    value.__name__: value
    for value in (
        *(
            Linear,
            Polynomial,
            Gaussian,
            Exponential,
            Cosine,
            Precomputed,
            Standardised,
            Sum,
            Product,
            Scaled,
            TwoDomains,
        ),
        *(PairKernel, Table, Expression, Power, GaussianOf, Seen, Blocks, Scored, Arcs, Finite),
        *(MetricState, RowSpan, KernelSpan, Mapped),
        *(Block, Spectrum, Rigid, Deformable, DTW, EditSimilarity, AlignmentSimilarity),
        *(PairFunction, Columns, Plan, Progress, Switching),
        *(Threshold, FittedCalibration, Line, Knots, FittedFusion),
    )
}
"""The frozen values that a file may hold, by name: to store a new kernel, add it here."""
