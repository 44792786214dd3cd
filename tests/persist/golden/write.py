"""Write one small model file per case, with inputs and outputs, as the installed pairlearn does it.

    python tests/persist/golden/write.py tests/persist/golden/0.2.0

is run once per release, by that release, and the files are never written again: `test_golden.py` loads them with
every later version. A case is a model, what it is fitted on, and the inputs that it is asked about; next to
`<case>.safetensors` stands `<case>.npz` with these inputs and what the model said about them. All data are synthetic,
and every class that a file may hold occurs in some case.
"""

from __future__ import annotations

import sys
import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from golden_files import answers, held_classes, rounding, write_case
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import pairlearn as pl
from pairlearn.baselines.columns import ColumnsBaseline
from pairlearn.kernels import (
    Clipped,
    Cosine,
    Exponential,
    Gaussian,
    Linear,
    LowRank,
    OnColumns,
    Polynomial,
    Rigid,
    Shaped,
)
from pairlearn.persist.known import ANY, VALUES
from pairlearn.scorers import View, WhitenedScorer

rng = np.random.default_rng(14)
X, NEW = rng.normal(size=(10, 3)), rng.normal(size=(6, 3))
LEFT, RIGHT = rng.integers(0, 5, 30), 5 + rng.integers(0, 5, 30)
Y = np.where(rng.random(30) < 0.5, 1, -1)
Y[:2] = 1, -1
SOME = np.where(np.arange(30) % 3 == 0, Y, 0)
NUMBERS = rng.normal(size=30)
Z, W = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
TARGETS = rng.normal(size=(6, 4))
CLASSES = np.repeat(np.arange(6), 4)
FACES = rng.normal(size=(6, 3))[CLASSES] + 0.4 * rng.normal(size=(24, 3))
WORDS = ["pair", "pairs", "repair", "pear", "kernel", "kernels", "colonel", "kern"]
IMAGES = rng.random((8, 3, 4, 5)).astype(np.float32)
PHOTOS = np.random.default_rng(15).integers(0, 255, (12, 8, 8)).astype(np.float64)
KINDS = np.array(["p", "p", "p", "p", "k", "k", "k", "k"])

TRAIN, ASKED = pl.Pairs(X, LEFT, RIGHT), pl.all_pairs(NEW)
BLOCKS = pl.Pairs(X, LEFT, RIGHT, invariant=Z, signed=W)
TWO = pl.Pairs(X, LEFT, RIGHT - 5, right_examples=TARGETS)
GRID = pl.Pairs(X, np.repeat(np.arange(10), 6), np.tile(np.arange(6), 10), right_examples=TARGETS)
PEOPLE = pl.all_pairs(FACES, reflexive=False)
SAME = PEOPLE.labels(CLASSES)

kernels = pl.pair_kernels
TENSOR, METRIC = pl.pair_kernel("tensor"), pl.pair_kernel("metric")
BALANCED = kernels.balanced_composite(TENSOR, invariant="rbf", signed="poly")
SKEW = kernels.skew_composite(TENSOR, "linear", invariant="rbf")
Case = tuple[Any, tuple[Any, ...], Any]


