"""Real data as pairs with labels, for `real_solver.py`; found through PAIRLEARN_DATA.

Images and letters are examples with classes: all their pairs, same or different, or a sample of them. Davis has two
tables: drugs and targets, labelled by their affinity. Matches have two examples of their own each: the features of
both sides on that day.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import polars

import pairlearn as pl
from benchmarks.harness import data_folder
from benchmarks.real_rows import Row

Array = np.ndarray
Classes = tuple[Array, Array]
"""(examples, their classes)."""


@dataclass(frozen=True)
class Task:
    """Pairs with a label or number each, and with a weight each or none."""

    pairs: pl.Pairs
    y: Array
    weight: Array | None = None


def task_of(row: Row) -> Task:
    """The training pairs of a row."""
    if row.data.startswith("davis"):
        return davis(row)
    if row.data in ("matches", "teams"):
        return football(row)
    if row.data == "lfw_view2":
        return lfw_view2(row.m)
    return of_classes(row)


def quick_row(row: Row) -> Row:
    """The same on a few hundred pairs."""
    most = {"davis": 8, "davis_features": 8, "matches": 400, "teams": 400, "lfw_view2": 400}.get(row.data, 40)
    return replace(row, m=min(row.m, most), sampled=min(row.sampled, 500))


# --------------------------------------------------------------------------- examples with classes


def of_classes(row: Row) -> Task:
    """Same class or not, for all pairs of the first m examples or a sample of them; SVR: how far apart are digits?"""
    X, classes = CLASSES[row.data.rstrip("0123456789")](row)
    pairs = pl.all_pairs(X[: row.m], reflexive=False)
    classes = classes[: row.m].astype(int)
    if row.sampled:
        pairs = pairs[sampled(pairs.labels(classes), row.sampled)]
    y = pairs.labels(classes)
    if row.machine == "PairSVR":
        return Task(pairs, standardised(np.abs(classes[pairs.left] - classes[pairs.right])))
    return Task(pairs, y, balanced(y) if row.weighted else None)


def sampled(y: Array, n: int) -> Array:
    """Places of n pairs, a fifth of them of one class if there are as many."""
    rng = np.random.default_rng(0)
    same, other = (rng.permutation(np.flatnonzero(y == sign)) for sign in (1, -1))
    few = min(len(same), n // 5)
    return np.sort(np.concatenate([same[:few], other[: n - few]]))


def balanced(y: Array) -> Array:
    """Weights of pairs, with half of the whole for either class."""
    return np.where(y > 0, 0.5 / np.mean(y > 0), 0.5 / np.mean(y < 0))


def standardised(targets: Array) -> Array:
    """Mean 0 and spread 1: C, ε and tol then mean the same to every solver."""
    return (targets - targets.mean()) / targets.std()


def archive(folder: str, file: str) -> Any:
    """The arrays of one file."""
    return np.load(data_folder() / folder / file)


@cache
def digits() -> Classes:
    """10,000 images drawn from MNIST's training part, pixels 0 … 1."""
    data = archive("mnist", "mnist.npz")
    drawn = np.random.default_rng(0).permutation(60_000)[:10_000]
    return data["X_train"][drawn].reshape(len(drawn), -1) / 255.0, data["y_train"][drawn]


def mnist(row: Row) -> Classes:
    """Raw pixels, or "mnist30", "mnist50": principal components of the 10,000, divided by the root mean square length.

    Of the plausible scales this is the one with the known numbers of support pairs: metric, linear, m = 300, C = 1 has
    8,800 support pairs (pixels / 255 as they are: 7,700; components of unit variance: 7,700), tensor, Gaussian,
    50 components, m = 400, C = 1 has 15,500 with 8,800 free ones. The first images of the file instead of drawn ones
    are easier: a fifth fewer.
    """
    X, classes = digits()
    n_components = int(row.data.removeprefix("mnist") or 0)
    if not n_components:
        return X, classes
    Z = all_components()[:, :n_components]
    return Z / np.sqrt((Z**2).sum(axis=1).mean()), classes


