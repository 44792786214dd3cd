"""PairSearch: choose machine, kernels and C for labelled pairs, as the question will be asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pairlearn.data.writing import write_whole
from pairlearn.errors import ConflictWarning, InputError, warn_user
from pairlearn.evaluation.objectives.answers import Judgement
from pairlearn.evaluation.objectives.named import QUESTIONS, Question, judgement_named
from pairlearn.machines.pair_ranker import check_outcomes
from pairlearn.machines.pair_svr import check_targets
from pairlearn.pairs import Pairs, as_pairs, check_labels
from pairlearn.selection.drawing import check_whole
from pairlearn.selection.labelled.finish import Finish
from pairlearn.selection.labelled.race import run_race
from pairlearn.selection.labelled.record import record_of
from pairlearn.selection.labelled.rivals import rivals_of
from pairlearn.selection.labelled.runner import Runner, Step
from pairlearn.selection.labelled.settings import Space
from pairlearn.selection.labelled.tasks import check_unseen, splits
from pairlearn.selection.labelled.trials import FORMAT, Labelled, Trial, check_judged
from pairlearn.selection.search.clock import Clock
from pairlearn.selection.search.journal import Memory, fingerprint
from pairlearn.types import Floats, Ints

RECORD = "selection.json"
HUGE = 1e100
"""Numbers to learn are no larger, and the largest is no smaller than 1 / it: sums of squared errors decide."""


class PairSearch(BaseEstimator):
    """Choose machine, pair kernel, base kernel and C for labelled pairs, and fit the best; of one table or two.

    `fit(pairs, y)` takes Pairs and what is known of each: links ±1, who comes first (±1, 0 a tie), or numbers. A share
    of the pairs is set aside as the question will be asked (`unseen`); the rest is cut in the same way again and again.
    Every family is tried on few pairs first, the better half on more, the best on more splits, beside the baselines of
    the question; of links and numbers also means of the best two or three (`pl.scorers.PairMean`). The winner is tested
    on what was set aside, then fitted on everything.

    Parameters
    ----------
    question : "link" (PairSVC, PairRidge), "order" (PairRanker, PairRidge) or "number" (PairSVR, PairRidge).
    unseen : what is new in the pairs that will be asked: "none" (pairs of known examples), "left", "right" (of two
        tables) or "both"; or a list of (training, test) rows, such as the past and what came after it.
    objective : links: "auc", "aupr", "eer", "fnmr@fmr=0.01", a measure of pl.evaluation …; orders: "accuracy",
        "log_loss"; numbers: "rmse", "mae", "concordance", "aupr@7" (pairs above 7). None takes the first.
    machines, kernels, bases : names, or a dictionary name → kernel; None takes the usual. A base of two tables may be
        a tuple (left, right).
    Cs : larger fits closer, in units of 1 / mean K(p, p); least squares have α = mean K(p, p) / C.
    time_budget : seconds for everything: baselines, trials, final fit, final test, refit.
    test_share : share of the pairs, or of the examples of a side, that no choice sees; 0 for no final test.
    max_pairs : largest training set; beyond it pairs are sampled.
    directory : record and journal are written there; a killed search on the same pairs with the same settings goes on.
    progress : called with a Step after every trial.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> rng = np.random.default_rng(0)
    >>> drugs, targets = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
    >>> left, right = np.divmod(np.arange(300), 15)
    >>> pairs = pl.Pairs(drugs, left, right, right_examples=targets)
    >>> search = pl.PairSearch("number", unseen="left", bases=["linear"], machines=["ridge"])
    >>> search = search.fit(pairs, (drugs[left] * targets[right]).sum(axis=1))
    >>> search.best_setting_.kernel, search.record_["verdict"]["relation"]
    ('tensor', 'better')
    """

    def __init__(
        self,
        question: Question = "link",
        unseen: Any = "none",
        objective: Any = None,
        *,
        machines: Sequence[str] | None = None,
        kernels: Any = None,
        bases: Any = None,
        Cs: Sequence[float] | None = None,
        time_budget: float | None = None,
        test_share: float = 0.2,
        max_pairs: int = 200_000,
        memory_budget: float | None = None,
        directory: str | Path | None = None,
        random_state: int = 0,
        progress: Callable[[Step], None] | None = None,
    ) -> None:
        self.question = question
        self.unseen = unseen
        self.objective = objective
        self.machines = machines
        self.kernels = kernels
        self.bases = bases
        self.Cs = Cs
        self.time_budget = time_budget
        self.test_share = test_share
        self.max_pairs = max_pairs
        self.memory_budget = memory_budget
        self.directory = directory
        self.random_state = random_state
        self.progress = progress

    # -- learning

    _racing: Runner | None = None

    @property
    def stoppable(self) -> bool:
        """Whether Ctrl-C now ends the search with the best machine so far; if not, it ends `fit` without a model."""
        return self._racing is not None and self._racing.learnt

    def fit(self, X: Any, y: Any) -> Self:
        """Search on pairs X and what is known of them; Ctrl-C ends the search and fits the best so far."""
        self._check()
        clock, pairs = Clock(self.time_budget), as_pairs(X)
        everything = Labelled(pairs, _known(self.question, y, pairs))
        check_unseen(pairs, self.unseen)
        judgement = judgement_named(self.objective, self.question)
        check_judged(judgement, everything.labels)
        data, held = self._set_aside(everything)
        if held is not None:
            _check_held(judgement, held)
        runner, interrupted = self._runner(data, judgement, clock), False
        self._racing = runner
        try:
            size = run_race(runner)
        except KeyboardInterrupt:
            runner.recall_rest()
            tried = [each for each in runner.sizes if runner.machines(each)]
            if not tried:
                raise
            # A size whose first split was broken off does not count, unless there is no other.
            size = max(tried, key=lambda each: (("machine", each) in runner.splits_done, each))
            interrupted = True
            runner.notes.append("interrupted: the best machine so far was fitted")
        finally:
            self._racing = None
        self._finish(runner, held, everything, size, interrupted)
        return self

    def _check(self) -> None:
        if self.question not in QUESTIONS:
            raise InputError(f"question is one of {', '.join(QUESTIONS)}, got {self.question!r}")
        if self.time_budget is not None and not self.time_budget > 0:
            raise InputError(f"time_budget is in seconds and must be > 0, got {self.time_budget!r}; try 600")
        if not 0 <= self.test_share < 1:
            raise InputError(f"test_share lies from 0 to below 1, got {self.test_share!r}; try 0.2")
        if self.test_share > 0 and not isinstance(self.unseen, str):
            raise InputError("with splits of your own the final test is yours too; give test_share=0")
        check_whole("random_state", self.random_state, 0)
        check_whole("max_pairs", self.max_pairs, 10)

    def _set_aside(self, everything: Labelled) -> tuple[Labelled, Labelled | None]:
        """Development pairs and held pairs, cut as the question will be asked; mixed pairs are in neither."""
        if self.test_share == 0:
            return everything, None
        labels = everything.labels if self.question == "link" else None
        seed = self.random_state + 1  # another draw than those of the trials
        train, test = next(splits(everything.pairs, labels, self.unseen, self.test_share, 1, seed))
        return everything[train], everything[test]

    def _runner(self, data: Labelled, judgement: Judgement, clock: Clock) -> Runner:
        space = Space.of(self.question, data.pairs, self.machines, self.kernels, self.bases, self.Cs)
        rivals = rivals_of(self.question, data.pairs, space)
        options = {"memory_budget": self.memory_budget, "random_state": self.random_state}
        names = "question unseen objective machines kernels bases Cs max_pairs random_state"
        own = [getattr(self, name) for name in names.split()]
        mark = fingerprint((FORMAT, data.parts, own), self.directory)
        path = None if self.directory is None else Path(self.directory) / f"pairs-{mark}.jsonl"
        journal = Memory(path, mark, Trial.from_line, Trial.as_line)
        clock.spent = journal.spent
        limits = (self.max_pairs, self.random_state, options, self.progress)
        return Runner(data, self.question, self.unseen, space, rivals, judgement, clock, journal, *limits)

    def _finish(
        self, runner: Runner, held: Labelled | None, everything: Labelled, size: int, interrupted: bool
    ) -> None:
        """Fit the winner, test it, fit it on everything, and write down how it was found."""
        runner.clock.reach(runner.clock.spent)
        winner = runner.machines(size)[0]
        finish = Finish(runner, winner, runner.rivals_at(size), held, everything)
        tested = finish.fit()
        test = finish.test(tested)
        last = tested if held is None else finish.refit(tested)
        self.best_estimator_, self.best_setting_, self.best_score_ = last.machine, finish.setting, winner.score
        self.test_answers_ = {} if test is None else test.answers
        self.record_: dict[str, Any] = record_of(runner, finish, size, tested, last, test, interrupted=interrupted)
        if self.directory is not None:
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            write_whole(Path(self.directory) / RECORD, json.dumps(self.record_, indent=1).encode())

    # -- using

    def decision_function(self, X: Any) -> Floats:
        """g of every pair by the best machine, (n_pairs,)."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    def predict(self, X: Any) -> Floats | Ints:
        """What the best machine predicts: ±1, or numbers."""
        check_is_fitted(self, "best_estimator_")
        if self.question == "number":
            return self.decision_function(X)
        return np.where(self.decision_function(X) > 0, 1, -1)


