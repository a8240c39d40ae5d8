"""Contrasts: a file of comparisons, and one reading of a table for all of them."""
