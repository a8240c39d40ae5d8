"""The options of the commands, each described once: name, type, default, panel of the help, help."""

from __future__ import annotations

from inspect import Parameter
from pathlib import Path
from typing import Annotated

import typer

from bayesieve.cli.parameters import (
    CHOICE,
    COMPARED,
    INPUT,
    LIST,
    OUTPUT,
    REQUIRED,
    TALK,
    argument,
    option,
    parse_memory,
    read_config,
    words,
)

# fmt: off
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=TALK)]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more, with timings.", rich_help_panel=TALK)]
JsonLog = Annotated[bool, typer.Option("--json-log", help="Messages on standard error as JSON lines.",
                                       rich_help_panel=TALK)]
TALKING = tuple(Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind)
                for name, kind in (("quiet", Quiet), ("verbose", Verbose), ("json_log", JsonLog)))

TABLE = argument("table", Path, "CSV, TSV or TXT (also .gz .bz2 .xz .zst), Excel or OpenDocument (FILE.xlsx:SHEET "
                 "names a sheet), Parquet, Arrow/Feather, .h5ad, .h5mu, zarr, .loom, 10x folder or .h5, .mtx, GEO "
                 "series matrix or SOFT family, GCT, .npy/.npz, or a statistics file.")
CLASSES = option("classes", str | None, None, INPUT, 'Merge, pick, name and order: "early=1,adenoma; late=2,3,4".',
                 "-c", metavar="CLASSES")
SOURCE = (
    option("labels", str | None, None, INPUT, "Class of each sample: a column of the table, or FILE:COLUMN; of a "
           "workbook also FILE.xlsx:SHEET:COLUMN.", "-l",
           metavar="COLUMN"),
    CLASSES,
    option("samples_in", words("rows", "columns") | None, None, INPUT, "Found out from the labels if not given."),
    option("id_column", str | None, None, INPUT, "Column with the sample ids, of the table or the label file.",
           metavar="COLUMN"),
    option("ignore", list[str] | None, None, INPUT, "Column to leave out; may be repeated.", metavar="COLUMN"),
    option("keep", list[str] | None, None, INPUT, "Screen this column though it seems to be about the samples.",
           metavar="COLUMN"),
    option("normalise", str, "none", INPUT, "Divide samples by size factors first: total (to the median total; "
           "total:10000 states it) or median-ratios.", metavar="NAME"),
    option("transform", str, "none", INPUT, "Applied to every value, never guessed: log2, log1p, logit, clr or "
           "clr:0.5, vst or vst:0.05, rank-normal.", metavar="NAME"),
    option("missing", words("raise", "omit"), "raise", INPUT, "Missing values: an error, or left out."),
    option("duplicates", words("number", "mean", "strongest", "error"), "number", INPUT, "Features with the same "
           "id: number them (GENE, GENE.2, ...), their mean, the strongest (so in every shuffle), or an error."),
    option("na_values", list[str] | None, None, INPUT, "Further spelling of a missing value; may be repeated.",
           metavar="TEXT"),
    option("encoding", str | None, None, INPUT, "Of text, for example latin-1; UTF-8 if not given.",
           metavar="NAME"),
    option("decimal", str | None, None, INPUT, "Decimal mark, . or ,; found out if not given.", metavar="MARK"),
    option("delimiter", str | None, None, INPUT, "Between fields; found out if not given.", metavar="MARK"),
    option("skip_rows", int, 0, INPUT, "Lines of text above the header; found out where certain.", metavar="N",
           min=0),
    option("layer", str | None, None, INPUT, "AnnData, loom: a layer, or raw; X if not given.", metavar="NAME"),
    option("modality", str | None, None, INPUT, "MuData: a modality; 10x: a feature type; GEO SOFT: a platform.",
           metavar="NAME"),
    option("memory", int | None, None, INPUT, "For data, e.g. 300MB; half of what is free if not given.",
           parser=parse_memory, metavar="SIZE"),
    option("threads", int | None, None, INPUT, "All cores if not given.", metavar="N", min=1),
    option("config", Path | None, None, INPUT, "TOML file with options; the command line wins.", metavar="FILE",
           callback=read_config, is_eager=True),
)
DASK = option("dask", str | None, None, INPUT, "Read .h5ad and zarr on a Dask cluster: local:4 (processes here), "
              "or the address of a scheduler, tcp://host:8786.", metavar="CLUSTER")
