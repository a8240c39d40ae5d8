"""plan(): how many samples the next study needs, from futures of a pilot or of stated effects."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesieve.planning.designs import Goal, parse_designs, parse_ratio, sized
from bayesieve.planning.future import PROBES, RATIO_PROBES, Design
from bayesieve.planning.futures import Futures, draw_futures
from bayesieve.planning.lists import Counts, NullPool, check_rules, count_lists, length_of, most_listed
from bayesieve.planning.pilot import SHUFFLES, Pilot, read_pilot
from bayesieve.planning.truth import StatedEffects
from bayesieve.posterior import Tabular, logit
from bayesieve.utils import (
    FloatArray,
    Glimpse,
    Glimpsed,
    Late,
    LateMethod,
    OptionError,
    check_between,
    check_whole,
    option,
)

Progress = Callable[[int, int], None]
_SEARCH, _LARGEST = 200, 2_000  # futures of a step of the search, and samples per class where it ends
_WIDE = 0.03  # from which features are said to vary together
_LEVEL = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Interim:
    """A look after half of the samples: means over futures.

    Parameters
    ----------
    design
        What there is by then.
    listed, true
        Features listed, and markers among them.
    found
        Share of the final list that stands on the list already.
    holds
        Share of the early list that stands on the final one.
    """

    design: Design
    listed: float
    true: float
    found: float
    holds: float


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What one rule is expected to list in a study of one size.

    Parameters
    ----------
    rule, design
        Rule and size.
    counts
        Lists of all futures.
    goal
        What is to be reached, if anything.
    cost
        Of the samples and of following up the list; NaN if no costs are known.
    interim
        A look at half time; None if not asked for.
    """

    rule: str
    design: Design
    counts: Counts
    goal: Goal | None
    cost: float
    interim: Interim | None = None

    def interval(self, values: Any, level: float = _LEVEL) -> tuple[float, float]:
        """Central interval of a number over the futures."""
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
        return float(low), float(high)

    def reaches(self, right: float, markers: int = 1) -> FloatArray:
        """Whether each future lists so many markers, and this share of the list is right."""
        counts = self.counts
        good = counts.true >= right * counts.listed - 1e-9
        return np.asarray(good & (counts.true >= markers), dtype=np.float64)

    def row(self, right: float) -> dict[str, Any]:
        """Return all numbers of the table."""
        counts = self.counts
        good = self.reaches(right)
        share = counts.share_right
        row: dict[str, Any] = {
            "rule": self.rule, "n0": self.design.n0, "n1": self.design.n1, "batches": self.design.batches,
            "futures": counts.listed.size,
        }  # fmt: skip
        for name, values in (("true", counts.true), ("false", counts.false), ("listed", counts.listed)):
            low, high = self.interval(values)
            row |= {name: float(values.mean()), f"{name}_error": counts.error(values)}
            row |= {f"{name}_low": low, f"{name}_high": high}
        row |= {
            "share_right": float(np.nanmean(share)) if np.isfinite(share).any() else math.nan,
            "probability_right": float(good.mean()), "probability_right_error": counts.error(good),
            "empty": float((counts.listed == 0).mean()),
        }  # fmt: skip
        if self.goal is not None:
            reached = self.reaches(self.goal.right, self.goal.markers)
            row |= {"goal_probability": float(reached.mean()), "goal_probability_error": counts.error(reached)}
        if not math.isnan(self.cost):
            row["cost"] = self.cost
        if self.interim is not None:
            row |= {f"interim_{name}": getattr(self.interim, name) for name in ("listed", "true", "found", "holds")}
        return row


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
    [4, 20]
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

    plot = Late("bayesieve.planning.figures", "PlanPlots", "Figures as methods: ``plot.numbers()``, ``plot.power()``.")
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
            f"Stated, not measured: {source.n_markers:,} markers among {source.n_features:,} features, means differ "
            f"by {sizes} standard deviations{ratios}."
        ]
    low, high = np.quantile(found.markers, [0.05, 0.95], method="inverted_cdf")
    counts = " + ".join(f"{n:,} {label}" for label, n in source.class_counts.items())
    lines = [
        f"A pilot of {counts} with {source.n_features:,} features leaves room for about {found.markers.mean():,.0f} "
        f"markers (90% interval {low:,.0f} to {high:,.0f}); means of {found.large.mean():,.1f} differ by half a "
        "standard deviation or more."
    ]
    if np.quantile(found.large, 0.5) < 1:
        lines.append(
            "The pilot shows no sign of markers: what is expected below comes from what it could not rule out. "
            "State the effects that you would not want to miss instead."
        )
    return lines


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
    cost = "" if math.isnan(answer.cost) else f" It costs about {answer.cost:,.0f}, following up the list included."
    return [
        f"The cheapest study with {goal} takes {answer.design} samples, listed by {answer.rule}: reached in "
        f"{reached.mean():.0%} of the futures ({goal.assurance:.0%} asked for; Monte Carlo error "
        f"{answer.counts.error(reached):.1%}).{cost}"
    ]


