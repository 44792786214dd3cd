"""What must hold of an object beyond its single fields, before it is saved and after it was read.

Parts of a model must fit each other: the kernel and the examples that it compares, the steps of a pipeline. Where that
is a matter of code and not of sizes, it is tried on one example, which costs next to nothing and shows here, not at the
first pair, that something is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import Columns, count_examples, take_examples
from pairlearn.functions.function import PairFunction
from pairlearn.kernels import Kernel
from pairlearn.on_examples import OnExamples, is_pipeline
from pairlearn.pair_kernels import PairKernel, Table, ViewKernel
from pairlearn.pair_kernels.finite import Arcs, Finite
from pairlearn.pair_kernels.scored import ModelScores
from pairlearn.persist.kinds import features_of
from pairlearn.persist.schemas import schema_of
from pairlearn.persist.transformers import TRANSFORMERS, is_transformer
from pairlearn.records.compare.comparisons import RECORD, TERMS_OF
from pairlearn.records.table import RecordPairs, Records
from pairlearn.words import counted

DAMAGE = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What parts that are missing or wrong may raise; InputError is a ValueError."""


def check_rules(found: Any, place: str) -> None:
    """Refuse a value or a fitted model whose parts do not fit each other."""
    rules = [RULES[base.__name__] for base in type(found).__mro__ if base.__name__ in RULES]
    try:
        with np.errstate(all="ignore"):
            for rule in rules:
                rule(found)
    except DAMAGE as error:
        raise InputError(f"{place.rstrip('.')}: {error}" if place else str(error)) from error


# --------------------------------------------------------------------------- kernels and what they compare


def _compare_one(kernel: Kernel, table: Any, place: str) -> None:
    """One example of a table with itself: a kernel of rows wants rows, of as many features as it knows."""
    if count_examples(table) == 0:
        return
    one = take_examples(table, np.array([0]))
    probe = np.ones((1, table.n_columns)) if isinstance(table, Columns) else one
    if np.shape(kernel(probe, one)) != (1, 1):
        raise InputError(f"the kernel of {place} does not give one number for two examples")
    if not isinstance(table, Columns):
        kernel.features(one)


def _check_function(function: PairFunction) -> None:
    """Compiled loops trust the indices of a function, so they are checked before anyone calls it."""
    if None in function.kernel.bases:
        raise InputError("the kernel of a learnt function has a part without base; fit it with a base")
    if any(anchor is None for anchor in function.anchors):
        raise InputError("anchor or right_anchor is missing, whose examples the kernel compares")
    if function.anchors and function.right.max(initial=-1) >= count_examples(function.anchors[-1]):
        raise InputError("right has a row number beyond the support examples")
    for base in function.kernel.bases:
        for side, anchor in zip(base.sides, function.anchors, strict=True) if base is not None else ():
            _compare_one(side, anchor, "anchor")
    _check_seen(function)


def _check_seen(function: PairFunction) -> None:
    """Each view that the kernel looks through has shown one row of every support pair."""
    tables = {(view, order): table for view, order, table in function.seen}
    for view, _, table in function.seen:
        if len(table) != len(function.left):
            raise InputError(f"what {type(view).__name__} shows of the support pairs is incomplete")
        if isinstance(view, ModelScores) and table.shape[1] != len(view.models):
            raise InputError(f"seen has {counted(table.shape[1], 'score')} per pair of {len(view.models)} models")
    for leaf in function.kernel.leaves:
        if isinstance(leaf, ViewKernel):
            _check_leaf(leaf, tables)


def _check_leaf(leaf: ViewKernel, tables: Mapping[Any, Any]) -> None:
    if isinstance(leaf.kernel, Finite) and not (
        isinstance(leaf.view, Arcs) and len(leaf.view) == len(leaf.kernel.matrix)
    ):
        raise InputError("a kernel on arcs and its matrix differ in size")
    for order in leaf.swapped:
        table = tables.get((leaf.view, order))
        if table is None:
            raise InputError("what its kernel sees of the support pairs is missing")
        if isinstance(leaf.view, Arcs):
            _check_arcs(table, len(leaf.view))
        _compare_one(leaf.kernel, table, "seen")


def _check_arcs(table: Any, n: int) -> None:
    """Rows of the number of an arc and of its direction; kernels look the first up in a matrix."""
    if table.shape[1] != 2 or (len(table) and not 0 <= table[:, 0].min() <= table[:, 0].max() < n):
        raise InputError("seen has the number of an arc that is not in the graph")


