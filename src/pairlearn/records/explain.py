"""Why a pair is a match or not: what each column adds to its log-odds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairlearn.evaluation.calibration import Line
from pairlearn.pairs import Pairs
from pairlearn.records.compare.comparer import WHOLE
from pairlearn.records.machine import Problem, standardised
from pairlearn.records.matcher import Matcher, RecordMatcher
from pairlearn.records.table import RecordPairs
from pairlearn.records.unsupervised import UnlabelledMatcher
from pairlearn.types import Floats


class Reasons(NamedTuple):
    """Columns, and what each adds to the log-odds of every pair, (n, columns)."""

    columns: tuple[str, ...]
    values: Floats

    def words(self, most: int = 3) -> list[str]:
        """The strongest reasons of every pair.

        >>> Reasons(("title", "price"), np.array([[2.0, -0.5]])).words()
        ['title +2.0, price -0.5']
        """
        order = np.argsort(-np.abs(self.values), axis=1, kind="stable")[:, :most]
        return [
            ", ".join(f"{self.columns[k]} {row[k]:+.1f}" for k in best if abs(row[k]) >= 0.05)
            for row, best in zip(self.values, order, strict=True)
        ]


def explain_pairs(matcher: Matcher, pairs: RecordPairs) -> Reasons:
    """What each column adds.

    Without labels the parts add up to the log-odds. A machine is no sum over columns: there a column's part is how far
    the log-odds fall if all that is known of it is replaced by the average of the training pairs.
    """
    ready = matcher.ready(pairs.left, pairs.right)
    left, right = pairs.left_rows, pairs.right_rows
    if isinstance(matcher, UnlabelledMatcher):
        return Reasons(matcher.parts_of, matcher.parts(ready, left, right))
    assert isinstance(matcher, RecordMatcher)
    problem = Problem.of(matcher.comparer_, ready, left, right, np.empty(0, dtype=np.int64))
    curve = matcher.calibration_.curve
    slope = curve.slope if isinstance(curve, Line) else 1.0
    whole = problem.pairs(matcher.mean_, matcher.scale_, matcher.setting_)
    score = matcher.machine_.decision_function(whole)
    owners = np.array(matcher.comparer_.owners)
    columns = tuple(dict.fromkeys(owners.tolist()))
    out = []
    for column in columns:
        features = standardised(problem.features, matcher.mean_, matcher.scale_)
        features[:, owners == column] = 0.0
        blocks = [features]
        if matcher.setting_.words:
            blocks.append(problem.words * (column != WHOLE))
        without = Pairs(whole.examples, whole.left, whole.right, invariant=np.hstack(blocks).astype(np.float64))
        out.append(slope * (score - matcher.machine_.decision_function(without)))
    return Reasons(columns, np.column_stack(out))
