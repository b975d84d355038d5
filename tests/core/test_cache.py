"""Caches bounded in bytes, alone and of one memory."""

from __future__ import annotations

from vitexplorer.core.cache import BytesCache, Memory


def test_the_cache_lets_go_of_what_was_not_used_for_longest() -> None:
    cache: BytesCache[str, int] = BytesCache(10, lambda size: size)
    cache.put("a", 4)
    cache.put("b", 4)
    assert cache.get("a") == 4
    cache.put("c", 4)
    assert cache.get("b") is None
    assert (cache.get("a"), cache.get("c"), cache.nbytes) == (4, 4, 8)


def test_the_cache_keeps_the_newest_however_large() -> None:
    cache: BytesCache[str, int] = BytesCache(10, lambda size: size)
    cache.put("a", 4)
    cache.put("b", 400)
    assert (cache.get("a"), cache.get("b")) == (None, 400)


def test_a_dropped_value_makes_room() -> None:
    cache: BytesCache[str, int] = BytesCache(10, lambda size: size)
    cache.put("a", 4)
    cache.put("b", 3)
    cache.drop("a")
    cache.drop("a")
    assert (cache.get("a"), cache.get("b"), cache.nbytes, len(cache)) == (None, 3, 3, 1)


def test_caches_of_one_memory_make_room_for_each_other() -> None:
    memory = Memory(10)
    texts: BytesCache[str, str] = BytesCache(memory, len)
    sizes: BytesCache[str, int] = BytesCache(memory, lambda size: size)
    texts.put("same key", "abcd")
    sizes.put("same key", 4)
    assert (texts.get("same key"), sizes.get("same key"), memory.nbytes) == ("abcd", 4, 8)
    sizes.put("same key", 5)
    texts.put("new", "ab")  # "abcd" was used before sizes' value was written anew
    assert (texts.get("same key"), sizes.get("same key"), memory.nbytes) == (None, 5, 7)
    assert [(len(cache), cache.nbytes) for cache in (texts, sizes)] == [(1, 2), (1, 5)]


def test_what_is_claimed_counts_until_it_is_let_go() -> None:
    memory = Memory(10)
    cache: BytesCache[str, int] = BytesCache(memory, lambda size: size)
    cache.put("a", 4)
    cache.put("b", 4)
    with memory.claimed(6):
        assert (cache.get("a"), cache.get("b"), memory.nbytes) == (None, 4, 10)
    assert memory.nbytes == 4
