"""Similarities that align two images before they compare them: rigid and deformable.

Examples are arrays (n, rows, cols, channels) of cells, such as those of `pl.images.hog`. In the usual names H4(2, 0) is
`Deformable(2, 0)`, that is `Rigid(2)`, on cells of 4 pixels; H8(0, 1) is `Deformable(0, 1)` on cells of 8 pixels.
Products are taken in the type of the cells: float32 cells give a float32 matrix, all others a float64 one.
How the maxima are computed stands in `alignment`; the same for any versions of any examples is `latent.Latent`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from pairlearn.errors import InputError
from pairlearn.kernels.alignment import (
    as_cells,
    best_deformation,
    best_shift,
    comparable,
    same_cells,
    self_deformations,
)
from pairlearn.kernels.base import Kernel
from pairlearn.types import Examples, Floats


@dataclass(frozen=True)
class Rigid(Kernel):
    """max over |z| ≤ h of Σ_c ⟨a[c + z], b[c]⟩: the best of (2h + 1)² shifts; cells outside the image are zero.

    Symmetric, but indefinite unless h = 0, where it is the linear kernel of the flattened cells.

    >>> import numpy as np
    >>> a, b = np.zeros((2, 1, 3, 3, 1))
    >>> a[0, 0, 0], b[0, 1, 0] = 2.0, 3.0
    >>> [Rigid(h)(a, b).item() for h in (0, 1)]
    [0.0, 6.0]
    """

    h: int = 0

    def __post_init__(self) -> None:
        _check_reach("h", self.h)

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.h == 0

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return best_shift(*comparable(A, B), self.h)

    def diag(self, A: Examples) -> Floats:
        # Shifting out cells never lengthens an image, so by Cauchy and Schwarz the best shift of a with a is none.
        cells = as_cells(A)
        return np.einsum("nrck,nrck->n", cells, cells)

    def features(self, A: Examples) -> Floats | None:
        return as_cells(A).reshape(len(A), -1) if self.h == 0 else None


@dataclass(frozen=True)
class Deformable(Kernel):
    """max over |z| ≤ h_rigid of Σ_c max over |l| ≤ h_local of ⟨a[c + z + l], b[c]⟩; cells outside are zero.

    The cells of b stay, those of a move, each on its own: `kernel(images, bases)` deforms the images. This is not
    symmetric; `symmetrise=True` uses ½(k(a, b) + k(b, a)), the explicit choice for a Gram matrix or its spectrum.

    >>> import numpy as np
    >>> a, b = np.ones((2, 1, 1, 2, 1))
    >>> a[0, 0, 0] = 5.0
    >>> [Deformable(0, 1)(*pair).item() for pair in ((a, b), (b, a))]
    [10.0, 6.0]
    """

    h_rigid: int = 0
    h_local: int = 1
    symmetrise: bool = False

    def __post_init__(self) -> None:
        _check_reach("h_rigid", self.h_rigid)
        _check_reach("h_local", self.h_local)

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.h_rigid == 0 and self.h_local == 0

    def __call__(self, A: Examples, B: Examples) -> Floats:
        if self.h_local == 0:
            return Rigid(self.h_rigid)(A, B)
        A, B = comparable(A, B)
        values = best_deformation(A, B, self.h_rigid, self.h_local)
        if not self.symmetrise:
            return values
        reverse = values if same_cells(A, B) else best_deformation(B, A, self.h_rigid, self.h_local)
        return (values + reverse.T) / 2

    def diag(self, A: Examples) -> Floats:
        return self_deformations(as_cells(A), self.h_rigid, self.h_local)


@dataclass(frozen=True)
class Shaped(Kernel):
    """A kernel on arrays, for examples whose rows are such arrays laid out flat: `shape` is that of one example.

    Rows are what baselines compare, tables and model files hold, and `pl.images.Hog` gives.

    >>> import numpy as np
    >>> a, b = np.array([[2.0, 0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 3.0, 0.0]])
    >>> Shaped(Rigid(1), (2, 2, 1))(a, b).item()
    6.0
    """

    kernel: Kernel
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(int(side) for side in self.shape))
        if min(self.shape, default=0) < 1:
            raise InputError(f"shape is that of one example, such as (4, 4, 31), got {self.shape}")

    @property
    def definite(self) -> bool | None:  # type: ignore[override]
        return self.kernel.definite

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.kernel.symmetric

    def __call__(self, A: Examples, B: Examples) -> Floats:
        return self.kernel(self._arrays(A), self._arrays(B))

    def diag(self, A: Examples) -> Floats:
        return self.kernel.diag(self._arrays(A))

    def resolved(self, examples: Examples) -> Kernel:
        return replace(self, kernel=self.kernel.resolved(self._arrays(examples)))

    def features(self, A: Examples) -> Floats | None:
        return self.kernel.features(self._arrays(A))

    def _arrays(self, A: Examples) -> Floats:
        """The rows as arrays of the shape; a row of another length has another one."""
        if not isinstance(A, np.ndarray) or A.ndim != 2 or A.shape[1] != math.prod(self.shape):
            raise InputError(
                f"this kernel compares rows of {math.prod(self.shape)} numbers, one per entry of {self.shape}, got "
                f"{np.shape(A) or type(A).__name__}"
            )
        return A.reshape(len(A), *self.shape)


def _check_reach(name: str, h: int) -> None:
    if isinstance(h, bool) or not isinstance(h, (int, np.integer)) or h < 0:
        raise InputError(f"{name} is a number of cells >= 0, got {h!r}; try {name}=1")
