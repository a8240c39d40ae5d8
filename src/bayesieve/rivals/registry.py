"""Registry of rivals: other filters, found by name or file and run on the data a screen takes."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesieve.data import Label
from bayesieve.rivals.feature_scores import FeatureScores, Rival
from bayesieve.rivals.inputs import two_class_moments, two_class_values
from bayesieve.utils import BayesieveError, OptionError

_HOMES = {
    "obf": "obf:CALIBRATED",
    "obf-jp": "obf:JEFFREYS",
    "obf-pp": "obf:PROPER",
    "welch": "t_tests:WELCH",
    "student": "t_tests:STUDENT",
    "limma": "moderated_t:RIVAL",
    "bd": "bhattacharyya:RIVAL",
    "mi": "spacing_information:RIVAL",
    "mi-literal": "spacing_information:LITERAL",
    "nmc": "bolstered_error:RIVAL",
    "pearson-neyman": "pearson_neyman:RIVAL",
    "wilcoxon": "wilcoxon:RIVAL",
    "f-classif": "scikit:F_CLASSIF",
    "mutual-info": "scikit:MUTUAL_INFO",
    "lasso-linear": "regression.methods:LASSO_LINEAR",
    "lasso-logit": "regression.methods:LASSO_LOGIT",
    "lasso-probit": "regression.methods:LASSO_PROBIT",
    "elastic-net-linear": "regression.methods:ELASTIC_NET_LINEAR",
    "elastic-net-logit": "regression.methods:ELASTIC_NET_LOGIT",
    "elastic-net-probit": "regression.methods:ELASTIC_NET_PROBIT",
    "regressions": "regression.every:RIVAL",
    "stability": "regression.methods:STABILITY",
    "skbs": "skbs.skbs:RIVAL",
    "bpm": "mcmc.bpm:RIVAL",
    "bayesreg": "mcmc.bayesreg:ALL",
    "bayesreg-linear-l1": "mcmc.bayesreg:LINEAR_L1",
    "bayesreg-linear-hs": "mcmc.bayesreg:LINEAR_HS",
    "bayesreg-logit-l1": "mcmc.bayesreg:LOGIT_L1",
    "bayesreg-logit-hs": "mcmc.bayesreg:LOGIT_HS",
    "2mnc-robust": "pairs.sums:TWO_MNC_ROBUST",
    "pofac": "pairs.sums:POFAC",
    "remain": "pairs.remain:RIVAL",
    "spm": "pairs.spm:RIVAL",
}
_ALIASES = {
    "obf-calibrated": "obf",
    "calibrated": "obf",
    "t": "welch",
    "t-test": "welch",
    "moderated-t": "limma",
    "bhattacharyya": "bd",
    "mi-invariant": "mi",
    "pn": "pearson-neyman",
    "lasso": "lasso-logit",
    "elastic-net": "elastic-net-logit",
    "stability-selection": "stability",
    "2mnc": "2mnc-robust",
}
_own: dict[str, Rival] = {}


def rival_names() -> tuple[str, ...]:
    """Names of all rivals: those that come with the package, then those registered.

    Examples
    --------
    >>> from bayesieve.rivals.registry import rival_names
    >>> rival_names()[:4]
    ('obf', 'obf-jp', 'obf-pp', 'welch')
    """
    return (*_HOMES, *_own)


def rival(name: str) -> Rival:
    """Return the rival of a name, loading its file only.

    Parameters
    ----------
    name
        One of :func:`rival_names`, an alias such as ``"t"``, or where a rival of one's own is found:
        ``"package.module:RIVAL"`` or ``"path/to/file.py:RIVAL"``, of which the part from the colon may be left
        out. The module or file is executed, so it must be one you trust.

    Examples
    --------
    >>> from bayesieve.rivals.registry import rival
    >>> rival("limma").title, rival("t").name
    ('Moderated t', 'welch')
    """
    plain = str(name).strip()
    if ":" in plain or plain.endswith(".py"):
        return _find_at(plain)
    known = plain.lower().replace("_", "-")
    known = _ALIASES.get(known, known)
    if known in _own:
        return _own[known]
    if known not in _HOMES:
        raise OptionError(
            f"There is no method {name!r}. Methods are {', '.join(rival_names())}; one of your own is called by "
            "its place, for example my_rival.py:RIVAL."
        )
    return _load(f"bayesieve.rivals.{_HOMES[known]}")


def is_built_in(found: Rival) -> bool:
    """Whether a rival is one of the package, and not one of the user's own that goes by the same name."""
    return found.name in _HOMES and found is rival(found.name)


def register(rival: Rival) -> None:
    """Make a rival known by its name in this process.

    A name of the package cannot be taken; a rival of one's own is replaced by the next of the same name.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.rivals.registry import register, rival
    >>> def gap(moments):
    ...     return bs.FeatureScores("mean_gap", abs(moments.mean_difference))
    >>> register(bs.Rival("mean-gap", "Difference of means", "moments", gap))
    >>> rival("mean-gap").title
    'Difference of means'
    """
    if not isinstance(rival, Rival):
        raise OptionError(f"register takes a Rival, not {type(rival).__name__}.")
    if rival.name in _HOMES or rival.name in _ALIASES:
        raise OptionError(f"The package has a method called {rival.name!r}. Choose another name.")
    _own[rival.name] = rival


