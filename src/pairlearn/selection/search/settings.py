"""What the staged search chooses from: pair kernels, base kernels, C, and the baseline to start from.

With s = mean K(p, p) over training pairs, the kernel K with C gives the same machine as the kernel K / s with C·s; so
C is counted in units of 1 / s, and one short grid serves a linear base on pixels as well as a Gaussian. Otherwise the
grid would have to span the scales of all kernels, and most of its fits would be of no use to any one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pairlearn.baselines.stacked import STACK, with_scores
from pairlearn.errors import InputError
from pairlearn.kernels import NAMED, Gaussian, Kernel, as_kernel
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.operators.build import build
from pairlearn.pair_kernels import PairKernel, pair_kernel
from pairlearn.pairs import Pairs
from pairlearn.types import Examples

KERNELS = ("tensor_metric", "metric", "tensor")
"""Pair kernels tried by default: differences of examples, products of examples, and both."""
BASES: dict[str, Kernel] = {name: NAMED[name] for name in ("linear", "poly", "rbf", "standardised")}
"""Base kernels tried by default, each by the name that `base=` knows it by."""
CS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Boxes in units of 1 / mean K(p, p)."""
WEIGHTS = (1.0, 10.0)
"""Trust in the scores of baselines beside a kernel, in units of mean K(p, p)."""
WIDTHS = (0.3, 3.0)
"""Other γ that are tried where a Gaussian base does well, in units of the γ that it takes from the examples."""
NO_KERNEL = "scores"
"""In the place of kernel and base: a machine on the scores of baselines alone."""
ALL = "stack"
"""Starting from several baselines instead of the best one."""
SCALE_SAMPLE = 2000
"""Pairs over which the size of a kernel's values is measured."""


class Family(NamedTuple):
    """Settings that differ in C only: one path of warm starts.

    `start` names the baseline whose scores are features of the pairs, ALL for several of them, None for a plain
    machine; `weight` is the trust in these scores.
    """

    kernel: str
    base: str
    start: str | None = None
    weight: float = 0.0

    def at(self, C: float) -> Setting:
        """The setting of this family with one C."""
        return Setting(self.kernel, self.base, C, self.start, self.weight)

    def __str__(self) -> str:
        start = "" if self.start is None else f" from {self.start} ({self.weight:g})"
        return f"{self.kernel if self.kernel == NO_KERNEL else f'{self.kernel} / {self.base}'}{start}"


