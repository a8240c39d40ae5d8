"""How many samples the next study needs: futures drawn from what a pilot tells, and screened."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
