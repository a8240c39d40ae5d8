"""What is said of the samples of a table, and whether contrasts can be made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bayesieve.io.contrasts.contrast_file import Contrast, all_right
from bayesieve.io.text.layout import label_from_text
from bayesieve.utils import LabelError, did_you_mean, list_names, plural

_LEAST = 2  # samples of a class


@dataclass(frozen=True, slots=True)
class Described:
    """What is said of the samples of a table.

    Parameters
    ----------
    source
        Who says it, for messages.
    columns
        Texts of all samples by column, None where one is missing.
    """

    source: str
    columns: Mapping[str, Sequence[str | None]]

    def check_columns(self, contrasts: Iterable[Contrast]) -> None:
        """Raise if a contrast names a column that is not there."""
        all_right([lambda c=each: self._named(c) for each in contrasts])  # type: ignore[misc]

    def check(self, contrasts: Iterable[Contrast]) -> tuple[Contrast, ...]:
        """Return the contrasts with levels as the samples write them; raise if one cannot be screened."""
        return tuple(all_right([lambda c=each: self._counted(c) for each in contrasts]))  # type: ignore[misc]

    def labels(self, contrast: Contrast) -> list[str | None]:
        """Level of every sample, None of those that the contrast excludes."""
        levels = self.columns[contrast.variable]
        if contrast.exclude_column is None:
            return list(levels)
        gone = self.columns[contrast.exclude_column]
        return [
            None if value in contrast.exclude_values else text for text, value in zip(levels, gone, strict=True)
        ]

    def blocks(self, contrast: Contrast) -> list[str | None]:
        """Block of every sample: the levels of all blocking factors, None where one is missing."""
        cells = zip(*(self.columns[name] for name in contrast.blocking), strict=True)
        return [None if None in row else " x ".join(map(str, row)) for row in cells]

    def n_excluded(self, contrast: Contrast) -> int:
        """Number of samples that have a level but are excluded."""
        before = self.columns[contrast.variable]
        return sum(a is not None and b is None for a, b in zip(before, self.labels(contrast), strict=True))

    def _named(self, contrast: Contrast) -> Contrast:
        for name in contrast.columns:
            if name not in self.columns:
                known, what = list(self.columns), "blocking factor" if name in contrast.blocking else "variable"
                what = "exclude_samples_col" if name == contrast.exclude_column else what
                joined = " Several are separated by semicolons." if set(name) & {",", ":"} else ""
                raise LabelError(
                    f"{contrast.place or 'Contrast'} ({contrast.id!r}): {what} {name!r} is no column of "
                    f"{self.source}.{did_you_mean(name, known)}{joined} There are: {list_names(known, 10)}."
                )
        return contrast

    def _counted(self, contrast: Contrast) -> Contrast:
        where = f"{contrast.place or 'Contrast'} ({contrast.id!r})"
        contrast = _as_labels(self._named(contrast))
        levels = Counter(text for text in self.columns[contrast.variable] if text is not None)
        shown = ", ".join(f"{level} ({n})" for level, n in list(levels.items())[:10])
        for role in ("reference", "target"):
            level = getattr(contrast, role)
            if level not in levels:
                raise LabelError(
                    f"{where}: the {role} {level!r} is no level of {contrast.variable!r} in {self.source}."
                    f"{did_you_mean(level, levels)} There are: {shown or 'none'}."
                )
        self._check_excluded(contrast, where)
        self._check_sizes(contrast, where)
        return contrast

    def _check_excluded(self, contrast: Contrast, where: str) -> None:
        if contrast.exclude_column is None:
            return
        there = Counter(text for text in self.columns[contrast.exclude_column] if text is not None)
        for value in contrast.exclude_values:
            if value not in there:
                shown = ", ".join(f"{level} ({n})" for level, n in list(there.items())[:10])
                raise LabelError(
                    f"{where}: no sample has {value!r} in {contrast.exclude_column!r}, by which it is to be "
                    f"excluded.{did_you_mean(value, there)} There are: {shown or 'none'}."
                )

    def _check_sizes(self, contrast: Contrast, where: str) -> None:
        labels = self.labels(contrast)
        blocks: Sequence[str | None] = self.blocks(contrast) if contrast.blocking else [""] * len(labels)
        cells: Counter[tuple[str | None, str | None]] = Counter(
            (block, level) for block, level in zip(blocks, labels, strict=True) if block is not None
        )
        for level in contrast.levels:
            n = sum(count for (_, each), count in cells.items() if each == level)
            if n < _LEAST:
                all_of_it = sum(text == level for text in self.columns[contrast.variable])
                left = " with all blocking factors" if contrast.blocking else ""
                left += f" that {contrast.exclude_column!r} does not exclude" if contrast.exclude_column else ""
                raise LabelError(
                    f"{where}: {level!r} has {plural(n, 'sample')} in the table{left} ({all_of_it} with that "
                    f"level of {contrast.variable!r}), and a comparison needs {_LEAST} at least. Add samples, or "
                    "take the contrast out."
                )
        both = [block for block in dict.fromkeys(blocks) if all(cells[block, c] for c in contrast.levels)]
        if contrast.blocking and not both:
            raise LabelError(
                f"{where}: no block of {' x '.join(contrast.blocking)} holds samples of both "
                f"{contrast.reference!r} and {contrast.target!r}, so that blocks and levels cannot be told "
                "apart. Take a factor out of blocking."
            )


def _as_labels(contrast: Contrast) -> Contrast:
    """Write levels as labels are read: 1.0 is 1."""

    def label(text: str) -> str:
        return label_from_text(text, ()) or text

    values = tuple(map(label, contrast.exclude_values))
    changes = {"reference": label(contrast.reference), "target": label(contrast.target), "exclude_values": values}
    return replace(contrast, **changes)  # type: ignore[arg-type]