BLOCKS = option("blocks", list[str] | None, None, COMPARED,
                "Batch of each sample: a column, FILE:COLUMN, or sites (of a statistics file); several, "
                "batch,sex, are crossed.", "-b", metavar="COLUMN")
COVARIATES = option("covariates", list[str] | None, None, COMPARED,
                    "Compare at equal values of columns, age,sex: a slope for numbers, a location per level "
                    "otherwise (C(batch): numbers that are names).", metavar="COLUMNS")
DESIGN = (
    option("model", words("gaussian", "categorical", "poisson", "negative-binomial", "auto"), "gaussian", COMPARED,
           "Of the values: measurements, categories or counts; auto: of each feature its own."),
    option("likelihoods", str | None, None, COMPARED, 'For auto, where it is wrong: "age=measurement; '
           'grade=category; visits=count".', metavar="NAME=KIND"),
    option("levels", str | None, None, COMPARED, 'Categories all features can have: "0,1,2".', metavar="LEVELS"),
    option("patterns", str, "any", COMPARED, 'Three or more classes: any, distinct, one-versus-rest, or given '
           'ones: "A | B,C; A,B | C".', metavar="PATTERNS"),
    option("difference", words("any", "mean", "variance"), "any", COMPARED,
           "What makes a marker of two classes: any difference, or that of means or variances."),
    BLOCKS,
    option("outcome", str | None, None, COMPARED, "In place of --labels: a number (dose, age) or ordered classes "
           '(with --classes "low; mid; high") with which features may change.', metavar="COLUMN"),
    COVARIATES,
    option("subject", str | None, None, COMPARED, "Whose sample each is, any number of samples each (repeated "
           "measures): column or FILE:COLUMN.", metavar="COLUMN"),
    option("block_model", words("own", "shift"), "own", COMPARED,
           "Batches: all parameters their own, or one class shift."),
    option("pairs", str | None, None, COMPARED, "Pair (patient) of each sample: column or FILE:COLUMN.",
           metavar="COLUMN"),
    option("exposures", str | None, None, COMPARED, "Offsets of counts: column, FILE:COLUMN, or total (sums).",
           metavar="COLUMN"),
    option("aggregate", str | None, None, COMPARED, "Cells to donors before all else (sums of counts, means "
           "otherwise): column or FILE:COLUMN, also several: donor,cluster.", metavar="COLUMN"),
    option("informative_missing", bool, False, COMPARED, "A different share of missing values is evidence, too."),
    option("factors", str | None, None, COMPARED, "Compare given factors that samples share: how many, or auto.",
           metavar="N|auto"),
    option("gene_map", str | None, None, COMPARED, "Genes of the features, to screen genes: a GPL table of GEO, a "
           ".chip file or two columns; FILE:COLUMN names that of the genes.", metavar="FILE"),
    option("collapse", words("best", "max-mean"), "best", COMPARED, "Features with the same genes: the best "
           "ranked stands for them (so in every shuffle), or the one with the largest mean."),
    option("unmapped", words("drop", "keep"), "drop", COMPARED, "Features without a gene."),
)
GROUPS = (
    option("groups", str | None, None, COMPARED, "Markers of each class (cluster): against the rest, against each "
           "other class, or against the class named; by itself for more than 8 classes.",
           metavar="rest|each|NAME"),
    option("log_scale", words("log1p", "log2", "ln", "log10") | None, None, COMPARED,
           "With --groups and --contrasts: values are such logarithms already; adds log2 fold changes."),
)
PRIOR_RATIO = option("prior_ratio", str | None, None, CHOICE,
                     "The paper's L for improper priors: a number, or paper, sqrt2pi, bic, ...", metavar="L")
