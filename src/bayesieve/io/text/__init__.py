"""Delimited text: from compressed bytes to numbers, block by block."""
