"""What a command writes, and the files it reads beside the table: checked before the work."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bayesieve import __version__
from bayesieve.cli.console import Talk
from bayesieve.data import named_columns, plain_name
from bayesieve.io import check_ending, check_side_car, number_names, read_columns, side_car, split_reference
from bayesieve.screening import ScreenSpec
from bayesieve.selection import Selection
from bayesieve.utils import (
    FileError,
    OptionError,
    check_writable,
    did_you_mean,
    list_names,
    option,
    replacing,
    toml_value,
)

Annotations = dict[str, dict[str, str | None]]
VALUES_SHOWN = 500
_TARGETS = ("out", "report", "manifest", "config_out")
_REFERENCES = (
    "labels", "blocks", "covariates", "subject", "pairs", "exposures", "aggregate", "gene_map", "prior",
    "prior_probability",
)  # fmt: skip
_OF_ONE_RUN = (
    "quote_formulas",
    "out",
    "blocks_out",
    "report",
    "manifest",
    "config",
    "config_out",
    "quiet",
    "verbose",
    "json_log",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a command runs and what it writes; none of it changes a number.

    Parameters
    ----------
    out, report, manifest, config_out
        Files to write.
    report_values
        Number of features whose values a report shows.
    report_pairs
        Number of pairs of features that a report shows.
    report_plan
        Sizes of a further study, of which a report tells what it would list.
    features, config
        Files that are read: annotations of the features, and settings.
    label_column
        Column of the annotations that names the features.
    only_selected
        Whether the table holds the list alone.
    quote_formulas
        Whether names that begin like formulas are made texts in CSV and TSV.
    memory, threads
        Bytes for data, and threads.
    dask
        The cluster that reads the table.
    quiet, verbose, json_log
        See :class:`bayesieve.cli.console.Talk`.
    """

    out: str | None = None
    report: str | None = None
    report_values: int | None = None
    report_pairs: int | None = None
    report_plan: str | None = None
    features: str | None = None
    label_column: str | None = None
    only_selected: bool = False
    quote_formulas: bool = False
    manifest: str | None = None
    config: str | None = None
    config_out: str | None = None
    memory: int | None = None
    threads: int | None = None
    dask: str | None = None
    quiet: bool = False
    verbose: bool = False
    json_log: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Take what belongs here from the options of a command."""
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: options[name] for name in names if name in options})

    @property
    def n_values(self) -> int:
        """Number of features whose values a report shows."""
        return VALUES_SHOWN if self.report_values is None else self.report_values

    def to_dict(self) -> dict[str, Any]:
        """Return the options that are set, without those about files of settings."""
        every = dataclasses.asdict(self).items()
        return {name: value for name, value in every if value is not None and not name.startswith("config")}

    def lasting(self) -> dict[str, Any]:
        """Return the options that a repetition takes over: no outputs, which it would overwrite."""
        return {name: value for name, value in self.to_dict().items() if name not in _OF_ONE_RUN}

    def talk(self) -> Talk:
        """Return what the command speaks through."""
        return Talk(self.quiet, self.verbose, self.json_log)

    @contextlib.contextmanager
    def cluster(self) -> Iterator[Any]:
        """Open the cluster that reads the table, as long as it is needed; None is this process."""
        if self.dask is None:
            yield None
            return
        from bayesieve.distributed import open_cluster  # noqa: PLC0415 - an extra, and slow to import

        with open_cluster(self.dask, memory=self.memory) as client:
            yield client

    def files(self) -> dict[str, Any]:
        """Return the files read beside those of the specification, by option."""
        return {"features": self.features, "config": self.config}

    def check_targets(self, read: Mapping[str, str]) -> None:
        """Raise if an output cannot be written, or would replace a file that is read or another output."""
        targets = {name: getattr(self, name) for name in _TARGETS}
        if self.out is not None:
            targets["The record of --out"] = side_car(self.out)
        check_targets(read, targets)


def files_read(spec: ScreenSpec, run: RunOptions) -> dict[str, str]:
    """Return the files that a command reads, each with the option that names it."""
    named = {"table": spec.table, **{name: getattr(spec, name) for name in _REFERENCES}, **run.files()}
    found: dict[str, str] = {}
    for name, value in named.items():
        several = named_columns(value) if name in ("blocks", "covariates") else None
        for one in several or (value,):
            path = split_reference(plain_name(one))[0] if isinstance(one, str) else ""
            for file in [path] if os.path.isfile(path) else _files_in(path) if name == "table" else []:
                found.setdefault(file, name)
    return found


def _files_in(folder: str) -> list[str]:
    """Return the files of a table that is a folder (10x, zarr)."""
    return sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)


def check_targets(read: Mapping[str, str], targets: Mapping[str, Any]) -> None:
    """Raise if an output cannot be written, or would replace a file that is read (by path) or another output."""
    seen = {os.path.realpath(path): f"read as {_option(name)}" for path, name in read.items()}
    for name, path in targets.items():
        if path is None:
            continue
        check_writable(path)
        place = os.path.realpath(path)
        if place in seen:
            raise OptionError(
                f"{_option(name)} would overwrite {path}, which is {seen[place]}. Choose another name."
            )
        seen[place] = f"also {_option(name)}"


def _option(name: str) -> str:
    if " " in name:
        return name
    return name.upper() if name in ("table", "files") else f"--{name.replace('_', '-')}"


def check_outputs(spec: ScreenSpec, run: RunOptions) -> None:
    """Find out before the work whether its fruits can be kept, and that files beside the table are there."""
    if run.out is not None:
        check_ending(run.out)
        check_side_car(run.out)
    check_report(run.report)
    run.check_targets(files_read(spec, run))
    check_exists("features", run.features)
    if spec.gene_map is not None:
        check_exists("gene-map", split_reference(spec.gene_map)[0])
    if run.label_column is not None and run.features is None:
        raise OptionError("--label-column names a column of --features FILE. Give that file, too.")
    if run.only_selected and run.out is None and run.report is not None:
        raise OptionError("--only-selected is about the table. Add --out FILE.")


def check_exists(name: str, path: str | None) -> None:
    """Raise if the file of an option is not there."""
    if path is not None and not Path(split_reference(path)[0]).exists():
        raise FileError(f"There is no file {path} (--{name}). Check the name and the folder.")


def make_folder(folder: Path, option: str, what: str) -> None:
    """Make the folder that an option of --contrasts names; raise if it is a file, or cannot be made."""
    if folder.exists() and not folder.is_dir():
        raise FileError(
            f"{folder} ({option}) is a file, and --contrasts writes a folder of {what}. Name a folder."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"Cannot make the folder {folder} ({option}): {error.strerror or error}.") from None


def check_report(path: str | os.PathLike[str] | None, option: str = "--report") -> None:
    """Raise before the work unless the report that an option names has the ending of one."""
    if path is not None and Path(path).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"A report is an HTML file; let {os.fspath(path)} ({option}) end in .html.")


def annotation_file(
    path: str | os.PathLike[str] | None, names: Sequence[str], encoding: str | None = None
) -> Annotations:
    """Columns of a table of annotations, each by feature id; none without a file."""
    if path is None:
        return {}
    table = read_columns(path, encoding=encoding)
    key, known = table.id_column(names)
    if not known:
        raise FileError(
            f"{path} (--features) names none of the features: it has ids like "
            f"{table.column(table.names[0])[:1]}, the table {names[0]!r}. Use the same ids in both."
        )
    return {name: table.by_key(key, name) for name in table.names if name != key}


def label_features(
    selection: Selection, data: Any, annotation: Annotations, column: str | None
) -> tuple[Selection, Annotations]:
    """Name the features of a list, and of the table behind it, by a column of annotations; ids become a column.

    A feature without a name there keeps its id, and features with the same name are told apart by numbers.
    """
    if column is None:
        return selection, annotation
    if column not in annotation:
        known = list(annotation)
        problem = f" names the column {column!r}, which the table of annotations does not have."
        hint = f"{did_you_mean(column, known).strip()} It has: {list_names(known)}.".strip()
        if not known:
            hint = "Name that table with --features FILE."
        raise OptionError(option("label_column"), problem, hint=hint)
    ids = selection.posterior.names
    names = number_names([annotation[column].get(name) or name for name in ids])[0]
    posterior = dataclasses.replace(selection.posterior, feature_names=names)
    if getattr(data, "feature_names", None) is not None:
        data.feature_names = names
    pairs = list(zip(names, ids, strict=True))
    made: Annotations = {"feature_id": dict(pairs)}
    for key, values in annotation.items():
        if key != column:
            made[key] = {name: values.get(each) for name, each in pairs}
    return dataclasses.replace(selection, posterior=posterior), made


def write_config(
    run: RunOptions, command: str, spec: ScreenSpec, options: Mapping[str, Any], own: Sequence[str] = ()
) -> None:
    """Write the settings of a run to the file of ``--config-out``, if there is one; ``--config`` reads them.

    ``own`` are options that mean something else to the command than to a screen.
    """
    if run.config_out is None:
        return
    known = {name: value for name, value in spec.to_dict(defaults=True).items() if name not in own}
    settings = {"command": command, **options, **known}
    lines = [
        f"{name.replace('_', '-')} = {toml_value(value)}\n"
        for name, value in settings.items()
        if name in ("command", *options) and name not in _OF_ONE_RUN and value not in (None, [])
    ]
    with replacing(run.config_out) as file:
        file.write("".join([f"bayesieve_version = {toml_value(__version__)}\n", *lines]).encode())
