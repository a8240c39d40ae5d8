"""screen_pairs(): the strongest pairs of features, what changed in them, and how many chance would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.data import Label, check_names, disambiguate, is_lazy
from bayesieve.posterior import Tabular
from bayesieve.rivals.inputs import two_class_values
from bayesieve.rivals.pairs.evidence import PairEvidence
from bayesieve.rivals.pairs.sweep import ORDERS, Progress, of_several, sweep, warn_left_out
from bayesieve.stats import Correlations, Scatter, ScatterCorrelations, ValueCorrelations
from bayesieve.utils import (
    DataError,
    FloatArray,
    Glimpse,
    Glimpsed,
    IntArray,
    OptionError,
    check_choice,
    check_whole,
    classes_in_words,
    numbers,
    option,
    plural,
    shorten,
)

_MANY, _VERY_MANY = 5e7, 5e8  # pairs from which on labels are shuffled less often
_CLEAR = 2.0  # standard errors
_MENTION = 1.0  # log evidence below which nothing is said to show together


@dataclass(frozen=True, slots=True, eq=False)
class PairNull:
    """What the same pass over all pairs gave with shuffled labels.

    Parameters
    ----------
    largest
        The largest score of any pair, by shuffle.
    counts
        Number of pairs at least as strong as each listed pair, shuffles x pairs.
    """

    largest: FloatArray
    counts: IntArray

    @property
    def n_shuffles(self) -> int:
        """Number of shuffles."""
        return int(self.largest.size)

    @property
    def expected(self) -> FloatArray:
        """Mean number of pairs as strong as each listed pair."""
        return np.asarray(self.counts.mean(axis=0))

    @property
    def n_reaching(self) -> IntArray:
        """Number of shuffles that have a pair as strong as each listed pair."""
        return np.asarray((self.counts > 0).sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairScreen(Glimpsed, Tabular):
    r"""The strongest of all pairs of features, the strongest first.

    Parameters
    ----------
    classes
        The two classes.
    names
        Names of all features.
    by
        What pairs are ordered by: ``"together"`` or ``"evidence"``.
    first, second
        The features of every pair, by position.
    evidence
        :math:`H_2`: the log Bayes factor of the pair, jointly Gaussian and different in the two classes against
        jointly Gaussian and the same.
    single
        :math:`H_1` of the first and of the second feature, each by itself, 2 x pairs.
    correlation
        In the first and in the second class, 2 x pairs.
    counts
        Number of samples of each class.
    n_pairs, n_left_out, n_collinear
        Pairs that were compared; features that are constant in a class and pairs that lie on a straight line in
        one, which Jeffreys' prior has no answer to.
    null
        What shuffled labels gave; None if they were not shuffled.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X, y = np.random.default_rng(0).normal(size=(80, 40)), np.repeat(["a", "b"], 40)
    >>> X[:, 1] = np.where(y == "a", 0.8, -0.8) * X[:, 0] + 0.6 * X[:, 1]
    >>> found = bs.screen_pairs(X, y, top=3)
    >>> found.pairs[0], found.kinds[0], float(found.by_chance[0])
    (('x0', 'x1'), 'reversed', 0.0)
    >>> found.to_polars()["partner"][0]
    'x1'
    """

    classes: tuple[Label, ...]
    names: tuple[str, ...]
    by: str
    first: IntArray
    second: IntArray
    evidence: FloatArray
    single: FloatArray
    correlation: FloatArray
    counts: tuple[int, int]
    n_pairs: int
    n_left_out: int = 0
    n_collinear: int = 0
    null: PairNull | None = None

    def _glimpse(self) -> Glimpse:
        """Return the strongest pairs."""
        title = f"PairScreen of {self.n_pairs:,} pairs of {len(self.names):,} features"
        named = [" and ".join(shorten(name, 11) for name in pair) for pair in self.pairs[:5]]
        lines = (f"classes {classes_in_words(self.classes, self.counts)}",)
        return Glimpse(title, lines, {"pair": named, "log Bayes factor": numbers(self.evidence[:5], ".2f")})

    @property
    def n_listed(self) -> int:
        """Number of pairs in the list."""
        return int(self.first.size)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Names of the features of every pair."""
        both = zip(self.first.tolist(), self.second.tolist(), strict=True)
        return tuple((self.names[i], self.names[j]) for i, j in both)

    @property
    def together(self) -> FloatArray:
        """Log evidence of the pair beyond that of both features by themselves: what only shows together."""
        return np.asarray(self.evidence - self.single.sum(axis=0))

    @property
    def score(self) -> FloatArray:
        """What the pairs are ordered by."""
        return self.evidence if self.by == "evidence" else self.together

    @property
    def fisher_z(self) -> FloatArray:
        """Difference of the correlations, second class minus first, in standard errors (Fisher's z)."""
        if min(self.counts) <= 3:
            return np.full(self.n_listed, np.nan)
        first, second = _z(self.correlation)
        return np.asarray((second - first) / np.sqrt(sum(1.0 / (n - 3.0) for n in self.counts)))

    @property
    def kinds(self) -> tuple[str, ...]:
        r"""What changed, in a word or three.

        ``"reversed"``: the correlation has changed its sign. ``"stronger in A"``: it is stronger in class A.
        ``"joint shift"``: means or variances differ in a direction that neither feature shows by itself. The
        change of correlation (the log likelihood ratio of two correlations against one) is at least half of what
        shows together in the first two cases, less than a quarter in the third; in between stands, for example,
        ``"reversed + shift"``. ``"margins"``: little or nothing shows together that the features do not show by
        themselves (a log evidence of at most 1). ``"unknown"``: a class has fewer than 4 samples.
        """
        labels, change = disambiguate(self.classes), self._change()
        error = _CLEAR / np.sqrt(np.maximum(np.array(self.counts) - 3.0, 1.0))
        told = []
        for k, together in enumerate(self.together.tolist()):
            r, s = self.correlation[:, k].tolist()
            flip = r * s < 0.0 and abs(r) > error[0] and abs(s) > error[1]
            if together <= _MENTION:
                told.append("margins")
            elif min(self.counts) <= 3:
                told.append("unknown")
            elif change[k] < 0.25 * together:
                told.append("joint shift")
            else:
                word = "reversed" if flip else f"stronger in {labels[int(abs(s) > abs(r))]}"
                told.append(word if change[k] >= 0.5 * together else f"{word} + shift")
        return tuple(told)

    def _change(self) -> FloatArray:
        """Log likelihood ratio of a correlation for each class against one for both, at the mean of Fisher's z."""
        n = np.array(self.counts, dtype=np.float64)[:, None]
        r = np.tanh(_z(self.correlation))
        common = np.tanh(np.average(_z(self.correlation), axis=0, weights=n[:, 0]))
        own = -0.5 * n * np.log1p(-r * r)
        shared = n * (0.5 * np.log1p(-common * common) - np.log1p(-common * r))
        return np.asarray((own - shared).sum(axis=0))

    @property
    def by_chance(self) -> FloatArray:
        """Number of pairs at least as strong that shuffled labels give on average; NaN without shuffles."""
        return np.full(self.n_listed, np.nan) if self.null is None else self.null.expected

    def to_dict(self) -> dict[str, Any]:
        """Table of the pairs as columns, the strongest first.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, y = np.random.default_rng(0).normal(size=(20, 5)), np.repeat(["a", "b"], 10)
        >>> list(bs.screen_pairs(X, y, shuffles=0).to_dict())[:4]
        ['rank', 'feature', 'partner', 'together']
        """
        labels, pairs = disambiguate(self.classes), self.pairs
        table: dict[str, Any] = {
            "rank": np.arange(1, self.n_listed + 1),
            "feature": [first for first, _ in pairs],
            "partner": [second for _, second in pairs],
            "together": self.together,
            "evidence": self.evidence,
            "log_bayes_factor": self.single[0],
            "partner_log_bayes_factor": self.single[1],
            f"correlation_{labels[0]}": self.correlation[0],
            f"correlation_{labels[1]}": self.correlation[1],
            "fisher_z": self.fisher_z,
            "kind": list(self.kinds),
        }
        if self.null is not None:
            table |= {"by_chance": self.null.expected, "shuffles_reaching": self.null.n_reaching}
        return table

    def summary(self) -> str:
        """Say in plain words what was found and what chance would give.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesieve as bs
        >>> X, y = np.random.default_rng(0).normal(size=(20, 5)), np.repeat(["a", "b"], 10)
        >>> print(bs.screen_pairs(X, y, shuffles=0).summary().splitlines()[0])
        10 pairs of 5 features were compared; the 10 strongest are listed, by what shows only together.
        """
        what = "what shows only together" if self.by == "together" else "the evidence of the pair"
        listed = f"the {self.n_listed:,} strongest are listed" if self.n_listed > 1 else "the strongest is listed"
        lines = [
            f"{plural(self.n_pairs, 'pair')} of {len(self.names):,} features were compared; {listed}, by {what}."
        ]
        if self.null is None:
            lines.append("Labels were not shuffled: how many such pairs chance would give is not known.")
        elif self.n_listed:
            lines += _chance(self.score, self.null)
        return "\n".join(lines)


