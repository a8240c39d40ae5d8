"""read_result(): a stored result turned back into a posterior and its selection."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.errors import FileError, Message, OptionError
from bayesieve.io.results.stored_model import Origin, origin_of
from bayesieve.io.results.stored_parts import (
    OF_FRAGILITY,
    StoredColumns,
    StoredModel,
    Unrepeatable,
    stored_fragility,
)
from bayesieve.io.results.stored_statistics import class_columns, stored_prior, stored_statistics
from bayesieve.io.results.stored_table import StoredTable, read_json, read_stored_table
from bayesieve.io.tables.roles import check_distinct
from bayesieve.models import Degeneracy
from bayesieve.posterior import BlockEvidence, FeaturePosterior, Finding
from bayesieve.screening import ScreenSpec
from bayesieve.selection import FixedSize, MinimalRisk, Selection
from bayesieve.stats import as_moments
from bayesieve.utils import FloatArray, listed

_TURNED = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}  # marks that show a text in another order


def checked_settings(path: str, said: Any) -> dict[str, Any]:
    r"""Return settings that were read from a file, or raise if they cannot be those of a screen.

    Parameters
    ----------
    path
        The file, for messages.
    said
        What it says; anything but a mapping counts as nothing.
    """
    if not isinstance(said, Mapping):
        return {}
    for name, value in said.items():
        for part in (name, *(value if isinstance(value, list) else [value])):
            if isinstance(part, str):
                _check_text(path, name, part)
            elif not (part is None or isinstance(part, (bool, int, float))):
                raise FileError(
                    f"{path} cannot be used: its setting {name} holds {type(part).__name__}, and settings are "
                    "texts, numbers and lists of them. The file has been changed; write it again with bayesieve "
                    "screen."
                )
    return dict(said)


def _check_text(path: str, name: str, text: str) -> None:
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        if (kind in ("Cc", "Zl", "Zp") and character != "\t") or ord(character) in _TURNED:
            raise FileError(
                f"{path} cannot be used: its setting {name!r} holds the control character U+{ord(character):04X} "
                f"(at position {place + 1}), which no option of bayesieve screen has a use for. Somebody may want "
                "to have a command run that is not the one shown. Do not use the file; write it again with "
                "bayesieve screen."
            )


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the manifest of a screen."""
    content, name = read_json(path), os.fspath(path)
    if not isinstance(content, dict) or content.get("format") != "bayesieve-manifest":
        raise FileError(f"{name} is no manifest of bayesieve; name a file that screen --manifest wrote.")
    if content.get("schema_version") != 1:
        raise FileError(
            f"{name} is a manifest in version {content.get('schema_version')!r} of the format, of bayesieve "
            f"{content.get('versions', {}).get('bayesieve', 'of another version')}; this one reads version 1."
        )
    parts = {"settings": dict, "results": dict, "inputs": list}
    wrong = [key for key, kind in parts.items() if not isinstance(content.get(key), kind)]
    if wrong or content.get("command") != "screen":
        raise FileError(
            f"{name} is not the manifest of a screen: "
            + (f"{listed(wrong)} is missing." if wrong else f"it is of bayesieve {content.get('command')}.")
        )
    checked_settings(name, content["settings"])
    return content


def said_by_manifest(manifest: str | os.PathLike[str], table: StoredTable) -> dict[str, Any]:
    """Return what the manifest of a run says about its result, if it is that of this table."""
    content, name = read_manifest(manifest), os.fspath(manifest)
    results, hashed = content["results"], table.about.get("results_hash")
    features = results.get("n_features")
    if features != table.n_rows or hashed not in (None, results.get("sha256")):
        raise FileError(
            f"{name} is the manifest of another run than {table.path}: "
            + (f"of {features} features" if features != table.n_rows else "its results have another hash")
            + ". Give the manifest that was written together with the result."
        )
    return {
        "n_features": features, "settings": dict(content["settings"]), "notes": list(results.get("notes", ())),
        "results_hash": results.get("sha256", ""), "classes": dict(content.get("classes", {})),
    }  # fmt: skip


