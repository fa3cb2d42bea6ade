"""A dictionary of limited size, which drops the entry that was unused for longest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

__all__ = ["LruCache"]

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Entries whose sizes sum to `most`, those used last; the newest is kept whatever its size.

    Reading or writing an entry by its key uses it; `in` and iterating do not.
    """

    def __init__(self, most: int, size: Callable[[V], int] = lambda value: 1) -> None:
        """size: of a value, in the unit of `most`; by default the entries are counted."""
        self.most, self._size = most, size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self.held = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        """Keys, those used last at the end."""
        return iter(self._entries)

    def values(self) -> Iterator[V]:
        """What is held, in the order of the keys."""
        return iter(self._entries.values())

    def __getitem__(self, key: K) -> V:
        self._entries.move_to_end(key)
        return self._entries[key]

    def __setitem__(self, key: K, value: V) -> None:
        if key in self._entries:
            self.drop(key)
        self._entries[key] = value
        self.held += self._size(value)
        while self.held > self.most and len(self._entries) > 1:
            self.drop(next(iter(self._entries)))

    def drop(self, key: K) -> None:
        """Forget an entry; KeyError for an unknown key."""
        self.held -= self._size(self._entries.pop(key))
