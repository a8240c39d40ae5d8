"""Marginals: what every posterior says feature by feature, whether or not features are independent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesieve.utils import FloatArray, IntArray, PriorError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Named(Protocol):
    """Features that can be told by name or by position."""

    __slots__ = ()

    @property
    def n_features(self) -> int:
        """Number of features."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names."""
        ...


class Tabular(Protocol):
    """A result that has a table: columns by name, one row per feature."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Table of all features as columns, in feature order."""
        ...

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of :meth:`to_dict` as a pandas frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).to_pandas()["rank"].tolist()
        [1]
        """
        import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> pl.DataFrame:
        """Return the table of :meth:`to_dict` as a polars frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.SetPosterior.of_log_likelihood([0.0, 1.0], 0.5).to_polars()["feature"].to_list()
        ['x0']
        """
        import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame(self.to_dict())


class Marginals(Named, Tabular, Protocol):
    """Log-odds of every feature, and what follows from them alone.

    Every posterior inherits from here: of independent features, of sets, and of sizes.
    """

    __slots__ = ()

    @property
    def log_odds(self) -> FloatArray:
        r"""Marginal log-odds :math:`\log \pi^*(f) / (1 - \pi^*(f))`."""
        ...

    @property
    def probability(self) -> FloatArray:
        r"""Posterior inclusion probability: of being a marker, :math:`\pi^*(f)`, equations (2.7) and (2.14)."""
        return expit(self.log_odds)

    @property
    def null_probability(self) -> FloatArray:
        r"""Local false discovery rate: probability of no marker, :math:`1 - \pi^*(f)`, accurate when tiny."""
        return expit(-self.log_odds)

    @property
    def ranking(self) -> IntArray:
        """Feature indices from the strongest to the weakest; ties in feature order."""
        return np.argsort(-self.log_odds, kind="stable")

    @property
    def rank(self) -> IntArray:
        """Rank of every feature, 1 for the strongest."""
        ranks = np.empty(self.n_features, dtype=np.int64)
        ranks[self.ranking] = np.arange(1, self.n_features + 1)
        return ranks

    @property
    def expected_markers(self) -> float:
        r"""Expected number of markers, :math:`\sum_f \pi^*(f)`, equation (2.8)."""
        return float(self.probability.sum())


def expit(log_odds: npt.ArrayLike) -> FloatArray:
    """Probability of log-odds; ``expit(-x)`` is the accurate complement."""
    x = np.asarray(log_odds, dtype=np.float64)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def log_expit(log_odds: npt.ArrayLike) -> FloatArray:
    """Log of the probability of log-odds."""
    return -np.logaddexp(0.0, -np.asarray(log_odds, dtype=np.float64))


def logit(probability: float) -> float:
    """Log-odds of a probability."""
    if probability <= 0.0:
        return -math.inf
    return math.inf if probability >= 1.0 else math.log(probability) - math.log1p(-probability)


def check_log_odds(prior_probability: npt.ArrayLike, n_features: int) -> float | FloatArray:
    r"""Prior log-odds :math:`\log \pi / (1 - \pi)` of a checked prior probability."""
    try:
        prior = np.asarray(prior_probability, dtype=np.float64)
    except (TypeError, ValueError):
        raise PriorError(f"prior_probability must be a number, not {prior_probability!r}.") from None
    if not ((prior >= 0) & (prior <= 1)).all():
        wrong = prior[~((prior >= 0) & (prior <= 1))].flat[0]
        raise PriorError(
            f"prior_probability must lie between 0 and 1, but {wrong} was given. It is the share of "
            "features believed to be markers before seeing the data, for example 0.01."
        )
    if prior.shape not in ((), (n_features,)):
        raise PriorError(
            f"prior_probability has shape {prior.shape}; give one number, or one for each of the "
            f"{n_features} features."
        )
    with np.errstate(divide="ignore"):
        odds = np.log(prior) - np.log1p(-prior)
    if odds.ndim == 0:
        return float(odds)
    odds.flags.writeable = False
    return np.asarray(odds)
