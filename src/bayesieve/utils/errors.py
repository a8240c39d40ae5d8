"""Everything that can go wrong, as a tree.

::

    BayesieveError
    ├── DataError (ValueError)        the table of values
    │   └── MissingValueError         it holds missing values and nobody said what to do
    ├── LabelError (ValueError)       the class of each sample
    ├── PriorError (ValueError)       hyper-parameters, prior ratio, prior probability
    ├── DegenerateFeatureError (ValueError)   features without variance, under degenerate="raise"
    ├── RuleError (ValueError)        a selection rule, a loss or a set of features
    ├── FileError (ValueError)        a file that cannot be read or written, or does not hold what it should
    ├── OptionError (ValueError)      an option or setting that contradicts another or is not understood
    └── MissingExtraError (ImportError)   a package that is not part of the plain installation

    BayesieveWarning (UserWarning)
    ├── DegenerateFeatureWarning      features without variance were given a floor or left out
    ├── DataWarning                   a table that may not hold what it seems to hold
    ├── CalibrationWarning            probabilities that the global null would often produce
    ├── ConvergenceWarning            a sampler or a solver that has not settled
    └── PriorWarning                  a prior that does not fit the data, or is not semi-proper

Every exception is a :class:`BayesieveError` and also the built-in kind a caller would expect, so
``except ValueError`` keeps working.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "FLAGGED",
    "JEFFREYS",
    "PROPER",
    "TABLE",
    "BayesieveError",
    "BayesieveWarning",
    "CalibrationWarning",
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "DegenerateFeatureError",
    "DegenerateFeatureWarning",
    "FileError",
    "LabelError",
    "Message",
    "MissingExtraError",
    "MissingValueError",
    "OptionError",
    "Piece",
    "PriorError",
    "PriorWarning",
    "RuleError",
    "SampleIds",
    "Wording",
    "option",
]


@dataclass(frozen=True, slots=True)
class Wording:
    """A piece of a message that Python and the command line put in their own words."""

    python: str
    command: str


@dataclass(frozen=True, slots=True)
class SampleIds:
    """A piece of a message that names samples, with the words before it; redacted where no sample may be named."""

    ids: tuple[str, ...]
    before: str = ""
    most: int = 3

    def __str__(self) -> str:
        more = f" and {len(self.ids) - self.most:,} more" if len(self.ids) > self.most else ""
        return f"{self.before}{', '.join(self.ids[: self.most])}{more}" if self.ids else ""


Piece = str | Wording | SampleIds


def option(name: str, value: Any = None) -> Wording:
    """Name an option, alone or with a value: ``missing="omit"`` in Python, ``--missing omit`` as a command."""
    flag = "--" + name.replace("_", "-")
    return Wording(name, flag) if value is None else Wording(f"{name}={value!r}", f"{flag} {value}")


TABLE = Wording("X", "The table")
PROPER = Wording("GaussianModel.proper(...)", "--prior proper")
JEFFREYS = Wording("GaussianModel.jeffreys()", "--prior jeffreys")
FLAGGED = Wording("flagged in .degenerate", "flagged in the column degenerate")


@dataclass(frozen=True, slots=True)
class Message:
    """Something said to a user, as data: each interface renders it in its own words, and no code parses the text.

    Parameters
    ----------
    text
        Pieces of the sentences: plain text, :class:`Wording` and :class:`SampleIds`.
    hint
        What to do about it, in the same pieces.
    kind
        What it is about, for example ``"missing-values"``.
    numbers
        The numbers in it, by name.

    Examples
    --------
    >>> from bayesieve.errors import Message, SampleIds, option
    >>> text = ("3 values are missing", SampleIds(("P07",), ", all of sample "), ".")
    >>> message = Message(text, ("Say ", option("missing", "omit"), "."))
    >>> message.render()
    "3 values are missing, all of sample P07. Say missing='omit'."
    >>> message.render(command=True, ids=False)
    '3 values are missing. Say --missing omit.'
    """

    text: tuple[Piece, ...]
    hint: tuple[Piece, ...] = ()
    kind: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, *parts: Piece | Message, hint: Piece | Iterable[Piece] = (), kind: str = "", **numbers: Any
    ) -> Message:
        """Make a message of pieces; a message alone stays as it is."""
        if len(parts) == 1 and isinstance(parts[0], Message):
            return parts[0]
        pieces = (hint,) if isinstance(hint, (str, Wording, SampleIds)) else tuple(hint)
        text = (piece for each in parts for piece in (each.pieces if isinstance(each, Message) else (each,)))
        return cls(tuple(text), pieces, kind, numbers)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Text and hint, one after the other."""
        return (*self.text, " ", *self.hint) if self.hint else self.text

    def __str__(self) -> str:
        return self.render()

    def render(self, *, command: bool = False, ids: bool = True) -> str:
        """Return the message in the words of Python or of the command line, with ids of samples or without."""

        def written(piece: Piece) -> str:
            if isinstance(piece, SampleIds):
                return str(piece) if ids else ""
            if isinstance(piece, Wording):
                return piece.command if command else piece.python
            return piece

        parts = ("".join(map(written, pieces)) for pieces in (self.text, self.hint))
        return " ".join(part for part in parts if part)

    def redacted(self) -> Message:
        """Return the message without the pieces that name samples."""
        text, hint = (
            tuple(p for p in pieces if not isinstance(p, SampleIds)) for pieces in (self.text, self.hint)
        )
        return Message(text, hint, self.kind, self.numbers)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; :meth:`from_dict` is the inverse."""
        return {
            "kind": self.kind,
            "text": [_plain(piece) for piece in self.text],
            "hint": [_plain(piece) for piece in self.hint],
            "numbers": dict(self.numbers),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Message:
        """Read what :meth:`to_dict` wrote."""
        text, hint = (tuple(_piece(each) for each in values.get(key, ())) for key in ("text", "hint"))
        return cls(text, hint, str(values.get("kind", "")), dict(values.get("numbers", {})))


def _plain(piece: Piece) -> Any:
    if isinstance(piece, Wording):
        return {"python": piece.python, "command": piece.command}
    if isinstance(piece, SampleIds):
        return {"samples": list(piece.ids), "before": piece.before, "most": piece.most}
    return piece


def _piece(value: Any) -> Piece:
    if isinstance(value, Mapping) and "samples" in value:
        return SampleIds(
            tuple(map(str, value["samples"])), str(value.get("before", "")), int(value.get("most", 3))
        )
    if isinstance(value, Mapping):
        return Wording(str(value.get("python", "")), str(value.get("command", "")))
    return str(value)


class _MessageError(Exception):
    """What errors and warnings share: a :class:`Message`, given as pieces."""

    def __init__(
        self,
        *text: Piece | Message,
        hint: Piece | Iterable[Piece] = (),
        kind: str = "",
        numbers: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = Message.of(*text, hint=hint, kind=kind, **(numbers or {}))
        super().__init__(self.message.render())

    def __reduce__(self) -> Any:
        return _again, (type(self), self.message)

    def __str__(self) -> str:
        return self.message.render()


def _again(kind: type[Any], message: Message) -> Any:
    """Make an error or a warning again, in another process."""
    return kind(*message.text, hint=message.hint, kind=message.kind, numbers=message.numbers)


class BayesieveError(_MessageError):
    """Root of every exception that bayesieve raises on purpose."""


class DataError(BayesieveError, ValueError):
    """The table of values cannot be screened as it is."""


class MissingValueError(DataError):
    """The table holds missing values and ``missing="raise"``."""


class LabelError(BayesieveError, ValueError):
    """The class labels are missing, too few, too many or of an unusable type."""


class PriorError(BayesieveError, ValueError):
    """A hyper-parameter, a prior ratio or a prior probability is not allowed."""


class DegenerateFeatureError(BayesieveError, ValueError):
    """Features without variance were found under ``degenerate="raise"``."""


class RuleError(BayesieveError, ValueError):
    """A selection rule, a loss or a given set of features makes no sense."""


class FileError(BayesieveError, ValueError):
    """A file cannot be read or written, or does not hold what its format promises."""


class OptionError(BayesieveError, ValueError):
    """An option or a setting contradicts another, or is not understood."""


class MissingExtraError(BayesieveError, ImportError):
    """A package is needed that is not part of the plain installation; the message names the extra."""


class BayesieveWarning(_MessageError, UserWarning):  # noqa: N818 - a warning
    """Root of every warning."""


class DegenerateFeatureWarning(BayesieveWarning):
    """Some features have no variance where the prior needs it; counted once per screen."""


class DataWarning(BayesieveWarning):
    """A table may not hold what it seems to hold, or was read in a way that deserves a look."""


class CalibrationWarning(BayesieveWarning):
    """Many features would pass the cut under the global null."""


class ConvergenceWarning(BayesieveWarning):
    """A sampler or a solver has not settled, so that its numbers may still change."""


class PriorWarning(BayesieveWarning):
    """A prior that does not fit the data or that theory does not cover."""


for _kind in list(globals().values()):  # tracebacks name the public home
    if isinstance(_kind, type) and issubclass(_kind, _MessageError):
        _kind.__module__ = "bayesieve.errors"
