"""Options that say what is compared with what, and what else to find out."""

from __future__ import annotations

from typing import Annotated

from bayesieve.cli.enums import BlockModel, ModelName
from bayesieve.cli.options import CHOICE, COMPARED, OUTPUT, option

ModelOption = Annotated[
    ModelName, option(COMPARED, "--model", help="Of the values: measurements, categories or counts.")
]
LevelsOption = Annotated[
    str | None,
    option(COMPARED, "--levels", metavar="LEVELS", help='Categories all features can have: "0,1,2".'),
]
PatternsOption = Annotated[
    str,
    option(
        COMPARED,
        "--patterns",
        metavar="PATTERNS",
        help='Three or more classes: any, distinct, one-versus-rest, or given ones: "A | B,C; A,B | C".',
    ),
]
Blocks = Annotated[
    str | None,
    option(
        COMPARED,
        "--blocks",
        "-b",
        metavar="COLUMN",
        help="Batch of each sample: a column, FILE:COLUMN, or sites (of a statistics file).",
    ),
]
BlockModelOption = Annotated[
    BlockModel, option(COMPARED, "--block-model", help="Blocks have all their own, or share the class shift.")
]
Pairs = Annotated[
    str | None,
    option(COMPARED, "--pairs", metavar="COLUMN", help="Pair (patient) of each sample: column or FILE:COLUMN."),
]
Exposures = Annotated[
    str | None,
    option(
        COMPARED, "--exposures", metavar="COLUMN", help="Counts: a column, FILE:COLUMN, or total (sample totals)."
    ),
]
InformativeMissing = Annotated[
    bool, option(COMPARED, "--informative-missing", help="A different share of missing values is evidence, too.")
]
KindsOption = Annotated[
    bool, option(OUTPUT, "--kinds", help="Add: does the mean differ, the variance, or both? (two classes)")
]
EffectsOption = Annotated[
    bool, option(OUTPUT, "--effects", help="Add: which way, and effect sizes with 95% intervals. (two classes)")
]
FragilityOption = Annotated[
    bool, option(OUTPUT, "--fragility", help="Add: the least log-odds when any one sample is left out.")
]
PValuesOption = Annotated[
    bool, option(OUTPUT, "--p-values", help="Add: exact p-values of the same difference. (two classes, Gaussian)")
]
PermutationsOption = Annotated[
    int | None,
    option(
        OUTPUT,
        "--permutations",
        metavar="N",
        min=1,
        help="Add: p-values and the number by chance from N relabellings of the samples.",
    ),
]
SeedOption = Annotated[int | None, option(OUTPUT, "--seed", min=0, help="Of the relabellings; 0 by default.")]
Robust = Annotated[bool, option(CHOICE, "--robust", help="Select on that least log-odds; implies --fragility.")]
MethodsOption = Annotated[
    str,
    option(
        COMPARED,
        "--methods",
        "-m",
        metavar="NAMES",
        help="With commas between: obf-jp, obf-pp, welch, student, limma, bd, mi, mi-literal, nmc, "
        "pearson-neyman, wilcoxon, f-classif, mutual-info, or a file of your own, my_rival.py:RIVAL.",
    ),
]
TopOption = Annotated[
    str | None,
    option(COMPARED, "--top", metavar="N", help="Length of the lists to compare, or several: 10,50,100."),
]
