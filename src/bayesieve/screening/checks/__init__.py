"""Checks of a list against the values it came from: samples, floors, shape, confounding, chance, a label leak."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
