r"""The law of the difference between two means whose variances are unknown and may differ.

It is a mixture of Student laws, see :mod:`bayesieve.posterior.effects`: given
:math:`\pi \sim \mathrm{Beta}(\kappa_1/2, \kappa_0/2)`, and in units of
:math:`\sqrt{(a_0 + a_1)/K}` with :math:`a_y = s_y/\nu_y` and :math:`K = \kappa_0 + \kappa_1`, the
difference is t with K degrees of freedom and squared scale :math:`(1-c)/(1-\pi) + c/\pi`, where
:math:`c = a_1 / (a_0 + a_1)`.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_ONE_AT_A_TIME = threading.Lock()  # up to SciPy 1.11, quantiles of Student's t are not safe in threads

_DEPTH = 64.0  # nodes reach down to exp(-64) of the highest weight
_STEP = 0.35
_GROWTH = 1.2
_MOST_STEPS = 100
_NEAR = 1e-5  # after a step this small, what is left is of the order of its square


@dataclass(frozen=True, slots=True, eq=False)
class BehrensFisher:
    """The law of many differences at once, as weighted sums of Student laws.

    Parameters
    ----------
    dof
        K, shape ``(1, 1)`` or ``(n, 1)``.
    weights
        Weights of the nodes, adding up to 1: ``(1, n_nodes)`` or ``(n, n_nodes)``.
    scales
        Scale of the Student law at each node: ``(n, n_nodes)``.
    near_dof, near_scale
        One Student law that comes near, ``(n,)`` each: where the search for quantiles starts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.posterior.behrens_fisher import BehrensFisher
    >>> law = BehrensFisher.of(np.array([12.0]), np.array([12.0]), np.array([0.5]))
    >>> law.tail(np.array([0.0])).round(12).tolist()
    [0.5]
    """

    dof: FloatArray
    weights: FloatArray
    scales: FloatArray
    near_dof: FloatArray
    near_scale: FloatArray

    @classmethod
    def of(cls, dof0: FloatArray, dof1: FloatArray, share: FloatArray) -> BehrensFisher:
        r"""Choose the nodes for degrees of freedom :math:`\kappa_0, \kappa_1` and shares :math:`c`.

        Parameters
        ----------
        dof0, dof1
            One number each for all differences, or one per difference.
        share
            One per difference.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.behrens_fisher import BehrensFisher
        >>> BehrensFisher.of(np.array([40.0]), np.array([40.0]), np.array([0.2, 0.4])).dof.tolist()
        [[80.0]]
        """
        k0, k1, c = (np.asarray(value, dtype=np.float64)[:, None] for value in (dof0, dof1, share))
        middle = np.log(k1) - np.log(k0)
        step = np.minimum(_STEP, 0.7 * np.sqrt(2.0 / k0 + 2.0 / k1))
        left, right = (_reach(k0, k1, middle, side * step) for side in (-1.0, 1.0))
        n_nodes = int(np.ceil(((left + right) / step).max())) + 1
        logits = middle - left + (left + right) * np.linspace(0.0, 1.0, n_nodes)
        weights = np.exp(-_drop(k0, k1, middle, logits))
        weights /= weights.sum(axis=1, keepdims=True)
        return cls(k0 + k1, weights, _scale(c, logits), *_near(k0, k1, c, middle))

    def tail(self, x: FloatArray) -> FloatArray:
        """Probability of a difference that exceeds the centre by more than ``x``.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.behrens_fisher import BehrensFisher
        >>> law = BehrensFisher.of(np.array([1e6]), np.array([1e6]), np.array([0.5]))
        >>> law.tail(np.array([1.96 * np.sqrt(2.0)])).round(4).tolist()
        [0.025]
        """
        from scipy.special import stdtr  # noqa: PLC0415 - SciPy is slow to import

        return np.asarray((self.weights * stdtr(self.dof, -x[:, None] / self.scales)).sum(axis=1))

    def quantile(self, tail: float) -> FloatArray:
        """Distance from the centre that is exceeded with probability ``tail``, below one half.

        Newton's method on the logarithms of both, where heavy tails are straight lines.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve.posterior.behrens_fisher import BehrensFisher
        >>> law = BehrensFisher.of(np.array([1e6]), np.array([1e6]), np.array([0.5]))
        >>> (law.quantile(0.025) / np.sqrt(2.0)).round(4).tolist()
        [1.96]
        """
        from scipy.special import stdtrit  # noqa: PLC0415 - SciPy is slow to import

        with _ONE_AT_A_TIME:
            x = np.asarray(-stdtrit(self.near_dof, tail) * self.near_scale)
        law, rows = self, np.arange(x.size)
        for _ in range(_MOST_STEPS):
            now = x[rows]
            beyond = law.tail(now)
            move = np.clip(np.log(beyond / tail) * beyond / (now * law._density(now)), -1.0, 1.0)
            x[rows] = now * np.exp(move)
            far = np.abs(move) > _NEAR
            if not far.any():
                break
            law, rows = law._rows(far), rows[far]
        return x

    def _rows(self, which: npt.NDArray[np.bool_]) -> BehrensFisher:
        arrays = (self.dof, self.weights, self.scales, self.near_dof, self.near_scale)
        return BehrensFisher(*(array[which] if len(array) == which.size else array for array in arrays))

    def _density(self, x: FloatArray) -> FloatArray:
        from scipy.special import betaln  # noqa: PLC0415 - SciPy is slow to import

        k = self.dof
        z = x[:, None] / self.scales
        constant = -betaln(0.5 * k, 0.5) - 0.5 * np.log(k)
        density = np.exp(constant - 0.5 * (k + 1.0) * np.log1p(z * z / k)) / self.scales
        return np.asarray((self.weights * density).sum(axis=1))


def _near(k0: FloatArray, k1: FloatArray, c: FloatArray, middle: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Student law with the variance and the fourth moment of the difference, if it has them."""
    total = k0 + k1
    parts = [share * total / np.maximum(k - 2.0, 3.0) for share, k in ((1.0 - c, k0), (c, k1))]
    variance = parts[0] + parts[1]
    heaviness = parts[0] ** 2 / np.maximum(k0 - 4.0, 1.0) + parts[1] ** 2 / np.maximum(k1 - 4.0, 1.0)
    dof = 4.0 + variance**2 / heaviness
    plain = np.minimum(k0, k1) < 5.0  # no such moments
    scale = np.where(plain, _scale(c, middle), np.sqrt(variance * (dof - 2.0) / dof))
    return np.where(plain, total, dof)[:, 0], scale[:, 0]


def _scale(share: FloatArray, logits: FloatArray) -> FloatArray:
    return np.sqrt((1.0 - share) * (1.0 + np.exp(logits)) + share * (1.0 + np.exp(-logits)))


def _drop(k0: FloatArray, k1: FloatArray, middle: FloatArray, logits: FloatArray) -> FloatArray:
    """How far the log density of the logit lies below its highest value, at ``middle``."""
    moved = logits - middle
    rest = -np.logaddexp(0.0, middle)  # log(1 - pi) at the middle
    return 0.5 * (k0 + k1) * np.logaddexp(rest, rest + middle + moved) - 0.5 * k1 * moved


def _reach(k0: FloatArray, k1: FloatArray, middle: FloatArray, step: FloatArray) -> FloatArray:
    """How far from the middle, in the direction of ``step``, the log density has dropped by the depth."""
    reach = step
    for _ in range(math.ceil(math.log(1e6) / math.log(_GROWTH))):
        near = _drop(k0, k1, middle, middle + reach) < _DEPTH
        if not near.any():
            break
        reach = np.where(near, _GROWTH * reach, reach)
    return np.abs(reach)
