"""Reports: a screen as one HTML file, and its figures for print."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
