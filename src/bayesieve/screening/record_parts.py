"""Parts of a record: models, comparisons and findings as plain values, and back."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from bayesieve import models
from bayesieve.models import Comparison, Model, PairedComparison, Part, Patterns, UnknownComparison, UnknownModel
from bayesieve.posterior import BlockEvidence, FeaturePosterior, Finding, Fragility
from bayesieve.stats import Moments
from bayesieve.utils import Message

_ENCODED = ("GaussianModel", "NormalInverseGamma", "CategoricalModel", "PoissonModel", "NegativeBinomialModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRecord:
    """A finding of a posterior: its columns in the table, and what they do not hold.

    Parameters
    ----------
    kind
        ``"blocks"``, ``"fragility"``, or empty for columns and notes alone.
    columns
        Names of its columns.
    notes
        What it says; empty where the notes follow from columns and numbers.
    numbers
        What else is needed to make it again.
    """

    kind: str = ""
    columns: tuple[str, ...] = ()
    notes: tuple[Message, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, finding: Finding, columns: tuple[str, ...]) -> Self:
        """Record a finding."""
        kind = ""
        numbers: dict[str, Any] = {}
        if isinstance(finding, BlockEvidence):
            kind = "blocks"
            numbers = {
                "names": list(finding.names), "block_model": finding.block_model,
                "unused": [list(each) for each in finding.unused], "prior_ratio": finding.prior_ratio,
            }  # fmt: skip
        elif isinstance(finding, Fragility) and not finding.discreet:
            kind = "fragility"
            numbers = {"cut": encode_number(finding.cut), "named": finding.sample_names is not None,
                       "totals": finding.count_removals()}  # fmt: skip
        return cls(kind=kind, columns=columns, notes=tuple(map(Message.of, finding.notes())), numbers=numbers)

    def redacted(self) -> Self:
        """Return the same without ids of samples in notes."""
        return dataclasses.replace(self, notes=tuple(note.redacted() for note in self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": self.kind, "columns": list(self.columns), "notes": [note.to_dict() for note in self.notes],
            "numbers": dict(self.numbers),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote."""
        return cls(
            kind=str(values["kind"]), columns=tuple(map(str, values["columns"])),
            notes=tuple(map(Message.from_dict, values["notes"])), numbers=dict(values["numbers"]),
        )  # fmt: skip


def encode_number(value: float) -> float | str:
    """Return a number that JSON knows, a text for one that is not finite; ``float`` reads both."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


def encode_model(model: Model) -> dict[str, Any]:
    """Return a model as plain values; of a model that is none of this package's what it is called."""
    try:
        found: dict[str, Any] = _encode(model)
    except TypeError:
        found = {"type": "UnknownModel", "family": model.family, "caveat": Message.of(model.caveat).to_dict()}
    return found


def decode_model(values: Mapping[str, Any]) -> Model:
    """Return the model that :func:`encode_model` recorded."""
    if values.get("type", "UnknownModel") == "UnknownModel":
        caveat = Message.from_dict(values.get("caveat", {}))
        return UnknownModel(str(values.get("family", "")), caveat if str(caveat) else "")
    with warnings.catch_warnings():  # they were given when the model was made
        warnings.simplefilter("ignore")
        model: Model = _decode(values)
    return model


def _encode(value: Any) -> Any:
    if type(value).__name__ in _ENCODED and type(value) is getattr(models, type(value).__name__):
        fields = (each.name for each in dataclasses.fields(value))
        return {"type": type(value).__name__} | {name: _encode(getattr(value, name)) for name in fields}
    if isinstance(value, np.ndarray):
        return {"array": [_encode(each) for each in value.tolist()]}
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, (tuple, list)):
        return [_encode(each) for each in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": str(value)}
    raise TypeError(f"{type(value).__name__} has no plain value")


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_decode, value))
    if not isinstance(value, Mapping):
        return value
    if "array" in value:
        return np.array([_decode(each) for each in value["array"]])
    if "number" in value:
        return float(value["number"])
    if value["type"] not in _ENCODED:
        raise ValueError(f"there is no model {value['type']!r}")
    return getattr(models, value["type"])(
        **{name: _decode(each) for name, each in value.items() if name != "type"}
    )


def encode_design(posterior: FeaturePosterior) -> dict[str, Any]:
    """Return what a table does not say of a posterior: classes, prior, resolution and comparison."""
    compared, order = posterior.comparison, posterior.ranking
    prior, step = np.asarray(posterior.prior_log_odds), np.asarray(posterior.resolution)
    found: dict[str, Any] = {
        "classes": [label if isinstance(label, (str, int, float)) else str(label) for label in posterior.classes],
        "prior_log_odds": None if prior.ndim else encode_number(float(prior)),
        "resolution": step[order].tolist() if step.ndim else float(step),
        "calibrated": posterior.calibrated,
        "comparison": "other",
        "cost": 1 if compared is None else int(compared.cost),
    }
    if isinstance(compared, PairedComparison) and len(compared.parts) == 1:
        found["comparison"] = "pairs"
    plain = isinstance(compared, Comparison) and len(compared.parts) == 1 and compared.parts[0].kept is None
    if posterior.has_moments and posterior.block_evidence is None and (compared is None or plain):
        patterns = getattr(compared, "patterns", Patterns.of("any", posterior.classes))
        found |= {"comparison": "classes", "patterns": patterns.kind}
        if patterns.kind == "given":
            found["growths"] = [list(growth) for growth in patterns.growths]
            found["weights"] = list(patterns.weights)
    return found


def decode_comparison(
    design: Mapping[str, Any], model: Model, statistics: Any, usable: Any
) -> models.Compared | None:
    """Return what was compared, as far as moments of the classes let it be repeated."""
    kind, step = design.get("comparison", "other"), _step(design)
    if isinstance(model, UnknownModel) or not isinstance(statistics, Moments) or kind == "other":
        return UnknownComparison(int(design.get("cost", 1)))
    if kind == "pairs":
        width = math.sqrt(2.0) * step
        used = statistics.with_resolution(width) if np.any(step) else statistics
        count = used.count if used.count.ndim == 1 else np.maximum(used.count, 1)
        squares = np.where(usable, used.centred_squares, 1.0)
        part = Moments.trusted(used.classes, count, used.mean, squares, np.asarray(used.residual))
        return PairedComparison((part,), (usable,), width)
    if len(statistics.classes) == 2:
        return None
    patterns = _patterns(design, statistics.classes)
    return Comparison(patterns, (Part(model, statistics, None, step, statistics) if np.any(step)
                                 else Part(model, statistics),))  # fmt: skip


def _step(design: Mapping[str, Any]) -> Any:
    step = design.get("resolution", 0.0)
    return np.array(step) if isinstance(step, list) else float(step)


def _patterns(design: Mapping[str, Any], classes: Sequence[Any]) -> Patterns:
    if "growths" not in design:
        return Patterns.of(design.get("patterns", "any"), classes)
    growths = tuple(tuple(map(int, growth)) for growth in design["growths"])
    return Patterns(tuple(classes), growths, tuple(map(float, design["weights"])))
