"""Symmetries of a board game: the same position seen another way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.arrays import Int32

__all__ = ["Symmetry", "mirrored_columns", "of_square"]


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Every position of a game of perfect information has an image, which is played alike and has the same value.

    features: int32[F], the image's feature k is the position's feature features[k].
    actions: int32[A], the image's action a is the position's action actions[a].
    """

    features: Int32
    actions: Int32


def of_square(size: int, planes: int, others: int = 0, cell_free: int = 0) -> tuple[Symmetry, ...]:
    """The eight of a square board, the identity first.

    planes: of size x size features each, before `others` that every image shares.  cell_free: actions after those of
    the cells that are their own images, such as a pass.
    """
    board = np.arange(size * size, dtype=np.int32).reshape(size, size)
    turned = [np.rot90(side, k).ravel() for side in (board, board[:, ::-1]) for k in range(4)]
    return tuple(
        Symmetry(_in_planes(cells, planes, others), _followed(cells, len(cells), cell_free)) for cells in turned
    )


def mirrored_columns(height: int, width: int, planes: int) -> tuple[Symmetry, ...]:
    """The identity and left for right, of a board whose actions are its columns."""
    board = np.arange(height * width, dtype=np.int32).reshape(height, width)
    columns = np.arange(width, dtype=np.int32)
    pairs = (board, columns), (board[:, ::-1], np.ascontiguousarray(columns[::-1]))
    return tuple(Symmetry(_in_planes(cells.ravel(), planes, 0), actions) for cells, actions in pairs)


def _in_planes(cells: Int32, planes: int, others: int) -> Int32:
    """A permutation of cells in each plane, then `others` that stay where they are."""
    starts = np.arange(planes, dtype=np.int32)[:, None] * len(cells)
    inside = (starts + cells).ravel()
    return _followed(inside, len(inside), others)


def _followed(numbers: Int32, start: int, count: int) -> Int32:
    """The numbers, then start, start + 1, ..."""
    return np.concatenate([numbers, np.arange(start, start + count, dtype=np.int32)])
