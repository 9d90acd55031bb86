"""A coding agent's transcript becomes traces: each line once, whatever becomes of the file; only the user's own words
are taken for his."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooking import line
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.messages import Trace
from looseleaf.base.origins import NOTED, is_own
from looseleaf.facts import gate
from looseleaf.integrations import hook_session as sitting_module
from looseleaf.integrations import transcript as transcript_module
from looseleaf.integrations.hook_session import HookSession
from looseleaf.integrations.transcript import AT_ONCE, AgentTranscript, FileOffset, NoTranscript
from looseleaf.transfer.formats.agent_lines import UNREAD

NOW = time.time() - 5000


# --- the file --------------------------------------------------------------------------


def test_only_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    real = tmp_path / "real.jsonl"
    real.write_text("{}\n")
    (tmp_path / "link.jsonl").symlink_to(real)
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "notes.txt").write_text("{}\n")
    names = ("link.jsonl", "folder.jsonl", "pipe.jsonl", "notes.txt", "a\0b.jsonl")
    for path in (*(str(tmp_path / name) for name in names), "relative.jsonl", "/dev/zero"):
        with pytest.raises(Refused, match="transcript was not read"):
            AgentTranscript(path)
    with pytest.raises(NoTranscript):
        AgentTranscript(str(tmp_path / "none.jsonl"))
    with AgentTranscript(str(real)) as transcript:
        assert transcript.read(None)[0] == []


def test_a_line_counts_when_it_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    data = json.dumps(line("user", "hello", "u-1", NOW)).encode() + b"\n"
    for cut in (0, 1, len(data) - 1):
        path.write_bytes(data[:cut])
        with AgentTranscript(str(path)) as transcript:
            found, spot, is_all = transcript.read(None)
        assert (found, spot.offset, is_all) == ([], 0, True)
    path.write_bytes(data)
    with AgentTranscript(str(path)) as transcript:
        assert transcript.is_at(spot)
        found, spot, is_all = transcript.read(spot)
        assert [each.key for each in found] == [found[0].key]
        assert found[0].key.startswith("u-1-")
        assert spot.offset == len(data)
        assert transcript.is_at(spot)
    other = data.replace(b"hello", b"jello")
    with path.open("r+b") as file:
        file.write(other)
    with AgentTranscript(str(path)) as transcript:
        assert not transcript.is_at(spot)
        assert not transcript.is_at(None)


@pytest.mark.parametrize(
    ("longest", "keys"), [(2000, ["u-0", "long", "u-2", "u-3"]), (9000, ["u-0", "u-1", "u-2", "u-3"])]
)
def test_much_is_read_in_several_goes_and_a_line_that_is_too_long_leaves_a_note(
    longest: int, keys: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too long for any event, that is: one that is longer than a prompt's hook reads at once is read whole."""
    monkeypatch.setattr(transcript_module, "AT_ONCE", longest)
    path = tmp_path / "t.jsonl"
    texts = ["one", "x" * 5000, "two", "three"]
    lines = [json.dumps(line("user", text, f"u-{at}", NOW + at)) + "\n" for at, text in enumerate(texts)]
    path.write_text("".join(lines))
    spot, goes = None, 0
    seen: list[Any] = []
    is_all = False
    while not is_all:
        with AgentTranscript(str(path), at_once=1000) as transcript:
            assert spot is None or transcript.is_at(spot)
            found, spot, is_all = transcript.read(spot)
            seen += found
            goes += 1
    assert [each.key.startswith(key) for each, key in zip(seen, keys, strict=True)] == [True] * 4
    assert (seen[1].asked == ({"tool_result": UNREAD, "tool_name": NOTED},)) == (longest == 2000)
    assert goes > 2
    path.write_text("x" * 5000)  # it has not ended
    with AgentTranscript(str(path), at_once=1000) as transcript:
        assert transcript.read(None)[1:] == (FileOffset(transcript.file, 0, 0, 0), True)


# --- followed --------------------------------------------------------------------------


