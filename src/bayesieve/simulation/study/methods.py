"""Methods at work: the data of one iteration, and what every method makes of them."""

from __future__ import annotations

import functools
import inspect
import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix
from bayesieve.errors import BayesieveError, BayesieveWarning, OptionError
from bayesieve.rivals.rival import Rival, rival
from bayesieve.simulation.data_model import DataModel, data_model
from bayesieve.simulation.study.design import Method, StudyDesign
from bayesieve.simulation.study.measures import (
    SECONDS,
    error_measures,
    label_measures,
    reliability_measures,
)
from bayesieve.simulation.study.rules import parsed_rule, rule_of_posterior
from bayesieve.simulation.study.scoring import Drawn, Scored, Scoring, gives_log_odds
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Row = tuple[int, int, str, dict[str, float]]
"""Number of samples, iteration, name of the method, and what was measured."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One data set and the methods to be run on it.

    Parameters
    ----------
    n, iteration
        Number of samples, and which of the data sets of that size.
    methods
        Names of the methods.
    """

    n: int
    iteration: int
    methods: tuple[str, ...]


@functools.lru_cache(maxsize=4)
def _model(data: str, constants: str) -> DataModel:
    return data_model(data, **json.loads(constants))


def model_of(design: StudyDesign) -> DataModel:
    """Return the data model of a study; built once.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.methods import model_of
    >>> model_of(built_in("figure-1b")).n_features
    20000
    """
    return _model(design.data, json.dumps(design.definition["constants"], sort_keys=True))


def drawn(design: StudyDesign, n: int, iteration: int) -> Drawn:
    """Draw the data of one iteration: the same whoever asks, whenever.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.methods import drawn
    >>> drawn(built_in("figure-1b"), 100, 0).moments.count.tolist()
    [50, 50]
    """
    model = model_of(design)
    seed = np.random.SeedSequence((design.seed, n, iteration))
    if not design.raw:
        found = model.draw_moments(n, seed=seed)
        return Drawn(found.moments, found.true_markers)
    alone: dict[str, int] = {"n_threads": 1} if "n_threads" in inspect.signature(model.draw).parameters else {}
    data = model.draw(n, seed=seed, **alone)
    matrix = LabelledMatrix.from_arrays(data.values, data.labels)
    return Drawn(Moments.from_labelled(matrix, n_threads=1), data.true_markers, matrix)


def rivals_of(design: StudyDesign) -> dict[str, Rival]:
    """Return where each method's scores come from, by its name; files of users' own are executed once.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.methods import rivals_of
    >>> rivals_of(built_in("figure-1b"))["mnc-obf-jp"].name
    'obf-jp'
    """
    found = {scores: rival(scores) for scores in {method.scores for method in design.methods}}
    return {method.name: found[method.scores] for method in design.methods}


