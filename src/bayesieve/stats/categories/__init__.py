"""Sufficient statistics of the categorical model: how often each level occurs per class."""
