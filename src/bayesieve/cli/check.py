"""``bayesieve check``: shuffled labels and known differences on a table of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesieve.cli.console import EndingError, Talk, show
from bayesieve.cli.inputs import Input, check_classes, read_input
from bayesieve.cli.outputs import RunOptions, check_outputs, write_config
from bayesieve.io import write_results
from bayesieve.screening import ScreenSpec
from bayesieve.study import TableCheck, check_table
from bayesieve.utils import LabelError, OptionError


def run_check(options: Mapping[str, Any]) -> None:
    """Read, shuffle and spike, screen again and again, write and tell."""
    spec, run = ScreenSpec.from_options(options), RunOptions.from_options(options)
    talk = run.talk()
    share, probability = options["spiked_share"], _probability(spec)
    methods = [name.strip() for name in str(options["methods"]).split(",") if name.strip()]
    check_outputs(spec, run)
    with talk.timed("read"):
        source = read_input(spec, talk, memory=run.memory, threads=run.threads, keep_values=True)
    _check(source)
    with talk.timed("check"):
        found = _run(
            source,
            talk,
            repeats=options["repeats"],
            spiked_share=share,
            methods=methods,
            rule=spec.make_rule(),
            prior_probability=probability,
            missing=spec.missing,
            n_threads=run.threads,
            seed=spec.seed or 0,
            **({} if spec.shuffles is None else {"shuffles": spec.shuffles}),
        )
    show(found.summary())
    if run.out is not None:
        _write(run.out, found, source)
    write_config(run, "check", spec, options)
    wrote = "" if run.out is None else f"\nWrote {len(found.rows):,} rows to {run.out}."
    talk.say("result", "\n".join(source.described) + wrote, rows=found.summary_rows())


def _probability(spec: ScreenSpec) -> float:
    if isinstance(spec.prior_probability, str):
        raise OptionError(
            "A check takes one prior probability for all features, such as --prior-probability 0.01."
        )
    return float(spec.prior_probability)


def _check(source: Input) -> None:
    """Raise unless there are samples of two classes."""
    if source.sites:
        raise OptionError(
            f"{source.spec.table} holds sums and no samples with labels to shuffle. Check the table itself."
        )
    check_classes(source)
    if len(source.class_counts) > 2:
        first, second = list(source.class_counts)[:2]
        raise LabelError(
            f"A check is made with two classes, but {source.spec.table} has {len(source.class_counts)}. Pick "
            f'or merge some, for example --classes "{first}; {second}".'
        )


def _run(source: Input, talk: Talk, **settings: Any) -> TableCheck:
    done = 0
    with talk.progress("Screens", counted=True) as bar:

        def tell(number: int, total: int) -> None:
            nonlocal done
            done = number
            if bar is not None:
                bar(number, total)

        try:
            return check_table(source.data, progress=tell, **settings)
        except KeyboardInterrupt:
            raise EndingError(130, f"interrupted after {done:,} screens; nothing was written.") from None


def _write(path: str, found: TableCheck, source: Input) -> None:
    about = {
        "table": source.spec.table,
        "classes": found.class_counts,
        "transform": source.record.transform,
        "n_features": found.n_features,
        "n_spiked": found.n_spiked,
        "spikes": [spike.words for spike in found.spikes],
        "summary": found.summary_rows(),
    }
    write_results(path, found.to_dict(), lambda: about)
