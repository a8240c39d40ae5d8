"""Glossary: the words of the page in plain English, each defined once."""

from __future__ import annotations

from collections.abc import Sequence

from bayesieve.report.data import ReportData, is_paired

Term = tuple[str, str, str]  # key, word, what it means

_ODDS: tuple[Term, ...] = (
    ("marker", "Marker", "A feature whose values are distributed differently in the classes."),
    ("probability", "Probability",
     "How probable it is that a feature is a marker, given its values, the model and the prior probability."),
    ("log-odds", "Log-odds",
     "Natural logarithm (base e) of probability / (1 - probability). 0 is even; 2.3 is 10 to 1, 4.6 is 100 to 1, "
     "6.9 is 1,000 to 1; negative numbers speak against a marker."),
    ("bayes-factor", "Bayes factor",
     "How many times better the values of a feature fit if the classes differ than if they do not. Its natural "
     "logarithm is added to the prior log-odds and gives the log-odds."),
    ("prior-probability", "Prior probability",
     "Share of all features believed to be markers before looking at the data."),
    ("local-fdr", "Local false-discovery rate",
     "1 - probability: the chance that just this feature is no marker."),
    ("least-prior", "Least prior probability",
     "The smallest prior probability with which the feature would still be listed under the present rule: the "
     "smaller, the less it needs to be believed in."),
)  # fmt: skip
_LIST: tuple[Term, ...] = (
    ("cut", "Cut", "The log-odds that a feature must pass to be in the list."),
    ("false-positives", "Expected false positives",
     "How many features of the list are expected to be no markers, on average."),
    ("interval", "90% interval", "The number lies in it with a probability of 90%."),
    ("expected-markers", "Expected markers", "The sum of the probabilities of the features."),
    ("missed", "Markers missed", "Features outside the list that are expected to be markers."),
    ("hit-rate", "Chance of a 90% hit rate",
     "How probable it is that at least nine in ten features of the list are markers."),
    ("fdr", "False-discovery rate", "Expected share of the list that is false."),
    ("fdp", "False-discovery proportion",
     "The share of the list that is false. It is not known; a rule can bound it with a certain probability."),
)  # fmt: skip
_RULES: tuple[Term, ...] = (
    ("mnc", "Maximum number correct (MNC)",
     "Lists every feature that is more probably a marker than not, which makes most calls right on average."),
    ("mr", "Minimal risk (MR)",
     "Lists every feature over a probability that follows from what a false positive and a missed marker cost."),
    ("cmnc", "Fixed size (CMNC)",
     "Lists as many of the most probable features as can be followed up: the most markers for that number."),
    ("np", "Bounded false positives (NP)",
     "Takes the longest list whose expected number of false positives is within a bound."),
    ("fdr-rule", "Bounded false-discovery rate (FDR)",
     "Takes the longest list whose expected share of false positives is within a bound."),
    ("fdp-rule", "Bounded false-discovery proportion (FDP)",
     "Takes the longest list whose share of false positives is within a bound with a certain probability."),
)  # fmt: skip
_SAMPLES: tuple[Term, ...] = (
    ("fragile", "Hangs on one sample",
     "A feature of the list that would fall below the cut if a certain sample were left out."),
    ("standardised", "Standard deviations from the mean",
     "A value minus the mean of its feature over all samples, divided by their standard deviation: features of "
     "different scales can be compared."),
    ("components", "Principal components",
     "Directions in which the samples differ most over the features shown; each with its share of the variance."),
)  # fmt: skip
_TWO_CLASSES: tuple[Term, ...] = (
    ("auc", "Area under the ROC curve",
     "How often a value of one class lies over a value of the other, by pairs of samples: 0.5 is chance, 1 no "
     "overlap."),
    ("p-value", "p-value (Welch's t, moderated t)",
     "How often a feature whose means are equal would show a difference at least as large, for Gaussian values. "
     "-log10 p of 3 is p = 0.001. p-values are of one feature, not corrected for their number, and see means "
     "only."),
)  # fmt: skip

_RATIO: Term = (
    "prior-ratio", "Prior ratio",
    "How heavily an improper prior weighs a difference between the classes against none. The data cannot "
    "tell it; a larger one lifts all log-odds alike and changes no rank.",
)  # fmt: skip
_SHUFFLES: Term = (
    "shuffles", "Shuffles of the labels",
    "The whole screen repeated with the classes dealt out at random: what it lists then is false by "
    "construction, so that it tells how many false positives to expect here.",
)  # fmt: skip
_NULL: Term = (
    "global-null", "Global null",
    "A world in which no feature differs between the classes. What the cut would let pass there is false by "
    "construction.",
)  # fmt: skip

