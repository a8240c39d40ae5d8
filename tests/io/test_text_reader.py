"""Text, GEO and GCT tables: the same numbers whatever the memory and the threads, and the same as others read."""

from __future__ import annotations

import gzip
import math
import subprocess
import sys
import warnings

import numpy as np
import pytest
from commands import gene_names, halves, in_columns, in_rows, label_file, numbers, read_exactly, sample_names
from scipy import stats

import bayesieve as bs

N_SAMPLES, N_FEATURES = 700, 230
LABELS = halves(N_SAMPLES)


def with_gaps(values, share=0.05, seed=1):
    values = values.copy()
    values[np.random.default_rng(seed).random(values.shape) < share] = np.nan
    return values


def table_file(folder, values, across, labels=None):
    """Write values as a text table and their labels beside it; return the arguments of read_table."""
    path, pheno = folder / ("t.tsv" if across else "t.csv"), folder / "p.csv"
    path.write_text(in_columns(values) if across else in_rows(values))
    pheno.write_text(label_file(labels or halves(len(values))))
    return path, {"labels": f"{pheno}:stage", "missing": "omit"}


def same(one, other):
    """Tell whether two sets of moments agree to the last bit."""
    return (
        one.classes == other.classes
        and np.array_equal(one.counts, other.counts)
        and one.mean.tobytes() == other.mean.tobytes()
        and one.centred_squares.tobytes() == other.centred_squares.tobytes()
    )


def check_moments(moments, values, labels):
    """Compare with numpy: counts, means and centred squares of every class."""
    labels = np.array(labels)
    for k, name in enumerate(moments.classes):
        part = values[labels == name]
        counts = np.broadcast_to(moments.counts, moments.mean.shape)[k]
        assert counts.tolist() == (~np.isnan(part)).sum(axis=0).tolist()
        assert (
            np.abs(moments.mean[k] - np.nanmean(part, axis=0)) <= 4e-15 * np.nanmax(np.abs(part), axis=0)
        ).all()
        squares = np.nansum((part - np.nanmean(part, axis=0)) ** 2, axis=0)
        np.testing.assert_allclose(moments.centred_squares[k], squares, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_memory_and_threads_do_not_change_a_bit(across, gaps, tmp_path):
    values = numbers(N_SAMPLES, N_FEATURES, seed=2)
    values = with_gaps(values) if gaps else values
    path, options = table_file(tmp_path, values, across)
    first = bs.read_table(path, **options)
    check_moments(first.moments, values, LABELS)
    for memory, n_threads in ((2**20, 1), (2**20, 3), (2**22, 2), (2**24, 1), (2**33, 4)):
        again = bs.read_table(path, **options, memory=memory, n_threads=n_threads)
        assert same(first.moments, again.moments)
        assert again.feature_names == first.feature_names == tuple(gene_names(N_FEATURES))


@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize(("n_samples", "n_features"), [(9000, 3), (20, 6000)], ids=["tall", "wide"])
def test_odd_shapes_do_not_change_a_bit(n_samples, n_features, across, tmp_path):
    values = numbers(n_samples, n_features, seed=3)
    path, options = table_file(tmp_path, values, across)
    first = bs.read_table(path, **options, memory=2**20, n_threads=1)
    again = bs.read_table(path, **options, memory=2**30, n_threads=4)
    assert same(first.moments, again.moments)
    check_moments(first.moments, values, halves(n_samples))


@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_pandas_reads_the_same_numbers(across, tmp_path):
    rng = np.random.default_rng(4)
    values = with_gaps(rng.normal(size=(150, 40)) * 10.0 ** rng.integers(-20, 120, size=40))
    path, options = table_file(tmp_path, values, across)
    frame = read_exactly(path, sep="\t" if across else ",", index_col=0)
    frame = frame.T if across else frame
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesieveWarning)
        ours = bs.read_table(path, **options)
        theirs = bs.Moments.from_matrix(frame, halves(150), missing="omit")
    np.testing.assert_array_equal(np.broadcast_to(ours.moments.counts, ours.moments.mean.shape), theirs.counts)
    np.testing.assert_allclose(ours.moments.mean, theirs.mean, rtol=1e-13)
    np.testing.assert_allclose(ours.moments.centred_squares, theirs.centred_squares, rtol=1e-13)
    check_moments(ours.moments, frame.to_numpy(), halves(150))


