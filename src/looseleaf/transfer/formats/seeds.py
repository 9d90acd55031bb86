"""The memories of five programs that this one was made to unite, as each keeps them on disk.

- a working state: `VALARMIND.md`, `.valarmind/memory/state.json`, its sessions
- facts by topic: `topics/<topic>/<entry>/raw.md`, `summary.json`, else `topic_memory.json`
- pages: `facts/<topic>.md`, `episodes/<yyyy-mm>.md`
- tiers: `SOUL.md`, `knowledge/USER.md`, `knowledge/<topic>.md`, `knowledge/<yyyy-mm-dd>.md`
- traces: `agents/<agent>/raw_traces.jsonl`, `episodic.jsonl`, `semantic.jsonl`

What a program can make again (a global memory, a state in another notation) is not taken.
"""

from __future__ import annotations

import re

from looseleaf.language.topic_words import topic_name
from looseleaf.text.lines import bullet_text, escape
from looseleaf.text.times import day
from looseleaf.transfer.formats.notes import LONGEST, day_of, document, folder_of, page_for, text_of
from looseleaf.transfer.formats.statements import in_words, is_said
from looseleaf.transfer.json_stream import lines, members
from looseleaf.transfer.source import Broken, Claim, Document, Said, Talk, stem, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.transfer.source import Item, Note, Source

NAME = "seeds"
ABOUT = "a memory of .valarmind, topics/ with entries, facts/ and episodes/, knowledge/, or raw_traces.jsonl"

_SURE = 0.9
_TITLE_WORDS, _TITLE = 10, 80
_STATE = re.compile(r"(?P<base>.*/)?\.valarmind/memory/state\.json")
_SESSION = re.compile(r"(?P<base>.*/)?\.valarmind/sessions/[^/]+\.jsonl")
_PROJECT = re.compile(r"(?P<base>.*/)?VALARMIND(?P<own>\.local)?\.md")
_DECISION = re.compile(r"(?P<base>.*/)?docs/adr/[^/]+\.md")
_ENTRY = re.compile(r"(?P<base>.*/)?topics/(?P<own>[^/]+)/(?P<entry>[^/]+)/(?P<file>raw\.md|summary\.json)")
_TOPIC = re.compile(r"(?P<base>.*/)?topics/(?P<own>[^/]+)/topic_memory\.json")
_PAGE = re.compile(r"(?P<base>.*/)?(?P<own>facts/[^/]+|episodes/\d{4}-\d\d)\.md")
_KNOWN = re.compile(r"(?P<base>.*/)?knowledge/[^/]+\.md")
_TRACES = re.compile(r"(?:.*/)?raw_traces(?:_archive)?\.jsonl")
_KEPT = re.compile(r"(?:.*/)?(?:episodic|semantic)\.jsonl")


def detect(source: Source) -> float:
    names = source.names()
    return _SURE if any(fits(names) for fits, _ in _LAYOUTS) else 0.0


def read(source: Source, note: Note) -> Iterator[Item]:
    names = source.names()
    for fits, take in _LAYOUTS:
        if fits(names):
            yield from take(source, note)


def _any(*patterns: re.Pattern[str]) -> Callable[[tuple[str, ...]], bool]:
    return lambda names: any(pattern.fullmatch(name) for name in names for pattern in patterns)


