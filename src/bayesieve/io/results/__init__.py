"""Results of a screen, written to files and read back."""
