"""What stands on a scorer: galleries, score normalisation, decisions at a threshold, explanations.

`scorer` says what a scorer is and compares everyone with everyone by any of them. On it stand `normalised` (scores in
units of what a cohort scores), `gallery` (whom of these does it show?), `verifier` (same or not, and how probable that
is) and `explain` (why this score?), which `waterfall` draws. Large galleries have an `index`: `bilinear` says of which
models, and `points` turns their scores into distances; `groups` joins enrolled examples that score high together.
Variants of examples that mean the same: `copies` learns from them, `orbit_scorer` scores over them. `pair_mean` is the
mean of several machines.
"""

from pairlearn import _doors, _moved

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
__getattr__ = _moved.also(_moved.SCORERS, __name__, __getattr__)
