"""The same screen under shuffled labels: what it would list if the classes meant nothing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import LabelledMatrix, Labels, in_blocks
from bayesieve.models import Model
from bayesieve.posterior import ShuffledLabels
from bayesieve.screening.inputs import ScreenInput
from bayesieve.stats import split_blocks
from bayesieve.utils import BayesieveWarning, IntArray, OptionError, check_whole

Progress = Callable[[int, int], None]
Compare = Callable[[Model, ScreenInput], Any]

FEWEST, MOST = 20, 100
_WORK = 4e8  # values summed in all shuffles together, as far as there are more than the fewest
_TRIES = 50  # times as many draws as shuffles wanted, before all labellings are taken as found


def number_of_shuffles(shuffles: Any, n_samples: int, n_features: int) -> int:
    """Return how many shuffles are meant: by the size of the table for ``"auto"``, else as said."""
    if shuffles is None or shuffles is False:
        return 0
    if isinstance(shuffles, str):
        if shuffles != "auto":
            raise OptionError(f"shuffles is a whole number, 0 for none, or 'auto', not {shuffles!r}.")
        return int(min(max(_WORK / max(n_samples * n_features, 1), FEWEST), MOST))
    check_whole("shuffles", shuffles, 0)
    return int(shuffles)


@dataclass(frozen=True, slots=True, eq=False)
class Shufflable:
    """Samples whose labels can be dealt anew.

    Parameters
    ----------
    matrix
        Values and labels; of pairs, the differences within them, whose sign is shuffled.
    strata
        Batch of every sample (or pair); None without batches.
    n_pairs
        Number of pairs, 0 if samples are not paired.
    """

    matrix: LabelledMatrix
    strata: tuple[Any, ...] | None = None
    n_pairs: int = 0

    @property
    def scheme(self) -> str:
        """Among whom labels are shuffled."""
        return "pairs" if self.n_pairs else "batches" if self.strata is not None else "samples"

    def draw(self, n: int, seed: Any) -> tuple[list[IntArray], bool]:
        """Draw labellings (or signs of pairs) that differ from each other and from the true one."""
        rng = np.random.default_rng(seed)
        own = np.ones(self.n_pairs, np.int64) if self.n_pairs else self.matrix.labels.codes
        parts = self._strata()
        seen, found = {own.tobytes()}, []
        if self.n_pairs:
            seen.add((-own).tobytes())  # all signs turned: the same evidence
        n_ways = self._n_ways(parts)
        for _ in range(_TRIES * n):
            if len(found) >= min(n, n_ways):
                break
            codes = own.copy()
            for part in parts:
                codes[part] = rng.choice((-1, 1), part.size) if self.n_pairs else rng.permutation(own[part])
            key = codes.tobytes()
            if key not in seen:
                seen.add(key)
                if self.n_pairs:
                    seen.add((-codes).tobytes())
                found.append(codes)
        return found, len(found) >= n_ways

    def _strata(self) -> list[IntArray]:
        if self.strata is None:
            return [np.arange(self.matrix.n_samples)]
        names = list(dict.fromkeys(self.strata))
        codes = np.array([names.index(name) for name in self.strata])
        return [np.flatnonzero(codes == k) for k in range(len(names))]

    def _n_ways(self, parts: list[IntArray]) -> int:
        """How many labellings there are beside the true one, as far as that is a small number."""
        if self.n_pairs:
            return 2 ** min(self.n_pairs - 1, 40) - 1
        ways = 1
        for part in parts:
            counts = np.bincount(self.matrix.labels.codes[part]).tolist()
            left = sum(counts)
            for count in counts:
                ways *= math.comb(left, count)
                left -= count
            if ways > 2**40:
                break
        return ways - 1

    def relabelled(self, codes: IntArray, model: Model) -> ScreenInput:
        """Return the data of a screen under other labels."""
        if self.n_pairs:
            return self._flipped(codes, model)
        labels = Labels(self.matrix.labels.classes, codes)
        matrix = replace(self.matrix, labels=labels)
        counts = {None: labels.counts}
        if self.strata is None:
            whole = model.summarise(matrix, missing="omit")
            return ScreenInput(matrix, whole, matrix.feature_names, samples=counts)
        joint = in_blocks(matrix, list(self.strata))
        statistics, blocked = split_blocks(model.summarise(joint, missing="omit"), labels.classes)
        by_block = joint.labels.counts.reshape(len(blocked), len(labels.classes))
        samples = {**counts, **dict(zip(blocked, by_block, strict=True))}
        return ScreenInput(matrix, statistics, matrix.feature_names, blocked, samples)

    def _flipped(self, signs: IntArray, model: Model) -> ScreenInput:
        matrix = replace(self.matrix, values=np.asarray(self.matrix.values) * signs[:, None])
        joint = matrix if self.strata is None else in_blocks(matrix, list(self.strata))
        whole = model.summarise(joint, missing="omit")
        statistics, blocked = (whole, {}) if self.strata is None else split_blocks(whole, matrix.labels.classes)
        return ScreenInput(matrix, statistics, matrix.feature_names, blocked, n_pairs=self.n_pairs)


def shuffle_labels(
    samples: Shufflable,
    model: Model,
    compare: Compare,
    own: Any,
    prior_log_odds: Any,
    n_shuffles: int,
    seed: Any = 0,
    progress: Progress | None = None,
) -> ShuffledLabels | None:
    """Screen again under shuffled labels; None if there is no other way to deal them.

    Parameters
    ----------
    samples
        The samples.
    model
        The model as it was given: what it takes from the data it takes from every shuffle anew.
    compare
        Log Bayes factors of a model and some data, by the way of the screen.
    own, prior_log_odds
        Log Bayes factors with the true labels, and prior log-odds.
    n_shuffles, seed, progress
        How many, the seed of NumPy's generator, and a function called with the number done and their total.
    """
    labellings, complete = samples.draw(n_shuffles, seed)
    if not labellings:
        return None
    prior: Any = np.asarray(prior_log_odds)
    by_feature = bool(prior.ndim)
    quick, found = model.quick(), []
    for done, codes in enumerate(labellings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesieveWarning)
            values = compare(quick, samples.relabelled(codes, quick))
        found.append(values + prior if by_feature else values)
        if progress is not None:
            progress(done + 1, len(labellings))
    mine = own + prior if by_feature else own
    least = float(np.min(prior)) if by_feature else 0.0
    return ShuffledLabels.collect(
        mine, found, samples.scheme, complete=complete, by_feature=by_feature, least=least
    )
