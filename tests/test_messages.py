"""Messages as data: rendered for Python and for the command, sent between processes, told at the caller's line."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jeffreys
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesieve as bs
from bayesieve.errors import Message, SampleIds, Wording, option
from bayesieve.selection import summary_lines

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
    "permutations": lambda: bs.permutations(
        table(), LABELS, model=bs.GaussianModel.jeffreys(), n_permutations=5000
    ),
    "score": lambda: bs.score(constant(), LABELS, method="welch"),
    "score of values": lambda: bs.score(table().round(), LABELS, method="mi"),
    "compare_methods": lambda: bs.compare_methods(constant(), LABELS, methods=["welch", "obf-jp"]),
    "screen_pairs": lambda: bs.screen_pairs(constant(), LABELS, shuffles=1),
    "pairs of a rival": lambda: bs.score(constant(), LABELS, method="pofac"),
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
    (tmp_path / "ids.tsv").write_text("sample\tage\nS1\t1.5\nS2\t2.5\nS3\t0.5")
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


def holed() -> np.ndarray[Any, Any]:
    values = table()
    values[0, 0] = np.nan
    return values


def tiny(**options: Any) -> Any:
    return bs.screen(table(6), ["a"] * 3 + ["b"] * 3, **options)


PROVOKED: dict[str, Callable[[], object]] = {
    **CALLS,
    "missing": lambda: bs.screen(holed(), LABELS),
    "infinite": lambda: bs.screen(np.where(np.isnan(holed()), np.inf, 1.0), LABELS),
    "complex": lambda: bs.screen(table() + 1j, LABELS),
    "texts": lambda: bs.screen(table().astype(str), LABELS),
    "missing category": lambda: bs.screen(holed().round(), LABELS, model=bs.CategoricalModel()),
    "unknown level": lambda: bs.screen(table().round(), LABELS, model=bs.CategoricalModel(levels=(0, 1))),
    "levels twice": lambda: bs.screen([["u"]] * 12, LABELS, model=bs.CategoricalModel(levels=("u", "u"))),
    "measurements as categories": lambda: bs.screen(table(80, 1), [0, 1] * 40, model=bs.CategoricalModel()),
    "negative counts": lambda: bs.screen(table(), LABELS, model=bs.PoissonModel()),
    "exposures": lambda: bs.screen(
        np.abs(table()).round(), LABELS, model=bs.NegativeBinomialModel(), exposures=[1e6] * 12
    ),
    "label outside": lambda: bs.screen(table(), LABELS, classes=["a", "c"]),
    "class twice": lambda: bs.screen(table(), LABELS, classes=["a", "a"]),
    "block without value": lambda: bs.screen(table(), LABELS, blocks=[None, *range(11)]),
    "many classes": lambda: bs.screen(table(), range(12)),
    "class too small": lambda: jeffreys.screen(table(), ["a"] * 11 + ["b"]),
    "priors of classes": lambda: bs.screen(
        table(), ["a", "b", "c"] * 4, model=bs.GaussianModel.proper(mean_locations=(0.0, 1.0, 2.0))
    ),
    "ratio missing": lambda: bs.PoissonModel(0.0, 0.0),
    "ratio superfluous": lambda: bs.PoissonModel(1.0, 1.0, prior_ratio=0.1),
    "small classes": lambda: tiny(model=bs.GaussianModel.jeffreys()),
    "small blocks": lambda: jeffreys.screen(table(40, 200), [0, 1] * 20, blocks=np.repeat(range(8), 5)),
    "scale": lambda: tiny(model=bs.GaussianModel.proper(variance_scale=1e9)),
    "no blocks": lambda: tiny(block_model="shift"),
    "shift and missing": lambda: bs.screen(
        table(), LABELS, blocks=[0, 1] * 6, block_model="shift", informative_missing=True
    ),
    "shift of other priors": lambda: bs.screen(
        table(), LABELS, blocks=[0, 1] * 6, block_model="shift", model=bs.GaussianModel.proper()
    ),
    "pairs of other priors": lambda: bs.screen(
        table(), LABELS, pairs=[*range(6)] * 2, model=bs.GaussianModel.proper()
    ),
    "pairs and patterns": lambda: bs.screen(table(), LABELS, pairs=[*range(6)] * 2, patterns="distinct"),
    "pairs that do not differ": lambda: bs.screen(constant(), LABELS, pairs=[*range(6)] * 2),
    "constant": lambda: bs.screen(constant(), LABELS, degenerate="raise"),
    "informative statistics": lambda: bs.screen(bs.Moments.from_matrix(table(), LABELS), informative_missing=True),
    "statistics of another model": lambda: bs.screen(
        bs.Moments.from_matrix(table(), LABELS), model=bs.PoissonModel()
    ),
    "fragility of blocks": lambda: bs.fragility(
        table(), LABELS, posterior=bs.screen(table(), LABELS, blocks=[0, 1] * 6)
    ),
    "nothing selected": lambda: bs.MinimalRisk(0.5).select(bs.screen(table(), LABELS, prior_probability=1e-9)),
    "counts": lambda: bs.MinimalRisk(0.5).select(
        bs.screen(np.abs(table()).round(), LABELS, model=bs.PoissonModel())
    ),
    "p-values": lambda: bs.MinimalRisk(0.5).select(
        bs.screen(table(), LABELS).with_finding(bs.pearson_neyman(table(), LABELS))
    ),
    "site without a name": lambda: bs.SiteStatistics("", bs.Moments.from_matrix(table(), LABELS), list("vwxyz")),
}


def messages_of(call: Callable[[], object]) -> list[Message]:
    """All that is said: errors, warnings, and the summary of what is found."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except bs.BayesieveError as error:
            found = error
    said = [each.message.message for each in caught if isinstance(each.message, bs.BayesieveWarning)]
    if isinstance(found, bs.BayesieveError):
        said.append(found.message)
    return [*said, *summary_lines(found)] if isinstance(found, bs.Selection) else said


@pytest.mark.parametrize("call", PROVOKED.values(), ids=PROVOKED)
def test_each_interface_reads_its_own_words(call: Callable[[], object]) -> None:
    said = messages_of(call)
    assert said
    for message in said:
        python, command = str(message), message.render(command=True)
        assert not re.search(r"(^|\W)--[a-z]", python), python
        assert not re.search(
            r"\b[a-z_]+=|FixedSize|GaussianModel\.|NegativeBinomialModel\(|\.degenerate\b", command
        )
        if message.hint:
            assert python.endswith(Message(message.hint).render())
        assert pickle.loads(pickle.dumps(message)) == message
