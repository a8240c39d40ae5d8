"""Checks: what speaks for and against a list of features, each in one sentence, one number and one state."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, overload

from bayesieve.utils import IntArray, Message, join_words

if TYPE_CHECKING:
    from bayesieve.posterior.feature_posterior import FeaturePosterior
    from bayesieve.posterior.findings.fragility import Fragility

STATES = ("good", "unknown", "attention", "alarm")  # from the best to the worst
_WORDS = {"good": "good", "unknown": "not checked", "attention": "attention", "alarm": "alarm"}


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One check of a list.

    Parameters
    ----------
    name, title
        Short name, such as ``"one-sample"``, and heading.
    state
        ``"good"``, ``"attention"``, ``"alarm"``, or ``"unknown"`` if it could not be made.
    number
        The number that counts, NaN if there is none.
    shown
        The number for people, for example ``"2,882 of 6,052"``.
    sentence
        What was found, with a hint at what to do about it; ids of samples can be left out.
    link
        Section of the report where it can be looked at.
    numbers
        All numbers of the check, as plain values.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(40, 500))
    >>> X[20:, :5] += 3.0
    >>> check = bs.screen(X, [0] * 20 + [1] * 20).checks["one-sample"]
    >>> check.state, check.shown
    ('good', '0 of 5')
    """

    name: str
    title: str
    state: str
    number: float
    shown: str
    sentence: Message
    link: str = "table"
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hint(self) -> Message:
        """What to do about it; empty if there is nothing to do."""
        return Message(self.sentence.hint)

    @property
    def word(self) -> str:
        """The state in words."""
        return _WORDS[self.state]

    def render(self, *, command: bool = False, ids: bool = True) -> str:
        """Return sentence and hint as one text.

        Parameters
        ----------
        command
            Whether options are named as on the command line.
        ids
            Whether samples may be named.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.posterior.checks import Check
        >>> from bayesieve.utils import Message
        >>> Check("chance", "Chance", "good", 0.2, "0.2", Message.of("Few are expected.")).render()
        'Few are expected.'
        """
        return self.sentence.render(command=command, ids=ids)

    def to_dict(self, *, ids: bool = True) -> dict[str, Any]:
        """Return plain values for JSON, with or without ids of samples.

        Examples
        --------
        >>> from bayesieve.posterior.checks import Check
        >>> from bayesieve.utils import Message
        >>> Check("chance", "Chance", "good", 0.2, "0.2", Message.of("Few.")).to_dict()["state"]
        'good'
        """
        number = None if self.number != self.number else float(self.number)
        return {
            "name": self.name, "title": self.title, "state": self.state, "number": number, "shown": self.shown,
            "sentence": self.render(command=True, ids=ids), "link": self.link,
            "numbers": {key: value for key, value in self.numbers.items() if ids or not key.startswith("sample")},
        }  # fmt: skip

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Check:
        """Read what :meth:`to_dict` wrote.

        Examples
        --------
        >>> from bayesieve.posterior.checks import Check
        >>> from bayesieve.utils import Message
        >>> Check.from_dict(Check("chance", "Chance", "good", 0.2, "0.2", Message.of("Few.")).to_dict()).shown
        '0.2'
        """
        state, number = str(values["state"]), values["number"]
        if state not in STATES:
            raise ValueError(f"there is no state {state!r}")
        return cls(
            str(values["name"]), str(values["title"]), state, float("nan") if number is None else float(number),
            str(values["shown"]), Message.of(str(values["sentence"])), str(values["link"]),
            dict(values["numbers"]),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Checks(Sequence[Check]):
    """Checks of a list: one sample, floors and ties, shape, confounding, chance; a label leak if one is feared.

    Parameters
    ----------
    items
        The checks, in the order of a report; none if no values are at hand.
    influence
        Leave-one-out influence of the features that were looked at, all of the list or some of it.
    holds
        Of every feature of the screen: 1 if it is listed and holds without any one sample, 0 if it is listed and
        does not, -1 if it was not looked at; None if none was.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(40, 500))
    >>> X[20:, :5] += 3.0
    >>> checks = bs.screen(X, [0] * 20 + [1] * 20, sample_columns={"sex": ["f", "m"] * 20}).checks
    >>> checks.state, [check.name for check in checks]
    ('good', ['one-sample', 'floors', 'shape', 'confounding', 'chance'])
    """

    items: tuple[Check, ...] = ()
    influence: Fragility | None = None
    holds: IntArray | None = None

    @property
    def state(self) -> str:
        """The worst state of all."""
        return max((check.state for check in self.items), key=STATES.index, default="unknown")

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Check]:
        return iter(self.items)

    def __contains__(self, key: object) -> bool:
        return any(check.name == key or check is key for check in self.items)

    @overload
    def __getitem__(self, key: int | str) -> Check: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Check, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Check | tuple[Check, ...]:
        if not isinstance(key, str):
            return self.items[key]
        found = next((check for check in self.items if check.name == key), None)
        if found is None:
            raise KeyError(
                f"There is no check {key!r}: {', '.join(check.name for check in self.items) or 'none'}."
            )
        return found

    def to_dict(self, *, ids: bool = True) -> list[dict[str, Any]]:
        """Return plain values for JSON, with or without ids of samples.

        Examples
        --------
        >>> from bayesieve.posterior.checks import Checks
        >>> Checks().to_dict()
        []
        """
        return [check.to_dict(ids=ids) for check in self.items]

    def lines(self, *, command: bool = False) -> list[str]:
        """Say in one line which checks are good or were not made, and of the others what was found.

        Parameters
        ----------
        command
            Whether options are named as on the command line.

        Examples
        --------
        >>> from bayesieve.posterior.checks import Check, Checks
        >>> from bayesieve.utils import Message
        >>> Checks((Check("chance", "Chance", "good", 0.2, "0.2", Message.of("Few.")),)).lines()
        ['Checks: good (chance).']
        """
        by_word: dict[str, list[str]] = {}
        for check in self.items:
            by_word.setdefault(check.word, []).append(check.title.lower())
        brief = [f"{word} ({join_words(by_word[word])})" for word in ("good", "not checked") if word in by_word]
        told = [each for each in self.items if each.state in ("attention", "alarm")]
        return [
            *([f"Checks: {'; '.join(brief)}."] if brief else []),
            *(f"{each.word.capitalize()}, {each.title.lower()}: {each.render(command=command)}" for each in told),
        ]

    def __repr__(self) -> str:
        if not self.items:
            return "Checks: none, as no values are at hand"
        rows = (f"  {each.title:<17} {each.word:<12} {each.shown}" for each in self.items)
        return "\n".join([f"Checks ({_WORDS[self.state]})", *rows])

    def __str__(self) -> str:
        if not self.items:
            return repr(self)
        return "\n".join(f"{each.title} ({each.word}): {each.render()}" for each in self.items)

    def _repr_html_(self) -> str:
        cells = (
            f"<tr><th style='text-align:left'>{html.escape(each.title)}</th><td>{html.escape(each.word)}</td>"
            f"<td style='text-align:left'>{html.escape(each.render())}</td></tr>"
            for each in self.items
        )
        return f"<table>{''.join(cells)}</table>" if self.items else html.escape(repr(self))


class Checker(Protocol):
    """Who can look at the values behind a posterior."""

    def of_posterior(self, posterior: FeaturePosterior) -> Checks:
        """Check the list of features whose probability is over one half."""
        ...

    def of_selection(self, selection: Any) -> Checks:
        """Check the list of a rule."""
        ...
