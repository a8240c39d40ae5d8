"""What the evidence of a screen is, in plain words and with the numbers that were used."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.models import PAIR_CONSTANT, EffectShift, GaussianModel, ShiftComparison, jeffreys_constant
from bayesieve.report.controls import ratio_state
from bayesieve.report.data import ReportData, is_paired, trend_title
from bayesieve.report.sentences import describe_model, describe_ratio
from bayesieve.stats import as_moments


def method_part(heading: str, *paragraphs: str, formula: str = "") -> dict[str, Any]:
    """One part of the method."""
    return {"heading": heading, "paragraphs": list(paragraphs), "formula": formula}


def describe_evidence(report: ReportData) -> dict[str, Any]:
    """Say what a Bayes factor compares under the model of a screen."""
    model: Any = report.posterior.model
    if trend_title(report.posterior):
        return _trend(model)
    if model.supports("effect-sizes"):
        return _calibrated(report, model)
    if is_paired(report.posterior):
        return method_part(
            "Evidence",
            "Differences within pairs are Gaussian; a marker has any mean difference, any other feature the "
            f"mean 0; the variance is not known. B = {PAIR_CONSTANT:.4f} is the constant of the further mean.",
            formula="BF = B sqrt(2 pi / n) (sum of d^2 / sum of (d - mean)^2)^(n/2)",
        )
    if not model.supports("moments"):
        return method_part(
            "Evidence",
            f"The model is {describe_model(report)}. Its parameters are integrated out: a marker has its own in "
            "every class (or group of classes), any other feature the same in all.",
            formula="BF = product over classes of p(values of the class) / p(all values)",
        )
    return _gaussian(report, model)


def _trend(model: Any) -> dict[str, Any]:
    sizes = ", ".join(f"{size:.3g}" for size in model.mean_sizes or ())
    return method_part(
        "Evidence",
        "Values are Gaussian about a line along the outcome t, given covariates if there are any. Location, "
        "slopes on covariates and the variance have flat priors under both hypotheses; the slope d of a marker "
        "has a prior in units of the standard deviation, with t in units of two of its own: Gaussian with a "
        f"standard deviation of {sizes}, equally probable. Variances are moderated by those of all features. "
        "Where samples share the values of the outcome, variances that rise or fall along them are compared in "
        "the same way, as far as the kurtosis of the values allows.",
        formula="BF = mean over sizes s of "
        "(1 + N s^2)^(-1/2) [(1 + b) / (1 + b / (1 + N s^2))]^((n - 1 - p + d0)/2)\n"
        "b = N d^2 / (d0 s0^2 + W),   N: squares of t given p covariates,   W: squares about the line",
    )


_FLAT = (
    "Values are Gaussian. What the classes share has flat priors under both hypotheses; means are free under both."
)
_ALONE = {
    "mean": "Only the means make a marker. With probability v = {weight:.3g} the variances differ under both "
    "hypotheses: the log ratio t of variances is Gaussian with a standard deviation of {ratios}, equally "
    "probable, and is integrated out, weighed by what the squares within classes say of it. Mean differences are "
    "in units of the root of the mean variance.",
    "variance": "Only the variances make a marker: the log ratio t of variances is Gaussian with a standard "
    "deviation of {ratios}, equally probable. Evidence from variances counts as far as the kurtosis of the values "
    "allows, so that heavy tails are not taken for a difference.",
}
_FORMULAS = {
    "mean": "BF = [(1 - v) p1(0) + v integral of p1(t) p(t) dt] / [(1 - v) p0(0) + v integral of p0(t) p(t) dt]\n"
    "p0(t): of equal means given t,   p1(t): of means that differ given t",
    "variance": "BF = integral of p(S0, S1 given t) / p(S0, S1 given 0) p(t) dt,   S0, S1: squares within classes",
}
_OF_KINDS = {
    "mean": "BF = (E_mean + E_both) / (E_same + E_variance),   constants: 4 L of a further mean, 1/4 of a "
    "further variance",
    "variance": "BF = (E_variance + E_both) / (E_same + E_mean),   constants: sqrt(2 pi) L of a further variance, "
    "1 / sqrt(2 pi) of a mean",
}


def _calibrated(report: ReportData, model: Any) -> dict[str, Any]:
    """The calibrated prior, with the numbers that it took from the data."""
    sizes, ratios = (
        ", ".join(f"{size:.3g}" for size in grid or ()) for grid in (model.mean_sizes, model.ratio_sizes)
    )
    dof, scale = model.variance_dof or 0.0, model.variance_scale or 0.0
    paired = is_paired(report.posterior)
    paragraphs = [
        "Values are Gaussian. What the classes share has flat priors under both hypotheses; a difference has a "
        "proper prior in units that the data set, so that there is no scale to choose. "
        + ("The mean difference within pairs" if paired else "A difference of means d")
        + f" is Gaussian, with standard deviation tau times that of the values; tau is one of {sizes}, equally "
        f"probable. Variances are moderated by those of all features (d0 = {dof:.3g} degrees of freedom, "
        f"s0^2 = {scale:.3g}).",
    ]
    formula = (
        "log BF_mean = -1/2 log(1 + N tau^2) + (n - 1 + d0)/2 [log(1 + b) - log(1 + b / (1 + N tau^2))]\n"
        "b = N d^2 / (d0 s0^2 + W),   N = n0 n1 / n,   W: squares within classes"
    )
    if paired:
        formula = formula.replace(
            "N = n0 n1 / n,   W: squares within classes", "N = n,   W: squares of differences"
        )
        formula = formula.replace("(n - 1 + d0)/2", "(n + d0)/2")
    elif model.difference != "any":
        paragraphs[0] = paragraphs[0] if model.difference == "mean" else _FLAT
        paragraphs.append(_ALONE[model.difference].format(weight=model.variance_weight or 0.0, ratios=ratios))
        formula = _FORMULAS[model.difference]
    elif model.variance_weight:
        paragraphs.append(
            f"With probability w = {model.variance_weight:.3g} the variances differ, and of these in a share u = "
            f"{model.both_share or 0.0:.3g} the means as well: the log ratio of variances is Gaussian with "
            f"a standard deviation of {ratios}, equally probable. Evidence from variances counts as far as the "
            "kurtosis of the values allows, so that heavy tails are not taken for a difference."
        )
        formula = f"BF = (1 - w) BF_mean + w (1 - u) BF_variance + w u BF_mean BF_variance\n{formula}"
    else:
        paragraphs.append("Variances are not compared.")
    if len(report.posterior.classes) > 2:
        paragraphs.append("All patterns of equal and different classes that were asked for are averaged.")
        formula = ""
    if report.posterior.adjustment is not None:
        paragraphs.append(report.say(report.posterior.adjustment.notes()[0]))
        formula = ""
    if report.posterior.block_evidence is not None:
        paragraphs.append(report.say(report.posterior.block_evidence.notes()[0]))
        formula = "" if _is_shift(report) else "log BF = sum over blocks of the block's own log BF"
    if not report.posterior.calibrated:
        paragraphs.append("The log Bayes factor given is the least over leaving any one sample out.")
        formula = ""
    return method_part("Evidence", *paragraphs, formula=formula)


def _gaussian(report: ReportData, model: GaussianModel) -> dict[str, Any]:
    text = (
        f"Values are Gaussian with unknown mean and variance ({describe_model(report)}). They are integrated out: "
        f"a marker {_has(report)} (section 2.3, equations 2.16 to 2.18)."
    )
    group = "p(group) ~ Gamma(kappa*/2) (2/s*)^(kappa*/2) nu*^(-1/2)"
    formula = f"BF = L p(class 0) p(class 1) / p(all values),   {group}"
    paragraphs = [text, *_hyper_parameters(report, model)]
    if model.difference != "any":
        formula = _OF_KINDS[model.difference]
    elif len(report.posterior.classes) > 2:
        formula = f"BF = mean over patterns of L^(groups - 1) product of p(group) / p(all values),   {group}"
        paragraphs.append(
            "Of more than two classes all patterns of equal and different classes that were asked for are "
            "compared with no difference, and their evidences averaged."
        )
    elif model.is_jeffreys and report.posterior.block_evidence is None:
        formula = "log BF = log L + K - log lambda,   lambda: likelihood ratio of Pearson and Neyman"
        formula += _constant(report)
    if report.posterior.adjustment is not None:
        paragraphs.append(report.say(report.posterior.adjustment.notes()[0]))
        formula = ""
    if report.posterior.block_evidence is not None:
        paragraphs.append(report.say(report.posterior.block_evidence.notes()[0]))
        formula = "" if _is_shift(report) else "log BF = sum over blocks of the block's own log BF"
    if not report.posterior.calibrated:
        paragraphs.append("The log Bayes factor given is the least over leaving any one sample out.")
        formula = f"least over samples of [{formula.splitlines()[0]}]" if formula else ""
    return method_part("Evidence", *paragraphs, formula=formula)


def _is_shift(report: ReportData) -> bool:
    return isinstance(report.posterior.comparison, ShiftComparison | EffectShift)


def _has(report: ReportData) -> str:
    """What a marker has of its own."""
    if _is_shift(report):
        return (
            "has a shift between the classes and a variance in every class that all blocks share, besides a "
            "location of every block; any other feature has no shift and one variance"
        )
    difference = report.posterior.model.difference
    if difference != "any":
        other = "variances" if difference == "mean" else "means"
        return f"has its own {difference} in every class, any other feature the same; {other} may differ or not"
    within = " within every block" if report.posterior.block_evidence is not None else ""
    return f"has its own mean and variance in every class{within}, any other feature the same in all"


def _hyper_parameters(report: ReportData, model: GaussianModel) -> list[str]:
    if model.has_jeffreys_priors:
        power = ratio_state(report.posterior).power
        often = f" It enters {power} times, once per block." if power > 1 else ""
        return [
            "All hyper-parameters are 0 (Jeffreys' prior), which is improper: the ratio L of its constants cannot "
            f"be worked out and is a choice, here {describe_ratio(model)}." + often
        ]
    priors = {"classes": model.class_priors[0], "all values": model.pooled_prior}
    if len(model.class_priors) == len(report.posterior.classes):
        priors = dict(zip(report.class_counts, model.class_priors, strict=True))
        priors["all values"] = model.pooled_prior
    names = {"kappa": "variance_dof", "s": "variance_scale", "nu": "mean_strength", "m": "mean_location"}
    parts = [
        f"{group}: " + ", ".join(f"{sign} = {_number(getattr(prior, name))}" for sign, name in names.items())
        for group, prior in priors.items()
    ]
    return ["Hyper-parameters of the priors: " + "; ".join(parts) + "."]


def _number(value: Any) -> str:
    values = np.unique(np.asarray(value))
    return f"{values[0]:g}" if values.size == 1 else f"{values[0]:.3g} to {values[-1]:.3g}"


def _constant(report: ReportData) -> str:
    moments = as_moments(report.posterior.statistics)
    if moments is None or moments.count.ndim != 1 or (moments.count < 2).any():
        return ""
    n0, n1 = moments.count.tolist()
    return f"\nK(n0, n1) = K({n0}, {n1}) = {float(jeffreys_constant(n0, n1)):.4f}"
