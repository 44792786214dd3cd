"""Which scores are bilinear: for every probe a they rise with e_aᵀ M e_b + own(b), e rows of numbers.

Then the best of a gallery are found without comparing with all of it (`points`, `index`). Machines whose pair kernel
has degree ≤ 2 in the base kernel are, over any base: rows are features, or kernel values with the support examples.
So are Euclid's distance, the cosine, the learnt maps before them, PLDA, KISSME and online metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from pairlearn.baselines.learnt import MetricBaseline
from pairlearn.baselines.plda import QuadraticBaseline
from pairlearn.baselines.training import dense_rows
from pairlearn.baselines.untrained import CosineBaseline, EuclidBaseline
from pairlearn.errors import InputError
from pairlearn.functions.function import PairFunction
from pairlearn.machines.machine import PairMachine
from pairlearn.metrics.pseudo_metric import PseudoMetric
from pairlearn.on_examples import OnExamples, is_pipeline
from pairlearn.scorers.distilling.function import DistilledFunction
from pairlearn.scorers.distilling.scorer import DistilledScorer
from pairlearn.scorers.verifier import Verifier
from pairlearn.types import Examples, Floats

Rows = Callable[[Examples], Floats]
ADVICE = 'compare with everyone: pl.Gallery(…).identify(probes), "--search exact" on the command line'


@dataclass(frozen=True, eq=False)
class Bilinear:
    """e_aᵀ M e_b + own(e_b), which orders the gallery for a probe a as its scores do.

    `rows` gives the rows e, (n, w), of examples; `cross` is M, (w, w), symmetric or not, None for the identity.
    `whole`: the score itself is this sum and a term of a alone, so that means of scores have this form too; of a
    distance only its square has.
    """

    rows: Rows
    cross: Floats | None
    own: Callable[[Floats], Floats]
    whole: bool = True

    def after(self, transform: Rows) -> Bilinear:
        """The same of transformed examples."""
        return replace(self, rows=lambda examples: self.rows(transform(examples)))


def bilinear(model: Any) -> Bilinear:
    """The bilinear form that orders a gallery as the scores of this model do, or an error that says what to do.

    >>> import pairlearn as pl
    >>> form, X = bilinear(pl.EuclidBaseline()), np.array([[0.0], [1.0], [5.0]])
    >>> (form.rows(X[:1]) @ form.rows(X).T + form.own(form.rows(X))).tolist()
    [[0.0, -0.5, -12.5]]
    """
    if is_pipeline(model):
        return _pipeline(model)
    for kind, form in FORMS.items():
        if isinstance(model, kind):
            return form(model)
    raise InputError(f"scores of a {type(model).__name__} have no form that an index can search; {ADVICE}")


def _pipeline(model: Any) -> Bilinear:
    form = bilinear(model.steps[-1][1])
    for _, step in reversed(model.steps[:-1]):
        if step in (None, "passthrough"):
            continue
        transform = step.transformer_.transform if isinstance(step, OnExamples) else step.transform
        form = form.after(transform)
    return form


def _machine(machine: Any) -> Bilinear:
    """One quadratic form per base; M has their cross terms along its diagonal."""
    function: PairFunction = machine.function_
    if function.lines or function.rest is not None or not function.parts or not len(function.coefficients):
        raise InputError(f"the pair kernel of this model is no quadratic form that an index can search; {ADVICE}")
    if function.n_tables == 2:
        raise InputError(f"this model compares examples of two tables, an index those of one; {ADVICE}")
    parts = function.parts
    ends = np.cumsum([part.width for part in parts])[:-1]

    def rows(examples: Examples) -> Floats:
        return np.hstack([part.right(examples) for part in parts])

    def own(E: Floats) -> Floats:
        pieces = zip(parts, np.split(E, ends, axis=1), strict=True)
        return np.sum([part.form.at_right(piece) for part, piece in pieces], axis=0)

    crosses = (np.zeros((part.width,) * 2) if part.form.cross is None else part.form.cross for part in parts)
    return Bilinear(rows, linalg.block_diag(*crosses), own)


def _distilled(model: Any) -> Bilinear:
    """Products of few numbers, with signs."""
    function: DistilledFunction = model.function
    if function.distances or function.sign < 1:
        raise InputError(f"this distilled model has a distance beside its products, or is not symmetric; {ADVICE}")
    r = function.left.length

    def rows(examples: Examples) -> Floats:
        return np.column_stack(function.left(examples))

    return Bilinear(rows, np.diag([*function.signs.astype(np.float64), 0.0]), lambda E: E[:, r])


def _metric(model: PseudoMetric) -> Bilinear:
    """b − (x − x')ᵀA(x − x')."""
    A, rows = model.state_.matrix, model.span_.coordinates
    return Bilinear(rows, 2.0 * A, lambda E: -np.einsum("ij,ij->i", E @ A, E))


def _quadratic(model: QuadraticBaseline) -> Bilinear:
    alone, cross = model.plus_ - model.minus_, 2.0 * (model.plus_ + model.minus_)
    rows = partial(_mapped, model)
    return Bilinear(rows, np.diag(cross), lambda E: E**2 @ alone)


def _mapped(model: MetricBaseline, examples: Examples) -> Floats:
    return (dense_rows(examples) - model.mean_) @ model.projection_


def _directions(examples: Examples) -> Floats:
    rows = dense_rows(examples)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def _half_squares(E: Floats) -> Floats:
    return -0.5 * np.einsum("ij,ij->i", E, E)


EUCLID = Bilinear(dense_rows, None, _half_squares, whole=False)
COSINE = Bilinear(_directions, None, lambda E: np.zeros(len(E)))
COMPARED = {"euclid": EUCLID, "cosine": COSINE}
FORMS: dict[type[Any], Callable[[Any], Bilinear]] = {
    PairMachine: _machine,
    DistilledScorer: _distilled,
    Verifier: lambda verifier: bilinear(verifier.model),
    PseudoMetric: _metric,
    QuadraticBaseline: _quadratic,
    MetricBaseline: lambda model: COMPARED[model.measure].after(partial(_mapped, model)),
    EuclidBaseline: lambda model: EUCLID,
    CosineBaseline: lambda model: COSINE,
}
"""What is bilinear, and how; the first that fits counts."""
