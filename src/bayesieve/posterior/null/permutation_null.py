"""PermutationNull: the global null by permuted labels; p-values and false discovery rates of many tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior.feature_posterior import FeaturePosterior
from bayesieve.posterior.findings.finding import check_same_features
from bayesieve.stats import reach
from bayesieve.utils import FloatArray, IntArray, Message, OptionError, check_between


def benjamini_hochberg(p_value: npt.ArrayLike) -> FloatArray:
    """P-values adjusted by the method of Benjamini and Hochberg (1995); NaN stays NaN and is no test."""
    from scipy.stats import false_discovery_control  # noqa: PLC0415 - SciPy is slow to import

    p = np.array(p_value, dtype=np.float64)
    tested = ~np.isnan(p)
    if tested.any():
        p[tested] = false_discovery_control(p[tested], method="bh")
    return p


_BY_FEATURE = ("n_reaching", "n_reaching_pooled", "share", "adjusted_p_value", "adjusted_feature_p_value")
_P_VALUES = ("p_value", "adjusted_p_value", "feature_p_value", "adjusted_feature_p_value", "familywise_p_value")


@dataclass(frozen=True, slots=True, eq=False)
class PermutationNull:
    """The global null by permuted labels: log Bayes factors, counted; :func:`bayesieve.permutations` makes it.

    The pool holds the permuted log Bayes factors of all features but degenerate ones and those left out.

    Parameters
    ----------
    full
        The screen with the labels as they are.
    n_reaching
        Permutations in which the log Bayes factor is at least the one it is; all where that was left at 0.
    n_reaching_pooled
        Values of the pool that are at least that; -1 for degenerate features, whose p-value is then NaN.
    share
        False discoveries among the features that reach as high, were all features non-markers; may exceed 1.
    adjusted_p_value, adjusted_feature_p_value
        ``p_value`` and ``feature_p_value`` after Benjamini and Hochberg.
    passing, largest
        Of each permutation: features of the pool over the cut, and its largest log Bayes factor.
    tail
        The largest log-odds of the pool in decreasing order, as many as were kept.
    n_pool, n_usable, n_degenerate
        Features in the pool; all that are not degenerate; permuted ones with a class that has no variance.
    gaussian_under_null
        The number over the cut under the global null (no feature differs) with Gaussian values.
    cut, complete
        Log-odds over which a feature passes; whether all other labellings were gone through.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).standard_t(5, size=(30, 500))
    >>> X[15:, 0] += 4.0
    >>> jeffreys = bs.GaussianModel.jeffreys()
    >>> found = bs.permutations(X, [0] * 15 + [1] * 15, model=jeffreys, n_permutations=200)
    >>> bool(found.p_value[0] < 1e-4), float(found.feature_p_value[0]) == 1 / 201
    (True, True)
    """

    full: FeaturePosterior
    n_reaching: IntArray
    n_reaching_pooled: IntArray
    share: FloatArray
    adjusted_p_value: FloatArray
    adjusted_feature_p_value: FloatArray
    passing: IntArray
    largest: FloatArray
    tail: FloatArray
    n_pool: int
    n_usable: int
    n_degenerate: int = 0
    gaussian_under_null: float = float("nan")
    cut: float = 0.0
    complete: bool = False

    def __post_init__(self) -> None:
        for name in (*_BY_FEATURE, "passing", "largest", "tail"):
            getattr(self, name).flags.writeable = False

    @property
    def n_permutations(self) -> int:
        """Number of permutations."""
        return int(self.passing.size)

    @property
    def p_value(self) -> FloatArray:
        """Share of the pool that reaches as high: (1 + ``n_reaching_pooled``) / (1 + R ``n_pool``)."""
        p = (1.0 + self.n_reaching_pooled) / (1.0 + self.n_permutations * self.n_pool)
        return np.where(self.n_reaching_pooled < 0, np.nan, p)

    @property
    def log_p_value(self) -> FloatArray:
        """Natural logarithm of :attr:`p_value`."""
        return np.asarray(np.log(self.p_value))

    @property
    def feature_p_value(self) -> FloatArray:
        """Share of the feature's own permutations: asks nothing of other features, but is at least 1 / (1 + R)."""
        return np.asarray((1.0 + self.n_reaching) / (1.0 + self.n_permutations))

    @property
    def familywise_p_value(self) -> FloatArray:
        """Share of permutations whose strongest feature reaches as high (Westfall and Young's single step)."""
        ordered = np.sort(self.largest)
        reaching = ordered.size - np.searchsorted(ordered, reach(self.full.log_bayes_factor), side="left")
        return np.where(self.n_reaching_pooled < 0, np.nan, (1.0 + reaching) / (1.0 + self.n_permutations))

    @property
    def expected_under_null(self) -> float:
        """Mean number of features over the cut with permuted labels, scaled from the pool to all usable ones."""
        return float(self.passing.sum()) * self._unit

    expected_by_chance = expected_under_null  # the former name

    @property
    def gaussian_by_chance(self) -> float:
        """The former name of :attr:`gaussian_under_null`."""
        return self.gaussian_under_null

    @property
    def standard_error(self) -> float:
        """Of :attr:`expected_under_null`, because there are only so many permutations."""
        if self.complete or self.n_permutations < 2:
            return 0.0 if self.complete else float("nan")
        return float(self.passing.std(ddof=1) * np.sqrt(self.n_permutations)) * self._unit

    def null_interval(self, level: float = 0.9) -> tuple[float, float]:
        """Central interval of the number of features over the cut; wide where features are correlated.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X = np.random.default_rng(0).standard_t(5, size=(30, 500))
        >>> jeffreys = bs.GaussianModel.jeffreys()
        >>> bs.permutations(X, [0] * 15 + [1] * 15, model=jeffreys, n_permutations=200).null_interval()
        (3.0, 11.0)
        """
        check_between("level", level, open_ends=True)
        ends = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(self.passing, ends, method="inverted_cdf") * (self.n_usable / self.n_pool)
        return float(low), float(high)

    chance_interval = null_interval  # the former name

    def false_discovery_rate(self, pi0: float = 1.0) -> FloatArray:
        r"""Estimated share of false discoveries among the features that reach as high as each.

        .. math:: FDR(t) = \pi_0\, \text{mean}_r \#\{f: BF_r(f) \ge t\} \,/\, \#\{f: BF(f) \ge t\}

        at the Bayes factor of each feature, made monotone: the least over all weaker cuts. ``pi0`` is the share
        of non-markers among the features; 1 is the cautious choice.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X = np.random.default_rng(0).normal(size=(30, 500))
        >>> X[15:, :5] += 3.0
        >>> jeffreys = bs.GaussianModel.jeffreys()
        >>> found = bs.permutations(X, [0] * 15 + [1] * 15, model=jeffreys, n_permutations=200)
        >>> rate = found.false_discovery_rate()
        >>> np.flatnonzero(rate < 0.1).tolist()
        [0, 1, 2, 3, 4]
        """
        if not 0.0 < pi0 <= 1.0:
            raise OptionError(f"pi0 is a share of features, over 0 and at most 1, not {pi0!r}.")
        return np.minimum(pi0 * self.share, 1.0)

    def cut_for(self, target: float = 1.0) -> float:
        """Log-odds that ``target`` features exceed under the global null, as a mean over permutations.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, y = np.random.default_rng(0).normal(size=(30, 500)), [0] * 15 + [1] * 15
        >>> jeffreys = bs.GaussianModel.jeffreys()
        >>> cut = bs.permutations(X, y, model=jeffreys, n_permutations=200).cut_for(2.0)
        >>> bs.permutations(X, y, model=jeffreys, n_permutations=200, cut=cut).expected_under_null
        2.0
        """
        unit = self._unit
        number = round(target / unit) if np.isfinite(target) else 0
        if not 1 <= number < self.n_permutations * self.n_pool:
            raise OptionError(
                f"target is a number of features, at least {unit:.3g} (one in all permutations together) and "
                f"below {self.n_usable:,}, not {target!r}."
            )
        if number >= self.tail.size:
            raise OptionError(
                f"Log-odds were kept for targets below {self.tail.size * unit:.3g}, not for {target!r}. Call "
                f"permutations(..., target={target!r})."
            )
        return float(0.5 * (self.tail[number - 1] + self.tail[number]))

    def prior_ratio(self, target: float = 1.0) -> Any:
        """Return the prior ratio L under which ``target`` features pass the cut under the global null.

        A number, or one per feature where the model's ratio is; for ``GaussianModel.jeffreys(prior_ratio)``.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, y = np.random.default_rng(0).standard_t(5, size=(30, 500)), [0] * 15 + [1] * 15
        >>> jeffreys = bs.GaussianModel.jeffreys()
        >>> ratio = bs.permutations(X, y, model=jeffreys, n_permutations=200).prior_ratio(1.0)
        >>> model = bs.GaussianModel.jeffreys(ratio)
        >>> bs.permutations(X, y, model=model, n_permutations=200).expected_under_null
        1.0
        """
        model: Any = self.full.model
        if not model.supports("prior-ratio") or model.proper_mask.any():
            raise OptionError(
                "The priors are proper, so that the prior ratio follows from them. Use cut_for(target), or "
                "another prior probability: both move all log-odds alike."
            )
        patterns = getattr(self.full.comparison, "patterns", None)
        n_groups = {2} if patterns is None else {max(growth) + 1 for growth in patterns.growths}
        if len(n_groups) > 1:
            raise OptionError(
                "The prior ratio enters once for every further group of classes, and these patterns differ in the "
                "number of groups. Use cut_for(target)."
            )
        shift = (self.cut - self.cut_for(target)) / (n_groups.pop() - 1)
        ratio = np.exp(np.asarray(model.log_prior_ratio(self.full.moments)) + shift)
        return ratio if ratio.ndim else float(ratio)

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns for the result table, in feature order.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.1], [6.8], [7.7], [8.1], [7.1], [9.9]]
        >>> jeffreys = bs.GaussianModel.jeffreys()
        >>> found = bs.permutations(X, ["a"] * 5 + ["b"] * 5, model=jeffreys, n_permutations=100)
        >>> list(found.columns(found.full))[:2]
        ['permutation_p_value', 'permutation_adjusted_p_value']
        """
        check_same_features("Permutations", self.full.feature_names, self.n_reaching.size, posterior)
        columns = {f"permutation_{name}": getattr(self, name) for name in _P_VALUES}
        return {**columns, "permutation_false_discovery_rate": self.false_discovery_rate()}

    def take(self, places: npt.ArrayLike | slice) -> PermutationNull:
        """Some of the features, in the order given; the pool remains that of all.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1], [-0.4], [0.3], [0.2], [0.1], [6.8], [7.7], [8.1], [7.1], [9.9]]
        >>> jeffreys = bs.GaussianModel.jeffreys()
        >>> bs.permutations(X, ["a"] * 5 + ["b"] * 5, model=jeffreys, n_permutations=100).take([0]).n_pool
        1
        """
        chosen = np.arange(self.n_reaching.size)[places if isinstance(places, slice) else np.asarray(places)]
        arrays = {name: getattr(self, name)[chosen] for name in _BY_FEATURE}
        return replace(self, full=self.full.take(chosen), **arrays)

    def notes(self) -> list[Message]:
        """Sentences for a summary.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X = np.random.default_rng(0).standard_t(5, size=(30, 5000))
        >>> jeffreys = bs.GaussianModel.jeffreys()
        >>> print(bs.permutations(X, [0] * 15 + [1] * 15, model=jeffreys, n_permutations=200).notes()[0])
        With permuted labels 81.2 features pass this cut on average (200 permutations, the middle 90% of them
        71 to 92); under the global null with Gaussian values it would be 11.1.
        """
        low, high = self.null_interval()
        family = self.full.model.family
        drawn = f"{family} values" if family else "values drawn from the model"
        notes = [
            f"With permuted labels {self.expected_under_null:.1f} features pass this cut on average "
            f"({'all ' if self.complete else ''}{self.n_permutations:,} permutations, the middle 90% of them "
            f"{low:.0f} to {high:.0f}); under the global null with {drawn} it would be "
            f"{self.gaussian_under_null:.1f}."
        ]
        if self.n_degenerate:
            notes.append(
                f"A class had no variance, or too few values, in {self.n_degenerate:,} permuted features; they "
                "were treated as the screen treats them."
            )
        return [Message.of(note, kind="permutations") for note in notes]

    @property
    def _unit(self) -> float:
        """What one value of the pool adds to a mean over permutations, as a number of all usable features."""
        return self.n_usable / (self.n_pool * self.n_permutations)
