"""Methods at work: scores and lists on the data of one iteration, and what each costs in time and memory."""

from __future__ import annotations

import functools
import inspect
import json
import time
import tracemalloc
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix
from bayesieve.posterior import FeaturePosterior
from bayesieve.rivals import (
    OBF_MODELS,
    SORTED_RIVALS,
    FeatureScores,
    Rival,
    is_built_in,
    obf_posterior,
    rival,
    sorted_scores,
)
from bayesieve.selection import Rule, Selection
from bayesieve.simulation import DataModel, data_model
from bayesieve.stats import Moments
from bayesieve.study.design import BEST, OWN, TRUE_NUMBER, Method, StudyDesign, parse_rule
from bayesieve.study.measures import (
    CLAIMED,
    PEAK,
    SECONDS,
    Row,
    claim_measures,
    error_measures,
    label_measures,
    ranking_measures,
    reliability_measures,
)
from bayesieve.utils import BayesieveError, BayesieveWarning, BoolArray, FloatArray, OptionError, free_memory


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """The data of one iteration: moments, and values where the study draws them.

    Parameters
    ----------
    moments
        Moments of the two classes.
    truth
        True for markers.
    matrix
        The values, if they were drawn.
    seed
        Of shuffled labels.
    """

    moments: Moments
    truth: BoolArray
    matrix: LabelledMatrix | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What one kind of scores says about all features: a posterior, or the scores of a rival.

    Parameters
    ----------
    score
        Larger for stronger features.
    posterior
        What log-odds came from, if they are log-odds.
    rival
        What the scores came from, if they are those of a rival.
    seconds
        How long they took.
    """

    score: FloatArray
    posterior: FeaturePosterior | None = None
    rival: FeatureScores | None = None
    seconds: float = 0.0


def gives_log_odds(rival: Rival) -> bool:
    """Whether scores are log-odds that come with a posterior."""
    return rival.name in OBF_MODELS and is_built_in(rival)


class Scoring:
    """Scores of some methods on one data set, computed when first asked for.

    Parameters
    ----------
    data
        The data set.
    methods
        Methods that will ask; those that look at sorted values share one sort.
    rivals
        Where the scores of each method come from, by its name.
    """

    def __init__(self, data: DataSet, methods: Sequence[Method], rivals: Mapping[str, Rival]) -> None:
        self._data, self._rivals = data, rivals
        self._found: dict[str, Scores] = {}
        names = [rivals[method.name].name for method in methods]
        self._sorted = {
            name: method
            for name, method in zip(names, methods, strict=True)
            if name in SORTED_RIVALS and names.count(name) == 1 and is_built_in(rivals[method.name])
        }

    def of(self, method: Method) -> Scores:
        """Return the scores of a method."""
        key = _key(method)
        if key not in self._found:
            if len(self._sorted) > 1 and self._rivals[method.name].name in self._sorted:
                self._sort_once()
            else:
                start = time.perf_counter()
                found = self._score(method)
                self._found[key] = Scores(*found, time.perf_counter() - start)
        return self._found[key]

    def _sort_once(self) -> None:
        start = time.perf_counter()
        options = {name: method.options for name, method in self._sorted.items()}
        found = sorted_scores(_values_of(self._data), list(options), options=options, n_threads=1)
        seconds = time.perf_counter() - start
        for name, scores in found.items():
            self._found[_key(self._sorted[name])] = Scores(scores.score, None, scores, seconds)

    def _score(self, method: Method) -> tuple[FloatArray, FeaturePosterior | None, FeatureScores | None]:
        source, options = self._rivals[method.name], dict(method.options)
        if gives_log_odds(source):
            posterior = self._posterior(method, source.name, options)
            return posterior.log_odds, posterior, None
        if not _needs_p_values(method) and _may_skip_p_values(source):
            options.setdefault("p_values", False)
        if source.uses == "moments":
            found = source.run(self._data.moments, **options)
        else:
            found = source.run(_values_of(self._data), n_threads=1, **options)
        return found.score, None, found

    def _posterior(self, method: Method, name: str, options: dict[str, Any]) -> FeaturePosterior:
        """Screen the moments, or the values where labels are shuffled."""
        if not method.shuffles:
            return obf_posterior(name, self._data.moments, **options)
        shuffles = {"shuffles": method.shuffles, "seed": self._data.seed}
        return obf_posterior(name, _values_of(self._data), **shuffles, n_threads=1, **options)


def _values_of(data: DataSet) -> LabelledMatrix:
    if data.matrix is None:
        raise OptionError(
            "Values are needed, but means and variances only were drawn. Set raw = true in the study."
        )
    return data.matrix


def _key(method: Method) -> str:
    asked = [method.scores, method.definition["options"], _needs_p_values(method), method.shuffles]
    return json.dumps(asked, sort_keys=True)


def _needs_p_values(method: Method) -> bool:
    return isinstance(parse_rule(method.rule), float)


def _may_skip_p_values(rival: Rival) -> bool:
    """Whether a rival has a switch for p-values, which a ranking does without."""
    option = inspect.signature(rival.run).parameters.get("p_values")
    return option is not None and option.default is True


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
    """Return the data model of a study; built once."""
    return _model(design.data, json.dumps(design.definition["constants"], sort_keys=True))


def draw_data(design: StudyDesign, n: int, iteration: int) -> DataSet:
    """Draw the data of one iteration: the same whoever asks, whenever."""
    model = model_of(design)
    seed = np.random.SeedSequence((design.seed, n, iteration))
    if not design.raw:
        found = model.draw_moments(n, seed=seed)
        return DataSet(found.moments, found.true_markers)
    one_thread: dict[str, int] = (
        {"n_threads": 1} if "n_threads" in inspect.signature(model.draw).parameters else {}
    )
    data = model.draw(n, seed=seed, **one_thread)
    matrix = LabelledMatrix.from_arrays(data.values, data.labels)
    return DataSet(Moments.from_labelled(matrix, n_threads=1), data.true_markers, matrix, iteration)


def rivals_of(design: StudyDesign) -> dict[str, Rival]:
    """Return where each method's scores come from, by its name; files of users' own are executed once."""
    found = {scores: rival(scores) for scores in {method.scores for method in design.methods}}
    return {method.name: found[method.scores] for method in design.methods}


def run_unit(design: StudyDesign, unit: Unit, rivals: Mapping[str, Rival]) -> list[Row]:
    """Run the methods of one unit on the same data; those that share their scores share the work, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesieveWarning)  # few samples are what a study is about
        data = draw_data(design, unit.n, unit.iteration)
        methods = [design.method(name) for name in unit.methods]
        scoring = Scoring(data, methods, rivals)
        rows = []
        for method in methods:
            try:
                measured = _measure(design, method, data, scoring, rivals)
                found = list(_member_rows(unit, method, data, scoring)) if method.rule == BEST else []
            except Exception as error:
                raise BayesieveError(
                    f"The method {method.name!r} failed with {unit.n} samples in iteration {unit.iteration}: "
                    f"{type(error).__name__}: {error}"
                ) from error
            rows += [(unit.n, unit.iteration, method.name, measured), *found]
    return rows


