from .rules import (
    ROUNDING as ROUNDING,
    FalseDiscovery as FalseDiscovery,
    FixedSize as FixedSize,
    MinimalRisk as MinimalRisk,
    MostProbable as MostProbable,
    NeymanPearson as NeymanPearson,
    Rule as Rule,
    as_rule as as_rule,
    within_number as within_number,
    within_share as within_share,
)
from .selection import (
    Selection as Selection,
    chance_unknown as chance_unknown,
    describe_chance as describe_chance,
    flagged_lines as flagged_lines,
    found_lines as found_lines,
    prefix as prefix,
    results_hash as results_hash,
    summary_lines as summary_lines,
)
