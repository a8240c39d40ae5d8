"""plan(): how many samples the next study needs, from futures of a pilot or of stated effects."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.planning.designs import Goal, parse_designs, parse_ratio
from bayesieve.planning.expected import Expected, Progress, Work
from bayesieve.planning.future import PROBES, RATIO_PROBES, Design
from bayesieve.planning.lists import check_rules, most_listed
from bayesieve.planning.pilot import SHUFFLES, Pilot, read_pilot
from bayesieve.planning.truth import StatedEffects
from bayesieve.posterior import Tabular
from bayesieve.utils import (
    FloatArray,
    Glimpse,
    Glimpsed,
    Late,
    LateMethod,
    OptionError,
    check_between,
    check_whole,
    join_words,
    option,
)

_SEARCH = 200  # futures of a step of the search
_CHANCE = 0.05  # of the shuffles may show as much as a pilot that is relied on
_WIDE = 0.03  # from which features are said to vary together


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan(Glimpsed, Tabular):
    """What studies of several sizes are expected to find; made by :func:`plan`.

    Parameters
    ----------
    expected
        One for each rule and size.
    source
        The pilot, or the effects that were stated.
    right
        Share of the list that shall be right.
    combined
        Whether the samples of the pilot are screened together with those of the study.
    markers, large
        Markers of every future, and those whose means differ by half a standard deviation at least.
    goal, answer
        What was to be reached, and by which of ``expected`` it is reached most cheaply; None if by none.
    reached
        The largest size that was tried for the goal.
    prior_probability
        Prior probability of the screen of the study.

    Examples
    --------
    >>> import bayesieve as bs
    >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
    >>> found = bs.plan(effects=effects, per_class=(20, 80), futures=40)
    >>> [round(each) for each in found.to_dict()["true"]]
    [5, 19]
    """

    expected: tuple[Expected, ...]
    source: Pilot | StatedEffects
    right: float
    combined: bool
    markers: FloatArray
    large: FloatArray
    goal: Goal | None = None
    answer: Expected | None = None
    reached: Design | None = None
    prior_probability: float = 0.01
    costs: dict[str, float] = field(default_factory=dict)

    plot = Late(
        "bayesieve.planning.figures", "PlanPlots", "Figures as methods: ``plot.numbers()``, ``plot.power()``."
    )
    content = LateMethod("bayesieve.planning.page", "plan_content", "Return what a page tells of the plan.")
    report = LateMethod("bayesieve.planning.page", "write_plan", "Write the plan as one HTML page.")

    def _glimpse(self) -> Glimpse:
        """Return expected true and false markers of the first sizes."""
        rows = [each.row(self.right) for each in self.expected[:5]]
        columns = {
            "rule": [row["rule"] for row in rows],
            "samples": [f"{row['n0']} + {row['n1']}" for row in rows],
            "true": [f"{row['true']:.1f}" for row in rows],
            "false": [f"{row['false']:.1f}" for row in rows],
        }
        return Glimpse(f"Plan of {len(self.expected)} lists of a future study", self.sentences()[:1], columns)

    @property
    def rules(self) -> tuple[str, ...]:
        """Rules, in the order given."""
        return tuple(dict.fromkeys(each.rule for each in self.expected))

    def of_rule(self, rule: str) -> list[Expected]:
        """Return what a rule is expected to list, from the smallest study to the largest.

        Examples
        --------
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> found = bs.plan(effects=effects, per_class=(40, 20), futures=20)
        >>> [str(each.design) for each in found.of_rule("mnc")]
        ['20 + 20', '40 + 40']
        """
        return sorted((each for each in self.expected if each.rule == rule), key=lambda each: each.design)

    def to_dict(self) -> dict[str, list[Any]]:
        """Table with one row for each rule and size, as columns.

        ``true``, ``false`` and ``listed`` are means over the futures, with Monte Carlo errors (``_error``) and 90%
        intervals (``_low``, ``_high``).

        Examples
        --------
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> bs.plan(effects=effects, per_class=20, futures=20).to_dict()["n1"]
        [20]
        """
        rows = [each.row(self.right) for each in self.expected]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def to_frame(self) -> Any:
        """Return the table of :meth:`to_dict` as a polars frame.

        Examples
        --------
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> bs.plan(effects=effects, per_class=(20, 40), futures=20).to_frame().height
        2
        """
        return self.to_polars()

    def power(self) -> dict[str, list[Any]]:
        """Probability that a marker of a given size is listed, as columns.

        Examples
        --------
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> table = bs.plan(effects=effects, per_class=40, futures=20).power()
        >>> table["kind"][0], table["size"][0], table["power"][0] < 0.1
        ('mean', 0.25, True)
        """
        rows = list(self._power())
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _power(self) -> Iterator[dict[str, Any]]:
        kinds = [*(("mean", size) for size in PROBES), *(("variance", size) for size in RATIO_PROBES)]
        for each in self.expected:
            for k, (kind, size) in enumerate(kinds):
                shares = each.counts.power[:, k]
                yield {
                    "rule": each.rule, "n0": each.design.n0, "n1": each.design.n1, "kind": kind, "size": size,
                    "power": float(shares.mean()), "error": each.counts.error(shares),
                }  # fmt: skip

    def sentences(self) -> list[str]:
        """Return what the plan rests on, what it answers, and what it does not know.

        Examples
        --------
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> bs.plan(effects=effects, per_class=20, futures=20).sentences()[0]
        'Stated, not measured: 20 markers among 1,000 features, means differ by 1 standard deviations.'
        """
        return [*_of_source(self), *_of_goal(self), *_caveats(self)]

    def summary(self) -> str:
        """Return the sentences and the table as text.

        Examples
        --------
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> print(bs.plan(effects=effects, per_class=20, futures=20).summary().splitlines()[2].split()[:3])
        ['rule', 'samples', 'true']
        """
        first, *rest = self.sentences()
        table = self.cells()
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        lines = ["  ".join(cell.ljust(width) if not k else cell.rjust(width) for k, (cell, width) in
                           enumerate(zip(row, widths, strict=True))).rstrip() for row in table]  # fmt: skip
        return "\n".join([first, "", *lines, "", *rest])

    def cells(self) -> list[list[str]]:
        """Return the table for people: a head, and rows of texts.

        Examples
        --------
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> bs.plan(effects=effects, per_class=20, futures=20).cells()[1][:2]
        ['mnc', '20 + 20']
        """
        head = ["rule", "samples", "true", "90% interval", "false", "90% interval", f"{self.right:.0%} right"]
        rows = [each.row(self.right) for each in self.expected]
        more = {"goal_probability": "goal reached", "cost": "cost"}
        head += [title for name, title in more.items() if name in rows[0]]
        if "interim_listed" in rows[0]:
            head += ["listed at half", "of them stay", "found by half"]
        cells = []
        for row in rows:
            line = [row["rule"], f"{row['n0']} + {row['n1']}"]
            for name in ("true", "false"):
                line += [f"{row[name]:.1f} ({row[f'{name}_error']:.1f})",
                         f"{row[f'{name}_low']:.0f} to {row[f'{name}_high']:.0f}"]  # fmt: skip
            line.append(f"{row['probability_right']:.0%}")
            line += [f"{row[name]:.0%}" if name != "cost" else f"{row[name]:,.0f}" for name in more if name in row]
            if "interim_listed" in row:
                shares = (row["interim_holds"], row["interim_found"])
                line += [f"{row['interim_listed']:.1f}", *("-" if math.isnan(x) else f"{x:.0%}" for x in shares)]
            cells.append(line)
        return [head, *cells]

    def to_json(self) -> str:
        """Return everything as JSON: the sentences, the table and the power.

        Examples
        --------
        >>> import json
        >>> import bayesieve as bs
        >>> effects = bs.StatedEffects(n_features=1000, n_markers=20, differences=(1.0,))
        >>> sorted(json.loads(bs.plan(effects=effects, per_class=20, futures=20).to_json()))
        ['columns', 'power', 'sentences']
        """
        whole = {"sentences": self.sentences(), "columns": self.to_dict(), "power": self.power()}
        return json.dumps(_plain(whole), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Put null in the place of numbers that there are not."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _of_source(found: Plan) -> list[str]:
    source = found.source
    if isinstance(source, StatedEffects):
        sizes = ", ".join(f"{size:g}" for size in source.differences)
        ratios = ""
        if source.variance_share:
            by = " or ".join(f"{size:g}" for size in source.variance_ratios)
            ratios = f"; {source.variance_share:.0%} differ in variance instead, by a factor of {by}"
        return [
            f"Stated, not measured: {source.n_markers:,} markers among {source.n_features:,} features, means "
            f"differ by {sizes} standard deviations{ratios}."
        ]
    low, high = np.quantile(found.markers, [0.05, 0.95], method="inverted_cdf")
    counts = join_words(f"{label} ({n:,})" for label, n in source.class_counts.items())
    lines = [
        f"A pilot of classes {counts} with {source.n_features:,} features leaves room for about "
        f"{found.markers.mean():,.0f} markers (90% interval {low:,.0f} to {high:,.0f}); means of "
        f"{found.large.mean():,.1f} differ by half a standard deviation or more."
    ]
    doubt = _doubt(found, source)
    if doubt is not None:
        lines.append(
            f"The pilot shows nothing reliable: {doubt}. What is expected comes from what it could not rule out. "
            "State the effects that you would not want to miss instead."
        )
    return lines


def _doubt(found: Plan, source: Pilot) -> str | None:
    """Why there may be no markers at all, if nothing speaks against that."""
    as_much, shuffles = source.by_chance
    if as_much > max(_CHANCE * (shuffles + 1) - 1, 0):  # in so few shuffles that no share is that small: any
        return f"{as_much} of {shuffles} shuffles of its labels show as much of a difference, so there may be none"
    if np.quantile(found.large, 0.05, method="inverted_cdf") < 1:
        return "there is no clear sign of markers, there may be none"
    return None


def _of_goal(found: Plan) -> list[str]:
    goal, answer = found.goal, found.answer
    if goal is None:
        return []
    if answer is None:
        return [
            f"The goal ({goal}, in {goal.assurance:.0%} of the futures) is not reached by any study of up to "
            f"{found.reached} samples: there may not be so many markers. Ask for fewer."
        ]
    reached = answer.reaches(goal.right, goal.markers)
    cost = (
        "" if math.isnan(answer.cost) else f" It costs about {answer.cost:,.0f}, following up the list included."
    )
    return [
        f"The cheapest study with {goal} takes {answer.design} samples, listed by {answer.rule}: reached in "
        f"{reached.mean():.0%} of the futures ({goal.assurance:.0%} asked for; Monte Carlo error "
        f"{answer.counts.error(reached):.1%}).{cost}"
    ]


def _caveats(found: Plan) -> list[str]:
    source = found.source
    lines = [
        f"Means over {found.expected[0].counts.listed.size:,} futures, Monte Carlo errors in brackets; every "
        f"future is screened {'together with the pilot' if found.combined else 'by itself, without the pilot'}."
    ]
    if isinstance(source, StatedEffects):
        lines.append(
            "Features are independent here; in real studies they vary together, and numbers spread wider."
        )
    elif not source.widths.size:
        lines.append(
            "The pilot's labels were not shuffled (that takes samples and 200 features), so features are taken as "
            "independent: if samples share factors (quality, batches), markers are overestimated and intervals "
            "are too narrow."
        )
    elif source.widths.std() > _WIDE:
        lines.append(
            f"Features vary together: with shuffled labels their statistics spread {source.widths.min():.2f} to "
            f"{source.widths.max():.2f} times as wide as independent ones. That is in the numbers as a common "
            "width of every future; lists may still be shortened by the count test."
        )
    return lines


def plan(  # noqa: PLR0913 - all that can be said about a study
    pilot: Any = None,
    y: Any = None,
    *,
    effects: StatedEffects | None = None,
    per_class: Any = (20, 40, 80),
    ratio: Any = "1:1",
    batches: int = 1,
    rules: Any = "mnc",
    right: float = 0.9,
    prior_probability: float = 0.01,
    combined: bool = False,
    interim: bool = False,
    cost_per_sample: float | None = None,
    cost_per_follow_up: float | None = None,
    goal: Any = None,
    classes: Any = None,
    missing: str = "raise",
    futures: int = 1000,
    shuffles: int = SHUFFLES,
    seed: int = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    r"""Work out what a study of some sizes would find, from a pilot or from stated effects.

    Truths are drawn from what the pilot leaves possible (which features are markers, how far they differ, how many
    there are), then means and variances of a future study given that truth, and the default screen is applied to
    them. So the uncertainty of the pilot is part of every interval.

    Parameters
    ----------
    pilot
        A table with labels ``y``, what :func:`bayesieve.read_table` or :func:`bayesieve.screen` returned, or
        statistics (:class:`Moments`, :class:`StatisticsSet`); two classes. None: ``effects`` are stated.
    y
        Class labels of the samples.
    effects
        Stated effects in the place of a pilot, :class:`StatedEffects`.
    per_class
        Samples per class: a number, several, or a text such as ``"20,40,80"``; of both classes as ``"20+40"``.
    ratio
        Samples of the first class to those of the second; ``per_class`` is then the size of the smaller one.
    batches
        Batches in which the samples come, of the same make-up; each costs a location (``block_model="shift"``).
    rules
        A rule or several, by acronym with numbers (``"mnc"``, ``"cmnc:100"``, ``"fdr:0.1"``) or as objects.
    right
        Share of the list whose probability to be right is worked out.
    prior_probability
        Of the future screen.
    combined
        Screen the samples of the pilot together with the new ones.
    interim
        Also look at the study after half of its samples.
    cost_per_sample, cost_per_follow_up
        Costs of one sample, and of following up one listed feature.
    goal
        What is to be reached, such as ``"50 markers at 90% right"``: the smallest study that reaches it in 80% of
        the futures (``"... with probability 95%"``) is searched for and added.
    classes, missing
        As for :func:`bayesieve.screen`.
    futures
        Number of futures.
    shuffles
        Times the labels of the pilot are shuffled, to see how far its features vary together.
    seed, n_threads, progress
        Same seed, same plan, whatever the threads; called with the number of futures done and their total.

    Returns
    -------
    Plan
        Expected true and false markers of every rule and size, with intervals and Monte Carlo errors.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(24, 500))
    >>> X[12:, :25] += 1.5
    >>> found = bs.plan(X, [0] * 12 + [1] * 12, per_class=(20, 40), futures=100)
    >>> few, many = found.to_dict()["true"]
    >>> 10 < few < many < 40
    True
    """
    check_whole("futures", futures, 2)
    check_whole("seed", seed)
    check_between("right", right)
    check_between("prior_probability", prior_probability, open_ends=True)
    for name, cost in (("cost_per_sample", cost_per_sample), ("cost_per_follow_up", cost_per_follow_up)):
        if cost is not None:
            check_between(name, cost, 0.0, math.inf)
    designs = parse_designs(per_class, ratio, batches)
    known, wanted = check_rules(rules), None if goal is None else Goal.parse(goal)
    if batches > 1 and (combined or interim):
        raise OptionError(
            option("batches"), " cannot be put together with a pilot or looked at half way: batches of both parts "
            "would have to be known. Leave ", option("combined"), " and ", option("interim"), " out.",
        )  # fmt: skip
    source = _source(pilot, y, effects, combined, classes, missing, shuffles, seed, n_threads)
    too_long = [name for name, rule in known.items() if most_listed([rule]) > source.n_features]
    if too_long:
        raise OptionError(f"{too_long[0]} asks for more features than the {source.n_features:,} there are.")
    work = Work(source, known, wanted, prior_probability, combined, interim, seed, n_threads,
                 (cost_per_sample, cost_per_follow_up))  # fmt: skip
    answer, reached, found = None, None, None
    if wanted is not None:
        found, reached = work.smallest(parse_ratio(ratio), batches, min(futures, _SEARCH), progress)
        if found is not None:
            designs = tuple(sorted({*designs, found}))
    drawn = work.draw(designs, futures, progress)
    expected = tuple(work.expect(drawn))
    if wanted is not None:
        answer = work.cheapest(expected, found)
    costs = {"sample": cost_per_sample, "follow_up": cost_per_follow_up}
    return Plan(
        expected, source, right, combined, drawn.markers.astype(np.float64), drawn.sizes.astype(np.float64),
        wanted, answer, reached, prior_probability,
        {name: cost for name, cost in costs.items() if cost is not None},
    )  # fmt: skip


def _source(
    pilot: Any, y: Any, effects: StatedEffects | None, combined: bool, classes: Any, missing: str, shuffles: int,
    seed: int, n_threads: int | None,
) -> Pilot | StatedEffects:  # fmt: skip
    """Return the pilot or the stated effects, one of which there must be."""
    if (pilot is None) == (effects is None):
        raise OptionError("A plan is made from a pilot or from stated effects: give one of them, not both.")
    if effects is None:
        return read_pilot(pilot, y, classes=classes, missing=missing, shuffles=shuffles, seed=seed,
                          n_threads=n_threads)  # fmt: skip
    if combined:
        raise OptionError("Without a pilot there are no samples to combine the study with. Leave ",
                          option("combined"), " out.")  # fmt: skip
    return effects
