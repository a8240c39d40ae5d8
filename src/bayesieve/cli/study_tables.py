"""The results of a study on one screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bayesieve.study import StudyResults, model_of, relative_costs

_MOST_COLUMNS = 4


def study_lines(results: StudyResults) -> list[str]:
    """Say what came out: costs, errors of rules, or correctly labelled features, as the study is about."""
    if "costs" in results.design.measures:
        return _costs(results)
    if "reliability" in results.design.measures:
        return _calibration(results)
    return _accuracy(results)


def _accuracy(results: StudyResults) -> list[str]:
    means = results.means("correct")
    found = {(row["method"], row["n"]): row for row in means.iter_rows(named=True)}

    def cell(name: str, n: int) -> str:
        row = found.get((name, n))
        return "" if row is None else f"{row['mean']:,.1f} ({row['standard_error']:.1f})"

    n_features = model_of(results.design).n_features
    head = f"Correctly labelled of {n_features:,} features: mean over iterations (standard error)."
    return [head, *_table(results, cell)]


def _calibration(results: StudyResults) -> list[str]:
    pairs = [results.means(name) for name in ("expected_false_positives", "false_positives")]
    expected, true = (
        {(row["method"], row["n"]): row["mean"] for row in means.iter_rows(named=True)} for means in pairs
    )

    def cell(name: str, n: int) -> str:
        where = name, n
        return f"{expected[where]:,.2f} / {true[where]:,.2f}" if where in expected and where in true else ""

    return ["False positives in the list, expected / true: means over iterations.", *_table(results, cell)]


def _costs(results: StudyResults) -> list[str]:
    costs = relative_costs(results)
    width = max(len(title) for title in costs["title"])
    unit = results.design.methods[0].title
    lines = [
        f"Time in units of {unit}, and peak memory beyond the data, of each method alone on one thread.",
        f"{'method':<{width}}  {'n':>6}  {'milliseconds':>12}  {'times':>6}  {'MB':>7}",
    ]
    lines += [
        f"{row['title']:<{width}}  {row['n']:>6,}  {1e3 * row['seconds']:>12.1f}  "
        f"{row['times_reference']:>6.2f}  {row['peak_megabytes']:>7.1f}"
        for row in costs.iter_rows(named=True)
    ]
    return lines


def _table(results: StudyResults, cell: Callable[[str, int], str]) -> list[str]:
    """Methods by numbers of samples, of which some are shown."""
    sizes = _some(sorted(set(results.wide["n"])))
    rows = [
        ["method", *(f"n = {n:,}" for n in sizes)],
        *([method.title, *(cell(method.name, n) for n in sizes)] for method in results.design.methods),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(size) for text, size in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


def _some(sizes: Sequence[int]) -> list[int]:
    """Return the first, the last and some in between."""
    if len(sizes) <= _MOST_COLUMNS:
        return list(sizes)
    step = (len(sizes) - 1) / (_MOST_COLUMNS - 1)
    return [sizes[round(k * step)] for k in range(_MOST_COLUMNS)]
