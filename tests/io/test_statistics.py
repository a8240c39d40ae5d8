"""Statistics of sites: what they share, how they merge, and files that cannot lie by accident."""

from __future__ import annotations

import io
import json
import struct
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import bayesieve as bs
from bayesieve.io import is_statistics_file, read_statistics, statistics_file, write_statistics
from bayesieve.io.statistics_file import seal
from bayesieve.stats import SiteStatistics, StatisticsSet, merge_statistics, suppress

CLASSES = ("well", "sick")
ARRAYS = ("count", "mean", "residual", "centred_squares")

COLUMNS = ("count", "mean", "residual", "centred_squares", "centred_cubes", "centred_fourths")


def make_site(name, X, y, ids=None, classes=CLASSES, **settings):
    moments = bs.Moments.from_matrix(X, y, classes=classes, missing="omit")
    ids = ids or tuple(f"g{i}" for i in range(moments.n_features))
    return StatisticsSet((SiteStatistics(name, moments, ids, **settings),))


@pytest.fixture
def make(rng):
    """Return a function that makes a site with random values of the features named."""

    def made(name, ids=("g0", "g1", "g2"), n=8, **settings):
        X = 40.0 + rng.standard_normal((n, len(ids)))
        return make_site(name, X, np.resize(CLASSES, n), tuple(ids), **settings)

    return made


def assert_identical(a, b):
    """Moments are the same to the last bit."""
    assert a.classes == b.classes
    for name in ARRAYS:
        mine, theirs = getattr(a, name), getattr(b, name)
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes(), name


def assert_same_set(a, b):
    assert (a.classes, a.transform, a.feature_ids) == (b.classes, b.transform, b.feature_ids)
    assert len(a.sites) == len(b.sites)
    for mine, theirs in zip(a.sites, b.sites, strict=True):
        assert (mine.site, mine.transform) == (theirs.site, theirs.transform)
        assert (mine.min_cell, mine.n_suppressed) == (theirs.min_cell, theirs.n_suppressed)
        assert_identical(mine.moments, theirs.moments)


def exact_sums(values):
    """Count, mean and centred squares of the numbers that are there, in exact arithmetic."""
    there = [Fraction(float(x)) for x in values if not np.isnan(x)]
    if not there:
        return 0, 0.0, 0.0
    mean = sum(there) / len(there)
    return len(there), float(mean), float(sum((x - mean) ** 2 for x in there))


# --- merging ---------------------------------------------------------------------------------------------


@st.composite
def split_tables(draw):
    """Draw a table with missing values, and a site of up to ten for every sample."""
    n = draw(st.integers(1, 40))
    numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))
    elements = draw(st.sampled_from([numbers, st.one_of(numbers, st.just(np.nan))]))
    X = draw(hnp.arrays(np.float64, (n, 3), elements=elements))
    y = np.array(CLASSES)[draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))]
    where = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 9)))
    order = draw(st.permutations(sorted(set(where.tolist()))))
    return X, y, where, order


@settings(max_examples=150, deadline=None)
@given(split_tables())
def test_merged_sites_equal_the_raw_table_however_it_is_split(case):
    X, y, where, order = case
    sets = [make_site(f"s{i}", X[where == i], y[where == i]) for i in order]
    pooled = merge_statistics(sets, "outer").pooled()
    scale = max(1.0, float(np.nanmax(np.abs(X), initial=0.0)))
    for k, label in enumerate(CLASSES):
        for j in range(3):
            count, mean, squares = exact_sums(X[y == label, j])
            assert np.broadcast_to(pooled.counts, (2, 3))[k, j] == count
            assert pooled.mean[k, j] == pytest.approx(mean, rel=1e-12, abs=1e-15 * scale)
            assert pooled.centred_squares[k, j] == pytest.approx(squares, rel=1e-9, abs=1e-28 * scale**2)


@settings(max_examples=150, deadline=None)
@given(split_tables())
def test_neither_order_nor_a_withdrawn_site_leaves_a_trace(case):
    X, y, where, order = case
    sets = [make_site(f"s{i}", X[where == i], y[where == i]) for i in order]
    whole = merge_statistics(sets, "outer")
    assert_identical(merge_statistics(reversed(sets), "outer").pooled(), whole.pooled())
    if len(sets) == 1 or np.isnan(X[where != order[0]]).all():
        with pytest.raises(bs.OptionError, match="nothing would be left"):
            whole.without(f"s{order[0]}")
        return
    left, others = whole.without(f"s{order[0]}"), merge_statistics(sets[1:], "outer")
    kept = np.flatnonzero(others.n_sites_per_feature)
    assert left.feature_ids == tuple(f"g{j}" for j in kept)
    for name in ARRAYS:
        mine, theirs = (getattr(each.pooled(), name) for each in (left, others))
        theirs = theirs[:, kept] if theirs.ndim == 2 else theirs
        np.testing.assert_array_equal(np.broadcast_to(mine.T, theirs.T.shape).T, theirs)


