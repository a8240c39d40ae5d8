"""The solver of penalised regressions: adelie, loaded when it is needed and kept from changing the process."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.rivals.regression.links import null_intercept
from bayesieve.utils import BoolArray, FloatArray, MissingExtraError

_LOOSEST, _TIGHTEST = 1e-9, 1e-14  # of squares: KKT conditions hold to about the root
_SHARE = 0.01  # of the smallest penalty to which they have to hold


def solve(
    X: FloatArray, y: FloatArray, link: str, alpha: float, penalties: FloatArray, max_iterations: int
) -> tuple[Any, FloatArray, BoolArray]:
    """Minimise mean loss + penalty, from penalty to penalty.

    Parameters
    ----------
    X
        Samples x features in column order, each of mean 0.
    y
        0 and 1.
    link, alpha, max_iterations
        As in :class:`bayesieve.rivals.regression.path.Regression`.
    penalties
        Falling, each once, all small enough to let a feature in.

    Returns
    -------
    coefficients, intercepts, converged
        Penalties x features, sparse and without zeros that are stored; and one number each. Where the solver gave
        up, its last solution stands.
    """
    adelie = load_adelie()
    glm = adelie.glm.gaussian(y) if link == "linear" else adelie.glm.binomial(y, link=link)
    tolerance = max(min((_SHARE * float(penalties[-1])) ** 2, _LOOSEST), _TIGHTEST)
    state = adelie.grpnet(
        X,
        glm,
        alpha=alpha,
        lmda_path=penalties,
        tol=tolerance,
        irls_tol=tolerance,
        max_iters=max_iterations,
        irls_max_iters=max_iterations,
        early_exit=False,
        progress_bar=False,
        n_threads=1,
    )
    found = sparse.csr_array(state.betas)
    intercepts = np.array(state.intercepts, dtype=np.float64)
    n_found = _n_finite(found, intercepts)  # it stops at the first penalty at which it gives up
    null = sparse.csr_array((1, X.shape[1]))
    coefficients = sparse.csr_array(sparse.vstack([null, found[:n_found]], format="csr"))
    coefficients.eliminate_zeros()  # features that have been in the model for a while
    start = np.append(null_intercept(link, float(y.mean())), intercepts[:n_found])
    rows = np.minimum(np.arange(1, penalties.size + 1), n_found)
    return coefficients[rows], start[rows], np.arange(penalties.size) < n_found


def _n_finite(coefficients: Any, intercepts: FloatArray) -> int:
    """Number of solutions before the first that holds anything but numbers."""
    sums = np.asarray(abs(coefficients).sum(axis=1)).ravel() + np.abs(intercepts)
    odd = np.flatnonzero(~np.isfinite(sums))
    return int(odd[0]) if odd.size else int(sums.size)


@functools.cache
def load_adelie() -> Any:
    """Load adelie, or say how to get it.

    Loading it sets environment variables that tie a process and its children to one core, and gives the root logger
    a handler; both are undone.
    """
    with _unchanged_environment(), _unchanged_logging():
        os.environ.setdefault("OMP_PROC_BIND", "FALSE")
        try:
            import adelie  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: PLC0415 - optional and slow to import
        except ImportError as error:
            raise MissingExtraError(
                "Penalised regressions need adelie. Install it with: python -m pip install "
                '"bayesieve[regression]".'
            ) from error
    own = logging.getLogger("adelie")  # it reports a path that it gives up through the root logger
    own.addHandler(logging.NullHandler())
    own.propagate = False
    adelie.logger.logger = own
    return adelie


@contextlib.contextmanager
def _unchanged_environment() -> Iterator[None]:
    """Take back variables that are set meanwhile."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]


@contextlib.contextmanager
def _unchanged_logging() -> Iterator[None]:
    """Take back handlers of the root logger, and the level of matplotlib's, that are set meanwhile."""
    root, drawing = logging.getLogger(), logging.getLogger("matplotlib")
    handlers, level = list(root.handlers), drawing.level
    try:
        yield
    finally:
        drawing.setLevel(level)
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
