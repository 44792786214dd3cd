"""Constructors from one definition of each parameter.

The machines share most of their parameters: a kernel, budgets, a solver. Written out, six constructors of fourteen
lines each would have to be kept alike by hand. Instead a parameter is an annotated class attribute, its default the
value of the attribute, and a machine names its parameters once, in the order of its signature:

    class PairSVR(PairMachine, parameters="kernel base C epsilon tol * warm_start solver"):
        epsilon: float = 0.1

What is inherited (kernel, base, …) is defined in `PairMachine`; a machine redefines what has another default. Type
checkers and editors read the attributes themselves (PEP 681); scikit-learn reads the signature, for get_params,
set_params and clone; people read either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature, get_annotations
from typing import Any, TypeVar

T = TypeVar("T")


def parameter(*, default: T, kw_only: bool = True, init: bool = True) -> T:
    """The default, with words for type checkers: `kw_only=False` may stand without its name, `init=False` is fixed.

    >>> parameter(default=1.0, kw_only=False)
    1.0
    """
    return default


def constructor(cls: type[Any], names: str) -> Callable[..., None]:
    """An `__init__` that stores its arguments: those before the "*" of `names` by place or name, the others by name.

    >>> class Point:
    ...     x: float = 0.0
    ...     y: float = 1.0
    >>> Point.__init__ = constructor(Point, "x * y")
    >>> vars(Point(3.0)), vars(Point(y=2.0))
    ({'x': 3.0, 'y': 1.0}, {'x': 0.0, 'y': 2.0})
    """
    signature = Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *_parameters(cls, names)])

    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807
        try:
            bound = signature.bind(self, *args, **named)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}() {error}") from None
        bound.apply_defaults()
        del bound.arguments["self"]
        vars(self).update(bound.arguments)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _parameters(cls: type[Any], names: str) -> Iterator[Parameter]:
    hints = {name: hint for base in reversed(cls.__mro__) for name, hint in get_annotations(base).items()}
    positional, _, keyword = names.partition("*")
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, positional), (Parameter.KEYWORD_ONLY, keyword)
    for kind, part in kinds:
        for name in part.split():
            yield Parameter(name, kind, default=getattr(cls, name), annotation=hints[name])
