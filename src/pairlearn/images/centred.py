"""Images brought to one place, size and slant by the moments of their ink."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.images.stateless import Stateless
from pairlearn.images.tables import Images, batches, check_images
from pairlearn.images.warp import about_middle, warped
from pairlearn.types import Floats

STEEPEST = 1.0
"""Most pixels to the right per pixel down that are taken for slant (45°): a dash leans further, but by its nature."""


class Centred(Stateless):
    """Images moved so that their centre of mass lies in the middle, and perhaps made upright and of one size.

    With the background b of an image, the median of its border, a pixel at p = (down, right) has the mass
    m(p) = Σ_channels |x(p) − b|; μ and Σ are mean and covariance of p under m, and the new image has at p what the old
    one had at μ + s·L(p − middle), L = [1 0; k 1].

    Parameters
    ----------
    upright : takes out the slant k = Σ₀₁/Σ₀₀ (at most 45°), so that strokes stand upright on average; else k = 0.
    spread : the root mean square distance of the ink from its centre, in shorter sides of the image, that s brings
        every image to; 0.2 suits most drawings. None keeps the size, s = 1.

    All of it is one interpolation. Images (n, h, w) or (n, h, w, 3) keep shape and type; one without ink, of one value
    throughout, stays as it is. Made for drawn symbols on a plain ground: in a photograph everything is ink.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> corner = np.zeros((1, 5, 5))
    >>> corner[0, :2, :1] = 1.0
    >>> pl.images.Centred().fit_transform(corner)[0, :, 2].tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(self, upright: bool = False, spread: float | None = None) -> None:
        self.upright = upright
        self.spread = spread

    def transform(self, X: Any) -> Images:
        """The images, centred."""
        self._check()
        images = check_images(X, colour=True)
        if 0 in images.shape[1:]:
            raise InputError(f"images without pixels have no centre: shape {np.shape(X)}; drop them")
        result = np.empty_like(images)
        for part in batches(images, 32 * images[:1].size):
            background = backgrounds(images[part])
            maps = self._maps(images[part], background)
            result[part] = warped(_framed(images[part], background), maps)[:, 1:-1, 1:-1]
        return result.reshape(np.shape(X))

    def _maps(self, images: Images, background: Floats) -> Floats:
        """Where to look for each pixel, of images in a frame of one pixel."""
        height, width = images.shape[1:3]
        mean, covariance = moments(np.abs(images - background).sum(axis=3))
        down, both, right = covariance.T
        slant = _share(both, down).clip(-STEEPEST, STEEPEST) if self.upright else np.zeros(len(images))
        linear = np.tile(np.eye(2), (len(images), 1, 1))
        linear[:, 1, 0] = slant
        if self.spread is not None:
            size = np.sqrt(np.maximum(down + right - 2 * slant * both + slant**2 * down, 0.0))
            scale = size / (self.spread * min(height, width))
            linear *= np.where(size > 0, scale, 1.0)[:, None, None]
        return about_middle(linear, mean - [(height - 1) / 2, (width - 1) / 2], height + 2, width + 2)

    def _check(self) -> None:
        known = self.spread is None or (isinstance(self.spread, Real) and 0 < self.spread < np.inf)
        if not known:
            raise InputError(f"spread is a share of the image > 0, or None, got {self.spread!r}; try 0.2")


def backgrounds(images: Images) -> Floats:
    """The median of the border of each image and channel, (n, 1, 1, channels)."""
    rows, columns = images[:, [0, -1]], images[:, :, [0, -1]]
    border = np.concatenate([part.reshape(len(images), -1, images.shape[3]) for part in (rows, columns)], axis=1)
    return np.median(border, axis=1)[:, None, None].astype(np.float64)


def moments(mass: Floats) -> tuple[Floats, Floats]:
    """Centre of mass (n, 2), down and right, and (Σ₀₀, Σ₀₁, Σ₁₁), (n, 3), of masses (n, h, w); the middle without mass.

    >>> mean, covariance = moments(np.array([[[0.0, 1.0, 0.0, 1.0]]]))
    >>> mean.tolist(), covariance.tolist()
    ([[0.0, 2.0]], [[0.0, 0.0, 1.0]])
    """
    _, height, width = mass.shape
    total = mass.sum(axis=(1, 2))
    shares = np.where((total > 0)[:, None, None], mass, 1.0) / np.where(total > 0, total, height * width)[:, None, None]
    along, across = shares.sum(axis=2), shares.sum(axis=1)
    y, x = np.arange(height), np.arange(width)
    mean = np.column_stack([along @ y, across @ x])
    down, right = y - mean[:, :1], x - mean[:, 1:]
    both = np.einsum("ny,nyx,nx->n", down, shares, right)
    covariance = np.column_stack([(along * down**2).sum(axis=1), both, (across * right**2).sum(axis=1)])
    return mean, covariance * (total > 0)[:, None]


def _framed(images: Images, background: Floats) -> Images:
    """The images in a frame of one pixel of background, which a warp then repeats outside."""
    n, height, width, channels = images.shape
    framed = np.empty((n, height + 2, width + 2, channels), dtype=images.dtype)
    framed[:] = background
    framed[:, 1:-1, 1:-1] = images
    return framed


def _share(part: Floats, whole: Floats) -> Floats:
    """part / whole, and 0 where the whole vanishes."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
