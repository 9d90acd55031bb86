"""What a client can read by address: the listing, pages, topics; as text, without tools.

Invariant: an address has one spelling. It is decoded once; what could have been written plainly and was not, or would
lead anywhere but to a page or a topic, is refused. `review/`, `log/`, `views/` and the settings have no address.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.page_paths import STATE, page_path
from looseleaf.base.paths import PROFILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.memory import Memory
    from looseleaf.views.page_index import IndexLine

INDEX = "looseleaf://index"
PAGE = "looseleaf://page/"
TOPIC = "looseleaf://topic/"
MARKDOWN = "text/markdown"
JSON = "application/json"

LISTED = 200
"""Resources in a list: clients show all of them to a person. The index has the others."""
_MONTHS = 24
_LINES = 2000
"""Of the index. Whoever has more pages than that asks `recall`."""
_NAMED = 20
_LONG = 1000
_UNSEEN = "review/"
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")


@frozen
class Resource:
    """One of the list. `size` in bytes, where it is known without making it."""

    uri: str
    name: str
    title: str
    mime: str = MARKDOWN
    size: int | None = None


def listed(memory: Memory) -> list[Resource]:
    """The index, who the user is, the last months, and topics' pages."""
    found = [Resource(INDEX, "index", "What this memory holds, a line for each page")]
    profile = memory.page(PROFILE)
    if profile.exists:
        title = profile.summary or "Who the user is"
        found.append(Resource(PAGE + PROFILE, PROFILE, title, size=len(profile.data)))
    lines = memory.index()
    months = [line for line in lines if line.path.startswith("episodes/")][-_MONTHS:]
    topics = [line for line in lines if line.path.startswith("facts/")]
    chosen = [*reversed(months), *topics][: LISTED - len(found)]
    return found + [
        Resource(PAGE + quote(line.path), line.path, line.summary or line.path, size=line.size)
        for line in chosen
    ]


def read(memory: Memory, uri: str) -> tuple[str, str]:
    """The media type and the text of what stands at an address."""
    if uri.rstrip("/") == INDEX:
        return MARKDOWN, _index(memory)
    if uri.startswith(PAGE):
        return _page(memory, _decoded(uri, PAGE))
    if uri.startswith(TOPIC):
        return _topic(memory, _decoded(uri, TOPIC))
    raise Refused(
        f"Nothing was read: {_shown(uri)} is no address of this memory. There are {INDEX}, {PAGE}<path> (such as "
        f"{PAGE}{PROFILE}) and {TOPIC}<name>."
    )


def _decoded(uri: str, start: str) -> str:
    """The path or name in an address: plain, or with `%` exactly where a URI must have it."""
    given = uri[len(start) :]
    if "%" not in given:
        return given
    name = unquote(given, errors="replace")
    if quote(name) != _ESCAPE.sub(lambda match: match[0].upper(), given):
        raise Refused(
            f"Nothing was read: {_shown(uri)} writes with `%` what is written plainly, or is not UTF-8. Letters, "
            "digits, `.`, `-`, `_` and `/` stand as they are; list the resources for the right spelling."
        )
    return name


def _page(memory: Memory, given: str) -> tuple[str, str]:
    path = page_path(given)
    if path.startswith(_UNSEEN):
        raise Refused(
            f"Nothing was read: {path} waits for a person, and no model reads it before. Ask the user to look at it."
        )
    page = memory.page(path)
    if not page.exists:
        raise Refused(f"Nothing was read: there is no page {path}. {INDEX} lists those that are there.")
    return (JSON if path == STATE else MARKDOWN), page.text


def _topic(memory: Memory, name: str) -> tuple[str, str]:
    from looseleaf.views.topic_memory import topic_md

    names = memory.topics()
    if name not in names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        there = f"There are: {', '.join(names[:_NAMED])}{more}." if names else "There is none yet."
        raise Refused(f"Nothing was read: there is no topic {_shown(name)}. {there}")
    return MARKDOWN, topic_md(memory.topic(name))


def _index(memory: Memory) -> str:
    from looseleaf.text.lines import escape

    def line(path: str, size: int, summary: str) -> str:
        return f"- {path} ({size:,} bytes){f': {escape(summary)}' if summary else ''}"

    lines: list[IndexLine] = memory.index()
    profile = memory.page(PROFILE)
    told = [line(PROFILE, len(profile.data), profile.summary or "")] if profile.exists else []
    told += [line(each.path, each.size, each.summary) for each in lines[:_LINES]]
    if len(lines) > _LINES:
        told.append(f"- and {len(lines) - _LINES:,} more: ask `recall` for what you want to know")
    return "\n".join(("# What this memory holds", "", *(told or ["Nothing yet."]), ""))


def _shown(text: str) -> str:
    return repr(text) if len(text) <= _LONG else f"{text[:_LONG]!r}…"
