"""Lines of a stream that are passed over, whatever stands in them, and the word on how to pass over a bad one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from pairlearn.data.files.lines import MARKS
from pairlearn.errors import InputError


class Lenient:
    """A binary file whose lines, while `on`, are text and end: what is neither is replaced and cut off.

    Text in another encoding is `foreign` by its first bytes, and stays as it is, to be refused as a whole.

    >>> from io import BytesIO
    >>> lenient = Lenient(BytesIO(b"a\\xff,1\\nfar too long\\nb\\xff"), on=True)
    >>> lenient.readline(8), lenient.readline(8)
    (b'a\\xef\\xbf\\xbd,1\\n', b'far \\n')
    >>> lenient.on = False
    >>> lenient.readline(8)
    b'b\\xff'
    """

    def __init__(self, file: IO[bytes], on: bool = False) -> None:
        self._file, self.on = file, on
        self.foreign: bool | None = None

    def readline(self, size: int) -> bytes:
        """The next line; at most `size` bytes while that is not on, less than that while it is."""
        line = self._file.readline(size)
        first = self.foreign is None
        if first:
            self.foreign = line.startswith(tuple(MARKS))
        if not self.on or (first and self.foreign):
            return line
        rest = line
        while len(rest) == size and not rest.endswith(b"\n"):
            rest = self._file.readline(size)
        text = line.decode("utf-8", "replace").encode()
        return text if len(text) < size else text[: size // 2].decode("utf-8", "ignore").encode() + b"\n"


@contextmanager
def going_on_behind(number: int, file: Lenient | None = None) -> Iterator[None]:
    """Add to an error about one line of the stream, and not about all of its file, which --skip goes on behind it."""
    try:
        yield
    except InputError as error:
        if file is not None and file.foreign:
            raise
        raise InputError(f"{error}; --skip {number} goes on behind it") from None
