"""What passes when no feature is a marker: the global null, exact, simulated and by permuted labels."""
