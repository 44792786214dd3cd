"""`pairlearn demo digits`: do two handwritten digits show the same one? On scikit-learn's pictures of 8 × 8 pixels.

Learnt from some pictures of 0 … 6; tested on other pictures of these, which is what the page shows, and on 7, 8 and 9,
which no training picture shows: seven classes are too few to learn what tells any two digits apart, and it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import pairlearn as pl
from pairlearn.cli.comparison import baselines, titled
from pairlearn.cli.demos.demo import Demo, Results
from pairlearn.cli.terminal import percent, say, table
from pairlearn.data.files.sheet import read_sheet
from pairlearn.data.layout import Columns
from pairlearn.evaluation import Scores, equal_error_rate
from pairlearn.evaluation.plots import bare_figure
from pairlearn.report.png import png
from pairlearn.types import Floats, Ints

KNOWN, NEW = range(7), range(7, 10)
LEARNT, TESTED = 25, 30
"""Pictures of each digit."""
ENLARGED = 8
"""Pixels of the file for each of the picture."""
OURS, PICTURE, SHOWN = "pairlearn", "worst.png", 4
ERRORS = {"-1": "Its worst errors: different, taken for the same", "1": "the same, taken for different"}

TOO_FEW = (
    "worse than without learning: seven digits are too few to learn what tells any two apart. `pairlearn demo` learns "
    "from 10, 20, 40, 80 classes and shows when they are enough"
)
ENOUGH = "better than without learning, from seven digits only"


def tables(seed: int) -> dict[str, Any]:
    """train.csv and test.csv with one picture per row, pairs.csv of the known digits, and the pictures of the test."""
    from sklearn.datasets import load_digits

    X, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    places = {digit: order[digits[order] == digit] for digit in range(10)}
    train = np.concatenate([places[digit][:LEARNT] for digit in KNOWN])
    test = np.concatenate([places[digit][LEARNT : LEARNT + TESTED] for digit in range(10)])
    left, right = np.triu_indices(TESTED * len(KNOWN), 1)
    ids = _ids(test, digits)
    same = digits[test][left] == digits[test][right]
    pairs = {"left": ids[left], "right": ids[right], "label": np.where(same, "same", "different")}
    files = {f"pictures/{key}.png": png(_enlarged(x)) for key, x in zip(ids.tolist(), X[test], strict=True)}
    return {"train.csv": _rows(train, X, digits), "test.csv": _rows(test, X, digits), "pairs.csv": pairs, **files}


def _ids(rows: Ints, digits: Ints) -> Any:
    """Names of pictures: the digit and its place in scikit-learn's table."""
    return np.array([f"{digits[row]}-{row:04d}" for row in rows.tolist()])


def _rows(rows: Ints, X: Floats, digits: Ints) -> dict[str, Any]:
    """A table of pictures: id, digit, darkness of every pixel from 0 to 1."""
    pixels = {f"p{k:02d}": X[rows, k] / 16 for k in range(X.shape[1])}
    return {"id": _ids(rows, digits), "digit": [_class_of(digit) for digit in digits[rows]], **pixels}


def _class_of(digit: int) -> str:
    """A word, so that no digit is taken for a number to learn from."""
    return f"digit {digit}"


def _enlarged(pixels: Floats) -> Floats:
    """Black on white, large enough to be seen."""
    return np.kron(1.0 - pixels.reshape(8, 8) / 16, np.ones((ENLARGED, ENLARGED)))


# --------------------------------------------------------------------------- what came out


def tell(console: Console, folder: Path, results: Results) -> None:
    """Error rates of both tests beside untrained baselines, the verdict, and the worst errors as a picture."""
    record = results[-1]
    seen = {system["name"]: system["eer"]["value"] for system in record["systems"]}
    rates = {OURS: seen[OURS], **{titled(name): seen[titled(name)] for name in baselines(None)}}
    unseen = _unseen_rates(folder)
    drawn = table(("equal error rate", "new pictures of 0 … 6", "7, 8, 9, never seen"))
    for name, rate in rates.items():
        drawn.add_row(name if name == OURS else f"{name} (untrained)", percent(rate, 1), percent(unseen[name], 1))
    console.print(drawn)
    say(console, results[1]["verdict"]["words"], lead="new pictures:")
    say(console, TOO_FEW if unseen[OURS] > min(unseen.values()) else ENOUGH, lead="never seen:")
    try:
        _draw(folder, rates)
    except ImportError as error:
        say(console, f"no picture of the worst errors: {error}")
    else:
        say(console, str(folder / PICTURE), lead="the worst errors:")


