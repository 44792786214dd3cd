"""Who wins? choix and scikit-learn beside pairlearn on football internationals, from the past to later matches.

Needs PAIRLEARN_DATA. Decided matches only, for choix takes no draws: those of 2010 to 2019 train, those since 2020 test
(`repro/football.py` reads them). The option of a tool (its penalty, and the half-life of old matches where it takes
weights) is the one with the best AUC on 2018 and 2019 after fitting the years before; then all of the past is fitted.
"teams" rows know who played whom; "home" rows also know who played at home and count older matches less, which choix
does not offer. Log loss of the probability of the winner: Bradley-Terry models have one; the decision values of
PairRanker are scaled to log-odds on 2018 and 2019 (`LogisticCalibration`). Accuracy has a standard error of
.6 points here. Seconds of the processor: the last fit with the option chosen.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import pairlearn as pl
from benchmarks.harness import skip_without_data
from benchmarks.rivals import Tool, compare
from pairlearn.baselines import BradleyTerry
from pairlearn.evaluation import LogisticCalibration
from repro.football import KERNEL, TEST_FROM, VALIDATE_FROM, Matches, read

with contextlib.suppress(ImportError):  # its rows are left out then
    import choix

LEARN_FROM = 2010.0
PENALTIES, HALF_LIVES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), (2.0, 4.0, 8.0)
"""C of ours and of scikit-learn; choix's alpha is 1/C for opt_pairwise, a share of a match for ilsr_pairwise."""
ALPHAS = [1.0 / C for C in PENALTIES]
SHARES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]
SIDED = list(product(PENALTIES, HALF_LIVES))
"""Options (C, half-life) of "home" rows; others have a penalty alone."""
Score = Callable[[pl.Pairs], np.ndarray]
Fit = Callable[[Matches, float, Any], Score]
"""(matches, the year after them, option) → log-odds, or scores if `scaled`, that the left team wins."""


def of_strengths(strengths: np.ndarray) -> Score:
    """β_left − β_right."""
    return lambda pairs: strengths[pairs.left] - strengths[pairs.right]


def of_teams(pairs: pl.Pairs) -> pl.Pairs:
    """The pairs without the home side."""
    return pl.Pairs(pairs.examples, pairs.left, pairs.right)


def with_choix(solver: str) -> Fit:
    """Bradley-Terry by choix."""

    def fit(past: Matches, now: float, alpha: float) -> Score:
        left, right, won = past.pairs.left, past.pairs.right, past.result > 0
        games = np.column_stack([np.where(won, left, right), np.where(won, right, left)]).tolist()
        return of_strengths(getattr(choix, solver)(len(past.pairs.examples), games, alpha=alpha))

    return fit


def with_baseline(past: Matches, now: float, C: float) -> Score:
    """Bradley-Terry by pairlearn."""
    return BradleyTerry(C).fit(past.pairs, past.result).decision_function


def with_ranker(past: Matches, now: float, C: float) -> Score:
    """The ranking machine, teams alone."""
    model = pl.PairRanker("difference", C=C, random_state=0).fit(of_teams(past.pairs), past.result)
    return lambda pairs: model.decision_function(of_teams(pairs))


def with_sided_ranker(past: Matches, now: float, option: tuple[float, float]) -> Score:
    """The ranking machine with the home side and weights."""
    C, half_life = option
    model = pl.PairRanker(KERNEL, C=C, random_state=0)
    return model.fit(past.pairs, past.result, past.weights(now, half_life)).decision_function


def with_logistic(past: Matches, now: float, option: tuple[float, float]) -> Score:
    """Logistic regression of scikit-learn on one column per team and one for the home side, with weights."""

    def rows(pairs: pl.Pairs) -> np.ndarray:
        return np.hstack([pairs.examples[pairs.left] - pairs.examples[pairs.right], pairs.signed])

    C, half_life = option
    model = LogisticRegression(C=C, fit_intercept=False, max_iter=2000)
    model.fit(rows(past.pairs), past.result, past.weights(now, half_life))
    return lambda pairs: model.decision_function(rows(pairs))


def measured(fit: Fit, options: list[Any], scaled: bool = False) -> Callable[[str, bool], dict[str, Any]]:
    """Choose the option, fit, and judge later matches."""

    def measure(data: str, quick: bool) -> dict[str, Any]:
        matches = read(quick)
        matches = matches[(matches.year >= LEARN_FROM) & (matches.result != 0)]
        past, test = matches[matches.year < TEST_FROM], matches[matches.year >= TEST_FROM]
        learn, validate = past[past.year < VALIDATE_FROM], past[past.year >= VALIDATE_FROM]
        tried = options[:1] if quick else options
        seen = [fit(learn, VALIDATE_FROM, option)(validate.pairs) for option in tried]
        best = int(np.argmax([roc_auc_score(validate.result, values) for values in seen]))
        began = time.process_time()
        score = fit(past, TEST_FROM, tried[best])
        seconds = time.process_time() - began
        values = score(test.pairs)
        if scaled:
            values = LogisticCalibration(0.5).fit(pl.Scores(seen[best], validate.result)).llr(values)
        return {
            "log loss": float(np.mean(np.logaddexp(0.0, -values * test.result))),
            "accuracy, %": 100 * float(np.mean(np.where(values == 0, 0.5, values * test.result > 0))),
            "AUC, %": 100 * float(roc_auc_score(test.result, values)),
            "option": f"{tried[best]:.3g}" if isinstance(tried[best], float) else str(tried[best]),
            "seconds": seconds,
        }

    return measure


TEAMS = list(PENALTIES)
TOOLS = (
    Tool("teams, opt_pairwise", "choix", measured(with_choix("opt_pairwise"), ALPHAS)),
    Tool("teams, ilsr_pairwise", "choix", measured(with_choix("ilsr_pairwise"), SHARES)),
    Tool("teams, BradleyTerry", None, measured(with_baseline, TEAMS)),
    Tool("teams, PairRanker", None, measured(with_ranker, TEAMS, scaled=True)),
    Tool("home, logistic regression", "scikit-learn", measured(with_logistic, SIDED)),
    Tool("home, PairRanker", None, measured(with_sided_ranker, SIDED, scaled=True)),
)


if __name__ == "__main__":
    skip_without_data()
    sys.exit(compare(__file__, {"football": TOOLS}, 300.0))
