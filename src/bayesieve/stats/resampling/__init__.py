"""Statistics of samples left out one at a time, and of permuted labels."""
