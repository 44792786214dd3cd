"""From scores of pairs to rates, curves, intervals and probabilities; `pairlearn.evaluation.plots` draws on demand."""

from pairlearn.evaluation.calibration import (
    FittedCalibration,
    IsotonicCalibration,
    LogisticCalibration,
    Reliability,
    brier,
    cllr,
    cross_fitted,
    min_cllr,
    reliability,
)
from pairlearn.evaluation.fusion import FittedFusion, LogisticFusion, SumFusion, ZNormFusion, log_loss
from pairlearn.evaluation.intervals import DetBand, FmrAt, FnmrAt, Interval, det_band, difference_interval, interval
from pairlearn.evaluation.measures import (
    accuracy_at,
    accuracy_over_folds,
    d_prime,
    measurable,
    over_folds,
    pair_groups,
    rates_by_group,
)
from pairlearn.evaluation.rates import (
    DetCurve,
    Rates,
    area_under_roc,
    det_curve,
    equal_error_rate,
    fnmr_at_fmr,
    rates_at,
)
from pairlearn.evaluation.regression import concordance_index
from pairlearn.evaluation.scores import Scores
from pairlearn.evaluation.thresholds import Threshold, threshold_at_eer, threshold_at_fmr, threshold_by_cost

__all__ = [
    "DetBand",
    "DetCurve",
    "FittedCalibration",
    "FittedFusion",
    "FmrAt",
    "FnmrAt",
    "Interval",
    "IsotonicCalibration",
    "LogisticCalibration",
    "LogisticFusion",
    "Rates",
    "Reliability",
    "Scores",
    "SumFusion",
    "Threshold",
    "ZNormFusion",
    "accuracy_at",
    "accuracy_over_folds",
    "area_under_roc",
    "brier",
    "cllr",
    "concordance_index",
    "cross_fitted",
    "d_prime",
    "det_band",
    "det_curve",
    "difference_interval",
    "equal_error_rate",
    "fnmr_at_fmr",
    "interval",
    "log_loss",
    "measurable",
    "min_cllr",
    "over_folds",
    "pair_groups",
    "rates_at",
    "rates_by_group",
    "reliability",
    "threshold_at_eer",
    "threshold_at_fmr",
    "threshold_by_cost",
]
