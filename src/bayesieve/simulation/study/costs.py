"""What methods cost: time and memory of each alone, from the values of the samples to its list (Table 1)."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesieve.errors import OptionError
from bayesieve.rivals.rival import Rival
from bayesieve.simulation.study.design import Method
from bayesieve.simulation.study.measures import PEAK, SECONDS
from bayesieve.simulation.study.methods import select
from bayesieve.simulation.study.scoring import Drawn, Scoring
from bayesieve.stats import Moments

if TYPE_CHECKING:
    import polars as pl

    from bayesieve.simulation.study.store import StudyResults

BoolArray = npt.NDArray[np.bool_]


def alone(method: Method, rivals: Mapping[str, Rival], data: Drawn) -> tuple[BoolArray, dict[str, float]]:
    """Run a method by itself on one thread, moments included; return its list, seconds and peak of memory.

    Three runs: one that loads and compiles, one that is timed, and one whose allocations Python traces
    (tracemalloc), which would slow the second down. The peak counts what NumPy and Python allocate beyond the
    data themselves, not what compiled code takes for a moment.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.costs import alone
    >>> from bayesieve.simulation.study.methods import drawn, rivals_of
    >>> design = built_in("table-1").changed(methods=["cmnc-obf-jp"])
    >>> method, rivals = design.methods[0], rivals_of(design)
    >>> selected, costs = alone(method, rivals, drawn(design, 20, 0))
    >>> int(selected.sum()), sorted(costs)
    (100, ['peak_bytes', 'seconds'])
    """
    _list_of(method, rivals, data)
    start = time.perf_counter()
    selected = _list_of(method, rivals, data)
    seconds = time.perf_counter() - start
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        _list_of(method, rivals, data)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return selected, {SECONDS: seconds, PEAK: float(peak)}


def _list_of(method: Method, rivals: Mapping[str, Rival], data: Drawn) -> BoolArray:
    if data.matrix is not None and rivals[method.name].uses == "moments":
        data = Drawn(Moments.from_labelled(data.matrix, n_threads=1), data.truth, data.matrix)
    return select(method, Scoring(data, [method], rivals).of(method))[0]


def relative_costs(results: StudyResults, reference: str | None = None) -> pl.DataFrame:
    """Mean seconds and peak megabytes of every method, and how many times those of a reference they are.

    Parameters
    ----------
    results
        A study that measured costs.
    reference
        Name of the method that is the unit of time; the first of the study by default.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesieve.simulation.study import built_in, run_study
    >>> from bayesieve.simulation.study.costs import relative_costs
    >>> design = built_in("table-1").changed(sizes=[20], iterations=1, methods=["cmnc-obf-jp", "bd"])
    >>> results = run_study(design, pathlib.Path(tempfile.mkdtemp()) / "study.sqlite", workers=1)
    >>> relative_costs(results).columns
    ['method', 'title', 'n', 'seconds', 'standard_error', 'times_reference', 'peak_megabytes', 'iterations']
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    if "costs" not in results.design.measures:
        raise OptionError(f"The study {results.design.name} did not measure costs. Run bayesieve study table-1.")
    unit = results.design.method(reference or results.design.methods[0].name).name
    time_taken, memory = results.means(SECONDS), results.means(PEAK)
    joined = time_taken.join(memory.select("method", "n", peak="mean"), on=["method", "n"], maintain_order="left")
    of_unit = time_taken.filter(pl.col("method") == unit).select("n", reference="mean")
    joined = joined.join(of_unit, on="n", how="left", maintain_order="left")
    return joined.select(
        "method",
        "title",
        "n",
        seconds="mean",
        standard_error="standard_error",
        times_reference=pl.col("mean") / pl.col("reference"),
        peak_megabytes=pl.col("peak") / 1e6,
        iterations="iterations",
    )
