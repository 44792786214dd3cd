"""Views of `WhitenedScorer` by name, alone or several together: a journal holds names, and a name makes the scorer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple, get_args

from pairlearn.baselines.registry import Makers
from pairlearn.kernels import Kernel
from pairlearn.scorers.whitened.scorer import WhitenedScorer
from pairlearn.scorers.whitened.views import Cohort, Compare, View
from pairlearn.words import counted

WHITENED, AND_ALSO = "whitened ", "; "
"""How the name of a scorer of views begins, and what stands between its views."""
SHRINKAGES = (0.01, 0.03, 0.1, 0.3, 0.6)
_ONE = re.compile(rf"(.+) \(([\d.e+-]+), ({'|'.join(get_args(Compare))}), ({'|'.join(get_args(Cohort))})\)")


class Part(NamedTuple):
    """One view, its base kernel by name."""

    base: str
    shrinkage: float
    compare: Any
    cohort: Any

    def __str__(self) -> str:
        return f"{self.base} ({self.shrinkage:g}, {self.compare}, {self.cohort})"

    @property
    def sentence(self) -> str:
        """What it compares, in words of a user."""
        score = {"cosine": "the cosine", "ratio": 'the likelihood ratio of "same" and "different"'}[self.compare]
        units = {"none": "", "all": "strangers", "nearest": "the nearest strangers"}[self.cohort]
        where = f"in the space of the base kernel {self.base}, whitened within classes (shrinkage {self.shrinkage:g})"
        return f"{score} {where}" + (f", in units of what {units} score" if units else "")


def sentence(parts: Sequence[Part]) -> str:
    """What these views are together, in words of a user.

    >>> sentence([Part("rbf", 0.1, "cosine", "none")])
    'the cosine in the space of the base kernel rbf, whitened within classes (shrinkage 0.1)'
    """
    if len(parts) == 1:
        return parts[0].sentence
    listed = AND_ALSO.join(map(str, parts))
    return f"the mean of {len(parts)} whitened views; base kernel (shrinkage, score, strangers): {listed}"


def name_of(parts: Iterable[Part]) -> str:
    """The name of a scorer with these views.

    >>> name_of([Part("rbf", 0.1, "cosine", "none")])
    'whitened rbf (0.1, cosine, none)'
    """
    return WHITENED + AND_ALSO.join(map(str, parts))


def parts_of(name: str | None) -> tuple[Part, ...]:
    """The views of a scorer by its name; none for a baseline.

    >>> parts_of("whitened rbf (0.1, cosine, none)"), parts_of("cosine")
    ((Part(base='rbf', shrinkage=0.1, compare='cosine', cohort='none'),), ())
    """
    if name is None or not name.startswith(WHITENED):
        return ()
    found = [_ONE.fullmatch(each) for each in name.removeprefix(WHITENED).split(AND_ALSO)]
    return tuple(Part(one[1], float(one[2]), one[3], one[4]) for one in found if one is not None)


def in_short(name: str) -> str:
    """A name in few words: several views by their number."""
    parts = parts_of(name)
    return f"{counted(len(parts), 'whitened view')}" if len(parts) > 1 else name


def grid(bases: Iterable[str]) -> list[str]:
    """The names of all single views on these bases."""
    choices = product(bases, SHRINKAGES, get_args(Compare), get_args(Cohort))
    return [name_of([Part(*choice)]) for choice in choices]


def together(names: Sequence[str]) -> str:
    """The name of a scorer with the views of all of these."""
    return name_of(dict.fromkeys(part for name in names for part in parts_of(name)))


class WithViews(Mapping[str, Callable[[], Any]]):
    """Baselines by name, and beside them, not listed, every scorer of views on these bases."""

    def __init__(self, baselines: Makers, bases: Mapping[str, Kernel]) -> None:
        self._baselines = baselines
        self._bases = bases

    def __getitem__(self, name: str) -> Callable[[], Any]:
        parts = parts_of(name)
        if not parts:
            return self._baselines[name]
        views = [View(self._bases[part.base], part.shrinkage, part.compare, part.cohort) for part in parts]
        return partial(WhitenedScorer, views)

    def __iter__(self) -> Iterator[str]:
        return iter(self._baselines)

    def __len__(self) -> int:
        return len(self._baselines)
