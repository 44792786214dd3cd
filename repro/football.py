"""Who wins? Preferences from football internationals, trained on the past and tested on later matches.

Needs PAIRLEARN_DATA. Each match is a pair of teams with one signed feature: +1 when the left team plays at home, 0 on
neutral ground. Teams are one-hot examples, so `difference` learns one strength per team; older matches count less
(half-life chosen, with C, on the last two years before the test). Draws train as half a win for either side and are
left out of accuracy and AUC, which ask who won. The left team is drawn at random: the data list the home team first.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl_frame
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, skip_without_data

TEST_FROM, VALIDATE_FROM, LEARN_FROM = 2020.0, 2018.0, 1990.0
KERNEL = pl.pair_kernel("difference") + pl.pair_kernels.on_signed("linear")


@dataclass(frozen=True)
class Matches:
    """Matches in order of time: pairs of teams, goal difference of the left team, year."""

    pairs: pl.Pairs
    margin: np.ndarray
    year: np.ndarray

    def __getitem__(self, mask: np.ndarray) -> Matches:
        return Matches(self.pairs[mask], self.margin[mask], self.year[mask])

    @property
    def result(self) -> np.ndarray:
        """+1 left won, −1 right won, 0 draw."""
        return np.sign(self.margin)

    def weights(self, now: float, half_life: float) -> np.ndarray:
        """½ per half-life before `now`."""
        return 0.5 ** ((now - self.year) / half_life)


def read(quick: bool) -> Matches:
    """All matches since LEARN_FROM, sides drawn at random."""
    frame = pl_frame.read_csv(data_folder() / "preference" / "football_internationals.csv.gz", try_parse_dates=True)
    year = frame["date"].dt.year().to_numpy() + frame["date"].dt.ordinal_day().to_numpy() / 366.0
    margin = (
        frame["home_score"].cast(float, strict=False).to_numpy()
        - frame["away_score"].cast(float, strict=False).to_numpy()
    )
    kept = np.isfinite(margin) & (year >= (2010.0 if quick else LEARN_FROM))
    teams = sorted(set(frame["home_team"].to_list()) | set(frame["away_team"].to_list()))
    number = {team: i for i, team in enumerate(teams)}
    home, away = (np.array([number[team] for team in frame[side].to_list()]) for side in ("home_team", "away_team"))
    neutral = frame["neutral"].cast(str).str.to_lowercase().to_numpy() == "true"
    swap = np.random.default_rng(0).random(len(frame)) < 0.5
    sign = np.where(swap, -1.0, 1.0)
    pairs = pl.Pairs(
        np.eye(len(teams)),
        np.where(swap, away, home)[kept],
        np.where(swap, home, away)[kept],
        signed=(sign * ~neutral)[kept, None],
        ids=teams,
    )
    return Matches(pairs, (sign * margin)[kept], year[kept])


# --------------------------------------------------------------------------- models: (past, now, half-life, C) → score


def ranker(past: Matches, now: float, half_life: float, C: float) -> Any:
    """Won, drawn or lost."""
    model = pl.PairRanker(KERNEL, C=C, random_state=0).fit(past.pairs, past.result, past.weights(now, half_life))
    return model.decision_function


def margins(past: Matches, now: float, half_life: float, C: float) -> Any:
    """By how much: antisymmetric regression of the goal difference, at most five, to within half a goal.

    C and ε are in spreads of the targets, and goal differences spread by 2.1 goals.
    """
    model = pl.PairSVR(KERNEL, C=C, epsilon=0.24, random_state=0)
    model.fit(past.pairs, np.clip(past.margin, -5.0, 5.0), past.weights(now, half_life))
    return model.decision_function


def bradley_terry(past: Matches, now: float, half_life: float, C: float) -> Any:
    """Logistic regression of the winner on the difference of strengths and the home side; a draw is half a win."""

    def rows(pairs: pl.Pairs) -> np.ndarray:
        return np.hstack([pairs.examples[pairs.left] - pairs.examples[pairs.right], pairs.signed])

    won, drawn = past.result != 0, past.result == 0
    weights = past.weights(now, half_life)
    X = rows(past.pairs)
    model = LogisticRegression(C=C, fit_intercept=False, max_iter=2000)
    model.fit(
        np.concatenate([X[won], X[drawn], X[drawn]]),
        np.concatenate([past.result[won], np.ones(drawn.sum()), -np.ones(drawn.sum())]),
        np.concatenate([weights[won], 0.5 * weights[drawn], 0.5 * weights[drawn]]),
    )
    return lambda pairs: model.decision_function(rows(pairs))


def home_team(past: Matches, now: float, half_life: float, C: float) -> Any:
    """The home team wins."""
    return lambda pairs: pairs.signed[:, 0]


MODELS = {"PairRanker": ranker, "PairSVR": margins, "Bradley-Terry": bradley_terry, "home team": home_team}


def accuracy_and_area(score: Any, matches: Matches) -> tuple[float, float]:
    """Of the decided matches; a score of 0 is half right."""
    decided = matches[matches.result != 0]
    g, y = score(decided.pairs), decided.result
    return float(np.mean(np.where(g == 0, 0.5, g * y > 0))), float(roc_auc_score(y, g))


def evaluate(name: str, quick: bool) -> dict[str, Any]:
    """Half-life and C by validation on the last years of the past, then the test."""
    matches = read(quick)
    past, test = matches[matches.year < TEST_FROM], matches[matches.year >= TEST_FROM]
    learn, validate = past[past.year < VALIDATE_FROM], past[past.year >= VALIDATE_FROM]
    fit = MODELS[name]
    grid = [
        (h, C) for h in ((4.0,) if quick else (4.0, 8.0, 16.0)) for C in ((0.1,) if quick else (0.3, 1.0, 3.0, 10.0))
    ]
    grid = grid[:1] if name == "home team" else grid
    areas = [accuracy_and_area(fit(learn, VALIDATE_FROM, h, C), validate)[1] for h, C in grid]
    half_life, C = grid[int(np.argmax(areas))]
    accuracy, area = accuracy_and_area(fit(past, TEST_FROM, half_life, C), test)
    sizes = {"train": len(past.pairs), "test": int((test.result != 0).sum())}
    return {"accuracy": accuracy, "AUC": area, "half_life": half_life, "C": C, **sizes}


def main() -> int:
    """Print accuracy and AUC of the models beside the baselines."""
    skip_without_data()
    rows = {name: lambda quick, name=name: evaluate(name, quick) for name in MODELS}
    results, quick = run_rows(__file__, rows)
    baseline = results["Bradley-Terry"]["AUC"]
    figures = [
        Figure(f"{name}: {what}", row[what], None, None)
        for name, row in results.items()
        for what in ("accuracy", "AUC")
    ]
    best = max(results["PairRanker"]["AUC"], results["PairSVR"]["AUC"])
    figures.append(Figure("AUC of the better machine − Bradley-Terry", best - baseline, ">= 0", judged=not quick))
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
