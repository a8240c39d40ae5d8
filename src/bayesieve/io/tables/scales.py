"""What has to be known of all samples before values are transformed: totals, size factors, centres, dispersion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.data import (
    FeatureSpread,
    LogRatios,
    SampleScales,
    check_normalise,
    check_totals_of_samples,
    check_transform,
    estimate_dispersion,
    is_sparse,
    log_shifted,
    total_factors,
)
from bayesieve.io.tables.chunks import Chunk, Chunks
from bayesieve.io.tables.missing_values import Missing
from bayesieve.io.tables.samples import Samples
from bayesieve.utils import DataError, FloatArray, MissingValueError, Wording, option


def with_scales(chunks: Chunks, samples: Samples) -> Chunks:
    """Return chunks that know by what samples are divided, and what else their transformation has to know.

    Every question is one more reading of the table; nothing depends on how it is cut into chunks.
    """
    if check_normalise(chunks.normalise).name != "none":
        chunks = replace(chunks, scales=SampleScales(_factors(chunks, samples)))
    wanted = check_transform(chunks.transform)
    if wanted.name == "clr":
        chunks = replace(chunks, scales=replace(chunks.scales, centres=_centres(chunks, samples)))
    elif wanted.name == "vst" and wanted.number is None:
        chunks = replace(chunks, scales=replace(chunks.scales, dispersion=_dispersion(chunks, samples)))
    return chunks


def sample_totals(chunks: Chunks, samples: Samples) -> FloatArray:
    """Return the total of every sample that is used over all features, divided by their mean: its exposure."""
    totals, names = _add_up(chunks, samples, lambda chunk: chunk.values)
    odd = np.flatnonzero(~(totals > 0))
    if odd.size:
        i = int(odd[0])
        who = repr(names[i]) if names else f"number {i + 1}"
        raise DataError(
            f"{chunks.table.path}: the values of sample {who} add up to {totals[i]:g}, so that its total cannot "
            "be its exposure.",
            hint=(
                "Leave it out, or give exposures in a column of their own: ",
                Wording("exposures='COLUMN'", "--exposures COLUMN"),
                ".",
            ),
        )
    return totals / totals.mean() if totals.size else totals


def _raw(chunks: Chunks) -> Chunks:
    """Values as they are in the file, but for size factors that are known."""
    return replace(chunks, transform="none", look=None, raw=True, normalise="none")


def _factors(chunks: Chunks, samples: Samples) -> FloatArray:
    path, wanted = chunks.table.path, check_normalise(chunks.normalise)
    if wanted.name == "median-ratios":
        return _ratios(_raw(chunks), samples).factors(path)
    absent = Missing()

    def checked(chunk: Chunk) -> Any:
        _check_counts(chunk, path)
        return chunk.values

    totals, names = _add_up(_raw(chunks), samples.restart(), checked, absent)
    if absent.total:
        raise MissingValueError(
            f"{path} holds {absent.total:,} missing value(s), the first at ",
            *absent.first,
            ", so that the totals of the samples are not known.",
            hint=(
                "Normalise by ",
                option("normalise", "median-ratios"),
                ", which uses the features without missing values, or fill them in first (by 0, if nothing was "
                "counted there).",
            ),
            kind="missing-values",
            numbers={"n": absent.total},
        )
    check_totals_of_samples(totals, names, path)
    return total_factors(totals, wanted.number)


def _ratios(raw: Chunks, samples: Samples) -> LogRatios:
    """Log ratios of the features that are above 0 in every sample."""
    path, ratios = raw.table.path, LogRatios()
    full: Any = True  # features above 0 so far, where chunks hold some samples of all features
    for chunk in raw.walk(samples.restart(), Missing()):
        _check_counts(chunk, path)
        if raw.whole_features:
            ratios.add(chunk.values)
        else:
            full = full & _above_zero(chunk.values)
    if raw.whole_features or full is True:
        return ratios
    places, kept = np.flatnonzero(full), []
    if places.size:
        for chunk in raw.walk(samples.restart(), Missing()):
            part = chunk.values[:, places]
            kept.append(np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64))
        ratios.add(np.concatenate(kept))
    ratios.n_features = full.size
    return ratios


def _above_zero(values: Any) -> Any:
    """Tell which features are above 0 in all these samples."""
    if is_sparse(values):
        return np.asarray((values > 0).sum(axis=0)).ravel() == values.shape[0]
    return (values > 0).all(axis=0)


def _check_counts(chunk: Chunk, path: str) -> None:
    """Raise if a value is negative."""
    values: Any = chunk.values
    stored = values.data if is_sparse(values) else values
    below = stored < 0
    if not below.any():
        return
    if is_sparse(values):
        entries = values.tocoo()
        k = int(np.flatnonzero(entries.data < 0)[0])
        i, j, value = int(entries.row[k]), int(entries.col[k]), entries.data[k]
    else:
        i, j = (int(each) for each in np.argwhere(below)[0])
        value = values[i, j]
    raise DataError(
        f"Counts are normalised, but {int(below.sum()):,} or more values are negative, the first is {value:g} at "
        f"sample {chunk.roles.name(i)}, feature {chunk.features[j]!r} of {path}: they look like logarithms or "
        "differences, which are normalised already, or otherwise.",
        hint=("Leave ", option("normalise"), " out."),
        kind="negative-values",
    )


def _centres(chunks: Chunks, samples: Samples) -> FloatArray:
    """Mean logarithm of every sample, for centred log-ratios."""
    shift = check_transform(chunks.transform).number or 0.0
    numbers: list[FloatArray] = []

    def logarithms(chunk: Chunk) -> FloatArray:
        logs = log_shifted(chunk.values, shift, _where(chunk, chunks.table.path))
        n = (~np.isnan(logs)).sum(axis=1).astype(np.float64)
        if chunk.first == 0:
            numbers.append(n)
        else:
            numbers[-1] += n
        return logs

    totals, _ = _add_up(_raw(chunks), samples.restart(), logarithms)
    return np.asarray(totals / np.maximum(np.concatenate([np.empty(0), *numbers]), 1.0))


def _dispersion(chunks: Chunks, samples: Samples) -> float:
    """Dispersion of a typical feature, for vst."""
    factors = chunks.scales.factors
    spread, means, variances = FeatureSpread(), [], []
    for chunk in _raw(chunks).walk(samples.restart(), Missing()):
        if chunks.whole_features:
            spread = FeatureSpread()
        spread.add(chunk.values)
        if chunks.whole_features and spread.n is not None:
            means.append(spread.mean)
            variances.append(spread.variance)
    if not chunks.whole_features and spread.n is not None:
        means, variances = [spread.mean], [spread.variance]
    if not means:
        return 0.0
    noise = 1.0 if factors is None else float(np.mean(1.0 / factors))
    return estimate_dispersion(np.concatenate(means), np.concatenate(variances), noise)


def _where(chunk: Chunk, path: str) -> Callable[[int, int], str]:
    return lambda i, j: f"sample {chunk.roles.name(i)}, feature {chunk.features[j]!r} of {path}"


def _add_up(
    chunks: Chunks, samples: Samples, values: Callable[[Chunk], Any], missing: Missing | None = None
) -> tuple[FloatArray, list[str]]:
    """Totals of the samples and their names.

    Values are added one after the other in the order of the features, so that it does not matter in how
    many chunks they come.
    """
    totals: list[FloatArray] = []
    names: list[str] = []
    for chunk in chunks.walk(samples, Missing() if missing is None else missing):
        if chunk.first == 0:
            totals.append(np.zeros(chunk.values.shape[0]))
            names += chunk.roles.names
        totals[-1] = _add_values(totals[-1], values(chunk))
    return np.concatenate([np.empty(0), *totals]), names


def _add_values(total: FloatArray, values: Any) -> FloatArray:
    if is_sparse(values):
        return np.asarray(total + np.asarray(values.sum(axis=1, dtype=np.float64)).ravel())
    present = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0)
    sums: FloatArray = np.cumsum(np.concatenate([total[:, None], present], axis=1), axis=1)[:, -1]
    return sums
