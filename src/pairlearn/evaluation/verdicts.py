"""One verdict on a model: better than, tied with or worse than the best baseline, how sure that is, what to do next.

**The rule.** The difference of a measure to the best baseline has limits over identities (`intervals.py`), both systems
on the same pairs. Limits on the good side of 0: better. On the bad side: worse. Else tied, whatever the estimate: other
people could turn it round.

**Best in hindsight.** Which baseline is best was seen on the very pairs of the comparison, so luck flatters it:
"better" is safe, but of nine baselines as good as the model one would look surely better in one test of eight. So the
limit that decides about "worse" is that of k comparisons for k baselines (Bonferroni), and the sentence says how many
there were.

Every command and the report show this verdict, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite, log10
from typing import Any, Literal, Protocol

from scipy.special import stdtrit

from pairlearn.errors import InputError
from pairlearn.evaluation.intervals import Interval, Options, best_sample, check_same_pairs, paired_difference
from pairlearn.evaluation.measures import EER, PERCENT, Measure, Rate, as_measure
from pairlearn.evaluation.scores import Scores
from pairlearn.words import counted, plural_of

Relation = Literal["better", "tied", "worse"]

FEW = 100
"""Below this many units limits are so wide that more of them are the first thing to ask for."""
FREE = ("euclid", "cosine")
"""Baselines that learn nothing."""
THRESHOLD = "Set a threshold: `pairlearn evaluate SCORES --fmr 0.001` finds one and its error rates."
"""What to do with a model that is better, if pairs are to be accepted or rejected."""
SEARCH = "`pairlearn select`, which compares many machines"
"""What may find a better model, unless that has been tried."""


class Named(Protocol):
    """What a verdict must know of a measure, of scores or of anything else."""

    @property
    def key(self) -> str:
        """Its name in records."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def unit(self) -> str:
        """How its numbers are written."""

    @property
    def larger_is_better(self) -> bool:
        """Which side is the good one."""


def relation_of(low: float | None, high: float | None, *, larger_is_better: bool = False) -> Relation:
    """What limits of a difference say; None where there are no limits.

    >>> relation_of(-0.02, -0.01), relation_of(-0.02, 0.01), relation_of(0.01, 0.02), relation_of(None, None)
    ('better', 'tied', 'worse', 'tied')
    """
    if low is None or high is None or low <= 0 <= high:
        return "tied"
    return "better" if (low > 0) == larger_is_better else "worse"


def in_hindsight(found: Interval, k: int, *, larger_is_better: bool = False) -> Interval:
    """Limits of the difference to a baseline that was picked as the best of k: the side of "worse" is that of k tests.

    Its distance grows by t(1 − α/2k)/t(1 − α/2), α = 1 − level; limits from counting have no t and stay.

    >>> found = Interval(0.02, 0.01, 0.03, 0.95, 0.005, 60.0, "jackknife", "identity", 61)
    >>> print(in_hindsight(found, 1), in_hindsight(found, 9))
    0.02 [0.01, 0.03] 0.02 [0.005618, 0.03]
    """
    tail = (1 - found.level) / 2
    if k == 1 or not found.standard_error > 0:
        return found
    wider = float(stdtrit(found.degrees, 1 - tail / k) / stdtrit(found.degrees, 1 - tail))
    side = "high" if larger_is_better else "low"
    return replace(found, **{side: found.estimate + wider * (getattr(found, side) - found.estimate)})


