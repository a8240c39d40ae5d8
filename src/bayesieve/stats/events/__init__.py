"""Sufficient statistics of count models: total, exposure (offset) and number of values per class."""
