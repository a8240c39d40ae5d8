"""Plan for very large tables: bytes of partial sums, rates of this machine, and the merge tree on many workers.

    python benchmarks/tree.py [--cells 1e9] [--genes 60000] [--workers 100] [--figure tree.png]

Sizes are those of pickled statistics; rates are processor time of this machine, best of three; the network, the
latency and the memory of workers are assumptions that the options state. Everything else follows by simulation:
workers take neighbouring blocks one after the other, nodes of eight are merged where their last part was made,
other parts are sent there, results that die with a worker are made again with all that they were made of.
"""

from __future__ import annotations

import argparse
import heapq
import math
import pickle
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import zarr

import bayesieve as bs
from bayesieve.distributed import FAN_IN, nodes

DENSITY, STORED = 0.03, 8  # share of values that are not 0; bytes of a value with its place
BYTES = 40  # of a partial sum per class and feature: mean, squares, residual, cubes, fourths


@dataclass(frozen=True)
class Rates:
    """Seconds of a processor per unit, and what is assumed of the network."""

    read: float  # per stored value
    add: float  # per stored value
    cell: float  # per class and feature of a block, whatever it holds
    merge: float  # per byte of a part
    network: float = 1 / 1.25e9  # per byte: 10 Gbit/s
    latency: float = 2e-3  # per task: scheduler, start, messages
    restart: float = 30.0  # until a worker that died is there again


