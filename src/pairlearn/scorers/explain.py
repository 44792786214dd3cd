"""Why does a pair have this score? The score of one pair as a sum over support pairs, their examples, or features.

g(a, b) = Σ_k θ_k K((a, b), pair_k) + bias. **By pair**: these terms. **By example**: each support pair's term goes half
to each of its two examples. **By feature**, for base kernels that are inner products: g is a quadratic form in the
features of a and b, and each product of two features goes half to each. Scores of baselines in the kernel
(`pl.pair_kernels.on_score`) have bars of their own, one per baseline, and so has the bias. They add up to the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pairlearn import inline
from pairlearn.baselines.stacked import StackedPairSVC
from pairlearn.errors import InputError
from pairlearn.examples import check_examples, stack_examples, take_examples
from pairlearn.functions.batch import Batch
from pairlearn.functions.function import PairFunction
from pairlearn.functions.parts import Embedding, FormPart, LinePart
from pairlearn.machines.machine import PairMachine
from pairlearn.operators.form import SideForm
from pairlearn.operators.rows import PairRows
from pairlearn.pair_kernels import ModelScores, PairKernel
from pairlearn.pairs import Pairs, as_pairs
from pairlearn.scorers.distilling.features import by_feature
from pairlearn.scorers.distilling.scorer import DistilledRegressor, DistilledScorer
from pairlearn.scorers.normalised import NormalisedScorer
from pairlearn.scorers.verifier import Verifier
from pairlearn.types import Examples, Floats

Bars = dict[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """score = Σ values + bias; names and values of the contributions, (n,); pair: ids of the two examples, if known.

    >>> found = Explanation(("u", "v", "w"), np.array([0.1, -2.0, 0.3]), bias=0.5, score=-1.1)
    >>> found.largest(1).names, found.largest(1).values.round(3).tolist()
    (('v', '2 others'), [-2.0, 0.4])
    """

    names: tuple[str, ...]
    values: Floats
    bias: float
    score: float
    pair: tuple[str, str] | None = None

    def __repr__(self) -> str:
        return f"Explanation({len(self.names)} contributions, bias={self.bias:.6g}, score={self.score:.6g})"

    def _repr_html_(self) -> str:
        shown = self.largest(inline.ROWS)
        largest = float(np.abs(shown.values).max(initial=0.0))
        parts = [*zip(shown.names, shown.values.tolist(), strict=True), ("bias", self.bias)]
        who = "" if self.pair is None else f"{self.pair[0]} and {self.pair[1]}: "
        rows = [(name, f"{value:+.4g}", inline.bar(value, largest)) for name, value in parts]
        return inline.table(f"{who}score {self.score:+.4g}, the sum of", ("part", "adds", ""), rows)

    def largest(self, k: int = 10) -> Explanation:
        """The k largest contributions by size, largest first, and the sum of all others as one."""
        if k < 1:
            raise InputError(f"k must be at least 1, got {k}; try 10")
        order = np.argsort(-np.abs(self.values), kind="stable")
        kept, others = order[:k], order[k:]
        names, values = [self.names[place] for place in kept], self.values[kept]
        if len(others):
            names, values = [*names, f"{len(others)} others"], np.append(values, self.values[others].sum())
        return replace(self, names=tuple(names), values=values)


def explain(
    model: Any, pair: Any, *, by: Literal["example", "feature", "pair"] = "example", names: Sequence[Any] | None = None
) -> Explanation:
    """Contributions to the score of one pair: pl.Pairs of length 1, or a tuple of two examples.

    model: a fitted PairSVC or another machine with `function_`, or a model around one.
    names: of the training examples, or of the features. Support pairs of a classifier are named with their label.

    >>> import pairlearn as pl
    >>> X, classes = pl.data.double_interval(8, 4, n=12, seed=0)
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> clf = pl.PairSVC("tensor_metric", C=1.0).fit(pairs, pairs.labels(classes))
    >>> found = explain(clf, pairs[3:4], by="feature")
    >>> len(found.names), bool(np.isclose(found.values.sum() + found.bias, clf.decision_function(pairs[3:4])[0]))
    (12, True)
    """
    splits = {"example": _by_example, "feature": _by_feature, "pair": _by_pair}
    if by not in splits:
        raise InputError(f"by must be one of {', '.join(splits)}, got {by!r}")
    small = model.model if isinstance(model, Verifier) else model
    if isinstance(small, (DistilledScorer, DistilledRegressor)):
        return _of_distilled(small, pair, by, names)
    machine = _machine(model)
    function: PairFunction = machine.function_
    one = _one_pair(pair, function)
    function.check(one)
    score = float(np.asarray(machine.decision_function(one))[0])
    if not np.isclose(score, function(one)[0], rtol=1e-9, atol=1e-12):
        raise InputError(f"the score of a {type(machine).__name__} is not a sum over support pairs; explain a PairSVC")
    local = function.batch(one)
    bars: Bars = {}
    if len(function.coefficients):
        apart = one.right_examples is not None
        bars = {**splits[by](machine, local, names, apart), **_baselines(function, local)}
    return Explanation(tuple(bars), np.array(list(bars.values())), function.bias, score, _ids(one))


def _of_distilled(model: Any, pair: Any, by: str, names: Sequence[Any] | None) -> Explanation:
    """By feature: a distilled model has forgotten its training pairs."""
    if by != "feature":
        raise InputError('a distilled model has no support pairs; use by="feature", or explain what it was made from')
    if isinstance(pair, tuple) and len(pair) == 2:
        pair = Pairs(stack_examples(*(check_examples(_table(example)) for example in pair)), [0], [1])
    one = _single(as_pairs(pair))
    sides = (take_examples(one.examples, one.left), take_examples(one.right_table, one.right))
    values, bias = by_feature(model.function, *sides)
    called = _feature_names(len(values), names, "")
    return Explanation(tuple(called), values, bias, float(model.decision_function(one)[0]), _ids(one))


def _machine(model: Any) -> PairMachine:
    """The machine inside a model, whose scores are explained."""
    match model:
        case PairMachine():
            check_is_fitted(model, "function_")
            return model
        case StackedPairSVC():
            return _machine(model.machine_)
        case Verifier() | NormalisedScorer():
            return _machine(model.model)
    raise InputError(f"a {type(model).__name__} has no learnt function of pairs; pass a fitted PairSVC or its like")


def _one_pair(pair: Any, function: PairFunction) -> Pairs:
    if isinstance(pair, tuple) and len(pair) == 2:
        tables = [check_examples(_table(example)) for example in pair]
        return function.pairs_between(*tables)(np.zeros(1, dtype=int), np.zeros(1, dtype=int))
    return _single(as_pairs(pair))


def _single(pairs: Pairs) -> Pairs:
    if len(pairs) != 1:
        raise InputError(f"one pair is explained at a time, got {len(pairs)}; pass pairs[i:i + 1] or two examples")
    return pairs


def _ids(one: Pairs) -> tuple[str, str] | None:
    """What the two examples are called; ids of two tables name the left examples only."""
    if one.ids is None or one.right_examples is not None:
        return None
    return str(one.ids[one.left[0]]), str(one.ids[one.right[0]])


def _table(example: Any) -> Examples:
    """A table with one row."""
    if sparse.issparse(example):
        return example
    if isinstance(example, np.ndarray) or (isinstance(example, list) and np.isscalar(example[0])):
        return np.atleast_2d(np.asarray(example))
    return [example]


# --------------------------------------------------------------------------- over support examples
# `apart`: left and right are of two tables. A function of scores alone holds no table that would say so.


def _by_example(machine: PairMachine, local: Batch, names: Sequence[Any] | None, apart: bool) -> Bars:
    function: PairFunction = machine.function_
    terms = function.coefficients * _kernel_values(function, local)
    used = np.asarray(machine.support_examples_)
    sides = [np.bincount(column, 0.5 * terms).astype(np.float64) for column in (function.left, function.right)]
    if apart:
        left = {f"left {name}": value for name, value in _named(used, sides[0], names).items()}
        right = {f"right support example {place}": float(value) for place, value in enumerate(sides[1])}
        return {**left, **right}
    total = np.zeros(len(used))
    for part in sides:
        total[: len(part)] += part
    return _named(used, total, names)


def _by_pair(machine: PairMachine, local: Batch, names: Sequence[Any] | None, apart: bool) -> Bars:
    function: PairFunction = machine.function_
    terms = function.coefficients * _kernel_values(function, local)
    left = _support_names(np.asarray(machine.support_examples_), names)
    count = int(function.right.max(initial=-1)) + 1
    right = [f"right support example {place}" for place in range(count)] if apart else left
    labels = [f": {sign:+.0f}" if is_classifier(machine) else "" for sign in np.sign(function.coefficients)]
    pairs = zip(function.left.tolist(), function.right.tolist(), labels, strict=True)
    return _added(zip((f"{left[a]} – {right[b]}{label}" for a, b, label in pairs), terms, strict=True))


def _support_names(used: Any, names: Sequence[Any] | None) -> list[str]:
    if names is not None and len(names) <= int(used.max(initial=-1)):
        raise InputError(f"names has {len(names)} entries, but training example {int(used.max())} is a support example")
    return [f"example {row}" if names is None else str(names[row]) for row in used]


def _named(used: Any, values: Floats, names: Sequence[Any] | None) -> Bars:
    return _added(zip(_support_names(used[: len(values)], names), values, strict=True))


def _added(parts: Any) -> Bars:
    """Equal names, such as two examples of one person, share a bar."""
    bars: Bars = {}
    for name, value in parts:
        bars[name] = bars.get(name, 0.0) + float(value)
    return bars


def _kernel_values(function: PairFunction, local: Batch) -> Floats:
    """K(pair, support pair) without baselines, (n_support,), in both orders where the function takes both.

    Scores of baselines are features of the pair, not of examples: they have bars of their own.
    """
    scored = {line.leaf for line in _score_lines(function)}
    terms = tuple((c, atoms) for c, atoms in function.kernel.terms if not (len(atoms) == 1 and atoms[0] in scored))
    if not terms:
        return np.zeros(len(function.coefficients))

    def values(rows: PairRows) -> Floats:
        return function.kernel_rows(PairKernel(terms), local, rows)[0]

    return _both_orders(function, local, values)


# A function of known symmetry is the mean of both orders, to be symmetric to the last bit; its explanation is too.


def _both_orders(function: PairFunction, local: Batch, values: Any) -> Floats:
    straight = values(local.rows)
    if not function.sign:
        return np.asarray(straight)
    return np.asarray(0.5 * (straight + function.sign * values(local.rows.swapped())))


# --------------------------------------------------------------------------- over features


def _by_feature(machine: PairMachine, local: Batch, names: Sequence[Any] | None, apart: bool) -> Bars:
    function: PairFunction = machine.function_
    if function.rest is not None:
        raise InputError('this kernel is not of degree ≤ 2 in the features; use by="example"')
    parts: list[tuple[str, float]] = []
    for part in function.parts:
        left, right = _of_form(part, function, local)
        prefixes = ("left ", "right ") if apart else ("", "")
        for values, prefix in zip((left, right), prefixes, strict=True):
            parts += zip(_feature_names(len(values), names, prefix), values, strict=True)
        if part.form.constant:
            parts.append(("constant", part.form.constant))
    for line in function.lines:
        if not isinstance(line.leaf.view, ModelScores):
            parts += [(f"pair feature {place}", value) for place, value in enumerate(_of_line(line, function, local))]
    return _added(parts)


def _feature_names(n: int, names: Sequence[Any] | None, prefix: str) -> list[str]:
    if names is not None and not prefix and len(names) != n:
        raise InputError(f"names has {len(names)} entries for {n} features; give one per feature")
    return [str(name) for name in names] if names and not prefix else [f"{prefix}feature {place}" for place in range(n)]


def _of_form(part: FormPart, function: PairFunction, local: Batch) -> tuple[Floats, Floats]:
    """eᵀMf + [eᵀNe + n·e] + [the same at f], each product of two features half to each; those of e and of f.

    e and f are the features z, w of the two examples themselves, or their inner products with the support examples,
    e = Z z: then the form is pulled back to the features, zᵀ(ZᵀMW)w, without ever forming the d × d matrix.
    """
    a, b = int(local.rows.left[0]), int(local.rows.right[0])
    (z, Z), (w, W) = (
        _features(embedding, table, row, anchor)
        for embedding, table, row, anchor in (
            (part.left, local.left, a, function.anchors[0]),
            (part.right, local.right, b, function.anchors[-1]),
        )
    )
    left, right = _of_own(part.form.left, z, Z), _of_own(part.form.right, w, W)
    if part.form.cross is not None:
        e, f = (z if Z is None else Z @ z), (w if W is None else W @ w)
        to_left, to_right = part.form.cross @ f, part.form.cross.T @ e
        left = left + 0.5 * z * (to_left if Z is None else Z.T @ to_left)
        right = right + 0.5 * w * (to_right if W is None else W.T @ to_right)
    return left, right


def _of_own(own: SideForm, z: Floats, Z: Floats | None) -> Floats:
    e = z if Z is None else Z @ z
    pull = own.linear if own.square is None else own.linear + 0.5 * (own.square @ e + own.square.T @ e)
    return np.asarray(z * (pull if Z is None else Z.T @ pull))


def _features(embedding: Embedding, table: Examples, row: int, anchor: Any) -> tuple[Floats, Floats | None]:
    """Features z of one example and, where the form is over kernel values with support examples, theirs: e = Z z."""
    base, rows = embedding.base, take_examples(table, np.array([row]))
    dense = rows.toarray() if sparse.issparse(rows) else rows
    z = base.features(dense) if isinstance(dense, np.ndarray) else None
    if z is None or not base.by_column or z.shape[1] != dense.shape[1]:
        raise InputError(f'a {type(base).__name__} base is not linear in the features; use by="example"')
    if embedding.anchor is None:
        return np.asarray(z[0], dtype=np.float64), None
    others = anchor.toarray() if sparse.issparse(anchor) else anchor
    return np.asarray(z[0], dtype=np.float64), np.asarray(base.features(others), dtype=np.float64)


def _score_lines(function: PairFunction) -> list[LinePart]:
    return [line for line in function.lines if isinstance(line.leaf.view, ModelScores)]


def _baselines(function: PairFunction, local: Batch) -> Bars:
    parts: list[tuple[str, float]] = []
    for line in _score_lines(function):
        models = cast(ModelScores, line.leaf.view).models
        values = _of_line(line, function, local)
        parts += [(f"score of {type(model).__name__}", value) for model, value in zip(models, values, strict=True)]
    return _added(parts)


def _of_line(line: LinePart, function: PairFunction, local: Batch) -> Floats:
    def values(rows: PairRows) -> Floats:
        return np.asarray(line.leaf.kernel.features(rows.shown[line.leaf.view, False]), dtype=np.float64)[0]

    return line.weights * _both_orders(function, local, values)