def test_plain_numpy_agrees_with_merged_sites(rng):
    X, y = 1e4 + rng.standard_normal((300, 50)), rng.choice(CLASSES, 300)
    where = rng.integers(0, 7, 300)
    merged = merge_statistics([make_site(f"s{i}", X[where == i], y[where == i]) for i in range(7)]).pooled()
    for k, label in enumerate(CLASSES):
        np.testing.assert_allclose(merged.mean[k], X[y == label].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(merged.variance[k], X[y == label].var(axis=0, ddof=1), rtol=1e-9)
    assert merged.count.ndim == 1


def test_the_order_of_sites_does_not_matter(make):
    sets = [make(name, ids, n) for name, ids, n in (("c", "pqr", 6), ("a", "qrs", 9), ("b", "rqt", 4))]
    for how in ("inner", "outer"):
        one, two = merge_statistics(sets, how), merge_statistics(sets[::-1], how)
        order = [two.feature_ids.index(name) for name in one.feature_ids]
        for name in ARRAYS:
            mine, theirs = getattr(one.pooled(), name), getattr(two.pooled(), name)
            np.testing.assert_array_equal(mine, theirs[:, order] if theirs.ndim == 2 else theirs)
        nested = merge_statistics([merge_statistics(sets[:2], "outer"), sets[2]], how)
        assert_identical(nested.pooled(), one.pooled())


def test_inner_keeps_what_all_have_in_the_order_of_the_first(make):
    a, b = make("a", ("z", "y", "x")), make("b", ("x", "q", "z"))
    both = merge_statistics([a, b])
    assert both.feature_ids == ("z", "x")
    assert both.n_sites_per_feature.tolist() == [2, 2]
    np.testing.assert_array_equal(both.sites[1].moments.mean, b.sites[0].moments.mean[:, [2, 0]])
    assert_identical(both.pooled(), both.sites[0].moments.merge(both.sites[1].moments))


def test_outer_keeps_everything_and_counts_nothing_where_a_site_lacks_it(make):
    a, b = make("a", ("z", "y"), n=4), make("b", ("x", "z"), n=6)
    both = merge_statistics([a, b], "outer")
    assert both.feature_ids == ("z", "y", "x")
    assert both.n_sites_per_feature.tolist() == [2, 1, 1]
    assert both.n_sites_per_feature.dtype == np.int64
    lacking = both.sites[0].moments
    assert [getattr(lacking, name)[:, 2].tolist() for name in ARRAYS] == [[0, 0]] * 4
    pooled = both.pooled()
    assert pooled.count.tolist() == [[5, 2, 3], [5, 2, 3]]
    np.testing.assert_array_equal(pooled.mean[:, 1], a.sites[0].moments.mean[:, 1])
    np.testing.assert_array_equal(pooled.centred_squares[:, 2], b.sites[0].moments.centred_squares[:, 0])


def test_inner_asks_for_values_not_for_names(rng):
    """A feature of which a site has no value is not common, whether an outer join or the data left it empty."""
    X = rng.standard_normal((6, 2))
    full = make_site("full", X, np.resize(CLASSES, 6))
    X[:, 1] = np.nan
    empty = make_site("empty", X, np.resize(CLASSES, 6))
    assert merge_statistics([full, empty]).feature_ids == ("g0",)
    assert merge_statistics([full, empty], "outer").n_sites_per_feature.tolist() == [2, 1]
    assert merge_statistics([merge_statistics([full, empty], "outer")]).feature_ids == ("g0",)


def test_classes_in_another_order_are_reordered(rng):
    X, y = rng.standard_normal((10, 3)), np.resize(CLASSES, 10)
    one, two = make_site("one", X, y), make_site("two", X, y, classes=CLASSES[::-1])
    both = merge_statistics([one, two])
    assert both.classes == CLASSES
    assert_identical(both.sites[1].moments, one.sites[0].moments)


def test_a_site_may_lack_samples_of_a_class(rng):
    X = rng.standard_normal((5, 2))
    only = make_site("only", X, ["sick"] * 5)
    assert merge_statistics([only, make_site("both", X, np.resize(CLASSES, 5))]).pooled().count.tolist() == [3, 7]


def test_counts_have_one_form(rng):
    X, y = rng.standard_normal((6, 2)), np.resize(CLASSES, 6)
    moments = bs.Moments.from_matrix(X, y, classes=CLASSES)
    spread = bs.Moments(CLASSES, np.full((2, 2), 3), moments.mean, moments.centred_squares, moments.residual)
    assert_identical(SiteStatistics("a", spread, ("p", "q")).moments, moments)
    empty = bs.Moments(CLASSES, [0, 1], [[7.0], [2.0]], [[0.0], [0.0]])
    assert SiteStatistics("a", empty, ("p",)).moments.mean.tolist() == [[0.0], [2.0]]


def test_values_too_large_to_pool_are_refused():
    huge = [make_site(name, [[x, 1.0], [x, 1.0]], CLASSES) for name, x in (("a", 1e200), ("b", -1e200))]
    with pytest.raises(bs.DataError, match=r"1 of 2 features are too large.*'g0'"):
        merge_statistics(huge).pooled()


# --- withdrawing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["a", "b", "c"])
def test_removing_a_site_equals_merging_the_others(make, gone):
    sets = {name: make(name, n=n) for name, n in (("b", 6), ("a", 9), ("c", 4))}
    left = merge_statistics(sets.values()).without(gone)
    others = merge_statistics([each for name, each in sets.items() if name != gone])
    assert_same_set(left, others)
    assert_identical(left.pooled(), others.pooled())


def test_features_that_only_the_removed_site_held_go_with_it(make):
    a, b, c = make("a", "pq"), make("b", "qr"), make("c", "qs")
    left = merge_statistics([a, b, c], "outer").without("c")
    assert left.feature_ids == ("p", "q", "r")
    assert_same_set(left, merge_statistics([a, b], "outer"))
    alone = left.without("b")
    assert_same_set(alone, a)
    assert alone.pooled().count.ndim == 1


def test_a_site_that_is_not_there_is_not_removed(make):
    both = merge_statistics([make("London"), make("Oslo")])
    with pytest.raises(bs.OptionError, match=r"no site 'Lodnon'. Did you mean 'London'\? .* 'London', 'Oslo'"):
        both.without("Lodnon")
    with pytest.raises(bs.OptionError, match=r"no site 'xyz'\. The sites are 'London', 'Oslo'"):
        both.without("xyz")
    with pytest.raises(bs.OptionError, match="Without site 'Oslo' nothing would be left"):
        both.without("London").without("Oslo")


# --- refusals --------------------------------------------------------------------------------------------


def test_the_same_site_twice_is_refused(make):
    with pytest.raises(bs.OptionError, match=r"1 of the sites .* 'a'.*count its patients twice.*rename one"):
        merge_statistics([make("a"), make("b"), make("a")])


def test_different_transforms_are_refused(make):
    with pytest.raises(bs.DataError, match=r"Site 'a' used .* 'log2' and site 'b' 'none'"):
        merge_statistics([make("a", transform="log2"), make("b")])


def test_different_classes_are_refused(rng):
    X = rng.standard_normal((4, 1))
    a, b = make_site("a", X, np.resize(CLASSES, 4)), make_site("b", X, list("uvuv"), classes=("u", "v"))
    with pytest.raises(bs.LabelError, match=r"'a' has the classes 'well', 'sick', site 'b' has 'u', 'v'"):
        merge_statistics([a, b])


def test_nothing_in_common_is_refused(make):
    sets = [make("a", ("TP53", "KRAS")), make("b", ("KRAS", "TP53")), make("c", ("ENSG00000141510",))]
    with pytest.raises(bs.DataError, match=r"all 3 sites: 'a' holds.*'TP53'.*'c' 'ENSG00000141510'.*Ensembl"):
        merge_statistics(sets)
    assert merge_statistics(sets, "outer").feature_ids == ("TP53", "KRAS", "ENSG00000141510")


def test_other_refusals(make):
    a, b = make("a", "pq").sites[0], make("b", "qp").sites[0]
    with pytest.raises(bs.DataError, match=r"'a' and 'b' differ .*merge_statistics"):
        StatisticsSet((a, b))
    with pytest.raises(bs.OptionError, match="No statistics were given"):
        merge_statistics([])
    with pytest.raises(bs.OptionError, match="'inner' or 'outer', not 'left'"):
        merge_statistics([make("a")], "left")


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"site": " "}, bs.OptionError, "needs a name"),
        ({"site": None}, bs.OptionError, "needs a name, not None"),
        ({"transform": "log10"}, bs.OptionError, "no transformation 'log10'"),
        ({"min_cell": -1}, bs.OptionError, "min_cell must be a whole number"),
        ({"n_suppressed": 1.5}, bs.OptionError, "n_suppressed must be a whole number"),
        ({"feature_ids": ("p",)}, bs.DataError, "2 features need as many ids.*; 1 values"),
        ({"feature_ids": ("p", 3)}, bs.DataError, "all of them text"),
        ({"feature_ids": ("p", "p")}, bs.DataError, "1 feature ids occur more than once: 'p'"),
    ],
)
def test_a_site_is_checked(make, changes, error, words):
    given_ = {"site": "a", "moments": make("a", "pq").sites[0].moments, "feature_ids": ("p", "q")}
    with pytest.raises(error, match=words):
        SiteStatistics(**{**given_, **changes})


