"""Laws of operators: whatever holds a Gram matrix serves the same numbers in every way it can be asked.

A solver asks for blocks of its working set, for products with all coefficients and for the diagonal, and takes it for
granted that they belong to one matrix. Operators compute them in ways as different as a look-up and a quadratic form,
so each is compared with the explicit matrix.
"""

from __future__ import annotations

import numpy as np

from pairlearn.operators.base import PairOperator
from pairlearn.testing.laws import Law, require, require_close, sample, try_all
from pairlearn.types import Floats


def check_operator(operator: PairOperator, matrix: Floats) -> None:
    """Try every law of operators against the explicit matrix (n, n); raise a LawError for the first that is broken.

    >>> import numpy as np, pairlearn as pl
    >>> from pairlearn.operators.dense import DenseOperator
    >>> pl.testing.check_operator(DenseOperator(np.eye(3)), np.eye(3))
    """
    try_all(OPERATOR_LAWS, operator, np.asarray(matrix, dtype=np.float64))


def coefficients_to_try(n: int) -> list[Floats]:
    """Dense, sparse, zero and one single coefficient: operators take different ways for them."""
    random = np.random.default_rng(3)
    dense, few = random.normal(size=n), np.zeros(n)
    few[random.integers(0, n, 7)] = random.normal(size=7)
    return [dense, few, np.zeros(n), np.eye(1, n, n - 1)[0]]


def size(operator: PairOperator, matrix: Floats) -> None:
    """n × n, float64."""
    n = len(matrix)
    require(operator.shape == (n, n) == (operator.n_pairs,) * 2, f"shape {operator.shape} instead of {(n, n)}")
    require(operator.dtype == np.float64, f"dtype {operator.dtype} instead of float64")


def diagonal(operator: PairOperator, matrix: Floats) -> None:
    """operator.diagonal() is the diagonal."""
    require_close(operator.diagonal(), np.diagonal(matrix), "diagonal", 1e-10)


def products(operator: PairOperator, matrix: Floats) -> None:
    """operator @ θ is the product, and leaves θ alone."""
    for theta in coefficients_to_try(len(matrix)):
        kept = theta.copy()
        _require_product(operator @ theta, matrix, theta, "operator @ coefficients")
        require(np.array_equal(theta, kept), "the coefficients were changed")


def added_products(operator: PairOperator, matrix: Floats) -> None:
    """add_product adds the product to what is there."""
    start = coefficients_to_try(len(matrix))[0]
    for theta in coefficients_to_try(len(matrix)):
        out = start.copy()
        operator.add_product(theta, out)
        _require_product(out - start, matrix, theta, "add_product")


def blocks(operator: PairOperator, matrix: Floats) -> None:
    """submatrix(rows, cols) is that block, repeated rows included; without cols it is symmetric."""
    n = len(matrix)
    rows, cols = sample(n, 17, 1), sample(n, 23, 2)
    require_close(operator.submatrix(rows, cols), matrix[np.ix_(rows, cols)], "submatrix(rows, cols)", 1e-10)
    square = operator.submatrix(rows)
    require_close(square, matrix[np.ix_(rows, rows)], "submatrix(rows)", 1e-10)
    require_close(square, square.T, "submatrix(rows) is not symmetric", 1e-13)


def rows(operator: PairOperator, matrix: Floats) -> None:
    """rows(index) are whole rows."""
    index = sample(len(matrix), 3)
    require_close(operator.rows(index), matrix[index], "rows(index)", 1e-10)


def linear_operator(operator: PairOperator, matrix: Floats) -> None:
    """SciPy's view of it gives the same products, transposed too."""
    theta, linear = coefficients_to_try(len(matrix))[0], operator.as_linear_operator()
    _require_product(linear @ theta, matrix, theta, "as_linear_operator() @ coefficients")
    _require_product(linear.rmatvec(theta), matrix, theta, "as_linear_operator().rmatvec")


def _require_product(found: Floats, matrix: Floats, theta: Floats, what: str) -> None:
    """Equal up to the rounding of a sum of |K| |θ|: fast products may cancel large terms."""
    expected = matrix @ theta
    scale = float(np.abs(matrix).max(initial=0.0)) * max(1.0, float(np.abs(theta).sum()))
    require(found.shape == expected.shape, f"{what}: shape {found.shape} instead of {expected.shape}")
    require(bool(np.isfinite(found).all()), f"{what}: NaN or infinity")
    error = float((np.abs(found - expected) - 1e-9 * np.abs(expected)).max(initial=0.0))
    require(error <= 1e-11 * scale, f"{what}: off by {error:.3g}, values up to {np.abs(expected).max():.3g}")


OPERATOR_LAWS: tuple[Law, ...] = (size, diagonal, products, added_products, blocks, rows, linear_operator)
"""What `check_operator` tries, in this order."""
