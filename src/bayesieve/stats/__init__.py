"""Mergeable sufficient statistics: all that the data say about a feature, in a few numbers per class."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
