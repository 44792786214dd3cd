"""Transduction: labels for the unlabelled pairs, and a machine that uses them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from pairlearn.errors import InputError
from pairlearn.machines.machine import PairMachine, check_positive, operation_for, solve
from pairlearn.machines.pair_svc import classification, refuse_weightless
from pairlearn.machines.parameters import parameter
from pairlearn.machines.resuming import Journey, Store
from pairlearn.machines.training import Training
from pairlearn.pairs import Pairs, check_signs
from pairlearn.solvers import Solution
from pairlearn.solvers.problem import Problem, Status
from pairlearn.solvers.start import feasible
from pairlearn.types import Floats, Ints


@dataclass(frozen=True)
class Switching:
    """One solve of label switching: box of the unlabelled pairs, how many labels were switched before it, objective.

    `objective` is ½‖w‖² + Σ C ξ of the labels after the switch; it falls from one switch to the next of a stage.
    """

    box: float
    switched: int
    objective: float
    kkt_gap: float


class TransductivePairSVC(
    ClassifierMixin,
    PairMachine,
    parameters="kernel base C C_unlabelled positive_share max_switches anneal tol time_budget memory_budget"
    " random_state * mirrored solver callback",
):
    """Classifier of pairs that also learns from unlabelled ones (y = 0), by multiple label switching.

    min over θ and the unknown labels of ½‖w‖² + C Σ_labelled ξ + C_u Σ_unlabelled ξ. Solve; sort the unlabelled
    support pairs with label +1 by rising and those with −1 by falling g; switch at most S couples whose g are in the
    wrong order; repeat. Each switch lowers the objective, so there are finitely many. With an antisymmetric kernel a
    couple is a pair and its own mirror image: the label of a pair with y·g < 0 is switched.

    Parameters
    ----------
    kernel, base, C, tol, time_budget, memory_budget, random_state, solver, callback : as in PairSVC.
    C_unlabelled : box of the unlabelled pairs; None takes C.
    positive_share : share of the unlabelled pairs that gets label +1; None takes what the machine trained on the
        labelled pairs says. An antisymmetric machine has ½ by construction (over both orders).
    max_switches : most couples switched at a time, S; None sets no limit.
    anneal : the box of the unlabelled pairs grows through these multiples of C_unlabelled, ending at 1.
    mirrored : solve on both orders of every pair, for checking.

    Attributes
    ----------
    transduction_ : label of every training pair, given or found, (n_pairs,).
    switching_ : one Switching per solve.

    Examples
    --------
    >>> import numpy as np, pairlearn as pl
    >>> X, classes = pl.data.double_interval(10, 6, n=40, seed=0)
    >>> pairs = pl.all_pairs(X, reflexive=False)
    >>> y = pairs.labels(classes)
    >>> known = np.where(np.arange(len(y)) % 3 == 0, y, 0)
    >>> clf = pl.TransductivePairSVC(kernel="tensor_metric", base="poly").fit(pairs, known)
    >>> bool((clf.transduction_[known != 0] == y[known != 0]).all())
    True
    """

    C: float = parameter(default=1.0, kw_only=False)
    C_unlabelled: float | None = None
    positive_share: float | None = None
    max_switches: int | None = None
    anneal: tuple[float, ...] = (0.01, 0.1, 1.0)
    warm_start: bool = parameter(default=False, init=False)
    checkpoint: Store | None = parameter(default=None, init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from Pairs (or an (n, 2, d) array) and labels ±1, 0 for unlabelled pairs."""
        self._check_parameters()
        training = self._prepare(X, sign=None)
        if training.sign < 0 and self.positive_share not in (None, 0.5):
            raise InputError("an antisymmetric machine has positive_share = 0.5 over both orders; leave it None")
        labels = check_partial_labels(y, training.pairs, training.sign)
        boxes = self.C * self._weights(len(labels), sample_weight)
        if training.sign > 0:
            refuse_weightless(labels, boxes)
        elif not boxes[labels != 0].any():
            raise InputError("all labelled pairs have weight 0; give some of them a weight > 0")
        switcher = _Switcher(self, training, labels, boxes)
        solution = switcher.run()
        self._keep(solution, switcher.problem, switcher.operation, switcher.trained)
        self.n_runs_, self.total_seconds_ = 1, self.fit_seconds_
        self.transduction_: Ints = switcher.labels.astype(np.int64)
        self.switching_ = tuple(switcher.history)
        self.classes_ = np.array([-1, 1])
        return self

    def _check_parameters(self) -> None:
        check_positive(self, C="1.0")
        if self.C_unlabelled is not None:
            check_positive(self, C_unlabelled="1.0")
        if self.positive_share is not None and not 0 <= self.positive_share <= 1:
            raise InputError(f"positive_share is a share between 0 and 1, got {self.positive_share!r}; try 0.5")
        if self.max_switches is not None and not (
            isinstance(self.max_switches, (int, np.integer)) and self.max_switches >= 1
        ):
            raise InputError(f"max_switches must be a whole number ≥ 1 or None, got {self.max_switches!r}")
        shares = np.asarray(self.anneal, dtype=np.float64)
        if (
            shares.ndim != 1
            or len(shares) == 0
            or shares[-1] != 1
            or (shares <= 0).any()
            or (np.diff(shares) <= 0).any()
        ):
            raise InputError(f"anneal must rise to 1, e.g. (0.01, 0.1, 1.0), got {self.anneal!r}")

    def predict(self, X: Any) -> Ints:
        """+1 where g > 0, else −1."""
        return np.where(self.decision_function(X) > 0, 1, -1)


