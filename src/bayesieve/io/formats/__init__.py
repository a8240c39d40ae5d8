"""Readers of file formats other than delimited text."""
