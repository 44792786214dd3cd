"""Numbers and nouns in messages: one id, two ids, 3,126,250 pairs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun in the right form, thousands set apart; `plural` for what no rule forms.

    >>> counted(1, "id"), counted(2, "id"), counted(0, "class")
    ('1 id', '2 ids', '0 classes')
    >>> counted(1200, "identity"), counted(2, "pair of two tables", "pairs of two tables")
    ('1,200 identities', '2 pairs of two tables')
    """
    return f"{number:,} {noun if number == 1 else plural or plural_of(noun)}"


def crossed(numbers: Sequence[int], noun: str) -> str:
    """The sizes of tables with the noun of their rows.

    >>> crossed([1], "example"), crossed([1, 1200], "example"), crossed([], "example")
    ('1 example', '1 × 1,200 examples', 'no examples')
    """
    if len(numbers) == 1:
        return counted(numbers[0], noun)
    return f"{' × '.join(f'{number:,}' for number in numbers) or 'no'} {plural_of(noun)}"


def sized(number: float) -> str:
    """Bytes with a prefix.

    >>> sized(900), sized(1.5e6), sized(2e12)
    ('900 bytes', '1.5 MB', '2e+03 GB')
    """
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"


def listed(values: Sequence[Any], most: int = 5) -> str:
    """The first values as they are written in Python, and dots for the others.

    >>> listed(["ann", "bob"]), listed(range(9), most=2)
    ("'ann', 'bob'", '0, 1, …')
    """
    plain = (value.item() if hasattr(value, "item") else value for value in values[:most])
    return ", ".join([*map(repr, plain), *(["…"] if len(values) > most else [])])


def plural_of(noun: str) -> str:
    """The plural by rule: class → classes, identity → identities, pair → pairs; of several words the last one's.

    >>> plural_of("test class"), plural_of("key"), plural_of("query")
    ('test classes', 'keys', 'queries')
    """
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


FAR = 1.0
"""A gap of a margin: above it hardly any decision is that of the optimum."""


def worth(gap: float, n_support: int) -> str:
    """What a fit that did not converge is worth, in words; without a certificate the gap is infinite.

    >>> worth(0.01, 20)
    'the model is usable'
    """
    if gap == math.inf:
        return "nothing certifies it: look at its scores before you use it"
    if n_support == 0:
        return "nothing was learnt yet: every pair is given the same"
    return "the model is usable" if gap <= FAR else "it is far from its best: look at its scores before you use it"
