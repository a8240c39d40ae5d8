"""Columns of the page's table, in rank order and encoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.table import class_statistics
from bayesieve.report.encoding import encoded, encoded_number, encoded_text
from bayesieve.stats import Moments

IntArray = npt.NDArray[np.int64]

_OF_THE_PRIOR = (
    "kind", "probability_", "pattern", "equal_", "least_log_odds", "log_odds_", "n_fragile_removals",
)  # fmt: skip
_SHOWN_ELSEWHERE = {
    "rank", "feature", "log_odds", "probability", "log_bayes_factor", "degenerate", "degenerate_reason",
    "selected",
}  # fmt: skip
_WORDS = {"sd": "SD", "p": "p"}


def column_content(name: str, values: Any, *, annotation: bool = False) -> dict[str, Any]:
    """Encode one column: numbers, flags or texts.

    Parameters
    ----------
    name
        Its name in the table of results.
    values
        Its values.
    annotation
        Whether it came from elsewhere than the screen.

    Examples
    --------
    >>> from bayesieve.report.columns import column_content
    >>> found = column_content("mean_difference", [0.5])
    >>> found["title"], found["kind"]
    ('mean difference', 'number')
    >>> column_content("chromosome", ["17", "X"], annotation=True)["kind"]
    'text'
    """
    content: dict[str, Any] = {"key": name, "title": name if annotation else _title(name)}
    array = _plain(values)
    if array.dtype.kind == "b":
        content |= {"kind": "flag", "values": encoded(array, "u1")}
    elif array.dtype.kind in "iuf":
        content |= {"kind": "number", "values": encoded_number(array, exact="p_value" in name or annotation)}
    else:
        content |= encoded_text(array.tolist())
    if annotation:
        content["annotation"] = True
    elif name.startswith(_OF_THE_PRIOR):
        content["of_prior"] = True
    return content


def _title(name: str) -> str:
    return " ".join(_WORDS.get(word, word) for word in name.split("_")).replace("p value", "p-value")


def _plain(values: Any) -> npt.NDArray[Any]:
    """Return an array of numbers, of flags, or of objects; texts that are all numbers stay texts."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values
    listed = list(values)
    if listed and all(isinstance(value, (bool, np.bool_)) for value in listed):
        return np.array(listed, dtype=bool)
    if listed and all(value is None or isinstance(value, (int, float, np.number)) for value in listed):
        if all(isinstance(value, (int, np.integer)) for value in listed):
            return np.array(listed)
        return np.array([np.nan if value is None else float(value) for value in listed])
    texts = np.empty(len(listed), dtype=object)
    texts[:] = listed
    return texts


def result_columns(detailed: FeaturePosterior) -> dict[str, Any]:
    """Columns of findings and class statistics; counts, means and deviations of Gaussian data are apart.

    Parameters
    ----------
    detailed
        The screen of the features shown, in the order shown.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.columns import result_columns
    >>> list(result_columns(bs.screen([[0.1], [0.4], [0.3], [0.8], [0.6]] * 2, [0, 1] * 5)))
    ['mean_difference', 'log_variance_ratio']
    """
    table: dict[str, Any] = {}
    apart = ("mean_difference", "log_variance_ratio") if isinstance(detailed.statistics, Moments) else None
    of_classes = {k: v for k, v in class_statistics(detailed).items() if apart is None or k in apart}
    for columns in (of_classes, *(finding.columns(detailed) for finding in detailed.findings)):
        for name, values in columns.items():
            if name not in _SHOWN_ELSEWHERE:
                table[name if name not in table else f"{name} (2)"] = values
    return table


def all_columns(
    detailed: FeaturePosterior, annotation: Mapping[str, Any], order: IntArray
) -> list[dict[str, Any]]:
    """Encode annotation first, then what the screen says.

    Parameters
    ----------
    detailed
        The screen of the features shown, in the order shown.
    annotation
        Columns in feature order.
    order
        Numbers of the features shown.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.report.columns import all_columns
    >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8], [0.6]] * 2, [0, 1] * 5)
    >>> [column["key"] for column in all_columns(posterior, {"gene": ["TP53"]}, np.array([0]))]
    ['gene', 'mean_difference', 'log_variance_ratio']
    """
    own = result_columns(detailed)
    places = order.tolist()
    made = []
    for name, values in annotation.items():
        taken = values[order] if isinstance(values, np.ndarray) else [values[i] for i in places]
        key = name if name not in own and name not in _SHOWN_ELSEWHERE else f"annotation_{name}"
        made.append(column_content(key, taken, annotation=True) | {"title": name})
    return made + [column_content(name, values) for name, values in own.items()]
