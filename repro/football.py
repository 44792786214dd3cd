"""Who wins? Preferences from football internationals, trained on the past and tested on later matches.

Needs PAIRLEARN_DATA. Each match is a pair of teams with one signed feature: +1 when the left team plays at home, 0 on
neutral ground. Teams are one-hot examples, so `difference` learns one strength per team; older matches count less
(half-life chosen, with C, on the last two years before the test). Draws train as half a win for either side and are
left out of accuracy, AUC and log loss, which ask who won. The left team is drawn at random: the data list the home team
first. For log loss every score is multiplied by one number, found on the same two years before the test.

The search (`pl.PairSearch`) sees form and strength over time as signed features of a match, each from earlier matches
only: differences of two running Elo ratings (slow and quick, the margin counts), of running goal differences, of
running shares of points, of the days of rest, and the home side. It chooses by log loss on 2016–17 and 2018–19.
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
    form: np.ndarray

    def __getitem__(self, mask: np.ndarray) -> Matches:
        return Matches(self.pairs[mask], self.margin[mask], self.year[mask], self.form[mask])

    @property
    def with_form(self) -> pl.Pairs:
        """The same pairs with home side, form and strength as signed features."""
        signed = np.hstack([self.pairs.signed, self.form])
        return pl.Pairs(self.pairs.examples, self.pairs.left, self.pairs.right, signed=signed)

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
    known = np.isfinite(margin)
    form = np.zeros((len(frame), len(FORM)))
    form[known] = running_form(home[known], away[known], margin[known], year[known], neutral[known])
    return Matches(pairs, (sign * margin)[kept], year[kept], (sign[:, None] * form)[kept])


# --------------------------------------------------------------------------- form and strength, from earlier matches

FORM = ("slow Elo", "quick Elo", "goals", "points", "rest")
"""Differences, home team less the other, of what is known before a match."""
STEPS, HOME, MEMORY = (0.1, 0.3), 0.55, 0.85
"""Steps of the two ratings in log odds, the home side in log odds, and what a running mean keeps of itself."""


def running_form(
    home: np.ndarray, away: np.ndarray, margin: np.ndarray, year: np.ndarray, neutral: np.ndarray
) -> np.ndarray:
    """FORM of every match, (n, 5); each row is taken down before its own result is counted."""
    n = int(max(home.max(), away.max())) + 1
    elo, goals, points, last = np.zeros((n, 2)), np.zeros(n), np.full(n, 0.5), np.full(n, -np.inf)
    rows = np.empty((len(home), len(FORM)))
    for k, (a, b, m, now, level) in enumerate(zip(home, away, margin, year, neutral, strict=True)):
        rest = [min(now - last[team], 0.5) for team in (a, b)]
        rows[k] = (*(elo[a] - elo[b]), goals[a] - goals[b], points[a] - points[b], 2.0 * (rest[0] - rest[1]))
        won = 0.5 + 0.5 * np.sign(m)
        expected = 1.0 / (1.0 + np.exp(elo[b] - elo[a] - (0.0 if level else HOME)))
        gain = np.array(STEPS) * np.log1p(max(abs(m), 1.0)) * (won - expected)
        elo[a], elo[b] = elo[a] + gain, elo[b] - gain
        for team, sign in ((a, 1.0), (b, -1.0)):
            goals[team] = MEMORY * goals[team] + (1.0 - MEMORY) * sign * np.clip(m, -4.0, 4.0)
            points[team] = MEMORY * points[team] + (1.0 - MEMORY) * (0.5 + sign * (won - 0.5))
            last[team] = now
    return rows


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


def figures_of(g: np.ndarray, y: np.ndarray, slope: float) -> dict[str, float]:
    """Of decided matches; a score of 0 is half right."""
    accuracy = float(np.mean(np.where(g == 0, 0.5, g * y > 0)))
    loss = float(pl.evaluation.log_losses(slope * g, y).mean())
    return {"accuracy": accuracy, "AUC": float(roc_auc_score(y, g)), "log loss": loss}


def decided(matches: Matches) -> Matches:
    """Without draws."""
    return matches[matches.result != 0]


SEARCH_FROM = 2004.0
"""The first match that the search learns from; ratings and form go back to the first match of all."""


def searched(quick: bool) -> dict[str, Any]:
    """What the search chooses on matches before the test, fitted on all of them."""
    matches = read(quick)
    past, test = matches[(matches.year < TEST_FROM) & (matches.year >= SEARCH_FROM)], matches[matches.year >= TEST_FROM]
    kept = past[past.year >= (2014.0 if quick else SEARCH_FROM)]
    cuts = [(until, until + 2.0) for until in ((2018.0,) if quick else (2018.0, 2016.0))]
    folds = [(kept.year < low, (kept.year >= low) & (kept.year < high)) for low, high in cuts]
    search = pl.PairSearch(
        "order", folds, "log_loss", bases=["linear"], test_share=0.0, time_budget=15.0 if quick else 240.0
    ).fit(kept.with_form, kept.result)
    judged = decided(test)
    found = figures_of(search.decision_function(judged.with_form), judged.result, search.record_["chosen"]["slope"])
    return {**found, "chosen": str(search.best_setting_), "train": len(kept.pairs), "test": len(judged.pairs)}


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
    shown = [fit(learn, VALIDATE_FROM, h, C)(decided(validate).pairs) for h, C in grid]
    best = int(np.argmax([roc_auc_score(decided(validate).result, g) for g in shown]))
    (half_life, C), slope = grid[best], pl.evaluation.slope_of(shown[best], decided(validate).result)
    judged = decided(test)
    found = figures_of(fit(past, TEST_FROM, half_life, C)(judged.pairs), judged.result, slope)
    return {**found, "half_life": half_life, "C": C, "train": len(past.pairs), "test": len(judged.pairs)}


def main() -> int:
    """Print accuracy and AUC of the models beside the baselines."""
    skip_without_data()
    rows: dict[str, Any] = {name: lambda quick, name=name: evaluate(name, quick) for name in MODELS}
    results, quick = run_rows(__file__, rows | {"PairSearch": searched})
    figures = [
        Figure(f"{name}: {what}", row[what], None, None)
        for name, row in results.items()
        for what in ("accuracy", "AUC", "log loss")
    ]
    if {"PairRanker", "PairSVR", "Bradley-Terry"} <= set(results):
        gain = max(results[name]["AUC"] for name in ("PairRanker", "PairSVR")) - results["Bradley-Terry"]["AUC"]
        figures.append(Figure("AUC of the better machine − Bradley-Terry", gain, ">= 0", judged=not quick))
    if {"PairSearch", "Bradley-Terry"} <= set(results):
        own, other = results["PairSearch"], results["Bradley-Terry"]
        for what, goal in (("accuracy", ">= 0"), ("AUC", ">= 0"), ("log loss", "<= 0")):
            figures.append(
                Figure(f"{what}: PairSearch − Bradley-Terry", own[what] - other[what], goal, judged=not quick)
            )
    return print_figures(figures)


if __name__ == "__main__":
    sys.exit(main())
