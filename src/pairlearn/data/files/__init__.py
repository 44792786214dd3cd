"""From a file, or standard input, to a sheet of named columns; every message names file, line and column.

`sources` finds the file and its format, `delimited` the dialect of a text table, `frames` reads tables by Polars,
`arrays` NumPy files, `sheet` gives both one face: columns of text, numbers or vectors. `cells` holds single cells.
Nothing in a file is believed: `bounds` says how large it may become, `lines` reads lines that end, `jsonlines` and
`parquet` look at what Polars would read without a limit.
"""
