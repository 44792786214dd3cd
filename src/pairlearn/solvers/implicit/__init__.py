"""All pairs of examples in classes, never listed.

Half of 20,000² pairs are 200 million: their labels, bounds and coefficients alone would take gigabytes. But labels
follow from classes, and nearly every coefficient is at a bound that follows from the learnt function. `everyone` looks
at all pairs block by block; `solver` lists those near the margin only and solves for these.
"""

from pairlearn.solvers.implicit.everyone import Everyone
from pairlearn.solvers.implicit.solver import Implicit, Listed, Outcome

__all__ = ["Everyone", "Implicit", "Listed", "Outcome"]
