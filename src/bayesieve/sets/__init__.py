"""Posteriors over sets of features: the general Bayesian model of section 2.1."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