def _z(correlation: FloatArray) -> FloatArray:
    return np.arctanh(np.clip(correlation, -1.0 + 1e-15, 1.0 - 1e-15))


def _chance(score: FloatArray, null: PairNull) -> list[str]:
    n, above = null.n_shuffles, int((score > null.largest.max()).sum())
    times = "once" if n == 1 else f"{n} times"
    lines = [
        f"By chance: labels were shuffled {times}, and the strongest pair of a shuffle scored "
        f"{np.median(null.largest):.1f} as a rule and {null.largest.max():.1f} at most; the strongest here has "
        f"{score[0]:.1f}."
    ]
    if above:
        them = "pair listed is" if above == 1 else "pairs listed are"
        lines.append(f"{above:,} {them} stronger than any in the shuffles.")
    else:
        lines.append("No pair listed is stronger than all in the shuffles: the list may be chance alone.")
    last = float(null.expected[-1])
    told = f"{last:,.1f}" if last < 100 else f"{last:,.0f}"
    lines.append(f"Of pairs as strong as the last of the {score.size:,} listed, chance would give {told}.")
    return lines


def screen_pairs(
    X: Any,
    y: Any = None,
    *,
    by: str = "together",
    top: int = 50,
    prior: Any = "jp",
    shuffles: int | str = "auto",
    seed: int = 0,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
    progress: Progress | None = None,
    n_threads: int | None = None,
) -> PairScreen:
    r"""Compare all pairs of features between two classes, and list the strongest.

    A feature whose distribution is the same in both classes may be a marker together with another: their
    correlation changes, or their means differ in a direction that neither shows by itself. Nothing is left out
    beforehand, and memory does not grow with the number of pairs.

    Parameters
    ----------
    X, y, classes, feature_names, n_threads
        As for :func:`bayesieve.screen`, with two classes and no missing values. ``X`` may also be a
        :class:`bayesieve.stats.Scatter`, for example merged from several sites; labels cannot be shuffled then.
    by
        ``"together"``: the evidence of the pair beyond that of both features by themselves. ``"evidence"``: all of
        it; a strong marker is then found with every partner.
    top
        Number of pairs to list.
    prior
        ``"jp"``, Jeffreys' prior with :math:`L = (2\pi)^{-1/2}`, ``"pp"``, the paper's proper prior, or a
        :class:`bayesieve.GaussianModel`.
    shuffles
        How often everything is repeated with shuffled labels, to see what chance gives; 0 for never. ``"auto"``:
        20 times, 10 times from about 10,000 features on and 5 times from about 30,000 on.
    seed
        Of the shuffles.
    progress
        Called with the number of pairs done and of all, shuffles included.

    Returns
    -------
    PairScreen
        The pairs, what changed in them, and how many as strong chance would give among all pairs.

    Notes
    -----
    The evidence is that of Gaussian features. Outliers and heavy tails make it far too large, which is why no pair
    is to be believed for its evidence alone: shuffled labels have the same outliers, and ``by_chance`` tells.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X, y = np.random.default_rng(0).normal(size=(80, 40)), np.repeat(["a", "b"], 40)
    >>> X[:, 1] = np.where(y == "a", 0.8, -0.8) * X[:, 0] + 0.6 * X[:, 1]
    >>> found = bs.screen_pairs(X, y)
    >>> found.pairs[0], found.correlation[:, 0].round(1).tolist()
    (('x0', 'x1'), [0.8, -0.8])
    >>> found.by_chance[:2].round(1).tolist()
    [0.0, 0.3]
    """
    check_choice("by", by, ORDERS)
    top, seed = check_whole("top", top, 1), check_whole("seed", seed)
    if is_lazy(X):
        raise DataError(
            "Pairs of features are compared by values that are all in memory, which a table in blocks never is. "
            "Hand over the features in question: X[:, chosen].compute().",
            kind="lazy-pairs",
        )
    source, names, labels = _source(X, y, classes, feature_names, n_threads)
    p = source.moments.n_features
    if p < 2:
        raise DataError("Pairs need at least two features, and there is one.")
    n_shuffles = _number(shuffles, p, source)
    evidence = PairEvidence.of(source.moments, prior)
    found = sweep(
        source, evidence, order=by, top=top, n_threads=n_threads, progress=of_several(progress, 0, 1 + n_shuffles)
    )
    warn_left_out(names, evidence, found.n_collinear)
    both = np.stack([found.first, found.second])
    single = evidence.single[both]
    null = None
    if n_shuffles:
        assert isinstance(source, ValueCorrelations)
        ladder = found.score[::-1]
        counts, largest = [], []
        for k, other in enumerate(source.shuffled(n_shuffles, seed, n_threads=n_threads)):
            chance = sweep(
                other, PairEvidence.of(other.moments, prior), order=by, ladder=ladder, n_threads=n_threads,
                progress=of_several(progress, 1 + k, 1 + n_shuffles),
            )  # fmt: skip
            counts.append(chance.reached[::-1])
            largest.append(chance.largest)
        null = PairNull(np.array(largest), np.array(counts))
    score = found.score if by == "evidence" else found.score + single.sum(axis=0)
    return PairScreen(
        labels, names or tuple(f"x{i}" for i in range(p)), by, found.first, found.second, score, single,
        np.clip(source.of_pairs(found.first, found.second), -1.0, 1.0), evidence.counts, found.n_pairs,
        int((~evidence.usable).sum()), found.n_collinear, null,
    )  # fmt: skip


