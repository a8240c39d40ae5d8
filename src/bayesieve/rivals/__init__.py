"""Other filters (rivals): the methods the paper compares with, all with one type of result."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
