"""The laws that kernels, pair kernels, operators, solvers and estimators keep, to be tried on yours.

`laws` says what a broken law is; `base_kernels`, `pair_kernel_laws`, `operators`, `solvers` and `estimators` have one
small function per law, a table of them, and the function that tries them all: `check_kernel`, `check_pair_kernel`,
`check_operator`, `check_solver`, `check_pair_estimator`. Nothing here needs a test runner: a broken law raises a
`LawError`, an AssertionError that says what was broken, by which values. The library's own tests use the same
functions.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