def _source(
    X: Any, y: Any, classes: Any, feature_names: Any, n_threads: int | None
) -> tuple[Correlations, tuple[str, ...] | None, tuple[Label, ...]]:
    if isinstance(X, Scatter):
        if y is not None or classes is not None:
            raise OptionError("A Scatter already holds its classes; hand it over without y and classes.")
        return ScatterCorrelations(X), check_names(feature_names, X.n_features), X.classes
    matrix = two_class_values(X, y, "A screen of pairs", classes, feature_names, "omit")
    return ValueCorrelations.of(matrix, n_threads=n_threads), matrix.feature_names, matrix.labels.classes


def _number(shuffles: Any, p: int, source: Correlations) -> int:
    """How many shuffles are meant."""
    if isinstance(source, ScatterCorrelations):
        if shuffles not in ("auto", 0):
            raise OptionError("Scatter matrices hold no samples whose labels could be shuffled. Say shuffles=0.")
        return 0
    if isinstance(shuffles, str):
        if shuffles != "auto":
            raise OptionError(option("shuffles"), f" is a whole number, 0 for none, or 'auto', not {shuffles!r}.")
        n_pairs = p * (p - 1) / 2
        return 20 if n_pairs <= _MANY else 10 if n_pairs <= _VERY_MANY else 5
    return check_whole("shuffles", shuffles)
