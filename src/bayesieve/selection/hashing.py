"""Hashes of results: the same for the same numbers, whatever file they stand in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from bayesieve.selection.selection import Selection


def results_hash(selection: Selection) -> str:
    """SHA-256 of the results in the order of the ranks; the table of results holds all that goes into it."""
    posterior, order = selection.posterior, selection.posterior.ranking
    names = posterior.names
    arrays = (posterior.log_odds, posterior.log_bayes_factor, posterior.degenerate_codes, selection.mask)
    return hash_columns([names[i] for i in order.tolist()], posterior.classes, [array[order] for array in arrays])


def hash_columns(names: Sequence[str], classes: Sequence[Any], arrays: Sequence[npt.NDArray[Any]]) -> str:
    """SHA-256 of feature ids, class labels, and columns as little-endian bytes."""
    digest = hashlib.sha256()
    for lo in range(0, len(names), 2**16):
        digest.update("\0".join((*names[lo : lo + 2**16], "")).encode("utf-8", "surrogatepass"))
    digest.update("\0".join(map(str, classes)).encode("utf-8", "surrogatepass"))
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).data)
    return digest.hexdigest()
