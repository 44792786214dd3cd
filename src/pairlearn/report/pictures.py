"""Pictures of examples from a folder, found by id; an id is a name, never a way out of the folder.

Ids come from files that others may have written, so they are not trusted: absolute paths, ".." and links that lead out
are not followed, and a file is read only if it starts like a PNG or JPEG. What is too large for a page is shrunk if
Pillow is there. Examples without a picture are counted by reason and become warnings, never errors.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any

from pairlearn.errors import InputError
from pairlearn.report.png import KINDS, MOST_BYTES

ENDINGS = ("", ".png", ".jpg", ".jpeg")
"""What may stand behind an id in the name of a file, tried in this order."""
SIDE = 128
"""Pixels of the longer side of a picture that had to be shrunk; the page shows half as many."""
MOST_READ = 50_000_000
"""Bytes of a file that are read at most."""
MOST_PIXELS = 50_000_000
"""Pixels that are decoded at most: small files can hold enormous pictures."""

MISSING = "have no file there"
OUTSIDE = "have an id or a link that leads out of the folder and is not followed"
FOREIGN = "have a file that is neither PNG nor JPEG"
DAMAGED = "have a file that cannot be read"
TOO_LARGE = f"have a file above {MOST_BYTES:,} bytes, skipped; make them smaller, or install Pillow, which shrinks them"
ENORMOUS = f"have a file above {MOST_READ:,} bytes or {MOST_PIXELS:,} pixels, skipped; make them smaller"


@dataclass(frozen=True)
class Pictures:
    """Files by example id, and how many examples have none, by reason."""

    files: Mapping[str, bytes]
    without: Mapping[str, int]

    def warnings(self, folder: str | Path) -> list[dict[str, Any]]:
        """One warning per reason, as they stand in a record.

        >>> Pictures({}, {MISSING: 2}).warnings("faces")[0]["text"]
        'pictures in faces: 2 of 2 examples of the worst errors have no file there'
        """
        total = len(self.files) + sum(self.without.values())
        told = f"of {total:,} examples of the worst errors"
        words = [f"pictures in {folder}: {number:,} {told} {why}" for why, number in self.without.items()]
        return [{"code": "pictures", "text": text, "systems": []} for text in words]


class NoPictureError(Exception):
    """Why there is no picture of an example."""


def find_pictures(folder: str | Path, ids: Collection[str]) -> Pictures:
    """Look up `<id>`, `<id>.png`, `<id>.jpg` and `<id>.jpeg` in a folder, in this order; ids may name sub-folders."""
    root = check_folder(folder)
    files: dict[str, bytes] = {}
    without: Counter[str] = Counter()
    for key in sorted(ids):
        try:
            files[key] = _small(_read(_path(root, key)))
        except NoPictureError as reason:
            without[str(reason)] += 1
    return Pictures(files, dict(without))


def check_folder(folder: str | Path) -> Path:
    """The folder without links, or that there is none: worth asking before a long computation."""
    if not Path(folder).is_dir():
        raise InputError(f"there is no folder {folder}; name the folder that holds the pictures")
    return Path(folder).resolve()


def _path(root: Path, key: str) -> Path:
    """The file of an example inside the folder, links followed."""
    if PurePath(key).anchor or ".." in PurePath(key).parts:
        raise NoPictureError(OUTSIDE)
    found = [path for path in map(root.joinpath, (key + ending for ending in ENDINGS)) if _is_file(path)]
    inside = [path for path in (each.resolve() for each in found) if path.is_relative_to(root)]
    if not inside:
        raise NoPictureError(OUTSIDE if found else MISSING)
    return inside[0]


def _is_file(path: Path) -> bool:
    """Whether there is such a file; an id need not be a possible name of one."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # names too long for the system, or with a zero byte
        return False


def _read(path: Path) -> bytes:
    """The file, if it starts like a picture: others are not read to their end."""
    try:
        with open(path, "rb") as file:
            start = file.read(max(map(len, KINDS)))
            if not start.startswith(tuple(KINDS)):
                raise NoPictureError(FOREIGN)
            content = start + file.read(MOST_READ)
    except OSError:
        raise NoPictureError(DAMAGED) from None
    if len(content) > MOST_READ:
        raise NoPictureError(ENORMOUS)
    return content


def _small(content: bytes) -> bytes:
    """The file itself if it is small enough for a page, else what Pillow makes of it."""
    if len(content) <= MOST_BYTES:
        return content
    try:
        import PIL.Image
        import PIL.ImageOps
    except ImportError:
        raise NoPictureError(TOO_LARGE) from None
    try:
        with warnings.catch_warnings():
            # Pillow warns of what is refused below.
            warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
            image = PIL.Image.open(BytesIO(content), formats=("PNG", "JPEG"))
        with image:
            if image.width * image.height > MOST_PIXELS:
                raise NoPictureError(ENORMOUS)
            image.thumbnail((SIDE, SIDE))
            return _jpeg(PIL.ImageOps.exif_transpose(image))
    except PIL.Image.DecompressionBombError:
        raise NoPictureError(ENORMOUS) from None
    except (OSError, ValueError, SyntaxError):
        raise NoPictureError(DAMAGED) from None


def _jpeg(image: Any) -> bytes:
    """A small file without transparency and without the camera's notes."""
    buffer = BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=85)
    return buffer.getvalue()
