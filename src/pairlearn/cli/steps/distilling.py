"""The steps of `pairlearn distil`: a smaller model, its loss in words and as JSON, and the sizes of both files."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pairlearn as pl
from pairlearn.cli.run import Run, learnt_from
from pairlearn.cli.terminal import say
from pairlearn.data.layout import Columns
from pairlearn.errors import ApproximationWarning
from pairlearn.words import sized


def distilled(
    run: Run, model: Any, about: Mapping[str, Any], path: Path, columns: Columns, wanted: tuple[float, str, int]
) -> tuple[Any, dict[str, Any]]:
    """The smaller model, and what it loses and saves, for the record."""
    table = run.examples(path, columns, learnt=learnt_from(about))
    loss, dtype, seed = wanted
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ApproximationWarning)
        found = pl.distil(model, table.examples, classes=table.classes, loss=loss, dtype=dtype, seed=seed)
    for warning in caught:
        run.warn(str(warning.message))
    told = found.loss
    say(run.out, str(told))
    result = {
        "bytes_before": told.bytes[0],
        "bytes_after": told.bytes[1],
        "seconds_before": told.seconds[0],
        "seconds_after": told.seconds[1],
        "pairs": told.n_pairs,
        "rms": told.rms,
        "largest": told.largest,
        "spread": told.spread,
        "changed": told.changed,
    }
    limits = None if told.eer is None else [told.eer.estimate, told.eer.low, told.eer.high]
    return found.model, {**result, "eer_difference": limits}


def shown_sizes(run: Run, before: Path, after: Path) -> dict[str, int]:
    """Bytes of both files; an untrained baseline has none."""
    sizes = {"file_after": after.stat().st_size}
    if before.exists():
        sizes["file_before"] = before.stat().st_size
        run.note(f"{before} has {sized(sizes['file_before'])}, {after} {sized(sizes['file_after'])}")
    return sizes
