"""Tombstones: what was forgotten is known again, and cannot be read."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from looseleaf import Memory
from looseleaf.facts.known_facts import FILE, TOMBSTONES_SCHEMA, Tombstones, fact_text, tombstone_hash
from looseleaf.store import TOMBSTONES

KEY = bytes(range(32))


def bury(memory: Memory, *what: tuple[str, str], ts: float = 1.0) -> None:
    document = memory.parts.context.store.get("log/key")
    if document is None:
        memory.parts.context.store.put("log/key", KEY, base=None)
    hashes = [tombstone_hash(KEY, kind, text) for kind, text in what]
    record = {"schema": TOMBSTONES_SCHEMA, "id": "x", "ts": ts, "kind": "forgotten", "hashes": hashes}
    memory.parts.context.store.append(TOMBSTONES, [record])


def test_a_memory_that_never_forgot_holds_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        stones = Tombstones(memory.parts.context.store)
        assert not stones.holds("item", "anything")
        assert not stones.are_there


def test_what_was_forgotten_is_held_by_its_kind_and_since_when(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        stones = Tombstones(memory.parts.context.store)
        assert not stones.holds("session", "one")
        bury(memory, ("session", "one"), ("text", "all of it\n"), ts=5.0)
        assert stones.holds("session", "one")
        assert stones.holds("text", "all of it")
        assert not stones.holds("item", "one")
        assert not stones.holds("session", "two")
        bury(memory, ("session", "one"), ts=9.0)
        assert stones.since("session", "one") == 9.0
        assert stones.since("text", "all of it") == 5.0
        assert stones.are_there


def test_another_process_knows_what_was_forgotten_meanwhile(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory, Memory(tmp_path / "m") as other:
        stones = Tombstones(other.parts.context.store)
        assert not stones.holds("item", "chat/1")
        bury(memory, ("item", "chat/1"))
        assert stones.holds("item", "chat/1")


def test_a_fact_is_known_in_other_words_for_the_same_slot_and_value() -> None:
    assert fact_text("user", "Home", "Paris") == fact_text("user", "home", "paris")
    assert fact_text("user", "Home", "Paris") != fact_text("user", "Home", "Rome")
    assert fact_text("user", "Home", "Paris") != fact_text("kitchen", "Home", "Paris")


def test_no_word_of_what_was_forgotten_is_in_the_file(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        bury(memory, ("text", "the canary sings"))
    assert b"canary" not in (tmp_path / "m" / FILE).read_bytes()


@given(st.text(), st.text(), st.sampled_from(["item", "text", "fact", "session"]))
def test_two_texts_have_one_hash_only_if_they_are_one(one: str, other: str, kind: str) -> None:
    import unicodedata

    def words(text: str) -> str:
        return unicodedata.normalize("NFC", text).strip()

    same = tombstone_hash(KEY, kind, one) == tombstone_hash(KEY, kind, other)
    assert same == (words(one) == words(other))
    assert tombstone_hash(KEY, kind, one) != tombstone_hash(bytes(32), kind, one)
