"""Features that differ together: the evidence of every pair, rivals built on it, and what chance would give."""
