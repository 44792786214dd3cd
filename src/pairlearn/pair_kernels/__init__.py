"""Pair kernels: similarity of two pairs, from a base kernel's four values between them or from pair features."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
