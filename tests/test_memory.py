"""Free memory: what the system tells, within the limit of a container."""

from __future__ import annotations

import psutil
import pytest

from bayesieve.utils import free_memory, memory


def test_it_is_what_the_system_tells_on_every_system(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_CONTROL", tmp_path)
    assert free_memory() == pytest.approx(psutil.virtual_memory().available, rel=0.2)


@pytest.mark.parametrize(
    ("files", "left"),
    [
        (
            {
                "memory.max": "3000000\n",
                "memory.current": "1000000\n",
                "memory.stat": "file 7\ninactive_file 500000\nactive_file 3\n",
            },
            2_500_000,
        ),
        (
            {
                "memory/memory.limit_in_bytes": "5000",
                "memory/memory.usage_in_bytes": "6000",
                "memory/memory.stat": "inactive_file 9999\ntotal_inactive_file 400\n",
            },
            0,
        ),
    ],
)
def test_a_container_may_have_less(monkeypatch, tmp_path, files, left):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    monkeypatch.setattr(memory, "_CONTROL", tmp_path)
    assert free_memory() == left
    (tmp_path / next(iter(files))).write_text("max\n", encoding="ascii")
    assert free_memory() > 10_000