def _caveats(found: Plan) -> list[str]:
    source = found.source
    lines = [
        f"Means over {found.expected[0].counts.listed.size:,} futures, Monte Carlo errors in brackets; every future is "
        f"screened {'together with the pilot' if found.combined else 'by itself, without the pilot'}."
    ]
    if isinstance(source, StatedEffects):
        lines.append("Features are independent here; in real studies they vary together, and numbers spread wider.")
    elif not source.widths.size:
        lines.append(
            "No labels of the pilot could be shuffled, so features are taken as independent: if samples share "
            "factors (quality, batches), markers are overestimated and intervals are too narrow."
        )
    elif source.widths.std() > _WIDE:
        lines.append(
            f"Features vary together: with shuffled labels their statistics spread {source.widths.min():.2f} to "
            f"{source.widths.max():.2f} times as wide as independent ones. That is in the numbers as a common width "
            "of every future; lists may still be shortened by the count test."
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
    there are), then means and variances of a future study given that truth, and the default screen is applied to them. So
    the uncertainty of the pilot is part of every interval.

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
    work = _Work(source, known, wanted, prior_probability, combined, interim, seed, n_threads,
                 (cost_per_sample, cost_per_follow_up))  # fmt: skip
    answer, reached = None, None
    if wanted is not None:
        found, reached = work.smallest(parse_ratio(ratio), batches, min(futures, _SEARCH), progress)
        if found is not None:
            designs = tuple(sorted({*designs, found}))
    drawn = work.draw(designs, futures, progress)
    expected = tuple(work.expect(drawn))
    if wanted is not None:
        answer = work.cheapest(expected)
    costs = {"sample": cost_per_sample, "follow_up": cost_per_follow_up}
    return Plan(
        expected, source, right, combined, drawn.markers.astype(np.float64), drawn.sizes.astype(np.float64), wanted,
        answer, reached, prior_probability, {name: cost for name, cost in costs.items() if cost is not None},
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


@dataclass(slots=True, eq=False)
class _Work:
    """Futures and lists of them, as they were asked for."""

    source: Pilot | StatedEffects
    rules: dict[str, Any]
    goal: Goal | None
    prior_probability: float
    combined: bool
    interim: bool
    seed: int
    n_threads: int | None
    costs: tuple[float | None, float | None]

    def draw(
        self, designs: Sequence[Design], n_futures: int, progress: Progress | None, *, looks: bool = True
    ) -> Futures:
        """Draw futures of some designs."""
        return draw_futures(
            self.source, designs, n_futures=n_futures, seed=self.seed, most=most_listed(list(self.rules.values())),
            combined=self.combined, interim=self.interim and looks, n_threads=self.n_threads, progress=progress,
        )  # fmt: skip

    def expect(self, drawn: Futures) -> Iterator[Expected]:
        """Apply every rule to the futures of every design."""
        prior, null_share = float(logit(self.prior_probability)), 1.0 - self.prior_probability
        pools = [NullPool.of(each, drawn.n_features, drawn.markers.tolist(), null_share) for each in drawn.listed]
        early = [NullPool.of(each, drawn.n_features, drawn.markers.tolist(), null_share) for each in drawn.interim]
        for name, rule in self.rules.items():
            for i, design in enumerate(drawn.designs):
                counts = count_lists(rule, drawn.listed[i], drawn.markers, drawn.chain, prior, pools[i])
                look = None
                if drawn.interim:
                    look = _look(rule, design, drawn, i, prior, (early[i], pools[i]))
                yield Expected(name, design, counts, self.goal, self._cost(design, counts), look)

    def _cost(self, design: Design, counts: Counts) -> float:
        sample, follow_up = self.costs
        if sample is None and follow_up is None:
            return math.nan
        return (sample or 0.0) * design.n_samples + (follow_up or 0.0) * float(counts.listed.mean())

    def _reached(self, each: Expected) -> float:
        assert self.goal is not None
        return float(each.reaches(self.goal.right, self.goal.markers).mean())

    def smallest(
        self, ratio: tuple[float, float], batches: int, n_futures: int, progress: Progress | None
    ) -> tuple[Design | None, Design]:
        """Search the smallest study by which any rule reaches the goal, and the largest that was tried."""
        assert self.goal is not None
        tried: dict[int, bool] = {}

        def good(n: int) -> bool:
            if n not in tried:
                drawn = self.draw([sized(n, ratio, batches)], n_futures, progress, looks=False)
                tried[n] = max(map(self._reached, self.expect(drawn))) >= self.goal.assurance  # type: ignore[union-attr]
            return tried[n]

        low, high = max(2, batches), max(2, batches) + 1
        while not good(high):
            if high >= _LARGEST:
                return None, sized(high, ratio, batches)
            low, high = high, min(2 * high, _LARGEST)
        while high - low > max(1, round(0.02 * high)):
            middle = (low + high) // 2
            low, high = (low, middle) if good(middle) else (middle, high)
        return sized(high, ratio, batches), sized(max(tried), ratio, batches)

    def cheapest(self, expected: Sequence[Expected]) -> Expected | None:
        """Return the cheapest list that reaches the goal; if none does, one that may, by its Monte Carlo error."""
        assert self.goal is not None
        for errors in (0.0, 2.0):
            reached = []
            for each in expected:
                values = each.reaches(self.goal.right, self.goal.markers)
                if values.mean() + errors * np.nan_to_num(each.counts.error(values)) >= self.goal.assurance:
                    cost = each.design.n_samples if math.isnan(each.cost) else each.cost
                    reached.append((cost, each.design.n_samples, -float(values.mean()), len(reached), each))
            if reached:
                return min(reached)[-1]
        return None


def _look(
    rule: Any, design: Design, drawn: Futures, i: int, prior: float, pools: tuple[NullPool, NullPool]
) -> Interim:
    """Compare the list after half of the samples with the final one."""
    rows = []
    for early, late in zip(drawn.interim[i], drawn.listed[i], strict=True):
        first = length_of(rule, early.log_bayes_factor, prior, pools[0])
        last = length_of(rule, late.log_bayes_factor, prior, pools[1])
        both = float(np.intersect1d(early.place[:first], late.place[:last]).size)
        rows.append((first, early.true[:first].sum(), last, both))
    first, true, last, both = np.array(rows, dtype=np.float64).T.sum(axis=1)
    n = len(rows)
    return Interim(
        design.half(), first / n, true / n, both / last if last else math.nan, both / first if first else math.nan
    )