def run_unit(design: StudyDesign, unit: Unit, rivals: Mapping[str, Rival]) -> list[Row]:
    """Run the methods of one unit on the same data; those that share their scores share the work, too.

    Parameters
    ----------
    design, unit
        The study, and the data set and methods of it.
    rivals
        What :func:`rivals_of` returns.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.methods import Unit, rivals_of, run_unit
    >>> design = built_in("figure-1b")
    >>> rows = run_unit(design, Unit(100, 0, ("mnc-obf-jp", "bd")), rivals_of(design))
    >>> [(n, iteration, method) for n, iteration, method, _ in rows]
    [(100, 0, 'mnc-obf-jp'), (100, 0, 'bd')]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesieveWarning)  # few samples are what a study is about
        data = drawn(design, unit.n, unit.iteration)
        methods = [design.method(name) for name in unit.methods]
        scoring = Scoring(data, methods, rivals)
        rows = []
        for method in methods:
            try:
                measured = _measured(design, method, data, scoring, rivals)
            except Exception as error:
                raise BayesieveError(
                    f"The method {method.name!r} failed with {unit.n} samples in iteration {unit.iteration}: "
                    f"{type(error).__name__}: {error}"
                ) from error
            rows.append((unit.n, unit.iteration, method.name, measured))
    return rows


def _measured(
    design: StudyDesign, method: Method, data: Drawn, scoring: Scoring, rivals: Mapping[str, Rival]
) -> dict[str, float]:
    """Score, select and measure."""
    if "costs" in design.measures:
        from bayesieve.simulation.study.costs import alone  # noqa: PLC0415 - one study in many

        selected, costs = alone(method, rivals, data)
        return label_measures(selected, data.truth) | costs
    found = scoring.of(method)
    start = time.perf_counter()
    selected, cut = select(method, found)
    seconds = found.seconds + time.perf_counter() - start
    measured = label_measures(selected, data.truth)
    if found.posterior is not None and "errors" in design.measures:
        measured |= error_measures(found.posterior, selected, cut)
    if found.posterior is not None and "reliability" in design.measures:
        measured |= reliability_measures(found.posterior, data.truth)
    return measured | {SECONDS: seconds}


def select(method: Method, found: Scored) -> tuple[BoolArray, float]:
    """Apply the rule of a method; return the list and the cut on the score.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.simulation.study import Method
    >>> from bayesieve.simulation.study.methods import select
    >>> from bayesieve.simulation.study.scoring import Scored
    >>> method = Method("mine", "Mine", "bd", n_selected=2)
    >>> select(method, Scored(np.array([1.0, np.nan, 3.0, 1.0])))[0].tolist()
    [True, False, True, False]
    """
    name, numbers = parsed_rule(method.rule)
    if name == "top":
        return _top(found.score, method.n_selected)
    if name == "bh":
        adjusted = None if found.rival is None else found.rival.adjusted_p_value
        if adjusted is None:
            raise OptionError(f"{method.scores} has no p-values for the rule {method.rule!r}.")
        return adjusted <= numbers[0], np.nan
    if found.posterior is None:
        raise OptionError(f"The rule {method.rule!r} needs log-odds (obf-jp or obf-pp), not {method.scores}.")
    selection = rule_of_posterior(method.rule).select(found.posterior)
    return selection.mask, selection.cut


def _top(score: FloatArray, n: int) -> tuple[BoolArray, float]:
    """Take the ``n`` largest scores, of equal ones the first, as a full sorting would."""
    known = np.where(np.isnan(score), -np.inf, score)
    if n == 0:
        return np.zeros(score.size, dtype=bool), np.inf
    if n >= score.size:
        return ~np.isnan(score), -np.inf
    cut = float(np.partition(known, score.size - n)[score.size - n])
    selected = known > cut
    ties = np.flatnonzero((known == cut) & ~np.isnan(score))
    selected[ties[: n - int(selected.sum())]] = True
    return selected, cut


def check_runnable(design: StudyDesign) -> None:
    """Raise before any work if a study names methods, options or data that do not exist or do not fit.

    Examples
    --------
    >>> from bayesieve.simulation.study import built_in
    >>> from bayesieve.simulation.study.methods import check_runnable
    >>> check_runnable(built_in("figure-1b"))
    """
    model_of(design)
    if "costs" in design.measures and not design.raw:
        raise OptionError("Costs are measured from the values of the samples on. Set raw = true in the study.")
    rivals = rivals_of(design)
    for method in design.methods:
        chosen = rivals[method.name]
        _check_method(method, chosen)
        if chosen.uses == "values" and not design.raw:
            raise OptionError(
                f"The method {method.name!r} needs the values of the samples, but the study draws means and "
                "variances only. Set raw = true in the study."
            )


def _check_method(method: Method, chosen: Rival) -> None:
    chosen.check_options(*method.options)
    name = parsed_rule(method.rule)[0]
    if name not in ("top", "bh") and not gives_log_odds(chosen):
        raise OptionError(
            f"The rule {method.rule!r} of {method.name!r} needs log-odds, which obf-jp and obf-pp give, not "
            f"{method.scores}. Use top or, for p-values, bh:0.05."
        )
