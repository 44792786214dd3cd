"""Data frames as examples: columns that hold no numbers are named, and names and order must be those of the fit."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.errors import InputError

rng = np.random.default_rng(5)
CLASSES = np.repeat(np.arange(5), 4)
X = rng.normal(size=(5, 3))[CLASSES] + 0.3 * rng.normal(size=(20, 3))
FRAME = polars.DataFrame(X, schema=["width", "height", "depth"])
TURNED = FRAME.select("height", "width", "depth")
PAIRS = pl.all_pairs(FRAME, reflexive=False)
Y = PAIRS.labels(CLASSES)
MODELS = {
    "svc": pl.PairSVC(),
    "ranker": pl.PairRanker(),
    "sphere": pl.OneClassPairSphere(nu=0.3),
    "metric": pl.OnlinePseudoMetric(max_sweeps=1),
    "kernel metric": pl.metrics.KernelPseudoMetric("rbf", max_sweeps=1),
    "stacked": pl.StackedPairSVC(n_folds=2),
    "pipeline": make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC()),
    "euclid": pl.EuclidBaseline(),
    "lda": pl.baselines.BASELINES["lda_cosine"](),
    "plda": pl.baselines.BASELINES["plda"](),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(model: Any) -> Any:
    positive = Y > 0 if isinstance(model, pl.OneClassPairSphere) else np.full(len(Y), True)
    return clone(model).fit(PAIRS[positive], Y[positive])


# --------------------------------------------------------------------------- names and their order


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_columns_in_another_order_are_refused(model: Any) -> None:
    model = fitted(model)
    expected = model.decision_function(PAIRS)
    with pytest.raises(InputError, match=r"another order than at fit: 'height' where 'width' was"):
        model.decision_function(pl.all_pairs(TURNED, reflexive=False))
    back = TURNED[list(model.feature_names_in_)]  # what the message says
    for table in (back, X):
        found = model.decision_function(pl.all_pairs(table, reflexive=False))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("sphere", "pipeline")])
def test_blocks_and_galleries_look_at_names_too(name: str) -> None:
    model = fitted(MODELS[name])
    assert model.score_block(FRAME, FRAME[:2]).shape == (20, 2)
    for probe, gallery in ((TURNED, FRAME), (FRAME, TURNED)):
        with pytest.raises(InputError, match="another order"):
            model.score_block(probe, gallery)


@pytest.mark.parametrize("name", ["svc", "pipeline", "euclid"])
def test_what_stands_on_a_model_looks_at_names_too(name: str) -> None:
    model = fitted(MODELS[name])
    gallery = pl.Gallery(pl.Verifier(model, 0.0), FRAME[::2], CLASSES[::2])
    assert gallery.score(FRAME[1:2]).shape == (1, 5)
    with pytest.raises(InputError, match="another order"):
        gallery.score(TURNED)
    with pytest.raises(InputError, match="another order"):
        pl.Gallery(model, TURNED, CLASSES)
    scorer = pl.scorers.NormalisedScorer(model, FRAME[:10], method="t")
    assert scorer.score_block(FRAME[10:], FRAME[:3]).shape == (10, 3)
    with pytest.raises(InputError, match="another order"):
        scorer.score_block(TURNED, FRAME)


def test_other_columns_are_named() -> None:
    model = fitted(MODELS["svc"])
    other = pl.all_pairs(FRAME.rename({"depth": "weight"}))
    with pytest.raises(InputError, match="columns differ from those at fit: 'depth' missing, 'weight' unknown; pass"):
        model.decision_function(other)
    with pytest.raises(InputError, match="'depth' missing; pass"):
        model.decision_function(pl.all_pairs(FRAME.drop("depth")))


def test_a_new_fit_takes_new_columns_but_learning_on_does_not() -> None:
    turned = pl.all_pairs(TURNED, reflexive=False)
    assert fitted(MODELS["svc"]).fit(turned, Y).feature_names_in_[0] == "height"
    with pytest.raises(InputError, match="another order"):
        fitted(MODELS["metric"]).partial_fit(turned, Y)


def test_selection_and_sampling_keep_the_names() -> None:
    drawn = pl.selection.PairSampler(positives=5, negatives=5).draw(FRAME, CLASSES)
    assert drawn.feature_names.tolist() == FRAME.columns
    search = pl.StagedSearch(["metric"], ["linear"], [1.0], weights=()).fit(FRAME, CLASSES)
    assert search.best_estimator_.feature_names_in_.tolist() == FRAME.columns
    with pytest.raises(InputError, match="another order"):
        search.decision_function(pl.all_pairs(TURNED))


def test_two_tables_have_no_names() -> None:
    assert pl.Pairs(FRAME, [0], [1], right_examples=TURNED).feature_names is None


def test_expansions_look_at_names_too() -> None:
    model = pl.BasisSVC("rbf", random_state=0).fit(FRAME, CLASSES)
    with pytest.raises(InputError, match="another order"):
        model.predict(TURNED)


# --------------------------------------------------------------------------- columns that hold no numbers

DAYS = [datetime.date(2020, 1, day) for day in (1, 2)]
COLUMNS: dict[str, tuple[Any, str]] = {
    "text": (["a", "b"], r"column 'extra' of the examples holds text; drop it, or encode it"),
    "digits": (["1", "2"], r"holds text"),
    "categories": (polars.Series(["a", "b"], dtype=polars.Categorical), "holds text"),
    "dates": (DAYS, r"column 'extra' of the examples holds dates; drop it, or count"),
    "times": ([datetime.datetime(2020, 1, 1)] * 2, "holds dates"),
    "lengths of time": ([datetime.timedelta(1)] * 2, "holds dates"),
    "lists": ([[1.0, 2.0], [3.0, 4.0]], r"holds lists; pass np.array\(table\['extra'\].to_list\(\)\)"),
    "arrays": (polars.Series([[1.0], [2.0]], dtype=polars.Array(polars.Float64, 1)), "holds lists"),
}


@pytest.mark.parametrize(("column", "message"), COLUMNS.values(), ids=COLUMNS)
def test_a_column_that_holds_no_numbers_is_named(column: Any, message: str) -> None:
    frame = polars.DataFrame({"width": [1.0, 2.0], "extra": column})
    for use in (lambda: pl.Pairs(frame, [0], [1]), lambda: pl.BasisExpansion("rbf").fit(frame)):
        with pytest.raises(InputError, match=message):
            use()


def test_numbers_of_every_kind_are_taken() -> None:
    columns = {"whole": [1, 2], "small": polars.Series([1, 2], dtype=polars.UInt8), "yes": [True, False]}
    found = pl.Pairs(polars.DataFrame({**columns, "single": polars.Series([0.5, 1.5], dtype=polars.Float32)}), [0], [1])
    np.testing.assert_array_equal(found.examples, [[1.0, 1.0, 1.0, 0.5], [2.0, 2.0, 0.0, 1.5]])


@pytest.mark.parametrize(
    ("dtype", "values", "what"),
    [
        ("object", ["a", "b"], "text"),
        ("object", [1, 2.5], None),
        ("datetime64[ns, UTC]", DAYS, "dates"),
        ("category", ["a", "b"], "text"),
        ("Int64", [1, 2], None),
        ("bool", [True, False], None),
    ],
)
def test_types_as_pandas_calls_them(dtype: str, values: Any, what: str | None) -> None:
    class Frame(dict[str, Any]):
        columns, dtypes = ("extra",), (dtype,)

        def to_numpy(self) -> Any:
            return np.array([self["extra"]], dtype=object).T

    if what is None:
        assert pl.Pairs(Frame(extra=values), [0], [1]).examples.dtype == np.float64
    else:
        with pytest.raises(InputError, match=f"column 'extra' of the examples holds {what}"):
            pl.Pairs(Frame(extra=values), [0], [1])


@pytest.mark.filterwarnings("error")
def test_a_lazy_frame_must_be_collected() -> None:
    for use in (pl.all_pairs, lambda lazy: pl.Pairs(lazy, [0], [1]), pl.BasisExpansion("rbf").fit):
        with pytest.raises(InputError, match=r"are a LazyFrame, which holds no rows yet; pass examples.collect\(\)"):
            use(FRAME.lazy())


def test_a_sparse_matrix_is_no_frame() -> None:
    assert pl.Pairs(sparse.csr_array(X), [0], [1]).feature_names is None
