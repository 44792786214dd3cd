"""Noisy images of "2" and "5": the first eigenvector of an online pseudo-metric shows the digit; does that of PCA?

Two drawn images of 12 × 12 pixels (ink 1, paper 0), 64 noisy versions: half of each digit, and of these half with noise
in the odd columns and half in the odd rows (the first, third, …). The noise is Gaussian with mean zero, and as strong
as the signal over the whole image (0 dB). The paper calls it biased but does not say what is drawn anew: each pixel of
the odd lines ("pixels"), one value per odd line ("lines"), or one value for all odd lines ("pattern"). All three are
shown. POLA sweeps over all pairs of different images, in random order and scaled to a median ‖x − x'‖ of 1, until no
loss exceeds 0.1 (at most 200 sweeps).

An image is rebuilt from one eigenvector: mean + u uᵀ(x − mean). Distances between the rebuilt images are judged by
their AUC (a pair of one digit is nearer than a pair of two) and by the ratio of the mean distance between digits to
that within them. "fresh" are 64 further noisy images that neither POLA nor PCA has seen. Median of 20 draws of noise;
the claim of clear blocks is met by an AUC of at least 0.99, that of no clear blocks by at most 0.9.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

import pairlearn as pl
from benchmarks.harness import Figure, print_figures, run_rows

TWO = """
............
..########..
..########..
........##..
........##..
..########..
..########..
..##........
..##........
..########..
..########..
............
"""
FIVE = "\n".join(line[::-1] for line in TWO.splitlines())
"""In these letters a "5" is the mirror image of a "2"."""
N_IMAGES, N_DRAWS = 64, 20
NOISES = {"pixels": (12, 12), "lines": (1, 12), "pattern": (1, 1)}
"""Reading of the noise → shape of what is drawn for an image with noise in its columns."""
SHOWN = "lines"
SPACES = ("original", "PCA", "POLA")
PICTURE = Path("results") / "pola_digits_noise.png"


@dataclass(frozen=True)
class Noisy:
    """Images as rows, (64, 144), and their digits."""

    X: np.ndarray
    digits: np.ndarray


# --------------------------------------------------------------------------- data


def drawing(text: str) -> np.ndarray:
    """Letters as an image, (12, 12)."""
    return np.array([[letter == "#" for letter in line] for line in text.split()], dtype=float)


def noise(shape: tuple[int, int], in_columns: bool, rng: np.random.Generator) -> np.ndarray:
    """Standard Gaussian noise in the odd columns, or in the odd rows, (12, 12)."""
    odd = np.arange(12) % 2 == 0
    drawn = np.where(odd, rng.standard_normal(shape), 0.0) * np.ones((12, 12))
    return drawn if in_columns else drawn.T


def noisy_images(shape: tuple[int, int], rng: np.random.Generator) -> Noisy:
    """Both digits with noise in the odd columns, then in the odd rows."""
    digits, in_columns = np.repeat([2, 5], N_IMAGES // 2), np.tile(np.repeat([True, False], N_IMAGES // 4), 2)
    clean = np.stack([drawing(TWO if digit == 2 else FIVE) for digit in digits])
    # Half of the pixels have noise, so twice the mean square of the image makes both equally strong.
    deviation = np.sqrt(2.0 * np.mean(clean**2, axis=(1, 2), keepdims=True))
    images = clean + deviation * np.stack([noise(shape, columns, rng) for columns in in_columns])
    return Noisy(images.reshape(N_IMAGES, -1), digits)


# --------------------------------------------------------------------------- eigenvectors


def pola_axis(data: Noisy, sweeps: int) -> tuple[np.ndarray, dict[str, float]]:
    """The first eigenvector of the learnt matrix, and how learning went."""
    pairs = pl.all_pairs(data.X, reflexive=False)
    left, right = pairs.columns
    scale = 1.0 / float(np.median(np.linalg.norm(data.X[left] - data.X[right], axis=1)))
    metric = pl.OnlinePseudoMetric(max_sweeps=sweeps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        order = np.random.default_rng(0).permutation(len(left))
        shuffled = pl.Pairs(scale * data.X, left[order], right[order])
        metric.fit(shuffled, pairs.labels(data.digits)[order])
    values, vectors = eigh(metric.mahalanobis_matrix_)
    share = float(values[-1] / values.clip(0.0).sum())
    return vectors[:, -1], {"sweeps": metric.n_sweeps_, "largest loss": metric.max_loss_, "first eigenvalue": share}


def pca_axis(data: Noisy) -> np.ndarray:
    """The direction of largest variance."""
    return np.linalg.svd(data.X - data.X.mean(axis=0), full_matrices=False)[2][0]


def rebuilt(X: np.ndarray, mean: np.ndarray, axis: np.ndarray | None) -> np.ndarray:
    """mean + u uᵀ(x − mean), or the image itself without an axis."""
    return X if axis is None else mean + np.outer((X - mean) @ axis, axis)


def distances(X: np.ndarray) -> np.ndarray:
    """‖x − x'‖ of all images."""
    return np.linalg.norm(X[:, None] - X[None, :], axis=2)


