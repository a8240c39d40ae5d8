import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import gmean

import bayesieve as bs
from bayesieve.data.transform import FeatureSpread, SampleScales, apply_transform, estimate_dispersion

N, P = 24, 60
IDS = [f"s{i}" for i in range(N)]
GENES = [f"g{j}" for j in range(P)]
GROUP = np.where(np.arange(N) % 2 == 0, "a", "b")


def made_counts():
    rng = np.random.default_rng(3)
    depth = rng.uniform(0.4, 2.5, size=(N, 1))
    counts = rng.negative_binomial(5, 5 / (5 + depth * rng.gamma(2.0, 20.0, size=P)))
    counts[:, :5] += 1  # some features are above 0 in every sample
    return counts


COUNTS = made_counts()


def by_hand(how):
    """Values divided by size factors, by loops over samples."""
    table = COUNTS.astype(float)
    if how == "none":
        return table
    if how == "median-ratios":
        full = [j for j in range(P) if (table[:, j] > 0).all()]
        factors = [np.median([table[i, j] / gmean(table[:, j]) for j in full]) for i in range(N)]
    else:
        totals = [sum(row) for row in table.tolist()]
        target = float(how.partition(":")[2] or np.median(totals))
        factors = [total / target for total in totals]
    return np.array([row / factor for row, factor in zip(table, factors, strict=True)])


def exact(name, x, number):
    """One value by many digits."""
    with mpmath.workdps(60):
        x, number = mpmath.mpf(float(x)), mpmath.mpf(number)
        if name == "vst":
            return float(mpmath.acosh(2 * number * x + 1) / mpmath.sqrt(number))
        return float(mpmath.log(x + number))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    frame = pd.DataFrame(COUNTS, index=IDS, columns=GENES)
    frame.insert(0, "group", GROUP)
    frame.to_csv(folder / "rows.csv", index_label="id")
    frame.to_parquet(folder / "rows.parquet")
    frame[GENES].T.to_csv(folder / "columns.tsv", sep="\t", index_label="gene")
    pd.DataFrame({"id": IDS, "group": GROUP}).to_csv(folder / "pheno.csv", index=False)
    import anndata  # noqa: PLC0415

    obs, var = pd.DataFrame({"group": GROUP}, index=IDS), pd.DataFrame(index=GENES)
    for name, kind in (("csr", sp.csr_matrix), ("csc", sp.csc_matrix), ("dense", np.asarray)):
        anndata.AnnData(kind(COUNTS.astype(np.float32)), obs=obs, var=var).write_h5ad(folder / f"{name}.h5ad")
    return folder


FORMS = ("rows.csv", "rows.parquet", "columns.tsv", "csr.h5ad", "csc.h5ad", "dense.h5ad")


def read(files, form, **options):
    labels = f"{files / 'pheno.csv'}:group" if form == "columns.tsv" else "group"
    return bs.read_table(files / form, labels=labels, **options)


@pytest.mark.parametrize("how", ["total", "total:10000", "median-ratios"])
def test_normalised_values_are_those_by_hand(how):
    wanted = by_hand(how)
    np.testing.assert_allclose(bs.normalise(COUNTS, how), wanted, rtol=1e-12)
    for kind in (sp.csr_matrix, sp.csc_matrix):
        made = bs.normalise(kind(COUNTS), how)
        assert sp.issparse(made)
        np.testing.assert_allclose(made.toarray(), wanted, rtol=1e-12)
    if how != "median-ratios":
        totals = bs.normalise(COUNTS, how).sum(axis=1)
        np.testing.assert_allclose(totals, 10000 if ":" in how else np.median(COUNTS.sum(axis=1)), rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("normalise", "transform"),
    [
        ("total", "log1p"),
        ("median-ratios", "vst"),
        ("total", "clr:0.5"),
        ("none", "vst:0.1"),
        ("total:10000", "rank-normal"),
    ],
)
def test_files_of_all_forms_give_the_values_of_arrays(files, form, normalise, transform):
    values = by_hand(normalise)
    if transform == "vst":
        factors = bs.size_factors(COUNTS, "median-ratios")
        mean, variance = values.mean(axis=0), values.var(axis=0, ddof=1)
        found = (variance - mean * np.mean(1 / factors)) / mean**2
        wanted = bs.transform(values, f"vst:{float(np.median(found[mean >= 1]))!r}")
    else:
        wanted = bs.transform(values, transform)
    tables = [read(files, form, normalise=normalise, transform=transform, memory=m) for m in (None, 4000)]
    for table in tables:
        for k, name in enumerate("ab"):
            np.testing.assert_allclose(table.moments.mean[k], wanted[name == GROUP].mean(axis=0), atol=1e-11)
        np.testing.assert_allclose(
            table.moments.variance[0], wanted[GROUP == "a"].var(axis=0, ddof=1), rtol=1e-10, atol=1e-12
        )
        block = np.concatenate([block.values if not sp.issparse(block.values) else block.values.toarray()
                                for block in table.blocks(np.array([7]))])  # fmt: skip
        np.testing.assert_allclose(np.sort(block[:, 0]), np.sort(wanted[:, 7]), atol=1e-11)
    np.testing.assert_array_equal(tables[0].moments.mean, tables[1].moments.mean)  # whatever the chunks


