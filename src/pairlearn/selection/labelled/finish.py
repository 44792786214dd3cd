"""After the choice: the final fit, the final test beside the baselines, and the refit on everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pairlearn.evaluation.figures import judged as verdict_on
from pairlearn.evaluation.objectives.answers import Judgement
from pairlearn.evaluation.verdicts import Verdict
from pairlearn.selection.ended import FAILURES, first_near, is_no_worse
from pairlearn.selection.labelled.runner import Result, Runner
from pairlearn.selection.labelled.settings import Setting
from pairlearn.selection.labelled.trials import Labelled, fit, judged
from pairlearn.selection.search.clock import GROWTH
from pairlearn.selection.search.finish import CAUTION, MODEL
from pairlearn.types import Floats, Ints

RIVALS = 4
"""Baselines that are tested in any case: the best of the search."""
FEWEST = 100
"""Pairs below which no final fit is made in place of one that was broken off."""
OF_EACH = 10
"""Pairs of each of two labels that are in every training set, where there are so many."""


class Fitted(NamedTuple):
    """A machine and how many pairs it learnt from."""

    machine: Any
    n_pairs: int


@dataclass(frozen=True, eq=False)
class Tested:
    """Answers to the held pairs by the model and by baselines, in units of log odds where these are judged."""

    data: Labelled
    answers: dict[str, Floats]
    skipped: dict[str, str]

    def record(self, judgement: Judgement) -> dict[str, Any]:
        """Values and limits of every system."""
        found = {name: judged(judgement, answers, self.data) for name, answers in self.answers.items()}
        return {
            "pairs": len(self.data),
            "judged": int(judgement.counts(self.data.labels).sum()),
            "examples": self.data.units.n_units,
            "values": {name: each["value"] for name, each in found.items()},
            "limits": {name: [each["low"], each["high"]] for name, each in found.items()},
            "skipped": self.skipped,
        }

    def verdict(self, judgement: Judgement, told: Mapping[str, Any]) -> Verdict | None:
        """How the model stands to the best baseline; None without any."""
        rows = np.flatnonzero(judgement.counts(self.data.labels))
        truth = self.data.labels[rows]
        worth = {name: judgement.worth(answers[rows], truth) for name, answers in self.answers.items()}
        own = worth.pop(MODEL)
        if not worth:
            return None
        return verdict_on(judgement.figure, own, worth, self.data[rows].units, "example", **told)


def quarters(n_pairs: int) -> list[int]:
    """So many pairs, a quarter of them, and so on.

    >>> quarters(5000)
    [5000, 1250, 312]
    """
    found = [n_pairs]
    while found[-1] >= 4 * FEWEST:
        found.append(found[-1] // 4)
    return found


def drawn(labels: Floats, n_pairs: int, rng: np.random.Generator) -> Ints:
    """So many rows at random, in order; of two labels a few of each, since of one label alone nothing can be learnt.

    The smaller set is in every larger one of the same seed.

    >>> labels = np.where(np.arange(5000) < 10, 1.0, -1.0)
    >>> int((labels[drawn(labels, 300, np.random.default_rng(0))] > 0).sum())
    10
    """
    order = rng.permutation(len(labels))
    kept, others = order[:n_pairs], order[n_pairs:]
    values = np.unique(labels)
    for value in values if len(values) == 2 else ():
        own = labels[kept] == value
        missing = max(0, min(OF_EACH, n_pairs // 2) - int(own.sum()))
        more = others[labels[others] == value][:missing]
        kept = np.concatenate([kept[own], kept[~own][: n_pairs - int(own.sum()) - len(more)], more])
    return np.sort(kept)


def tail_seconds(runner: Runner, setting: Setting) -> float:
    """What final fit, test of the best baselines and refit of a setting are expected to take, with caution."""
    size = max((size for _, size, _ in runner.trials), default=0)
    rivals = [result.what for result in runner.baselines(size)[:RIVALS]]
    own = runner.expected(setting, min(len(runner.data), runner.max_pairs)) or 0.0
    return CAUTION * (2.0 * own + sum(runner.expected(rival, len(runner.data)) or 0.0 for rival in rivals))


@dataclass(frozen=True, eq=False)
class Finish:
    """The last steps for the winner; `held` None is without a test, `everything` are development and held pairs."""

    runner: Runner
    winner: Result
    baselines: Sequence[Result]
    held: Labelled | None
    everything: Labelled

    @property
    def setting(self) -> Setting:
        """The chosen one."""
        assert isinstance(self.winner.what, Setting)
        return self.winner.what

    def fit(self) -> Fitted:
        """On all development pairs, or on as many as there is time for; half of the time is the refit's."""
        share, data = 1.0 if self.held is None else 0.5, self.runner.data
        most = self._n_pairs(data, share)
        found = first_near(self._fitted(data, share, n_pairs) for n_pairs in quarters(most))
        if found.n_pairs < most:
            self.runner.notes.append(f"fitted on {found.n_pairs:,} pairs: broken off far from its end on {most:,}")
        return found

    def _n_pairs(self, data: Labelled, share: float) -> int:
        """As many of these pairs as are expected to be learnt from in this share of the time that is left."""
        runner = self.runner
        left = runner.clock.left(runner.clock.budget)
        n_pairs = min(len(data), runner.max_pairs)
        expected = CAUTION * (runner.expected(self.setting, n_pairs) or 0.0)
        if left is not None and expected > share * left:
            n_pairs = max(2, min(n_pairs, int(n_pairs * (share * left / expected) ** (1.0 / GROWTH))))
            n_pairs = max(n_pairs, min(runner.sizes[0], len(data)))
            runner.notes.append(f"fitted on {n_pairs:,} of {len(data):,} pairs: no time for more")
        return n_pairs

    def _fitted(self, data: Labelled, share: float, n_pairs: int) -> Fitted:
        runner = self.runner
        left = runner.clock.left(runner.clock.budget)
        training = data[drawn(data.labels, n_pairs, np.random.default_rng((runner.seed, 7)))]
        seconds = None if left is None else max(1.0, share * left)
        machine = fit(runner.model(self.setting, training, seconds), training)
        return Fitted(machine, n_pairs)

    def test(self, found: Fitted) -> Tested | None:
        """The model and, best first, every baseline that there is time for, on the held pairs."""
        if self.held is None:
            return None
        answers = {MODEL: self.winner.slope * found.machine.decision_function(self.held.pairs)}
        skipped: dict[str, str] = {}
        for place, rival in enumerate(self.baselines):
            if not self._in_time(rival, must=place < RIVALS):
                skipped[str(rival.what)] = "no time"
                continue
            try:
                answers[str(rival.what)] = self._asked(rival)
            except FAILURES as error:
                skipped[str(rival.what)] = str(error)
        return Tested(self.held, answers, skipped)

    def _in_time(self, rival: Result, *, must: bool) -> bool:
        """Whether a baseline is expected to end; one of the best before the refit, the others beside it."""
        runner, left = self.runner, self.runner.clock.left(self.runner.clock.budget)
        spare = 0.0 if must else self._refit_seconds
        return left is None or (runner.expected(rival.what, len(runner.data)) or 0.0) <= left - spare

    def _asked(self, rival: Result) -> Floats:
        """A baseline learns from the development pairs and answers the held ones."""
        assert self.held is not None
        model = fit(self.runner.model(rival.what, self.runner.data, None), self.runner.data)
        return np.asarray(rival.slope * model.decision_function(self.held.pairs))

    def refit(self, tested: Fitted) -> Fitted:
        """The same setting on everything, the pairs of the test too, as far as there is time; else the tested one."""
        left = self.runner.clock.left(self.runner.clock.budget)
        if left is not None and self._refit_seconds > left:
            self.runner.notes.append("no time for a refit on everything: the model is the one that was tested")
            return tested
        found = self._fitted(self.everything, 1.0, self._n_pairs(self.everything, 1.0))
        if is_no_worse(found.machine, tested.machine):
            return found
        status, gap = found.machine.fit_status_, found.machine.kkt_gap_
        self.runner.notes.append(
            f"the refit on everything stopped by {status} at KKT gap {gap:.2g}: the model is the one that was tested"
        )
        return tested

    @property
    def _refit_seconds(self) -> float:
        """What the refit is expected to take, with caution."""
        n_pairs = min(len(self.everything), self.runner.max_pairs)
        return CAUTION * (self.runner.expected(self.setting, n_pairs) or 0.0)
