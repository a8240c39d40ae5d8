"""Posteriors over sets of features: the general Bayesian model of section 2.1."""
