"""``bayesieve pairs``: the pairs of features that differ together, and what chance would give."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input, check_classes, read_input
from bayesieve.cli.layout import align, short, wrap
from bayesieve.cli.outputs import RunOptions, check_outputs, check_targets, files_read, write_config
from bayesieve.io import check_ending, text_chunks, write_results
from bayesieve.rivals import FeatureScores, PairScreen, score, screen_pairs, two_class_values
from bayesieve.screening import ScreenSpec
from bayesieve.utils import DegenerateFeatureWarning, LabelError, OptionError, plural, together

_SHUFFLES_OF_BLOCKS = 5
_SHOWN, _BLOCKS_SHOWN, _MEMBERS_SHOWN = 10, 10, 8
_NAME = 18  # characters


def run_pairs(options: Mapping[str, Any]) -> None:
    """Read, compare all pairs, write and tell."""
    given = {name: options.get(name) for name in ("table", *ScreenSpec.names("read_table"), "seed")}
    spec = ScreenSpec.from_options({**given, "missing": "omit"})  # what is missing is refused further on, and why
    run, blocks_out = RunOptions.from_options(options), options["blocks_out"]
    talk = run.talk()
    check_outputs(spec, run)
    if blocks_out is not None:
        check_ending(blocks_out)
        check_targets(files_read(spec, run), {"out": run.out, "blocks_out": blocks_out})
    with talk.timed("read"):
        source = read_input(spec, talk, memory=run.memory, threads=run.threads, keep_values=True)
    _check(source)
    matrix = two_class_values(source.data, method="bayesieve pairs", missing="omit")
    asked = {"prior": options["prior"], "n_threads": run.threads}
    shuffles = options["shuffles"]
    with talk.timed("pairs"), talk.progress("Pairs", share=True) as progress:
        found = screen_pairs(
            matrix, by=options["by"], top=options["top"], shuffles="auto" if shuffles is None else shuffles,
            seed=spec.seed or 0, progress=progress, **asked,
        )  # fmt: skip
    blocks = None
    if blocks_out is not None:
        with warnings.catch_warnings(), talk.timed("blocks"), talk.progress("Blocks", share=True) as progress:
            warnings.simplefilter("ignore", DegenerateFeatureWarning)  # said already
            n_shuffles = 0 if found.null is None else min(found.null.n_shuffles, _SHUFFLES_OF_BLOCKS)
            blocks = score(
                matrix, method="spm", shuffles=n_shuffles, seed=spec.seed or 0, progress=progress, **asked
            )  # fmt: skip
    with talk.timed("write"), together():
        _write(run.out, found, source)
        if blocks is not None:
            write_results(blocks_out, _block_columns(blocks), lambda: _about(found, source))
        write_config(run, "pairs", spec, options, ("prior", "top", "shuffles"))
    _tell(talk, found, blocks, source, {run.out: found.n_listed, blocks_out: _size(blocks)})


def _check(source: Input) -> None:
    """Raise unless there are samples of two classes."""
    if source.sites:
        raise OptionError(
            f"{source.spec.table} holds sums of single features and no samples: pairs cannot be made of them. "
            "Give the table itself."
        )
    check_classes(source)
    if len(source.class_counts) > 2:
        first, second = list(source.class_counts)[:2]
        raise LabelError(
            f"Pairs are compared in two classes, but {source.spec.table} has {len(source.class_counts)}. Pick or "
            f'merge some, for example --classes "{first}; {second}".'
        )


def _write(out: str | None, found: PairScreen, source: Input) -> None:
    table = found.to_dict()
    if out is not None:
        write_results(out, table, lambda: _about(found, source))
        return
    for chunk in text_chunks(table):
        sys.stdout.buffer.write(chunk)
    sys.stdout.flush()


def _about(found: PairScreen, source: Input) -> dict[str, Any]:
    """What formats with a place for it say about the table."""
    null = found.null
    return {
        "table": source.spec.table,
        "classes": dict(source.class_counts),
        "transform": source.record.transform,
        "by": found.by,
        "n_features": len(found.names),
        "n_pairs": found.n_pairs,
        "n_shuffles": 0 if null is None else null.n_shuffles,
        "largest_by_chance": None if null is None else float(null.largest.max()),
    }


def _block_columns(blocks: FeatureScores) -> dict[str, Any]:
    """One row for each member of a block, in the order of joining."""
    told = blocks.diagnostics
    rows = [
        (k, step, name, gain)
        for k, (names, gains) in enumerate(zip(told["blocks"], told["gains"], strict=True), 1)
        for step, (name, gain) in enumerate(zip(names, gains, strict=True), 1)
    ]
    numbers, steps, names, gains = zip(*rows, strict=True) if rows else ((), (), (), ())
    return {
        "block": np.array(numbers, dtype=np.int64), "step": np.array(steps, dtype=np.int64),
        "feature": list(names), "log_gain": np.array(gains, dtype=np.float64),
    }  # fmt: skip


def _size(blocks: FeatureScores | None) -> int:
    return 0 if blocks is None or blocks.selected is None else int(blocks.selected.sum())


def _tell(
    talk: Talk, found: PairScreen, blocks: FeatureScores | None, source: Input, wrote: Mapping[str | None, int]
) -> None:
    counts = " and ".join(f"{label} ({count:,})" for label, count in source.class_counts.items())
    texts = [*source.described, f"Classes: {counts}.", "", *found.summary().splitlines()]
    lines = [part for text in texts for part in (wrap(text) or [""])]
    lines += ["", *_table(found, list(source.class_counts))]
    if blocks is not None:
        lines += ["", *_block_lines(blocks, found.null is not None)]
    files = [f"Wrote {plural(n, 'row')} to {path}." for path, n in wrote.items() if path is not None]
    talk.say("result", "\n".join([*lines, "", *files] if files else lines), **_about(found, source))


def _table(found: PairScreen, labels: Sequence[str]) -> list[str]:
    """The strongest pairs and what changed in them."""
    n = min(_SHOWN, found.n_listed)
    pairs, null = found.pairs[:n], found.null
    columns = [
        ("feature", [short(first, _NAME) for first, _ in pairs]),
        ("partner", [short(second, _NAME) for _, second in pairs]),
        ("together", [f"{value:.1f}" for value in found.together[:n]]),
        ("alone", [f"{a:.1f}, {b:.1f}" for a, b in found.single[:, :n].T]),
    ]
    columns += [
        (f"r {short(label, 10)}", [f"{r:+.2f}" for r in row[:n]])
        for label, row in zip(labels, found.correlation, strict=True)
    ]
    columns += [("z", [f"{z:+.1f}" for z in found.fisher_z[:n]]), ("what changed", list(found.kinds[:n]))]
    if null is not None:
        columns.append(("by chance", [_number(value, null.n_shuffles) for value in null.expected[:n]]))
    head = (
        "together: log evidence beyond both features alone; alone: log evidence of each; r: correlation in each "
        "class; z: their difference in standard errors"
    )
    head += "; by chance: pairs as strong under shuffled labels." if null is not None else "."
    return [
        *wrap(f"The {n} strongest pairs ({head})" if n != 1 else f"The strongest pair ({head})"),
        *align(columns),
    ]


def _number(expected: float, n_shuffles: int) -> str:
    if expected == 0.0:
        return f"<{1.0 / n_shuffles:.2g}"
    return f"{expected:.2g}" if expected < 100 else f"{expected:,.0f}"


def _block_lines(blocks: FeatureScores, shuffled: bool) -> list[str]:
    found, least = blocks.diagnostics["blocks"], blocks.diagnostics["log_t4"]
    seeds = f"Seeds have a log POFAC above {least:.1f}" + (
        ", the largest of tables with shuffled labels or of the prior odds" if shuffled else
        "; labels were not shuffled, and correlated features make seeds by chance"
    )  # fmt: skip
    lines = wrap(f"SPM finds {plural(len(found), 'block')} of {plural(_size(blocks), 'feature')}. {seeds}.")
    for k, names in enumerate(found[:_BLOCKS_SHOWN], 1):
        more = f" and {len(names) - _MEMBERS_SHOWN:,} more" if len(names) > _MEMBERS_SHOWN else ""
        lines += wrap(f"  {k}. {', '.join(names[:_MEMBERS_SHOWN])}{more}")
    if len(found) > _BLOCKS_SHOWN:
        lines.append(f"  and {len(found) - _BLOCKS_SHOWN:,} more.")
    return lines
