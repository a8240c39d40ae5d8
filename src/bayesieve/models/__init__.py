"""Conjugate models: the log evidence of a group of samples, and the Bayes factor of being a marker."""

from bayesieve.models.gaussian.gaussian import GaussianModel
from bayesieve.models.gaussian.normal_inverse_gamma import NormalInverseGamma, log_evidence
from bayesieve.models.model import Model

__all__ = ["GaussianModel", "Model", "NormalInverseGamma", "log_evidence"]