def test_classes_are_text():
    moments = bs.Moments.from_matrix([[1.0], [2.0]], [0, 1])
    with pytest.raises(bs.LabelError, match="must be text, but 0, 1 is not"):
        SiteStatistics("a", moments, ("p",))


# --- suppression -----------------------------------------------------------------------------------------


@pytest.fixture
def uneven():
    """Four features with 4, 3, 1 and 0 values in class a, and always 4 in class b."""
    X = np.arange(32.0).reshape(8, 4)
    X[0, 1] = X[:3, 2] = X[:4, 3] = np.nan
    return bs.Moments.from_matrix(X, list("aaaabbbb"), missing="omit"), ("p", "q", "r", "s")


@pytest.mark.parametrize(("least", "kept"), [(0, "pqrs"), (1, "pqr"), (2, "pq"), (3, "pq"), (4, "p")])
def test_features_with_a_small_class_are_held_back_whole(uneven, least, kept):
    moments, ids, n = suppress(*uneven, least)
    assert (ids, n) == (tuple(kept), 4 - len(kept))
    np.testing.assert_array_equal(moments.mean, uneven[0].mean[:, : len(kept)])
    np.testing.assert_array_equal(moments.counts, uneven[0].counts[:, : len(kept)])
    np.testing.assert_array_equal(moments.centred_squares, uneven[0].centred_squares[:, : len(kept)])
    assert (moments.count.ndim == 1) == (len(kept) == 1)


