"""A fitted model as a sum: bilinear forms of rows of examples, distances, and a number.

Which models are such sums stands in one table, `TERMS`; what is not in it is refused with advice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairlearn.baselines.learnt import MetricBaseline
from pairlearn.baselines.plda import QuadraticBaseline
from pairlearn.baselines.stacked import StackedPairSVC
from pairlearn.baselines.untrained import CosineBaseline, EuclidBaseline
from pairlearn.errors import InputError
from pairlearn.functions.function import PairFunction
from pairlearn.functions.parts import Embedding, FormPart, LinePart
from pairlearn.machines.machine import PairMachine
from pairlearn.operators.form import SideForm
from pairlearn.pair_kernels import ModelScores
from pairlearn.scorers.distilling.function import Distance
from pairlearn.scorers.distilling.rows import KernelRows, LinearRows, UnitRows
from pairlearn.scorers.distilling.spaces import rows_of_base, view_rows
from pairlearn.scorers.distilling.views import Rows
from pairlearn.scorers.whitened.scorer import WhitenedScorer
from pairlearn.types import Floats

Matrix = Any
"""(w, w) dense, or a number that stands for so many times the identity."""
ADVICE = "keep it as it is, or train a machine with a kernel of pl.pair_kernel on its own"


@dataclass(frozen=True, eq=False)
class Form:
    """e_aᵀ cross f_b + own(e_a) + own'(f_b): e are `left` rows, f `right` ones, the same object in one table."""

    left: Rows
    right: Rows
    cross: Matrix
    own: SideForm | None = None
    others: SideForm | None = None

    def times(self, weight: float) -> Form:
        """So many times the form."""
        sides = [None if side is None else _scaled(side, weight) for side in (self.own, self.others)]
        return replace(self, cross=weight * self.cross, own=sides[0], others=sides[1])


@dataclass(frozen=True, eq=False)
class Sum:
    """bias + forms + distances; sign 1: symmetric, −1: antisymmetric; of two tables it is 0."""

    forms: tuple[Form, ...] = ()
    distances: tuple[Distance, ...] = ()
    bias: float = 0.0
    sign: int = 1

    def times(self, weight: float) -> Sum:
        """So many times the sum."""
        distances = tuple(replace(each, weight=weight * each.weight) for each in self.distances)
        return Sum(tuple(form.times(weight) for form in self.forms), distances, weight * self.bias, self.sign)

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.forms + other.forms, self.distances + other.distances, self.bias + other.bias, self.sign)


def terms_of(model: Any) -> Sum:
    """The sum that a fitted model computes, or an error that says why it is none.

    >>> import pairlearn as pl
    >>> total = terms_of(pl.EuclidBaseline())
    >>> len(total.forms), [each.weight for each in total.distances]
    (0, [1.0])
    """
    for kind, terms in TERMS.items():
        if isinstance(model, kind):
            return terms(model)
    raise InputError(
        f"a {type(model).__name__} cannot be distilled: its scores are no sum of products of rows; {ADVICE}"
    )


# --------------------------------------------------------------------------- machines


def _machine(machine: PairMachine) -> Sum:
    function: PairFunction = machine.function_
    if function.rest is not None:
        raise InputError(
            "this model cannot be distilled: its pair kernel has products, powers or Gaussians of pair kernels, which "
            f"are computed pair by pair; {ADVICE}"
        )
    if function.n_tables == 1 and function.sign == 0:
        raise InputError(f"this model is neither symmetric nor antisymmetric, and cannot be distilled; {ADVICE}")
    total = Sum(bias=function.bias, sign=function.sign if function.n_tables else 1)
    if len(function.coefficients) == 0:
        return total
    for line in function.lines:
        total = total + _line(line)
    for part in function.parts:
        total = replace(total, forms=(*total.forms, _form(part)), bias=total.bias + part.form.constant)
    return total


