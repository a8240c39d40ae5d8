"""Optimal Bayesian feature filtering: find the features that differ between classes.

>>> import bayesieve as bs
>>> posterior = bs.screen([[0.1], [-0.4], [0.3], [6.8], [7.7], [8.1]], ["a"] * 3 + ["b"] * 3,
...                       model=bs.GaussianModel.proper())
>>> bs.MinimalRisk(0.5).select(posterior).names
('x0',)

Every name is loaded when it is first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "BayesieveError": "errors",
    "BayesieveWarning": "errors",
    "CalibrationWarning": "errors",
    "CategoricalModel": "models.categorical",
    "CategoryCounts": "stats.category_counts",
    "DataError": "errors",
    "DataWarning": "errors",
    "DegenerateFeatureError": "errors",
    "DegenerateFeatureWarning": "errors",
    "Effects": "posterior.effects",
    "ErrorAnalysis": "posterior",
    "EventTotals": "stats.event_totals",
    "ExpectedROC": "posterior",
    "FalseDiscovery": "selection",
    "FeaturePosterior": "posterior",
    "FileError": "errors",
    "FixedSize": "selection",
    "Fragility": "posterior.fragility",
    "GaussianModel": "models",
    "Kinds": "posterior.kinds",
    "LabelError": "errors",
    "Loss": "posterior",
    "MinimalRisk": "selection",
    "MissingExtraError": "errors",
    "MissingValueError": "errors",
    "Model": "models",
    "Moments": "stats",
    "MostProbable": "selection",
    "NegativeBinomialModel": "models.negative_binomial",
    "NeymanPearson": "selection",
    "NormalInverseGamma": "models",
    "OBFSelector": "estimator",
    "OptionError": "errors",
    "Patterns": "models.patterns",
    "PoissonBinomial": "posterior",
    "PoissonModel": "models.poisson",
    "PriorError": "errors",
    "PriorWarning": "errors",
    "RuleError": "errors",
    "Selection": "selection",
    "SiteStatistics": "io.statistics",
    "StatisticsSet": "io.statistics",
    "effects": "posterior.effects",
    "expected_by_chance": "posterior",
    "expected_roc": "posterior",
    "fragility": "screening.fragility",
    "kinds": "posterior.kinds",
    "log_evidence": "models",
    "merge_statistics": "io.federation",
    "read_statistics": "io.statistics_file",
    "read_table": "io.reading",
    "screen": "screening",
    "size_factors": "stats.exposures",
    "write_statistics": "io.statistics_file",
}

__all__ = [
    "BayesieveError",
    "BayesieveWarning",
    "CalibrationWarning",
    "CategoricalModel",
    "CategoryCounts",
    "DataError",
    "DataWarning",
    "DegenerateFeatureError",
    "DegenerateFeatureWarning",
    "Effects",
    "ErrorAnalysis",
    "EventTotals",
    "ExpectedROC",
    "FalseDiscovery",
    "FeaturePosterior",
    "FileError",
    "FixedSize",
    "Fragility",
    "GaussianModel",
    "Kinds",
    "LabelError",
    "Loss",
    "MinimalRisk",
    "MissingExtraError",
    "MissingValueError",
    "Model",
    "Moments",
    "MostProbable",
    "NegativeBinomialModel",
    "NeymanPearson",
    "NormalInverseGamma",
    "OBFSelector",
    "OptionError",
    "Patterns",
    "PoissonBinomial",
    "PoissonModel",
    "PriorError",
    "PriorWarning",
    "RuleError",
    "Selection",
    "SiteStatistics",
    "StatisticsSet",
    "effects",
    "expected_by_chance",
    "expected_roc",
    "fragility",
    "kinds",
    "log_evidence",
    "merge_statistics",
    "read_statistics",
    "read_table",
    "screen",
    "size_factors",
    "write_statistics",
]

if TYPE_CHECKING:
    from bayesieve.errors import (
        BayesieveError,
        BayesieveWarning,
        CalibrationWarning,
        DataError,
        DataWarning,
        DegenerateFeatureError,
        DegenerateFeatureWarning,
        FileError,
        LabelError,
        MissingExtraError,
        MissingValueError,
        OptionError,
        PriorError,
        PriorWarning,
        RuleError,
    )
    from bayesieve.estimator import OBFSelector
    from bayesieve.io.federation import merge_statistics
    from bayesieve.io.reading import read_table
    from bayesieve.io.statistics import SiteStatistics, StatisticsSet
    from bayesieve.io.statistics_file import read_statistics, write_statistics
    from bayesieve.models import GaussianModel, Model, NormalInverseGamma, log_evidence
    from bayesieve.models.categorical import CategoricalModel
    from bayesieve.models.negative_binomial import NegativeBinomialModel
    from bayesieve.models.patterns import Patterns
    from bayesieve.models.poisson import PoissonModel
    from bayesieve.posterior import (
        ErrorAnalysis,
        ExpectedROC,
        FeaturePosterior,
        Loss,
        PoissonBinomial,
        expected_by_chance,
        expected_roc,
    )
    from bayesieve.posterior.effects import Effects, effects
    from bayesieve.posterior.fragility import Fragility
    from bayesieve.posterior.kinds import Kinds, kinds
    from bayesieve.screening import screen
    from bayesieve.screening.fragility import fragility
    from bayesieve.selection import FalseDiscovery, FixedSize, MinimalRisk, MostProbable, NeymanPearson, Selection
    from bayesieve.stats import Moments
    from bayesieve.stats.category_counts import CategoryCounts
    from bayesieve.stats.event_totals import EventTotals
    from bayesieve.stats.exposures import size_factors


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayesieve' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bayesieve.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
