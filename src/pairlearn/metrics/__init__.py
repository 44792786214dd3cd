"""Distances learnt online from a stream of pairs (POLA), and filters that decide what of a stream is relevant.

`pseudo_metric` is the loop over pairs, the same for `online` (rows of numbers) and `kernelised` (any kernel). They
differ in `spans`, the coordinates in which differences of examples are held; in these, `metric_state` makes one step of
the algorithm. `filtering` uses a metric to tell relevant examples of a stream from others, beside simpler filters.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
