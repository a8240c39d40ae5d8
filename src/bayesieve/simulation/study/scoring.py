"""Scores of the features of one data set, each kind computed once however many methods use it."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.data import LabelledMatrix
from bayesieve.errors import OptionError
from bayesieve.posterior import FeaturePosterior
from bayesieve.rivals.feature_scores import FeatureScores
from bayesieve.rivals.obf import OBF_MODELS, obf_posterior
from bayesieve.rivals.rival import Rival, is_built_in
from bayesieve.rivals.sorted_values import SORTED_RIVALS, sorted_scores
from bayesieve.simulation.study.method import Method
from bayesieve.simulation.study.rules import parsed_rule
from bayesieve.stats import Moments

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The data of one iteration: moments, and values where the study draws them.

    Parameters
    ----------
    moments
        Moments of the two classes.
    truth
        True for markers.
    matrix
        The values, if they were drawn.
    """

    moments: Moments
    truth: BoolArray
    matrix: LabelledMatrix | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
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
    """Whether scores are log-odds that come with a posterior.

    Examples
    --------
    >>> from bayesieve.rivals.rival import rival
    >>> from bayesieve.simulation.study.scoring import gives_log_odds
    >>> gives_log_odds(rival("wilcoxon"))
    False
    """
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

    Examples
    --------
    >>> import bayesieve as bs
    >>> import numpy as np
    >>> from bayesieve.rivals.rival import rival
    >>> from bayesieve.simulation.study import Method
    >>> from bayesieve.simulation.study.scoring import Drawn, Scoring
    >>> moments = bs.Moments.from_matrix([[0.0, 1.0], [2.0, 3.0], [9.0, 2.0], [8.0, 3.0]], [0, 0, 1, 1])
    >>> method = Method("mine", "Mine", "pearson-neyman")
    >>> data = Drawn(moments, np.array([True, False]))
    >>> Scoring(data, [method], {"mine": rival("pearson-neyman")}).of(method).score.round(3).tolist()
    [6.76, 0.637]
    """

    def __init__(self, data: Drawn, methods: Sequence[Method], rivals: Mapping[str, Rival]) -> None:
        self._data, self._rivals = data, rivals
        self._found: dict[str, Scored] = {}
        names = [rivals[method.name].name for method in methods]
        self._sorted = {
            name: method
            for name, method in zip(names, methods, strict=True)
            if name in SORTED_RIVALS and names.count(name) == 1 and is_built_in(rivals[method.name])
        }

    def of(self, method: Method) -> Scored:
        """Return the scores of a method.

        Examples
        --------
        See the class.
        """
        key = _key(method)
        if key not in self._found:
            if len(self._sorted) > 1 and self._rivals[method.name].name in self._sorted:
                self._sort_once()
            else:
                start = time.perf_counter()
                found = self._scored(method)
                self._found[key] = Scored(*found, time.perf_counter() - start)
        return self._found[key]

    def _sort_once(self) -> None:
        start = time.perf_counter()
        options = {name: method.options for name, method in self._sorted.items()}
        found = sorted_scores(_values(self._data), list(options), options=options, n_threads=1)
        seconds = time.perf_counter() - start
        for name, scores in found.items():
            self._found[_key(self._sorted[name])] = Scored(scores.score, None, scores, seconds)

    def _scored(self, method: Method) -> tuple[FloatArray, FeaturePosterior | None, FeatureScores | None]:
        chosen, options = self._rivals[method.name], dict(method.options)
        if gives_log_odds(chosen):
            posterior = obf_posterior(chosen.name, self._data.moments, **options)
            return posterior.log_odds, posterior, None
        if not _needs_p_values(method) and _may_skip_p_values(chosen):
            options.setdefault("p_values", False)
        if chosen.uses == "moments":
            found = chosen.run(self._data.moments, **options)
        else:
            found = chosen.run(_values(self._data), n_threads=1, **options)
        return found.score, None, found


def _values(data: Drawn) -> LabelledMatrix:
    if data.matrix is None:
        raise OptionError(
            "Values are needed, but means and variances only were drawn. Set raw = true in the study."
        )
    return data.matrix


def _key(method: Method) -> str:
    return json.dumps([method.scores, method.definition["options"], _needs_p_values(method)], sort_keys=True)


def _needs_p_values(method: Method) -> bool:
    return parsed_rule(method.rule)[0] == "bh"


def _may_skip_p_values(rival: Rival) -> bool:
    """Whether a rival has a switch for p-values, which a ranking does without."""
    option = inspect.signature(rival.run).parameters.get("p_values")
    return option is not None and option.default is True
