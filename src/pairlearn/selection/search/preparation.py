"""What several fits of a rung share, made once: units of C, Gram matrices, scores of baselines.

Three pair kernels × five Cs on one base use the same base Gram matrix, and all machines that start from baselines use
the same scores. Made in every fit, they would take most of the time of the small rungs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pairlearn.baselines.stacked import Stack, cross_fit
from pairlearn.kernels import Gram
from pairlearn.selection.search.development import Development, Rung
from pairlearn.selection.search.settings import NO_KERNEL, Family, Space, baselines_of
from pairlearn.selection.search.sizes import Size, Stage

SHARED_GRAM = 6000
"""Largest number of examples whose Gram matrix is held for all machines of a rung (288 MB per base)."""


@dataclass
class Preparation:
    """Makes and keeps what fits share; not sent to other processes, only what it makes is."""

    space: Space
    data: Development
    _scales: dict[tuple[str, str], float] = field(default_factory=dict)
    _stacks: dict[tuple[Stage, Size, int], Stack] = field(default_factory=dict)

    def scale(self, family: Family) -> float:
        """Mean K(p, p) of a family's kernel, the unit of its C, on the same pairs for every rung.

        Were it measured on each rung anew, one C would mean different machines on different rungs, and a search that
        goes on would not find its own trials again.
        """
        key = (family.kernel, family.base)
        if key not in self._scales:
            pairs = self.data.rung("pair", self.data.ladder.pair()[0], 0).training
            self._scales[key] = self.space.scale(family, pairs, self.data.seed)
        return self._scales[key]

    def grams(self, rung: Rung, families: Iterable[Family]) -> dict[str, Gram]:
        """One Gram matrix per base for all pair kernels and Cs of the rung; none where it would not fit."""
        if rung.training.n_examples > SHARED_GRAM or self.space.precomputed:
            return {}
        names = sorted({family.base for family in families} - {NO_KERNEL})
        grams = {name: Gram(self.space.bases[name], rung.training.examples) for name in names}
        for gram in grams.values():
            gram.matrix  # noqa: B018  computed here, once, not in every process
        return grams

    def with_scores(self, rung: Rung, starts: Iterable[str]) -> dict[str | None, Rung]:
        """The rung with scores of baselines as features of its pairs, for each start; no baseline is fitted twice."""
        asked = {start: baselines_of(start) for start in starts}
        if not asked:
            return {}
        stack = self._stack(rung, [name for group in asked.values() for name in group])
        return {start: _on_scores(rung, stack.only(group)) for start, group in asked.items()}

    def has(self, place: Any, start: str) -> bool:
        """Whether the scores that a family starts from are there already, for the rung of a round."""
        stack = self._stacks.get((place.stage, place.size, place.split))
        return stack is not None and set(baselines_of(start)) <= set(stack.models)

    def _stack(self, rung: Rung, names: Iterable[str]) -> Stack:
        """Out-of-fold scores of these baselines on the training pairs of the rung.

        Out of fold, because a baseline scores the pairs it learnt from too well, and a machine that starts from such
        scores would trust them where it must not.
        """
        place = (rung.stage, rung.size, rung.split)
        known = self._stacks.get(place)
        missing = [name for name in dict.fromkeys(names) if known is None or name not in known.models]
        if missing:
            # Only those of this size are needed again, for the other settings that start from them.
            self._stacks = {key: stack for key, stack in self._stacks.items() if key[:2] == place[:2]}
            makers = self.space.makers
            new = cross_fit(rung.training, rung.labels, rung.classes, missing, seed=self.data.seed, makers=makers)
            self._stacks[place] = new if known is None else known.joined(new)
        return self._stacks[place]


def _on_scores(rung: Rung, stack: Stack) -> Rung:
    return replace(rung, training=stack.pairs, labels=stack.labels, test=stack.shown(rung.test))
