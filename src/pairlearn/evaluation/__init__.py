"""From scores of pairs to rates, curves, intervals, thresholds and probabilities.

In the order the data goes: `scores.py` holds what a machine says beside what is true; `rates.py` has error rates, DET
curves and other numbers as plain functions; `measures.py` makes them values (`EER()`, `FnmrAtFmr(0.01)`) with
influence, name, unit and a scorer, and lists those that every report shows; `resampling/` finds how much a number
varies when people are drawn anew; `intervals.py` joins the two to limits of measures, differences and bands;
`verdicts.py` says what a difference to the best baseline means, and what to do next. Beside that way: `thresholds.py`
(where to decide, also with a promise for people not seen), `calibration.py` and `fusion.py` (probabilities, several
systems), `subsets.py` (folds and subgroups), `bayes.py` (what the best decision could reach), `regression.py` (order of
predicted numbers) and `plots.py`, which draws what the others computed and is imported on demand. Nothing here knows a
kernel or a machine: any scores will do.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
