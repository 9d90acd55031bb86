"""The formats of conversations: each on a sample in its real shape, and on contents that somebody made to break it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importing import SAMPLES, TALKS, conversation, export, files_of, line_of, open_memory, read, take, zip_of
from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.transfer.formats import FORMATS, detect, format_named
from looseleaf.transfer.source import ImportDocument, ImportMessage, ImportSource, Talk, clip_title, time_of
from tables import check_rows, in_folders

WHOLE = {
    "chatgpt": {
        "talk f-aa01 Tomatoes on a balcony": [
            "user: My balcony faces north. I grow tomatoes there; which sort needs least sun?",
            "assistant: Cherry tomatoes such as Stupice bear fruit in half shade.",
            (
                "user: What is on these leaves? My name is Ada by the "
                "way. [images sediment://file_000000004a2461f5]"
            ),
            'call call-2: web.run {"search_query": [{"q": "tomato leaves white powder"}]}',
            'result call-2: "Mildew\\nhttps://example.org/mildew\\nPowdery mildew is a fungus."',
            "assistant: That is powdery mildew; spray with diluted milk.",
        ],
        "talk e-bb02 Average of a column": [
            "user: What is the average of 3, 4 and 8?",
            'call call-3: python "print((3 + 4 + 8) / 3)"',
            'result call-3: "5.0"',
            "assistant: The average is 5.",
        ],
        "talk e-cc03 A voice talk": [
            "user: Remind me to water the basil on Friday. [audio sediment://file_00000000aud1]",
            "assistant: I will not be able to, but a note helps.",
        ],
        "document custom-instructions Custom instructions facts/instructions.md None": [
            "I am a gardener in Lyon.\n\nAnswer briefly."
        ],
    },
    "claude": {
        "document project-p-1 Herb garden None Herb garden": [
            "Herbs for the balcony\n\nAnswer as a botanist."
        ],
        "document project-p-1-d-1 basil.md None Herb garden": ["# Basil\n\nNeeds six hours of sun.\n"],
        "talk 000001 A trip to Porto": [
            "user: I fly to Porto on 12 March. Find the time of sunset there.",
            'call m-2-1: web_search {"query": "Porto sunset 12 March"}',
            'result m-2-1: "Sunset 18:39 WET"',
            "assistant: Sunset is at 18:39.",
            "user: Here is my list, is anything missing?",
            'result m-3-attachment-0: {"file_name": "list.txt", "text": "passport\\nwalking shoes\\ncamera"}',
            'result m-3-files: {"file_names": ["map.png"]}',
            "assistant: A rain jacket.",
        ],
        "talk 000002 ": [],
        "talk 000003 Old shape": [
            "user: What does ‘obrigada’ mean?",
            "assistant: Thank you, said by a woman.",
        ],
        "document memory-acc-1 What Claude remembered facts/claude-memory.md None": [
            "**Work context**\n\nAda is a gardener in Lyon.\n"
        ],
        "document memory-acc-1-p-1 What Claude remembered of Herb garden None Herb garden": [
            "**Purpose**\n\nThe project is about herbs.\n"
        ],
    },
    "claude_code": {
        "talk 4c5b6a Watering plan in Python": [
            "user: Write a watering plan; we always use Python 3.12 here.",
            "assistant: I look at the folder first.",
            'call toolu_01: Bash {"command": "ls"}',
            'result toolu_01: "plants.csv"',
            "assistant: The plan is in plan.py.",
        ],
        "talk 4c5b6a ": ["user: Now add the basil.", "assistant: Basil is in."],
        "document -home-ada-garden/memory/MEMORY.md Memory facts/home-ada-garden-memory.md home-ada-garden-memory": [
            "# Memory\n\n- [Watering](watering.md): the plan runs at six in the morning\n"
        ],
        "document -home-ada-garden/memory/watering.md watering facts/home-ada-garden-watering.md "
        "home-ada-garden-watering": [
            "---\nname: watering\ndescription: When the garden is watered\ntype: project\n---\n\n\
The plan runs at six in the morning.\n"
        ],
    },
    "codex": {
        "talk 98ae0e ": ["user: How many plants are there?", "assistant: Two."],
        "talk a89cd5 ": [
            "user: Sort plants.csv by name.",
            'call call_1: shell {"command": ["sort", "plants.csv"]}',
            'result call_1: "basil\\nmint\\n"',
            'call call_2: apply_patch "*** Begin Patch"',
            'result call_2: "Done"',
            'call call_3: local_shell {"type": "exec", "command": ["false"]}',
            "result call_3: error failed",
            "assistant: plants.csv is sorted.",
        ],
    },
    "messages.jsonl": {
        "talk ages#1 ": [
            "user: Which bus goes to the market?",
            'call call_a: timetable {"to": "market"}',
            'result call_a: "Line 7, every ten minutes"',
            "assistant: Line 7.",
        ],
        "talk talk-2 Two pictures": [
            "user: What is this? [images https://example.org/a.png]",
            "assistant: A heron.",
        ],
    },
    "messages.json": {"talk ssages ": ["user: Good morning.", "assistant: Good morning, Ada."]},
}
"""All that each sample says, in its order: whose words, which tools, what is nobody's and left out."""