def score(
    X: Any,
    y: Any = None,
    *,
    method: str | Rival = "welch",
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "raise",
    n_threads: int | None = None,
    **options: Any,
) -> FeatureScores:
    """Score every feature by a rival method.

    Parameters
    ----------
    X
        What :func:`bayesieve.screen` takes, with two classes, or its result. Methods that use moments also take
        ready :class:`bayesieve.Moments`; the others need the values.
    y, classes, feature_names, n_threads
        As for :func:`bayesieve.screen`.
    method
        Name of the method: ``"obf"``, ``"obf-jp"``, ``"obf-pp"``, ``"welch"``, ``"student"``, ``"limma"``,
        ``"bd"``, ``"mi"``, ``"mi-literal"``, ``"nmc"``, ``"pearson-neyman"``, ``"wilcoxon"``, ``"f-classif"``,
        ``"mutual-info"``, ``"lasso-linear"``, ``"lasso-logit"``, ``"lasso-probit"``, ``"elastic-net-linear"``,
        ``"elastic-net-logit"``, ``"elastic-net-probit"``, ``"regressions"``, ``"stability"``, ``"skbs"``,
        ``"bpm"``, ``"bayesreg"``, ``"bayesreg-linear-l1"``, ``"bayesreg-linear-hs"``, ``"bayesreg-logit-l1"``,
        ``"bayesreg-logit-hs"``, ``"2mnc-robust"``, ``"pofac"``, ``"remain"`` or ``"spm"``; or a :class:`Rival`.
    missing
        ``"raise"``: NaN is an error. ``"omit"``: every feature uses the values it has.
    options
        Options of the method.

    Returns
    -------
    FeatureScores
        Scores, larger for stronger features, and log p-values where the method has them.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(40, 1000))
    >>> X[20:, 0] += 3.0        # feature 0 differs in mean
    >>> X[20:, 1] *= 5.0        # feature 1 differs in variance
    >>> y = ["control"] * 20 + ["case"] * 20
    >>> bs.score(X, y, method="welch").significant(0.05)
    ('x0',)
    >>> bs.score(X, y, method="bd").top(2)
    ('x0', 'x1')
    """
    chosen = method if isinstance(method, Rival) else rival(method)
    chosen.check_options(*options)
    if chosen.uses == "moments":
        moments, names = two_class_moments(X, y, chosen.name, classes, feature_names, missing, n_threads)
        scores = chosen.run(moments, **options)
    else:
        matrix = two_class_values(X, y, chosen.name, classes, feature_names, missing)
        scores, names = chosen.run(matrix, n_threads=n_threads, **options), matrix.feature_names
    if not isinstance(scores, FeatureScores):
        raise OptionError(f"{chosen.name} returned {type(scores).__name__}; a method returns FeatureScores.")
    return scores if scores.feature_names == names else replace(scores, feature_names=names)


def _find_at(place: str) -> Rival:
    """Return a rival of the user's own from ``module:ATTRIBUTE`` or ``file.py:ATTRIBUTE``."""
    home, _, attribute = place.rpartition(":") if not place.endswith(".py") else (place, "", "RIVAL")
    if not home.endswith(".py"):
        return _load(place)
    path = Path(home)
    if not path.is_file():
        raise OptionError(f"There is no file {home} with a method in it.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise OptionError(f"{home} cannot be loaded: {type(error).__name__}: {error}.") from error
    own = _check_rival(getattr(module, attribute, None), place)
    return replace(own, run=with_origin(own.run, own.name, home))


def _load(place: str) -> Rival:
    """Return the rival at ``module:ATTRIBUTE``."""
    home, _, attribute = place.partition(":")
    try:
        module = importlib.import_module(home)
    except ModuleNotFoundError as error:
        if error.name is None or not (home == error.name or home.startswith(f"{error.name}.")):
            raise
        raise OptionError(f"There is no module {home!r} with a method in it.") from None
    except (TypeError, ValueError):
        raise OptionError(f"{place!r} names no module. Write module:ATTRIBUTE or file.py:ATTRIBUTE.") from None
    return _check_rival(getattr(module, attribute, None), place)


def _check_rival(found: Any, place: str) -> Rival:
    if not isinstance(found, Rival):
        raise OptionError(f"{place} is not a Rival. Define one there: RIVAL = bs.Rival(name, title, uses, run).")
    return found


def with_origin(run: Callable[..., Any], name: str, home: str) -> Callable[..., Any]:
    """Let an error in a method of the user's own name its file."""

    @functools.wraps(run)
    def run_named(*arguments: Any, **options: Any) -> Any:
        try:
            return run(*arguments, **options)
        except BayesieveError:
            raise
        except Exception as error:
            raise OptionError(f"{name} of {home} failed: {type(error).__name__}: {error}.") from error

    return run_named
