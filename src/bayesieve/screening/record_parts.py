"""Parts of a record: models, comparisons and findings as plain values, and back."""

from __future__ import annotations

import base64
import dataclasses
import math
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from bayesieve import models
from bayesieve.models import Comparison, Model, PairedComparison, Part, Patterns, UnknownComparison, UnknownModel
from bayesieve.posterior import (
    SCHEMES,
    BlockEvidence,
    FeaturePosterior,
    Finding,
    Fragility,
    ShuffledLabels,
    share_of,
)
from bayesieve.selection import CountTest, FalsePositiveEstimate, Selection
from bayesieve.stats import Moments
from bayesieve.utils import FloatArray, Message

_ENCODED = (
    "CalibratedModel", "GaussianModel", "KindModel", "NormalInverseGamma", "CategoricalModel", "PoissonModel",
    "NegativeBinomialModel",
)  # fmt: skip
_PASSING = ("held",)  # fields that hold no part of a model


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
                "family": finding.family,
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
        model = _decode(values)
    if not isinstance(model, Model):
        raise ValueError(f"{str(values.get('type'))[:40]!r} is no model")
    return model


def _encode(value: Any) -> Any:
    if type(value).__name__ in _ENCODED and type(value) is getattr(models, type(value).__name__):
        fields = (each.name for each in dataclasses.fields(value) if each.name not in _PASSING)
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
    fields = {name: _decode(each) for name, each in value.items() if name != "type"}
    if fields.get("variance_weight") is not None:  # records from before these constants existed
        fields = {"both_share": 0.0, "kurtosis": 0.0} | fields
    return getattr(models, value["type"])(**fields)


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
    if isinstance(compared, PairedComparison | models.EffectPairs) and len(compared.parts) == 1:
        found["comparison"] = "pairs" if isinstance(compared, PairedComparison) else "effect-pairs"
    plain = isinstance(compared, Comparison) and len(compared.parts) == 1 and compared.parts[0].kept is None
    as_given = posterior.block_evidence is None and posterior.adjustment is None
    if posterior.has_moments and as_given and (compared is None or plain):
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
    if kind == "effect-pairs" and isinstance(model, models.CalibratedModel):
        return models.EffectPairs((statistics,), (usable,), model)
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


def encode_judgement(selection: Selection) -> dict[str, Any]:
    """Return the number of false positives with its source, and what the count test says of a list."""
    estimate, shuffled, test = (
        selection.false_positive_estimate,
        selection.posterior.shuffled,
        selection.count_test,
    )
    found: dict[str, Any] = {
        "false_positives": {
            "expected": encode_number(estimate.expected), "low": encode_number(estimate.low),
            "high": encode_number(estimate.high), "source": estimate.source,
            "n_shuffles": None if shuffled is None else shuffled.n_shuffles,
            "scheme": None if shuffled is None else shuffled.scheme,
        },
        "was_cut": selection.was_cut,
    }  # fmt: skip
    if test is not None:
        found["count_test"] = {
            "cuts": [*map(encode_number, test.cuts)], "lengths": test.lengths.tolist(),
            "p_values": test.p_values.tolist(), "n_as_long": test.n_as_long.tolist(),
            "n_shuffles": test.n_shuffles, "level": test.level,
        }  # fmt: skip
    return found


def decode_judgement(results: Mapping[str, Any], posterior: FeaturePosterior) -> dict[str, Any]:
    """Return what a selection holds beside its list: count test, whether it was cut, and a number known apart."""
    stated, test = results.get("false_positives", {}), results.get("count_test")
    found: dict[str, Any] = {"was_cut": bool(results.get("was_cut", False))}
    if test is not None:
        if posterior.shuffled is None:
            raise ValueError("a test of the list without shuffled labels")
        found["count_test"] = CountTest(
            np.array([*map(float, test["cuts"])]), np.array(test["lengths"], dtype=np.int64),
            np.array(test["p_values"], dtype=np.float64), np.array(test["n_as_long"], dtype=np.int64),
            int(test["n_shuffles"]), float(test["level"]),
        )  # fmt: skip
        _check_test(found["count_test"])
    if stated.get("source") == "shuffles" and posterior.shuffled is not None:
        step = posterior.null_share / posterior.shuffled.n_shuffles if results.get("n_selected") else 0.0
        expected, low, high = (float(stated[name]) for name in ("expected", "low", "high"))
        found["estimate"] = FalsePositiveEstimate(expected, low, high, "shuffles", step)
    return found


