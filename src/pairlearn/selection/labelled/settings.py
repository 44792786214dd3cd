"""What a search on labelled pairs chooses from: machines, pair kernels, base kernels, and one C for all of them.

With s = mean K(p, p), C counts in units of 1 / s as in `StagedSearch`; least squares have α = s / C, so that a larger C
fits closer whatever the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pairlearn.errors import InputError
from pairlearn.evaluation.objectives.named import Question
from pairlearn.kernels import as_kernel
from pairlearn.machines.pair_ranker import PairRanker
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.machines.pair_svr import PairSVR
from pairlearn.machines.ridge.pair_ridge import PairRidge
from pairlearn.operators.build import build
from pairlearn.pair_kernels import PairKernel, on_blocks, on_invariant, on_signed, pair_kernel
from pairlearn.pairs import Pairs
from pairlearn.scorers.pair_mean import PairMean
from pairlearn.selection.search.settings import BASES as ONE_TABLE
from pairlearn.selection.search.settings import CS, SCALE_SAMPLE

TWO_TABLES = ("linear", "rbf", "standardised")
"""Base kernels of two tables, the same name for either side."""
SUM = "tensor_sum"
"""tensor + direct_sum: what two examples do together, and what each of them does by itself."""
KERNELS: dict[tuple[Question, int], tuple[str, ...]] = {
    ("link", 1): ("tensor_metric", "metric", "tensor"),
    ("link", 2): ("tensor", SUM),
    ("order", 1): ("difference", "wedge"),
    ("number", 1): ("tensor_metric", "metric", "tensor"),
    ("number", 2): ("tensor", SUM),
}
"""Pair kernels that are tried by default, by the question and the number of tables."""
MACHINES: dict[Question, tuple[str, ...]] = {
    "link": ("ridge", "svc"),
    "order": ("ridge", "ranker"),
    "number": ("ridge", "svr"),
}
"""Machines by question, the quickest first."""


class Family(NamedTuple):
    """Settings that differ in C only."""

    machine: str
    kernel: str
    base: str

    def at(self, C: float) -> Setting:
        """The setting of this family with one C."""
        return Setting(*self, C)


@dataclass(frozen=True)
class Setting:
    """One machine: C counts in units of 1 / mean K(p, p), for least squares α = mean K(p, p) / C.

    `beside`: others whose answers are averaged with its own.

    >>> str(Setting("ridge", "tensor", "rbf", 10.0))
    'ridge: tensor / rbf, C = 10'
    """

    machine: str
    kernel: str
    base: str
    C: float
    beside: tuple[Setting, ...] = ()

    @property
    def parts(self) -> tuple[Setting, ...]:
        """The settings that are averaged, itself first; a setting by itself is its only part."""
        return (replace(self, beside=()), *self.beside)

    @property
    def family(self) -> Family:
        """The setting without C."""
        return Family(self.machine, self.kernel, self.base)

    @property
    def sentence(self) -> str:
        """What it is, in words of a user."""
        own = f"{self.machine} with the pair kernel {self.kernel} on the base kernel {self.base}, C = {self.C:g}"
        others = [each.sentence for each in self.beside]
        return "the mean of " + " and ".join((own, *others)) if others else own

    def as_json(self) -> dict[str, Any]:
        """Plain names and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        own = f"{self.machine}: {self.kernel} / {self.base}, C = {self.C:g}"
        return own if not self.beside else "mean of " + "; ".join((own, *map(str, self.beside)))


def _ridge(kernel: Any, base: Any, C: float, options: dict[str, Any]) -> PairRidge:
    kept = {name: value for name, value in options.items() if name != "random_state"}
    return PairRidge(kernel, base, alpha=1.0 / C, **kept)


BUILT: dict[str, Callable[[Any, Any, float, dict[str, Any]], Any]] = {
    "ridge": _ridge,
    "svc": lambda kernel, base, C, options: PairSVC(kernel, base, C=C, class_weight="balanced", **options),
    "ranker": lambda kernel, base, C, options: PairRanker(kernel, base, C=C, **options),
    "svr": lambda kernel, base, C, options: PairSVR(kernel, base, C=C, **options),
}
"""How a machine is made of kernel, base and absolute C."""


