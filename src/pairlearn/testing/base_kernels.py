"""Laws of base kernels: what `pl.kernels.Kernel` promises, on examples of yours.

Everything else trusts these promises. A wrong `diag` spoils cosines and Gaussians of pairs, a wrong claim of parity
gives a ranker that contradicts itself when pairs are swapped, an indefinite kernel lets solvers run off to the corners
of their box; none of that looks like a kernel's fault. Values are compared with each other, never with a formula: that
is a test that only you can write.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from pairlearn.examples import count_examples, take_examples
from pairlearn.kernels import Kernel
from pairlearn.testing.laws import Law, require, require_close, sample, try_all
from pairlearn.types import Examples, Floats


def check_kernel(kernel: Kernel, examples: Examples) -> None:
    """Try every law of base kernels on these examples, at least two; raise a LawError for the first that is broken.

    Parameters that depend on data are fixed on the examples first. What the kernel claims (`definite`, `isotropic`,
    `parity`, `features`) is tried only where it claims it.

    >>> import numpy as np, pairlearn as pl
    >>> pl.testing.check_kernel(pl.kernels.Gaussian(), np.random.default_rng(0).normal(size=(9, 3)))
    """
    if count_examples(examples) < 2:
        raise ValueError("laws are tried on two examples at least")
    try_all(KERNEL_LAWS, kernel.resolved(examples), examples)


def gram(kernel: Kernel, examples: Examples) -> Floats:
    """k between all examples, as a machine asks for it: new ones against what it keeps of the old."""
    return np.asarray(kernel(examples, kernel.anchor(examples, np.arange(count_examples(examples)))))


def shape(kernel: Kernel, examples: Examples) -> None:
    """kernel(A, B) is a finite matrix (len(A), len(B))."""
    kept = kernel.anchor(examples, np.array([0]))
    K = np.asarray(kernel(examples, kept))
    require(K.shape == (count_examples(examples), 1), f"kernel(A, B) has shape {K.shape}, B having one example")
    require(bool(np.isfinite(K).all()), "kernel(A, B) holds NaN or infinity")


def symmetry(kernel: Kernel, examples: Examples) -> None:
    """k(a, b) = k(b, a); a similarity that is not symmetric needs a choice, such as symmetrise=True.

    Tried on values of all examples at once: rounding may differ in the last bits, which `Gram` averages away.
    """
    K = gram(kernel, examples)
    require_close(K, K.T, "k(a, b) and k(b, a) differ", 1e-6 if K.dtype == np.float32 else 1e-12)


def definiteness(kernel: Kernel, examples: Examples) -> None:
    """Where `definite` is True, no Gram matrix has a negative eigenvalue."""
    if kernel.definite is True:
        K = gram(kernel, examples).astype(np.float64)
        smallest, largest = np.linalg.eigvalsh(0.5 * (K + K.T))[[0, -1]]
        limit = -1e-9 * max(abs(smallest), abs(largest))
        require(smallest >= limit, f"claims to be definite, but has the eigenvalue {smallest:.4g}")


def diagonal(kernel: Kernel, examples: Examples) -> None:
    """kernel.diag(A) holds k(a, a)."""
    K = gram(kernel, examples)
    tolerance = 1e-5 if K.dtype == np.float32 else 1e-9
    require_close(kernel.diag(examples), np.diagonal(K), "diag and the diagonal differ", tolerance)


def independence(kernel: Kernel, examples: Examples) -> None:
    """k(a, b) depends on a and b alone: any rows and columns give the same values.

    What a kernel takes from data belongs into `resolved`; a mean or scale of the arguments would make scores depend on
    which pairs are scored together.
    """
    K, n = gram(kernel, examples), count_examples(examples)
    rows, cols = sample(n, min(n, 5), 1), sample(n, min(n, 4), 2)
    found = kernel(take_examples(examples, rows), kernel.anchor(examples, cols))
    tolerance = 1e-5 if K.dtype == np.float32 else 1e-9
    require_close(found, K[np.ix_(rows, cols)], "values depend on other examples", tolerance)


def combinations(kernel: Kernel, examples: Examples) -> None:
    """k + k, k·k and c·k are what they say, on and off the diagonal."""
    K = gram(kernel, examples).astype(np.float64)
    for name, made, expected in (
        ("k + k", kernel + kernel, 2 * K),
        ("k * k", kernel * kernel, K * K),
        ("0.5 * k", 0.5 * kernel, 0.5 * K),
    ):
        require_close(gram(made, examples), expected, name, 1e-6)
        require_close(made.diag(examples), np.diagonal(expected), f"diag of {name}", 1e-5)


def features(kernel: Kernel, examples: Examples) -> None:
    """Where there are features, their inner products are the kernel."""
    Z = kernel.features(examples)
    if Z is not None:
        K = gram(kernel, examples)
        require_close(Z @ Z.T, K, "inner products of features", 1e-5 if K.dtype == np.float32 else 1e-9)


def isotropy(kernel: Kernel, examples: Examples) -> None:
    """Where `isotropic`, k(Ta, Tb) = k(a, b) for an orthogonal T."""
    if kernel.isotropic and _is_matrix(examples):
        T = np.linalg.qr(np.random.default_rng(0).normal(size=(examples.shape[1],) * 2))[0]
        require_close(gram(kernel, examples @ T), gram(kernel, examples), "rotated examples", 1e-7)


def parity(kernel: Kernel, examples: Examples) -> None:
    """Where `parity` is ±1, k(−a, b) = ±k(a, b)."""
    if kernel.parity and _is_matrix(examples):
        found, K = kernel(-examples, examples), kernel(examples, examples)
        require_close(found, kernel.parity * K, f"k(−a, b) at parity {kernel.parity}")


def resolution(kernel: Kernel, examples: Examples) -> None:
    """A kernel whose parameters are fixed stays as it is, whatever it is shown."""
    again = kernel.resolved(take_examples(examples, np.array([0, 1])))
    require(again == kernel, f"resolved a second time, it becomes {again!r}")


def value(kernel: Kernel, examples: Examples) -> None:
    """Equal copies are equal and have one hash: kernels are keys of dictionaries."""
    copy = deepcopy(kernel)
    require(copy == kernel, "a copy is not equal; make it a frozen dataclass")
    require(hash(copy) == hash(kernel), "a copy has another hash")


def purity(kernel: Kernel, examples: Examples) -> None:
    """Examples are left as they are."""
    kept = deepcopy(examples)
    gram(kernel, examples)
    kernel.diag(examples)
    same = np.array_equal(kept, examples) if _is_array(examples) else _equal(kept, examples)
    require(same, "the examples were changed")


def _is_array(examples: Examples) -> bool:
    return isinstance(examples, np.ndarray)


def _is_matrix(examples: Examples) -> bool:
    return isinstance(examples, np.ndarray) and examples.ndim == 2


def _equal(kept: Any, examples: Any) -> bool:
    n = count_examples(examples)
    return all(np.array_equal(np.asarray(kept[i]), np.asarray(examples[i])) for i in range(n))


KERNEL_LAWS: tuple[Law, ...] = (
    *(shape, symmetry, diagonal, independence, definiteness, features, isotropy, parity),
    *(combinations, resolution, value, purity),
)
"""What `check_kernel` tries, in this order."""