def _check_coefficients(kernel: PairKernel) -> None:
    """A kernel multiplies coefficients out when it is built, and products of large ones overflow."""
    tables = (atom for _, atoms in kernel.terms for atom in atoms if isinstance(atom, Table))
    numbers = [c for c, _ in kernel.terms] + [c for table in tables for _, c in table.terms]
    if not np.isfinite(numbers).all():
        raise InputError("coefficients of the pair kernel are too large for float64 when they are multiplied")


def _check_span(span: Any) -> None:
    """Differences are compared by one kernel, and the factor of their Gram matrix can be solved with."""
    if len(span) and (span.left is None or span.right is None):
        raise InputError("left or right is missing, whose examples the kernel compares")
    if len(span) and not np.diagonal(span.factor).all():
        raise InputError("factor has a zero on its diagonal")
    for table in (span.left, span.right):
        if table is not None:
            _compare_one(span.kernel, table, "span_")


def _check_active(span: Any) -> None:
    if len(np.unique(span.active)) < len(span.active):
        raise InputError("active has a feature twice")


# --------------------------------------------------------------------------- models


def _check_blocks(model: Any) -> None:
    if not model.blocks_:
        raise InputError("blocks_ is empty; an expansion has at least one similarity")


def _check_halves(nystrom: Any) -> None:
    """One block of similarities, or two that are averaged, with all bases."""
    n = len(nystrom.basis_index_)
    if not 1 <= len(nystrom.blocks_) <= 2 or any(len(block) != n for block in nystrom.blocks_):
        raise InputError(f"blocks_ are one or two, each of {counted(n, 'base', 'bases')}")


def _check_classes(svc: Any) -> None:
    """One function for two classes, else one for each."""
    n = len(svc.classes_)
    if n < 2 or len(svc.coef_) != (1 if n == 2 else n):
        raise InputError(f"coef_ has {counted(len(svc.coef_), 'row')} for {counted(n, 'class')}")


def features_given(part: Any) -> int | None:
    """How many features a fitted part passes on; None where that is not known, or where scores come out."""
    if is_pipeline(part):
        return _given_by_steps(part)
    if isinstance(part, OnExamples):
        _check_width("OnExamples", part.transformer_, getattr(part, "n_features_in_", None))
        return features_given(part.transformer_)
    return _given_by_row(part) if is_transformer(type(part)) else None


def _given_by_steps(pipeline: Any) -> int | None:
    """Steps (name, part): all parts but the last transform, and each takes what the one before gives."""
    width = None
    for place, (name, part) in enumerate(pipeline.steps, 1):
        if part != "passthrough":
            if place < len(pipeline.steps) and not callable(getattr(part, "transform", None)):
                raise InputError(f"step {name!r} of the pipeline does not transform")
            _check_width(name, part, width)
            width = features_given(part)
    return width


def _check_width(name: str, part: Any, width: int | None) -> None:
    """A part takes as many features as come in, where both are known."""
    taken = getattr(part, "n_features_in_", None)
    if taken is not None and width is not None and taken != width:
        raise InputError(f"{name!r} takes {counted(taken, 'feature')}, but is given {width}")


def _given_by_row(transformer: Any) -> int:
    """Features of a transformed row of ones, which every method takes; what has no arrays changes no number of them."""
    if list(schema_of(type(transformer)).learnt) == ["n_features_in_"]:
        return int(transformer.n_features_in_)
    found = transformer.transform(np.ones((1, transformer.n_features_in_)))
    if np.ndim(found) != 2 or len(found) != 1:
        raise InputError(f"a {type(transformer).__name__} does not give one row for each")
    return int(np.shape(found)[1])


def _check_given(part: Any) -> None:
    features_given(part)


def _check_columns(baseline: Any) -> None:
    """The columns that are read are there, and as many as the baseline takes."""
    spans = list(zip(baseline.columns_.starts, baseline.columns_.stops, strict=True))
    if baseline.columns_.norms is None or max(baseline.columns_.stops) > baseline.n_features_in_:
        raise InputError(
            f"it reads columns beyond its {counted(baseline.n_features_in_, 'feature')}, or norms are missing"
        )
    _check_width("ColumnsBaseline", baseline.baseline_, sum(stop - start for start, stop in spans))


def _check_whitened(scorer: Any) -> None:
    """Every view maps the features of a space that is there; a cohort and its own terms come together."""
    if len(scorer.kernels_) != len(scorer.means_):
        raise InputError("there are not as many kernels as means of their features")
    for view in scorer.learnt_:
        if view.place >= len(scorer.means_) or len(view.projection) != len(scorer.means_[view.place]):
            raise InputError("a view does not fit the features of its space")
        if (view.weights is None) != (view.own is None) or (view.cohort is None) != (view.cohort_own is None):
            raise InputError("a view has half of its terms")
    for kernel, mean in zip(scorer.kernels_, scorer.means_, strict=True):
        landmarks = getattr(kernel, "landmarks", None)
        width = getattr(scorer, "n_features_in_", None) if landmarks is None else features_of(landmarks)
        shown = None if width is None else kernel.features(np.ones((1, width)))
        if shown is not None and np.shape(shown) != (1, len(mean)):
            raise InputError("features of a kernel are not as many as their means")