SYNONYMS: dict[str, tuple[str, ...]] = {  # what others call the same, or nearly the same, by key
    "marker": ("differentially expressed gene", "good feature (the paper)", "non-null", "relevant feature"),
    "probability": ("posterior inclusion probability", "1 - local false discovery rate", "pi*(f) in the paper"),
    "log-odds": ("logit of the posterior probability", "B statistic (limma)", "log h(f) in the paper"),
    "bayes-factor": ("ratio of marginal likelihoods", "evidence ratio", "weight of evidence, as a logarithm"),
    "prior-probability": ("1 - pi0 (q-values)", "proportion of true alternatives", "pi(f) in the paper"),
    "local-fdr": ("lfdr", "posterior error probability (proteomics)", "posterior null probability"),
    "cut": ("threshold", "critical value"),
    "false-positives": ("expected number of false discoveries", "per-family error rate", "type I errors"),
    "interval": ("credible interval", "prediction interval"),
    "missed": ("false negatives", "type II errors"),
    "fdr": ("expected q-value of the list", "Bayesian FDR", "1 - precision, expected"),
    "fdp": ("FDP", "1 - precision"),
    "mnc": ("maximum a posteriori labels of single features", "0-1 loss"),
    "mr": ("Bayes rule under unequal losses", "cost-sensitive selection"),
    "cmnc": ("top k", "SelectKBest (scikit-learn)"),
    "np": ("per-family error control",),
    "fdr-rule": ("q-value threshold", "Benjamini-Hochberg has the same aim for p-values"),
    "fdp-rule": ("false discovery exceedance", "FDX"),
    "fragile": ("influential observation", "leave-one-out influence"),
    "standardised": ("z-score",),
    "components": ("PCA", "singular vectors"),
    "auc": ("AUROC", "c-statistic", "Mann-Whitney U divided by the number of pairs"),
    "p-value": ("limma's moderated t", "Welch's unequal variances t"),
    "shuffles": ("label permutation", "permutation null", "target-decoy (proteomics) has the same aim"),
    "global-null": ("complete null hypothesis",),
    "prior-ratio": ("L in the paper",),
    "expected-markers": ("expected number of true alternatives", "m1"),
    "hit-rate": ("probability of a precision of at least 90%",),
}  # fmt: skip


def all_terms() -> list[Term]:
    """Return every term that some page may use and that means the same on all of them."""
    return [*_ODDS, *_LIST, _SHUFFLES, _NULL, *_RULES, _RATIO, *_SAMPLES, *_TWO_CLASSES]


def glossary(report: ReportData) -> list[dict[str, str]]:
    """Return the terms that this page uses, as ``key``, ``word`` and ``meaning``."""
    found: list[Term] = [*_ODDS, *_effects(report), *_LIST, *_chance(report), *_RULES]
    if report.posterior.model.supports("prior-ratio"):
        found.append(_RATIO)
    if report.values is not None:
        found += _SAMPLES
    if len(report.posterior.classes) == 2 and not is_paired(report.posterior):
        found += _TWO_CLASSES if report.posterior.has_moments else _TWO_CLASSES[:1]
    return [{"key": key, "word": word, "meaning": meaning} for key, word, meaning in found]


def _chance(report: ReportData) -> Sequence[Term]:
    """How the number of false positives is judged."""
    return (_SHUFFLES,) if report.posterior.shuffled is not None else (_NULL,)


def _effects(report: ReportData) -> Sequence[Term]:
    """What the axes of the map are, and in which unit."""
    effect, posterior = report.effect, report.posterior
    if effect is None:
        return ()
    if effect.y is not None:
        return ((
            "effect", "Effect map",
            f"Across: {effect.x_title}; one unit is the typical spread of a feature within a class. Up: "
            f"{effect.y_title} (natural logarithm): 0 is equal spread, 0.7 twice the variance.",
        ),)  # fmt: skip
    unit = "; natural logarithm, 0.7 is twice the rate" if "log" in effect.x_title else ""
    unit = "; one unit is the typical spread of a feature" if posterior.has_moments else unit
    return ((
        "effect", "Volcano plot", f"Across: {effect.x_title}{unit}. Up: log-odds of being a marker.",
    ),)  # fmt: skip
