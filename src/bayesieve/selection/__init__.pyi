from .count_test import CountTest as CountTest
from .false_positives import FalsePositiveEstimate as FalsePositiveEstimate
from .hashing import hash_columns as hash_columns, results_hash as results_hash
from .rules import (
    CRITERIA as CRITERIA,
    ROUNDING as ROUNDING,
    RULE_NUMBERS as RULE_NUMBERS,
    FalseDiscovery as FalseDiscovery,
    FixedSize as FixedSize,
    MinimalRisk as MinimalRisk,
    MostProbable as MostProbable,
    NeymanPearson as NeymanPearson,
    Rule as Rule,
    as_rule as as_rule,
    make_rule as make_rule,
    rule_options as rule_options,
    within_number as within_number,
    within_share as within_share,
)
from .selection import Selection as Selection, prefix as prefix
from .sentences import (
    count_lines as count_lines,
    describe_null as describe_null,
    error_lines as error_lines,
    explain_unknown_null as explain_unknown_null,
    flag_lines as flag_lines,
    summary_lines as summary_lines,
)
