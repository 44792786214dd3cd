"""How fast are image cells and the similarities that align them? Beside matrix products and a plain loop.

10,000 images of 32 × 32 pixels (those of `cifar10_10k`; random ones without PAIRLEARN_DATA), cells of 4 pixels, the
first 1,000 as bases. Only products over the overlap of two shifted images count as operations; the rate of matrix
products is that of the same type, float32, taken just before and after. The plain loop goes over images and bases and
sums products over the overlap for each shift; it is measured on a few pairs and scaled to all.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import pairlearn as pl
from benchmarks.harness import Figure, data_folder, print_figures, run_rows, timed
from pairlearn.errors import InputError
from pairlearn.images import hog

SIDE, CHANNELS = 8, 31


def pictures(quick: bool) -> np.ndarray:
    """(n, 32, 32, 3) uint8."""
    n = 2000 if quick else 10_000
    try:
        stored = np.load(data_folder() / "cifar10_10k" / "cifar10_10k.npz")
    except InputError:
        return np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3), dtype=np.uint8)
    return np.concatenate([stored["X_train"], stored["X_test"]])[:n].transpose(0, 2, 3, 1)


def cells_and_bases(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    cells = hog(pictures(quick), cell=4)
    return cells, cells[: 200 if quick else 1000]


def product_rate(n: int = 3000) -> float:
    """Operations per second of a float32 matrix product."""
    A = np.random.default_rng(0).random((n, n), dtype=np.float32)
    A @ A
    return 2.0 * n**3 / float(np.median([timed(lambda: A @ A)[0] for _ in range(5)]))


def useful_products(reach: int) -> int:
    """Products of one pair of images over the overlaps of all displacements up to `reach` cells."""
    return sum(SIDE - abs(z) for z in range(-reach, reach + 1)) ** 2 * CHANNELS


def share(action: Callable[[], np.ndarray], products: int) -> dict[str, Any]:
    """Seconds, and the rate of useful operations as a share of the matrix-product rate in the same run."""
    before = product_rate()
    seconds, values = timed(action)
    rate = (before + product_rate()) / 2
    operations = 2.0 * values.size * products
    return {"seconds": seconds, "gflops": operations / seconds / 1e9, "share": operations / seconds / rate}


def held_megabytes(action: Callable[[], Any]) -> float:
    """Most memory of arrays that the action holds at once, its result included."""
    tracemalloc.start()
    action()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def by_loop(A: np.ndarray, B: np.ndarray, h: int) -> np.ndarray:
    """The rigid similarity of every image with every base, as one writes it down first."""
    K = np.full((len(A), len(B)), -np.inf)
    rows, cols = A.shape[1:3]
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            for y in range(-h, h + 1):
                for x in range(-h, h + 1):
                    moved = a[max(y, 0) : rows + min(y, 0), max(x, 0) : cols + min(x, 0)]
                    fixed = b[max(-y, 0) : rows + min(-y, 0), max(-x, 0) : cols + min(-x, 0)]
                    K[i, j] = max(K[i, j], float((moved * fixed).sum()))
    return K


def rigid(quick: bool) -> dict[str, Any]:
    """H4(2, 0) of all images to all bases."""
    cells, bases = cells_and_bases(quick)
    kernel = pl.kernels.Rigid(2)
    kernel(cells[:100], bases[:100])
    found = share(lambda: kernel(cells, bases), useful_products(2))
    found["held_mb"] = held_megabytes(lambda: kernel(cells, bases))
    few = (cells[-40:], bases[:10])
    loop, expected = min((timed(lambda: by_loop(*few, 2)) for _ in range(3)), key=lambda pair: pair[0])
    found["loop_seconds"] = loop / expected.size * len(cells) * len(bases)
    found["times_faster"] = found["loop_seconds"] / found["seconds"]
    found["largest_error"] = float(np.abs(kernel(*few) / expected - 1).max())
    return found


def deformable(quick: bool) -> dict[str, Any]:
    """H4(0, 1) of all images to all bases."""
    cells, bases = cells_and_bases(quick)
    kernel = pl.kernels.Deformable(0, 1)
    kernel(cells[:100], bases[:100])
    return share(lambda: kernel(cells, bases), useful_products(1))


def gradients(quick: bool) -> dict[str, Any]:
    """Cells of all images, without the time to compile."""
    images = pictures(quick)
    hog(images[:10], cell=4)
    return {str(cell): min(timed(lambda c=cell: hog(images, cell=c))[0] for _ in range(3)) for cell in (4, 8)}


def figures(rows: dict[str, dict[str, Any]], quick: bool) -> list[Figure]:
    """Goals: 30 % of the matrix-product rate, 50 times a plain loop."""
    found = []
    if "rigid" in rows:
        row = rows["rigid"]
        found += [
            Figure("H4(2,0): useful rate / matrix-product rate", row["share"], ">= 0.30", judged=not quick),
            Figure("H4(2,0): seconds", row["seconds"]),
            Figure("H4(2,0): times faster than a plain loop", row["times_faster"], ">= 50", judged=not quick),
            Figure("H4(2,0): largest relative difference from it", row["largest_error"], "<= 1e-4"),
            Figure("H4(2,0): most MB held at once, result included", row["held_mb"]),
        ]
    if "deformable" in rows:
        found.append(Figure("H4(0,1): useful rate / matrix-product rate", rows["deformable"]["share"]))
        found.append(Figure("H4(0,1): seconds", rows["deformable"]["seconds"]))
    for cell, seconds in rows.get("gradients", {}).items():
        found.append(Figure(f"seconds for cells of {cell} pixels of {2000 if quick else 10_000:,} images", seconds))
    return found


def main() -> int:
    """Measure and print."""
    try:
        data_folder()
    except InputError:
        print("PAIRLEARN_DATA is not set: random images of the same size")
    results, is_quick = run_rows(__file__, {"rigid": rigid, "deformable": deformable, "gradients": gradients})
    return print_figures(figures(results, is_quick))


if __name__ == "__main__":
    sys.exit(main())
