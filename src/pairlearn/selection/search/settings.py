"""What the staged search chooses from: pair kernels, base kernels, C, and the baseline to start from.

With s = mean K(p, p) over training pairs, the kernel K with C gives the same machine as the kernel K / s with C·s; so
C is counted in units of 1 / s, and one short grid serves a linear base on pixels as well as a Gaussian. Otherwise the
grid would have to span the scales of all kernels, and most of its fits would be of no use to any one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from pairlearn.baselines.columns import ColumnsBaseline
from pairlearn.baselines.registry import BASELINES, Makers
from pairlearn.baselines.stacked import STACK, with_scores
from pairlearn.errors import InputError
from pairlearn.kernels import NAMED, Gaussian, Kernel, Linear, OnColumns, Standardised, as_kernel
from pairlearn.machines.pair_svc import PairSVC
from pairlearn.operators.build import build
from pairlearn.pair_kernels import PairKernel, pair_kernel
from pairlearn.pairs import Pairs
from pairlearn.selection.search.whitened.names import Part, WithViews, grid, in_short, parts_of, sentence
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
GAMMA_TIMES = ", gamma × "
"""What stands between the name of a base and the factor of its γ."""
NO_KERNEL = "scores"
"""In the place of kernel and base: a machine on the scores of baselines alone."""
ALL = "stack"
"""Starting from several baselines instead of the best one."""
ON, AND, PLUS = " on ", " & ", " + "
"""What stands between a kernel and its representation, between representations taken together, and between terms."""
ALONE = ("euclid", "cosine", "pca_cosine", "wccn_cosine", "lda_cosine")
"""Baselines of every single representation: quick ones that err differently."""
BEST_OF_EACH = 8
"""Families on several representations that are looked at closer after the first look at all."""
FUSED = ("cosine", "wccn_cosine", "lda_cosine")
"""Baselines of every single representation whose scores are added up."""
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
        start = "" if self.start is None else f" from {_short(self.start)} ({self.weight:g})"
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
        names, views = baselines_of(self.start), parts_of(self.start)
        several = f"the scores of {len(names)} baselines ({', '.join(names)})"
        which = sentence(views) if views else f"the scores of {names[0]}" if len(names) == 1 else several
        if self.quick:
            return f"{which}, no machine beside it"
        if self.kernel == NO_KERNEL:
            return f"a weighted sum of {which}, no kernel, C = {self.C:g}"
        return f"{kernel} beside {which} with weight {self.weight:g}, C = {self.C:g}"

    @property
    def family(self) -> Family:
        """The setting without C."""
        return Family(self.kernel, self.base, self.start, self.weight)

    @property
    def quick(self) -> str | None:
        """The one baseline or scorer of views that it is as it is, up to where "same" begins; None for any other."""
        start = self.start if self.kernel == NO_KERNEL else None
        return None if start is None or start == ALL or PLUS in start else start

    @property
    def views(self) -> tuple[Part, ...]:
        """The whitened views whose scores are all that it asks; none for any other machine."""
        return parts_of(self.quick)

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
    baselines: Makers = field(default_factory=lambda: BASELINES)
    stack: str = ALL

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

    @property
    def makers(self) -> Makers:
        """What machines can start from: the baselines, and scorers of whitened views."""
        return WithViews(self.baselines, self.bases)

    @property
    def views(self) -> list[Setting]:
        """Machines that are whitened views: on linear and Gaussian bases, or on all where there are none of these.

        Of several representations all together, and each by itself with one Gaussian.
        """
        if self.precomputed or not self.weights:
            return []
        others = {name for name, more in self.widths.items() for name in more if not _is_width(name)}
        bases = {name: base for name, base in self.bases.items() if PLUS not in name and name not in others}
        if self.several:
            bases = {name: base for name, base in bases.items() if AND in name or name in self.widths}
        quick = [name for name, base in bases.items() if isinstance(_inside(base), (Linear, Gaussian))]
        return [self.on_score(name) for name in grid(quick or bases)]

    def on_score(self, start: str) -> Setting:
        """The machine that is one baseline, or one scorer of views, as it is."""
        return Family(NO_KERNEL, NO_KERNEL, start, 1.0).at(min(self.Cs))

    def on(self, examples: Examples) -> Space:
        """With other γ of the Gaussian bases that take theirs from these examples, as bases of their own."""
        bases, widths = dict(self.bases), dict(self.widths)
        known = {name for names in widths.values() for name in names}
        for name, base in self.bases.items():
            if _is_gaussian(base) and name not in known:
                resolved = base.resolved(examples)
                others = {f"{name}{GAMMA_TIMES}{width:g}": _wider(resolved, width) for width in WIDTHS}
                bases, widths[name] = bases | others, (*widths.get(name, ()), *others)
        return replace(self, bases=bases, widths=widths)

    def on_each(self, spans: Mapping[str, tuple[int, int]]) -> Space:
        """With kernels and baselines on each of several representations, on all together, and sums of kernels.

        Side by side and each of the same size, representations of a linear kernel are the sum of the kernels of each,
        and those of a Gaussian one their product; sums of the others are bases of their own. Where all together do
        well, all but one are tried too.
        """
        if len(spans) < 2:
            return self
        if self.precomputed:
            raise InputError("a precomputed base compares no columns; give one matrix, the sum of those of each")
        every, bases, fewer = tuple(spans), dict[str, Kernel](), dict[str, tuple[str, ...]]()
        for name, base in self.bases.items():
            bases |= {f"{name}{ON}{part}": _on(base, spans, part) for part in every}
            whole = f"{name}{ON}{AND.join(every)}"
            less = [tuple(part for part in every if part != left_out) for left_out in every] if len(every) > 2 else []
            bases |= {f"{name}{ON}{AND.join(parts)}": _on(base, spans, *parts) for parts in (every, *less)}
            fewer |= {whole: tuple(f"{name}{ON}{AND.join(parts)}" for parts in less)} if less else {}
            if not isinstance(base, (Linear, Standardised)):
                terms = [f"{name}{ON}{part}" for part in every]
                bases[PLUS.join(terms)] = reduce(add, [bases[term] for term in terms])
        return replace(self, bases=bases, widths=fewer, baselines=_baselines_on(spans), stack=_stack_on(every))

    @property
    def families(self) -> list[Family]:
        """Every pair kernel on every base, Gaussian bases with the γ of the examples; none starts from baselines.

        Of several representations the first pair kernel alone: they are the larger question.
        """
        others = {name for names in self.widths.values() for name in names}
        kernels = list(self.kernels)[: 1 if self.several else None]
        return [Family(kernel, base) for kernel in kernels for base in self.bases if base not in others]

    @property
    def several(self) -> bool:
        """Whether there is more than one representation."""
        return self.stack != ALL

    @property
    def middle(self) -> float:
        """The C to begin with: the one nearest to 1."""
        return min(self.Cs, key=lambda C: abs(np.log(C)))

    def around(self, families: Iterable[Family]) -> list[Setting]:
        """All Cs of these families, best first, and other γ of their bases with the middle C.

        Of several representations those of the best families alone, which are tried with other pair kernels too.
        """
        listed = list(families)[: BEST_OF_EACH if self.several else None]
        wider = [family._replace(base=base) for family in listed for base in self.widths.get(family.base, ())]
        wider += (
            [family._replace(kernel=kernel) for family in listed for kernel in self.kernels] if self.several else []
        )
        tried = [family.at(C) for family in listed for C in self.Cs] + [family.at(self.middle) for family in wider]
        return list(dict.fromkeys(tried))

    def neighbours(self, setting: Setting) -> list[Setting]:
        """Settings that differ a little: C a half step up or down, within the given ones, and other γ of its base."""
        if setting.quick:
            return []
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
        """Settings on the scores of baselines alone: first the best one as it is, then several together."""
        several = Family(NO_KERNEL, NO_KERNEL, self.stack, 1.0)
        return [self.on_score(baseline), *[several.at(C) for C in self._small_boxes]]

    def started(self, families: Sequence[Family], baseline: str) -> list[Setting]:
        """Settings with the kernels of these families that start from the best baseline, or from several."""
        trusts = [(start, weight) for start in (self.stack, baseline) for weight in self.weights]
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
    """The baselines that a family starts from.

    >>> baselines_of("cosine"), baselines_of("cosine on hog + cosine on lbp")
    (('cosine',), ('cosine on hog', 'cosine on lbp'))
    """
    return STACK if start == ALL else tuple(start.split(PLUS))


def plain_name(baseline: str) -> str:
    """The name of a baseline without that of its representation.

    >>> plain_name("plda on hog & lbp"), plain_name("plda")
    ('plda', 'plda')
    """
    return baseline.partition(ON)[0]


# --------------------------------------------------------------------------- several representations


def _on(base: Kernel, spans: Mapping[str, tuple[int, int]], *parts: str) -> OnColumns:
    starts, stops = zip(*(spans[part] for part in parts), strict=True)
    return OnColumns(base, starts, stops)


def _baselines_on(spans: Mapping[str, tuple[int, int]]) -> Makers:
    """Every baseline on all representations together, quick ones on each."""
    whole = AND.join(spans)
    found = {f"{name}{ON}{whole}": _baseline_on(name, *spans.values()) for name in BASELINES}
    return found | {f"{name}{ON}{part}": _baseline_on(name, span) for name in ALONE for part, span in spans.items()}


def _baseline_on(name: str, *spans: tuple[int, int]) -> Any:
    starts, stops = zip(*spans, strict=True)
    return partial(ColumnsBaseline, BASELINES[name](), starts, stops)


def _stack_on(parts: Sequence[str]) -> str:
    """Baselines whose scores are added up: of each representation and of all together."""
    return PLUS.join(f"{name}{ON}{part}" for part in (*parts, AND.join(parts)) for name in FUSED)


def _is_gaussian(base: Kernel) -> bool:
    return base == Gaussian() or (isinstance(base, OnColumns) and base.kernel == Gaussian())


def _inside(base: Kernel) -> Kernel:
    """The kernel that compares the columns of a base."""
    return base.kernel if isinstance(base, OnColumns) else base


def _is_width(name: str) -> bool:
    """Whether a base differs from another in γ, and not in its representations."""
    return GAMMA_TIMES in name


def _wider(resolved: Kernel, width: float) -> Kernel:
    """The same with so many times its γ."""
    if isinstance(resolved, OnColumns):
        return replace(resolved, kernel=_wider(resolved.kernel, width))
    assert isinstance(resolved, Gaussian)
    return Gaussian(gamma=width * float(resolved.gamma))


def _short(start: str) -> str:
    """A start in one word: a stack of many baselines by their number."""
    names = start.split(PLUS)
    return in_short(start) if len(names) == 1 else f"stack of {len(names)}"


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
