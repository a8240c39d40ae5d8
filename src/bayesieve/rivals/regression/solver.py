"""Solvers of penalised regressions: our own, and adelie as a second opinion, loaded when it is asked for."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.rivals.regression.descent import descend
from bayesieve.rivals.regression.links import null_intercept
from bayesieve.utils import BoolArray, FloatArray, MissingExtraError, install_command

SOLVERS = ("descent", "adelie")
_LOOSEST = {"descent": 1e-14, "adelie": 1e-9}  # of squares: KKT conditions hold to about the root of it,
_SHARE = {"descent": 1e-4, "adelie": 1e-2}  # and to this share of the smallest penalty
_TIGHTEST = 1e-16


def solve(
    X: FloatArray,
    y: FloatArray,
    link: str,
    alpha: float,
    penalties: FloatArray,
    max_iterations: int,
    solver: str = "descent",
) -> tuple[Any, FloatArray, BoolArray]:
    """Minimise mean loss + penalty, from penalty to penalty.

    Parameters
    ----------
    X
        Samples x features in column order, each of mean 0.
    y
        0 and 1.
    link, alpha, max_iterations, solver
        As in :class:`bayesieve.rivals.regression.path.Regression`.
    penalties
        Falling, each once, all small enough to let a feature in.

    Returns
    -------
    coefficients, intercepts, converged
        Penalties x features, sparse and without zeros that are stored; and one number each. Where the solver gave
        up, its last solution stands.
    """
    tolerance = max(min((_SHARE[solver] * float(penalties[-1])) ** 2, _LOOSEST[solver]), _TIGHTEST)
    run = descend if solver == "descent" else _ask_adelie
    found, intercepts = run(X, y, link, alpha, penalties, tolerance, max_iterations)
    sums = np.asarray(abs(found).sum(axis=1)).ravel() + np.abs(intercepts)
    odd = np.flatnonzero(~np.isfinite(sums))  # nothing but numbers is a solution
    n_found = int(odd[0]) if odd.size else int(sums.size)
    null = sparse.csr_array((1, X.shape[1]))
    coefficients = sparse.csr_array(sparse.vstack([null, sparse.csr_array(found[:n_found])], format="csr"))
    coefficients.eliminate_zeros()  # adelie stores those of features that left the model
    start = np.append(null_intercept(link, float(y.mean())), intercepts[:n_found])
    rows = np.minimum(np.arange(1, penalties.size + 1), n_found)
    return coefficients[rows], start[rows], np.arange(penalties.size) < n_found


def _ask_adelie(
    X: FloatArray,
    y: FloatArray,
    link: str,
    alpha: float,
    penalties: FloatArray,
    tolerance: float,
    max_iterations: int,
) -> tuple[Any, FloatArray]:
    """Return the solutions of adelie, up to the first penalty at which it gives up."""
    adelie = load_adelie()
    state = adelie.grpnet(
        X,
        adelie.glm.gaussian(y) if link == "linear" else adelie.glm.binomial(y, link=link),
        alpha=alpha,
        lmda_path=penalties,
        tol=tolerance,
        irls_tol=tolerance,
        max_iters=max_iterations,
        irls_max_iters=max_iterations,
        early_exit=False,  # it would stop where much of the deviance is explained
        progress_bar=False,
        n_threads=1,
    )
    return sparse.csr_array(state.betas), np.array(state.intercepts, dtype=np.float64)


@functools.cache
def load_adelie() -> Any:
    """Load adelie, or say how to get it.

    Loading it sets environment variables that tie a process and its children to one core, and gives the root
    logger a handler; both are undone.
    """
    with _unchanged_environment(), _unchanged_logging():
        os.environ.setdefault("OMP_PROC_BIND", "FALSE")
        try:
            import adelie  # noqa: PLC0415 - optional and slow to import
        except ImportError as error:
            raise MissingExtraError(
                f'The solver "adelie" is not installed. Install it with: {install_command("regression")}; or use '
                'our own, solver="descent".'
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
