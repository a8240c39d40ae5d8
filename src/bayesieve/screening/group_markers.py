"""GroupMarkers: the markers of many groups, and GroupSelection: their lists under one budget."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label
from bayesieve.posterior import FeaturePosterior, Tabular, expit, log_expit
from bayesieve.selection import Rule, Selection, as_rule, count_lines
from bayesieve.stats import as_moments, largest_counts
from bayesieve.utils import BoolArray, FloatArray, IntArray, LabelError, list_names, plural

REST, EACH = "rest", "each"
LOG_SCALES = ("log1p", "log2", "ln", "log10")
CIRCULAR = (
    "If the groups were found by clustering these values, they differ in them by construction: the numbers order "
    "the features that make up a cluster, and neither they nor shuffled labels show that there is one."
)
_LEAST_MEAN = 1e-9  # added to means before their ratio is taken, as scanpy does
_UNITS = {"log2": 1.0, "ln": 1.0 / math.log(2.0), "log10": math.log2(10.0)}


@dataclass(frozen=True, eq=False)
class GroupMarkers:
    """Log-odds of every feature to be a marker of every group; what :func:`bayesieve.screen_groups` returns.

    All tables are ``(n_comparisons, n_features)``. Against each other group, a comparison of two groups stands
    here once, and in the tables of both.

    Parameters
    ----------
    comparisons
        Labels of every group and what it was compared with.
    reference
        ``"rest"``, ``"each"`` or a group.
    posterior
        All comparisons and features as one posterior, comparison by comparison: what rules are applied to.
    feature_names
        Names of the features.
    statistics
        Statistics of the groups.
    difference
        Mean of the group less that of its reference; for counts the log rate ratio; None for categories.
    reference_mean
        Mean of the reference; None for counts and categories.
    log_scale, log_base
        What the values are logarithms of, as declared, or None.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X, clusters = np.random.default_rng(0).normal(size=(90, 50)), np.repeat(["B", "NK", "T"], 30)
    >>> X[clusters == "B", 0] += 4.0
    >>> markers = bs.screen_groups(X, clusters, shuffles=0)
    >>> markers.comparisons, markers.log_odds.shape
    ((('B', 'rest'), ('NK', 'rest'), ('T', 'rest')), (3, 50))
    >>> markers.direction[:, 0].tolist()
    [1, -1, -1]
    """

    comparisons: tuple[tuple[Label, Label], ...]
    reference: Label
    posterior: FeaturePosterior
    feature_names: tuple[str, ...]
    statistics: Any
    difference: FloatArray | None = None
    reference_mean: FloatArray | None = None
    log_scale: str | None = None
    log_base: float | None = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of comparisons and of features."""
        return len(self.comparisons), self.n_features

    @functools.cached_property
    def groups(self) -> tuple[Label, ...]:
        """Groups that were compared, in order."""
        named = {label for pair in self.comparisons for label in (pair if self.reference == EACH else pair[:1])}
        return tuple(label for label in self.statistics.classes if label in named)

    @property
    def group_sizes(self) -> dict[Label, int]:
        """Number of samples of every group of the data."""
        return dict(zip(self.statistics.classes, largest_counts(self.statistics), strict=True))

    @property
    def log_bayes_factor(self) -> FloatArray:
        """What the data say."""
        return self.posterior.log_bayes_factor.reshape(self.shape)

    @functools.cached_property
    def log_odds(self) -> FloatArray:
        """Posterior log-odds of being a marker."""
        return self.posterior.log_odds.reshape(self.shape)

    @property
    def probability(self) -> FloatArray:
        """Posterior probability of being a marker."""
        return expit(self.log_odds)

    @property
    def local_fdr(self) -> FloatArray:
        """Probability of being no marker."""
        return expit(-self.log_odds)

    @functools.cached_property
    def expected_fdr(self) -> FloatArray:
        """Expected share of non-markers in the list of all groups down to each place."""
        return self.posterior.expected_fdr.reshape(self.shape)

    @functools.cached_property
    def rank(self) -> IntArray:
        """Rank of every feature within its comparison, 1 for the largest log-odds."""
        order = np.argsort(-self.log_odds, axis=1, kind="stable")
        ranks = np.empty(self.shape, np.int64)
        np.put_along_axis(ranks, order, np.arange(1, self.n_features + 1)[None], axis=1)
        return ranks

    @functools.cached_property
    def direction(self) -> npt.NDArray[np.int8]:
        """1 where the mean of the group is the higher one, -1 where it is the lower one, 0 if they are equal."""
        if self.difference is None:
            return np.zeros(self.shape, np.int8)
        return np.sign(np.nan_to_num(self.difference)).astype(np.int8)

    @property
    def score(self) -> FloatArray:
        r"""Minus the log of the local false discovery rate, with the sign of the difference.

        For markers this is the log-odds, to within the local false discovery rate itself; for non-markers it is
        close to 0 on either side. Falling scores put markers that are higher in the group first and those that
        are lower last, as users of scanpy expect, with all that are no markers in between.
        """
        sign = np.where(self.direction < 0, -1.0, 1.0)
        return np.asarray(sign * -log_expit(-self.log_odds))

    @functools.cached_property
    def log2_fold_change(self) -> FloatArray | None:
        """Log2 of the ratio of the group to its reference, on declared logarithms only; None otherwise.

        Of ``log1p`` values the ratio is that of their means, taken back to the scale of the values as in scanpy;
        of plain logarithms it is the difference of means.
        """
        if self.log_scale is None or self.difference is None or self.reference_mean is None:
            return None
        if self.log_scale != "log1p":
            return self.difference * _UNITS[self.log_scale]
        unit = 1.0 if self.log_base is None else math.log(self.log_base)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            of_group, of_reference = (
                np.expm1(unit * means) + _LEAST_MEAN
                for means in (self.reference_mean + self.difference, self.reference_mean)
            )
            return np.asarray(np.log2(of_group / of_reference))

    def select(self, rule: Rule | str = "mnc") -> GroupSelection:
        """Apply a rule once to all groups and features together.

        Parameters
        ----------
        rule
            A rule such as ``MinimalRisk(0.9)``, or its acronym.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, clusters = np.random.default_rng(0).normal(size=(90, 50)), np.repeat(["B", "NK", "T"], 30)
        >>> X[clusters == "B", 0] += 4.0
        >>> bs.screen_groups(X, clusters, shuffles=0).select(bs.FixedSize(2)).n_selected
        2
        """
        found = as_rule(rule).select(self.posterior)
        return GroupSelection(self, replace(found, under_null=math.nan))

    def places(self, group: Label) -> list[tuple[int, bool]]:
        """Comparisons of a group, and whether it stands second in them, so that signs turn."""
        found = [(i, False) for i, (first, _) in enumerate(self.comparisons) if first == group]
        if self.reference == EACH:
            found += [(i, True) for i, (_, second) in enumerate(self.comparisons) if second == group]
            found.sort(key=lambda place: self.statistics.classes.index(self.comparisons[place[0]][not place[1]]))
        if not found:
            raise LabelError(
                f"{group!r} was not compared; the groups are {list_names(self.groups)}.", kind="groups"
            )
        return found


