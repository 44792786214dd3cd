"""NumPy and Parquet files: headers that lie, members that nobody asked for, types of every kind, and bombs."""

from __future__ import annotations

import datetime
import struct
import zipfile
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars

from tools.fuzz.doors import DOORS, through
from tools.fuzz.mutations import NASTY, Rng, bytes_mutated, friendly, pick

NAME = "binary"


def make(rng: Rng, folder: Path) -> Path:
    """One file of any of the formats."""
    door = pick(rng, list(DOORS))
    ending, content = pick(rng, (_npz, _npz, _npy, _parquet, _parquet))(rng, DOORS[door][0])
    if rng.random() < 0.3:
        content = bytes_mutated(rng, content)
    path = folder / f"{door}-file.{ending}"
    path.write_bytes(content)
    return path


def use(path: Path) -> str:
    """Read it as its name says."""
    return through(path)


# --------------------------------------------------------------------------- NumPy

DTYPES = (
    "f8",
    "f4",
    "f2",
    ">f8",
    ">i4",
    "g",
    "c16",
    "b1",
    "u1",
    "i8",
    "u8",
    "M8[s]",
    "m8[D]",
    "S3",
    "U2",
    "V4",
    "i4,f8",
)


def _array(rng: Rng, n: int) -> Any:
    """An array of any type, with n rows more often than not."""
    n = n if rng.random() < 0.8 else int(rng.integers(0, 30))
    shape = pick(rng, ((n,), (n, 3), (n, 0), (n, 2, 2), (), (0, n), (n, 1)))
    dtype = np.dtype(pick(rng, DTYPES))
    count = int(np.prod(shape))
    noise = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype=dtype).reshape(shape)
    array = np.ones(shape).astype(dtype) if rng.random() < 0.5 and dtype.kind not in "VMm" else noise
    return np.asfortranarray(array) if rng.random() < 0.3 else array


def _member(rng: Rng, array: Any) -> bytes:
    """An .npy file, perhaps with another header."""
    buffer = BytesIO()
    if rng.random() < 0.1:
        array = np.array([{"a": 1}] * 3, dtype=object)
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=True, version=pick(rng, ((1, 0), (2, 0), (3, 0))))
    return buffer.getvalue() if rng.random() < 0.6 else _another_header(rng, np.asarray(array), buffer.getvalue())


def _another_header(rng: Rng, array: Any, content: bytes) -> bytes:
    n = pick(rng, (0, -1, 7, 2**31, 2**40, 2**60, 2**63, 10**30, True, 1.5, "3", None))
    shape = pick(rng, ((n,), (n, 0), (0, n), (n, n), n, [n], (n, 1), (1,) * 40))
    descr = pick(
        rng, (np.lib.format.dtype_to_descr(array.dtype), *("<f8", "|O", "|S0", "|V0", "<U99999999", "junk", 7))
    )
    fields: dict[Any, Any] = {"descr": descr, "fortran_order": pick(rng, (True, False, 1)), "shape": shape}
    text = (
        repr(fields)
        if rng.random() < 0.8
        else pick(rng, ("(" * 9000, "{" * 200, "9" * 5000, repr(fields) * 2, "-" * 9000))
    )
    head = text.encode("latin1") + b" " * 10 + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) & 0xFFFF) + head + content[128:]


def _npy(rng: Rng, kind: str) -> tuple[str, bytes]:
    return "npy", _member(rng, _array(rng, 12))


def _npz(rng: Rng, kind: str) -> tuple[str, bytes]:
    columns = {name: np.asarray(column) for name, column in friendly(rng, kind).items()}
    n = len(next(iter(columns.values())))
    if kind == "examples" and rng.random() < 0.7:
        columns = {"X": rng.normal(size=(n, 3)), "ids": columns["id"], "classes": columns["class"]}
    members = {f"{name}.npy": _plain(array) for name, array in columns.items()}
    for _ in range(int(rng.integers(0, 3))):
        name = pick(
            rng, [*members, "extra.npy", "../up.npy", "readme.txt", "X", "/etc/x.npy", "a" * 300, ".npy", "é.npy"]
        )
        members[name] = _member(rng, _array(rng, n)) if rng.random() < 0.8 else rng.bytes(50)
    return "npz", _zipped(rng, members)