class _Switcher:
    """Multiple label switching: current labels, problem and solution, and the history.

    The operator is built once: labels and boxes change from one solve to the next, the kernel does not, and each solve
    starts from the last. `trained` are the pairs as they are solved (in both orders, if mirrored), `training` as given.
    The box of the unlabelled pairs grows in stages (`anneal`): labels guessed at first would else be hard to leave.
    """

    def __init__(self, machine: TransductivePairSVC, training: Training, labels: Floats, boxes: Floats) -> None:
        self.machine, self.training, self.labels, self.boxes = machine, training, labels, boxes
        self.unknown = np.nonzero(labels == 0)[0]
        self.trained, self.problem = self._problem(0.0)
        self.operation = operation_for(machine, self.trained)
        self.history: list[Switching] = []

    def run(self) -> Solution:
        """Labels for all pairs and the machine trained with them."""
        solution = self._solved(0.0, None)
        if len(self.unknown) == 0:
            return solution
        self._label_by(solution)
        for share in self.machine.anneal:
            box = share * (self.machine.C_unlabelled or self.machine.C)
            solution = self._recorded(box, 0, solution)
            solution = self._switched(box, solution)
            if solution.status is not Status.CONVERGED:
                break
        return solution

    def _switched(self, box: float, solution: Solution) -> Solution:
        """Switch and solve while the objective falls."""
        while solution.status is Status.CONVERGED:
            wrong = self._wrong(solution)
            if len(wrong) == 0:
                break
            before = self.problem
            self.labels[wrong] *= -1.0
            after = self._recorded(box, len(wrong), solution)
            if self.history[-1].objective >= self.history[-2].objective:
                # Within the solver's tolerance nothing was won: take the switch back and stop.
                self.labels[wrong] *= -1.0
                self.history.pop()
                self.problem = before
                break
            solution = after
        return solution

    def _problem(self, box: float) -> tuple[Training, Problem]:
        boxes = self.boxes.copy()
        boxes[self.unknown] *= box / self.machine.C
        total = 0.0 if self.training.sign > 0 else None
        problem = classification(self.labels, boxes, total)
        return self.training.mirrored(problem) if self.machine.mirrored else (self.training, problem)

    def _solved(self, box: float, last: Solution | None) -> Solution:
        """The machine for the current labels, from the last solution."""
        _, self.problem = self._problem(box)
        start = None if last is None else feasible(last.coefficients, self.problem)
        journey = Journey(self.machine, self.trained, self.problem)
        solution = solve(self.machine, self.problem, self.operation, start, self.training.clock, journey)
        # The plan tells what the largest of all solves took.
        return solution if last is None else replace(solution, taken=max(solution.taken, last.taken))

    def _recorded(self, box: float, switched: int, last: Solution) -> Solution:
        solution = self._solved(box, last)
        self.history.append(Switching(box, switched, -solution.objective, solution.gap))
        return solution

    def _outputs(self, solution: Solution) -> tuple[Floats, Floats]:
        """(g, θ) of the unlabelled pairs in their given order."""
        theta = solution.coefficients
        g = self.operation.operator @ theta + solution.bias
        # Mirrored training has every pair in its given order before the first twin.
        _, place = np.unique(self.trained.given, return_index=True)
        return g[place[self.unknown]], theta[place[self.unknown]]

    def _label_by(self, solution: Solution) -> None:
        """First labels: the sign of g, or the wanted share of the largest g."""
        g, _ = self._outputs(solution)
        share = self.machine.positive_share
        if self.training.sign < 0 or share is None:
            self.labels[self.unknown] = np.where(g >= 0, 1.0, -1.0)
            return
        positive = np.argsort(-g, kind="stable")[: round(share * len(g))]
        self.labels[self.unknown] = -1.0
        self.labels[self.unknown[positive]] = 1.0

    def _wrong(self, solution: Solution) -> Ints:
        """The pairs whose labels are to be switched: couples in the wrong order, the worst first."""
        g, theta = self._outputs(solution)
        y = self.labels[self.unknown]
        most = self.machine.max_switches or len(y)
        if self.training.sign < 0:
            wrong = np.nonzero((theta != 0) & (y * g < 0))[0]
            return self.unknown[wrong[np.argsort((y * g)[wrong], kind="stable")][:most]]
        rising = np.nonzero((theta != 0) & (y > 0))[0]
        falling = np.nonzero((theta != 0) & (y < 0))[0]
        rising, falling = rising[np.argsort(g[rising], kind="stable")], falling[np.argsort(-g[falling], kind="stable")]
        n = min(len(rising), len(falling), most)
        rising, falling = rising[:n], falling[:n]
        couples = int(np.argmin(np.append(g[rising] < g[falling], False)))
        return self.unknown[np.concatenate([rising[:couples], falling[:couples]])]


def check_partial_labels(y: Any, pairs: Pairs, sign: int) -> Floats:
    """Labels ±1 or 0 as float64; both classes labelled, unless the mirror images supply the other one."""
    labels = check_signs(y, len(pairs), "+1, -1 or 0 (unlabelled)")
    if not labels.any():
        raise InputError("no pair is labelled; at least one of each class is needed")
    if sign > 0 and not ((labels > 0).any() and (labels < 0).any()):
        raise InputError("all labelled pairs have the same label; both classes are needed")
    if sign < 0 and pairs.reflexive.any():
        raise InputError("with an antisymmetric kernel g(a, a) = 0; drop reflexive pairs: pairs[~pairs.reflexive]")
    return labels