def whole(path: Path, form: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in read(path, form)[0]:
        if isinstance(item, Talk):
            found[f"talk {item.key[-6:]} {item.title}"] = [line_of(said) for said in item.said]
        elif isinstance(item, ImportDocument):
            found[f"document {item.key} {item.title} {item.page} {item.topic}"] = [item.text]
    return found


def said_in(path: Path, form: str) -> tuple[list[ImportMessage], list[str]]:
    items, told = read(path, form)
    return [said for item in items if isinstance(item, Talk) for said in item.said], told


def test_a_sample_is_known_by_what_is_in_it_and_read_whole() -> None:
    def check(sample: str) -> None:
        with ImportSource(SAMPLES / sample) as source:
            assert TALKS[sample] == detect(source).format.NAME
        assert read(SAMPLES / sample, TALKS[sample])[1] == []
        assert whole(SAMPLES / sample, TALKS[sample]) == WHOLE[sample]

    check_rows(check, TALKS)


@pytest.mark.parametrize("sample", ["chatgpt", "claude", "claude_code", "codex"])
def test_a_sample_in_an_archive_says_the_same(sample: str, tmp_path: Path) -> None:
    files = {f"export/{name}": data for name, data in files_of(sample).items()}
    junk = {"__MACOSX/export/._conversations.json": b"junk", "export/chat.html": b"<html>"}
    path = zip_of(tmp_path / "export.zip", {**files, **junk})
    with ImportSource(path) as source:
        assert TALKS[sample] == detect(source).format.NAME
    assert whole(path, TALKS[sample]) == WHOLE[sample]


def test_a_conversation_has_its_times_and_what_was_thought() -> None:
    said, _ = said_in(SAMPLES / "chatgpt", "chatgpt")
    assert [each.ts for each in said[:4]] == [1735725601.25, 1735725620.5, 1735725700.0, 1735725703.0]
    assert said[3].reasoning == "White powder, so mildew."
    said, _ = said_in(SAMPLES / "codex", "codex")
    assert (said[0].ts, said[3].reasoning) == (1748772000.0, "**Sorting a file**")


def test_a_split_export_is_read_part_by_part(tmp_path: Path) -> None:
    for number in range(3):
        export(
            tmp_path / f"conversations-{number:03d}.json",
            conversation(f"c{number}", ("user", f"word {number}")),
        )
    assert [each.text for each in said_in(tmp_path, "chatgpt")[0]] == ["word 0", "word 1", "word 2"]


def test_one_conversation_alone_is_read_as_well(tmp_path: Path) -> None:
    one = tmp_path / "one.json"
    one.write_text(json.dumps(conversation("c", ("user", "alone"))), encoding="utf-8")
    with ImportSource(one) as source:
        assert detect(source).format.NAME == "chatgpt"
    assert [each.text for each in said_in(one, "chatgpt")[0]] == ["alone"]
    claude = json.loads((SAMPLES / "claude/conversations.json").read_text(encoding="utf-8"))[0]
    one.write_text(json.dumps(claude), encoding="utf-8")
    assert len(said_in(one, "claude")[0]) == 8


def test_where_nobody_says_which_message_was_last_the_newest_counts(tmp_path: Path) -> None:
    raw = conversation("c", ("user", "question"), ("assistant", "answer"))
    del raw["current_node"]
    raw["mapping"]["old"] = {"message": {"create_time": 1.0, "author": {"role": "user"}}, "parent": "root"}
    assert [each.text for each in said_in(export(tmp_path / "c.json", raw), "chatgpt")[0]] == [
        "question",
        "answer",
    ]


def test_a_way_that_leads_in_a_circle_ends(tmp_path: Path) -> None:
    raw = conversation("c", ("user", "question"), ("assistant", "answer"))
    raw["mapping"]["c-0"]["parent"] = "c-1"
    assert len(said_in(export(tmp_path / "c.json", raw), "chatgpt")[0]) == 2


def test_claudes_branches_are_followed_where_the_last_message_is_named(tmp_path: Path) -> None:
    def message(name: str, parent: str, text: str) -> dict[str, Any]:
        return {"uuid": name, "parent_message_uuid": parent, "sender": "human", "text": text, "content": []}

    messages = [message("a", "", "one"), message("b", "a", "left"), message("c", "a", "right")]
    raw = {"uuid": "x", "name": "", "chat_messages": messages}
    path = tmp_path / "conversations.json"
    path.write_text(
        json.dumps([raw, raw | {"uuid": "y", "current_leaf_message_uuid": "c"}]), encoding="utf-8"
    )
    assert [each.text for each in said_in(path, "claude")[0]] == ["one", "left", "right", "one", "right"]


def test_results_without_ids_belong_to_calls_in_their_order(tmp_path: Path) -> None:
    call = {"type": "tool_use", "name": "look", "input": {}}
    answer = {"type": "tool_result", "name": "look", "content": "seen"}
    failed = {"type": "tool_result", "content": [{"type": "text", "text": "no"}], "is_error": True}
    blocks = [call, call | {"id": "own"}, answer, failed | {"tool_use_id": "own"}, answer]
    raw = {"uuid": "x", "chat_messages": [{"uuid": "m", "sender": "assistant", "content": blocks}]}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([raw]), encoding="utf-8")
    assert [line_of(each).partition(" ")[2] for each in said_in(path, "claude")[0]] == [
        "m-0: look {}",
        "own: look {}",
        'm-0: "seen"',
        "own: error no",
        'm-4: "seen"',
    ]


