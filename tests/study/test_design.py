"""Designs: what is accepted, what is refused, and TOML that gives back what was written."""

from __future__ import annotations

import json
import tomllib

import pytest
from small_studies import small_study

from bayesieve.errors import FileError, OptionError, RuleError
from bayesieve.study import Method, StudyDesign, built_in, built_in_names


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", built_in_names())
def test_toml_gives_back_the_studies_of_the_package(name, tmp_path):
    design = built_in(name)
    assert StudyDesign.from_toml(written(tmp_path, design.to_toml())) == design


def test_toml_gives_back_odd_texts_nested_constants_and_own_grids(tmp_path):
    design = StudyDesign(
        "odd.name=1",
        (
            Method("a", 'Quoted "title" \\ \x7f ü\n', "welch", "bh:0.05", options={"p_values": True}),
            Method("b", "", "obf-jp", "fdp:0.1:0.9", 7, {"prior_ratio": "bic"}, (20, 60), 3),
        ),
        sizes=(20, 30, 60),
        seed=2**70,
        constants={"class_variances": [[0.1, 1e-300], [2, 3]], "correlation": 0.25},
        raw=True,
        measures=("labels", "reliability"),
        title="a\tb",
    )
    assert StudyDesign.from_toml(written(tmp_path, design.to_toml())) == design
    assert tomllib.loads(design.to_toml())["sizes"] == [20, 30, 60]


def test_sizes_are_a_list_or_steps(tmp_path):
    text = 'sizes = {}\n[[methods]]\nscores = "bd"\ntitle = "BD"\n'
    assert StudyDesign.from_toml(written(tmp_path, text.format("{ from = 20, to = 60, step = 20 }"))).sizes == (
        20,
        40,
        60,
    )
    assert StudyDesign.from_toml(written(tmp_path, text.format("[40, 20, 40]"))).sizes == (20, 40)
    with pytest.raises(OptionError, match="from = 100"):
        StudyDesign.from_toml(written(tmp_path, text.format("{ from = 20, to = 60 }")))


def test_names_and_titles_follow_from_scores_and_rule(tmp_path):
    text = (
        'sizes = [20]\n[[methods]]\nscores = "wilcoxon"\n[[methods]]\nscores = "obf-jp"\nrule = "np:5"\n'
        'title = "own"\n[[methods]]\nscores = "path/to/mine.py:RIVAL"\ntitle = "Mine"\n'
    )
    design = StudyDesign.from_toml(written(tmp_path, text))
    assert design.name == "mine"
    assert [method.name for method in design.methods] == ["wilcoxon", "np-5-obf-jp", "mine"]
    assert [method.title for method in design.methods][1:] == ["own", "Mine"]
    assert design.methods[0].title


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed = 1", "does not say sizes and methods"),
        ("sizes = [20]\nmethods = 3", r"under a line \[\[methods\]\]"),
        ("sizes = [20]\nmethods = []", "at least one method"),
        ('sizes = [20]\nmethos = 1\n[[methods]]\nscores = "bd"', "Did you mean 'methods'"),
        ('sizes = [21]\n[[methods]]\nscores = "bd"\ntitle = ""', "must be even"),
        ('sizes = [2]\n[[methods]]\nscores = "bd"\ntitle = ""', "between 4 and"),
        ('sizes = ["a"]\n[[methods]]\nscores = "bd"\ntitle = ""', "whole number"),
        ("sizes = [20]\n[[methods]]\nrule = 'mnc'", "where its scores come from"),
        ('sizes = [20]\n[[methods]]\nscores = "bd"\ntitle = ""\nrule = "worst"', "'worst'"),
        ('sizes = [20]\n[[methods]]\nscores = "bd"\ntitle = ""\nrule = "mr:x"', "'mr:x'"),
        ('sizes = [20]\n[[methods]]\nscores = "bd"\ntitle = ""\nrule = "mr:7"', "between 0 and 1"),
        ('sizes = [20]\n[[methods]]\nscores = "bd"\ntitle = ""\nrule = "bh:7"', "between 0 and 1"),
        ('sizes = [20]\n[[methods]]\nscores = "bd"\ntitle = ""\noptions = 3', "must be a table"),
        ('sizes = [20]\nraw = 1\n[[methods]]\nscores = "bd"\ntitle = ""', "true or false"),
        ('sizes = [20]\niterations = 0\n[[methods]]\nscores = "bd"\ntitle = ""', "between 1 and"),
        ('sizes = [20]\nseed = -1\n[[methods]]\nscores = "bd"\ntitle = ""', "at least 0"),
        ('sizes = [20]\nmeasures = ["speed"]\n[[methods]]\nscores = "bd"\ntitle = ""', "no measure 'speed'"),
        ('sizes = [20]\nname = "a b"\n[[methods]]\nscores = "bd"\ntitle = ""', "letters, digits"),
        (
            'sizes = [20]\n[[methods]]\nscores = "bd"\ntitle = ""\n[[methods]]\nscores = "bd"\ntitle = ""',
            "two methods",
        ),
    ],
)
def test_what_is_wrong_is_said(text, said, tmp_path):
    with pytest.raises((OptionError, RuleError), match=said):
        StudyDesign.from_toml(written(tmp_path, text))


