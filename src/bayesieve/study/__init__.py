"""Simulation studies: many data sets of known truth, several methods, one store that survives interruptions."""

from bayesieve.study.catalogue import built_in, built_in_names
from bayesieve.study.design import Method, StudyDesign
from bayesieve.study.runner import run_study
from bayesieve.study.store import StudyResults

__all__ = ["Method", "StudyDesign", "StudyResults", "built_in", "built_in_names", "run_study"]
