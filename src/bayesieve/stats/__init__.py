"""Mergeable sufficient statistics: all that the data say about a feature, in a few numbers per class."""

from bayesieve.stats.moments.moments import Moments

__all__ = ["Moments"]
