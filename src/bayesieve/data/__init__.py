"""Labelled data (the door): values, labels and names are checked here once, and nowhere else."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
