"""Marginals: what every posterior says feature by feature, whether or not features are independent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayesieve.posterior.logistic import expit
from bayesieve.utils import FloatArray, IntArray

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


class Marginals(Named, Protocol):
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
        r"""Probability of being a marker, :math:`\pi^*(f)`, equations (2.7) and (2.14)."""
        return expit(self.log_odds)

    @property
    def null_probability(self) -> FloatArray:
        r"""Probability of not being a marker, :math:`1 - \pi^*(f)`, accurate when it is tiny."""
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
