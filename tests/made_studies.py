"""Results of studies made from numbers that are known, and the reference accuracies of the specification."""

from __future__ import annotations

import numpy as np
import polars as pl

from bayesieve.study import StudyDesign, StudyResults, built_in

# Reference accuracies of the specification, K4: an exact simulation of 600 iterations up to n = 1,000 and of 200
# above it; standard errors as far as they are printed there, 0.3 where they are not.
METHODS = ("mnc-obf-jp", "mnc-obf-pp", "cmnc-obf-jp", "cmnc-obf-pp", "bd", "welch", "limma")
K4 = {
    50: (19893.6, 19904.1, 19841.6, 19842.6, 19842.0, 19836.3, 19836.5),
    100: (19913.7, 19916.9, 19870.0, 19870.8, 19870.4, 19863.4, 19863.3),
    200: (19933.8, 19934.0, 19902.0, 19902.4, 19902.2, 19894.4, 19894.3),
    300: (19944.0, 19944.0, 19917.3, 19917.4, 19917.5, 19912.0, 19912.0),
    400: (19950.2, 19950.0, 19928.0, 19927.8, 19928.2, 19926.0, 19926.0),
    500: (19954.7, 19954.2, 19936.1, 19935.5, 19936.2, 19935.8, 19935.8),
    650: (19960.1, 19959.1, 19945.6, 19945.0, 19945.7, 19946.9, 19946.9),
    800: (19964.7, 19963.6, 19953.0, 19952.4, 19953.1, 19955.2, 19955.3),
    1000: (19969.4, 19968.2, 19960.4, 19959.7, 19960.5, 19963.1, 19963.2),
    2000: (19983.4, 19982.0, 19980.7, 19979.7, 19980.8, 19982.8, 19982.8),
    3000: (19990.3, 19989.4, 19989.5, 19988.8, 19989.5, 19990.9, 19990.9),
    5000: (19996.0, 19995.6, 19995.9, 19995.6, 19995.9, 19997.3, 19997.3),
}
K4_ERROR = {50: 0.25, 100: 0.3, 200: 0.3, 300: 0.25, 1000: 0.24, 2000: 0.35, 5000: 0.14}


def results_of(columns: dict[str, list], design: StudyDesign) -> StudyResults:
    return StudyResults(design, pl.DataFrame(columns), "0")


def as_in_the_specification(iterations: int = 600) -> StudyResults:
    """Results whose means are exactly those of K4, with noise that methods share and a little of their own."""
    rng = np.random.default_rng(4)
    rows: dict[str, list] = {
        name: []
        for name in ("n", "iteration", "method", "correct", "n_selected", "true_positives", "false_positives")
    }
    for n, means in K4.items():
        shared = rng.normal(0.0, 5.0, iterations)
        for method, mean in zip(METHODS, means, strict=True):
            noise = shared + rng.normal(0.0, 1.0, iterations)
            correct = mean + noise - noise.mean()
            wrong = 20_000 - correct
            false = 0.1 * wrong
            rows["n"] += [n] * iterations
            rows["iteration"] += list(range(iterations))
            rows["method"] += [method] * iterations
            rows["correct"] += correct.tolist()
            rows["false_positives"] += false.tolist()
            rows["true_positives"] += (100 - 0.9 * wrong).tolist()
            rows["n_selected"] += (100 - 0.9 * wrong + false).tolist()
    design = built_in("figure-1b").changed(sizes=list(K4), iterations=iterations, methods=METHODS)
    return results_of(rows, design)
