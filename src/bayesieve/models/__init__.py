"""Conjugate models: the log evidence of a group of samples, and the Bayes factor of being a marker."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
