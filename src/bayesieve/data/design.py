"""Study designs: batches (blocks) and pairs of samples, beside their class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve.data.frames import is_frame
from bayesieve.data.labels import Label, Labels, encode_labels
from bayesieve.data.matrix import LabelledMatrix, is_sparse
from bayesieve.data.missing import is_missing
from bayesieve.utils import IntArray, LabelError

BETWEEN = " x "  # of the names of levels that are taken together


def in_blocks(matrix: LabelledMatrix, blocks: Any) -> LabelledMatrix:
    """Label every sample by its block and class together."""
    found, classes = one_each("blocks", blocks, matrix.n_samples), matrix.labels.classes
    joint = tuple((block, label) for block in found.classes for label in classes)
    return replace(matrix, labels=Labels(joint, found.codes * len(classes) + matrix.labels.codes))


def match_pairs(
    ids: Sequence[Any], codes: IntArray, classes: Sequence[Label], sample: Callable[[int], str] = str
) -> tuple[dict[Any, tuple[int, int]], list[Any]]:
    """Find the samples of every pair.

    Returns
    -------
    pairs, incomplete
        Positions of the samples of the first and of the second class by pair, in order of appearance; and
        the ids of pairs that lack one.
    """
    places: dict[Any, list[int]] = {}
    for i in np.flatnonzero(codes >= 0).tolist():
        held, k = places.setdefault(ids[i], [-1, -1]), int(codes[i])
        if held[k] >= 0:
            raise LabelError(
                f"pair {ids[i]!r} has two samples of class {classes[k]!r}: {sample(held[k])} and {sample(i)}. A "
                "pair has one sample of each class: leave one of them out, or average them first."
            )
        held[k] = i
    pairs = {name: (first, second) for name, (first, second) in places.items() if min(first, second) >= 0}
    if not pairs:
        raise LabelError(
            f"none of the {len(places):,} pairs has a sample of both classes. Check the pair ids: samples of a "
            "pair carry the same one."
        )
    return pairs, [name for name in places if name not in pairs]


def differences(matrix: LabelledMatrix, pairs: Any) -> tuple[LabelledMatrix, list[Any], IntArray]:
    """Take differences within pairs, second class minus first.

    Returns
    -------
    matrix, incomplete, places
        Differences as one class; ids of pairs that lack a sample; positions of the samples of the first and
        of the second class, pair by pair.
    """
    places, incomplete = places_of_pairs(matrix, pairs)
    first, second = places
    values: Any = matrix.values
    if values.dtype != np.float64:  # differences of small integers would wrap around
        values = values.astype(np.float64)
    values = values.tocsr() if is_sparse(values) else values
    made = LabelledMatrix(
        values[second] - values[first],
        Labels((difference_label(matrix.labels.classes),), np.zeros(first.size, np.int64)), matrix.feature_names,
    )  # fmt: skip
    return made, incomplete, places


def places_of_pairs(matrix: LabelledMatrix, pairs: Any) -> tuple[IntArray, list[Any]]:
    """Find the samples of the first and of the second class, pair by pair, and the pairs that lack one."""
    classes = matrix.labels.classes
    if len(classes) != 2:
        raise LabelError(f"Pairs compare two classes, but there are {len(classes)}: {list(classes)!r}.")
    found = one_each("pairs", pairs, matrix.n_samples)
    names = [found.classes[code] for code in found.codes.tolist()]
    try:
        matched, incomplete = match_pairs(names, matrix.labels.codes, classes)
    except LabelError as error:
        raise LabelError("pairs: ", error.message, kind=error.message.kind) from None
    return np.ascontiguousarray(np.array(list(matched.values()), dtype=np.int64).T), incomplete


def difference_label(classes: Sequence[Label]) -> str:
    """Name what is left of two classes when pairs are subtracted."""
    return f"{classes[1]} - {classes[0]}"


def one_each(what: str, values: Any, n_samples: int) -> Labels:
    """Encode something said of every sample; several columns of a frame of blocks are crossed."""
    if what == "blocks" and is_frame(values) and values.shape[1] > 1:
        rows = zip(*(values[name].to_list() for name in values.columns), strict=True)
        values = [None if any(map(is_missing, row)) else BETWEEN.join(map(str, row)) for row in rows]
    if getattr(getattr(values, "dtype", None), "kind", "") == "M":
        values = np.asarray(values).astype(str)  # dates are called by their date
    try:
        found = encode_labels(values, noun="value")
    except LabelError as error:
        raise LabelError(f"{what}: ", error.message, kind=error.message.kind) from None
    if found.codes.size != n_samples:
        raise LabelError(
            f"{what} holds {found.codes.size} values for {n_samples} samples. Give one for each sample."
        )
    return found
