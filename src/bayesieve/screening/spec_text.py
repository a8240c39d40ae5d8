"""Options of a specification: how each is read from a file or a command line, and how it is written in Python."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve import models
from bayesieve.posterior import ESTIMATE
from bayesieve.utils import OptionError, option, separating_colons

if TYPE_CHECKING:
    from bayesieve.screening.spec import ScreenSpec

Reader = Callable[[str, Any], Any]
_SAYS_SO = {"true": True, "false": False}


def spec_field(default: Any, read: Reader, to: str = "") -> Any:
    """Describe an option: its default, how a value is read, and to which function it is handed on."""
    return dataclasses.field(default=default, metadata={"read": read, "to": to})


def text(name: str, value: Any) -> str:
    """Read a text."""
    if isinstance(value, (bool, list, tuple)) or not isinstance(value, (str, int, float, os.PathLike)):
        raise _not_read(name, value, "a text")
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Read texts; a single one needs no list."""
    return tuple(text(name, each) for each in value) if isinstance(value, (list, tuple)) else (text(name, value),)


def joined(mark: str) -> Reader:
    """Read a text in which a mark stands between the parts, or a list of the parts."""

    def read(name: str, value: Any) -> str:
        return mark.join(texts(name, value)) if isinstance(value, (list, tuple)) else text(name, value)

    return read


def columns(name: str, value: Any) -> str | None:
    """Read names of columns, a text with commas between or a list; None if there are none."""
    found = joined(",")(name, value)
    return found if found.strip() else None


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """Reads one of a few words."""

    words: tuple[str, ...]

    def __call__(self, name: str, value: Any) -> str:
        """Return the word that a value is."""
        if not isinstance(value, str) or value not in self.words:
            raise _not_read(name, value, f"one of {', '.join(self.words)}")
        return value


def choice(*words: str) -> Reader:
    """Read one of a few words."""
    return Choice(words)


def flag(name: str, value: Any) -> bool:
    """Read yes or no."""
    found = _SAYS_SO.get(value, value) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise _not_read(name, value, "true or false")
    return found


def number(low: float, high: float = math.inf) -> Reader:
    """Read a number within bounds."""

    def read(name: str, value: Any) -> float:
        found = _float(value)
        if found is None or not low <= found <= high:
            bounds = f"between {low:g} and {high:g}" if high < math.inf else f"of at least {low:g}"
            raise _not_read(name, value, f"a number {bounds}")
        return found

    return read


def whole(low: int) -> Reader:
    """Read a whole number."""

    def read(name: str, value: Any) -> int:
        found = _float(value)
        if found is None or not found.is_integer() or found < low:
            raise _not_read(name, value, f"a whole number of at least {low}")
        return value if isinstance(value, int) else int(found)

    return read


def whole_or_auto(name: str, value: Any) -> int | str:
    """Read a whole number, or the word auto."""
    if isinstance(value, str) and value.strip() == "auto":
        return "auto"
    found = _float(value)
    if found is None or not found.is_integer() or found < 0:
        raise _not_read(name, value, "a whole number of at least 0, or auto")
    return int(found)


def number_or_text(name: str, value: Any) -> float | str:
    """Read a number, or the text that stands for one or many."""
    found = _float(value)
    return text(name, value) if found is None or not math.isfinite(found) else found


