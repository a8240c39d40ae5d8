"""Batches, pairs and exposures of samples, from the table itself and from other files."""

import contextlib
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tables import dense

import bayesieve as bs
from bayesieve.io import read_table
from bayesieve.models import CategoricalModel, Model, PoissonModel

N, P = 24, 7
RNG = np.random.default_rng(3)
VALUES = np.round(RNG.normal(5.0, 2.0, size=(N, P)), 3)
COUNTS = RNG.poisson(4.0, size=(N, P)) + 1
STAGE = np.array(["early", "late"])[(np.arange(N) // 2) % 2]
BATCH = np.array(["1", "2", "10"])[np.arange(N) % 3]  # natural order is 1, 2, 10
PATIENT = np.array([f"p{i // 4}{i % 2}" for i in range(N)])  # samples i and i + 2 are a pair
DEPTH = np.round(RNG.uniform(0.5, 2.0, N), 3)
IDS = np.array([f"s{i}" for i in range(N)])
GENES = [f"g{j}" for j in range(P)]
COLUMNS = {"stage": STAGE, "batch": BATCH, "patient": PATIENT, "depth": DEPTH}


def frame(values=VALUES, **changed):
    columns = {name: list(column) for name, column in ({"id": IDS} | COLUMNS | changed).items()}
    return pd.DataFrame(columns | {gene: values[:, j] for j, gene in enumerate(GENES)})


def csv_rows(path, table):
    table.to_csv(path / "rows.csv", index=False)
    return path / "rows.csv"


def csv_columns(path, table):
    turned = table.set_index("id").T
    turned.to_csv(path / "columns.csv", index_label="name")
    return path / "columns.csv"


def parquet(path, table):
    columns = {name: [None if pd.isna(value) else value for value in table[name].tolist()] for name in table}
    pl.DataFrame(columns).write_parquet(path / "a.parquet")
    return path / "a.parquet"


def h5ad(path, table, form=np.asarray):
    anndata = pytest.importorskip("anndata")
    obs = table[[*COLUMNS]].set_axis(table["id"], axis=0)
    obs.index.name = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = anndata.AnnData(form(table[GENES].to_numpy()), obs=obs, var=pd.DataFrame(index=GENES))
        made.write_h5ad(path / "a.h5ad")
    return path / "a.h5ad"


def h5ad_by_feature(path, table):
    return h5ad(path, table, pytest.importorskip("scipy.sparse").csc_matrix)


def geo(path, table):
    def line(name, cells):
        return "\t".join([name, *(f'"{cell}"' for cell in cells)]) + "\n"

    with (path / "series.txt").open("w", encoding="utf-8") as file:
        file.write(line("!Sample_geo_accession", table["id"]))
        for name in COLUMNS:
            cells = ["" if pd.isna(cell) else f"{name}: {cell}" for cell in table[name]]
            file.write(line("!Sample_characteristics_ch1", cells))
        file.write("!series_matrix_table_begin\n" + line('"ID_REF"', table["id"]))
        for gene in GENES:
            file.write("\t".join([f'"{gene}"', *map(str, table[gene])]) + "\n")
        file.write("!series_matrix_table_end\n")
    return path / "series.txt"


def gct(path, table):
    lines = ["#1.3", f"{P}\t{len(table)}\t0\t{len(COLUMNS)}", "\t".join(["id", *table["id"]])]
    rows = [*COLUMNS, *GENES]
    lines += ["\t".join([name, *("" if pd.isna(cell) else str(cell) for cell in table[name])]) for name in rows]
    (path / "a.gct").write_text("\n".join(lines) + "\n")
    return path / "a.gct"


def npz(path, table):
    columns = {name: table[name].to_numpy().astype(str) for name in COLUMNS}
    np.savez(path / "a.npz", X=table[GENES].to_numpy(), ids=IDS, feature_names=GENES, **columns)
    return path / "a.npz"


FORMATS = [csv_rows, csv_columns, parquet, h5ad, h5ad_by_feature, geo, gct, npz]


def groups(values, *keys):
    """Mean, centred squares and count of every group, by pandas."""
    table = pd.DataFrame(values)
    grouped = table.groupby(list(keys)) if keys else table.groupby(lambda _: 0)
    return grouped.mean(), grouped.var(ddof=0) * grouped.count(), grouped.count()


def check(moments, values, stage, classes=("early", "late")):
    assert moments.classes == tuple(classes)
    mean, squares, count = groups(values, stage)
    present = [label for label in classes if label in mean.index]
    chosen = moments.pick(present)
    np.testing.assert_allclose(chosen.mean, mean.loc[present], rtol=1e-12)
    np.testing.assert_allclose(chosen.centred_squares, squares.loc[present], rtol=1e-10, atol=1e-12)
    counts = np.broadcast_to(chosen.counts, chosen.mean.shape)
    np.testing.assert_array_equal(counts, count.loc[present])


@contextlib.contextmanager
def table_of(*args, **options):
    found = read_table(*args, **options)
    try:
        yield found
    finally:
        found.chunks.table.close()


def lacking(found):
    """Number, column and ids of the samples or pairs that lack something."""
    groups = [group for group in found.record.left_out if group.what in ("sample", "incomplete pair")]
    return [(group.n, group.reason.partition(" of ")[2], group.sample_ids) for group in groups]


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("memory", [1, None])
def test_blocks_of_every_format_against_pandas(tmp_path, write, memory):
    path = write(tmp_path, frame())
    with table_of(path, labels="stage", blocks="batch", ignore=_ignored(write), memory=memory) as found:
        assert found.feature_names == tuple(GENES)
        assert list(found.blocked) == ["1", "2", "10"]
        check(found.moments, VALUES, STAGE)
        for name, moments in found.blocked.items():
            check(moments, VALUES[name == BATCH], STAGE[name == BATCH])
        assert found.class_counts == {"early": 12, "late": 12}
        assert found.block_class_counts == {name: {"early": 4, "late": 4} for name in ("1", "2", "10")}
        assert not lacking(found)
        assert found.sample_names == tuple(IDS)


def _ignored(write):
    """Numeric columns beside the batch that are no features."""
    return ("depth",) if write in (csv_rows, csv_columns, parquet) else ()


@pytest.mark.parametrize("write", FORMATS)
def test_pairs_of_every_format_by_hand(tmp_path, write):
    path = write(tmp_path, frame())
    first = np.array([i for i in range(N) if i % 4 < 2])
    differences = VALUES[first + 2] - VALUES[first]
    assert (PATIENT[first] == PATIENT[first + 2]).all()
    for memory in (1, None):
        with table_of(path, labels="stage", pairs="patient", ignore=_both(write), memory=memory) as found:
            check(found.moments, differences, np.full(first.size, "late - early"), ["late - early"])
            assert (found.n_pairs, found.n_incomplete, found.blocked) == (12, 0, {})
            assert found.class_counts == {"early": 12, "late": 12}
            again = np.concatenate([dense(block.values) for block in found.blocks(np.arange(P))], axis=1)
            order = [list(PATIENT[first]).index(pair) for pair in found.sample_names]
            np.testing.assert_allclose(again, differences[order])
            assert all((block.codes == 0).all() for block in found.blocks(np.arange(P)))


def _both(write):
    return ("depth", "batch") if write in (csv_rows, csv_columns, parquet) else ()


@pytest.mark.parametrize("write", FORMATS)
def test_exposures_of_every_format_by_hand(tmp_path, write):
    path = write(tmp_path, frame(COUNTS))
    ignored = ("batch",) if write in (csv_rows, csv_columns, parquet) else ()
    for memory in (1, None):
        with table_of(
            path, labels="stage", exposures="depth", model=PoissonModel(), ignore=ignored, memory=memory
        ) as found:
            totals = found.statistics
            assert totals.classes == ("early", "late")
            for k, label in enumerate(totals.classes):
                np.testing.assert_array_equal(totals.total[k], COUNTS[label == STAGE].sum(axis=0))
                np.testing.assert_allclose(totals.exposure[k], DEPTH[label == STAGE].sum(), rtol=1e-13)
            assert found.feature_names == tuple(GENES)


@pytest.mark.parametrize("write", FORMATS)
def test_totals_as_exposures(tmp_path, write):
    path = write(tmp_path, frame(COUNTS))
    ignored = ("batch", "depth") if write in (csv_rows, csv_columns, parquet) else ()
    size = COUNTS.sum(axis=1) / COUNTS.sum(axis=1).mean()
    for memory in (1, None):
        with table_of(
            path,
            labels="stage",
            blocks=None,
            exposures="total",
            model=PoissonModel(),
            ignore=ignored,
            memory=memory,
        ) as found:
            for k, label in enumerate(("early", "late")):
                np.testing.assert_allclose(found.statistics.exposure[k], size[label == STAGE].sum(), rtol=1e-13)


def test_totals_do_not_depend_on_how_the_table_is_cut(tmp_path):
    path = csv_columns(tmp_path, frame(VALUES + 3.0)[["id", "stage", *GENES]])
    wide = csv_rows(tmp_path, frame(VALUES + 3.0)[["id", "stage", *GENES]])
    made = [
        read_table(where, labels="stage", exposures="total", model=PoissonModel(), memory=memory).samples.totals
        for where in (path, wide)
        for memory in (1, 2**24)
    ]
    for other in made[1:]:
        np.testing.assert_array_equal(other, made[0])


@pytest.mark.parametrize("write", [csv_rows, csv_columns, parquet])
def test_other_models_with_blocks_and_totals_in_pieces(tmp_path, write, monkeypatch):
    monkeypatch.setattr("bayesieve.io.text.reader.samples_per_chunk", lambda n_features: 8)
    path = write(tmp_path, frame(COUNTS))
    found = read_table(
        path, labels="stage", blocks="batch", exposures="depth", model=PoissonModel(), memory=1, ignore=()
    )
    for name, totals in found.blocked.items():
        for k, label in enumerate(("early", "late")):
            here = (name == BATCH) & (label == STAGE)
            np.testing.assert_array_equal(totals.total[k], COUNTS[here].sum(axis=0))
            np.testing.assert_allclose(totals.exposure[k], DEPTH[here].sum(), rtol=1e-13)
    np.testing.assert_array_equal(found.statistics.total[0], COUNTS[STAGE == "early"].sum(axis=0))


@pytest.mark.parametrize("write", FORMATS)
def test_a_column_of_another_file_by_id(tmp_path, write):
    sites = pd.DataFrame({"id": IDS[::-1], "site": [None, *np.where(BATCH == "1", "Oslo", "Bonn")[::-1][1:]]})
    sites.drop(index=1).to_csv(tmp_path / "sites.csv", index=False)
    path = write(tmp_path, frame())
    kept = np.arange(N) < N - 2  # the last sample has no site, the one before is not in the file
    ignored = ("depth", "batch") if write in (csv_rows, csv_columns, parquet) else ()
    with table_of(path, labels="stage", blocks=f"{tmp_path / 'sites.csv'}:site", ignore=ignored) as found:
        assert list(found.blocked) == ["Bonn", "Oslo"]
        check(found.moments, VALUES[kept], STAGE[kept])
        oslo = kept & (BATCH == "1")
        check(found.blocked["Oslo"], VALUES[oslo], STAGE[oslo])
        assert lacking(found) == [(2, f"'{tmp_path / 'sites.csv'}:site'", ())]


def test_all_columns_in_another_file(tmp_path):
    frame()[["id", *COLUMNS]].to_csv(tmp_path / "pheno.csv", index=False)
    path = csv_columns(tmp_path, frame()[["id", *GENES]])
    pheno = str(tmp_path / "pheno.csv")
    found = read_table(path, labels=f"{pheno}:stage", blocks=f"{pheno}:batch")
    for name, moments in found.blocked.items():
        check(moments, VALUES[name == BATCH], STAGE[name == BATCH])
    assert read_table(path, labels=f"{pheno}:stage", pairs=f"{pheno}:patient").n_pairs == 12


@pytest.mark.parametrize("write", [csv_rows, csv_columns, parquet, gct, geo, h5ad])
def test_labels_of_another_file_and_blocks_of_the_table(tmp_path, write):
    known = slice(2, None)  # two samples are in the table only
    pd.DataFrame({"id": IDS[known], "stage": STAGE[known]}).to_csv(tmp_path / "pheno.csv", index=False)
    table = frame()
    path = write(
        tmp_path, table if write in (gct, geo, h5ad) else table.drop(columns=["stage", "depth", "patient"])
    )
    with table_of(path, labels=f"{tmp_path / 'pheno.csv'}:stage", blocks="batch") as found:
        assert found.feature_names == tuple(GENES)
        for name, moments in found.blocked.items():
            here = (np.arange(N) >= 2) & (name == BATCH)
            check(moments, VALUES[here], STAGE[here])


@pytest.mark.parametrize("write", FORMATS)
def test_samples_without_a_block_are_left_out_and_counted(tmp_path, write):
    batch = np.array([None if i in (3, 7) else name for i, name in enumerate(BATCH)], dtype=object)
    batch = np.where([name is None for name in batch], "NA" if write is npz else None, batch)
    path = write(tmp_path, frame(batch=batch))
    kept = ~np.isin(np.arange(N), (3, 7))
    with table_of(path, labels="stage", blocks="batch", ignore=_ignored(write)) as found:
        check(found.moments, VALUES[kept], STAGE[kept])
        assert lacking(found) == [(2, "'batch'", ())]
        assert sum(found.class_counts.values()) == N - 2


@pytest.mark.parametrize("write", [csv_rows, csv_columns, parquet, h5ad])
def test_a_block_may_lack_a_class(tmp_path, write):
    site = np.where(STAGE == "late", "mixed", BATCH)
    with table_of(
        write(tmp_path, frame(batch=site)), labels="stage", blocks="batch", ignore=_ignored(write)
    ) as found:
        assert list(found.blocked) == ["1", "10", "2", "mixed"]
        lacking = found.blocked["1"]
        assert lacking.classes == ("early", "late")
        assert lacking.count.tolist() == [4, 0]
        assert found.block_class_counts["mixed"] == {"early": 0, "late": 12}
        check(found.moments, VALUES, STAGE)
    with table_of(
        write(tmp_path, frame(COUNTS, batch=site)), labels="stage", blocks="batch", model=PoissonModel(),
        ignore=_ignored(write),
    ) as found:  # fmt: skip
        assert found.blocked["1"].classes == ("early", "late")
        assert found.blocked["1"].counts.max(axis=1).tolist() == [4, 0]


class Waiting(Model):
    """A user's model of waiting times: count and sum."""

    def statistic(self, values):
        """Count and sum."""
        return np.array([np.isfinite(values).sum(axis=0), np.nansum(values, axis=0)])

    def merge(self, first, second):
        """Add both."""
        return first + second

    def log_evidence(self, group):
        """Is not needed here."""
        raise NotImplementedError


@pytest.mark.parametrize("write", [csv_rows, csv_columns, h5ad])
def test_a_model_of_three_methods(tmp_path, write, monkeypatch):
    monkeypatch.setattr("bayesieve.io.text.reader.samples_per_chunk", lambda n_features: 8)
    site = np.where(STAGE == "late", "mixed", BATCH)
    path = write(tmp_path, frame(COUNTS, batch=site))
    with table_of(path, labels="stage", blocks="batch", model=Waiting(), ignore=_ignored(write)) as found:
        for name, parts in found.blocked.items():
            for part, label in zip(parts.parts, ("early", "late"), strict=True):
                here = COUNTS[(name == site) & (label == STAGE)]
                np.testing.assert_array_equal(part, [[len(here)] * P, here.sum(axis=0)])
        np.testing.assert_array_equal(found.statistics.parts[1][1], COUNTS[STAGE == "late"].sum(axis=0))
        with pytest.raises(AttributeError, match="summed for another model"):
            found.moments  # noqa: B018 - asking is the test


def test_text_blocks_and_missing_values(tmp_path):
    values = VALUES.copy()
    values[::5, 2] = np.nan
    path = csv_rows(tmp_path, frame(values, batch=np.where(BATCH == "1", "north", "south")))
    found = read_table(path, labels="stage", blocks="batch", missing="omit", ignore=["depth"])
    north = BATCH == "1"
    check(found.blocked["north"], values[north], STAGE[north])
    check(found.moments, values, STAGE)
    with pytest.raises(bs.MissingValueError, match=r"5 missing value\(s\) in 1 of 7 features"):
        read_table(path, labels="stage", blocks="batch", ignore=["depth"])


def test_blocks_change_nothing_else(tmp_path):
    """The pooled moments are those of a table read without blocks, to rounding."""
    path = csv_rows(tmp_path, frame())
    plain = read_table(path, labels="stage", ignore=["depth", "batch"])
    found = read_table(path, labels="stage", blocks="batch", ignore=["depth"])
    np.testing.assert_allclose(found.moments.mean, plain.moments.mean, rtol=1e-14)
    np.testing.assert_allclose(found.moments.centred_squares, plain.moments.centred_squares, rtol=1e-13)
    assert found.moments.count.tolist() == plain.moments.count.tolist() == [12, 12]
    assert plain.blocked == {}


@pytest.mark.parametrize("write", FORMATS)
def test_a_second_look_with_blocks(tmp_path, write, monkeypatch):
    monkeypatch.setattr("bayesieve.io.text.reader.samples_per_chunk", lambda n_features: 8)
    with table_of(
        write(tmp_path, frame()), labels="stage", blocks="batch", ignore=_ignored(write), memory=1
    ) as found:
        for which in (np.arange(P), np.array([1, 4])):
            seen, rows, codes = np.full((N, which.size), np.nan), 0, []
            for block in found.blocks(which):
                part = dense(block.values)
                rows = 0 if found.chunks.whole_features else rows
                seen[rows : rows + len(part), block.first : block.first + part.shape[1]] = part
                rows += len(part)
                codes = [*(codes if not found.chunks.whole_features else []), *block.codes]
            np.testing.assert_array_equal(seen, VALUES[:, which])
            assert [found.moments.classes[k] for k in codes] == STAGE.tolist()


def test_rank_normal_with_blocks(tmp_path):
    path = csv_rows(tmp_path, frame())
    found = read_table(path, labels="stage", blocks="batch", transform="rank-normal", ignore=["depth"], memory=1)
    scores = np.concatenate([block.values for block in found.blocks(np.arange(P))], axis=1)
    for name, moments in found.blocked.items():
        check(moments, scores[name == BATCH], STAGE[name == BATCH])


def test_three_classes_in_blocks(tmp_path):
    stage = np.array(["a", "b", "c"])[np.arange(N) // 8]
    found = read_table(
        csv_rows(tmp_path, frame(stage=stage).drop(columns="patient")),
        labels="stage", classes="c; a; b", blocks="batch", ignore=["depth"],
    )  # fmt: skip
    for name, moments in found.blocked.items():
        check(moments, VALUES[name == BATCH], stage[name == BATCH], ["c", "a", "b"])


def test_incomplete_pairs_are_left_out_and_counted(tmp_path):
    patient = PATIENT.astype(object)
    patient[0] = "alone"
    values = VALUES.copy()
    values[5, 1] = np.nan
    path = csv_rows(tmp_path, frame(values, patient=patient))
    found = read_table(
        path, labels="stage", pairs="patient", ignore=["depth", "batch"], missing="omit", classes="late, early"
    )
    first = np.array([i for i in range(1, N) if i % 4 < 2])
    check(found.moments, values[first] - values[first + 2], np.full(11, "early - late"), ["early - late"])
    assert found.moments.count[0].tolist() == [11, 10, *[11] * (P - 2)]
    assert (found.n_pairs, found.n_incomplete) == (11, 2)
    assert lacking(found) == [(2, "'patient'", ("'alone'", "'p00'"))]
    with pytest.raises(bs.MissingValueError, match=r"1 missing value\(s\) in 1 of 7 features, .* sample 's5'"):
        read_table(path, labels="stage", pairs="patient", ignore=["depth", "batch"])


def test_pairs_in_blocks(tmp_path):
    site = np.where(np.isin(PATIENT, PATIENT[:8]), "2", "10")
    path = csv_rows(tmp_path, frame(batch=site))
    found = read_table(path, labels="stage", pairs="patient", blocks="batch", ignore=["depth"])
    first = np.array([i for i in range(N) if i % 4 < 2])
    differences = VALUES[first + 2] - VALUES[first]
    label = "late - early"
    assert list(found.blocked) == ["2", "10"]
    for name, moments in found.blocked.items():
        here = site[first] == name
        check(moments, differences[here], np.full(here.sum(), label), [label])
    check(found.moments, differences, np.full(first.size, label), [label])
    assert found.block_class_counts["2"] == {"early": 4, "late": 4}
    assert sum(block.values.shape[0] for block in found.blocks(np.array([0]))) == found.n_pairs == 12


def test_pairs_take_transformed_values(tmp_path):
    path = csv_rows(tmp_path, frame(COUNTS))
    found = read_table(path, labels="stage", pairs="patient", transform="log2", ignore=["depth", "batch"])
    first = np.array([i for i in range(N) if i % 4 < 2])
    differences = np.log2(COUNTS[first + 2] / COUNTS[first])
    np.testing.assert_allclose(found.moments.mean[0], differences.mean(axis=0), rtol=1e-12, atol=1e-14)


def test_whole_numbers_without_a_sign_are_subtracted_as_they_should_be(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([[3, 250], [5, 2]], dtype=np.uint8), y=["a", "b"], pair=["p", "p"])
    found = read_table(tmp_path / "a.npz", pairs="pair")
    assert found.moments.mean.tolist() == [[2.0, -248.0]]


def test_the_patient_in_the_first_column_is_no_sample_id(tmp_path):
    table = frame()[["patient", "stage", *GENES]]
    found = read_table(csv_rows(tmp_path, table), labels="stage", pairs="patient")
    assert found.n_pairs == 12
    assert read_table(parquet(tmp_path, table), labels="stage", pairs="patient").n_pairs == 12


def test_arrays_without_ids_take_other_files_in_order(tmp_path):
    np.save(tmp_path / "a.npy", VALUES)
    frame()[["stage", "batch"]].to_csv(tmp_path / "pheno.csv", index=False)
    pheno = tmp_path / "pheno.csv"
    found = read_table(tmp_path / "a.npy", labels=f"{pheno}:stage", blocks=f"{pheno}:batch")
    for name, moments in found.blocked.items():
        check(moments, VALUES[name == BATCH], STAGE[name == BATCH])


def test_label_rows_of_numbers_above_text(tmp_path):
    """A batch row of numbers on top must not hide that further rows hold text."""
    table = frame(depth=np.where(np.arange(N) % 2, "m", "f"))[["id", "batch", "stage", "depth", *GENES]]
    found = read_table(csv_columns(tmp_path, table), labels="stage", blocks="batch")
    assert found.feature_names == tuple(GENES)
    assert found.chunks.table.left_out == {"rows without numbers": ["depth"]}


def test_categories_of_numbers(tmp_path):
    genotypes = RNG.integers(0, 3, size=(N, P))
    for write in (csv_rows, csv_columns, parquet, npz):
        found = read_table(
            write(tmp_path, frame(genotypes)), labels="stage", blocks="batch", model=CategoricalModel(),
            ignore=_ignored(write), memory=1,
        )  # fmt: skip
        for name, counts in found.blocked.items():
            for k, label in enumerate(("early", "late")):
                here = genotypes[(name == BATCH) & (label == STAGE)]
                for m, level in enumerate(counts.levels):
                    np.testing.assert_array_equal(counts.table[k, m], (here == level).sum(axis=0))


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"blocks": "stage"}, bs.OptionError, "labels and blocks both name 'stage'"),
        ({"blocks": "batc"}, bs.LabelError, "has no column 'batc'. Did you mean 'batch'?"),
        ({"blocks": "g0", "classes": "late", "keep": ["batch"]}, None, ""),
        ({"pairs": "batch"}, bs.LabelError, "'batch': pair '2' has two samples of class 'early': 's1' and 's4'"),
        ({"pairs": "id"}, bs.LabelError, "'id': none of the 24 pairs has a sample of both classes"),
        (
            {"pairs": "patient", "classes": "late"},
            bs.LabelError,
            "Pairs compare two classes, but .* has 1: 'late'",
        ),
        ({"pairs": "patient", "blocks": "batch"}, bs.LabelError, "12 of 12 pairs are spread over two blocks"),
        ({"pairs": "patient", "model": PoissonModel()}, bs.OptionError, "which PoissonModel does not take"),
        ({"exposures": "depth"}, bs.OptionError, "only models of counts"),
        ({"exposures": "total", "model": CategoricalModel()}, bs.OptionError, "only models of counts"),
        (
            {"exposures": "patient", "model": PoissonModel()},
            bs.DataError,
            "the exposure of sample 's0' .* is 'p00'",
        ),
        ({"model": "poisson"}, bs.OptionError, "model must be a Model"),
        ({"blocks": "absent.csv:site"}, bs.BayesieveError, "absent.csv"),
    ],
)
def test_errors_say_what_to_do(tmp_path, options, kind, words):
    path = csv_rows(tmp_path, frame())
    if kind is None:
        read_table(path, labels="stage", **options)
        return
    with pytest.raises(kind, match=words):
        read_table(path, labels="stage", **options)


