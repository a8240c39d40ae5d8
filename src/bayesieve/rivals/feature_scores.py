"""Rival: a filter with a name; FeatureScores: what it says about every feature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import check_names
from bayesieve.posterior import FeaturePosterior, Tabular, benjamini_hochberg, check_same_features
from bayesieve.utils import (
    BoolArray,
    DataError,
    FloatArray,
    Glimpse,
    Glimpsed,
    Message,
    OptionError,
    RuleError,
    check_whole,
    numbers,
)

_LEVEL = 0.05


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FeatureScores(Glimpsed, Tabular):
    """A score per feature, larger for stronger features; p-values, or a list of its own, where a method has them.

    It is also a finding: ``posterior.with_finding(scores)`` puts its columns beside the log-odds.

    Parameters
    ----------
    method
        Name of the method, for columns and sentences: letters, digits and underscores.
    score
        One number per feature; NaN where the method says nothing.
    feature_names
        Names, or None for ``x0``, ``x1``, ...
    log_p_value
        Natural logarithm of the p-values, which may lie far below the smallest float; NaN where there is no
        test, None for a method without p-values.
    details
        Further columns.
    caveat
        What the p-values rest on: a sentence for the summary.
    adjusted
        Adjusted p-values of the whole family of features, where these are only some of it.
    selected
        True for the features of the list that the method chooses by itself, as a LASSO does; None for a method
        that only ranks.
    tie_break
        Scores that order features whose score is the same; None for the order of the table.
    diagnostics
        What the method says about itself, by name: iterations, convergence of chains, the penalty chosen.

    Examples
    --------
    >>> import bayesieve as bs
    >>> scores = bs.FeatureScores("example", [0.3, 5.0, 1.2], log_p_value=[-0.1, -8.0, -1.0])
    >>> scores.ranking.tolist(), scores.top(2)
    ([1, 2, 0], ('x1', 'x2'))
    >>> scores.adjusted_p_value.round(4).tolist()
    [0.9048, 0.001, 0.5518]
    """

    method: str
    score: FloatArray
    feature_names: tuple[str, ...] | None = None
    log_p_value: FloatArray | None = None
    details: Mapping[str, FloatArray] = field(default_factory=dict)
    caveat: str | Message = ""
    adjusted: FloatArray | None = None
    selected: BoolArray | None = None
    tie_break: FloatArray | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]\w*", self.method, re.ASCII):
            raise DataError(f"A method is named by letters, digits and underscores, not {self.method!r}.")
        score = _column("score", self.score, None)
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "feature_names", check_names(self.feature_names, score.size))
        if self.selected is not None:
            object.__setattr__(self, "selected", _mask(self.selected, score.size))
        for name in ("log_p_value", "adjusted", "tie_break"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _column(name, getattr(self, name), score.size))
        if self.log_p_value is not None and (self.log_p_value > 0).any():
            raise DataError(
                f"{int((self.log_p_value > 0).sum())} log p-values are above 0. Logarithms of p-values are meant."
            )
        columns = {name: _column(name, value, score.size) for name, value in self.details.items()}
        object.__setattr__(self, "details", columns)

    def _glimpse(self) -> Glimpse:
        """Return the strongest features."""
        places = self.ranking[:5]
        columns = {
            "feature": [self.names[i] for i in places.tolist()],
            "score": numbers(self.score[places], ".4g"),
        }
        if self.log_p_value is not None:
            columns["p-value"] = numbers(np.exp(self.log_p_value[places]), ".3g")
        return Glimpse(f"FeatureScores of {self.n_features:,} features by {self.method}", (), columns)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.score.size)

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names; made up as ``x0``, ``x1``, ... when none were given."""
        return self.feature_names or tuple(f"x{i}" for i in range(self.n_features))

    @property
    def ranking(self) -> npt.NDArray[np.int64]:
        """Feature indices from the strongest on; ties by ``tie_break``, then in feature order; NaN last."""
        if self.tie_break is None:
            return np.argsort(-self.score, kind="stable")
        return np.lexsort((-self.tie_break, -self.score))

    @property
    def selection(self) -> tuple[str, ...]:
        """Names of the features that the method chose by itself, the strongest first."""
        if self.selected is None:
            raise RuleError(f"{self.method} chooses no list of its own. Take the best features with top(n).")
        ranking = self.ranking
        return self._names_of(ranking[self.selected[ranking]], kept=True)

    @property
    def rank(self) -> npt.NDArray[np.int64]:
        """Rank of every feature, 1 for the strongest."""
        ranks = np.empty(self.n_features, dtype=np.int64)
        ranks[self.ranking] = np.arange(1, self.n_features + 1)
        return ranks

    @property
    def p_value(self) -> FloatArray | None:
        """P-values; 0 where they are smaller than any float. None for a method without them."""
        return None if self.log_p_value is None else np.exp(self.log_p_value)

    @property
    def adjusted_p_value(self) -> FloatArray | None:
        """P-values after Benjamini and Hochberg (1995); NaN stays NaN and does not count as a test."""
        p = self.p_value
        return self.adjusted if p is None or self.adjusted is not None else benjamini_hochberg(p)

    def top(self, n: int) -> tuple[str, ...]:
        """Names of the ``n`` strongest features; those with NaN for a score are never among them.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.FeatureScores("example", [0.3, float("nan"), 1.2], ("a", "b", "c")).top(3)
        ('c', 'a')
        """
        return self._names_of(self.ranking[: check_whole("The number of features", n, error=RuleError)])

    def significant(self, level: float = _LEVEL) -> tuple[str, ...]:
        """Names of the features whose adjusted p-value is at most ``level``, the strongest first.

        The expected share of false discoveries among them is at most ``level`` if the p-values are right and
        features are independent.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.FeatureScores("example", [0.3, 5.0, 1.2], log_p_value=[-0.1, -8.0, -1.0]).significant()
        ('x1',)
        """
        adjusted = self.adjusted_p_value
        if adjusted is None:
            raise RuleError(f"{self.method} has no p-values. Take the best features with top(n).")
        if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 <= level <= 1:
            raise RuleError(f"level must lie between 0 and 1, not {level!r}.")
        ranking = self.ranking
        return self._names_of(ranking[adjusted[ranking] <= level])

    def take(self, places: npt.ArrayLike | slice) -> FeatureScores:
        """Some of the features, in the order given; adjusted p-values stay those of the whole family.

        Examples
        --------
        >>> import bayesieve as bs
        >>> scores = bs.FeatureScores("example", [0.3, 5.0, 1.2], log_p_value=[-0.1, -8.0, -1.0])
        >>> scores.take([1, 2]).adjusted_p_value.round(4).tolist()
        [0.001, 0.5518]
        """
        try:
            chosen = np.arange(self.n_features)[places if isinstance(places, slice) else np.asarray(places)]
        except IndexError as error:
            raise DataError(f"There are {self.n_features} features; {error}.") from None
        adjusted = self.adjusted_p_value
        return replace(
            self,
            score=self.score[chosen],
            feature_names=self._names_of(chosen, kept=True),
            log_p_value=None if self.log_p_value is None else self.log_p_value[chosen],
            details={name: column[chosen] for name, column in self.details.items()},
            adjusted=None if adjusted is None else adjusted[chosen],
            selected=None if self.selected is None else self.selected[chosen],
            tie_break=None if self.tie_break is None else self.tie_break[chosen],
        )

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns for the table of a screen of the same features: p-values, or the score if there are none.

        Their names begin with the method if the screen holds the scores of several.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [0.8], [1.2], [0.7], [2.1], [1.5], [0.9]]
        >>> posterior = bs.screen(X, [0] * 4 + [1] * 5, model=bs.GaussianModel.proper())
        >>> list(bs.pearson_neyman(posterior).columns(posterior))
        ['log_p_value', 'p_value', 'adjusted_p_value']
        """
        check_same_features("The scores", self.feature_names, self.n_features, posterior)
        if self.log_p_value is None:
            return {f"{self.method}_score": self.score}
        several = sum(isinstance(finding, FeatureScores) for finding in posterior.findings) > 1
        prefix = f"{self.method}_" if several else ""
        return {f"{prefix}{name}": column for name, column in self._p_values().items()}

    def notes(self) -> list[Message]:
        """Sentences for a summary.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.FeatureScores("example", [5.0, 0.3], log_p_value=[-8.0, -0.1], caveat="If right.").notes()[0].text
        ('1 of 2 features tested has an adjusted p-value of at most 5% (example, Benjamini-Hochberg).',)
        """
        adjusted = self.adjusted_p_value
        hint = Message.of(self.caveat).pieces if self.caveat else ()
        if adjusted is None and self.selected is not None:
            n = int(self.selected.sum())
            text = (
                f"{self.method} chooses {n:,} of {self.n_features:,} feature{'' if self.n_features == 1 else 's'}."
            )
            return [Message.of(text, hint=hint, kind="list")]
        if adjusted is None:
            return []
        found, tested = int((adjusted <= _LEVEL).sum()), int((~np.isnan(adjusted)).sum())
        text = (
            f"{found:,} of {tested:,} feature{'' if tested == 1 else 's'} tested "
            f"{'has' if found == 1 or tested == 1 else 'have'} an adjusted p-value of at most {_LEVEL:.0%} "
            f"({self.method}, Benjamini-Hochberg)."
        )
        return [Message.of(text, hint=hint, kind="p-values")]

    def to_dict(self) -> dict[str, Any]:
        """Table of all features as columns, in feature order.

        Examples
        --------
        >>> import bayesieve as bs
        >>> list(bs.FeatureScores("example", [0.3, 5.0], log_p_value=[-0.1, -8.0]).to_dict())
        ['rank', 'feature', 'score', 'log_p_value', 'p_value', 'adjusted_p_value']
        """
        table: dict[str, Any] = {"rank": self.rank, "feature": list(self.names), "score": self.score}
        table |= self._p_values()
        if self.selected is not None:
            table["selected"] = self.selected
        for name, column in self.details.items():
            table[name if name not in table else f"{name} (2)"] = column
        return table

    def _p_values(self) -> dict[str, FloatArray]:
        columns = {
            "log_p_value": self.log_p_value,
            "p_value": self.p_value,
            "adjusted_p_value": self.adjusted_p_value,
        }
        return {name: column for name, column in columns.items() if column is not None}

    def _names_of(self, places: npt.NDArray[np.int64], *, kept: bool = False) -> tuple[str, ...]:
        """Names of some features; without those that have no score unless they are kept."""
        names = self.names
        return tuple(names[i] for i in places.tolist() if kept or not np.isnan(self.score[i]))


def _column(name: str, values: Any, n_features: int | None) -> FloatArray:
    """Copy to a read-only vector, checked for its length."""
    try:
        column = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be one number per feature, not {values!r}.") from None
    if column.ndim != 1 or (n_features is not None and column.size != n_features):
        expected = "one number per feature" if n_features is None else f"{n_features} numbers, one per feature"
        raise DataError(f"{name} must be {expected}, not of shape {column.shape}.")
    column.flags.writeable = False
    return column


def _mask(values: Any, n_features: int) -> BoolArray:
    """Copy to a read-only vector of truth values, checked for its length."""
    mask = np.array(values)
    if mask.dtype != np.bool_ or mask.shape != (n_features,):
        raise DataError(f"selected must be {n_features} truth values, one per feature.")
    mask.flags.writeable = False
    return mask


USES = ("moments", "values")


@dataclass(frozen=True, slots=True)
class Rival:
    """A filter: what it is called, what it looks at and the function that scores every feature.

    Parameters
    ----------
    name
        Short name, on the command line and in files: lower case letters, digits and hyphens.
    title
        Name in tables and figures.
    uses
        ``"moments"`` for a method that needs means and variances only, ``"values"`` for one that needs the
        table itself.
    run
        Called as ``run(moments)``, or as ``run(matrix, n_threads=None)`` with a
        :class:`bayesieve.data.LabelledMatrix`, of two classes in both cases; returns
        :class:`bayesieve.FeatureScores`. Options are keywords with a default.

    Examples
    --------
    >>> import bayesieve as bs
    >>> def gap(moments):
    ...     return bs.FeatureScores("mean_gap", abs(moments.mean_difference))
    >>> mean_gap = bs.Rival("mean-gap", "Difference of means", "moments", gap)
    >>> bs.score([[0.0, 0.0], [1.0, 0.0], [5.0, 2.0], [5.0, 2.0]], [0, 0, 1, 1], method=mean_gap).score.tolist()
    [4.5, 2.0]
    """

    name: str
    title: str
    uses: str
    run: Callable[..., FeatureScores]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise OptionError(
                f"A rival's name is made of lower case letters and digits, with single hyphens, not {self.name!r}."
            )
        if self.uses not in USES:
            raise OptionError(f"A rival uses 'moments' or 'values', not {self.uses!r}.")
        if not callable(self.run):
            raise OptionError(f"run of the rival {self.name!r} must be a function, not {self.run!r}.")

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that ``run`` takes."""
        named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        _, *others = inspect.signature(self.run).parameters.values()
        return tuple(each.name for each in others if each.kind in named and each.name != "n_threads")

    def check_options(self, *names: str) -> None:
        """Raise if ``run`` does not take an option.

        Examples
        --------
        >>> from bayesieve.rivals.registry import rival
        >>> rival("welch").check_options("p_values")
        """
        *_, last = inspect.signature(self.run).parameters.values()
        unknown = [name for name in names if name not in self.options]
        if unknown and last.kind is not inspect.Parameter.VAR_KEYWORD:
            offered = f"has {', '.join(self.options)}" if self.options else "has no options"
            raise OptionError(f"The method {self.name!r} has no option {unknown[0]!r}; it {offered}.")
