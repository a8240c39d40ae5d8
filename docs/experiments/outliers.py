"""What one outlier does to features that are no markers, and what leaving one sample out costs those that are.

Two balanced classes, Gaussian features, Jeffreys' prior with L = 0.1, prior probability 0.01; a feature passes
with a probability over 0.5 (the rule MNC of the paper). Three kinds of features:

- no marker, but one value, of a random sample, lies 8 standard deviations from the mean, or has had 8 standard
  deviations added to it (then it lies further out in half of the features, which makes a difference);
- no marker, untouched;
- a marker: 1.5 (or 2) standard deviations between the class means, no outlier.

Each is judged by its log-odds and by the least log-odds over leaving any one sample out.

Run: python docs/experiments/outliers.py
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.screening import fragility

N_FEATURES = 100_000
OUTLIER = 8.0
SHIFTS = (1.5, 2.0)


def passing(X: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Share of features that pass on all samples, and on the least log-odds."""
    found = fragility(X, np.repeat([0, 1], len(X) // 2), prior_probability=0.01)
    return float((found.full.log_odds > 0).mean()), float((found.least_log_odds > 0).mean())


def main() -> None:
    rng = np.random.default_rng(1)
    print("| n | features | pass | pass without any one sample |")
    print("| -: | --- | -: | -: |")
    for n in (20, 40, 60):
        nothing = rng.standard_normal((n, N_FEATURES))
        spoilt, moved = nothing.copy(), nothing.copy()
        where = rng.integers(n, size=N_FEATURES), np.arange(N_FEATURES)
        spoilt[where] = OUTLIER
        moved[where] += OUTLIER
        kinds = {"no marker, a value at 8 sd": spoilt, "no marker, a value moved by 8 sd": moved}
        kinds["no marker"] = nothing
        for shift in SHIFTS:
            kinds[f"marker, means {shift:g} sd apart"] = nothing + shift * (np.arange(n)[:, None] >= n // 2)
        for name, X in kinds.items():
            whole, least = passing(X)
            print(f"| {n} | {name} | {whole:.2%} | {least:.2%} |")


if __name__ == "__main__":
    main()