def _check_held(judgement: Judgement, held: Labelled) -> None:
    """Refuse a final test that could judge nothing, before anything is learnt."""
    try:
        check_judged(judgement, held.labels)
    except InputError as error:
        raise InputError(
            f"of the {len(held):,} pairs set aside for the final test {error}, or another test_share"
        ) from error


def _known(question: Question, y: Any, pairs: Pairs) -> Floats:
    """What is known of the pairs, checked as the machines of the question would."""
    if question == "order":
        return check_outcomes(y, pairs)
    if question == "number":
        return _scaled(check_targets(y, pairs, 1))
    labels = np.asarray(check_labels(y, len(pairs)), dtype=np.float64)
    if abs(labels.sum()) == len(labels):
        raise InputError("links need pairs that belong together (+1) and pairs that do not (-1); all labels are equal")
    conflicts = pairs.conflicts(labels)
    if len(conflicts):
        warn_user(conflicts.message(), ConflictWarning)
    return labels


def _scaled(targets: Floats) -> Floats:
    """The same numbers, if squared errors of their size can be summed."""
    largest = float(np.abs(targets).max(initial=0.0))
    if largest > HUGE or 0.0 < largest < 1.0 / HUGE:
        raise InputError(
            f"the largest |y| is {largest:g}, too {'large' if largest > HUGE else 'small'} for sums of squared errors; "
            "rescale y, such as y / np.abs(y).max()"
        )
    return targets
