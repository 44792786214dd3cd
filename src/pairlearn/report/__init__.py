"""Reports: one record of an evaluation, written as a page, Markdown, CSV or JSON."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