def _matching(source: Source, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    return ((name, found) for name in source.names() if (found := pattern.fullmatch(name)))


def _below(source: Source, *patterns: re.Pattern[str]) -> str:
    """The folder that all files of a layout lie in: where that was when it was copied is no part of their names."""
    found = {match["base"] or "" for pattern in patterns for _, match in _matching(source, pattern)}
    return found.pop() if len(found) == 1 else ""


# --- a working state -------------------------------------------------------------------


def _working(source: Source, note: Note) -> Iterator[Item]:
    below = _below(source, _PROJECT, _STATE, _SESSION)
    for name, found in _matching(source, _PROJECT):
        yield from _note(source, name, note, f"PROJECT{found['own'] or ''}.md", below)
    for name, found in _matching(source, _DECISION):
        if f"{found['base'] or ''}VALARMIND.md" in source:
            yield from _note(source, name, note, page_for("facts", topic_name(f"adr {stem(name)}")), below)
    for name, _ in _matching(source, _STATE):
        text = text_of(source, name, note)
        if text is not None:
            title, ts = "The working state", source.modified(name)
            yield Document(name.removeprefix(below), text, title, ts, "state.json")
    for name, _ in _matching(source, _SESSION):
        yield Talk(name.removeprefix(below), stem(name), _session(source, name, note))


def _session(source: Source, name: str, note: Note) -> Iterator[Said]:
    """Each line a message with `role` and `content`, as its models were sent them."""
    for number, value in _lines(source, name, note):
        match value:
            case {"role": "user" | "assistant" as role, "content": str(text)} if text.strip():
                yield Said(str(number), role, text, when(value.get("ts", value.get("timestamp"))))
            case {"role": "system" | "tool"}:
                pass
            case _:
                note(f"{name}:{number} was passed over: it is no message.")


# --- facts by topic --------------------------------------------------------------------


def _topics(source: Source, note: Note) -> Iterator[Item]:
    with_entries: set[str] = set()
    for name, found in _matching(source, _ENTRY):
        topic, entry = found["own"], found["entry"]
        key = f"{topic}/{entry}"
        if found["file"] == "raw.md":
            text = text_of(source, name, note)
            if text is not None:
                ts = _entry_time(source, f"{folder_of(name)}meta.json")
                page = page_for("days", f"{_day(ts)}-{topic}-{entry}".strip("-"))
                yield Document(key, text, f"{topic}: {entry}", ts, page, topic_name(topic))
        else:
            with_entries.add(topic)
            yield from _facts(source, name, note, topic, key)
    for name, found in _matching(source, _TOPIC):
        if found["own"] not in with_entries:  # else it was made of them
            yield from _facts(source, name, note, found["own"], found["own"])


def _facts(source: Source, name: str, note: Note, topic: str, key: str) -> Iterator[Claim]:
    for number, value in _members(source, name, note, ("facts",)):
        match value:
            case {"relation": str(relation), "object": said} if is_said(said):
                subject = value.get("subject")
                is_user = isinstance(subject, str) and subject.casefold() == "user"
                about = "user" if is_user else topic_name(topic)
                known = f"{key}\n{subject}\n{relation}\n{said}"
                yield Claim(known, about, said, when(value.get("entry_ts")), in_words(relation) or None)
            case _:
                note(f"{name}: fact {number} was passed over: it has no relation and object.")


def _entry_time(source: Source, name: str) -> float | None:
    if name not in source:
        return None
    found = dict(_members(source, name, lambda _: None, ()))
    return when(found.get("entry_ts", found.get("ts")))


# --- pages -----------------------------------------------------------------------------


def _has_pages(names: tuple[str, ...]) -> bool:
    found = {match["own"].partition("/")[0] for name in names if (match := _PAGE.fullmatch(name))}
    return found == {"facts", "episodes"}


def _pages(source: Source, note: Note) -> Iterator[Item]:
    below = _below(source, _PAGE)
    for name, found in _matching(source, _PAGE):
        yield from _note(source, name, note, page_for(*found["own"].split("/")), below)


# --- tiers -----------------------------------------------------------------------------


def _tiers(source: Source, note: Note) -> Iterator[Item]:
    below = _below(source, _KNOWN)
    for name, found in _matching(source, _KNOWN):
        soul = f"{found['base'] or ''}SOUL.md"
        if stem(name) != "USER":
            page = page_for("days" if day_of(name) else "facts", stem(name))
            yield from _note(source, name, note, page, below)
            continue
        yield from _note(source, name, note, "USER.md", below)
        if soul in source:
            yield from _note(source, soul, note, "SOUL.md", below)


def _has_tiers(names: tuple[str, ...]) -> bool:
    return any(name == "knowledge/USER.md" or name.endswith("/knowledge/USER.md") for name in names)


# --- traces ----------------------------------------------------------------------------


def _traces(source: Source, note: Note) -> Iterator[Item]:
    for folder in dict.fromkeys(folder_of(name) for name, _ in _matching(source, _TRACES)):
        agent = _agent(folder)
        files = [f"{folder}{name}" for name in ("raw_traces_archive.jsonl", "raw_traces.jsonl")]
        said = (each for name in files if name in source for each in _recorded(source, name, note))
        yield Talk(agent, agent, _once(said))
    for name, _ in _matching(source, _KEPT):
        yield from _kept(source, name, note)


def _agent(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[2] or "agent"


def _recorded(source: Source, name: str, note: Note) -> Iterator[Said]:
    for number, value in _lines(source, name, note):
        match value:
            case {"id": str(key), "trace_type": "user" | "assistant" as role, "content": str(text)}:
                if value.get("origin", role) == role:
                    yield Said(key, role, text, when(value.get("ts")))
                else:  # it entered by a tool, a page of the web, another import: nobody said it here
                    yield Said(key, "tool_result", "", when(value.get("ts")), None, None, key, text)
            case {"id": str(key), "trace_type": "tool_call" | "tool_result" as role}:
                yield _tool(key, role, value)
            case _:
                note(f"{name}:{number} was passed over: it is no trace.")


def _tool(key: str, role: Any, value: dict[str, Any]) -> Said:
    error = value.get("tool_error")
    call = value.get("tool_call_id")
    return Said(
        key,
        role,
        str(value.get("content") or ""),
        when(value.get("ts")),
        str(value.get("tool_name") or ""),
        value.get("tool_args"),
        call if isinstance(call, str) else None,
        value.get("tool_result"),
        str(error) if error is not None else None,
    )


def _once(said: Iterator[Said]) -> Iterator[Said]:
    """What was archived and not yet taken out of the active file is there twice."""
    seen: set[str] = set()
    for each in said:
        if each.key not in seen:
            seen.add(each.key)
            yield each


def _kept(source: Source, name: str, note: Note) -> Iterator[Item]:
    agent = _agent(folder_of(name))
    months: dict[str, list[str]] = {}
    for number, value in _lines(source, name, note):
        match value:
            case {"id": str(), "summary": text} if is_said(text):
                date = _day(value.get("ts"))
                told = [f"- {bullet_text('Summary', text)}", *([f"- Date: {date}"] if date else [])]
                title = " ".join(escape(text).split()[:_TITLE_WORDS])[:_TITLE]
                months.setdefault(date[:7], []).append("\n".join((f"## {title}", *told, "")))
            case {"id": str(key), "fact": text} if is_said(text):
                tags = value.get("tags")
                first = tags[0] if isinstance(tags, list) and tags and isinstance(tags[0], str) else ""
                topic = topic_name(first) if first.strip() else "project"
                yield Claim(f"{agent}/{key}", topic, text, when(value.get("ts")))
            case _:
                note(f"{name}:{number} was passed over: it has no words.")
    for month, told in months.items():
        yield from _episodes(agent, month or "undated", told)


def _day(value: Any) -> str:
    """The day of a time; "" where there is none."""
    ts = when(value)
    return day(ts) if ts is not None else ""


def _episodes(agent: str, month: str, told: list[str]) -> Iterator[Document]:
    """The episodes of a month, on as many pages as they take."""
    for number, part in enumerate(_parts(told), 1):
        name = f"{month}-{topic_name(agent)}" + (f"-{number}" if number > 1 else "")
        text = "\n".join((f"# Episodes of {escape(agent)}, {month}\n", *part))
        yield Document(f"{agent}/episodes/{name}", text, name, when(f"{month}-01"), f"episodes/{name}.md")


def _parts(told: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for each in told:
        if part and size + len(each) > LONGEST // 8:
            yield part
            part, size = [], 0
        part.append(each)
        size += len(each)
    yield part


# --- reading ---------------------------------------------------------------------------


def _note(source: Source, name: str, note: Note, page: str, below: str) -> Iterator[Document]:
    found = document(source, name, note, page, name.removeprefix(below))
    if found is not None:
        yield found


def _lines(source: Source, name: str, note: Note) -> Iterator[tuple[int, Any]]:
    try:
        with source.open(name) as stream:
            yield from lines(stream, note, name)
    except Broken as broken:
        note(str(broken))


def _members(source: Source, name: str, note: Note, under: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    try:
        with source.open(name) as stream:
            yield from members(stream, note, name, under)
    except Broken as broken:
        note(str(broken))


_LAYOUTS: tuple[tuple[Callable[[tuple[str, ...]], bool], Callable[[Source, Note], Iterator[Item]]], ...] = (
    (_any(_STATE, _PROJECT), _working),
    (_any(_ENTRY, _TOPIC), _topics),
    (_has_pages, _pages),
    (_has_tiers, _tiers),
    (_any(_TRACES, _KEPT), _traces),
)
"""Of each layout: whether these files are one, and what is read from them."""
