"""Optimal Bayesian feature filtering: find the features that differ between two classes.

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
    "DataError": "errors",
    "DataWarning": "errors",
    "DegenerateFeatureError": "errors",
    "DegenerateFeatureWarning": "errors",
    "ErrorAnalysis": "posterior",
    "ExpectedROC": "posterior",
    "FalseDiscovery": "selection",
    "FeaturePosterior": "posterior",
    "FileError": "errors",
    "FixedSize": "selection",
    "GaussianModel": "models",
    "LabelError": "errors",
    "Loss": "posterior",
    "MinimalRisk": "selection",
    "MissingExtraError": "errors",
    "MissingValueError": "errors",
    "Moments": "stats",
    "MostProbable": "selection",
    "NeymanPearson": "selection",
    "NormalInverseGamma": "models",
    "OBFSelector": "estimator",
    "OptionError": "errors",
    "PoissonBinomial": "posterior",
    "PriorError": "errors",
    "PriorWarning": "errors",
    "RuleError": "errors",
    "Selection": "selection",
    "SiteStatistics": "io.statistics",
    "StatisticsSet": "io.statistics",
    "expected_by_chance": "posterior",
    "expected_roc": "posterior",
    "log_evidence": "models",
    "merge_statistics": "io.federation",
    "read_statistics": "io.statistics_file",
    "read_table": "io.reading",
    "screen": "screening",
    "write_statistics": "io.statistics_file",
}

__all__ = [
    "BayesieveError",
    "BayesieveWarning",
    "CalibrationWarning",
    "DataError",
    "DataWarning",
    "DegenerateFeatureError",
    "DegenerateFeatureWarning",
    "ErrorAnalysis",
    "ExpectedROC",
    "FalseDiscovery",
    "FeaturePosterior",
    "FileError",
    "FixedSize",
    "GaussianModel",
    "LabelError",
    "Loss",
    "MinimalRisk",
    "MissingExtraError",
    "MissingValueError",
    "Moments",
    "MostProbable",
    "NeymanPearson",
    "NormalInverseGamma",
    "OBFSelector",
    "OptionError",
    "PoissonBinomial",
    "PriorError",
    "PriorWarning",
    "RuleError",
    "Selection",
    "SiteStatistics",
    "StatisticsSet",
    "expected_by_chance",
    "expected_roc",
    "log_evidence",
    "merge_statistics",
    "read_statistics",
    "read_table",
    "screen",
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
    from bayesieve.models import GaussianModel, NormalInverseGamma, log_evidence
    from bayesieve.posterior import (
        ErrorAnalysis,
        ExpectedROC,
        FeaturePosterior,
        Loss,
        PoissonBinomial,
        expected_by_chance,
        expected_roc,
    )
    from bayesieve.screening import screen
    from bayesieve.selection import (
        FalseDiscovery,
        FixedSize,
        MinimalRisk,
        MostProbable,
        NeymanPearson,
        Selection,
    )
    from bayesieve.stats import Moments


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayesieve' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bayesieve.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
