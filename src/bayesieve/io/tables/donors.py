"""The question whether samples are replicates, where a column about them looks like a donor."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from bayesieve.data import Repeats, looks_like_donor, warn_of_donors
from bayesieve.io.tables.aggregation import ROLES
from bayesieve.io.tables.columns import is_reference, read_reference
from bayesieve.io.tables.samples import Samples
from bayesieve.io.tables.summary import Summary
from bayesieve.io.tables.table import FeatureTable, ReadOptions
from bayesieve.utils import DataWarning, option

Reopen = Callable[[Mapping[str, str]], Any]  # from columns by role to a table and those who label its samples


def ask_about_donors(summary: Summary, options: ReadOptions, extras: Mapping[str, str], reopen: Reopen) -> None:
    """Warn if samples that count as replicates come from the same donor, as a column about them says."""
    table = summary.chunks.table
    names = [*table.about_samples, *table.left_out.get("not numeric", ()), *summary.feature_names]
    references = {name: name for name in names if looks_like_donor(name)}
    if options.labels is not None and is_reference(options.labels):
        file, column = read_reference(options.labels, encoding=options.encoding)
        base = options.labels.removesuffix(f":{column}")
        references |= {name: f"{base}:{name}" for name in file.names if looks_like_donor(name)}
    used = {options.labels, options.id_column, *extras.values()}
    for reference in references.values():
        if reference not in used:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                found = _repeats({**extras, ROLES[0]: reference}, reopen)
            if found.are_no_replicates:
                together, paired = option("aggregate", reference), option("pairs", reference)
                warn_of_donors(table.path, reference, found, (together,), (" with ", paired))
                return


def _repeats(extras: dict[str, str], reopen: Reopen) -> Repeats:
    """Count how often donors occur in the classes, without reading values."""
    table, labeller, found = reopen(extras)
    samples = Samples(labeller, found, extras)
    donors: list[str | None] = []
    codes: list[int] = []
    try:
        if isinstance(table, FeatureTable):
            parts: list[Any] = [(table.sample_ids, table.columns, table.n_samples)]
        else:
            chunks = table.chunks(slice(0, 1))
            parts = [(chunk.ids, chunk.columns, int(chunk.values.shape[0])) for chunk in chunks]
        for part in parts:
            classes, texts = samples.said(table.path, *part)
            donors += texts[ROLES[0]]
            codes += classes.tolist()
    finally:
        table.close()
    return Repeats.of(donors, codes)
