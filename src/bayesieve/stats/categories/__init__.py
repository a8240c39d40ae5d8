"""Sufficient statistics of the categorical model: how often each level occurs per class."""

from bayesieve.stats.categories.category_counts import CategoryCounts

__all__ = ["CategoryCounts"]
