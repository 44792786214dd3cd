"""Splitting in the eigenbasis of the base Gram matrix: a few m × m arrays, however many pairs are free.

`solver` is the iteration, `eigenbasis` its linear step in closed form, `cells` the way between pairs and matrices,
`anderson` the acceleration, `nearest` the feasible coefficients that every stop ends with, `looks` what tells that the
gap stands still.
"""

from __future__ import annotations

from pairlearn.solvers.splitting.solver import Splitting, first_operations, seconds_needed

__all__ = ["Splitting", "first_operations", "seconds_needed"]
