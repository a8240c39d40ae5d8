"""read_table(): from a file of any format to sufficient statistics that can be screened."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from bayesieve.data import checked_transform
from bayesieve.errors import OptionError
from bayesieve.io.tables.chunks import Slabs
from bayesieve.io.tables.classes import ClassMap, Encoder
from bayesieve.io.tables.sample_columns import open_samples
from bayesieve.io.tables.samples import Samples
from bayesieve.io.tables.summary import Summary, summarise
from bayesieve.io.tables.table import Progress, ReadOptions
from bayesieve.io.text.sniffing import named_delimiter
from bayesieve.models import Model
from bayesieve.utils import check_missing

TOTAL = "total"  # as exposures: the total of each sample


def read_table(  # noqa: PLR0913 - every option of the command line
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    classes: str | Sequence[str] | None = None,
    blocks: str | None = None,
    pairs: str | None = None,
    exposures: str | None = None,
    model: Model | None = None,
    transform: str = "none",
    missing: str = "raise",
    samples_in: str | None = None,
    id_column: str | None = None,
    ignore: Sequence[str] = (),
    na_values: Sequence[str] = (),
    encoding: str | None = None,
    decimal: str = ".",
    delimiter: str | None = None,
    layer: str | None = None,
    memory: int | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    r"""Read a file once and reduce it to what a screen needs.

    Text (CSV, TSV, TXT; gzip, bzip2, xz, zstd), Parquet, Arrow/Feather, AnnData, GEO series matrix,
    GCT and NumPy files. The file may be larger than memory.

    Parameters
    ----------
    path
        The file.
    labels
        The class of each sample: a column of the table (obs column, GEO characteristic, label row), or
        a column of another file, ``"pheno.csv:stage"``, matched by sample id.
    classes
        Which labels make up which class, ``"early=1,adenoma; late=2,3,4"``, or just their order,
        ``"control, case"``. Other samples are left out. By default every label is a class, sorted.
    blocks
        Batch, site or plate of each sample, in the two forms of ``labels``. Statistics are then kept for
        every block as well. Samples without one are left out.
    pairs
        Pair (patient, say) of each sample, in the two forms of ``labels``. The statistics are then those of
        the differences within pairs, second class minus first; incomplete pairs are left out.
    exposures
        For models of counts: a positive number per sample (library size, time at risk), in the two forms of
        ``labels``, or ``"total"``: its values added up, divided by the mean over the samples used.
    model
        The model whose statistics are to be summed; by default the Gaussian model's moments.
    transform
        ``"none"``, ``"log2"``, ``"log1p"`` or ``"rank-normal"``; see
        :func:`bayesieve.data.transform.transformed`.
    missing
        ``"raise"``: missing values are an error. ``"omit"``: every feature uses the values it has.
    samples_in
        ``"rows"`` or ``"columns"``; found out from the labels when not given.
    id_column
        Column with the ids of the samples, of the table or of the label file (or, with samples in
        columns, the table's column with the ids of the features).
    ignore
        Columns to leave out.
    na_values
        Further spellings of a missing value.
    encoding, decimal, delimiter
        Of text.
    layer
        AnnData: a layer, or ``"raw"``; X when not given.
    memory
        Bytes that may be used for data; half of what is free by default.
    n_threads
        Threads, all cores by default. Neither this nor ``memory`` changes the result.
    progress
        Called with the amount read and the total.

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
    checked_transform(transform)
    check_missing(missing)
    if decimal not in (".", ","):
        raise OptionError(f"The decimal mark is a point or a comma, not {decimal!r}.")
    if decimal == named_delimiter(delimiter):
        raise OptionError(f"{decimal!r} cannot be both the decimal mark and the delimiter. Change one of them.")
    wanted = classes if classes is None or isinstance(classes, str) else "; ".join(classes)
    encoder = Encoder(None if wanted is None else ClassMap.parse(wanted))
    options = ReadOptions(
        labels, None, samples_in, id_column, tuple(ignore), tuple(na_values), encoding, decimal, delimiter, layer,
        memory or free_memory() // 2, n_threads, progress,
    )  # fmt: skip
    by_total = exposures == TOTAL
    model = _checked_model(model, paired=pairs is not None, exposed=exposures is not None)
    options = replace(options, categories=_categories(model, transform))
    said = {"blocks": blocks, "pairs": pairs, "exposures": None if by_total else exposures}
    extras = {role: column for role, column in said.items() if column is not None}
    table, labeller, found = open_samples(path, options, encoder, extras)
    try:
        return summarise(
            Slabs(table, transform, options.memory, pairs is not None), Samples(labeller, found, extras),
            missing=missing, n_threads=n_threads, model=model, by_total=by_total,
        )  # fmt: skip
    except BaseException:
        table.close()  # otherwise it stays open for a second look
        raise


def _checked_model(model: Model | None, *, paired: bool, exposed: bool) -> Model | None:
    """Return the model, None for a Gaussian one; raise if it has no use for pairs or exposures."""
    if model is not None and not isinstance(model, Model):
        raise OptionError(f"model must be a Model, for example bs.GaussianModel.jeffreys(), not {model!r}.")
    gaussian = model is None or model.supports("moments")
    if paired and not gaussian:
        raise OptionError(
            f"Pairs are compared by the differences of their values, which {type(model).__name__} does not take. "
            "Leave --pairs out, or use the Gaussian model."
        )
    if exposed and (gaussian or (model is not None and model.supports("categories"))):
        raise OptionError(
            "Exposures say how long or how deeply each sample was looked at; only models of counts (Poisson, "
            "negative binomial) use them. Leave --exposures out, or choose such a model."
        )
    return None if gaussian else model


def _categories(model: Model | None, transform: str) -> str:
    """Say whether values may be texts, or are: if the declared levels are."""
    if model is None or not model.supports("categories"):
        return ""
    if transform != "none":
        raise OptionError(f"Categories cannot be transformed. Leave --transform {transform} out.")
    levels = getattr(model, "levels", None)
    return "text" if any(isinstance(level, str) for level in levels or ()) else "found"


def free_memory() -> int:
    """Return the number of bytes that could be used without pushing others out."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, ValueError, OSError):
        return 2**31
