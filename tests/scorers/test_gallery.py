"""Normalised scores and galleries against loops over single pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pairlearn as pl
from pairlearn.errors import InputError, SymmetryError
from pairlearn.scorers import Gallery, NormalisedScorer, score_all
from pairlearn.scorers import scorer as module
from pairlearn.scorers.gallery import largest_columns

unhurried = settings(deadline=None, max_examples=40)


class Lengths:
    """A symmetric model of strings without score_block: minus the difference of their lengths, plus a common letter."""

    def decision_function(self, pairs: Any) -> Any:
        rows = zip(pairs.left, pairs.right, strict=True)
        return np.array([self.one(pairs.examples[i], pairs.right_table[j]) for i, j in rows])

    def one(self, a: str, b: str) -> float:
        return -abs(len(a) - len(b)) + 0.5 * len(set(a) & set(b))


class Skewed:
    """g(a, b) = 2a − b of single numbers."""

    def decision_function(self, pairs: Any) -> Any:
        return 2 * pairs.examples[pairs.left, 0] - pairs.examples[pairs.right, 0]


def trained() -> dict[str, Any]:
    X, classes = pl.data.double_interval(8, 4, n=12, seed=0)
    pairs = pl.all_pairs(X, reflexive=False)
    y = pairs.labels(classes)
    return {
        "euclid": pl.EuclidBaseline(),
        "cosine": pl.CosineBaseline(),
        "wccn": pl.baselines.WCCNBaseline().fit(pairs, y),
        "plda": pl.baselines.PLDABaseline().fit(pairs, y),
        "svc": pl.PairSVC(base="rbf").fit(pairs, y),
        "pipeline": make_pipeline(pl.OnExamples(StandardScaler()), pl.PairSVC()).fit(pairs, y),
    }


MODELS = trained()
EXAMPLES = pl.data.double_interval(10, 3, n=12, seed=1)[0] + 0.01 * np.random.default_rng(0).normal(size=(30, 12))
COHORT = pl.data.double_interval(9, 3, n=12, seed=2)[0] + 0.01 * np.random.default_rng(1).normal(size=(27, 12))
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
every_method = pytest.mark.parametrize("method", ["z", "t", "s"])


def one_score(model: Any, a: Any, b: Any) -> float:
    return float(model.decision_function(pl.Pairs(np.stack([a, b]), [0], [1]))[0])


def highest(scores: list[float], top: int | None) -> tuple[float, float]:
    kept = sorted(scores)[-top:] if top else scores
    mean = sum(kept) / len(kept)
    return mean, (sum((s - mean) ** 2 for s in kept) / len(kept)) ** 0.5


def by_loops(model: Any, method: str, top: int | None, a: Any, b: Any, cohort: Any = COHORT) -> float:
    """The formula of the docstring for one pair: a is the probe, b is enrolled."""
    g = one_score(model, a, b)
    mean_z, deviation_z = highest([one_score(model, c, b) for c in cohort], top)
    mean_t, deviation_t = highest([one_score(model, a, c) for c in cohort], top)
    z, t = (g - mean_z) / deviation_z, (g - mean_t) / deviation_t
    return {"z": z, "t": t, "s": (z + t) / 2}[method]


# --------------------------------------------------------------------------- normalised scores


@every_model
@every_method
@pytest.mark.parametrize("top", [None, 5])
def test_normalised_scores_by_loops(model: Any, method: Any, top: int | None) -> None:
    scorer = NormalisedScorer(model, COHORT[:9], method, top)
    pairs = pl.Pairs(EXAMPLES, [0, 4, 11], [5, 20, 4])
    expected = [
        by_loops(model, method, top, EXAMPLES[i], EXAMPLES[j], COHORT[:9])
        for i, j in zip(pairs.left, pairs.right, strict=True)
    ]
    np.testing.assert_allclose(scorer.decision_function(pairs), expected, rtol=1e-6, atol=1e-8)
    block = scorer.score_block(EXAMPLES[:12], EXAMPLES[:21])
    np.testing.assert_allclose(block[[0, 4, 11], [5, 20, 4]], expected, rtol=1e-6, atol=1e-8)


@every_model
def test_s_norm_is_symmetric_to_the_last_bit(model: Any) -> None:
    scorer = NormalisedScorer(model, COHORT, "s", top=7)
    pairs = pl.all_pairs(EXAMPLES)
    np.testing.assert_array_equal(scorer.decision_function(pairs), scorer.decision_function(pairs.swapped()))
    some = pairs[np.random.default_rng(0).permutation(len(pairs))[:50]]
    np.testing.assert_array_equal(scorer.decision_function(some), scorer.decision_function(some.swapped()))
    probe, gallery = EXAMPLES[:7], EXAMPLES[7:]
    np.testing.assert_array_equal(scorer.score_block(probe, gallery), scorer.score_block(gallery, probe).T)
    square = scorer.score_block(EXAMPLES, EXAMPLES)
    np.testing.assert_array_equal(square, square.T)


@unhurried
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.01, 100), shift=st.floats(-100, 100))
def test_normalisation_takes_scale_and_shift_away(seed: int, scale: float, shift: float) -> None:
    class Moved:
        def decision_function(self, pairs: Any) -> Any:
            return scale * pl.EuclidBaseline().decision_function(pairs) + shift

    rng = np.random.default_rng(seed)
    X, cohort = rng.normal(size=(6, 3)), rng.normal(size=(9, 3))
    pairs = pl.all_pairs(X, reflexive=False)
    for method in ("z", "t", "s"):
        one = NormalisedScorer(pl.EuclidBaseline(), cohort, method, 4).decision_function(pairs)
        other = NormalisedScorer(Moved(), cohort, method, 4).decision_function(pairs)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@every_method
def test_scores_of_the_cohort_itself_are_standard(method: Any) -> None:
    # Z-norm standardises every column, T-norm every row, of scores with the cohort.
    block = NormalisedScorer(MODELS["euclid"], COHORT, method).score_block(COHORT, COHORT)
    for axis in {"z": [0], "t": [1], "s": []}[method]:
        np.testing.assert_allclose(block.mean(axis=axis), 0.0, atol=1e-9)
        np.testing.assert_allclose(block.std(axis=axis), 1.0, atol=1e-9)
    assert block.shape == (27, 27)


def test_z_and_t_mirror_each_other_and_s_is_their_mean() -> None:
    z, t, s = (NormalisedScorer(MODELS["svc"], COHORT, method, 6) for method in ("z", "t", "s"))
    block = z.score_block(EXAMPLES[:5], EXAMPLES[5:])
    np.testing.assert_allclose(block, t.score_block(EXAMPLES[5:], EXAMPLES[:5]).T, rtol=1e-9)
    both = 0.5 * (block + t.score_block(EXAMPLES[:5], EXAMPLES[5:]))
    np.testing.assert_allclose(s.score_block(EXAMPLES[:5], EXAMPLES[5:]), both, rtol=1e-9)


def test_zt_norm_is_t_norm_of_z_normed_scores() -> None:
    z = NormalisedScorer(MODELS["cosine"], COHORT[:12], "z")
    zt = NormalisedScorer(z, COHORT[12:], "t")
    pairs = pl.Pairs(EXAMPLES, [0, 3], [8, 1])
    expected = []
    for i, j in ((0, 8), (3, 1)):
        mean, deviation = highest([one_score(z, EXAMPLES[i], c) for c in COHORT[12:]], None)
        expected.append((one_score(z, EXAMPLES[i], EXAMPLES[j]) - mean) / deviation)
    np.testing.assert_allclose(zt.decision_function(pairs), expected, rtol=1e-8)


def test_an_asymmetric_model_keeps_its_sides_and_has_no_s_norm() -> None:
    cohort, X = np.array([[0.0], [1.0], [5.0]]), np.array([[2.0], [7.0]])
    pairs = pl.Pairs(X, [0], [1])
    for method in ("z", "t"):
        value = NormalisedScorer(Skewed(), cohort, method).decision_function(pairs)
        assert value[0] == pytest.approx(by_loops(Skewed(), method, None, X[0], X[1], cohort))
    with pytest.raises(SymmetryError, match='not symmetric; use method="z" or "t"'):
        NormalisedScorer(Skewed(), cohort, "s")


def test_blocks_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = NormalisedScorer(MODELS["cosine"], COHORT, "s", 5)
    who = np.arange(30) // 3
    whole = scorer.score_block(EXAMPLES, EXAMPLES), Gallery(scorer, EXAMPLES, who).score(COHORT)
    monkeypatch.setattr(module, "BLOCK", 50)
    np.testing.assert_allclose(scorer.score_block(EXAMPLES, EXAMPLES), whole[0], rtol=1e-9)
    gallery = Gallery(scorer, EXAMPLES, who)
    np.testing.assert_allclose(gallery.score(COHORT), whole[1], rtol=1e-9)
    best = np.argsort(-whole[1], axis=1, kind="stable")
    assert (gallery.identify(COHORT, 3).identities == gallery.names[best[:, :3]]).all()
    assert (gallery.ranks(COHORT, gallery.names[best[:, 2]]) == 3).all()


def test_objects_and_sparse_rows_are_welcome() -> None:
    words, cohort = ["a", "abc", "bcdef", "xyz"], ["b", "bc", "abxyz", "q", "cdefgh"]
    scorer = NormalisedScorer(Lengths(), cohort, "s", 3)
    block = scorer.score_block(words, words[:2])
    one, other = (highest([Lengths().one(word, c) for c in cohort], 3) for word in ("xyz", "abc"))
    g = Lengths().one("xyz", "abc")
    assert block[3, 1] == pytest.approx(((g - one[0]) / one[1] + (g - other[0]) / other[1]) / 2)
    dense = NormalisedScorer(MODELS["cosine"], COHORT).score_block(EXAMPLES, EXAMPLES)
    thin = NormalisedScorer(MODELS["cosine"], sparse.csr_array(COHORT))
    np.testing.assert_allclose(thin.score_block(*2 * [sparse.csr_array(EXAMPLES)]), dense, atol=1e-9)
    pairs = pl.Pairs(sparse.csr_array(EXAMPLES), [0, 1], [2, 3])
    np.testing.assert_allclose(thin.decision_function(pairs), dense[[0, 1], [2, 3]], atol=1e-9)


@every_model
def test_score_all_needs_no_score_block(model: Any) -> None:
    class PairsOnly:
        decision_function = staticmethod(model.decision_function)

    expected = [[one_score(model, a, b) for b in EXAMPLES[4:9]] for a in EXAMPLES[:3]]
    for scorer in (model, PairsOnly()):
        np.testing.assert_allclose(score_all(scorer, EXAMPLES[:3], EXAMPLES[4:9]), expected, rtol=1e-7, atol=1e-9)
    thin = sparse.csr_array(EXAMPLES[:3]), sparse.csr_array(EXAMPLES[4:9])
    if isinstance(model, pl.CosineBaseline):
        np.testing.assert_allclose(score_all(PairsOnly(), *thin), expected, rtol=1e-9)


class Dot:
    """Inner products, which grow with the length ("loudness") of both examples."""

    def decision_function(self, pairs: Any) -> Any:
        return np.einsum("ij,ij->i", pairs.examples[pairs.left], pairs.examples[pairs.right])


def test_z_norm_is_deaf_to_loud_enrolments_and_t_norm_to_loud_probes() -> None:
    loudness = np.random.default_rng(0).lognormal(size=(30, 1))
    z, t = (NormalisedScorer(Dot(), COHORT, method, 8) for method in ("z", "t"))
    plain, loud = EXAMPLES, EXAMPLES * loudness
    np.testing.assert_allclose(z.score_block(plain, loud), z.score_block(plain, plain), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(t.score_block(loud, plain), t.score_block(plain, plain), rtol=1e-7, atol=1e-9)


def test_s_norm_lowers_errors_where_examples_differ_in_loudness() -> None:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(40), 4)
    X = (rng.normal(size=(40, 10))[who] + 0.7 * rng.normal(size=(160, 10))) * rng.lognormal(size=(160, 1))
    pairs = pl.all_pairs(X[:80], reflexive=False)
    y = pairs.labels(who[:80])
    raw = pl.equal_error_rate(pl.Scores(Dot().decision_function(pairs), y))
    normed = pl.equal_error_rate(pl.Scores(NormalisedScorer(Dot(), X[80:]).decision_function(pairs), y))
    assert normed < raw


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "u"}, 'method must be "z", "t" or "s"'),
        ({"top": 1}, "top must be from 2 to the size of the cohort, 27, got 1"),
        ({"top": 28}, "got 28"),
        ({"cohort": COHORT[:1]}, "has 1 of the at least 2 examples"),
        ({"cohort": [[np.nan, 1.0]] * 3}, "cohort contains NaN"),
        ({"model": object()}, "decision_function"),
    ],
)
def test_bad_scorers_are_refused_with_advice(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        NormalisedScorer(**{"model": pl.EuclidBaseline(), "cohort": COHORT, **arguments})


def test_what_cannot_be_normalised_is_refused_with_advice() -> None:
    scorer = NormalisedScorer(pl.CosineBaseline(), COHORT)
    with pytest.raises(InputError, match="scores the same with the whole cohort"):
        scorer.score_block(np.zeros((1, 12)), EXAMPLES)
    with pytest.raises(InputError, match="one table"):
        scorer.decision_function(pl.Pairs(EXAMPLES, [0], [1], right_examples=EXAMPLES))


# --------------------------------------------------------------------------- gallery

WHO = np.array(["eve", "bob", "ann", "bob", "eve", "eve", "dan"])
ENROLLED, PROBES = EXAMPLES[:7], EXAMPLES[7:18]


@every_model
@pytest.mark.parametrize("how", ["mean", "max"])
def test_pooled_scores_by_loops(model: Any, how: Any) -> None:
    gallery = Gallery(model, ENROLLED, WHO, "scores", how)
    assert gallery.names.tolist() == ["ann", "bob", "dan", "eve"]
    pool = {"mean": np.mean, "max": np.max}[how]
    expected = [
        [pool([one_score(model, probe, row) for row in ENROLLED[name == WHO]]) for name in gallery.names]
        for probe in PROBES
    ]
    np.testing.assert_allclose(gallery.score(PROBES), expected, rtol=1e-7, atol=1e-9)


@every_model
@pytest.mark.parametrize("how", ["mean", "direction"])
def test_pooled_examples_by_loops(model: Any, how: Any) -> None:
    rows = ENROLLED if how == "mean" else ENROLLED / np.linalg.norm(ENROLLED, axis=1, keepdims=True)
    gallery = Gallery(model, ENROLLED, WHO, "examples", how)
    expected = [[one_score(model, p, rows[name == WHO].mean(axis=0)) for name in gallery.names] for p in PROBES]
    np.testing.assert_allclose(gallery.score(PROBES), expected, rtol=1e-6, atol=1e-8)
    if isinstance(model, pl.CosineBaseline):
        thin = Gallery(model, sparse.csr_array(ENROLLED), WHO, "examples", how).score(sparse.csr_array(PROBES))
        np.testing.assert_allclose(thin, expected, rtol=1e-9)


def test_a_zero_example_has_no_direction_but_does_not_harm() -> None:
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    gallery = Gallery(pl.CosineBaseline(), rows, [1, 1], "examples", "direction")
    np.testing.assert_allclose(gallery.score(np.array([[1.0, 0.0]])), [[0.6]])


@unhurried
@given(st.integers(0, 2**32 - 1), st.sampled_from([("scores", "mean"), ("scores", "max"), ("examples", "mean")]))
def test_one_example_each_is_the_score_itself_and_order_does_not_matter(seed: int, pooling: Any) -> None:
    rng = np.random.default_rng(seed)
    X, probes, order = rng.normal(size=(6, 3)), rng.normal(size=(4, 3)), rng.permutation(6)
    single = Gallery(pl.EuclidBaseline(), X[order], order, *pooling).score(probes)
    np.testing.assert_allclose(single, pl.EuclidBaseline().score_block(probes, X), atol=1e-7)
    who = rng.integers(0, 3, size=6)
    several = Gallery(pl.EuclidBaseline(), X, who, *pooling).score(probes)
    shuffled = Gallery(pl.EuclidBaseline(), X[order], who[order], *pooling).score(probes)
    np.testing.assert_allclose(several, shuffled, atol=1e-7)


def test_identify_and_ranks_by_sorting() -> None:
    gallery = Gallery(MODELS["svc"], ENROLLED, WHO)
    scores, matches = gallery.score(PROBES), gallery.identify(PROBES, top=3)
    truth = np.random.default_rng(0).choice(gallery.names, len(PROBES))
    ranks = gallery.ranks(PROBES, truth)
    for k, row in enumerate(scores):
        order = sorted(range(4), key=lambda n: -row[n])
        assert matches.identities[k].tolist() == [gallery.names[n] for n in order[:3]]
        assert matches.scores[k].tolist() == [row[n] for n in order[:3]]
        assert order[ranks[k] - 1] == gallery.names.tolist().index(truth[k])
    whole = gallery.identify(PROBES, top=4)
    assert all(sorted(row) == gallery.names.tolist() for row in whole.identities.tolist())


def test_ties_are_named_in_order_and_ranked_last() -> None:
    gallery = Gallery(pl.EuclidBaseline(), np.array([[1.0], [-1.0], [3.0]]), ["b", "a", "c"])
    assert gallery.identify(np.zeros((1, 1)), top=2).identities.tolist() == [["a", "b"]]
    assert gallery.ranks(np.zeros((3, 1)), ["a", "b", "c"]).tolist() == [2, 2, 3]


def test_a_gallery_of_a_normalised_scorer_and_of_objects() -> None:
    scorer = NormalisedScorer(MODELS["cosine"], COHORT, "s", 9)
    block = scorer.score_block(PROBES, ENROLLED)
    expected = np.column_stack([block[:, name == WHO].mean(axis=1) for name in np.unique(WHO)])
    np.testing.assert_allclose(Gallery(scorer, ENROLLED, WHO).score(PROBES), expected, rtol=1e-9)
    words = Gallery(Lengths(), ["ab", "abcd", "xyz"], [1, 1, 0], how="max")
    assert words.score(["abc", "x"]).tolist() == [[0.0, 0.5], [-1.5, -1.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"identities": WHO[:3]}, r"one identity per example, 7 > 0, got shape \(3,\)"),
        ({"pool": "examples", "how": "max"}, "pool='examples' with how='max' is unknown"),
        ({"pool": "models"}, "pool='models'"),
        ({"pool": "examples", "examples": list("abcdefg")}, 'no mean; use pool="scores"'),
        ({"model": 3}, "decision_function"),
        (
            {"identities": [1.0, 2, 3, np.nan, 5, 6, 7]},
            r"example 3 is missing \(nan\); name it or leave the example out",
        ),
        ({"identities": ["a", "b", np.nan, "d", "e", "f", "g"]}, "example 2 is missing"),
        ({"identities": ["a", None, "c", "d", "e", "f", "g"]}, r"example 1 is missing \(None\)"),
        ({"identities": np.array(["a", "b", "c", "d", "e", "f", np.nan], object)}, "example 6 is missing"),
        ({"identities": np.array(["2026-01-01"] * 6 + ["NaT"], "datetime64[D]")}, "example 6 is missing"),
        ({"identities": np.array([1, "b", 2, 3, 4, 5, 6], object)}, r"types \(int, str\) .* all of them as text"),
        ({"identities": np.array([{}] * 7, object)}, r"types \(dict\)"),
    ],
)
def test_bad_galleries_are_refused_with_advice(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gallery(**{"model": pl.EuclidBaseline(), "examples": ENROLLED, "identities": WHO, **arguments})


def test_bad_questions_are_refused_with_advice() -> None:
    gallery = Gallery(pl.EuclidBaseline(), ENROLLED, WHO)
    for top in (0, 5):
        with pytest.raises(InputError, match="from 1 to the number of identities, 4"):
            gallery.identify(PROBES, top)
    for truth in (["ann"], ["zoe"] * len(PROBES)):
        with pytest.raises(InputError, match="one enrolled identity per probe"):
            gallery.ranks(PROBES, truth)
    with pytest.raises(InputError, match="NaN"):
        gallery.score(np.full((1, 12), np.nan))


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=5), st.integers(1, 6))
def test_the_largest_columns_are_those_of_a_stable_sort(rows: list[list[int]], top: int) -> None:
    scores = np.array(rows, dtype=float)
    assert (largest_columns(scores, top) == np.argsort(-scores, axis=1, kind="stable")[:, :top]).all()


@pytest.mark.parametrize(
    "names", [[7, 12, 101], [7.0, 12.0, 101.0], ["7", "12", "101"], np.array(["7", "12", "101"], object)]
)
def test_identities_are_found_by_number_and_by_text(names: Any) -> None:
    """Files hold text, arrays numbers; 12 comes before 101, "12" after "101"."""
    X = np.array([[0.0], [5.0], [9.0]])
    gallery = Gallery(pl.EuclidBaseline(), X, names)
    for asked in ([101, 7, 12], ["101", "7", "12"], np.array([101.0, 7.0, 12.0])):
        assert gallery.ranks(X[[2, 0, 1]], asked).tolist() == [1, 1, 1]
        assert gallery.names[gallery.places(asked)].tolist() == np.array(names)[[2, 0, 1]].tolist()
    assert gallery.places(["012", "8"]).tolist() == [-1, -1]
    for one in ("12", 12):
        assert gallery.without(one).identities.tolist() == np.array(names)[[0, 2]].tolist()
    for strange in ("8", 8):
        with pytest.raises(InputError, match="8 is not enrolled"):
            gallery.without([strange])
        with pytest.raises(InputError, match="one enrolled identity per probe"):
            gallery.ranks(X[:1], [strange])


@pytest.mark.parametrize(
    "names", [[6, 12], [6.0, 12.0], [6.0, 12.5], ["6", "12"], ["6.0", "12.0"], np.array([6.0, 12.0], object)]
)
def test_whole_numbers_are_found_with_and_without_a_fraction(names: Any) -> None:
    gallery = Gallery(pl.EuclidBaseline(), np.array([[0.0], [5.0]]), names)
    place = gallery.names.tolist().index(names[0])
    asked: Any
    for asked in ([6], [6.0], np.array([6], np.uint64), ["6"], ["6.0"], ["6.00"], np.array([6.0, 6], object)):
        assert (gallery.places(asked) == place).all()
    for asked in (6, 6.0, "6", "6.0"):
        assert len(gallery.without(asked).names) == 1
    strange = [
        ["6.5"],
        [6.5],
        ["06.0"],
        ["60"],
        ["v6.0"],
        ["6.0.0"],
        [np.nan],
        ["nan"],
        np.array([None, np.nan], object),
    ]
    for asked in (*strange, []):
        assert (gallery.places(asked) == -1).all()


def test_who_is_written_just_so_comes_before_the_same_number() -> None:
    gallery = Gallery(pl.EuclidBaseline(), np.eye(4), ["6", "6.0", "7.0", "nan"])
    assert gallery.places(["6", "6.0", "6.00", "7", "7.00"]).tolist() == [0, 1, -1, 2, 2]
    assert gallery.places([6, 7]).tolist() == [0, 2]
    assert gallery.places([6.0, np.nan]).tolist() == [0, -1]
    assert gallery.places(["nan"]).tolist() == [3]


def test_large_numbers_are_not_mixed_up() -> None:
    """As floats, 2⁵³ and 2⁵³ + 1 are the same."""
    names = np.array([2**53, 2**53 + 1], dtype=np.uint64)
    gallery = Gallery(pl.EuclidBaseline(), np.eye(2), names)
    assert gallery.places([2**53 + 1, 2**53]).tolist() == [1, 0]
    with pytest.raises(InputError, match="pass the same"):
        Gallery(pl.EuclidBaseline(), np.eye(2), [0.5, 1.0]).joined(np.eye(2), names)


def test_numbers_join_numbers_of_the_same_value() -> None:
    X = np.eye(2)
    for names, more in (([5, 6], [5.0, 7.0]), ([5.0, 6.5], [5, 7]), (np.array([5, 6], np.uint8), [5, 7])):
        gallery = Gallery(pl.EuclidBaseline(), X, names).joined(X, more)
        assert gallery.names.tolist() == sorted({*np.asarray(names).tolist(), 5, 7})
        assert gallery.identities.dtype.kind == np.asarray(names).dtype.kind
    gallery = Gallery(pl.EuclidBaseline(), X, np.array([5, 6], np.uint64))
    for wrong in ([5.5, 6.0], [-1, 2], [1e300, 1.0], ["5", "6"]):
        with pytest.raises(InputError, match=r"identities are uint64, these are .*; pass the same"):
            gallery.joined(X, wrong)
    with pytest.raises(InputError, match="example 0 is missing"):
        gallery.joined(X, [np.nan, 1.0])
