"""Merging: sites into one study, each still apart, and parts of one table into a site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from bayesieve.distributed import merge_neighbours
from bayesieve.stats.sites import (
    SiteStatistics,
    StatisticsSet,
    align_site,
    check_compatible,
    pick_names,
    suppress,
)
from bayesieve.utils import DataError, OptionError, Wording, check_choice, list_names


def merge_statistics(sets: Iterable[StatisticsSet], how: Literal["inner", "outer"] = "inner") -> StatisticsSet:
    """Bring the sites of several sets together, each site still apart; parts of one table become one site.

    Parameters
    ----------
    sets
        Statistics of the same study; classes may come in another order.
    how
        ``"inner"``: features of which every site has values, in the order of the first site.
        ``"outer"``: all features in order of appearance; a site that lacks one counts 0 values there.

    Examples
    --------
    >>> import bayesieve as bs
    >>> moments = bs.Moments.from_matrix([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])
    >>> oslo = bs.StatisticsSet((bs.SiteStatistics("Oslo", moments, ("TP53", "EGFR")),))
    >>> bonn = bs.StatisticsSet((bs.SiteStatistics("Bonn", moments, ("EGFR", "KRAS")),))
    >>> bs.merge_statistics([oslo, bonn]).feature_ids
    ('EGFR',)
    >>> bs.merge_statistics([oslo, bonn], "outer").n_sites_per_feature.tolist()
    [1, 2, 1]
    """
    check_choice("how", how, ("inner", "outer"))
    sites = join_parts([site for each in sets for site in each.sites])
    check_compatible(sites)
    union = dict.fromkeys(name for site in sites for name in site.feature_ids)
    ids = _common(sites) if how == "inner" and len(sites) > 1 else tuple(union)
    return StatisticsSet(tuple(align_site(site, sites[0].moments.classes, ids) for site in sites))


def join_parts(sites: Sequence[SiteStatistics]) -> tuple[SiteStatistics, ...]:
    """Put parts of the same table together, in the fixed tree of their numbers, and hold small cells back."""
    parts: dict[str, list[SiteStatistics]] = {}
    for site in sites:
        if site.part is not None:
            parts.setdefault(site.site, []).append(site)
    joined = {name: _join(name, each) for name, each in parts.items()}
    return tuple(
        joined.pop(site.site) if site.part is not None else site
        for site in sites
        if site.part is None or site.site in joined
    )


def _join(name: str, parts: list[SiteStatistics]) -> SiteStatistics:
    """Put the parts of one table together."""
    _check_parts(name, parts)
    ordered = sorted(parts, key=lambda each: each.part or (0, 0))
    first = ordered[0]
    whole = merge_neighbours([each.moments for each in ordered])
    assert whole is not None
    longest = max((each.moments.classes for each in ordered), key=len)  # all of them, unless every part lacks one
    classes = longest if len(longest) == len(whole.classes) else tuple(sorted(whole.classes, key=str))
    moments, ids, n_suppressed = suppress(whole.pick(classes), first.feature_ids, first.min_cell)
    return SiteStatistics(name, moments, ids, first.transform, first.min_cell, n_suppressed)


def _check_parts(name: str, parts: Sequence[SiteStatistics]) -> None:
    """Raise unless these are all parts of one table, each of them once and made in the same way."""
    numbers = Counter(each.part for each in parts)
    n_parts = {of for _, of in filter(None, numbers)}
    if len(n_parts) > 1:
        raise OptionError(
            f"{name!r} was cut into {' and '.join(f'{n:,}' for n in sorted(n_parts))} parts. Merge the parts of "
            "one cut only.",
            kind="parts",
        )
    (of,) = n_parts
    lacking = [f"{k}/{of}" for k in range(1, of + 1) if (k, of) not in numbers]
    if lacking:
        raise OptionError(
            f"{len(lacking):,} of the {of:,} parts of {name!r} are not among the files: "
            f"{list_names(lacking, 5, quote=False)}. "
            "Look at what their jobs say, run them again, and merge all parts at once.",
            kind="parts",
        )
    twice = [f"{part[0]}/{of}" for part, n in numbers.items() if part and n > 1]
    if twice:
        raise OptionError(
            f"Parts of {name!r} came more than once: {list_names(twice, 5, quote=False)}. Their samples would "
            "count twice: drop one of the files.",
            kind="parts",
        )
    for what in ("transform", "min_cell", "feature_ids"):
        if len({getattr(each, what) for each in parts}) > 1:
            raise DataError(
                f"Parts of {name!r} differ in their {what.replace('_', ' ')}. Write all of them from the same "
                "table with the same options",
                Wording("", "; --ignore and --keep say which columns are features"),
                ".",
                kind="parts",
            )


def _common(sites: Sequence[SiteStatistics]) -> tuple[str, ...]:
    common = pick_names(sites[0].feature_ids, sites[0].held)
    for site in sites:
        theirs = dict.fromkeys(pick_names(site.feature_ids, site.held))
        common, before = tuple(name for name in common if name in theirs), common
        if not common:
            mine, yours = (next(iter(names), "nothing") for names in (before, theirs))
            raise DataError(
                f"No feature is held by all {len(sites)} sites: {sites[0].site!r} holds, for example, {mine!r}, "
                f"and {site.site!r} {yours!r}. Do they use different systems of ids, such as gene symbols and "
                "Ensembl ids, or ids with and without a version? Have all sites use the same one."
            )
    return common