PRIOR = (
    option("prior", str, "calibrated", CHOICE,
           "calibrated, the paper's jeffreys or proper, uniform (categories), or a TOML file.",
           metavar="NAME|FILE"),
    PRIOR_RATIO,
    option("prior_probability", str, "0.01", CHOICE, "Prior inclusion probability, estimate, or FILE:COLUMN.",
           "-p", metavar="P|FILE"),
    option("resolution", float | None, None, CHOICE, "Step to which values are rounded (1 for counts).",
           metavar="STEP", min=0),
    option("degenerate", words("floor", "exclude", "raise"), "floor", CHOICE,
           "Features without variance: floor, exclude or an error."),
)
RULE = (
    option("criterion", words("map", "cmap", "mr", "mnc", "cmnc", "np", "fdr", "fdp") | None, None, LIST,
           "Rule of the list; mnc (probability over 0.5) if no number says otherwise."),
    option("threshold", float | None, None, LIST, "For mr: least posterior probability.", metavar="P",
           min=0, max=1),
    option("n_selected", int | None, None, LIST, "For cmnc and cmap: list length.", "-n", metavar="N", min=0),
    option("expected_false_positives", float | None, None, LIST, "For np: a number of features.", metavar="N",
           min=0),
    option("proportion", float | None, None, LIST, "For fdr and fdp: share of false discoveries.",
           metavar="P", min=0, max=1),
    option("confidence", float | None, None, LIST, "For fdp: probability of keeping the share.", metavar="P",
           min=0, max=1),
)
FINDINGS = (
    option("robust", bool, False, LIST, "Select on the least leave-one-out log-odds (--fragility)."),
    option("kinds", bool, False, OUTPUT, "Add: does the mean differ, the variance, or both? (two classes)"),
    option("effects", bool, False, OUTPUT, "Add: which way, and effect sizes with 95% intervals. (two classes)"),
    option("fragility", bool, False, OUTPUT, "Add: leave-one-out influence, the least log-odds."),
    option("p_values", bool, False, OUTPUT, "Add: exact p-values of the same difference. (two classes, Gaussian)"),
    option("permutations", int | None, None, OUTPUT,
           "Add: p-values and the number under the global null, from N permutations.", metavar="N", min=1),
    option("shuffles", int | None, None, LIST, "Screens with shuffled labels, to judge the list: 20 to 100 by "
           "the size of the table if not given; 0 for none.", metavar="N", min=0),
    option("seed", int | None, None, OUTPUT, "Of shuffles and permutations; 0 by default.", metavar="N",
           min=0),
)
OUT = option("out", Path | None, None, OUTPUT, ".csv, .tsv, .xlsx, .parquet or .json; standard output (CSV) if "
             "not given.", "-o", metavar="FILE")
REPORT_VALUES = option(
    "report_values", int | None, None, OUTPUT,
    "Features whose values go into the report, 500 if not given; 0 leaves out all about single samples.",
    metavar="N", min=0,
)
REPORT_PAIRS = option(
    "report_pairs", int | None, None, OUTPUT,
    "Compare all pairs of features, too, and show the N strongest in the report: see bayesieve pairs.",
    metavar="N", min=0,
)
REPORT_PLAN = option(
    "report_plan", str | None, None, OUTPUT,
    "Say in the report what a further study with so many samples per class would list: see bayesieve plan.",
    metavar="N,...",
)
COMPARISON_REPORT = option("report", Path | None, None, OUTPUT,
                           "Page with the overlap of the lists and rank against rank.",
                           metavar="FILE.html")
CONFIG_OUT = option("config_out", Path | None, None, OUTPUT, "TOML file for the settings of this run.",
                    metavar="FILE")
