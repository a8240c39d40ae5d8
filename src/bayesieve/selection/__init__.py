"""One rule per criterion of section 3: a posterior goes in, a selection comes out."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
