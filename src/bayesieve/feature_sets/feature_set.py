"""FeatureSet: features under a posterior over sets, with the errors they are expected to hold (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.feature_sets.masks import set_sizes
from bayesieve.feature_sets.set_posterior import SetPosterior
from bayesieve.posterior import CountLaw
from bayesieve.posterior.error_analysis import ExpectedErrors, as_mask

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSet(ExpectedErrors):
    """Features picked by a criterion, or any others; nothing here takes features as independent.

    Expected numbers of errors, rates, ``risk`` (3.7) and ``regret`` are those of
    :class:`~bayesieve.ErrorAnalysis`.

    Parameters
    ----------
    posterior
        The probability of every set.
    mask
        True for the features of the set.
    rule
        The criterion in words.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.4, 0.0001, 0.3, 0.3]), 0.5)
    >>> chosen = posterior.select("MNC")
    >>> chosen.names, round(chosen.probability, 3), round(chosen.expected_false_positives, 3)
    (('x1',), 0.3, 0.4)
    """

    posterior: SetPosterior
    mask: BoolArray
    rule: str = "given"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mask", as_mask(self.posterior, self.mask))

    @classmethod
    def of(cls, posterior: SetPosterior, features: Any, rule: str = "given") -> FeatureSet:
        """Take features given as a mask, as positions or as names.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> from bayesieve.feature_sets.feature_set import FeatureSet
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.zeros(4), 0.5)
        >>> FeatureSet.of(posterior, ["x1"]).indices.tolist()
        [1]
        """
        return cls(posterior, as_mask(posterior, features), rule)

    @property
    def bits(self) -> int:
        """The set as a bit mask."""
        return int(self.mask @ 2 ** np.arange(self.mask.size))

    @property
    def indices(self) -> IntArray:
        """Positions of the features, in feature order."""
        return np.flatnonzero(self.mask)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in feature order."""
        names = self.posterior.names
        return tuple(names[f] for f in self.indices.tolist())

    @property
    def log_probability(self) -> float:
        r"""Log probability that the set is exactly the set of markers, :math:`\log p(G \mid S)`."""
        return float(self.posterior.set_log_probability[self.bits])

    @property
    def probability(self) -> float:
        """Probability that the set is exactly the set of markers."""
        return float(np.exp(self.log_probability))

    @property
    def false_positives(self) -> CountLaw:
        """Law of the number of non-markers in the set."""
        return self._law(~self._others & self.bits)

    @property
    def false_negatives(self) -> CountLaw:
        """Law of the number of markers left out."""
        return self._law(self._others & ~self.bits)

    @property
    def mislabelled(self) -> CountLaw:
        """Law of the number of wrong labels, false positives and false negatives together."""
        return self._law(self._others ^ self.bits)

    def summary(self) -> str:
        """Tell the result in a few lines of plain text.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
        >>> print(posterior.select("MAP").summary())
        2 of 2 features selected (the most probable set): x0, x1.
        They are exactly the markers with probability 0.4.
        False positives: 0.7 expected. Markers missed: 0 expected.
        """
        listed = f": {', '.join(self.names)}." if self.n_selected else "."
        exactly = "They are exactly the markers" if self.n_selected else "There is no marker"
        return "\n".join(
            [
                f"{self.n_selected} of {self.mask.size} features selected ({self.rule}){listed}",
                f"{exactly} with probability {self.probability:.3g}.",
                f"False positives: {self.expected_false_positives:.3g} expected. "
                f"Markers missed: {self.expected_false_negatives:.3g} expected.",
                *self.posterior.notes,
            ]
        )

    def __str__(self) -> str:
        return self.summary()

    @property
    def _others(self) -> IntArray:
        return np.arange(self.posterior.set_log_probability.size)

    def _law(self, wrong: IntArray) -> CountLaw:
        """Law of the number of bits in ``wrong``, which holds a mask for each true set."""
        return CountLaw.of_masses(np.bincount(set_sizes(self.mask.size)[wrong], self.posterior.set_probability))
