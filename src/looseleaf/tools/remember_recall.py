"""The two tools of seed 003: remember something on the page of its topic; recall a page, a list, or answers to a
question.

Untrusted hits of recall are fenced: they are data, whatever they say.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.ids import new_id
from looseleaf.base.origins import is_at_least
from looseleaf.base.paths import PROFILE, USER
from looseleaf.language.topic_words import topic_name
from looseleaf.pages.grammar import drawer, read_stated_facts, with_facts
from looseleaf.pages.pages import page_of_topic
from looseleaf.text import untrusted
from looseleaf.text.diff import split_lines
from looseleaf.tools.page_tools import (
    appended,
    list_pages,
    read_farther,
    readable,
    refuse_long,
    show,
    with_summary,
    without_summary,
)
from looseleaf.tools.tool import ToolAnswer, write_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.memory.parts import Parts
    from looseleaf.recall.hits import Hit

_FOUND = 10
"""The most hits for a question."""

_CLIP = 200
"""Tokens of each hit: ten are a page. memory_read and another question give more."""

_USER = re.compile(r"\b(the\s+)?user(['’]s)?\b", re.IGNORECASE)
_THE_USER = re.compile(r"\b(?:the\s+user\b|user['’]s\b)", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MARKED = re.compile(r"[ \t]*(?:[-*+][ \t]|#|>|\||[0-9]+[.)][ \t]|```|~~~|<!--|---)")


def remember(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    topic, content = str(arguments["topic"]), str(arguments["content"])
    layer, bare_topic = memory.parts.split_topic(topic.strip())
    if layer is not None:
        raise Refused(
            f"Nothing was remembered: {topic.strip()} is of the layer {layer.name}, which tools only read. Give the "
            f"topic alone, such as {bare_topic or 'user'}: then it is kept in this memory."
        )
    memory.parts.notebook.catch_up()
    path = page_for(memory, topic)
    if not content.strip():
        raise Invalid(f"Nothing was remembered on {path}: the content is empty. Give the text to remember.")
    refuse_long(memory, path, content)
    bare, summary = without_summary(path, content)

    def change(old: str) -> str:
        if arguments.get("append", True):
            return _add_content(memory, path, old, bare)
        return with_summary(_as_bullet(bare), old, path)

    receipt = memory.pages.propose(path, change, reason="remember", summary=summary)
    lines = "1 line of it is" if receipt.removed == 1 else f"{receipt.removed} lines of it are"
    gone = f"; {lines} gone" if not arguments.get("append", True) else ""
    done = f"Remembered on {path}{gone if receipt.removed else ''}" if not receipt.held else ""
    return write_answer(receipt, done=done)


def page_for(memory: Memory, topic: str) -> str:
    """Return the page of a topic. In a shared memory what is about the user is about a person of some name."""
    path = page_of_topic(topic, memory.parts.known.names)
    return memory.parts.making.page_of(USER) if path == PROFILE and memory.policy.shared else path


def _add_content(memory: Memory, path: str, old: str, content: str) -> str:
    """Add facts among the facts, and other text at the end. A page says nothing twice."""
    facts = read_stated_facts(content) if drawer(path) == "facts" else None
    if facts is not None:
        new = with_facts(path, old, facts)
        refuse_long(memory, path, new, before=old)
        return new
    if f"\n{content.strip()}\n" in f"\n{old.strip()}\n":
        return old
    return appended(memory, path, old, content)


def _as_bullet(content: str) -> str:
    """Return one plain line as a bullet, which is a fact; anything else as it is."""
    lines = [line for line in split_lines(content) if line.strip()]
    is_plain = len(lines) == 1 and not _MARKED.match(lines[0])
    return f"- {content.strip()}\n" if is_plain else content


def recall(memory: Memory, arguments: Mapping[str, Any]) -> ToolAnswer:
    topic, query = str(arguments.get("topic") or "").strip(), str(arguments.get("query") or "").strip()
    if query:
        return _answer_query(memory, query, topic)
    if topic:
        return _show_topic(memory, topic)
    answer = list_pages(memory, {})
    days = sorted(path[5:-3] for path in memory.pages.list() if path.startswith("days/"))
    text = f"{answer.text}\nDays: {len(days)}, {days[0]} to {days[-1]}." if days else answer.text
    return ToolAnswer(answer.value, answer.data | {"days": days}, text)


def _show_topic(memory: Memory, topic: str) -> ToolAnswer:
    """Return the page of a topic: of this memory, else of the nearest under it that has one; and where there are
    more."""
    layer, bare = memory.parts.split_topic(topic)
    path = page_of_topic(bare, memory.views.topics())

    def has(parts: Parts) -> bool:
        return parts.pages.page(path).exists

    layers = memory.parts.layers
    there = [] if layer is not None else [name for name, is_there in memory.parts.farther(has) if is_there]
    if layer is None and there and layers is not None and not has(memory.parts):
        layer = layers.named(there.pop(0))
    answer = read_farther(memory, layer, path) if layer is not None else show(memory, readable(memory, path))
    more = ", ".join(f"{name}:{path}" for name in there)
    text = f"{answer.text}\n[memory_read also has {more}]" if more else answer.text
    return ToolAnswer(answer.value, {"page": answer.data}, text)


def _answer_query(memory: Memory, query: str, topic: str) -> ToolAnswer:
    name = topic_name(topic, memory.views.topics()) if topic else None
    asked = _current_question(memory)
    for words in _phrase_query(query):
        answered = memory.recall(words, _FOUND + len(asked), topic=name, clip=_CLIP, quick=True)
        found = [hit for hit in answered if hit.where not in asked][:_FOUND]
        if found:
            break
    if not found:
        why = answered.why or "Nothing bears on this question."
        return ToolAnswer([], {"hits": [], "why": why}, why)
    word = untrusted.word(new_id())
    rows = [_row_of(hit, word) for hit in found]
    notice = untrusted.notice(word) if any(map(is_fenced, found)) else ""
    why = answered.why if found[0].status == "rejected" else ""
    parts = [each for each in (notice, why) if each]
    for number, hit in enumerate(found, 1):
        # Further lines are indented, so that none can pass for the next hit.
        text = "\n   ".join(_text_of(hit, word).split("\n"))
        parts.append(f"{number}. {text}\n   [{'; '.join(_describe_hit(hit))}]")
    data = {"hits": rows} | ({"notice": notice} if notice else {}) | ({"why": why} if why else {})
    return ToolAnswer(rows, data, "\n".join(parts))


def _current_question(memory: Memory) -> set[str]:
    """Return the user's traces of the unanswered turn: a question does not answer itself."""
    last = memory.talk.turns(1)
    traces = last[0].traces if last else ()
    if any(trace.trace_type == "assistant" for trace in traces):
        return set()
    return {trace.id for trace in traces if trace.trace_type == "user"}


