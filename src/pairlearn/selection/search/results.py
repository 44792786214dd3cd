"""Comparing trials: means over splits, and which settings are worth a larger training set.

Two rules, because two different things are known. After an easy task only bad news can be trusted, so `promising`
drops what is clearly bad. Within the interclass task a smaller set is a smaller sample of the question itself, so
`better_half` halves, as successive halving does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, Generic, TypeVar

import numpy as np

from pairlearn.selection.ended import Ended
from pairlearn.selection.search.settings import Family, Setting
from pairlearn.selection.search.trials import Trial

GUESSING = 0.5
"""Equal error rate of random scores."""
EASY = 0.01
"""Equal error rates below this are equally good in the pruning: few test pairs do not tell them apart."""

What = TypeVar("What", bound=Setting | str, covariant=True)
Tried = TypeVar("Tried", bound=Ended)
Mean = TypeVar("Mean", bound=Any)


@dataclass(frozen=True)
class Result(Generic[What]):
    """Mean over the splits of one machine (`what` is its setting) or baseline (its name); seconds are a sum.

    value: of the objective; low, high: means of its limits over the splits, so too wide rather than too narrow: splits
    share classes, and what they do not share would cancel. None where some split has none.
    """

    what: What
    score: float
    eer: float
    seconds: float
    n_splits: int
    low: float | None = None
    high: float | None = None
    value: float = float("nan")


class Splits(dict[tuple[Any, Any], int]):
    """How many splits of a place count, from the first on: on each of them all was tried that was meant to be.

    One that was broken off would tell of those alone that are quick. Of a place where none is done the first counts.
    """

    def counted(self, place: tuple[Any, Any]) -> int:
        """How many splits count."""
        return self.get(place, 1)

    def done(self, place: tuple[Any, Any], split: int = 0) -> None:
        """All was tried on this split."""
        self[place] = max(self.counted(place), split + 1)

    def begun(self, place: tuple[Any, Any], split: int) -> None:
        """Something was tried on this split: all was, on those before it."""
        if split > 0:
            self.done(place, split - 1)


def best_first(trials: Iterable[Tried], mean: Callable[[Sequence[Tried]], Mean]) -> list[Mean]:
    """Means over splits, best score first; only of what told something on as many splits as any other.

    A setting that failed or had no time on some split would otherwise be compared on easier classes than the rest.
    Equal scores: the machine that is more regular first, then by name, so that the order is always the same.
    """
    found: dict[Any, list[Tried]] = {}
    for trial in trials:
        if trial.tells:
            found.setdefault(trial.what, []).append(trial)
    most = max(map(len, found.values()), default=0)
    means = [mean(those) for those in found.values() if len(those) == most]
    return sorted(means, key=lambda result: (-result.score, getattr(result.what, "C", 0.0), str(result.what)))


def means(trials: Sequence[Any], *names: str) -> dict[str, Any]:
    """What every result has, and the means of these figures; limits only where every trial has them."""
    limited = all(trial.low is not None for trial in trials)
    found = {name: float(np.mean([getattr(trial, name) for trial in trials])) for name in ("score", "value", *names)}
    ends = {name: float(np.mean([getattr(trial, name) for trial in trials])) for name in ("low", "high") if limited}
    return {"low": None, "high": None, **found, **ends}


def mean_result(trials: Sequence[Trial]) -> Result[Any]:
    """Mean of the trials of one machine or baseline."""
    seconds = float(np.sum([trial.seconds for trial in trials]))
    return Result(trials[0].what, seconds=seconds, n_splits=len(trials), **means(trials, "eer"))


# --------------------------------------------------------------------------- pruning


def promising(results: Sequence[Result[Setting]]) -> list[Setting]:
    """Settings that are not hopeless: nearer to the best than to guessing, on a logarithmic scale of the EER.

    A family f with its best rate e_f stays if log e_f − log e* ≤ log ½ − log e_f, that is e_f ≤ √(e* · ½), where e*
    is the best rate of all. A good result in an easy task does not imply one in a harder task, but a bad result
    implies a bad one; so only clearly bad families go. Of each family the Cs within twice its best rate stay. Rates
    below EASY count as EASY, or one lucky zero among few test pairs would send everything else home.
    """
    own: dict[Family, float] = {}
    for result in results:
        own[result.what.family] = min(own.get(result.what.family, 1.0), result.eer)
    worst = sqrt(max(EASY, min(own.values(), default=EASY)) * GUESSING)
    good = [result for result in results if own[result.what.family] <= worst]
    return [result.what for result in good if result.eer <= max(EASY, 2.0 * own[result.what.family])]


def still_in(trying: Sequence[Setting], results: Sequence[Result[Setting]]) -> list[Setting]:
    """The promising settings, then those of families without a result: who did not play has not lost."""
    played = {result.what.family for result in results}
    return promising(results) + [setting for setting in trying if setting.family not in played]


def better_half(results: Sequence[Result[Setting]], least: int = 2) -> list[Setting]:
    """The better half of the families, at least `least`, each with its best C; results are best first."""
    best = one_per_family(result.what for result in results)
    return best[: max(least, ceil(len(best) / 2))]


def one_per_family(settings: Iterable[Setting]) -> list[Setting]:
    """The first setting of each family."""
    first: dict[Family, Setting] = {}
    for setting in settings:
        first.setdefault(setting.family, setting)
    return list(first.values())