def _check_test(test: CountTest) -> None:
    """Raise unless there is one number of each kind for every cut, and at least one cut."""
    shapes = {each.shape for each in (test.cuts, test.lengths, test.p_values, test.n_as_long)}
    if len(shapes) != 1 or test.cuts.ndim != 1 or not test.cuts.size:
        raise ValueError("its count test lacks numbers")


def encode_shuffled(posterior: FeaturePosterior) -> dict[str, Any]:
    """Return what shuffled labels gave, in rank order, so that any question can be asked of it again.

    Log Bayes factors over 0 are kept to the last bit; how many features reach each other as differences of whole
    numbers. The share is left out where it follows.
    """
    shuffled, order = posterior.shuffled, posterior.ranking
    if shuffled is None:
        return {}
    n, own = shuffled.n_shuffles, _own(posterior, shuffled)[order]
    reached = np.rint(shuffled.reaching[order] * n).astype(np.int64)
    found = {
        "scheme": shuffled.scheme, "complete": shuffled.complete, "by_feature": shuffled.by_feature,
        "least": encode_number(shuffled.least), "own_share": encode_number(shuffled.own_share),
        "shares": shuffled.shares.tolist(), "least_share": shuffled.least_share,
        "lengths": [each.size for each in shuffled.values],
        "values": _pack(np.concatenate(shuffled.values)),
        "reached": _pack(np.diff(reached, prepend=0)),
    }  # fmt: skip
    if not np.array_equal(share_of(own, reached / n), shuffled.share[order]):
        found["share"] = _pack(shuffled.share[order])
    return found


def decode_shuffled(values: Mapping[str, Any], posterior: FeaturePosterior) -> ShuffledLabels | None:
    """Return what :func:`encode_shuffled` recorded; the features of the posterior are in rank order."""
    if not values:
        return None
    lengths, n = [*map(int, values["lengths"])], posterior.n_features
    if min(lengths, default=-1) < 0:
        raise ValueError("shuffles without numbers")
    every = _unpack(values["values"], sum(lengths), "<f8")
    by_shuffle = tuple(part.copy() for part in np.split(every, np.cumsum(lengths)[:-1]))
    reaching = np.cumsum(_unpack(values["reached"], n, "<i8")) / len(lengths)
    by_feature = bool(values["by_feature"])
    shares = np.array(values["shares"], dtype=np.float64)
    if values["scheme"] not in SCHEMES or shares.ndim != 1:
        raise ValueError("shuffles of an unknown kind")
    made = ShuffledLabels(
        by_shuffle,
        reaching,
        reaching,
        str(values["scheme"]),
        bool(values["complete"]),
        by_feature,
        float(values["least"]),
        float(values["own_share"]),
        shares,
        float(values["least_share"]),
    )
    share = share_of(_own(posterior, made), reaching) if "share" not in values else None
    return dataclasses.replace(made, share=_unpack(values["share"], n, "<f8") if share is None else share)


def _own(posterior: FeaturePosterior, shuffled: ShuffledLabels) -> FloatArray:
    return posterior.log_odds if shuffled.by_feature else posterior.log_bayes_factor


def _pack(array: np.ndarray[Any, Any]) -> str:
    """Return numbers of 8 bytes as text: first bytes of all first, which makes them small, compressed."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(plain.view(np.uint8).reshape(-1, 8).T.tobytes(), 6)).decode()


def _unpack(text: Any, n: int, kind: str) -> Any:
    """Return the numbers that :func:`_pack` wrote; raise unless there are as many as there should be."""
    reader = zlib.decompressobj()
    try:
        held = reader.decompress(base64.b64decode(str(text), validate=True), 8 * n + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(held) != 8 * n or not reader.eof:
        raise ValueError(f"{n:,} numbers of shuffled labels were promised")
    return np.frombuffer(held, np.uint8).reshape(8, n).T.copy().view(kind).ravel()
