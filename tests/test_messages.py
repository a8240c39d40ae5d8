"""Messages as data: rendered for Python and for the command, sent between processes, told at the caller's line."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesieve as bs
from bayesieve.errors import Message, SampleIds, Wording, option

LABELS = ["a"] * 6 + ["b"] * 6


def table(n_samples: int = 12, n_features: int = 5) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=(n_samples, n_features))


def constant() -> np.ndarray[Any, Any]:
    values = table()
    values[:, 0] = 1.0
    return values


CALLS: dict[str, Callable[[], object]] = {
    "screen": lambda: bs.screen(constant(), LABELS),
    "screen of categories": lambda: bs.screen(
        [[f"id{i}", i % 2] for i in range(20)], [0, 1] * 10, model=bs.CategoricalModel()
    ),
    "screen of blocks": lambda: bs.screen(table(), LABELS, blocks=[0, 1] * 6, informative_missing=True),
    "fragility": lambda: bs.fragility(constant(), LABELS),
    "permutations": lambda: bs.permutations(table(), LABELS, n_permutations=5000),
    "score": lambda: bs.score(constant(), LABELS, method="welch"),
    "score of values": lambda: bs.score(constant(), LABELS, method="mi"),
    "compare_methods": lambda: bs.compare_methods(constant(), LABELS, methods=["welch", "obf-jp"]),
    "pearson_neyman": lambda: bs.pearson_neyman(constant(), LABELS),
    "OBFSelector": lambda: bs.OBFSelector().fit(constant(), LABELS),
    "fit_transform": lambda: bs.OBFSelector(rule=bs.FixedSize(1)).fit_transform(constant(), LABELS),
    "pipeline": lambda: make_pipeline(StandardScaler(), bs.OBFSelector(rule=bs.FixedSize(1))).fit(
        constant(), LABELS
    ),
    "prior": lambda: bs.NormalInverseGamma(variance_dof=-1.0, allow_negative=True),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warnings_point_at_the_line_of_the_caller(call: Callable[[], object]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    ours = [warning for warning in caught if isinstance(warning.message, bs.BayesieveWarning)]
    assert ours
    assert {warning.filename for warning in ours} == {__file__}


def test_warnings_of_a_file_point_at_the_line_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text("sample\tgroup\nS1\ta\ns2\tb\nS3\tb")
    (tmp_path / "ids.tsv").write_text("sample\tx\nS1\t1.5\nS2\t2.5\nS3\t0.5")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bs.read_table(tmp_path / "ids.tsv", labels=f"{tmp_path / 'labels.tsv'}:group")
    assert [warning.filename for warning in caught] == [__file__]


def test_a_message_survives_pickling_and_json() -> None:
    text = ("3 values are missing", SampleIds(("P07", "P08"), ", of samples ", most=1), ".")
    message = Message(text, ("Say ", option("missing", "omit"), "."), "missing-values", {"n": 3})
    for again in (pickle.loads(pickle.dumps(message)), Message.from_dict(message.to_dict())):
        assert again == message
    assert message.redacted().render() == message.render(ids=False)
    assert "P07" in str(message)
    assert "P07" not in message.render(ids=False)


def test_errors_and_warnings_keep_their_message_between_processes() -> None:
    for kind in (bs.DataError, bs.PriorWarning):
        error = kind("One ", Wording("word", "--word"), ".", hint="Do it.", kind="k", numbers={"n": 1})
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind
        assert again.message == error.message
        assert str(again) == "One word. Do it."
