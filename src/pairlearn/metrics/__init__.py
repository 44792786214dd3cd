"""Distances learnt online from a stream of pairs (POLA), and filters that decide what of a stream is relevant."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
