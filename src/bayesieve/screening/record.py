"""RunRecord: what is known of one run - its specification, data, warnings, findings and numbers."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import os
import platform
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from bayesieve.data import disambiguate
from bayesieve.posterior import finding_columns
from bayesieve.screening.record_parts import (
    FindingRecord,
    encode_design,
    encode_judgement,
    encode_model,
    encode_number,
    encode_shuffled,
)
from bayesieve.screening.spec import ScreenSpec
from bayesieve.selection import Selection, results_hash
from bayesieve.stats import largest_counts
from bayesieve.utils import FileError, Message, OptionError, decoding

SCHEMA_VERSION = 2
_PACKAGES = ("numpy", "scipy", "numba", "polars")
_REORDERING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}  # marks that show a text in another order
_KINDS = {
    "settings": dict, "classes": dict, "label_map": dict, "transform": str, "sites": list, "described": list,
    "warnings": list, "findings": list, "results": dict, "model": dict, "design": dict, "versions": dict,
    "platform": str, "inputs": list, "settings_hash": str, "hidden": dict, "shuffled": dict,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What is known of one run; made once and carried to tables, reports and manifests.

    Parameters
    ----------
    spec
        Specification of the run; None for arrays that were screened in Python.
    options
        Other options of the command.
    class_counts, label_map, transform, sites
        Samples of every class, label in the data to class, what was done to values, and names of the sites.
    described, warnings
        What was read and left out, and what was warned of.
    findings
        What else was found out: columns, notes, and the numbers that no column holds.
    results
        Numbers of the list: features, selected features, the rule in words, expected numbers, the hash.
    model, design
        The model, and what was compared, so that a table of results can be turned back into a posterior.
    versions, platform
        Software of the run.
    ids_in
        Options that hold ids of samples, or may: ``ignore`` where samples are in columns, ``classes`` where every
        sample has a label of its own.
    inputs, settings_hash
        Files that were read, with sizes and hashes; SHA-256 of all settings, also of those that are not told.
    hidden
        Options that :meth:`redacted` left out: how many names each held, and their hash.
    shuffled
        What the same screen gave with shuffled labels.
    """

    spec: ScreenSpec | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    class_counts: Mapping[str, int] = field(default_factory=dict)
    label_map: Mapping[str, str] = field(default_factory=dict)
    transform: str = ""
    sites: tuple[str, ...] = ()
    described: tuple[Message, ...] = ()
    warnings: tuple[Message, ...] = ()
    findings: tuple[FindingRecord, ...] = ()
    results: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    design: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    platform: str = ""
    ids_in: tuple[str, ...] = ()
    inputs: tuple[Mapping[str, Any], ...] = ()
    settings_hash: str = ""
    hidden: Mapping[str, Any] = field(default_factory=dict)
    shuffled: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, selection: Selection) -> Self:
        """Make the record of a list of which nothing else is known, as of arrays."""
        posterior = selection.posterior
        counts = map(int, largest_counts(posterior.statistics))
        named = dict(zip(disambiguate(posterior.classes), counts, strict=True))
        return cls(class_counts=named, transform="none").with_result(selection)

    def with_result(self, selection: Selection) -> Self:
        """Return the record of a run with what came of it."""
        posterior = selection.posterior
        return replace(
            self,
            findings=tuple(map(FindingRecord.of, posterior.findings, finding_columns(posterior))),
            results=_numbers(selection),
            model=encode_model(posterior.model.take(posterior.ranking, posterior.n_features)),
            design=encode_design(posterior),
            shuffled=encode_shuffled(posterior),
            versions={"bayesieve": importlib.metadata.version("bayesieve"), "python": platform.python_version()}
            | {name: importlib.metadata.version(name) for name in _PACKAGES},
            platform=platform.platform(),
        )

    @property
    def results_hash(self) -> str:
        """SHA-256 of the results; empty if it is not known."""
        return str(self.results.get("sha256", ""))

    @property
    def notes(self) -> tuple[Message, ...]:
        """What is said about the findings."""
        return tuple(note for finding in self.findings for note in finding.notes)

    @property
    def settings(self) -> dict[str, Any]:
        """Return all options of the run, as far as they are set."""
        return {**(self.spec.to_dict(defaults=True) if self.spec else {}), **self.options}

    def redacted(self) -> Self:
        """Return the record without any id of a sample."""
        spec = self.spec
        public = spec and spec.redacted(ignore="ignore" in self.ids_in, classes="classes" in self.ids_in)
        names: dict[str, Collection[str]] = {}
        if spec and public and public.ignore != spec.ignore:
            names["ignore"] = spec.ignore
        if spec and public and public.classes != spec.classes:
            names["classes"] = [label for label in self.label_map if label != "*"]
        hidden = {name: {"n": len(each), "sha256": _hash(each)} for name, each in names.items()}
        return replace(
            self,
            spec=public,
            label_map={} if "classes" in self.ids_in else self.label_map,
            described=tuple(message.redacted() for message in self.described),
            warnings=tuple(message.redacted() for message in self.warnings),
            findings=tuple(finding.redacted() for finding in self.findings),
            ids_in=(),
            hidden={**self.hidden, **hidden},
        )

    def without_folders(self) -> Self:
        """Return the record with files named without their folders, for pages that others read."""
        named = [*self.settings.values(), *(each.get("path") for each in self.inputs)]
        paths = [path for path in named if isinstance(path, str) and os.path.isabs(path)]
        folders = sorted({os.path.join(os.path.dirname(path), "") for path in paths}, key=len, reverse=True)

        def short(value: Any) -> Any:
            if isinstance(value, str):
                return functools.reduce(lambda text, folder: text.replace(folder, ""), folders, value)
            if isinstance(value, Mapping):
                return {name: short(each) for name, each in value.items()}
            return [short(each) for each in value] if isinstance(value, (list, tuple)) else value

        return replace(
            self,
            spec=self.spec and self.spec.without_folders(),
            options=short(self.options),
            described=tuple(Message.from_dict(short(message.to_dict())) for message in self.described),
            warnings=tuple(Message.from_dict(short(message.to_dict())) for message in self.warnings),
            inputs=tuple(short(each) for each in self.inputs),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; :meth:`from_dict` is the inverse, but for ``ids_in``."""
        found: dict[str, Any] = {
            "format": "bayesieve-record",
            "schema_version": SCHEMA_VERSION,
            "settings": self.settings if self.spec else {},
            "classes": dict(self.class_counts),
            "label_map": dict(self.label_map),
            "transform": self.transform,
            "sites": list(self.sites),
            "described": [message.to_dict() for message in self.described],
            "warnings": [message.to_dict() for message in self.warnings],
            "findings": [finding.to_dict() for finding in self.findings],
            **{name: dict(getattr(self, name)) for name in ("results", "model", "design", "versions")},
            "platform": self.platform,
        }
        more = {
            "inputs": [*map(dict, self.inputs)],
            "settings_hash": self.settings_hash,
            "hidden": dict(self.hidden),
            "shuffled": dict(self.shuffled),
        }
        return found | {name: value for name, value in more.items() if value}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], path: str = "the record") -> Self:
        """Read what :meth:`to_dict` wrote; what a newer version has added is left out."""
        wrong = [name for name, kind in _KINDS.items() if not isinstance(values.get(name, kind()), kind)]
        if wrong:
            raise FileError(f"{path} is damaged: its part {wrong[0]!r} is none. Write the result again.")
        settings = check_settings(path, values.get("settings", {}))
        with decoding(path, "Write the result again."), _understood(path):
            plain = {name: kind(values.get(name, kind())) for name, kind in _KINDS.items()}
            return cls(
                spec=ScreenSpec.from_options(settings) if settings else None,
                options={name: value for name, value in settings.items() if name not in ScreenSpec.names()},
                class_counts={str(label): int(n) for label, n in plain["classes"].items()},
                described=tuple(map(Message.from_dict, plain["described"])),
                warnings=tuple(map(Message.from_dict, plain["warnings"])),
                findings=tuple(map(FindingRecord.from_dict, plain["findings"])),
                sites=tuple(map(str, plain["sites"])),
                inputs=tuple(map(dict, plain["inputs"])),
                **{name: plain[name] for name in ("label_map", "transform", "results", "model", "design",
                                                  "versions", "platform", "settings_hash", "hidden", "shuffled")},
            )  # fmt: skip


@contextlib.contextmanager
def _understood(path: str) -> Iterator[None]:
    """Name the file of settings that are not understood."""
    try:
        yield
    except OptionError as error:
        raise FileError(f"{path} cannot be used, because a setting is not understood: ", error.message) from None


def _numbers(selection: Selection) -> dict[str, Any]:
    low, high = selection.false_positives.interval(0.9)
    return {
        "sha256": results_hash(selection),
        "n_features": selection.posterior.n_features,
        "n_selected": selection.n_selected,
        "rule": selection.rule,
        "cut": encode_number(selection.cut),
        "n_tied_out": selection.n_tied_out,
        "expected_false_positives": selection.expected_false_positives,
        "false_positives_90": [int(low), int(high)],
        "expected_under_null": encode_number(selection.expected_under_null),
        "n_degenerate": int(selection.posterior.degenerate.sum()),
        **({"checks": selection.checks.to_dict(ids=False)} if selection.checks else {}),
    } | encode_judgement(selection)


def _hash(names: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(sorted(names)).encode("utf-8", "surrogatepass")).hexdigest()


def check_settings(path: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return settings that were read from a file, or raise if they cannot be those of a screen."""
    for name, value in settings.items():
        for part in (name, *(value if isinstance(value, list) else [value])):
            if isinstance(part, str):
                _check_text(path, name, part)
            elif not (part is None or isinstance(part, (bool, int, float))):
                raise FileError(
                    f"{path} cannot be used: its setting {name} holds {type(part).__name__}, and settings are "
                    "texts, numbers and lists of them. The file has been changed; write it again with bayesieve "
                    "screen."
                )
    return dict(settings)


def _check_text(path: str, name: str, text: str) -> None:
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        if (kind in ("Cc", "Zl", "Zp") and character != "\t") or ord(character) in _REORDERING:
            raise FileError(
                f"{path} cannot be used: its setting {name!r} holds the control character U+{ord(character):04X} "
                f"(at position {place + 1}), which no option of bayesieve screen has a use for. Somebody may want "
                "to have a command run that is not the one shown. Do not use the file; write it again with "
                "bayesieve screen."
            )
