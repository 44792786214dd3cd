"""What stands on a scorer: galleries, score normalisation, decisions at a threshold, explanations."""

import lazy_loader

from pairlearn import _moved

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = _moved.old_scorers(__name__, _moved.also(_moved.VERIFIERS, __name__, __getattr__))
