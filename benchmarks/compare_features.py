"""Which tool does what: a table of features, each cell found by asking the installed version.

A probe is a small run, or a look at names and signatures, of the version at hand: "yes" if it holds, "no" if it does
not or raises; YES and NO are what the package is for, and what has no name in it that could be asked.
A cell without a probe concerns another kind of task than the tool's and stays empty: that choix matches no records is
no fault of choix. What is not asked here (speed, error rates) is in the other comparisons.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.rivals import Tool, compare

Probe = Callable[[Any], Any]
"""Takes the module of the tool; the truth of what it returns is the cell."""
RNG = np.random.default_rng(0)
X, CLASSES = RNG.normal(size=(40, 4)) + 3 * np.repeat(RNG.normal(size=(8, 4)), 5, axis=0), np.repeat(np.arange(8), 5)
PAIRS = pl.all_pairs(X, reflexive=False)
LABELS = PAIRS.labels(CLASSES)
COLUMNS = np.column_stack(PAIRS.columns)


def has(*names: str) -> Probe:
    """Whether there are all these attributes, dots and all."""

    def found(module: Any, name: str) -> bool:
        for part in name.split("."):
            if not hasattr(module, part):
                return False
            module = getattr(module, part)
        return True

    return lambda module: all(found(module, name) for name in names)


def command(module: Any) -> bool:
    """A command of its own, or one of a family's."""
    name = {"sklearn": "scikit-learn", "metric_learn": "metric-learn"}.get(module.__name__, module.__name__)
    return any(entry.group in ("console_scripts", "bob.cli") for entry in distribution(name).entry_points)


def typed(module: Any) -> bool:
    """Type hints for users."""
    return (Path(module.__file__).parent / "py.typed").exists()


def itml(module: Any) -> Any:
    """A learner from pairs of metric-learn, fitted."""
    return module.ITML(preprocessor=X, random_state=0).fit(COLUMNS, LABELS)


