"""Tables that are read some rows after the other, so that none needs to fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pairlearn.data.files.delimited import check_header, check_lines, find_delimiter, header_of, refuse_ragged
from pairlearn.data.files.frames import foreign, load_polars, read_frame
from pairlearn.data.files.parquet import check_parquet
from pairlearn.data.files.sheet import listed, read_sheet
from pairlearn.data.files.sources import Source
from pairlearn.errors import InputError

if TYPE_CHECKING:
    import polars

ROWS = 2**16
"""Rows that are read together: a few megabytes, and enough that what is done per batch does not count."""
TEXT = ("csv", "tsv")


def read_batches(
    source: Source, names: Sequence[str], *, skip: int = 0, rows: int = ROWS, kept: bool = False
) -> Iterator[polars.DataFrame]:
    """These columns of a table, `rows` rows after the other, without the first `skip`.

    Text and Parquet files are read as they come (of the latter, groups of rows as they were written); JSON lines and
    NumPy files are read whole. `kept` says that something of every row will be: then a small file must not hold many.
    """
    if source.format in TEXT:
        yield from _text_batches(source, names, skip, rows)
    elif source.format == "parquet":
        check_parquet(source, streamed=not kept)
        with foreign(source, "Parquet file") as pl, source.open() as file:
            table = pl.scan_parquet(_scanned(source, file), glob=False, hive_partitioning=False).select(names)
            yield from table.slice(skip).collect_batches(chunk_size=rows, maintain_order=True)
    else:
        table = _whole(source, names)
        for start in range(skip, table.height, rows):
            yield table.slice(start, rows)


def count_rows(source: Source) -> int | None:
    """How many rows a Parquet file says it has; None of others, which would have to be read to tell."""
    if source.format != "parquet":
        return None
    with foreign(source, "Parquet file") as pl, source.open() as file:
        scanned = pl.scan_parquet(_scanned(source, file), glob=False, hive_partitioning=False)
        return int(scanned.select(pl.len()).collect().item())


def _text_batches(source: Source, names: Sequence[str], skip: int, rows: int) -> Iterator[polars.DataFrame]:
    delimiter = find_delimiter(source)
    header = header_of(source, delimiter)
    check_header(source, header)
    check_lines(source, delimiter, len(header))
    wanted, ragged = list(dict.fromkeys([*names, header[-1]])), False
    with foreign(source, "table") as pl, source.open() as file:
        table = pl.scan_csv(_scanned(source, file), infer_schema=False, separator=delimiter, glob=False)
        read = table.collect_schema().names()
        if len(read) == len(header):  # Polars leaves doubled quotes in names as they are
            table = table.rename(dict(zip(read, header, strict=True)))
        try:
            for part in table.select(wanted).slice(skip).collect_batches(chunk_size=rows, maintain_order=True):
                if not ragged and part[header[-1]].null_count():  # a short line, or only an empty cell
                    refuse_ragged(source, delimiter)
                    ragged = True
                yield part.select(names)
        except pl.exceptions.PolarsError:
            refuse_ragged(source, delimiter)
            raise


def _whole(source: Source, names: Sequence[str]) -> polars.DataFrame:
    if source.format == "jsonl":
        return read_frame(source).table.select(names)
    columns = read_sheet(source).columns
    for name in names:
        if name not in columns:  # the file names it, but what is there is no column
            raise InputError(f"{source} has no column {name!r} with one entry per row; it has {listed(list(columns))}")
    return load_polars().DataFrame({name: columns[name].texts() for name in names})


def _scanned(source: Source, file: Any) -> Any:
    """What Polars scans: the path, of which it reads what it needs, or the content if there is none on disk."""
    return file if source.path is None or source.content is not None else source.path
