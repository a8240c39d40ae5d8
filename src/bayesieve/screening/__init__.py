"""Screening: from a table to the Bayes factor and the log-odds of every feature."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