FILES = (
    OUT,
    option("report", Path | None, None, OUTPUT, "Page with the list, live rules, charts and the whole table.",
           metavar="FILE.html"),
    REPORT_VALUES,
    REPORT_PAIRS,
    REPORT_PLAN,
    option("features", Path | None, None, OUTPUT, "Table of feature annotations; its columns are added.",
           metavar="FILE"),
    option("label_column", str | None, None, OUTPUT, "Column of --features that names the features.",
           metavar="COLUMN"),
    option("only_selected", bool, False, OUTPUT, "Write the list alone, not the whole table."),
    option("quote_formulas", bool, False, OUTPUT, "In CSV and TSV, put ' before names that a spreadsheet would "
           "take for formulas."),
    option("manifest", Path | None, None, OUTPUT, "JSON file for hashes, settings, versions and timings.",
           metavar="FILE"),
    CONFIG_OUT,
)
_CONTRASTS = "Several comparisons (nf-core)"
CONTRASTS = (
    option("contrasts", Path | None, None, _CONTRASTS, "CSV, TSV or YAML with id, variable, reference, target "
           "and, if wanted, blocking: all of them from one reading. --labels is the sample sheet; --out and "
           "--report are folders.",
           metavar="FILE"),
    option("multiqc", bool, False, _CONTRASTS, "Also write custom content for MultiQC (*_mqc.json)."),
    option("process_name", str, "BAYESIEVE_SCREEN", _CONTRASTS, "In versions.yml.", metavar="NAME"),
)
METHODS = (
    option("methods", str, "obf,obf-jp,welch,limma,bd", COMPARED,
           "With commas between: obf (calibrated), obf-jp, obf-pp, welch, student, limma, bd, mi, mi-literal, "
           "nmc, pearson-neyman, wilcoxon, f-classif, mutual-info, lasso-linear, lasso-logit, lasso-probit, "
           "elastic-net-linear, elastic-net-logit, elastic-net-probit, regressions, stability, skbs, bpm, "
           "bayesreg, bayesreg-logit-l1 (also linear, hs), 2mnc-robust, pofac, remain, spm, or a file of your "
           "own: my_rival.py:RIVAL.",
           "-m",
           metavar="NAMES"),
    option("top", str | None, None, COMPARED, "Length of the lists to compare, or several: 10,50,100.",
           metavar="N"),
    option("screen", str | None, None, COMPARED,
           "Give costly methods the strongest features of a quick one only, for example bd:300; all for all.",
           metavar="METHOD:N"),
    option("draws", int | None, None, COMPARED, "Draws that samplers keep of each chain.", metavar="N", min=1),
    option("burn_in", int | None, None, COMPARED, "Sweeps that samplers leave out first.", metavar="N", min=0),
    option("thin", int | None, None, COMPARED, "Sweeps for each draw that is kept.", metavar="N", min=1),
    option("chains", int | None, None, COMPARED, "Chains of each sampler.", metavar="N", min=1),
    option("method_option", list[str] | None, None, COMPARED,
           "Any other option of a method, for example lasso-logit.penalty=0.1; may be given several times.",
           metavar="METHOD.OPTION=VALUE"),
)
PROBABILITY, SHUFFLES, SEED = PRIOR[2], FINDINGS[6], FINDINGS[7]
PAIRS = (
    option("by", words("together", "evidence"), "together", COMPARED,
           "Order: what shows only together, or all the evidence of a pair."),
    option("top", int, 50, COMPARED, "Pairs to list.", metavar="N", min=1),
    option("prior", words("jp", "pp"), "jp", CHOICE, "Jeffreys' prior, or the paper's proper one."),
    option("shuffles", int | None, None, CHOICE, "Repetitions with shuffled labels, for the number by chance: 20, "
           "fewer from 10,000 features on, if not given; 0 for none.", metavar="N", min=0),
    SEED,
)
BLOCKS_OUT = option("blocks_out", Path | None, None, OUTPUT, "Also find blocks of correlated markers (SPM), and "
                    "write them here.", metavar="FILE")
