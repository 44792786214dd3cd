"""Records: tables of text and numbers, matched with each other or freed of duplicates.

In the order the data goes: `table.py` (`Records`, `RecordPairs`), `cells.py` and `kinds.py` (what stands in the cells),
`compare/` (all that is known of a pair without labels), `candidates.py` (which pairs are worth a look), `machine.py`
(what labels teach), `unsupervised.py` (a start without labels), `assignment.py` (matches and clusters), `matcher.py`
(`RecordMatcher`), `explain.py` (why, by column), `review.py` (what to label next), `judging.py` (precision, recall and
what each cutoff costs, with limits over records).
"""

from pairlearn import _doors

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
