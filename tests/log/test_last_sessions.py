"""The last sessions, from the view and what was said since, are those that reading the whole log tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory
from looseleaf.base.messages import Session, Trace
from looseleaf.log import last_sessions
from looseleaf.log.last_sessions import LastSessions
from looseleaf.store.files import FileStore
from looseleaf.store.records import encode_own, whole
from tables import check_rows

VIEW = "views/agents/main/sessions.json"
STREAM = "traces/main"


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view is written after each trace."""
    monkeypatch.setattr(last_sessions, "_SAVE_EVERY", 1)


def told(folder: Path | str, count: int = 20) -> list[Session]:
    """As a new process tells them."""
    with FileStore(folder) as store:
        return LastSessions(store, "main", STREAM)(count)


def slowly(folder: Path | str, count: int = 20) -> list[Session]:
    """As each line says it, in the plainest way. Sessions without their first line stand before all others."""
    with FileStore(folder) as store:
        traces = [
            trace for line in store.read(STREAM) if (trace := Trace.from_record(line.record)) is not None
        ]
    begun = list(dict.fromkeys(trace.session_id for trace in traces if trace.session_start))
    others = [name for name in dict.fromkeys(trace.session_id for trace in traces[::-1]) if name not in begun]
    found = []
    for name in (*others[::-1], *begun):
        own = [trace for trace in traces if trace.session_id == name]
        turns = len({trace.turn_id for trace in own})
        opening = " ".join(own[0].content.split())[:80]
        found.append(Session(name, own[0].ts, own[-1].ts, turns, len(own), opening))
    return found[-count:]


STEPS = st.lists(st.tuples(st.sampled_from("abcdefg"), st.integers(0, 3), st.integers(1, 8)), max_size=25)


@settings(max_examples=few(40), deadline=None)
@given(steps=STEPS)
def test_the_last_sessions_are_those_of_the_whole_log(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    path = tmp_path_factory.mktemp("memory") / "m"
    memories = {name: Memory(path, session=name) for name in "abcdefg"}
    for number, (name, kind, count) in enumerate(steps):
        asked: list[dict[str, Any]] = [
            {"user": f"  message\n{number}"},
            {"assistant": "yes"},
            {"tool_call": "look", "tool_args": {"at": number}, "tool_call_id": f"c{number // 3}"},
            {"tool_result": "seen", "tool_call_id": f"c{number // 3}"},
        ]
        memories[name].record(**asked[kind])
        assert told(path, count) == memories["a"].talk.sessions(count) == slowly(path, count)
    for memory in memories.values():
        memory.close()


def fill(memory: Memory, sessions: int, begin: int = 0) -> None:
    recorder = memory.parts.conversation.recorder
    for number in range(begin, begin + sessions):
        recorder.session = f"session_{number}"
        memory.record(user=f"Message {number}.")
        memory.record(assistant="Yes.")


def test_a_view_that_reaches_back_too_little_is_made_again(place: Path) -> None:
    with Memory(place / "m") as memory:
        fill(memory, 30)
        assert memory.talk.sessions(3) == slowly(memory.path, 3)
        assert memory.talk.sessions(25) == slowly(memory.path, 25)
        assert memory.talk.sessions(300) == slowly(memory.path, 300)
        assert told(memory.path, 25) == slowly(memory.path, 25)


def test_a_view_that_is_ruined_or_of_another_log_is_made_again(place: Path) -> None:
    with Memory(place / "m") as memory, Memory(place / "other") as other:
        fill(memory, 5)
        fill(other, 9)
        assert len(other.talk.sessions()) == 9
        assert len(memory.talk.sessions()) == 5
        view = Path(memory.path, VIEW)
        kept = view.read_bytes()
        raw = whole(kept)

        def check(ruined: bytes | Callable[[Path], object]) -> None:
            view.write_bytes(kept)
            view.write_bytes(ruined) if isinstance(ruined, bytes) else ruined(view)
            assert told(memory.path) == slowly(memory.path)
            assert told(memory.path) == slowly(memory.path)

        members: tuple[dict[str, Any], ...] = (
            {"schema": "sessions.v2"},
            {"position": [1, 7]},
            {"position": [9, 0]},
            {"position": None},
            {"last": "another"},
            {"told": []},
            {"told": {"session_1": ["soon", 1.0, [], 1, ""]}},
            {"told": {"session_1": [1.0, 1.0, [], 1]}},
            {"begun": ["nobody"]},
            {"begun": 5},
        )
        check_rows(
            check,
            [
                b"",
                b"{}",
                kept[:-30],
                kept.replace(b"Message 3", b"Massage 3"),
                json.dumps(raw).encode(),  # without its checksum
                Path(other.path, VIEW).read_bytes(),
                lambda path: path.unlink(),
                *(encode_own(raw | member) for member in members),
            ],
        )


def test_what_another_process_said_is_told_and_what_was_forgotten_is_not(place: Path) -> None:
    with Memory(place / "m") as memory, Memory(place / "m") as other:
        fill(memory, 4)
        assert len(memory.talk.sessions()) == 4
        fill(other, 2, begin=4)
        assert memory.talk.sessions() == slowly(memory.path)
        other.forget(session="session_2")
        assert memory.talk.sessions() == told(memory.path) == slowly(memory.path)
        assert "session_2" not in {each.session_id for each in memory.talk.sessions()}
        other.forget(match="Message 3")
        assert memory.talk.sessions() == told(memory.path) == slowly(memory.path)
        assert not any("3" in each.opening for each in memory.talk.sessions())
        assert b"Message 3" not in Path(memory.path, VIEW).read_bytes()


def test_a_view_is_not_written_of_what_was_forgotten_meanwhile(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(place / "m") as memory, Memory(place / "m") as other:
        fill(memory, 3)
        real = LastSessions._save

        def forget_first(self: LastSessions, found: last_sessions.Sessions) -> None:
            other.forget(match="Message 1")
            real(self, found)

        with monkeypatch.context() as patch:
            patch.setattr(LastSessions, "_save", forget_first)
            memory.talk.sessions()
        assert not Path(memory.path, VIEW).exists()
        assert memory.talk.sessions() == slowly(memory.path)


def test_reading_them_again_reads_no_more_than_was_said_since(place: Path) -> None:
    class Counting(FileStore):
        lines = 0

        def read(self, *asked: Any, **more: Any) -> Any:
            for line in super().read(*asked, **more):
                self.lines += 1
                yield line

        def read_back(self, *asked: Any, **more: Any) -> Any:
            for line in super().read_back(*asked, **more):
                self.lines += 1
                yield line

    with Memory(place / "m") as memory, Counting(place / "m") as store:
        fill(memory, 40)
        last = LastSessions(store, "main", STREAM)
        last(20)
        store.lines = 0
        last(20)
        assert store.lines == 1
        LastSessions(store, "main", STREAM)(20)
        assert store.lines == 2