@dataclass(frozen=True)
class Setting:
    """One machine: C counts in units of 1 / mean K(p, p), so that one grid serves kernels of any scale.

    >>> Setting("metric", "linear", 10.0).family
    Family(kernel='metric', base='linear', start=None, weight=0.0)
    """

    kernel: str
    base: str
    C: float
    start: str | None = None
    weight: float = 0.0

    @property
    def sentence(self) -> str:
        """What it is, in words of a user: what compares two examples, and what is asked beside it."""
        kernel = f"pair kernel {self.kernel} on the base kernel {self.base}"
        if self.start is None:
            return f"{kernel}, C = {self.C:g}"
        names = baselines_of(self.start)
        which = names[0] if len(names) == 1 else f"{len(names)} baselines ({', '.join(names)})"
        if self.kernel == NO_KERNEL:
            return f"a weighted sum of the scores of {which}, no kernel, C = {self.C:g}"
        return f"{kernel} beside the scores of {which} with weight {self.weight:g}, C = {self.C:g}"

    @property
    def family(self) -> Family:
        """The setting without C."""
        return Family(self.kernel, self.base, self.start, self.weight)

    def as_json(self) -> dict[str, Any]:
        """Plain names and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.family}, C = {self.C:g}"


@dataclass(frozen=True, eq=False)
class Space:
    """All settings: kernels × bases × Cs, later also from the best baseline with each of `weights`.

    A machine that starts from a baseline with standardised scores z(p) has the kernel K(p, q) + w·s·z(p)·z(q), where s
    is the mean of K(p, p): for w = 1 one score weighs about as much as the kernel. Only small Cs are tried, with which
    the machine stays near the baseline and corrects it where many pairs contradict it.
    """

    kernels: dict[str, PairKernel]
    bases: dict[str, Kernel]
    Cs: tuple[float, ...]
    weights: tuple[float, ...]
    widths: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, kernels: Any, bases: Any, Cs: Sequence[float], weights: Sequence[float]) -> Space:
        """Check what the user asked for."""
        space = cls(
            {name: pair_kernel(value) for name, value in _named("kernels", kernels).items()},
            {name: as_kernel(value) for name, value in _named("bases", bases).items()},
            _numbers("Cs", Cs),
            _numbers("weights", weights, least=0),
        )
        for name, kernel in space.kernels.items():
            if kernel.symmetry != "symmetric":
                raise InputError(f"the pair kernel {name!r} is not symmetric; selection needs symmetric ones")
        if space.precomputed and len(space.bases) > 1:
            raise InputError("a precomputed base cannot be compared with bases that need features; select it alone")
        return space

    @property
    def precomputed(self) -> bool:
        """Whether examples are rows of a matrix of similarities."""
        return any(base.precomputed for base in self.bases.values())

    def on(self, examples: Examples) -> Space:
        """With other γ of the Gaussian bases that take theirs from these examples, as bases of their own."""
        bases, widths = dict(self.bases), dict[str, tuple[str, ...]]()
        for name, base in self.bases.items():
            if base == Gaussian():
                resolved = base.resolved(examples)
                assert isinstance(resolved, Gaussian)
                gamma = float(resolved.gamma)
                others = {f"{name}, gamma × {width:g}": Gaussian(gamma=width * gamma) for width in WIDTHS}
                bases, widths[name] = bases | others, tuple(others)
        return replace(self, bases=bases, widths=widths)

    @property
    def families(self) -> list[Family]:
        """Every pair kernel on every base, Gaussian bases with the γ of the examples; none starts from baselines."""
        others = {name for names in self.widths.values() for name in names}
        return [Family(kernel, base) for kernel in self.kernels for base in self.bases if base not in others]

    @property
    def middle(self) -> float:
        """The C to begin with: the one nearest to 1."""
        return min(self.Cs, key=lambda C: abs(np.log(C)))

    def around(self, families: Iterable[Family]) -> list[Setting]:
        """All Cs of these families, and other γ of their bases with the middle C."""
        listed = list(families)
        wider = [family._replace(base=base) for family in listed for base in self.widths.get(family.base, ())]
        return [family.at(C) for family in listed for C in self.Cs] + [family.at(self.middle) for family in wider]

    def neighbours(self, setting: Setting) -> list[Setting]:
        """Settings that differ a little: C a half step up or down, within the given ones, and other γ of its base."""
        low, high = min(self.Cs), max(self._small_boxes if setting.start is not None else self.Cs)
        Cs = [float(f"{setting.C * step:.3g}") for step in (10.0**0.5, 10.0**-0.5)]
        steps = [replace(setting, C=C) for C in Cs if low < C < high]
        group = next((names for names in self._groups if setting.base in names), ())
        return steps + [replace(setting, base=base) for base in group if base != setting.base]

    @property
    def _groups(self) -> list[tuple[str, ...]]:
        """Names of bases that differ in γ only."""
        return [(name, *others) for name, others in self.widths.items()]

    def on_scores(self, baseline: str) -> list[Setting]:
        """Settings on the scores of the best baseline, or of several, alone; the baseline with the smallest C first."""
        return [Family(NO_KERNEL, NO_KERNEL, start, 1.0).at(C) for start in (baseline, ALL) for C in self._small_boxes]

    def started(self, families: Sequence[Family], baseline: str) -> list[Setting]:
        """Settings with the kernels of these families that start from the best baseline, or from several."""
        trusts = [(start, weight) for start in (ALL, baseline) for weight in self.weights]
        mixed = [family._replace(start=start, weight=weight) for family in families for start, weight in trusts]
        return [family.at(C) for family in mixed for C in self._small_boxes]

    @property
    def _small_boxes(self) -> tuple[float, ...]:
        """Boxes for machines that start from baselines: they shall not go far from these."""
        return tuple(C for C in self.Cs if C <= 1.0) or self.Cs[:1]

    def machine(self, family: Family, scale: float, base: Any = None, **options: Any) -> PairSVC:
        """The machine of a family, C = 1 / scale; `base` is a Gram matrix to share, None for the family's own base.

        Classes are balanced, since all pairs of c classes have about one positive in c.
        """
        kernel = None if family.kernel == NO_KERNEL else self.kernels[family.kernel]
        if family.start is not None:
            kernel = with_scores(kernel, family.weight * scale)
        assert kernel is not None
        if base is None and family.base != NO_KERNEL:
            base = self.bases[family.base]
        return PairSVC(kernel, "linear" if base is None else base, C=1.0 / scale, class_weight="balanced", **options)

    def scale(self, family: Family, pairs: Pairs, seed: int) -> float:
        """Mean K(p, p) over a sample of pairs, of the kernel without baselines; 1 where there is none."""
        if family.kernel == NO_KERNEL:
            return 1.0
        chosen = np.random.default_rng(seed).permutation(len(pairs))[:SCALE_SAMPLE]
        kernel = self.kernels[family.kernel].on(self.bases[family.base])
        size = float(np.mean(build(kernel, pairs[np.sort(chosen)]).operator.diagonal()))
        if not size > 0:
            raise InputError(f"{family}: all kernel values are zero; are all examples zero?")
        return size


def baselines_of(start: str) -> tuple[str, ...]:
    """The baselines that a family starts from."""
    return STACK if start == ALL else (start,)


def _named(what: str, values: Any) -> dict[str, Any]:
    """Kernels by name: a name names itself, any other value its repr, unless the user gave names."""
    if isinstance(values, Mapping):
        named = {str(name): value for name, value in values.items()}
    elif isinstance(values, (list, tuple)):
        named = {value if isinstance(value, str) else repr(value): value for value in values}
    else:
        raise InputError(f"{what} is a list of names or a dictionary name → kernel, got {values!r}")
    if not named:
        raise InputError(f"{what} is empty; name at least one")
    return named


def _numbers(what: str, values: Sequence[float], least: int = 1) -> tuple[float, ...]:
    """Different finite numbers > 0, sorted; at least so many."""
    numbers = tuple(sorted({float(value) for value in values}))
    if len(numbers) < least or not all(np.isfinite(number) and number > 0 for number in numbers):
        raise InputError(f"{what} must be finite numbers > 0, got {list(values)!r}; try [0.1, 1, 10]")
    return numbers