def machines() -> dict[str, Case]:
    """Every machine, kernel and kind of table."""
    both, kernel = (TRAIN, Y), "tensor_metric"
    bases = {
        "linear": "linear",
        "poly": Polynomial(degree=3, gamma=0.1, coef0=1.0),
        "rbf": "rbf",
        "low_rank": LowRank("rbf", 5, "pivoted"),
        "rigid": Clipped(Shaped(Rigid(1), (1, 3, 1)), 5),
        "exponential": Exponential(Cosine(Linear()), sigma=1.3),
        "sum_and_product": Linear() * Cosine() + 0.1 * Gaussian("scale"),
        "columns": OnColumns(Linear(), (0,), (2,)) + OnColumns(Gaussian(), (0, 2), (1, 3)),
    }
    composed = {
        "two_bases": TENSOR.on(Linear()) + METRIC.on(Gaussian(0.3)),
        "product": TENSOR * METRIC,
        "scaled": 0.1 * TENSOR + 3.0 * pl.pair_kernel("direct_sum"),
        "poly_balanced": kernels.poly_tensor(2, 1.0).balanced(),
        "outer_gaussian": kernels.outer_gaussian("tensor", gamma=0.01),
        "outer_power": kernels.outer_power("direct_sum", 3, offset=0.5),
    }
    found: dict[str, Case] = {f"svc_{name}": (pl.PairSVC(kernel, base), both, ASKED) for name, base in bases.items()}
    found |= {f"svc_kernel_{name}": (pl.PairSVC(one), both, ASKED) for name, one in composed.items()}
    return found | {
        "svc_weighted": (pl.PairSVC(base="rbf", C=0.3, class_weight={1: 2.0, -1: 1 / 3}, random_state=7), both, ASKED),
        "svc_mirrored": (pl.PairSVC("poly_tensor", "rbf", mirrored=True), both, ASKED),
        "svc_float32": (pl.PairSVC(kernel, "rbf"), (pl.Pairs(X.astype(np.float32), LEFT, RIGHT), Y), ASKED),
        "ranker": (pl.PairRanker(base="rbf", draws="drop"), (TRAIN, SOME), ASKED),
        "ranker_draws": (pl.PairRanker("wedge", Gaussian(0.3)), (TRAIN, SOME), ASKED),
        "svr": (pl.PairSVR(base="poly", epsilon=0.2), (TRAIN, NUMBERS), ASKED),
        "ridge": (pl.PairRidge(base="rbf"), (TRAIN, NUMBERS), ASKED),
        "svr_mirrored": (pl.PairSVR("poly_tensor", mirrored="antisymmetric"), (TRAIN, NUMBERS), ASKED),
        "one_class": (pl.OneClassPairSVM(nu=0.3), (TRAIN, None), ASKED),
        "sphere": (pl.OneClassPairSphere(nu=0.3), (TRAIN, None), ASKED),
        "transductive": (pl.TransductivePairSVC(base="rbf", max_switches=2), (TRAIN, SOME), ASKED),
    }


def tables() -> dict[str, Case]:
    """Blocks, two tables, sparse and precomputed examples, arcs of a graph."""
    few = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    K, L = X @ X.T, TARGETS @ TARGETS.T
    rows = pl.Pairs(NEW @ X.T, [0, 1, 2], [3, 4, 5])
    both_rows = pl.Pairs(NEW @ X.T, [0, 1, 2], [1, 0, 1], right_examples=TARGETS[:2] @ TARGETS.T)
    graph = pl.graphs.Graph.from_arcs([0, 1, 2, 3, 0], [1, 2, 3, 4, 3], nodes=np.eye(5), ids=list("abcde"))
    arcs, signs = graph.pairs(), [1, -1, 1, -1, 1]
    diffused = {
        name: pl.graphs.diffusion(graph, pl.pair_kernel(name).on(Linear()), strength=0.2)
        for name in ("tensor", "wedge")
    }
    with_blocks = {
        "svc_blocks": pl.PairSVC(BALANCED, "rbf"),
        "svc_group": pl.PairSVC(kernels.group_polynomial().balanced()),
        "svc_on_blocks": pl.PairSVC(kernels.on_blocks(Polynomial(3, 0.1, 1.0)).balanced()),
        "svc_blocks_alone": pl.PairSVC(kernels.on_invariant("rbf") + kernels.on_signed("poly")),
        "ranker_skew": pl.PairRanker(SKEW),
        "ranker_group_gaussian": pl.PairRanker(kernels.group_gaussian(0.2).skewed()),
        "transductive_skew": pl.TransductivePairSVC(SKEW, anneal=(0.5, 1.0)),
    }
    found: dict[str, Case] = {name: (model, (BLOCKS, Y), BLOCKS[:12].swapped()) for name, model in with_blocks.items()}
    two_blocks = pl.Pairs(X, LEFT, RIGHT - 5, right_examples=TARGETS, invariant=Z)
    return found | {
        "svc_two_tables": (pl.PairSVC(base=("linear", "rbf")), (TWO, Y), TWO),
        "svc_two_tables_blocks": (
            pl.PairSVC(TENSOR + kernels.on_invariant("rbf"), base=("rbf", "poly")),
            (two_blocks, Y),
            two_blocks,
        ),
        "svr_two_tables": (pl.PairSVR("tensor", ("rbf", "rbf")), (TWO, NUMBERS), TWO),
        "ridge_chosen": (
            pl.PairRidge("tensor", ("rbf", "rbf"), alpha=(0.1, 1.0), unseen="both"),
            (GRID, X[GRID.left, 0] * TARGETS[GRID.right, 1]),
            TWO,
        ),
        "sphere_two_tables": (pl.OneClassPairSphere(base=("poly", "rbf")), (TWO, None), TWO),
        "svc_sparse": (pl.PairSVC(base="rbf"), (pl.Pairs(few, LEFT, RIGHT), Y), pl.Pairs(few, [0, 1, 2], [3, 4, 5])),
        "svc_precomputed": (pl.PairSVC(base="precomputed"), (pl.Pairs(K, LEFT, RIGHT), Y), rows),
        "svc_two_precomputed": (
            pl.PairSVC("tensor", ("precomputed", "precomputed")),
            (pl.Pairs(K, LEFT, RIGHT - 5, right_examples=L), Y),
            both_rows,
        ),
        "svc_arcs": (pl.PairSVC(diffused["tensor"]), (arcs, signs), arcs.swapped()),
        "ranker_arcs": (pl.PairRanker(diffused["wedge"]), (arcs, signs), arcs.swapped()),
    }


