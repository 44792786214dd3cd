"""From a file, or standard input, to a sheet of named columns; every message names file, line and column.

`sources` finds the file and its format, `delimited` the dialect of a text table, `frames` reads tables by Polars,
`arrays` NumPy files, `sheet` gives both one face: columns of text, numbers or vectors. `cells` holds single cells.
"""
