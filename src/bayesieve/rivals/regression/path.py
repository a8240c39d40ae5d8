r"""Penalised regression of the class on all features, for many penalties (section 6; spec D).

.. math::

    \min_{b_0, b} \frac1n \sum_i \text{loss}(y_i, b_0 + x_i^T b)
    + \lambda \left[ \alpha \|b\|_1 + \frac{1 - \alpha}2 \|b\|_2^2 \right]

with features standardised (mean 0, population standard deviation 1) and the intercept not penalised. Features
whose coefficient is not 0 are selected. The solver starts at each penalty from the solution at the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.data import LabelledMatrix, is_sparse
from bayesieve.rivals.regression.links import LINKS, null_intercept, residual
from bayesieve.rivals.regression.penalties import LAMBDA_SCALES, penalties_of
from bayesieve.rivals.regression.solver import SOLVERS, solve
from bayesieve.utils import (
    BoolArray,
    DataError,
    DataWarning,
    FloatArray,
    IntArray,
    LabelError,
    OptionError,
    check_choice,
    check_whole,
    compiled,
    is_number,
    one_blas_thread,
    warn,
)

_FEWEST = 2  # samples of a class
_ROUNDING = 1.0 - 1e-12


@dataclass(frozen=True, slots=True)
class Regression:
    """What is fitted: link, kind of penalty and how penalties are meant.

    Parameters
    ----------
    link
        ``"linear"``, ``"logit"`` or ``"probit"``.
    alpha
        Share of the L1 norm in the penalty, above 0: 1 for the LASSO, 0.5 for the elastic net of the paper.
    lambda_scale
        ``"glmnet"``: the penalty stands beside the mean loss, as above. ``"deviance"``: it stands beside the mean
        deviance, which is twice the loss, as the documentation of MATLAB's ``lassoglm`` has it; a number then
        means half as much.
    standardise
        Divide features by their standard deviation, so that their units do not matter.
    max_iterations
        Rounds of coordinate descent at a penalty after which the solver gives up.
    solver
        ``"descent"``, our own, or ``"adelie"``, a package that has to be installed.
    """

    link: str = "logit"
    alpha: float = 1.0
    lambda_scale: str = "glmnet"
    standardise: bool = True
    max_iterations: int = 100_000
    solver: str = "descent"

    def __post_init__(self) -> None:
        check_choice("link", self.link, LINKS)
        check_choice("lambda_scale", self.lambda_scale, LAMBDA_SCALES)
        check_choice("solver", self.solver, SOLVERS)
        check_whole("max_iterations", self.max_iterations, 1)
        if not is_number(self.alpha) or not 0 < self.alpha <= 1:
            raise OptionError(
                f"alpha must be a number above 0 and at most 1, not {self.alpha!r}: 1 is the LASSO, 0.5 an "
                "elastic net; at 0 (ridge regression) every feature has a coefficient and none is selected."
            )
        if not isinstance(self.standardise, bool):
            raise OptionError(f"standardise must be True or False, not {self.standardise!r}.")

    @property
    def unit(self) -> float:
        """What a penalty of 1 is beside the mean loss."""
        return 1.0 if self.lambda_scale == "glmnet" else 0.5


@dataclass(frozen=True, slots=True, eq=False)
class RegressionPath:
    """Fitted regressions, one per penalty, in the order of the penalties asked for.

    Parameters
    ----------
    regression
        What was fitted.
    penalties
        Penalties, in the scale of ``regression``.
    coefficients
        Penalties x features, sparse: coefficients of the standardised features.
    intercepts
        Intercepts, for standardised features.
    converged
        False for penalties at which the solver gave up; their coefficients are those of the last penalty at which
        it did not.
    largest
        The smallest penalty that leaves no feature in the model.
    centre, scale
        Mean and standard deviation by which every feature was standardised.
    varies
        False for features with one value only, which are never selected.
    """

    regression: Regression
    penalties: FloatArray
    coefficients: Any
    intercepts: FloatArray
    converged: BoolArray
    largest: float
    centre: FloatArray
    scale: FloatArray
    varies: BoolArray

    @property
    def selected(self) -> BoolArray:
        """Penalties x features: True where the coefficient is not 0."""
        return np.asarray(self.coefficients.toarray() != 0.0)

    @property
    def n_selected(self) -> IntArray:
        """Number of features selected, by penalty."""
        return np.asarray(np.diff(self.coefficients.indptr), dtype=np.int64)

    def predictors(self, values: FloatArray) -> FloatArray:
        """Return the linear predictors of some samples: samples x penalties."""
        used = np.unique(self.coefficients.indices)
        standardised = (values[:, used] - self.centre[used]) / self.scale[used]
        return np.asarray(standardised @ self.coefficients[:, used].toarray().T + self.intercepts)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Standardised features of some samples, without those that do not vary.

    Parameters
    ----------
    X
        Samples x features that vary.
    y
        1 for samples of the second class, 0 for those of the first.
    centre, scale, varies
        As in :class:`RegressionPath`.
    """

    X: FloatArray
    y: FloatArray
    centre: FloatArray
    scale: FloatArray
    varies: BoolArray

    @classmethod
    def of(
        cls, values: FloatArray, y: FloatArray, rows: IntArray | None = None, *, standardise: bool = True
    ) -> Design:
        """Standardise the features of some samples (of all by default) of a table in column order."""
        rows = np.arange(values.shape[0]) if rows is None else rows
        centre, scale = np.empty(values.shape[1]), np.empty(values.shape[1])
        varies = np.empty(values.shape[1], dtype=np.bool_)
        _look(values, rows, centre, scale, varies)
        if not standardise:
            scale[:] = 1.0
        kept = np.flatnonzero(varies)
        X = np.empty((rows.size, kept.size), order="F")
        _standardise(values, rows, kept, centre, scale, X)
        return cls(X, y[rows], centre, scale, varies)

    def null_gradient(self, link: str) -> FloatArray:
        """Return how much the loss falls with every coefficient in the model without features."""
        eta = np.full(self.y.size, null_intercept(link, float(self.y.mean())))
        return np.asarray(residual(link, self.y, eta) @ self.X / self.y.size)

    def largest(self, regression: Regression) -> float:
        """Return the smallest penalty that leaves no feature in the model, in the scale of the regression."""
        most = np.abs(self.null_gradient(regression.link)).max(initial=0.0)
        return float(most / (regression.alpha * regression.unit))

    def spread(self, column: FloatArray, rest: float) -> FloatArray:
        """Put one number per feature that varies among all features."""
        whole = np.full(self.varies.size, rest)
        whole[self.varies] = column
        return whole


