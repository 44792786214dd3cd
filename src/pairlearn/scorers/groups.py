"""Who is the same as whom in a gallery: identities joined by high scores of their examples."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pairlearn.errors import InputError
from pairlearn.scorers.gallery import Gallery
from pairlearn.scorers.index import GalleryIndex
from pairlearn.types import Ints


def group_identities(enrolled: Gallery | GalleryIndex, threshold: float, top: int = 10) -> Ints:
    """The number of the group of every identity, (n_identities,), in the order of `names`; groups count from 0.

    Every enrolled example is a probe; identities among its `top` best others that score ≥ threshold are joined with its
    own, and so are those that are joined with these. With one identity per example this groups the examples. A gallery
    compares everyone with everyone, its index only candidates.

    >>> import pairlearn as pl
    >>> X = np.array([[0.0], [7.0], [0.4], [0.8]])
    >>> group_identities(pl.Gallery(pl.EuclidBaseline(), X, np.arange(4)), threshold=-0.5).tolist()
    [0, 1, 0, 0]
    """
    if not isinstance(threshold, Real) or np.isnan(threshold) or top < 1:
        raise InputError(f"threshold must be a number and top ≥ 1, got {threshold!r} and {top!r}")
    gallery = enrolled.gallery if isinstance(enrolled, GalleryIndex) else enrolled
    find = enrolled.search if isinstance(enrolled, GalleryIndex) else enrolled.identify
    n = len(gallery.names)
    found = find(gallery.compared, min(n, top + 1))  # its own identity is among them
    own = np.repeat(np.arange(n), np.diff(gallery.starts))
    rows, columns = np.nonzero(found.scores >= threshold)
    others = np.searchsorted(gallery.names, found.identities[rows, columns])
    joined = sparse.csr_array((np.ones(len(rows)), (own[rows], others)), shape=(n, n))
    groups: Ints = connected_components(joined, directed=False)[1]
    return groups
