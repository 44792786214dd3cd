"""All pairs of examples in classes, never listed.

Half of 20,000² pairs are 200 million: their labels, bounds and coefficients alone would take gigabytes. But labels
follow from classes, and coefficients from the learnt function. `everyone` looks at all pairs block by block; `descent`
finds the function by Newton's method on a smoothed problem; `solver` lists the few pairs that decide at last, and
certifies the whole.
"""

from pairlearn.solvers.implicit.everyone import Everyone
from pairlearn.solvers.implicit.solver import Implicit, Listed, Outcome

__all__ = ["Everyone", "Implicit", "Listed", "Outcome"]
