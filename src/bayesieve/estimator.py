"""OBFSelector: the screen as a scikit-learn feature selector."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bayesieve.data import (
    aligned,
    annotated,
    as_frame,
    as_series,
    check_classes,
    check_frame,
    classes_in_order,
    is_annotated,
    is_frame,
    is_lazy,
    is_lazy_array,
    split_covariates,
)
from bayesieve.distributed import blocks_of
from bayesieve.models import Model
from bayesieve.posterior import FeaturePosterior, Fragility, kinds
from bayesieve.screening import check_model, fragility, refuse_design, screen
from bayesieve.selection import Rule, Selection, as_rule
from bayesieve.stats import Moments, as_moments, largest_counts
from bayesieve.utils import DataError, DataWarning, LabelError, OptionError, list_names, warn


class OBFSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select features whose distribution differs between classes.

    Parameters
    ----------
    model
        Likelihood and priors; :class:`bayesieve.CalibratedModel` when None, the paper's is
        ``GaussianModel.jeffreys(prior_ratio=0.1)``.
    patterns
        For more than two classes, in which ways they may differ; as in :func:`bayesieve.screen`.
    prior_probability
        Share of features believed to be markers beforehand, one probability per feature, or ``"estimate"``.
    rule
        A rule object such as ``FixedSize(100)``, or the paper's acronym with its numbers: ``"MNC"``, ``"NP:5"``.
    missing, informative_missing, degenerate, resolution, block_model, n_threads
        As in :func:`bayesieve.screen`.
    shuffles, seed
        How often :meth:`fit` repeats the screen with shuffled labels, which judge the list, and their seed; as in
        :func:`bayesieve.screen`. 0 saves their time where the list is judged otherwise, as in cross-validation.
    covariates
        What to compare the classes at equal values of: names of columns of ``X`` (of ``obs``, if it is an AnnData
        object; positions, if it is an array). They are no features: they are neither screened nor selected.
    kinds
        Also find out, for two classes, whether means, variances or both differ: ``kinds_``.
    fragility
        ``"report"``: also find out what leaving out any one sample would do: ``fragility_``.
        ``"select"``: select on the least log-odds over leaving any one sample out.
    shuffles
        How often to screen with shuffled labels, as in :func:`bayesieve.screen`; :meth:`partial_fit` keeps no
        samples whose labels it could shuffle.
    random_state
        Of the shuffles: a whole number, None for another result every time, or a generator of scikit-learn's kind.
    min_features
        Keep at least so many features, the strongest, even if the rule selects fewer, with a warning: a classifier
        behind the selector needs at least 1. ``selection_`` stays the list of the rule.
    difference
        What makes a marker: ``"any"`` difference, that of the ``"mean"`` or of the ``"variance"``; as in
        :func:`bayesieve.screen`.
    outcome
        Whether ``y`` is a number (dose, age) with which features may change, instead of classes; as in
        :func:`bayesieve.screen`.

    Attributes
    ----------
    posterior_ : FeaturePosterior
        Log-odds of every feature.
    selection_ : Selection
        The features picked, with expected errors; ``print(selector.selection_)`` tells the result.
    statistics_ : ClassStatistics
        The statistics of all data seen so far; ``moments_`` is the same for Gaussian data.
    kinds_, fragility_ : Kinds, Fragility
        Where asked for.
    support_ : ndarray
        Which features are kept.
    classes_ : ndarray
        The classes.
    scores_ : ndarray
        Log-odds that the rule saw: the posterior ones, or the least with ``fragility="select"``.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : ndarray
        Names of the features, where they were given as strings.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 500))
    >>> y = np.repeat(["control", "case"], 20)
    >>> X[20:, 3] += 3.0
    >>> bs.OBFSelector().fit(X, y).get_support(indices=True).tolist()
    [3]
    """

    def __init__(  # noqa: PLR0913 - all that can be said about a screen
        self,
        model: Model | None = None,
        *,
        patterns: Any = "any",
        prior_probability: npt.ArrayLike = 0.01,
        rule: Rule | str = "MNC",
        missing: str = "raise",
        informative_missing: bool = False,
        degenerate: str = "floor",
        resolution: npt.ArrayLike | None = None,
        block_model: str = "own",
        covariates: Any = None,
        kinds: bool = False,
        fragility: str | None = None,
        n_threads: int | None = None,
        shuffles: int | str | None = "auto",
        random_state: Any = 0,
        min_features: int = 0,
        difference: str = "any",
        outcome: bool = False,
    ) -> None:
        self.model = model
        self.patterns = patterns
        self.prior_probability = prior_probability
        self.rule = rule
        self.missing = missing
        self.informative_missing = informative_missing
        self.degenerate = degenerate
        self.resolution = resolution
        self.block_model = block_model
        self.covariates = covariates
        self.kinds = kinds
        self.fragility = fragility
        self.n_threads = n_threads
        self.shuffles = shuffles
        self.random_state = random_state
        self.min_features = min_features
        self.difference = difference
        self.outcome = outcome

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        blocks: Any = None,
        subject: Any = None,
        pairs: Any = None,
        exposures: Any = None,
        **others: Any,
    ) -> Self:
        """Screen the data and select features.

        Parameters
        ----------
        X, y
            Samples x features, and one class label per sample. Classes are sorted; ordered categoricals keep their
            order.
        blocks, subject, pairs, exposures
            One value per sample each; as in :func:`bayesieve.screen`.
        **others
            Nothing else is understood; ``sample_weight`` is refused with the reason.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> bs.OBFSelector(bs.GaussianModel.proper()).fit(X, [0, 0, 0, 1, 1, 1]).get_support().tolist()
        [True, False]
        """
        _refuse(others)
        said = {"blocks": blocks, "subject": subject, "pairs": pairs, "exposures": exposures}
        blocks, subject, pairs, exposures = (aligned(X, values, what) for what, values in said.items())
        X, given = split_covariates(X, self.covariates)
        X, y = self._validate_input(X, y, reset=True)
        for name in ("kinds_", "fragility_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        labels = {"outcome": y} if self.outcome else {"y": y, "classes": self._order}
        posterior = screen(
            X, **labels, **self._screen_options(), missing=self.missing, n_threads=self.n_threads, blocks=blocks,
            pairs=pairs, exposures=exposures, block_model=self.block_model, covariates=given, subject=subject,
            informative_missing=self.informative_missing, shuffles=self.shuffles, seed=self._seed(),
        )  # fmt: skip
        self._finish(posterior, lambda cut: self._fragility(X, y, posterior, cut, exposures))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add a batch of samples; the result equals :meth:`fit` on all of them, to rounding.

        Two exceptions, because the values are gone: labels are not shuffled, so that nothing shortens the list,
        and under a :class:`bayesieve.GaussianModel` a feature that is constant within a class stays at its prior,
        where :meth:`fit` would take a floor from the values. State ``resolution`` to have it judged.

        Parameters
        ----------
        X, y
            A batch; it may hold one class only.
        classes
            All classes, needed on the first call unless the batch shows them all.

        Returns
        -------
        OBFSelector
            Itself. Until every class has two samples, an improper prior allows no selection yet; the default needs
            a sample of every class.

        Examples
        --------
        >>> import bayesieve as bs
        >>> selector = bs.OBFSelector(bs.GaussianModel.proper())
        >>> selector = selector.partial_fit([[0.1], [-0.4], [0.3]], [0, 0, 0], classes=[0, 1])
        >>> selector = selector.partial_fit([[6.8], [7.7], [8.1]], [1, 1, 1])
        >>> selector.get_support().tolist()
        [True]
        """
        model, before = check_model(self.model), getattr(self, "statistics_", None)
        if self.fragility is not None or self.informative_missing or self.block_model != "own":
            raise OptionError(
                "partial_fit keeps no values: no fragility, informative_missing or block_model there."
            )
        if self.covariates is not None or self.outcome:
            raise OptionError(
                "Covariates and outcomes need all samples at once: call fit, not partial_fit.", kind="capability"
            )
        X, y = self._validate_input(X, y, reset=before is None)
        classes = None if classes is None else check_classes(classes)
        if before is not None and classes is not None and set(classes) != set(before.classes):
            raise LabelError(
                f"classes={list(classes)!r} differ from those of the first call, {list(before.classes)!r}. Leave "
                "classes out, or start again with a new selector."
            )
        known = classes if before is None else before.classes
        matrix = model.matrix(X, y, classes=known)
        if len(matrix.labels.classes) < 2:
            raise LabelError(
                f"The first batch shows the classes {list(matrix.labels.classes)!r}; at least two are needed. "
                "Name all of them with classes=[...] on the first call of partial_fit."
            )
        batch = model.summarise(matrix, missing=self.missing, n_threads=self.n_threads)
        merged = batch if before is None else before.merge(batch)
        sizes = largest_counts(merged)
        early = not model.supports("prior-ratio")
        if model.supports("effect-sizes"):
            early = min(sizes) > 0 and sum(sizes) > 2
        if min(sizes) >= 2 or early:
            self._finish(screen(merged, **self._screen_options()))
        self.classes_ = np.asarray(merged.classes)
        self.statistics_ = merged
        return self

    @property
    def moments_(self) -> Moments:
        """The statistics of all data seen so far, where they are moments."""
        check_is_fitted(self, "statistics_")
        moments = as_moments(self.statistics_)
        if moments is None:
            raise AttributeError("The model is not Gaussian; its statistics are in statistics_.")
        return moments

    def transform(self, X: Any) -> Any:
        """Return the values of the selected features.

        Parameters
        ----------
        X
            A table with the features that :meth:`fit` saw; of an AnnData object, its values are returned.

        Examples
        --------
        >>> import bayesieve as bs
        >>> X = [[0.1, 5.0], [-0.4, 4.1], [0.3, 5.2], [6.8, 4.7], [7.7, 4.4], [8.1, 4.6]]
        >>> selector = bs.OBFSelector(bs.GaussianModel.proper()).fit(X, [0, 0, 0, 1, 1, 1])
        >>> selector.transform([[3.0, 4.0]]).tolist()
        [[3.0]]
        """
        if is_lazy_array(X):
            return self._columns_of(X)
        X, given = _plain_table(X)
        self._check_given(given)
        if self.covariates is not None and given is None:
            X, _ = split_covariates(X, self.covariates)
        return super().transform(X)

    def _columns_of(self, X: Any) -> Any:
        """Return the selected features of a Dask or zarr array, or of a frame, without computing them."""
        check_is_fitted(self)
        if int(X.shape[1]) != self.n_features_in_:
            raise DataError(f"X has {X.shape[1]:,} features, but fit saw {self.n_features_in_:,}.")
        chosen = np.flatnonzero(self.get_support())
        if hasattr(X, "columns"):
            return X[[X.columns[j] for j in chosen.tolist()]]
        return (X if hasattr(X, "__dask_graph__") else blocks_of(X).array)[:, chosen]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the selected features, in the order of the columns.

        Parameters
        ----------
        input_features
            Names of all features; by default those of the frame seen in :meth:`fit`, else ``x0``, ``x1``, ...

        Examples
        --------
        >>> import polars as pl
        >>> import bayesieve as bs
        >>> X = pl.DataFrame({"gene": [0.1, -0.4, 0.3, 6.8, 7.7, 8.1], "age": [5.0, 4.1, 5.2, 4.7, 4.4, 4.6]})
        >>> selector = bs.OBFSelector(bs.GaussianModel.proper()).fit(X, [0, 0, 0, 1, 1, 1])
        >>> selector.get_feature_names_out().tolist()
        ['gene']
        """
        if input_features is None and not hasattr(self, "feature_names_in_"):
            input_features = getattr(self, "_names", None)  # frames that this scikit-learn cannot read names from
        names: npt.NDArray[np.object_] = super().get_feature_names_out(input_features)
        return names

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the rule, such as ``rule__n``.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.OBFSelector(rule=bs.FixedSize(20)).get_params()["rule__n"]
        20
        """
        found: dict[str, Any] = super().get_params(deep=deep)
        if deep and dataclasses.is_dataclass(self.rule) and not isinstance(self.rule, type):
            names = [each.name for each in dataclasses.fields(self.rule)]
            found |= {f"rule__{name}": getattr(self.rule, name) for name in names}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__n=50`` changes a number of the rule, as a grid search does.

        Examples
        --------
        >>> import bayesieve as bs
        >>> bs.OBFSelector(rule=bs.FixedSize(20)).set_params(rule__n=50).rule
        FixedSize(n=50)
        """
        inner = {name.removeprefix("rule__"): params.pop(name) for name in [*params] if name.startswith("rule__")}
        super().set_params(**params)
        if inner:
            rule: Any = as_rule(self.rule)
            known = [each.name for each in dataclasses.fields(rule)] if dataclasses.is_dataclass(rule) else []
            unknown = [name for name in inner if name not in known]
            if unknown:
                raise OptionError(
                    f"The rule {rule!r} has no parameter {unknown[0]!r}. It has: {list_names(known) or 'none'}."
                )
            self.rule = dataclasses.replace(rule, **inner)
        return self

    def _validate_input(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        as_rule(self.rule)
        y, self._order = aligned(X, y), None
        if is_lazy(X):
            return self._remember_lazy(X), y
        numeric = not check_model(self.model).supports("categories")
        X, given = _plain_table(X)
        if not reset:
            self._check_given(given)
        if numeric and is_frame(X):
            check_frame(X)  # scikit-learn would not name the column
        y = as_series(y)
        if y is not None and not (isinstance(y, np.ndarray) and y.dtype.kind != "O"):
            self._order = classes_in_order(y)  # before NumPy makes a missing label the text 'nan', and sorts
        names = (given or _string_columns(X)) if reset else getattr(self, "_names", None)
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse=("csr", "csc"), ensure_all_finite=False,
            dtype="numeric" if numeric else None,
            multi_output=True, ensure_min_samples=1,
        )  # fmt: skip
        y = column_or_1d(y, warn=True)
        if not self.outcome:
            check_classification_targets(y)
        self._names = names
        return X, y

    def _remember_lazy(self, X: Any) -> Any:
        """Take note of the features of a table in blocks, which scikit-learn would bring into memory."""
        refuse_design(fragility=self.fragility)
        named = X.var_names if is_annotated(X) else getattr(X, "columns", ())
        self._names, self.n_features_in_ = list(map(str, named)) or None, int(X.shape[1])
        return X

    def _check_given(self, given: list[str] | None) -> None:
        """Raise if an AnnData object has other features than the one that was fitted."""
        seen = getattr(self, "_names", None)
        if given is None or seen is None or given == seen:
            return
        if len(given) != len(seen):
            raise DataError(f"The AnnData object has {len(given):,} features, but fit saw {len(seen):,}.")
        theirs, ours = next((one, other) for one, other in zip(given, seen, strict=True) if one != other)
        raise DataError(
            f"The AnnData object has {theirs!r} where fit saw {ours!r}. Take the same features in the same order: "
            "adata[:, names]."
        )

    def _seed(self) -> int:
        """Return the seed of the shuffles."""
        state = self.random_state
        if isinstance(state, (int, np.integer)) and not isinstance(state, bool):
            return int(state)
        return int(check_random_state(state).randint(2**31 - 1))

    def _screen_options(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "patterns": self.patterns,
            "prior_probability": self.prior_probability,
            "degenerate": self.degenerate,
            "resolution": self.resolution,
            "feature_names": self._names,
            "difference": self.difference,
        }

    def _finish(self, posterior: FeaturePosterior, fragility: Callable[[float], Fragility] | None = None) -> None:
        if self.kinds:
            self.kinds_ = kinds(posterior)
            posterior = posterior.with_finding(self.kinds_)
        selection = as_rule(self.rule).select(posterior)
        if self.fragility is not None and fragility is not None:
            self.fragility_ = fragility(selection.cut)
            posterior = posterior.with_finding(self.fragility_)
            chosen = self.fragility_.posterior() if self.fragility == "select" else posterior
            selection = as_rule(self.rule).select(chosen)
        self.posterior_, self.selection_ = posterior, selection
        self.scores_ = selection.posterior.log_odds
        self.support_ = self._support(selection)
        self.statistics_ = posterior.statistics
        self.classes_ = np.asarray(posterior.classes)

    def _support(self, selection: Selection) -> npt.NDArray[np.bool_]:
        """Return the list, filled up with the next in rank where it is shorter than a pipeline needs."""
        mask = np.array(selection.mask, dtype=bool)
        if self.min_features < 0 or self.min_features != int(self.min_features):
            raise OptionError(f"min_features must be a whole number of at least 0, not {self.min_features!r}.")
        wanted = min(int(self.min_features), mask.size)
        n = int(mask.sum())
        if n < wanted:
            warn(
                DataWarning,
                f"The rule selects {n:,} of {mask.size:,} features; the {wanted:,} strongest are kept because "
                f"min_features={self.min_features}. Those beyond the list are no markers by this rule: see "
                "selection_.",
                kind="min-features",
            )
            mask[selection.posterior.ranking[:wanted]] = True
        return mask

    def _fragility(self, X: Any, y: Any, posterior: FeaturePosterior, cut: float, exposures: Any) -> Fragility:
        if self.fragility not in ("report", "select"):
            raise OptionError(f"fragility must be None, 'report' or 'select', not {self.fragility!r}.")
        return fragility(X, y, posterior=posterior, cut=cut, exposures=exposures, n_threads=self.n_threads)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self, "selection_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "omit"
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags


def _refuse(others: dict[str, Any]) -> None:
    """Raise if :meth:`OBFSelector.fit` is given something it has no use for."""
    if others.get("sample_weight") is not None:
        raise OptionError(
            "sample_weight is not taken: a screen compares distributions of whole samples, and its evidence "
            "counts them, so that weights would claim more or less evidence than there is. Leave samples out "
            "instead, or name batches with blocks=."
        )
    unknown = [name for name in others if name != "sample_weight"]
    if unknown:
        raise TypeError(f"OBFSelector.fit() got an unexpected keyword argument {unknown[0]!r}")


def _plain_table(X: Any) -> tuple[Any, list[str] | None]:
    """Return what scikit-learn understands, and the names of the features of an AnnData object."""
    if is_annotated(X):
        held = annotated(X)
        return held.values, list(held.feature_names)
    return as_frame(X), None


def _string_columns(X: Any) -> list[str] | None:
    """Column names of a frame, where all are strings: the rule of scikit-learn."""
    names = list(X.columns) if hasattr(X, "to_numpy") and hasattr(X, "columns") else []
    return names if names and all(isinstance(name, str) for name in names) else None
