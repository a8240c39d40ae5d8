"""How to get the result again: words of a command line and lines of Python, without rule and prior.

The page appends the rule and the prior as its controls stand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bayesieve.models import PairedComparison, ShiftComparison
from bayesieve.posterior import FeaturePosterior
from bayesieve.report.prior_state import prior_probability, ratio_state
from bayesieve.report.python_lines import MODEL, python_lines
from bayesieve.report.rule_state import RuleState

_OF_THE_RULE = ("criterion", *(field.name for field in fields(RuleState) if field.name != "name"))
_NOT_REPEATED = (
    "table", "out", "manifest", "config", "config_out", "report", "report_values", "quiet", "verbose", "json_log",
    "threads", "memory",
)  # fmt: skip
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
        said = {"cli": list(self.cli), "python": list(self.python), "posterior": "posterior"}
        return said | ({"before": self.before} if self.before else {})

    @classmethod
    def of_arrays(cls, posterior: FeaturePosterior, transform: str = "none") -> Commands:
        """Commands for a screen of arrays, whose names are not known."""
        words = ["X", "y"]
        cli = ["bayesieve", "screen", "TABLE", "--labels", "COLUMN"]
        if isinstance(posterior.comparison, PairedComparison):
            words.append("pairs=pairs")
            cli += ["--pairs", "COLUMN"]
        else:
            words.append(f"model={model_words(posterior)}")
            cli += _model_options(posterior)
        if posterior.block_evidence is not None:
            words.append("blocks=blocks")
            cli += ["--blocks", "COLUMN"]
        if isinstance(posterior.comparison, ShiftComparison):
            words.append("block_model='shift'")
            cli += ["--block-model", "shift"]
        if np.ptp(posterior.statistics.counts, axis=1).any() and not posterior.block_evidence:
            words.append("missing='omit'")
            cli += ["--missing", "omit"]
        if np.any(posterior.resolution):
            words.append("resolution=resolution")
            cli += ["--resolution", "STEP"]
        prior = prior_probability(posterior)
        words.append(f"prior_probability={'prior_probability' if prior is None else repr(prior)}")
        cli += ["--prior-probability", "FILE:COLUMN"] if prior is None else []
        lines = ["import bayesieve as bs", f"posterior = bs.screen({', '.join(words)})"]
        if transform != "none":
            lines.insert(1, f"# X holds the values with transform {transform!r}")
            cli += ["--transform", transform]
        if not posterior.calibrated:
            lines.append("posterior = bs.fragility(X, y, posterior=posterior).posterior()")
            cli.append("--robust")
        return cls(tuple(cli), tuple(lines))

    @classmethod
    def of_settings(
        cls, command: str, settings: Mapping[str, Any], defaults: Mapping[str, Any], posterior: FeaturePosterior,
        *, statistics: bool = False, changed: Mapping[str, Any] | None = None,
    ) -> Commands:  # fmt: skip
        """Commands for a run of the command line, from its settings.

        Parameters
        ----------
        command
            ``screen``.
        settings, defaults
            Options by name, and what they are if they are not given. Other names are left out.
        posterior
            What came of it.
        statistics
            Whether the table is a statistics file.
        changed
            Options that have been given anew since.
        """
        table = _plain_path(os.fspath(settings["table"]))
        run = ["bayesieve", command, table]
        for name, value in _given(settings, defaults).items():
            run += [] if name in _NOT_REPEATED else _option(name, value)
        given = _given({**settings, **(changed or {})}, defaults)
        of_the_page = {*_NOT_REPEATED, *_OF_THE_RULE}
        if prior_probability(posterior) is not None:
            of_the_page.add("prior_probability")
        if ratio_state(posterior).value is not None:
            of_the_page |= {"prior", "prior_ratio"}
        words = ["bayesieve", command, table]
        for name, value in given.items():
            words += [] if name in of_the_page else _option(name, value)
        return cls(tuple(words), python_lines(table, given, posterior, statistics=statistics), tuple(run))


def _given(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the command that differ from what they are if they are not given."""
    return {
        name: value
        for name, value in settings.items()
        if name in defaults and value not in (None, [], ()) and value != defaults[name] and value is not False
    }


def _plain_path(path: str) -> str:
    """A file whose name begins like an option is none."""
    return os.path.join(os.curdir, path) if path.startswith("-") else path


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        return [flag]
    if isinstance(value, list):
        return [word for each in value for word in (flag, str(each))]
    return [flag, str(value)]


def model_words(posterior: FeaturePosterior) -> str:
    """Return the model in Python, as far as it can be told: ``{model}`` where the page may set its prior ratio."""
    model = posterior.model
    if model.supports("moments"):
        if not model.is_jeffreys:
            return "model"
        if ratio_state(posterior).value is not None:
            return MODEL
        named = isinstance(model.prior_ratio, (int, float, str))
        return f"bs.GaussianModel.jeffreys({model.prior_ratio!r})" if named else "model"
    plain = type(model).__name__ in _NAMED and repr(model) == repr(type(model)())
    return f"bs.{type(model).__name__}()" if plain else "model"


def _model_options(posterior: FeaturePosterior) -> list[str]:
    model = posterior.model
    if type(model).__name__ in _NAMED:
        return ["--model", _NAMED[type(model).__name__]]
    if model.is_jeffreys:
        ratio = str(model.prior_ratio) if isinstance(model.prior_ratio, (int, float, str)) else "RATIO"
        told = ratio_state(posterior).value is not None or ratio == "0.1"
        return [] if told else ["--prior-ratio", ratio]
    return ["--prior", "PRIORS.toml"]
