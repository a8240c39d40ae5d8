"""Penalised regressions of the class on all features: paths, cross-validation and stability selection."""
