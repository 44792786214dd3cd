"""Searching a large gallery: an index finds candidates, the model scores them, and the recall is measured.

Scores of bilinear models order a gallery as distances of points do (`points`). FAISS sorts the points into cells and
looks into those nearest to a probe only; whom it finds is scored by the model itself, so that scores are true ones, and
what it misses is told: `recall` compares with a search among everyone.
"""

from __future__ import annotations

import os
from functools import cache
from math import ceil, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from pairlearn.errors import ApproximationWarning, InputError, warn_user
from pairlearn.examples import check_examples, count_examples, stack_examples, take_examples, widened
from pairlearn.features import same_features
from pairlearn.interrupts import delayed
from pairlearn.linalg.threads import BLAS
from pairlearn.pairs import Pairs
from pairlearn.scorers.bilinear import ADVICE, bilinear
from pairlearn.scorers.gallery import Gallery, Matches, largest_columns
from pairlearn.scorers.points import SAMPLE, Axes, Lift
from pairlearn.types import Bools, Examples, Floats, Ints
from pairlearn.words import counted

PER_CELL = 39
"""Points of a cell at least, on average, and those that each is learnt from."""
TUNED_BY, TUNED_TOP = 128, 10
"""Enrolled examples that the number of cells is chosen by, and how many others each of them looks for."""
STEP, PAIRS = 2**14, 2**17
"""Examples that are mapped, and pairs that are scored, at a time."""

SHORT = 0.03
"""Recall below what was asked for that is worth a warning."""
POOR = (
    "this index has {} of enrolled examples, where {:g} was asked for, though it looks everywhere: single precision "
    "cannot tell them apart, as where one of them is a hundred times as large as the others. Remove or scale such "
    "examples, or compare with everyone (Gallery.identify, --search exact)"
)


class Recall(NamedTuple):
    """Share of the `top` best identities that a search found, on average over so many probes; equals count.

    >>> print(Recall(0.9912, 10, 200))
    recall@10 0.991 on 200 probes
    """

    value: float
    top: int
    probes: int

    def __str__(self) -> str:
        return f"recall@{self.top} {self.value:.3f} on {counted(self.probes, 'probe')}"


