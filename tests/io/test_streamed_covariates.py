"""Files with covariates whose values are not kept: the numbers of the same file held in memory."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from commands import inside

import bayesieve as bs
from bayesieve.io import read_statistics
from bayesieve.io.tables import read_table as read_module
from bayesieve.io.tables.chunks import Chunk
from bayesieve.io.tables.covariate_sums import CovariateSums
from bayesieve.io.tables.memory import bytes_kept
from bayesieve.stats import DesignMoments
from bayesieve.utils import OptionError

N, P = 90, 25


@pytest.fixture(scope="module", params=["complete", "missing"])
def folder(request, tmp_path_factory):
    rng = np.random.default_rng(2)
    place = tmp_path_factory.mktemp("streamed")
    y = np.array(["well", "sick", "worse"])[np.minimum(rng.integers(0, 4, N), 2)]
    about = pd.DataFrame({
        "id": [f"s{i}" for i in range(N)], "state": y, "age": (rng.normal(60, 10, N) + 4 * (y == "sick")).round(1),
        "sex": rng.choice(["f", "m"], N), "plate": rng.integers(1, 4, N), "site": np.arange(N) // 30,
        "dose": rng.integers(0, 4, N),
    })  # fmt: skip
    values = rng.normal(size=(N, P)) + 0.03 * about["age"].to_numpy()[:, None]
    values[y == "sick", :3] += 1.0
    if request.param == "missing":
        values[rng.random(values.shape) < 0.06] = np.nan
    genes = pd.DataFrame(values.round(4), columns=[f"g{j}" for j in range(P)])
    about.to_csv(place / "about.csv", index=False)
    pd.concat([about[["id"]], genes], axis=1).to_csv(place / "rows.csv", index=False)
    genes.assign(id=about["id"]).set_index("id").T.to_csv(place / "columns.csv", index_label="gene")
    return place


@pytest.fixture
def small_chunks(monkeypatch):
    """Cut what the reader adds into pieces of seven samples, so that levels come one after the other."""
    whole = CovariateSums._add_samples

    def add(self, chunk, n_cells):
        roles = chunk.roles
        for lo in range(0, roles.cells.size, 7):
            part = slice(lo, lo + 7)
            said = {role: texts[part] for role, texts in roles.said.items()}
            some = type(roles)(roles.rows[part], (), roles.cells[part], (), said=said)
            whole(self, Chunk(chunk.values[part], some, 0, chunk.features), n_cells)

    monkeypatch.setattr(CovariateSums, "_add_samples", add)


def same(one, two):
    table, wanted = one.to_dict(), two.to_dict()
    assert list(table) == list(wanted)
    for name, column in wanted.items():
        if np.asarray(column).dtype.kind == "f":
            np.testing.assert_allclose(table[name], column, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("table", ["rows.csv", "columns.csv"])
@pytest.mark.parametrize(
    ("labels", "options"),
    [
        ("state", {"covariates": ("age", "sex")}),
        ("state", {"covariates": ("C(plate)", "age"), "blocks": ("site",)}),
        ("outcome", {"covariates": ("sex",)}),
        ("outcome", {}),
    ],
)
def test_a_screen_is_that_of_values_in_memory(folder, table, labels, options):
    file = folder / "about.csv"
    given = {name: [f"C({file}:{each[2:-1]})" if each[:2] == "C(" else f"{file}:{each}" for each in columns]
             for name, columns in options.items()}  # fmt: skip
    given |= {"outcome": f"{file}:dose"} if labels == "outcome" else {"labels": f"{file}:{labels}"}
    read = functools.partial(bs.read_table, folder / table, missing="omit", **given)
    kept, summed = read(), read(keep_values=False)
    assert kept.in_memory() is not None
    assert summed.in_memory() is None
    models = (None,) if labels == "outcome" else (None, bs.GaussianModel.jeffreys())
    for model in models:
        same(bs.screen(summed, model=model, shuffles=0), bs.screen(kept, model=model, shuffles=0))


@pytest.mark.usefixtures("small_chunks")
def test_the_command_sums_in_little_memory(folder, capfd, monkeypatch):
    run = functools.partial(inside, capfd, monkeypatch)
    given = ["--labels", f"{folder}/about.csv:state", "--covariates", "age,sex", "--missing", "omit"]
    kept, summed = folder / "kept.stats.parquet", folder / "summed.stats.parquet"
    for statistics, most in ((kept, bytes_kept), (summed, lambda *_: 0)):
        monkeypatch.setattr(read_module, "bytes_kept", most)
        done = run("stats", folder / "rows.csv", *given, "--min-cell", "1", "--out", statistics)
        assert done.code == 0, done.err
    found, wanted = (read_statistics(path).pooled().design for path in (summed, kept))
    assert found.covariates == wanted.covariates == ("age", "sex=m")
    for name in ("location", "scatter", "cross"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-9, atol=1e-8)
    done = run("screen", folder / "rows.csv", *given, "--shuffles", "5", "--out", folder / "out.csv")
    assert done.code == 0, done.err
    assert "could not be shuffled" in done.err


def test_columns_come_as_they_occur():
    """A level that comes late, a number that turns out to be a name, and one that is settled."""
    sums = CovariateSums(("stage", "age"), None, whole_features=False)
    stage, age = sums._columns
    assert stage.add(["1", "2"]).tolist() == [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]]
    assert stage.add(["2", "late"]).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert stage.names == ["stage=1", "stage=2", "stage=late"]
    assert age.add([str(each) for each in range(40)]).shape == (40, 1)
    with pytest.raises(OptionError, match="'age' is a number in the first samples of the table and 'old'"):
        age.add(["41", "old"])


def test_columns_of_a_design_are_those_of_other_units(rng):
    X, Z, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    design = DesignMoments.from_matrix(X, y, Z, names=("a", "b", "c"))
    centres, units = np.array([0.5, 0.0, -1.0]), np.array([2.0, 1.0, 3.0])
    found = design.columns(("c", "new", "a"), centres, units)
    wanted = np.column_stack([Z[:, 2], np.zeros(30), Z[:, 0]])
    expected = DesignMoments.from_matrix(X, y, (wanted - centres) / units)
    for name in ("location", "scatter", "cross"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
