"""Sufficient statistics of the Gaussian model: count, mean and sum of squared deviations per class.

``moments`` the statistic and its algebra, ``kernels`` the compiled loops, ``accumulate`` from a table to
the statistic, ``streaming`` the same in parts.
"""