def test_means_far_from_zero_keep_their_variance(tmp_path):
    """Values that share their first nine digits, read in many chunks."""
    values = (1e9 + np.random.default_rng(5).normal(size=(9000, 2))).round(3)
    path, options = table_file(tmp_path, values, across=False)
    check_moments(bs.read_table(path, **options, memory=2**20).moments, values, halves(9000))


# Memory


READING = """
import resource, sys
import bayesieve as bs
table = bs.read_table(sys.argv[1], labels=sys.argv[2], memory=10_000_000, n_threads=2)
scale = 1 if sys.platform == "darwin" else 1024
print(table.moments.n_features, sum(table.class_counts.values()))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale)
"""


def peak_of_reading(path, labels):
    """Read a table in a process of its own; return its size and the most memory that was resident."""
    result = subprocess.run(
        [sys.executable, "-c", READING, str(path), str(labels)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    shape, peak = result.stdout.splitlines()
    return tuple(map(int, shape.split())), int(peak)


def large_table(path, n_rows, n_columns, heads, n_bytes):
    """Write a large table quickly: a few lines of numbers over and over, under changing ids."""
    rng = np.random.default_rng(6)
    bodies = [",".join(f"{x:.4f}" for x in row) for row in rng.normal(10, 1, size=(7, n_columns))]
    with path.open("w") as file:
        file.write(",".join(heads) + "\n")
        file.writelines(f"r{i},{'ab'[i % 2]},{bodies[i % 7]}\n" for i in range(n_rows))
    assert n_bytes is None or path.stat().st_size > n_bytes


@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module")
@pytest.mark.parametrize(("n_samples", "n_features"), [(90_000, 80), (400, 18_000)], ids=["tall", "wide"])
def test_memory_stays_bounded_with_samples_in_rows(n_samples, n_features, tmp_path):
    heads = ["id", "stage", *gene_names(n_features)]
    tiny, large = tmp_path / "tiny.csv", tmp_path / "large.csv"
    large_table(tiny, 12, 20, ["id", "stage", *gene_names(20)], None)
    large_table(large, n_samples, n_features, heads, 50_000_000)
    _, least = peak_of_reading(tiny, "stage")
    shape, most = peak_of_reading(large, "stage")
    large.unlink()
    assert shape == (n_features, n_samples)
    assert most - least < 60_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module")
@pytest.mark.parametrize(("n_samples", "n_features"), [(12_000, 600), (80, 90_000)], ids=["wide", "tall"])
def test_memory_stays_bounded_with_samples_in_columns(n_samples, n_features, tmp_path):
    tiny, large, pheno = tmp_path / "tiny.csv", tmp_path / "large.csv", tmp_path / "p.csv"
    pheno.write_text(label_file(halves(n_samples)))
    large_table(tiny, 20, 12, ["gene", "strand", *sample_names(12)], None)
    large_table(large, n_features, n_samples, ["gene", "strand", *sample_names(n_samples)], 50_000_000)
    small = tmp_path / "q.csv"
    small.write_text(label_file(halves(12)))
    _, least = peak_of_reading(tiny, f"{small}:stage")
    shape, most = peak_of_reading(large, f"{pheno}:stage")
    large.unlink()
    assert shape == (n_features, n_samples)
    assert most - least < 60_000_000


# Ranks and the second look


def normal_scores(values):
    """Blom's scores, column by column, of the values that are there."""
    scores = np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        there = ~np.isnan(values[:, j])
        ranks = stats.rankdata(values[there, j])
        scores[there, j] = stats.norm.ppf((ranks - 3 / 8) / (there.sum() + 1 / 4))
    return scores


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_ranks_are_those_of_all_samples(across, gaps, tmp_path):
    """In rows with so little memory that the file is read several times."""
    values = numbers(N_SAMPLES, N_FEATURES, seed=7).round(1)  # with ties
    values = with_gaps(values) if gaps else values
    path, options = table_file(tmp_path, values, across)
    first = bs.read_table(path, **options, transform="rank-normal", memory=2**20)
    assert 2**20 // (48 * N_SAMPLES) * 4 < N_FEATURES  # several passes
    check_moments(first.moments, normal_scores(values), LABELS)
    again = bs.read_table(path, **options, transform="rank-normal", memory=2**30, n_threads=3)
    assert same(first.moments, again.moments)


def test_ranks_are_among_the_samples_that_are_compared(tmp_path):
    values = numbers(60, 8, seed=8)
    labels = [("a", "b", "c")[i % 3] for i in range(60)]
    path = tmp_path / "t.csv"
    path.write_text(in_rows(values, labels))
    table = bs.read_table(path, labels="stage", classes="a, b", transform="rank-normal")
    kept = [i for i, label in enumerate(labels) if label != "c"]
    check_moments(table.moments, normal_scores(values[kept]), [labels[i] for i in kept])


@pytest.mark.parametrize("transform", ["none", "log2", "rank-normal"])
@pytest.mark.parametrize("across", [False, True], ids=["rows", "columns"])
def test_second_look_at_degenerate_features_equals_the_screen_in_memory(across, transform, tmp_path):
    values = numbers(40, 60, seed=9)
    values[:, 3] = 7.5  # constant
    values[:20, 11] = 4.25  # constant in one class
    values[:20, 30], values[20:, 30] = 2.0, 9.0  # constant in each class
    values[:, 31] = np.arange(40) % 2 + 1  # whole numbers
    values[:20, 31] = 1.0
    values[:19, 59] = np.nan  # too few values in one class
    path, options = table_file(tmp_path, values, across)
    ready = {"none": lambda x: x, "log2": np.log2, "rank-normal": normal_scores}[transform](values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesieveWarning)
        found = bs.screen(bs.read_table(path, **options, transform=transform, memory=2**20))
        expected = bs.screen(ready, halves(40), feature_names=gene_names(60), missing="omit")
    assert found.names == expected.names
    assert found.degenerate_reason == expected.degenerate_reason
    assert found.degenerate.sum() >= 4
    np.testing.assert_allclose(found.log_odds, expected.log_odds, rtol=1e-9)


# GEO series matrices


def series(values, *, quote=True, end=True):
    """Write a series matrix after GEO's description, samples GSM100, GSM101, ..."""
    n = len(values)

    def line(key, cells):
        return "\t".join([key, *(f'"{cell}"' for cell in cells)])

    names = [f"GSM{100 + i}" for i in range(n)]
    rows = [
        line("!Series_title", ["Colorectal, early versus late"]),
        line("!Series_geo_accession", ["GSE12345"]),
        line("!Series_summary", ["Several lines"]),
        line("!Series_summary", ["of summary; with, punctuation"]),
        "",
        line("!Sample_title", [f"patient {i}, biopsy" for i in range(n)]),
        line("!Sample_geo_accession", names),
        line("!Sample_source_name_ch1", ["colon" if i % 3 else "rectum" for i in range(n)]),
        # the first line of characteristics mixes keys, as happens when submitters leave some out
        line("!Sample_characteristics_ch1", [f"gender: {'MF'[i % 2]}" if i else "stage: 1" for i in range(n)]),
        line("!Sample_characteristics_ch1", [f"stage: {1 + i % 4}" if i else "gender: M" for i in range(n)]),
        line("!Sample_characteristics_ch1", [f"age: {40 + i}" if i % 5 else "" for i in range(n)]),
        line("!Sample_data_row_count", [str(values.shape[1])] * n),
        "!series_matrix_table_begin",
        line('"ID_REF"', names),
    ]
    for name, row in zip(gene_names(values.shape[1]), values.T.tolist(), strict=True):
        head = f'"{name}_at"' if quote else f"{name}_at"
        rows.append("\t".join([head, *("" if math.isnan(x) else repr(x) for x in row)]))
    return "\n".join([*rows, *(["!series_matrix_table_end"] if end else [])]) + "\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_series_matrix_with_characteristics_as_labels(newline, tmp_path):
    values = with_gaps(numbers(24, 50, seed=10))
    path = tmp_path / "GSE12345_series_matrix.txt"
    path.write_bytes(series(values).replace("\n", newline).encode())
    stages = ["1", *(str(1 + i % 4) for i in range(1, 24))]
    table = bs.read_table(path, labels="stage", classes="early=1,2; late=3,4", missing="omit")
    assert table.feature_names == tuple(f"g{j}_at" for j in range(50))
    assert table.class_counts == {"early": 12, "late": 12}
    check_moments(table.moments, values, ["early" if stage in "12" else "late" for stage in stages])
    sexes = ["M", *("MF"[i % 2] for i in range(1, 24))]
    check_moments(bs.read_table(path, labels="gender", missing="omit").moments, values, sexes)
    sites = ["colon" if i % 3 else "rectum" for i in range(24)]
    check_moments(bs.read_table(path, labels="source_name_ch1", missing="omit").moments, values, sites)


def test_series_matrix_compressed_and_with_a_label_file(tmp_path):
    values = numbers(24, 30, seed=11)
    path = tmp_path / "GSE12345_series_matrix.txt.gz"
    path.write_bytes(gzip.compress(series(values, quote=False).encode()))
    pheno = tmp_path / "p.csv"
    pheno.write_text(label_file(halves(24), [f"GSM{100 + i}" for i in range(24)]))
    table = bs.read_table(path, labels=f"{pheno}:stage")
    check_moments(table.moments, values, halves(24))
    frame = read_exactly(path, sep="\t", comment="!", index_col=0)
    check_moments(table.moments, frame.T.to_numpy(), halves(24))


def test_series_matrix_without_its_end_is_cut_short(tmp_path):
    path = tmp_path / "GSE12345_series_matrix.txt"
    path.write_text(series(numbers(12, 5), end=False))
    with pytest.raises(bs.FileError, match="cut short"):
        bs.read_table(path, labels="gender")


def test_series_matrix_names_the_nearest_characteristic(tmp_path):
    path = tmp_path / "GSE12345_series_matrix.txt"
    path.write_text(series(numbers(12, 5)))
    with pytest.raises(bs.LabelError, match=r"Did you mean 'stage'.*'gender'"):
        bs.read_table(path, labels="stages")


# GCT


def gct_2(values):
    heads = "\t".join(["Name", "Description", *sample_names(len(values))])
    rows = [
        "\t".join([name, f"about, {name}", *("NA" if math.isnan(x) else repr(x) for x in row)])
        for name, row in zip(gene_names(values.shape[1]), values.T.tolist(), strict=True)
    ]
    return "\n".join(["#1.2", f"{values.shape[1]}\t{len(values)}", heads, *rows]) + "\n"


def gct_3(values, annotations):
    """Version 1.3: two annotations of features, any of samples."""
    heads = "\t".join(["id", "pr_gene_symbol", "pr_number", *sample_names(len(values))])
    about = ["\t".join([key, "na", "na", *cells]) for key, cells in annotations.items()]
    rows = [
        "\t".join([name, f"SYM{j}", str(j), *map(repr, row)])
        for j, (name, row) in enumerate(zip(gene_names(values.shape[1]), values.T.tolist(), strict=True))
    ]
    shape = f"{values.shape[1]}\t{len(values)}\t2\t{len(annotations)}"
    return "\n".join(["#1.3", shape, heads, *about, *rows]) + "\n"


def test_gct_1_2_with_a_label_file(tmp_path):
    values = with_gaps(numbers(20, 30, seed=12))
    path, pheno = tmp_path / "t.gct", tmp_path / "p.csv"
    path.write_text(gct_2(values))
    pheno.write_text(label_file(halves(20)[::-1]))
    table = bs.read_table(path, labels=f"{pheno}:stage", missing="omit")
    assert table.feature_names == tuple(gene_names(30))
    check_moments(table.moments, values, halves(20)[::-1])


def test_gct_1_3_with_annotations_as_labels(tmp_path):
    values = numbers(20, 30, seed=13)
    cells = {"batch": [str(i % 3) for i in range(20)], "stage": halves(20), "dose": [f"{i} um" for i in range(20)]}
    path = tmp_path / "t.gct"
    path.write_text(gct_3(values, cells))
    table = bs.read_table(path, labels="stage")
    assert table.feature_names == tuple(gene_names(30))
    check_moments(table.moments, values, halves(20))
    batches = bs.read_table(path, labels="batch", classes="1, 0")
    kept = [i for i in range(20) if i % 3 < 2]
    assert batches.moments.classes == ("1", "0")
    check_moments(batches.moments, values[kept], [str(i % 3) for i in kept])
    with pytest.raises(bs.LabelError, match="Did you mean 'stage'"):
        bs.read_table(path, labels="stages")


def test_gct_1_3_annotation_that_is_too_short(tmp_path):
    path = tmp_path / "t.gct"
    path.write_text(gct_3(numbers(20, 5), {"stage": halves(20)[:-1]}))
    with pytest.raises(bs.BayesieveError, match="line 4"):
        bs.read_table(path, labels="stage")


def test_a_text_column_that_begins_with_missing_values_is_found(tmp_path):
    """Wide lines: several must be looked at, however long they are."""
    rng = np.random.default_rng(3)
    lines = [",".join(["id", "y", "msi", *(f"g{j}" for j in range(20_000))])]
    for i in range(20):
        cells = map(str, np.round(rng.normal(size=20_000), 6).tolist())
        lines.append(",".join([f"s{i}", "ab"[i % 2], "NA" if i < 8 else "MSS", *cells]))
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines))
    table = bs.read_table(path, labels="y")
    assert len(table.feature_names) == 20_000
    assert table.chunks.table.left_out == {"not numeric": ["msi"]}
