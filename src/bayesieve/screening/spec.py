"""ScreenSpec: the specification of an analysis - what is read, compared, believed and selected."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bayesieve.data import check_treatment, refuse_for_counts
from bayesieve.models import Model
from bayesieve.posterior import ESTIMATE, no_shuffles
from bayesieve.screening import spec_text as read
from bayesieve.screening.spec_text import call_model, python_lines, spec_field
from bayesieve.selection import CRITERIA, RULE_NUMBERS, Rule, make_rule
from bayesieve.utils import OptionError, did_you_mean, option

NAMED_PRIORS = ("calibrated", "jeffreys", "proper", "uniform")
_GAUSSIAN_ONLY = (
    "prior_ratio",
    "resolution",
    "pairs",
    "normalise",
    "transform",
    "block_model",
    "kinds",
    "effects",
    "covariates",
    "outcome",
    "subject",
    "difference",
)
_OF_ONE_FEATURE = ("p_values", "permutations", "robust")
_NOT_GIVEN_MORE = ("pairs", "factors", "resolution", "informative_missing", "robust", "kinds", "effects",
                   "fragility", "p_values", "permutations")  # fmt: skip
_CONFLICTS = {
    "p_values": ("blocks", "pairs", "model"),
    "permutations": ("blocks", "pairs", "informative_missing", "robust"),
    "covariates": _NOT_GIVEN_MORE,
    "subject": ("blocks", *_NOT_GIVEN_MORE),
    "outcome": ("labels", "patterns", "block_model", "gene_map", "subject", *_NOT_GIVEN_MORE),
    "difference": ("kinds", "p_values"),
}
_WHY = {
    "blocks": "samples of different blocks are not exchangeable",
    "pairs": "the samples of a pair are not independent",
    "model": "p-values are those of Gaussian measurements; for counts and categories ask for permutations",
    "informative_missing": "missing values would have to be permuted, too",
    "labels": "an outcome takes the place of classes",
    "patterns": "a trend is one way to differ",
    "block_model": "blocks have locations of their own along an outcome",
    "gene_map": "features stand for genes in comparisons of classes",
    "factors": "factors are found in values that were not adjusted",
    "resolution": "rounding is not known to a regression",
    "kinds": "they are the parts of a screen for any difference between plain classes",
    "effects": "differences at equal covariates and their intervals are columns of the result",
    "fragility": "samples are left out one by one of plain classes only",
    "p_values": "they are those of any difference between plain classes",
    "permutations": "labels that go with a covariate cannot be permuted alone; residuals are shuffled anyway",
    "robust": "the least log-odds over leaving one sample out are not what is permuted",
    "subject": "subjects are compared between classes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSpec:
    """What is analysed and how; options that contradict each other are refused.

    Every field is an option of ``bayesieve screen`` and has its name. A field says with :func:`spec_field` how
    its value is read and to which function it is handed on; files, command lines and Python lines follow.

    Parameters
    ----------
    table, labels, outcome, classes, samples_in, id_column, ignore, encoding, decimal, delimiter, layer, modality,
    duplicates, skip_rows, keep
        The source, as for :func:`bayesieve.read_table`; a statistics file is a table, too.
    na_values, missing
        Missing values, as for :func:`bayesieve.read_table`.
    normalise, transform
        By what samples are divided, and what is done to every value.
    model, likelihoods, levels, patterns, difference, prior, prior_ratio, prior_probability, resolution, degenerate
        Likelihood by name, kinds of features, categories, patterns of classes, prior (a name or a TOML file), the
        paper's L, prior probability (a number, ``estimate`` or ``FILE:COLUMN``), step of rounded values, features
        without variance.
    blocks, covariates, subject, block_model, pairs, exposures, aggregate, informative_missing, factors
        The design, as for :func:`bayesieve.screen` with names of columns.
    gene_map, collapse, unmapped
        Genes of the features (``FILE`` or ``FILE:COLUMN``), which feature stands for a gene, and what becomes of
        features without one.
    criterion, threshold, n_selected, expected_false_positives, proportion, confidence
        The rule of the list, by the paper's acronym and its number.
    robust, kinds, effects, fragility, p_values, permutations, shuffles, seed
        What else is found out.
    """

    table: str = spec_field("", read.text)
    labels: str | None = spec_field(None, read.text, to="read_table")
    outcome: str | None = spec_field(None, read.text, to="read_table")
    classes: str | None = spec_field(None, read.text, to="read_table")
    samples_in: str | None = spec_field(None, read.choice("rows", "columns"), to="read_table")
    id_column: str | None = spec_field(None, read.text, to="read_table")
    ignore: tuple[str, ...] = spec_field((), read.texts, to="read_table")
    keep: tuple[str, ...] = spec_field((), read.texts, to="read_table")
    normalise: str = spec_field("none", read.text, to="read_table")
    transform: str = spec_field("none", read.text, to="read_table")
    missing: str = spec_field("raise", read.choice("raise", "omit"), to="read_table")
    duplicates: str = spec_field("number", read.choice("number", "mean", "strongest", "error"), to="read_table")
    na_values: tuple[str, ...] = spec_field((), read.texts, to="read_table")
    encoding: str | None = spec_field(None, read.text, to="read_table")
    decimal: str | None = spec_field(None, read.text, to="read_table")
    delimiter: str | None = spec_field(None, read.text, to="read_table")
    skip_rows: int = spec_field(0, read.whole(0), to="read_table")
    layer: str | None = spec_field(None, read.text, to="read_table")
    modality: str | None = spec_field(None, read.text, to="read_table")
    model: str = spec_field(
        "gaussian", read.choice("gaussian", "categorical", "poisson", "negative-binomial", "auto")
    )
    likelihoods: str | None = spec_field(None, read.joined("; "))
    levels: str | None = spec_field(None, read.joined(","))
    patterns: str = spec_field("any", read.joined("; "), to="screen")
    difference: str = spec_field("any", read.choice("any", "mean", "variance"), to="screen")
    blocks: str | None = spec_field(None, read.columns, to="read_table")
    covariates: str | None = spec_field(None, read.columns, to="read_table")
    block_model: str = spec_field("own", read.choice("own", "shift"), to="screen")
    subject: str | None = spec_field(None, read.text, to="read_table")
    pairs: str | None = spec_field(None, read.text, to="read_table")
    exposures: str | None = spec_field(None, read.text, to="read_table")
    aggregate: str | None = spec_field(None, read.text, to="read_table")
    informative_missing: bool = spec_field(False, read.flag, to="screen")
    factors: int | str | None = spec_field(None, read.whole_or_auto, to="screen")
    gene_map: str | None = spec_field(None, read.text)
    collapse: str = spec_field("best", read.choice("best", "max-mean"), to="screen")
    unmapped: str = spec_field("drop", read.choice("drop", "keep"), to="screen")
    prior: str = spec_field("calibrated", read.text)
    prior_ratio: float | str | None = spec_field(None, read.number_or_text)
    prior_probability: float | str = spec_field(0.01, read.number_or_text)
    resolution: float | None = spec_field(None, read.number(0), to="screen")
    degenerate: str = spec_field("floor", read.choice("floor", "exclude", "raise"), to="screen")
    criterion: str | None = spec_field(None, read.choice(*CRITERIA), to="rule")
    threshold: float | None = spec_field(None, read.number(0, 1), to="rule")
    n_selected: int | None = spec_field(None, read.whole(0), to="rule")
    expected_false_positives: float | None = spec_field(None, read.number(0), to="rule")
    proportion: float | None = spec_field(None, read.number(0, 1), to="rule")
    confidence: float | None = spec_field(None, read.number(0, 1), to="rule")
    robust: bool = spec_field(False, read.flag)
    kinds: bool = spec_field(False, read.flag)
    effects: bool = spec_field(False, read.flag)
    fragility: bool = spec_field(False, read.flag)
    p_values: bool = spec_field(False, read.flag)
    permutations: int | None = spec_field(None, read.whole(1))
    shuffles: int | None = spec_field(None, read.whole(0))
    seed: int | None = spec_field(None, read.whole(0))

    def __post_init__(self) -> None:
        for name, value in self.read_options({name: getattr(self, name) for name in self.names()}).items():
            object.__setattr__(self, name, value)
        path = os.fspath(Path(self.table)) if self.table else ""
        if path.startswith("-"):  # a file whose name begins like an option is none
            path = os.path.join(os.curdir, path)
        object.__setattr__(self, "table", path)
        check_treatment(self.normalise, self.transform)
        self.make_rule()
        self._check_prior()
        self._check_model()
        self._check_findings()
        self._check_genes()

    @classmethod
    def names(cls, to: str = "") -> tuple[str, ...]:
        """Names of the options; of those only that are handed on to ``read_table``, ``screen`` or ``rule``."""
        return tuple(f.name for f in dataclasses.fields(cls) if not to or f.metadata["to"] == to)

    @classmethod
    def read_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options among others, each brought to its type; None leaves one at its default."""
        return {
            f.name: f.metadata["read"](f.name, options[f.name])
            for f in dataclasses.fields(cls)
            if options.get(f.name) is not None
        }

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Return the specification that is among the options of a command or the settings of a stored result."""
        return cls(**cls.read_options(options))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the specification that a file holds; every name must be one of its own."""
        spelt = {name.replace("-", "_"): value for name, value in values.items()}
        for name in spelt:
            if name not in cls.names():
                raise OptionError(f"There is no setting {name!r}.{did_you_mean(name, cls.names())}")
        return cls.from_options(spelt)

    def to_dict(self, *, defaults: bool = False) -> dict[str, Any]:
        """Return plain values for TOML and JSON: what differs from the default, or all that is set."""
        found = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value not in (None, ()) if defaults else value != field.default:
                found[field.name] = list(value) if isinstance(value, tuple) else value
        return found

    def options_for(self, function: str) -> dict[str, Any]:
        """Return the options that ``read_table``, ``screen`` or ``rule`` takes, by name."""
        return {name: getattr(self, name) for name in self.names(function)}

    def replace(self, **changes: Any) -> Self:
        """Return a specification with some options changed."""
        return dataclasses.replace(self, **changes)

    @property
    def treatment(self) -> str:
        """What is done to values before they are screened, in one word."""
        return check_treatment(self.normalise, self.transform)

    @property
    def has_prior_file(self) -> bool:
        """Whether the priors stand in a file."""
        return self.prior not in NAMED_PRIORS

    def make_rule(self) -> Rule:
        """Return the rule of the list."""
        return make_rule(self.criterion, {name: getattr(self, name) for name in RULE_NUMBERS})

    def make_model(
        self,
        classes: Sequence[str] = (),
        feature_names: Sequence[str] = (),
        load: Callable[[str, Sequence[str], Sequence[str], float | str | None], Model] | None = None,
    ) -> Model:
        """Return the model."""
        if self.has_prior_file:
            if load is None:
                raise OptionError(f"The priors stand in the file {self.prior}, which has to be read.")
            return load(self.prior, classes, feature_names, self.prior_ratio)
        return call_model(self, len(classes))

    def make_prior(
        self, feature_names: Sequence[str], load: Callable[[str, Sequence[str]], Any] | None = None
    ) -> Any:
        """Return the prior probability: a number, ``"estimate"``, or one per feature, read with ``load``."""
        if isinstance(self.prior_probability, float) or self.prior_probability == ESTIMATE or load is None:
            return self.prior_probability
        return load(self.prior_probability, feature_names)

    def check_files(self) -> None:
        """Raise if the prior is neither a known name nor a file that exists."""
        if self.has_prior_file and not Path(self.prior).exists():
            problem = f" must be calibrated, jeffreys, proper or a TOML file; there is no file {self.prior!r}."
            raise OptionError(option("prior"), problem)

    def command_words(self, without: Collection[str] = ()) -> tuple[str, ...]:
        """Return the words of ``bayesieve screen`` for this specification."""
        words = ["bayesieve", "screen", self.table or "TABLE"]
        for name, value in self.to_dict().items():
            flag = f"--{name.replace('_', '-')}"
            if name == "table" or name in without:
                continue
            for each in value if isinstance(value, list) else [value]:
                words += [flag] if each is True else [flag, str(each)]
        return tuple(words)

    def command_line(self) -> str:
        """Return the command as it is typed into a shell."""
        return shlex.join(self.command_words())

    def python(self, classes: Sequence[str] = ("", ""), *, statistics: bool = False) -> str:
        """Return Python lines that make ``posterior`` and ``selection``."""
        lines = python_lines(self, classes, statistics=statistics)
        return "\n".join((*lines, f"selection = bs.{self.make_rule()!r}.select(posterior)"))

    def redacted(self, *, ignore: bool = True, classes: bool = True) -> Self:
        """Return a specification that names no sample: columns and labels that may be ids are words to fill in."""
        changes: dict[str, Any] = {}
        if ignore and self.samples_in != "rows":
            changes["ignore"] = ("COLUMN",) * len(self.ignore)
        if classes and self.classes is not None and "=" in self.classes:
            parts = [part.partition("=")[0].strip() for part in self.classes.split(";") if part.strip()]
            changes["classes"] = "; ".join(f"{name}=LABELS{k + 1}" for k, name in enumerate(parts))
        return self.replace(**changes)

    def without_folders(self) -> Self:
        """Return a specification that names files without their folders, for pages that others read."""
        short = {
            name: os.path.basename(value)
            for name, value in self.to_dict().items()
            if isinstance(value, str) and os.path.isabs(value)
        }
        return self.replace(**short)

    def _check_prior(self) -> None:
        if self.prior == "proper" and self.prior_ratio is not None:
            why = ": a proper prior has its own ratio. Leave it out."
            raise OptionError(option("prior_ratio"), " contradicts ", option("prior", "proper"), why)
        if self.prior == "calibrated" and self.prior_ratio is not None and self.model == "gaussian":
            hint = ("Add ", option("prior", "jeffreys"), ", or leave it out.")
            raise OptionError(option("prior_ratio"), " is a choice that an improper prior asks for.", hint=hint)
        if self.prior == "uniform" and self.model != "categorical":
            hint = ("add ", option("model", "categorical"), ".")
            raise OptionError(option("prior", "uniform"), " is for categories:", hint=hint)

        if self.pairs is not None and self.prior not in ("calibrated", "jeffreys"):
            problem = " compares differences within pairs under the calibrated or Jeffreys' prior."
            raise OptionError(option("pairs"), problem, hint=("Leave ", option("prior"), " out."))

    def _check_model(self) -> None:
        """Raise if an option of one model was given with another."""
        named = option("model", self.model)
        if self.normalise != "none" and self.model in ("poisson", "negative-binomial"):
            raise refuse_for_counts(self.model)
        if self.levels is not None and self.model != "categorical":
            problem = f" names categories, but the model is {self.model}."
            raise OptionError(option("levels"), problem, hint=("Add ", option("model", "categorical"), "."))
        if self.likelihoods is not None and self.model != "auto":
            problem = " says of which kind features are, which "
            raise OptionError(option("likelihoods"), problem, option("model", "auto"), " asks.", hint="Add it.")
        if self.model == "gaussian":
            return
        read.kinds_of(self.likelihoods)
        known = {"categorical": ("jeffreys", "uniform"), "auto": ("calibrated",)}.get(self.model, ("jeffreys",))
        if self.prior not in ("calibrated", *known):
            problem = f" has its own prior: {' or '.join(known)}."
            raise OptionError(named, problem, hint=("Leave ", option("prior"), " out."))
        for name in _GAUSSIAN_ONLY:
            if name in self.to_dict():
                why = (
                    " tells means from variances of Gaussian data, not of "
                    if name in ("kinds", "effects", "difference")
                    else (" belongs to the Gaussian model and does not apply to ")
                )
                advice = ("Compare within groups of samples that are alike: ", option("blocks"), ".")
                raise OptionError(
                    option(name), why, named, ".", hint=advice if name in ("covariates", "subject") else ()
                )

    def _check_genes(self) -> None:
        """Raise if nobody names the genes, or if what is asked for looks at one feature."""
        asked = self.to_dict()
        if self.duplicates == "strongest" and self.gene_map is None:
            for name in _OF_ONE_FEATURE:
                if name in asked:
                    why = " looks at one feature, not at the best of several with the same id."
                    hint = ("Leave it out, or say ", option("duplicates", "mean"), ".")
                    raise OptionError(option(name), why, hint=hint)
        for name in ("collapse", "unmapped"):
            if name in asked and self.gene_map is None:
                problem = " is about genes, and there is no table that names them."
                raise OptionError(option(name), problem, hint=("Add ", option("gene_map", "FILE"), "."))
        for name in _OF_ONE_FEATURE if self.gene_map is not None else ():
            if name in asked and (self.collapse == "best" or name == "robust"):
                why = " looks at one feature, not at the best of several with the same genes."
                other = () if name == "robust" else (", or say ", option("collapse", "max-mean"))
                hint = ("Leave it out", *other, ".")
                raise OptionError(option(name), why, hint=hint)

    def _check_findings(self) -> None:
        """Raise if p-values or permutations do not go with the other options."""
        asked = self.to_dict()
        for name, others in _CONFLICTS.items():
            for other in others if name in asked else ():
                if other in asked:
                    pair = (option(name), " does not go with ", option(other))
                    raise OptionError(*pair, f": {_WHY[other]}. Leave one of them out.")
        if self.prior_probability == ESTIMATE and self.shuffles == 0:
            raise no_shuffles()
        if self.permutations is not None and self.prior == "calibrated" and self.model == "gaussian":
            why = " gives p-values under the paper's priors; the calibrated prior is judged by "
            hint = ("Add ", option("prior", "jeffreys"), ".")
            raise OptionError(option("permutations"), why, option("shuffles"), ".", hint=hint)
        if self.seed is not None and self.shuffles == 0 and self.permutations is None:
            those = (option("shuffles"), " and ", option("permutations"))
            raise OptionError(option("seed"), " is that of ", *those, "; there are none. Leave it out.")
