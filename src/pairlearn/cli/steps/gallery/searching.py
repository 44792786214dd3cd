"""The search of `pairlearn identify`: everyone in blocks, or by an index; by the model and by untrained baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, baselines, titled
from pairlearn.cli.run import Run
from pairlearn.cli.terminal import progress_bar
from pairlearn.data.tables import ExampleTable
from pairlearn.errors import InputError
from pairlearn.scorers import GalleryIndex
from pairlearn.scorers.gallery import Matches, ranks_in
from pairlearn.types import Floats, Ints
from pairlearn.words import counted

WAYS = ("auto", "exact", "index")
LARGE, MANY = 50_000, 2_000
"""Enrolled examples, and probes, from which on "auto" takes an index: with fewer, comparing with everyone is done
before an index is built."""
MEASURED, STEP = 200, 1024
"""Probes that the recall is measured on, and that are searched at a time."""


@dataclass(frozen=True, eq=False)
class Found:
    """The best identities of every probe and their scores, (p, top); the rank of the true one, 0 if not enrolled."""

    identities: Any
    scores: Floats
    ranks: Ints


def search_all(
    run: Run, gallery: pl.Gallery, probes: ExampleTable, top: int, way: str
) -> tuple[dict[str, Found], dict[str, Any]]:
    """The search by the model and, where identities of probes are known, by other, untrained models; and how."""
    systems = {MODEL: gallery}
    if probes.classes is not None:
        parts = (gallery.examples, gallery.identities, gallery.pool, gallery.how)
        plain = getattr(gallery.model, "model", gallery.model)
        rivals = {name: rival for name, rival in baselines(plain).items() if type(rival) is not type(plain)}
        systems |= {name: pl.Gallery(rival, *parts) for name, rival in rivals.items()}
    indexes = _indexes(run, systems, len(probes.ids), way)
    truth = truth_of(gallery, probes)
    with _progress(len(systems) * len(probes.ids)) as advance:
        found = {
            name: searched(indexes.get(name, each), probes.examples, truth, top, partial(advance, name))
            for name, each in systems.items()
        }
    return found, _told(run, indexes.get(MODEL, gallery), probes.examples, top)


def _indexes(run: Run, systems: Mapping[str, pl.Gallery], n_probes: int, way: str) -> dict[str, GalleryIndex]:
    """Indexes where they are asked for, or where they pay; who cannot have one is compared with everyone."""
    if way not in WAYS:
        raise InputError(f"there is no search {way!r}; --search is one of {', '.join(WAYS)}")
    pays = len(systems[MODEL].identities) >= LARGE and n_probes >= MANY
    found: dict[str, GalleryIndex] = {}
    for name, gallery in systems.items() if way == "index" or (way == "auto" and pays) else ():
        try:
            with run.err.status("building an index"):
                found[name] = GalleryIndex(gallery)
        except InputError as error:
            if way == "index" and name == MODEL:
                raise
            run.note(f"{name} is compared with everyone: {str(error).partition(';')[0]}")
    return found


def _told(run: Run, how: pl.Gallery | GalleryIndex, probes: Floats, top: int) -> dict[str, Any]:
    """Say how was searched, and what an index has missed."""
    if isinstance(how, pl.Gallery):
        run.note(f"every probe was compared with {counted(len(how.identities), 'enrolled example')}")
        return {"search": "exact"}
    some = np.linspace(0, len(probes) - 1, min(MEASURED, len(probes))).astype(np.int64)
    with run.err.status("measuring the recall"):
        recall = how.recall(probes[some], top)
    run.note(f"searched by an index, {recall}, scores by the model; --search exact compares with everyone")
    return {"search": "index", "recall": recall._asdict()}


def searched(
    how: pl.Gallery | GalleryIndex, probes: Floats, truth: Ints, top: int, advance: Callable[[int], None]
) -> Found:
    """Search for every probe, block by block; `truth` is the place of its identity in the names, or −1."""
    found = []
    for matches, ranks in (_by_index if isinstance(how, GalleryIndex) else _by_everyone)(how, probes, truth, top):
        found.append((*matches, ranks))
        advance(len(ranks))
    identities, scores, ranks = (np.concatenate(column) for column in zip(*found, strict=True))
    return Found(identities, scores, np.where(truth < 0, 0, ranks))


def _by_everyone(gallery: Any, probes: Floats, truth: Ints, top: int) -> Iterator[tuple[Matches, Ints]]:
    first = 0
    for block in gallery.blocks(probes):
        own = np.maximum(truth[first : first + len(block)], 0)
        first += len(block)
        yield gallery.best(block, top), ranks_in(block, own)


def _by_index(index: Any, probes: Floats, truth: Ints, top: int) -> Iterator[tuple[Matches, Ints]]:
    """The true identity has a rank among those found, behind equals, or comes after all of them."""
    for first in range(0, len(probes), STEP):
        found = index.search(probes[first : first + STEP], top)
        own = index.gallery.names[np.maximum(truth[first : first + STEP], 0)]
        score = np.where(found.identities == own[:, None], found.scores, -np.inf).max(axis=1)
        yield found, np.where(score > -np.inf, (found.scores >= score[:, None]).sum(axis=1), top + 1)


def truth_of(gallery: pl.Gallery, probes: ExampleTable) -> Ints:
    """The place of every probe's identity among the names of the gallery, −1 where it is not enrolled or unknown."""
    if probes.classes is None:
        return np.full(len(probes.ids), -1)
    return gallery.places(probes.classes)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str, int], None]]:
    with progress_bar() as bars:
        task = bars.add_task("searching", total=total, state="")
        yield lambda name, done: bars.update(task, advance=done, state=titled(name))
