"""The colon application: the paper's numbers, data and classes, chance, steps, tables, and going on."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest
from made_colon import ADENOMAS, STAGES, write_platform, write_series
from scipy import stats

import bayesieve as bs
from bayesieve.enrichment import collapse
from bayesieve.enrichment.known import find_ranks
from bayesieve.errors import DataError, FileError, LabelError, OptionError
from bayesieve.study import ColonDesign, run_colon, write_colon_report
from bayesieve.study.colon.chance import KnownRows
from bayesieve.study.colon.made import make_files
from bayesieve.study.colon.published import known_genes, least_bound, published
from bayesieve.study.colon.series import ADENOMA, UNKNOWN, codes_of, read_series, read_staged, stage_of
from bayesieve.study.colon.steps import Steps
from bayesieve.study.colon.tables import sections_of

QUICK = ("obf-jp", "obf", "bd", "welch")


def test_the_counts_of_table_s2_follow_from_the_ranks_of_table_s1():
    table = published()["table_s2"]
    assert table["methods"] == published()["table_s1"]["methods"]
    assert len(known_genes()) == published()["data"]["known"] == 36
    for row in table["rows"]:
        counts = [
            sum(gene.ranks.get(method, 10**9) <= row["top"] for gene in known_genes())
            for method in table["methods"]
        ]
        assert counts == row["counts"]


def test_all_18_printed_p_values_are_those_of_one_more():
    data, checked = published()["data"], 0
    for row in published()["table_s2"]["rows"]:
        for count, printed in zip(row["counts"], row["p_values"], strict=True):
            exact = stats.hypergeom.sf(count, data["genes"], data["known"], row["top"])  # P(X > k)
            digits = len(printed.partition("e")[0].replace(".", "").lstrip("0"))
            assert float(printed) == pytest.approx(exact, rel=0.5 * 10.0 ** (1 - digits) + 1e-9), (
                row["top"],
                count,
            )
            checked += 1
    assert checked == 18


def test_the_tables_are_whole():
    paper = published()
    assert [row[0] for row in paper["table_s3"]["rows"]] == list(range(1, 21))
    assert [row[0] for row in paper["table_s4"]["rows"]] == list(range(1, 21))
    assert [row[0] for row in paper["table_s5"]["rows"]] == list(range(1, 11))
    p_values = [float(row[3]) for row in paper["table_s4"]["rows"]]
    assert p_values == sorted(p_values)
    assert len({gene.entrez for gene in known_genes()}) == 36
    assert sum(paper["data"]["class_sizes"]) == paper["data"]["samples"]


def test_adjusted_p_values_of_table_s5_skip_a_rank_and_have_no_minimum():
    table = published()["table_s5"]
    rows = sorted(table["rows"], key=lambda row: row[4])
    ranks = [1, *range(3, 12)]
    for rank, (_, _, _, _, p, printed) in zip(ranks, rows, strict=True):
        assert printed == pytest.approx(p * table["sets"] / rank, rel=0.01)


@pytest.mark.parametrize(("method", "share"), [("lasso-logit", 0.067), ("elastic-net-logit", 0.182)])
def test_the_printed_bounds_are_impossible(method, share):
    """Spec E1: the counts at the thresholds imply q of 51.75 and 143.2 at least."""
    assert least_bound(method) == pytest.approx(share, abs=5e-4)
    assert least_bound(method) > 90 * published()["regressions"][method]["false_share_printed"]


@pytest.mark.parametrize(
    ("text", "stage"),
    [("2", 2), ("2.0", 2), ("Stage IIIb", 3), ("AJCC stage: 4", 4), ("iv", 4), ("I", 1), ("", None), (None, None),
     ("adenoma", None), ("T2", None), ("5", None), ("12", None), ("NA", None)],
)  # fmt: skip
def test_stages_in_many_spellings(text, stage):
    assert stage_of(text) == stage


def test_both_readings_of_the_classes(tmp_path):
    table = read_series(write_series(tmp_path / "s.txt", STAGES, ADENOMAS))
    assert table.field == "ajcc_stage"
    assert table.processing == "RMA of affy"
    assert table.n_adenomas == 3
    assert table.readings == ("numbers", "words")
    assert table.labelled("numbers").labels.counts.tolist() == [10, 27]
    assert table.labelled("words").labels.counts.tolist() == [13, 24]
    stages = np.array([1, 2, 3, 4, ADENOMA, UNKNOWN])
    assert codes_of(stages, "numbers").tolist() == [0, 1, 1, 1, 1, -1]
    assert codes_of(stages, "words").tolist() == [0, 1, 1, 1, 0, -1]


def test_a_sample_without_stage_or_adenoma_is_left_out(tmp_path):
    path = write_series(tmp_path / "s.txt", STAGES, {"adenoma type": [None] * 35 + ["no", "Villous"]}, key="Stage")
    table = read_series(path)
    assert (table.stages == UNKNOWN).sum() == 2
    assert table.labelled("words").labels.counts.tolist() == [11, 24]
    assert table.labelled("words").values.shape == (35, 40)


def test_the_values_are_those_of_the_file(tmp_path):
    values = np.random.default_rng(3).normal(7.0, 1.0, size=(5, len(STAGES)))
    table = read_series(write_series(tmp_path / "s.txt", STAGES, ADENOMAS, values=values))
    np.testing.assert_allclose(table.values, values.T, atol=5e-5)
    assert table.take(np.array([False, True, False, True, True])).features == ("p1_at", "p3_at", "p4_at")


def test_a_series_without_stages_names_the_fields_there_are(tmp_path):
    path = write_series(tmp_path / "s.txt", STAGES, {"grade": ["low", "high"] * 18 + ["low"]}, key="phase")
    with pytest.raises(LabelError, match=r"'gender', 'phase', 'grade'.*--labels"):
        read_series(path)
    assert read_series(path, "phase").field == "phase"
    with pytest.raises(LabelError, match="of most of its samples in a field 'grade'"):
        read_series(path, "grade")


def test_missing_values_are_refused(tmp_path):
    values = np.random.default_rng(3).normal(size=(5, len(STAGES)))
    values[2, 7] = np.nan
    with pytest.raises(DataError, match=r"1 value of 1 feature \('p2_at'"):
        read_series(write_series(tmp_path / "s.txt", STAGES, values=values))


def test_a_table_of_genes(tmp_path):
    frame = pl.DataFrame(
        {"id": ["a", "b", "c", "d"], "stage": ["II", "I", "adenoma", "IV"], "G": [1.0, 2.0, 3.0, 4.0]}
    )
    frame.write_csv(tmp_path / "t.csv")
    table = read_staged(tmp_path / "t.csv", "stage")
    assert table.stages.tolist() == [2, 1, ADENOMA, 4]
    with pytest.raises(LabelError, match="each class needs at least 4"):
        table.labelled("numbers")
    frame.with_columns(stage=pl.Series(["x", "y", "x", "y"])).write_csv(tmp_path / "t.csv")
    with pytest.raises(LabelError, match="holds no stages 1 to 4, but 'x', 'y'"):
        read_staged(tmp_path / "t.csv", "stage")


def test_made_files_follow_from_the_seed(tmp_path):
    first, again, other = (make_files(tmp_path / name, 600, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    for name in ("series", "platform", "sets", "truth"):
        assert getattr(first, name).read_bytes() == getattr(again, name).read_bytes()
    assert first.series.read_bytes() != other.series.read_bytes()
    genes = bs.read_gene_map(first.platform)
    assert genes.n_features == 600
    assert genes.n_without == 600 - round(600 * 42450 / 54675)
    assert genes.n_several > 0
    assert {gene.symbol for gene in known_genes()} <= {gene for each in genes.genes.values() for gene in each}
    assert len(bs.read_gene_sets(first.sets)) == 150
    table = read_series(first.series)
    assert np.bincount(table.stages).tolist() == [6, 28, 72, 76, 56]
    assert table.values.min() >= 2.0
    assert table.values.max() <= 15.0
    with gzip.open(first.series, "rt") as file:
        assert "no patient" in file.readline()


def test_made_markers_differ_as_the_truth_says(tmp_path):
    files = make_files(tmp_path, 4000, 5)
    truth = pl.read_csv(files.truth)
    genes, table = bs.read_gene_map(files.platform), read_series(files.series)
    late = codes_of(table.stages, "words") == 1
    kind_of = dict(zip(truth["gene"], truth["differs_in"], strict=True))
    kinds = np.array([kind_of.get(" /// ".join(genes[probe]), "") for probe in table.features])
    t = abs(stats.ttest_ind(table.values[late], table.values[~late], equal_var=False).statistic)
    f = abs(np.log(table.values[late].var(axis=0) / table.values[~late].var(axis=0)))
    mean = {kind: (t[kinds == kind].mean(), f[kinds == kind].mean()) for kind in set(kinds)}
    assert mean["mean"][0] > 1.2 * mean["none"][0]
    assert mean["variance"][1] > 1.2 * mean["none"][1]
    assert mean["part"][1] > 2.0 * mean["none"][1]


@pytest.fixture(scope="module")
def genes():
    rng = np.random.default_rng(0)
    owners = np.r_[np.arange(60), rng.integers(0, 60, 90)]
    lists = [("A1", "A2") if k == 7 else (f"G{k}",) for k in range(60)]
    names = [f"p{j}" for j in range(150)]
    return names, bs.GeneMap.from_pairs([(name, lists[k]) for name, k in zip(names, owners, strict=True)])


def test_known_genes_are_counted_as_collapse_ranks_them(genes):
    names, gene_map = genes
    known = {"G3": "G3", "G5": "G5", "A2": "A2", "G40": "G40"}
    rows, tops = KnownRows.of(gene_map.group(names), known), (5, 20, 60)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(150)
        ranks = find_ranks(collapse([names[i] for i in order], gene_map).genes, known.values())
        assert rows.count(order, tops) == [sum(0 < rank <= top for rank in ranks.values()) for top in tops]


def test_chance_by_probes_is_that_of_random_orders(genes):
    names, gene_map = genes
    rows = KnownRows.of(gene_map.group(names), {f"G{k}": f"G{k}" for k in range(10, 30)})
    drawn = rows.draw((6, 15), 1)
    rng = np.random.default_rng(9)
    orders = np.array([rows.count(rng.permutation(150), (6, 15)) for _ in range(2000)])
    error = np.sqrt((drawn.var(axis=0) + orders.var(axis=0)) / 2000)
    assert (np.abs(drawn.mean(axis=0) - orders.mean(axis=0)) < 4 * error).all()
    assert drawn.std(axis=0) == pytest.approx(orders.std(axis=0), rel=0.1)


def test_chance_with_one_probe_each_is_hypergeometric():
    names = [f"G{k}" for k in range(80)]
    groups = bs.GeneMap.from_pairs([(name, name) for name in names]).group(names)
    drawn = KnownRows.of(groups, {name: name for name in names[:12]}).draw((20,), 3)[:, 0]
    expected = stats.hypergeom(80, 12, 20)
    for k in range(8):
        p = expected.pmf(k)
        assert abs((drawn == k).mean() - p) < 4 * np.sqrt(p * (1 - p) / 2000)


def test_steps_are_kept_and_done_anew_where_they_must(tmp_path):
    told, calls = [], []

    def work(value):
        calls.append(value)
        return {"array": np.arange(value), "plain": {"x": [value]}}

    def steps(data="d"):
        return Steps(tmp_path, data, told.append)

    first = steps().run("a", "Title", {"n": 3}, lambda: work(3))
    again = steps().run("a", "Title", {"n": 3}, lambda: work(4))
    assert calls == [3]
    np.testing.assert_array_equal(first["array"], again["array"])
    assert again["plain"] == {"x": [3]}
    assert "key" not in again
    steps().run("a", "Title", {"n": 5}, lambda: work(5))
    steps("other").run("a", "Title", {"n": 5}, lambda: work(6))
    (tmp_path / "steps" / "a.npz").write_bytes(b"PK damaged")
    steps("other").run("a", "Title", {"n": 5}, lambda: work(7))
    assert calls == [3, 5, 6, 7]

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        steps().run("b", "Title", {}, interrupted)
    assert [path.name for path in (tmp_path / "steps").iterdir()] == ["a.npz"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("colon")
    design = ColonDesign(synthetic=True, features=600, repeats=1, seed=3)
    told = []
    return folder, design, run_colon(design, folder, workers=1, tell=told.append), told


def test_a_small_run_from_end_to_end(small):
    folder, design, results, _ = small
    assert results.reading == "numbers"
    assert results.readings == ("numbers", "words")
    assert set(results.rankings) == {
        *((method, reading) for method in QUICK for reading in ("numbers", "words")), ("skbs", "numbers"),
    }  # fmt: skip
    assert results.n_genes == round(466 * 21049 / 42450)
    assert results.known_names == {gene.symbol: gene.symbol for gene in known_genes()}
    sections = {section.name: section for section in sections_of(results)}
    assert list(sections) == [
        "data", "table-s1", "table-s2", "table-s3", "table-s4", "table-s5", "regressions", "penalties", "shuffled",
    ]  # fmt: skip
    assert {
        len(row) for section in sections.values() for row in section.rows if len(row) != len(section.head)
    } == set()
    assert len(sections["table-s1"].rows) == 36
    assert len(sections["table-s3"].rows) == 20
    assert len(sections["regressions"].rows) == 2 * 8
    assert set(results.regressions) == {"lasso-logit", "elastic-net-logit"}
    assert design.main_reading == "numbers"
    assert {path.name for path in folder.iterdir() if path.suffix == ".sqlite"} == set()


def test_ranks_are_those_of_the_methods(small):
    _, _, results, _ = small
    matrix = results.table.labelled("words")
    names = results.table.features
    for method, options in (("obf-jp", {"prior_probability": 0.01}), ("bd", {}), ("welch", {})):
        scores = bs.score(matrix, method=method, **options)
        order = [names[i] for i in scores.ranking]
        best = {}
        for probe in order:
            best.setdefault(frozenset(results.gene_map[probe]), probe)
        assert results.rankings[method, "words"].genes.features == tuple(best.values())


def test_statistics_beside_the_first_genes(small):
    _, _, results, _ = small
    table = {section.name: section for section in sections_of(results)}["table-s4"]
    codes = codes_of(results.table.stages, "numbers")
    for row in table.rows[:5]:
        values = results.table.values[:, results.table.features.index(row[6])]
        expected = stats.ttest_ind(values[codes == 0], values[codes == 1], equal_var=False).pvalue
        assert row[8] == pytest.approx(expected, rel=1e-9)
    posterior = bs.screen(results.table.values, codes, model=bs.GaussianModel.jeffreys(), prior_probability=0.01,
                          shuffles=0)  # fmt: skip
    found = results.rankings["obf-jp", "numbers"].probability
    np.testing.assert_allclose(found, np.exp(posterior.log_probability), rtol=1e-9)


def test_counts_of_regressions(small):
    _, _, results, _ = small
    scores = bs.score(results.table.labelled("numbers"), method="lasso-logit", penalty=0.01)
    rows = {row[:2]: row for row in next(s for s in sections_of(results) if s.name == "regressions").rows}
    assert rows["LASSO", "penalty 0.01"][6] == scores.selected.sum()
    stable = results.regressions["lasso-logit"]["stability"]
    counts = [rows["LASSO", f"stability, threshold {t}"][6] for t in (0.1, 0.25, 0.5, 0.51, 0.75, 0.9)]
    assert counts == [(stable >= t - 1e-12).sum() for t in (0.1, 0.25, 0.5, 0.51, 0.75, 0.9)]
    assert counts == sorted(counts, reverse=True)


def test_a_run_goes_on_where_it_was_interrupted(small, tmp_path):
    _, design, results, told = small
    fits = []

    def interrupt(done, total):
        fits.append((done, total))
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_colon(design, tmp_path, workers=1, progress=interrupt)
    kept = sorted(path.stem for path in (tmp_path / "steps").glob("*.npz"))
    assert "lasso-logit-numbers" not in kept
    assert {"made", "obf-jp-numbers", "skbs-numbers", "welch-words"} <= set(kept)
    said, later = [], []
    again = run_colon(design, tmp_path, workers=1, tell=said.append, progress=lambda *done: later.append(done))
    assert later[0] == (4, 10)  # folds that were done are there
    assert not any(text.startswith("CMNC-OBF-JP") for text in said)
    assert any(text.startswith("CMNC-OBF-JP") for text in told)
    assert "9 of 12 steps" in said[-1]
    for method in ("lasso-logit", "elastic-net-logit"):
        for name in ("stability", "probe", "accuracy"):
            np.testing.assert_array_equal(again.regressions[method][name], results.regressions[method][name])
    for name, counts in results.shuffles.items():
        np.testing.assert_array_equal(again.shuffles[name], counts)


def test_one_reading_only(tmp_path):
    design = ColonDesign(synthetic=True, features=400, methods=("obf-jp", "welch"), reading="words")
    results = run_colon(design, tmp_path)
    assert results.readings == ("words",)
    assert results.reading == "words"


def test_names_are_escaped_on_the_page(tmp_path):
    rng = np.random.default_rng(0)
    columns = {"<img src=x>": rng.normal(size=40), "A|B & *c*": rng.normal(size=40), "TP53": rng.normal(size=40)}
    columns |= {f"G{k}": rng.normal(size=40) for k in range(20)}
    columns["<img src=x>"][20:] += 9.0
    pl.DataFrame({"stage": ["1"] * 20 + ["3"] * 20, **columns}).write_csv(tmp_path / "t.csv")
    design = ColonDesign(table=str(tmp_path / "t.csv"), labels="stage", methods=("obf-jp", "welch"))
    results = run_colon(design, tmp_path / "out")
    assert results.main.genes.genes[0] == "<img src=x>"
    assert results.readings == ("numbers",)
    assert results.tops == (1, 2, 5)
    write_colon_report(results, tmp_path / "out", formats=["svg"])
    page = (tmp_path / "out" / "summary.html").read_text()
    assert "<img src=x>" not in page
    assert "&lt;img src=x&gt;" in page
    text = (tmp_path / "out" / "summary.md").read_text()
    assert "<img src=x>" not in text
    first = pl.read_csv(tmp_path / "out" / "table-s3.csv")
    assert first["gene, here"][0] == "<img src=x>"
    assert pl.read_csv(tmp_path / "out" / "results.csv")["gene"].to_list() == list(results.main.genes.genes)


def test_small_p_values_keep_their_digits_in_files(tmp_path):
    rng = np.random.default_rng(1)
    columns = {f"G{k}": rng.normal(size=60) for k in range(30)}
    columns["G0"][30:] += 6.0
    pl.DataFrame({"stage": ["1"] * 30 + ["2"] * 30, **columns}).write_csv(tmp_path / "t.csv")
    design = ColonDesign(table=str(tmp_path / "t.csv"), labels="stage", methods=("welch",))
    write_colon_report(run_colon(design, tmp_path / "out"), tmp_path / "out", formats=["svg"])
    found = pl.read_csv(tmp_path / "out" / "table-s4.csv")["t-test p, here"][0]
    values = columns["G0"]
    assert found == pytest.approx(stats.ttest_ind(values[:30], values[30:], equal_var=False).pvalue, rel=1e-9)
    assert found < 1e-20


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Nothing says what"),
        ({"synthetic": True, "table": "t.csv"}, "--table and --synthetic both say"),
        ({"series": "s.txt"}, "--platform GPL570.txt"),
        ({"synthetic": True, "methods": ("obf-jp", "svm")}, "no method .svm."),
        ({"synthetic": True, "methods": ()}, "no method"),
        ({"synthetic": True, "reading": "letters"}, "numbers, words or both"),
        ({"synthetic": True, "features": 10}, "features"),
    ],
)
def test_designs_that_make_no_sense(options, words):
    with pytest.raises(OptionError, match=words):
        ColonDesign(**options)


def test_files_that_do_not_fit(tmp_path):
    series = write_series(tmp_path / "s.txt", STAGES, ADENOMAS)
    other = tmp_path / "other.txt"
    other.write_text("ID\tGene Symbol\n1007_s_at\tDDR1\n", encoding="utf-8")
    with pytest.raises(DataError, match="knows 0 of the 40 features"):
        run_colon(ColonDesign(series=str(series), platform=str(other)), tmp_path / "out")
    with pytest.raises(FileError, match="There is no file"):
        run_colon(ColonDesign(series=str(series), platform=str(tmp_path / "none.txt")), tmp_path / "out")
    platform = write_platform(tmp_path / "p.txt", [*(f"G{j}" for j in range(30)), *[""] * 5, *["A /// B"] * 5])
    design = ColonDesign(series=str(series), platform=str(platform), methods=("bd", "obf-jp"))
    results = run_colon(design, tmp_path / "out")
    assert (results.n_probes, len(results.table.features), results.n_genes) == (40, 35, 31)
    assert results.known_names == {}
    assert [section.name for section in sections_of(results)] == ["data", "table-s3", "shuffled"]
    assert (tmp_path / "out" / "steps" / "bd-words.npz").is_file()
    csv = tmp_path / "t.csv"
    csv.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(FileError, match="no whole GEO series matrix"):
        run_colon(ColonDesign(series=str(csv), platform=str(platform)), tmp_path / "out")
