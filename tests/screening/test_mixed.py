from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesieve as bs
from bayesieve.data import kind_of

N = 60
CLASS = np.repeat(["ctl", "case"], N // 2)
SICK = CLASS == "case"


def made():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "crp": rng.normal(size=N) + 2.0 * SICK,
            "noise": rng.normal(size=N),
            "visits": rng.poisson(np.where(SICK, 9, 3)),
            "falls": rng.negative_binomial(2, 0.2, N),
            "smoker": np.where(rng.random(N) < np.where(SICK, 0.85, 0.2), "yes", "no"),
            "sex": rng.choice(["f", "m"], N),
            "genotype": rng.integers(0, 3, N),
            "vaccinated": rng.random(N) < 0.5,
            "age": rng.integers(30, 80, N),
        }
    )


TABLE = made()
KINDS = ["measurement"] * 2 + ["count"] * 2 + ["category"] * 4 + ["measurement"]


def by_parts(y=CLASS):
    """Three screens, one of each kind, and their log Bayes factors by name."""
    groups = {
        "measurement": (["crp", "noise", "age"], bs.CalibratedModel()),
        "count": (["visits", "falls"], bs.NegativeBinomialModel()),
        "category": (["smoker", "sex", "genotype", "vaccinated"], bs.CategoricalModel()),
    }
    found = {}
    for names, model in groups.values():
        part = TABLE[names].astype(object) if "sex" in names else TABLE[names].astype(float)
        posterior = bs.screen(part, y, model=model, shuffles=0)
        found |= dict(zip(names, posterior.log_bayes_factor.tolist(), strict=True))
    return found


@pytest.mark.parametrize("form", [lambda t: t, pl.from_pandas, lambda t: t.astype(object).to_numpy()])
def test_every_feature_has_the_evidence_of_its_own_screen(form):
    posterior = bs.screen(form(TABLE), CLASS, model="auto", shuffles=0)
    np.testing.assert_allclose(posterior.log_bayes_factor, [by_parts()[name] for name in TABLE], rtol=1e-12)
    table = posterior.to_dict()
    assert table["likelihood"] == KINDS
    selected = set(np.array(list(TABLE))[posterior.probability > 0.5])
    assert selected == {"crp", "visits", "smoker"}
    (note,) = [str(note) for finding in posterior.findings for note in finding.notes()]
    assert note.startswith("Likelihoods: 3 measurements, 2 counts and 4 categories")


def test_columns_of_each_kind_are_empty_for_the_others():
    table = bs.screen(TABLE, CLASS, model="auto", shuffles=0).to_dict()
    places = {name: k for k, name in enumerate(TABLE)}
    assert table["mean_case"][places["crp"]] == pytest.approx(TABLE["crp"][SICK].mean())
    assert table["rate_ctl"][places["visits"]] == pytest.approx(TABLE["visits"][~SICK].mean())
    share = (TABLE["smoker"][SICK] == "yes").mean()
    assert table["shares_case"][places["smoker"]] == f"yes {share:.2f}, no {1 - share:.2f}"
    assert np.isnan(table["mean_case"][places["smoker"]])
    assert table["shares_case"][places["crp"]] == ""
    assert set(table["n_case"].tolist()) == {N // 2}


def test_shuffles_deal_one_labelling_to_all_kinds():
    posterior = bs.screen(TABLE, CLASS, model="auto", shuffles=6, seed=4)
    shuffled = posterior.shuffled
    matrix = bs.MixedModel().matrix(TABLE, CLASS)
    from bayesieve.screening.inputs import Shufflable  # noqa: PLC0415

    labellings, _ = Shufflable(matrix).draw(6, 4)
    names = np.array(matrix.labels.classes)
    for codes, values in zip(labellings, shuffled.values, strict=True):
        parts = np.array(list(by_parts(names[codes]).values()))
        wanted = np.sort(parts[parts > 0])[::-1]
        assert values.size == wanted.size
        np.testing.assert_allclose(values, wanted, rtol=0.02, atol=0.02)  # shuffles use quick models


def test_blocks_patterns_missing_values_and_stated_kinds():
    batch = np.tile(["A", "B"], N // 2)
    blocked = bs.screen(TABLE, CLASS, model="auto", blocks=batch, shuffles=0)
    alone = bs.screen(TABLE[["smoker", "sex"]], CLASS, model=bs.CategoricalModel(), blocks=batch, shuffles=0)
    assert blocked.block_evidence is not None
    np.testing.assert_allclose(blocked.log_bayes_factor[4:6], alone.log_bayes_factor, rtol=1e-12)
    three = np.where(np.arange(N) % 3 == 0, "x", CLASS)
    found = bs.screen(TABLE, three, model="auto", shuffles=0)
    categories = bs.screen(TABLE[["smoker"]], three, model=bs.CategoricalModel(), shuffles=0)
    place = list(TABLE).index("smoker")
    assert found.log_bayes_factor[place] == pytest.approx(categories.log_bayes_factor[0], rel=1e-12)
    assert found.differences is not None
    holes = TABLE.astype(object)
    holes.iloc[3, 0] = holes.iloc[4, 4] = None
    with pytest.raises(bs.MissingValueError):
        bs.screen(holes, CLASS, model="auto", shuffles=0)
    table = bs.screen(holes, CLASS, model="auto", missing="omit", shuffles=0)
    assert table.statistics.counts[:, [0, 4]].sum(axis=0).tolist() == [N - 1, N - 1]
    stated = bs.MixedModel({"age": "count", "genotype": "measurement"})
    assert bs.screen(TABLE, CLASS, model=stated, shuffles=0).to_dict()["likelihood"][-1] == "count"
    with pytest.raises(bs.OptionError, match=r"no feature 'agee'.*Did you mean 'age'"):
        bs.screen(TABLE, CLASS, model=bs.MixedModel({"agee": "count"}))
    with pytest.raises(bs.OptionError, match="'sex' holds texts"):
        bs.screen(TABLE, CLASS, model=bs.MixedModel({"sex": "count"}))
    with pytest.raises(bs.OptionError, match="'age' cannot be 'ordinal'"):
        bs.screen(TABLE, CLASS, model=bs.MixedModel({"age": "ordinal"}))


def test_parts_merge_and_part():
    model = bs.MixedModel()
    whole = model.summarise(model.matrix(TABLE, CLASS))
    matrix = model.matrix(TABLE, CLASS)
    halves = [
        replace(matrix, values=matrix.values[k::2], labels=replace(matrix.labels, codes=matrix.labels.codes[k::2]))
        for k in (0, 1)
    ]
    merged = model.merge(*(model.summarise(half) for half in halves))
    np.testing.assert_array_equal(merged.counts, whole.counts)
    np.testing.assert_allclose(
        model.evidences(merged).pattern([(0,), (1,)]), model.evidences(whole).pattern([(0,), (1,)]), rtol=1e-10
    )
    order = np.array([8, 4, 0, 2])
    taken = whole.take(order)
    np.testing.assert_array_equal(taken.kinds, whole.kinds[order])
    fitted = model.estimate([whole])
    full = fitted.evidences(whole).pattern([(0,), (1,)])
    np.testing.assert_allclose(fitted.take(order, 9).evidences(taken).pattern([(0,), (1,)]), full[order])
    joined = type(whole).join([whole.take(slice(0, 5)), whole.take(slice(5, 9))])
    np.testing.assert_allclose(fitted.evidences(joined).pattern([(0,), (1,)]), full)
    posterior = bs.screen(TABLE, CLASS, model="auto", shuffles=0)
    assert posterior.take([4, 2]).to_dict()["likelihood"] == ["category", "count"]
    assert whole.pool().counts.tolist() == [[N] * 9]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.5, 1.5, 2.5, np.nan], 0),
        (np.arange(-3.0, 20), 0),
        (np.arange(40.0, 90), 0),  # ages: they begin far from 0
        (np.array([0, 1, 2, 1, 0, 2.0]), 2),
        (np.array([0, 1, 2, 5, 9, 14, 30.0]), 1),
        (np.array([0, 4, 5, 5, 6, 6, 6, 7, 8.0]), 0),  # whole, but spread less than events: a rating
        (np.array([np.nan, np.nan]), 0),
        (["a", "b", None], 2),
        ([True, False], 2),
        ([f"id{i}" for i in range(20)], 3),
        ([f"id{i % 70}" for i in range(500)], 3),
    ],
)
def test_kinds(values, kind):
    column = np.asarray(values) if not isinstance(values[0], (str, bool)) else values
    assert kind_of(column) == kind


