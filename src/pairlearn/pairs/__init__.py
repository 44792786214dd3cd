"""Pairs of examples, by index: the one form in which data travels.

The way of a pair table: `ids` finds the row of every example named in it, `columns` checks the two index columns (or
computes them, for all pairs), `tables` knows whether both point into one table of examples or into two, `pairs` puts
columns, tables and features of pairs together, slices, swaps and compacts them. `classes` numbers the classes of
examples, `labels` checks those of pairs, `conflicts` lists pairs whose labels contradict each other.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
