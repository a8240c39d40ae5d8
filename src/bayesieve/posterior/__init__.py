"""What the data say about every feature, and what errors a list of features is expected to hold."""

from bayesieve.posterior.chance import expected_by_chance
from bayesieve.posterior.count_law import CountLaw
from bayesieve.posterior.error_analysis import ErrorAnalysis
from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.posterior.loss import Loss
from bayesieve.posterior.poisson_binomial import PoissonBinomial
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
