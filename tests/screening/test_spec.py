"""ScreenSpec: every valid specification survives each form it is written in, and contradictions are refused."""

from __future__ import annotations

import dataclasses
import json
import shlex
import subprocess
import sys
import tomllib
import warnings

import numpy as np
import pytest
import typer
from commands import in_rows
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from typer.main import get_command

import bayesieve as bs
from bayesieve.cli.app import app
from bayesieve.cli.console import Talk
from bayesieve.cli.outputs import RunOptions
from bayesieve.cli.parameters import plain_params
from bayesieve.cli.screen import screen_source
from bayesieve.screening import ScreenSpec
from bayesieve.screening.spec_text import Choice, spec_field, whole
from bayesieve.selection import results_hash
from bayesieve.utils import toml_value

SCREEN = get_command(app).commands["screen"]
FIELDS = {field.name: field for field in dataclasses.fields(ScreenSpec)}
TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
SHARE = st.floats(0, 1)
RULES = st.one_of(
    st.sampled_from([{}, {"criterion": "map"}, {"criterion": "mnc"}]),
    st.fixed_dictionaries({"threshold": SHARE}),
    st.fixed_dictionaries({"n_selected": st.integers(0, 9), "criterion": st.sampled_from(["cmap", "cmnc"])}),
    st.fixed_dictionaries({"expected_false_positives": st.floats(0, 1e6)}),
    st.fixed_dictionaries({"proportion": SHARE}, optional={"confidence": SHARE}),
)
RATIOS = st.one_of(st.floats(1e-6, 1e6), st.sampled_from(["paper", "sqrt2pi", "bic", "n_decay"]))
SOURCES = st.fixed_dictionaries(
    {"table": TEXT},
    optional={
        **dict.fromkeys(("labels", "classes", "id_column", "encoding", "delimiter", "layer", "blocks"), TEXT),
        **dict.fromkeys(("ignore", "na_values"), st.lists(TEXT, max_size=3)),
        "samples_in": st.sampled_from(["rows", "columns"]),
        "decimal": st.sampled_from([".", ","]),
        "missing": st.sampled_from(["raise", "omit"]),
        "degenerate": st.sampled_from(["floor", "exclude", "raise"]),
        "prior_probability": st.one_of(SHARE, TEXT),
        "patterns": TEXT,
    },
)
GAUSSIAN = st.fixed_dictionaries(
    {},
    optional={
        "transform": st.sampled_from(["none", "log2", "log1p", "logit", "rank-normal"]),
        "block_model": st.sampled_from(["own", "shift"]),
        "resolution": st.floats(0, 10),
        "prior_ratio": RATIOS,
        "prior": st.sampled_from(["jeffreys", "priors of mine.toml"]),
        **dict.fromkeys(
            ("kinds", "effects", "robust", "fragility", "p_values", "informative_missing"), st.booleans()
        ),
        "permutations": st.integers(1, 1000),
        "seed": st.integers(0, 2**40),
        "pairs": TEXT,
    },
)
OTHERS = st.one_of(
    st.fixed_dictionaries(
        {"model": st.just("categorical")},
        optional={"levels": TEXT, "prior": st.sampled_from(["jeffreys", "uniform"])},
    ),
    st.fixed_dictionaries(
        {"model": st.sampled_from(["poisson", "negative-binomial"])},
        optional={"exposures": TEXT, "fragility": st.booleans(), "informative_missing": st.booleans()},
    ),
    st.just({"prior": "proper"}),
)
GENES = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"gene_map": TEXT},
        optional={
            "collapse": st.sampled_from(["best", "max-mean"]), "unmapped": st.sampled_from(["drop", "keep"]),
        },
    ),
)  # fmt: skip


@st.composite
def specs(draw):
    """Specifications that hold; those whose options contradict each other are thrown away."""
    options = draw(SOURCES) | draw(st.one_of(GAUSSIAN, GAUSSIAN, OTHERS)) | draw(RULES) | draw(GENES)
    try:
        return ScreenSpec(**options)
    except bs.BayesieveError:
        assume(False)


def parsed(words):
    """Read words as the command does, up to the specification."""
    context = SCREEN.make_context("screen", list(words))
    return ScreenSpec.from_options(plain_params(context.params))


@settings(deadline=None)
@given(specs(), st.booleans())
def test_toml_and_json_give_the_same_specification(spec, defaults):
    values = spec.to_dict(defaults=defaults)
    assert ScreenSpec.from_dict(json.loads(json.dumps(values))) == spec
    lines = [f"{name.replace('_', '-')} = {toml_value(value)}" for name, value in values.items()]
    assert ScreenSpec.from_dict(tomllib.loads("\n".join(lines))) == spec


