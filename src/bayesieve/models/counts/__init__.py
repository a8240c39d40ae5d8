"""Likelihoods of counts: Poisson and negative binomial, with exposures (offsets)."""