def test_samples_that_are_left_out_and_pairs_get_their_own_factors(files):
    labels = f"{files / 'some.csv'}:group"
    used = [i for i in range(N) if i not in (0, 3, 17)]
    patient = [f"p{i // 2}" for i in range(N)]
    pd.DataFrame({"id": IDS, "group": GROUP, "patient": patient}).iloc[used[::-1]].to_csv(
        files / "some.csv", index=False
    )
    wanted = np.log1p(bs.normalise(COUNTS[used]))
    kept = GROUP[used]
    for form in ("columns.tsv", "csr.h5ad", "dense.h5ad"):
        table = bs.read_table(files / form, labels=labels, normalise="total", transform="log1p")
        np.testing.assert_allclose(table.moments.mean[1], wanted[kept == "b"].mean(axis=0), rtol=1e-12)
        paired = bs.read_table(
            files / form, labels=labels, pairs=f"{files / 'some.csv'}:patient", normalise="median-ratios",
            transform="log1p",
        )  # fmt: skip
        whole = [i for i in range(0, N, 2) if i in used and i + 1 in used]
        both = np.log1p(bs.normalise(COUNTS[[*whole, *(i + 1 for i in whole)]], "median-ratios"))
        n = len(whole)
        np.testing.assert_allclose(paired.moments.mean[0], (both[n:] - both[:n]).mean(axis=0), atol=1e-12)


def test_sparse_tables_stay_sparse(files):
    for transform in ("log1p", "vst"):
        table = read(files, "csr.h5ad", normalise="total", transform=transform)
        assert all(sp.issparse(chunk.values) for chunk in table.kept)


@pytest.mark.parametrize(("name", "number"), [("vst", 0.05), ("vst", 1e-9), ("vst", 3.0), ("clr", 0.5)])
def test_formulas_by_many_digits(name, number):
    x = np.array([[0.0, 1e-3, 0.7, 1.0, 12.0, 4e5]])
    found = bs.transform(x, f"{name}:{number}")[0]
    wanted = np.array([exact(name, each, number) for each in x[0]])
    wanted = wanted - wanted.mean() if name == "clr" else wanted
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    assert (np.diff(found) > 0).all()  # the order of values stays


def test_vst_has_an_inverse_and_its_limits():
    x = np.linspace(0, 500, 101)[None]
    for dispersion in (0.01, 0.3):
        back = (np.cosh(bs.transform(x, f"vst:{dispersion}") * dispersion**0.5) - 1) / (2 * dispersion)
        np.testing.assert_allclose(back, x, rtol=1e-10, atol=1e-10)
    roots = apply_transform("vst", x, lambda i, j: "", SampleScales(dispersion=0.0))
    np.testing.assert_allclose(roots, 2 * np.sqrt(x))
    np.testing.assert_allclose(bs.transform(x, "vst:1e-12"), roots, rtol=1e-6)


def test_vst_makes_variances_alike_and_finds_the_dispersion():
    rng = np.random.default_rng(0)
    mean = np.geomspace(5, 2000, 200)
    counts = rng.negative_binomial(4, 4 / (4 + mean), size=(400, 200))
    assert abs(estimate_dispersion(counts.mean(axis=0), counts.var(axis=0, ddof=1)) - 0.25) < 0.01
    spread = bs.transform(counts, "vst").std(axis=0)
    assert 0.9 < spread.min() < spread.max() < 1.25  # one everywhere, where raw ones go from 3 to 1,000
    assert estimate_dispersion(np.full(30, 4.0), np.full(30, 3.0)) == 0.0  # less than Poisson
    assert estimate_dispersion(np.zeros(3), np.zeros(3)) == 0.0


