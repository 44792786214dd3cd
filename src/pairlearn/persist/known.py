"""The closed list of classes that a model file may hold: to store a new model, add it here."""

from __future__ import annotations

from typing import Any

from pairlearn import kernels, pair_kernels
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
from pairlearn.pair_kernels.storable import RENAMED as RENAMED
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
        *kernels.STORABLE,
        *pair_kernels.STORABLE,
        *(MetricState, RowSpan, KernelSpan),
        *(Block, Spectrum),
        *(PairFunction, Columns, Plan, Progress, Switching),
        *(Threshold, FittedCalibration, Line, Knots, FittedFusion),
    )
}
"""The frozen values that a file may hold, by name; kernels and pair kernels tell theirs."""
