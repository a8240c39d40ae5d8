"""Data with known truth: the synthetic model of section 6, its variants, and designs drawn from a prior."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