@cache
def all_components() -> Array:
    """Principal components of the images, largest first."""
    centred = digits()[0] - digits()[0].mean(axis=0)
    return centred @ np.linalg.eigh(centred.T @ centred)[1][:, ::-1]


def olivetti(row: Row) -> Classes:
    """Means of 2 × 2 pixels of the 64 × 64 crops."""
    data = archive("olivetti_orl", "olivetti_orl.npz")
    small = data["X64"].astype(float).reshape(400, 32, 2, 32, 2).mean(axis=(2, 4))
    return small.reshape(400, -1) / 255.0, data["y"]


def lfw(row: Row) -> Classes:
    """The first ten images of every person with at least ten, dlib embeddings."""
    person = archive("lfw", "lfw_protocol.npz")["person"].astype(int)
    often = np.flatnonzero(np.bincount(person) >= 10)
    chosen = np.concatenate([np.flatnonzero(person == each)[:10] for each in often])
    return archive("lfw", "lfw_dlib128.npz")["E"][chosen].astype(float), person[chosen]


def lfw_view2(n: int) -> Task:
    """The listed pairs of View 2: hardly any two share an image."""
    data = archive("lfw", "lfw_protocol.npz")
    order = np.random.default_rng(0).permutation(len(data["view2_same"]))[:n]
    left, right = data["view2_pairs"][order].astype(int).T
    pairs = pl.Pairs(archive("lfw", "lfw_dlib128.npz")["E"].astype(float), left, right)
    return Task(pairs, np.where(data["view2_same"][order], 1, -1))


def letter(row: Row) -> Classes:
    """16 numbers 0 … 15 of each printed letter."""
    data = archive("uci_bundle", "uci_bundle.npz")
    return data["letter_X"] / 15.0, data["letter_y"]


def isolet(row: Row) -> Classes:
    """617 numbers of each spoken letter, in random order."""
    data = archive("uci_bundle", "uci_bundle.npz")
    order = np.random.default_rng(0).permutation(len(data["isolet1560_y"]))
    return data["isolet1560_X"][order].astype(float), data["isolet1560_y"][order]


def cifar(row: Row) -> Classes:
    """Oriented gradients of 4 × 4 cells of the first pictures, 496 numbers."""
    data = archive("cifar10_10k", "cifar10_10k.npz")
    images = data["X_train"][: row.m].transpose(0, 2, 3, 1)
    return pl.images.hog(images, cell=8).reshape(len(images), -1).astype(float), data["y_train"]


CLASSES: dict[str, Callable[[Row], Classes]] = {
    "mnist": mnist,
    "olivetti": olivetti,
    "lfw": lfw,
    "letter": letter,
    "isolet": isolet,
    "cifar": cifar,
}

# --------------------------------------------------------------------------- two tables


def davis(row: Row) -> Task:
    """m drugs × the targets: does it bind (pKd ≥ 7)? SVR: how strongly? Similarities, or features made of them."""
    data = archive("davis_kiba", "davis.npz")
    n_targets = 442 if row.m > 8 else 60
    D, T = (data[f"{kind}_sim"].astype(float)[:size, :size] for kind, size in (("drug", row.m), ("target", n_targets)))
    strength = 9.0 - np.log10(data["Kd_nM"].astype(float))[: row.m, :n_targets].ravel()
    left, right = np.divmod(np.arange(strength.size), n_targets)
    if row.data == "davis_features":
        D, T = components(D, 20), components(T, 50)
    pairs = pl.Pairs(D, left, right, right_examples=T)
    return Task(pairs, standardised(strength) if row.machine == "PairSVR" else np.where(strength >= 7.0, 1, -1))


def components(K: Array, n: int) -> Array:
    """Rows whose inner products are K, but for all eigenvalues beyond the n largest."""
    values, vectors = np.linalg.eigh(K)
    return vectors[:, -n:] * np.sqrt(np.maximum(values[-n:], 0.0))


# --------------------------------------------------------------------------- matches


