"""Whole numbers and bits among bytes, as the kernels of packing.py write and read them: low byte and low bit first.

A field begins at the byte `at`. Writing returns where the next field begins; reading trusts no length and answers 0 or
False where the bytes end before.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Array
from sog.searches.kernels.jit import inlined

__all__ = ["clear", "get", "is_set", "put", "set_bit"]


@inlined
def put(out: Array, at: int, number: int, size: int) -> int:
    """Write a whole number of `size` bytes; where the next field begins."""
    for k in range(size):
        out[at + k] = (number >> (8 * k)) & 255
    return at + size


@inlined
def get(content: Array, at: int, size: int) -> int:
    """A whole number of `size` bytes; 0 where the bytes end before."""
    number = 0
    if at + size <= len(content):
        for k in range(size):
            number |= int(np.int64(content[at + k])) << (8 * k)
    return number


@inlined
def clear(out: Array, at: int, bits: int) -> int:
    """Room for this many bits, all 0; where the next field begins."""
    size = (bits + 7) // 8
    for k in range(size):
        out[at + k] = 0
    return at + size


@inlined
def set_bit(out: Array, at: int, bit: int) -> None:
    """Make a bit 1 in room that `clear` made."""
    out[at + (bit >> 3)] |= 1 << (bit & 7)


@inlined
def is_set(content: Array, at: int, bit: int) -> bool:
    """A bit; False where the bytes end before."""
    place = at + (bit >> 3)
    return place < len(content) and int(np.int64(content[place])) >> (bit & 7) & 1 == 1