def _phrase_query(query: str) -> list[str]:
    """Return a question as it is, and as the user would ask it: models say "the user", users say "I"."""
    own = _USER.sub(lambda found: "my" if found[2] else "I", query)
    if own == query:
        return [query]
    return [own, query] if _THE_USER.search(query) else [query, own]


def is_fenced(hit: Hit) -> bool:
    """True for untrusted hits: from tools, the web, imports and other agents."""
    return not is_at_least(hit.level, "inferred")


def _row_of(hit: Hit, word: str) -> dict[str, Any]:
    names = ("where", "kind", "path", "date", "level", "status", "now", "topic", "layer")
    row = {name: getattr(hit, name) for name in names}
    row |= {"text": _text_of(hit, word), "score": round(hit.score, 3)}
    return {name: value for name, value in row.items() if value not in (None, "")}


def _text_of(hit: Hit, word: str) -> str:
    return untrusted.fenced(hit.text, word) if is_fenced(hit) else untrusted.inert(hit.text, word)


def _describe_hit(hit: Hit) -> Iterator[str]:
    yield hit.path or hit.where
    yield from (each for each in (hit.date, hit.level, f"said by {hit.person}" if hit.person else "") if each)
    if hit.is_over:
        over = "no longer true" if hit.status.endswith("superseded") else "a person said no to it"
        yield f"in part {over}" if hit.status.startswith("partly") else over
        if hit.now:
            yield f"now: {hit.now}"
