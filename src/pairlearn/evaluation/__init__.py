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
    "ZNormFusion",
    "area_under_roc",
    "brier",
    "cllr",
    "concordance_index",
    "cross_fitted",
    "det_band",
    "det_curve",
    "difference_interval",
    "equal_error_rate",
    "fnmr_at_fmr",
    "interval",
    "log_loss",
    "min_cllr",
    "rates_at",
    "reliability",
]
