"""Samples of a table put together, cells of a donor say, while it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.data import GroupSums, Repeats, group_names
from bayesieve.io.text.parsing import number
from bayesieve.models import Model
from bayesieve.utils import (
    DataWarning,
    IntArray,
    LabelError,
    Message,
    OptionError,
    SampleIds,
    list_names,
    option,
    plural,
    warn,
)

ROLES = ("aggregate", "aggregate2", "aggregate3")
_FEW = 10  # cells; a mean or sum of fewer says little


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How samples are put together.

    Parameters
    ----------
    names
        The columns that say which samples belong together.
    how
        ``"sum"`` or ``"mean"``.
    omit
        Whether missing values are left out of means.
    """

    names: tuple[str, ...]
    how: str
    omit: bool = False

    @classmethod
    def parse(
        cls, columns: str | Sequence[str], model: Model | None, missing: str, *, counts: bool = False
    ) -> Aggregation:
        """Read ``"donor"`` or ``"donor,cluster"`` (a list may hold commas); only counts are added up."""
        if model is not None and not model.takes_exposures:
            raise OptionError(
                option("aggregate"),
                f" adds counts up and averages measurements, but {type(model).__name__} takes neither.",
                hint=("Leave ", option("aggregate"), " out, or choose another model."),
            )
        parts = columns.split(",") if isinstance(columns, str) else columns
        names = tuple(part.strip() for part in parts if part.strip())
        if not names or len(names) > len(ROLES) or len(set(names)) < len(names):
            raise OptionError(
                option("aggregate"),
                f" takes the names of one to {len(ROLES)} different columns, not {columns!r}.",
                hint=("Say, for example, ", option("aggregate", "donor"), "."),
            )
        added = counts or model is not None
        return cls(names, "sum" if added else "mean", omit=not added and missing == "omit")

    @property
    def roles(self) -> dict[str, str]:
        """The columns by role."""
        return dict(zip(ROLES, self.names, strict=False))

    def groups(self, path: str) -> SampleGroups:
        """Return groups that are empty yet."""
        return SampleGroups(path, self)


@dataclass(slots=True)
class SampleGroups:
    """Groups of samples that have been met so far: one for each donor (and cluster) and class."""

    path: str
    aggregation: Aggregation
    keys: dict[tuple[str, ...], int] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)
    texts: dict[str, list[str | None]] = field(default_factory=dict)
    exposures: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.keys)

    @property
    def how(self) -> str:
        """``"sum"`` or ``"mean"``."""
        return self.aggregation.how

    def add(self, codes: IntArray, texts: Mapping[str, Sequence[str | None]]) -> IntArray:
        """Return the group of every sample, -1 for those left out, from its class and what is said of it."""
        by = [texts[role] for role in self.aggregation.roles]
        others = {role: each for role, each in texts.items() if role not in ROLES and role != "exposures"}
        exposed = texts.get("exposures")
        found = np.full(codes.size, -1, np.int64)
        for i in np.flatnonzero(codes >= 0).tolist():
            key = (*(str(column[i]) for column in by), str(codes[i]))
            k = self.keys.setdefault(key, len(self.keys))
            if k == len(self.codes):
                self.codes.append(int(codes[i]))
                self.sizes.append(0)
                self.exposures.append(0.0)
                for role, each in others.items():
                    self.texts.setdefault(role, []).append(each[i])
            for role, each in others.items():
                if self.texts[role][k] != each[i]:
                    raise self._torn(role, key, self.texts[role][k], each[i])
            self.sizes[k] += 1
            if exposed is not None:
                self.exposures[k] += number(str(exposed[i]))
                self.texts["exposures"] = []
            found[i] = k
        return found

    def _torn(self, role: str, key: tuple[str, ...], first: Any, second: Any) -> LabelError:
        return LabelError(
            f"{self.path}: samples that are to be put together differ in ",
            option(role),
            f": {first!r} and {second!r}",
            SampleIds((":".join(key[:-1]),), ", both of "),
            ". What is one sample afterwards has one value.",
            hint=("Leave ", option(role), " out, or add its column to ", option("aggregate"), "."),
        )

    def described(
        self, classes: Sequence[str]
    ) -> tuple[Sequence[str] | None, IntArray, dict[str, Sequence[str | None]]]:
        """Return names, classes and what else is said of the groups, as of samples."""
        keys = [(*key[:-1], str(classes[code])) for key, code in zip(self.keys, self.codes, strict=True)]
        texts: dict[str, Sequence[str | None]] = dict(self.texts)
        if "exposures" in texts:
            texts["exposures"] = [repr(each) for each in self.exposures]
        return group_names(keys, len(self.aggregation.names)), np.array(self.codes, np.int64), texts

    def sums(self, n_features: int, memory: int) -> GroupSums:
        """Return sums that are empty yet."""
        self.check_size(n_features, memory)
        return GroupSums(n_features, self.aggregation.omit)

    def check_size(self, n_features: int, memory: int) -> None:
        """Raise if there are so many groups that they do not fit into memory."""
        if 16 * self.n_groups * n_features > memory:
            raise OptionError(
                f"{self.path}: {self._by()} take {self.n_groups:,} values and more, and the sums of "
                f"{n_features:,} features for each of them do not fit into memory.",
                hint=("Name the column of the donors with ", option("aggregate"), ", or give more ",
                      option("memory"), "."),
            )  # fmt: skip

    def _by(self) -> str:
        return list_names(self.aggregation.names)

    def describe(self) -> Message:
        """Say what was put together, and of how many samples the new ones are made."""
        sizes = np.sort(self.sizes)
        few = int((sizes < _FEW).sum())
        low, high = int(sizes[0]), int(sizes[-1])
        each = f"{low:,}" if low == high else f"{low:,} to {high:,} (median {int(np.median(sizes)):,})"
        tail = f" {few:,} of them stand for fewer than {_FEW}." if few and high >= _FEW else ""
        return Message.of(
            f"{int(sizes.sum()):,} samples of the file are put together by {self._by()} and class to "
            f"{plural(self.n_groups, 'sample')} of {each} each; values are "
            f"{'sums' if self.how == 'sum' else 'means'}.{tail}",
            kind="aggregate",
            n=int(sizes.sum()),
            n_groups=self.n_groups,
            sizes=[int(n) for n in sizes],
        )

    def check(self, roles: Mapping[str, str]) -> None:
        """Warn if what was put together still does not tell independent samples apart."""
        if self.n_groups == sum(self.sizes):
            raise LabelError(
                f"{self.path}: every sample has a value of its own in {self._by()}: there is nothing to put "
                "together.",
                hint=("Name the column of the donors with ", option("aggregate"), ", or leave it out."),
            )
        repeats = Repeats.of([key[0] for key in self.keys], self.codes)
        name = self.aggregation.names[0]
        if repeats.are_no_replicates and "pairs" not in roles:
            others = list_names(self.aggregation.names[1:])
            warn(
                DataWarning,
                f"{self.path}: {repeats.n_samples:,} samples are of {repeats.n_donors:,} values of {name!r}, "
                f"several in the same class because of {others}. They are not independent.",
                hint=f"Screen one value of {others} at a time.",
                kind="donors",
            )
        elif repeats.n_in_several and not {"pairs", "blocks"}.intersection(roles) and len(set(self.codes)) == 2:
            warn(
                DataWarning,
                f"{self.path}: {repeats.n_in_several:,} of {repeats.n_donors:,} values of {name!r} occur in both "
                "classes, so that their samples are pairs.",
                hint=("Compare within pairs: ", option("pairs", name), "."),
                kind="donors",
            )