def blocks(D: np.ndarray, digits: np.ndarray) -> list[float]:
    """[AUC, mean distance between digits over that within them], of pairs of different images."""
    left, right = np.triu_indices(len(D), 1)
    other, values = digits[left] != digits[right], D[left, right]
    return [float(roc_auc_score(other, values)), float(values[other].mean() / values[~other].mean())]


# --------------------------------------------------------------------------- rows


def one_draw(shape: tuple[int, int], seed: int, sweeps: int) -> dict[str, Any]:
    """Images, axes and block structure for one draw of the noise."""
    rng = np.random.default_rng(seed)
    seen, fresh = noisy_images(shape, rng), noisy_images(shape, rng)
    axis, learning = pola_axis(seen, sweeps)
    axes, mean = dict(zip(SPACES, (None, pca_axis(seen), axis), strict=True)), seen.X.mean(axis=0)
    found: dict[str, Any] = {"learning": learning, "axes": axes, "mean": mean, "seen": seen}
    for name, data in (("seen", seen), ("fresh", fresh)):
        found[f"blocks, {name}"] = {
            space: blocks(distances(rebuilt(data.X, mean, one)), data.digits) for space, one in axes.items()
        }
    return found


def reading(name: str, quick: bool) -> dict[str, Any]:
    """Medians over draws of the noise (three draws and fewer sweeps in a quick run)."""
    draws = [one_draw(NOISES[name], seed, 50 if quick else 200) for seed in range(2 if quick else N_DRAWS)]
    found: dict[str, Any] = {
        part: {
            space: np.median([draw[f"blocks, {part}"][space] for draw in draws], axis=0).tolist() for space in SPACES
        }
        for part in ("seen", "fresh")
    }
    found["lowest AUC of POLA"] = {
        part: float(min(draw[f"blocks, {part}"]["POLA"][0] for draw in draws)) for part in ("seen", "fresh")
    }
    keys = draws[0]["learning"]
    return found | {key: float(np.median([draw["learning"][key] for draw in draws])) for key in keys}


# --------------------------------------------------------------------------- figures


def mosaic(X: np.ndarray) -> np.ndarray:
    """64 images in 8 × 8 with a frame."""
    framed = np.pad(X.reshape(8, 8, 12, 12), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    return framed.transpose(0, 2, 1, 3).reshape(8 * 14, 8 * 14)


def draw(found: dict[str, Any], path: Path) -> None:
    """Noisy and rebuilt images above their distances."""
    data = found["seen"]
    figure, grid = plt.subplots(2, 3, figsize=(13, 9), layout="constrained")
    for (above, below), space in zip(grid.T, SPACES, strict=True):
        X = rebuilt(data.X, found["mean"], found["axes"][space])
        above.imshow(mosaic(X), cmap="gray_r")
        shown = below.imshow(distances(X), cmap="viridis")
        auc, ratio = found["blocks, seen"][space]
        above.set(title=space, xticks=[], yticks=[])
        below.set(title=f"distances: AUC {auc:.3f}, between / within {ratio:.2f}")
        figure.colorbar(shown, ax=below, shrink=0.8)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=90)


def figures_of(name: str, row: dict[str, Any], quick: bool) -> Iterator[Figure]:
    """AUC and ratio of the three spaces on seen and fresh images."""
    goals = {"original": "<= 0.9", "PCA": "<= 0.9", "POLA": ">= 0.99"}
    papers = {"original": "random", "PCA": "not clear", "POLA": "clear blocks"}
    for part in ("seen", "fresh"):
        for space in SPACES:
            auc, ratio = row[part][space]
            goal, paper = (goals[space], papers[space]) if part == "seen" else (None, None)
            yield Figure(f"{name}, {part}: AUC, {space}", auc, goal, paper, not quick)
            yield Figure(f"{name}, {part}: between / within, {space}", ratio)
        yield Figure(f"{name}, {part}: lowest AUC of POLA over draws", row["lowest AUC of POLA"][part])
    for what in ("sweeps", "largest loss", "first eigenvalue"):
        yield Figure(f"{name}: POLA, {what}" + (", share of the trace" if "eigen" in what else ""), row[what])


def main() -> int:
    """Print the block structure for all readings of the noise, and draw one of them."""
    rows = {name: lambda quick, name=name: reading(name, quick) for name in NOISES}
    results, quick = run_rows(__file__, rows)
    if not quick:
        draw(one_draw(NOISES[SHOWN], 0, 200), PICTURE)
        print(f"figure: {PICTURE}")
    return print_figures(figure for name, row in results.items() for figure in figures_of(name, row, quick))


if __name__ == "__main__":
    sys.exit(main())