def test_ids_have_no_likelihood():
    table = TABLE.assign(note=[f"n{i}" for i in range(N)])
    with pytest.warns(bs.DegenerateFeatureWarning, match="1 nearly every value is a level of its own"):
        posterior = bs.screen(table, CLASS, model="auto", shuffles=0)
    assert posterior.log_bayes_factor[-1] == 0.0
    assert posterior.to_dict()["likelihood"][-1] == "none"


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_files(tmp_path, form):
    table = TABLE.assign(group=CLASS, id=[f"p{i}" for i in range(N)])[["id", "group", *TABLE]]
    path = tmp_path / f"table.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    elif form == "parquet":
        table.to_parquet(path)
    else:
        table.to_excel(path, index=False)
    read = bs.read_table(path, labels="group", model="auto")
    posterior = bs.screen(read, model="auto", shuffles=0)
    wanted = by_parts()
    assert set(read.feature_names) == set(TABLE)
    for name, value in zip(posterior.names, posterior.log_bayes_factor, strict=True):
        assert value == pytest.approx(wanted[name], rel=1e-9)
    (shape,) = [message.render() for message in read.record.messages()]
    assert "60 samples x 9 features" in shape
    with pytest.raises(bs.OptionError, match=r"exposures.* does not go with model='auto'"):
        bs.read_table(path, labels="group", model="auto", exposures="age")
    with pytest.raises(bs.OptionError, match="several kinds are not transformed"):
        bs.read_table(path, labels="group", model="auto", transform="log1p")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_of_text_or_numbers_alone(tmp_path, form):
    for columns in (["smoker", "sex"], ["crp", "visits"]):
        table = TABLE[columns].assign(group=CLASS, id=[f"p{i}" for i in range(N)])[["id", "group", *columns]]
        path = tmp_path / f"table.{form}"
        table.to_csv(path, index=False) if form == "csv" else table.to_parquet(path)
        posterior = bs.screen(bs.read_table(path, labels="group", model="auto"), model="auto", shuffles=0)
        for name, value in zip(posterior.names, posterior.log_bayes_factor, strict=True):
            alone = None if name == "crp" else by_parts()[name]  # calibrated with other features
            if name == "visits":  # so are counts, by their trend
                visits = TABLE[["visits"]].to_numpy()
                counted = bs.screen(visits, CLASS, model=bs.NegativeBinomialModel(), shuffles=0)
                alone = float(counted.log_bayes_factor[0])
            assert alone is None or value == pytest.approx(alone, rel=1e-9)
        assert list(posterior.names) == columns