def note_kind(note: Message) -> str:
    """Return under which kind a note is stored."""
    return note.kind if note.kind in ("fragility", "blocks") else "other"


def stored_notes(said: Any) -> dict[str, list[Message]]:
    """Return notes by kind; notes without one are of no certain kind."""
    found: dict[str, list[Message]] = {"fragility": [], "blocks": [], "other": []}
    for note in said if isinstance(said, list) else ():
        kind, text = (note.get("kind"), note.get("text")) if isinstance(note, dict) else ("", note)
        if isinstance(text, str):
            found[kind if kind in found else "other"].append(Message.of(text, kind=str(kind)))
    return found


_NEEDED = ("feature", "log_odds", "log_bayes_factor")
_HEAD = (*_NEEDED, "rank", "probability", "selected", "degenerate", "degenerate_reason", "transform")


@dataclass(frozen=True, slots=True, eq=False)
class StoredResult:
    """What a result file holds.

    Parameters
    ----------
    path
        The file.
    selection
        The posterior and the list; features are in the order of their ranks.
    transform
        What was done to the values.
    annotation
        Columns that came from a table of annotations.
    settings
        Options of the screen, as far as the file or a manifest say them.
    remarks
        What had to be worked out, in words.
    results_hash
        SHA-256 of the results, empty if the file does not say it.
    n_sites
        How many sites hold each feature; None if the result is not of a statistics file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> from bayesieve.io.results.write import write_results
    >>> from bayesieve.io.results.read import read_result
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> selection = bs.FixedSize(3).select(bs.screen(X, ["a", "b"] * 10))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "list.csv"
    >>> write_results(path, selection.to_dict(), dict)
    >>> stored = read_result(path)
    >>> stored.selection.names == selection.names, stored.posterior.model.prior_ratio
    (True, 0.1)
    """

    path: str
    selection: Selection
    transform: str
    annotation: dict[str, list[str | None]]
    settings: dict[str, Any]
    remarks: tuple[str, ...]
    results_hash: str = ""
    n_sites: npt.NDArray[np.int64] | None = None

    @property
    def posterior(self) -> FeaturePosterior:
        """The screen."""
        return self.selection.posterior

    @property
    def spec(self) -> ScreenSpec | None:
        """Specification of the screen; None if the settings do not say it."""
        return stored_spec(self.settings)

    @property
    def class_counts(self) -> dict[str, int]:
        """Values of every class, of the feature that has most."""
        counts = self.posterior.statistics.counts
        return {str(c): int(n.max()) for c, n in zip(self.posterior.classes, counts, strict=True)}


def stored_spec(settings: Mapping[str, Any]) -> ScreenSpec | None:
    """Return the specification that stored settings hold, None if there are none or they are not understood."""
    try:
        return ScreenSpec.from_options(settings) if settings else None
    except OptionError:
        return None


def read_result(path: str | os.PathLike[str], manifest: str | os.PathLike[str] | None = None) -> StoredResult:
    """Read a table that ``bayesieve screen --out`` wrote: .csv, .tsv, .txt, .parquet or .json.

    Parameters
    ----------
    path
        The result table.
    manifest
        The manifest of the same run, which says what a text file has no place for: model, prior and rule.

    Examples
    --------
    >>> import bayesieve as bs
    >>> from bayesieve.io.results.read import read_result
    >>> try:
    ...     read_result("no-such-result.csv")
    ... except bs.FileError as error:
    ...     print(error)
    There is no file no-such-result.csv. Check the name and the folder.
    """
    table = read_stored_table(path)
    table.check_columns(_NEEDED)
    check_distinct(table.path, table.texts("feature"), "feature")
    table = _in_order(table)
    said = dict(table.about)
    if manifest is not None:
        said |= said_by_manifest(manifest, table)
    whole = said.get("n_features", table.n_rows)
    if whole != table.n_rows:
        raise FileError(
            f"{table.path} holds {table.n_rows:,} features, but the result has {whole}: rows have been taken "
            "out. What is expected of a list needs all features; give the whole table."
        )
    return _rebuilt(table, said)