def test_spread_in_pieces_is_that_of_the_whole():
    values = COUNTS.astype(float)
    values[3, 4] = np.nan
    whole = FeatureSpread()
    for part in (values[:5], values[5:5], values[5:]):
        whole.add(part)
    np.testing.assert_allclose(whole.variance, np.nanvar(values, axis=0, ddof=1), rtol=1e-12)
    thin = FeatureSpread()
    thin.add(sp.csr_matrix(COUNTS))
    np.testing.assert_allclose(thin.variance, COUNTS.var(axis=0, ddof=1), rtol=1e-12)


def test_clr_does_not_see_the_total():
    positive = COUNTS + 1.0
    np.testing.assert_allclose(
        bs.transform(positive, "clr"), bs.transform(positive * np.arange(1, N + 1)[:, None], "clr"), atol=1e-12
    )


WRONG = {
    "unknown": ({"normalise": "tmm"}, bs.OptionError, "no normalisation 'tmm'. There are: none, total, median"),
    "number": ({"normalise": "median-ratios:3"}, bs.OptionError, "may stand behind: total:NUMBER"),
    "negative number": ({"normalise": "total:-1"}, bs.OptionError, "'total:-1' is no normalisation"),
    "transform": ({"transform": "log1p:2"}, bs.OptionError, "clr:NUMBER, vst:NUMBER"),
    "scale": ({"normalise": "total:1e6", "transform": "vst"}, bs.OptionError, "counts at their own scale"),
    "model": ({"normalise": "total", "model": bs.PoissonModel()}, bs.OptionError, "exposures='total'"),
    "zeros": ({"transform": "clr"}, bs.DataError, "the first is 0 at sample 's.*clr:0.5"),
}


@pytest.mark.parametrize("form", ["columns.tsv", "csr.h5ad"])
@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_refused(files, form, case):
    options, error, words = WRONG[case]
    with pytest.raises(error, match=words):
        read(files, form, **options)


def changed(files, place, value):
    frame = pd.DataFrame(COUNTS.astype(object), index=IDS, columns=GENES)
    frame.insert(0, "group", GROUP)
    if place == "row":
        frame.loc["s4", GENES] = value
    else:
        frame.loc["s4", "g6"] = value
    frame.to_csv(files / "changed.csv", index_label="id")
    return files / "changed.csv"


def test_values_that_cannot_be_normalised_are_named(files):
    with pytest.raises(bs.DataError, match="the first is -3 at sample 's4', feature 'g6'"):
        bs.read_table(changed(files, "cell", -3), labels="group", normalise="total")
    with pytest.raises(bs.DataError, match=r"1 of 24 samples have no total above 0.*'s4'"):
        bs.read_table(changed(files, "row", 0), labels="group", normalise="total")
    with pytest.raises(bs.DataError, match="none of 60 features is above 0 in every sample"):
        bs.read_table(changed(files, "row", 0), labels="group", normalise="median-ratios")
    holes = changed(files, "cell", "")
    with pytest.raises(bs.MissingValueError, match="totals of the samples are not known"):
        bs.read_table(holes, labels="group", normalise="total", missing="omit")
    found = bs.read_table(holes, labels="group", normalise="median-ratios", transform="log1p", missing="omit")
    assert np.isfinite(found.moments.mean).all()
    with pytest.raises(bs.DataError, match="1 are negative, missing or infinite"):
        bs.normalise([[1, -1], [2, 3]])


def test_logarithms_are_not_normalised_without_a_word(files):
    frame = pd.DataFrame(np.log1p(COUNTS), index=IDS, columns=GENES)
    frame.insert(0, "group", GROUP)
    frame.to_csv(files / "logs.csv", index_label="id")
    table = bs.read_table(files / "logs.csv", labels="group", normalise="total")
    with pytest.warns(bs.DataWarning, match="look like logarithms, whose totals"):
        bs.screen(table, shuffles=0)
    counted = read(files, "rows.csv", normalise="total", transform="log1p")
    assert bs.screen(counted, shuffles=0).n_features == P  # without a warning
    assert "normalised by total, transform log1p" in counted.record.messages()[0].render()
