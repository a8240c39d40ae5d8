"""What rules are expected to list in futures of a study, and the smallest study that reaches a goal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.planning.designs import Goal, sized
from bayesieve.planning.future import Design
from bayesieve.planning.futures import Futures, draw_futures
from bayesieve.planning.lists import Counts, NullPool, count_lists, length_of, most_listed
from bayesieve.planning.pilot import Pilot
from bayesieve.planning.truth import StatedEffects
from bayesieve.posterior import logit
from bayesieve.utils import FloatArray

Progress = Callable[[int, int], None]
_LARGEST = 2_000  # samples per class where the search ends
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
            row |= {
                f"interim_{name}": getattr(self.interim, name) for name in ("listed", "true", "found", "holds")
            }
        return row


@dataclass(slots=True, eq=False)
class Work:
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

    def cheapest(self, expected: Sequence[Expected], searched: Design | None) -> Expected | None:
        """Return the cheapest list that reaches the goal; the one searched for may miss it by chance."""
        assert self.goal is not None
        reached: list[tuple[Any, ...]] = []
        for each in expected:
            values = each.reaches(self.goal.right, self.goal.markers)
            slack = 2.0 * float(np.nan_to_num(each.counts.error(values))) if each.design == searched else 0.0
            if values.mean() + slack >= self.goal.assurance:
                cost = each.design.n_samples if math.isnan(each.cost) else each.cost
                reached.append((cost, each.design.n_samples, -float(values.mean()), len(reached), each))
        found: Expected | None = min(reached)[-1] if reached else None
        return found


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
