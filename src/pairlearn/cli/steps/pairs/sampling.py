"""The steps of `pairlearn pairs sample`: pairs of a table with classes, written by id."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pairlearn.cli.run import Run, learnt_from
from pairlearn.data.tables import ExampleTable
from pairlearn.errors import InputError
from pairlearn.pairs import Pairs
from pairlearn.selection import HardNegatives, PairSampler, count_pairs
from pairlearn.words import counted


def hard_of(
    run: Run, name: str | None, candidates: int | None, random_share: float
) -> tuple[HardNegatives | None, Mapping[str, Any]]:
    """How negatives are mined, by an untrained baseline or by a model file, and the columns that the model knows."""
    if name is None:
        return None, {}
    scorer, about = run.model(Path(name))
    return HardNegatives(scorer, candidates, random_share), learnt_from(about)


def drawn(run: Run, table: ExampleTable, **settings: Any) -> Pairs:
    """The pairs in shuffled order; all positives and as many negatives, unless numbers were asked for.

    The sampler draws positives first. Whoever learns from a table row by row must not find it sorted by label.
    """
    classes = table.required_classes()
    exist = count_pairs(classes, reflexive=settings["reflexive"])
    if exist.positives == 0:
        raise InputError(f"{table.source}: every class has one example, so there is no positive pair; add examples")
    if settings["negatives"] is None and settings["ratio"] is None:
        settings["ratio"] = min(1.0, exist.negatives / exist.positives)
    run.note(f"there are {exist.positives:,} positive and {exist.negatives:,} negative pairs to draw from")
    with run.err.status("drawing pairs"):
        pairs = PairSampler(**settings).draw(table.examples, classes)
        return pairs[np.random.default_rng((settings["seed"], 1)).permutation(len(pairs))]


def columns_and_facts(table: ExampleTable, pairs: Pairs) -> tuple[dict[str, Any], dict[str, Any]]:
    """The table to write, and what it holds."""
    ids, classes, labels = np.array(table.ids), np.array(table.classes), pairs.labels(table.classes)
    used = pairs.used_examples()
    facts = {
        "pairs": len(pairs),
        "positives": int((labels > 0).sum()),
        "negatives": int((labels < 0).sum()),
        "examples": len(used),
        "classes": len(np.unique(classes[used])),
    }
    return {"left": ids[pairs.left], "right": ids[pairs.right], "label": labels}, facts


def in_words(facts: dict[str, Any]) -> str:
    """What was drawn."""
    return (
        f"{counted(facts['pairs'], 'pair')} ({facts['positives']:,} positive, {facts['negatives']:,} negative) of "
        f"{counted(facts['examples'], 'example')} of {counted(facts['classes'], 'class')}"
    )