def baselines() -> dict[str, Case]:
    """Every baseline, one machine on their scores, thresholds and calibrations."""
    names = ("PCACosine", "WCCN", "RCA", "LDA", "KISSME", "PLDA", "Ridge", "Logistic")
    learnt = {name: getattr(pl.baselines, f"{name}Baseline") for name in names}
    found: dict[str, Case] = {
        f"baseline_{name.lower()}": (kind(), (PEOPLE, SAME), ASKED) for name, kind in learnt.items()
    }
    stacked = pl.StackedPairSVC(pl.PairSVC(C=0.01), n_folds=2).fit(PEOPLE, SAME, classes=CLASSES).machine_
    machine = pl.PairSVC("tensor_metric", C=0.01).fit(PEOPLE, SAME)
    scores = pl.Scores(machine.decision_function(PEOPLE), SAME)
    threshold = pl.threshold_at_fmr(scores, 0.05)
    line = pl.evaluation.LogisticCalibration(prior=0.1).fit(scores)
    knots = pl.evaluation.IsotonicCalibration().fit(scores)
    fused = pl.evaluation.LogisticFusion().fit(
        [pl.Scores(model.decision_function(PEOPLE), SAME) for model in (machine, pl.CosineBaseline())]
    )
    return found | {
        "baseline_euclid": (pl.EuclidBaseline(-1.5), (PEOPLE, SAME), ASKED),
        "baseline_columns": (ColumnsBaseline(pl.baselines.WCCNBaseline(), (0, 2), (1, 3)), (PEOPLE, SAME), ASKED),
        "whitened": (
            WhitenedScorer([View("linear", 0.3), View("rbf", 0.5, "ratio", "nearest")], rank=8),
            (PEOPLE, SAME, CLASSES),
            ASKED,
        ),
        "baseline_cosine": (pl.CosineBaseline(0.25), (PEOPLE, SAME), ASKED),
        "svc_on_scores": (
            pl.PairSVC(TENSOR + kernels.on_score(pl.CosineBaseline(), pl.EuclidBaseline())),
            (PEOPLE, SAME),
            ASKED,
        ),
        "svc_stacked": (stacked, (), ASKED),
        "verifier": (pl.Verifier(machine, threshold), (), ASKED),
        "verifier_line": (pl.Verifier(machine, threshold, line), (), ASKED),
        "verifier_knots": (pl.Verifier(machine, 0.5, knots), (), ASKED),
        "verifier_fused": (pl.Verifier(machine, 0.5, fused), (), ASKED),
    }


