"""Lines of Python that screen as the command line did; they give the same list or say that they cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesieve.models import PairedComparison
from bayesieve.posterior import FeaturePosterior
from bayesieve.report.prior_state import prior_probability, ratio_state

MODEL = "{model}"
CANNOT = "# Python lines cannot repeat this result: {why}. Use the command line."
_READING = (
    "labels", "classes", "transform", "missing", "samples_in", "id_column", "ignore", "na_values", "encoding",
    "decimal", "delimiter", "layer", "blocks", "pairs", "exposures",
)  # fmt: skip
_SCREENING = ("patterns", "block_model", "informative_missing", "degenerate", "resolution")
_COUNTS = {"poisson": "bs.PoissonModel()", "negative-binomial": "bs.NegativeBinomialModel()"}


class CannotSayError(Exception):
    """Raised inside this module if Python lines would not give the same."""


def python_lines(
    table: str, given: Mapping[str, Any], posterior: FeaturePosterior, *, statistics: bool = False
) -> tuple[str, ...]:
    r"""Return lines that make ``posterior``; one line of comment if there are none that give the same.

    Parameters
    ----------
    table
        The file that was screened.
    given
        Options that were given, by name.
    posterior
        What came of it.
    statistics
        Whether the table is a statistics file.
    """
    names = "statistics.feature_ids" if statistics else "table.feature_names"
    try:
        imports, model_lines, model = _model(given, posterior, names)
        more, prior_lines, prior = _prior(given, posterior, names)
    except CannotSayError as reason:
        return (CANNOT.format(why=reason),)
    reading, first, others = (
        _of_statistics(table, given, posterior) if statistics else _of_table(table, given, model)
    )
    words = [first, *([f"model={model}"] if model else []), f"prior_probability={prior}", *others]
    words += [f"{name}={given[name]!r}" for name in _SCREENING if name in given]
    lines = ["import bayesieve as bs", *imports, *more, reading, *model_lines, *prior_lines]
    lines.append(f"posterior = bs.screen({', '.join(words)})")
    if given.get("robust"):
        lines.append("posterior = bs.fragility(table, posterior=posterior).posterior()")
    return tuple(lines)


def _of_table(path: str, given: Mapping[str, Any], model: str) -> tuple[str, str, list[str]]:
    """The line that reads a table, and what a screen takes of it."""
    words = [repr(path), *(f"{name}={given[name]!r}" for name in _READING if name in given)]
    if given.get("model", "gaussian") != "gaussian":
        words.append(f"model={model}")
    return f"table = bs.read_table({', '.join(words)})", "table", []


def _of_statistics(path: str, given: Mapping[str, Any], posterior: FeaturePosterior) -> tuple[str, str, list[str]]:
    """The line that reads a statistics file, and what a screen takes of it: sites pooled, or also one by one."""
    pooled, apart = "statistics.pooled()", "statistics.by_site()"
    if "classes" in given:
        pick = f".pick({_labels(posterior)!r})"
        pooled, apart = pooled + pick, f"{{site: part{pick} for site, part in {apart}.items()}}"
    others = ["feature_names=statistics.feature_ids", *([f"blocks={apart}"] if "blocks" in given else [])]
    return f"statistics = bs.read_statistics({path!r})", pooled, others


def _labels(posterior: FeaturePosterior) -> list[str]:
    return [str(label) for label in posterior.classes]


def _model(given: Mapping[str, Any], posterior: FeaturePosterior, names: str) -> tuple[list[str], list[str], str]:
    """Imports, lines and the expression of the model; no expression for pairs, which have none."""
    if "pairs" in given or isinstance(posterior.comparison, PairedComparison):
        return [], [], ""
    name = given.get("model", "gaussian")
    if name in _COUNTS or name == "categorical":
        return [], [], _COUNTS.get(name) or _categorical(given)
    if name != "gaussian":
        raise CannotSayError(f"the model {name!r} is not known here")
    return _gaussian(given, posterior, names)


def _gaussian(
    given: Mapping[str, Any], posterior: FeaturePosterior, names: str
) -> tuple[list[str], list[str], str]:
    """The same for a Gaussian model."""
    if ratio_state(posterior).value is not None:
        return [], [], MODEL
    prior, ratio = str(given.get("prior", "jeffreys")), _number_or_name(given.get("prior_ratio"))
    if prior == "jeffreys":
        return [], [], f"bs.GaussianModel.jeffreys({0.1 if ratio is None else ratio!r})"
    if prior == "proper":
        two = len(posterior.classes) == 2
        return [], [], f"bs.GaussianModel.proper({'' if two else 'mean_locations=(0.0,)'})"
    if not posterior.model.supports("moments"):
        raise CannotSayError(f"the priors of {prior!r} are not there any more or have changed")
    words = [repr(prior), repr(_labels(posterior)), names, *([] if ratio is None else [repr(ratio)])]
    return ["from bayesieve.io.priors import read_model"], [f"model = read_model({', '.join(words)})"], "model"


def _categorical(given: Mapping[str, Any]) -> str:
    words = ["1.0"] if given.get("prior") == "uniform" else []
    if "levels" in given:
        levels = [_level(part.strip()) for part in str(given["levels"]).split(",") if part.strip()]
        words.append(f"levels={levels!r}")
    return f"bs.CategoricalModel({', '.join(words)})"


def _level(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def _number_or_name(value: Any) -> float | str | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return str(value)


def _prior(given: Mapping[str, Any], posterior: FeaturePosterior, names: str) -> tuple[list[str], list[str], str]:
    """Imports, lines and the expression of the prior probability."""
    shared = prior_probability(posterior)
    if shared is not None:
        return [], [], repr(shared)
    file = given.get("prior_probability")
    if not isinstance(file, str) or isinstance(_number_or_name(file), float):
        raise CannotSayError("where the prior probabilities of its features come from is not known")
    return [FEATURE_NUMBERS], [f"prior_probability = {numbers_of(file, names)}"], "prior_probability"


FEATURE_NUMBERS = "from bayesieve.io.tables.columns import numbers_by_feature"


def numbers_of(file: str, names: str) -> str:
    """Return the expression that reads one prior probability per feature."""
    return f"numbers_by_feature({file!r}, {names}, 'the prior probability')"
