"""Images: warps, gradient histograms, patch codes and deformable matching, compiled and parallel over images.

Histograms of oriented gradients: every pixel adds its gradient to one of 18 directions of the four nearest cells; a
cell is then divided by the energy of each of the four 2 × 2 blocks around it, cut at 0.2, and summarised in 31 numbers:
18 signed and 9 unsigned directions, 4 block energies. Patch codes compare a pixel's patch with those on a ring around
it. A warp looks up every pixel of its result between four pixels of the image. Matching sums, over all cells of one
image, the best product with a cell of the other within a local shift, and takes the best rigid shift of the whole; all
pairs of two tiles of images share the matrix products.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from pairlearn.loops.threaded import threaded
from pairlearn.types import Floats, Ints


@nb.njit(cache=True, inline="always")
def _strongest_gradient(image, y, x):  # type: ignore[no-untyped-def]
    """(gx, gy) of the channel with the largest gradient; pixels outside the image repeat its border."""
    height, width, channels = image.shape
    above, below = max(y - 1, 0), min(y + 1, height - 1)
    left, right = max(x - 1, 0), min(x + 1, width - 1)
    best_x, best_y, best = 0.0, 0.0, -1.0
    for k in range(channels):
        gx, gy = image[y, right, k] - image[y, left, k], image[below, x, k] - image[above, x, k]
        energy = gx * gx + gy * gy
        if energy > best:
            best_x, best_y, best = gx, gy, energy
    return best_x, best_y, best


@nb.njit(cache=True, inline="always")
def _nearest_orientation(gx, gy, cosines, sines):  # type: ignore[no-untyped-def]
    """o in 0 … 17 whose direction o·20° is nearest to that of (gx, gy)."""
    found, best = 0, 0.0
    for o in range(9):
        along = gx * cosines[o] + gy * sines[o]
        if along > best:
            found, best = o, along
        elif -along > best:
            found, best = o + 9, -along
    return found


@nb.njit(cache=True, inline="always")
def _spread(histograms, y, x, cell, o, amount):  # type: ignore[no-untyped-def]
    """Share one pixel's amount between the four nearest cells; what falls outside is dropped."""
    rows, cols, _ = histograms.shape
    at_y, at_x = (y + 0.5) / cell - 0.5, (x + 0.5) / cell - 0.5
    row, col = int(np.floor(at_y)), int(np.floor(at_x))
    down, across = at_y - row, at_x - col
    for i in range(2):
        for j in range(2):
            if 0 <= row + i < rows and 0 <= col + j < cols:
                weight = (down if i else 1.0 - down) * (across if j else 1.0 - across)
                histograms[row + i, col + j, o] += weight * amount


@nb.njit(cache=True)
def _histograms(image, cell, cosines, sines, histograms):  # type: ignore[no-untyped-def]
    """Add all pixels of one image (height, width, channels) to its cells (rows, cols, 18)."""
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            gx, gy, energy = _strongest_gradient(image, y, x)
            if energy == 0.0:
                continue
            strength = np.sqrt(energy)
            if gx == 0.0:
                # Upright gradients lie exactly between 80° and 100°: half to each keeps mirror images mirrored.
                first = 4 if gy > 0 else 13
                _spread(histograms, y, x, cell, first, 0.5 * strength)
                _spread(histograms, y, x, cell, first + 1, 0.5 * strength)
            else:
                _spread(histograms, y, x, cell, _nearest_orientation(gx, gy, cosines, sines), strength)


@nb.njit(cache=True)
def _unsigned_energies(histograms):  # type: ignore[no-untyped-def]
    """Energy of the nine unsigned orientations per cell, with the border cells repeated once all round."""
    rows, cols, _ = histograms.shape
    energies = np.empty((rows + 2, cols + 2))
    for r in range(rows + 2):
        for c in range(cols + 2):
            cell = histograms[min(max(r - 1, 0), rows - 1), min(max(c - 1, 0), cols - 1)]
            energies[r, c] = 0.0
            for o in range(9):
                energies[r, c] += (cell[o] + cell[o + 9]) ** 2
    return energies