@dataclass(frozen=True, eq=False)
class GroupSelection(Tabular):
    """Lists of markers of all groups, made by one rule with one budget.

    Parameters
    ----------
    markers
        All log-odds.
    selection
        What the rule made of them.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X, clusters = np.random.default_rng(0).normal(size=(90, 50)), np.repeat(["B", "NK", "T"], 30)
    >>> X[clusters == "B", 0] += 4.0
    >>> lists = bs.screen_groups(X, clusters, shuffles=0).select()
    >>> lists.names("B", direction=1)
    ('x0',)
    >>> sorted(lists.to_dict(only_selected=True))[:5]
    ['degenerate', 'difference', 'direction', 'expected_fdr', 'feature']
    """

    markers: GroupMarkers
    selection: Selection

    @property
    def mask(self) -> BoolArray:
        """True for the selected features, ``(n_comparisons, n_features)``."""
        return self.selection.mask.reshape(self.markers.shape)

    @property
    def n_selected(self) -> int:
        """Number of markers of all groups together."""
        return self.selection.n_selected

    def names(self, group: Label, reference: Label | None = None, direction: int = 0) -> tuple[str, ...]:
        """Markers of a group, the strongest first.

        Parameters
        ----------
        group, reference
            A group, and against each other group the one it is compared with.
        direction
            1 for those that are higher in the group, -1 for lower ones, 0 for both.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, clusters = np.random.default_rng(0).normal(size=(90, 50)), np.repeat(["B", "NK", "T"], 30)
        >>> X[clusters == "B", 0] += 4.0
        >>> bs.screen_groups(X, clusters, reference="each", shuffles=0).select().names("B", "T")
        ('x0',)
        """
        markers = self.markers
        found = []
        for i, turned in markers.places(group):
            if reference is None or markers.comparisons[i][not turned] == reference:
                sign = -markers.direction[i] if turned else markers.direction[i]
                kept = self.mask[i] & ((sign == direction) if direction else True)
                found += [(int(markers.rank[i, f]), i, int(f)) for f in np.flatnonzero(kept)]
        return tuple(dict.fromkeys(markers.feature_names[f] for *_, f in sorted(found)))

    def to_dict(
        self, *, groups: Sequence[Label] | None = None, only_selected: bool = False, n_rows: int | None = None
    ) -> dict[str, Any]:
        """Table in long form: one row for each comparison of a group and each feature, in the order of ranks.

        Parameters
        ----------
        groups
            Groups; all when not given.
        only_selected
            Whether to leave out what was not selected.
        n_rows
            Most rows of a comparison.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, clusters = np.random.default_rng(0).normal(size=(90, 50)), np.repeat(["B", "NK", "T"], 30)
        >>> table = bs.screen_groups(X, clusters, shuffles=0).select().to_dict(groups=["NK"])
        >>> table["group"][0], table["reference"][0], len(table["rank"])
        ('NK', 'rest', 50)
        """
        wanted = self.markers.groups if groups is None else groups
        parts = [
            self._rows(i, turned, only_selected, n_rows)
            for group in wanted
            for i, turned in self.markers.places(group)
        ]
        return {
            name: [cell for part in parts for cell in part[name]]
            if isinstance(parts[0][name], list)
            else np.concatenate([part[name] for part in parts])
            for name in parts[0]
        }

    def _rows(self, i: int, turned: bool, only_selected: bool, n_rows: int | None) -> dict[str, Any]:
        markers, sign = self.markers, -1 if turned else 1
        order = np.argsort(markers.rank[i])
        order = (order[self.mask[i, order]] if only_selected else order)[:n_rows]
        group, reference = markers.comparisons[i][:: -1 if turned else 1]
        words = np.array(["", "higher", "lower"])  # of direction 0, 1, -1
        moments = as_moments(markers.statistics)
        columns: dict[str, Any] = {
            "group": [str(group)] * order.size,
            "reference": [str(reference)] * order.size,
            "rank": markers.rank[i, order],
            "feature": [markers.feature_names[f] for f in order.tolist()],
            "log_odds": markers.log_odds[i, order],
            "probability": expit(markers.log_odds[i, order]),
            "local_fdr": expit(-markers.log_odds[i, order]),
            "expected_fdr": markers.expected_fdr[i, order],
            "log_bayes_factor": markers.log_bayes_factor[i, order],
            "selected": self.mask[i, order],
        }
        if markers.difference is not None:
            columns["direction"] = words[sign * markers.direction[i, order]].tolist()
            columns["difference" if moments is not None else "log_rate_ratio"] = (
                sign * markers.difference[i, order]
            )
        if markers.log2_fold_change is not None:
            columns["log2_fold_change"] = sign * markers.log2_fold_change[i, order]
        if markers.reference_mean is not None and markers.difference is not None:
            other = markers.reference_mean[i, order]
            means = (other + markers.difference[i, order], other)
            columns["mean_group"], columns["mean_reference"] = means[::sign]
        columns["degenerate"] = markers.posterior.degenerate_codes.reshape(markers.shape)[i, order] != 0
        return columns

    def summary(self) -> str:
        """Tell the result in a few lines of plain text.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, clusters = np.random.default_rng(0).normal(size=(90, 50)), np.repeat(["B", "NK", "T"], 30)
        >>> print(bs.screen_groups(X, clusters, shuffles=0).select().summary().splitlines()[0])
        Markers of 3 groups, each against the rest: 0 of 150 comparisons selected (probability over 0.5).
        """
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Sentences of :meth:`summary`."""
        markers, selection = self.markers, self.selection
        against = {REST: "the rest", EACH: "each other"}.get(str(markers.reference), f"{markers.reference}")
        n = len(markers.groups)
        lines = [
            f"Markers of {plural(n, 'group')}, each against {against}: {self.n_selected:,} of "
            f"{self.mask.size:,} comparisons selected ({selection.rule})."
        ]
        if self.n_selected:
            estimate, shuffled = selection.false_positive_estimate, markers.posterior.shuffled
            source = "under the model; no labels were shuffled, so that this has not been tested"
            if shuffled is not None:
                source = f"from {shuffled.n_shuffles:,} shuffles of the groups"
            lines.append(f"False positives in all lists together: {estimate.describe()}, {source}.")
        lines += count_lines(selection)
        if not self.n_selected and not selection.was_cut:
            i, f = divmod(int(markers.posterior.ranking[0]), markers.n_features)
            lines.append(
                f"Nothing passes the cut: the best, {markers.feature_names[f]!r} of {markers.comparisons[i][0]}, "
                f"has probability {float(markers.probability[i, f]):.3g}."
            )
        return [*lines, CIRCULAR]
