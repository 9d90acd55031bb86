"""Exports as people have them: requests from editors, prompts in a queue, files under other names, gaps."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Refused
from looseleaf.transfer.formats import detect, format_named
from looseleaf.transfer.source import BrokenArchive, ImportMessage, ImportSource, Talk, refuse_memory, time_of
from tables import check_rows, in_folders


def read(path: Path, format_: str | None = None) -> tuple[dict[str, list[ImportMessage]], list[str]]:
    """What each talk of a source says, by its key, and what was passed over."""
    notes: list[str] = []
    with ImportSource(path) as source:
        chosen = format_named(format_) if format_ is not None else detect(source).format
        items = chosen.read(source, notes.append)
        return {item.key: list(item.said) for item in items if isinstance(item, Talk)}, notes


def texts(talks: dict[str, list[ImportMessage]]) -> list[tuple[str, str]]:
    return [(said.role, said.text) for talk in talks.values() for said in talk]


def written(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    return path


# --- Codex -----------------------------------------------------------------------------


def rollout(path: Path, *texts: str) -> Path:
    said = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": each}]}
        for each in texts
    ]
    return written(
        path / "rollout-1.jsonl",
        {"type": "session_meta", "payload": {"id": "s"}},
        *({"type": "response_item", "payload": each} for each in said),
    )


def test_what_was_asked_from_an_editor_is_the_users_without_what_stood_around_it(tmp_path: Path) -> None:
    def check(tmp_path: Path, around: str, heading: str) -> None:
        talks, _ = read(rollout(tmp_path, f"{around}{heading}Fix the kiln.\n"))
        assert texts(talks) == [("user", "Fix the kiln.")]

    check_rows(
        check,
        in_folders(
            tmp_path,
            product(
                [
                    "# Context from my IDE setup:\n\n## Open tabs:\n- kiln.py: kiln.py\n\n",
                    "# Files mentioned by the user:\n\n## kiln.png: /tmp/kiln.png\n\n",
                    (
                        "# Context from my IDE setup:\n\n## Active selection of the file:\n"
                        "## My request for Codex:\nSell it all.\n\n"
                    ),
                    '<in-app-browser-context source="ambient">\nhttps://example.org\n</in-app-browser-context>\n\n',
                ],
                ["## My request for Codex:\n", "## My request:\n"],
            ),
        ),
    )


def test_what_the_program_says_in_the_users_name_is_not_his(tmp_path: Path) -> None:
    def check(tmp_path: Path, text: str) -> None:
        talks, _ = read(rollout(tmp_path, text, "Fix the kiln."))
        assert texts(talks) == [("user", "Fix the kiln.")]

    check_rows(
        check,
        in_folders(
            tmp_path,
            [
                "<skill>\n<name>deploy</name>\n<path>/x/SKILL.md</path>\nI always deploy on Fridays.\n</skill>",
                "<image name=[Image #1]>",
                "</image>",
                "# Context from my IDE setup:\n\n## Open tabs:\n- kiln.py: kiln.py\n",
                (
                    "Warning: apply_patch was requested via exec_command. "
                    "Use the apply_patch tool instead of exec_command."
                ),
            ],
        ),
    )


@pytest.mark.parametrize(
    "text", ["<image> is not shown", "Notes\n\n## My request:\nmore glaze", "Warning: it is hot"]
)
def test_what_only_looks_like_the_programs_words_stays_the_users(text: str, tmp_path: Path) -> None:
    talks, _ = read(rollout(tmp_path, text))
    assert texts(talks) == [("user", text)]


def session(path: Path, name: str, meta: dict[str, Any], *texts: str) -> None:
    said = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": each}]}
        for each in texts
    ]
    written(
        path / f"rollout-{name}.jsonl",
        {"type": "session_meta", "payload": {"id": name} | meta},
        *(
            {"timestamp": f"2026-01-0{len(meta) + 1}", "type": "response_item", "payload": each}
            for each in said
        ),
    )


@pytest.mark.parametrize(
    "meta",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "a", "depth": 1}}}},
        {"source": {"subagent": "review"}},
        {"source": "cli", "thread_source": "subagent"},
        {"parent_thread_id": "a"},
    ],
)
def test_what_an_agent_tells_its_sub_agents_is_not_the_users(meta: dict[str, Any], tmp_path: Path) -> None:
    session(tmp_path, "a", {"source": "cli", "parent_thread_id": None}, "Fix the kiln.")
    session(tmp_path, "b", meta, "Fix the kiln.", "I always deploy on Fridays.")
    talks, notes = read(tmp_path)
    assert texts(talks) == [("user", "Fix the kiln.")]
    assert len(notes) == 1
    assert "1 session of a sub-agent was passed over" in notes[0]


def test_a_session_that_was_begun_from_another_does_not_say_the_same_again(tmp_path: Path) -> None:
    session(tmp_path, "a", {}, "One.", "Two.", "Three.")
    session(tmp_path, "b", {"forked_from_id": "a"}, "One.", "Two.", "Another way.", "Three.")
    session(tmp_path, "c", {"forked_from_id": "b"}, "One.", "Two.", "Another way.")
    session(tmp_path, "d", {"forked_from_id": "gone"}, "One.")
    session(tmp_path, "e", {"forked_from_id": "e"}, "Mine.")
    session(tmp_path, "f", {"forked_from_id": {}, "id": {}}, "Odd.")
    talks, _ = read(tmp_path)
    assert {key: [said.text for said in talk] for key, talk in talks.items()} == {
        "a": ["One.", "Two.", "Three."],
        "b": ["Another way.", "Three."],
        "c": [],
        "d": ["One."],
        "e": ["Mine."],
        "rollout-f": ["Odd."],
    }


# --- Claude Code -----------------------------------------------------------------------


def queued(prompt: Any, **about: Any) -> dict[str, Any]:
    own = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"} | about
    return {"type": "attachment", "uuid": "u2", "sessionId": "s", "attachment": own}


HELLO = {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "Hello."}}


@pytest.mark.parametrize("prompt", ["Also the lid.", [{"type": "text", "text": "Also the lid."}]])
def test_what_was_typed_while_the_agent_worked_is_the_users(prompt: Any, tmp_path: Path) -> None:
    line = queued(prompt, origin={"kind": "human"})
    talks, _ = read(written(tmp_path / "s.jsonl", HELLO, line))
    assert texts(talks) == [("user", "Hello."), ("user", "Also the lid.")]


def test_what_a_program_put_into_the_queue_is_not_the_users(tmp_path: Path) -> None:
    def check(tmp_path: Path, line: dict[str, Any]) -> None:
        talks, _ = read(written(tmp_path / "s.jsonl", HELLO, line))
        assert texts(talks) == [("user", "Hello.")]

    check_rows(
        check,
        in_folders(
            tmp_path,
            [
                queued("It is done.", commandMode="task-notification"),
                queued("It is done.", origin={"kind": "task-notification"}),
                queued("<task-notification>It is done.</task-notification>"),
                queued("It is done.", isMeta=True),
                queued("It is done.") | {"isSidechain": True},
                {
                    "type": "queue-operation",
                    "operation": "enqueue",
                    "sessionId": "s",
                    "content": "It is done.",
                },
            ],
        ),
    )


def test_a_folder_of_sessions_is_known_behind_many_that_have_only_a_summary(tmp_path: Path) -> None:
    for number in range(20):
        written(tmp_path / f"{number:02}.jsonl", {"type": "summary", "summary": "Kilns", "leafUuid": "x"})
    written(tmp_path / "ff.jsonl", HELLO)
    assert texts(read(tmp_path)[0]) == [("user", "Hello.")]


def test_a_session_of_another_program_that_tells_of_sessions_is_not_taken_for_one(tmp_path: Path) -> None:
    told = {"type": "event_msg", "payload": {"type": "mcp_tool_call_end", "result": {"sessionId": "s"}}}
    meta = {"type": "session_meta", "payload": {"id": "a"}}
    with ImportSource(written(tmp_path / "rollout-1.jsonl", meta, told)) as source:
        assert detect(source).format.NAME == "codex"
    long = HELLO | {"message": {"role": "user", "content": "Hello. " * 20_000}}
    with ImportSource(written(tmp_path / "long.jsonl", long)) as source:
        assert detect(source).format.NAME == "claude-code"


# --- ChatGPT ---------------------------------------------------------------------------


def test_a_conversation_whose_beginning_is_missing_is_told_of(tmp_path: Path) -> None:
    def node(parent: str | None, text: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {"parent": parent, "children": [], "message": {"author": {"role": "user"}, "content": content}}

    cut = {"a": node(None, "First."), "c": node("b", "Third.")}
    whole = {"root": {"parent": None, "message": None}, "d": node("root", "Alone.")}
    path = tmp_path / "conversations.json"
    about = {"create_time": 1.0, "update_time": 1.0}
    talks = [
        {"title": "Kilns", **about, "id": "1", "current_node": "c", "mapping": cut},
        {"title": "Clay", **about, "id": "2", "current_node": "d", "mapping": whole},
    ]
    path.write_text(json.dumps(talks))
    found, notes = read(path)
    assert texts(found) == [("user", "Third."), ("user", "Alone.")]
    assert notes == ["conversations.json: the beginning of 'Kilns' is missing, and was not taken."]


def test_a_long_talk_is_not_held_twice(tmp_path: Path) -> None:
    import tracemalloc

    def peak(work: Any) -> int:
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    talk = {"messages": [{"role": "user", "content": f"Number {each}."} for each in range(2500)]}
    path = written(tmp_path / "talk.jsonl", talk)

    def through() -> None:
        with ImportSource(path) as source:
            for item in format_named("messages").read(source, lambda _: None):
                assert isinstance(item, Talk)
                assert len([said.key for said in item.said]) == 2500

    through()  # what is imported lazily
    once = peak(lambda: [json.loads(line) for line in path.read_text().splitlines()])
    assert peak(through) < 2 * once


@pytest.mark.parametrize("sample", ["chatgpt", "claude"])
def test_conversations_may_stand_under_their_name(sample: str, tmp_path: Path) -> None:
    given = Path(__file__).parents[1] / "exports" / sample / "conversations.json"
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps({"conversations": json.loads(given.read_text())}))
    assert texts(read(path)[0]) == texts(read(given)[0]) != []


# --- files -----------------------------------------------------------------------------

ONE = {"messages": [{"role": "user", "content": "One."}]}
TWO = {"messages": [{"role": "user", "content": "Two."}]}


def test_lines_of_json_are_read_to_their_end_whatever_their_file_is_called(tmp_path: Path) -> None:
    def check(tmp_path: Path, values: tuple[Any, ...], name: str) -> None:
        talks, notes = read(written(tmp_path / name, *values))
        assert texts(talks) == [("user", "One."), ("user", "Two.")]
        assert notes == []

    check_rows(
        check,
        in_folders(
            tmp_path,
            product(
                [(ONE, TWO), tuple(each["messages"][0] for each in (ONE, TWO))],
                ["talk.json", "talk.ndjson", "talk.jsonl"],
            ),
        ),
    )


def test_objects_in_a_row_may_be_laid_out_and_the_last_may_break_off(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(ONE, indent=2) + json.dumps(TWO, indent=2) + '{"messages": [{"role"')
    talks, notes = read(path)
    assert texts(talks) == [("user", "One."), ("user", "Two.")]
    assert len(notes) == 1
    assert "not read to its end" in notes[0]


def test_what_follows_an_array_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([ONE]) + "\n" + json.dumps([TWO]) + "\n")
    talks, notes = read(path)
    assert texts(talks) == [("user", "One.")]
    assert len(notes) == 1
    assert "more follows" in notes[0]
    path.write_bytes(json.dumps([ONE]).encode() + b"\r\n\0\0\0")
    assert read(path)[1] == []


def test_a_message_of_which_nothing_is_read_is_told_of(tmp_path: Path) -> None:
    block = {"type": "tool_result", "tool_use_id": "1", "content": "42"}
    user = {"role": "user", "content": "Hello."}
    others = [{"role": "user", "content": each} for each in ([block], 42, None, "")]
    talks, notes = read(written(tmp_path / "a.jsonl", user, *others))
    assert texts(talks) == [("user", "Hello.")]
    assert notes == [
        f"a.jsonl: message {each} was passed over: it has no content of a known kind." for each in (2, 3)
    ]


def test_a_day_at_the_end_of_time_is_no_number_of_milliseconds() -> None:
    assert time_of("9999-12-31T23:59:59-23:59") is None
    assert time_of("3000-01-01T00:00:00Z") == 32503680000.0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_note_in_another_encoding_is_told_what_to_do(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("hello".encode(encoding))
    notes: list[str] = []
    with ImportSource(tmp_path) as source:
        assert list(format_named("plain").read(source, notes.append)) == []
    assert notes == ["a.txt was passed over: it is UTF-16; save it as UTF-8."]


def test_a_file_is_what_its_user_says_however_it_is_called(tmp_path: Path) -> None:
    def check(tmp_path: Path, format_: str, sample: str) -> None:
        given = Path(__file__).parents[1] / "exports" / sample
        kind = "" if given.is_file() else "*.jsonl"
        file = (
            given if not kind else next(each for each in sorted(given.rglob(kind)) if read(each, format_)[0])
        )
        path = tmp_path / "saved.txt"
        path.write_bytes(file.read_bytes())
        assert texts(read(path, format_)[0]) == texts(read(file, format_)[0]) != []

    check_rows(
        check,
        in_folders(
            tmp_path,
            [
                ("messages", "messages.jsonl"),
                ("chatgpt", "chatgpt/conversations.json"),
                ("claude", "claude/conversations.json"),
                ("codex", "codex"),
                ("claude-code", "claude_code"),
            ],
        ),
    )


# --- archives --------------------------------------------------------------------------


def test_a_size_beyond_all_files_in_a_tar_is_refused(tmp_path: Path) -> None:
    head = bytearray(tarfile.TarInfo("a.md").tobuf(tarfile.GNU_FORMAT))
    head[124:136] = b"\x80" + (2**80).to_bytes(11, "big")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    path = tmp_path / "a.tar"
    path.write_bytes(bytes(head) + b"\0" * 1024)
    with pytest.raises(Refused, match="broken archive"):
        ImportSource(path)


def test_what_lzma_cannot_unpack_is_broken_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.md", b"hello world\n" * 50)
        archive.writestr("b.md", b"fine")
    data = bytearray(path.read_bytes())
    data[45:70] = bytes(each ^ 0x5A for each in data[45:70])
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive, pytest.raises(lzma.LZMAError):
        archive.read("a.md")
    with ImportSource(path) as source:
        assert source.read("b.md", 100) == b"fine"
        with pytest.raises(BrokenArchive, match="not read to its end"):
            source.read("a.md", 1000)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_file_without_a_name_is_passed_over(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("b.md", b"fine")
            archive.writestr(zipfile.ZipInfo("\0"), b"nobody's")
    else:
        with tarfile.open(path, "w") as packed:
            for name in ("b.md", "./."):
                info = tarfile.TarInfo(name)
                info.size = 4
                packed.addfile(info, io.BytesIO(b"fine"))
    with ImportSource(path) as source:
        assert source.names() == ("b.md",)
        assert source.notes == ["'' was passed over: the name is empty."]


@pytest.mark.parametrize("time", ["nan", "inf", "1e300", "-1e18"])
def test_a_time_of_no_world_in_an_archive_is_none(time: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.md")
        info.size, info.pax_headers = 6, {"mtime": time}
        archive.addfile(info, io.BytesIO(b"hello\n"))
    with ImportSource(path) as source:
        assert source.modified("a.md") is None


def test_a_path_that_is_empty_is_not_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("hello\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match="the path is empty"):
        ImportSource("")


def test_a_file_that_fails_when_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    failing = Failing()
    monkeypatch.setattr("looseleaf.transfer.archives._open_regular", lambda _: failing)
    with pytest.raises(Refused, match=r"cannot be read \(Input/output error\)"):
        ImportSource(tmp_path / "a.jsonl")
    assert failing.closed


def test_a_file_that_is_gone_meanwhile_has_no_time(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", HELLO)
    with ImportSource(tmp_path) as source:
        path.unlink()
        assert source.modified("s.jsonl") is None
        assert list(format_named("claude-code").read(source, lambda _: None)) != []


def test_a_memory_among_notes_is_named(tmp_path: Path) -> None:
    written(tmp_path / "notes" / "inner" / "log" / "journal.jsonl")
    with (
        ImportSource(tmp_path / "notes") as source,
        pytest.raises(Refused, match="is already a looseleaf memory"),
    ):
        refuse_memory(source)
    (tmp_path / "notes" / "a.md").write_text("hello\n")
    with (
        ImportSource(tmp_path / "notes") as source,
        pytest.raises(Refused, match=r"contains a looseleaf memory \(.*inner\)"),
    ):
        refuse_memory(source)
