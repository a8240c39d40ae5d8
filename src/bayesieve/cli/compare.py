"""``bayesieve compare``: several methods on the same table, side by side."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesieve.cli.console import Talk
from bayesieve.cli.inputs import Input, check_classes, read_input
from bayesieve.cli.layout import align, short, wrap
from bayesieve.cli.outputs import RunOptions, check_outputs, write_config
from bayesieve.io import text_chunks, write_results
from bayesieve.rivals import MethodComparison, check_methods, compare_methods, rival
from bayesieve.screening import ScreenSpec
from bayesieve.utils import LabelError, OptionError

_SHOWN = 10  # at most so many of every method
_SHARED = ("screen", "draws", "burn_in", "thin", "chains")  # options of several methods, with a flag of their own


def run_compare(options: Mapping[str, Any], methods: str, top: str | None) -> None:
    """Read, rank by every method, write and tell."""
    spec, run = ScreenSpec.from_options(options), RunOptions.from_options(options)
    talk = run.talk()
    found_methods, lengths = check_methods(methods), _lengths(top)
    asked = _method_options(found_methods, options)
    check_outputs(spec, run)
    with talk.timed("read"):
        source = read_input(spec, talk, memory=run.memory, threads=run.threads)
    _check(source, found_methods)
    with talk.timed("compare"), talk.progress("Comparing methods", share=True) as progress:
        found = compare_methods(
            source.data,
            methods=list(found_methods.values()),
            top=lengths,
            options=asked,
            feature_names=source.feature_ids if source.sites else None,
            missing=spec.missing,
            n_threads=run.threads,
            progress=progress,
        )
    with talk.timed("write"):
        _write(run.out, found, source)
    if run.report is not None:
        from bayesieve.report import write_comparison  # noqa: PLC0415 - slow to import

        with talk.timed("report"):
            write_comparison(found, run.report)
    write_config(run, "compare", spec, options)
    _tell(talk, found, source, run.out)


def _method_options(methods: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Options by method: those with a flag go to every method that has them, others to the one they name."""
    found: dict[str, dict[str, Any]] = {}
    for name in _SHARED:
        value = options.get(name)
        if value is None:
            continue
        takers = [key for key, method in methods.items() if name in method.options]
        if not takers:
            flag = f"--{name}".replace("_", "-")
            raise OptionError(f"None of the methods ({', '.join(methods)}) has the option {flag}. Leave it out.")
        for key in takers:
            found.setdefault(key, {})[name] = None if (name, value) == ("screen", "all") else value
    for text in options.get("method_option") or ():
        place, equals, written = text.partition("=")
        method, dot, name = place.strip().rpartition(".")
        if not equals or not dot:
            raise OptionError(f"--method-option takes METHOD.OPTION=VALUE, for example bpm.seed=1, not {text!r}.")
        key = method if method in methods else rival(method).name
        if key not in methods:
            raise OptionError(f"--method-option {text}: {method} is not among the methods ({', '.join(methods)}).")
        methods[key].check_options(name.replace("-", "_"))
        found.setdefault(key, {})[name.replace("-", "_")] = _value(written.strip())
    return found


def _value(text: str) -> Any:
    """A number, a truth value or a list where JSON reads one, otherwise the text."""
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false", "null") else text)
    except ValueError:
        return text


def _lengths(text: str | None) -> list[int] | None:
    """Read the lengths of lists: 100, or 10,50,100."""
    if text is None:
        return None
    parts = [part.strip() for part in re.split(r"[,;]", text) if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        raise OptionError(f"--top takes whole numbers of at least 1, such as 100 or 10,50,100, not {text!r}.")
    return [int(part) for part in parts]


def _check(source: Input, methods: Mapping[str, Any]) -> None:
    """Raise unless there are two classes, and values where a method needs them."""
    check_classes(source)
    if len(source.class_counts) > 2:
        first, second = list(source.class_counts)[:2]
        raise LabelError(
            f"Methods are compared on two classes, but {source.spec.table} has {len(source.class_counts)}. "
            "Pick or "
            f'merge some, for example --classes "{first}; {second}".'
        )
    by_value = [name for name, method in methods.items() if method.uses == "values"]
    if source.sites and by_value:
        needs, it = ("needs", "it") if len(by_value) == 1 else ("need", "them")
        raise OptionError(
            f"{source.spec.table} holds sums and no values, which {', '.join(by_value)} {needs}. Leave {it} out "
            "of --methods, or compare the table itself."
        )


def _write(out: str | None, found: MethodComparison, source: Input) -> None:
    table, order = found.to_dict(), found.ranking(found.methods[0])
    if out is not None:
        write_results(out, table, lambda: _about(found, source), order)
        return
    for chunk in text_chunks(table, order=order):
        sys.stdout.buffer.write(chunk)
    sys.stdout.flush()


def _about(found: MethodComparison, source: Input) -> dict[str, Any]:
    """What formats with a place for it say about the table."""
    return {
        "table": source.spec.table,
        "classes": dict(source.class_counts),
        "transform": source.record.transform,
        "methods": list(found.methods),
        "overlap": {str(n): found.overlap(n).tolist() for n in found.top},
        "top": list(found.top),
    }


def _tell(talk: Talk, found: MethodComparison, source: Input, out: str | None) -> None:
    first, second = source.class_counts
    _, *summary = found.summary().splitlines()
    counts = " and ".join(f"{label} ({count:,})" for label, count in source.class_counts.items())
    paragraphs = [
        [*source.described, f"Classes: {counts}; differences are {second} minus {first}."],
        summary,
    ]
    lines = []
    for paragraph in paragraphs:
        lines += [part for text in paragraph for part in wrap(text)]
        lines += [""] if paragraph else []
    lines += [*_rank_table(found), "", *_overlap_table(found)]
    if out is not None:
        lines += ["", f"Wrote {found.n_features:,} rows to {out}."]
    talk.say("result", "\n".join(lines), n_features=found.n_features, **_about(found, source))


def _rank_table(found: MethodComparison) -> list[str]:
    """Ranks of the features among the first of any method."""
    most = min(_SHOWN, found.top[-1])
    rows, names = found.union(most).tolist(), found.names
    columns = [("feature", [short(names[i]) for i in rows])]
    columns += [
        (name, [f"{ranks[i]:,}" for i in rows]) for name, ranks in zip(found.methods, found.ranks, strict=True)
    ]
    for name, head in (("mean_z", "mean z"), ("variance_z", "variance z")):
        values = found.differences[name]
        columns.append((head, ["-" if np.isnan(values[i]) else f"{values[i]:+.1f}" for i in rows]))
    return [*wrap(f"Ranks of the features among the {most} strongest of any method:"), *align(columns)]


def _overlap_table(found: MethodComparison) -> list[str]:
    """Shared features of every two methods."""
    n = found.top[-1]
    shared = found.overlap(n)
    columns = [("", list(found.methods))]
    columns += [(name, [f"{count:,}" for count in shared[:, k]]) for k, name in enumerate(found.methods)]
    return [*wrap(f"Features that two methods share among their {n:,} strongest:"), *align(columns)]
