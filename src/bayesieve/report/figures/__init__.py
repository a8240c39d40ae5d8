"""Static figures of a screen, for papers and slides; they need the extra ``figures``.

Every function takes a posterior or a selection and returns matplotlib's axes::

    from bayesieve.report import figures
    ax = figures.effect_map(posterior)
    ax.figure.savefig("effects.pdf", dpi=300)
"""

from bayesieve.report.figures.effects import effect_map
from bayesieve.report.figures.evidence import composition, forest
from bayesieve.report.figures.features import feature
from bayesieve.report.figures.gene_sets import recovery, set_dots
from bayesieve.report.figures.lists import (
    expected_roc,
    false_discovery,
    false_positives,
    log_odds_by_rank,
    probabilities,
)
from bayesieve.report.figures.saving import save_all
from bayesieve.report.figures.style import journal_style

__all__ = [
    "composition",
    "effect_map",
    "expected_roc",
    "false_discovery",
    "false_positives",
    "feature",
    "forest",
    "journal_style",
    "log_odds_by_rank",
    "probabilities",
    "recovery",
    "save_all",
    "set_dots",
]
