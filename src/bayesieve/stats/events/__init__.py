"""Sufficient statistics of count models: total, exposure (offset) and number of values per class."""

from bayesieve.stats.events.event_totals import EventTotals

__all__ = ["EventTotals"]
