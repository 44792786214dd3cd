"""What SciPy leaves open about dense matrices.

`cholesky` factors matrices of any size in place, `symmetric` adds their transposes to them, `threads` says how many
BLAS threads a piece of work gets, `room` how large a matrix there is memory for.
"""
