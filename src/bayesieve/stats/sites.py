"""Sufficient statistics that sites share instead of individual records, merged into one study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import check_treatment, looks_at_all_samples, split_treatment
from bayesieve.stats.adjusted_moments import AdjustedMoments
from bayesieve.stats.design_moments import DesignMoments
from bayesieve.stats.moments.moments import Moments
from bayesieve.stats.statistics import largest_counts
from bayesieve.utils import (
    DataError,
    Glimpse,
    Glimpsed,
    LabelError,
    OptionError,
    Wording,
    check_whole,
    classes_in_words,
    did_you_mean,
    glimpse_of_classes,
    list_names,
    option,
    plural,
    shorten,
)


def canonical(moments: Moments) -> Moments:
    """Hold counts alike in all features once, and zeros where there is no value."""
    counts, values = moments.counts, (moments.mean, moments.centred_squares, np.asarray(moments.residual))
    count = (counts[:, 0] if (counts == counts[:, :1]).all() else counts).copy()

    def plain(each: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.where(counts > 0, each, 0.0).copy("C")

    return Moments.trusted(moments.classes, count, *map(plain, values), shape=moments.shape(plain))


def take_features(moments: Moments, places: npt.NDArray[np.int64]) -> Moments:
    """Take features by position; -1 is a feature without values."""
    count = np.broadcast_to(moments.counts, moments.mean.shape)
    arrays = (count, moments.mean, moments.centred_squares, np.asarray(moments.residual))

    def taken(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.where(places >= 0, array[:, places], 0)

    return canonical(Moments.trusted(moments.classes, *map(taken, arrays), shape=moments.shape(taken)))


TRANSFORMS = ("none", "log2", "log1p", "logit", "clr", "vst:NUMBER", "total:NUMBER+log1p")
_LEAST_FOR_POWERS = 5  # values of a class that sums up to the fourth powers do not give away


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SiteStatistics(Glimpsed):
    """Sufficient statistics that one site shares.

    Parameters
    ----------
    site, moments
        Name of the site and its moments, of classes whose labels are strings.
    feature_ids
        One distinct id per feature.
    transform
        What was done to the values first: ``"none"``, ``"log2"``, ``"log1p"``, ``"logit"``, ..., or
        ``"total:10000+log1p"`` after a normalisation.
    min_cell, n_suppressed
        The rule of :func:`suppress` that was applied, 0 for none, and how many features it held back.
    design
        Sums of covariates with each other and with the features, in their own units; None without.
    part
        ``(3, 20)`` if this is the third of twenty parts of the site's table, to which the rule ``min_cell`` was
        not applied yet: :func:`merge_statistics` puts them together and applies it. None for a whole table.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.stats.sites import SiteStatistics
    >>> moments = bs.Moments.from_matrix([[1.0], [3.0], [5.0]], ["well", "well", "sick"])
    >>> SiteStatistics("Oslo", moments, ("TP53",)).held.tolist()
    [True]
    """

    site: str
    moments: Moments
    feature_ids: tuple[str, ...]
    transform: str = "none"
    min_cell: int = 0
    n_suppressed: int = 0
    design: DesignMoments | None = None
    part: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.site, str) or not self.site.strip():
            raise OptionError(f"A site needs a name, not {self.site!r}.", hint=("Name it: ", option("site"), "."))
        ways = split_treatment(str(self.transform))
        if check_treatment(*ways) != self.transform or looks_at_all_samples(ways[1], ways[0]):
            raise OptionError(
                f"The transform is one of {', '.join(TRANSFORMS)}, not {self.transform!r}: sites have to do the "
                "same to every value."
            )
        other = [label for label in self.moments.classes if not isinstance(label, str)]
        if other:
            raise LabelError(f"Classes must be text, but {list_names(other)} is not. Convert the labels first.")
        for name in ("min_cell", "n_suppressed"):
            object.__setattr__(self, name, check_whole(name, getattr(self, name)))
        if self.part is not None and not 1 <= self.part[0] <= self.part[1]:
            raise OptionError(
                f"A part is given by its number and how many there are, such as (3, 20), not {self.part}."
            )
        object.__setattr__(self, "feature_ids", _check_ids(self.feature_ids, self.moments.n_features))
        object.__setattr__(self, "moments", canonical(self.moments))
        if self.design is not None:
            object.__setattr__(self, "design", replace(self.design, moments=self.moments))

    def _glimpse(self) -> Glimpse:
        """Return the classes of the site."""
        found = glimpse_of_classes(self.moments)
        return replace(found, title=f"SiteStatistics of {shorten(self.site)}: {len(self.feature_ids):,} features")

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """For every feature, whether this site has any value of it."""
        return np.broadcast_to((self.moments.counts > 0).any(axis=0), (self.moments.n_features,))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StatisticsSet(Glimpsed):
    """One or more sites with the same classes, transform and features, all in the same order.

    Parameters
    ----------
    sites
        The sites; :func:`merge_statistics` brings sites with different features together.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.stats.sites import SiteStatistics, StatisticsSet
    >>> moments = bs.Moments.from_matrix([[1.0], [3.0], [5.0]], ["well", "well", "sick"])
    >>> both = StatisticsSet(tuple(SiteStatistics(site, moments, ("TP53",)) for site in ("Oslo", "Bonn")))
    >>> both.pooled().count.tolist(), both.without("Oslo").pooled().count.tolist()
    ([2, 4], [1, 2])
    """

    sites: tuple[SiteStatistics, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sites", tuple(self.sites))
        check_compatible(self.sites)
        for site in self.sites:
            if (site.feature_ids, site.moments.classes) != (self.feature_ids, self.classes):
                raise DataError(
                    f"Sites {self.sites[0].site!r} and {site.site!r} differ in their features or classes, or in "
                    "the order of these. Bring them together with merge_statistics."
                )

    def _glimpse(self) -> Glimpse:
        """Return the sites with their classes."""
        shown = self.sites[:5]
        title = f"StatisticsSet of {plural(len(self.sites), 'site')}, {len(self.feature_ids):,} features"
        words = [classes_in_words(site.moments.classes, largest_counts(site.moments)) for site in shown]
        return Glimpse(title, (), {"site": [site.site for site in shown], "classes": words})

    @property
    def classes(self) -> tuple[str, ...]:
        """Class labels, in order."""
        return tuple(map(str, self.sites[0].moments.classes))

    @property
    def transform(self) -> str:
        """What was done to the values before they were summed."""
        return self.sites[0].transform

    @property
    def feature_ids(self) -> tuple[str, ...]:
        """Feature ids, in order."""
        return self.sites[0].feature_ids

    @property
    def covariates(self) -> tuple[str, ...]:
        """Covariates that all sites have summed."""
        design = self.sites[0].design
        return () if design is None else design.covariates

    @property
    def without_shape(self) -> tuple[str, ...]:
        """Sites whose statistics end with squares, so that they do not say how heavy tails are."""
        return tuple(site.site for site in self.sites if not site.moments.has_shape)

    @property
    def n_sites_per_feature(self) -> npt.NDArray[np.int64]:
        """For every feature, the number of sites that have any value of it."""
        return np.asarray(np.sum([site.held for site in self.sites], axis=0), dtype=np.int64)

    def pooled(self) -> Moments:
        """Moments of all sites together; the same to the last bit in whatever order the sites are.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"])
        >>> oslo, bonn = (bs.SiteStatistics(name, moments, ("TP53",)) for name in ("Oslo", "Bonn"))
        >>> bs.StatisticsSet((oslo, bonn)).pooled().count.tolist()
        [2, 2]
        """
        whole, *others = (site.moments for site in sorted(self.sites, key=lambda site: site.site))
        with np.errstate(over="ignore", invalid="ignore"):  # said below
            for other in others:
                whole = whole.merge(other)
        powers = whole.centred_fourths if whole.centred_fourths is not None else 0.0
        lost = ~np.isfinite(whole.mean + whole.centred_squares + powers).all(axis=0)
        if lost.any():
            raise DataError(
                f"{lost.sum()} of {lost.size} features are too large to be pooled: the squares of "
                f"{list_names(pick_names(self.feature_ids, lost))} exceed float64. Use a larger unit or a "
                "logarithm."
            )
        if not self.covariates:
            return canonical(whole)
        designs = [site.design for site in sorted(self.sites, key=lambda site: site.site) if site.design]
        joint = designs[0]
        for design in designs[1:]:
            joint = joint.merge(design)
        return AdjustedMoments.of(joint)

    def by_site(self) -> dict[str, Moments]:
        """Moments of every site, as blocks of a screen: the same classes and features, in the same order.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"])
        >>> list(bs.StatisticsSet((bs.SiteStatistics("Oslo", moments, ("TP53",)),)).by_site())
        ['Oslo']
        """
        return {site.site: site.moments for site in self.sites}

    def without(self, site: str) -> StatisticsSet:
        """Withdraw a site as if it had never been there; features that only it held go with it.

        Features that an inner join left out because this site lacked them do not come back: merge
        the files of the other sites for that.

        Examples
        --------
        >>> import bayesieve as bs
        >>> moments = bs.Moments.from_matrix([[1.0], [3.0]], ["a", "b"])
        >>> oslo, bonn = (bs.SiteStatistics(name, moments, ("TP53",)) for name in ("Oslo", "Bonn"))
        >>> [site.site for site in bs.StatisticsSet((oslo, bonn)).without("Bonn").sites]
        ['Oslo']
        """
        names = [each.site for each in self.sites]
        if site not in names:
            raise OptionError(
                f"There is no site {site!r}.{did_you_mean(str(site), names)} The sites are "
                f"{list_names(names, 20)}."
            )
        rest = [each for each in self.sites if each.site != site]
        left = np.any([each.held for each in rest], axis=0) if rest else np.array(False)
        if not left.any():
            raise OptionError(f"Without site {site!r} nothing would be left. Keep it, or add another site first.")
        ids = pick_names(self.feature_ids, left)
        return StatisticsSet(tuple(align_site(each, self.classes, ids) for each in rest))


def suppress(moments: Moments, feature_ids: Sequence[str], min_cell: int) -> tuple[Moments, tuple[str, ...], int]:
    """Hold back every feature of which some class has fewer than ``min_cell`` values; 0 holds nothing back.

    Four sums give four values away, so that cubes and fourths are held back from all features if one of those
    shared has fewer than five values in a class.

    Returns what may be shared, its ids, and the number of features held back.
    """
    least, ids = check_whole("min_cell", min_cell), _check_ids(feature_ids, moments.n_features)
    enough = np.broadcast_to((moments.counts >= least).all(axis=0), (moments.n_features,))
    if not enough.any():
        largest = zip(moments.classes, moments.counts.max(axis=1), strict=True)
        raise DataError(
            f"Nothing is left to share: all {len(ids)} features have fewer than {least} values in some class. "
            f"The most values are {', '.join(f'{n} in class {label!r}' for label, n in largest)}. ",
            option("min_cell", least),
            f" shares a feature only where every class has at least {least} values, so that no patient stands out "
            "of a small group.",
            hint=("Lower ", option("min_cell"), " if your rules allow it, or add samples."),
            kind="small-cells",
        )
    shared = take_features(moments, np.flatnonzero(enough))
    if shared.has_shape and (shared.counts < _LEAST_FOR_POWERS).any():
        shared = Moments.trusted(
            shared.classes, shared.count, shared.mean, shared.centred_squares, np.asarray(shared.residual)
        )
    return shared, pick_names(ids, enough), int((~enough).sum())


def check_compatible(sites: Sequence[SiteStatistics]) -> None:
    """Raise unless sites differ in name and agree in transform and classes."""
    if not sites:
        raise OptionError("No statistics were given. Name the statistics file of at least one site.")
    twice = [site for site, n in Counter(each.site for each in sites).items() if n > 1]
    if twice:
        raise OptionError(
            f"{len(twice)} of the sites came more than once: {list_names(twice)}. The same site's file given "
            "twice would count its patients twice.",
            hint=("Drop one; if they are different sites, rename one with ", option("site"), "."),
            kind="site-twice",
        )
    first = sites[0]
    for other in sites:
        _check_covariates(first, other)
        if other.transform != first.transform:
            raise DataError(
                f"Site {first.site!r} used the transform {first.transform!r} and site {other.site!r} "
                f"{other.transform!r}, so their means do not compare. Have all sites use the same one."
            )
        if set(other.moments.classes) != set(first.moments.classes):
            raise LabelError(
                f"Site {first.site!r} has the classes {list_names(first.moments.classes)}, site {other.site!r} "
                f"has {list_names(other.moments.classes)}. Have all sites use the same names for the same classes",
                Wording("", " (--classes)"),
                "; a site that lacks a class cannot take part.",
                kind="classes-differ",
            )


def _check_covariates(first: SiteStatistics, other: SiteStatistics) -> None:
    """Raise unless two sites have summed the same covariates."""
    mine, yours = (() if site.design is None else site.design.covariates for site in (first, other))
    if mine != yours:
        shown = [f"site {site.site!r} " + (list_names(names, 8) if names else "none") for site, names in
                 ((first, mine), (other, yours))]  # fmt: skip
        raise DataError(
            f"Sites differ in their covariates: {shown[0]}, {shown[1]}. Have all sites sum the same columns with "
            "the same levels, in the same order.",
            kind="covariates",
        )


def align_site(site: SiteStatistics, classes: tuple[Hashable, ...], ids: tuple[str, ...]) -> SiteStatistics:
    """Bring a site to these classes and features, with nothing where it lacks a feature."""
    moments = site.moments if site.moments.classes == classes else site.moments.pick(classes)
    design = site.design if site.design is None or site.moments.classes == classes else site.design.pick(classes)
    if ids != site.feature_ids:
        position = {name: i for i, name in enumerate(site.feature_ids)}
        places = np.array([position.get(name, -1) for name in ids])
        moments = take_features(moments, places)
        design = design and design.at(moments, places)
    return replace(site, moments=moments, feature_ids=ids, design=design)


def _check_ids(feature_ids: Sequence[str], n_features: int) -> tuple[str, ...]:
    ids = tuple(feature_ids)
    if len(ids) != n_features or not all(isinstance(name, str) for name in ids):
        raise DataError(f"{n_features} features need as many ids, all of them text; {len(ids)} values were given.")
    if len(set(ids)) < len(ids):
        twice = [name for name, n in Counter(ids).items() if n > 1]
        raise DataError(
            f"{len(twice)} feature ids occur more than once: {list_names(twice)}. Sites are joined by these ids: "
            "make them distinct, or drop the extra features."
        )
    return ids


def pick_names(names: Sequence[str], kept: Any) -> tuple[str, ...]:
    """Return the names where ``kept`` is true."""
    return tuple(name for name, keep in zip(names, kept, strict=True) if keep)
