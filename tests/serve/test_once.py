"""Marks in records: a request that comes again finds what it wrote, whoever forgot that it was there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.serve import once as once_module
from looseleaf.serve.once import GoneSince, KeyUsed, Once, mark_of, marked
from looseleaf.store.streams import REQUEST_KEY, REQUEST_SECONDS

if TYPE_CHECKING:
    from looseleaf.base.values import Record

MARK = mark_of("codex", "key", b"asked")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    init(str(tmp_path / "memory"))
    with Memory(tmp_path / "memory") as memory:
        yield memory


class Writer:
    """Records a message, and counts how often it was carried out, or only found."""

    def __init__(self, memory: Memory, text: str = "I live in Lyon.") -> None:
        self._memory = memory
        self._text = text
        self.acts = self.finds = 0

    def act(self) -> str:
        self.acts += 1
        return self._memory.record(user=self._text).id

    def again(self, found: list[Record]) -> str:
        self.finds += 1
        return next(str(record["id"]) for record in found if "trace_type" in record)


def marks_in(memory: Memory) -> list[Any]:
    store = memory.parts.context.store
    lines = [line.record for stream in store.streams() for line in store.read(stream)]
    return [record["request"] for record in lines if "request" in record]


def test_a_request_is_carried_out_once_and_answered_the_same(memory: Memory) -> None:
    once, writer = Once(), Writer(memory)
    first = once(memory, MARK, writer.act, writer.again)
    assert once(memory, MARK, writer.act, writer.again) == first
    assert (writer.acts, writer.finds) == (1, 0)
    assert set(marks_in(memory)) == {MARK}


def test_another_process_finds_it_in_the_record(memory: Memory) -> None:
    writer = Writer(memory)
    with marked(MARK):
        written = writer.act()
    memory.record(assistant="Noted.")
    assert Once()(memory, MARK, writer.act, writer.again) == written
    assert (writer.acts, writer.finds) == (1, 1)


def test_a_once_sees_what_was_written_after_it_first_looked(memory: Memory) -> None:
    once, writer, other = Once(), Writer(memory), mark_of("codex", "other", b"")
    once(memory, other, writer.act, writer.again)
    with marked(MARK):
        written = writer.act()
    assert once(memory, MARK, writer.act, writer.again) == written
    assert writer.acts == 2


def test_the_same_key_with_another_request_is_refused(memory: Memory) -> None:
    writer = Writer(memory)
    other = mark_of("codex", "key", b"something else")
    once = Once()
    once(memory, MARK, writer.act, writer.again)
    for each in (once, Once()):
        with pytest.raises(KeyUsed):
            each(memory, other, writer.act, writer.again)
    assert writer.acts == 1
    Once()(memory, mark_of("another", "key", b"something else"), writer.act, writer.again)
    assert writer.acts == 2, "keys are each asker's own"


def test_what_is_written_later_has_no_mark(memory: Memory) -> None:
    Once()(memory, MARK, lambda: memory.record(user="One.").id, lambda _: "")
    memory.record(assistant="Two.")
    with pytest.raises(RuntimeError), marked(MARK):
        raise RuntimeError
    memory.record(user="Three.")
    records = [line.record for line in memory.parts.context.store.read("traces/main")]
    assert {record.get("content"): "request" in record for record in records} == {
        "One.": True,
        "Two.": False,
        "Three.": False,
    }


def test_an_act_that_is_refused_may_be_tried_again(memory: Memory) -> None:
    once, writer = Once(), Writer(memory)

    def fail() -> str:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - it is ours
        once(memory, MARK, fail, writer.again)
    once(memory, MARK, writer.act, writer.again)
    assert writer.acts == 1


def test_after_a_forget_nothing_is_written_twice_and_nothing_forgotten_is_said(memory: Memory) -> None:
    once, writer = Once(), Writer(memory, "I work at Northwind.")
    once(memory, MARK, lambda: (writer.act(), "Northwind"), writer.again)
    memory.forget(match="Northwind")
    for each in (once, Once()):
        with pytest.raises(GoneSince):
            each(memory, MARK, writer.act, writer.again)
    assert writer.acts == 1


def test_what_wrote_nothing_may_be_asked_again_after_a_forget(memory: Memory) -> None:
    once, writer = Once(), Writer(memory, "I work at Northwind.")
    assert once(memory, MARK, lambda: "nothing to do", writer.again) == "nothing to do"
    writer.act()
    memory.forget(match="Northwind")
    assert once(memory, MARK, lambda: "nothing to do", writer.again) == "nothing to do"


def test_a_memory_in_the_place_of_another_knows_none_of_its_requests(place: Path) -> None:
    once = Once()
    with Memory(place / "m") as memory:
        once(memory, MARK, Writer(memory).act, lambda _: "again")
    (place / "m").rename(place / "aside")
    with Memory(place / "m") as memory:
        writer = Writer(memory)
        once(memory, MARK, writer.act, writer.again)
        assert (writer.acts, writer.finds) == (1, 0)
        assert len(list(memory.talk.turns())) == 1


def test_after_a_forget_of_something_else_it_is_found_again(memory: Memory) -> None:
    once, writer = Once(), Writer(memory)
    first = once(memory, MARK, writer.act, writer.again)
    memory.record(user="I work at Northwind.")
    memory.forget(match="Northwind")
    assert once(memory, MARK, writer.act, writer.again) == first
    assert (writer.acts, writer.finds) == (1, 1)


def test_a_key_holds_for_a_day(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    once, writer = Once(), Writer(memory)
    once(memory, MARK, writer.act, writer.again)
    once(memory, mark_of("codex", "other", b""), writer.act, writer.again)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + REQUEST_SECONDS + 60)
    once(memory, mark_of("codex", "key", b"something else"), writer.act, writer.again)
    assert writer.acts == 3
    monkeypatch.undo()


def test_answers_that_are_not_kept_are_made_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once_module, "_ANSWERS", 1)
    once, writer = Once(), Writer(memory)
    first = once(memory, MARK, writer.act, writer.again)
    once(memory, mark_of("codex", "other", b""), writer.act, writer.again)
    assert once(memory, MARK, writer.act, writer.again) == first
    assert (writer.acts, writer.finds) == (2, 1)


@given(st.text(), st.text(), st.binary(), st.text(), st.text(), st.binary())
def test_a_mark_tells_askers_keys_and_requests_apart(
    asker: str, key: str, asked: bytes, other_asker: str, other_key: str, other: bytes
) -> None:
    one, two = (
        mark_of(a.replace("\n", ""), k, b)
        for a, k, b in ((asker, key, asked), (other_asker, other_key, other))
    )
    is_same = (asker.replace("\n", ""), key) == (other_asker.replace("\n", ""), other_key)
    assert (one[:REQUEST_KEY] == two[:REQUEST_KEY]) == is_same
    assert (one[REQUEST_KEY:] == two[REQUEST_KEY:]) == (asked == other)
