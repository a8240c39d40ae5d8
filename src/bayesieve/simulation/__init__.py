"""Data with known truth: the synthetic model of section 6, its variants, and designs drawn from a prior."""

from bayesieve.simulation.data_model import DataModel, Kind, SyntheticData, SyntheticMoments
from bayesieve.simulation.synergetic import SynergeticModel

__all__ = ["DataModel", "Kind", "SynergeticModel", "SyntheticData", "SyntheticMoments"]
