"""Learning from pairs of objects.

The names in `__init__.pyi` are loaded when they are first used, so that `import pairlearn` stays quick. What most
people need stands here; the rest in `pl.kernels`, `pl.pair_kernels`, `pl.baselines`, `pl.metrics`, `pl.similarities`,
`pl.scorers`, `pl.evaluation`, `pl.selection`, `pl.data`, `pl.graphs`, `pl.images`, `pl.records`,
`pl.report` and `pl.testing`.
"""

from pairlearn import _doors, _moved

__getattr__, __dir__, __all__ = _doors.attach(__name__, __file__)
__getattr__ = _moved.also(_moved.ROOT, __name__, __getattr__)
