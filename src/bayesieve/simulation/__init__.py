"""Data with known truth: the synthetic model of section 6."""

from bayesieve.simulation.synergetic import SynergeticModel, SyntheticData

__all__ = ["SynergeticModel", "SyntheticData"]
