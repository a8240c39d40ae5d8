"""What the paper prints about its application: facts to hold ours against, kept in ``published.toml``."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

TITLES = {
    "obf-jp": "CMNC-OBF-JP",
    "obf": "OBF calibrated",
    "bd": "BD",
    "welch": "t-test",
    "skbs": "SKBS",
    "bpm": "BPM",
    "bayesreg-logit-l1": "BayesReg(logit, L1)",
}
"""Names of the rankings in tables and figures; all but the calibrated OBF are the paper's."""


@functools.cache
def published() -> dict[str, Any]:
    """Return the numbers of ``published.toml``."""
    text = resources.files("bayesieve.study.colon").joinpath("published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@dataclass(frozen=True, slots=True)
class KnownGene:
    """A gene of Table S1.

    Parameters
    ----------
    symbol
        As printed.
    entrez
        Entrez id.
    today
        Today's symbol, if it is another one.
    ranks
        Printed rank by method; methods that have none are left out.
    """

    symbol: str
    entrez: str
    today: str
    ranks: dict[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which a platform may call it."""
        return tuple(name for name in (self.symbol, self.today, self.entrez) if name)


@functools.cache
def known_genes() -> tuple[KnownGene, ...]:
    """Return the 36 genes of Table S1, in its order."""
    table = published()["table_s1"]
    return tuple(
        KnownGene(
            symbol, entrez, today,
            {method: rank for method, rank in zip(table["methods"], ranks, strict=True) if rank},
        )
        for symbol, entrez, today, *ranks in table["rows"]
    )  # fmt: skip


def least_bound(method: str) -> float:
    """Return the least that equation (9) can give at the printed threshold for the printed counts, as a share.

    Features with a largest selection share of at least t add at least t to the mean number selected per subsample,
    so that the printed counts bound that number from below.
    """
    data, found = published()["data"], published()["regressions"][method]
    counts = [*found["probes"], 0]
    q = sum(t * (counts[k] - counts[k + 1]) for k, t in enumerate(found["thresholds"]))
    expected = q**2 / ((2 * found["bound_threshold"] - 1) * data["probes_with_gene"])
    return float(expected / found["at_bound"][0])
