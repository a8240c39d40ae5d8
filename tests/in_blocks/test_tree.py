"""The tree of blocks: its shape depends on the number of leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

import bayesieve as bs
from bayesieve.distributed import Leaf, Place, Tree, merge_neighbours, nodes, smallest_codes


class Written(str):
    """A part whose whole says in which order it was merged."""

    def merge(self, other: Written) -> Written:
        """Write both down."""
        return Written(f"({self}{other})")


def leaves(n: int) -> list[Written]:
    return [Written(chr(ord("a") + k)) for k in range(n)]


@pytest.mark.parametrize(
    ("n", "whole"),
    [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (5, "(((ab)(cd))e)"), (7, "(((ab)(cd))((ef)g))")],
)
def test_neighbours_are_merged_two_by_two(n: int, whole: str) -> None:
    assert merge_neighbours(leaves(n)) == whole


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 20])
@pytest.mark.parametrize("fan_in", [2, 4, 8])
def test_the_order_of_arrival_and_the_fan_in_do_not_change_the_tree(n: int, fan_in: int) -> None:
    expected = merge_neighbours(leaves(n))
    tree: Tree[Written] = Tree()
    for k in np.random.default_rng(n).permutation(n).tolist():
        tree.put(k, leaves(n)[k])
    assert tree.result() == expected
    level: list[Written | None] = list(leaves(n))
    for groups in nodes(n, fan_in):
        level = [merge_neighbours([level[k] for k in group]) for group in groups]
    assert level == [expected]
    partial: Tree[Written] = Tree()
    for number, group in enumerate(nodes(n, fan_in)[0]):
        merged = merge_neighbours([leaves(n)[k] for k in group])
        partial.put(number, merged, level=fan_in.bit_length() - 1)
    assert partial.result() == expected


def test_parts_in_order_leave_a_logarithm_of_them_in_memory() -> None:
    tree: Tree[Written] = Tree()
    most = 0
    for k in range(1000):
        tree.put(k, Written("."))
        most = max(most, tree.n_held)
    assert most <= 10


def test_empty_parts_change_nothing() -> None:
    a, b = Written("a"), Written("b")
    assert merge_neighbours([None, a, None, b, None]) == "(ab)"
    assert merge_neighbours([None, None]) is None


def test_a_part_twice_or_never_is_found() -> None:
    tree: Tree[Written] = Tree()
    tree.put(0, Written("a"))
    with pytest.raises(ValueError, match="was put into the tree before"):
        tree.put(0, Written("a"))
    tree.put(2, Written("c"))
    with pytest.raises(ValueError, match="Part 1 is not in the tree"):
        tree.result()
    with pytest.raises(ValueError, match="power of two"):
        nodes(9, 3)


def test_codes_take_as_few_bytes_as_they_can() -> None:
    assert smallest_codes([0, 127, -1]).dtype == np.int8
    assert smallest_codes([0, 128]).dtype == np.int16
    assert smallest_codes([]).dtype == np.int8
    assert smallest_codes([2**15]).tolist() == [2**15]


def moments_of(matrix: bs.LabelledMatrix, place: Place) -> bs.Moments:
    return bs.Moments.from_labelled(matrix, n_threads=1)


def test_a_leaf_leaves_out_samples_without_a_class() -> None:
    values, leaf = np.array([[1.0, 2.0], [5.0, 7.0], [3.0, 4.0]]), Leaf(moments_of, 2)
    found = leaf(values, [0, -1, 0], Place())
    assert found.mean.tolist() == [[2.0, 3.0], [0.0, 0.0]]
    assert found.count.tolist() == [2, 0]
    assert leaf(values, [-1, -1, -1], Place()) is None
    assert leaf(np.empty((0, 2)), [], Place()) is None


def test_a_leaf_names_the_block_and_the_place_in_the_whole_table() -> None:
    values = np.array([[1.0, np.inf], [5.0, 7.0]])
    with pytest.raises(bs.DataError, match="samples 1,000 to 1,001") as raised:
        Leaf(moments_of, 2)(values, [0, 1], Place(1000, 50, (4, 2), "cells.zarr"))
    text = str(raised.value)
    assert text.startswith("Block 4, 2 of cells.zarr (samples 1,000 to 1,001, features 50 to 51): ")
    assert "sample 1000, feature column 51" in text
    with pytest.raises(bs.LabelError, match="holds 2 samples, but there are 3 labels"):
        Leaf(moments_of, 2)(values, [0, 1, 1], Place())
