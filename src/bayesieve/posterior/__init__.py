"""What the data say about every feature, and what errors a list of features is expected to hold."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
