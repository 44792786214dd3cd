"""From scores of pairs to rates, curves, intervals and probabilities; `pairlearn.evaluation.plots` draws on demand."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
