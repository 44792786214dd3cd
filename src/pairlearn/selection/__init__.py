"""Which pairs to train and test on: fair splits, a leak check, sampling, and labels inferred by transitivity."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
