"""The partition cache: both bounds hold, and the least recently used goes first."""

from models.documents.cache import PartitionCache
from models.domain.rules.tiers import Partition, partition_blocks


def make_partition(name: str) -> Partition:
    return partition_blocks([], count_tokens=len, tokenizer_id=name)


def test_a_kept_partition_is_returned_and_an_unknown_key_is_none() -> None:
    cache = PartitionCache(max_documents=2, max_characters=100)
    kept = make_partition("a")
    cache.put("a", kept, characters=1)
    assert cache.get("a") is kept
    assert cache.get("b") is None


def test_the_least_recently_used_document_goes_first() -> None:
    cache = PartitionCache(max_documents=2, max_characters=100)
    for key in "ab":
        cache.put(key, make_partition(key), characters=1)
    cache.get("a")
    cache.put("c", make_partition("c"), characters=1)
    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]
    assert len(cache) == 2


def test_the_text_kept_never_exceeds_its_bound() -> None:
    cache = PartitionCache(max_documents=9, max_characters=10)
    cache.put("a", make_partition("a"), characters=4)
    cache.put("b", make_partition("b"), characters=6)
    assert len(cache) == 2
    cache.put("c", make_partition("c"), characters=7)
    assert [cache.get(key) is not None for key in "abc"] == [False, False, True]


def test_a_document_larger_than_the_cache_is_not_kept_and_evicts_nothing() -> None:
    cache = PartitionCache(max_documents=9, max_characters=10)
    cache.put("a", make_partition("a"), characters=10)
    cache.put("b", make_partition("b"), characters=11)
    assert cache.get("a") is not None
    assert cache.get("b") is None


def test_putting_a_key_again_replaces_it_and_counts_it_once() -> None:
    cache = PartitionCache(max_documents=9, max_characters=10)
    newer = make_partition("newer")
    cache.put("a", make_partition("a"), characters=6)
    cache.put("a", newer, characters=5)
    cache.put("b", make_partition("b"), characters=5)
    assert cache.get("a") is newer
    assert len(cache) == 2
