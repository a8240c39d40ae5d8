"""Rules of a study, written as texts such as ``"mnc"`` or ``"np:5"``."""

from __future__ import annotations

from bayesieve.errors import OptionError
from bayesieve.selection import FalseDiscovery, MinimalRisk, MostProbable, NeymanPearson
from bayesieve.selection.rules import Rule

_NUMBERS = {"top": 0, "mnc": 0, "map": 0, "mr": 1, "np": 1, "fdr": 1, "fdp": 2, "bh": 1}
"""How many numbers a rule takes."""

_EXAMPLES = "top, mnc, map, mr:0.9, np:5, fdr:0.1, fdp:0.1:0.9 and bh:0.05"


def check_rule(rule: str) -> None:
    """Raise if a rule is not understood.

    Examples
    --------
    >>> from bayesieve.simulation.study.rules import check_rule
    >>> check_rule("fdr:0.1")
    """
    name, numbers = parsed_rule(rule)
    if name == "bh":
        if not 0.0 <= numbers[0] <= 1.0:
            raise OptionError(f"The level of the rule {rule!r} must lie between 0 and 1.")
    elif name != "top":
        rule_of_posterior(rule)


def parsed_rule(rule: str) -> tuple[str, tuple[float, ...]]:
    """Return the name of a rule and its numbers.

    Examples
    --------
    >>> from bayesieve.simulation.study.rules import parsed_rule
    >>> parsed_rule("fdp:0.1:0.9"), parsed_rule("mnc")
    (('fdp', (0.1, 0.9)), ('mnc', ()))
    """
    name, *texts = str(rule).strip().lower().split(":")
    if name not in _NUMBERS or len(texts) != _NUMBERS[name]:
        raise OptionError(f"The rule {rule!r} is not understood. Rules are {_EXAMPLES}.")
    try:
        return name, tuple(float(text) for text in texts)
    except ValueError:
        raise OptionError(f"The rule {rule!r} needs a number behind the colon. Rules are {_EXAMPLES}.") from None


def rule_of_posterior(rule: str) -> Rule:
    """Return the rule that reads log-odds.

    Examples
    --------
    >>> from bayesieve.simulation.study.rules import rule_of_posterior
    >>> rule_of_posterior("mr:0.9")
    MinimalRisk(threshold=0.9)
    """
    name, numbers = parsed_rule(rule)
    makers = {
        "mnc": MinimalRisk,
        "map": MostProbable,
        "mr": MinimalRisk,
        "np": NeymanPearson,
        "fdr": FalseDiscovery,
        "fdp": FalseDiscovery,
    }
    made: Rule = makers[name](*numbers)
    return made