def test_nothing_left_is_explained(uneven):
    words = r"all 4 features have fewer than 5 .* 4 in class 'a', 4 in class 'b'\. min_cell=5 .*Lower"
    with pytest.raises(bs.DataError, match=words):
        suppress(*uneven, 5)
    with pytest.raises(bs.OptionError, match="min_cell must be a whole number"):
        suppress(*uneven, -1)


def test_a_promise_of_suppression_is_kept_in_the_file(uneven, tmp_path):
    with pytest.raises(bs.DataError, match="at least 3 values per class, but 2 of 4 features have fewer"):
        write_statistics(StatisticsSet((SiteStatistics("x", *uneven, min_cell=3),)), tmp_path / "x")
    assert not list(tmp_path.iterdir())
    moments, ids, n = suppress(*uneven, 3)
    kept = StatisticsSet((SiteStatistics("x", moments, ids, "log2", 3, n),))
    write_statistics(kept, tmp_path / "x")
    assert_same_set(read_statistics(tmp_path / "x"), kept)


def test_two_releases_that_differ_by_one_patient_reveal_the_patient(rng, tmp_path):
    """Suppression does not help against differences: a site must not release twice with few patients between."""
    X, y = 40.0 + rng.standard_normal((30, 4)), np.resize(CLASSES, 30)
    for name, rows in (("before", slice(0, 29)), ("after", slice(0, 30))):
        moments, ids, _ = suppress(bs.Moments.from_matrix(X[rows], y[rows], classes=CLASSES), "pqrs", 10)
        write_statistics(StatisticsSet((SiteStatistics("x", moments, ids, min_cell=10),)), tmp_path / name)
    before, after = (read_statistics(tmp_path / name).pooled() for name in ("before", "after"))
    changed = int(np.flatnonzero(after.count - before.count)[0])
    assert after.classes[changed] == y[29]
    n = int(after.count[changed])
    patient = n * after.mean[changed] - (n - 1) * before.mean[changed]
    np.testing.assert_allclose(patient, X[29], rtol=1e-12)


# --- files -----------------------------------------------------------------------------------------------

STRANGE = (
    "é",
    "e\u0301",
    "a,b",
    'say "x"',
    "line\nbreak",
    "tab\t",
    " ",
    "",
    "\0",
    "日本語",
    "🧬",
    "NA",
    "null",
    "1e5",
)


