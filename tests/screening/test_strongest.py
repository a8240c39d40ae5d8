"""Of features with the same id the strongest stands for it, in the data and in every shuffle."""

from __future__ import annotations

import numpy as np
import pytest
from commands import inside

import bayesieve as bs

N, N_FEATURES = 24, 60
IDS = [f"G{j % 40}" for j in range(N_FEATURES)]  # G0 to G19 twice


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, N_FEATURES)).round(4)
    X[N // 2 :, [3, 41]] += 3.0  # the second G1 is strong, its first is not
    path = tmp_path / "t.csv"
    lines = [",".join(["id", "grp", *IDS])]
    lines += [",".join([f"s{i}", "ab"[i >= N // 2], *map(str, row)]) for i, row in enumerate(X.tolist())]
    path.write_text("\n".join(lines) + "\n")
    return path, X


def test_ids_are_those_of_a_gene_map_made_by_hand(table):
    path, X = table
    strongest = bs.screen(bs.read_table(path, labels="grp", duplicates="strongest"), shuffles=20)
    names = [f"x{j}" for j in range(N_FEATURES)]
    y = np.repeat(["a", "b"], N // 2)
    genes = bs.GeneMap.from_pairs(zip(names, IDS, strict=True))
    by_hand = bs.screen(X, y, feature_names=names, gene_map=genes, shuffles=20)
    assert strongest.names == by_hand.names
    np.testing.assert_allclose(strongest.log_odds, by_hand.log_odds, rtol=1e-10)
    for ours, theirs in zip(strongest.shuffled.values, by_hand.shuffled.values, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(strongest.shuffled.reaching, by_hand.shuffled.reaching)
    kept = dict(zip(strongest.to_dict()["feature"], strongest.to_dict()["kept_feature"], strict=True))
    assert kept["G1"] == "G1.2"
    assert kept["G3"] == "G3"


def test_the_command_writes_ids_and_says_so(table, tmp_path, capfd, monkeypatch):
    path, _ = table
    options = ("--labels", "grp", "--duplicates", "strongest", "-o", tmp_path / "o.csv")
    said = inside(capfd, monkeypatch, "screen", path, *options).said
    assert "60 features with 40 ids: of features with the same id the one with the strongest evidence" in said
    rows = (tmp_path / "o.csv").read_text().splitlines()
    assert len(rows) == 41
    assert {row.split(",")[1] for row in rows[1:3]} == {"G1", "G3"}


def test_leaving_one_out_takes_the_features_that_stand_for_ids(table):
    read = bs.read_table(table[0], labels="grp", duplicates="strongest", keep_values=True)
    posterior = bs.screen(read, shuffles=0)
    found = bs.fragility(read, posterior=posterior)
    assert found.full.names == posterior.names
    np.testing.assert_array_equal(bs.fragility(read).least_log_odds, found.least_log_odds)
    with pytest.raises(bs.OptionError, match="best of several"):
        bs.permutations(read)


def test_a_gene_map_knows_numbered_features_by_their_ids(table):
    path, _ = table
    genes = bs.GeneMap({f"G{j}": (f"H{j % 10}",) for j in range(30)})
    for duplicates, unmapped, n in (
        ("strongest", "drop", 10),
        ("number", "drop", 10),
        ("strongest", "keep", 20),
        ("number", "keep", 20),
    ):
        found = bs.screen(
            bs.read_table(path, labels="grp", duplicates=duplicates), gene_map=genes, unmapped=unmapped, shuffles=0
        )
        assert found.n_features == n
        assert sum(found.to_dict()["n_gene_features"]) == (50 if unmapped == "drop" else 60)
    few = bs.GeneMap({"G39": ("H",)})
    read = bs.read_table(path, labels="grp", duplicates="strongest")
    assert bs.screen(read, gene_map=few, unmapped="keep", shuffles=0).n_features == 40
    with pytest.raises(bs.OptionError, match="two rules"):
        bs.screen(read, gene_map=few, collapse="max-mean")


@pytest.mark.parametrize(
    ("command", "more", "said"),
    [
        ("screen", ["--robust"], "best of several with the same id"),
        ("compare", [], "bayesieve screen finds out"),
        ("pairs", [], "bayesieve screen finds out"),
    ],
)
def test_what_looks_at_single_features_refuses(table, command, more, said, capfd, monkeypatch):
    done = inside(capfd, monkeypatch, command, table[0], "--labels", "grp", "--duplicates", "strongest", *more)
    assert done.code == 2
    assert said in done.said