def best(work: Callable[[], object], times: int = 3) -> float:
    """Processor time of the quickest of some runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def sizes() -> None:
    """Compare pickled statistics with the arithmetic."""
    print("bytes of a pickled statistic per class and feature")
    rng = np.random.default_rng(0)
    for n_classes, n_features in ((2, 2_000), (20, 20_000)):
        values, y = rng.normal(size=(3 * n_classes, n_features)), np.arange(3 * n_classes) % n_classes
        found = {
            "with third and fourth powers": bs.Moments.from_matrix(values, y),
            "without": bs.Moments.from_matrix(values, y, shape=False),
        }
        values[0, 0] = np.nan
        found["with powers, values missing"] = bs.Moments.from_matrix(values, y, missing="omit")
        for name, each in found.items():
            each_bytes = len(pickle.dumps(each, 5)) / (n_classes * n_features)
            print(f"  {n_classes:>3} x {n_features:>6,} {name:<30} {each_bytes:6.2f}")


def measure() -> Rates:
    """Measure reading, summing and merging on this machine."""
    made = sp.random(4_000, 20_000, DENSITY, "csr", dtype=np.float32, random_state=1)
    made.data = np.ceil(made.data * 10)
    with tempfile.TemporaryDirectory() as folder:
        store = zarr.open_group(folder, mode="w")
        for name in ("data", "indices"):
            array = getattr(made, name)
            part = store.create_array(name, shape=array.shape, chunks=(2**20,), dtype=array.dtype)
            part[:] = array
        read = best(lambda: (store["data"][:], store["indices"][:])) / made.nnz
    few, many = np.arange(4_000) % 2, np.arange(4_000) % 40
    add, added = (best(lambda y=y: bs.Moments.from_matrix(made, y, n_threads=1)) for y in (few, many))
    cell = max(added - add, 0.0) / (38 * 20_000)
    one = bs.Moments.from_matrix(made, many, n_threads=1)
    merge = best(lambda: one.merge(one)) / (BYTES * 40 * 20_000)
    return Rates(read, max(add - cell * 40_000, 0.0) / made.nnz, cell, merge)


@dataclass(frozen=True)
class Plan:
    """A table cut into tasks."""

    cells: float
    genes: int
    classes: int
    rows: int  # of a task
    columns: int = 1  # chunks of the genes, each with a tree of its own
    workers: int = 100
    straggling: float = 0.0  # share of tasks that take five times as long
    deaths: float = 0.0  # share of workers that die once while it runs
    rates: Rates = field(default_factory=lambda: Rates(0, 0, 0, 0))

    @property
    def n_rows(self) -> int:
        """Tasks along the cells."""
        return math.ceil(self.cells / self.rows)

    @property
    def part(self) -> float:
        """Bytes of a partial sum."""
        return BYTES * self.classes * self.genes / self.columns

    @property
    def block(self) -> float:
        """Stored bytes of the block of a task."""
        return STORED * DENSITY * self.rows * self.genes / self.columns

    @property
    def leaf_seconds(self) -> float:
        """Time of one leaf."""
        values = self.block / STORED
        own = self.rates.cell * self.classes * self.genes / self.columns
        return values * (self.rates.read + self.rates.add) + own

    @property
    def reading(self) -> float:
        """Seconds that reading alone takes all workers."""
        return self.cells * self.genes * DENSITY * self.rates.read / self.workers


Task = tuple[int, int, int]  # level (0 is a leaf), number in it, chunk of the genes


class Simulation:
    """Workers, what each holds, and what is due."""

    def __init__(self, plan: Plan, seed: int = 0, lasts: float = 0.0) -> None:
        self.plan, self.random = plan, random.Random(seed)
        doomed = self.random.sample(range(plan.workers), round(plan.deaths * plan.workers))
        self.dies_at = {worker: self.random.uniform(0.0, lasts) for worker in doomed}
        self.levels = [[range(k, k + 1) for k in range(plan.n_rows)], *nodes(plan.n_rows)]
        if plan.n_rows == 1:
            del self.levels[1:]
        self.where: dict[Task, int] = {}  # results that are held
        self.held: list[set[Task]] = [set() for _ in range(plan.workers)]
        self.under_way: set[Task] = set()
        self.ready: list[list[Task]] = [[] for _ in range(plan.workers)]
        self.again: dict[Task, None] = {}  # leaves that were lost
        self.next_leaf = 0
        self.clock = self.traffic = self.peak = 0.0
        self.n_deaths = self.n_again = 0

    def parts_of(self, task: Task) -> list[Task]:
        """What a node merges."""
        level, number, column = task
        return [] if level == 0 else [(level - 1, k, column) for k in self.levels[level][number]]

    def above(self, task: Task) -> Task | None:
        """The node that a result goes into; None for a whole tree."""
        level, number, column = task
        return None if level + 1 >= len(self.levels) else (level + 1, number // FAN_IN, column)

    def take(self, worker: int) -> Task | None:
        """What a worker does next: nodes before leaves, and what was lost before what is new."""
        while self.ready[worker]:
            task = heapq.heappop(self.ready[worker])
            task = (-task[0], task[1], task[2])
            if self.is_ready(task):
                return task
        if self.again:
            task = next(iter(self.again))
            del self.again[task]
            return task
        if self.next_leaf < self.plan.n_rows * self.plan.columns:
            number, column = divmod(self.next_leaf, self.plan.columns)
            self.next_leaf += 1
            return 0, number, column
        return None

    def is_ready(self, task: Task) -> bool:
        """Whether a node is due and all its parts are there."""
        due = task not in self.where and task not in self.under_way
        return due and all(part in self.where for part in self.parts_of(task))

    def seconds(self, task: Task, worker: int) -> float:
        """How long a task takes there; parts from elsewhere are sent first."""
        plan, rates = self.plan, self.plan.rates
        took = rates.latency
        if task[0] == 0:
            took += plan.leaf_seconds * self.random.lognormvariate(0.0, 0.1)
        else:
            parts = self.parts_of(task)
            sent = sum(self.where[part] != worker for part in parts)
            self.traffic += sent * plan.part
            took += sent * (rates.latency + plan.part * rates.network)
            took += (len(parts) - 1) * plan.part * rates.merge
        return took * (5.0 if self.random.random() < plan.straggling else 1.0)

    def done(self, task: Task, worker: int) -> None:
        """Keep a result, let go of its parts, and see whether its node is ready."""
        self.under_way.discard(task)
        for part in self.parts_of(task):
            self.held[self.where.pop(part)].discard(part)
        self.where[task] = worker
        self.held[worker].add(task)
        self.peak = max(self.peak, (len(self.held[worker]) + FAN_IN) * self.plan.part)
        node = self.above(task)
        if node is not None and self.is_ready(node):
            self.push(node, worker)

    def push(self, node: Task, worker: int) -> None:
        """Let a worker merge a node."""
        heapq.heappush(self.ready[worker], (-node[0], node[1], node[2]))

    def die(self, worker: int, task: Task) -> None:
        """Lose what a worker holds and was at, and have it made again."""
        self.n_deaths += 1
        del self.dies_at[worker]
        lost = [*self.held[worker]]
        self.held[worker].clear()
        for each in lost:
            del self.where[each]
        self.under_way.discard(task)
        waiting, self.ready[worker] = self.ready[worker], []
        for each in [task, *lost, *((-level, k, column) for level, k, column in waiting)]:
            self.require(each)

    def require(self, task: Task) -> None:
        """Have a result made again, and first what it is made of."""
        if task in self.where or task in self.under_way or task in self.again:
            return
        self.n_again += 1
        parts = self.parts_of(task)
        lacking = [part for part in parts if part not in self.where]
        if not parts:
            self.again[task] = None
        elif not lacking:
            self.push(task, self.where[parts[-1]])
        for part in lacking:
            self.require(part)

    def run(self) -> Simulation:
        """Play it to the end."""
        n_tops, idle = self.plan.columns, set(range(self.plan.workers))
        events: list[tuple[float, int, Task | None, bool]] = []
        top = len(self.levels) - 1
        while sum((top, 0, column) in self.where for column in range(n_tops)) < n_tops:
            for worker in sorted(idle):
                task = self.take(worker)
                if task is None:
                    continue
                idle.discard(worker)
                self.under_way.add(task)
                took = self.seconds(task, worker)
                dies = self.dies_at.get(worker, math.inf) < self.clock + took
                ends = max(self.dies_at[worker], self.clock) if dies else self.clock + took
                heapq.heappush(events, (ends, worker, task, dies))
            self.clock, worker, task, dies = heapq.heappop(events)
            if task is None:
                idle.add(worker)
            elif dies:
                self.die(worker, task)
                heapq.heappush(events, (self.clock + self.plan.rates.restart, worker, None, False))
            elif all(part in self.where for part in self.parts_of(task)):
                self.done(task, worker)
                idle.add(worker)
            else:  # a part was lost while it was sent
                self.under_way.discard(task)
                self.require(task)
                idle.add(worker)
        return self


def rule(plan: Plan, memory: float) -> Plan:
    """Cut so that a part is a tenth of its block, and both fit into the memory of a worker."""
    rows = math.ceil(10 * BYTES * plan.classes / (STORED * DENSITY) / 1_000) * 1_000
    made = replace(plan, rows=rows, columns=1)
    return replace(made, columns=math.ceil((2 * made.block + 3 * FAN_IN * made.part) / memory))


def show(plans: list[Plan], memory: float) -> None:
    """Print what comes of every plan: undisturbed, and with 1% and 10% of the workers dying."""
    print(
        "classes   cells/task chunks block MB  part MB   tasks depth sent TB held GB | reading minutes  all | "
        "1% die: again minutes | 10% die: again minutes"
    )
    for plan in plans:
        quiet = Simulation(plan).run()
        rough = [
            Simulation(replace(plan, straggling=0.01, deaths=deaths), 1, quiet.clock).run()
            for deaths in (0.01, 0.1)
        ]
        over = " *" if quiet.peak + 2 * plan.block > memory else ""
        told = " | ".join(f"{each.n_again:>13,} {each.clock / 60:>7.1f}" for each in rough)
        print(
            f"{plan.classes:>7,} {plan.rows:>12,} {plan.columns:>6} {plan.block / 1e6:>8,.0f} "
            f"{plan.part / 1e6:>8,.1f} {plan.n_rows * plan.columns:>7,} {len(quiet.levels) - 1:>5} "
            f"{quiet.traffic / 1e12:>7.2f} {quiet.peak / 1e9:>7.2f} | {plan.reading / 60:>15.1f} "
            f"{quiet.clock / 60:>4.1f} | {told}{over}",
            flush=True,
        )


def draw(base: Plan, path: Path, memory: float) -> None:
    """Draw the time against the rows of a task."""
    import matplotlib as mpl  # noqa: PLC0415 - for the figure alone

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for classes, colour in ((2, "#666666"), (20, "#0072b2"), (100, "#009e73"), (1_000, "#d55e00")):
        plan = replace(base, classes=classes)
        columns = rule(plan, memory).columns
        rows = [int(r) for r in np.geomspace(30_000, 3_000_000, 6)]
        minutes = [Simulation(replace(plan, rows=r, columns=columns)).run().clock / 60 for r in rows]
        axes.loglog(rows, minutes, "o-", color=colour, label=f"{classes:,} classes, genes in {columns}")
        axes.axvline(rule(plan, memory).rows, color=colour, linestyle=":", linewidth=1)
    axes.axhline(base.reading / 60, color="black", linewidth=1)
    axes.text(3e6, base.reading / 60 * 1.05, "reading alone", ha="right", va="bottom", fontsize=9)
    axes.set_yticks([3, 5, 10, 20, 40], labels=["3", "5", "10", "20", "40"])
    axes.minorticks_off()
    axes.set_xlabel("cells of a task (dotted: the rule)")
    axes.set_ylabel("minutes")
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=float, default=1e9)
    parser.add_argument("--genes", type=int, default=60_000)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--memory", type=float, default=4.0, help="GB that a worker can use")
    parser.add_argument("--network", type=float, default=1.25, help="GB per second to each worker")
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    sizes()
    rates = replace(measure(), network=1e-9 / asked.network)
    print(
        f"of a stored value: reading {rates.read * 1e9:.1f} ns, adding {rates.add * 1e9:.1f} ns; of a class and "
        f"feature of a block {rates.cell * 1e9:.1f} ns; merging {1e-9 / rates.merge:.2f} GB/s"
    )
    base = Plan(asked.cells, asked.genes, 2, 7_000, workers=asked.workers, rates=rates)
    total = base.cells * base.genes * DENSITY * STORED / 1e12
    print(f"{base.cells:,.0f} cells x {base.genes:,} genes, {total:,.1f} TB stored, {base.workers} workers")
    plans = []
    for classes in (2, 20, 100, 1_000):
        plan = replace(base, classes=classes)
        plans += [replace(plan, rows=28_000), rule(plan, asked.memory * 1e9)]
    show(plans, asked.memory * 1e9)
    if asked.figure is not None:
        draw(base, asked.figure, asked.memory * 1e9)


if __name__ == "__main__":
    main()