CHECK = (
    option("repeats", int, 20, CHOICE, "Shuffles of the labels, each screened with known differences and without.",
           metavar="N", min=1),
    option("spiked_share", float, 0.05, CHOICE, "Share of the features that get a known difference.",
           metavar="SHARE", min=0, max=1),
    option("methods", str, "obf,obf-jp", COMPARED,
           "Screens, with commas between: obf (calibrated), obf-jp, obf-pp.", "-m", metavar="NAMES"),
    PROBABILITY, *RULE, SHUFFLES, SEED,
)
STATISTICS_OUT = option("out", Path, REQUIRED, OUTPUT, "Statistics file to write, NAME.stats.parquet.", "-o",
                        metavar="FILE", show_default=False)
SITE = (
    option("site", str | None, None, OUTPUT, "Name of the site; the file's name if not given.", metavar="NAME"),
    option("min_cell", int, 5, OUTPUT, "A feature with fewer values in any class is not given away.", metavar="N",
           min=0),
    option("part", str | None, None, OUTPUT, "Only these samples, for array jobs: 3/20 is the third of 20 parts, "
           "which merge puts together.", metavar="K/N"),
)
RESULT = argument("result", Path, "What screen --out wrote (.csv, .tsv, .parquet, .json), a statistics file, or a "
                  "manifest.", metavar="RESULT")
WRITTEN_BY = option("manifest", Path | None, None, INPUT, "Manifest of the run that wrote the result, if there is "
                    "one.", metavar="FILE")
ANOTHER_RULE = (
    CLASSES, BLOCKS, PRIOR_RATIO,
    option("prior_probability", str | None, None, CHOICE, "Another share of markers believed in than the "
           "result's.", "-p", metavar="P|FILE:COLUMN"),
    *RULE,
)
SETS = option("sets", list[Path] | None, None, COMPARED, "Gene sets (GMT, also .gz); may be repeated.",
              metavar="FILE.gmt")
MIN_SIZE = option("min_size", int, 10, COMPARED, "Fewest screened genes of a gene set.", metavar="N", min=1)
MAX_SIZE = option("max_size", int, 500, COMPARED, "Most screened genes of a gene set.", metavar="N", min=1)
ENRICH = (
    option("known", str | None, None, COMPARED, "Known markers: a file of ids, or ids with commas between.",
           metavar="FILE|IDS"),
    option("top", str, "1000,2000,5000", COMPARED, "Lengths of the top in which known markers are counted.",
           metavar="N,N,..."),
    SETS, MIN_SIZE, MAX_SIZE,
    option("n_selected", int | None, None, COMPARED, "Take the N best for the list instead of the result's own.",
           "-n", metavar="N", min=1),
    option("ignore_case", bool, False, COMPARED, "Ids that differ in case only are the same."),
    option("ignore_version", bool, False, COMPARED, "Ensembl and RefSeq ids that differ in version are the same."),
    option("gene_map", str | None, None, INPUT, "Genes of the features, for a result of features: FILE or "
           "FILE:COLUMN.", metavar="FILE"),
    option("unmapped", words("drop", "keep"), "drop", INPUT, "With --gene-map: features without a gene."),
    option("method", str | None, None, INPUT, "One of the rankings of a comparison.", metavar="NAME"),
    option("out", Path | None, None, OUTPUT, "Table of the gene sets: .csv, .tsv, .parquet or .json.", "-o",
           metavar="FILE"),
    option("known_out", Path | None, None, OUTPUT, "Table of the ranks of known markers.", metavar="FILE"),
    option("top_out", Path | None, None, OUTPUT, "Table of their numbers in the top, with p-values.",
           metavar="FILE"),
    option("rnk", Path | None, None, OUTPUT, "Genes with signed scores, for gseapy and GSEA.",
           metavar="FILE.rnk"),
    option("figures", Path | None, None, OUTPUT, "Folder for the recovery curve and the dot plot of sets; needs "
           "the extra figures.", metavar="FOLDER"),
    option("format_", str, "svg,pdf,png", OUTPUT, "Of the figures, with commas between: svg, pdf, png.",
           metavar="NAMES"),
)
# fmt: on
