"""Reports: one record of an evaluation, written as a page, Markdown, CSV or JSON.

In the order the data goes: `tables.py` reads scores from files, with `codes.py` numbering their ids; `record.py`
checks, measures and compares systems, with `system.py` for one system (every measure of
`pairlearn.evaluation.MEASURES`, points, limits), `curves.py` for curves small enough for a page, `details.py` for the
worst errors and subgroups, and `doubts.py` for the warnings. `text.py` writes the record as Markdown and CSV,
`html.py` as a page, from the template, style and scripts in `page/`, with pictures of examples from `pictures.py` and
`png.py`.
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
