"""The Gaussian likelihood: conjugate prior, evidence, and its designs and special cases."""
