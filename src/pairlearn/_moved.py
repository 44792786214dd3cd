"""Names that moved in 0.2: they work until 0.3, with a warning that says where they are now."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pairlearn.errors import MovedWarning

OUTER = {
    "gaussian_of": "pair_kernels.gaussian",
    "group_gaussian": "pair_kernels.retired.group_gaussian = pair_kernels.gaussian(group_linear(), gamma)",
    "group_polynomial": "pair_kernels.retired.group_polynomial = pair_kernels.power(group_linear(), degree, offset)",
    "outer_gaussian": "pair_kernels.retired.outer_gaussian = pair_kernels.gaussian",
    "outer_power": "pair_kernels.retired.outer_power = pair_kernels.power",
    "power_of": "pair_kernels.power",
}
"""Powers and Gaussians of pair kernels; behind "=" what to write instead, where that is called in another way."""

ROOT = {
    **OUTER,
    "KISSMEBaseline": "baselines.KISSMEBaseline",
    "LDABaseline": "baselines.LDABaseline",
    "LogisticBaseline": "baselines.LogisticBaseline",
    "PCACosineBaseline": "baselines.PCACosineBaseline",
    "PLDABaseline": "baselines.PLDABaseline",
    "RCABaseline": "baselines.RCABaseline",
    "WCCNBaseline": "baselines.WCCNBaseline",
    "DetBand": "evaluation.DetBand",
    "DetCurve": "evaluation.DetCurve",
    "FmrAt": "evaluation.FmrAt",
    "FnmrAt": "evaluation.FnmrAt",
    "Interval": "evaluation.Interval",
    "IsotonicCalibration": "evaluation.IsotonicCalibration",
    "LogisticCalibration": "evaluation.LogisticCalibration",
    "LogisticFusion": "evaluation.LogisticFusion",
    "SumFusion": "evaluation.SumFusion",
    "Threshold": "evaluation.Threshold",
    "ZNormFusion": "evaluation.ZNormFusion",
    "area_under_roc": "evaluation.area_under_roc",
    "cllr": "evaluation.cllr",
    "concordance_index": "evaluation.concordance_index",
    "cross_fitted": "evaluation.cross_fitted",
    "det_band": "evaluation.det_band",
    "difference_interval": "evaluation.difference_interval",
    "fnmr_at_fmr": "evaluation.fnmr_at_fmr",
    "min_cllr": "evaluation.min_cllr",
    "rates_at": "evaluation.rates_at",
    "reliability": "evaluation.reliability",
    "threshold_at_eer": "evaluation.threshold_at_eer",
    "threshold_by_cost": "evaluation.threshold_by_cost",
    "Gram": "kernels.Gram",
    "Ranking": "machines.ranking.Ranking",
    "KernelPseudoMetric": "metrics.KernelPseudoMetric",
    "PairKernel": "pair_kernels.PairKernel",
    "balanced_composite": "pair_kernels.balanced_composite",
    "group_linear": "pair_kernels.group_linear",
    "on_blocks": "pair_kernels.on_blocks",
    "on_invariant": "pair_kernels.on_invariant",
    "on_score": "pair_kernels.on_score",
    "on_signed": "pair_kernels.on_signed",
    "poly_direct_sum": "pair_kernels.poly_direct_sum",
    "poly_tensor": "pair_kernels.poly_tensor",
    "skew_composite": "pair_kernels.skew_composite",
    "Decided": "scorers.Verifier",
    "NormalisedScorer": "scorers.NormalisedScorer",
    "GreedySimilarities": "similarities.GreedySimilarities",
    "IndefiniteNystrom": "similarities.IndefiniteNystrom",
    "TwoKernelSVC": "similarities.TwoKernelSVC",
}
"""Names that were at the root, and where they are now."""

PAIR_KERNELS = {"Scored": "pair_kernels.ModelScores", "Seen": "pair_kernels.ViewKernel", **OUTER}
"""Names that were in `pl.pair_kernels`."""

SCORING = {
    "eer": "selection.scorers.minus_eer = evaluation.EER().scorer()",
    "auc": "selection.scorers.plus_auc = evaluation.AUC().scorer()",
    "FNMRAt": "selection.scorers.minus_fnmr_at = evaluation.FnmrAtFmr(fmr).scorer()",
}
"""Scorers of scikit-learn that were in `pl.selection.scorers`; measures make them now."""

SCORERS = {"Decided": "scorers.Verifier", **SCORING}
"""Names that were in `pl.scorers`, or in the module whose place it took."""

MODULES = {
    "estimators.baselines": "baselines",
    "estimators.bases": "similarities.bases",
    "estimators.basis_expansion": "similarities.basis_expansion",
    "estimators.basis_svc": "similarities.basis_svc",
    "estimators.decided": "scorers",
    "estimators.explain": "scorers",
    "estimators.filtering": "metrics.filtering",
    "estimators.gallery": "scorers",
    "estimators.greedy_similarities": "similarities.greedy",
    "estimators.learnt_baselines": "baselines",
    "estimators.metric_baselines": "baselines",
    "estimators.nystrom": "similarities.nystrom",
    "estimators.on_examples": "on_examples",
    "estimators.one_class": "machines.one_class",
    "estimators.pair_ranker": "machines.pair_ranker",
    "estimators.pair_svc": "machines.pair_svc",
    "estimators.pair_svr": "machines.pair_svr",
    "estimators.plda": "baselines",
    "estimators.pseudo_metric": "metrics",
    "estimators.ranking": "machines.ranking",
    "estimators.stacked": "baselines.stacked",
    "estimators.transductive": "machines.transductive",
    "estimators.two_kernels": "similarities.two_kernels",
    "selection.staged": "selection.search.staged",
}
"""Modules that moved."""


def also(table: Mapping[str, str], package: str, known: Callable[[str], Any]) -> Callable[[str], Any]:
    """A module's `__getattr__` that finds the moved names of `table` too."""

    def find(name: str) -> Any:
        if name not in table:
            return known(name)
        place, _, instead = table[name].partition(" = ")
        module, _, attribute = place.rpartition(".")
        _warn(f"{package}.{name}", instead or place)
        return getattr(import_module(f"pairlearn.{module}"), attribute)

    return find


class _Renamed:
    """Loads the module that took the place of another."""

    def __init__(self, target: str) -> None:
        self.target = target

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary module, replaced at once."""

    def exec_module(self, module: ModuleType) -> None:
        _warn(module.__name__, self.target)
        sys.modules[module.__name__] = import_module(f"pairlearn.{self.target}")


class _Finder:
    """Finds modules under their old names."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        moved = MODULES.get(name.removeprefix("pairlearn."))
        return None if moved is None else ModuleSpec(name, _Renamed(moved))  # type: ignore[arg-type]


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now pairlearn.{new}; the old name goes away in 0.3", MovedWarning, stacklevel=3)


if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
    sys.meta_path.append(_Finder())
