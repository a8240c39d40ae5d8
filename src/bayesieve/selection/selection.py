"""Selection: the features a rule picked, with the errors they are expected to hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import RuleError
from bayesieve.posterior import ErrorAnalysis, FeaturePosterior, expected_by_chance
from bayesieve.posterior.logistic import expit
from bayesieve.selection.summary import summary_lines

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class Selection(ErrorAnalysis):
    """Features picked by a rule; every question of :class:`ErrorAnalysis` can be asked of it.

    Parameters
    ----------
    posterior, mask
        The screen, and True for the selected features.
    rule
        The rule in words.
    cut
        Features pass with log-odds over this value (for rules that count, at least this value).
    n_tied_out
        Features left out although their log-odds equal the cut.

    Examples
    --------
    >>> import bayesieve as bs
    >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
    >>> posterior = bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper(), prior_probability=0.1)
    >>> selection = bs.MinimalRisk(0.5).select(posterior)
    >>> selection.names, round(selection.expected_false_positives, 4)
    (('x0',), 0.0001)
    """

    rule: str
    cut: float
    n_tied_out: int = 0

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """Selected features from the strongest to the weakest."""
        ranking = self.posterior.ranking
        return ranking[self.mask[ranking]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the selected features from the strongest to the weakest."""
        names = self.posterior.names
        return tuple(names[i] for i in self.indices.tolist())

    @property
    def threshold(self) -> float:
        """The cut as a probability."""
        return float(expit(self.cut))

    @property
    def expected_by_chance(self) -> float:
        """Number of features that would pass this cut if none were a marker and all were Gaussian."""
        return expected_by_chance(self.posterior, self.cut)

    def summary(self) -> str:
        """Tell the result in a few lines of plain text.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, ["a"] * 3 + ["b"] * 3, model=bs.GaussianModel.proper(),
        ...                       prior_probability=0.1)
        >>> print(bs.MinimalRisk(0.5).select(posterior).summary().splitlines()[0])
        1 of 2 features selected (probability over 0.5); classes a (3) and b (3).
        """
        return "\n".join(summary_lines(self))

    def __str__(self) -> str:
        return self.summary()

    def take(self, indices: npt.ArrayLike | slice) -> Selection:
        """Some of the features, in the order given, selected or not as before.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.FixedSize(1).select(posterior).take([1, 0]).mask.tolist()
        [False, True]
        """
        mask = self.mask[indices if isinstance(indices, slice) else np.asarray(indices)].copy()
        mask.flags.writeable = False
        return Selection(self.posterior.take(indices), mask, self.rule, self.cut, self.n_tied_out)

    def to_dict(self) -> dict[str, Any]:
        """Table of all features, selected or not, in feature order; ``selected`` is a column.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper())
        >>> bs.FixedSize(1).select(posterior).to_dict()["selected"].tolist()
        [True, False]
        """
        table = self.posterior.to_dict()
        head = {key: table[key] for key in ("rank", "feature", "log_odds", "probability")}
        return head | {"selected": self.mask} | {k: v for k, v in table.items() if k not in head}

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of :meth:`to_dict` as a pandas frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.FixedSize(1).select(posterior).to_pandas()["selected"].tolist()
        [True, False]
        """
        import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> pl.DataFrame:
        """Return the table of :meth:`to_dict` as a polars frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> posterior = bs.screen(X, [0, 0, 0, 1, 1, 1], model=bs.GaussianModel.proper(), prior_probability=0.1)
        >>> bs.FixedSize(1).select(posterior).to_polars()["selected"].to_list()
        [True, False]
        """
        import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame(self.to_dict())


def checked_posterior(posterior: Any) -> FeaturePosterior:
    """Check that a rule was given what :func:`bayesieve.screen` returns.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.selection import checked_posterior
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [6.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> checked_posterior(posterior) is posterior
    True
    """
    if not isinstance(posterior, FeaturePosterior):
        instead = " Call posterior.select(rule) instead." if hasattr(posterior, "select") else ""
        raise RuleError(
            f"A rule selects from a FeaturePosterior, which screen() returns, not from {type(posterior).__name__}."
            + instead
        )
    return posterior


def prefix(posterior: FeaturePosterior, size: int, rule: str) -> Selection:
    """Select the first ``size`` features of the ranking and report ties at the cut.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.selection.selection import prefix
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [6.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
    >>> prefix(posterior, 0, "nothing").names
    ()
    """
    ranking, log_odds = posterior.ranking, posterior.log_odds
    mask = np.zeros(posterior.n_features, dtype=bool)
    mask[ranking[:size]] = True
    mask.flags.writeable = False
    cut = float(log_odds[ranking[size - 1]]) if size else float("inf")
    tied = int((log_odds[ranking[size:]] == cut).sum()) if size else 0
    return Selection(posterior, mask, rule, cut, tied)
