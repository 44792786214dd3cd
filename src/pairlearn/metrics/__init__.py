"""Distances learnt online from a stream of pairs (POLA), and filters that decide what of a stream is relevant.

`pseudo_metric` is the loop over pairs, the same for `online` (rows of numbers) and `kernelised` (any kernel). They
differ in `spans`, the coordinates in which differences of examples are held; in these, `metric_state` makes one step of
the algorithm. `filtering` uses a metric to tell relevant examples of a stream from others, beside simpler filters.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
