"""screen_contrasts(): several comparisons of one table, which is read once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from bayesieve.io.contrasts.contrast_file import Contrast, read_contrasts
from bayesieve.io.contrasts.contrast_tables import ContrastTables
from bayesieve.models import Model
from bayesieve.posterior import FeaturePosterior
from bayesieve.screening import screen

_READING = (
    "blocks", "pairs", "exposures", "transform", "missing", "duplicates", "samples_in", "id_column", "ignore",
    "keep", "na_values", "encoding", "decimal", "delimiter", "skip_rows", "layer", "modality", "memory",
    "n_threads",
)  # fmt: skip


def screen_contrasts(
    table: str | os.PathLike[str],
    contrasts: str | os.PathLike[str] | Sequence[Contrast],
    samples: str | os.PathLike[str] | None = None,
    *,
    model: Model | None = None,
    **options: Any,
) -> dict[str, FeaturePosterior]:
    r"""Screen a table for several contrasts; it is read once, and all contrasts are checked before the first.

    Every posterior is what :func:`bayesieve.read_table` and :func:`bayesieve.screen` give for the two levels of
    the contrast alone.

    Parameters
    ----------
    table
        The table, as for :func:`bayesieve.read_table`.
    contrasts
        A file of contrasts (see :func:`bayesieve.read_contrasts`), or contrasts.
    samples
        The sample sheet: a file with the ids of the samples and the columns that contrasts name. Without it they
        are columns of the table itself (obs of AnnData).
    model
        As for :func:`bayesieve.screen`.
    options
        Any other option of :func:`bayesieve.read_table` or :func:`bayesieve.screen`, for all contrasts;
        ``blocks``, ``pairs`` and ``exposures`` are names of columns.

    Returns
    -------
    dict
        A posterior by the id of each contrast.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayesieve as bs
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "counts.tsv").write_text(
    ...     "gene_id\tgene_name\ts1\ts2\ts3\ts4\ts5\ts6\n"
    ...     "G1\tTP53\t5.1\t5.0\t5.2\t9.1\t9.0\t9.3\n"
    ...     "G2\tKRAS\t3.1\t2.2\t2.5\t3.0\t2.1\t2.9\n"
    ... )
    >>> _ = (folder / "samples.csv").write_text("sample,drug\ns1,no\ns2,no\ns3,no\ns4,yes\ns5,yes\ns6,yes\n")
    >>> contrast = bs.Contrast("drug", variable="drug", reference="no", target="yes")
    >>> found = bs.screen_contrasts(folder / "counts.tsv", [contrast], folder / "samples.csv", shuffles=0)
    >>> found["drug"].classes
    ('no', 'yes')
    """
    if isinstance(contrasts, (str, os.PathLike)):
        contrasts = read_contrasts(contrasts)
    reading = {name: options.pop(name) for name in _READING if name in options}
    tables = ContrastTables.read(table, contrasts, samples, model=model, **reading)
    try:
        return {contrast.id: screen(summary, model=model, **options) for contrast, summary in tables}
    finally:
        tables.close()
