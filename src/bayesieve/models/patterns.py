"""Patterns: in which ways the classes may differ, as partitions into groups that share their distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import Label
from bayesieve.utils import LabelError, PriorError, Wording, option

MOST_CLASSES = 8
Growth = tuple[int, ...]

_NAMES = ("any", "distinct", "one-versus-rest")


@dataclass(frozen=True, slots=True)
class Patterns:
    r"""Partitions of the classes under which a feature is a marker, with their prior weights.

    Parameters
    ----------
    classes
        Class labels.
    growths
        Every pattern as the group number of each class, numbered in order of appearance; none puts all
        classes into one group.
    weights
        Prior weight of each pattern given that the feature is a marker; they add up to 1.
    kind
        ``"any"``, ``"distinct"``, ``"one-versus-rest"`` or ``"given"``.

    Examples
    --------
    >>> from bayesieve.models.patterns import Patterns
    >>> patterns = Patterns.of("any", ("BL", "EWS", "NB"))
    >>> [patterns.words(i) for i in range(len(patterns.growths))][:2]
    ['{NB} differs from {BL, EWS}', '{EWS} differs from {BL, NB}']
    """

    classes: tuple[Label, ...]
    growths: tuple[Growth, ...]
    weights: tuple[float, ...] = field(repr=False)
    kind: str = "given"

    @classmethod
    def of(cls, patterns: Any, classes: Sequence[Label]) -> Patterns:
        """Make patterns of what a user says.

        Parameters
        ----------
        patterns
            ``"any"`` (every partition; uniform over the number of groups, then within), ``"distinct"`` (all
            classes differ), ``"one-versus-rest"``, or given ones: a text such as ``"BL | EWS, NB; BL, NB | *"``
            (``|`` between groups, ``;`` between patterns, ``*`` for all other classes), a sequence of such
            texts, of lists of groups of labels or of rows of group numbers, or a mapping from texts or tuples to
            weights.
        classes
            The classes of the data.

        Examples
        --------
        >>> from bayesieve.models.patterns import Patterns
        >>> Patterns.of("a | *", ("a", "b", "c")).growths
        ((0, 1, 1),)
        """
        labels, n = tuple(classes), len(classes)
        if n < 2:
            raise LabelError(f"A screen compares at least two classes, but there is only {labels[0]!r}.")
        if isinstance(patterns, Patterns):
            patterns = dict(zip(patterns.growths, patterns.weights, strict=True))
        if n == 2 and isinstance(patterns, str) and patterns in _NAMES:
            return cls(labels, ((0, 1),), (1.0,), "any")
        if isinstance(patterns, str) and patterns == "any":
            return cls._any(labels)
        if isinstance(patterns, str) and patterns == "distinct":
            return cls(labels, (tuple(range(n)),), (1.0,), patterns)
        if isinstance(patterns, str) and patterns == "one-versus-rest":
            rows = tuple(_canonical([int(k == j) for k in range(n)]) for j in range(n))
            return cls(labels, rows, (1.0 / n,) * n, patterns)
        return cls._given(patterns, labels)

    @classmethod
    def _any(cls, classes: tuple[Label, ...]) -> Patterns:
        n = len(classes)
        if n > MOST_CLASSES:
            raise LabelError(
                f"There are {n} classes, and all ways in which more than {MOST_CLASSES} may differ are too many "
                "to go through. For the markers of each class use ",
                Wording("bs.screen_groups(X, y)", "--groups rest"),
                ". If the labels are measurements, look for a trend, ",
                Wording("screen(X, outcome=y)", "--outcome in the place of --labels"),
                ", or turn them into groups first. Otherwise pick or merge classes, or say which patterns to "
                "consider: ",
                option("patterns", "distinct"),
                ", ",
                option("patterns", "one-versus-rest"),
                Wording(" or a list of patterns.", ", or given ones."),
                kind="many-classes",
            )
        growths = tuple(growth for growth in growths_of(n) if max(growth) > 0)
        sizes = np.array([max(growth) for growth in growths])
        within = np.bincount(sizes)
        return cls(classes, growths, tuple(float(1.0 / ((n - 1) * within[size])) for size in sizes), "any")

    @classmethod
    def _given(cls, patterns: Any, classes: tuple[Label, ...]) -> Patterns:
        if isinstance(patterns, str):
            patterns = [part for part in patterns.split(";") if part.strip()]
        if not isinstance(patterns, (Mapping, Sequence, np.ndarray)) or len(patterns) == 0:
            raise PriorError(
                f"patterns must be one of {', '.join(map(repr, _NAMES))}, a text such as 'A | B, C', or a list of "
                f"patterns, not {patterns!r}."
            )
        growths = [_growth(pattern, classes) for pattern in patterns]
        weights = list(patterns.values()) if isinstance(patterns, Mapping) else [1.0] * len(growths)
        if len(set(growths)) < len(growths):
            raise PriorError("patterns holds the same pattern twice. Give every pattern once, with its weight.")
        try:
            numbers = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        if not (np.isfinite(numbers) & (numbers > 0)).all():
            raise PriorError(f"The weights of patterns must be positive numbers, not {weights!r}.")
        return cls(classes, tuple(growths), tuple((numbers / numbers.sum()).tolist()))

    @property
    def log_weights(self) -> tuple[float, ...]:
        """Logarithms of the prior weights."""
        return tuple(math.log(weight) for weight in self.weights)

    def groups(self, pattern: int) -> tuple[tuple[int, ...], ...]:
        """Positions of the classes in each group of a pattern.

        Examples
        --------
        >>> from bayesieve.models.patterns import Patterns
        >>> Patterns.of("a | *", ("a", "b", "c")).groups(0)
        ((0,), (1, 2))
        """
        return members_of(self.growths[pattern])

    def words(self, pattern: int) -> str:
        """Say a pattern in words; -1 is that of a feature which is no marker.

        Examples
        --------
        >>> from bayesieve.models.patterns import Patterns
        >>> patterns = Patterns.of("distinct", ("a", "b", "c"))
        >>> patterns.words(0), patterns.words(-1)
        ('{a}, {b} and {c} all differ', 'no difference')
        """
        if pattern < 0:
            return "no difference"
        groups = sorted(self.groups(pattern), key=lambda group: (len(group), group))
        texts = ["{" + ", ".join(str(self.classes[k]) for k in group) + "}" for group in groups]
        if len(texts) == 2:
            first, second = texts
            return f"{first} differs from {second}"
        return f"{', '.join(texts[:-1])} and {texts[-1]} all differ"

    @property
    def smallest_groups(self) -> list[tuple[tuple[int, ...], int]]:
        """Groups (classes, number) to look at: where these have an evidence, all groups have."""
        used = {
            (group, group_index)
            for i in range(len(self.growths))
            for group_index, group in enumerate(self.groups(i))
        }
        alone = {(group, group_index) for group, group_index in used if len(group) == 1}
        return sorted(alone if len({group for group, _ in alone}) == len(self.classes) else used)


def growths_of(n: int) -> Iterator[Growth]:
    """Yield all partitions of ``n`` things as restricted growth strings, from one group to ``n`` groups each."""

    def longer(start: Growth) -> Iterator[Growth]:
        if len(start) == n:
            yield start
            return
        for k in range(max(start) + 2):
            yield from longer((*start, k))

    return longer((0,))


def members_of(growth: Growth) -> tuple[tuple[int, ...], ...]:
    """Positions in each group of a restricted growth string."""
    return tuple(
        tuple(k for k, of in enumerate(growth) if of == group_index) for group_index in range(max(growth) + 1)
    )


def _canonical(row: Sequence[Any]) -> Growth:
    """Number the groups in order of appearance."""
    seen: dict[Any, int] = {}
    return tuple(seen.setdefault(value, len(seen)) for value in row)


def _growth(pattern: Any, classes: tuple[Label, ...]) -> Growth:
    if isinstance(pattern, (list, tuple)) and all(isinstance(group, (list, tuple, set)) for group in pattern):
        growth = _from_groups(repr(pattern), [list(group) for group in pattern], classes)
    elif isinstance(pattern, str):
        named = {str(label): label for label in classes}
        texts = [[name.strip() for name in group.split(",")] for group in pattern.split("|")]
        groups = [[named.get(name, name) for name in group] for group in texts]
        growth = _from_groups(repr(pattern.strip()), groups, classes)
    else:
        growth = _from_row(pattern, classes)
    if max(growth) == 0:
        raise PriorError(
            f"The pattern {pattern!r} puts all classes into one group, which is what a feature without difference "
            "does already. A pattern needs at least two groups."
        )
    return growth


def _from_row(pattern: Any, classes: tuple[Label, ...]) -> Growth:
    row = np.asarray(pattern)
    if row.shape != (len(classes),):
        raise PriorError(
            f"The pattern {pattern!r} must give a group number to each of the {len(classes)} classes "
            f"{list(classes)!r}, in this order; or write it as text, for example "
            f"'{classes[0]} | {classes[1]}, ...'."
        )
    return _canonical(row.tolist())


def _from_groups(pattern: str, groups: Sequence[Sequence[Any]], classes: tuple[Label, ...]) -> Growth:
    """Number the groups of a pattern that lists the classes of each; ``*`` stands for all others."""
    row: list[int | None] = [None] * len(classes)
    rest = None
    for number, group in enumerate(groups):
        for label in group:
            if label == "*" and label not in classes:
                rest = number
                continue
            if label not in classes:
                raise PriorError(
                    f"The pattern {pattern} names {label!r}, which is no class; the classes are "
                    f"{', '.join(map(repr, classes))}. Labels with , | or ; in them cannot be written in a text: "
                    "rename them, or give lists of labels."
                )
            if row[classes.index(label)] is not None:
                raise PriorError(f"The pattern {pattern} names {label!r} twice. Name every class once.")
            row[classes.index(label)] = number
    absent = [str(label) for label, number in zip(classes, row, strict=True) if number is None]
    if absent and rest is None:
        raise PriorError(
            f"The pattern {pattern} leaves out {', '.join(absent)}. Name every class, or write * for all "
            "the others."
        )
    return _canonical([rest if number is None else number for number in row])
