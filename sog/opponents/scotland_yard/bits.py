"""Sets of stations as bits of 64-bit words, for kernels: membership, size, and the i-th station.

A set is uint64[W], W words of 64 stations; station k is bit k % 64 of word k // 64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.searches.kernels.jit import inlined

__all__ = ["add", "count", "has", "ith", "ones", "position", "remove", "without_lowest"]


@inlined
def has(words: Array, k: Any) -> Any:
    """Whether station k is in the set."""
    return (words[k >> 6] >> np.uint64(k & 63)) & np.uint64(1) != np.uint64(0)


@inlined
def add(words: Array, k: Any) -> None:
    """Put station k into the set."""
    words[k >> 6] |= np.uint64(1) << np.uint64(k & 63)


@inlined
def remove(words: Array, k: Any) -> None:
    """Take station k out of the set."""
    words[k >> 6] &= ~(np.uint64(1) << np.uint64(k & 63))


@inlined
def ones(word: Any) -> Any:
    """How many bits of a word are 1; LLVM makes one instruction of these lines."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def position(word: Any) -> Any:
    """The number of a word's lowest 1; the word is not 0."""
    low = word & (~word + np.uint64(1))
    return ones(low - np.uint64(1))


@inlined
def without_lowest(word: Any) -> Any:
    """The word without its lowest 1."""
    return word & (word - np.uint64(1))


@inlined
def count(words: Array) -> Any:
    """How many stations are in the set."""
    total = 0
    for w in range(len(words)):
        total += ones(words[w])
    return total


@inlined
def ith(words: Array, i: Any) -> Any:
    """The i-th station of the set, ascending from 0; -1 where there are fewer."""
    for w in range(len(words)):
        here = ones(words[w])
        if i < here:
            word = words[w]
            for _ in range(i):
                word = without_lowest(word)
            return 64 * w + position(word)
        i -= here
    return -1
