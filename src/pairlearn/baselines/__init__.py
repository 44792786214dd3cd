"""What a machine has to beat: untrained and learnt baselines, one registry, and a machine that starts from them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
