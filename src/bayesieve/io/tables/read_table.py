"""read_table(): from a file of any format to sufficient statistics that can be screened."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from bayesieve.data import check_treatment, describe_candidates, refuse_for_counts
from bayesieve.io.tables.aggregation import Aggregation
from bayesieve.io.tables.chunks import Chunks
from bayesieve.io.tables.classes import ClassMap, Encoder
from bayesieve.io.tables.columns import Columns, held_references, is_reference, read_reference
from bayesieve.io.tables.description import label_files, with_description
from bayesieve.io.tables.donors import ask_about_donors
from bayesieve.io.tables.duplicates import DUPLICATES, averaged
from bayesieve.io.tables.matching import IdMatch, explain_collision, find_match
from bayesieve.io.tables.memory import bytes_kept, bytes_stated
from bayesieve.io.tables.metadata import find_metadata
from bayesieve.io.tables.mixed_table import read_mixed
from bayesieve.io.tables.opening import open_table
from bayesieve.io.tables.parts import Part
from bayesieve.io.tables.places import check_table
from bayesieve.io.tables.roles import asks_for_labels, no_ids, nothing_describes, option_of
from bayesieve.io.tables.samples import Labeller, Samples, spellings
from bayesieve.io.tables.several_columns import labels_or_outcome, roles_of, short_names
from bayesieve.io.tables.summary import Summary, summarise
from bayesieve.io.tables.table import FeatureTable, Progress, ReadOptions, SampleTable
from bayesieve.io.text.files import plain_suffix
from bayesieve.io.text.layout import label_from_text
from bayesieve.io.text.sniffing import check_decimal
from bayesieve.models import MixedModel, Model
from bayesieve.utils import (
    DataWarning,
    LabelError,
    OptionError,
    check_choice,
    check_missing,
    did_you_mean,
    free_memory,
    list_names,
    option,
)

TOTAL = "total"  # as exposures: the total of each sample


def read_table(  # noqa: PLR0913 - every option of the command line
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    classes: str | Sequence[str] | None = None,
    blocks: str | Sequence[str] | None = None,
    covariates: str | Sequence[str] | None = None,
    outcome: str | None = None,
    subject: str | None = None,
    pairs: str | None = None,
    exposures: str | None = None,
    aggregate: str | Sequence[str] | None = None,
    model: Model | str | None = None,
    normalise: str = "none",
    transform: str = "none",
    missing: str = "raise",
    duplicates: str = "number",
    samples_in: str | None = None,
    id_column: str | None = None,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    na_values: Sequence[str] = (),
    encoding: str | None = None,
    decimal: str | None = None,
    delimiter: str | None = None,
    skip_rows: int = 0,
    layer: str | None = None,
    modality: str | None = None,
    part: str | None = None,
    memory: int | str | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
    keep_values: bool = True,
    client: Any = None,
) -> Summary:
    r"""Read a file once and reduce it to the sufficient statistics that a screen needs.

    Text (CSV, TSV, TXT; gzip, bzip2, xz, zstd), Excel and OpenDocument, Parquet, Arrow/Feather, AnnData (h5ad,
    zarr), MuData, loom, 10x (folder, h5), Matrix Market, GEO (series matrix, SOFT family), GCT and NumPy files.
    The file may be larger than memory, unless it is a workbook, Matrix Market or SOFT.

    Parameters
    ----------
    path
        The file, or the folder of 10x or zarr. ``"table.xlsx:Sheet2"`` names a sheet; without it the only sheet
        that looks like a table is taken.
    labels
        The class of each sample: a column of the table (obs column, GEO characteristic, label row), or
        a column of another file, ``"pheno.csv:stage"``, matched by sample id. Of a workbook ``"pheno.xlsx:stage"``
        names a column, ``"pheno.xlsx:Sheet2:stage"`` a sheet and a column.
    classes
        Which labels make up which class, ``"early=1,adenoma; late=2,3,4"``, or just their order,
        ``"control, case"``. Other samples are left out. By default every label is a class, sorted.
    blocks
        Batch, site or plate of each sample, in the two forms of ``labels``. Statistics are then kept for
        every block as well. Samples without one are left out. Several columns, ``"batch,sex"``, make one block for
        each combination.
    covariates
        What to compare the classes at equal values of: one or more columns, ``"age,sex"``, each in the two forms
        of
        ``labels`` or of the label file. Samples without one of them are left out. Numbers have a slope, other
        values
        (and numbers that are names, ``"C(batch)"``) a location per level. See :func:`bayesieve.screen`.
    outcome
        In the place of ``labels``: a number (dose, age) or an ordered class, in the order of ``classes``, with
        which features may change. See :func:`bayesieve.screen`.
    subject
        Whose sample each is (repeated measures), in the two forms of ``labels``. Samples without one are left out.
    pairs
        Pair (patient, say) of each sample, in the two forms of ``labels``. The statistics are then those of
        the differences within pairs, second class minus first; incomplete pairs are left out.
    exposures
        For models of counts: a positive number per sample (library size, time at risk), in the two forms of
        ``labels``, or ``"total"``: its values added up, divided by the mean over the samples used.
    aggregate
        Donor of each sample, in the two forms of ``labels``: all samples (cells) of a donor in a class become one,
        before any transformation; sums for models of counts and with ``normalise``, means otherwise. Several
        columns with commas between, ``"donor,cluster"``, make one for each combination. See
        :func:`bayesieve.aggregate`.
    model
        The model whose statistics are to be summed; by default the Gaussian model's moments. ``"auto"`` reads
        columns of numbers and of text and gives each the likelihood of its kind (:class:`MixedModel`); such a
        table is held in memory.
    normalise
        Before the transformation, samples are divided by size factors: ``"none"``, ``"total"`` (all samples get
        the median total; ``"total:10000"`` states the total) or ``"median-ratios"``; see
        :func:`bayesieve.normalise`. The table is read once more for it.
    transform
        ``"none"``, ``"log2"``, ``"log1p"``, ``"logit"``, ``"clr"`` (``"clr:0.5"``), ``"vst"`` (``"vst:0.05"``) or
        ``"rank-normal"``; see :func:`bayesieve.data.transform.apply_transform`.
    missing
        ``"raise"``: missing values are an error. ``"omit"``: every feature uses the values it has.
    duplicates
        Features with the same id: ``"number"`` tells them apart (``GENE``, ``GENE.2``, ...), ``"mean"`` makes one
        of them whose values are the means, before any transformation; of ``"strongest"`` :func:`bayesieve.screen`
        lets the one with the strongest evidence stand for its id, chosen anew in every shuffle of the labels;
        ``"error"`` refuses them.
    samples_in
        ``"rows"`` or ``"columns"``; found out from the labels when not given.
    id_column
        Column with the ids of the samples, of the table or of the label file (or, with samples in
        columns, the table's column with the ids of the features).
    ignore
        Columns to leave out.
    keep
        Features that are screened although they seem to describe the samples. Without it, columns that repeat the
        labels, number the samples or repeat a column of the label file are left out, and there is a warning if
        others are named like a description of the samples (age, batch, bmi, ...).
    na_values
        Further spellings of a missing value.
    encoding, decimal, delimiter
        Of text. Decimal mark and delimiter are found out if not given; a point is taken for the decimal mark where
        commas could be something else.
    skip_rows
        Lines of text above the header, which are skipped; found out where that is certain.
    layer
        AnnData and loom: a layer, or ``"raw"``; X when not given.
    modality
        MuData: the modality to read. 10x: features of one type only, ``"Gene Expression"``. GEO SOFT: a platform.
    part
        Some of the samples only: ``"3/20"`` are the third of twenty parts of nearly equal size, in the
        order of the file. Of h5ad, zarr and NumPy files other parts are not read. See
        :func:`bayesieve.merge_statistics`.
    memory
        How much may be used for data: bytes, or a text such as ``"300MB"``; half of what is free by default.
    n_threads
        Threads, all cores by default. Neither this nor ``memory`` changes the result.
    progress
        Called with the amount read and the total.
    keep_values
        Keep the values of a table in memory, for shuffled labels, and for a report, permutations or leave-one-out
        influence, which otherwise read the file once more: up to half of ``memory``, and up to 1 GB if that is
        not given.
    client
        A ``distributed.Client``, whose workers then read and sum the blocks of an AnnData file or a zarr store;
        they must find it under the same name. It changes no bit of the result. Values are not kept.

    Returns
    -------
    Summary
        To be handed to :func:`bayesieve.screen`; holds ``statistics`` (``moments`` is another name of them
        for the Gaussian model), ``blocked``, ``feature_names`` and what was left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import bayesieve as bs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "genes.csv"
    >>> _ = path.write_text("id,stage,TP53,KRAS\ns1,1,0.1,5\ns2,1,0.4,4\ns3,2,7.1,5\ns4,3,7.9,6\n")
    >>> table = bs.read_table(path, labels="stage", classes="early=1; late=2,3")
    >>> table.moments.mean.tolist()
    [[0.25, 4.5], [7.5, 5.5]]
    >>> bs.screen(table, model=bs.GaussianModel.proper()).names
    ('TP53', 'KRAS')
    """
    given = {name: value for name, value in locals().items() if name not in ("path", "model", "keep_values")}
    if model == "auto" or isinstance(model, MixedModel):
        chosen = MixedModel() if isinstance(model, str) else model
        return cast("Summary", read_mixed(path, chosen, given, read_table))  # offers what a screen asks for
    labels = labels_or_outcome(labels, outcome)
    check_treatment(normalise, transform)
    check_missing(missing)
    check_choice("duplicates", duplicates, DUPLICATES)
    check_decimal(decimal, delimiter)
    wanted = classes if classes is None or isinstance(classes, str) else "; ".join(classes)
    model = moments_or_model(model, normalise, paired=pairs is not None, exposed=exposures is not None)
    wanted_map = None if wanted is None else ClassMap.parse(wanted)
    options = ReadOptions(
        labels, None, samples_in, id_column, tuple(ignore), tuple(na_values), encoding, decimal, delimiter, layer,
        bytes_stated(memory) or free_memory() // 2, n_threads, progress,
        categories=category_mode(model, transform), duplicates=duplicates, skip_rows=skip_rows,
        modality=modality, client=client, part=None if part is None else Part.parse(part),
    )  # fmt: skip
    by_total = exposures == TOTAL
    named = {"pairs": pairs, "exposures": None if by_total else exposures}
    extras = roles_of({"blocks": blocks, "covariates": covariates, "subject": subject}, options)
    extras |= {role: column for role, column in named.items() if column is not None}
    counts = normalise != "none"
    together = None if aggregate is None else Aggregation.parse(aggregate, model, missing, counts=counts)
    extras |= {} if together is None else together.roles

    def read(options: ReadOptions) -> Summary:
        table, labeller, found = open_samples(path, options, Encoder(wanted_map), extras)
        try:
            if duplicates == "mean":
                table = averaged(table, model)
            summary = summarise(
                Chunks(
                    table, transform, options.memory, pairs is not None, aggregation=together, normalise=normalise,
                    covariates=short_names(covariates),
                ),
                Samples(labeller, found, extras),
                missing=missing, n_threads=n_threads, model=model, by_total=by_total,
                keep=bytes_kept(keep_values, memory is not None, options.memory), duplicates=duplicates,
            )  # fmt: skip
            if together is not None:
                summary.samples.groups.check(extras)
                table.notes.append(summary.samples.groups.describe())
            return summary
        except BaseException:
            table.close()  # otherwise it stays open for a second look
            raise

    with held_references():
        summary = read(options)
        about = find_metadata(summary, keep, label_files(options))
        if about.certain:
            summary.chunks.table.close()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # all was said at the first reading
                summary = read(replace(options, ignore=(*options.ignore, *about.names)))
            about.tell(summary.chunks.table)
        about.doubt(os.fspath(path), "row" if summary.record.samples_in == "columns" else "column")
        quiet = replace(options, progress=None)
        if together is None and pairs is None:
            ask_about_donors(
                summary, options, extras, lambda more: open_samples(path, quiet, Encoder(wanted_map), more)
            )
        summary.is_outcome, summary.is_ordered = outcome is not None, wanted is not None
        return with_description(summary, path, options, [*about.names, *about.probable], extras)


def moments_or_model(
    model: Model | str | None, normalise: str = "none", *, paired: bool, exposed: bool
) -> Model | None:
    """Return the model, None for a Gaussian one; raise if it has no use for size factors, pairs or exposures."""
    if model is not None and not isinstance(model, Model):
        raise OptionError(
            f"model must be a Model, for example bs.GaussianModel.jeffreys(), or 'auto', not {model!r}."
        )
    gaussian = model is None or model.supports("moments")
    if paired and not gaussian:
        raise OptionError(
            f"Pairs are compared by the differences of their values, which {type(model).__name__} does not take.",
            hint=("Leave ", option("pairs"), " out, or use the Gaussian model."),
        )
    if exposed and (gaussian or (model is not None and model.supports("categories"))):
        raise OptionError(
            "Exposures say how long or how deeply each sample was looked at; only models of counts (Poisson, "
            "negative binomial) use them.",
            hint=("Leave ", option("exposures"), " out, or choose such a model."),
        )
    if not gaussian and normalise != "none":
        raise refuse_for_counts(type(model).__name__)
    return None if gaussian else model


def category_mode(model: Model | None, transform: str) -> str:
    """Say whether values may be texts, or are: if the declared levels are."""
    if model is None or not model.supports("categories"):
        return ""
    if transform != "none":
        raise OptionError("Categories cannot be transformed.", hint=("Leave ", option("transform"), " out."))
    levels = getattr(model, "levels", None)
    return "text" if any(isinstance(level, str) for level in levels or ()) else "found"


def open_samples(
    path: str | os.PathLike[str], options: ReadOptions, encoder: Encoder, extras: Mapping[str, str]
) -> tuple[SampleTable | FeatureTable, Labeller, dict[str, Labeller]]:
    r"""Open a table and all that is said of its samples.

    Returns
    -------
    table, labeller, found
        The table; who gives its samples their class; and who gives them the rest, by role.
    """
    for role, column in extras.items():
        if column == options.labels:
            raise OptionError(
                option("labels"),
                " and ",
                option(option_of(role)),
                f" both name {column!r}. Classes and {option_of(role)} are two things.",
                hint="Change one.",
            )
    check_table(path)
    inside = {role: column for role, column in extras.items() if not is_reference(column)}
    options = replace(options, described=inside)
    known = _read_known(options) if options.labels is not None and is_reference(options.labels) else None
    opened = options if known is None else known.options(options)
    table = open_table(path, opened) if known is None else _open_known(path, opened, known)
    try:
        if known is None:
            encoder.declared = table.declared
            labeller = Labeller(encoder, candidates=_candidates(table))
            if asks_for_labels(opened) and "labels" not in getattr(table, "columns", {}):
                bare = hasattr(table, "read") and not table.candidates  # a matrix that nothing describes
                no_labels = nothing_describes(table.path, has_ids=_has_ids(table))
                raise no_labels if bare else labeller.no_labels(table.path)
        else:
            encoder.declared = tuple(known.file.declared.get(known.column, ()))
            labeller = _by_id(table, known, encoder, options)
        found = {
            role: Labeller(Encoder(), source=f"column {column!r}")
            if role in inside
            else _by_id(table, _read_known(replace(options, labels=column), role), Encoder(), options)
            for role, column in extras.items()
        }
    except BaseException:
        table.close()
        raise
    return table if options.part is None else options.part.of_table(table), labeller, found


def _candidates(table: SampleTable | FeatureTable) -> str:
    """Say which columns could hold labels, for a user who did not name one."""
    found = describe_candidates(table.candidates)
    if found:
        return f"Columns that take several values: {found}."
    texts = table.left_out.get("not numeric", ())
    return f"Columns with text: {list_names(texts)}." if texts else ""


@dataclass(frozen=True, slots=True)
class _Known:
    """A column of another file; ``key`` is its column of ids, if the user named it."""

    file: Columns
    column: str
    key: str | None
    ids: frozenset[str]

    def options(self, options: ReadOptions) -> ReadOptions:
        """Open the table by the ids of this file, unless the user names a column of the table."""
        id_column = None if self.key else options.id_column
        return replace(options, labels=None, known_ids=self.ids, id_column=id_column)

    def match(self, ids: Sequence[str], key: str | None = None) -> IdMatch | None:
        """Find a way to bring ids of a table together with those of one column (the best one if none is named)."""
        names = [key or self.key] if key or self.key else [n for n in self.file.names if n != self.column]
        columns = [[text for text in self.file.column(name) if text] for name in names if name is not None]
        found = [match for column in columns if (match := find_match(ids, column)) is not None]
        return max(found, key=lambda match: len(match.pairs), default=None)

    def collision(self, path: str, candidates: Sequence[Sequence[str]]) -> LabelError | None:
        """Say why ids of a table are not brought together with those of this file though they could be."""
        names = [self.key] if self.key else [name for name in self.file.names if name != self.column]
        columns = [[text for text in self.file.column(name) if text] for name in names]
        said = (explain_collision(path, ids, self.file.path, column) for ids in candidates for column in columns)
        return next((error for error in said if error is not None), None)


def _read_known(options: ReadOptions, role: str = "labels") -> _Known:
    """Read the file that FILE:COLUMN names."""
    assert options.labels is not None
    known, column = read_reference(options.labels, encoding=options.encoding)
    column = column or _only_column(known, role)
    known.column(column)  # is it there?
    named = options.id_column if options.id_column in known.names else None  # else it is one of the table
    others = [named] if named else [name for name in known.names if name != column]
    ids = frozenset(
        form for name in others for text in known.column(name) if text is not None for form in spellings(text)
    )
    return _Known(known, column, named, ids)


def _open_known(path: str | os.PathLike[str], options: ReadOptions, known: _Known) -> SampleTable | FeatureTable:
    """Open a table by the ids of a label file; once more if the two write them differently."""
    assert options.known_ids is not None
    try:
        table = open_table(path, options)
        unknown = table.left_out.get("not in the label file", ())
        candidates = [[*(getattr(table, "sample_ids", None) or ()), *unknown]] if unknown else []
    except LabelError as error:
        if error.message.kind != "no-match":
            raise
        candidates = error.message.numbers["candidates"]
        found = [match for ids in candidates if (match := known.match(ids)) is not None]
        if not found:
            raise known.collision(os.fspath(path), candidates) or error from None
        best = max(found, key=lambda match: len(match.pairs))
        return open_table(path, replace(options, known_ids=options.known_ids.union(best.pairs)))
    match = known.match(candidates[0]) if candidates else None
    if match is None:
        return table
    table.close()
    return open_table(path, replace(options, known_ids=options.known_ids.union(match.pairs)))


def _by_id(table: SampleTable | FeatureTable, known: _Known, encoder: Encoder, options: ReadOptions) -> Labeller:
    """Look the samples of the table up in another file; an array without ids takes its lines in order."""
    file, words = known.file, options.missing_words
    ids = table.sample_ids if isinstance(table, FeatureTable) else _first_ids(table)
    if ids is None and (plain_suffix(table.path) in (".npy", ".npz", ".mtx") or table.form == "zarr array"):
        in_order = [label_from_text(text, words) for text in file.column(known.column)]
        return Labeller(encoder, source=file.path, in_order=in_order)
    if ids is None:
        raise no_ids(table.path, file.path)
    key, found = file.id_column((form for name in ids if name for form in spellings(name)), known.key)
    match = known.match(ids, key if found else None)
    if match is not None and not found:
        key, found = file.id_column(match.pairs.values(), known.key)
    if not found:
        raise known.collision(table.path, [ids]) or LabelError(
            f"No id of {file.path} is a sample of {table.path}.{did_you_mean(ids[0] if ids else '', known.ids)}",
            hint="Check that both files write their ids alike.",
        )
    raw = file.by_key(key, known.column)
    by_id = {name: label_from_text(text, words) for name, text in raw.items()}
    ids_in = f"column {key!r} of {file.path}" if key != file.names[0] else ""
    return Labeller(encoder, by_id, file.path, ids_in=ids_in, match=match)


def _only_column(known: Columns, role: str) -> str:
    """Return the column of a file when none is named: it must have just ids and one more."""
    if len(known.names) != 2:
        what = "classes" if role == "labels" else role
        raise LabelError(
            f"Say which column of {known.path} holds the {what}: ",
            option(role, f"{known.path}:COLUMN"),
            f". There are: {', '.join(known.names[:8])}.",
        )
    return known.names[1]


def _has_ids(table: SampleTable | FeatureTable) -> bool:
    return bool(table.sample_ids if isinstance(table, FeatureTable) else getattr(table, "ids", None))


def _first_ids(table: SampleTable) -> list[str] | None:
    chunk = next(table.chunks(slice(0, 1)), None)
    return chunk.ids if chunk else None
