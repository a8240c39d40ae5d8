"""Shared-kernel Bayesian screening (SKBS; Lock and Dunson, 2015): one dictionary of kernels for all features."""
