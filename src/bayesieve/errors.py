"""Everything that can go wrong, as a tree.

::

    BayesieveError
    ├── DataError (ValueError)        the table of values
    │   └── MissingValueError         it holds missing values and nobody said what to do
    ├── LabelError (ValueError)       the class of each sample
    ├── PriorError (ValueError)       hyper-parameters, prior ratio, prior probability
    ├── DegenerateFeatureError (ValueError)   features without variance, under degenerate="raise"
    ├── RuleError (ValueError)        a selection rule, a loss or a set of features
    ├── FileError (ValueError)        a file that cannot be read or written, or does not hold what it should
    ├── OptionError (ValueError)      an option or setting that contradicts another or is not understood
    └── MissingExtraError (ImportError)   a package that is not part of the plain installation

    BayesieveWarning (UserWarning)
    ├── DegenerateFeatureWarning      features without variance were given a floor or left out
    ├── DataWarning                   a table that may not hold what it seems to hold
    ├── CalibrationWarning            probabilities that chance alone would often produce
    └── PriorWarning                  a prior that does not fit the data, or is not semi-proper

Every exception is a :class:`BayesieveError` and also the built-in kind a caller would expect, so
``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "BayesieveError",
    "BayesieveWarning",
    "CalibrationWarning",
    "DataError",
    "DataWarning",
    "DegenerateFeatureError",
    "DegenerateFeatureWarning",
    "FileError",
    "LabelError",
    "MissingExtraError",
    "MissingValueError",
    "OptionError",
    "PriorError",
    "PriorWarning",
    "RuleError",
]


class BayesieveError(Exception):
    """Root of every exception that bayesieve raises on purpose."""


class DataError(BayesieveError, ValueError):
    """The table of values cannot be screened as it is."""


class MissingValueError(DataError):
    """The table holds missing values and ``missing="raise"``."""


class LabelError(BayesieveError, ValueError):
    """The class labels are missing, too few, too many or of an unusable type."""


class PriorError(BayesieveError, ValueError):
    """A hyper-parameter, a prior ratio or a prior probability is not allowed."""


class DegenerateFeatureError(BayesieveError, ValueError):
    """Features without variance were found under ``degenerate="raise"``."""


class RuleError(BayesieveError, ValueError):
    """A selection rule, a loss or a given set of features makes no sense."""


class FileError(BayesieveError, ValueError):
    """A file cannot be read or written, or does not hold what its format promises."""


class OptionError(BayesieveError, ValueError):
    """An option or a setting contradicts another, or is not understood."""


class MissingExtraError(BayesieveError, ImportError):
    """A package is needed that is not part of the plain installation; the message names the extra."""


class BayesieveWarning(UserWarning):
    """Root of every warning."""


class DegenerateFeatureWarning(BayesieveWarning):
    """Some features have no variance where the prior needs it; counted once per screen."""


class DataWarning(BayesieveWarning):
    """A table may not hold what it seems to hold, or was read in a way that deserves a look."""


class CalibrationWarning(BayesieveWarning):
    """Chance alone would put many features over the cut."""


class PriorWarning(BayesieveWarning):
    """A prior that does not fit the data or that theory does not cover."""
