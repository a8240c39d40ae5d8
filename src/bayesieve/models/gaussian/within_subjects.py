r"""Repeated measures: samples of a subject share a location of its own; classes are compared within subjects.

With subjects (and covariates) projected out of the indicators :math:`Y` of the classes and of a feature
:math:`x`, the
effects of the classes are compared as in :mod:`bayesieve.models.gaussian.slope_effects`; :math:`n - S - p`
degrees of
freedom are left of :math:`n` samples of :math:`S` subjects. Nothing wide is built: projecting a subject out is
taking
differences from its mean. Differences within subjects see means only, as pairs do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.data import Label
from bayesieve.models.evidences import Evidences, compare
from bayesieve.models.gaussian.slope_effects import group_effects
from bayesieve.models.patterns import Patterns
from bayesieve.utils import FloatArray, IntArray


def within(values: FloatArray, subjects: IntArray) -> FloatArray:
    """Differences of rows from the mean of their subject."""
    number = np.bincount(subjects).astype(np.float64)
    sums = np.zeros((number.size, values.shape[1]))
    np.add.at(sums, subjects, values)
    return np.asarray(values - (sums / number[:, None])[subjects])


@dataclass(frozen=True, slots=True, eq=False)
class WithinSubjects:
    """What samples of subjects say about classes.

    Parameters
    ----------
    classes
        The classes.
    products, scores
        Products of the indicators of the classes with each other and with the features, subjects and covariates
        projected out.
    squares
        Squares of the features, projected likewise.
    freedom
        Their degrees of freedom.
    """

    classes: tuple[Label, ...]
    products: FloatArray
    scores: FloatArray
    squares: FloatArray
    freedom: int

    @classmethod
    def of(
        cls, values: FloatArray, codes: IntArray, classes: tuple[Label, ...], subjects: IntArray, Z: FloatArray
    ) -> WithinSubjects:
        """Sum samples x features, all values there."""
        indicators = within((codes[:, None] == np.arange(len(classes))).astype(np.float64), subjects)
        centred = within(np.asarray(values, dtype=np.float64), subjects)
        flat = np.linalg.qr(within(Z, subjects))[0] if Z.shape[1] else np.empty((len(codes), 0))
        left = indicators - flat @ (flat.T @ indicators)
        explained = flat.T @ centred
        squares = np.maximum((centred**2).sum(axis=0) - (explained**2).sum(axis=0), 0.0)
        squares[squares <= 1e-13 * (centred**2).sum(axis=0)] = 0.0
        freedom = len(codes) - int(subjects.max()) - 1 - Z.shape[1]
        return cls(classes, left.T @ left, left.T @ centred, squares, freedom)

    def take(self, places: Any) -> WithinSubjects:
        """Some features."""
        return replace(self, scores=self.scores[:, places], squares=self.squares[places])


class SubjectEvidences(Evidences):
    """Bayes factors of patterns of classes within subjects, under a calibrated model whose constants are known."""

    __slots__ = ("_model", "_sums")

    def __init__(self, model: Any, sums: WithinSubjects) -> None:
        self._model, self._sums = model, sums

    def pattern(self, groups: Sequence[tuple[int, ...]]) -> FloatArray:
        """Log Bayes factor of groups of classes whose means differ."""
        sums, model = self._sums, self._model
        member = np.zeros((len(groups), len(sums.classes)))
        for k, group in enumerate(groups):
            member[k, list(group)] = 1.0
        dof, scale = model.variance_dof or 0.0, model.variance_scale or 0.0
        products = (member @ sums.products @ member.T)[..., None]
        half_dof = 0.5 * (sums.freedom + dof)
        found = group_effects(
            products, member @ sums.scores, sums.squares + dof * scale, half_dof, np.array(model.mean_sizes)
        )
        return np.where(sums.squares > 0, found, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class SubjectComparison:
    """Classes compared within subjects.

    Parameters
    ----------
    patterns, sums, model
        What was compared, the data, and the model, its constants known.
    """

    patterns: Patterns
    sums: WithinSubjects
    model: Any

    def log_bayes_factor(self) -> FloatArray:
        """Log Bayes factor of some difference."""
        return compare(SubjectEvidences(self.model, self.sums), self.patterns)

    @property
    def cost(self) -> int:
        """How much a draw would cost."""
        return 1

    def take(self, places: Any) -> SubjectComparison:
        """Some features."""
        return replace(self, sums=self.sums.take(places))

    def null_log_bayes_factor(self, rng: np.random.Generator) -> None:
        """Not drawn: residuals are dealt anew within subjects instead."""
        del rng
