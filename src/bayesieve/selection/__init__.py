"""One rule per criterion of section 3: a posterior goes in, a selection comes out."""

from bayesieve.selection.rules import (
    FalseDiscovery,
    FixedSize,
    MinimalRisk,
    MostProbable,
    NeymanPearson,
    Rule,
    as_rule,
)
from bayesieve.selection.selection import Selection

__all__ = [
    "FalseDiscovery",
    "FixedSize",
    "MinimalRisk",
    "MostProbable",
    "NeymanPearson",
    "Rule",
    "Selection",
    "as_rule",
]
