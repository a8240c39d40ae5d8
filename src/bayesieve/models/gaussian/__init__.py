"""The Gaussian likelihood: conjugate prior, evidence, and its designs and special cases."""

from bayesieve.models.gaussian.gaussian import GaussianModel
from bayesieve.models.gaussian.normal_inverse_gamma import NormalInverseGamma, log_evidence

__all__ = ["GaussianModel", "NormalInverseGamma", "log_evidence"]
