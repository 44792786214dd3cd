"""Tables of images: checked at the border, cut into whole cells, taken in batches of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pairlearn.errors import InputError
from pairlearn.examples import refuse_nonfinite

BATCH_BYTES = 2**25
"""Size of one batch of images in its working type."""

Images = np.ndarray[Any, Any]


def check_images(images: Any, *, colour: bool) -> Images:
    """The images as (n, h, w, channels), or a message that says what is wrong with them."""
    try:
        table = np.asarray(images)
    except ValueError:
        raise InputError("images of different sizes; bring them to one size first (skimage.transform.resize)") from None
    if table.dtype.kind not in "buif":
        raise InputError(f"images must be real numbers (uint8 or floats), got {table.dtype}")
    if table.ndim == 4 and table.shape[-1] != 3:
        raise InputError(
            f"colour images have shape (n, h, w, 3), got {table.shape}; "
            "with channels first, use images.transpose(0, 2, 3, 1)"
        )
    if table.ndim == 4 and not colour:
        raise InputError("this descriptor takes grey images (n, h, w); use images.mean(axis=-1)")
    if table.ndim not in (3, 4):
        raise InputError(f"images have shape (n, h, w) or (n, h, w, 3), got {table.shape}; use images[None] for one")
    if table.dtype.kind == "f":
        refuse_nonfinite(table, "images")
    return table if table.ndim == 4 else table[..., None]


def check_cell(cell: int) -> None:
    """Refuse what is no number of pixels."""
    if not isinstance(cell, (int, np.integer)) or cell < 1:
        raise InputError(f"cell is a number of pixels >= 1, got {cell!r}; try cell=8")


def whole_cells(images: Images, cell: int) -> Images:
    """The upper left part that consists of whole cells: at most cell − 1 rows and columns are cut off."""
    check_cell(cell)
    height, width = images.shape[1] // cell * cell, images.shape[2] // cell * cell
    if not height or not width:
        raise InputError(f"cell={cell} is larger than the images of {images.shape[1]} × {images.shape[2]} pixels")
    return images[:, :height, :width]


def check_result_type(dtype: Any) -> Any:
    """float32 or float64."""
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise InputError(f"descriptors are float32 or float64, got {np.dtype(dtype)}")
    return np.dtype(dtype)


def batches(images: Images, bytes_each: int) -> Iterator[slice]:
    """Slices of consecutive images that stay within the batch size."""
    step = max(1, BATCH_BYTES // max(1, bytes_each))
    for start in range(0, len(images), step):
        yield slice(start, start + step)