def test_a_file_that_is_no_toml_or_not_there(tmp_path):
    with pytest.raises(FileError, match="not a TOML file"):
        StudyDesign.from_toml(written(tmp_path, "sizes = ["))
    with pytest.raises(FileError, match="There is no file"):
        StudyDesign.from_toml(tmp_path / "nothing.toml")
    with pytest.raises(FileError, match="is a folder"):
        StudyDesign.from_toml(tmp_path)


def test_the_grids_of_the_paper():
    figure = built_in("figure-1b")
    assert (figure.sizes[0], figure.sizes[-1], len(figure.sizes), figure.iterations) == (100, 5000, 50, 600)
    assert not figure.raw
    assert {method.scores for method in figure.methods} == {
        "obf-jp", "obf-pp", "bd", "welch", "limma", "pearson-neyman"
    }  # fmt: skip
    figure = built_in("figure-1a")
    assert (figure.sizes[0], figure.sizes[-1], len(figure.sizes), figure.iterations) == (50, 1000, 20, 600)
    assert {"mi", "nmc"} < {method.scores for method in figure.methods}
    assert "mutual-info" not in {method.scores for method in figure.methods}
    table = built_in("table-1")
    assert (table.sizes, table.iterations, table.raw) == ((200,), 10, True)
    assert table.methods[0].scores == "obf-jp"
    assert all(each.n_selected == 100 for name in built_in_names() for each in built_in(name).methods)
    with pytest.raises(OptionError, match="figure-1b"):
        built_in("figure-2")


def test_a_method_may_have_its_own_grid():
    slow = Method("slow", "Slow", "welch", sizes=(20, 60), iterations=2)
    design = small_study(methods=(*small_study().methods, slow))
    assert design.units == 3 * 3 * 5 + 2 * 2
    fewer = design.changed(iterations=1, sizes=[60, 80])
    assert fewer.sizes_of(fewer.method("slow")) == (60,)
    assert fewer.iterations_of(fewer.method("slow")) == 1
    assert fewer.units == 3 * 2 + 1
    assert design.changed(iterations=9).iterations_of(slow) == 2
    with pytest.raises(OptionError, match="no number of samples"):
        design.changed(methods=["slow"], sizes=[40])
    with pytest.raises(OptionError, match="no number of samples"):
        small_study(sizes=())


def test_changes_are_checked():
    design = small_study()
    assert design.changed(methods=["welch"], seed=5).seed == 5
    with pytest.raises(OptionError, match="Its methods are mnc, pp, welch"):
        design.changed(methods=["bd"])
    for wrong in (0, -1, True, 1.5, "3"):
        with pytest.raises(OptionError, match="iterations"):
            design.changed(iterations=wrong)


def test_definitions_are_plain_and_hold_what_decides_the_numbers():
    design = small_study()
    assert json.loads(json.dumps(design.definition)) == design.definition
    assert design.changed(iterations=9, sizes=[20]).definition == design.definition
    assert design.changed(seed=9).definition != design.definition
    with pytest.raises(OptionError, match="numbers, texts, lists"):
        _ = small_study(constants={"a": object()}).definition


def test_methods_of_the_same_title_are_told_apart(tmp_path):
    text = "sizes = [20]\niterations = 1\n" + "".join(
        f'[[methods]]\nname = "w{k}"\nscores = "welch"\nn_selected = {k}\n' for k in (5, 50)
    )
    (tmp_path / "two.toml").write_text(text)
    design = StudyDesign.from_toml(tmp_path / "two.toml")
    assert [method.title for method in design.methods] == ["Welch t (w5)", "Welch t (w50)"]


def test_a_file_with_a_rival_is_not_run_to_read_the_study(tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit('was run')\n")
    text = f'sizes = [20]\n[[methods]]\nscores = "{tmp_path / "mine.py"}:RIVAL"\n'
    (tmp_path / "one.toml").write_text(text)
    assert StudyDesign.from_toml(tmp_path / "one.toml").methods[0].title == "mine"


@pytest.mark.parametrize("title", [5, None, ["a"]])
def test_titles_are_texts(title):
    with pytest.raises(OptionError, match="must be a text"):
        Method("m", title, "welch")
