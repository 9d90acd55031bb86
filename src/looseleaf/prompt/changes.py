"""Changes: what the memory says now and did not say when a conversation's prompt began (DESIGN §7).

The beginning of a prompt stays as it is, because a provider's cache pays for that. What changed since is told once,
late, in one short message, which then stays where it is too.
"""

from __future__ import annotations

import json
from collections import Counter

from looseleaf.log.trace_messages import guard
from looseleaf.text import untrusted
from looseleaf.text.lines import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

HEADING = "[MEMORY:CHANGES]"
_SAYS, _NO_LONGER = "now says", "no longer says"
_KEPT_BY_US = ("- Updated: ", "> Summary: ")
"""Lines of a page that the program keeps: that they changed says nothing."""


def told(parts: Iterable[tuple[str, Iterable[str]]], word: str) -> str:
    """One message of what changed, by page; nothing if that is nothing. `word` is the one of its fences."""
    lines: list[str] = []
    for name, said in parts:
        own = list(said)
        lines += [f"{guard(escape(name))}:", *own] if own else []
    is_fenced = any(untrusted.opened(word) in line for line in lines)
    return "\n".join((HEADING, *([untrusted.notice(word)] if is_fenced else ()), *lines)) if lines else ""


def of_page(
    old: str | None,
    new: str | None,
    foreign: Iterable[str],
    word: str,
    elsewhere: Collection[str] = (),
    *,
    is_doubted: bool = False,
) -> Iterator[str]:
    """The lines that came and went. A line that only moved did neither, also to another page: `elsewhere` are texts of
    lines that hold. `foreign` are lines that nobody vouches for: they are fenced. `is_doubted`: of those that went,
    nobody knows whose they were."""
    if not (new or "").strip():
        yield "- says nothing any more"
        return
    before, after = _lines(old), _lines(new)
    doubtful = set(_lines("\n".join(foreign)))
    for line in _beyond(after, before):
        said = guard(line)
        yield f"- {_SAYS}: {untrusted.fenced(said, word) if line in doubtful else untrusted.inert(said, word)}"
    moved = set(_lines("\n".join(elsewhere)))
    for line in _beyond(before, after):
        if line not in moved:
            said = guard(line)
            yield f"- {_NO_LONGER}: {untrusted.fenced(said, word) if is_doubted else untrusted.inert(said, word)}"


def _beyond(lines: list[str], others: list[str]) -> Iterator[str]:
    """Those that stand there more often than among the others."""
    left = Counter(others)
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        else:
            yield line


def _lines(text: str | None) -> list[str]:
    found = (escape(line) for line in (text or "").splitlines())
    return [line.removeprefix("- ") for line in found if line and not line.startswith(_KEPT_BY_US)]


def of_state(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What the state says otherwise now: single values as they are, and of lists what came and went."""
    for name in dict.fromkeys((*new, *old)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if isinstance(before or after, str):
            yield f"- {name}: {guard(escape(str(after or 'nothing any more')))}"
            continue
        was, now = _rows(before), _rows(after)
        yield from (f"- {name}, {_SAYS}: {row}" for row in now if row not in was)
        yield from (f"- {name}, {_NO_LONGER}: {row}" for row in was if row not in now)


def _rows(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [guard(escape(f"{key}: {each}")) for key, each in value.items()]
    return [guard(escape(_row(each))) for each in value or ()]


def _row(each: Any) -> str:
    if not isinstance(each, dict):
        return str(each)
    title = str(each.get("title") or json.dumps(each, ensure_ascii=False))
    name, status = each.get("id"), each.get("status")
    return (f"{name} " if name else "") + title + (f" ({status})" if status else "")


def of_pages(new: Iterable[tuple[str, str]], gone: Iterable[str]) -> Iterator[str]:
    """Pages of the drawers, with their summaries, that can be read now; and those that cannot any more."""
    yield from (
        guard(f"- can be read now: {path}{f': {escape(said)}' if said else ''}") for path, said in new
    )
    yield from (guard(f"- is gone: {path}") for path in gone)
