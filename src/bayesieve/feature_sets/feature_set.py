"""FeatureSet: features under a posterior over sets, with the errors they are expected to hold (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bayesieve.feature_sets.masks import set_sizes
from bayesieve.feature_sets.set_posterior import SetPosterior
from bayesieve.posterior import CountLaw, FeaturePosterior, Loss
from bayesieve.posterior.error_analysis import as_mask
from bayesieve.posterior.logistic import expit

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSet:
    """Features picked by a criterion, or any others; nothing here takes features as independent.

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

    @classmethod
    def of(cls, posterior: SetPosterior, features: Any, rule: str = "given") -> FeatureSet:
        """Take features given as a mask, as positions or as names.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> from bayesieve.feature_sets.feature_set import FeatureSet
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.zeros(4), 0.5)
        >>> FeatureSet.of(posterior, ["x1"]).size
        1
        """
        return cls(posterior, as_mask(cast("FeaturePosterior", posterior), features), rule)

    @property
    def bits(self) -> int:
        """The set as a bit mask."""
        return int(self.mask @ 2 ** np.arange(self.mask.size))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in feature order."""
        names = self.posterior.names
        return tuple(names[f] for f in np.flatnonzero(self.mask).tolist())

    @property
    def size(self) -> int:
        """Number of features in the set."""
        return int(self.mask.sum())

    @property
    def log_probability(self) -> float:
        r"""Log probability that the set is exactly the set of markers, :math:`\log p(G \mid S)`."""
        return float(self.posterior.log_probability[self.bits])

    @property
    def probability(self) -> float:
        """Probability that the set is exactly the set of markers."""
        return float(np.exp(self.log_probability))

    @property
    def expected_true_positives(self) -> float:
        """Expected number of markers in the set, equation (3.5)."""
        return float(expit(self.posterior.log_odds)[self.mask].sum())

    @property
    def expected_false_positives(self) -> float:
        """Expected number of non-markers in the set, equation (3.6)."""
        return float(expit(-self.posterior.log_odds)[self.mask].sum())

    @property
    def expected_false_negatives(self) -> float:
        """Expected number of markers left out."""
        return float(expit(self.posterior.log_odds)[~self.mask].sum())

    @property
    def expected_true_negatives(self) -> float:
        """Expected number of non-markers left out."""
        return float(expit(-self.posterior.log_odds)[~self.mask].sum())

    @property
    def expected_mislabelled(self) -> float:
        """Expected number of wrong labels, false positives and false negatives together."""
        return self.expected_false_positives + self.expected_false_negatives

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

    def risk(self, loss: Loss | None = None) -> float:
        """Return the expected loss, equation (3.7); by default the expected number of wrong labels.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> posterior = bs.SetPosterior.of_log_likelihood(np.log([0.1, 0.2, 0.3, 0.4]), 0.5)
        >>> round(posterior.select("MAP").risk(bs.Loss(false_positive=2.0)), 6)
        1.4
        """
        loss = loss or Loss()
        return (
            loss.true_positive * self.expected_true_positives
            + loss.false_positive * self.expected_false_positives
            + loss.false_negative * self.expected_false_negatives
            + loss.true_negative * self.expected_true_negatives
        )

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
        listed = f": {', '.join(self.names)}." if self.size else "."
        return "\n".join(
            [
                f"{self.size} of {self.mask.size} features selected ({self.rule}){listed}",
                f"They are exactly the markers with probability {self.probability:.3g}.",
                f"False positives: {self.expected_false_positives:.3g} expected. "
                f"Markers missed: {self.expected_false_negatives:.3g} expected.",
                *self.posterior.notes,
            ]
        )

    def __str__(self) -> str:
        return self.summary()

    @property
    def _others(self) -> npt.NDArray[np.int64]:
        return np.arange(self.posterior.log_probability.size)

    def _law(self, wrong: npt.NDArray[np.int64]) -> CountLaw:
        """Law of the number of bits in ``wrong``, which holds a mask for each true set."""
        return CountLaw.of_masses(np.bincount(set_sizes(self.mask.size)[wrong], self.posterior.probability))
