"""Newton's method on a smoothed problem: the function of all pairs first, then the active set.

`descent` goes down from wide ramps to narrow ones, `equations` finds each of its steps, `size` tells what that costs,
`solver` hands over at the end.
"""

from pairlearn.solvers.newton.size import Size
from pairlearn.solvers.newton.solver import Newton, proven

__all__ = ["Newton", "Size", "proven"]