@nb.njit(cache=True, inline="always")
def _normalise(histogram, scale, k, out):  # type: ignore[no-untyped-def]
    """Add what the block k of four with factor `scale` contributes to the 31 numbers of one cell."""
    total = 0.0
    for o in range(18):
        value = min(histogram[o] * scale, 0.2)
        out[o] += 0.5 * value
        total += value
    for o in range(9):
        out[18 + o] += 0.5 * min((histogram[o] + histogram[o + 9]) * scale, 0.2)
    out[27 + k] = total / np.sqrt(18.0)


@threaded()
def fill_hog(images: Floats, cell: int, cosines: Floats, sines: Floats, epsilon: float, out: Floats) -> None:
    """out[i] = the (rows, cols, 31) cells of image i; `out` starts at zero, images have whole cells only."""
    _, rows, cols, _ = out.shape
    for i in nb.prange(len(images)):
        histograms = np.zeros((rows, cols, 18))
        _histograms(images[i], cell, cosines, sines, histograms)
        energies = _unsigned_energies(histograms)
        for r in range(rows):
            for c in range(cols):
                for k in range(4):
                    top, left = r + k // 2, c + k % 2
                    block = energies[top, left] + energies[top, left + 1]
                    block += energies[top + 1, left] + energies[top + 1, left + 1]
                    _normalise(histograms[r, c], 1.0 / np.sqrt(block + epsilon), k, out[i, r, c])


@nb.njit(cache=True, inline="always")
def _patch_distance(image, y, x, v, u, half):  # type: ignore[no-untyped-def]
    """Euclidean distance of the square patches around (y, x) and (v, u), 2·half + 1 pixels wide."""
    total = 0.0
    for i in range(-half, half + 1):
        for j in range(-half, half + 1):
            difference = image[y + i, x + j] - image[v + i, u + j]
            total += difference * difference
    return np.sqrt(total)


@threaded()
def fill_patch_codes(
    images: Floats, offsets: Ints, half: int, apart: int, threshold: float, margin: int, out: Ints
) -> None:
    """out[i, y, x] = Σ_s [d_s − d_{s + apart} ≥ threshold]·2^s; images carry a margin that is not coded.

    d_s is the distance of the patch around the pixel to the one at offsets[s]; the sign of a difference of distances
    hardly depends on the light, and the threshold keeps flat patches from following noise.
    """
    n_patches = len(offsets)
    for i in nb.prange(len(images)):
        distances = np.empty(n_patches)
        for y in range(out.shape[1]):
            for x in range(out.shape[2]):
                v, u = y + margin, x + margin
                for s in range(n_patches):
                    distances[s] = _patch_distance(images[i], v, u, v + offsets[s, 0], u + offsets[s, 1], half)
                code = 0
                for s in range(n_patches):
                    if distances[s] - distances[(s + apart) % n_patches] >= threshold:
                        code += 1 << s
                out[i, y, x] = code


@nb.njit(cache=True, inline="always")
def _between(at, size):  # type: ignore[no-untyped-def]
    """The pixel before a place, the one behind it, and the share of the latter; outside, the border is repeated."""
    inside = min(max(at, 0.0), size - 1.0)
    before = int(inside)
    return before, min(before + 1, size - 1), inside - before


@threaded()
def fill_warped(images: Floats, maps: Floats, out: Floats) -> None:
    """out[i, y, x] = image i at the place maps[i] · (y, x, 1), bilinear; images, out (n, h, w, k), maps (n, 2, 3)."""
    _, height, width, channels = images.shape
    for i in nb.prange(len(images)):
        image, M = images[i], maps[i]
        for y in range(out.shape[1]):
            for x in range(out.shape[2]):
                top, bottom, down = _between(M[0, 0] * y + M[0, 1] * x + M[0, 2], height)
                left, right, across = _between(M[1, 0] * y + M[1, 1] * x + M[1, 2], width)
                for k in range(channels):
                    above = image[top, left, k] + across * (image[top, right, k] - image[top, left, k])
                    below = image[bottom, left, k] + across * (image[bottom, right, k] - image[bottom, left, k])
                    out[i, y, x, k] = above + down * (below - above)