def _in_order(table: StoredTable) -> StoredTable:
    """Bring the rows to the order of their ranks, and check that these are what the log-odds say."""
    n, log_odds = table.n_rows, table.present("log_odds")
    if "rank" not in table.columns:
        return table.rows(np.argsort(-log_odds, kind="stable"))
    rank = table.present("rank")
    order = np.argsort(rank, kind="stable")
    if not np.array_equal(rank[order], np.arange(1, n + 1)):
        raise FileError(
            f"{table.path} is not a whole result: its {n:,} rows have the ranks {rank.min():g} to {rank.max():g}, "
            f"not every one from 1 to {n:,}. What is expected of a list needs all features; give the whole table."
        )
    falling = log_odds[order]
    rising = np.flatnonzero(falling[1:] > falling[:-1])
    if rising.size:
        raise FileError(
            f"{table.path}: ranks and log-odds contradict each other in {rising.size:,} "
            f"place{'s' * (rising.size > 1)}, first at rank {int(rising[0]) + 2:,}. "
            "The file has been changed; write it again with bayesieve screen --out."
        )
    return table if np.array_equal(order, np.arange(n)) else table.rows(order)


def _rebuilt(table: StoredTable, said: Mapping[str, Any]) -> StoredResult:
    settings = checked_settings(table.path, said.get("settings"))
    spec = stored_spec(settings)
    own, others, n_sites = _parts(table)
    log_bf, log_odds = table.present("log_bayes_factor"), table.present("log_odds")
    if not np.isfinite(log_bf).all():
        raise FileError(f"{table.path}: log Bayes factors must be finite. Write the file again.")
    prior = stored_prior(
        log_odds, log_bf, _number(settings.get("prior_probability", said.get("prior_probability")))
    )
    found = class_columns(own, list(map(str, said.get("classes", ()))))
    statistics, codes = stored_statistics(table, found), _codes(table)
    taken = (
        {*_HEAD, *(name for columns in found.columns for name in columns)} if found.kind == "moments" else {*_HEAD}
    )
    if found.kind == "moments" and len(found.labels) == 2:
        taken |= {"mean_difference", "log_variance_ratio"}
    blocks = _blocks(table, own, prior, log_bf, spec)
    rest = [name for name in own if name not in taken and not (blocks and _is_of_blocks(name))]
    held = {name: table.as_it_is(name) for name in rest}
    robust = spec.robust if spec else np.array_equal(held.get("least_log_odds", ()), log_odds)
    origin = _origin(table, statistics, log_bf, codes == 0, spec, blocks, robust=robust)
    findings: list[Finding] = [blocks] if blocks else []
    notes = stored_notes(said.get("notes"))
    fragile = {name: held.pop(name) for name in OF_FRAGILITY if name in held}
    findings.append(StoredColumns(held, (*([] if blocks else notes["blocks"]), *notes["other"])))
    posterior = FeaturePosterior(
        log_bf, prior, tuple(table.texts("feature")), codes, statistics, origin.model, origin.resolution,
        origin.comparison, tuple(findings), not robust,
    )  # fmt: skip
    selection = _selection(table, posterior, said.get("rule"))
    if len(fragile) == len(OF_FRAGILITY):
        finding = stored_fragility(posterior, fragile, selection.mask, notes["fragility"])
        selection = replace(selection, posterior=posterior.with_finding(finding))
    transform = table.texts("transform")[0] if "transform" in own else str(said.get("transform", ""))
    remarks = tuple(filter(None, (origin.remark, _may_be_cut(table, said, selection))))
    return StoredResult(
        table.path, selection, transform, {name: table.optional_texts(name) for name in others}, settings,
        remarks, str(said.get("results_hash", "")), n_sites,
    )  # fmt: skip


