"""Least squares on pairs: (K + αW⁻¹)θ + b = y.

`system` says what is solved and how good a solution is, `conjugate` solves it by conjugate gradients with the fast
product, `preconditioners` makes these short: where every cell of a matrix over examples holds a pair, the eigenbasis of
`splitting` is the solution itself, in one step. `grid` leaves pairs, rows or columns of such a matrix out in closed
form.
"""

from __future__ import annotations

from pairlearn.solvers.ridge.conjugate import ConjugateGradients
from pairlearn.solvers.ridge.grid import SETTINGS, Grid, Setting, fills
from pairlearn.solvers.ridge.system import System

__all__ = ["SETTINGS", "ConjugateGradients", "Grid", "Setting", "System", "fills"]
