"""What is asked of a plan: sizes of the study, and a goal."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesieve.planning.future import Design
from bayesieve.utils import OptionError, check_between, check_whole, is_number, is_whole, option

_LARGEST = 100_000
_GOAL = re.compile(
    r"\s*(?P<number>\d+)\s+(?:true\s+)?markers?(?:\s+at\s+(?P<right>\d+(?:\.\d+)?)\s*%(?:\s+right)?)?"
    r"(?:\s+with\s+(?:probability\s+)?(?P<sure>\d+(?:\.\d+)?)\s*%)?\s*"
)


def parse_ratio(ratio: Any) -> tuple[float, float]:
    """Return the shares of the two classes from 1:2, or from one number: second over first."""
    parts = str(ratio).split(":") if isinstance(ratio, str) else [1.0, ratio]
    try:
        first, second = (float(part) for part in (parts if len(parts) == 2 else ["1", *parts]))
    except ValueError:
        first = second = math.nan
    if not (0.0 < first < math.inf and 0.0 < second < math.inf and 0.001 <= second / first <= 1000.0):
        raise OptionError(
            option("ratio"),
            f" is the samples of the first class to those of the second, such as 1:2, not {ratio!r}.",
        )
    return first, second


def sized(n: int, ratio: tuple[float, float], batches: int = 1) -> Design:
    """Return the design whose smaller class has so many samples."""
    n0, n1 = (max(n, math.ceil(n * each / min(ratio) - 1e-9)) for each in ratio)
    return Design(n0, n1, batches)


def parse_designs(per_class: Any, ratio: Any = "1:1", batches: Any = 1) -> tuple[Design, ...]:
    """Return the designs from numbers of samples per class, or of both classes (``"20+40"``), each once."""
    shares = parse_ratio(ratio)
    check_whole("batches", batches, 1)
    given: Sequence[Any] = per_class.split(",") if isinstance(per_class, str) else per_class
    given = [given] if is_whole(given) or is_number(given) else list(given)
    found = []
    for each in given:
        sizes = _sizes(each)
        for n in sizes:
            if n < 2 or n > _LARGEST:
                raise OptionError(
                    option("per_class"), f" takes numbers of samples from 2 to {_LARGEST:,}, not {each!r}: with "
                    "one sample a class shows no spread.",
                )  # fmt: skip
            if n <= batches > 1:
                raise OptionError(
                    f"{batches} batches need more than {batches} samples of each class, and ",
                    option("per_class"), f" says {each!r}. Ask for fewer batches or more samples.",
                )  # fmt: skip
        found.append(sized(sizes[0], shares, batches) if len(sizes) == 1 else Design(sizes[0], sizes[1], batches))
    if not found:
        raise OptionError(option("per_class"), " names no size. Give some, for example ",
                          option("per_class", "20,40,80"), ".")  # fmt: skip
    return tuple(dict.fromkeys(found))


def _sizes(each: Any) -> list[int]:
    """Read one size: 20, "20", "20+40" or (20, 40)."""
    parts = each.split("+") if isinstance(each, str) else [each] if is_number(each) else list(each)
    try:
        numbers = [float(part) for part in parts]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (1, 2) or any(not math.isfinite(n) or n != int(n) for n in numbers):
        raise OptionError(
            option("per_class"), f" takes whole numbers with commas between, such as 20,40,80, or sizes of both "
            f"classes, such as 20+40; {each!r} is neither.",
        )  # fmt: skip
    return [int(n) for n in numbers]


@dataclass(frozen=True, slots=True)
class Goal:
    """What a study shall reach.

    Parameters
    ----------
    markers
        True markers in the list, at least.
    right
        Share of the list that is right, at least.
    assurance
        Share of all futures in which both shall hold.
    """

    markers: int
    right: float = 0.9
    assurance: float = 0.8

    def __post_init__(self) -> None:
        check_whole("markers", self.markers, 1)
        check_between("right", self.right)
        check_between("assurance", self.assurance, open_ends=True)

    @classmethod
    def parse(cls, goal: Any) -> Goal:
        """Read a goal such as ``"50 markers at 90% right with 80%"``."""
        if isinstance(goal, Goal):
            return goal
        found = _GOAL.fullmatch(str(goal).lower())
        if found is None:
            raise OptionError(
                option("goal"), f" is written like '50 markers at 90% right' or '50 markers at 90% right with "
                f"probability 80%', not {goal!r}.",
            )  # fmt: skip
        right, sure = (float(found[name] or usual) / 100.0 for name, usual in (("right", "90"), ("sure", "80")))
        return cls(int(found["number"]), right, sure)

    def __str__(self) -> str:
        return f"{self.markers:,} true markers and {self.right:.0%} of the list right"
