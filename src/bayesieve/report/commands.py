"""How to get the result again: words of a command line and lines of Python, without rule and prior.

The page appends the rule and the prior as its controls stand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models import EffectPairs, EffectShift, PairedComparison, ShiftComparison
from bayesieve.posterior import FeaturePosterior
from bayesieve.report.controls import prior_probability, ratio_state
from bayesieve.screening import CANNOT, ScreenSpec, python_lines

MODEL = "{model}"
_NAMED = {
    "PoissonModel": "poisson", "NegativeBinomialModel": "negative-binomial", "CategoricalModel": "categorical",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands that lead to the result.

    Parameters
    ----------
    cli
        Words of the command line; of a result that was not made there with words in capitals to be filled in.
    python
        Lines of Python that make ``posterior``. ``{model}`` stands where the model of the page goes. One line of
        comment if no lines give the same.
    run
        Words of the command as it was run, with rule and prior; empty if the result was not made there.
    before
        A command that has to come before, to make the table; empty if there is one.
    """

    cli: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    before: str = ""

    def content(self) -> dict[str, Any]:
        """Return both as the page takes them."""
        content = {"cli": list(self.cli), "python": list(self.python), "posterior": "posterior"}
        return content | ({"before": self.before} if self.before else {})

    @classmethod
    def of_arrays(cls, posterior: FeaturePosterior, transform: str = "none") -> Commands:
        """Commands for a screen of arrays, whose names are not known."""
        paired = isinstance(posterior.comparison, PairedComparison | EffectPairs) or len(posterior.classes) == 1
        prior = prior_probability(posterior)
        blocks = posterior.block_evidence is not None
        shift = isinstance(posterior.comparison, ShiftComparison | EffectShift)
        given = posterior.adjustment
        within, at_equal = given is not None and given.how == "within", given is not None and bool(given.names)
        n_shuffles = 0 if posterior.shuffled is None else posterior.shuffled.n_shuffles
        difference = posterior.model.difference
        gaps = not blocks and bool(np.ptp(posterior.statistics.counts, axis=1).any())
        words = [
            "X",
            "y",
            *(["pairs=pairs"] if paired else []),
            *([] if paired and not posterior.model.has_jeffreys_priors else [f"model={_model_words(posterior)}"]),
            *(["blocks=blocks"] if blocks else []),
            *(["subject=subject"] if within else []),
            *(["covariates=covariates"] if at_equal else []),
            *(["block_model='shift'"] if shift else []),
            *([] if difference == "any" else [f"difference={difference!r}"]),
            *(["missing='omit'"] if gaps else []),
            *(["resolution=resolution"] if np.any(posterior.resolution) else []),
            f"prior_probability={'prior_probability' if prior is None else repr(prior)}",
            f"shuffles={n_shuffles}",
        ]
        spec = ScreenSpec(
            table="TABLE",
            labels="COLUMN",
            pairs="COLUMN" if paired else None,
            blocks="COLUMN" if blocks else None,
            subject="COLUMN" if within else None,
            covariates="COLUMNS" if at_equal else None,
            block_model="shift" if shift else "own",
            difference=difference,
            missing="omit" if gaps else "raise",
            robust=not posterior.calibrated,
            shuffles=n_shuffles,
            **_model_options(posterior),
        )
        cli = [*spec.command_words(), *(["--resolution", "STEP"] if np.any(posterior.resolution) else [])]
        cli += ["--prior-probability", "FILE:COLUMN"] if prior is None else []
        lines = ["import bayesieve as bs", f"posterior = bs.screen({', '.join(words)})"]
        if transform != "none":
            lines.insert(1, f"# X holds the values with transform {transform!r}")
            cli += ["--transform", transform]
        if not posterior.calibrated:
            lines.append("posterior = bs.fragility(X, y, posterior=posterior).posterior()")
        return cls(tuple(cli), tuple(lines))

    @classmethod
    def of_spec(
        cls, spec: ScreenSpec, posterior: FeaturePosterior, *, statistics: bool = False,
        changes: Mapping[str, Any] | None = None,
    ) -> Commands:  # fmt: skip
        """Commands for a run of the command line.

        Parameters
        ----------
        spec
            The specification.
        posterior
            What came of it.
        statistics
            Whether the table is a statistics file.
        changes
            Options that have been given anew since.
        """
        now = spec.replace(**(changes or {}))
        python = _python(now, posterior, statistics=statistics)
        now, spec = now.without_folders(), spec.without_folders()
        of_the_page = {*spec.names("rule")}
        if prior_probability(posterior) is not None:
            of_the_page.add("prior_probability")
        words: tuple[str, ...] = ()
        if ratio_state(posterior).value is not None:
            of_the_page |= {"prior", "prior_ratio"}
            words = ("--prior", "jeffreys")
        return cls((*now.command_words(without=of_the_page), *words), python, spec.command_words())


def _python(spec: ScreenSpec, posterior: FeaturePosterior, *, statistics: bool) -> tuple[str, ...]:
    """Lines that make the posterior; one line of comment if there are none that give the same."""
    shared, model = prior_probability(posterior), MODEL if ratio_state(posterior).value is not None else None
    if shared is not None:
        spec = spec.replace(prior_probability=shared)
    elif isinstance(spec.prior_probability, float):
        why = "where the prior probabilities of its features come from is not known"
        return (CANNOT.format(why=why),)
    if model is None and spec.has_prior_file and not os.path.isfile(spec.prior):
        why = f"the priors of {spec.prior!r} are not there any more"
        return (CANNOT.format(why=why),)
    classes = [str(label) for label in posterior.classes]
    return python_lines(spec.without_folders(), classes, statistics=statistics, model=model)


def _model_words(posterior: FeaturePosterior) -> str:
    """Return the model in Python, as far as it can be told: ``{model}`` where the page may set its prior ratio."""
    model = posterior.model
    if model.supports("effect-sizes"):
        return "bs.CalibratedModel()"
    if model.supports("moments"):
        if not model.has_jeffreys_priors:
            return "model"
        if ratio_state(posterior).value is not None:
            return MODEL
        named = isinstance(model.prior_ratio, (int, float, str))
        return f"bs.GaussianModel.jeffreys({model.prior_ratio!r})" if named else "model"
    plain = type(model).__name__ in _NAMED and repr(model) == repr(type(model)())
    return f"bs.{type(model).__name__}()" if plain else "model"


def _model_options(posterior: FeaturePosterior) -> dict[str, Any]:
    model = posterior.model
    if type(model).__name__ in _NAMED:
        return {"model": _NAMED[type(model).__name__]}
    if model.supports("effect-sizes"):
        return {}
    if model.has_jeffreys_priors:
        ratio = model.prior_ratio if isinstance(model.prior_ratio, (int, float, str)) else "RATIO"
        known = ratio_state(posterior).value is not None or ratio == 0.1
        return {"prior": "jeffreys"} if known else {"prior": "jeffreys", "prior_ratio": ratio}
    return {"prior": "PRIORS.toml"}