class GalleryIndex:
    """A gallery with an index: finds the best identities of a probe without comparing it with everyone.

    The index finds oversample · top candidates, and the model scores them: scores are those of `decision_function`. So
    many cells of the index are looked at that enrolled examples find the share `recall` of their ten best; `tuned` is
    what they found. The model must be bilinear (`pl.scorers.bilinear`); pip install "pairlearn[search]".

    `pl.save(index.gallery, path)` stores it; GalleryIndex(pl.load(path)) builds the index again, in seconds per 100,000
    examples: files of indexes cannot be checked, so that none are written or read.

    >>> import pairlearn as pl
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> index = GalleryIndex(pl.Gallery(pl.EuclidBaseline(), X, np.arange(300)))
    >>> index.search(X[[7, 99]] + 0.001, top=2).identities[:, 0].tolist()
    [7, 99]
    >>> index.enrol(X[:1] + 9.0, [300]).remove([7]).search(X[:1] + 9.0).identities.tolist()
    [[300]]
    """

    gallery: Gallery
    """Who is enrolled now."""
    tuned: Recall
    """What enrolled examples found when the index was built."""
    _axes: Axes
    _lift: Lift
    _cells: Any
    _owners: np.ndarray[Any, Any]
    """The identity of every point, by its number; numbers are never used again."""
    _enrolled: Bools
    """Which of them are still there."""
    _learnt_from: int

    def __init__(self, gallery: Gallery, *, recall: float = 0.99, oversample: int = 5) -> None:
        if not 0 < recall <= 1 or oversample < 1:
            raise InputError(f"recall lies in (0, 1] and oversample is ≥ 1, got {recall!r} and {oversample!r}")
        self.wanted, self.oversample = recall, oversample
        self._build(gallery)

    def __repr__(self) -> str:
        looked = f"looks at {self._cells.nprobe:,} of {counted(self._cells.nlist, 'cell')}"
        return f"GalleryIndex({self.gallery!r}, {looked}, {self.tuned})"

    # -- searching

    def search(self, probes: Examples, top: int = 1) -> Matches:
        """The `top` identities of every probe, best first, with the scores of the model, (p, top) each."""
        gallery = self.gallery
        if not isinstance(top, (int, np.integer)) or not 1 <= top <= len(gallery.names):
            raise InputError(f"top must be from 1 to the number of identities, {len(gallery.names)}, got {top!r}")
        probes = check_examples(same_features(gallery.model, probes), "probes")
        if np.shape(probes)[1:] != np.shape(gallery.compared)[1:]:
            raise InputError(
                f"probes have {np.shape(probes)[1]} columns, but the gallery has {np.shape(gallery.compared)[1]}"
            )
        per = ceil(self.oversample * top * self._per_identity)
        step = max(1, PAIRS // ceil(per * len(gallery.identities) / len(gallery.names)))
        n = count_examples(probes)
        blocks = (np.arange(first, min(n, first + step)) for first in range(0, max(n, 1), step))
        found = [self._search(take_examples(probes, block), top, per) for block in blocks]
        return Matches(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def recall(self, probes: Examples, top: int = 10) -> Recall:
        """The share of the `top` best of these probes that a search finds, against a comparison with everyone."""
        top = min(top, len(self.gallery.names))
        probes = widened(probes)  # exact scores of float32 are less exact than those of a search
        return self._recall(probes, self.gallery.identify(probes, top).scores)

    def _recall(self, probes: Examples, exact: Floats) -> Recall:
        found, top = self.search(probes, exact.shape[1]).scores, exact.shape[1]
        # By scores, not by names: of equals any is right. Block and pair scores differ in the last digits.
        digits = 1e-4 if getattr(self.gallery.compared, "dtype", None) == np.float32 else 1e-9
        least = exact[:, -1:] - digits * np.maximum(1.0, np.abs(exact[:, -1:]))
        return Recall(float((found >= least).mean()), top, len(exact))

    def _search(self, probes: Examples, top: int, per: int) -> Matches:
        _, ids = self._cells.search(self._axes.probes(probes), min(per, self._cells.ntotal))
        codes = np.searchsorted(self.gallery.names, self._owners[ids])
        codes = np.sort(np.where(ids < 0, -1, codes), axis=1)
        codes[:, 1:][codes[:, 1:] == codes[:, :-1]] = -1
        scores = self._scores(probes, codes)
        few = np.flatnonzero((codes >= 0).sum(axis=1) < top)
        # Sorted by number, so that equal scores come in the order of `names`.
        columns = largest_columns(scores, min(top, scores.shape[1]))
        scores, codes = (np.take_along_axis(side, columns, axis=1) for side in (scores, codes))
        if not len(few):
            return Matches(self.gallery.names[codes], scores)
        identities = np.empty((len(codes), top), dtype=self.gallery.names.dtype)
        values, many = np.empty((len(codes), top)), np.setdiff1d(np.arange(len(codes)), few)
        identities[many], values[many] = self.gallery.names[codes[many]], scores[many]
        identities[few], values[few] = self.gallery.identify(take_examples(probes, few), top)
        return Matches(identities, values)

    def _scores(self, probes: Examples, codes: Ints) -> Floats:
        """The model's scores of every probe with its candidates, (p, c); −∞ where there is none."""
        gallery, there, scores = self.gallery, codes >= 0, np.full(codes.shape, -np.inf)
        if not there.any():
            return scores
        who, first = np.nonzero(there)[0], gallery.starts[codes[there]]
        lengths = gallery.starts[codes[there] + 1] - first
        begins = np.cumsum(lengths) - lengths
        rows = np.repeat(first - begins, lengths) + np.arange(lengths.sum())
        used, right = np.unique(rows, return_inverse=True)
        both = stack_examples(probes, take_examples(gallery.compared, used))
        pairs = Pairs(both, np.repeat(who, lengths), count_examples(probes) + right.ravel())
        scores[there] = gallery.pooled(np.asarray(gallery.model.decision_function(pairs), dtype=np.float64), begins)
        return scores

    # -- who is enrolled

    def enrol(self, examples: Examples, identities: Any) -> Self:
        """Add examples, of new identities or of known ones; many at once, for each call copies the table of examples.

        Cells are learnt anew when the gallery has doubled, or when someone lies beyond what they were made for.
        """
        gallery = self.gallery.joined(examples, identities)
        codes = np.unique(gallery.places(identities))
        rows, owners = self._rows(gallery, codes)
        beyond = self._lift.heights(rows).max() > self._lift.level
        if beyond or len(gallery.identities) > 2 * self._learnt_from:
            self._build(gallery)
            return self
        self._forget(gallery.names[codes])
        self.gallery = gallery
        self._add(rows, owners)
        return self

    def remove(self, identities: Any) -> Self:
        """Take identities and all of their examples out."""
        gone = self.gallery.names[self.gallery.places(identities)]
        self.gallery = self.gallery.without(identities)
        self._forget(gone)
        return self

    def _forget(self, identities: Any) -> None:
        ids = np.flatnonzero(self._enrolled & np.isin(self._owners, identities))
        self._cells.remove_ids(ids)
        self._enrolled[ids] = False

    def _add(self, rows: Floats, owners: Any) -> None:
        ids = len(self._owners) + np.arange(len(rows))
        for block in _blocks(len(rows)):
            self._cells.add_with_ids(self._lift.points(rows[block]), ids[block])
        self._owners = np.concatenate([self._owners, owners])
        self._enrolled = np.concatenate([self._enrolled, np.ones(len(rows), dtype=bool)])

    # -- building

    def _build(self, gallery: Gallery) -> None:
        faiss = load_faiss()
        form = bilinear(gallery.model)
        if not form.whole and gallery.how == "mean" and gallery.pool == "scores" and gallery.sizes.max() > 1:
            raise InputError(
                'means of distances are not searched; pass how="max" or pool="examples" when the gallery is made '
                "(MODEL GALLERY PROBES with --pool max or mean-example: a saved gallery keeps its pooling, so enrol "
                f"anew), or {ADVICE}"
            )
        rng = np.random.default_rng(0)
        some = np.sort(rng.permutation(count_examples(gallery.compared))[:SAMPLE])
        self._axes = Axes.learn(form, take_examples(gallery.compared, some))
        rows, owners = self._rows(gallery, np.arange(len(gallery.names)))
        self._lift = Lift.learn(rows)
        n, width = rows.shape
        cells = max(1, min(int(2 * sqrt(n)), n // PER_CELL))
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, cells)
        index.cp.niter, index.cp.min_points_per_centroid = 8, 1
        index.train(self._lift.points(rows[np.sort(rng.permutation(n)[: PER_CELL * cells])]))
        self.gallery, self._cells, self._learnt_from = gallery, index, len(gallery.identities)
        self._owners, self._enrolled = owners[:0], np.zeros(0, dtype=bool)
        self._add(rows, owners)
        self._tune(take_examples(gallery.compared, some[:: ceil(len(some) / TUNED_BY)]))

    def _tune(self, probes: Examples) -> None:
        """Look at more cells, half as many again, until enrolled examples find their best, or at all of them."""
        probes = widened(probes)
        exact = self.gallery.identify(probes, min(TUNED_TOP + 1, len(self.gallery.names))).scores
        cells, looked = self._cells.nlist, 4
        while True:
            self._cells.nprobe = min(looked, cells)
            found = self._recall(probes, exact)
            # They find themselves for nothing, which no probe does.
            others = found.top - 1
            share = max(0.0, (found.value * found.top - 1) / max(1, others))
            self.tuned = Recall(share, others, found.probes) if others else found
            if self.tuned.value >= self.wanted:
                return
            if looked >= cells:
                break
            looked += looked // 2
        if self.tuned.value < self.wanted - SHORT:
            warn_user(POOR.format(self.tuned, self.wanted), ApproximationWarning)

    def _rows(self, gallery: Gallery, codes: Ints) -> tuple[Floats, Any]:
        """What is indexed of these identities: a row per example or, of means, per identity; and whose it is."""
        starts = gallery.starts
        lengths = starts[codes + 1] - starts[codes]
        begins = np.cumsum(lengths) - lengths
        places = np.repeat(starts[codes] - begins, lengths) + np.arange(lengths.sum())
        parts = [self._axes.enrolled(take_examples(gallery.compared, places[block])) for block in _blocks(len(places))]
        rows, owners = np.concatenate(parts), np.repeat(gallery.names[codes], lengths)
        if not np.isfinite(rows).all():
            raise InputError("scores are too large for the single precision of an index; scale the examples")
        if gallery.how != "mean":
            return rows, owners
        return np.add.reduceat(rows, begins, axis=0) / lengths[:, None].astype(np.float32), gallery.names[codes]

    @property
    def _per_identity(self) -> float:
        """Points of an identity, on average: its best may come behind all of those of better ones."""
        return float(self._cells.ntotal / len(self.gallery.names))


@cache
def load_faiss() -> Any:
    """FAISS, or how to install it; it takes as many threads as BLAS may, and one in a forked child."""
    try:
        with delayed():
            import faiss
    except ImportError as error:
        raise InputError('an index needs FAISS: pip install "pairlearn[search]"') from error
    faiss.omp_set_num_threads(BLAS.allowed())
    os.register_at_fork(after_in_child=lambda: faiss.omp_set_num_threads(1))
    return faiss


def _blocks(n: int) -> list[slice]:
    return [slice(first, min(n, first + STEP)) for first in range(0, n, STEP)]
