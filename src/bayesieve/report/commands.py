"""How to get the result again: words of a command line and lines of Python, without rule and prior.

The page appends the rule and the prior as its controls stand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.models import GaussianModel
from bayesieve.models.paired import PairedComparison
from bayesieve.models.shift_comparison import ShiftComparison
from bayesieve.posterior import FeaturePosterior
from bayesieve.posterior.chance import is_jeffreys
from bayesieve.report.prior_state import prior_probability, ratio_state

_OF_THE_RULE = (
    "criterion", "threshold", "n_selected", "expected_false_positives", "proportion", "confidence",
)  # fmt: skip
_NOT_REPEATED = (
    "table", "out", "manifest", "config", "config_out", "report", "report_values", "quiet", "verbose", "json_log",
    "threads", "memory",
)  # fmt: skip
_READING = (
    "labels", "classes", "transform", "missing", "samples_in", "id_column", "ignore", "na_values", "encoding",
    "decimal", "delimiter", "layer", "blocks", "pairs", "exposures",
)  # fmt: skip
_SCREENING = ("patterns", "block_model", "informative_missing", "degenerate", "resolution")
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
        Lines of Python that make ``posterior``. ``{model}`` stands where the model of the page goes.
    run
        Words of the command as it was run, with rule and prior; empty if the result was not made there.
    before
        A command that has to come before, to make the table; empty if there is one.

    Examples
    --------
    >>> from bayesieve.report.commands import Commands
    >>> Commands(("bayesieve", "screen", "a.csv")).content()["posterior"]
    'posterior'
    """

    cli: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    before: str = ""

    def content(self) -> dict[str, Any]:
        """Return both as the page takes them.

        Examples
        --------
        >>> from bayesieve.report.commands import Commands
        >>> Commands(("bayesieve", "demo")).content()["cli"]
        ['bayesieve', 'demo']
        """
        said = {"cli": list(self.cli), "python": list(self.python), "posterior": "posterior"}
        return said | ({"before": self.before} if self.before else {})

    @classmethod
    def of_arrays(cls, posterior: FeaturePosterior, transform: str = "none") -> Commands:
        """Commands for a screen of arrays, whose names are not known.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.report.commands import Commands
        >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8]], [0, 0, 1, 1], model=bs.GaussianModel.proper())
        >>> Commands.of_arrays(posterior).python[-1]
        'posterior = bs.screen(X, y, model=model, prior_probability=0.01)'
        """
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
        if np.any(posterior.resolution):
            words.append("resolution=resolution")
            cli += ["--resolution", "STEP"]
        prior = prior_probability(posterior)
        words.append(f"prior_probability={'prior_probability' if prior is None else repr(prior)}")
        cli += ["--prior-probability", "FILE:COLUMN"] if prior is None else []
        lines = ["import bayesieve as bs", f"posterior = bs.screen({', '.join(words)})"]
        if transform != "none":
            lines.insert(1, f"# X holds the values with transform {transform}")
            cli += ["--transform", transform]
        return cls(tuple(cli), tuple(lines))

    @classmethod
    def of_settings(
        cls, command: str, settings: Mapping[str, Any], defaults: Mapping[str, Any], posterior: FeaturePosterior
    ) -> Commands:
        """Commands for a run of the command line, from its settings.

        Parameters
        ----------
        command
            ``screen``.
        settings, defaults
            Options by name, and what they are if they are not given.
        posterior
            What came of it.

        Examples
        --------
        >>> import bayesieve as bs
        >>> from bayesieve.report.commands import Commands
        >>> posterior = bs.screen([[0.1], [0.4], [0.3], [0.8], [0.6]] * 2, [0, 1] * 5)
        >>> settings = {"table": "a.csv", "labels": "class", "quiet": True}
        >>> made = Commands.of_settings("screen", settings, {}, posterior)
        >>> made.cli
        ('bayesieve', 'screen', 'a.csv', '--labels', 'class')
        >>> made.python[1]
        "table = bs.read_table('a.csv', labels='class')"
        """
        given = {
            name: value
            for name, value in settings.items()
            if value not in (None, [], ()) and value != defaults.get(name) and value is not False
        }
        of_the_page = {*_NOT_REPEATED, *_OF_THE_RULE}
        if prior_probability(posterior) is not None:
            of_the_page.add("prior_probability")
        if ratio_state(posterior).value is not None:
            of_the_page.add("prior_ratio")
        words = ["bayesieve", command, os.fspath(settings["table"])]
        run = list(words)
        for name, value in given.items():
            words += [] if name in of_the_page else _option(name, value)
            run += [] if name in _NOT_REPEATED else _option(name, value)
        return cls(tuple(words), tuple(_python(settings, given, posterior)), tuple(run))


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        return [flag]
    if isinstance(value, list):
        return [word for each in value for word in (flag, str(each))]
    return [flag, str(value)]


def _python(settings: Mapping[str, Any], given: Mapping[str, Any], posterior: FeaturePosterior) -> list[str]:
    """Lines that read and screen the same table."""
    words = [repr(os.fspath(settings["table"]))]
    words += [f"{name}={given[name]!r}" for name in _READING if name in given]
    lines, model = ["import bayesieve as bs"], model_words(posterior)
    if not isinstance(posterior.model, GaussianModel):
        words.append(f"model={model}")
    if model == "model":
        lines.append(f"# model: the priors of {settings['prior']}" if "prior" in given else "# model: as screened")
    lines.append(f"table = bs.read_table({', '.join(words)})")
    more = ["table"] if isinstance(posterior.comparison, PairedComparison) else ["table", f"model={model}"]
    prior = prior_probability(posterior)
    if prior is None:
        lines.append(f"# prior_probability: one per feature, from {settings.get('prior_probability')}")
    more.append(f"prior_probability={'prior_probability' if prior is None else repr(prior)}")
    more += [f"{name}={given[name]!r}" for name in _SCREENING if name in given]
    return [*lines, f"posterior = bs.screen({', '.join(more)})"]


def model_words(posterior: FeaturePosterior) -> str:
    """Return the model in Python, as far as it can be told: ``{model}`` where the page may set its prior ratio.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.report.commands import model_words
    >>> model_words(bs.screen([[0.1], [0.4], [0.3], [0.8], [0.6]] * 2, [0, 1] * 5))
    '{model}'
    """
    model = posterior.model
    if isinstance(model, GaussianModel):
        if not is_jeffreys(model):
            return "model"
        if ratio_state(posterior).value is not None:
            return MODEL
        named = isinstance(model.prior_ratio, (int, float, str))
        return f"bs.GaussianModel.jeffreys({model.prior_ratio!r})" if named else "model"
    return f"bs.{type(model).__name__}()" if type(model).__name__ in _NAMED else "model"


def _model_options(posterior: FeaturePosterior) -> list[str]:
    model = posterior.model
    if type(model).__name__ in _NAMED:
        return ["--model", _NAMED[type(model).__name__]]
    if isinstance(model, GaussianModel) and is_jeffreys(model):
        ratio = str(model.prior_ratio) if isinstance(model.prior_ratio, (int, float, str)) else "RATIO"
        told = ratio_state(posterior).value is not None or ratio == "0.1"
        return [] if told else ["--prior-ratio", ratio]
    return ["--prior", "PRIORS.toml"]