@dataclass(frozen=True)
class Verdict:
    """How a model stands to the best of its baselines, from a difference and its limits, however these were found.

    value: the measure of the model; against: of every baseline, by name. difference: value less that of the best one.
    use: what to do with a model that is better. search: what may find a better one; "" if all that has been tried.

    >>> found = Interval(-0.02, -0.03, -0.01, 0.95, 0.005, 39.0, "jackknife", "identity", 40)
    >>> it = Verdict(EER(), 0.04, {"cosine": 0.07, "Euclid": 0.06}, found)
    >>> it.relation, it.best
    ('better', 'Euclid')
    >>> it.words.split(": ")[1]
    'EER 4 % against 6 %, -2 points [-3, -1] (95 % limits over 40 identities).'
    """

    measure: Named
    value: float
    against: Mapping[str, float]
    difference: Interval
    subject: str = "The model"
    use: str = THRESHOLD
    search: str = SEARCH

    @property
    def best(self) -> str:
        """The best baseline on these pairs, by name; of equal ones the first."""
        return best_of(self.against, self.measure)

    @property
    def relation(self) -> Relation:
        """Better, tied or worse than the best baseline."""
        limits = (self.difference.low, self.difference.high)
        return relation_of(*limits, larger_is_better=self.measure.larger_is_better)

    @property
    def words(self) -> str:
        """One sentence: who wins, by how much, and how sure that is."""
        verb = {"better": "better than", "tied": "tied with", "worse": "worse than"}[self.relation]
        among = f", the best of {len(self.against)} baselines here" if len(self.against) > 1 else ""
        both = f"{self.measure.name} {self._written(self.value)} against {self._written(self.against[self.best])}"
        return f"{self.subject} is {verb} {self.best}{among}: {both}, {self._difference_words} ({self._limits_words})."

    @property
    def next_step(self) -> str:
        """One sentence: what to do now, by the first row of `STEPS` that fits."""
        step = next(words(self) for relation, fits, words in STEPS if relation == self.relation and fits(self))
        return f"{step} Until then use {self.best}: {_simpler(self)}." if self._waits_for_nothing(step) else step

    def _waits_for_nothing(self, step: str) -> bool:
        """Whether a model that is tied and looks no better should wait for more data or another search."""
        rate, best = self.value, self.against[self.best]
        no_better = rate <= best if self.measure.larger_is_better else rate >= best
        return self.relation == "tied" and no_better and not step.startswith("Use ")

    def __str__(self) -> str:
        return f"{self.words} {self.next_step}"

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and names for a record; limits are None where there are none."""
        found = self.difference
        limits = (end if isfinite(end) and found.n_units else None for end in (found.low, found.high))
        return {
            "relation": self.relation,
            "best": self.best,
            "measure": self.measure.key,
            "value": self.value,
            "baselines": dict(self.against),
            "difference": dict(zip(("value", "low", "high"), (found.estimate, *limits), strict=True)),
            "level": found.level,
            "unit": found.unit if found.n_units else None,
            "n_units": found.n_units,
            "words": self.words,
            "next_step": self.next_step,
        }

    # -- numbers in words

    def _written(self, value: float) -> str:
        return f"{100 * value:.3g} %" if self.measure.unit == PERCENT else f"{value:.3g}"

    def gap(self, value: float, form: str = "+.3g") -> str:
        """A difference without its unit: rates in percentage points, others as they are."""
        return format(100 * value if self.measure.unit == PERCENT else value, form)

    @property
    def points(self) -> str:
        """The unit of differences, after a number."""
        return " points" if self.measure.unit == PERCENT else ""

    @property
    def _difference_words(self) -> str:
        found = self.difference
        limits = f" [{self.gap(found.low)}, {self.gap(found.high)}]" if found.n_units else ""
        return f"{self.gap(found.estimate)}{self.points}{limits}"

    @property
    def _limits_words(self) -> str:
        found = self.difference
        if not found.n_units:
            return "too few pairs for limits"
        # Teams and molecules are their own identities; photos are not.
        verifies = found.unit != "example" or isinstance(self.measure, Measure)
        caution = CAUTIONS[found.unit] if verifies else ""
        return f"{100 * found.level:.4g} % limits over {counted(found.n_units, found.unit)}{caution}"


CAUTIONS = {
    "identity": "",
    "example": ", too narrow where examples share an identity",
    "pair": ", taken for independent",
}
"""What is to be known of limits over each kind of unit."""


def verdict(
    model: Scores,
    baselines: Mapping[str, Scores],
    *,
    measure: Rate | None = None,
    level: float = 0.95,
    seed: int = 0,
    subject: str = "The model",
    use: str = THRESHOLD,
    search: str = SEARCH,
) -> Verdict:
    """Compare a model with baselines that scored the same pairs: the difference to the best of them, with limits.

    measure: the equal error rate unless given. Limits are over identities; over examples where these are unknown, else
    over pairs, and the sentence says so. seed: only for measures without influences, which are resampled.
    subject, use, search: see `Verdict`.

    >>> import numpy as np
    >>> left, right = np.triu_indices(120, 1)
    >>> same, noise = left // 3 == right // 3, np.sin(np.arange(len(left)))
    >>> def scored(shift):
    ...     return Scores(shift * same + noise, np.where(same, 1, -1), left, right, left // 3, right // 3)
    >>> verdict(scored(1.8), {"Euclid": scored(0.6), "cosine": scored(0.9)}).relation
    'better'
    """
    if not baselines:
        raise InputError("a verdict needs a baseline to compare with, such as pl.EuclidBaseline(); give its scores")
    for other in baselines.values():
        check_same_pairs(model, other)
    measured = EER() if measure is None else as_measure(measure)
    sample, _ = best_sample(model, Options(level, seed=seed), measured)
    against = {name: measured.value(other) for name, other in baselines.items()}
    found = paired_difference(sample, model, baselines[best_of(against, measured)], measured, level)
    found = in_hindsight(found, len(against), larger_is_better=measured.larger_is_better)
    return Verdict(measured, measured.value(model), against, found, subject, use, search)


def best_of(against: Mapping[str, float], measure: Named) -> str:
    """The name with the best value; of equal ones the first."""
    pick = max if measure.larger_is_better else min
    return pick(against, key=lambda name: against[name])


# --------------------------------------------------------------------------- what to do next


def _simpler(it: Verdict) -> str:
    return "it needs no training" if it.best.lower() in FREE else "it is simpler"


def _more_units(it: Verdict) -> str:
    """How many more units would tell: limits narrow like 1/√n."""
    found = it.difference
    if not found.n_units:
        return "Test on more pairs: these are too few for any limits."
    # To the limit on the other side of 0: what it would have to come nearer by.
    reach = found.high - found.estimate if found.estimate < 0 else found.estimate - found.low
    share = abs(found.estimate) / reach
    enough = f"; about {_round_up(found.n_units / share**2):,} would tell such a difference" if share > 0.1 else ""
    left_open = f"{found.n_units:,} leave ± {it.gap(reach, '.2g')}{it.points} open"
    return f"Test on more {plural_of(found.unit)}: {left_open}{enough}."


def _round_up(number: float) -> int:
    """Up to two digits: 312.5 → 320."""
    unit = 10 ** max(0, floor(log10(number)) - 1)
    return ceil(number / unit) * unit


STEPS: tuple[tuple[Relation, Callable[[Verdict], bool], Callable[[Verdict], str]], ...] = (
    ("better", lambda it: True, lambda it: it.use),
    ("worse", lambda it: it.search != "", lambda it: f"Use {it.best}: {_simpler(it)}; or try {it.search}."),
    ("worse", lambda it: True, lambda it: f"Use {it.best}: {_simpler(it)}."),
    ("tied", lambda it: it.difference.n_units < FEW and it.difference.low < it.difference.high, _more_units),
    ("tied", lambda it: it.search != "", lambda it: f"Try {it.search}."),
    ("tied", lambda it: True, lambda it: f"Use {it.best}, which is as good here: {_simpler(it)}."),
)
"""Situations and the step that fits: relation, further condition, words; the first row that fits is taken."""
