"""Helpers beneath every room: array types, checks of arguments, words for messages."""

from bayesieve.utils.typing import BoolArray, CountArray, FloatArray, IntArray

__all__ = ["BoolArray", "CountArray", "FloatArray", "IntArray"]
