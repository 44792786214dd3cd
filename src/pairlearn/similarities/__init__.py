"""Learning from similarities that are no kernels: neither symmetric nor definite.

`bases` chooses some examples, `blocks` compares all others with them, in batches, and `basis_expansion` makes the
result features: [k(x, b₁), …, k(x, b_B)], normalised. `basis_svc` is a linear machine on them, `greedy` adds one
similarity after the other to it. `nystrom` makes a spectrum definite instead, and `two_kernels` weighs two kernels by
a line search.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