def _member_rows(unit: Unit, method: Method, data: DataSet, scoring: Scoring) -> Iterator[Row]:
    """Rows of all lists that a method offers; the best after averaging is found when results are read."""
    names, lists = _lists(method, scoring.of(method))
    for name, selected in zip(names, lists, strict=True):
        yield unit.n, unit.iteration, f"{method.name}/{name}", label_measures(selected, data.truth)


def _lists(method: Method, found: Scores) -> tuple[Sequence[str], npt.NDArray[np.bool_]]:
    """Names and lists of a method that offers several."""
    offered = {} if found.rival is None else found.rival.diagnostics
    if "lists" not in offered:
        raise OptionError(f"{method.scores} does not offer several lists, of which the rule 'best' takes one.")
    return offered["list_names"], offered["lists"]


def _measure(
    design: StudyDesign, method: Method, data: DataSet, scoring: Scoring, rivals: Mapping[str, Rival]
) -> dict[str, float]:
    """Score, select and measure."""
    if "costs" in design.measures:
        selected, costs = measure_costs(method, rivals, data)
        return label_measures(selected, data.truth) | costs
    found = scoring.of(method)
    start = time.perf_counter()
    selected, cut, selection = select(method, found, data.truth)
    seconds = found.seconds + time.perf_counter() - start
    measured = label_measures(selected, data.truth)
    if found.posterior is not None and "errors" in design.measures:
        measured |= error_measures(found.posterior, selected, cut)
    if found.posterior is not None and "reliability" in design.measures:
        measured |= reliability_measures(found.posterior, data.truth)
    if "trust" in design.measures:
        measured |= _trust_measures(method, found, selected, selection, data.truth)
    return measured | {SECONDS: seconds}


def _trust_measures(
    method: Method, found: Scores, selected: BoolArray, selection: Selection | None, truth: BoolArray
) -> dict[str, float]:
    """What the list claims, as far as it claims anything, and what its ranking is worth at equal errors."""
    rule = parse_rule(method.rule)
    measured: dict[str, float] = {}
    if selection is not None:
        measured |= claim_measures(selection, int((selected & ~truth).sum()))
    elif isinstance(rule, float):
        measured[CLAIMED] = rule * float(selected.sum())
    source = found.posterior if found.posterior is not None else found.rival
    return measured if source is None else measured | ranking_measures(source.ranking, truth)