@settings(deadline=None)
@given(specs())
def test_the_command_line_gives_the_same_specification(spec):
    program, command, *words = shlex.split(spec.command_line())
    assert (program, command) == ("bayesieve", "screen")
    assert parsed(words) == spec


@settings(deadline=None)
@given(specs())
def test_only_what_differs_from_the_default_is_written(spec):
    for name, value in spec.to_dict().items():
        assert value != FIELDS[name].default
    assert spec.replace() == spec


def test_options_of_the_command_are_the_fields():
    others = {field.name for field in dataclasses.fields(RunOptions)}
    others |= {"groups", "log_scale", "contrasts", "multiqc", "process_name"}  # other analyses
    options = {param.name: param for param in SCREEN.params if param.name not in others}
    assert options.keys() == FIELDS.keys()
    context = typer.Context(SCREEN)
    for name, param in options.items():
        field = FIELDS[name]
        default = plain_params({name: param.default})[name]
        if name != "table":
            said = field.default if default in (None, []) else field.metadata["read"](name, default)
            assert said == field.default, name
        if isinstance(field.metadata["read"], Choice):
            for word in field.metadata["read"].words:
                assert param.process_value(context, word) == word
            with pytest.raises(typer.BadParameter):
                param.process_value(context, "lunar")


def test_a_new_field_is_all_that_a_new_option_needs():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Deeper(ScreenSpec):
        depth: int | None = spec_field(None, whole(0), to="screen")

    spec = Deeper(table="t.csv", depth=3)
    assert Deeper.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert spec.command_line().endswith("--depth 3")
    assert "depth=3)" in spec.python()
    assert spec.options_for("screen")["depth"] == 3
    with pytest.raises(bs.OptionError, match="depth"):
        Deeper(table="t.csv", depth=-1)


