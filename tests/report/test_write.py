"""write(): one file, whole or not at all, the same for the same input."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.report import ReportData, write_page


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(5)
    values, labels = rng.normal(size=(40, 50)), np.arange(40) % 2
    values[labels == 1, :4] += 2.0
    return bs.screen(values, labels)


def test_write_returns_the_file(posterior, tmp_path):
    path = bs.report.write(posterior, tmp_path / "a.html", title="Practice")
    assert path == tmp_path / "a.html"
    assert "<title>Practice</title>" in path.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]


def test_the_same_story_is_the_same_file(posterior, tmp_path):
    for name in ("a.html", "b.html"):
        write_page(ReportData.of(posterior, created="2020-01-01 00:00 UTC"), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_the_date_is_that_of_the_source_where_one_is_set(posterior, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    moments = iter([1_700_000_000.0, 1_800_000_000.0])
    monkeypatch.setattr("time.time", lambda: next(moments, 1.9e9))
    for name in ("a.html", "b.html"):
        bs.report.write(posterior, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert ReportData.of(posterior).created == "2020-09-13 12:26 UTC"
    assert ReportData.of(posterior, created="today").created == "today"


@pytest.mark.parametrize("value", ["", "yesterday", "1e9", "9" * 30])
def test_a_date_of_the_source_that_is_none_is_refused(posterior, value, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    with pytest.raises(bs.OptionError, match="SOURCE_DATE_EPOCH"):
        ReportData.of(posterior)


def test_a_failure_leaves_the_old_file(posterior, tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    path.write_text("old")
    with pytest.raises(bs.DataError):
        bs.report.write(posterior, path, annotation={"x": [1]})
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(bs.FileError, match="No space left"):
        bs.report.write(posterior, path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]


def test_places_that_cannot_be_written_are_told_first(posterior, tmp_path):
    with pytest.raises(bs.FileError, match="there is no folder"):
        bs.report.write(posterior, tmp_path / "no" / "a.html", data="nonsense")
    with pytest.raises(bs.FileError, match="it is a directory"):
        bs.report.write(posterior, tmp_path, data="nonsense")


def test_other_endings_and_numbers_are_refused(posterior, tmp_path):
    with pytest.raises(bs.OptionError, match=r"q.txt' end in .html"):
        bs.report.write(posterior, tmp_path / "q.txt")
    for wrong in (-1, 2.5, True):
        with pytest.raises(bs.OptionError, match="n_values is"):
            bs.report.write(posterior, tmp_path / "q.html", n_values=wrong)
    assert not list(tmp_path.iterdir())


def test_the_room_is_found_by_its_name():
    assert bs.report.write.__module__ == "bayesieve.report.page"
    assert "report" in dir(bs)
