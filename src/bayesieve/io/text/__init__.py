"""Delimited text: from compressed bytes to numbers, chunk by chunk."""
