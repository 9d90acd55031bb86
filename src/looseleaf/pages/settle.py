"""Settling: a person decides what becomes of a held file (FORMAT §5.6).

Invariant: the bytes of a held file are in `log/aside/` before anything takes their place. A crash leaves the page held,
or settled.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.log.journal import PERSON, record_of
from looseleaf.pages.held import TAKES, copies_among, decode_text, is_blank, new_lines, take_side, with_lines
from looseleaf.store.records import BODIES
from looseleaf.store.root import ASIDE, STAGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    from looseleaf.base.values import Document
    from looseleaf.pages.held import Held, Take
    from looseleaf.pages.pages import Pages
    from looseleaf.store.protocol import OpenStore, Store

    class Needs(Protocol):
        @property
        def pages(self) -> Pages: ...
        @property
        def store(self) -> OpenStore: ...


_LABEL = 40
"""Letters of a path in the name of its copy: with an id before it, short enough for a name."""


@frozen
class Settled:
    """What was decided. `edit`: the edit of the page, if it changed; `aside`: where the held bytes are kept."""

    path: str
    why: str
    take: str
    edit: str | None = None
    aside: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__match_args__}


def find_held(parts: Needs) -> list[Held]:
    """Return the files that wait for a person, by path."""
    parts.pages.absorb_to_read()
    return [held for _, held in sorted((parts.pages.absorb.held | parts.pages.absorb.unread).items())]


def find_log_copies(store: Store) -> Iterator[tuple[str, str]]:
    """Yield conflict copies of log files and entries, each with its original. No command reads them."""
    folders = ["log"]
    while folders:
        here = folders.pop()
        try:
            below = store.folders(here)
            files = [stat.path.rpartition("/")[2] for stat in store.list(here)]
        except Refused:
            continue  # a link, or not to be read: `check` names it
        folders += [f"{here}/{each}" for each in below if f"{here}/{each}" not in (ASIDE, STAGED, BODIES)]
        # People name agents and topics.
        ours = [*files, *(below if here.startswith("log/entries/") else ())]
        for name, original in copies_among(ours, sure=here == "log/prompts"):
            yield f"{here}/{name}", f"{here}/{original}"


def find_agent_copies(store: Store) -> Iterator[tuple[str, str]]:
    """Yield folders of agents' logs that are copies of another, each with its original: their names say so, and their
    first record is the same. They are read as the logs of agents with these names."""
    agents = [stream.partition("/")[2] for stream in store.streams() if stream.startswith("traces/")]
    for name, original in copies_among(agents):
        first = [
            next((line.record.get("id") for line in store.read(f"traces/{each}")), None)
            if each in agents
            else None
            for each in (name, original)
        ]
        if first[0] is not None and first[0] == first[1]:
            yield f"log/traces/{name}", f"log/traces/{original}"


def both_texts(parts: Needs, held: Held) -> tuple[str, str]:
    """Return the last good version of the page, and the text of the held file; if that cannot be read, the same."""
    good = parts.pages.absorb.head_bytes(held.of or held.path) or b""
    if held.why == "unread":
        return good.decode("utf-8", "replace"), good.decode("utf-8", "replace")
    document = parts.store.get(held.path)
    found = document.data if document is not None else b""
    return good.decode("utf-8", "replace"), decode_text(found) or found.decode("utf-8", "replace")


def settle(parts: Needs, path: str, take: str, lines: Sequence[str] | None = None) -> Settled:
    """Settle a held file. `lines`: of a copy, with `both`, only these."""
    with parts.pages.absorb.threads, parts.store.lock():
        parts.pages.absorb()
        held = parts.pages.absorb.held.get(path) or parts.pages.absorb.unread.get(path)
        if held is None:
            raise NotFound(f"Nothing was settled: {path} is not held. `looseleaf settle` lists what is.")
        chosen = next((each for each in TAKES[held.why] if each == take), None)
        if not TAKES[held.why]:
            raise Refused(
                f"{path} was not settled: it {held.says}. Put a file in its place that can be read."
            )
        if chosen is None:
            raise Invalid(
                f"Nothing was settled: {path} {held.says}, and that is settled by {', '.join(TAKES[held.why])}."
            )
        document = parts.store.get(path)
        if held.of is None and not parts.pages.absorb.hold(path, document):
            raise Refused(f"{path} was not settled: it was saved meanwhile. Look at it again.")
        if held.of is not None and document is not None and chosen != "accept":
            return _settle_copy(parts, held, chosen, document, lines)
        return _settle_page(parts, held, chosen, document)


def _settle_page(parts: Needs, held: Held, take: Take, document: Document | None) -> Settled:
    absorb, path = parts.pages.absorb, held.path
    data = document.data if document is not None else None
    text = decode_text(data) if data is not None and held.why == "garbled" else None
    if take == "accept" and (text is None or b"\0" in text.encode()):
        edit = absorb.journal_edit(path, data, PERSON, f"settled: {path} {held.says}, and that is right")
        return Settled(path, held.why, take, edit.id)
    base = document.sha256 if document is not None else None
    good = absorb.head_bytes(path)
    if take == "keep":
        if good is None and absorb.heads.get(path).sha256 is not None:
            raise Refused(
                f"{path} was not settled: its last good version cannot be rebuilt. `looseleaf check` shows why."
            )
        aside = _set_aside(parts, path, data)
        if good is not None:
            absorb.put_back(path, good, base)
            absorb.note_found([path])
        elif base is not None:  # there never was such a page
            parts.store.delete(path, base=base)
        return Settled(path, held.why, take, None, aside)
    new = text.encode() if text is not None else _merged(path, data or b"", take)
    aside = _set_aside(parts, path, data)
    if new == good:
        absorb.put_back(path, new, base)
        return Settled(path, held.why, take, None, aside)
    # The journal goes on from the head; what the new bytes replace is the held file.
    made = absorb.edit_from_head(path, new, PERSON, f"settled: {take}")
    parts.store.put(path, new, base=base, record=record_of(made))
    absorb.heads.catch_up()
    absorb.keep_copy(path, new)
    return Settled(path, held.why, take, made.id, aside)


def _merged(path: str, data: bytes, take: Take) -> bytes:
    """Return a page without its conflicts."""
    try:
        text = take_side(data.decode(), take)
        if path == STATE and text is not None:
            json.loads(text)
    except ValueError:
        text = None
    if text is None:
        raise Refused(
            f"{path} was not settled: its conflict markers do not pair up, or it would not be valid without them. "
            "Finish the merge in an editor, or keep the last good version."
        )
    return text.encode()


def _settle_copy(
    parts: Needs, held: Held, take: Take, document: Document, lines: Sequence[str] | None
) -> Settled:
    page = held.of or ""
    edit = None
    if take != "keep":
        copy = decode_text(document.data)
        if copy is None or "\0" in copy:
            raise Refused(
                f"{held.path} was not settled: it is not UTF-8 text. Save it so with an editor, or drop it (keep)."
            )

        def change(text: str) -> str:
            if take == "theirs":
                return copy
            return with_lines(text, copy, new_lines(text, copy) if lines is None else lines)

        reason = "settled: " + (
            "a conflict copy in its place" if take == "theirs" else "lines of a conflict copy"
        )
        edit = parts.pages.edit(page, change, reason=reason, author=PERSON).id or None
    aside = _set_aside(parts, page, document.data)  # a copy's own name may say anything
    parts.store.delete(held.path, base=document.sha256)
    if held.path in parts.pages.absorb.heads.copies:
        parts.pages.absorb.note_copy(held.path, None)
    return Settled(held.path, held.why, take, edit, aside)


def _set_aside(parts: Needs, path: str, data: bytes | None) -> str | None:
    return None if data is None or is_blank(data) else parts.store.put_aside(data, aside_label(path))


def aside_label(path: str) -> str:
    """Return the end of the names under which held bytes of a page are kept."""
    return f"held-{path}"[:_LABEL]
