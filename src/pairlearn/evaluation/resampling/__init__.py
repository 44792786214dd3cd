"""How much a number would differ for other people: the variance of a measure, and limits that follow from it.

In the order of use: `units.py` says which units (identities, examples, pairs) each pair belongs to; `influence.py` what
one pair adds to a measure, in closed form, and the rates of weighted pairs; `spread.py` turns units and influences (or
a function of weights) into a variance by jackknife or bootstrap; `limits.py` turns estimate and variance into limits;
`along.py` does the last two steps for FMR and FNMR at many thresholds in one pass. Nothing here knows a measure by
name: `pairlearn.evaluation.intervals` joins measures to this package.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
