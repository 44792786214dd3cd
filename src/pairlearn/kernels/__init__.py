"""Base kernels: similarity of two examples.

`base` says what a kernel is, and adds, multiplies and scales kernels; `vector` has the kernels on rows of numbers (with
the arithmetic of `rows`), `mapped` the inner product of a learnt metric, `similarity` any function or precomputed
matrix, `sequences` time series and strings, `matching` images of cells (computed in `alignment`), `latent` the best
over versions of examples, `low_rank` a few features in place of a large Gram matrix. `named` makes a kernel of whatever
`base=` is given and lists those that a model file may hold; `gram` holds the matrix of a kernel on a table of examples,
once, and checks that it is definite; `spectrum` tells how indefinite a matrix is, and treats it. `content` compares
values that hold arrays.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
