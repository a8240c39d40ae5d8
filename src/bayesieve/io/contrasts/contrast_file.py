"""Contrast files as nf-core/differentialabundance has them: which two levels of which column are compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesieve.io.tables.columns import read_columns
from bayesieve.io.text.files import plain_suffix
from bayesieve.utils import (
    FileError,
    LabelError,
    MissingExtraError,
    OptionError,
    can_name_files,
    check_file,
    did_you_mean,
    install_command,
    list_names,
    plural,
)

_NEEDED = ("id", "variable", "reference", "target")
_KNOWN = (*_NEEDED, "blocking", "exclude_samples_col", "exclude_samples_values")
_NOTHING = frozenset({"", "NA", "na", "N/A", "null", "None", "none"})


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two levels of a column that describes the samples, target minus reference.

    Parameters
    ----------
    id
        Names the contrast and its files.
    variable, reference, target
        The column, and the two levels of it that are compared.
    blocking
        Columns whose levels (of several: their combinations) are blocks; see :func:`bayesieve.screen`.
    exclude_column, exclude_values
        Samples with one of these values in this column are left out.
    place
        Where the contrast stands, for messages.
    """

    id: str
    variable: str
    reference: str
    target: str
    blocking: tuple[str, ...] = ()
    exclude_column: str | None = None
    exclude_values: tuple[str, ...] = ()
    place: str = ""

    def __post_init__(self) -> None:
        where = self.place or f"Contrast {self.id!r}"
        for name in _NEEDED:
            if not getattr(self, name):
                raise LabelError(f"{where}: {name!r} is empty. Fill it in.")
        if not can_name_files(self.id):
            raise LabelError(
                f"{where}: the id {self.id!r} is to name files, which cannot have such a name. Use letters, "
                "digits, underscores, points and hyphens."
            )
        if self.reference == self.target:
            raise LabelError(
                f"{where} ({self.id!r}): reference and target are both {self.target!r}. Name two levels of "
                f"{self.variable!r}."
            )
        if self.variable in self.blocking:
            raise LabelError(
                f"{where} ({self.id!r}): {self.variable!r} is both compared and a blocking factor. Take it out of "
                "blocking."
            )
        if (self.exclude_column is None) != (not self.exclude_values):
            raise LabelError(
                f"{where} ({self.id!r}): exclude_samples_col and exclude_samples_values belong together, and one "
                "of them is empty. Give both or neither."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the contrast names."""
        return tuple(dict.fromkeys((self.variable, *self.blocking, *filter(None, (self.exclude_column,)))))

    @property
    def levels(self) -> tuple[str, str]:
        """Both levels, the reference first."""
        return self.reference, self.target

    def __str__(self) -> str:
        blocks = f", blocks of {' and '.join(self.blocking)}" if self.blocking else ""
        return f"{self.variable}: {self.target} - {self.reference}{blocks}"


def read_contrasts(path: str | os.PathLike[str]) -> tuple[Contrast, ...]:
    r"""Read the contrasts of an nf-core/differentialabundance run.

    Parameters
    ----------
    path
        A table (CSV, TSV, also compressed, Excel) with the columns ``id``, ``variable``, ``reference`` and
        ``target``, and optionally ``blocking``, ``exclude_samples_col`` and ``exclude_samples_values`` (several of
        them with semicolons between); or YAML, for which the extra ``yaml`` is needed.

    Returns
    -------
    tuple of Contrast
        To be handed to :func:`bayesieve.screen_contrasts`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayesieve as bs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "contrasts.csv"
    >>> _ = path.write_text("id,variable,reference,target,blocking\ndrug,treatment,none,drug,batch\n")
    >>> print(bs.read_contrasts(path)[0])
    treatment: drug - none, blocks of batch
    """
    name = os.fspath(path)
    rows = _from_yaml(name) if plain_suffix(name) in (".yml", ".yaml") else _from_table(name)
    found = [_Row(place, values).contrast for place, values in rows]
    if not found:
        raise FileError(f"{name} holds no contrasts. Write one in each row: {', '.join(_NEEDED)}.")
    contrasts = tuple(all_right(found))
    _check_ids(contrasts)
    return contrasts


def _check_ids(contrasts: Sequence[Contrast]) -> None:
    """Raise if two contrasts would write the same files."""
    folded = [each.id.casefold() for each in contrasts]
    for k, name in enumerate(folded):
        first = folded.index(name)
        if first < k:
            raise LabelError(
                f"{contrasts[k].place or contrasts[k].id}: the id {contrasts[k].id!r} stands twice, the first "
                f"time at {contrasts[first].place or 'the begin'}. Every contrast writes files "
                "of its name: change one."
            )


def all_right(tries: Iterable[Callable[[], Contrast]]) -> list[Contrast]:
    """Return the contrasts, or raise the first mistake and say where there are more."""
    done: list[Contrast] = []
    wrong: list[LabelError] = []
    for each in tries:
        try:
            done.append(each())
        except LabelError as error:
            wrong.append(error)
    if wrong:
        raise _first_of(wrong)
    return done


def _first_of(errors: Sequence[LabelError]) -> LabelError:
    if len(errors) == 1:
        return errors[0]
    first, more = errors[0].message, len(errors) - 1
    others = f" {plural(more, 'other contrast')} cannot be used either."
    return LabelError(*first.text, others, hint=first.hint)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table, or an entry of YAML."""

    place: str
    values: Mapping[str, Any]

    def contrast(self) -> Contrast:
        values = self.values
        key, variable, reference, target = (str(values.get(name) or "").strip() for name in _NEEDED)
        return Contrast(
            key,
            variable,
            reference,
            target,
            blocking=_several(values.get("blocking")),
            exclude_column=next(iter(_several(values.get("exclude_samples_col"))), None),
            exclude_values=_several(values.get("exclude_samples_values")),
            place=self.place,
        )


def _several(value: Any) -> tuple[str, ...]:
    """Texts with semicolons between, or a list of texts."""
    parts = value if isinstance(value, list) else str(value or "").split(";")
    return tuple(dict.fromkeys(text for part in parts if (text := str(part).strip()) not in _NOTHING))


def _from_table(path: str) -> list[tuple[str, dict[str, Any]]]:
    table = read_columns(path)
    absent = [name for name in _NEEDED if name not in table.names]
    if absent:
        raise FileError(
            f"{path} has no column {list_names(absent)}.{did_you_mean(absent[0], table.names)} A file of "
            f"contrasts has the columns {', '.join(_NEEDED)} and, if wanted, {', '.join(_KNOWN[4:])}; this one "
            f"has: {list_names(table.names, 8)}."
        )
    rows = [dict(zip(table.names, cells, strict=True)) for cells in zip(*table.columns.values(), strict=True)]
    return [(f"{path}, row {k}", row) for k, row in enumerate(rows, 1) if any(row.values())]


def _from_yaml(path: str) -> list[tuple[str, dict[str, Any]]]:
    try:
        import yaml  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            f"Reading {path} needs PyYAML. Install the extra: {install_command('yaml')}; or write the contrasts "
            f"as CSV with the columns {', '.join(_NEEDED)}."
        ) from None
    try:
        content = yaml.load(check_file(path).read_bytes(), Loader=yaml.BaseLoader)  # all texts: "no" stays "no"
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f", line {mark.line + 1}"
        raise FileError(
            f"{path}{where}: this is no YAML ({getattr(error, 'problem', None) or 'no text'}). {_YAML}"
        ) from None
    except RecursionError:
        raise FileError(f"{path} is nested too deeply. {_YAML}") from None
    if _expanded(content, {}) > _MOST_PARTS:
        raise FileError(f"{path} refers to its own parts so often that they would fill a memory. {_YAML}")
    entries = content.get("contrasts") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise FileError(f"{path} holds no list of contrasts. {_YAML}")
    return [(f"{path}, contrast {k}", _entry(path, k, entry)) for k, entry in enumerate(entries, 1)]


