"""Pseudobulk: cells of a donor, which are no replicates, added up or averaged to one sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data.annotated import AnnotatedValues, annotated, is_annotated
from bayesieve.data.design import one_each
from bayesieve.data.labels import aligned
from bayesieve.data.matrix import as_values, check_names, is_sparse
from bayesieve.utils import DataWarning, FloatArray, IntArray, OptionError, Piece, check_choice, warn

HOW = ("mean", "sum")
N_AGGREGATED = "n_aggregated"

_WHO = "donor|patient|subject|individual|participant|person|animal|mouse|rat|specimen|biosample|volunteer|embryo"
_DONOR = re.compile(
    rf"(?:.*[^a-z0-9])?(?:{_WHO})s?(?:[ ._-]*(?:id|ids|no|nr|num|number|name|code|key))?"
    r"|sample[ ._-]*id|orig\.ident",
    re.IGNORECASE,
)


def looks_like_donor(name: str) -> bool:
    """Tell whether a column's name says that it holds who (or which animal) a sample was taken from."""
    return _DONOR.fullmatch(name.strip()) is not None


@dataclass(slots=True, eq=False)
class GroupSums:
    """Values added up by group, some samples at a time.

    Parameters
    ----------
    n_features
        Number of features.
    omit
        Leave missing values out, and count those that are there; otherwise one makes its group's value missing.
    """

    n_features: int
    omit: bool = False
    sums: FloatArray = field(init=False)
    there: FloatArray = field(init=False)
    sizes: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((0, self.n_features))
        self.there = np.zeros((0, self.n_features if self.omit else 1))
        self.sizes = np.zeros(0, np.int64)

    def add(self, values: Any, groups: IntArray, n_groups: int) -> None:
        """Add samples; those of group -1 are left out."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

        more = n_groups - self.sizes.size
        if more > 0:
            self.sums, self.there = (np.pad(array, ((0, more), (0, 0))) for array in (self.sums, self.there))
            self.sizes = np.pad(self.sizes, (0, more))
        rows = np.flatnonzero(groups >= 0)
        chosen = groups[rows], rows
        member: Any = csr_matrix((np.ones(rows.size), chosen), shape=(self.sizes.size, groups.size))
        sizes = np.bincount(groups[rows], minlength=self.sizes.size)
        if self.omit:
            values, present = _present(values)
            self.there += sizes[:, None] if present is None else _dense(member @ present)
        else:
            self.there += sizes[:, None]
        self.sums += _dense(member @ values)
        self.sizes += sizes

    def values(self, how: str) -> FloatArray:
        """Return sums or means, groups x features; NaN where no value is there."""
        if how == "sum":
            return np.where(self.there > 0, self.sums, np.nan)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums / self.there)


def _dense(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


def _present(values: Any) -> tuple[Any, Any]:
    """Return the values with 0 for missing ones, and where they are there (None: everywhere)."""
    if values.dtype.kind != "f":
        return values, None
    gone = np.isnan(values.data if is_sparse(values) else values)
    if not gone.any():
        return values, None
    if not is_sparse(values):
        return np.where(gone, 0.0, values), (~gone).astype(np.float64)
    dense = _dense(values)  # what is not stored is 0 and is there
    return np.nan_to_num(dense), (~np.isnan(dense)).astype(np.float64)


def aggregate(
    X: Any,
    by: Any,
    y: Any = None,
    *,
    how: str = "mean",
    missing: str = "raise",
    layer: str | None = None,
    feature_names: Sequence[str] | None = None,
) -> AnnotatedValues:
    """Make one sample of all cells of a donor (pseudobulk), in each class.

    Cells of a donor resemble each other, so that a screen of cells finds differences between donors everywhere. A
    screen of donors counts those who are independent.

    Parameters
    ----------
    X
        Cells x features: an AnnData object, array, data frame or sparse matrix.
    by
        Donor of each cell: values, a mapping from names to values, or names of columns of ``obs``; several (donor
        and cluster) make one sample for each combination.
    y
        Class of each cell, or the name of a column of ``obs``: cells of a donor in two classes are two samples.
    how
        ``"mean"``, or ``"sum"`` for counts.
    missing
        ``"raise"``: a missing value makes its donor's value missing. ``"omit"``: means of those that are there.
    layer
        AnnData: a layer, or ``"raw"``; X when not given.
    feature_names
        Names; taken from ``X`` where it has them.

    Returns
    -------
    AnnotatedValues
        To be handed to :func:`bayesieve.screen` and all that takes a table. ``obs`` holds the columns ``by`` and
        ``y`` (under their names, where they have one) and ``n_aggregated``, how many cells each sample stands for.

    Examples
    --------
    >>> import bayesieve as bs
    >>> cells = [[1.0], [3.0], [5.0], [6.0]]
    >>> donors = bs.aggregate(cells, ["d1", "d1", "d2", "d2"], ["a", "a", "b", "b"])
    >>> donors.values.tolist(), donors.sample_names, donors.column("y").tolist()
    ([[2.0], [5.5]], ('d1', 'd2'), ['a', 'b'])
    """
    check_choice("how", how, HOW)
    check_choice("missing", missing, ("raise", "omit"))
    if how == "sum" and missing == "omit":
        raise OptionError("Sums of fewer values are smaller: how='sum' does not go with missing='omit'.")
    held = annotated(X, layer=layer) if layer is not None or is_annotated(X) else None
    values, own = as_values(X if held is None else held)
    given = check_names(own if feature_names is None else feature_names, values.shape[1])
    names = given or tuple(f"x{j}" for j in range(values.shape[1]))
    n_by, said = _columns(X if held is None else held, by, y)
    coded = {name: one_each(name, column, values.shape[0]) for name, column in said.items()}
    keys = list(zip(*(found.codes.tolist() for found in coded.values()), strict=True))
    place = {key: k for k, key in enumerate(sorted(set(keys)))}
    sums = GroupSums(values.shape[1], omit=missing == "omit")
    sums.add(values, np.array([place[key] for key in keys]), len(place))
    obs: dict[str, npt.NDArray[Any]] = {}
    for k, (name, found) in enumerate(coded.items()):
        obs[name] = np.empty(len(place), dtype=object)
        obs[name][:] = [found.classes[key[k]] for key in place]
    texts = [[str(value) for value in column] for column in obs.values()]
    labels = group_names(list(zip(*texts, strict=True)), n_by)
    return AnnotatedValues(
        sums.values(how), names, labels, SampleColumns({**obs, N_AGGREGATED: sums.sizes}, labels)
    )


class SampleColumns(dict[str, Any]):
    """Columns that describe samples, by name; ``columns`` and ``index`` are those of a data frame."""

    def __init__(self, columns: Mapping[str, Any], index: Sequence[str]) -> None:
        super().__init__(columns)
        self.columns, self.index = list(columns), list(index)


def _columns(X: Any, by: Any, y: Any) -> tuple[int, dict[str, Any]]:
    """Return how many columns say who belongs together, and these columns and the classes by name."""
    if is_annotated(X) and isinstance(by, (list, tuple)) and len(by) != X.shape[0]:
        said = {str(name): aligned(X, str(name), "by") for name in by}
    elif isinstance(by, Mapping):
        said = {str(name): aligned(X, values, str(name)) for name, values in by.items()}
    else:
        said = {_name(by, "by"): aligned(X, by, "by")}
    if not said:
        raise OptionError("by names no column. Say which cells belong together, for example by='donor'.")
    n_by = len(said)
    if y is not None:
        name = _name(y, "y")
        if name in said:
            raise OptionError(f"by and y both are {name!r}. Donors and classes are two things.")
        said[name] = aligned(X, y)
    return n_by, said


def _name(values: Any, otherwise: str) -> str:
    """Return what a column is called: the text itself, the name of a series, or what it is for."""
    name = values if isinstance(values, str) else getattr(values, "name", None)
    return str(name) if isinstance(name, str) and name else otherwise


def group_names(keys: Sequence[tuple[str, ...]], n_by: int) -> tuple[str, ...]:
    """Name groups by who they are, and by their class where that is not enough."""
    short = [":".join(key[:n_by]) for key in keys]
    if len(set(short)) == len(short):
        return tuple(short)
    whole = [":".join(key) for key in keys]
    return tuple(whole if len(set(whole)) == len(whole) else map(repr, keys))


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often donors occur in their classes.

    Parameters
    ----------
    n_samples, n_donors, n_cells
        Numbers of samples, of donors, and of combinations of donor and class.
    n_in_several
        Donors that occur in more than one class.
    """

    n_samples: int
    n_donors: int
    n_cells: int
    n_in_several: int

    @classmethod
    def of(cls, donors: Iterable[Any], codes: Iterable[int]) -> Repeats:
        """Count; samples without a donor or a class (code -1) are left out."""
        both = zip(donors, codes, strict=True)
        pairs = [(donor, code) for donor, code in both if donor is not None and code >= 0]
        distinct = set(pairs)
        classes = Counter(donor for donor, _ in distinct)
        return cls(len(pairs), len(classes), len(distinct), sum(n > 1 for n in classes.values()))

    @property
    def are_no_replicates(self) -> bool:
        """Whether there are two donors at least, and several samples of a donor in a class."""
        return self.n_donors > 1 and self.n_cells < self.n_samples


def warn_of_donors(
    path: str, name: str, repeats: Repeats, together: Iterable[Piece], paired: Iterable[Piece]
) -> None:
    """Ask loudly whether samples are replicates, if several of a class come from the same donor.

    Parameters
    ----------
    path, name
        The table, and the column of the donors.
    repeats
        How often they occur.
    together, paired
        How to put samples together, and how to compare within donors, too.
    """
    if not repeats.are_no_replicates:
        return
    warn(
        DataWarning,
        f"{path}: {repeats.n_samples:,} samples come from {repeats.n_donors:,} values of {name!r}, which looks "
        "like a donor. Samples of one donor are no replicates: screened as if they were, differences between "
        "donors pass for differences between classes.",
        hint=("Put them together: ", *together, *(paired if repeats.n_in_several else ()), "."),
        kind="donors",
        n=repeats.n_samples,
        n_donors=repeats.n_donors,
    )
