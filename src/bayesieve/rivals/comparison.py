"""compare_methods(): several methods on the same table, read once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import Label, LabelledMatrix
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.inputs import two_class_moments, two_class_values
from bayesieve.rivals.method_comparison import (
    MethodComparison,
    check_top,
    mean_z,
    variance_alone,
    variance_z,
)
from bayesieve.rivals.registry import rival
from bayesieve.screening import SummarisedTable
from bayesieve.stats import Moments
from bayesieve.utils import BayesieveError, DataError, DegenerateFeatureWarning, OptionError, warn

Progress = Callable[[int, int], None]
_PARTS = 1000  # of the progress of one method

DEFAULT_METHODS = ("obf", "obf-jp", "welch", "limma", "bd")


def compare_methods(
    X: Any,
    y: Any = None,
    methods: str | Sequence[str | Rival | FeatureScores] = DEFAULT_METHODS,
    *,
    top: int | Iterable[int] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "raise",
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> MethodComparison:
    """Rank the same features by several methods, and find out how far they agree.

    The table is reduced to moments once for all methods that use them, and its values are brought together
    once for all others.

    Parameters
    ----------
    X
        What :func:`bayesieve.score` takes. Ready :class:`bayesieve.Moments` serve methods that use moments.
    y, classes, feature_names, missing, n_threads
        As for :func:`bayesieve.score`.
    methods
        Names as :func:`bayesieve.score` takes them, also in one text with commas between;
        :class:`bayesieve.Rival`; or :class:`bayesieve.FeatureScores` of the same features that were found
        elsewhere.
    top
        Lengths of the lists to compare. By default those of 10, 50 and 100 that are at most half of the
        features.
    options
        Options by method: ``{"obf-jp": {"prior_ratio": 0.4}}``.
    progress
        Called with the work done and its total, of which every method is an equal part.

    Returns
    -------
    MethodComparison
        Scores and ranks side by side, and what the top lists share.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(60, 200))
    >>> X[30:, 0] += 3.0        # feature 0 differs in mean
    >>> X[30:, 1] *= 5.0        # feature 1 differs in variance
    >>> found = bs.compare_methods(X, ["control"] * 30 + ["case"] * 30, ["obf-jp", "welch"], top=2)
    >>> found.ranks[:, :2].tolist()
    [[1, 2], [1, 190]]
    >>> found.overlap(2).tolist()
    [[2, 1], [1, 2]]
    >>> found.only("obf-jp"), found.only("welch")
    (('x1',), ('x60',))
    """
    chosen = check_methods(methods)
    method_options = _check_options(options, chosen)
    data = _read(X, y, chosen, classes, feature_names, missing, n_threads)
    lengths = check_top(top, data.moments.n_features)
    _warn(data.moments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateFeatureWarning)  # every method would say it again
        found = _scores(chosen, method_options, data, progress)
    scores = {name: _fitting(name, found[name], data) for name in chosen}
    titles = {
        name: method.method.replace("_", " ") if isinstance(method, FeatureScores) else method.title
        for name, method in chosen.items()
    }
    alone = variance_alone(data.moments)
    alone.flags.writeable = False
    return MethodComparison(scores, titles, lengths, _differences(data.moments), alone, _counts(data.moments))


def check_methods(methods: Any) -> dict[str, Rival | FeatureScores]:
    """Return the methods by name, or say which are not known or asked for twice."""
    if isinstance(methods, (Rival, FeatureScores)):
        methods = [methods]
    asked = [part for part in re.split(r"[,;]", methods) if part.strip()] if isinstance(methods, str) else methods
    if not isinstance(asked, Iterable) or not (asked := list(asked)):
        raise OptionError("Name at least one method to compare, for example obf-jp,welch.")
    chosen: dict[str, Rival | FeatureScores] = {}
    for each in asked:
        method = each if isinstance(each, (Rival, FeatureScores)) else rival(each)
        name = method.method.replace("_", "-") if isinstance(method, FeatureScores) else method.name
        if name in chosen:
            raise OptionError(
                f"The method {name!r} is asked for twice. Leave one out; to compare options of a method, give "
                "each Rival a name of its own."
            )
        chosen[name] = method
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    """The data of a comparison, in the forms that its methods need."""

    moments: Moments
    matrix: LabelledMatrix | None
    names: tuple[str, ...] | None
    n_threads: int | None


def _read(
    X: Any,
    y: Any,
    chosen: Mapping[str, Any],
    classes: Any,
    feature_names: Any,
    missing: str,
    n_threads: int | None,
) -> _Data:
    """Reduce the table to moments, and bring its values together if a method needs them."""
    by_value = [name for name, method in chosen.items() if isinstance(method, Rival) and method.uses == "values"]
    if not by_value:
        who = next(iter(chosen))
        moments, names = two_class_moments(X, y, who, classes, feature_names, missing, n_threads)
        return _Data(moments, None, names, n_threads)
    matrix = two_class_values(X, y, by_value[0], classes, feature_names, missing)
    moments, names = two_class_moments(
        X if isinstance(X, SummarisedTable) else matrix, method=by_value[0], missing=missing, n_threads=n_threads
    )
    return _Data(moments, matrix, names, n_threads)


def _scores(
    chosen: Mapping[str, Rival | FeatureScores],
    method_options: Mapping[str, Mapping[str, Any]],
    data: _Data,
    progress: Progress | None,
) -> dict[str, FeatureScores]:
    """Run every method; those that look at sorted values share one sort."""
    found = _run_sorted(chosen, method_options, data)
    for place, (name, method) in enumerate(chosen.items()):
        if isinstance(method, FeatureScores):
            found[name] = method
        elif name not in found:
            try:
                told = _told(method, method_options.get(name, {}), place, len(chosen), progress)
                found[name] = _run(method, told, data)
            except BayesieveError as error:
                if name in str(error) or method.title in str(error):
                    raise
                raise type(error)(f"{method.title} ({name}): {error}") from None
        if progress is not None:
            progress(_PARTS * (place + 1), _PARTS * len(chosen))
    return found


def _told(
    method: Rival, options: Mapping[str, Any], place: int, n_methods: int, progress: Progress | None
) -> Mapping[str, Any]:
    """Options of a method, with a way to tell how far it has got if it has one."""
    if progress is None or "progress" not in method.options or "progress" in options:
        return options

    def tell(done: int, total: int) -> None:
        progress(_PARTS * place + _PARTS * done // max(total, 1), _PARTS * n_methods)

    return {**options, "progress": tell}


def _run_sorted(
    chosen: Mapping[str, Rival | FeatureScores], method_options: Mapping[str, Mapping[str, Any]], data: _Data
) -> dict[str, FeatureScores]:
    """Run the methods of the package that look at sorted values."""
    if data.matrix is None:
        return {}
    from bayesieve.rivals.sorted_values import SORTED_RIVALS, sorted_scores  # noqa: PLC0415 - compiles kernels

    shared = [name for name in SORTED_RIVALS if name in chosen and chosen[name] is rival(name)]
    return sorted_scores(data.matrix, shared, options=method_options, n_threads=data.n_threads) if shared else {}


def _run(method: Rival, options: Mapping[str, Any], data: _Data) -> FeatureScores:
    if method.uses == "moments":
        found = method.run(data.moments, **options)
    else:
        found = method.run(data.matrix, n_threads=data.n_threads, **options)
    if not isinstance(found, FeatureScores):
        raise OptionError(f"run of {method.name} must return FeatureScores, not {type(found).__name__}.")
    return found


def _fitting(name: str, scores: FeatureScores, data: _Data) -> FeatureScores:
    """Check that scores are of the features compared, and bring them into their order."""
    n_features = data.moments.n_features
    if scores.n_features != n_features:
        raise DataError(
            f"{name} scores {scores.n_features:,} features, but the table has {n_features:,}. Score all of them, "
            "NaN where there is nothing to say."
        )
    if scores.feature_names is None or data.names is None or scores.feature_names == data.names:
        return replace(scores, feature_names=data.names or scores.feature_names)
    place = {feature: i for i, feature in enumerate(scores.feature_names)}
    absent = [feature for feature in data.names if feature not in place]
    if absent:
        raise DataError(
            f"{name} has no score for {len(absent):,} of the {n_features:,} features, the first is {absent[0]!r}. "
            "Name the features as the table does."
        )
    return scores.take([place[feature] for feature in data.names])


def _check_options(
    options: Mapping[str, Mapping[str, Any]] | None, chosen: Mapping[str, Rival | FeatureScores]
) -> dict[str, Mapping[str, Any]]:
    """Options by the names under which methods are compared."""
    method_options: dict[str, Mapping[str, Any]] = {}
    for key, values in (options or {}).items():
        name = key if key in chosen else rival(key).name
        method = chosen.get(name)
        if not isinstance(method, Rival):
            raise OptionError(f"There are options for {key!r}, which is not among the methods to run.")
        method.check_options(*values)
        method_options[name] = values
    return method_options


def _differences(moments: Moments) -> dict[str, npt.NDArray[np.float64]]:
    """In what the classes differ, as columns."""
    described = moments.describe(["0", "1"])
    columns = {name: described[name] for name in ("mean_difference", "log_variance_ratio")}
    columns |= {"mean_z": mean_z(moments), "variance_z": variance_z(moments)}
    for column in columns.values():
        column.flags.writeable = False
    return columns


def _warn(moments: Moments) -> None:
    """Count the features in which a class does not vary, which every method treats in its own way."""
    few = np.broadcast_to(moments.counts < 2, moments.mean.shape).any(axis=0)
    flat = ~few & (moments.centred_squares == 0).any(axis=0)
    if not (few.any() or flat.any()):
        return
    numbers = {"does not vary in": int(flat.sum()), "has fewer than two values in": int(few.sum())}
    words = " and ".join(f"{what} {number:,}" for what, number in numbers.items() if number)
    warn(
        DegenerateFeatureWarning,
        f"Of {moments.n_features:,} features, a class {words}. Methods treat these in different ways, from the "
        "first rank to none: look at them before comparing lists.",
    )


def _counts(moments: Moments) -> dict[Any, int]:
    most = np.broadcast_to(moments.counts, moments.mean.shape).max(axis=1, initial=0)
    return dict(zip(moments.classes, most.tolist(), strict=True))
