"""How records compare: everything that is known of a pair, without a label.

`terms.py` makes sparse rows of words and n-grams with their rarity, `comparisons.py` compares two cells of a column,
`nearest.py` finds the nearest records of each, `vectors.py` makes one vector per record, and `comparer.py` puts all of
it together for two tables.
"""
