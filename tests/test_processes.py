"""Processes of our own use one thread each, also for libraries that are loaded late."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from bayesieve.utils import run_in_processes


def test_workers_keep_linear_algebra_to_one_thread():
    found: list[list[dict[str, object]]] = []
    run_in_processes(threadpool_info, [()], 1, found.append, import_main=False)
    libraries = [each for each in found[0] if each["user_api"] == "blas"]
    assert libraries
    assert {each["num_threads"] for each in libraries} == {1}
