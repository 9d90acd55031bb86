"""Files of notes, for several formats: which are text, their front matter, and the page each would be.

Everything passed over is noted: a file that looks like a note by its name, others by their number.
"""

from __future__ import annotations

import re

from looseleaf.base.paths import is_page, name_fault
from looseleaf.language.topic_words import topic_name
from looseleaf.text.times import moment
from looseleaf.transfer.json_stream import is_utf_16
from looseleaf.transfer.source import BrokenArchive, ImportDocument, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.transfer.source import ImportSource, Note

MARKDOWN = (".md", ".markdown")
TEXTS = (*MARKDOWN, ".txt", ".org", ".rst")

LONGEST = 1024 * 1024
"""Bytes of a note: the limit of a page."""

NOT_NOTES = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "__MACOSX"})
"""Folders that programs fill, beside hidden ones."""

_TITLE = 200
_HEAD_LINES = 200
_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_ -]{0,40}):[ \t]*(.*)")
_DATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:\b.*)?\Z", re.ASCII | re.DOTALL)
_TIMES = ("date", "created", "created_at", "updated", "modified", "updated_at")


def folder_of(name: str) -> str:
    """Return the folder of a name, with its slash; "" at the top."""
    return name[: name.rfind("/") + 1]


def is_text(name: str, kinds: tuple[str, ...] = TEXTS) -> bool:
    return name.lower().endswith(kinds)


def is_hidden(name: str) -> bool:
    """True for a hidden file, and for one in a folder that is hidden or filled by a program."""
    return any(part.startswith(".") or part in NOT_NOTES for part in name.split("/"))


def select_notes(names: Iterable[str], note: Note, kinds: tuple[str, ...] = TEXTS) -> Iterator[str]:
    """Yield the names of notes, and note the number of other files at the end."""
    hidden = others = 0
    for name in names:
        if is_hidden(name):
            hidden += 1
        elif not is_text(name, kinds):
            others += 1
        else:
            yield name
    for count, what in ((hidden, "hidden, or in a folder that a program fills"), (others, "not text")):
        were, are = ("file was", "it is") if count == 1 else ("files were", "they are")
        if count:
            note(f"{count:,} {were} passed over: {are} {what}.")


def read_text(source: ImportSource, name: str, note: Note) -> str | None:
    """Return the text of a file; None, and a note, if it is not text."""
    try:
        data = source.read(name, LONGEST)
    except BrokenArchive as broken:
        note(str(broken))
        return None
    if data is None:
        why = f"it is longer than a page may be ({LONGEST:,} bytes). Split it"
    elif b"\0" in data:
        why = "it is UTF-16; save it as UTF-8" if is_utf_16(data[:4]) else "it is not text"
    elif not data.strip():
        why = "it is empty"
    else:
        try:
            return data.decode()
        except UnicodeDecodeError:
            why = "it is not UTF-8"
    note(f"{name} was passed over: {why}.")
    return None


def front_matter(text: str) -> dict[str, str]:
    """Return the plain fields between `---` and `---` at the top, by lower-case name, without quotes around values."""
    lines = text.removeprefix("\ufeff").split("\n", _HEAD_LINES + 1)
    if lines[0].rstrip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in lines[1 : _HEAD_LINES + 1]:
        if line.rstrip() in ("---", "..."):
            return found
        field = _FIELD.fullmatch(line.rstrip())
        if field is not None:
            value = field[2].strip()
            is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            found.setdefault(field[1].lower(), value[1:-1] if is_quoted else value)
    return {}  # without an end it is not front matter


def title_of(name: str, text: str, head: dict[str, str]) -> str:
    """Return the title in the front matter, else the first heading, else the file's name."""
    heading = next((line[2:] for line in text.split("\n", _HEAD_LINES) if line.startswith("# ")), "")
    for each in (head.get("title", ""), heading, stem(name)):
        line = " ".join(each[: 4 * _TITLE].split())
        if line:
            return line[:_TITLE]
    return name[:_TITLE]


def day_of(name: str) -> str | None:
    """Return the day that a file is named after: `2026-01-05.md`, `2026-01-05-standup.md`."""
    found = _DATED.match(stem(name))
    return found[1] if found is not None and moment(found[1]) is not None else None


def time_of(source: ImportSource, name: str, head: dict[str, str]) -> float | None:
    """Return the time in a note's front matter, else in its name, else of the file's last change."""
    for each in (*(head.get(field) for field in _TIMES), day_of(name)):
        found = moment(each)
        if found is not None:
            return found
    return source.modified(name)


def page_in(drawer: str, name: str) -> str:
    """Return a page of a drawer: under this name, if a page may have it; else under its words."""
    page = f"{drawer}/{name}.md"
    return page if name_fault(f"{name}.md") is None and is_page(page) else f"{drawer}/{topic_name(name)}.md"


def page_of(name: str, below: str = "") -> str:
    """Return the page of a note: a day's among the days, any other on a page named after its path."""
    if day_of(name) is not None:
        return page_in("days", stem(name))
    words = (name.removeprefix(below).rpartition(".")[0] or stem(name)).replace("/", " ")
    return f"facts/{topic_name(words)}.md"


def read_document(
    source: ImportSource, name: str, note: Note, page: str | None = None, key: str | None = None
) -> ImportDocument | None:
    """Return a note as a document; None, and a note to the user, if it cannot be read."""
    text = read_text(source, name, note)
    if text is None:
        return None
    head = front_matter(text)
    where = page if page is not None else page_of(name)
    title, ts = title_of(name, text, head), time_of(source, name, head)
    return ImportDocument(key or name, text, title, ts, where, topic_of_page(where))


class UniquePages:
    """Numbers pages, so that each note gets its own: two names may have the same words."""

    def __init__(self) -> None:
        self._often: dict[str, int] = {}

    def __call__(self, page: str) -> str:
        self._often[page] = self._often.get(page, 0) + 1
        number = self._often[page]
        return page if number == 1 else f"{page.removesuffix('.md')}-{number}.md"


def topic_of_page(page: str) -> str | None:
    """Return the topic of a page of facts or the profile; None for any other page."""
    drawer, _, name = page.rpartition("/")
    return name.removesuffix(".md") if drawer == "facts" else "user" if page == "USER.md" else None
