"""Staged model selection: pair task → kernel and C, interexample task → EPCR, interclass task → number of classes."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import joblib
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pairlearn.baselines.registry import BASELINES, BaselineScores, run_baselines
from pairlearn.baselines.stacked import cross_fit, seeing
from pairlearn.data.files import write_whole
from pairlearn.errors import InputError
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.selection.drawing import check_whole
from pairlearn.selection.search.journal import Journal
from pairlearn.selection.search.race import Clock, Race, Result, Step, better_half, one_per_family, promising
from pairlearn.selection.search.rungs import Development, Size, Stage
from pairlearn.selection.search.settings import BASES, CS, KERNELS, WEIGHTS, Setting, Space, baselines_of
from pairlearn.selection.search.trials import eer
from pairlearn.types import Examples, Floats, Ints

SHARES = {"pair": 0.2, "interexample": 0.3, "interclass": 0.8}
"""By when each stage has to end, as a share of the time budget."""
ENOUGH = 1.05
"""An EPCR suffices when its EER is within this factor of the best."""
MIXED = 3
"""Families of machines that are also tried together with the scores of baselines."""
RIVALS = 4
"""Baselines that stay beside the machines after the first rung: the best there."""
RECORD = "selection.json"


class StagedSearch(ClassifierMixin, BaseEstimator):
    """Choose kernel, base, C, EPCR and number of classes in tasks of rising difficulty, and fit the best machine.

    `fit(examples, classes)` takes a table of examples and one class per example. Pair task: drop kernels and Cs that
    are clearly bad. Interexample task: how many examples per class are enough. Interclass task: keep the better half
    at each of a growing number of classes, all judged on classes that no training saw, beside every baseline; the
    best machines are also tried when started from baselines, as StackedPairSVC does. The winner is fitted on all.

    Parameters
    ----------
    kernels, bases : names, kernels, or a dictionary name → kernel.
    Cs : boxes in units of 1 / mean K(p, p), so that one grid serves kernels of any scale.
    weights : trust in baselines beside a kernel, in units of mean K(p, p); empty for no machine that starts from them.
    scoring : a scorer such as pl.evaluation.AUC().scorer(), larger = better.
    time_budget : seconds for everything, the final fit included; this may go beyond them by a tenth if trials took all.
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
        scoring: Callable[[Any, Any, Any], float] = eer,
        time_budget: float | None = None,
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
        self.scoring = scoring
        self.time_budget = time_budget
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
        """Select on examples X and their classes y; Ctrl-C ends the search early and fits the best so far."""
        self._check()
        space = Space.of(self.kernels, self.bases, self.Cs, self.weights)
        data = Development.of(
            X, y, self.random_state, self.n_splits, self.max_examples, self.max_pairs, square=space.precomputed
        )
        journal = Journal(self.directory, self._fingerprint(data))
        race = Race(
            space=space,
            data=data,
            journal=journal,
            clock=Clock(self.time_budget, journal.spent),
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            options={"memory_budget": self.memory_budget, "random_state": self.random_state},
            progress=self.progress,
        )
        stages: list[dict[str, Any]] = []
        try:
            self._run_stages(race, stages)
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
            race.notes.append("interrupted: the best machine so far was fitted")
            if not any(trial.setting and trial.eer is not None for trial in journal.trials.values()):
                raise
        self._finish(race, stages, interrupted)
        return self

    def _check(self) -> None:
        if self.time_budget is not None and not self.time_budget > 0:
            raise InputError(f"time_budget is in seconds and must be > 0, got {self.time_budget!r}; try 600")
        check_whole("random_state", self.random_state, 0)
        check_whole("max_examples", self.max_examples, 10)
        check_whole("max_pairs", self.max_pairs, 100)
        if self.n_splits is not None:
            check_whole("n_splits", self.n_splits, 1)

    def _fingerprint(self, data: Development) -> str:
        """Of the data and of every option that decides results, the same in every process."""
        names = ("kernels", "bases", "Cs", "weights", "scoring", "max_examples", "max_pairs", "random_state")
        own = [getattr(self, name) for name in names]
        try:
            return str(joblib.hash((data.examples, data.codes, data.n_splits, own)))
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            if self.directory is None:
                return ""
            raise InputError(
                f"a selection that can go on needs kernels and scorers that can be pickled ({error}); define "
                "functions in a module, or leave directory out"
            ) from error

    def _run_stages(self, race: Race, stages: list[dict[str, Any]]) -> None:
        settings = _pair_stage(race, stages)
        settings, epcr = _interexample_stage(race, stages, settings)
        _interclass_stage(race, stages, settings, epcr)

    def _finish(self, race: Race, stages: list[dict[str, Any]], interrupted: bool) -> None:
        stage, size, winner = _winner(race)
        assert isinstance(winner.what, Setting)
        self.best_setting_, self.best_score_ = winner.what, winner.score
        baselines = race.baselines_of(stage, size)
        if not any(told["task"] == stage for told in stages):  # broken off within this stage
            stages.append(_stage(stage, {size: race.results(stage, size)}, [winner.what]))
        self.beats_baselines_ = None if not baselines else winner.score > baselines[0].score
        self.best_estimator_ = self._refit(race, winner.what, size)
        self.best_params_ = {"kernel": winner.what.kernel, "base": winner.what.base, "C": self.best_estimator_.C}
        self.classes_ = self.best_estimator_.classes_
        self.record_: dict[str, Any] = {
            "data": _described(race.data),
            "stages": stages,
            "chosen": {
                **winner.what.as_json(),
                "absolute_C": self.best_estimator_.C,
                "task": stage,
                "size": asdict(size),
                "eer": winner.eer,
                "score": winner.score,
            },
            "baselines": {str(result.what): result.eer for result in baselines},
            "beats_baselines": self.beats_baselines_,
            "verdict": _verdict(stage, winner, baselines),
            "fit": {
                "status": self.best_estimator_.fit_status_,
                "kkt_gap": self.best_estimator_.kkt_gap_,
                "support_pairs": self.best_estimator_.n_support_,
            },
            "interrupted": interrupted,
            "seconds": race.clock.elapsed,
            "notes": race.notes,
            "trials": [trial.as_json() for trial in race.journal.trials.values()],
        }
        if self.directory is not None:
            write_whole(Path(self.directory) / RECORD, json.dumps(self.record_, indent=1).encode())

    def _refit(self, race: Race, setting: Setting, size: Size) -> PairSVC:
        """The chosen machine on training and validation classes together."""
        pairs, labels, classes = self._training = race.data.everything(size.epcr)
        scale, left = race.scale(setting.family), race.clock.left()
        # A choice is worth little when no time is left to train it.
        seconds = None if left is None else max(1.0, left, 0.1 * (self.time_budget or 0.0))
        machine = race.space.machine(setting.family, scale, time_budget=seconds, **race.options).set_params(
            C=setting.C / scale
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if setting.start is None:
                machine.fit(pairs, labels)
            else:
                stack = cross_fit(pairs, labels, classes, baselines_of(setting.start), seed=race.data.seed)
                machine = seeing(machine.fit(stack.pairs, stack.labels), stack)
        if machine.fit_status_ != "converged":
            race.notes.append(f"final fit stopped by {machine.fit_status_} at KKT gap {machine.kkt_gap_:.2g}")
        return machine

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
        return float(self.scoring(self.best_estimator_, X, y))

    def score_by_baselines(self, X: Any) -> BaselineScores:
        """Scores of pairs by every baseline, learnt from the same pairs as the best machine."""
        check_is_fitted(self, "best_estimator_")
        pairs, labels, classes = self._training
        return run_baselines(pairs, labels, X, classes=classes)

    @property
    def cv_results_(self) -> dict[str, list[Any]]:
        """All trials of machines and baselines, one column per field, as scikit-learn's searches give them."""
        check_is_fitted(self, "record_")
        trials = self.record_["trials"]
        return {name: [trial[name] for trial in trials] for name in trials[0]}


# --------------------------------------------------------------------------- the three stages


def _pair_stage(race: Race, stages: list[dict[str, Any]]) -> list[Setting]:
    trying = race.space.settings()
    shown: dict[Size, list[Result]] = {}
    for size in race.data.pair_sizes():
        race.machines("pair", size, trying, 1, SHARES["pair"])
        results = race.machines_of("pair", size)
        if not results:
            break
        shown[size] = results
        trying = promising(results)
    if not shown:
        failures = {trial.status for trial in race.journal.trials.values()}
        raise InputError(f"no machine could be fitted in the pair task: {'; '.join(sorted(failures)[:3])}")
    stages.append(_stage("pair", shown, trying))
    return trying


def _interexample_stage(race: Race, stages: list[dict[str, Any]], settings: list[Setting]) -> tuple[list[Setting], int]:
    sizes = race.data.interexample_sizes()
    if not sizes:
        race.notes.append("interexample task skipped: too few examples per class to hold some of them out")
        return settings, race.data.widest()
    share, trying = SHARES["interexample"], one_per_family(settings)
    shown: dict[Size, list[Result]] = {}
    before: Size | None = None
    for size in sizes:
        if before is not None:
            trying = race.affordable("interexample", before, size, trying, share)
            if not trying:
                race.notes.append(f"interexample task: no time for {size}")
                break
        race.machines("interexample", size, trying, 1, share)
        results = race.machines_of("interexample", size)
        if not results:
            break
        shown[size] = [result for result in results if result.what in set(trying)]
        trying = one_per_family(promising(shown[size]))
        before = size
    if not shown:
        return settings, race.data.widest()
    # Families that had a result at every EPCR tell how many examples are enough.
    best = {size: min(result.eer for result in results) for size, results in shown.items()}
    enough = next(size for size in shown if best[size] <= ENOUGH * min(best.values()))
    epcr = race.data.widest() if enough == before else enough.epcr
    families = {setting.family for setting in trying}
    kept = [setting for setting in settings if setting.family in families]
    stages.append(_stage("interexample", shown, kept, epcr=epcr))
    return kept, epcr


def _interclass_stage(race: Race, stages: list[dict[str, Any]], settings: list[Setting], epcr: int) -> None:
    share, splits, trying, names = SHARES["interclass"], race.data.n_splits, settings, list(BASELINES)
    shown: dict[Size, list[Result]] = {}
    before: Size | None = None
    for size in race.data.interclass_sizes(epcr):
        if before is not None:
            trying = race.affordable("interclass", before, size, trying, share)
            if not trying:
                race.notes.append(f"interclass task: no time for {size}")
                break
        # The baselines, and a machine on the scores of the best, run in any case: no budget may be so short, and no
        # halving so unlucky, that the result is worse than the best baseline.
        race.baselines("interclass", size, names, splits, None)
        baselines = race.baselines_of("interclass", size)
        names = [str(result.what) for result in baselines[:RIVALS]]
        if baselines and race.space.weights:
            alone = race.space.on_scores(names[0])
            race.machines("interclass", size, alone if before is None else alone[:1], splits, None)
        race.machines("interclass", size, trying, splits, share)
        if before is None and baselines and race.space.weights:
            own = [result.what.family for result in race.machines_of("interclass", size) if result.what in set(trying)]
            started = race.space.started(list(dict.fromkeys(own))[:MIXED], str(baselines[0].what))
            race.machines("interclass", size, started, splits, share)
        results = race.machines_of("interclass", size)
        if not results:
            break
        shown[size] = results + baselines
        trying, before = better_half(results), size
    if shown:
        stages.append(_stage("interclass", shown, trying))


# --------------------------------------------------------------------------- what came out


def _winner(race: Race) -> tuple[Any, Size, Result]:
    """The best machine of the largest rung of the hardest task that was reached."""
    reached = {(trial.stage, trial.size) for trial in race.journal.trials.values() if trial.setting and trial.eer}
    order = {"pair": 0, "interexample": 1, "interclass": 2}
    stage, size = max(reached, key=lambda rung: (order[rung[0]], rung[1].n_classes * rung[1].epcr))
    return stage, size, race.machines_of(stage, size)[0]


def _stage(task: Stage, shown: dict[Size, list[Result]], kept: list[Setting], **more: Any) -> dict[str, Any]:
    return {
        "task": task,
        "rungs": [{**asdict(size), "results": [_line(result) for result in found]} for size, found in shown.items()],
        "kept": [str(setting) for setting in kept],
        **more,
    }


def _line(result: Result) -> dict[str, Any]:
    kind = "machine" if isinstance(result.what, Setting) else "baseline"
    return {"what": str(result.what), "kind": kind, "eer": result.eer, "score": result.score, "seconds": result.seconds}


def _described(data: Development) -> dict[str, Any]:
    n_classes = int(data.codes.max()) + 1
    return {
        "examples": len(data.codes),
        "classes": n_classes,
        "classes_with_one_example": n_classes - len(data.useful),
        "validation_classes": data.n_validation,
        "splits": data.n_splits,
    }


def _verdict(stage: str, winner: Result, baselines: list[Result]) -> str:
    own = f"{winner.what}: {stage} EER {100 * winner.eer:.2f} %"
    if not baselines:
        return f"{own}; there was no baseline to compare with."
    best = baselines[0]
    other = f"{best.what}: {100 * best.eer:.2f} %"
    if winner.score > best.score:
        return f"The machine beats every baseline on the validation classes ({own}; best baseline {other})."
    tie = ", it only ties with it" if winner.score == best.score else ""
    return f"The machine does NOT beat the best baseline on the validation classes{tie} ({own}; best baseline {other})."
