"""Learning from pairs of objects.

Everything below is loaded when it is first used, so that `import pairlearn` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pairlearn._version import __version__

if TYPE_CHECKING:
    from pairlearn import data as data
    from pairlearn import graphs as graphs
    from pairlearn import images as images
    from pairlearn import kernels as kernels
    from pairlearn import report as report
    from pairlearn import selection as selection
    from pairlearn.estimators.baselines import CosineBaseline as CosineBaseline
    from pairlearn.estimators.baselines import EuclidBaseline as EuclidBaseline
    from pairlearn.estimators.basis_expansion import BasisExpansion as BasisExpansion
    from pairlearn.estimators.basis_svc import BasisSVC as BasisSVC
    from pairlearn.estimators.decided import Decided as Decided
    from pairlearn.estimators.explain import explain as explain
    from pairlearn.estimators.gallery import Gallery as Gallery
    from pairlearn.estimators.gallery import NormalisedScorer as NormalisedScorer
    from pairlearn.estimators.greedy_similarities import GreedySimilarities as GreedySimilarities
    from pairlearn.estimators.learnt_baselines import KISSMEBaseline as KISSMEBaseline
    from pairlearn.estimators.learnt_baselines import LDABaseline as LDABaseline
    from pairlearn.estimators.learnt_baselines import LogisticBaseline as LogisticBaseline
    from pairlearn.estimators.learnt_baselines import PCACosineBaseline as PCACosineBaseline
    from pairlearn.estimators.learnt_baselines import PLDABaseline as PLDABaseline
    from pairlearn.estimators.learnt_baselines import RCABaseline as RCABaseline
    from pairlearn.estimators.learnt_baselines import WCCNBaseline as WCCNBaseline
    from pairlearn.estimators.learnt_baselines import run_baselines as run_baselines
    from pairlearn.estimators.nystrom import IndefiniteNystrom as IndefiniteNystrom
    from pairlearn.estimators.on_examples import OnExamples as OnExamples
    from pairlearn.estimators.one_class import OneClassPairSphere as OneClassPairSphere
    from pairlearn.estimators.one_class import OneClassPairSVM as OneClassPairSVM
    from pairlearn.estimators.pair_ranker import PairRanker as PairRanker
    from pairlearn.estimators.pair_svc import PairSVC as PairSVC
    from pairlearn.estimators.pair_svr import PairSVR as PairSVR
    from pairlearn.estimators.pseudo_metric import KernelPseudoMetric as KernelPseudoMetric
    from pairlearn.estimators.pseudo_metric import OnlinePseudoMetric as OnlinePseudoMetric
    from pairlearn.estimators.stacked import StackedPairSVC as StackedPairSVC
    from pairlearn.estimators.transductive import TransductivePairSVC as TransductivePairSVC
    from pairlearn.estimators.two_kernels import TwoKernelSVC as TwoKernelSVC
    from pairlearn.evaluation import DetBand as DetBand
    from pairlearn.evaluation import DetCurve as DetCurve
    from pairlearn.evaluation import FmrAt as FmrAt
    from pairlearn.evaluation import FnmrAt as FnmrAt
    from pairlearn.evaluation import Interval as Interval
    from pairlearn.evaluation import IsotonicCalibration as IsotonicCalibration
    from pairlearn.evaluation import LogisticCalibration as LogisticCalibration
    from pairlearn.evaluation import LogisticFusion as LogisticFusion
    from pairlearn.evaluation import Scores as Scores
    from pairlearn.evaluation import SumFusion as SumFusion
    from pairlearn.evaluation import Threshold as Threshold
    from pairlearn.evaluation import ZNormFusion as ZNormFusion
    from pairlearn.evaluation import area_under_roc as area_under_roc
    from pairlearn.evaluation import cllr as cllr
    from pairlearn.evaluation import concordance_index as concordance_index
    from pairlearn.evaluation import cross_fitted as cross_fitted
    from pairlearn.evaluation import det_band as det_band
    from pairlearn.evaluation import det_curve as det_curve
    from pairlearn.evaluation import difference_interval as difference_interval
    from pairlearn.evaluation import equal_error_rate as equal_error_rate
    from pairlearn.evaluation import fnmr_at_fmr as fnmr_at_fmr
    from pairlearn.evaluation import interval as interval
    from pairlearn.evaluation import min_cllr as min_cllr
    from pairlearn.evaluation import rates_at as rates_at
    from pairlearn.evaluation import reliability as reliability
    from pairlearn.evaluation import threshold_at_eer as threshold_at_eer
    from pairlearn.evaluation import threshold_at_fmr as threshold_at_fmr
    from pairlearn.evaluation import threshold_by_cost as threshold_by_cost
    from pairlearn.kernels import Gram as Gram
    from pairlearn.pair_kernels import PairKernel as PairKernel
    from pairlearn.pair_kernels import balanced_composite as balanced_composite
    from pairlearn.pair_kernels import gaussian_of as gaussian_of
    from pairlearn.pair_kernels import group_gaussian as group_gaussian
    from pairlearn.pair_kernels import group_linear as group_linear
    from pairlearn.pair_kernels import group_polynomial as group_polynomial
    from pairlearn.pair_kernels import on_blocks as on_blocks
    from pairlearn.pair_kernels import on_invariant as on_invariant
    from pairlearn.pair_kernels import on_score as on_score
    from pairlearn.pair_kernels import on_signed as on_signed
    from pairlearn.pair_kernels import outer_gaussian as outer_gaussian
    from pairlearn.pair_kernels import outer_power as outer_power
    from pairlearn.pair_kernels import pair_kernel as pair_kernel
    from pairlearn.pair_kernels import poly_direct_sum as poly_direct_sum
    from pairlearn.pair_kernels import poly_tensor as poly_tensor
    from pairlearn.pair_kernels import power_of as power_of
    from pairlearn.pair_kernels import skew_composite as skew_composite
    from pairlearn.pairs import Pairs as Pairs
    from pairlearn.pairs import all_pairs as all_pairs
    from pairlearn.persist import load as load
    from pairlearn.persist import save as save
    from pairlearn.selection import scorers as scorers
    from pairlearn.selection.staged import StagedSearch as StagedSearch

_MODULES = {
    "data": "data",
    "graphs": "graphs",
    "images": "images",
    "kernels": "kernels",
    "errors": "errors",
    "evaluation": "evaluation",
    "report": "report",
    "selection": "selection",
    "scorers": "selection.scorers",
}
_NAMES = {
    "CosineBaseline": "estimators.baselines",
    "EuclidBaseline": "estimators.baselines",
    "Gallery": "estimators.gallery",
    "NormalisedScorer": "estimators.gallery",
    "KISSMEBaseline": "estimators.learnt_baselines",
    "LDABaseline": "estimators.learnt_baselines",
    "LogisticBaseline": "estimators.learnt_baselines",
    "PCACosineBaseline": "estimators.learnt_baselines",
    "PLDABaseline": "estimators.learnt_baselines",
    "RCABaseline": "estimators.learnt_baselines",
    "WCCNBaseline": "estimators.learnt_baselines",
    "run_baselines": "estimators.learnt_baselines",
    "OnExamples": "estimators.on_examples",
    "PairSVC": "estimators.pair_svc",
    "DetCurve": "evaluation",
    "Scores": "evaluation",
    "Threshold": "evaluation",
    "threshold_at_eer": "evaluation",
    "threshold_at_fmr": "evaluation",
    "threshold_by_cost": "evaluation",
    "Decided": "estimators.decided",
    "explain": "estimators.explain",
    "DetBand": "evaluation",
    "FmrAt": "evaluation",
    "FnmrAt": "evaluation",
    "Interval": "evaluation",
    "IsotonicCalibration": "evaluation",
    "LogisticCalibration": "evaluation",
    "LogisticFusion": "evaluation",
    "SumFusion": "evaluation",
    "ZNormFusion": "evaluation",
    "cross_fitted": "evaluation",
    "det_band": "evaluation",
    "difference_interval": "evaluation",
    "interval": "evaluation",
    "reliability": "evaluation",
    "cllr": "evaluation",
    "min_cllr": "evaluation",
    "area_under_roc": "evaluation",
    "concordance_index": "evaluation",
    "det_curve": "evaluation",
    "equal_error_rate": "evaluation",
    "fnmr_at_fmr": "evaluation",
    "rates_at": "evaluation",
    "Gram": "kernels",
    "PairKernel": "pair_kernels",
    "outer_gaussian": "pair_kernels",
    "outer_power": "pair_kernels",
    "pair_kernel": "pair_kernels",
    "poly_direct_sum": "pair_kernels",
    "poly_tensor": "pair_kernels",
    "Pairs": "pairs",
    "all_pairs": "pairs",
    "OneClassPairSVM": "estimators.one_class",
    "OneClassPairSphere": "estimators.one_class",
    "PairRanker": "estimators.pair_ranker",
    "PairSVR": "estimators.pair_svr",
    "KernelPseudoMetric": "estimators.pseudo_metric",
    "OnlinePseudoMetric": "estimators.pseudo_metric",
    "BasisExpansion": "estimators.basis_expansion",
    "BasisSVC": "estimators.basis_svc",
    "GreedySimilarities": "estimators.greedy_similarities",
    "IndefiniteNystrom": "estimators.nystrom",
    "TwoKernelSVC": "estimators.two_kernels",
    "StackedPairSVC": "estimators.stacked",
    "TransductivePairSVC": "estimators.transductive",
    "balanced_composite": "pair_kernels",
    "gaussian_of": "pair_kernels",
    "group_gaussian": "pair_kernels",
    "group_linear": "pair_kernels",
    "group_polynomial": "pair_kernels",
    "on_blocks": "pair_kernels",
    "on_invariant": "pair_kernels",
    "on_score": "pair_kernels",
    "on_signed": "pair_kernels",
    "power_of": "pair_kernels",
    "skew_composite": "pair_kernels",
    "StagedSearch": "selection.staged",
    "load": "persist",
    "save": "persist",
}

__all__ = ["__version__", *_MODULES, *_NAMES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"pairlearn.{_MODULES[name]}")
    if name in _NAMES:
        value = getattr(import_module(f"pairlearn.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pairlearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
