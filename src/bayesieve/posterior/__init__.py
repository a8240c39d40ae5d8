"""What the data say about every feature, and what errors a list of features is expected to hold."""

from bayesieve.posterior.count_distribution import CountLaw, PoissonBinomial
from bayesieve.posterior.error_analysis import ErrorAnalysis, Loss
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.posterior.null.expected import expected_by_chance
from bayesieve.posterior.roc import ExpectedROC, expected_roc

__all__ = [
    "CountLaw",
    "ErrorAnalysis",
    "ExpectedROC",
    "FeaturePosterior",
    "Loss",
    "PoissonBinomial",
    "expected_by_chance",
    "expected_roc",
]
