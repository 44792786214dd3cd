"""StagedSearch: choose kernel, C and training set in tasks of rising difficulty, and fit the best machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.registry import BaselineScores, run_baselines
from pairlearn.data.writing import write_whole
from pairlearn.errors import InputError
from pairlearn.evaluation.measures import HOW_TO_SCORE, Measure
from pairlearn.evaluation.objectives.named import measure_named
from pairlearn.features import note_features
from pairlearn.selection.drawing import check_whole
from pairlearn.selection.representations import Representations
from pairlearn.selection.search.clock import Clock
from pairlearn.selection.search.development import Development
from pairlearn.selection.search.finish import Finish, Held, set_aside
from pairlearn.selection.search.journal import Journal, fingerprint
from pairlearn.selection.search.record import Winner, record_of, test_record
from pairlearn.selection.search.runner import Runner, Step
from pairlearn.selection.search.settings import BASES, CS, KERNELS, WEIGHTS, Space
from pairlearn.selection.search.stages import RIVALS, StageOutcome, examples_per_class, run_stages
from pairlearn.selection.search.trials import load_parts
from pairlearn.types import Examples, Floats, Ints

RECORD = "selection.json"


class StagedSearch(ClassifierMixin, BaseEstimator):
    """Choose kernel, base, C, EPCR and number of classes in tasks of rising difficulty, and fit the best machine.

    `fit(examples, classes)` takes a table of examples and one class per example. Pair task: drop kernels and Cs that
    are clearly bad. Interexample task: how many examples per class are enough. Interclass task: keep the better half
    at each of a growing number of classes, all judged on classes that no training saw, beside every baseline; the
    best machines are also tried when started from baselines, as StackedPairSVC does. The winner is fitted on as many
    classes as there is time for.

    Why in stages: pairs grow with the square of the examples and time faster still, so a grid on all data would
    spend nearly everything on settings that a small set rules out. Every setting is tried on few pairs first, and
    each larger set has fewer settings: about the same time for each. `stages.py` has the rules of each task.

    Parameters
    ----------
    kernels, bases : names, kernels, or a dictionary name → kernel.
    Cs : boxes in units of 1 / mean K(p, p), so that one grid serves kernels of any scale.
    weights : trust in baselines beside a kernel, in units of mean K(p, p); empty for no machine that starts from them.
    objective : what the race, the final test and the record are about: a measure of pl.evaluation or its name ("eer",
        "fnmr@fmr=0.01", "aupr", "auc", …). Clearly bad settings of the easy tasks are always told by the EER.
    scoring : any other scorer to race by, called with a model, pairs and labels, larger = better.
    time_budget : seconds for everything: baselines, trials, final fit, final test, refit. What the plan does not need
        goes to settings near the best and to more splits of the classes.
    test_share : share of the classes that no choice sees: the machine is tested on them beside every baseline
        (`record_["test"]`), then fitted once more on all classes.
    n_splits : random splits of the classes in the interclass task; None takes more when classes are few.
    max_examples, max_pairs : limits of one training set; beyond them negatives are sampled.
    directory : journal, record and plot are written there; a killed selection goes on from it.
    n_jobs : joblib's number of jobs; any joblib back end serves.
    progress : called with a Step after every path of trials.

    Examples
    --------
    >>> import pairlearn as pl
    >>> X, classes = pl.data.double_interval(12, 6, n=30, seed=0)
    >>> search = pl.StagedSearch(kernels=["metric", "tensor_metric"], bases=["poly"], Cs=[1, 100]).fit(X, classes)
    >>> search.record_["stages"][0]["task"], search.best_estimator_.fit_status_
    ('pair', 'converged')
    """

    def __init__(
        self,
        kernels: Any = KERNELS,
        bases: Any = BASES,
        Cs: Sequence[float] = CS,
        *,
        weights: Sequence[float] = WEIGHTS,
        objective: Any = "eer",
        scoring: Callable[[Any, Any, Any], float] | None = None,
        time_budget: float | None = None,
        test_share: float = 0.0,
        n_splits: int | None = None,
        max_examples: int = 3000,
        max_pairs: int = 2_000_000,
        memory_budget: float | None = None,
        directory: str | Path | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
        progress: Callable[[Step], None] | None = None,
    ) -> None:
        self.kernels = kernels
        self.bases = bases
        self.Cs = Cs
        self.weights = weights
        self.objective = objective
        self.scoring = scoring
        self.time_budget = time_budget
        self.test_share = test_share
        self.n_splits = n_splits
        self.max_examples = max_examples
        self.max_pairs = max_pairs
        self.memory_budget = memory_budget
        self.directory = directory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    # -- learning

    def fit(self, X: Any, y: Any) -> Self:
        """Select on examples X and their classes y; Ctrl-C ends the search early and fits the best so far.

        X is a table, or `pl.selection.Representations` of the same examples: then each of them, all together and sums
        of kernels on them are in the search, and the machine scores pairs of rows of their joint `table`.
        """
        self._check()
        load_parts()
        runner, held = self._runner(X, y)
        outcomes: list[StageOutcome] = []
        interrupted = False
        try:
            for outcome in run_stages(runner, held):
                outcomes.append(outcome)
        except KeyboardInterrupt:
            interrupted = True
            runner.recall_rest()
            runner.notes.append("interrupted: the best machine so far was fitted")
            if not any(trial.setting is not None and trial.tells for trial in runner.journal.trials.values()):
                raise
        self._finish(runner, held, outcomes, interrupted)
        return self

    @property
    def _scorer(self) -> Callable[[Any, Any, Any], float]:
        return measure_named(self.objective).scorer() if self.scoring is None else self.scoring

    def _check(self) -> None:
        if self.time_budget is not None and not self.time_budget > 0:
            raise InputError(f"time_budget is in seconds and must be > 0, got {self.time_budget!r}; try 600")
        measure_named(self.objective)
        wrong = isinstance(self.scoring, (str, type, Measure)) or not callable(self.scoring)
        if self.scoring is not None and wrong:
            raise InputError(f"scoring is a scorer, got {self.scoring!r}; {HOW_TO_SCORE}")
        if not 0 <= self.test_share < 1:
            raise InputError(
                f"test_share lies from 0 to below 1, got {self.test_share!r}; try 0.2, a fifth of the classes"
            )
        if self.n_jobs == 0:
            raise InputError("n_jobs is a number of processes, or -1 for one per core, got 0; try 1")
        check_whole("random_state", self.random_state, 0)
        check_whole("max_examples", self.max_examples, 10)
        check_whole("max_pairs", self.max_pairs, 100)
        if self.n_splits is not None:
            check_whole("n_splits", self.n_splits, 1)

    def _runner(self, X: Any, y: Any) -> tuple[Runner, Held | None]:
        """What runs the trials, and the classes that are set aside for the final test."""
        clock = Clock(self.time_budget)
        space = Space.of(self.kernels, self.bases, self.Cs, self.weights)
        spans: dict[str, tuple[int, int]] = {}
        if isinstance(X, Representations):
            spans, X = X.spans, X.table
            space = space.on_each(spans)
        limits = (self.n_splits, self.max_examples, self.max_pairs)
        everything = Development.of(X, y, self.random_state, *limits, square=space.precomputed)
        data, held = set_aside(everything, self.test_share, self.n_splits)
        journal = Journal(self.directory, self._fingerprint(data, space, spans))
        clock.spent = journal.spent
        options = {"memory_budget": self.memory_budget, "random_state": self.random_state}
        space = space.on(data.examples)
        return Runner(space, data, journal, clock, self._scorer, self.n_jobs, options, self.progress), held

    def _fingerprint(self, data: Development, space: Space, spans: dict[str, tuple[int, int]]) -> str:
        """Of the data and of every option that decides results, the same in every process."""
        names = ("kernels", "bases", "Cs", "weights", "_scorer", "max_examples", "max_pairs", "random_state")
        # Where one representation ends and the next begins: names and joint table may be the same.
        own = [getattr(self, name) for name in names] + ([space.stack, list(spans.items())] if space.several else [])
        return fingerprint((data.examples, data.codes, data.n_splits, own), self.directory)

    def _finish(self, runner: Runner, held: Held | None, outcomes: list[StageOutcome], interrupted: bool) -> None:
        """Find the winner, fit it, test it, fit it on all classes, and write down how it was found."""
        runner.clock.reach(runner.clock.spent)
        winner = Winner.of(runner)
        if not any(outcome.task == winner.stage for outcome in outcomes):  # broken off within this stage
            reached = {winner.size: runner.results(winner.stage, winner.size)}
            outcomes = [*outcomes, StageOutcome(winner.stage, reached, [winner.setting])]
        self.best_setting_, self.best_score_ = winner.setting, winner.result.score
        self.beats_baselines_ = winner.beats_baselines
        rivals = tuple(result.what for result in winner.baselines[:RIVALS])
        finish = Finish(runner, winner.setting, examples_per_class(runner, outcomes), held, rivals)
        tested = finish.fit()
        self.test_scores_, skipped = finish.test(tested)
        last = tested if held is None else finish.refit(tested)
        self.best_estimator_, self.training_ = last.machine, last.training
        self._baselines = runner.space.baselines
        for model in (self, self.best_estimator_):
            note_features(model, runner.data)
        self.best_params_ = {"kernel": winner.setting.kernel, "base": winner.setting.base, "C": self.best_estimator_.C}
        self.classes_ = self.best_estimator_.classes_
        self.record_: dict[str, Any] = record_of(runner, outcomes, winner, tested, last, interrupted=interrupted)
        self.record_["test"] = test_record(self.test_scores_, skipped, winner.measure)
        if self.directory is not None:
            write_whole(Path(self.directory) / RECORD, json.dumps(self.record_, indent=1).encode())

    # -- using

    def decision_function(self, X: Any) -> Floats:
        """g of every pair by the best machine."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def predict(self, X: Any) -> Ints:
        """+1 (same) where g > 0, else −1."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def score_block(self, probe: Examples, gallery: Examples) -> Floats:
        """g of every probe with every gallery example, (p, g)."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.score_block(probe, gallery)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The chosen scorer on pairs X and labels y."""
        check_is_fitted(self, "best_estimator_")
        return float(self._scorer(self.best_estimator_, X, y))

    def score_by_baselines(self, X: Any) -> BaselineScores:
        """Scores of pairs by every baseline, learnt from the same pairs as the best machine."""
        check_is_fitted(self, "best_estimator_")
        pairs, labels, classes = self.training_
        return run_baselines(pairs, labels, X, classes=classes, makers=self._baselines)

    @property
    def cv_results_(self) -> dict[str, list[Any]]:
        """All trials of machines and baselines, one column per field, as scikit-learn's searches give them."""
        check_is_fitted(self, "record_")
        trials = self.record_["trials"]
        return {name: [trial[name] for trial in trials] for name in trials[0]}
