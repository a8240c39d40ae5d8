"""The table people read: one row per feature, statistics of the classes beside the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesieve.data.labels import told_apart

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior


def posterior_table(posterior: FeaturePosterior) -> dict[str, Any]:
    """Columns of the result table, in feature order.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1], [-0.4], [0.3], [1.2], [0.7], [2.1]]
    >>> posterior = bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper())
    >>> [name for name in posterior.to_dict() if name.endswith("_b")]
    ['n_b', 'mean_b', 'sd_b']
    """
    table: dict[str, Any] = {
        "rank": posterior.rank,
        "feature": list(posterior.names),
        "log_odds": posterior.log_odds,
        "probability": posterior.probability,
        "log_bayes_factor": posterior.log_bayes_factor,
        "degenerate": posterior.degenerate,
        "degenerate_reason": list(posterior.degenerate_reason),
    }
    for columns in (*(finding.columns(posterior) for finding in posterior.findings), class_statistics(posterior)):
        for name, column in columns.items():
            table[name if name not in table else f"{name} (2)"] = column  # odd names of classes and blocks
    return table


def class_statistics(posterior: FeaturePosterior) -> dict[str, Any]:
    """Statistics of every class (for Gaussian data count, mean and standard deviation) and how two of them differ.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.posterior.table import class_statistics
    >>> X = [[0.0], [2.0], [4.0], [8.0]]
    >>> posterior = bs.screen(X, ["a", "a", "b", "b"], model=bs.GaussianModel.proper())
    >>> class_statistics(posterior)["mean_difference"].tolist()
    [5.0]
    """
    return posterior.statistics.describe(told_apart(posterior.classes, "difference"))