def columns_of(matrix: LabelledMatrix, method: str, fewest: int = _FEWEST) -> tuple[FloatArray, FloatArray]:
    """Return the values in column order and the classes as 0 and 1, or raise if they cannot be regressed.

    Parameters
    ----------
    matrix
        A table of two classes.
    method
        Who asks, for messages.
    fewest
        Samples that each class must have.
    """
    classes, sizes = matrix.labels.classes, matrix.labels.counts
    if len(classes) != 2:
        raise LabelError(f"{method} compares two classes, not {len(classes)}.")
    if sizes.min() < fewest:
        raise LabelError(
            f"{method} needs at least {fewest} samples of each class, but there are {sizes[0]} of class "
            f"{classes[0]!r} and {sizes[1]} of class {classes[1]!r}. Gather more, or choose a filter such "
            "as 'obf'."
        )
    dense = matrix.values.toarray() if is_sparse(matrix.values) else matrix.values
    values = np.asfortranarray(dense, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        odd = np.flatnonzero(~np.isfinite(values.sum(axis=0)))  # large values may be finite all the same
    odd = odd[~np.isfinite(values[:, odd]).all(axis=0)]
    if odd.size:
        absent = int((~np.isfinite(values[:, odd])).sum())
        raise DataError(
            f"{method} needs a value of every feature in every sample, but {absent} values in {odd.size} of "
            f"{values.shape[1]} features are missing or infinite, the first in feature "
            f"{_name(matrix, int(odd[0]))}. Fill them in, leave these features out, or choose a method that takes "
            "missing values, such as 'obf'."
        )
    return values, matrix.labels.codes.astype(np.float64)


def _name(matrix: LabelledMatrix, place: int) -> str:
    return repr(matrix.feature_names[place]) if matrix.feature_names else f"number {place}"


def regression_path(
    matrix: LabelledMatrix, penalties: Any = "paper", *, method: str = "The regression", **options: Any
) -> RegressionPath:
    """Fit a regression at several penalties.

    Parameters
    ----------
    matrix
        A table of two classes without missing values.
    penalties
        As :func:`bayesieve.rivals.regression.penalties.penalties_of` takes them, in any order, also twice.
    method
        Who asks, for messages.
    options
        Those of :class:`Regression`.
    """
    regression = Regression(**options)
    values, y = columns_of(matrix, method)
    with one_blas_thread():  # products are small: threads would wait for each other
        path = fit_path(Design.of(values, y, standardise=regression.standardise), regression, penalties)
    warn_unfinished(method, path.penalties, ~path.converged)
    return path


def warn_unfinished(method: str, penalties: FloatArray, unfinished: BoolArray) -> None:
    """Warn of penalties at which the solver gave up."""
    if unfinished.any():
        warn(
            DataWarning,
            f"{method}: the solver did not converge at {int(unfinished.sum())} of {unfinished.size} penalties, "
            f"from {penalties[unfinished].max():.3g} downwards. The coefficients given there are those of the "
            "last penalty at which it did. Choose larger penalties, or raise max_iterations.",
        )


def fit_path(design: Design, regression: Regression, penalties: Any) -> RegressionPath:
    """Fit a regression at several penalties, each once, on features that are standardised already."""
    largest = design.largest(regression)
    asked = np.array(penalties_of(penalties, design.y.size, largest))
    falling, place = np.unique(-asked, return_inverse=True)
    falling = -falling
    # Mirrored classes mirror the model: solving for the class of the first sample makes their order irrelevant.
    sign = -1.0 if design.y[0] == 1.0 else 1.0
    y = design.y if sign == 1.0 else 1.0 - design.y
    n_empty = int((falling >= largest * _ROUNDING).sum())
    coefficients = sparse.csr_array((n_empty, design.X.shape[1]))
    intercepts = np.full(n_empty, null_intercept(regression.link, float(y.mean())))
    converged = np.ones(n_empty, dtype=np.bool_)
    if n_empty < falling.size:
        found = solve(
            design.X,
            y,
            regression.link,
            regression.alpha,
            falling[n_empty:] * regression.unit,
            regression.max_iterations,
            regression.solver,
        )
        coefficients = sparse.csr_array(sparse.vstack([coefficients, found[0]], format="csr"))
        intercepts, converged = np.append(intercepts, found[1]), np.append(converged, found[2])
    if sign == -1.0:
        intercepts = 1.0 - intercepts if regression.link == "linear" else -intercepts
    whole = sparse.csr_array(
        (sign * coefficients.data, np.flatnonzero(design.varies)[coefficients.indices], coefficients.indptr),
        shape=(falling.size, design.varies.size),
    )
    return RegressionPath(
        regression,
        asked,
        whole[place],
        intercepts[place],
        converged[place],
        largest,
        design.centre,
        design.scale,
        design.varies,
    )


@compiled()
def _look(values: Any, rows: Any, centre: Any, scale: Any, varies: Any) -> None:
    """Mean and population standard deviation of every column over some rows, and whether it varies."""
    n = rows.size
    for j in range(values.shape[1]):
        least = most = values[rows[0], j]
        mean = 0.0
        for i in range(n):
            value = values[rows[i], j]
            mean += value / n
            least, most = min(least, value), max(most, value)
        centre[j], scale[j], varies[j] = mean, 1.0, least < most
        if least == most:
            centre[j] = least
            continue
        reach, shift, squares = max(most - mean, mean - least), 0.0, 0.0  # squares of large values overflow
        for i in range(n):
            gap = (values[rows[i], j] - mean) / reach
            shift += gap
            squares += gap * gap
        shift /= n
        centre[j] = mean + reach * shift
        scale[j] = reach * np.sqrt(squares / n - shift * shift)


@compiled()
def _standardise(values: Any, rows: Any, kept: Any, centre: Any, scale: Any, X: Any) -> None:
    """Bring some columns to mean 0 and the given scale."""
    for k in range(kept.size):
        j = kept[k]
        for i in range(rows.size):
            X[i, k] = (values[rows[i], j] - centre[j]) / scale[j]
