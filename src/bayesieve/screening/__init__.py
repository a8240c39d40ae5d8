"""From a table to the log-odds of every feature."""

from bayesieve.screening.screen import screen

__all__ = ["screen"]