def select(method: Method, found: Scores, truth: Any = None) -> tuple[BoolArray, float, Selection | None]:
    """Apply the rule of a method; return the list, the cut on the score, and what the rule says of it."""
    rule = parse_rule(method.rule)
    number = method.n_selected
    if rule == TRUE_NUMBER:
        rule, number = None, int(np.sum(truth))
    if rule is None and found.rival is not None and found.rival.tie_break is not None:
        first = found.rival.ranking[:number]
        selected = np.zeros(found.score.size, dtype=bool)
        selected[first[~np.isnan(found.score[first])]] = True
        return selected, np.nan, None
    if rule is None:
        return (*_top(found.score, number), None)
    if rule == OWN:
        if found.rival is None or found.rival.selected is None:
            raise OptionError(
                f"{method.scores} chooses no list by itself; the rule of {method.name!r} may be top."
            )
        return found.rival.selected, np.nan, None
    if rule == BEST:  # of this iteration
        lists = _lists(method, found)[1]
        return lists[int(np.argmax((lists == truth).sum(axis=1)))], np.nan, None
    if isinstance(rule, float):
        adjusted = None if found.rival is None else found.rival.adjusted_p_value
        if adjusted is None:
            raise OptionError(f"{method.scores} has no p-values for the rule {method.rule!r}.")
        return adjusted <= rule, np.nan, None
    if found.posterior is None or isinstance(rule, str):
        raise OptionError(f"The rule {method.rule!r} needs log-odds (obf, obf-jp or obf-pp), not {method.scores}.")
    selection = rule.select(found.posterior)
    return selection.mask, selection.cut, selection


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
    """Raise before any work if a study names methods, options or data that do not exist or do not fit."""
    _check_memory(design)
    if "costs" in design.measures and not design.raw:
        raise OptionError("Costs are measured from the values of the samples on. Set raw = true in the study.")
    rivals = rivals_of(design)
    for method in design.methods:
        source = rivals[method.name]
        _check_method(method, source)
        if (source.uses == "values" or method.shuffles) and not design.raw:
            raise OptionError(
                f"The method {method.name!r} needs the values of the samples, but the study draws means and "
                "variances only. Set raw = true in the study."
            )


def _check_memory(design: StudyDesign) -> None:
    """Raise if a single data set would not fit into memory."""
    n_features = model_of(design).n_features
    n = (
        max(n for method in design.methods for n in design.sizes_of(method)) if design.raw else 6
    )  # moments of two classes
    free = free_memory()
    if 8 * n * n_features > free:
        many = f"{n_features:,}" if n_features < 10**15 else "more than 1e15"
        what = f"{n:,} samples of {many} features" if design.raw else f"moments of {many} features"
        raise OptionError(
            f"A data set of the study {design.name} would take more memory than is free ({free / 1e9:,.1f} "
            f"GB): {what}. "
            "Take fewer samples or features."
        )


def _check_method(method: Method, source: Rival) -> None:
    source.check_options(*method.options)
    rule = parse_rule(method.rule)
    if isinstance(rule, Rule) and not gives_log_odds(source):
        raise OptionError(
            f"The rule {method.rule!r} of {method.name!r} needs log-odds, which obf, obf-jp and obf-pp give, "
            f"not {method.scores}. Use top or, for p-values, bh:0.05."
        )
    if method.shuffles and not gives_log_odds(source):
        raise OptionError(
            f"Shuffles judge lists of obf, obf-jp and obf-pp; {method.name!r} has scores of {method.scores}. "
            "Leave shuffles out."
        )


def measure_costs(
    method: Method, rivals: Mapping[str, Rival], data: DataSet
) -> tuple[BoolArray, dict[str, float]]:
    """Run a method by itself on one thread, moments included; return its list, seconds and peak of memory.

    Three runs: one that loads and compiles, one that is timed, and one whose allocations Python traces
    (tracemalloc), which would slow the second down. The peak counts what NumPy and Python allocate beyond the
    data themselves, not what compiled code takes for a moment.
    """
    _select_alone(method, rivals, data)
    start = time.perf_counter()
    selected = _select_alone(method, rivals, data)
    seconds = time.perf_counter() - start
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        _select_alone(method, rivals, data)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return selected, {SECONDS: seconds, PEAK: float(peak)}


def _select_alone(method: Method, rivals: Mapping[str, Rival], data: DataSet) -> BoolArray:
    if data.matrix is not None and rivals[method.name].uses == "moments":
        shape = rivals[method.name].name == "obf"  # others do without cubes and fourth powers
        moments = Moments.from_labelled(data.matrix, n_threads=1, shape=shape)
        data = DataSet(moments, data.truth, data.matrix)
    return select(method, Scoring(data, [method], rivals).of(method), data.truth)[0]