_MOST_PARTS = 1_000_000


def _expanded(part: Any, known: dict[int, int]) -> int:
    """How many parts a value has with references written out; those that lead back to themselves have no end."""
    if not isinstance(part, (dict, list)):
        return 1
    if id(part) not in known:
        known[id(part)] = _MOST_PARTS + 1  # as long as it is being counted
        known[id(part)] = 1 + sum(
            _expanded(each, known) for each in (part.values() if isinstance(part, dict) else part)
        )
    return known[id(part)]


_YAML = 'Write: "contrasts:" and below it entries with "id: NAME" and "comparison: [VARIABLE, REFERENCE, TARGET]".'


def _entry(path: str, k: int, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise FileError(f"{path}, contrast {k}: {str(entry)[:60]!r} is no entry with an id. {_YAML}")
    comparison = entry.get("comparison")
    if comparison is None and entry.get("formula"):
        raise OptionError(
            f"{path}, contrast {k} ({entry.get('id')!r}) is a formula, {entry['formula']!r}. Two levels of one "
            "column are compared here, in blocks if wanted: give comparison and blocking_factors, or take the "
            "entry out."
        )
    if not isinstance(comparison, list) or len(comparison) != 3:
        raise FileError(
            f"{path}, contrast {k} ({entry.get('id')!r}): comparison is not of the form [VARIABLE, REFERENCE, "
            f"TARGET] but {str(comparison)[:60]!r}. {_YAML}"
        )
    named = dict(zip(_NEEDED[1:], comparison, strict=True))
    return {**entry, **named, "blocking": entry.get("blocking_factors")}