@nb.njit(cache=True, inline="always")
def _first(c, h):  # type: ignore[no-untyped-def]
    """First cell of the window of h cells on either side of c, cut at the border."""
    return max(c - h, 0)


@nb.njit(cache=True, inline="always")
def _last(c, h, size):  # type: ignore[no-untyped-def]
    """One behind its last cell."""
    return min(c + h + 1, size)


@nb.njit(cache=True, inline="always")
def _raise_to(line, best):  # type: ignore[no-untyped-def]
    """best = max(best, line); both contiguous, so that it runs on whole vectors."""
    for b in range(len(best)):
        best[b] = line[b] if line[b] > best[b] else best[b]


@nb.njit(cache=True)
def _slide_across(D, a, left, x, cols, h_rigid, h_local, across):  # type: ignore[no-untyped-def]
    """across[s, i] = best of row i of the products of image a over the columns of window s; outside is 0.

    A window that is cut by the border also sees the 0 of what lies outside, hence the two values to start from.
    """
    for s in range(len(across)):
        u = x + s - h_rigid
        first, last = _first(u, h_local), _last(u, h_local, cols)
        for i in range(D.shape[0]):
            best = across[s, i]
            best[:] = -np.inf if last - first == 2 * h_local + 1 else 0.0
            for k in range(first - left, last - left):
                _raise_to(D[i, k, a], best)


@nb.njit(cache=True)
def _add_downwards(across, a, top, y, rows, h_rigid, h_local, best, totals):  # type: ignore[no-untyped-def]
    """totals[z, a] += best over the rows of the window of shift z; outside is 0."""
    side = len(across)
    for z in range(side * side):
        v, s = y + z // side - h_rigid, z % side
        first, last = _first(v, h_local), _last(v, h_local, rows)
        best[:] = -np.inf if last - first == 2 * h_local + 1 else 0.0
        for i in range(first - top, last - top):
            _raise_to(across[s, i], best)
        total = totals[z, a]
        for b in range(len(best)):
            total[b] += best[b]


@nb.njit(cache=True)
def _match_tile(A, B, h_rigid, h_local):  # type: ignore[no-untyped-def]
    """Σ over cells of the best local product, for every rigid shift and all pairs of two tiles of images."""
    rows, cols, n_a, channels = A.shape
    n_b, reach = B.shape[2], h_rigid + h_local
    side = 2 * reach + 1
    totals = np.zeros(((2 * h_rigid + 1) ** 2, n_a, n_b), dtype=A.dtype)
    D = np.empty((min(side, rows), min(side, cols), n_a, n_b), dtype=A.dtype)
    # A maximum over a square is one over columns, shared by all squares above each other, and then one over rows.
    across = np.empty((2 * h_rigid + 1, len(D), n_b), dtype=A.dtype)
    best = np.empty(n_b, dtype=A.dtype)
    for y in range(rows):
        for x in range(cols):
            top, bottom = _first(y, reach), _last(y, reach, rows)
            left, right = _first(x, reach), _last(x, reach, cols)
            fixed = B[y, x].T
            for v in range(top, bottom):
                moving = A[v].reshape(cols * n_a, channels)[left * n_a : right * n_a]
                target = D[v - top].reshape(D.shape[1] * n_a, n_b)[: (right - left) * n_a]
                np.dot(moving, fixed, target)
            for a in range(n_a):
                _slide_across(D[: bottom - top], a, left, x, cols, h_rigid, h_local, across)
                _add_downwards(across, a, top, y, rows, h_rigid, h_local, best, totals)
    return totals


@threaded()
def match_tiles(A: Floats, B: Floats, h_rigid: int, h_local: int, out: Floats) -> None:
    """out[i, j] = best Σ of tiles i of A and j of B; A (tiles, rows, cols, n, channels), out (tiles, tiles, n, n)."""
    for t in nb.prange(len(A) * len(B)):
        i, j = t // len(B), t % len(B)
        totals = _match_tile(A[i], B[j], h_rigid, h_local)
        best = out[i, j]
        best[:] = totals[0]
        for s in range(1, len(totals)):
            for a in range(best.shape[0]):
                for b in range(best.shape[1]):
                    best[a, b] = max(best[a, b], totals[s, a, b])
