"""What a model file may hold of every class: one table of kinds, for saving, for loading and for its documentation.

A line says what a parameter, a learnt attribute or a field of a value is; m, d, n … name sizes that the fields of one
object share. Lines of a base class hold for all that inherit from it, so that a new machine or baseline needs none;
what has no line has the kind of its annotation. What no field tells by itself is in `rules`.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, fields, is_dataclass, replace
from inspect import signature
from typing import Any, get_type_hints

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.calibration import FittedCalibration
from pairlearn.evaluation.fusion import FittedFusion
from pairlearn.evaluation.thresholds import Threshold
from pairlearn.functions.function import PairFunction
from pairlearn.images.orbit import Orbit
from pairlearn.kernels import Kernel, OnColumns
from pairlearn.kernels.rows import HIGHEST_DEGREE
from pairlearn.kernels.spectrum import Spectrum
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.machines.transductive import Switching
from pairlearn.metrics.metric_state import LARGEST, MetricState
from pairlearn.metrics.spans import KernelSpan, RowSpan
from pairlearn.on_examples import is_pipeline
from pairlearn.operators.plan import Plan
from pairlearn.pair_kernels import MONOMIALS, PairKernel, Table, ViewKernel
from pairlearn.pair_kernels.kernel import Expression
from pairlearn.persist.kinds import (
    COUNT,
    DTYPE,
    FINITE,
    FLAG,
    LEAST_ZERO,
    NOT_ZERO,
    NUMBER,
    PLAIN,
    POSITIVE,
    SHARE,
    TEXT,
    WIDEST,
    Kind,
    annotated,
    bounded,
    doubles,
    either,
    examples,
    features_of,
    flags,
    floats,
    in_turn,
    indices,
    lengths,
    maybe,
    names,
    numbers,
    one_of,
    rows,
    several,
    sized,
    sometimes,
    value,
    whole,
    width,
)
from pairlearn.persist.transformers import is_transformer
from pairlearn.records.compare.comparer import Comparer
from pairlearn.records.compare.comparisons import RECORD, Comparison
from pairlearn.records.compare.terms import TERMS, Terms
from pairlearn.records.compare.vectors import FOLDED, Vectors
from pairlearn.records.kinds import KINDS
from pairlearn.records.machine import Setting
from pairlearn.records.unsupervised import LEVELS
from pairlearn.scorers.distilling.function import Distance, DistilledFunction, Part, Side
from pairlearn.scorers.distilling.rows import FeatureRows, KernelRows, LinearRows, UnitRows
from pairlearn.scorers.distilling.views import Family, ShortRows, ViewGroup, ViewRows
from pairlearn.scorers.whitened.learnt import LearntView
from pairlearn.scorers.whitened.views import View
from pairlearn.similarities.basis_expansion import BasisExpansion
from pairlearn.similarities.blocks import Block
from pairlearn.solvers.problem import Progress

Fields = dict[str, Kind]
INT32 = 2**31 - 1
"""The largest number that compiled libraries take for a length or a cost."""
NOT_SAVED = ("callback", "checkpoint", "progress", "memory", "n_jobs")
"""Parameters that belong to the session and not to the model: functions, files, the cache of a pipeline, threads."""


# --------------------------------------------------------------------------- models within models


def is_fitted(model: Any) -> bool:
    """Whether a model has all that models of its class have learnt, and a pipeline steps that have."""
    if is_pipeline(model):
        return all(part == "passthrough" or is_fitted(part) for _, part in model.steps)
    return not any(kind.always and name not in vars(model) for name, kind in schema_of(type(model)).learnt.items())


def check_fitted(model: Any) -> bool:
    """True, or an error that says that it is not fitted."""
    if not hasattr(model, "__dict__") or is_fitted(model):
        return True
    raise InputError(f"this {type(model).__name__} is not fitted; call fit first, or save its parameters yourself")


def fitted(kind: Kind) -> Kind:
    """A model of this kind that has learnt."""
    return replace(kind, words=f"{kind.words}, fitted", fits=lambda value: kind.fits(value) and check_fitted(value))


def _can(method: str, words: str) -> Kind:
    return Kind(words, lambda value: callable(getattr(value, method, None)))


SCORER = fitted(_can("decision_function", "a model that scores pairs"))
TRANSFORMER = _can("transform", "a transformer of examples")

# --------------------------------------------------------------------------- lines that several classes have

KERNEL = value(Kernel, words="a base kernel")
NAMED = either(TEXT, KERNEL)
GAMMA = either(POSITIVE, one_of("scale"))
MONOMIAL = replace(one_of(*MONOMIALS), words='a monomial of at most two of "ac", "ad", "bc", "bd"')
SEED = maybe(whole())
REACH = whole(0, INT32)
WEIGHTS = maybe(either(TEXT, value(dict, words="weights by class")))
FEATURES: Fields = {
    "n_features_in_": sometimes(width("d")),
    "feature_names_in_": sometimes(names("d", "names of columns")),
}
LABELS: Fields = {"classes_": numbers("c")}
BASES: Fields = {
    "similarity": either(NAMED, several(NAMED, list)),
    "n_bases": maybe(whole(1)),
    "bases": either(TEXT, indices("given"), several(COUNT, list), several(COUNT)),
    "batch_size": maybe(whole(1)),
    "random_state": SEED,
    **FEATURES,
}
SEEN: Fields = {"n_features_in_": width("d"), "n_samples_seen_": sometimes(either(LEAST_ZERO, numbers("d")))}
AXES: Fields = {
    "n_features_in_": width("d"),
    "components_": floats("k, d"),
    **dict.fromkeys(("explained_variance_", "explained_variance_ratio_", "singular_values_"), floats("k")),
}


def _features_of_bases(blocks: tuple[Block, ...]) -> int | None:
    return features_of(blocks[0].bases) if blocks else None


def _are_scales(found: Any) -> bool:
    """Deviations of features; infinite for those that never vary."""
    known = isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype == np.float64
    return known and bool((found > 0).all())


def _of(kind: Kind, *fields: str) -> Fields:
    return dict.fromkeys(fields, kind)


# --------------------------------------------------------------------------- the table

FIELDS: dict[str, Fields] = {
    # base kernels
    "Scaled": {"factor": POSITIVE},
    "Polynomial": {"degree": whole(1, HIGHEST_DEGREE), "gamma": POSITIVE},
    "Gaussian": {"gamma": GAMMA},
    "Exponential": {"sigma": POSITIVE},
    "Mapped": {"matrix": floats("d, q")},
    "OnColumns": {
        **_of(several(whole(0, WIDEST), least=1), "starts", "stops"),
        "norms": maybe(several(POSITIVE, least=1)),
    },
    "DTW": {"window": maybe(whole(1, INT32)), "gamma": GAMMA},
    "AlignmentSimilarity": _of(REACH, "insertion", "deletion", "mismatch"),
    "LowRank": {"rank": whole(1), "tol": maybe(SHARE), "seed": COUNT},
    "Clipped": {"rank": whole(1), "seed": COUNT},
    "Nystrom": {"landmarks": examples("b"), "whitening": doubles("b, r"), "error": SHARE},
    "Rigid": {"h": REACH},
    "Deformable": {"h_rigid": REACH, "h_local": REACH},
    "Shaped": {"shape": several(whole(1, INT32), least=1)},
    # pair kernels
    "PairKernel": {"terms": several(in_turn(FINITE, several(value(Table, ViewKernel, Expression), least=1)))},
    "Table": {"terms": several(in_turn(MONOMIAL, NOT_ZERO))},
    "Power": {"degree": whole(1, HIGHEST_DEGREE), "offset": LEAST_ZERO},
    "GaussianOf": {"gamma": POSITIVE},
    "ModelScores": {"models": several(SCORER)},
    "Arcs": {
        "ids": sized(several(either(TEXT, whole())), nodes=len),
        "left": indices("n", below="nodes"),
        "right": indices("n", below="nodes"),
    },
    "Finite": {"matrix": doubles("n, n")},
    # learnt functions and metrics
    "PairFunction": {
        "anchor": maybe(rows("m", "d")),
        "left": indices("n", below="m"),
        "right": indices("n"),
        "coefficients": floats("n"),
        "right_anchor": maybe(rows("m₂", "d₂")),
        "seen": several(in_turn(value(object, words="a view"), FLAG, floats("n, q"))),
    },
    "Columns": {"index": indices("m", below="columns"), "n_columns": width("columns")},
    "MetricState": {
        "matrix": doubles("r, r", most=LARGEST),
        **_of(COUNT, "n_pairs", "n_mistakes", "n_updates", "n_fallbacks"),
    },
    "RowSpan": {"n_features": width("d"), "basis": maybe(doubles("r, d")), "active": indices("a", below="d")},
    "KernelSpan": {
        **_of(maybe(examples("r")), "left", "right"),
        "factor": doubles("r, r"),
        "budget": maybe(whole(1)),
    },
    "Block": {"bases": examples("b"), "index": indices("b")},
    "Spectrum": {"eigenvalues": floats("n")},
    # records
    "Progress": _of(NUMBER, "gap", "objective", "seconds"),
    "Switching": _of(NUMBER, "box", "objective", "kkt_gap"),
    "Threshold": _of(NUMBER, "value", "fmr", "fnmr"),
    "FittedCalibration": {"prior": SHARE},
    "Knots": _of(floats("k"), "values", "llrs"),
    "FittedFusion": _of(floats("k"), "weights", "centres"),
    # machines
    "PairMachine": {
        "kernel": either(TEXT, value(PairKernel)),
        "base": either(NAMED, in_turn(NAMED, NAMED)),
        "random_state": SEED,
        **_of(maybe(NUMBER), "time_budget", "memory_budget"),
        "support_": indices("n"),
        "support_bounded_": flags("n"),
        "support_examples_": indices("e"),
        "function_": sized(value(PairFunction), n=lambda g: len(g.coefficients), d=lambda g: features_of(g.anchor)),
        **_of(NUMBER, "kkt_gap_", "objective_"),
        "fit_status_": TEXT,
        "fit_verdict_": sometimes(TEXT),
        **_of(sometimes(NUMBER), "fit_seconds_", "total_seconds_"),
        "n_runs_": sometimes(COUNT),
        **_of(COUNT, "n_support_", "n_iter_"),
        "history_": several(value(Progress)),
        "plan_": value(Plan),
        "path_": sometimes(TEXT),
        **FEATURES,
    },
    "PairSVC": {"C": POSITIVE, "class_weight": WEIGHTS, **LABELS},
    "PairRanker": {"C": POSITIVE, "n_draws_": COUNT, **LABELS},
    "PairSVR": {"C": POSITIVE, "epsilon": LEAST_ZERO, "scale_": sometimes(POSITIVE)},
    "PairRidge": {
        "alpha": either(POSITIVE, one_of("auto"), several(POSITIVE), several(POSITIVE, list), floats("a")),
        "alpha_": POSITIVE,
        "binary_": FLAG,
        "choice_": several(in_turn(POSITIVE, LEAST_ZERO)),
        "scale_": POSITIVE,
    },
    "OneClassPairSphere": {"total_": POSITIVE, "radius_": FINITE},
    "TransductivePairSVC": {
        "C": POSITIVE,
        "anneal": either(several(FINITE), several(FINITE, list)),
        "transduction_": numbers("t"),
        "switching_": several(value(Switching)),
        **LABELS,
    },
    # metrics and similarities
    "PseudoMetric": {
        **_of(NUMBER, "threshold", "gamma", "beta"),
        "max_sweeps": whole(1),
        "n_components": maybe(COUNT),
        "state_": sized(value(MetricState), r=lambda state: len(state.matrix)),
        "n_sweeps_": sometimes(COUNT),
        "fit_status_": sometimes(TEXT),
        "max_loss_": sometimes(NUMBER),
        **LABELS,
        **FEATURES,
    },
    "OnlinePseudoMetric": {"span_": sized(value(RowSpan), r=len, d=lambda span: span.n_features)},
    "KernelPseudoMetric": {
        "base": NAMED,
        "span_": sized(value(KernelSpan), r=len, d=lambda span: features_of(span.left)),
    },
    "BasisExpansion": {
        **BASES,
        "dtype": DTYPE,
        "blocks_": sized(several(value(Block)), f=lengths, d=_features_of_bases),
        "mean_": floats("f"),
        "scale_": doubles("f", above=0.0),
    },
    "BasisSVC": {
        **BASES,
        "dtype": DTYPE,
        "C": POSITIVE,
        "class_weight": WEIGHTS,
        "expansion_": sized(fitted(value(BasisExpansion)), f=lambda expansion: len(expansion.mean_)),
        "coef_": floats("k, f"),
        "intercept_": floats("k"),
        "classes_": names("c"),
        "n_iter_": COUNT,
    },
    "IndefiniteNystrom": {
        **BASES,
        "basis_index_": indices("b"),
        "blocks_": sized(several(value(Block)), d=_features_of_bases),
        "spectrum_": value(Spectrum),
        "whitening_": floats("b, b"),
    },
    # baselines
    "Baseline": {"threshold": maybe(NUMBER), "random_state": SEED, "threshold_": NUMBER, **LABELS, **FEATURES},
    "_Untrained": {"threshold_": sometimes(NUMBER)},
    "LearntBaseline": {"n_features_in_": width("d"), "mean_": floats("d")},
    "MetricBaseline": {"projection_": floats("d, q")},
    "QuadraticBaseline": {**_of(floats("q"), "plus_", "minus_"), "offset_": FINITE},
    "PLDABaseline": _of(floats("p, p"), "within_", "between_"),
    "LogisticBaseline": {
        "scale_": doubles("d", above=0.0),
        **_of(floats("d"), "difference_weights_", "product_weights_"),
        "intercept_": FINITE,
        "n_pairs_": COUNT,
        "memory_budget": NUMBER,
    },
    # distilled models
    "LinearRows": {"centre": maybe(floats("d")), "axes": maybe(floats("d, w"))},
    "UnitRows": {"linear": value(LinearRows), "rest": LEAST_ZERO},
    "KernelRows": {"kernel": KERNEL, "landmarks": examples("b")},
    "FeatureRows": {"kernel": KERNEL},
    "ViewGroup": {
        "stretch": either(floats("r"), floats("r, k")),
        **_of(maybe(floats("k")), "weights", "own"),
        "offset": FINITE,
        **_of(FINITE, "plain", "whole", "nearest"),
        **_of(maybe(floats("c")), "scales", "owns"),
    },
    "ViewRows": {
        "rows": value(LinearRows, KernelRows, FeatureRows),
        "centre": floats("w"),
        "axes": floats("w, r"),
        "groups": several(value(ViewGroup), least=1),
        "cohort": maybe(floats("c, r")),
    },
    "Family": {"members": several(COUNT, least=1), "into": floats("q, j"), "turn": floats("k, j, j")},
    "ShortRows": {"views": value(ViewRows), "families": several(value(Family), least=1)},
    "Part": {
        "rows": value(LinearRows, UnitRows, KernelRows, FeatureRows, ViewRows, ShortRows),
        "matrix": maybe(floats("w, h")),
        "length": COUNT,
        "squares": floats("o"),
        "scale": LEAST_ZERO,
    },
    "Side": {"parts": several(value(Part))},
    "Distance": {"weight": FINITE, "rows": value(LinearRows), "rest": LEAST_ZERO},
    "DistilledFunction": {
        "left": sized(value(Side), r=lambda side: side.length),
        "right": maybe(sized(value(Side), r=lambda side: side.length)),
        "sign": one_of(-1, 0, 1),
        "signs": floats("r"),
        "bias": FINITE,
        "distances": several(value(Distance)),
    },
    "_Distilled": {"function": value(DistilledFunction), **FEATURES},
    "DistilledScorer": {"threshold": NUMBER},
    # models around models
    "ColumnsBaseline": {
        "baseline": _can("fit", "a baseline"),
        **_of(several(COUNT, least=1), "starts", "stops"),
        "threshold_": sometimes(NUMBER),
        "columns_": value(OnColumns),
        "baseline_": SCORER,
        "n_features_in_": width("d"),
    },
    "StackedPairSVC": {
        "machine": maybe(value(PairSVC)),
        "baselines": either(several(TEXT), several(TEXT, list)),
        "random_state": SEED,
        "machine_": fitted(value(PairSVC)),
        **LABELS,
        **FEATURES,
    },
    "Verifier": {
        "model": SCORER,
        "threshold": either(NUMBER, value(Threshold)),
        "calibration": maybe(value(FittedCalibration, FittedFusion)),
    },
    "View": {
        "base": KERNEL,
        "shrinkage": POSITIVE,
        "compare": one_of("cosine", "ratio"),
        "cohort": one_of("none", "all", "nearest"),
    },
    "LearntView": {
        "place": COUNT,
        "projection": doubles("q, k"),
        **_of(maybe(doubles("k")), "weights", "own"),
        "offset": FINITE,
        "cohort": maybe(doubles("c, k")),
        "cohort_own": maybe(doubles("c")),
        "nearest": FLAG,
        "scale": POSITIVE,
    },
    "WhitenedScorer": {
        "views": either(value(View), several(value(View), least=1), several(value(View), list, least=1)),
        "rank": whole(1),
        "random_state": COUNT,
        "kernels_": several(KERNEL, least=1),
        "means_": several(doubles("q"), least=1),
        "learnt_": several(value(LearntView), least=1),
        **LABELS,
        **FEATURES,
    },
    "NormalisedScorer": {"model": SCORER, "cohort": examples("n")},
    "OrbitScorer": {"model": SCORER, "orbit": value(Orbit)},
    "OnCopies": {
        "model": _can("fit", "a model"),
        "orbit": value(Orbit),
        "model_": SCORER,
        "n_pairs_": COUNT,
        **FEATURES,
    },
    "PairMean": {
        "machines": either(several(_can("fit", "a machine")), several(_can("fit", "a machine"), list)),
        "machines_": several(SCORER, list, least=2),
        **FEATURES,
    },
    "Gallery": {"model": SCORER, "examples": examples("n"), "identities": names("n")},
    "Pipeline": {"steps": several(in_turn(TEXT, value(object, words='a fitted model or "passthrough"')), list)},
    "OnExamples": {
        "transformer": either(TRANSFORMER, one_of("passthrough")),
        "transformer_": fitted(TRANSFORMER),
        **FEATURES,
    },
    # images
    "Orbit": {**_of(several(POSITIVE), "shifts", "scales"), "degrees": several(FINITE)},
    "Centred": {"upright": FLAG, "spread": maybe(POSITIVE)},
    "Hog": {"cell": whole(1, INT32)},
    # records
    "Terms": {
        "analyzer": one_of("words", "grams"),
        "known": bounded(indices("k"), TERMS),
        "counts": indices("k"),
        "n_rows": COUNT,
    },
    "Comparison": {"name": TEXT, "kind": one_of(*KINDS, RECORD), "terms": several(value(Terms))},
    "Vectors": {"known": bounded(indices("k"), FOLDED), "components": floats("d, k")},
    "Comparer": {
        "columns": several(value(Comparison), least=1),
        "whole": value(Comparison),
        "marked": bounded(indices("w"), TERMS),
        "vectors": value(Vectors),
        "rivals": FLAG,
    },
    "Setting": {"C": POSITIVE, **_of(LEAST_ZERO, "words", "vectors")},
    "Matcher": {
        "kinds": maybe(value(dict, words="kinds by column")),
        "rivals": FLAG,
        "comparer_": sized(value(Comparer), q=lambda comparer: len(comparer.feature_names)),
        "calibration_": value(FittedCalibration),
        "threshold_": FINITE,
    },
    "RecordMatcher": {
        "setting": maybe(value(Setting)),
        "random_state": whole(),
        "time_budget": maybe(NUMBER),
        "machine_": fitted(value(PairSVC)),
        "mean_": floats("q"),
        "scale_": Kind("positive numbers (q)", _are_scales, lambda found: (("q", len(found)),)),
        "setting_": value(Setting),
        "trials_": several(in_turn(TEXT, FINITE)),
    },
    "UnlabelledMatcher": {
        "weights_": sized(floats("c, levels"), levels=lambda _: LEVELS),
        "prior_": SHARE,
    },
    # transformers of scikit-learn
    "StandardScaler": {**SEEN, **_of(maybe(floats("d")), "mean_", "var_", "scale_")},
    "MinMaxScaler": {**SEEN, **_of(floats("d"), "min_", "scale_", "data_min_", "data_max_", "data_range_")},
    "RobustScaler": {"n_features_in_": width("d"), **_of(maybe(floats("d")), "center_", "scale_")},
    "MaxAbsScaler": {**SEEN, **_of(floats("d"), "max_abs_", "scale_")},
    "Normalizer": {"n_features_in_": width("d")},
    "PCA": {**AXES, "mean_": floats("d"), **_of(COUNT, "n_components_", "n_samples_"), "noise_variance_": NUMBER},
    "TruncatedSVD": AXES,
    "QuantileTransformer": {
        "n_features_in_": width("d"),
        "quantiles_": floats("q, d"),
        "references_": floats("q"),
        "n_quantiles_": COUNT,
    },
    "PowerTransformer": {"n_features_in_": width("d"), "lambdas_": floats("d"), "_scaler": sometimes(TRANSFORMER)},
    "VarianceThreshold": {"n_features_in_": width("d"), "variances_": floats("d")},
}
"""What each class may hold, by its name: parameters or fields, and what was learnt."""


# --------------------------------------------------------------------------- the schema of a class


@dataclass(frozen=True)
class Schema:
    """Kinds of the parameters (or fields) of a class, those that must be given, and of what it may have learnt."""

    parameters: Fields
    required: tuple[str, ...]
    learnt: Fields


_KNOWN: dict[type[Any], Schema] = {}
"""Schemas that were made already: annotations take a while to read."""


def schema_of(kind: type[Any]) -> Schema:
    """The schema of a class: its lines in the table, those of its bases, and its annotations.

    >>> from pairlearn.kernels import Polynomial
    >>> {name: kind.words for name, kind in schema_of(Polynomial).parameters.items()}["degree"]
    'a whole number from 1 to 100'
    """
    if kind not in _KNOWN:
        _KNOWN[kind] = _made_schema(kind)
    return _KNOWN[kind]


def saved_fields(kind: type[Any]) -> list[Field[Any]]:
    """The fields of a frozen value that files hold."""
    return [field for field in fields(kind) if field.metadata.get("saved", True)]


def _made_schema(kind: type[Any]) -> Schema:
    table = {name: line for base in reversed(kind.__mro__) for name, line in FIELDS.get(base.__name__, {}).items()}
    frozen = is_dataclass(kind)
    held = {field.name for field in saved_fields(kind)} if frozen else set(signature(kind).parameters) - set(NOT_SAVED)
    given = {name: one for name, one in signature(kind).parameters.items() if name in held}
    told = {} if is_transformer(kind) else _annotations(kind)
    parameters = {name: table.get(name) or told.get(name) or PLAIN for name in given}
    learnt = {name: line for name, line in (told | table).items() if name.endswith("_") or name == "_scaler"}
    required = tuple(name for name, one in given.items() if one.default is one.empty)
    return Schema(parameters, required, {} if frozen else learnt)


def _annotations(kind: type[Any]) -> Fields:
    """What annotations of attributes and of the constructor tell; learnt ones may be of other classes of the family."""
    hints = get_type_hints(kind) | get_type_hints(kind.__init__)
    found = {name: annotated(hint) for name, hint in hints.items()}
    return {name: sometimes(one) if name.endswith("_") else one for name, one in found.items() if one is not None}