@dataclass(frozen=True, eq=False)
class Space:
    """All settings: machines × kernels × bases × Cs; `scales` are the means of K(p, p) over a sample of the pairs."""

    machines: tuple[str, ...]
    kernels: dict[str, PairKernel]
    bases: dict[str, Any]
    Cs: tuple[float, ...]
    pairs: Pairs
    scales: dict[tuple[str, str], float]

    @classmethod
    def of(
        cls, question: Question, pairs: Pairs, machines: Any, kernels: Any, bases: Any, Cs: Sequence[float] | None
    ) -> Space:
        """Check what the user asked for; None takes the usual."""
        n_tables = 1 if pairs.right_examples is None else 2
        if (question, n_tables) not in KERNELS:
            raise InputError("who comes first is asked of two examples of one table; leave right_examples out")
        usual: Any = ONE_TABLE if n_tables == 1 else TWO_TABLES
        found = {name: pair_kernel(value) for name, value in _named("kernels", kernels or KERNELS[question, n_tables])}
        known = dict(_named("bases", bases or usual))
        for base in known.values():
            as_kernel(base)
        space = cls(_machines(question, machines), _with_blocks(found, pairs, question), known, _boxes(Cs), pairs, {})
        space._check_symmetry(question, n_tables)
        return space

    def _check_symmetry(self, question: Question, n_tables: int) -> None:
        for name, kernel in self.kernels.items():
            if question == "order" and kernel.symmetry != "antisymmetric":
                raise InputError(f"who comes first needs antisymmetric pair kernels, not {name!r}; try difference")
            if question == "link" and n_tables == 1 and kernel.symmetry != "symmetric":
                raise InputError(f"links have no order, but the pair kernel {name!r} has; try tensor_metric")

    @property
    def families(self) -> list[Family]:
        """Every machine with every kernel on every base, the quick machine first."""
        return [Family(*each) for each in _product(self.machines, self.kernels, self.bases)]

    @property
    def middle(self) -> float:
        """The C to begin with: the one nearest to 1."""
        return min(self.Cs, key=lambda C: abs(np.log(C)))

    def around(self, families: Iterable[Family]) -> list[Setting]:
        """All Cs of these families."""
        return [family.at(C) for family in families for C in self.Cs]

    def neighbours(self, setting: Setting) -> list[Setting]:
        """C a half step up or down, between the least and the largest that were asked for."""
        near = (float(f"{setting.C * step:.2g}") for step in (10.0**0.5, 10.0**-0.5))
        return [replace(setting, C=C) for C in near if self.Cs[0] < C < self.Cs[-1]]

    def machine(self, setting: Setting, **options: Any) -> Any:
        """The machine of a setting."""
        if setting.beside:
            return PairMean([self.machine(part, **_shared(options, setting)) for part in setting.parts])
        kernel, base = self.kernels[setting.kernel], self.bases[setting.base]
        return BUILT[setting.machine](kernel, base, setting.C / self._scale(setting), options)

    def _scale(self, setting: Setting) -> float:
        """Mean K(p, p) over a sample of all pairs, so that one C is one machine on every split and size."""
        key = (setting.kernel, setting.base)
        if key not in self.scales:
            kernel = self.kernels[setting.kernel].on(as_kernel(self.bases[setting.base]))
            chosen = np.random.default_rng(0).permutation(len(self.pairs))[:SCALE_SAMPLE]
            size = float(np.mean(build(kernel, self.pairs[np.sort(chosen)]).operator.diagonal()))
            if not size > 0:
                raise InputError(
                    f"{setting.kernel} / {setting.base}: all kernel values are zero; are all examples zero?"
                )
            self.scales[key] = size
        return self.scales[key]


def _shared(options: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """Options of one of the machines that are averaged: an equal share of the seconds."""
    seconds = options.get("time_budget")
    return {**options, "time_budget": None if seconds is None else seconds / len(setting.parts)}


# --------------------------------------------------------------------------- what the user asked for


def _named(what: str, values: Any) -> list[tuple[str, Any]]:
    """(name, value): a name names itself, any other value its repr, unless the user gave names."""
    if isinstance(values, Mapping):
        return [(str(name), value) for name, value in values.items()]
    if not isinstance(values, (list, tuple)) or not values:
        raise InputError(f"{what} is a list of names, or a dictionary of them, with one at least; got {values!r}")
    return [(value if isinstance(value, str) else repr(value), value) for value in values]


def _with_blocks(kernels: dict[str, PairKernel], pairs: Pairs, question: Question) -> dict[str, PairKernel]:
    """The kernels beside features of the pairs, if there are any; for an order also on signed features alone."""
    names = [name for name in ("signed", "invariant") if getattr(pairs, name) is not None]
    if not names:
        return kernels
    found = {
        name if kernel.blocks else " + ".join((name, *names)): kernel if kernel.blocks else _beside(kernel, names)
        for name, kernel in kernels.items()
    }
    if question == "order" and names == ["signed"]:
        found |= {"signed": on_signed("linear"), "signed, bent": on_blocks("rbf", ("signed",)).skewed()}
    return found


def _beside(kernel: PairKernel, names: list[str]) -> PairKernel:
    """The kernel plus one on each block, with its own symmetry."""
    odd = kernel.symmetry == "antisymmetric"
    if odd and "invariant" in names:
        raise InputError("features that stay when a pair is swapped say nothing of an order; drop invariant=")
    parts = {"signed": on_signed("linear" if odd else "poly"), "invariant": on_invariant("linear")}
    return sum((parts[name] for name in names), start=kernel)


def _machines(question: Question, machines: Any) -> tuple[str, ...]:
    wanted = MACHINES[question] if machines is None else tuple(machines)
    strange = [name for name in wanted if name not in MACHINES[question]]
    if strange or not wanted or isinstance(machines, str):
        raise InputError(f"machines for this question are {', '.join(MACHINES[question])}; got {machines!r}")
    return tuple(name for name in MACHINES[question] if name in wanted)


def _boxes(Cs: Sequence[float] | None) -> tuple[float, ...]:
    """Different finite numbers > 0, sorted."""
    numbers = tuple(sorted({float(value) for value in (CS if Cs is None else Cs)}))
    if not numbers or not all(np.isfinite(number) and number > 0 for number in numbers):
        raise InputError(f"Cs must be finite numbers > 0, got {Cs!r}; try [0.1, 1, 10]")
    return numbers


def _product(*names: Iterable[str]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for each in names:
        found = [(*before, name) for before in found for name in each]
    return found
