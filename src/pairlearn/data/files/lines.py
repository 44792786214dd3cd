"""Lines of text files, as text; a line that does not end or is not UTF-8 is named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import IO

from pairlearn.data.files.bounds import MOST_LINE
from pairlearn.errors import InputError
from pairlearn.words import sized

MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
"""First bytes of text in other encodings; the first that fits counts, for one mark begins like another."""


def lines_of(name: object, file: IO[bytes]) -> Iterator[str]:
    """Lines with their ends, without a byte order mark.

    >>> from io import BytesIO
    >>> list(lines_of("x.csv", BytesIO(b"\\xef\\xbb\\xbfid,x\\r\\na,1")))
    ['id,x\\r\\n', 'a,1']
    """
    for number in count(1):
        line = file.readline(MOST_LINE + 1)
        if not line:
            return
        if len(line) > MOST_LINE:
            raise InputError(f"{name}: line {number} is longer than {sized(MOST_LINE)}; is this a text table?")
        yield _decoded(name, number, line)


def _decoded(name: object, number: int, line: bytes) -> str:
    other = next((kind for mark, kind in MARKS.items() if line.startswith(mark)), None) if number == 1 else None
    if other is not None:
        raise InputError(f"{name} is text in {other}; save it as UTF-8")
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        bad = f"byte 0x{line[error.start]:02x} at place {error.start + 1}"
        raise InputError(f"{name}: line {number} is not text in UTF-8 ({bad}); save the file as UTF-8") from None