def test_the_help_needs_neither_arrays_nor_a_compiler():
    code = (
        "import sys; sys.argv = ['bayesieve', 'screen', '--help']\n"
        "from bayesieve.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.exit(bool({'numpy', 'numba', 'scipy', 'polars'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


N = 24
RNG = np.random.default_rng(3)
VALUES = RNG.poisson(5.0, size=(N, 6)).astype(float)
VALUES[N // 2 :, :2] += 6
VALUES[1, 4] = np.nan
STAGES = ["abc"[i * 3 // N] for i in range(N)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("spec")
    head, *rows = in_rows(VALUES, STAGES).replace("nan", "").splitlines()
    more = [f"{row},{'pq'[i % 2]},w{i % (N // 3)},{1 + i % 3}" for i, row in enumerate(rows)]
    (place / "t.csv").write_text("\n".join([f"{head},batch,who,depth", *more]) + "\n")
    (place / "p.csv").write_text("gene,p\n" + "".join(f"g{j},{(j + 1) / 20}\n" for j in range(6)))
    prior = "variance_dof = 3\nvariance_scale = 15\nmean_strength = 1\n"
    (place / "prior.toml").write_text(f"[class]\n{prior}[pooled]\n{prior}")
    return place


RUN = st.fixed_dictionaries(
    {
        "missing": st.just("omit"),
        "ignore": st.sampled_from([["batch", "who", "depth"], ["batch", "who", "depth", "g5"]]),
    },
    optional={
        "classes": st.sampled_from(["a; b", "x=a,b; y=c", "c; b; a", "b, a"]),
        "degenerate": st.sampled_from(["exclude", "floor"]),
        "prior_probability": st.sampled_from([0.2, 0.05, "p.csv:p"]),
        "patterns": st.sampled_from(["any", "distinct", "one-versus-rest"]),
        "blocks": st.just("batch"),
    },
)
HOW = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "prior_ratio": st.sampled_from([0.3, "bic", "sqrt2pi"]),
            "prior": st.just("prior.toml"),
            "transform": st.sampled_from(["log1p", "rank-normal"]),
            "resolution": st.sampled_from([0.5, 1.0]),
            "block_model": st.just("shift"),
            "informative_missing": st.just(True),
            "robust": st.just(True),
            "pairs": st.just("who"),
        },
    ),
    st.just({"prior": "proper"}),
    st.sampled_from([{"model": "categorical"}, {"model": "categorical", "prior": "uniform"}]),
    st.fixed_dictionaries(
        {"model": st.sampled_from(["poisson", "negative-binomial"])},
        optional={"exposures": st.sampled_from(["depth", "total"])},
    ),
)


def outcome(make):
    """Hash of the results, or the kind of error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return results_hash(make())
        except bs.BayesieveError as error:
            return type(error)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=RUN, how=HOW, rule=RULES)
def test_python_lines_give_the_same_results(folder, monkeypatch, run, how, rule):
    monkeypatch.chdir(folder)
    if rule.get("n_selected", 0) > 5:
        rule = {}
    try:
        spec = ScreenSpec(table="t.csv", labels="stage", **run, **how, **rule)
    except bs.OptionError:
        assume(False)
    classes = {"x=a,b; y=c": "xy", "a; b": "ab", "c; b; a": "cba", "b, a": "ba"}.get(spec.classes, "abc")

    def run_lines():
        space = {}
        exec(spec.python(list(classes)), space)  # what people are told to run
        return space["selection"]

    assert outcome(run_lines) == outcome(lambda: screen_source(spec, Talk(quiet=True))[1])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"threshold": 0.9, "proportion": 0.1}, ("threshold", "proportion")),
        ({"criterion": "fdr", "threshold": 0.9}, ("threshold", "criterion")),
        ({"criterion": "np"}, ("expected_false_positives",)),
        ({"confidence": 0.9}, ("proportion",)),
        ({"prior": "proper", "prior_ratio": 0.1}, ("prior_ratio", "prior")),
        ({"prior": "uniform"}, ("prior", "model")),
        ({"levels": "0,1"}, ("levels", "model")),
        ({"model": "poisson", "pairs": "who"}, ("pairs", "model")),
        ({"model": "poisson", "kinds": True}, ("kinds", "model")),
        ({"model": "categorical", "prior": "proper"}, ("prior",)),
        ({"p_values": True, "blocks": "batch"}, ("p_values", "blocks")),
        ({"permutations": 10, "robust": True}, ("permutations", "robust")),
        ({"permutations": 10}, ("permutations", "prior", "shuffles")),
        ({"prior_ratio": 0.4}, ("prior_ratio", "prior")),
        ({"seed": 1, "shuffles": 0}, ("seed", "permutations", "shuffles")),
        ({"prior_probability": "estimate", "shuffles": 0}, ("prior_probability", "shuffles")),
        ({"threshold": 1.5}, ("threshold",)),
        ({"n_selected": 2.5}, ("n_selected",)),
        ({"n_selected": "2.5"}, ("n_selected",)),
        ({"threshold": 10**400}, ("threshold",)),
        ({"ignore": {"a": 1}}, ("ignore",)),
        ({"robust": "perhaps"}, ("robust",)),
        ({"model": "lunar"}, ("model",)),
        ({"labels": ["a"]}, ("labels",)),
    ],
)
def test_contradictions_are_refused_in_the_words_of_the_reader(options, named):
    with pytest.raises(bs.OptionError) as caught:
        ScreenSpec(table="t.csv", **options)
    typed = caught.value.message.render(command=True)
    for name in named:
        assert name in str(caught.value)
        assert f"--{name.replace('_', '-')}" in typed
    assert "--" not in str(caught.value)


def test_numbers_may_be_written_as_texts():
    spec = ScreenSpec(
        table="t.csv", criterion="cmnc", n_selected="3.0", prior="jeffreys", prior_ratio="0.5", ignore="a"
    )
    assert (spec.n_selected, spec.prior_ratio, spec.ignore) == (3, 0.5, ("a",))
    assert ScreenSpec(shuffles=10, seed=2**60 + 1).seed == 2**60 + 1


def test_unknown_names_and_files_are_refused(tmp_path):
    with pytest.raises(bs.OptionError, match="Did you mean 'threshold'"):
        ScreenSpec.from_dict({"table": "t.csv", "treshold": 0.9})
    with pytest.raises(bs.OptionError, match="nowhere"):
        ScreenSpec(table="t.csv", prior=str(tmp_path / "nowhere.toml")).check_files()
    with pytest.raises(bs.OptionError, match="has to be read"):
        ScreenSpec(table="t.csv", prior="prior.toml").make_model(["a", "b"], ["g"])


def test_a_redacted_specification_names_no_sample():
    spec = ScreenSpec(table="t.csv", ignore=["P07", "P08"], classes="early=P01,P02; late=P03")
    public = spec.redacted()
    assert "P0" not in public.command_line() + public.python()
    assert len(public.ignore) == 2
    assert spec.replace(samples_in="rows").redacted(classes=False) == spec.replace(samples_in="rows")


def test_the_command_refuses_what_the_specification_refuses():
    with pytest.raises(typer.BadParameter):
        parsed(["t.csv", "--threshold", "1.5"])
    with pytest.raises(bs.OptionError):
        parsed(["t.csv", "--threshold", "0.5", "--proportion", "0.1"])
