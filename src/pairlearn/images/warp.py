"""Images looked at through affine maps, each image through its own."""

from __future__ import annotations

import numpy as np

from pairlearn import loops
from pairlearn.images.tables import Images, batches
from pairlearn.types import Floats


def about_middle(linear: Floats, shifts: Floats, height: int, width: int) -> Floats:
    """Maps p → L(p − c) + c + s of places (down, right), (n, 2, 3), with c the middle of the image.

    linear (n, 2, 2), shifts (n, 2).
    """
    middle = np.array([(height - 1) / 2, (width - 1) / 2])
    offsets = middle + shifts - linear @ middle
    return np.concatenate([linear, offsets[:, :, None]], axis=2)


def warped(images: Images, maps: Floats) -> Images:
    """Image i has at p what the given one had at maps[i]·(p, 1); same shape (n, h, w, channels) and type.

    Between pixels the image is bilinear, so that no value is larger or smaller than all that were there; whole numbers
    are rounded. Outside it repeats its border.
    """
    result = np.empty_like(images)
    for part in batches(images, 16 * images[:1].size):
        # One type for all images, so that the loop is compiled once.
        plain = np.ascontiguousarray(images[part], dtype=np.float64)
        values = np.empty_like(plain)
        loops.images.fill_warped(plain, np.ascontiguousarray(maps[part]), values)
        result[part] = values if images.dtype.kind == "f" else np.rint(values)
    return result
