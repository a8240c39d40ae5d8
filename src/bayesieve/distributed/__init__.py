"""Tables in blocks, on one machine or many: one statistic per block, merged in a fixed tree."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
