"""Is it the same symbol? Drawings of unknown alphabets, each in a place, size and slant of its own.

What need not be learnt is worth more than any kernel: bring drawings to one place, slant and size, score over variants
of both, learn from copies. `python examples/drawn_symbols.py --picture docs/images/normalised.png` draws what is done.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

import pairlearn as pl
from pairlearn.images import Centred, Hog, Orbit
from pairlearn.scorers import OnCopies, OrbitScorer

STEPS = {
    "as drawn": (),
    "centred": (Centred(),),
    "and upright": (Centred(upright=True),),
    "and of one size": (Centred(upright=True, spread=0.2),),
}
ORBIT = Orbit(shifts=(1,), degrees=(-10, 10))


def machine(*steps: Any) -> Any:
    """Cells of gradients behind these steps, and a machine that compares them."""
    cells = make_pipeline(*steps, Hog(cell=8))
    return make_pipeline(pl.OnExamples(cells), pl.PairSVC("tensor_metric", "rbf", C=10.0, random_state=0))


def compare() -> None:
    """Equal error rates on symbols that no training has seen."""
    images, symbol = pl.data.drawn_symbols(n_classes=60, epcr=4, seed=0)
    known, unseen = np.arange(120), np.arange(120, 240)
    train, test = pl.all_pairs(images[known]), pl.all_pairs(images[unseen], reflexive=False)
    labels = train.labels(symbol[known])
    systems = {name: machine(*steps).fit(train, labels) for name, steps in STEPS.items()}
    systems["as drawn, mean over variants"] = OrbitScorer(systems["as drawn"], ORBIT)
    systems["as drawn, with copies"] = OnCopies(machine(), ORBIT).fit(train, labels)
    systems["of one size, mean over variants"] = OrbitScorer(systems["and of one size"], ORBIT)
    for name, model in systems.items():
        rate = pl.equal_error_rate(pl.Scores.of(model, test, classes=symbol[unseen]))
        print(f"{name}: EER {100 * rate:.1f} % on {len(test)} pairs of 30 unseen symbols")


def draw(path: Path) -> None:
    """Two drawings of each of three symbols through all steps, and the orbit of one of them."""
    from matplotlib.figure import Figure

    images, _ = pl.data.drawn_symbols(3, 2, shift=6.0, slant=0.4, scale=0.3, seed=3)
    rows = {name: make_pipeline(*steps).fit_transform(images) if steps else images for name, steps in STEPS.items()}
    rows["variants of one"] = np.concatenate([table[:1] for table in ORBIT(rows["and of one size"])[1:]])
    figure = Figure(figsize=(6.4, 5.0), layout="constrained")
    for line, (name, shown) in zip(figure.subplots(len(rows), len(images)), rows.items(), strict=True):
        for axes, image in zip(line, shown, strict=True):
            axes.imshow(255 - image.astype(float), cmap="gray", vmin=0, vmax=255)
            axes.axhline(15.5, color="tab:blue", linewidth=0.4)
            axes.axvline(15.5, color="tab:blue", linewidth=0.4)
            axes.set(xticks=[], yticks=[])
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="Drawn symbols of unseen alphabets.")
    parser.add_argument("--picture", type=Path, help="draw the steps to this file and do nothing else")
    picture = parser.parse_known_args()[0].picture
    if picture is None:
        compare()
    else:
        draw(picture)


if __name__ == "__main__":
    main()