class Followed:
    """A memory that follows a transcript, and what must be in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "t.jsonl"
        self.path.touch()
        self.number = 0
        self.is_cut = self.is_forgotten = self.is_heard = False
        self.lines: list[dict[str, Any]] = []
        self.expected: Counter[tuple[str, str]] = Counter()
        self.unwritten: list[dict[str, Any]] = []
        Memory(folder / "memory").close()

    def line(self, kind: str, content: Any) -> dict[str, Any]:
        self.number += 1
        time.sleep(0.002)  # a line before a hook is older than what that records, and one after it is not
        return line(kind, content, f"u-{self.number}", time.time())

    def write(self, *lines: dict[str, Any]) -> None:
        self.lines += lines
        with self.path.open("a") as file:
            file.writelines(json.dumps(each) + "\n" for each in lines)

    def flush(self) -> None:
        held, self.unwritten = self.unwritten, []
        self.write(*held)

    def hook(self, *, prompt: str = "", answer: str = "", session: str = "s", at_once: int = AT_ONCE) -> None:
        with Memory(self.folder / "memory", session=session) as memory, memory.parts.context.store.lock():
            sitting = HookSession(memory, session)
            sitting.catch_up(str(self.path), at_once)
            if prompt:
                sitting.add_prompt(prompt)
            if answer:
                sitting.add_answer(answer)
            sitting.save()

    # --- what may happen

    def little(self) -> None:
        """A hook that has no time for all of it."""
        self.hook(at_once=700)

    def ask(self, text: str, *, hooked: bool, first: bool) -> None:
        """Once a hook has handed over a prompt, what none hands over is a program's: `text` is not the user's."""
        self.flush()
        self.is_heard |= hooked
        text = text if hooked or not self.is_heard else f"By the way: {text}"
        made = self.line("user", text)
        self.expected["user" if hooked or not self.is_heard else "tool_result", text] += 1
        if first:
            self.write(made)
        if hooked:
            self.hook(prompt=text)
        if not first:
            self.write(made)

    def answer(self, text: str, *, hooked: bool, late: bool) -> None:
        made = self.line("assistant", [{"type": "text", "text": text}])
        self.expected["assistant", text] += 1
        if late:
            self.unwritten.append(made)
        else:
            self.flush()
            self.write(made)
        if hooked:
            self.hook(answer=text)

    def use(self, name: str) -> None:
        self.flush()
        call = f"call-{len(self.lines)}"
        self.write(self.line("assistant", [{"type": "tool_use", "id": call, "name": name, "input": {}}]))
        self.write(
            self.line("user", [{"type": "tool_result", "tool_use_id": call, "content": f"result of {call}"}])
        )
        self.expected["tool_call", call] += 1
        self.expected["tool_result", f"result of {call}"] += 1

    def double(self, at: int) -> None:
        """A line comes once more, as when a session is resumed."""
        if self.lines:
            with self.path.open("a") as file:
                file.write(json.dumps(self.lines[at % len(self.lines)]) + "\n")

    def cut(self, at: int) -> None:
        """The hook is called while a line is being written."""
        data = json.dumps(self.line("assistant", [{"type": "thinking", "thinking": "Hm."}])).encode() + b"\n"
        with self.path.open("ab") as file:
            file.write(data[: at % len(data)])
        self.hook()
        with self.path.open("ab") as file:
            file.write(data[at % len(data) :])

    def rewrite(self, at: int) -> None:
        """Another file in its place, without its beginning, which was recorded."""
        self.hook()
        kept = self.lines if self.is_forgotten else self.lines[at % (len(self.lines) + 1) :]
        self.is_cut |= len(kept) < len(self.lines)
        new = self.path.with_suffix(".new")
        new.write_text("".join(json.dumps(each) + "\n" for each in kept))
        new.replace(self.path)
        self.lines = kept or self.lines

    def forget(self) -> None:
        """Of both, the view and the beginning of the file, one is there."""
        if not self.is_cut:
            self.is_forgotten = True
            shutil.rmtree(self.folder / "memory/views", ignore_errors=True)

    def recorded(self) -> Counter[tuple[str, str]]:
        with Memory(self.folder / "memory") as memory:
            traces = [
                Trace.from_record(each.record) for each in memory.parts.context.store.read("traces/main")
            ]
        found = [trace for trace in traces if trace is not None]
        return Counter(
            (each.trace_type, each.content or str(each.tool_result or each.tool_call_id)) for each in found
        )


WORDS = st.sampled_from(["yes", "go on", "done", "I live in Lyon.", "two\n\nparts  of it"])
STEPS = st.one_of(
    st.tuples(st.just("ask"), WORDS, st.booleans(), st.booleans()),
    st.tuples(st.just("answer"), WORDS, st.booleans(), st.booleans()),
    st.tuples(st.just("use"), st.sampled_from(["Bash", "mcp__looseleaf__recall"])),
    st.tuples(st.sampled_from(["double", "cut", "rewrite"]), st.integers(0, 1000)),
    st.tuples(st.sampled_from(["forget", "hook", "little"])),
)


@given(st.lists(STEPS, max_size=14))
def test_whatever_becomes_of_a_transcript_nothing_is_lost_or_recorded_twice(
    steps: list[tuple[Any, ...]],
) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        followed = Followed(Path(folder))
        for name, *rest in steps:
            act = getattr(followed, name)
            if name == "ask":
                act(rest[0], hooked=rest[1], first=rest[2])
            elif name == "answer":
                act(rest[0], hooked=rest[1], late=rest[2])
            else:
                act(*rest)
        followed.flush()
        followed.hook()
        followed.hook()
        assert followed.recorded() == followed.expected


@pytest.fixture
def followed(place: Path) -> Followed:
    return Followed(place)


def traces(followed: Followed) -> list[Trace]:
    with Memory(followed.folder / "memory") as memory:
        found = [Trace.from_record(each.record) for each in memory.parts.context.store.read("traces/main")]
    return [trace for trace in found if trace is not None]


def test_a_copy_of_a_transcript_for_another_session_is_not_recorded_again(followed: Followed) -> None:
    followed.ask("I live in Lyon.", hooked=False, first=True)
    followed.answer("Good.", hooked=True, late=False)
    before = followed.recorded()
    followed.hook(session="forked")
    assert followed.recorded() == before
    followed.ask("And I work in Paris.", hooked=False, first=True)
    followed.hook(session="forked")
    assert [(each.content, each.session_id) for each in traces(followed)][-1] == (
        "And I work in Paris.",
        "forked",
    )


def test_an_answer_that_was_handed_over_whole_is_known_by_its_parts(followed: Followed) -> None:
    followed.ask("Do it.", hooked=True, first=False)
    followed.hook(answer="First part.\n\nSecond part.")
    for part in ("First part.", "Second part."):
        followed.write(followed.line("assistant", [{"type": "text", "text": part}]))
    followed.hook(answer="First part.\n\nSecond part.")
    assert [each.content for each in traces(followed)] == ["Do it.", "First part.\n\nSecond part."]
    followed.write(followed.line("assistant", [{"type": "text", "text": "First part."}]))
    followed.hook()
    assert [each.content for each in traces(followed)][2:] == ["First part."]


def test_late_lines_belong_to_the_turn_in_which_they_were_said(followed: Followed) -> None:
    followed.ask("One?", hooked=True, first=False)
    late = followed.line("assistant", [{"type": "text", "text": "First."}])
    followed.unwritten.append(late)
    held, followed.unwritten = followed.unwritten, []
    followed.hook(prompt="Two?")
    followed.write(*held, followed.line("user", "Two?"))
    followed.write(followed.line("assistant", [{"type": "text", "text": "Second."}]))
    followed.hook()
    assert [(each.turn_id, each.content) for each in traces(followed)] == [
        ("turn_0001", "One?"),
        ("turn_0002", "Two?"),
        ("turn_0001", "First."),
        ("turn_0002", "Second."),
    ]


def test_a_prompt_of_a_hook_that_the_transcript_repeats_is_not_recorded_again(followed: Followed) -> None:
    followed.ask("I live in Lyon.", hooked=True, first=False)
    followed.answer("Good.", hooked=True, late=True)
    followed.flush()
    followed.hook()
    for at in range(2):
        followed.double(at)
    followed.hook()
    assert followed.recorded() == followed.expected


def test_what_was_recorded_by_a_process_that_was_killed_is_not_recorded_again(followed: Followed) -> None:
    """Its traces are in the log, and the view is older."""
    view = followed.folder / "memory/views/agents/main/hooks.json"
    followed.ask("I live in Lyon.", hooked=True, first=False)
    before = view.read_bytes()
    followed.answer("Good.", hooked=True, late=False)
    followed.ask("And I like tea.", hooked=True, first=False)
    view.write_bytes(before)
    followed.hook()
    assert followed.recorded() == followed.expected
    followed.answer("Tea, then.", hooked=True, late=True)
    followed.flush()
    followed.hook()
    assert followed.recorded() == followed.expected
    assert [each.turn_id for each in traces(followed)] == [*["turn_0001"] * 2, *["turn_0002"] * 2]


def test_what_our_own_tools_answered_is_recorded_as_recalled(followed: Followed) -> None:
    assert vars(sitting_module)["RECALLED"] == vars(gate)["RECALLED"]
    assert is_own("mcp__looseleaf__recall")
    followed.use("mcp__looseleaf__recall")
    followed.hook()
    followed.use("mcp__other__recall")
    call = "late"
    followed.write(
        followed.line("assistant", [{"type": "tool_use", "id": call, "name": "mcp__looseleaf__memory_read"}])
    )
    followed.hook()
    followed.write(
        followed.line("user", [{"type": "tool_result", "tool_use_id": call, "content": "- Home: Lyon"}])
    )
    followed.hook()
    results = [each for each in traces(followed) if each.trace_type == "tool_result"]
    assert [each.tags for each in results] == [("recalled",), (), ("recalled",)]
    assert [each.origin for each in results] == ["tool"] * 3


def test_secrets_are_redacted_and_recognised_all_the_same(followed: Followed) -> None:
    secret = "Use the key sk-ant-api03-" + "aB3dE5fG7hJ9kL1m" * 5 + " for it."
    followed.hook(prompt=secret)
    followed.write(followed.line("user", secret))
    followed.hook()
    [only] = traces(followed)
    assert "aB3dE5fG7hJ9kL1m" not in only.content
    assert "redacted" in only.content


def test_a_line_that_cannot_be_recorded_does_not_keep_others_from_it(followed: Followed) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    followed.ask("Go.", hooked=True, first=False)
    followed.write(
        followed.line("assistant", [{"type": "tool_use", "id": "t", "name": "Deep", "input": deep}])
    )
    followed.write(followed.line("assistant", [{"type": "text", "text": "Done."}]))
    followed.hook()
    assert [each.content for each in traces(followed)] == ["Go.", "Done."]
    followed.hook()
    assert len(traces(followed)) == 2


def test_the_view_knows_the_last_sessions_only_and_long_texts_by_their_checksum(followed: Followed) -> None:
    long = "word " * 5000
    for number in range(70):
        followed.hook(prompt=f"{number} {long}", session=f"s-{number}")
    view = json.loads((followed.folder / "memory/views/agents/main/hooks.json").read_text())
    assert list(view["sessions"]) == [f"s-{number}" for number in range(6, 70)]
    assert all(len(each["waiting"][0][1]) < 100 for each in view["sessions"].values())
    followed.write(followed.line("user", f"3 {long}"))
    before = len(traces(followed))
    followed.hook(session="s-3")
    assert len(traces(followed)) == before


@pytest.mark.parametrize(
    "view", [b"", b"{}", b' {"schema":"hooks.v1","sessions":[],"distilled":null}', b"\xff" * 99]
)
def test_a_view_that_is_no_good_is_made_again(view: bytes, followed: Followed) -> None:
    followed.ask("I live in Lyon.", hooked=True, first=False)
    followed.answer("Good.", hooked=True, late=False)
    (followed.folder / "memory/views/agents/main/hooks.json").write_bytes(view)
    followed.hook()
    assert followed.recorded() == followed.expected