def test_files_keep_every_bit(tmp_path):
    values = np.array(
        [5e-324, -5e-324, 1e-310, 1e308, -1e308, 0.1, -0.0, 0.0, 1 / 3, 1e16, 2**53, -1e-17, 7.0, 1e5]
    )
    squares = np.abs(values[::-1])
    mean, residual = np.array([values, -values]), np.array([values * 1e-17, values * 0.0])
    moments = bs.Moments(("ja, 'é'", "\0"), [3, 2**53], mean, np.array([squares, squares]), residual)
    path = tmp_path / "a [x]*.parquet"
    one = StatisticsSet((SiteStatistics("Zürich, 🏥", moments, STRANGE, "log1p", 2, 2**70),))
    write_statistics(one, path)
    assert_same_set(read_statistics(path), one)
    assert seal(read_statistics(str(path))) == seal(one)
    assert is_statistics_file(path)


@pytest.mark.parametrize("how", ["inner", "outer"])
def test_merged_files_keep_their_sites_apart(make, tmp_path, how):
    whole = merge_statistics(
        [make("b", "pqr"), make("a", "qrs", min_cell=4, n_suppressed=7), make("c", "rqt")], how
    )
    write_statistics(whole, tmp_path / "x")
    again = read_statistics(tmp_path / "x")
    assert_same_set(again, whole)
    assert_identical(again.pooled(), whole.pooled())
    assert_same_set(again.without("b"), whole.without("b"))


def test_one_class_and_one_feature(tmp_path):
    one = make_site("a", [[1.0], [2.0]], ["x", "x"], classes=("x",))
    write_statistics(one, tmp_path / "x")
    assert_same_set(read_statistics(tmp_path / "x"), one)


def test_other_tools_can_read_the_table(make, tmp_path):
    whole = merge_statistics([make("a", "pq"), make("b", "qp")])
    write_statistics(whole, tmp_path / "x.parquet")
    frame = pl.read_parquet(tmp_path / "x.parquet")
    numbers = [f"{name}_{k}" for k in (0, 1) for name in COLUMNS]
    assert frame.columns == ["site", "feature", *numbers]
    assert frame["site"].to_list() == ["a", "a", "b", "b"]
    assert frame["feature"].to_list() == ["p", "q", "p", "q"]
    assert frame["mean_1"].to_list() == [*whole.sites[0].moments.mean[1], *whole.sites[1].moments.mean[1]]
    header = json.loads(pl.read_parquet_metadata(tmp_path / "x.parquet")["bayesieve"])
    site = {"class_counts": [4, 4], "n_features": 2, "min_cell": 0, "n_suppressed": 0, "powers": True}
    assert header == {
        "format": "bayesieve-statistics",
        "schema_version": 2,
        "bayesieve_version": bs.__version__,
        "transform": "none",
        "classes": ["well", "sick"],
        "sites": [{"name": "a", **site}, {"name": "b", **site}],
        "sha256": seal(whole),
    }