def _line(line: LinePart) -> Sum:
    """⟨features of scores, w⟩, which is linear in the scores: a number, and a weight per model."""
    view, kernel = line.leaf.view, line.leaf.kernel
    if not isinstance(view, ModelScores):
        raise InputError(f"this model reads features of pairs, which no example has, and cannot be distilled; {ADVICE}")
    n = len(view.models)
    zero, units, twice = (kernel.features(table) for table in (np.zeros((1, n)), np.eye(n), 2.0 * np.eye(n)))
    if zero is None or units is None or twice is None or not np.allclose(twice - units, units - zero):
        raise InputError(f"this model is not linear in the scores of its baselines, and cannot be distilled; {ADVICE}")
    total = Sum(bias=float((zero @ line.weights)[0]))
    for model, weight in zip(view.models, (units - zero) @ line.weights, strict=True):
        total = total + terms_of(model).times(float(weight))
    return total


def _form(part: FormPart) -> Form:
    form, sides = part.form, [_rows(part.left), _rows(part.right)]
    if part.left is part.right:
        sides[1] = sides[0]
    (left, into), (right, there) = sides
    cross = 0.0 if form.cross is None else _into(form.cross, into, there)
    return Form(left, right, cross, _side(form.left, into), _side(form.right, there))


def _rows(embedding: Embedding) -> tuple[Rows, Floats | None]:
    """The rows of an embedding, and the map from rows that are stored to those of its form."""
    base = embedding.base
    if base.precomputed:
        raise InputError(
            "this model reads rows of a precomputed matrix, and cannot be distilled; fit with a base that computes its "
            "values, or keep it as it is"
        )
    if embedding.anchor is not None:
        return KernelRows(base, embedding.anchor), None
    return rows_of_base(base)


def _into(matrix: Matrix, into: Floats | None, there: Floats | None) -> Floats:
    """A matrix over rows e W as one over rows e."""
    dense = np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float64)
    dense = dense if into is None else into @ dense
    return dense if there is None else dense @ there.T


def _side(side: SideForm, into: Floats | None) -> SideForm:
    square = None if side.square is None else _into(side.square, into, into)
    return SideForm(square, side.linear if into is None else into @ side.linear)


def _scaled(side: SideForm, weight: float) -> SideForm:
    return SideForm(None if side.square is None else weight * side.square, weight * side.linear)


# --------------------------------------------------------------------------- baselines


def _mapped(model: MetricBaseline) -> LinearRows:
    return LinearRows(model.mean_, model.projection_)


def _cosine(rows: LinearRows) -> Sum:
    unit = UnitRows(rows)
    return Sum((Form(unit, unit, 1.0),))


def _metric(model: MetricBaseline) -> Sum:
    rows = _mapped(model)
    return _cosine(rows) if model.measure == "cosine" else Sum(distances=(Distance(1.0, rows),))


def _quadratic(model: QuadraticBaseline) -> Sum:
    """Σ plus (z + z')² − minus (z − z')² = Σ 2(plus + minus) z z' + (plus − minus)(z² + z'²)."""
    rows, (plus, minus) = _mapped(model), (np.asarray(model.plus_), np.asarray(model.minus_))
    own = SideForm(np.diag(plus - minus), np.zeros(len(plus)))
    return Sum((Form(rows, rows, np.diag(2.0 * (plus + minus)), own, own),), bias=float(model.offset_))


def _whitened(scorer: WhitenedScorer) -> Sum:
    return Sum(tuple(Form(rows, rows, 1.0) for rows in view_rows(scorer)))


TERMS: dict[type[Any], Callable[[Any], Sum]] = {
    PairMachine: _machine,
    StackedPairSVC: lambda model: terms_of(model.machine_),
    QuadraticBaseline: _quadratic,
    MetricBaseline: _metric,
    EuclidBaseline: lambda model: Sum(distances=(Distance(1.0, LinearRows()),)),
    WhitenedScorer: _whitened,
    CosineBaseline: lambda model: _cosine(LinearRows()),
}
"""What is such a sum, and which; the first that fits counts."""
