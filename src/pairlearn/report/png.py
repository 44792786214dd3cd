"""Small pictures for a page: arrays to PNG, PNG and JPEG to data URIs.

PNG is a header, one compressed block and an end, each with its checksum: few enough lines to need no further library.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

from pairlearn.errors import InputError

# How files of each kind start.
KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
MOST_BYTES = 50_000


def png(image: Any) -> bytes:
    """Return a PNG file of an array (height, width) or (height, width, 3): bytes, or shares of white from 0 to 1.

    >>> png(np.zeros((2, 3)))[:4]
    b'\\x89PNG'
    """
    array = np.asarray(image)
    if array.ndim not in (2, 3) or array.size == 0 or (array.ndim == 3 and array.shape[2] != 3):
        raise InputError(f"an image has shape (height, width) or (height, width, 3), got {array.shape}")
    if array.dtype != np.uint8:
        array = np.rint(255 * np.clip(array, 0.0, 1.0)).astype(np.uint8)
    height, width = array.shape[:2]
    rows = array.reshape(height, -1)
    # Every row starts with its filter, 0 for none.
    data = np.concatenate([np.zeros((height, 1), dtype=np.uint8), rows], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if array.ndim == 2 else 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    """A part of a PNG file: length, kind, content, checksum of the last two."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def data_uri(image: bytes) -> str:
    """The picture as text that an `img` element shows without a request.

    >>> data_uri(png(np.zeros((1, 1)))).split(",")[0]
    'data:image/png;base64'
    """
    kind = next((kind for start, kind in KINDS.items() if image.startswith(start)), None)
    if kind is None:
        raise InputError("a thumbnail must be the bytes of a PNG or JPEG file; pairlearn.report.png.png makes one")
    if len(image) > MOST_BYTES:
        raise InputError(f"a thumbnail has {len(image):,} bytes; make it smaller, at most {MOST_BYTES:,}")
    return f"data:{kind};base64,{base64.b64encode(image).decode()}"
