"""Pair kernels: similarity of two pairs, from a base kernel's four values between them or from features of pairs.

`table` holds polynomials of degree ≤ 2 in these four values, `views` kernels on features of pairs; `scored` (scores of
fitted models) and `finite` (arcs of a graph) are such views. `outer` has powers and Gaussians of a pair kernel.
`kernel` is the sum of products of all these, with its symmetry and values; `canonical` its one form, by which kernels
are equal. `catalog` gives the names and builds powers and Gaussians, `groups` kernels with group features. `text`
prints a kernel as the expression that builds it, `storable` lists what a model file may hold, and `retired` has names
that go away in 0.3.
"""

from pairlearn import _doors, _moved

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
__getattr__ = _moved.also(_moved.PAIR_KERNELS, __name__, __getattr__)
