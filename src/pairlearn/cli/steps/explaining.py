"""The steps of `pairlearn explain`: one pair by ids, its score as a sum, in words, as JSON and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pairlearn as pl
from pairlearn.cli.options import RightOptions
from pairlearn.cli.run import Run, learnt_from
from pairlearn.cli.steps.fitting import WORDS
from pairlearn.cli.steps.kinds import title_of
from pairlearn.cli.terminal import percent, say
from pairlearn.cli.terminal import table as figures
from pairlearn.data.layout import Columns
from pairlearn.data.tables import ExampleTable
from pairlearn.errors import InputError
from pairlearn.evaluation.plots import SUFFIXES
from pairlearn.on_examples import is_pipeline
from pairlearn.pairs import Pairs
from pairlearn.scorers.distilling.scorer import DistilledRegressor, DistilledScorer
from pairlearn.scorers.explain import Explanation
from pairlearn.scorers.waterfall import draw_waterfall

HEADINGS = {"feature": "by feature", "example": "by training example", "pair": "by training pair"}


class Case(NamedTuple):
    """One pair as the machine inside a model sees it, what its examples are called, and names of features if known."""

    machine: Any
    pair: Pairs
    names: tuple[str, str]
    features: Sequence[str] | None
    ids: Sequence[str]


def check_picture(path: Path | None) -> None:
    """Refuse a picture of an unknown kind before the work begins."""
    if path is not None and path.suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot draw {path}; the name must end in one of {', '.join(SUFFIXES)}")


def case_of(
    run: Run, machine: Any, about: Mapping[str, Any], left: Path, columns: Columns, right: RightOptions, names: Any
) -> Case:
    """The pair of these two ids, from one table or two, as the innermost model sees it."""
    table = run.examples(left, columns, learnt=learnt_from(about))
    other = run.right_examples(right, learnt_from(about, "right"))
    rows = [row_of(table, names[0])], [row_of(other or table, names[1])]
    pair = Pairs(table.examples, *rows, right_examples=None if other is None else other.examples)
    inner = machine
    while hasattr(inner, "model"):
        inner = inner.model
    if is_pipeline(inner):
        return Case(inner[-1], inner[:-1].transform(pair), names, None, table.ids)
    return Case(inner, pair, names, None if other else feature_names(table), table.ids)


def row_of(table: ExampleTable, key: str) -> int:
    """The row of an id, or the ids that are spelled most like it."""
    if key in table.ids:
        return table.ids.index(key)
    near = get_close_matches(key, table.ids, 3)
    advice = f"did you mean {', '.join(near)}?" if near else f"its ids are such as {table.ids[0]} (see --id-column)"
    raise InputError(f"{table.source} has no example {key!r}; {advice}")


def feature_names(table: ExampleTable) -> list[str]:
    """Names of the columns; of one column of vectors with a number."""
    assert table.layout is not None
    columns, n = table.layout.columns, table.examples.shape[1]
    return list(columns) if len(columns) == n else [f"{columns[0]}[{place}]" for place in range(n)]


# --------------------------------------------------------------------------- why


def explained(run: Run, case: Case, asked: Sequence[str] | None) -> dict[str, Explanation]:
    """The score as a sum in every way asked for; by default by feature, or by example where that cannot be."""
    if isinstance(case.machine, (DistilledScorer, DistilledRegressor)):
        return {by: _explained(case, by) for by in asked or ["feature"]}
    if not hasattr(case.machine, "function_"):
        raise InputError(
            f"{title_of(case.machine)} is not explained: only scores that are sums over training pairs are, those of "
            "PairSVC, PairRanker, PairSVR and their like"
        )
    if asked:
        return {by: _explained(case, by) for by in asked}
    try:
        first = {"feature": _explained(case, "feature")}
    except InputError as error:
        run.note(f"not by feature: {str(error).split(';')[0]}")
        first = {"example": _explained(case, "example")}
    return {**first, "pair": _explained(case, "pair")}


def _explained(case: Case, by: Any) -> Explanation:
    if by not in HEADINGS:
        raise InputError(f"there is no way {by!r}; --by is one of {', '.join(HEADINGS)}")
    distilled = not hasattr(case.machine, "function_")
    names = case.features if by == "feature" or distilled else support_names(case)
    try:
        return replace(pl.explain(case.machine, case.pair, by=by, names=names), pair=case.names)
    except InputError as error:
        raise InputError(str(error).replace('by="example"', "--by example")) from None


def support_names(case: Case) -> list[str]:
    """Names of the training examples up to the last support example: ids of the table where the content is the same.

    So the names are right for the table that the model was learnt from, in any order, and for every part of it.
    """
    used = np.asarray(case.machine.support_examples_)
    names = [f"training example {row}" for row in range(int(used.max(initial=-1)) + 1)]
    anchors, examples = case.machine.function_.anchors, case.pair.examples
    if not anchors or not all(isinstance(part, np.ndarray) for part in (anchors[0], examples)):
        return names
    known = {row.tobytes(): key for row, key in zip(examples.astype(np.float64), case.ids, strict=True)}
    for row, content in zip(used.tolist(), np.asarray(anchors[0], dtype=np.float64), strict=False):
        names[row] = known.get(content.tobytes(), names[row])
    return names


# --------------------------------------------------------------------------- what is said


def result_of(model: Any, case: Case, found: Mapping[str, Explanation]) -> dict[str, Any]:
    """Score, decision and contributions, for the record."""
    score = next(iter(found.values())).score
    result: dict[str, Any] = {"left": case.names[0], "right": case.names[1], "score": score}
    if isinstance(model, pl.Verifier):
        threshold = float(model.threshold)
        result |= {"threshold": threshold, "decision": WORDS[1 if score >= threshold else -1]}
        if model.calibration is not None:
            result["probability"] = float(model.calibration.probability(np.array([score]))[0])
    result["bias"] = next(iter(found.values())).bias
    return {**result, **{by: dict(zip(one.names, one.values.tolist(), strict=True)) for by, one in found.items()}}


def show(run: Run, result: Mapping[str, Any], found: Mapping[str, Explanation], top: int) -> None:
    """The score, and what raises and lowers it most."""
    decided = f", threshold {result['threshold']:.4g}: {result['decision']}" if "decision" in result else ""
    likely = f", probability {percent(result['probability'])}" if "probability" in result else ""
    say(run.out, f"score {result['score']:+.4g}{decided}{likely}", lead=f"{result['left']} and {result['right']}:")
    for by, one in found.items():
        run.out.print(_sides(by, one, top))
    say(run.out, f"All contributions and the bias {result['bias']:+.4g} add up to the score.")


def _sides(by: str, found: Explanation, top: int) -> Any:
    """What speaks for and what against, largest first, side by side."""
    drawn = figures((f"for, {HEADINGS[by]}", "", "against", ""))
    drawn.columns[2].justify = "left"
    order = np.argsort(-found.values, kind="stable")
    sides = [[k for k in order if found.values[k] > 0], [k for k in order[::-1] if found.values[k] < 0]]
    for place in range(min(top, max(map(len, sides)))):
        cells = [_cell(found, side[place]) if place < len(side) else ("", "") for side in sides]
        drawn.add_row(*cells[0], *cells[1])
    sums = [_sum(found, side[top:]) for side in sides]
    if any(sums[0] + sums[1]):
        drawn.add_row(*sums[0], *sums[1])
    return drawn


def _cell(found: Explanation, place: int) -> tuple[str, str]:
    return found.names[place], f"{found.values[place]:+.3g}"


def _sum(found: Explanation, places: Sequence[int]) -> tuple[str, str]:
    """All others together."""
    return (f"{len(places):,} others", f"{found.values[list(places)].sum():+.3g}") if places else ("", "")


def draw(found: Mapping[str, Explanation], path: Path, top: int) -> None:
    """The first explanation as a picture."""
    draw_waterfall(next(iter(found.values())), path, top)
