"""Errors and warnings, as a tree, and the messages they carry; see :mod:`bayesieve.utils.errors`."""

from bayesieve.utils.errors import *  # noqa: F403
from bayesieve.utils.errors import __all__  # noqa: F401