def _float(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _not_read(name: str, value: Any, wanted: str) -> OptionError:
    return OptionError(option(name), f" must be {wanted}, not {value!r}.", kind="option")


_COUNTS = {"poisson": "PoissonModel", "negative-binomial": "NegativeBinomialModel"}
CANNOT = "# Python lines cannot repeat this result: {why}. Use the command line."
FEATURE_NUMBERS = "from bayesieve.io import numbers_by_feature"


def model_call(spec: ScreenSpec, n_classes: int) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the constructor of a model with a named prior, and what it takes."""
    if spec.model in _COUNTS:
        return _COUNTS[spec.model], (), {}
    if spec.model == "auto":
        return "MixedModel", (), {} if spec.likelihoods is None else {"likelihoods": kinds_of(spec.likelihoods)}
    if spec.model == "categorical":
        levels = {} if spec.levels is None else {"levels": [*map(_level, spec.levels.split(","))]}
        return "CategoricalModel", (1.0,) if spec.prior == "uniform" else (), levels
    if spec.prior == "calibrated":
        return "CalibratedModel", (), {}
    if spec.prior == "proper":
        return "GaussianModel.proper", (), {} if n_classes == 2 else {"mean_locations": (0.0,)}
    return "GaussianModel.jeffreys", (0.1 if spec.prior_ratio is None else spec.prior_ratio,), {}


def kinds_of(text: str | None) -> dict[str, str]:
    """Read kinds of features: ``age=measurement; grade=category``."""
    found = {}
    for part in (text or "").split(";"):
        name, equals, kind = (each.strip() for each in part.rpartition("="))
        if not part.strip():
            continue
        if not equals or kind not in ("measurement", "count", "category"):
            wanted = 'kinds of features, as in "age=measurement; grade=category; visits=count"'
            raise _not_read("likelihoods", text, wanted)
        found[name] = kind
    return found


def _level(part: str) -> int | str:
    try:
        return int(part)
    except ValueError:
        return part.strip()


def call_model(spec: ScreenSpec, n_classes: int) -> models.Model:
    """Return the model of a named prior."""
    made: Any = models
    path, values, named = model_call(spec, n_classes)
    for name in path.split("."):
        made = getattr(made, name)
    model: models.Model = made(*values, **named)
    return model


def python_lines(
    spec: ScreenSpec, classes: Sequence[str], *, statistics: bool = False, model: str | None = None
) -> tuple[str, ...]:
    """Return lines that make ``posterior``."""
    names = "statistics.feature_ids" if statistics else "table.feature_names"
    imports, before = [], []
    if model is None and spec.has_prior_file:
        ratio = () if spec.prior_ratio is None else (repr(spec.prior_ratio),)
        imports.append("from bayesieve.io import read_model")
        before.append(f"model = read_model({', '.join((repr(spec.prior), repr(list(classes)), names, *ratio))})")
        model = "model"
    elif model is None:
        path, values, named = model_call(spec, len(classes))
        model = f"bs.{path}({', '.join((*map(repr, values), *_named(named)))})"
    prior = repr(spec.prior_probability)
    if isinstance(spec.prior_probability, str) and spec.prior_probability != ESTIMATE:
        imports.append(FEATURE_NUMBERS)
        before.append(f"prior_probability = {prior_numbers(spec.prior_probability, names)}")
        prior = "prior_probability"
    reading, first, others = _statistics(spec, classes) if statistics else _table(spec, model)
    words = [first, f"model={model}", f"prior_probability={prior}", *others]
    words += _named(_changed(spec, "screen"))
    words += _named(
        {name: getattr(spec, name) for name in ("shuffles", "seed") if getattr(spec, name) is not None}
    )
    if spec.gene_map is not None:
        path, column = _file_and_column(spec.gene_map)
        column_too = {"gene_column": column} if column else {}
        encoding = {"encoding": spec.encoding} if spec.encoding else {}
        before.append(f"genes = bs.read_gene_map({', '.join((repr(path), *_named(column_too | encoding)))})")
        words.append("gene_map=genes")
    lines = ["import bayesieve as bs", *imports, reading, *before, f"posterior = bs.screen({', '.join(words)})"]
    if spec.robust:
        lines.append("posterior = bs.fragility(table, posterior=posterior).posterior()")
    return tuple(lines)


def _file_and_column(reference: str) -> tuple[str, str]:
    """The two parts of ``FILE:COLUMN``; a file that is there is named as a whole."""
    colons = [] if os.path.exists(reference) else separating_colons(reference)
    return (reference[: colons[-1]], reference[colons[-1] + 1 :]) if colons else (reference, "")


def prior_numbers(file: str, names: str) -> str:
    """Return the expression that reads one prior probability per feature."""
    return f"numbers_by_feature({file!r}, {names}, 'the prior probability')"


def _table(spec: ScreenSpec, model: str) -> tuple[str, str, list[str]]:
    """The line that reads a table, and what a screen takes of it."""
    words = [repr(spec.table), *_named(_changed(spec, "read_table"))]
    if spec.model != "gaussian":
        words.append(f"model={model}")
    return f"table = bs.read_table({', '.join(words)})", "table", []


def _statistics(spec: ScreenSpec, classes: Sequence[str]) -> tuple[str, str, list[str]]:
    """The line that reads a statistics file, and what a screen takes of it: sites pooled, or also one by one."""
    pooled, apart = "statistics.pooled()", "statistics.by_site()"
    if spec.classes is not None:
        pick = f".pick({list(classes)!r})"
        pooled, apart = pooled + pick, f"{{site: part{pick} for site, part in {apart}.items()}}"
    others = ["feature_names=statistics.feature_ids", *([f"blocks={apart}"] if spec.blocks else [])]
    return f"statistics = bs.read_statistics({spec.table!r})", pooled, others


def _changed(spec: ScreenSpec, function: str) -> dict[str, Any]:
    return {name: value for name, value in spec.to_dict().items() if name in spec.names(function)}


def _named(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in values.items()]
