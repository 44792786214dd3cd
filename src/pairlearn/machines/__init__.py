"""Machines on pairs: classification, ranking, regression, least squares, one class, transduction.

A machine is one file: `pair_svc`, `pair_ranker`, `pair_svr`, `one_class`, `transductive`, and `ridge.pair_ridge`. Each
checks its labels and states its problem; the rest is shared, in the order the data go: `parameters` makes the
constructors, `symmetry` says which question a kernel can answer, `training` holds the checked pairs (in both orders, if
asked for), `start` finds the first coefficients, `resuming` those of an earlier run, `machine` plans, solves and keeps
the learnt function.
`ranking` turns a learnt relation into an order. A new machine is a file here, a line in `__init__.pyi` and its test;
it can be saved without further ado.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
