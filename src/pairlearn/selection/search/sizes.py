"""How large the training sets of each task are: from a first look at every setting to all classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pairlearn.words import counted

Stage = Literal["pair", "interexample", "interclass"]
STAGES: tuple[Stage, ...] = ("pair", "interexample", "interclass")
"""The three tasks, easiest first: unseen pairs of known examples, unseen examples of known classes, unseen classes."""
TEST_SHARE = 0.25
"""Of pairs, of examples of each class, of classes: what each task tests on."""
FIRST_LOOK, FEW_EXAMPLES = 80, 400
"""Examples of the smallest sets, and of the pair and interexample task: enough to tell bad kernels from good ones."""
FIRST_RACE = 150
"""Examples of the first set of the interclass task, where real choices begin."""
FEWEST_EXAMPLES = 3
"""Examples per class of the smallest final fit."""
USUAL_EPCR, USUAL_CLASSES = 25, 25
"""Examples per class (EPCR) and classes up to which nobody needs to ask whether fewer would do."""
WORTH_IT = 1.5
"""A smaller set before a set is worth its trials when the latter has more than so many times its examples."""


@dataclass(frozen=True)
class Size:
    """How much one set trains on: at most `epcr` examples of each of `n_classes` classes."""

    n_classes: int
    epcr: int

    @property
    def n_examples(self) -> int:
        """Examples of a set in which every class has enough of them."""
        return self.n_classes * self.epcr

    def __str__(self) -> str:
        return f"{counted(self.n_classes, 'class')} × {self.epcr}"


@dataclass(frozen=True)
class Ladder:
    """The sizes of every task, smallest first, for so many training classes with so many examples each.

    Successive halving (Jamieson and Talwalkar 2016) spends about the same time on every rung: many settings on few
    pairs, then few settings on many. A rung here is a set of classes × examples per class; its pairs, and with them
    the seconds of a fit, grow with the square of that product, so each rung has about twice the examples of the last.

    >>> ladder = Ladder(n_training=100, typical=20, max_examples=3000)
    >>> [str(size) for size in ladder.pair()]
    ['8 classes × 10', '40 classes × 10']
    >>> [str(size) for size in ladder.interclass(epcr=10)]
    ['25 classes × 6', '25 classes × 10', '50 classes × 10', '100 classes × 10']
    """

    n_training: int
    typical: int
    max_examples: int

    def pair(self) -> list[Size]:
        """Few examples of as many classes as they allow; before that still fewer, for a first look at everything."""
        first, second = (self._of_about(examples) for examples in (FIRST_LOOK, FEW_EXAMPLES))
        return [first, second] if WORTH_IT * first.n_examples < second.n_examples else [second]

    def _of_about(self, examples: int) -> Size:
        """So many examples in all, ten or more of each class, so that there are positive pairs to test on."""
        epcr = max(2, min(self.typical, max(10, examples // self.n_training)))
        return Size(max(2, min(self.n_training, examples // epcr)), epcr)

    def interexample(self) -> list[Size]:
        """The classes of the pair task with more and more examples; none when classes have fewer than 5."""
        n = self.pair()[-1].n_classes
        held_out = max(2, round(TEST_SHARE * self.typical))
        most = min(self.typical - held_out, max(USUAL_EPCR, FEW_EXAMPLES // n))
        return [Size(n, epcr) for epcr in doubling(3, most)] if most >= 3 else []

    def interclass(self, epcr: int) -> list[Size]:
        """Few examples of few classes for a first look at everything, then more and more classes."""
        most = max(2, min(self.n_training, self.max_examples // epcr))
        counts = doubling(min(USUAL_CLASSES, most), most)
        few = max(2, FIRST_RACE // counts[0])
        first = [Size(counts[0], few)] if WORTH_IT * few < epcr else []
        return first + [Size(n, epcr) for n in counts]

    def final(self, n_useful: int, epcr: int) -> list[Size]:
        """Sizes of the final fit, of so many classes: all classes before more examples of each.

        >>> [str(size) for size in Ladder(35, 20, 3000).final(40, epcr=10)]
        ['25 classes × 3', '40 classes × 3', '40 classes × 5', '40 classes × 10']
        >>> [str(size) for size in Ladder(11, 700, 3000).final(14, epcr=375)][-1]
        '14 classes × 214'
        """
        most = max(2, min(n_useful, self.max_examples // min(FEWEST_EXAMPLES, epcr)))
        few, *more = doubling(min(FEWEST_EXAMPLES, epcr), max(2, min(epcr, self.max_examples // most)))
        counts = doubling(min(USUAL_CLASSES, most), most)
        return [Size(n, few) for n in counts] + [Size(most, epcr) for epcr in more]

    def widest_epcr(self) -> int:
        """Examples per class without any other advice: as many as all classes together may have."""
        return max(2, min(self.typical, max(USUAL_EPCR, self.max_examples // self.n_training)))


def doubling(low: int, high: int) -> list[int]:
    """From about low to high, every step nearly doubled; exact at the end, where it counts.

    >>> doubling(3, 20), doubling(3, 4)
    ([3, 5, 10, 20], [4])
    """
    steps = [high]
    while steps[0] > 1.4 * low:
        steps.insert(0, max(low, (steps[0] + 1) // 2))
    return steps