@dataclass
class Form:
    """What is known of a team before its next match."""

    elo: float = 0.0
    best: float = 0.0
    scored: float = 1.3
    conceded: float = 1.3
    points: float = 1.3
    matches: int = 0
    day: int = -(10**6)

    def features(self, day: int, at_home: bool) -> list[float]:
        """Eight numbers."""
        rest = math.log1p(min(day - self.day, 1000))
        form = [self.elo, self.best, self.scored, self.conceded, self.points]
        return [*form, math.log1p(self.matches), rest, float(at_home)]

    def after(self, mine: int, theirs: int, surprise: float, day: int) -> Form:
        """The same after a match; `surprise` is the result less what Elo expected, −1 … 1."""
        elo, points = self.elo + 0.1 * surprise, 3.0 * (mine > theirs) + (mine == theirs)
        means = ((self.scored, mine), (self.conceded, theirs), (self.points, points))
        scored, conceded, won = (0.9 * old + 0.1 * min(new, 5) for old, new in means)
        return Form(elo, max(self.best, elo), scored, conceded, won, self.matches + 1, day)


def played(frame: polars.DataFrame) -> Iterator[tuple[list[float], list[float]]]:
    """Features of home and away side before each match, in the order of time; one unit of Elo is 400 points."""
    forms: dict[str, Form] = {}
    names = ("day", "home_team", "away_team", "home_score", "away_score", "neutral")
    for day, home, away, scored, conceded, neutral in frame.select(names).iter_rows():
        a, b = forms.get(home, Form()), forms.get(away, Form())
        yield a.features(day, not neutral), b.features(day, False)
        surprise = ((scored > conceded) - (scored < conceded) + 1) / 2 - 1 / (
            1 + 10 ** (b.elo - a.elo - 0.15 * (not neutral))
        )
        forms[home] = a.after(scored, conceded, surprise, day)
        forms[away] = b.after(conceded, scored, -surprise, day)


@cache
def all_matches() -> polars.DataFrame:
    """Every match with a score, and its day."""
    frame = polars.read_csv(data_folder() / "preference" / "football_internationals.csv.gz", null_values="NA")
    day = polars.col("date").str.to_date().dt.epoch("d").alias("day")
    return frame.drop_nulls(["home_score", "away_score"]).with_columns(day).sort("day", maintain_order=True)


@cache
def sides() -> Array:
    """Features of both sides of every match, (matches, 2, 8), each of spread 1."""
    X = np.array(list(played(all_matches())))
    return (X - X.mean(axis=(0, 1))) / X.std(axis=(0, 1))


def football(row: Row) -> Task:
    """The last m decided matches, sides in random order: who wins? SVR: by how much? Symmetric: three goals or more?"""
    frame = all_matches()
    goals = frame.select("home_score", "away_score").to_numpy()
    last = np.flatnonzero(goals[:, 0] != goals[:, 1])[-row.m :]
    swap = np.random.default_rng(0).random(len(last)) < 0.5
    margin = np.where(swap, -1, 1) * np.subtract(*goals[last].T)
    pairs = team_pairs(frame[last], swap) if row.data == "teams" else match_pairs(sides()[last], swap)
    weight = 0.5 ** ((frame["day"].max() - frame["day"].to_numpy()[last]) / 3650.0) if row.weighted else None
    if row.machine == "PairSVR":
        return Task(pairs, margin / np.sqrt(np.mean(margin**2.0)), weight)
    if row.machine == "PairRanker":
        return Task(pairs, np.sign(margin), weight)
    return Task(pairs, np.where(goals[last].sum(axis=1) >= 3, 1, -1), weight)


def match_pairs(features: Array, swap: Array) -> pl.Pairs:
    """Match i is the pair of rows 2i and 2i + 1."""
    first = np.arange(0, 2 * len(swap), 2)
    return pl.Pairs(features.reshape(-1, features.shape[2]), first + swap, first + ~swap)


def team_pairs(frame: polars.DataFrame, swap: Array) -> pl.Pairs:
    """Teams as unit vectors."""
    teams, number = np.unique(frame.select("home_team", "away_team").to_numpy(), return_inverse=True)
    home, away = number.reshape(-1, 2).T
    return pl.Pairs(np.eye(len(teams)), np.where(swap, away, home), np.where(swap, home, away))