def test_the_seal_is_as_documented():
    """Computed here from the words of the documentation alone, so that other tools can check it."""
    import hashlib  # noqa: PLC0415

    one = make_site("Zürich", [[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], ["well", "sick", "sick"], ("é", "q"))
    header = (
        b'{"classes":["well","sick"],"format":"bayesieve-statistics","schema_version":2,"sites":[{"class_counts":'
        b'[1,2],"min_cell":0,"n_features":2,"n_suppressed":0,"name":"Z\\u00fcrich","powers":true}],'
        b'"transform":"none"}'
    )
    numbers = struct.pack("<3q", len(header), 2, 1) + "éq".encode() + struct.pack("<4q", 1, 1, 2, 2)
    numbers += struct.pack("<4d", 1.0, 2.0, 3.5, 4.5) + struct.pack("<4d", *[0.0] * 4)
    numbers += struct.pack("<4d", 0.0, 0.0, 0.5, 0.5)
    numbers += struct.pack("<4d", *[0.0] * 4) + struct.pack("<4d", 0.0, 0.0, 0.125, 0.125)
    assert seal(one) == hashlib.sha256(header + numbers).hexdigest()


def test_the_seal_is_the_same_wherever_it_is_written(make, tmp_path, monkeypatch):
    one = make("a")
    write_statistics(one, tmp_path / "x")
    monkeypatch.setattr(statistics_file, "__version__", "9.9.9")
    write_statistics(one, tmp_path / "y")
    seals = [json.loads(pl.read_parquet_metadata(tmp_path / n)["bayesieve"])["sha256"] for n in "xy"]
    assert seals[0] == seals[1] == seal(one)
    assert len({seal(one), seal(make("a")), seal(make("b"))}) == 3


@pytest.fixture
def written(make, tmp_path):
    whole = merge_statistics([make("a", "pqr"), make("b", "qps")], "outer")
    write_statistics(whole, tmp_path / "x.parquet")
    return tmp_path / "x.parquet", whole


def rewrite(path, change_frame=None, change_header=None, *, sealed=False):
    """Forge a file: change its table or its description, and leave the seal alone or make it anew."""
    frame, header = pl.read_parquet(path), json.loads(pl.read_parquet_metadata(path)["bayesieve"])
    frame = change_frame(frame) if change_frame else frame
    header = change_header(header) if change_header else header
    with pytest.MonkeyPatch.context() as patch:
        if sealed:
            patch.setattr(statistics_file, "seal", lambda _: header["sha256"])
        buffer = io.BytesIO()
        frame.write_parquet(buffer, metadata={"bayesieve": json.dumps(header)})
        path.write_bytes(statistics_file._protect(buffer.getvalue()))
        return read_statistics(path)


def test_a_forged_file_that_changes_nothing_is_read(written):
    path, whole = written
    assert_same_set(rewrite(path), whole)
    assert_same_set(rewrite(path, None, lambda h: {**h, "bayesieve_version": "7", "comment": "hello"}), whole)


def put(name, value, row=0):
    """Return a change of one cell."""

    def change(frame):
        column = frame[name].to_list()
        column[row] = value
        kind = pl.Float64 if isinstance(value, float) else frame.schema[name]
        return frame.with_columns(pl.Series(name, column, dtype=kind))

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("mean_0", 41.0),
        put("centred_squares_1", 3.25),
        put("residual_1", 1e-16),
        put("count_0", 5),
        put("feature", "P"),
        lambda f: f.reverse(),
        lambda f: f.with_columns(mean_0="mean_1", mean_1="mean_0"),
    ],
)
def test_tampering_with_the_table_is_found(written, change):
    with pytest.raises(bs.FileError, match=r"x\.parquet has been changed or damaged .*[Cc]opy it again"):
        rewrite(written[0], change)


@pytest.mark.parametrize(
    "change",
    [
        {"transform": "log2"},
        {"classes": ["sick", "well"]},
        {"classes": "ab"},
        {"classes": []},
        {"classes": [1, 2]},
        {"sites": []},
        {"sites": None},
        {"sites": [{"name": "a"}]},
        {"sha256": "0" * 64},
        {"sha256": None},
        {"format": ["bayesieve-statistics"]},
    ],
)
def test_tampering_with_the_description_is_found(written, change):
    with pytest.raises(bs.FileError, match="has been changed or damaged"):
        rewrite(written[0], None, lambda header: {**header, **change})


@pytest.mark.parametrize("key", ["name", "class_counts", "n_features", "min_cell", "n_suppressed"])
def test_tampering_with_a_site_is_found(written, key):
    def change(header):
        header["sites"][1][key] = {"name": "z", "class_counts": [9, 9]}.get(key, 1)
        return header

    with pytest.raises(bs.FileError, match="has been changed or damaged"):
        rewrite(written[0], None, change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("count_0", -1), "whole numbers"),
        (put("count_0", 2.5), "columns and rows"),
        (put("count_0", 2**60), r"2\*\*53"),
        (put("count_0", None), "columns and rows"),
        (put("mean_0", float("nan")), "finite"),
        (put("mean_0", float("inf")), "finite"),
        (put("residual_0", float("inf")), "finite"),
        (put("centred_squares_0", -1.0), "not negative"),
        (put("feature", "q"), "more than once: 'q'"),
        (put("feature", "other"), "differ in their features"),
        (put("site", "b"), "carry its name"),
        (put("site", None), "columns and rows"),
        (lambda f: f.drop("residual_1"), "columns and rows"),
        (lambda f: f.with_columns(extra=1), "columns and rows"),
        (lambda f: f.cast({"mean_0": pl.Float32}), "columns and rows"),
        (lambda f: f.head(7), "columns and rows"),
        (lambda f: f.clear(), "columns and rows"),
    ],
)
def test_contents_are_checked_even_when_the_seal_is_made_anew(written, change, words):
    with pytest.raises(bs.FileError, match=f"has been changed or damaged .*: .*{words}"):
        rewrite(written[0], change, sealed=True)


def test_a_file_of_a_later_version_asks_for_an_upgrade(written):
    with pytest.raises(bs.FileError, match=r"version 5 .*bayesieve 3\.0.*pip install --upgrade "):
        rewrite(written[0], None, lambda h: {**h, "schema_version": 5, "bayesieve_version": "3.0"})


