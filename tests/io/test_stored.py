"""Stored results: screened by the command, written to a file, read again, and the same as before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import gene_names, in_rows, inside
from jeffreys import fragility, screen

import bayesieve as bs
from bayesieve.io import read_record, read_result, write_results
from bayesieve.io.results.table import class_columns, stored_prior
from bayesieve.models import UnknownModel
from bayesieve.posterior import Fragility, check_log_odds

PAPER = ("--prior", "jeffreys")
ENDINGS = ("csv", "tsv", "parquet", "json")
CLASSES = ("n_old", "sd_case")  # names like those of columns
N, K = 40, 60


def table(seed=3, n_classes=2):
    rng = np.random.default_rng(seed)
    values = rng.normal(1e6, 1.0, size=(N, K)).round(6)
    group = np.arange(N) % n_classes
    values[group == 1, :6] += 2.5
    values[group == 1, 6] = 1e6 + 5 * (values[group == 1, 6] - 1e6)
    return values, [(*CLASSES, "c_c")[k] for k in group]


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def command(*arguments, code=0):
        result = inside(capfd, monkeypatch, *arguments)
        assert result.code == code, result.err
        return result

    return command


def write(values, labels, name="t.csv", **more):
    """Write a table with an id, the class, further columns and the values."""
    heads = ["id", "stage", *more, *gene_names(values.shape[1])]
    rows = [",".join(heads)]
    for i, row in enumerate(values.tolist()):
        cells = [f"s{i}", labels[i], *(str(column[i]) for column in more.values()), *map(repr, row)]
        rows.append(",".join("" if cell == "nan" else cell for cell in cells))
    Path(name).write_text("\n".join(rows) + "\n")


def check_same(stored, posterior, mask):
    """Compare a stored result, in the order of ranks, with a posterior of the library."""
    order, found = posterior.ranking, stored.posterior
    assert found.names == tuple(posterior.names[i] for i in order)
    np.testing.assert_allclose(found.log_odds, posterior.log_odds[order], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.log_bayes_factor, posterior.log_bayes_factor[order], rtol=1e-9, atol=1e-9)
    assert found.ranking.tolist() == list(range(order.size))
    np.testing.assert_array_equal(stored.selection.mask, mask[order])
    np.testing.assert_array_equal(found.degenerate_codes, posterior.degenerate_codes[order])
    assert tuple(map(str, found.classes)) == tuple(map(str, posterior.classes))
    if isinstance(posterior.statistics, bs.Moments):
        mine, theirs = found.moments, posterior.moments
        shape = theirs.mean.shape
        np.testing.assert_array_equal(
            np.broadcast_to(mine.counts, shape), np.broadcast_to(theirs.counts, shape)[:, order]
        )
        np.testing.assert_allclose(mine.mean, theirs.mean[:, order], rtol=1e-13)
        np.testing.assert_allclose(mine.centred_squares, theirs.centred_squares[:, order], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_two_classes_come_back_with_everything_that_follows_from_them(ending, gaps, run):
    values, labels = table()
    values[:, 9] = 1e6
    values[::2, 10] = 1e6 + 3.0
    if gaps:
        values[np.random.default_rng(5).random(values.shape) < 0.1] = np.nan
    write(values, labels)
    run("screen", "t.csv", *PAPER, "--labels", "stage", "--missing", "omit", "-q", "--out", f"r.{ending}")
    stored = read_result(f"r.{ending}")
    with pytest.warns(bs.DegenerateFeatureWarning):
        posterior = screen(values, labels, feature_names=gene_names(K), missing="omit")
    selection = bs.MinimalRisk(0.5).select(posterior)
    check_same(stored, posterior, selection.mask)
    assert stored.posterior.prior_log_odds == check_log_odds(0.01, 1)  # to the last bit
    assert stored.posterior.model.prior_ratio == pytest.approx(0.1, rel=1e-7)
    assert stored.selection.expected_under_null == pytest.approx(selection.expected_under_null, rel=1e-6)
    assert stored.selection.expected_false_positives == pytest.approx(selection.expected_false_positives)
    assert stored.posterior.moments.mean_difference == pytest.approx(
        posterior.moments.mean_difference[posterior.ranking], rel=1e-12
    )
    assert stored.record.transform == "none"
    assert not stored.remarks
    assert stored.record.spec.missing == "omit"
    assert "degenerate" in [message.kind for message in stored.record.warnings]


@pytest.mark.parametrize("ending", ENDINGS)
def test_findings_and_annotation_are_columns_again(ending, run):
    values, labels = table()
    write(values, labels)
    Path("genes.csv").write_text("gene,n_copies,transform\n" + "".join(f"g{j},{j},t{j % 2}\n" for j in range(K)))
    more = ("--kinds", "--effects", "--fragility", "--p-values", "--features", "genes.csv", "--n-selected", "4")
    run("screen", "t.csv", *PAPER, "--labels", "stage", "-q", "--out", f"r.{ending}", *more)
    stored = read_result(f"r.{ending}")
    assert stored.selection.n_selected == 4
    assert set(stored.annotation) == {"n_copies", "annotation_transform"}
    assert stored.annotation["n_copies"] == [name.removeprefix("g") for name in stored.posterior.names]
    posterior = screen(values, labels, feature_names=gene_names(K))
    order, found = posterior.ranking, stored.posterior.to_dict()
    kinds, effects = bs.kinds(posterior).columns(posterior), bs.effects(posterior).columns()
    assert found["kind"] == [kinds["kind"][i] for i in order]
    for name, column in ({"probability_both": kinds["probability_both"]} | effects).items():
        np.testing.assert_allclose(found[name], column[order], rtol=1e-9, atol=1e-12)
    fragile = fragility(values, labels, posterior=posterior, cut=bs.FixedSize(4).select(posterior).cut)
    np.testing.assert_allclose(found["least_log_odds"], fragile.least_log_odds[order], rtol=1e-9)
    assert found["culprit"] == [f"s{fragile.culprit[i]}" for i in order]
    (again,) = (each for each in stored.posterior.findings if isinstance(each, Fragility))
    np.testing.assert_array_equal(again.fragile, fragile.fragile[order])
    assert "over the cut would not pass without a certain sample" in str(again.notes()[0])
    assert not {"mean_difference (2)", "transform", "selected"} & set(found)
    few = stored.posterior.take([2, 0])
    assert few.to_dict()["kind"] == [found["kind"][2], found["kind"][0]]
    reweighed = stored.posterior.with_prior(0.2).to_dict()
    assert "kind" not in reweighed  # it held for the stored prior
    assert "p_value" in reweighed


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_table_without_its_record_says_what_cannot_be_known(ending, run):
    values, labels = table()
    write(values, labels)
    run(
        "screen",
        "t.csv",
        *PAPER,
        "--labels",
        "stage",
        "-q",
        "--out",
        f"r.{ending}",
        "--n-selected",
        "4",
        "--kinds",
    )
    known = read_result(f"r.{ending}")
    assert known.posterior.model.prior_ratio == 0.1
    Path(f"r.{ending}.json").unlink()
    stored = read_result(f"r.{ending}")
    np.testing.assert_array_equal(stored.posterior.log_odds, known.posterior.log_odds)
    np.testing.assert_array_equal(stored.selection.mask, known.selection.mask)
    assert stored.posterior.to_dict()["kind"] == known.posterior.to_dict()["kind"]
    assert isinstance(stored.posterior.model, UnknownModel)
    assert np.isnan(stored.selection.expected_under_null)
    assert stored.remarks[0].kind == "no-record"
    assert "not known: the stored table does not hold what it takes" in stored.selection.summary()
    with pytest.raises(bs.DataError, match="Screen the data again"):
        stored.posterior.model.log_evidence(None)


def test_a_record_with_the_former_name_of_a_number(run):
    values, labels = table()
    write(values, labels)
    run("screen", "t.csv", *PAPER, "--labels", "stage", "-q", "--out", "r.csv")
    before = read_result("r.csv").selection.expected_under_null
    record = Path("r.csv.json")
    text = record.read_text(encoding="utf-8")
    assert "expected_under_null" in text
    record.write_text(text.replace("expected_under_null", "expected_by_chance"), encoding="utf-8")
    assert read_result("r.csv").selection.expected_under_null == before


@pytest.mark.parametrize("damage", ["features", "hash", "json", "format", "part", "setting", "version"])
def test_a_side_car_that_does_not_belong_to_its_table_is_refused(damage, run):
    values, labels = table()
    write(values, labels)
    write(values[:, :9], labels, "few.csv")
    run("screen", "t.csv", *PAPER, "-l", "stage", "-q", "--out", "r.csv")
    beside = Path("r.csv.json")
    content = json.loads(beside.read_text(encoding="utf-8"))
    said = {
        "features": "record of another result than r.csv: of 9 features",
        "hash": "record of another result than r.csv: the hash of the results differs",
        "json": "damaged or cut short", "format": "is no manifest", "part": "damaged: its part 'findings'",
        "setting": "a setting is not understood", "version": "version 9 of the format",
    }[damage]  # fmt: skip
    if damage in ("features", "hash"):
        other = ("few.csv",) if damage == "features" else ("t.csv", "-p", "0.02")
        run("screen", *other, "-l", "stage", "-q", "--out", "o.csv")
        beside.write_bytes(Path("o.csv.json").read_bytes())
    elif damage == "json":
        beside.write_bytes(beside.read_bytes()[:-30])
    else:
        content |= {"format": {"format": "x"}, "part": {"findings": 3}, "setting": {"settings": {"model": "t"}},
                    "version": {"schema_version": 9}}[damage]  # fmt: skip
        beside.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(bs.FileError, match=said):
        read_result("r.csv")


def test_a_record_replaces_no_file_that_is_something_else(run):
    values, labels = table()
    write(values, labels)
    Path("r.csv.json").write_text('{"mine": 1}', encoding="utf-8")
    refused = run("screen", "t.csv", *PAPER, "-l", "stage", "--out", "r.csv", code=2)
    assert "would overwrite r.csv.json" in refused.said
    assert not Path("r.csv").exists()
    assert Path("r.csv.json").read_text(encoding="utf-8") == '{"mine": 1}'
    run("screen", "t.csv", *PAPER, "-l", "stage", "--out", "q.csv", "--manifest", "q.csv.json", code=2)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_run_writes_the_same_bytes_under_any_name(ending, run):
    values, labels = table()
    write(values, labels)
    for name in ("one", "two"):
        run(
            "screen",
            "t.csv",
            *PAPER,
            "-l",
            "stage",
            "-q",
            "--out",
            f"{name}.{ending}",
            "--manifest",
            f"{name}-m.json",
        )
    written = [f"{{}}.{ending}", *([f"{{}}.{ending}.json"] if ending in ("csv", "tsv") else [])]
    for name in written:
        assert Path(name.format("one")).read_bytes() == Path(name.format("two")).read_bytes()


def test_keys_of_a_newer_version_are_left_out(run):
    values, labels = table()
    write(values, labels)
    run("screen", "t.csv", *PAPER, "-l", "stage", "-q", "--out", "r.csv")
    before = read_result("r.csv").record
    content = json.loads(Path("r.csv.json").read_text(encoding="utf-8"))
    Path("r.csv.json").write_text(json.dumps(content | {"weather": "fair"}), encoding="utf-8")
    assert read_result("r.csv").record == before


def test_a_manifest_says_what_a_text_file_cannot(run):
    values, labels = table()
    write(values, labels)
    arguments = ("--resolution", "0.8", "-p", "0.03", "--expected-false-positives", "0.2", "--fragility")
    run("screen", "t.csv", *PAPER, "--labels", "stage", "-q", "--out", "r.csv", "--manifest", "m.json", *arguments)
    beside = read_result("r.csv").record
    Path("r.csv.json").unlink()
    stored = read_result("r.csv", "m.json")
    assert stored.posterior.resolution == 0.8
    assert stored.posterior.model.prior_ratio == 0.1
    assert not stored.remarks
    assert stored.record.spec.expected_false_positives == 0.2
    assert stored.record.results == beside.results
    assert any("over the cut" in note for note in stored.selection.summary().splitlines())
    run("screen", "t.csv", *PAPER, "--labels", "stage", "-q", "--out", "other.parquet")
    with pytest.raises(bs.FileError, match="the hash of the results differs"):
        read_result("other.parquet", "m.json")
    write(values[:, :9], labels, "few.csv")
    run("screen", "few.csv", *PAPER, "--labels", "stage", "-q", "--out", "few-r.csv")
    with pytest.raises(bs.FileError, match=r"record of another result than few-r\.csv: of 60 features"):
        read_result("few-r.csv", "m.json")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_three_classes(ending, run):
    values, labels = table(n_classes=3)
    write(values, labels)
    for options, patterns in (((), "any"), (("--patterns", "one-versus-rest"), "one-versus-rest")):
        run("screen", "t.csv", *PAPER, "--labels", "stage", "-q", "--out", f"r.{ending}", *options)
        stored = read_result(f"r.{ending}")
        posterior = screen(values, labels, feature_names=gene_names(K), patterns=patterns)
        check_same(stored, posterior, posterior.log_odds > 0)
        table_of = stored.posterior.to_dict()
        assert table_of["pattern"] == [posterior.differences.words(posterior)[i] for i in posterior.ranking]
        assert "equal_c_c_n_old" in table_of
        assert stored.posterior.model.is_jeffreys
        known = stored.selection.expected_under_null
        wanted = bs.MinimalRisk(0.5).select(posterior).expected_under_null
        assert known == wanted
        again = bs.MinimalRisk(0.5).select(stored.posterior).expected_under_null  # from the stored moments
        assert again == pytest.approx(wanted, abs=0.1)


@pytest.mark.parametrize("ending", ["tsv", "json"])
@pytest.mark.parametrize("block_model", ["own", "shift"])
def test_blocks(ending, block_model, run):
    values, labels = table()
    batch = ["p_1", "q"] * 10 + ["q", "p_1"] * 10
    write(values, labels, batch=batch)
    run(
        "screen", "t.csv", *PAPER, "--labels", "stage", "--blocks", "batch", "--block-model", block_model, "-q",
        "--out", f"r.{ending}",
    )  # fmt: skip
    stored = read_result(f"r.{ending}")
    posterior = screen(values, labels, feature_names=gene_names(K), blocks=batch, block_model=block_model)
    check_same(stored, posterior, posterior.log_odds > 0)
    found, wanted = stored.posterior.block_evidence, posterior.block_evidence
    assert (found.names, found.block_model) == (wanted.names, block_model)
    order = posterior.ranking
    np.testing.assert_allclose(found.contributions, wanted.contributions[:, order], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.within, wanted.within[:, order], rtol=1e-9, atol=1e-12)
    for name, column in wanted.columns(posterior).items():
        if name != "without_block":
            np.testing.assert_allclose(stored.posterior.to_dict()[name], np.asarray(column)[order], atol=1e-8)
    assert stored.posterior.model.prior_ratio == pytest.approx(0.1)
    selection = bs.MinimalRisk(0.5).select(posterior)
    assert stored.selection.summary() == selection.summary()
    assert np.isnan(bs.MinimalRisk(0.5).select(stored.posterior).expected_under_null)  # no blocks to draw


def test_pairs(run):
    values, labels = table()
    patient = [str(i // 2) for i in range(N)]
    write(values, labels, patient=patient)
    run("screen", "t.csv", *PAPER, "--labels", "stage", "--pairs", "patient", "-q", "--out", "r.csv")
    stored = read_result("r.csv")
    posterior = screen(values, labels, feature_names=gene_names(K), pairs=patient)
    check_same(stored, posterior, posterior.log_odds > 0)
    wanted = bs.MinimalRisk(0.5).select(posterior).expected_under_null
    assert stored.selection.expected_under_null == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["poisson", "negative-binomial", "categorical"])
def test_counts_and_categories(name, ending, run):
    rng = np.random.default_rng(8)
    labels = ["a_1", "b"] * (N // 2)
    values = rng.poisson(3.0, size=(N, K)) if name != "categorical" else rng.integers(0, 3, size=(N, K))
    values[1::2, :3] = values[1::2, :3] * 3 if name != "categorical" else 2
    Path("t.csv").write_text(in_rows(values, labels))
    run("screen", "t.csv", *PAPER, "--labels", "stage", "--model", name, "-q", "--out", f"r.{ending}")
    stored = read_result(f"r.{ending}")
    models = {
        "poisson": bs.PoissonModel(), "negative-binomial": bs.NegativeBinomialModel(),
        "categorical": bs.CategoricalModel(0.5),
    }  # fmt: skip
    posterior = screen(values, labels, feature_names=gene_names(K), model=models[name])
    check_same(stored, posterior, posterior.log_odds > 0)
    assert stored.record.class_counts == {"a_1": 20, "b": 20}
    column = "share_2_a_1" if name == "categorical" else "log_rate_ratio"
    np.testing.assert_allclose(
        stored.posterior.to_dict()[column], posterior.to_dict()[column][posterior.ranking], rtol=1e-9
    )
    again = bs.MinimalRisk(0.5).select(stored.posterior)
    assert np.isnan(again.expected_under_null)  # no samples, no draws
    family = {"poisson": "Poisson", "negative-binomial": "negative binomial", "categorical": ""}[name]
    assert stored.posterior.model.family == family


def test_log_odds_that_are_the_least_of_several_are_not_calibrated(run):
    values, labels = table()
    write(values, labels)
    for name in ("r.csv", "r.json"):
        run("screen", "t.csv", *PAPER, "--labels", "stage", "--robust", "-q", "--out", name)
        stored = read_result(name)
        assert not stored.posterior.calibrated
        assert stored.posterior.model.is_jeffreys
    Path("r.csv.json").unlink()
    assert not read_result("r.csv").posterior.calibrated


@pytest.mark.parametrize("robust", [False, True])
def test_a_prior_file_that_has_gone_is_not_replaced_by_another_prior(robust, run):
    values, labels = table()
    write(values - 1e6, labels)
    shape = "variance_dof = 3\nvariance_scale = 2\nmean_strength = 1\n"
    Path("prior.toml").write_text(f"[class]\n{shape}[pooled]\n{shape}")
    more = ("--robust",) if robust else ()
    run("screen", "t.csv", *PAPER, "--labels", "stage", "--prior", "prior.toml", "-q", "--out", "r.json", *more)
    there = read_result("r.json")
    assert there.posterior.model.is_proper
    assert not there.remarks
    Path("prior.toml").unlink()
    gone = read_result("r.json")
    assert gone.posterior.model.class_priors[0].variance_scale == 2.0  # the record holds the priors
    assert gone.posterior.names == there.posterior.names


def test_a_prior_per_feature_and_the_ends_of_it(run):
    values, labels = table()
    write(values, labels)
    prior = np.random.default_rng(1).uniform(0.001, 0.2, K)
    prior[:3] = 0.0, 1.0, 0.5
    Path("p.csv").write_text("gene,prior\n" + "".join(f"g{j},{p!r}\n" for j, p in enumerate(prior.tolist())))
    for name in ("r.csv", "r.json"):
        run("screen", "t.csv", *PAPER, "--labels", "stage", "-p", "p.csv:prior", "-q", "--out", name)
        stored = read_result(name)
        posterior = screen(values, labels, feature_names=gene_names(K), prior_probability=prior)
        check_same(stored, posterior, posterior.log_odds > 0)
        np.testing.assert_allclose(stored.posterior.prior_log_odds, posterior.prior_log_odds[posterior.ranking])


def test_tables_of_python_users_are_results_too(tmp_path):
    values, labels = table()
    posterior = screen(values, labels, feature_names=gene_names(K))
    selection = bs.FixedSize(7).select(posterior)
    selection.to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    selection.to_polars().write_parquet(tmp_path / "polars.parquet")
    for name in ("pandas.csv", "polars.parquet"):
        check_same(read_result(tmp_path / name), posterior, selection.mask)
    posterior.to_pandas().to_csv(tmp_path / "all.csv", sep=";", index=False)
    check_same(read_result(tmp_path / "all.csv"), posterior, posterior.log_odds > 0)  # no list: over one half


def test_odd_names_come_back_as_they_were(tmp_path):
    values, labels = table()
    names = [f"g{j}" for j in range(K)]
    names[:7] = ['a,"b"\nc', "</script>", " spaced ", "007", "=1+1", "\u2028ünï", "x" * 10_000]
    posterior = screen(values, labels, feature_names=names)
    selection = bs.MinimalRisk(0.5).select(posterior)
    for ending in ENDINGS:
        write_results(tmp_path / f"r.{ending}", selection.to_dict(), dict, posterior.ranking)
        assert read_result(tmp_path / f"r.{ending}").posterior.names == tuple(names[i] for i in posterior.ranking)


def test_ties_keep_their_order_and_huge_evidence_its_prior(tmp_path):
    values, labels = table()
    values[:, 30:] = values[:, [40]]
    values[1::2, 0] += 1e5
    posterior = screen(values, labels, feature_names=gene_names(K), prior_probability=0.003)
    selection = bs.FixedSize(35).select(posterior)
    write_results(tmp_path / "r.csv", selection.to_dict(), dict)  # in feature order
    stored = read_result(tmp_path / "r.csv")
    check_same(stored, posterior, selection.mask)
    assert stored.posterior.prior_log_odds == posterior.prior_log_odds
    assert stored.selection.n_tied_out == selection.n_tied_out


def test_classes_are_told_from_other_columns():
    moments = ["n_{}", "mean_{}", "sd_{}"]
    head = ["feature", "least_log_odds", "n_fragile_removals", "n_x", "mean_y"]
    for labels in (("a", "b"), ("n_a", "mean_a"), ("x_n_y", "n_x_n_y"), ("1", "2", "3")):
        names = head + [column.format(label) for label in labels for column in moments]
        found = class_columns(names)
        assert (found.labels, found.kind) == (labels, "moments")
    assert class_columns(["n_fragile_removals", "n_a", "rate_a", "n_b", "rate_b"]).labels == ("a", "b")
    found = class_columns(["n_a", "share_0_a", "share_1_a", "n_b", "share_0_b", "share_1_b"])
    assert (found.labels, found.kind) == (("a", "b"), "counts")
    assert class_columns(["n_a (2)", "mean_a (2)", "sd_a (2)"]).labels == ("a",)


@pytest.mark.parametrize("probability", [0.5, 0.01, 0.005, 1 / 3, 1e-9, 0.999, 0.0, 1.0])
def test_the_prior_is_found_to_the_last_bit(probability):
    evidence = np.concatenate([np.random.default_rng(0).normal(0, 50, 500), [0.0, 1e6, -1e-9]])
    exact = check_log_odds(probability, 1)
    assert stored_prior(exact + evidence, evidence) == exact
    each = np.asarray(check_log_odds(np.random.default_rng(1).uniform(size=evidence.size), evidence.size))
    found = stored_prior(each + evidence, evidence)
    np.testing.assert_array_equal(found + evidence, each + evidence)


@pytest.mark.parametrize("others", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_features_that_are_markers_or_not_for_certain_stay_so(ending, others, tmp_path):
    """Infinite log-odds are no rounding of finite ones, nor of each other."""
    values, labels = table()
    prior = np.full(K, others)
    prior[[0, 40]], prior[[5, 41]] = 0.0, 1.0
    posterior = screen(values, labels, feature_names=gene_names(K), prior_probability=prior, shuffles=3)
    selection = bs.MinimalRisk(0.5).select(posterior)
    found = bs.read_result(bs.write_result(tmp_path / f"r.{ending}", selection))
    check_same(found, posterior, selection.mask)
    assert {"g5", "g41"} <= set(found.selection.names)
    assert not {"g0", "g40"} & set(found.selection.names)
    for rule in (bs.MinimalRisk(0.5), bs.FixedSize(9), bs.FalseDiscovery(0.05)):
        assert rule.select(found.posterior).names == rule.select(posterior).names
    np.testing.assert_allclose(found.posterior.expected_fdr, posterior.expected_fdr[posterior.ranking], rtol=1e-14)


# ---------------------------------------------------------------------------------------------------------------
# Files that are no results


@pytest.fixture
def result(tmp_path):
    """A good result as a frame of texts, and a function that writes and reads a changed one."""
    values, labels = table()
    selection = bs.MinimalRisk(0.5).select(screen(values, labels, feature_names=gene_names(K)))
    write_results(tmp_path / "good.csv", selection.to_dict(), dict, selection.posterior.ranking)
    frame = pl.read_csv(tmp_path / "good.csv", infer_schema=False)

    def again(changed):
        changed.write_csv(tmp_path / "bad.csv")
        return read_result(tmp_path / "bad.csv")

    assert again(frame).selection.n_selected == selection.n_selected
    return frame, again


def put(frame, name, row, text):
    column = frame[name].to_list()
    column[row] = text
    return frame.with_columns(pl.Series(name, column))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.drop("log_odds"), "no result of bayesieve screen: it has no column 'log_odds'"),
        (lambda f: f.drop("feature"), "it has no column 'feature'"),
        (lambda f: f.rename({"log_bayes_factor": "log_bayes"}), "Did you mean"),
        (lambda f: put(f, "log_odds", 7, "high"), "hold no number, the first 'high' in row 8"),
        (lambda f: put(f, "log_odds", 7, None), "have no 'log_odds', the first is row 8"),
        (lambda f: put(f, "log_bayes_factor", 7, "inf"), "must be finite"),
        (lambda f: put(f, "feature", 7, f["feature"][3]), "feature ids must be distinct"),
        (lambda f: f.head(20).tail(5), r"its 5 rows have the ranks 16 to 20, not every one from 1 to 5"),
        (lambda f: put(f, "log_odds", 30, "99.0"), "contradict each other in 1 place, first at rank 31"),
        (lambda f: put(f, "selected", 1, "perhaps"), "are neither true nor false, the first 'perhaps' in row 2"),
        (lambda f: put(f, "selected", 1, "false"), r"selected features are not the \d first of the ranking"),
        (lambda f: put(f, "n_n_old", 4, "2.5"), "counts values, but row 5 says 2.5"),
        (lambda f: put(f, "n_n_old", 4, None), "have no 'n_n_old'"),
        (lambda f: put(f, "sd_n_old", 4, None), "lack the mean or the standard deviation"),
        (lambda f: put(f, "sd_n_old", 4, "-1.0"), "lack the mean or the standard deviation"),
        (lambda f: put(f, "mean_n_old", 4, "inf"), "no usable statistics of the classes"),
        (lambda f: f.select("rank", "feature", "log_odds", "log_bayes_factor"), "says nothing about the classes"),
        (lambda f: f.clear(), "holds no features"),
    ],
)  # fmt: skip
def test_a_changed_table_is_refused_with_what_is_wrong(change, said, result):
    frame, again = result
    with pytest.raises(bs.FileError, match=said) as caught:
        again(change(frame))
    assert "bad.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_that_was_sorted_otherwise_is_brought_in_order(result):
    frame, again = result
    stored = again(frame.sort("feature"))
    assert list(stored.posterior.names) == frame["feature"].to_list()


def test_files_that_are_something_else(tmp_path, run):
    values, labels = table()
    write(values, labels)
    run("stats", "t.csv", "--labels", "stage", "--out", "a.stats.parquet", "-q")
    with pytest.raises(bs.FileError, match="is a statistics file, not a result"):
        read_result("a.stats.parquet")
    with pytest.raises(bs.FileError, match=r"t\.csv is no result of bayesieve screen"):
        read_result("t.csv")
    for name, content, said in (
        ("a.json", b"[1, 2]", "no list of features"),
        ("b.json", b'{"features": [{"feature": "a"}, {"rank": 1}]}', "lack columns that the first one has"),
        ("c.json", b'{"features": [', "damaged or cut short"),
        ("d.json", b"[" * 100_000, "damaged or cut short"),
        ("e.parquet", b"PAR1 no", "cannot be read as Parquet"),
        ("f.csv", b"", "is empty"),
        ("g.csv", b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5"),
        ("h.csv", b"feature,log_odds\na,1\nb,2,3,4\n", "row 2 has 4 cells, the header has 2"),
        ("i.csv", b"feature,feature,log_odds\na,b,1\n", "column names"),
    ):
        Path(name).write_bytes(content)
        with pytest.raises(bs.FileError, match=said):
            read_result(name)
    with pytest.raises(bs.FileError, match="is a folder"):
        read_result(tmp_path)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"prior": "jeffreys\nimport os"}, r"its setting 'prior' holds the control character U\+000A"),
        ({"labels": "a\x1b[2J"}, r"U\+001B"),
        ({"ignore": ["a", "b\u2028c"]}, r"U\+2028"),
        ({"table": "a\u202ebsc.exe"}, r"U\+202E"),
        ({"a\rb": 1}, r"U\+000D"),
        ({"labels": {"a": 1}}, "its setting labels holds dict"),
    ],
)
def test_settings_with_control_characters_are_refused(setting, said, run):
    values, labels = table()
    write(values, labels)
    run("screen", "t.csv", *PAPER, "-l", "stage", "-q", "--delimiter", ",", "--out", "r.json",
        "--manifest", "m.json", "--na-values", "\t")  # fmt: skip
    assert read_result("r.json", "m.json").record.spec.na_values == ("\t",)  # a tab may be meant
    for name in ("r.json", "m.json"):
        content = json.loads(Path(name).read_text(encoding="utf-8"))
        content["settings"] |= setting
        Path(name).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(bs.FileError, match=said):
        read_result("r.json")
    with pytest.raises(bs.FileError, match=said):
        read_record("m.json")


def test_a_text_that_was_cut_is_damaged(run):
    values, labels = table()
    write(values, labels)
    Path("genes.csv").write_text("gene,note\n" + "".join(f'g{j},"1,2\n3"\n' for j in range(K)))
    for more in ([], ["--features", "genes.csv"]):
        run("screen", "t.csv", *PAPER, "-l", "stage", "-q", "--out", "r.csv", *more)
        data = Path("r.csv").read_bytes()
        read_result("r.csv")
        for lost in (1, 2, 9, 40):
            Path("cut.csv").write_bytes(data[:-lost])
            with pytest.raises(bs.FileError, match=r"does not end with a line break|is damaged: row"):
                read_result("cut.csv")
        Path("cut.csv").write_bytes(data.rstrip(b"\n").rpartition(b",")[0] + b"\n")
        with pytest.raises(bs.FileError, match=r"is damaged: row 60 has|does not end with a line break"):
            read_result("cut.csv")
        Path("blank.csv").write_bytes(data.replace(b"\n", b"\r\n") if not more else data)
        assert read_result("blank.csv").posterior.n_features == K


@pytest.mark.parametrize("rows", [1, 4, 6])
def test_the_best_rows_alone_are_doubted(rows, run):
    values, labels = table()
    write(values, labels)
    run(
        "screen",
        "t.csv",
        *PAPER,
        "-l",
        "stage",
        "-q",
        "--out",
        "r.csv",
        "--manifest",
        "m.json",
        "--n-selected",
        "4",
    )
    assert not read_result("r.csv").remarks
    lines = Path("r.csv").read_text().splitlines(keepends=True)
    Path("top.csv").write_text("".join(lines[: rows + 1]))
    said = [str(text) for text in read_result("top.csv").remarks][1:]
    why = "every row is selected" if rows <= 4 else "no row speaks against a difference"
    assert said == [
        f"top.csv may have been cut: {why}. The table must hold all features; if it was cut, every expected "
        "number is wrong."
    ]
    with pytest.raises(bs.FileError, match="of 60 features"):
        read_result("top.csv", "m.json")


def test_a_result_that_was_cut_is_noticed_where_the_file_says_its_size(run):
    values, labels = table()
    write(values, labels)
    run("screen", "t.csv", *PAPER, "--labels", "stage", "-q", "--out", "r.json")
    content = json.loads(Path("r.json").read_text())
    content["features"] = content["features"][:10]
    Path("r.json").write_text(json.dumps(content))
    with pytest.raises(bs.FileError, match="holds 10 features, but the result has 60: rows have been taken out"):
        read_result("r.json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"format": "x"}, "no manifest of bayesieve"),
        ([1], "no manifest of bayesieve"),
        ({"format": "bayesieve-manifest", "schema_version": 9}, "version 9 of the format"),
        ({"format": "bayesieve-manifest", "schema_version": 2, "command": "screen"}, "is missing"),
        (
            {"format": "bayesieve-manifest", "schema_version": 2, "command": "compare", "settings": {},
             "results": {}, "inputs": []},
            "it is of bayesieve compare",
        ),
    ],
)  # fmt: skip
def test_manifests_that_are_none(content, said, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(content))
    with pytest.raises(bs.FileError, match=said):
        read_record(path)