def _check_comparison(comparison: Any) -> None:
    """As many terms as columns of this kind have, in the analyzers of their places."""
    wanted = ["grams" if which == "grams" else "words" for which in TERMS_OF[comparison.kind]]
    if [terms.analyzer for terms in comparison.terms] != wanted:
        raise InputError(f"a column of kind {comparison.kind} has terms of {', '.join(wanted) or 'nothing'}")


def _check_record_matcher(matcher: Any) -> None:
    """One pair of records that say nothing is scored: all parts fit each other."""
    empty = Records(("a", "b"), dict.fromkeys(matcher.comparer_.kinds, (None, None)))
    score = matcher.decision_function(RecordPairs(empty, None, [0], [1]))
    if np.shape(score) != (1,) or not np.isfinite(score).all():
        raise InputError("it does not give one score for a pair of records")


def _check_whole(comparer: Any) -> None:
    if comparer.whole.kind != RECORD or len(set(comparer.kinds)) < len(comparer.columns):
        raise InputError("the whole record is compared as one, and every column once")


def _check_distilled(function: Any) -> None:
    """Compiled loops trust that rows of both sides are as long as the file says."""
    if (function.right is None) == (function.sign == 0) or (function.sign < 0 and function.left.length % 2):
        raise InputError("sign, sides and the numbers per example do not fit each other")
    if function.distances and function.right is not None:
        raise InputError("distances are between examples of one table")


def _check_views(rows: Any) -> None:
    """Every group fits the axes and the cohort; who asks a cohort has one."""
    r = rows.axes.shape[1]
    c = None if rows.cohort is None else len(rows.cohort)
    for group in rows.groups:
        if len(group.stretch) != r or (group.weights is not None and len(group.weights) != group.width):
            raise InputError("a group of views does not fit the axes of its space")
        if (group.weights is None) != (group.own is None) or (group.asks and c is None):
            raise InputError("a group of views has half of its terms, or asks a cohort that is not there")
        if {c} != {None if each is None else len(each) for each in (group.scales, group.owns)}:
            raise InputError("a group of views does not fit the cohort of its space")


def _check_families(rows: Any) -> None:
    """Families are of groups that are there, and have a matrix for each of their directions."""
    groups = rows.views.groups
    for family in rows.families:
        if max(family.members) >= len(groups) or len(family.into) != 2 * len(family.members):
            raise InputError("a family of views has members that are not there, or not as many as it mixes")
        if {groups[place].width for place in family.members} != {len(family.turn)}:
            raise InputError("a family of views does not fit the directions of its members")


def _check_part(part: Any) -> None:
    end = part.length + len(part.squares)
    if part.matrix is not None and not end <= part.matrix.shape[1] <= end + 1:
        raise InputError(f"matrix has {counted(part.matrix.shape[1], 'column')} for {counted(end, 'number')}")


RULES: dict[str, Callable[[Any], None]] = {
    "PairFunction": _check_function,
    "PairKernel": _check_coefficients,
    "KernelSpan": _check_span,
    "RowSpan": _check_active,
    "Nystrom": lambda kernel: _compare_one(kernel.kernel, kernel.landmarks, "landmarks"),
    "Block": lambda block: _compare_one(block.kernel, block.bases, "bases"),
    "BasisExpansion": _check_blocks,
    "IndefiniteNystrom": _check_halves,
    "BasisSVC": _check_classes,
    "ColumnsBaseline": _check_columns,
    "WhitenedScorer": _check_whitened,
    "DistilledFunction": _check_distilled,
    "Part": _check_part,
    "ViewRows": _check_views,
    "ShortRows": _check_families,
    "KernelRows": lambda rows: _compare_one(rows.kernel, rows.landmarks, "landmarks"),
    "Verifier": lambda verifier: verifier.fit(),
    "Pipeline": _check_given,
    "OnExamples": _check_given,
    "Comparison": _check_comparison,
    "Comparer": _check_whole,
    "RecordMatcher": _check_record_matcher,
    "UnlabelledMatcher": _check_record_matcher,
    **dict.fromkeys(TRANSFORMERS, _check_given),
}
"""What else holds of objects of a class, by its name."""
