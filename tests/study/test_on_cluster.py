"""Studies on a real cluster: the same numbers as in one process, whoever dies; clusters that cannot be used."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster
from small_studies import reproducible, small_study

from bayesieve.distributed import cluster as clusters, open_cluster, run_on_cluster
from bayesieve.errors import BayesieveError, DataWarning, MissingExtraError, OptionError
from bayesieve.study import Method, StudyDesign, run_study, runner
from bayesieve.study.store import Database

COMMAND = [sys.executable, "-c", "from bayesieve.cli import command; command()", "study"]
METHOD = """
import os, signal, time
import bayesieve as bs

def run(moments):
    time.sleep(0.03)  # slow enough to be caught in the act
    with open(LOG, "a") as file:
        file.write(f"{os.getpid()} {moments.mean[0, 0]!r}\\n")
    if os.path.exists(DEADLY) and os.getpid() != SPARED:
        os.kill(os.getpid(), signal.SIGKILL)
    return bs.FeatureScores("mine", abs(moments.mean_difference))

RIVAL = bs.Rival("mine", "Mine", "moments", run)
"""
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning:distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two workers, processes of one thread each, with nannies that start them again."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50, memory_limit="1GB"
    ) as made:
        yield made


@pytest.fixture
def slow(tmp_path: Path) -> StudyDesign:
    """Return a study of 36 data sets with a method that takes its time and tells who ran it."""
    told = {"LOG": str(tmp_path / "log.txt"), "DEADLY": str(tmp_path / "deadly"), "SPARED": os.getpid()}
    text = METHOD
    for name, path in told.items():
        text = text.replace(name, repr(path))
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "log.txt").touch()
    methods = (Method("mine", "Mine", str(tmp_path / "mine.py"), n_selected=80), small_study().methods[0])
    return small_study(methods=methods, iterations=12)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SECONDS_PER_BATCH", 0.1)


def stored(folder: Path) -> set[Any]:
    with Database(folder) as store:
        return store.done()


def begin(slow: StudyDesign, folder: Path, where: str) -> subprocess.Popen[str]:
    """Begin a study by the command, in a process of its own, and wait until a part of it is stored."""
    (folder / "slow.toml").write_text(slow.to_toml())
    arguments = [str(folder / "slow.toml"), "--out", str(folder / "out"), "--dask", where]
    process = subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, start_new_session=True, text=True)
    deadline = time.monotonic() + 120.0
    while not (folder / "out" / "study.sqlite").is_file() or len(stored_there(folder)) < 4:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def stored_there(folder: Path) -> set[Any]:
    try:
        return stored(folder / "out")
    except BayesieveError:  # the table is being made
        return set()


def is_gone(group: int) -> bool:
    """Wait for the end of all processes of a group."""
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_workers_that_die_change_no_number(cluster: LocalCluster, slow: StudyDesign, tmp_path: Path) -> None:
    expected = reproducible(run_study(slow, tmp_path / "alone.sqlite", workers=1))
    log, killed = tmp_path / "log.txt", []
    log.write_text("")

    def kill() -> None:  # two of those that work, each in the middle
        for _ in range(2):
            seen = len(log.read_text().splitlines())
            deadline = time.monotonic() + 120.0
            while len(log.read_text().splitlines()) < seen + 6:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            others = {int(line.split()[0]) for line in log.read_text().splitlines()[seen:]} - {os.getpid()}
            killed.append(random.choice(sorted(others)))
            os.kill(killed[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    seen: list[tuple[int, int]] = []
    found = run_study(slow, tmp_path, dask=cluster.scheduler_address, progress=lambda *now: seen.append(now))
    killer.join()
    assert len(killed) == 2
    assert reproducible(found).equals(expected)
    assert (seen[0], seen[-1]) == ((0, 36), (36, 36))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)  # nothing counts twice
    with Client(
        cluster, set_as_default=False
    ) as client:  # the cluster goes on, and none of the study is left on it
        assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_a_client_that_is_killed_goes_on_where_it_was(
    cluster: LocalCluster, slow: StudyDesign, tmp_path: Path
) -> None:
    process = begin(slow, tmp_path, cluster.scheduler_address)
    process.kill()
    process.communicate()
    there = stored(tmp_path / "out")
    assert 0 < len(there) < slow.units
    log = tmp_path / "log.txt"
    with Client(cluster, set_as_default=False) as client:
        deadline = time.monotonic() + 20.0
        while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            assert time.monotonic() < deadline, "tasks of the client that died are left"
            time.sleep(0.05)
        size = -1
        while size != (size := log.stat().st_size):  # what was under way in a worker goes on to its end
            time.sleep(0.5)
        log.write_text("")
        found = run_study(slow, tmp_path / "out", dask=client)
        assert client.status == "running"  # not ours to close
    ran = [line.split()[1] for line in log.read_text().splitlines()]
    assert len(ran) == len(set(ran)) == slow.units // 2 - sum(method == "mine" for _, _, method in there)
    expected = run_study(slow, tmp_path / "alone.sqlite", workers=1)
    assert reproducible(found).equals(reproducible(expected))


def test_an_interrupted_study_ends_its_local_cluster(slow: StudyDesign, tmp_path: Path) -> None:
    process = begin(slow, tmp_path, "local:2")
    os.killpg(process.pid, signal.SIGINT)  # a terminal tells all
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert is_gone(process.pid), "workers go on without their client"
    assert 4 <= len(stored(tmp_path / "out")) < slow.units
    assert "Traceback" not in errors
    assert "of 36 data sets are finished and stored" in errors


def test_workers_end_with_a_client_that_is_killed() -> None:
    script = (
        "import time\nfrom bayesieve.distributed import open_cluster\nif __name__ == '__main__':\n"
        "    with open_cluster('local:1'):\n        print('ready', flush=True)\n        time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.communicate()
    assert is_gone(process.pid)


def test_data_sets_that_end_workers_again_and_again(
    cluster: LocalCluster, slow: StudyDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
    (tmp_path / "deadly").touch()
    with pytest.raises(BayesieveError, match="ended several workers") as raised:
        run_study(slow, tmp_path, dask=cluster.scheduler_address)
    assert raised.value.message.kind == "killed-worker"
    assert len(stored(tmp_path)) > 0


def test_a_method_that_fails_is_named(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import os\nimport bayesieve as bs\ndef run(moments):\n"
        f"    if os.getpid() != {os.getpid()}:\n        raise ValueError('bad day')\n"
        "    return bs.FeatureScores('mine', abs(moments.mean_difference))\n"
        "RIVAL = bs.Rival('mine', 'Mine', 'moments', run)\n"
    )
    design = small_study(methods=(Method("mine", "Mine", str(path), n_selected=80),))
    with pytest.raises(BayesieveError, match=r"'mine' failed with \d+ samples in iteration .*ValueError: bad day"):
        run_study(design, tmp_path, dask=cluster.scheduler_address)
    assert stored(tmp_path)


def test_a_scheduler_that_is_lost_is_named() -> None:
    script = (
        "import time\nfrom distributed import LocalCluster\nif __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=1, processes=False, protocol='tcp://', dashboard_address=':0') as made:\n"
        "        print(made.scheduler_address, flush=True)\n        time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    kept: list[int] = []

    def keep(k: int) -> None:
        kept.append(k)
        if k == 5:
            process.kill()

    with (
        open_cluster(process.stdout.readline().strip()) as client,
        pytest.raises(BayesieveError, match=r"The scheduler tcp://.* was lost"),
    ):
        run_on_cluster(client, abs, ((k,) for k in range(5_000)), keep)
    process.communicate()
    assert len(kept) == len(set(kept)) >= 5


@pytest.mark.parametrize("name", ["local:0", "locals", "local:x", "tcp://host", "host:8786", "", "http://host:1"])
def test_names_of_clusters(name: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="names no cluster"):
        run_study(small_study(), tmp_path, dask=name)
    assert not (tmp_path / "study.sqlite").exists()


def test_what_cannot_run_on_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="workers and dask exclude each other"):
        run_study(small_study(), tmp_path, dask="local:2", workers=2)
    with pytest.raises(OptionError, match="Costs are measured by one process"):
        run_study(small_study(measures=("costs",), raw=True), tmp_path, dask="local:2")


def test_schedulers_that_do_not_answer_and_clusters_without_workers() -> None:
    with (
        pytest.raises(OptionError, match=r"tcp://127.0.0.1:1 cannot be reached within 0.3 seconds"),
        open_cluster("tcp://127.0.0.1:1", wait=0.3),
    ):
        pass
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as made,
        pytest.raises(OptionError, match=r"no worker for 0.3 seconds. Start one with: dask worker .* tcp://"),
        open_cluster(made.scheduler_address, wait=0.3),
    ):
        pass


def test_versions_are_compared(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(cluster, set_as_default=False) as client:
        found = client.get_versions(packages=["bayesieve", *clusters._SAME])
        first = next(iter(found["workers"].values()))["packages"]
        monkeypatch.setattr(client, "get_versions", lambda **_: found)
        with open_cluster(client):
            pass  # all the same
        first["numpy"] = "1.0.0"
        with pytest.warns(DataWarning, match=r"another numpy than .*: tcp://.* has 1.0.0"), open_cluster(client):
            pass
        first["bayesieve"] = None
        with pytest.raises(OptionError, match=r"needs bayesieve .* but tcp://.* has none"), open_cluster(client):
            pass


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(MissingExtraError, match=r"cannot be imported .* Install it: .*\[dask\]"),
        open_cluster("local:2"),
    ):
        pass
