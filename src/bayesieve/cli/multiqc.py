"""Custom content for MultiQC: general statistics, a table and a bar graph of contrasts, strongest features."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_PARENT = {
    "parent_id": "bayesieve",
    "parent_name": "bayesieve",
    "parent_description": "Optimal Bayesian feature filtering: how probable it is that two levels differ.",
}
_SHOWN = 20
_COUNT = {"format": "{:,.0f}", "min": 0}
_FEATURE_HEADS: dict[str, dict[str, Any]] = {
    "logFC": {"title": "log2 FC", "description": "Log2 fold change, target over reference", "format": "{:+,.3f}"},
    "difference": {"title": "Difference", "description": "Mean of target minus reference", "format": "{:+,.4g}"},
    "log_odds": {"title": "Log-odds", "description": "Posterior log-odds of a difference", "format": "{:,.2f}"},
    "posterior": {
        "title": "Probability", "description": "Posterior probability of a difference", "min": 0, "max": 1,
        "format": "{:,.4f}",
    },
    "local_fdr": {"title": "Local FDR", "description": "1 - probability", "format": "{:,.2e}"},
    "expected_fdr": {
        "title": "Expected FDR", "description": "Of the list down to this feature", "min": 0, "max": 1,
        "format": "{:,.4f}",
    },
}  # fmt: skip
_HEADS: dict[str, dict[str, Any]] = {
    "n_selected": {"title": "Selected", "description": "Features on the list", **_COUNT},
    "n_up": {"title": "Up", "description": "Selected features that are higher in the target", **_COUNT},
    "n_down": {"title": "Down", "description": "Selected features that are lower in the target", **_COUNT},
    "expected_false_positives": {
        "title": "False positives", "description": "Expected among the selected features", "format": "{:,.1f}",
        "min": 0,
    },
}  # fmt: skip


def summary_files(contrasts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the contents of the files about all contrasts, by name; ``contrasts`` are their facts by id."""
    numbers = {key: {name: facts[name] for name in _HEADS} for key, facts in contrasts.items()}
    compared = {
        key: {
            "comparison": f"{facts['variable']}: {facts['target']} - {facts['reference']}",
            "blocking": " x ".join(facts["blocking"]) or "none",
            "n_reference": facts["n_reference"],
            "n_target": facts["n_target"],
            "n_features": facts["n_features"],
            **numbers[key],
        }
        for key, facts in contrasts.items()
    }
    heads = {
        "comparison": {"title": "Comparison", "description": "Column of the sample sheet: target - reference"},
        "blocking": {"title": "Blocks", "description": "Blocking factors"},
        "n_reference": {"title": "Reference", "description": "Samples of the reference", **_COUNT},
        "n_target": {"title": "Target", "description": "Samples of the target", **_COUNT},
        "n_features": {"title": "Features", "description": "Features screened", **_COUNT},
        **_HEADS,
    }
    return {
        "bayesieve_general_mqc.json": {
            "id": "bayesieve_general", "plot_type": "generalstats", "namespace": "bayesieve",
            "headers": {name: dict(head) for name, head in _HEADS.items()}, "data": numbers,
        },
        "bayesieve_contrasts_mqc.json": {
            "id": "bayesieve_contrasts", **_PARENT, "section_name": "Contrasts",
            "description": "What was compared and how many features were selected.", "plot_type": "table",
            "pconfig": {"id": "bayesieve_contrasts_table", "title": "bayesieve: contrasts",
                        "col1_header": "Contrast", "namespace": "bayesieve", "no_violin": True},
            "headers": heads, "data": compared,
        },
        "bayesieve_selected_mqc.json": {
            "id": "bayesieve_selected", **_PARENT, "section_name": "Selected features",
            "description": "Selected features that are higher and lower in the target.", "plot_type": "bargraph",
            "pconfig": {"id": "bayesieve_selected_plot", "title": "bayesieve: selected features",
                        "ylab": "Features", "cpswitch": False},
            "categories": {"n_up": {"name": "Up", "color": "#b2182b"},
                           "n_down": {"name": "Down", "color": "#2166ac"}},
            "data": {key: {"n_up": each["n_up"], "n_down": each["n_down"]} for key, each in numbers.items()},
        },
    }  # fmt: skip


def feature_file(
    key: str, columns: Mapping[str, Sequence[Any]], selected: int, *, was_cut: bool
) -> dict[str, Any]:
    """Return the content of the file about the strongest features of a contrast; the first column names them."""
    names, *_ = columns.values()
    shown = [name for name in _FEATURE_HEADS if name in columns]
    rows = {
        str(name): {
            each: value
            for each in shown
            if (value := float(columns[each][k])) is not None and math.isfinite(value)
        }
        for k, name in enumerate(names[:_SHOWN])
    }
    word = re.sub(r"\W+", "_", key)
    shortened = " The list was shortened or emptied, because shuffled labels give one as long." if was_cut else ""
    return {
        "id": f"bayesieve_{word}", **_PARENT, "section_name": f"Strongest features: {key}",
        "description": f"The {len(rows)} strongest of {len(names):,} features; {selected:,} selected.{shortened}",
        "plot_type": "table",
        "pconfig": {"id": f"bayesieve_{word}_table", "title": f"bayesieve: {key}", "col1_header": "Feature",
                    "namespace": "bayesieve", "sort_rows": False, "no_violin": True},
        "headers": {name: dict(_FEATURE_HEADS[name]) for name in shown},
        "data": rows,
    }  # fmt: skip
