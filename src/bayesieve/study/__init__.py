"""Simulation studies: many data sets of known truth, several methods, one store that survives interruptions."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
