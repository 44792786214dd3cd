"""Every machine comes back from its file to the last bit, with group features and two tables; damage is refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hostile import put, rewritten
from scipy import sparse

import pairlearn as pl
from pairlearn.errors import InputError
from pairlearn.kernels import FromFunction, Gaussian, Linear, Polynomial

rng = np.random.default_rng(0)
X = rng.normal(size=(10, 3))
LEFT, RIGHT = rng.integers(0, 5, 30), 5 + rng.integers(0, 5, 30)
Y = np.where(rng.random(30) < 0.5, 1, -1)
Y[:2] = 1, -1
SOME = np.where(np.arange(30) % 3 == 0, Y, 0)
VALUES = rng.normal(size=30)
Z, W = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
TARGETS = rng.normal(size=(6, 4))


def plain(n: int = 30) -> pl.Pairs:
    return pl.Pairs(X, LEFT, RIGHT)[:n]


def grouped(*names: str) -> pl.Pairs:
    return pl.Pairs(X, LEFT, RIGHT, **{name: {"invariant": Z, "signed": W}[name] for name in names})


def apart(**options: Any) -> pl.Pairs:
    return pl.Pairs(X, LEFT, RIGHT - 5, right_examples=TARGETS, **options)


BALANCED = pl.pair_kernels.balanced_composite(pl.pair_kernel("tensor"), invariant="rbf", signed="poly")
SKEW = pl.pair_kernels.skew_composite(pl.pair_kernel("tensor"), "linear", invariant="rbf")
BOTH = grouped("invariant", "signed")
CASES: dict[str, tuple[Any, pl.Pairs, Any]] = {
    "svc": (pl.PairSVC(base="rbf"), plain(), Y),
    "svc blocks": (pl.PairSVC(kernel=BALANCED, base="rbf"), BOTH, Y),
    "svc group": (pl.PairSVC(kernel=pl.pair_kernels.power(pl.pair_kernels.group_linear(), 2, 1.0).balanced()), BOTH, Y),
    "svc on blocks": (pl.PairSVC(kernel=pl.pair_kernels.on_blocks("rbf").balanced()), BOTH, Y),
    "svc blocks alone": (
        pl.PairSVC(kernel=pl.pair_kernels.on_invariant("rbf") + pl.pair_kernels.on_signed("poly")),
        BOTH,
        Y,
    ),
    "svc two tables": (pl.PairSVC(base=("linear", "rbf")), apart(), Y),
    "svc two tables blocks": (
        pl.PairSVC(kernel=pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant("rbf"), base=("rbf", "poly")),
        apart(invariant=Z),
        Y,
    ),
    "svc mirrored": (pl.PairSVC(kernel="poly_tensor", base="rbf", mirrored=True), plain(), Y),
    "ranker": (pl.PairRanker(base="rbf", draws="drop"), plain(), SOME),
    "ranker draws": (pl.PairRanker(kernel="wedge", base=Gaussian(0.3)), plain(), SOME),
    "ranker signed": (
        pl.PairRanker(kernel=pl.pair_kernel("difference") + pl.pair_kernels.on_signed()),
        grouped("signed"),
        Y,
    ),
    "ranker skew": (pl.PairRanker(kernel=SKEW), BOTH, Y),
    "ranker gaussian": (
        pl.PairRanker(kernel=pl.pair_kernels.gaussian(pl.pair_kernels.group_linear(), 0.2).skewed()),
        BOTH,
        Y,
    ),
    "svr": (pl.PairSVR(base="poly", epsilon=0.2), plain(), VALUES),
    "ridge": (pl.PairRidge(base="poly"), plain(), VALUES),
    "ridge skew": (pl.PairRidge(kernel="wedge", base="rbf", alpha=0.1), plain(), VALUES),
    "svr skew": (pl.PairSVR(kernel="wedge", base="rbf"), plain(), VALUES),
    "svr mirrored": (pl.PairSVR(kernel="poly_tensor", mirrored="antisymmetric"), plain(), VALUES),
    "svr two tables": (pl.PairSVR(kernel="tensor", base=("rbf", "rbf")), apart(), VALUES),
    "one class": (pl.OneClassPairSVM(nu=0.3), plain(), None),
    "one class blocks": (pl.OneClassPairSVM(kernel=BALANCED, nu=0.3), BOTH, None),
    "one class two tables": (pl.OneClassPairSVM(base=("rbf", "linear")), apart(), None),
    "sphere": (pl.OneClassPairSphere(nu=0.3), plain(), None),
    "sphere blocks": (pl.OneClassPairSphere(kernel=BALANCED, base="linear"), BOTH, None),
    "sphere two tables": (pl.OneClassPairSphere(base=("poly", "rbf")), apart(), None),
    "transductive": (pl.TransductivePairSVC(base="rbf", max_switches=2), plain(), SOME),
    "transductive skew": (pl.TransductivePairSVC(kernel=SKEW, anneal=(0.5, 1.0)), BOTH, SOME),
    "transductive two tables": (pl.TransductivePairSVC(kernel="tensor", base=("rbf", "rbf")), apart(), SOME),
}
every_case = pytest.mark.parametrize(("model", "pairs", "y"), CASES.values(), ids=CASES)
pytestmark = pytest.mark.filterwarnings("ignore::pairlearn.errors.ConflictWarning")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Loops this short are done before a second thread has started."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def equal(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    return type(one) is type(two) and bool(one == two)


# --------------------------------------------------------------------------- round trips


@every_case
def test_every_machine_comes_back_to_the_last_bit(model: Any, pairs: pl.Pairs, y: Any, path: Path) -> None:
    model.fit(pairs, y)
    pl.save(model, path)
    loaded = pl.load(path)
    assert type(loaded) is type(model)
    tested = [pairs] if pairs.right_examples is not None else [pairs, pairs.swapped()]
    for some in tested:
        np.testing.assert_array_equal(loaded.decision_function(some), model.decision_function(some))
        np.testing.assert_array_equal(loaded.predict(some), model.predict(some))
    assert loaded.get_params() == model.get_params()
    learned = {name for name in vars(model) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == learned
    for name in learned - {"function_"}:
        assert equal(getattr(loaded, name), getattr(model, name)), name
    for name in ("left", "right", "coefficients", "bias", "kernel"):
        assert equal(getattr(loaded.function_, name), getattr(model.function_, name)), name


@every_case
def test_saving_again_gives_the_same_file(model: Any, pairs: pl.Pairs, y: Any, path: Path) -> None:
    pl.save(model.fit(pairs, y), path)
    first = path.read_bytes()
    pl.save(pl.load(path), path)
    assert path.read_bytes() == first


def test_what_machines_know_besides_their_function(path: Path) -> None:
    ranker = pl.PairRanker(kernel="wedge", base=Gaussian(0.3)).fit(plain(), SOME)
    pl.save(ranker, path)
    loaded = pl.load(path)
    assert loaded.n_draws_ == ranker.n_draws_ == (SOME == 0).sum()
    assert str(loaded.rank(X)) == str(ranker.rank(X))
    switching = pl.TransductivePairSVC(base="rbf").fit(plain(), SOME)
    pl.save(switching, path)
    loaded = pl.load(path)
    assert loaded.switching_ == switching.switching_
    np.testing.assert_array_equal(loaded.transduction_, switching.transduction_)
    sphere = pl.OneClassPairSphere(nu=0.3).fit(plain())
    pl.save(sphere, path)
    assert pl.load(path).radius_ == sphere.radius_


def test_blocks_of_two_tables_come_back(path: Path) -> None:
    model = pl.PairSVC(kernel="tensor_metric", base=("linear", "rbf")).fit(apart(), Y)
    pl.save(model, path)
    np.testing.assert_array_equal(pl.load(path).score_block(X, TARGETS), model.score_block(X, TARGETS))


@pytest.mark.parametrize("left", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_array, np.float32, np.asfortranarray])
def test_two_tables_of_any_kind(left: Any, right: Any, path: Path) -> None:
    pairs = pl.Pairs(left(X), LEFT, RIGHT - 5, right_examples=right(TARGETS))
    model = pl.PairSVC(base=("rbf", "linear")).fit(pairs, Y)
    pl.save(model, path)
    np.testing.assert_array_equal(pl.load(path).decision_function(pairs), model.decision_function(pairs))


def test_two_precomputed_tables(path: Path) -> None:
    pairs = pl.Pairs(X @ X.T, LEFT, RIGHT - 5, right_examples=TARGETS @ TARGETS.T)
    model = pl.PairSVC(kernel="tensor", base=("precomputed", "precomputed")).fit(pairs, Y)
    pl.save(model, path)
    rows = pl.Pairs(
        rng.normal(size=(3, 3)) @ X.T, [0, 1, 2], [1, 0, 1], right_examples=rng.normal(size=(2, 4)) @ TARGETS.T
    )
    np.testing.assert_array_equal(pl.load(path).decision_function(rows), model.decision_function(rows))


def test_a_pair_of_grams_is_saved_as_their_kernels(path: Path) -> None:
    grams = pl.kernels.Gram(Gaussian(0.5), X), pl.kernels.Gram(Linear(), TARGETS)
    model = pl.PairSVC(base=grams).fit(apart(), Y)
    pl.save(model, path)
    loaded = pl.load(path)
    assert loaded.base == (Gaussian(0.5), Linear())
    np.testing.assert_array_equal(loaded.decision_function(apart()), model.decision_function(apart()))


def test_an_interrupted_machine_without_support(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pl.PairRanker(kernel=SKEW, callback=lambda progress: True).fit(BOTH, Y)
    assert model.n_support_ == 0
    pl.save(model, path)
    np.testing.assert_array_equal(pl.load(path).decision_function(BOTH), 0.0)


@pytest.mark.parametrize("which", ["svc two tables", "ranker signed", "svr skew", "one class blocks", "sphere"])
def test_a_loaded_machine_continues(which: str, path: Path) -> None:
    model, pairs, y = CASES[which]
    model.fit(pairs, y)
    pl.save(model, path)
    loaded = pl.load(path).set_params(warm_start=True).fit(pairs, y)
    assert loaded.fit_status_ == "converged"
    assert loaded.objective_ == pytest.approx(model.objective_, rel=1e-3)


# --------------------------------------------------------------------------- what cannot be saved


def test_code_on_blocks_is_refused(path: Path) -> None:
    kernel = pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant(FromFunction(lambda A, B: A @ B.T, definite=True))
    model = pl.PairSVC(kernel=kernel).fit(grouped("invariant"), Y)
    with pytest.raises(InputError, match="a file must not hold code"):
        pl.save(model, path)
    assert not path.exists()


def test_code_on_one_side_is_refused(path: Path) -> None:
    model = pl.PairSVC(base=("linear", lambda A, B: A @ B.T)).fit(apart(), Y)
    with pytest.raises(InputError, match="a file must not hold code"):
        pl.save(model, path)


def test_objects_on_the_right_are_refused(path: Path) -> None:
    words = ["pair", "pear", "learn", "lean", "fast", "last"]
    overlap = FromFunction(lambda a, b: float(len(set(a) & set(b))), scalar=True, definite=True)
    pairs = pl.Pairs(X, LEFT, RIGHT - 5, right_examples=words)
    with pytest.raises(InputError, match="stored safely"):
        pl.save(pl.PairSVC(base=("linear", overlap)).fit(pairs, Y), path)


# --------------------------------------------------------------------------- damage


BAD_ARRAYS: dict[str, tuple[str, Any]] = {
    "left": ("left", lambda a: np.full_like(a, 10**6)),
    "negative right": ("right", lambda a: np.full_like(a, -1)),
    "right beyond its own table": ("right", lambda a: np.full_like(a, 6)),
    "right anchor too short": ("right_anchor", lambda a: a[:1]),
    "right anchor flat": ("right_anchor", np.ravel),
    "anchor too short": ("anchor", lambda a: a[:1]),
    "coefficients": ("coefficients", lambda a: a[:-1]),
    "infinite": ("coefficients", lambda a: a * np.inf),
    "shown rows": ("seen.0.2", lambda a: a[:-1]),
    "shown flat": ("seen.0.2", np.ravel),
}


@pytest.mark.parametrize(("name", "bad"), BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_damaged_arrays_are_refused(name: str, bad: Any, path: Path) -> None:
    kernel = pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant("rbf")
    model = pl.PairSVC(kernel=kernel, base=("rbf", "rbf")).fit(apart(invariant=Z), Y)
    pl.save(model, path)
    whole = model.function_.seen[0][2] if name.startswith("seen") else getattr(model.function_, name)
    rewritten(path, arrays={f"function_.{name}": np.ascontiguousarray(bad(whole))})
    with pytest.raises(InputError, match="damaged"):
        pl.load(path)


BAD_DOCUMENTS = {
    "nothing shown": put("content", "fitted", "function_", "seen", value=[]),
    "shown as something else": put("content", "fitted", "function_", "seen", 0, 0, value="Blocks"),
    "shown of the wrong order": put("content", "fitted", "function_", "seen", 0, 1, value=True),
    "unknown block": put("content", "fitted", "function_", "seen", 0, 0, "names", value=["evil"]),
    "no right examples": put("content", "fitted", "function_", "right_anchor", value=None),
    "unknown solver step": put("content", "fitted", "history_", 0, "evil", value=1),
}


@pytest.mark.parametrize("change", BAD_DOCUMENTS.values(), ids=BAD_DOCUMENTS)
def test_damaged_documents_are_refused(change: Any, path: Path) -> None:
    kernel = pl.pair_kernel("tensor") + pl.pair_kernels.on_invariant("rbf")
    pl.save(pl.PairSVC(kernel=kernel, base=("rbf", "rbf")).fit(apart(invariant=Z), Y), path)
    rewritten(path, change)
    with pytest.raises(InputError, match="damaged"):
        pl.load(path)


def test_an_index_into_precomputed_columns_is_checked(path: Path) -> None:
    pairs = pl.Pairs(X @ X.T, LEFT, RIGHT - 5, right_examples=TARGETS @ TARGETS.T)
    model = pl.PairSVC(kernel="tensor", base=("precomputed", "precomputed")).fit(pairs, Y)
    pl.save(model, path)
    index = model.function_.right_anchor.index
    rewritten(path, arrays={"function_.right_anchor.index": np.full_like(index, 99)})
    with pytest.raises(InputError, match=r"function_.right_anchor.index\[0\] is 99, but must be below columns = 6"):
        pl.load(path)


@pytest.mark.parametrize(
    "model", [pl.PairRanker(), pl.PairSVR(), pl.PairRidge(), pl.OneClassPairSVM(), pl.TransductivePairSVC()]
)
def test_unfitted_machines_are_refused(model: Any, path: Path) -> None:
    with pytest.raises(InputError, match=f"this {type(model).__name__} is not fitted; call fit first"):
        pl.save(model, path)


def test_polynomials_on_blocks_keep_their_parameters(path: Path) -> None:
    kernel = pl.pair_kernels.on_blocks(Polynomial(degree=3, gamma=0.1, coef0=1.0)).skewed()
    model = pl.PairRanker(kernel=kernel).fit(BOTH, Y)
    pl.save(model, path)
    loaded = pl.load(path)
    assert loaded.kernel == kernel
    np.testing.assert_array_equal(loaded.decision_function(BOTH.swapped()), -model.decision_function(BOTH))


@pytest.mark.parametrize("name", pl.baselines.BASELINES)
def test_baselines_come_back_with_the_same_scores(name: str, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    classes = np.repeat(np.arange(8), 5)
    table = random.normal(size=(8, 4))[classes] + 0.5 * random.normal(size=(40, 4))
    pairs = pl.all_pairs(table, reflexive=False)
    model = pl.baselines.BASELINES[name]().fit(pairs, pairs.labels(classes))
    pl.save(model, tmp_path / "model.safetensors")
    again = pl.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.decision_function(pairs), model.decision_function(pairs))
    np.testing.assert_array_equal(again.predict(pairs), model.predict(pairs))


STRINGS = ["pair", "pairs", "repair", "pear", "kernel", "kernels", "colonel", "kern"]
KINDS = np.array(["p", "p", "p", "p", "k", "k", "k", "k"])


@pytest.mark.parametrize(
    ("similarity", "examples"),
    [
        ("rbf", np.random.default_rng(0).normal(size=(8, 3))),
        (["linear", pl.kernels.Gaussian(0.5)], np.random.default_rng(0).normal(size=(8, 3))),
        (pl.kernels.Rigid(1), np.random.default_rng(0).random((8, 3, 4, 5), dtype=np.float32)),
        (pl.kernels.Deformable(1, 1), np.random.default_rng(0).random((8, 3, 4, 5))),
        (pl.kernels.EditSimilarity(), STRINGS),
        ("precomputed", np.random.default_rng(0).normal(size=(8, 8))),
    ],
)
def test_expansions_and_their_classifier_come_back(similarity: Any, examples: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    for dtype in (np.float32, np.float64):
        model = pl.BasisSVC(similarity, dtype=dtype, random_state=0, penalty="l1", C=10.0).fit(examples, KINDS)
        pl.save(model, path)
        loaded = pl.load(path)
        assert np.array_equal(loaded.decision_function(examples), model.decision_function(examples))
        assert loaded.predict(examples).tolist() == model.predict(examples).tolist()
        assert np.array_equal(loaded.fit(examples, KINDS).coef_, model.coef_)
        expansion = pl.BasisExpansion(similarity, dtype=dtype, random_state=0).fit(examples)
        pl.save(expansion, path)
        assert np.array_equal(pl.load(path).transform(examples), expansion.transform(examples))


def test_nystrom_comes_back_and_functions_are_refused(tmp_path: Path) -> None:
    X, path = np.random.default_rng(0).normal(size=(12, 3)), tmp_path / "model.safetensors"
    model = pl.similarities.IndefiniteNystrom(pl.kernels.Polynomial(2, 1.0, 0.0), n_bases=5, random_state=0).fit(X)
    pl.save(model, path)
    assert np.array_equal(pl.load(path).transform(X), model.transform(X))
    with pytest.raises(InputError, match="cannot save"):
        pl.save(pl.BasisExpansion(lambda A, B: A @ B.T).fit(X), path)
