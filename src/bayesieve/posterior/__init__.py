"""Posterior inclusion probabilities of features, and the errors that a list of them is expected to hold."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
