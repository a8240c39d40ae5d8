"""From a ranking to genes, known markers and gene sets (pathways)."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
