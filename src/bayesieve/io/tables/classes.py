"""From raw labels to classes: merged, picked, named and ordered as the user says, everything else counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayesieve.utils import LabelError, OptionError, did_you_mean, option

_MOST = 1000  # distinct labels after which they are no classes
_REST = "*"


@dataclass(frozen=True, slots=True)
class ClassMap:
    """Which raw labels make up which class.

    Parameters
    ----------
    classes
        Names of the classes, in order.
    members
        Raw label to class name; ``"*"`` stands for every label not named otherwise.
    """

    classes: tuple[str, ...]
    members: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> ClassMap:
        """Read ``"early=1,adenoma; late=2,3,4"``, ``"tumour=t; rest=*"`` or ``"control, case"``."""
        parts = [part.strip() for part in text.split(";") if part.strip()]
        if len(parts) == 1 and "=" not in parts[0]:
            parts = [part.strip() for part in parts[0].split(",") if part.strip()]
        members: dict[str, str] = {}
        names: list[str] = []
        for part in parts:
            name, equals, listed = (text.strip() for text in part.partition("="))
            labels = [label.strip() for label in listed.split(",") if label.strip()] if equals else [name]
            if not name or not labels:
                raise OptionError(f"Cannot read {part!r} in classes {text!r}. {_HOW}")
            if name in names:
                raise OptionError(f"Classes {text!r} name {name!r} twice. Name every class once.")
            names.append(name)
            for label in labels:
                if label in members:
                    raise OptionError(f"Classes {text!r} put label {label!r} into two classes. Put it into one.")
                members[label] = name
        if not names:
            raise OptionError(f"Classes {text!r} name nothing. {_HOW}")
        return cls(tuple(names), members)

    def class_of(self, label: str) -> str | None:
        """Return the class of a raw label, None if it belongs to none."""
        return self.members.get(label, self.members.get(_REST))

    def __str__(self) -> str:
        listed = {name: [label for label, to in self.members.items() if to == name] for name in self.classes}
        return "; ".join(
            name if labels == [name] else f"{name}={','.join(labels)}" for name, labels in listed.items()
        )


_HOW = 'Write, for example, "early=1,adenoma; late=2,3,4" (semicolons between classes, commas between labels).'


def natural_order(labels: Sequence[str]) -> list[str]:
    """Sort labels, by value if all of them are numbers."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


@dataclass(slots=True)
class Encoder:
    """Classes while labels come in, and a count of everything left out.

    Parameters
    ----------
    wanted
        Which labels make up which class; None: every label is a class of its own.
    declared
        All labels in the order that a file declares; empty if it does not.
    """

    wanted: ClassMap | None = None
    declared: tuple[str, ...] = ()
    classes: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)
    n_unlabelled: int = 0

    def __post_init__(self) -> None:
        if self.wanted is not None:
            self.classes = list(self.wanted.classes)

    def encode(self, labels: Sequence[str | None]) -> npt.NDArray[np.int64]:
        """Return the position of each sample's class, -1 for samples that are left out."""
        positions = {name: k for k, name in enumerate(self.classes)}
        codes = np.full(len(labels), -1, dtype=np.int64)
        for i, label in enumerate(labels):
            if label is None:
                self.n_unlabelled += 1
                continue
            self.seen[label] += 1
            name = label if self.wanted is None else self.wanted.class_of(label)
            if name is None:
                self.outside[label] += 1
                continue
            if name not in positions:
                positions[name] = len(self.classes)
                self.classes.append(name)
                self._check_number(labels)
            codes[i] = positions[name]
        return codes

    def _check_number(self, labels: Sequence[str | None]) -> None:
        if len(self.classes) > _MOST:
            raise LabelError(
                f"The labels take more than {_MOST:,} different values, for example {self.classes[0]!r} and "
                f"{labels[-1]!r}: they look like measurements or ids, not classes. Choose another label column."
            )

    def order(self) -> list[str]:
        """Return the classes in the order of user or file, or sorted; raise if one asked for is not there."""
        if self.wanted is None:
            kept = [label for label in self.declared if label in self.classes]
            return kept if len(kept) == len(self.classes) else natural_order(self.classes)
        absent = [label for label in self.wanted.members if label != _REST and label not in self.seen]
        if absent:
            found = list(self.seen)
            shown = ", ".join(f"{label} ({self.seen[label]})" for label in sorted(found)[:12])
            raise LabelError(
                f"No sample has the label {absent[0]!r} that ",
                option("classes"),
                f" asks for.{did_you_mean(absent[0], found)} Labels in the data: {shown or 'none'}.",
            )
        return list(self.wanted.classes)
