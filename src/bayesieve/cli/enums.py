"""Options that take one of a few words."""

from __future__ import annotations

import enum


class Where(enum.StrEnum):
    """Where the samples are."""

    rows = "rows"
    columns = "columns"


class Criterion(enum.StrEnum):
    """The paper's criteria by their acronyms, and two bounds of false discoveries."""

    map = "map"
    cmap = "cmap"
    mr = "mr"
    mnc = "mnc"
    cmnc = "cmnc"
    np = "np"
    fdr = "fdr"
    fdp = "fdp"


class ModelName(enum.StrEnum):
    """Likelihoods."""

    gaussian = "gaussian"
    categorical = "categorical"
    poisson = "poisson"
    negative_binomial = "negative-binomial"


class BlockModel(enum.StrEnum):
    """What blocks share."""

    own = "own"
    shift = "shift"


class Transform(enum.StrEnum):
    """Transformations of the values."""

    none = "none"
    log2 = "log2"
    log1p = "log1p"
    rank_normal = "rank-normal"


class MissingPolicy(enum.StrEnum):
    """What to do about missing values."""

    raise_ = "raise"
    omit = "omit"


class DegeneratePolicy(enum.StrEnum):
    """What to do about features without variance."""

    floor = "floor"
    exclude = "exclude"
    raise_ = "raise"


class Join(enum.StrEnum):
    """Which features to keep when sites are merged."""

    inner = "inner"
    outer = "outer"