def test_exposures_are_positive(tmp_path):
    for odd in ("0", "-1", "inf"):
        depth = [odd if i == 4 else "1.5" for i in range(N)]
        path = csv_rows(tmp_path, frame(COUNTS, depth=depth))
        with pytest.raises(bs.DataError, match="exposure of sample 's4'"):
            read_table(path, labels="stage", exposures="depth", model=PoissonModel(), ignore=["batch"])
    depth = ["" if i == 4 else "1,5" for i in range(N)]
    path = csv_rows(tmp_path, frame(COUNTS, depth=depth))
    found = read_table(path, labels="stage", exposures="depth", model=PoissonModel(), ignore=["batch"])
    assert lacking(found) == [(1, "'depth'", ())]
    np.testing.assert_allclose(found.statistics.exposure, np.array([11, 12]) * 1.5)


def test_a_sample_of_zeros_has_no_total(tmp_path):
    counts = COUNTS.copy()
    counts[6] = 0
    path = csv_rows(tmp_path, frame(counts)[["id", "stage", *GENES]])
    with pytest.raises(bs.DataError, match="values of sample 's6' add up to 0"):
        read_table(path, labels="stage", exposures="total", model=PoissonModel())


def test_blocks_that_are_measurements(tmp_path):
    n = 1200
    table = pl.DataFrame({"y": ["a", "b"] * (n // 2), "size": [i / 7 for i in range(n)], "g": [1.0] * n})
    table.write_csv(tmp_path / "a.csv")
    with pytest.raises(bs.LabelError, match="more than 1,000 different values"):
        read_table(tmp_path / "a.csv", labels="y", blocks="size")


def test_blocks_named_by_a_column_of_a_table_with_samples_in_columns(tmp_path):
    pd.DataFrame({"id": IDS, "stage": STAGE}).to_csv(tmp_path / "pheno.csv", index=False)
    path = csv_columns(tmp_path, frame()[["id", *GENES]])
    with pytest.raises(bs.LabelError, match="samples in columns, and 'name' gives no block"):
        read_table(path, labels=f"{tmp_path / 'pheno.csv'}:stage", blocks="name")


def test_sites_of_a_statistics_set_are_blocks():
    both = bs.Moments.from_matrix(VALUES, STAGE)
    sites = bs.StatisticsSet(tuple(bs.SiteStatistics(site, both, tuple(GENES)) for site in ("Oslo", "Bonn")))
    found = sites.by_site()
    assert list(found) == ["Oslo", "Bonn"]
    np.testing.assert_array_equal(found["Oslo"].mean, both.mean)
