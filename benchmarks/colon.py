"""The colon application at full shape, step by step: 238 samples x 54,675 made probes.

Run: python benchmarks/colon.py [FEATURES [METHODS]]

FEATURES are 54,675 if not given; METHODS have commas between. Seconds are by the clock; of processors, for all.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

from bayesieve.study import ColonDesign, run_colon, write_colon_report
from bayesieve.study.colon.run import DEFAULTS

BAR = 300.0


def processors() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main() -> None:
    features = int(sys.argv[1]) if len(sys.argv) > 1 else 54_675
    methods = tuple(sys.argv[2].split(",")) if len(sys.argv) > 2 else DEFAULTS
    with tempfile.TemporaryDirectory() as folder:
        start, used = time.perf_counter(), processors()
        results = run_colon(ColonDesign(synthetic=True, features=features, methods=methods), folder)
        ran, written = time.perf_counter() - start, time.perf_counter()
        write_colon_report(results, folder)
        report, total = time.perf_counter() - written, time.perf_counter() - start
        for name, seconds in results.seconds.items():
            print(f"{name:28} {seconds:8.2f} s")
        rest = ran - sum(results.seconds.values())
        print(f"{'making, reading, genes':28} {rest:8.2f} s")
        print(f"{'figures and page':28} {report:8.2f} s")
        mark = "" if total <= BAR or features > 54_675 else "  <- over"
        print(f"{'all':28} {total:8.2f} s (bar {BAR:g} s){mark}; {processors() - used:.0f} s of processors")


if __name__ == "__main__":
    main()