def metrics_and_similarities() -> dict[str, Case]:
    """Online metrics, a machine on one, expansions of every similarity that a file can hold."""
    similar = np.where(np.arange(10) < 5, 0, 1)
    pairs = pl.all_pairs(X, reflexive=False)
    online = pl.OnlinePseudoMetric(max_sweeps=3, n_components=2)
    wide = rng.normal(size=(10, 12))
    wide_pairs = pl.Pairs(wide, [0, 1, 2], [3, 4, 5])
    base = pl.OnlinePseudoMetric(max_sweeps=1).partial_fit(pairs, pairs.labels(similar)).base_kernel()
    labels = pairs.labels(similar)
    expansions = {
        "rbf": ("rbf", X[:8]),
        "several": (["linear", Gaussian(0.5)], X[:8]),
        "rigid": (pl.kernels.Rigid(1), IMAGES),
        "deformable": (pl.kernels.Deformable(1, 1), IMAGES),
        "edit": (pl.kernels.EditSimilarity(), WORDS),
        "alignment": (pl.kernels.AlignmentSimilarity(), WORDS),
        "dtw": (pl.kernels.DTW(), X[:8]),
        "precomputed": ("precomputed", X[:8] @ X[:8].T),
    }
    found: dict[str, Case] = {}
    for name, (similarity, examples) in expansions.items():
        found[f"expansion_{name}"] = (pl.BasisExpansion(similarity, 4, random_state=0), (examples,), examples)
        found[f"basis_svc_{name}"] = (pl.BasisSVC(similarity, 4, random_state=0), (examples, KINDS), examples)
    return found | {
        "metric": (online, (pairs, labels), ASKED),
        "metric_few_directions": (
            pl.OnlinePseudoMetric(max_sweeps=1),
            (wide_pairs, [1, -1, 1]),
            pl.Pairs(wide, [0, 6], [7, 9]),
        ),
        "metric_kernel": (pl.metrics.KernelPseudoMetric("rbf", max_sweeps=3, budget=5), (pairs, labels), ASKED),
        "svc_on_metric": (pl.PairSVC("metric", base), (pairs, labels), ASKED),
        "nystrom": (
            pl.similarities.IndefiniteNystrom("rbf", 4, treatment="flip", random_state=0),
            (X,),
            NEW,
        ),
    }


def around() -> dict[str, Case]:
    """Pipelines with every transformer, and what stands around models."""
    steps = {
        "scalers": (StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler(), Normalizer()),
        "pca": (make_pipeline(StandardScaler(), PCA(2, random_state=0)),),
        "svd": (VarianceThreshold(), TruncatedSVD(2, random_state=0)),
        "curves": (QuantileTransformer(n_quantiles=5), PowerTransformer()),
    }
    lifted = {name: [pl.OnExamples(step) for step in several] for name, several in steps.items()}
    found: dict[str, Case] = {
        f"pipeline_{name}": (make_pipeline(*several, pl.PairSVC("metric", C=0.1)), (PEOPLE, SAME), ASKED)
        for name, several in lifted.items()
    }
    cohort = pl.scorers.NormalisedScorer(pl.CosineBaseline(), FACES, "s", top=10)
    return found | {
        "stacked": (pl.StackedPairSVC(pl.PairSVC(C=0.01), ["euclid", "plda"], n_folds=2), (PEOPLE, SAME), ASKED),
        "mean": (pl.scorers.PairMean([pl.PairRidge(base="rbf"), pl.PairSVR(base="linear")]), (TRAIN, NUMBERS), ASKED),
        "normalised": (cohort, (), ASKED),
        "gallery": (pl.Gallery(pl.Verifier(cohort, 0.5), FACES, np.array(list("abcdef"))[CLASSES]), (), ASKED),
    }


