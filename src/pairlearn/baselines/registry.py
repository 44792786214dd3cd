"""The table of all baselines, learnt or not, and how to run every one of them.

The table is not kept by hand: it holds the `presets` of every baseline of this package's `__init__.pyi`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pairlearn import baselines
from pairlearn.baselines.baseline import Baseline
from pairlearn.baselines.untrained import CosineBaseline, EuclidBaseline
from pairlearn.errors import InputError
from pairlearn.types import Floats


def baseline_classes() -> tuple[type[Baseline], ...]:
    """The classes of all baselines: those without training first, then by name."""
    public = (getattr(baselines, name) for name in dir(baselines) if name.endswith("Baseline"))
    return tuple(dict.fromkeys([EuclidBaseline, CosineBaseline, *public]))


Makers = Mapping[str, Callable[[], Any]]
"""Baselines by name: calling one makes a new baseline."""
BASELINES: dict[str, Callable[[], Any]] = {
    name: partial(kind, **options) for kind in baseline_classes() for name, options in kind.presets.items()
}
"""Every baseline by name: `BASELINES["pca_rca"]()` is a new one."""


def fit_baseline(name: str, pairs: Any, y: Any, classes: Any = None) -> Any:
    """A baseline of the table, fitted; `classes` help those that learn from classes.

    >>> fit_baseline("cosine", None, None)
    CosineBaseline()
    """
    return _named(name).fit(pairs, y, classes=classes)


def fit_scores(name: str, pairs: Any, y: Any, classes: Any = None, makers: Makers = BASELINES) -> Any:
    """The same where only scores are wanted: no threshold is looked for, which would score all training pairs."""
    return _named(name, makers).set_params(threshold=0.0).fit(pairs, y, classes=classes)


def _named(name: str, makers: Makers = BASELINES) -> Any:
    if name not in makers:
        raise InputError(f"unknown baseline {name!r}; choose {', '.join(makers)}")
    return makers[name]()


class BaselineScores(NamedTuple):
    """Scores of the test pairs by name, and why the other baselines could not be run."""

    scores: dict[str, Floats]
    skipped: dict[str, str]

    def __repr__(self) -> str:
        return f"BaselineScores(scores of {', '.join(self.scores)}; skipped: {', '.join(self.skipped) or 'none'})"


def run_baselines(
    train_pairs: Any,
    y: Any,
    test_pairs: Any,
    *,
    classes: Any = None,
    names: Iterable[str] | None = None,
    before: Callable[[str], bool | None] | None = None,
    makers: Makers = BASELINES,
) -> BaselineScores:
    """Fit every baseline, or those of `names`, and score the test pairs; one that cannot be run is skipped.

    `skipped` has the reason. `before` is called with each name before it is run, to show progress; False skips it.
    `makers` are the baselines that there are.

    >>> import numpy as np, pairlearn as pl
    >>> pairs = pl.Pairs(np.array([[0.0], [1.0], [7.0], [9.0]]), [0, 2, 0], [1, 3, 2])
    >>> scores, skipped = run_baselines(pairs, [1, 1, -1], pairs)
    >>> scores["euclid"].tolist(), skipped
    ([-1.0, -2.0, -7.0], {})
    """
    wanted = list(makers if names is None else names)
    unknown = [name for name in wanted if name not in makers]
    if isinstance(names, str) or unknown:
        raise InputError(f"names is a list of baselines among {', '.join(makers)}; got {names!r}")
    scores: dict[str, Floats] = {}
    skipped: dict[str, str] = {}
    for name in wanted:
        if before is not None and before(name) is False:
            skipped[name] = "left out"
            continue
        try:
            scores[name] = fit_scores(name, train_pairs, y, classes, makers).decision_function(test_pairs)
        except (InputError, np.linalg.LinAlgError, MemoryError) as error:
            skipped[name] = str(error) or type(error).__name__
    return BaselineScores(scores, skipped)
