"""The same screen under shuffled labels: what it would list if the classes meant nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesieve.models import Model
from bayesieve.posterior import ShuffledLabels
from bayesieve.screening.inputs import ScreenInput, Shufflable
from bayesieve.utils import BayesieveWarning, OptionError, check_whole

Progress = Callable[[int, int], None]
Compare = Callable[[Model, ScreenInput], Any]

FEWEST, MOST = 20, 100
_WORK = 4e8  # values summed in all shuffles together, as far as there are more than the fewest


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
    least = float(np.min(prior, where=np.isfinite(prior), initial=np.inf)) if by_feature else 0.0
    return ShuffledLabels.collect(
        mine, found, samples.scheme, complete=complete, by_feature=by_feature, least=least
    )
