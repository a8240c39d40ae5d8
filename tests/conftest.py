from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)  # machines are busy at times
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a test that is skipped fails")


def _refused(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped although --no-skips was given: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    if item.config.getoption("no_skips"):
        _refused(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    if collector.config.getoption("no_skips"):
        _refused(report)
    return report


@pytest.fixture(autouse=True)
def few_shuffles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave shuffled labels to the tests that are about them: they say ``shuffles=`` or bear the mark."""
    if not request.node.get_closest_marker("shuffles"):
        monkeypatch.setattr("bayesieve.screening.shuffles.FEWEST", 0)
        monkeypatch.setattr("bayesieve.screening.shuffles.MOST", 0)


@pytest.fixture
def r1() -> tuple[np.ndarray, np.ndarray]:
    """Reference data set R1: one feature, classes of 4 and 5."""
    values = np.array([0.1, -0.4, 0.3, 0.8, 1.2, 0.7, 2.1, 1.5, 0.9])
    return values[:, None], np.array([0] * 4 + [1] * 5)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)