def _plain(array: Any) -> bytes:
    buffer = BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def _zipped(rng: Rng, members: dict[str, bytes]) -> bytes:
    buffer = BytesIO()
    how = pick(rng, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, how)  # without the date: a case is always the same
        if rng.random() < 0.05:
            _zip_bomb(rng, archive, pick(rng, ("X.npy", "extra.npy", "left.npy")))
    content = bytearray(buffer.getvalue())
    entry = content.find(b"PK\x01\x02")
    if rng.random() < 0.15:
        # A field of the central directory: flags (encrypted), method, sizes, offset.
        content[entry + int(pick(rng, (8, 10, 16, 20, 24, 28, 42)))] ^= int(rng.integers(1, 256))
    return bytes(content)


def _zip_bomb(rng: Rng, archive: zipfile.ZipFile, name: str) -> None:
    """Zeros by the hundred megabytes."""
    n, entry = int(10 ** rng.uniform(3, 8)), zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(entry, "w", force_zip64=True) as file:
        header = np.lib.format.header_data_from_array_1_0(np.zeros(0))
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (n // 8, 1)})
        for _ in range(n // 10**6):
            file.write(bytes(10**6))
        file.write(bytes(n // 8 * 8 - n // 10**6 * 10**6))


# --------------------------------------------------------------------------- Parquet


def _parquet(rng: Rng, kind: str) -> tuple[str, bytes]:
    columns = friendly(rng, kind)
    n = len(next(iter(columns.values())))
    frame = polars.DataFrame(columns)
    for _ in range(int(rng.integers(0, 3))):
        name = pick(rng, [*columns, "extra", "X", "class"])
        frame = frame.with_columns(_series(rng, n).alias(name))
    if rng.random() < 0.02:
        height = int(10 ** rng.uniform(4, 7.3))
        frame = frame.head(1).select(polars.all().repeat_by(height).explode())
    buffer = BytesIO()
    packed = ("zstd", "snappy", "gzip", "lz4", "brotli")
    how: Any = pick(rng, packed if frame.height > 100 else ("uncompressed", *packed))
    frame.write_parquet(
        buffer,
        compression=how,
        row_group_size=pick(rng, (None, 5)) if frame.height < 100 else None,
        statistics=rng.random() < 0.5,
    )
    return "parquet", _other_footer(rng, buffer.getvalue()) if rng.random() < 0.4 else buffer.getvalue()


def _series(rng: Rng, n: int) -> polars.Series:
    """A column of any type."""
    cells: Any = pick(
        rng,
        (
            *([1.5, None], [None], ["a", None], [True, False], [b"\xff\x00"], [2**63 - 1], [-0.0, np.nan, np.inf]),
            *([[1.0, 2.0]], [[1.0], [1.0, 2.0], None], [[]], [[[1]]], [{"a": 1, "b": [1]}], [["a"]], [[None, 1.0]]),
            *([Decimal("1.5")], [datetime.date(2024, 1, 1)], [datetime.datetime.max], [datetime.timedelta(1)]),
            *([datetime.time(1)], list(NASTY)),
        ),
    )
    series = polars.Series([cells[k % len(cells)] for k in range(n)], strict=False)
    if series.dtype == polars.String and rng.random() < 0.5:
        return series.cast(polars.Categorical)
    return series.cast(polars.Float32) if series.dtype == polars.Float64 and rng.random() < 0.5 else series


def _other_footer(rng: Rng, content: bytes) -> bytes:
    """Numbers of the footer replaced by others, its length set right again."""
    size = struct.unpack("<I", content[-8:-4])[0]
    body, footer = content[: -8 - size], content[-8 - size : -8]
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(footer)))
        footer = footer[:place] + _varint(int(2 ** rng.uniform(0, 63))) + footer[place + int(rng.integers(0, 3)) :]
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
