"""`pairlearn demo matches`: rock, paper, scissors. Who beats whom runs in circles, and strengths cannot say so.

A player is three habits: how often he shows rock, paper and scissors. The share of throws that p wins of q is pᵀ A q
with an antisymmetric A, and that is what the wedge kernel can express; a strength per player cannot.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from pairlearn.cli.demos.demo import Demo, Results
from pairlearn.cli.tasks import judging, ranking
from pairlearn.cli.tasks.task import PREFERENCE
from pairlearn.cli.terminal import percent, say

NAMES = (
    "Ada", "Ben", "Cleo", "Dan", "Eva", "Fred", "Gus", "Hal", "Ida", "Jan", "Kai", "Lea", "Max", "Nora", "Otto", "Pia",
    "Quin", "Rosa", "Sam", "Tess", "Uma", "Vic", "Wes", "Xi", "Yara", "Zoe", "Abel", "Bea", "Cy", "Dora", "Emil", "Fay",
)  # fmt: skip
HABITS = ("rock", "paper", "scissors")
BEATS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
"""What the row gains against the column: rock loses to paper and beats scissors."""
MATCHES, THROWS, KNOWN = 500, 15, 24
"""Matches that are played, throws of each, and how many of the players play them; the others come later."""


def tables(seed: int) -> dict[str, Any]:
    """players.csv, matches.csv of the first of them, and next.csv: newcomers against all."""
    rng = np.random.default_rng(seed)
    habits = rng.dirichlet([0.9] * 3, len(NAMES)).round(2)
    ends = rng.choice(KNOWN, (2 * MATCHES, 2))
    played = [(i, j) for i, j in ends[ends[:, 0] != ends[:, 1]].tolist()][:MATCHES]
    coming = [(i, j) for i in range(KNOWN, len(NAMES)) for j in range(i)]
    return {
        "players.csv": {"player": NAMES, **dict(zip(HABITS, habits.T, strict=True))},
        "matches.csv": _sides([_order(i, j, habits, rng) for i, j in played]),
        "next.csv": _sides([_order(i, j, habits, rng) for i, j in coming]),
    }


def _order(i: int, j: int, habits: Any, rng: np.random.Generator) -> tuple[int, int]:
    """Winner and loser of a match; when all is even they play on."""
    gained = 0
    while gained == 0:
        shown = [rng.choice(3, THROWS, p=habits[player] / habits[player].sum()) for player in (i, j)]
        gained = int(BEATS[shown[0], shown[1]].sum())
    return (i, j) if gained > 0 else (j, i)


def _sides(order: list[tuple[int, int]]) -> dict[str, list[str]]:
    return {"winner": [NAMES[i] for i, _ in order], "loser": [NAMES[j] for _, j in order]}


def tell(console: Console, folder: Path, results: Results) -> None:
    """Held-out matches beside a strength per player, newcomers, and a circle that no order can show."""
    learnt, newcomers, ranked = results
    held, judgement = learnt["held_out"], PREFERENCE.judgement
    assert judgement is not None
    judging.show(console, judgement, held, f"{held['pairs']:,} matches that were held out")
    accuracy = newcomers["systems"]["model"]["accuracy"]
    say(
        console,
        f"{percent(accuracy, 0)} of {newcomers['pairs']:,} matches are foretold; nothing was known of these players "
        "but their habits",
        lead="newcomers:",
    )
    say(console, ranking.cycles_words(ranked), lead="circles:")


DEMO = Demo(
    "Rock, paper, scissors: learn from matches who beats whom.",
    tables,
    (
        "rank fit @/matches.csv --examples @/players.csv --kernel wedge --base linear --out ranker.safetensors",
        "rank predict ranker.safetensors @/next.csv --examples @/players.csv --out predicted.csv",
        "rank order ranker.safetensors --examples @/players.csv --out order.csv --report order.html",
    ),
    tell,
    "order.html",
)
