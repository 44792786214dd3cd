"""The closed list of classes that a model file may hold.

Machines, baselines, kernels and pair kernels are found in their packages; to store another model, add it here. A class
that gets another name is listed in `RENAMED`, so that files written before still load.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

from pairlearn import kernels, machines, pair_kernels
from pairlearn.baselines.columns import ColumnsBaseline
from pairlearn.baselines.registry import baseline_classes
from pairlearn.baselines.stacked import StackedPairSVC
from pairlearn.evaluation.calibration import FittedCalibration, Knots, Line
from pairlearn.evaluation.fusion import FittedFusion
from pairlearn.evaluation.thresholds import Threshold
from pairlearn.examples import Columns
from pairlearn.functions.function import PairFunction
from pairlearn.images.centred import Centred
from pairlearn.images.orbit import Orbit
from pairlearn.images.stateless import Hog
from pairlearn.kernels.spectrum import Spectrum
from pairlearn.machines.machine import PairMachine
from pairlearn.machines.transductive import Switching
from pairlearn.metrics.kernelised import KernelPseudoMetric
from pairlearn.metrics.metric_state import MetricState
from pairlearn.metrics.online import OnlinePseudoMetric
from pairlearn.metrics.spans import KernelSpan, RowSpan
from pairlearn.on_examples import OnExamples
from pairlearn.operators.plan import Plan
from pairlearn.pair_kernels import storable
from pairlearn.persist.transformers import TRANSFORMERS, Found
from pairlearn.records import storable as records
from pairlearn.scorers.copies import OnCopies
from pairlearn.scorers.distilling.function import Distance, DistilledFunction, Part, Side
from pairlearn.scorers.distilling.rows import FeatureRows, KernelRows, LinearRows, UnitRows
from pairlearn.scorers.distilling.scorer import DistilledRegressor, DistilledScorer
from pairlearn.scorers.distilling.views import Family, ShortRows, ViewGroup, ViewRows
from pairlearn.scorers.gallery import Gallery
from pairlearn.scorers.normalised import NormalisedScorer
from pairlearn.scorers.orbit_scorer import OrbitScorer
from pairlearn.scorers.pair_mean import PairMean
from pairlearn.scorers.verifier import Verifier
from pairlearn.scorers.whitened.learnt import LearntView
from pairlearn.scorers.whitened.scorer import WhitenedScorer
from pairlearn.scorers.whitened.views import View
from pairlearn.similarities.basis_expansion import BasisExpansion
from pairlearn.similarities.basis_svc import BasisSVC
from pairlearn.similarities.blocks import Block
from pairlearn.similarities.nystrom import IndefiniteNystrom
from pairlearn.solvers.problem import Progress

Chain: Callable[..., Mapping[str, type[Any]]] = ChainMap
"""Several tables as one; nothing is written to it."""
METRICS = (OnlinePseudoMetric, KernelPseudoMetric)
EXPANSIONS = (BasisExpansion, BasisSVC, IndefiniteNystrom)
AROUND = (StackedPairSVC, ColumnsBaseline, Verifier, NormalisedScorer, Gallery, OrbitScorer, OnCopies, PairMean)
"""Models around other models."""
DISTILLED = (DistilledScorer, DistilledRegressor)
WHITENED = (WhitenedScorer,)
WITHIN = (OnExamples, Centred, Hog)
"""Steps of pipelines of our own."""


def machine_classes() -> tuple[type[PairMachine], ...]:
    """Every machine of `pl.machines`: a new one can be saved without being listed here."""
    public = (getattr(machines, name) for name in dir(machines))
    return tuple(kind for kind in public if isinstance(kind, type) and issubclass(kind, PairMachine))


OWN: dict[str, type[Any]] = {
    model.__name__: model
    for model in (
        *machine_classes(),
        *METRICS,
        *EXPANSIONS,
        *baseline_classes(),
        *DISTILLED,
        *WHITENED,
        *AROUND,
        *records.MODELS,
    )
}
MODELS: Mapping[str, type[Any]] = Chain(OWN, Found({"Pipeline": "sklearn.pipeline"}))
"""The models that can be saved, by name."""
ANY: Mapping[str, type[Any]] = Chain(MODELS, TRANSFORMERS, {step.__name__: step for step in WITHIN})
"""Models, and what only stands within them."""
VALUES: dict[str, type[Any]] = {
    value.__name__: value
    for value in (
        *kernels.STORABLE,
        *pair_kernels.STORABLE,
        *(MetricState, RowSpan, KernelSpan),
        *(Block, Spectrum),
        *(PairFunction, Columns, Plan, Progress, Switching),
        *records.STORABLE,
        *(DistilledFunction, Distance, Part, Side, LinearRows, UnitRows, KernelRows, FeatureRows),
        *(View, LearntView, ViewGroup, ViewRows, ShortRows, Family),
        *(Threshold, FittedCalibration, Line, Knots, FittedFusion),
        Orbit,
    )
}
"""The frozen values that a file may hold, by name."""
RENAMED: dict[str, str] = {"Decided": "Verifier", **storable.RENAMED}
"""Classes under the name that older files have for them: old → new."""


def known(table: Mapping[str, type[Any]], name: Any) -> type[Any] | None:
    """The class that a file calls `name`, or None."""
    return table.get(RENAMED.get(name, name)) if isinstance(name, str) else None
