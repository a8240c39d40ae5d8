"""How the statistics of several sites become one study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from bayesieve.errors import DataError, OptionError
from bayesieve.io.statistics import SiteStatistics, StatisticsSet, aligned, check_compatible, chosen


def merge_statistics(sets: Iterable[StatisticsSet], how: Literal["inner", "outer"] = "inner") -> StatisticsSet:
    """Bring the sites of several sets together, each site still apart.

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
    if how not in ("inner", "outer"):
        raise OptionError(f"how must be 'inner' or 'outer', not {how!r}.")
    sites = tuple(site for each in sets for site in each.sites)
    check_compatible(sites)
    union = dict.fromkeys(name for site in sites for name in site.feature_ids)
    ids = _common(sites) if how == "inner" else tuple(union)
    return StatisticsSet(tuple(aligned(site, sites[0].moments.classes, ids) for site in sites))


def _common(sites: Sequence[SiteStatistics]) -> tuple[str, ...]:
    common = chosen(sites[0].feature_ids, sites[0].held)
    for site in sites:
        theirs = dict.fromkeys(chosen(site.feature_ids, site.held))
        common, before = tuple(name for name in common if name in theirs), common
        if not common:
            mine, yours = (next(iter(names), "nothing") for names in (before, theirs))
            raise DataError(
                f"No feature is held by all {len(sites)} sites: {sites[0].site!r} holds, for example, {mine!r}, "
                f"and {site.site!r} {yours!r}. Do they use different systems of ids, such as gene symbols and "
                "Ensembl ids, or ids with and without a version? Have all sites use the same one."
            )
    return common
