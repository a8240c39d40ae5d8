"""``bayesieve report`` and ``bayesieve figures``: of result tables, statistics files and manifests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import gene_names, halves, in_rows, inside, numbers
from jeffreys import screen

import bayesieve as bs
from bayesieve.cli import main
from bayesieve.report.encoding import decode_array

N, K = 36, 30
VALUES = numbers(N, K, seed=21)
VALUES[N // 2 :, 3] += 2.0
LABELS = halves(N)


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(in_rows(VALUES, LABELS))

    def command(*arguments, code=0):
        result = inside(capfd, monkeypatch, *arguments)
        assert result.code == code, result.err
        return result

    return command


@pytest.fixture
def screened(run):
    """A result as text and as Parquet, and the manifest of the run."""
    options = ("-l", "stage", "-q", "--threshold", "0.8", "--prior", "jeffreys")
    run("screen", "t.csv", *options, "--out", "r.csv", "--manifest", "m.json")
    run("screen", "t.csv", *options, "--out", "r.parquet")
    return run


def payload(name):
    page = Path(name).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="payload">(.*?)</script>', page, re.DOTALL)
    assert found, "there is no payload in the page"
    return json.loads(found[1])


def posterior(**options):
    return screen(VALUES, LABELS, feature_names=gene_names(K), **options)


def check_evidence(content, wanted):
    order = wanted.ranking
    assert content["names"] == [wanted.names[i] for i in order]
    np.testing.assert_allclose(
        decode_array(content["log_bayes_factor"]), wanted.log_bayes_factor[order], rtol=1e-10
    )


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "bare.csv"])
def test_the_report_of_a_table_holds_what_was_screened(name, screened):
    Path("bare.csv").write_bytes(Path("r.csv").read_bytes())
    result = screened("report", name, "--out", "r.report.html")
    assert "Wrote the report of" in result.said
    assert f"of {K} features" in result.said
    content = payload("r.report.html")
    check_evidence(content, posterior())
    assert content["prior"]["probability"] == 0.01
    known = name != "bare.csv"  # a table without its record does not say model and rule, only the list
    assert (content["ratio"]["value"] == 0.1) if known else content["ratio"] is None
    assert (content["under_null"] is not None) == known
    size = int(bs.MinimalRisk(0.8).select(posterior()).n_selected)
    plain = size == int(bs.MinimalRisk(0.5).select(posterior()).n_selected)
    assert content["rule"]["name"] == ("mr" if known else "mnc" if plain else "cmnc")
    words = content["commands"]["cli"]
    assert words[:3] == (["bayesieve", "screen", "t.csv"] if known else ["bayesieve", "report", "bare.csv"])
    assert ("came without its record" in result.said) == (not known)
    assert content["values"] is None
    assert content["class_counts"] == [18, 18]


def test_no_page_names_a_folder(screened):
    here = str(Path.cwd())
    table = str(Path("t.csv").resolve())
    screened(
        "screen",
        table,
        "--labels",
        "stage",
        "--shuffles",
        "0",
        "--out",
        f"{here}/q.csv",
        "--report",
        f"{here}/q.html",
    )
    screened("report", f"{here}/q.csv", "--out", f"{here}/w.html")
    for name in ("q.html", "w.html"):
        page = Path(name).read_text(encoding="utf-8")
        assert here not in page
        assert "bayesieve screen t.csv" in page


def test_a_manifest_beside_a_text_file_says_rule_and_command(screened):
    screened("report", "r.csv", "--manifest", "m.json", "--out", "a.html", "--title", "My <title>")
    content = payload("a.html")
    assert (content["rule"]["name"], content["rule"]["threshold"]) == ("mr", 0.8)
    assert content["commands"]["cli"][:3] == ["bayesieve", "screen", "t.csv"]
    assert content["title"] == "My <title>"
    page = Path("a.html").read_text(encoding="utf-8")
    assert "<title>My &lt;title&gt;" in page
    assert json.loads(Path("m.json").read_text())["results"]["sha256"] in page


def test_rule_prior_and_ratio_can_be_changed_without_the_data(screened):
    screened(
        "report", "r.csv", "--n-selected", "7", "-p", "0.2", "--prior-ratio", "0.5", "--out", "a.html"
    )  # fmt: skip
    content = payload("a.html")
    wanted = posterior(model=bs.GaussianModel.jeffreys(0.5), prior_probability=0.2)
    check_evidence(content, wanted)
    assert (content["rule"]["name"], content["rule"]["n_selected"]) == ("cmnc", 7)
    assert (content["prior"]["probability"], content["ratio"]["value"]) == (0.2, 0.5)
    screened("report", "r.parquet", "-p", "0.2", "--out", "b.html")
    assert payload("b.html")["rule"]["name"] == "mr"  # the rule of the file on the other prior


def test_annotation_of_the_file_and_of_a_further_one(screened):
    Path("genes.csv").write_text("gene,symbol\n" + "".join(f"g{j},SYM{j}\n" for j in range(K)))
    Path("more.csv").write_text("gene,arm\n" + "".join(f"g{j},{'pq'[j % 2]}\n" for j in range(K)))
    screened("screen", "t.csv", "-l", "stage", "-q", "--out", "s.csv", "--features", "genes.csv")
    screened("report", "s.csv", "--annotation", "more.csv")
    columns = {column["key"]: column for column in payload("s.report.html")["columns"] if column.get("annotation")}
    assert list(columns) == ["symbol", "arm"]
    assert columns["symbol"]["values"] == [f"SYM{name[1:]}" for name in payload("s.report.html")["names"]]
    Path("other.csv").write_text("gene,arm\nX1,p\n")
    refused = screened("report", "s.csv", "--features", "other.csv", code=2)
    assert "names none of the features" in refused.said


def test_a_manifest_is_run_again_and_compared(screened):
    result = screened("report", "m.json")
    recorded = json.loads(Path("m.json").read_text())["results"]["sha256"]
    assert "Run again from m.json: its input is unchanged, and the results are the same to the" in result.said
    assert f"to the last bit (SHA-256 {recorded})." in result.said
    page = Path("m.report.html").read_text(encoding="utf-8")
    assert recorded in page
    content = payload("m.report.html")
    check_evidence(content, posterior())
    assert content["values"]["n"] == K
    wanted = VALUES[:, posterior().ranking].T.astype("f4")
    np.testing.assert_array_equal(decode_array(content["values"]["data"]).reshape(K, N), wanted)
    screened("report", "m.json", "--report-values", "0", "--out", "none.html")
    assert payload("none.html")["values"] is None


def test_a_run_that_gives_something_else_is_told(screened):
    content = json.loads(Path("m.json").read_text())
    content["results"] |= {"sha256": "0" * 64, "n_selected": 17}
    Path("old.json").write_text(json.dumps(content))
    result = screened("report", "old.json")
    assert "warning" in result.said
    assert "the results differ from those recorded" in result.said
    assert "17 were" in result.said
    assert "the results differ from those recorded" in Path("old.report.html").read_text(encoding="utf-8")


def test_inputs_that_are_gone_or_changed_are_named(screened):
    Path("t.csv").write_text(in_rows(VALUES + 1.0, LABELS))
    changed = screened("report", "m.json", code=2)
    assert "1 of 1 input cannot be used (t.csv changed)" in changed.said
    assert "give the result table instead" in changed.said
    Path("t.csv").unlink()
    gone = screened("report", "m.json", code=2)
    assert "t.csv not found" in gone.said
    assert not Path("m.report.html").exists()
    screened("report", "r.csv")  # the table is enough


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"moon": 1}, "there is no setting 'moon'"),
        ({"table": None}, "it names no table"),
        ({"model": "lunar"}, "not 'lunar'"),
        ({"threshold": "much"}, "--threshold must be a number between 0 and 1"),
        ({"threads": [1, {}]}, "its setting threads"),
    ],
)
def test_settings_of_a_manifest_that_are_not_understood(settings, said, screened):
    content = json.loads(Path("m.json").read_text())
    content["settings"] = {k: v for k, v in (content["settings"] | settings).items() if v is not None}
    Path("odd.json").write_text(json.dumps(content))
    assert said in screened("report", "odd.json", code=2).said


def sites(run, names=("Oslo", "Bonn", "Lyon")):
    for k, site in enumerate(names):
        rows = slice(k, None, len(names))
        Path(f"{site}.csv").write_text(in_rows(VALUES[rows], LABELS[rows]))
        run("stats", f"{site}.csv", "-l", "stage", "--out", f"{site}.stats.parquet", "-q")
    run("merge", *(f"{site}.stats.parquet" for site in names), "--out", "all.stats.parquet", "-q")


def test_a_statistics_file_of_several_sites_has_the_view_of_a_cohort(run):
    sites(run)
    result = run("report", "all.stats.parquet", "-p", "0.05", "--n-selected", "3")
    assert "statistics of 3 sites" in result.said
    content = payload("all.report.html")
    check_evidence(content, bs.screen(VALUES, LABELS, feature_names=gene_names(K)))
    assert content["prior"]["probability"] == 0.05
    assert content["rule"]["name"] == "cmnc"
    view = content["sites"]
    assert view["names"] == ["Oslo", "Bonn", "Lyon"]
    assert view["counts"] == [[6, 6]] * 3
    assert view["n"] == K
    first = posterior().ranking[0]
    apart = [np.array(LABELS[k::3]) == "b" for k in range(3)]
    for k, second in enumerate(apart):
        values = VALUES[k::3, first]
        difference = values[second].mean() - values[~second].mean()
        assert decode_array(view["difference"][k])[0] == pytest.approx(difference, rel=1e-5)
    blocked = run("report", "all.stats.parquet", "--blocks", "sites", "--out", "blocks.html")
    assert "apart" in blocked.said
    content = payload("blocks.html")
    np.testing.assert_allclose(
        decode_array(content["sites"]["combined"]), decode_array(content["log_bayes_factor"]), rtol=1e-5, atol=1e-5
    )
    turned = run("report", "all.stats.parquet", "--classes", "b, a", "--out", "turned.html")
    assert turned.code == 0
    assert payload("turned.html")["sites"]["title"] == "difference of means (a minus b)"


def run_lines(content):
    """The Python of the page, run; the prior ratio is put in as the page does."""
    ratio = content["ratio"] and content["ratio"]["value"]
    lines = [
        line.replace("{model}", f"bs.GaussianModel.jeffreys({ratio})") for line in content["commands"]["python"]
    ]
    space: dict[str, object] = {}
    exec("\n".join(lines), space)  # what the page tells people to run
    return space["posterior"]


@pytest.mark.filterwarnings("ignore::bayesieve.CalibrationWarning")
@pytest.mark.parametrize("blocks", [[], ["--blocks", "sites"]], ids=["pooled", "apart"])
@pytest.mark.parametrize("classes", [[], ["--classes", "a, b"], ["--classes", "c, a"], ["--classes", "c, b, a"]])
def test_the_python_of_a_statistics_file_picks_its_classes(classes, blocks, run):
    labels = ["abc"[i // 3 % 3] for i in range(N)]
    for k, site in enumerate(("Oslo", "Bonn")):
        Path(f"{site}.csv").write_text(in_rows(VALUES[k::2], labels[k::2]))
        run("stats", f"{site}.csv", "-l", "stage", "--out", f"{site}.stats.parquet", "-q")
    run("merge", "Oslo.stats.parquet", "Bonn.stats.parquet", "--out", "all.stats.parquet", "-q")
    command = ("all.stats.parquet", *classes, *blocks, "-p", "0.03", "-q")
    run("report", *command, "--out", "direct.html")
    run("screen", *command, "--degenerate", "exclude", "--report", "screened.html", "--out", "r.parquet",
        "--manifest", "m.json")  # fmt: skip
    run("report", "r.parquet", "--out", "stored.html")
    run("report", "m.json", "--out", "again.html")
    for name in ("direct.html", "screened.html", "stored.html", "again.html"):
        content = payload(name)
        found = run_lines(content)
        assert list(map(str, found.classes)) == content["classes"], name
        check_evidence(content, found)
        difference = [c for c in content["columns"] if c["key"] == "mean_difference"]
        if difference:
            shown = decode_array(difference[0]["values"])
            np.testing.assert_allclose(shown, found.moments.mean_difference[found.ranking], rtol=1e-6)
        assert ("degenerate='exclude'" in content["commands"]["python"][-1]) == (name != "direct.html")


@pytest.mark.parametrize("prior", ["0", "1"])
@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_a_prior_that_is_certain_is_shared(name, prior, run):
    run("screen", "t.csv", "-l", "stage", "-q", "-p", prior, "--out", name, "--report", "s.html")
    run("report", name)
    for page in ("s.html", "r.report.html"):
        content = payload(page)
        assert content["prior"] == {"log_odds": None, "probability": float(prior)}
        assert content["prior_log_odds"] is None
        assert "--prior-probability" not in content["commands"]["cli"]  # the page appends its own


def test_a_prior_file_with_one_number_per_feature_is_read_again(run):
    scale = np.random.default_rng(4).uniform(0.5, 3.0, K)
    Path("pp.csv").write_text("gene,s\n" + "".join(f"g{j},{s!r}\n" for j, s in enumerate(scale.tolist())))
    shape = 'variance_dof = 3\nmean_strength = 1\nvariance_scale = "pp.csv:s"\n'
    Path("prior.toml").write_text(f"[class]\n{shape}[pooled]\n{shape}")
    run("screen", "t.csv", "-l", "stage", "-q", "--prior", "prior.toml", "--out", "pr.parquet")
    result = run("report", "pr.parquet")
    assert "not known" not in result.said
    content = payload("pr.report.html")
    prior = bs.NormalInverseGamma(variance_dof=3, variance_scale=scale, mean_strength=1, mean_location=0)
    check_evidence(content, posterior(model=bs.GaussianModel((prior, prior), prior)))
    assert content["under_null"] is not None
    Path("pp.csv").unlink()
    Path("prior.toml").unlink()
    run("report", "pr.parquet")  # the record holds the priors themselves
    assert payload("pr.report.html")["under_null"] == content["under_null"]


def test_a_statistics_file_of_one_site_has_no_view_of_sites(run):
    sites(run)
    run("report", "Oslo.stats.parquet")
    assert payload("Oslo.report.html")["sites"] is None


def test_blocks_of_a_table_that_is_run_again_are_shown_one_by_one(run):
    lines = in_rows(VALUES, LABELS).splitlines()
    rows = [lines[0] + ",batch"] + [f"{line},{'pq'[i % 2]}" for i, line in enumerate(lines[1:])]
    Path("b.csv").write_text("\n".join(rows) + "\n")
    run("screen", "b.csv", "-l", "stage", "--blocks", "batch", "-q", "--out", "b.parquet", "--manifest", "b.json")
    run("report", "b.json", "--out", "again.html")
    assert payload("again.html")["sites"]["names"] == ["p", "q"]
    run("report", "b.parquet", "--out", "stored.html")
    stored, again = payload("stored.html"), payload("again.html")
    assert stored["names"] == again["names"]
    assert stored["sites"] is None
    assert {column["key"] for column in stored["columns"]} >= {"log_odds_pooled", "block_p", "block_q"}


@pytest.mark.parametrize("model", ["poisson", "categorical"])
def test_reports_of_stored_counts_and_categories(model, run):
    values = np.random.default_rng(2).integers(0, 4, size=(N, K))
    Path("c.csv").write_text(in_rows(values, LABELS))
    run("screen", "c.csv", "-l", "stage", "--model", model, "-q", "--out", "c.csv.parquet")
    run("report", "c.csv.parquet", "--out", "c.html")
    content = payload("c.html")
    assert content["under_null"] is None
    assert content["ratio"] is None
    assert content["n_features"] == K


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.csv"], "There is no file nothing.csv"),
        (["t.csv"], "t.csv is no result of bayesieve screen"),
        (["r.csv", "--out", "r.pdf"], "A report is an HTML file; let r.pdf (--out) end in .html"),
        (["r.csv", "--out", "no/such/r.html"], "there is no folder"),
        (["r.csv", "--classes", "a,b"], "--classes is for statistics files"),
        (["r.csv", "--blocks", "sites"], "--blocks is for statistics files"),
        (["r.csv", "--prior-ratio", "bic"], "must be a positive number here"),
        (["r.csv", "--prior-ratio", "-1"], "must be a positive number here"),
        (["r.csv", "-p", "2"], "must lie between 0 and 1"),
        (["r.csv", "--threshold", "0.5", "--n-selected", "3"], "belong to different criteria"),
        (["r.csv", "--n-selected", "3000"], "there are only 30"),
        (["r.csv", "--manifest", "gone.json"], "There is no file gone.json (--manifest)"),
        (["r.csv", "--manifest", "r.csv"], "cannot be read as JSON"),
        (["r.csv", "--features", "gone.csv"], "There is no file gone.csv (--features)"),
        (["m.json", "--manifest", "m.json"], "is a manifest itself"),
        (["page.html"], "is a report already"),
        (["r.csv", "-q", "-v"], "contradict each other"),
    ],
)
def test_what_does_not_fit_is_said_in_one_paragraph(arguments, said, screened):
    Path("page.html").write_text("<p>")
    result = screened("report", *arguments, code=2)
    assert said in result.said
    assert "Traceback" not in result.err
    assert not Path("r.report.html").exists()


def test_the_result_is_never_overwritten(screened):
    Path("r.html").write_bytes(Path("r.csv").read_bytes())
    before = Path("m.json").read_bytes()
    screened("report", "m.json", "--out", "m.json", code=2)
    assert Path("m.json").read_bytes() == before


def test_messages_as_json_and_quiet(screened):
    result = screened("report", "r.csv", "--json-log")
    (line,) = (json.loads(text) for text in result.err.splitlines() if '"report"' in text)
    assert line["path"] == "r.report.html"
    assert line["bytes"] == Path("r.report.html").stat().st_size
    assert screened("report", "r.csv", "-q").err == ""


def test_figures_are_written_in_every_format_and_listed(screened):
    pytest.importorskip("matplotlib")
    result = screened("figures", "r.csv", "--out", "pictures", "--format", "svg,png", "--feature", "g0")
    written = sorted(path.name for path in Path("pictures").iterdir())
    assert {"effect_map.svg", "effect_map.png", "expected_roc.svg", "feature_g0.png"} <= set(written)
    assert all(path.stat().st_size > 1000 for path in Path("pictures").iterdir())
    assert f"Wrote {len(written)} files:" in result.said
    assert all(name in result.said for name in written)


def test_figures_of_sites_hold_a_forest(run):
    pytest.importorskip("matplotlib")
    sites(run)
    run("figures", "all.stats.parquet", "--out", "pictures", "--format", "svg")
    assert Path("pictures/forest.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "gif"], "--format takes svg, pdf, png"),
        (["--format", ","], "--format takes svg, pdf, png"),
        (["--feature", "g99"], "g99"),
        (["--out", "t.csv"], "it is a file"),
    ],
)
def test_figures_that_cannot_be_drawn(arguments, said, screened):
    pytest.importorskip("matplotlib")
    result = screened("figures", "r.csv", "--out", "pictures", *arguments, code=2)
    assert said in result.said


def test_figures_of_a_feature_that_is_not_stored_are_refused_before_any_is_written(run):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    rows = "".join(f"{'ab'[i % 2]},{','.join(map(str, rng.poisson(5, 4)))}\n" for i in range(20))
    Path("c.csv").write_text("stage,g0,g1,g2,g3\n" + rows)
    run("screen", "c.csv", "--labels", "stage", "--model", "negative-binomial", "--out", "c_r.csv",
        "--manifest", "c_m.json")  # fmt: skip
    result = run("figures", "c_r.csv", "--out", "pictures", "--feature", "g1", code=2)
    assert "--manifest" in result.said
    assert "data=X" not in result.said
    assert not Path("pictures").exists()
    run("figures", "c_m.json", "--out", "pictures", "--format", "png", "--feature", "g1")
    assert Path("pictures/feature_g1.png").exists()


def test_figures_without_matplotlib_say_how_to_get_it(screened, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    result = screened("figures", "r.csv", "--out", "pictures", code=2)
    assert "pip install" in result.said
    assert '[figures]"' in result.said
    assert not Path("pictures").exists()


def test_the_commands_are_in_the_help(run):
    assert callable(main)
    result = run("--help")
    assert "report" in result.out
    assert "figures" in result.out
