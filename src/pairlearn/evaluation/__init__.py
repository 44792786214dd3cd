"""From scores of pairs to rates and curves. `pairlearn.evaluation.plots` draws and is imported on demand."""

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
    "DetCurve",
    "Rates",
    "Scores",
    "area_under_roc",
    "concordance_index",
    "det_curve",
    "equal_error_rate",
    "fnmr_at_fmr",
    "rates_at",
]