def swapped(score: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether both orders of every pair have the same score to the last bit."""
    return bool((score(COLUMNS) == score(COLUMNS[:, ::-1])).all())


def symmetric_here(module: Any) -> bool:
    """PairSVC in both orders."""
    model = module.PairSVC("tensor_metric").fit(PAIRS, LABELS)
    return bool((model.decision_function(PAIRS) == model.decision_function(PAIRS.swapped())).all())


def saved_without_pickle(module: Any) -> bool:
    """The head of a saved settings file of dedupe is no pickle."""
    return "pickle" not in inspect.getsource(importlib.import_module(f"{module.__name__}.api"))


def accepts(path: str, parameter: str) -> Probe:
    """Whether a function takes a parameter of this name."""

    def probe(module: Any) -> bool:
        for part in path.split("."):
            module = getattr(module, part)
        return parameter in inspect.signature(module).parameters

    return probe


YES: Probe = lambda module: True  # noqa: E731  (what the package is made for: the other scripts run it)
NO: Probe = lambda module: False  # noqa: E731  (nothing of the kind among its names: there is nothing to ask)
FEATURES: dict[str, dict[str, Probe]] = {
    "learns from pairs without classes": {"metric-learn": itml, "pairlearn": symmetric_here},
    "(a, b) and (b, a) score alike to the last bit": {
        "metric-learn": lambda module: swapped(itml(module).pair_score),
        "pairlearn": symmetric_here,
    },
    "kernels, non-linear scores": {
        "metric-learn": NO,
        "scikit-learn": has("kernel_ridge.KernelRidge", "svm.SVC"),
        "pairlearn": has("kernels.Gaussian", "pair_kernels.power"),
    },
    "from triplets or quadruplets": {"metric-learn": has("SCML", "LSML"), "pairlearn": NO},
    "probability of a pair": {
        "metric-learn": has("ITML.predict_proba"),
        "choix": has("probabilities"),
        "splink": YES,
        "dedupe": has("Dedupe.score"),
        "scikit-learn": has("linear_model.LogisticRegression.predict_proba"),
        "pairlearn": has("Verifier", "evaluation.LogisticCalibration"),
    },
    "threshold for a given false match rate": {
        "metric-learn": has("ITML.calibrate_threshold"),
        "bob.measure": has("far_threshold"),
        "pyeer": has("eer_info.get_eer_stats"),
        "pairlearn": has("threshold_at_fmr"),
    },
    "learns pair by pair": {
        "metric-learn": has("ITML.partial_fit"),
        "scikit-learn": has("linear_model.SGDClassifier.partial_fit"),
        "pairlearn": has("OnlinePseudoMetric.partial_fit"),
    },
    "time budget and certificate of a fit": {
        "metric-learn": NO,
        "scikit-learn": NO,
        "pairlearn": accepts("PairSVC", "time_budget"),
    },
    "error rates with limits over identities": {
        "pyeer": NO,
        "bob.measure": NO,
        "scikit-learn": NO,
        "pairlearn": has("interval"),
    },
    "expected performance curves": {
        "bob.measure": has("epc"),
        "pyeer": NO,
        "pairlearn": NO,
    },
    "rates as report in HTML or LaTeX by one command": {"pyeer": command, "bob.measure": command, "pairlearn": command},
    "preferences (who is first)": {"choix": has("opt_pairwise"), "pairlearn": has("PairRanker")},
    "preferences from features of items": {
        "choix": NO,
        "pairlearn": accepts("PairRanker", "base"),
    },
    "rankings of many, choices from sets, posterior by expectation propagation": {
        "choix": has("opt_rankings", "opt_top1", "ep_pairwise"),
        "pairlearn": NO,
    },
    "matches records without labels": {"splink": YES, "dedupe": NO, "pairlearn": has("records.UnlabelledMatcher")},
    "matches records from labelled pairs": {
        "splink": lambda module: has("LinkerTraining.estimate_m_from_pairwise_labels")(
            importlib.import_module("splink.internals.linker_components.training")
        ),
        "dedupe": accepts("Dedupe.prepare_training", "training_file"),
        "pairlearn": has("RecordMatcher"),
    },
    "asks for the labels that help most": {
        "splink": NO,
        "dedupe": has("Dedupe.uncertain_pairs"),
        "pairlearn": lambda module: importlib.import_module("pairlearn.records.review"),
    },
    "runs inside a database or on Spark": {
        "splink": lambda module: find_spec("splink.backends.spark"),
        "dedupe": NO,
        "pairlearn": NO,
    },
    "blocking rules learnt or chosen by the tool": {
        "splink": NO,
        "dedupe": has("Dedupe.train"),
        "pairlearn": has("records.find_candidates"),
    },
    "explains a pair": {
        "splink": lambda module: has("LinkerVisualisations.waterfall_chart")(
            importlib.import_module("splink.internals.linker_components.visualisations")
        ),
        "dedupe": NO,
        "metric-learn": NO,
        "pairlearn": has("explain"),
    },
    "models in files without pickle": {
        "metric-learn": NO,
        "scikit-learn": NO,
        "splink": lambda module: has("LinkerMisc.save_model_to_json")(
            importlib.import_module("splink.internals.linker_components.misc")
        ),
        "dedupe": saved_without_pickle,
        "pairlearn": has("save"),
    },
    "runs with scikit-learn 1.8 or later": {
        "metric-learn": lambda module: "force_all_finite" not in inspect.getsource(module._util),
        "pairlearn": YES,
    },
    "command line": dict.fromkeys(
        ("metric-learn", "pyeer", "bob.measure", "choix", "splink", "dedupe", "scikit-learn", "pairlearn"), command
    ),
    "type hints": dict.fromkeys(
        ("metric-learn", "pyeer", "bob.measure", "choix", "splink", "dedupe", "scikit-learn", "pairlearn"), typed
    ),
}
MODULES = {"metric-learn": "metric_learn", "scikit-learn": "sklearn"}
"""Where the module has another name than the package."""
ALSO = {"pyeer": ("eer_info",), "scikit-learn": ("svm", "kernel_ridge", "linear_model", "metrics")}
"""Modules that probes look into and that do not load by themselves."""


def answers(package: str) -> Callable[[str, bool], dict[str, Any]]:
    """All probes of one tool."""

    def ask(probe: Probe, module: Any) -> str:
        try:
            return "yes" if probe(module) else "no"
        except (ImportError, AttributeError, TypeError):
            return "no"

    def measure(data: str, quick: bool) -> dict[str, Any]:
        module = importlib.import_module(MODULES.get(package, package))
        for name in ALSO.get(package, ()):
            importlib.import_module(f"{module.__name__}.{name}")
        return {feature: ask(cells[package], module) for feature, cells in FEATURES.items() if package in cells}

    return measure


TOOLS = tuple(
    Tool(package, None if package == "pairlearn" else package, answers(package))
    for package in ("metric-learn", "scikit-learn", "pyeer", "bob.measure", "choix", "splink", "dedupe", "pairlearn")
)


if __name__ == "__main__":
    sys.exit(compare(__file__, {"features": TOOLS}, 60.0))
