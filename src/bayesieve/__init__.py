"""Optimal Bayesian feature filtering: find the features that differ between classes.

>>> import bayesieve as bs
>>> posterior = bs.screen([[0.1], [-0.4], [0.3], [6.8], [7.7], [8.1]], ["a"] * 3 + ["b"] * 3,
...                       model=bs.GaussianModel.proper())
>>> bs.MinimalRisk(0.5).select(posterior).names
('x0',)

``__all__`` holds the names that most people need. What else there is stands in the rooms ``bs.sets`` (posteriors
over sets of features), ``bs.rivals`` (other filters), ``bs.enrichment`` (genes, known markers, gene sets),
``bs.simulation``, ``bs.study``, ``bs.report`` and ``bs.errors``. Every name is loaded when it is first used, so
that importing the package is quick; ``__init__.pyi`` lists them all.
"""

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, _names = _lazy.attach_stub(__name__, __file__)

__all__ = [
    "BayesieveError",
    "BayesieveWarning",
    "CategoricalModel",
    "CategoryCounts",
    "EventTotals",
    "FalseDiscovery",
    "FeaturePosterior",
    "FixedSize",
    "GaussianModel",
    "MinimalRisk",
    "Model",
    "Moments",
    "MostProbable",
    "NegativeBinomialModel",
    "NeymanPearson",
    "NormalInverseGamma",
    "OBFSelector",
    "Patterns",
    "PoissonModel",
    "Selection",
    "compare_methods",
    "effects",
    "fragility",
    "kinds",
    "merge_statistics",
    "permutations",
    "read_result",
    "read_statistics",
    "read_table",
    "score",
    "screen",
    "write_result",
    "write_statistics",
]
