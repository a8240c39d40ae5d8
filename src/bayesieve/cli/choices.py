"""From options to a model and a rule; what contradicts is said before any file is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import OptionError
from bayesieve.io import is_reference, numbers_by_feature, read_model
from bayesieve.models import GaussianModel, Model
from bayesieve.selection import FalseDiscovery, FixedSize, MinimalRisk, MostProbable, NeymanPearson, Rule

_TAKES = {
    "map": (),
    "mnc": (),
    "mr": ("threshold",),
    "cmnc": ("n_selected",),
    "cmap": ("n_selected",),
    "np": ("expected_false_positives",),
    "fdr": ("proportion",),
    "fdp": ("proportion", "confidence"),
}
_EXAMPLE = {
    "threshold": "0.9",
    "n_selected": "100",
    "expected_false_positives": "5",
    "proportion": "0.1",
    "confidence": "0.9",
}
RULE_NUMBERS = tuple(_EXAMPLE)
_IMPLIED = {
    ("threshold",): "mr",
    ("n_selected",): "cmnc",
    ("expected_false_positives",): "np",
    ("proportion",): "fdr",
    ("proportion", "confidence"): "fdp",
    (): "mnc",
}


def chosen_rule(criterion: str | None, numbers: dict[str, Any]) -> Rule:
    """Return the rule that a criterion and its numbers name; numbers alone imply their criterion."""
    given = tuple(name for name in RULE_NUMBERS if numbers.get(name) is not None)
    if criterion is None:
        if given == ("confidence",):
            raise OptionError("--confidence needs --proportion, for example --proportion 0.1 --confidence 0.9.")
        if given not in _IMPLIED:
            raise OptionError(f"{_dashed(given)} belong to different criteria. Give the options of one.")
        name = _IMPLIED[given]
    else:
        name = criterion
        wrong = [option for option in given if option not in _TAKES[name]]
        if wrong:
            takes = _dashed(_TAKES[name]) or "no number"
            raise OptionError(
                f"{_dashed(wrong)} contradicts --criterion {name}, which takes {takes}. Leave one out."
            )
        if name == "fdp" and "confidence" not in given:
            numbers = {**numbers, "confidence": 0.9}
            given = (*given, "confidence")
        absent = [option for option in _TAKES[name] if option not in given]
        if absent:
            raise OptionError(
                f"--criterion {name} needs {_dashed(absent)}, for example {_dashed(absent[:1])} "
                f"{_EXAMPLE[absent[0]]}."
            )
    values = [numbers[option] for option in _TAKES[name]]
    makers: dict[str, Any] = {
        "map": MostProbable, "mnc": MinimalRisk, "mr": MinimalRisk, "cmnc": FixedSize, "cmap": MostProbable,
        "np": NeymanPearson, "fdr": FalseDiscovery, "fdp": FalseDiscovery,
    }  # fmt: skip
    rule: Rule = makers[name](*values)
    return rule


def _dashed(names: Sequence[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)


def model_of_values(settings: Mapping[str, Any]) -> Model:
    """Return the model that ``--model`` names, as far as it decides what is summed while reading."""
    name, levels = settings["model"], settings["levels"]
    if levels is not None and name != "categorical":
        raise OptionError(f"--levels names categories, but the model is {name}. Add --model categorical.")
    if name == "gaussian":
        return GaussianModel.jeffreys()
    _check_plain(name, settings)
    if name == "categorical":
        from bayesieve.models import CategoricalModel  # noqa: PLC0415 - loaded when asked for

        declared = None if levels is None else [_level(part) for part in levels.split(",") if part.strip()]
        return CategoricalModel(1.0 if settings["prior"] == "uniform" else 0.5, levels=declared)
    if name == "poisson":
        from bayesieve.models import PoissonModel  # noqa: PLC0415

        return PoissonModel()
    from bayesieve.models import NegativeBinomialModel  # noqa: PLC0415

    return NegativeBinomialModel()


def _check_plain(name: str, settings: Mapping[str, Any]) -> None:
    """Raise if an option of the Gaussian model was given with another one."""
    known = ("jeffreys", "uniform") if name == "categorical" else ("jeffreys",)
    if settings["prior"] not in known:
        raise OptionError(f"--model {name} has its own prior: {' or '.join(known)}. Leave --prior out.")
    gaussian = {"prior_ratio": None, "resolution": None, "pairs": None, "transform": "none", "block_model": "own"}
    for option, default in gaussian.items():
        if settings[option] != default:
            raise OptionError(
                f"--{option.replace('_', '-')} belongs to the Gaussian model and does not apply to --model {name}."
            )
    for option in ("kinds", "effects"):
        if settings[option]:
            raise OptionError(f"--{option} tells means from variances of Gaussian data, not of --model {name}.")


def _level(text: str) -> Any:
    text = text.strip()
    try:
        return int(text)
    except ValueError:
        return text


def chosen_model(prior: str, ratio: str | None, classes: Sequence[str], features: Sequence[str]) -> GaussianModel:
    """Return the model that ``--prior`` and ``--prior-ratio`` name."""
    number = _number_or_name(ratio)
    if prior == "proper":
        return GaussianModel.proper() if len(classes) == 2 else GaussianModel.proper(mean_locations=(0.0,))
    if prior == "jeffreys":
        return GaussianModel.jeffreys(0.1 if number is None else number)
    return read_model(prior, classes, features, number)


def check_prior_name(prior: str, ratio: str | None, model: str) -> None:
    """Raise if ``--prior`` is neither a known name nor a file, or ``--prior-ratio`` does not go with it."""
    if prior == "proper" and ratio is not None:
        raise OptionError(
            "--prior-ratio contradicts --prior proper: a proper prior has its own ratio. Leave it out."
        )
    if prior == "uniform" and model != "categorical":
        raise OptionError("--prior uniform is for categories: add --model categorical.")
    if prior not in ("jeffreys", "proper", "uniform") and not Path(prior).exists():
        raise OptionError(f"--prior must be jeffreys, proper or a TOML file; there is no file {prior!r}.")


def _number_or_name(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def chosen_probability(text: str, features: Sequence[str]) -> float | npt.NDArray[np.float64]:
    """Return the prior probability: a number, or one per feature from ``FILE:COLUMN``."""
    try:
        return float(text)
    except ValueError:
        pass
    if not is_reference(text):
        raise OptionError(
            "--prior-probability must be a number between 0 and 1, or FILE:COLUMN with one per feature, not "
            f"{text!r}."
        )
    return np.array(numbers_by_feature(text, features, "the prior probability"))


_BLOCKED = {
    "p_values": ("blocks", "pairs", "model"),
    "permutations": ("blocks", "pairs", "model", "informative_missing", "robust"),
}
_WHY = {
    "blocks": "samples of different blocks are not exchangeable",
    "pairs": "the samples of a pair are not independent",
    "model": "both are for measurements, the Gaussian model",
    "informative_missing": "missing values would have to be permuted, too",
    "robust": "the least log-odds over leaving one sample out are not what is permuted",
}


def check_findings(settings: Mapping[str, Any]) -> None:
    """Find out before the work whether p-values and permutations go with the other options."""
    for name, others in _BLOCKED.items():
        for other in others if settings[name] not in (None, False) else ():
            if settings[other] not in (None, False, "gaussian"):
                raise OptionError(
                    f"--{name.replace('_', '-')} does not go with --{other.replace('_', '-')}: {_WHY[other]}. "
                    "Leave one of them out."
                )
    if settings["seed"] is not None and settings["permutations"] is None:
        raise OptionError("--seed is that of the relabellings; ask for them with --permutations 1000.")