@pytest.mark.parametrize(
    "text", ['"bayesieve-statistics"', '["bayesieve-statistics"]', '{"bayesieve-statistics"', ""]
)
def test_a_broken_description_is_found(written, text):
    buffer = io.BytesIO()
    metadata = {"bayesieve": text, "other": '"bayesieve-statistics"'}
    pl.read_parquet(written[0]).write_parquet(buffer, metadata=metadata)
    written[0].write_bytes(statistics_file._protect(buffer.getvalue()))
    with pytest.raises(bs.FileError, match=r"has been changed or damaged since it was written\. Copy"):
        read_statistics(written[0])


def test_files_that_are_no_statistics(tmp_path, rng):
    pl.DataFrame({"x": [1.0]}).write_parquet(tmp_path / "plain.parquet")
    contents = {
        "empty": b"",
        "text": b"gene,s1,s2\nTP53,1,2\n",
        "magic": b"PAR1",
        "twice": b"PAR1PAR1",
        "junk": b"PAR1" + rng.bytes(500) + b"PAR1",
        "noise": rng.bytes(1000),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    for name in contents:
        assert not is_statistics_file(tmp_path / name)
        with pytest.raises(bs.FileError, match=f"{name} is (not a statistics file|cut short)"):
            read_statistics(tmp_path / name)
    with pytest.raises(bs.FileError, match="is Parquet but not a statistics file"):
        read_statistics(tmp_path / "plain.parquet")
    assert not is_statistics_file(tmp_path / "plain.parquet")


def test_files_that_are_not_there(tmp_path, make):
    for path, words in ((tmp_path / "none", "there is no such file"), (tmp_path, "it is a directory")):
        with pytest.raises(bs.FileError, match=f"{path.name}: {words}"):
            read_statistics(path)
        assert not is_statistics_file(path)
    for odd in ("", "a\0b", None, 3.5, "x" * 5000):
        assert not is_statistics_file(odd)
    with pytest.raises(bs.FileError, match="directory"):
        write_statistics(make("a"), tmp_path)
    with pytest.raises(bs.FileError, match="Cannot write"):
        write_statistics(make("a"), tmp_path / "no" / "x")


def test_text_that_is_no_text_is_refused(make, tmp_path):
    with pytest.raises(bs.DataError, match="not valid text"):
        write_statistics(make("a", ("p", "q\udcff")), tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_a_file_saved_again_by_another_tool_is_refused(written):
    frame, metadata = pl.read_parquet(written[0]), pl.read_parquet_metadata(written[0])
    frame.write_parquet(written[0], metadata={"bayesieve": metadata["bayesieve"]})
    assert is_statistics_file(written[0])
    with pytest.raises(bs.FileError, match=r"changed or damaged .* bytes do not match their hash"):
        read_statistics(written[0])


def assert_refused(path, content):
    path.write_bytes(content)
    assert is_statistics_file(path) in (True, False)
    with pytest.raises(bs.FileError):
        read_statistics(path)


def test_a_file_cut_short_anywhere_is_refused(written):
    content = written[0].read_bytes()
    for end in range(len(content)):
        assert_refused(written[0], content[:end])


def test_no_damaged_byte_goes_unnoticed(written, rng):
    """Nor does it kill the process, as damaged bytes can do that reach polars."""
    path, whole = written
    content = path.read_bytes()
    for place in range(len(content)):
        assert_refused(path, content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :])
    for _ in range(500):
        damaged, start, n = bytearray(content), int(rng.integers(len(content))), int(rng.integers(1, 60))
        damaged[start : start + n] = rng.bytes(int(rng.integers(1, 60)))
        if damaged != content:
            assert_refused(path, bytes(damaged))
    path.write_bytes(content)
    assert_same_set(read_statistics(path), whole)


def test_a_panic_of_polars_is_an_error_and_an_interruption_stays_one(written, monkeypatch):
    panic = type("PanicException", (BaseException,), {})
    for raised, seen in (
        (panic, bs.FileError),
        (MemoryError, bs.FileError),
        (KeyboardInterrupt, KeyboardInterrupt),
    ):

        def fail(_, raised=raised):
            raise raised

        monkeypatch.setattr(pl, "read_parquet", fail)
        with pytest.raises(seen):
            read_statistics(written[0])


def many_sites(shapes=(True, True), n=14, p=80, seed=3):
    """Sites with heavy tails and a few features that differ, and all their values together."""
    rng = np.random.default_rng(seed)
    sets, whole, labels = [], [], []
    for k, shape in enumerate(shapes):
        values = rng.standard_t(4, size=(n, p))
        names = ["well", "sick"] * (n // 2)
        values[1::2, :5] += 2.0
        moments = bs.Moments.from_matrix(values, names, classes=("well", "sick"), shape=shape)
        ids = tuple(f"g{j}" for j in range(p))
        sets.append(StatisticsSet((SiteStatistics(f"site{k}", moments, ids),)))
        whole.append(values)
        labels += names
    return sets, np.concatenate(whole), labels


def test_third_and_fourth_powers_go_through_file_and_merge(tmp_path):
    sets, values, labels = many_sites()
    for k, each in enumerate(sets):
        write_statistics(each, tmp_path / f"{k}.parquet")
    merged = merge_statistics([read_statistics(tmp_path / f"{k}.parquet") for k in range(2)])
    write_statistics(merged, tmp_path / "all.parquet")
    again = read_statistics(tmp_path / "all.parquet")
    assert again.without_shape == ()
    pooled, labels = again.pooled(), np.array(labels)
    for k, label in enumerate(("well", "sick")):
        away = values[labels == label] - values[labels == label].mean(axis=0)
        np.testing.assert_allclose(pooled.centred_cubes[k], (away**3).sum(axis=0), atol=1e-9)
        np.testing.assert_allclose(pooled.centred_fourths[k], (away**4).sum(axis=0), rtol=1e-10)
    alone = bs.screen(values, labels, classes=("well", "sick"), shuffles=0)
    together = bs.screen(pooled)
    np.testing.assert_allclose(together.log_bayes_factor, alone.log_bayes_factor, rtol=1e-8, atol=1e-8)
    assert together.model.variance_weight > 0
    assert "Only means were compared" not in bs.MinimalRisk(0.5).select(together).summary()


def test_one_site_without_powers_leaves_the_means(tmp_path):
    sets, _, _ = many_sites(shapes=(True, False))
    write_statistics(merge_statistics(sets), tmp_path / "x.parquet")
    frame = pl.read_parquet(tmp_path / "x.parquet")
    assert frame["centred_fourths_0"].null_count() == 80
    again = read_statistics(tmp_path / "x.parquet")
    assert again.without_shape == ("site1",)
    assert [site.moments.has_shape for site in again.sites] == [True, False]
    assert not again.pooled().has_shape
    posterior = bs.screen(again.pooled())
    assert posterior.model.variance_weight == 0
    assert "Only means were compared" in bs.MinimalRisk(0.5).select(posterior).summary()
    assert again.without("site1").pooled().has_shape


def test_files_of_the_first_version_are_read(tmp_path):
    """A file as it was written before: without the columns of powers, sealed by its own header."""
    sets, _, _ = many_sites(shapes=(False,))
    (one,) = sets
    old = statistics_file._header(one, 1) | {"bayesieve_version": "0.0.9", "sha256": seal(one, 1)}
    assert old["schema_version"] == 1
    assert "powers" not in old["sites"][0]
    frame = statistics_file._frame(one)
    buffer = io.BytesIO()
    names = [name for name in frame.columns if not name.startswith(("centred_cubes", "centred_fourths"))]
    frame.select(names).write_parquet(buffer, metadata={"bayesieve": json.dumps(old)})
    (tmp_path / "old.parquet").write_bytes(statistics_file._protect(buffer.getvalue()))
    again = read_statistics(tmp_path / "old.parquet")
    assert_identical(again.pooled(), one.pooled())
    assert again.without_shape == ("site0",)


@pytest.mark.parametrize("fewest", [4, 5])
def test_four_sums_give_no_small_class_away(fewest):
    """Power sums up to the fourth determine four values, so that they are not shared of fewer than five."""
    values = np.random.default_rng(0).normal(size=(fewest + 20, 3))
    moments = bs.Moments.from_matrix(values, ["a"] * fewest + ["b"] * 20)
    shared, _, _ = suppress(moments, ("x", "y", "z"), 2)
    assert shared.has_shape == (fewest == 5)
    if fewest == 4:  # what would have been given away
        n, mean = 4, float(moments.mean[0, 0])
        powers = [0.0, *(float(m[0, 0]) for m in (moments.centred_squares, moments.centred_cubes))]
        powers.append(float(moments.centred_fourths[0, 0]))
        e = [1.0]
        for k in range(1, n + 1):  # Newton's identities
            e.append(sum((-1) ** (i - 1) * e[k - i] * powers[i - 1] for i in range(1, k + 1)) / k)
        roots = np.roots([(-1) ** k * e[k] for k in range(n + 1)])
        np.testing.assert_allclose(np.sort(roots.real) + mean, np.sort(values[:4, 0]), atol=1e-4)
