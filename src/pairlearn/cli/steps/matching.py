"""Steps of `match` and `dedupe`: read records and labels, learn, tell what it is worth, write tables and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairlearn import records
from pairlearn.cli.commands.records.options import RecordOptions, RecordOutputs
from pairlearn.cli.options import PairOptions
from pairlearn.cli.run import Run
from pairlearn.cli.terminal import percent, say, table
from pairlearn.data.files.sources import find_source
from pairlearn.data.writing import check_table_target, write_whole
from pairlearn.errors import InputError, MissingIdsError
from pairlearn.records import RecordMatcher, RecordPairs, Records, UnlabelledMatcher
from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.judging import Judged, Verdict, answers_among, boosted_trees, judge, scores_of, verdict
from pairlearn.records.machine import deal_folds
from pairlearn.records.matcher import Groups, Matcher, Matches
from pairlearn.types import Bools, Floats, Ints
from pairlearn.words import counted

COSINE, MARGIN = "whole record: characters", "whole record: above the best rival, both sides (characters)"
IMPLAUSIBLE = 0.5
"""Share of duplicates in a table that is not believed without labels."""


class Known(NamedTuple):
    """Labelled pairs and their labels ±1."""

    pairs: RecordPairs
    labels: Ints


class LearntMatcher(NamedTuple):
    """A matcher, how good it is beside rivals where that is known, and what its file said."""

    matcher: Matcher
    judged: Sequence[Judged] = ()
    verdict: Verdict | None = None
    about: Mapping[str, Any] | None = None


# --------------------------------------------------------------------------- reading


def check_outputs(run: Run, outputs: RecordOutputs, force: bool) -> None:
    """Refuse what cannot be written before the work begins."""
    if outputs.review is not None:
        check_table_target(outputs.review, force=force)
    run.check_outputs(outputs.report, force=force)
    run.check_models(outputs.save_model, force=force)
    if outputs.report is not None:
        from pairlearn.report.html import environment

        environment()


def read_tables(run: Run, paths: Sequence[Path], options: RecordOptions) -> tuple[Records, ...]:
    """Records of one or two tables; says what was found."""
    sides = []
    dropped, known = options.drop or (), set[str]()
    for path, role in zip(paths, ("examples", "right"), strict=False):
        source = run.noted(find_source(path), role)
        found = Records.of(source, options.id_column, [])
        known.update(found.columns)
        kept = {name: cells for name, cells in found.columns.items() if name not in dropped}
        sides.append(Records(found.ids, kept, found.source, found.notes, found.id_column))
        run.note(f"{found.source}: {counted(len(found), 'record')}; {ids_of(found)}")
        for text in found.notes:
            run.note(f"{found.source}: {text}")
    unknown = [name for name in dropped if name not in known]
    if unknown:
        raise InputError(f"--drop {unknown[0]!r}: no table has this column")
    if len(sides) == 2:
        lone = sorted({*sides[0].columns} ^ {*sides[1].columns})
        if lone:
            run.note(f"only one table has {', '.join(lone)}; not compared")
    return tuple(sides)


def ids_of(found: Records) -> str:
    """Where the ids come from."""
    return f"ids in {found.id_column}" if found.id_column else "ids are row numbers"


def read_labels(run: Run, path: Path | None, sides: Sequence[Records], options: PairOptions) -> Known | None:
    """Labelled pairs; rows without a label are left out, and of pairs that stand there twice the last counts."""
    if path is None:
        return None
    found = run.pairs(path, *options.names, role="labels").labelled()
    if not len(found):
        raise InputError(f"{found.source} has no labelled pair; write 1 or 0 into its column {found.label!r}")
    labels, _ = found.required_labels()
    try:
        pairs = RecordPairs.from_ids(sides[0], sides[1] if len(sides) > 1 else None, found.left, found.right)
    except MissingIdsError as error:
        raise MissingIdsError(f"{found.source}: {error}", error.missing) from None
    _, last = np.unique(pairs.keys[::-1], return_index=True)
    kept = np.sort(len(pairs) - 1 - last)
    if len(kept) < len(pairs):
        run.note(f"{counted(len(pairs) - len(kept), 'pair')} labelled more than once; the last label counts")
    if (own := pairs.reflexive[kept]).any():
        key = pairs.left.ids[pairs.left_rows[kept][int(own.argmax())]]
        run.note(f"{counted(int(own.sum()), 'label')} of a record with itself left out, e.g. {key}: it says nothing")
        kept = kept[~own]
    known = Known(pairs[kept], labels[kept])
    matches = int((known.labels > 0).sum())
    run.note(f"{counted(len(known.labels), 'labelled pair')}, {counted(matches, 'match', 'matches')}")
    return known


# --------------------------------------------------------------------------- learning


def learn(
    run: Run, sides: Sequence[Records], known: Known | None, model: Path | None, options: RecordOptions, seed: int
) -> LearntMatcher:
    """The saved matcher, or one learnt from labels, or one without."""
    right = sides[1] if len(sides) > 1 else None
    if model is not None:
        matcher, about = run.model(model, records=True)
        return LearntMatcher(matcher, about=about)
    comparer = Comparer.learn(sides[0], right, options.kinds(), rivals=options.rivals)
    run.note("columns: " + ", ".join(f"{name} ({kind})" for name, kind in comparer.kinds.items()))
    if known is None:
        return LearntMatcher(_without_labels(run, comparer, sides[0], right, options))
    matcher = RecordMatcher(options.kinds(), options.rivals, random_state=seed).fit(known.pairs, known.labels)
    for name in answers_among(matcher.comparer_, matcher.held_out.features, known.labels):
        run.warn(
            f"column {name!r} is equal in all matches and in no other pair; if it holds the answer, use --drop {name}"
        )
    return _judged(matcher, seed)


def _without_labels(
    run: Run, comparer: Comparer, left: Records, right: Records | None, options: RecordOptions
) -> UnlabelledMatcher:
    found = records.find_candidates(comparer, comparer.prepare(left, right), left, right, options.blocking())
    if len(found.pairs) < 2:
        raise InputError("without labels at least two pairs to look at are needed; give larger tables")
    run.warn("no labels: probabilities are what the tables alone suggest; label the --review list to learn and to know")
    return UnlabelledMatcher(options.kinds(), options.rivals).fit(found.pairs)


def _judged(matcher: RecordMatcher, seed: int) -> LearntMatcher:
    """The matcher beside cosine and boosted trees, on pairs that were held out."""
    held = matcher.held_out
    names = matcher.comparer_.feature_names
    folds = deal_folds(held.pairs.left_rows, held.labels, seed)
    systems: dict[str, Floats] = {
        "matcher": held.scores,
        "boosted trees": boosted_trees(held.features, held.labels, folds, seed),
        "cosine (untrained)": held.features[:, names.index(COSINE)].astype(np.float64),
    }
    if MARGIN in names:
        systems["nearest by far (untrained)"] = held.features[:, names.index(MARGIN)].astype(np.float64)
    judged = judge(held.pairs, held.labels, systems)
    return LearntMatcher(matcher, judged, verdict(held.pairs, held.labels, judged, systems))


# --------------------------------------------------------------------------- telling


def could_be_missed(scored: Matches) -> Bools:
    """Candidates that are no matches; where every record has one match at most, only those of records without any."""
    free = ~scored.chosen
    for rows in (scored.pairs.left_rows, scored.pairs.right_rows):
        taken, times = np.unique(rows[scored.chosen], return_counts=True)
        if times.max(initial=1) > 1:
            return ~scored.chosen
        free &= ~np.isin(rows, taken)
    return free


def tell(run: Run, learnt: LearntMatcher, scored: Matches, known: Known | None) -> dict[str, Any]:
    """What was found and what it is worth."""
    p, out = scored.probabilities, run.out
    recall = records.estimate_recall(
        scored.candidates, p, None if known is None else known.pairs[np.flatnonzero(known.labels > 0)]
    )
    wrong, missed = float((1.0 - p[scored.chosen]).sum()), float(p[could_be_missed(scored)].sum())
    if learnt.judged:
        drawn = table(("held-out labelled pairs", "F1", "limits over records"))
        for one in learnt.judged:
            known_limits = f"[{one.f1.low:.3f}, {one.f1.high:.3f}]" if one.f1.n_units else "too few pairs"
            drawn.add_row(one.name, f"{one.f1.estimate:.3f}", known_limits)
        out.print(drawn)
    if learnt.verdict is not None:
        say(out, learnt.verdict.words, lead="verdict:")
        if learnt.verdict.outcome == "worse":
            say(
                out, "learning did not pay here; label more pairs (--review), or trust the simpler method", lead="next:"
            )
    say(
        out,
        f"{counted(len(scored.pairs), 'candidate')} of {scored.candidates.possible:,} pairs "
        f"({percent(scored.candidates.share)}); {counted(int(scored.chosen.sum()), 'match', 'matches')} at "
        f"probability ≥ {scored.threshold:.2f}, of these {wrong:.0f} wrong and {missed:.0f} candidates missed, as "
        "expected from the probabilities",
    )
    say(out, recall_words(recall), lead="recall of candidates:")
    return {
        "candidates": len(scored.pairs),
        "share_of_pairs": scored.candidates.share,
        "matches": int(scored.chosen.sum()),
        "threshold": scored.threshold,
        "expected_wrong": wrong,
        "expected_missed": missed,
        "candidate_recall": {name: None if value != value else value for name, value in recall._asdict().items()},
        "kinds": learnt.matcher.comparer_.kinds,
        "f1": {one.name: [one.f1.estimate, one.f1.low, one.f1.high] for one in learnt.judged},
        "verdict": None if learnt.verdict is None else learnt.verdict.words,
    }


def recall_words(recall: Any) -> str:
    """How many matches the candidates can hold at all."""
    said = []
    if recall.of:
        said.append(
            f"{percent(recall.labelled, 1)} of {counted(recall.of, 'labelled match', 'labelled matches')} among them"
        )
    if recall.independent == recall.independent:
        said.append(f"about {percent(recall.independent, 1)} by capture and recapture of two ways to find them")
    return "; ".join(said) or "unknown; label matches that were found in another way"


def tell_clusters(run: Run, groups: Groups, *, unlabelled: bool) -> dict[str, Any]:
    """How many clusters there are; without labels, whether there are too many duplicates to believe."""
    sizes = np.bincount(groups.clusters)
    several = sizes[sizes > 1]
    say(
        run.out,
        f"{counted(len(groups.clusters), 'record')} are {counted(len(sizes), 'cluster')}, {len(several):,} of several "
        f"records, the largest of {int(sizes.max())}",
    )
    if unlabelled and several.sum() > IMPLAUSIBLE * len(groups.clusters):
        run.warn(
            f"{percent(several.sum() / len(groups.clusters), 0)} of the records would be duplicates; a table with few "
            "of them looks like that without labels, since what is merely alike is taken for the same"
        )
    return {"records": len(groups.clusters), "clusters": len(sizes), "largest": int(sizes.max())}


# --------------------------------------------------------------------------- writing


def matches_table(matcher: Matcher, scored: Matches) -> tuple[dict[str, Any], str]:
    """Ids, probability and reasons of every match, the surest first."""
    places = np.flatnonzero(scored.chosen)
    places = places[np.argsort(-scored.probabilities[places], kind="stable")]
    pairs = scored.pairs[places]
    left, right = pairs.ids
    why = records.explain_pairs(matcher, pairs).words() if len(places) else []
    columns = {"left": left, "right": right, "probability": scored.probabilities[places].round(6), "why": why}
    return columns, counted(len(places), "match", "matches")


def clusters_table(table: Records, groups: Groups) -> tuple[dict[str, Any], str]:
    """Id and cluster of every record, records of one cluster together, large clusters first."""
    sizes = np.bincount(groups.clusters)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((np.arange(len(sizes)), -sizes))] = np.arange(len(sizes))
    order = np.argsort(rank[groups.clusters], kind="stable")
    columns = {
        "id": [table.ids[row] for row in order],
        "cluster": rank[groups.clusters][order],
        "size": sizes[groups.clusters][order],
    }
    return columns, counted(len(sizes), "cluster")


def review_table(matcher: Matcher, scored: Matches, known: Known | None, n: int, seed: int) -> dict[str, Any]:
    """Pairs to label: ids, an empty label, and both records side by side."""
    places = records.review_order(scored, n, None if known is None else known.pairs, seed)
    pairs = scored.pairs[places]
    left, right = pairs.ids
    columns: dict[str, Any] = {"left": left, "right": right, "label": [""] * len(places)}
    columns["probability"] = scored.probabilities[places].round(4)
    columns["why"] = records.explain_pairs(matcher, pairs).words() if len(places) else []
    for name in matcher.comparer_.kinds:
        columns[f"left_{name}"] = [pairs.left.columns[name][row] or "" for row in pairs.left_rows]
        columns[f"right_{name}"] = [pairs.right_table.columns[name][row] or "" for row in pairs.right_rows]
    return columns


def write_outputs(
    run: Run,
    outputs: RecordOutputs,
    learnt: LearntMatcher,
    scored: Matches,
    known: Known | None,
    result: Mapping[str, Any],
    seed: int,
) -> None:
    """The list for review, the page, and the model."""
    if outputs.review is not None:
        columns = review_table(learnt.matcher, scored, known, outputs.questions, seed)
        run.table(outputs.review, columns, f"{counted(len(columns['left']), 'pair')} to label", result)
    if outputs.report is not None:
        from pairlearn.report.records import records_page

        held = _held_scores(learnt.matcher)
        page = records_page(run.command, learnt, scored, held, result, recall_of(result))
        write_whole(outputs.report, page.encode())
        run.note(f"page written to {outputs.report}")
    if outputs.save_model is not None:
        run.save(learnt.matcher, outputs.save_model, result, about=learnt.about)


def recall_of(result: Mapping[str, Any]) -> str:
    """The recall of candidates in words, from the record."""
    found = result["candidate_recall"]
    labelled, independent = (float("nan") if found[k] is None else found[k] for k in ("labelled", "independent"))
    return recall_words(records.Recall(labelled, found["of"], independent))


def _held_scores(matcher: Matcher) -> Any:
    """Probabilities of labelled pairs by machines that had not seen them; None where there are none."""
    if not isinstance(matcher, RecordMatcher) or not hasattr(matcher, "_held_out"):
        return None
    held = matcher.held_out
    return scores_of(held.pairs, matcher.calibration_.probability(held.scores), held.labels)