def images() -> dict[str, Case]:
    """Steps on images, variants of them at training and at scoring."""
    shown, orbit = pl.all_pairs(PHOTOS[:9]), pl.images.Orbit((1,), (10,), (0.9, 1.1))
    steps = make_pipeline(pl.images.Centred(upright=True, spread=0.25), pl.images.Hog(cell=4))
    machine = make_pipeline(pl.OnExamples(steps), pl.PairSVC("tensor", "linear", random_state=0))
    copies = pl.scorers.OnCopies(machine, orbit)
    labels = shown.labels(np.arange(9) // 3)
    asked = pl.all_pairs(PHOTOS[9:])
    over = pl.scorers.OrbitScorer(machine.fit(shown, labels), orbit, "max", "both")
    return {"images_copies": (copies, (shown, labels), asked), "images_orbit": (over, (), asked)}


def distilled() -> dict[str, Case]:
    """Small stand-ins: of every kind of rows, for scores and for numbers."""
    some = np.random.default_rng(16).normal(size=(80, 3))
    models = {
        "stacked": pl.StackedPairSVC(pl.PairSVC(C=0.01, base="rbf"), n_folds=2).fit(PEOPLE, SAME, classes=CLASSES),
        "features": pl.PairSVC(base="standardised").fit(PEOPLE, SAME),
        "regression": pl.PairRidge(base="rbf").fit(TRAIN, NUMBERS),
    }
    views = [View("linear", 0.3), View("linear", 0.3, "ratio", "nearest"), View("rbf", 0.5, "cosine", "all")]
    scorer = WhitenedScorer(views, rank=8).fit(PEOPLE, SAME, CLASSES)
    exact = {"distilled_views_exact": (pl.distil(scorer, some, loss=0.0).model, (), ASKED)}
    models["views"] = scorer
    return exact | {f"distilled_{name}": (pl.distil(model, some).model, (), ASKED) for name, model in models.items()}


def records() -> dict[str, Case]:
    """Matchers of records, with labels and without, on columns of every kind."""
    columns = {
        "title": [f"{word} {k} of many" for k, word in enumerate(WORDS)],
        "name": WORDS,
        "price": [f"{3 * k + 0.5}" for k in range(8)],
        "born": [f"19{40 + k}-0{k + 1}-17" for k in range(8)],
        "state": ["sa", "nsw"] * 4,
        "phone": [f"404-351-95{k}" for k in range(8)],
        "authors": [f"{a}; {b}" for a, b in zip(WORDS, WORDS[::-1], strict=True)],
        "place": [f"5{k}.5, 13.4" for k in range(8)],
    }
    kinds = ("text", "name", "number", "date", "category", "code", "list", "geo")
    table = pl.Records.of({name: [*cells, *cells] for name, cells in columns.items()})
    left, right = np.triu_indices(16, 1)
    pairs = pl.records.RecordPairs(table, None, left, right)
    labels = np.where(right - left == 8, 1, -1)
    said = dict(zip(columns, kinds, strict=True))
    setting = pl.records.Setting(1.0, words=0.3, vectors=0.3)
    return {
        "record_matcher": (pl.RecordMatcher(said, setting=setting), (pairs, labels), pairs[:20]),
        "unlabelled_matcher": (pl.records.UnlabelledMatcher(said), (pairs,), pairs[:20]),
    }


def main(directory: Path) -> None:
    """Fit, save and ask every model."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, (model, data, asked) in (
        machines() | tables() | baselines() | metrics_and_similarities() | around() | images() | distilled() | records()
    ).items():
        fitted = model.fit(*data) if data else model
        pl.save(fitted, directory / f"{name}.safetensors")
        write_case(directory / f"{name}.npz", asked, answers(fitted, asked))
    np.save(directory / "rounding.npy", rounding())
    digests = {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(directory.glob("*.safetensors"))}
    (directory / "SHA256").write_text("".join(f"{name} {digest}\n" for name, digest in digests.items()))
    if missing := {*ANY, *VALUES} - held_classes(directory):
        raise SystemExit(f"no case holds {', '.join(sorted(missing))}; add one for each")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(Path(sys.argv[1]))
