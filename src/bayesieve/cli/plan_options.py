"""The options of ``bayesieve plan``, described as those of the other commands."""

from __future__ import annotations

from pathlib import Path

from bayesieve.cli.options import SEED
from bayesieve.cli.parameters import OUTPUT, argument, option

# fmt: off
_PLANNED, _STATED = "The study to plan", "Without a pilot"
PILOT = argument("table", Path | None, "The pilot: a table as for screen, a statistics file, or what screen "
                 "--out wrote.", None, metavar="[TABLE]")
PLAN = (
    option("per_class", str, "20,40,80", _PLANNED, "Samples per class, or of both classes: 20+40.",
           metavar="N,N,..."),
    option("ratio", str, "1:1", _PLANNED, "First class to second; --per-class is then the smaller one.",
           metavar="A:B"),
    option("batches", int, 1, _PLANNED, "Batches of the same make-up; each costs a location.", min=1),
    option("rules", str, "mnc", _PLANNED, "Rules of the list: mnc, mr:0.9, cmnc:100, np:5, fdr:0.1, fdp:0.1:0.9.",
           metavar="RULE,..."),
    option("right", float, 0.9, _PLANNED, "Share of the list that shall be right.", metavar="SHARE", min=0, max=1),
    option("prior_probability", float, 0.01, _PLANNED, "Prior inclusion probability of its screen.", "-p",
           metavar="P"),
    option("combined", bool, False, _PLANNED, "Screen the pilot's samples together with the new ones."),
    option("interim", bool, False, _PLANNED, "Also look after half of the samples."),
    option("goal", str | None, None, _PLANNED, 'The smallest study for "50 markers at 90% right", in 80% of the '
           'futures or "... with 95%".', metavar="TEXT"),
    option("cost_per_sample", float | None, None, _PLANNED, "Of one sample.", metavar="COST", min=0),
    option("cost_per_follow_up", float | None, None, _PLANNED, "Of following up one listed feature.",
           metavar="COST", min=0),
    option("no_pilot", bool, False, _STATED, "State effects instead; the numbers below are typical ones."),
    option("n_features", int, 20_000, _STATED, "Features.", min=1),
    option("n_markers", int, 100, _STATED, "Markers among them.", min=1),
    option("differences", str, "0.5,0.8,1.2", _STATED, "Differences of means in standard deviations: weak, "
           "medium, strong.", metavar="D,..."),
    option("variance_ratios", str, "2,4", _STATED, "Ratios of variances.", metavar="R,..."),
    option("variance_share", float, 0.0, _STATED, "Share of markers that differ in variance instead of mean.",
           metavar="SHARE", min=0, max=1),
    option("futures", int, 1000, OUTPUT, "Futures to draw.", min=2),
    option("shuffles", int, 40, OUTPUT, "Shuffles of the pilot's labels: do features vary together?", min=0),
    SEED,
    option("out", Path | None, None, OUTPUT, "Table: .csv, .tsv, .xlsx, .parquet or .json.", "-o", metavar="FILE"),
    option("power_out", Path | None, None, OUTPUT, "Table of power by size of the difference.", metavar="FILE"),
    option("report", Path | None, None, OUTPUT, "Page with the table and curves.", metavar="FILE.html"),
    option("figure", Path | None, None, OUTPUT, "Figures: NAME.png (or .svg, .pdf) and NAME-power.png; needs the "
           "extra figures.", metavar="FILE"),
)
# fmt: on