def _may_be_cut(table: StoredTable, said: Mapping[str, Any], selection: Selection) -> str:
    """Say that rows may be missing, if nothing tells how many there were and only good ones are left."""
    every = bool(selection.mask.all())
    if "n_features" in said or not (every or (selection.posterior.log_bayes_factor > 0.0).all()):
        return ""
    why = "every row is selected" if every else "no row speaks against a difference"
    return (
        f"{table.path} may have been cut: {why}. The table must hold all features; if it was cut, every expected "
        "number is wrong."
    )


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _parts(table: StoredTable) -> tuple[list[str], list[str], npt.NDArray[np.int64] | None]:
    """Columns of the result, columns of an annotation (they come last), and the number of sites."""
    names = list(table.columns)
    end = names.index("transform") + 1 if "transform" in names else len(names)
    own, others, n_sites = names[:end], names[end:], None
    if others[:1] == ["n_sites"]:
        values = table.as_it_is("n_sites")
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and (values == np.round(values)).all():
            n_sites, others = values.astype(np.int64), others[1:]
    return own, others, n_sites


def _codes(table: StoredTable) -> npt.NDArray[np.int8]:
    reasons = {flag.reason: flag for flag in Degeneracy}
    said = table.texts("degenerate_reason") if "degenerate_reason" in table.columns else [""] * table.n_rows
    codes = np.array([reasons.get(text, Degeneracy.NO_EVIDENCE) for text in said], dtype=np.int8)
    if "degenerate" in table.columns:
        flags = table.flags("degenerate")
        codes[flags & (codes == 0)] = Degeneracy.NO_EVIDENCE
        codes[~flags] = Degeneracy.NONE
    return codes


def _is_of_blocks(name: str) -> bool:
    fixed = ("log_odds_pooled", "mean_difference_within", "log_variance_ratio_within", "log_odds_without_a_block")
    return name in (*fixed, "without_block") or name.startswith("block_")


def _blocks(
    table: StoredTable, own: Sequence[str], prior: Any, log_bf: FloatArray, spec: ScreenSpec | None
) -> BlockEvidence | None:
    """What every block says, if there are blocks."""
    columns = [name for name in own if name.startswith("block_")]
    if "log_odds_pooled" not in own or not columns:
        return None
    contributions = np.array([table.present(name) for name in columns])
    within = [
        table.numbers(name) for name in ("mean_difference_within", "log_variance_ratio_within") if name in own
    ]
    adds_up = np.allclose(contributions.sum(axis=0), log_bf, rtol=1e-6, atol=1e-6)
    if spec is None:
        model = "own" if adds_up or not within else "shift"
    else:
        model = "pairs" if not within and spec.pairs else spec.block_model
    return BlockEvidence(
        tuple(name.removeprefix("block_") for name in columns), contributions,
        np.asarray(table.present("log_odds_pooled") - prior), model,
        np.array(within) if within else np.empty((0, 0)),
    )  # fmt: skip


def _origin(
    table: StoredTable, statistics: Any, log_bf: FloatArray, usable: npt.NDArray[np.bool_],
    spec: ScreenSpec | None, blocks: BlockEvidence | None, *, robust: bool,
) -> Origin:  # fmt: skip
    if as_moments(statistics):
        pooled, names = log_bf if blocks is None else blocks.pooled_log_bayes_factor, table.texts("feature")
        return origin_of(statistics, pooled, usable, spec, names, blocks=blocks is not None, robust=robust)
    return Origin(
        spec.make_model() if spec and spec.model != "gaussian" else StoredModel(), Unrepeatable(), 0.0,
        "A stored result of counts or categories holds no samples: the number of features that would pass by "
        "chance is not known.",
    )  # fmt: skip


def _selection(table: StoredTable, posterior: FeaturePosterior, words: Any) -> Selection:
    """The list of the file: of the probability over one half, or the first so and so many."""
    plain = MinimalRisk(0.5).select(posterior)
    if "selected" not in table.columns:
        return plain
    mask = table.flags("selected")
    n = int(mask.sum())
    if not mask[:n].all():
        raise FileError(
            f"{table.path}: the {n:,} selected features are not the {n:,} first of the ranking, as they are after "
            "every rule; row "
            f"{int(np.flatnonzero(~mask[:n])[0]) + 1:,} is left out. The column 'selected' has been changed."
        )
    found = plain if np.array_equal(mask, plain.mask) else FixedSize(n).select(posterior)
    rule = str(words) if isinstance(words, str) and words else found.rule
    return Selection(posterior, found.mask, rule, found.cut, found.n_tied_out)
