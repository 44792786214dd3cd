"""The steps of `pairlearn identify`: enrol, set a threshold, and set the rates of a search beside baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import pairlearn as pl
from pairlearn.cli.comparison import MODEL, titled
from pairlearn.cli.run import Run, learnt_from
from pairlearn.cli.steps.gallery.searching import Found, truth_of
from pairlearn.cli.steps.kinds import kind_of_model, title_of
from pairlearn.cli.terminal import percent, say
from pairlearn.cli.terminal import table as figures
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable
from pairlearn.errors import InputError
from pairlearn.pairs import Pairs
from pairlearn.selection import find_leaks
from pairlearn.types import Bools, Floats, Ints
from pairlearn.words import counted

Pooling = tuple[Literal["examples", "scores"], Literal["mean", "max", "direction"]]
POOLS: dict[str, Pooling] = {
    "mean": ("scores", "mean"),
    "max": ("scores", "max"),
    "mean-example": ("examples", "mean"),
    "mean-direction": ("examples", "direction"),
}
"""How several examples of an identity become one score, by the name of --pool."""
MOST_SEARCHES, MOST_SCORES = 2_000, 20_000_000
"""Examples of the gallery, and scores of them, that a threshold is set by; of more a sample is taken."""
SURE = 1.96
"""Standard errors beyond which a difference is called one: 95 % of the time."""
FEWEST = 10
"""Identities below which nothing is said of who wins."""
VERDICTS = {
    "better": "The model is better than untrained {rival}: {told}.",
    "tied": "The model and untrained {rival} are tied: {told}. Use untrained {rival}, or learn from more identities.",
    "worse": "The model is worse than untrained {rival}: {told}. Use untrained {rival}, or learn from more identities.",
    "too few": "These are too few identities to tell the model from untrained {rival}: {told}. Give more probes.",
}
"""What is said of the model and the best baseline, with the next step."""


# --------------------------------------------------------------------------- gallery and probes


class Enrolled(NamedTuple):
    """A gallery, what is known of the model and of the table it was made from, and what is said of the probes."""

    gallery: pl.Gallery
    about: Mapping[str, Any]
    layout: Mapping[str, Any]
    columns: Columns


def check_model(machine: Any, about: Mapping[str, Any], path: Path) -> None:
    """Refuse models whose scores do not say how alike two examples are."""
    function = getattr(getattr(machine, "model", machine), "function_", None)
    if not kind_of_model(machine, about).alike:
        raise InputError(
            f"{path} is {title_of(machine, about)}: identify needs a model whose larger scores mean more alike"
        )
    if function is not None and function.n_tables == 2:
        raise InputError(f"{path} compares examples of two tables; identify needs a model of one table")


def enrol(
    run: Run, model: Path, gallery: Path, probes: Path | None, columns: Columns, pool: str | None
) -> tuple[Enrolled, Path]:
    """The gallery, and the file of the probes, which comes second if the model is a gallery already."""
    machine, about = run.model(model)
    if isinstance(machine, pl.Gallery):
        if probes is not None:
            raise InputError(f"{model} is a gallery of {counted(len(machine.names), 'identity')}: give PROBES only")
        if pool is not None:
            raise InputError(
                f"{model} is a gallery, which keeps how it was pooled: leave --pool out, "
                f"or enrol anew: MODEL GALLERY PROBES --pool {pool} --save-gallery …"
            )
        return Enrolled(machine, about, learnt_from(about, "gallery"), columns), gallery
    if probes is None:
        raise InputError(f"{model} is {title_of(machine)}, not a saved gallery: give GALLERY and PROBES")
    check_model(machine, about, model)
    return _enrolled(run, machine, about, gallery, columns, "mean" if pool is None else pool), probes


def _enrolled(run: Run, machine: Any, about: Mapping[str, Any], path: Path, columns: Columns, pool: str) -> Enrolled:
    """Enrol the examples of a table, whose classes are the identities."""
    if pool not in POOLS:
        raise InputError(f"there is no pooling {pool!r}; --pool is one of {', '.join(POOLS)}")
    table = run.examples(path, columns, learnt=learnt_from(about), role="gallery")
    gallery = pl.Gallery(machine, table.examples, np.array(table.required_classes()), *POOLS[pool])
    # Ids and classes were named for the gallery; probes have them in columns of these names, or lack them.
    return Enrolled(gallery, about, run.inputs["gallery"]["layout"], Columns(features=columns.features))


def read_probes(run: Run, path: Path, known: Enrolled) -> ExampleTable:
    """Probes with the columns of the gallery; their classes may be missing."""
    table = run.examples(path, known.columns, learnt=known.layout, role="probes")
    if table.examples.shape[1] != known.gallery.examples.shape[1]:
        raise InputError(
            f"{table.source} has {counted(table.examples.shape[1], 'feature')}, the gallery has "
            f"{known.gallery.examples.shape[1]}; choose the same columns with --features"
        )
    return table


# --------------------------------------------------------------------------- thresholds


class Asked(NamedTuple):
    """What was asked of the threshold; at most one of these."""

    threshold: float | None = None
    fmr: float | None = None
    fpir: float | None = None


def with_threshold(run: Run, gallery: pl.Gallery, asked: Asked, seed: int) -> pl.Gallery:
    """The gallery with a model that has the threshold asked for, or its own, or none."""
    if sum(value is not None for value in asked) > 1:
        raise InputError("--threshold, --fmr and --fpir all set the threshold; give one of them")
    own = gallery.model
    value = asked.threshold
    if asked.fmr is not None or asked.fpir is not None:
        value = _threshold_by_gallery(run, gallery, asked, seed)
    if value is None:
        return gallery
    plain, calibration = (own.model, own.calibration) if isinstance(own, pl.Verifier) else (own, None)
    verifier = pl.Verifier(plain, float(value), calibration)
    return pl.Gallery(verifier, gallery.examples, gallery.identities, gallery.pool, gallery.how)


def _threshold_by_gallery(run: Run, gallery: pl.Gallery, asked: Asked, seed: int) -> float:
    """The threshold at which enrolled examples, compared with identities of others, keep the rate."""
    per_search = asked.fpir is not None
    rate = asked.fpir if asked.fpir is not None else asked.fmr
    if rate is None or not 0 < rate < 1:
        raise InputError(f"a rate lies between 0 and 1, got {rate}; try 0.01")
    if len(gallery.names) < 2:
        raise InputError("a threshold needs a gallery of two or more identities; give one with --threshold")
    with run.err.status("setting the threshold"):
        values = _impostors(gallery, per_search, seed)
    what = "search" if per_search else "comparison"
    run.note(f"threshold set by {counted(len(values), what, f'{what}es' if per_search else '')} of enrolled examples")
    if rate * len(values) < 1:
        run.warn(f"so few cannot show a rate of {rate:g}: the threshold lies just above all of them")
    return above(values, int(rate * len(values)))


def _impostors(gallery: pl.Gallery, per_search: bool, seed: int) -> Floats:
    """Scores of enrolled examples with identities that are not theirs: the highest of each example, or all."""
    n = len(gallery.identities)
    most = MOST_SEARCHES if per_search else max(1, min(MOST_SEARCHES, MOST_SCORES // len(gallery.names)))
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:most])
    own, found, first = np.searchsorted(gallery.names, gallery.identities[rows]), [], 0
    for block in gallery.blocks(gallery.examples[rows]):
        block[np.arange(len(block)), own[first : first + len(block)]] = -np.inf
        first += len(block)
        found.append(block.max(axis=1) if per_search else block[block > -np.inf])
    return np.concatenate(found)


def above(values: Floats, allowed: int) -> float:
    """The least threshold that at most `allowed` of these values reach.

    >>> values = np.array([0.1, 0.9, 0.5])
    >>> [int((values >= above(values, allowed)).sum()) for allowed in range(4)]
    [0, 1, 2, 3]
    """
    falling = np.sort(values)[::-1]
    return float(np.nextafter(falling[allowed], np.inf)) if allowed < len(falling) else -np.inf


def threshold_in(gallery: pl.Gallery) -> float | None:
    """The threshold that the model of a gallery has."""
    return float(gallery.model.threshold) if isinstance(gallery.model, pl.Verifier) else None


# --------------------------------------------------------------------------- answers


def columns_of(gallery: pl.Gallery, probes: ExampleTable, found: Found) -> dict[str, Any]:
    """The table of answers: one row per probe and rank."""
    n, top = found.scores.shape
    scores = found.scores.ravel()
    columns: dict[str, Any] = {
        "probe": np.repeat(np.array(probes.ids), top),
        "rank": np.tile(np.arange(1, top + 1), n),
        "identity": found.identities.ravel(),
        "score": scores,
    }
    threshold = threshold_in(gallery)
    if threshold is not None:
        columns["decision"] = np.where(scores >= threshold, "match", "unknown")
        if gallery.model.calibration is not None:
            columns["probability"] = gallery.model.calibration.probability(scores)
    return columns


# --------------------------------------------------------------------------- rates


@dataclass(frozen=True, eq=False)
class Judged:
    """Which probes count: of enrolled identities, and of others; probes that are enrolled themselves are neither.

    `truth` is the place of the identity of every probe among the names of the gallery.
    """

    mated: Bools
    others: Bools
    copies: Ints
    truth: Ints

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        return {"mated": int(self.mated.sum()), "others": int(self.others.sum()), "copies": len(self.copies)}


def judged(gallery: pl.Gallery, probes: ExampleTable) -> Judged:
    """Sort the probes by what they can tell; copies of enrolled examples are found by content."""
    tables = (np.asarray(gallery.examples), probes.examples)
    each = [Pairs(table, *[np.arange(len(table))] * 2) for table in tables]
    copies = find_leaks(*each).examples
    counts = ~np.isin(np.arange(len(probes.ids)), copies)
    truth = truth_of(gallery, probes)
    return Judged((truth >= 0) & counts, (truth < 0) & counts, copies, truth)


def _of_strangers(run: Run, console: Any, found: Found, of: Judged, threshold: float | None) -> dict[str, Any]:
    """All that can be said when nobody enrolled is looked for: how many strangers are taken for somebody."""
    if not of.others.any():
        run.warn("no probe counts, so there are no rates; give other examples than those of the gallery")
        return {}
    run.warn("no probe that counts is of an enrolled identity, so nobody can be recognised or missed")
    if threshold is None:
        return {}
    fpir = float((found.scores[of.others, 0] >= threshold).mean())
    say(console, f"FPIR {percent(fpir)}: this share of strangers is taken for somebody")
    return {"rates": {MODEL: {"fpir": fpir}}}


def rates_of(systems: Mapping[str, Found], judged: Judged, threshold: float | None) -> dict[str, dict[str, float]]:
    """Rates at rank 1 and at the last rank; with a threshold FPIR and FNIR, of baselines at the FPIR of the model."""
    allowed = 0 if threshold is None else int((systems[MODEL].scores[judged.others, 0] >= threshold).sum())
    rates: dict[str, dict[str, float]] = {}
    for name, found in systems.items():
        ranks, top = found.ranks[judged.mated], found.scores.shape[1]
        rates[name] = {"rank-1": float((ranks == 1).mean()), f"rank-{top}": float((ranks <= top).mean())}
        cut = threshold if name == MODEL else _same_fpir(found, judged, allowed)
        if threshold is None or cut is None:
            continue
        rates[name]["fnir"] = float(1 - _hits(found, judged, cut).mean())
        if judged.others.any():
            rates[name]["fpir"] = float((found.scores[judged.others, 0] >= cut).mean())
    return rates


def _same_fpir(found: Found, judged: Judged, allowed: int) -> float | None:
    """The threshold of a baseline that accepts as many probes of others as the model does."""
    return above(found.scores[judged.others, 0], allowed) if judged.others.any() else None


def _hits(found: Found, judged: Judged, threshold: float = -np.inf) -> Bools:
    """Which probes of enrolled identities get the right answer."""
    return np.asarray((found.ranks == 1) & (found.scores[:, 0] >= threshold))[judged.mated]


def verdict_of(systems: Mapping[str, Found], judged: Judged) -> dict[str, Any] | None:
    """Rank 1 of the model beside the best baseline, with limits over identities; None without a baseline."""
    hits = {name: _hits(found, judged).astype(float) for name, found in systems.items()}
    own = hits.pop(MODEL)
    if not hits:
        return None
    best = max(hits, key=lambda name: hits[name].mean())
    gain = own - hits[best]
    _, unit = np.unique(judged.truth[judged.mated], return_inverse=True)
    mean, limit, n = float(gain.mean()), SURE * _error(gain, unit), int(unit.max()) + 1
    relation = "better" if mean > limit else "worse" if mean < -limit else "tied"
    relation = "too few" if n < FEWEST else relation
    told = (
        f"{percent(own.mean())} against {percent(hits[best].mean())} at rank 1, difference {100 * mean:+.2f} ± "
        f"{100 * limit:.2f} points over {counted(n, 'identity')}"
    )
    return {
        "verdict": relation,
        "against": best,
        "gain": mean,
        "limits": [mean - limit, mean + limit],
        "identities": n,
        "words": VERDICTS[relation].format(rival=titled(best), told=told),
    }


def _error(gain: Floats, unit: Ints) -> float:
    """Standard error of the mean gain over draws of identities: probes of one identity stand or fall together."""
    n = int(unit.max()) + 1
    sums = np.bincount(unit, gain - gain.mean())
    return float(np.sqrt((sums**2).sum() * n / max(n - 1, 1)) / len(gain))


# --------------------------------------------------------------------------- what is said


def show(run: Run, known: Enrolled, probes: ExampleTable, systems: Mapping[str, Found]) -> dict[str, Any]:
    """What was decided and, where identities of probes are known, how often it is right; for the record too."""
    console = run.err if str(run.options["out"]) == "-" else run.out
    threshold = threshold_in(known.gallery)
    result: dict[str, Any] = {"threshold": threshold}
    if threshold is not None:
        accepted = int((systems[MODEL].scores[:, 0] >= threshold).sum())
        result["matches"] = accepted
        say(console, f"threshold {threshold:.6g}: {accepted:,} of {counted(len(probes.ids), 'probe')} match somebody")
        _warn_of_size(run, known.gallery)
    if probes.classes is None:
        say(console, "Identities of the probes are not known (--class-column), so nothing is said of errors.")
        return result
    of = judged(known.gallery, probes)
    _show_counts(run, probes, of)
    if not of.mated.any():
        return result | of.counts | _of_strangers(run, console, systems[MODEL], of, threshold)
    rates = rates_of(systems, of, threshold)
    console.print(_rates_table(rates))
    verdict = verdict_of(systems, of)
    if verdict is not None:
        say(console, verdict["words"])
    return {**result, **of.counts, "rates": rates, "verdict": verdict}


def _warn_of_size(run: Run, gallery: pl.Gallery) -> None:
    """A threshold for one comparison accepts strangers far more often in a search among many."""
    threshold = gallery.model.threshold
    rate = run.options["fmr"] or getattr(threshold, "fmr_limit", None) or getattr(threshold, "fmr", None)
    n = len(gallery.names)
    if rate and n > 1:
        most = percent(min(1.0, n * rate))
        run.warn(
            f"this threshold is for one comparison (FMR {rate:.2g}); a search among {n:,} identities may accept up to "
            f"{most} of strangers: --fpir sets one for searches"
        )


def _show_counts(run: Run, probes: ExampleTable, of: Judged) -> None:
    known, others = int(of.mated.sum()), int(of.others.sum())
    run.note(f"{counted(known, 'probe')} of enrolled identities, {others:,} of others")
    if len(of.copies):
        first = probes.ids[of.copies[0]]
        some = counted(len(of.copies), "probe is enrolled itself", "probes are enrolled themselves")
        run.warn(f"{some} (same features, e.g. {first}) and left out of the rates")


def _rates_table(rates: Mapping[str, Mapping[str, float]]) -> Any:
    names = {"fnir": "FNIR", "fpir": "FPIR"}
    headings = list(rates[MODEL])
    drawn = figures(("", *(names.get(heading, heading) for heading in headings)))
    for name, values in rates.items():
        cells = [percent(values[heading]) if heading in values else "–" for heading in headings]
        drawn.add_row(name if name == MODEL else f"{titled(name)} (untrained)", *cells)
    return drawn
