"""read_result(): a stored result turned back into a posterior and its selection."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.io.results.formulas import unquote_formula
from bayesieve.io.results.table import (
    StoredTable,
    class_columns,
    read_stored_table,
    stored_prior,
    stored_statistics,
    take_columns,
)
from bayesieve.io.results.write import side_car
from bayesieve.io.tables.roles import check_distinct
from bayesieve.models import Degeneracy, UnknownModel
from bayesieve.posterior import BlockEvidence, FeaturePosterior, Finding, Fragility, depends_on_prior
from bayesieve.screening import (
    SCHEMA_VERSION,
    FindingRecord,
    RunRecord,
    decode_comparison,
    decode_judgement,
    decode_model,
    decode_shuffled,
)
from bayesieve.selection import FixedSize, MinimalRisk, Selection, hash_columns
from bayesieve.utils import FileError, FloatArray, Message, decoding, is_whole, list_names, read_json

_NEEDED = ("feature", "log_odds", "log_bayes_factor")
_HEAD = (
    *_NEEDED, "rank", "probability", "local_fdr", "expected_fdr", "selected", "degenerate", "degenerate_reason",
    "transform",
)  # fmt: skip
_UNKNOWN = Message.of(
    "The table came without its record, so that model, prior and shuffled labels of the screen are not known: "
    "log-odds and list are those of the columns, expected numbers follow from the log-odds alone; the number "
    "expected under the global null, and everything else that takes the model, cannot be told.",
    kind="no-record",
)


@dataclass(frozen=True, slots=True, eq=False)
class StoredColumns:
    """Columns of a result file, as a finding of the posterior.

    Parameters
    ----------
    held
        Arrays or lists by name, one cell per feature.
    sentences
        What was said about them.
    """

    held: dict[str, Any]
    sentences: tuple[Message, ...] = ()

    def columns(self, posterior: FeaturePosterior) -> dict[str, Any]:
        """Columns as they were stored."""
        del posterior
        return dict(self.held)

    def take(self, places: Any) -> StoredColumns:
        """Some of the features."""
        return StoredColumns(take_columns(self.held, places), self.sentences)

    def without_samples(self) -> StoredColumns:
        """Return the same without the samples on which features hang."""
        held = {name: column for name, column in self.held.items() if name != "culprit"}
        return StoredColumns(held, self.sentences)

    def notes(self) -> list[Message]:
        """Sentences for the summary."""
        return list(self.sentences)

    def reweighed(self, prior_log_odds: Any) -> tuple[StoredColumns, Any]:
        """Drop the columns that hold for the stored prior only."""
        kept = {name: column for name, column in self.held.items() if not depends_on_prior(name)}
        return StoredColumns(kept), prior_log_odds


@dataclass(frozen=True, slots=True, eq=False)
class StoredResult:
    """What a result file holds.

    Parameters
    ----------
    path
        The file.
    selection
        The posterior and the list; features are in the order of their ranks.
    record
        What is known of the run; of a table without a record its classes, transform and list alone.
    annotation
        Columns that came from a table of annotations.
    remarks
        What is not known, or in doubt.
    n_sites
        How many sites hold each feature; None if the result is not of a statistics file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> selection = bs.FixedSize(3).select(bs.screen(X, ["a", "b"] * 10, model=bs.GaussianModel.jeffreys()))
    >>> path = bs.write_result(pathlib.Path(tempfile.mkdtemp()) / "list.csv", selection)
    >>> stored = bs.read_result(path)
    >>> stored.selection.names == selection.names, stored.record.results["false_positives"]["source"]
    (True, 'shuffles')
    """

    path: str
    selection: Selection
    record: RunRecord
    annotation: dict[str, list[str | None]]
    remarks: tuple[Message, ...] = ()
    n_sites: npt.NDArray[np.int64] | None = None

    @property
    def posterior(self) -> FeaturePosterior:
        """The screen."""
        return self.selection.posterior


def read_record(path: str | os.PathLike[str]) -> RunRecord:
    """Read the record of a run: a side-car, or a manifest."""
    content, name = read_json(path), os.fspath(path)
    if not isinstance(content, dict) or content.get("format") not in ("bayesieve-record", "bayesieve-manifest"):
        raise FileError(f"{name} is no manifest of bayesieve; name a file that screen --manifest wrote.")
    if content.get("schema_version") != SCHEMA_VERSION:
        versions = content.get("versions")
        writer = versions.get("bayesieve") if isinstance(versions, dict) else None
        raise FileError(
            f"{name} is in version {content.get('schema_version')!r} of the format, of bayesieve "
            f"{writer or 'of another version'}; this one reads version {SCHEMA_VERSION}. Screen the data again."
        )
    if content.get("command", "screen") != "screen":
        raise FileError(f"{name} is not the manifest of a screen: it is of bayesieve {content['command']}.")
    wrong = [key for key in ("settings", "results") if not isinstance(content.get(key), dict)]
    if wrong:
        raise FileError(f"{name} is not the record of a screen: {list_names(wrong)} is missing.")
    return RunRecord.from_dict(content, name)


def read_result(path: str | os.PathLike[str], manifest: str | os.PathLike[str] | None = None) -> StoredResult:
    """Read a result that :func:`bayesieve.write_result` or ``bayesieve screen --out`` wrote.

    Log-odds and the list are the same to the last bit. Of a text table the record is found beside it, as
    ``ranked.csv.json`` for ``ranked.csv``; without it model and prior are not known.

    Parameters
    ----------
    path
        The result table: .csv, .tsv, .txt, .parquet or .json.
    manifest
        The manifest of the same run, to be used in place of the record of the table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> model = bs.GaussianModel.jeffreys()
    >>> posterior = bs.screen(X, ["a", "b"] * 10, model=model, prior_probability=0.1, shuffles=0)
    >>> selection = bs.FixedSize(3).select(posterior)
    >>> path = bs.write_result(pathlib.Path(tempfile.mkdtemp()) / "list.csv", selection)
    >>> bs.read_result(path).selection.summary() == selection.summary()
    True
    """
    table = read_stored_table(path)
    table.check_columns(_NEEDED)
    check_distinct(table.path, table.texts("feature"), "feature")
    table = _in_order(table)
    record, source = _find_record(table, manifest)
    if record is not None:
        table = _belonging(table, record, source)
    if not np.isfinite(table.present("log_bayes_factor")).all():
        raise FileError(f"{table.path}: log Bayes factors must be finite. Write the file again.")
    with decoding(source or table.path, "Write the result again."):
        selection = _selection(table, _posterior(table, record), record)
    own, others, n_sites = _parts(table, record)
    remarks = () if record is not None else (_UNKNOWN, *_may_be_cut(table, selection))
    if record is None:
        counts = selection.posterior.statistics.counts.max(axis=1)
        record = RunRecord(
            class_counts={str(c): int(n) for c, n in zip(selection.posterior.classes, counts, strict=True)},
            transform=table.texts("transform")[0] if "transform" in own else "",
        )
    annotation = {name: table.optional_texts(name) for name in others}
    return StoredResult(table.path, selection, record, annotation, remarks, n_sites)


def _find_record(table: StoredTable, manifest: Any) -> tuple[RunRecord | None, str]:
    """Return the record of a table, and where it stands: a manifest, the table itself, or its side-car."""
    if manifest is not None:
        return read_record(manifest), os.fspath(manifest)
    if table.about.get("format") == "bayesieve-record" and table.about.get("schema_version") == SCHEMA_VERSION:
        return RunRecord.from_dict(table.about, table.path), table.path
    beside = side_car(table.path)
    if beside is not None and os.path.isfile(beside):
        return read_record(beside), beside
    return None, ""


def _belonging(table: StoredTable, record: RunRecord, source: str) -> StoredTable:
    """Return the table of a record, without quotes before formulas; raise if it is that of another one.

    Told by the number of features and the hash of the results.
    """
    whole, own = record.results.get("n_features"), source == table.path
    if not isinstance(whole, int) or not is_whole(whole):
        raise FileError(f"{source} is damaged: it does not say how many features the result has. Write it again.")
    if whole == table.n_rows:
        for each in (table, table.renamed(unquote_formula)):
            if _hash(each, record, source) == record.results_hash:
                return each
        raise FileError(
            f"{table.path} has been changed since it was written: the hash of the results differs. Write it again."
            if own
            else f"{source} is the record of another result than {table.path}: the hash of the results differs. "
            "Give the file that was written together with the table, or move it to read the table alone."
        )
    if own:
        raise FileError(
            f"{table.path} holds {table.n_rows:,} features, but the result has {min(whole, 10**15):,}: rows "
            "have been taken "
            "out. What is expected of a list needs all features; give the whole table."
        )
    raise FileError(
        f"{source} is the record of another result than {table.path}: of {min(whole, 10**15):,} features, "
        "and the table holds "
        f"{table.n_rows:,}. Give the whole table, and the file that was written together with it."
    )


def _hash(table: StoredTable, record: RunRecord, source: str) -> str:
    table.check_columns(["selected"])
    numbers = (table.present("log_odds"), table.present("log_bayes_factor"))
    arrays: list[npt.NDArray[Any]] = [*numbers, _codes(table), table.flags("selected")]
    with decoding(source):
        return hash_columns(table.texts("feature"), record.design.get("classes", ()), arrays)


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


def _posterior(table: StoredTable, record: RunRecord | None) -> FeaturePosterior:
    """Put the posterior together: from the record, or as far as columns go."""
    log_bf, log_odds = table.present("log_bayes_factor"), table.present("log_odds")
    known = record or RunRecord()
    own, _, _ = _parts(table, record)
    recorded = [name for finding in known.findings for name in finding.columns]
    names = [name for name in own if name not in _HEAD and name not in recorded]
    found = class_columns(names, known.design.get("classes", ()))
    start = names.index(found.columns[0][0]) if found.columns else 0
    statistics, codes = stored_statistics(table, found, names[start:]), _codes(table)
    prior: Any = known.design.get("prior_log_odds")
    prior = stored_prior(log_odds, log_bf) if prior is None else float(prior)
    model = UnknownModel() if record is None else decode_model(record.model)
    step: Any = known.design.get("resolution", 0.0)
    posterior = FeaturePosterior(
        log_bf, prior, tuple(table.texts("feature")), codes, statistics, model,
        np.array(step) if isinstance(step, list) else step,
        decode_comparison(known.design, model, statistics, codes == 0), (), known.design.get("calibrated", True),
    )  # fmt: skip
    if record is not None:
        posterior = replace(posterior, shuffled=decode_shuffled(record.shuffled, posterior))
        return replace(posterior, findings=tuple(_finding(table, posterior, each) for each in record.findings))
    taken = {name for columns in found.columns for name in columns} | {"mean_difference", "log_variance_ratio"}
    rest = [name for name in names if name not in taken] if found.kind == "moments" else names[:start]
    held = {name: table.as_it_is(name) for name in rest}
    least = np.array_equal(held.get("least_log_odds", ()), log_odds)  # the least over leaving samples out
    return replace(posterior, findings=(StoredColumns(held),) if held else (), calibrated=not least)


def _finding(table: StoredTable, posterior: FeaturePosterior, record: FindingRecord) -> Finding:
    """Make a finding again from its columns and its record."""
    table.check_columns(record.columns)
    numbers, prior = record.numbers, np.asarray(posterior.prior_log_odds)
    if record.kind == "blocks":
        n = len(numbers["names"])
        within = record.columns[1:3] if len(record.columns) - n - 2 * (n > 1) == 3 else ()
        return BlockEvidence(
            tuple(numbers["names"]), np.array([table.present(name) for name in record.columns[-n:]]),
            _without_prior(table.present(record.columns[0]), prior), str(numbers["block_model"]),
            np.array([table.numbers(name) for name in within]) if within else np.empty((0, 0)),
            tuple((str(name), str(why)) for name, why in numbers["unused"]), numbers["prior_ratio"],
            str(numbers.get("family", "Gaussian")),
        )  # fmt: skip
    if record.kind == "fragility":
        return _fragility(table, posterior, record)
    return StoredColumns({name: table.as_it_is(name) for name in record.columns}, record.notes)


def _without_prior(log_odds: FloatArray, prior: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(prior), log_odds - prior, 0.0)


def _fragility(table: StoredTable, posterior: FeaturePosterior, record: FindingRecord) -> Fragility:
    """Put the columns of a fragility together again."""
    least, culprit, below = record.columns
    names, numbers = table.texts(culprit), record.numbers
    known = {name: k for k, name in enumerate(dict.fromkeys(name for name in names if name))}
    if not numbers["named"]:
        known = {name: int(name) for name in known}
    n_below = table.present(below).astype(np.int64)
    none = np.zeros(n_below.size, dtype=np.int64)
    return Fragility(
        posterior, _without_prior(table.present(least), np.asarray(posterior.prior_log_odds)),
        np.array([known.get(name, -1) for name in names], dtype=np.int64), n_below, none, none.copy(),
        float(numbers["cut"]), tuple(known) if numbers["named"] else None,
        totals={str(name): int(n) for name, n in numbers["totals"].items()},
    )  # fmt: skip


def _may_be_cut(table: StoredTable, selection: Selection) -> list[Message]:
    """Say that rows may be missing, if nothing tells how many there were and only good ones are left."""
    every = bool(selection.mask.all())
    if not (every or (selection.posterior.log_bayes_factor > 0.0).all()):
        return []
    why = "every row is selected" if every else "no row speaks against a difference"
    return [Message.of(
        f"{table.path} may have been cut: {why}. The table must hold all features; if it was cut, every expected "
        "number is wrong."
    )]  # fmt: skip


def _parts(
    table: StoredTable, record: RunRecord | None
) -> tuple[list[str], list[str], npt.NDArray[np.int64] | None]:
    """Columns of the result, columns of an annotation (they come last), and the number of sites."""
    names = list(table.columns)
    end = names.index("transform") + 1 if "transform" in names else len(names)
    own, others, n_sites = names[:end], names[end:], None
    if others[:1] == ["n_sites"] and (record is None or record.sites):
        values = table.as_it_is("n_sites")
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and (values == np.round(values)).all():
            n_sites, others = values.astype(np.int64), others[1:]
    return own, others, n_sites


def _codes(table: StoredTable) -> npt.NDArray[np.int8]:
    reasons = {flag.reason: flag for flag in Degeneracy}
    texts = table.texts("degenerate_reason") if "degenerate_reason" in table.columns else [""] * table.n_rows
    codes = np.array([reasons.get(text, Degeneracy.NO_EVIDENCE) for text in texts], dtype=np.int8)
    if "degenerate" in table.columns:
        flags = table.flags("degenerate")
        codes[flags & (codes == 0)] = Degeneracy.NO_EVIDENCE
        codes[~flags] = Degeneracy.NONE
    return codes


def _selection(table: StoredTable, posterior: FeaturePosterior, record: RunRecord | None) -> Selection:
    """The list of the file; without a record that of the probability over one half, or the first of a number."""
    plain = MinimalRisk(0.5).select(posterior)
    if "selected" not in table.columns:
        return plain
    mask = table.flags("selected")
    if record is not None:
        results = record.results
        mask.flags.writeable = False
        under_null = float(
            results.get("expected_under_null", results.get("expected_by_chance"))
        )  # its former name
        return Selection(
            posterior,
            mask,
            str(results["rule"]),
            float(results["cut"]),
            int(results["n_tied_out"]),
            under_null,
            **decode_judgement(results, posterior),
        )
    n = int(mask.sum())
    if not mask[:n].all():
        raise FileError(
            f"{table.path}: the {n:,} selected features are not the {n:,} first of the ranking, as they are after "
            "every rule; row "
            f"{int(np.flatnonzero(~mask[:n])[0]) + 1:,} is left out. The column 'selected' has been changed."
        )
    return plain if np.array_equal(mask, plain.mask) else FixedSize(n).select(posterior)