def _unseen_rates(folder: Path) -> dict[str, float]:
    """Equal error rates of the model and of the untrained baselines on pairs of digits that were not learnt."""
    known = pl.data.read_examples(folder / "test.csv", Columns(classes="digit"))
    assert known.classes is not None
    rows = np.flatnonzero(np.isin(known.classes, [_class_of(digit) for digit in NEW]))
    pairs = pl.all_pairs(np.asarray(known.examples)[rows], reflexive=False)
    labels = pairs.labels(np.array(known.classes)[rows])
    machines = {OURS: pl.load(folder / "digits.safetensors")} | {titled(n): m for n, m in baselines(None).items()}
    return {name: equal_error_rate(Scores(m.decision_function(pairs), labels)) for name, m in machines.items()}


def _draw(folder: Path, rates: Mapping[str, float]) -> None:
    """Error rates as bars, and the worst pairs of each kind side by side."""
    figure: Any = bare_figure(11, 3.6)
    bars, pairs = figure.subfigures(1, 2, width_ratios=[1, 1.7])
    _draw_bars(bars.subplots(), rates)
    for half, (label, title) in zip(pairs.subfigures(2, 1), ERRORS.items(), strict=True):
        half.suptitle(title, x=0.02, ha="left", fontsize=11)
        for axes, pair in zip(half.subplots(1, SHOWN), _worst(folder, label), strict=True):
            axes.imshow(_side_by_side(folder, pair), cmap="gray", vmin=0, vmax=255)
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_color("0.8")
    figure.savefig(folder / PICTURE, dpi=120)


def _draw_bars(axes: Any, rates: Mapping[str, float]) -> None:
    """One bar per system, its rate at the end."""
    names = [name if name == OURS else f"{name}\n(untrained)" for name in rates]
    bars = axes.barh(names, [100 * rate for rate in rates.values()], color=["#0072B2", "#bbbbbb", "#bbbbbb"])
    axes.bar_label(bars, [percent(rate, 1) for rate in rates.values()], padding=4)
    axes.invert_yaxis()
    axes.set_title("Are two pictures the same digit? Errors:", loc="left", fontsize=11)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.tick_params(left=False, bottom=False, labelbottom=False)
    axes.margins(x=0.25)


def _worst(folder: Path, label: str) -> list[tuple[str, str]]:
    """The worst errors among pairs with this label, every picture once: one that is hard to read is in many of them."""
    columns = read_sheet(folder / "scores.csv").columns
    rows = zip(*(columns[name].texts() for name in ("left", "right", "score", "label")), strict=True)
    sign = int(label)
    errors = sorted((sign * float(score), left, right) for left, right, score, said in rows if said == label)
    kept: list[tuple[str, str]] = []
    used: set[str] = set()
    for _, left, right in errors:
        if not used & {left, right}:
            used |= {left, right}
            kept.append((left, right))
    return kept[:SHOWN]


def _side_by_side(folder: Path, pair: tuple[str, str]) -> Any:
    """Both pictures of a pair, a white line between them."""
    from matplotlib.image import imread

    left, right = (255 * imread(folder / "pictures" / f"{name}.png") for name in pair)
    return np.hstack([left, np.full((len(left), ENLARGED), 255.0), right])


DEMO = Demo(
    "Handwritten digits: are two pictures the same digit? Learnt from 25 pictures each of 0 … 6.",
    tables,
    (
        "fit @/train.csv --class-column digit --base rbf --C 10 --out digits.safetensors",
        "score digits.safetensors @/test.csv @/pairs.csv --class-column digit --out scores.csv",
        "evaluate pairlearn=scores.csv --examples @/test.csv --class-column digit --images @/pictures "
        "--report digits.html",
    ),
    tell,
    "digits.html",
)
