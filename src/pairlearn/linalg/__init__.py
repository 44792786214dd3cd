"""What SciPy leaves open about dense matrices.

`tiles` multiplies matrices tile by tile on a `pool` of threads, `cholesky` factors matrices of any size in place with
its help and that of `unlocked`, `symmetric` adds their transposes to them, `threads` says how many
BLAS threads a piece of work gets, `room` how large a matrix there is memory for.
"""