def test_messages_have_older_and_newer_shapes(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    rows = [
        {"role": "user", "content": "one", "timestamp": 1_770_000_000_000},
        {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "not json"}},
        {"role": "function", "name": "f", "content": {"deep": [1]}},
        {
            "role": "assistant",
            "tool_calls": [{"id": "k", "type": "custom", "custom": {"name": "g", "input": "raw"}}],
        },
        {"role": "tool", "tool_call_id": "k", "content": "bad", "error": "it broke"},
        {"role": "developer", "content": "obey"},
        {"content": "nobody"},
        7,
        {"role": "assistant", "content": "done", "reasoning": "because"},
    ]
    path.write_text(json.dumps({"messages": rows, "id": 5}), encoding="utf-8")
    said, told = said_in(path, "messages")
    assert [line_of(each) for each in said] == [
        "user: one",
        'call None: f "not json"',
        'result None: {"deep": [1]}',
        'call k: g "raw"',
        "result k: error it broke",
        "assistant: done",
    ]
    assert (said[0].ts, said[5].reasoning) == (1_770_000_000.0, "because")
    assert told == [f"talk.json: message {number} was passed over: it has no role." for number in (7, 8)]


def test_what_may_be_nobodys_words_is_data_in_a_transcript(tmp_path: Path) -> None:
    def line(uuid: str, content: object) -> str:
        message = {"role": "user", "content": content}
        return json.dumps({"type": "user", "uuid": uuid, "sessionId": "s", "message": message})

    path = tmp_path / "s.jsonl"
    path.write_text(
        f"{line('a', '<div> what is this?')}\n{line('b', 'mine')}\n{line('b', 'mine')}\nno json\n", "utf-8"
    )
    said, told = said_in(path, "claude-code")
    assert [(each.role, each.text or each.result) for each in said] == [
        ("tool_result", "<div> what is this?"),
        ("user", "mine"),
    ]
    assert told == ["s.jsonl:4 was passed over: it is not JSON, or is too long."]


