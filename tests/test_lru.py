"""The cache of limited size beside a plain list of uses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.lru import LruCache

USES = st.lists(st.tuples(st.sampled_from("rwd"), st.integers(0, 5), st.integers(1, 5)), max_size=60)


@given(st.integers(1, 12), USES)
def test_those_used_last_are_held(most: int, uses: list[tuple[str, int, int]]) -> None:
    cache, held = LruCache[int, int](most, lambda value: value), list[tuple[int, int]]()
    for what, key, value in uses:
        there = dict(held)
        if what == "w":
            held = [one for one in held if one[0] != key] + [(key, value)]
            while len(held) > 1 and sum(size for _, size in held) > most:
                held.pop(0)
            cache[key] = value
        elif key not in there:
            with pytest.raises(KeyError):
                cache.drop(key) if what == "d" else cache[key]
        elif what == "r":
            held = [one for one in held if one[0] != key] + [(key, there[key])]
            assert cache[key] == there[key]
        else:
            held = [one for one in held if one[0] != key]
            cache.drop(key)
        assert list(zip(cache, cache.values(), strict=True)) == held and len(cache) == len(held)
        assert cache.held == sum(size for _, size in held) and all(key in cache for key, _ in held)


def test_by_default_entries_are_counted() -> None:
    cache: LruCache[str, None] = LruCache(2)
    for key in "abc":
        cache[key] = None
    assert list(cache) == ["b", "c"]
