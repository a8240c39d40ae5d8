"""Conjugate models: the log evidence of a group of samples, and the Bayes factor of being a marker."""

from bayesieve.models.gaussian import GaussianModel
from bayesieve.models.model import Model
from bayesieve.models.normal_inverse_gamma import NormalInverseGamma, log_evidence

__all__ = ["GaussianModel", "Model", "NormalInverseGamma", "log_evidence"]