def test_a_note_of_claude_code_is_known_again_in_the_folder_of_its_project(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        assert take(memory, SAMPLES / "claude_code/-home-ada-garden").documents.new == 2
        again = take(memory, SAMPLES / "claude_code")
        assert (again.documents.new, again.documents.known) == (0, 2)
        assert not memory.pages.list()  # an agent's notes are data


def test_messages_may_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(
        '{"role": "user", "content": "one"}\n\n{"role": "assistant", "content": "two"}\n', "utf-8"
    )
    assert [line_of(each) for each in said_in(path, "messages")[0]] == ["user: one", "assistant: two"]
    path.write_text('{"messages": [{"role": "user", "content": "one"}]}\n{"other": 1}\n', "utf-8")
    said, told = said_in(path, "messages")
    assert (len(said), told) == (1, ["talk.jsonl: '2' was passed over: it has no messages."])
    path.write_text("", "utf-8")
    assert said_in(path, "messages") == ([], ["talk.jsonl was passed over: it has no messages."])


def test_sessions_of_two_agents_and_what_was_shown_in_them_are_kept_apart(tmp_path: Path) -> None:
    def line(agent: str, kind: str) -> str:
        parts = [
            {"type": kind, kind: {"url": f"https://example.org/{kind}"}},
            {"type": kind, kind: "data:AAAA"},
        ]
        messages = [{"role": role, "content": parts} for role in ("user", "assistant")]
        return json.dumps({"session": "s", "agent": agent, "messages": messages})

    path = tmp_path / "talks.jsonl"
    path.write_text(f"{line('main', 'audio_url')}\n{line('other', 'video_url')}\n", "utf-8")
    assert whole(path, "messages") == {
        "talk main/s ": [f"{role}:  [audio https://example.org/audio_url]" for role in ("user", "assistant")],
        "talk ther/s ": [f"{role}:  [video https://example.org/video_url]" for role in ("user", "assistant")],
    }


def test_an_older_session_of_codex_is_known_too(tmp_path: Path) -> None:
    name = "sessions/2025/06/01/rollout-2025-06-01-abc.jsonl"
    (tmp_path / "rollout-old.jsonl").write_bytes((SAMPLES / "codex" / name).read_bytes())
    with ImportSource(tmp_path) as source:
        assert detect(source).format.NAME == "codex"
    (tmp_path / "rollout-old.jsonl").write_text(
        'no json\n{"type": "message", "role": "user", "content": "x"}', "utf-8"
    )
    items, told = read(tmp_path, "codex")
    assert [(item.key, len(item.said)) for item in items if isinstance(item, Talk)] == [("rollout-old", 1)]  # type: ignore[arg-type]
    assert told == ["rollout-old.jsonl:1 was passed over: it is not JSON."]


# --- which format ------------------------------------------------------------------------


def test_what_is_in_no_format_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with (
        ImportSource(tmp_path) as source,
        pytest.raises(Invalid, match=r"is not known\..*--as: chatgpt, "),
    ):
        detect(source)
    with pytest.raises(NotFound, match=r"there is no format 'word'\. Choose one of chatgpt, claude"):
        format_named("word")


def test_a_source_that_may_be_two_things_is_refused(tmp_path: Path) -> None:
    for sample in ("chatgpt", "claude_code"):
        for name, data in files_of(sample).items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(data)
    with (
        ImportSource(tmp_path) as source,
        pytest.raises(Invalid, match=r"may be chatgpt or claude-code\. Name the format"),
    ):
        detect(source)


def test_every_format_says_what_it_is() -> None:
    for name in FORMATS:
        format_ = format_named(name)
        assert name == format_.NAME
        assert 10 < len(format_.ABOUT) < 110


# --- contents that somebody made to break it -------------------------------------------------

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("sample", TALKS)
@given(wrong=_VALUES, at=st.integers(min_value=0, max_value=10_000))
def test_any_value_in_any_place_of_a_sample_stops_nothing(
    sample: str, wrong: object, at: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("sample")
    name = SAMPLES / sample
    files = [name] if name.is_file() else [*sorted(name.rglob("*.jsonl")), *sorted(name.rglob("conv*.json"))]
    path = files[at % len(files)]
    text = path.read_text(encoding="utf-8")
    is_lines = path.suffix == ".jsonl"
    values = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    spots = list(_spots(values))
    where, key = spots[at % len(spots)]
    where[key] = wrong
    broken = folder / path.name
    text = "".join(f"{json.dumps(each)}\n" for each in values) if is_lines else json.dumps(values)
    broken.write_text(text, encoding="utf-8")
    for said in said_in(broken, TALKS[sample])[0]:
        assert isinstance(said.text, str)
        assert said.ts is None or isinstance(said.ts, float)


def _spots(value: Any) -> Any:
    own = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in own:
        yield value, key
        yield from _spots(inner)


def test_a_conversation_that_is_none_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    good = json.dumps(conversation("c", ("user", "good")))
    path = tmp_path / "conversations.json"
    path.write_text(f'[7, {{"mapping": 1}}, {{"broken": }}, {good}]', encoding="utf-8")
    said, told = said_in(path, "chatgpt")
    assert [each.text for each in said] == ["good"]
    assert len(told) == 3
    assert all("conversations.json: " in each and "was passed over" in each for each in told)


def test_a_damaged_file_in_an_archive_is_named_and_what_was_read_is_given(tmp_path: Path) -> None:
    def check(tmp_path: Path, sample: str) -> None:
        files = files_of(sample) if (SAMPLES / sample).is_dir() else {sample: (SAMPLES / sample).read_bytes()}
        path = tmp_path / "it.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, data in files.items():
                archive.writestr(name, data.rstrip() + b" ")
        damaged = bytearray(path.read_bytes())
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                damaged[info.header_offset + 30 + len(info.filename) + info.file_size - 1] = ord("\t")
        path.write_bytes(damaged)
        whole_said, _ = said_in(SAMPLES / sample, TALKS[sample])
        said, told = said_in(path, TALKS[sample])
        assert any("was not read to its end: Bad CRC-32" in each for each in told)
        assert {line_of(each) for each in said} <= {line_of(each) for each in whole_said}

    check_rows(
        check,
        in_folders(
            tmp_path, ["chatgpt", "claude", "claude_code", "codex", "messages.json", "messages.jsonl"]
        ),
    )


def test_a_file_that_breaks_off_gives_what_was_whole(tmp_path: Path) -> None:
    text = json.dumps([conversation(f"c{number}", ("user", f"word {number}")) for number in range(3)])
    path = tmp_path / "conversations.json"
    path.write_text(text[:-200], encoding="utf-8")
    said, told = said_in(path, "chatgpt")
    assert [each.text for each in said] == ["word 0", "word 1"]
    assert told[-1] == "conversations.json was not read to its end: it breaks off, or is not JSON there."


def test_a_time_is_one_or_none() -> None:
    def check(given: object, found: float | None) -> None:
        assert time_of(given) == found

    check_rows(
        check,
        [
            (1_770_000_000, 1_770_000_000.0),
            (1_770_000_000_123, 1_770_000_000.123),
            ("2026-02-03T09:00:01.000000Z", 1770109201.0),
            ("2026-02-03 09:00", 1770109200.0),
            (True, None),
            (float("nan"), None),
            (float("inf"), None),
            (10**30, None),
            ("yesterday", None),
            (None, None),
            ({}, None),
        ],
    )


def test_a_title_is_one_line() -> None:
    assert clip_title("one\ntwo " * 30) == f"{'one two ' * 10}".strip() + "…"
    assert clip_title(" \n") == ""


# --- messages: what is known again -----------------------------------------------------


def asking(text: str, answer: str = "Good day.") -> list[dict[str, str]]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]


def keys(path: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (item.key, [(said.key, said.text) for said in item.said])
        for item in read(path, "messages")[0]
        if isinstance(item, Talk)
    ]


@pytest.mark.parametrize("name", ["id", "custom_id"])
def test_a_name_that_is_only_a_files_own_does_not_make_two_talks_one(name: str, tmp_path: Path) -> None:
    found: dict[str, str] = {}
    for file, text in (("one.jsonl", "Hello."), ("two.jsonl", "Which bus?"), ("three.jsonl", "Hello.")):
        (tmp_path / file).write_text(json.dumps({name: "request-1", "messages": asking(text)}))
        [(key, _)] = keys(tmp_path / file)
        found[file] = key
    assert found["one.jsonl"] == found["three.jsonl"] != found["two.jsonl"]
    grown = [*asking("Hello."), {"role": "user", "content": "More."}]
    (tmp_path / "one.jsonl").write_text(json.dumps({name: "request-1", "messages": grown}))
    assert keys(tmp_path / "one.jsonl")[0][0] == found["one.jsonl"]


@pytest.mark.parametrize("is_bare", [True, False])
def test_a_line_that_is_put_before_the_others_changes_no_key(is_bare: bool, tmp_path: Path) -> None:
    talks = [asking("Hello."), asking("Which bus?"), asking("Hello.")]
    lines: list[Any] = (
        [each for talk in talks for each in talk] if is_bare else [{"messages": t} for t in talks]
    )
    path = tmp_path / "it.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    before = keys(path)
    new: Any = {"role": "user", "content": "First."}
    path.write_text("\n".join(map(json.dumps, [new if is_bare else {"messages": asking("First.")}, *lines])))
    after = keys(path)
    if is_bare:
        assert [key for key, _ in after] == [key for key, _ in before]
        assert after[0][1][1:] == before[0][1]
    else:
        assert after[1:] == before
    said = [key for key, _ in before] if not is_bare else [key for key, _ in before[0][1]]
    assert len(set(said)) == len(said)


# --- why not ---------------------------------------------------------------------------


def encrypted(path: Path) -> Path:
    zip_of(path, {"conversations.json": b"[]"})
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    return path


def test_why_a_source_is_in_no_format_is_said(tmp_path: Path) -> None:
    utf16 = tmp_path / "utf16.json"
    utf16.write_bytes(json.dumps([conversation("c", ("user", "hello"))]).encode("utf-16"))
    long = tmp_path / "long.jsonl"
    long.write_text('{"a": "' + "x" * 70_000 + '"}')
    bad = zip_of(tmp_path / "bad.zip", {"a.json": b"{" * 3000})
    data = bytearray(bad.read_bytes())
    data[data.index(b"PK\x01\x02") + 16] ^= 255
    bad.write_bytes(data)
    for path, why in (
        (encrypted(tmp_path / "e.zip"), "it is encrypted; unpack it with its password"),
        (utf16, "utf16.json is UTF-16; save it as UTF-8."),
        (long, "The first line of long.jsonl is longer than the 65,536 bytes that are looked at"),
        (bad, "Bad CRC"),
    ):
        with ImportSource(path) as source, pytest.raises(Refused) as refused:
            detect(source)
        assert why in str(refused.value)
        assert "Name it with --as" in str(refused.value)
    assert read(utf16, "chatgpt")[1] == [
        "utf16.json was not read to its end: it is UTF-16; save it as UTF-8."
    ]


def test_a_conversation_without_an_end_is_told_of(tmp_path: Path) -> None:
    own = conversation("c", ("user", "one"), ("assistant", "two"), title="Round")
    own["mapping"]["c-1"]["children"] = ["root"]
    own["current_node"] = "nowhere"
    items, told = read(export(tmp_path / "conversations.json", own, conversation("d")), "chatgpt")
    assert [item.key for item in items] == ["d"]
    assert told == [
        "conversations.json: 'Round' was passed over: it leads in a circle and has no last message."
    ]
