"""Files of notes, as several formats have them: which are text, what they say of themselves, which page they would be.

What is passed over is told: a file that looks like a note by its name, others by their number.
"""

from __future__ import annotations

import re

from looseleaf.base.paths import is_page, name_fault
from looseleaf.language.topic_words import topic_name
from looseleaf.text.times import moment
from looseleaf.transfer.json_stream import is_utf_16
from looseleaf.transfer.source import Broken, Document, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.transfer.source import Note, Source

MARKDOWN = (".md", ".markdown")
TEXTS = (*MARKDOWN, ".txt", ".org", ".rst")

LONGEST = 1024 * 1024
"""Bytes of a note: what a page may have."""

NOT_NOTES = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "__MACOSX"})
"""Folders that programs fill, beside hidden ones."""

_TITLE = 200
_HEAD_LINES = 200
_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_ -]{0,40}):[ \t]*(.*)")
_DATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:\b.*)?\Z", re.ASCII | re.DOTALL)
_TIMES = ("date", "created", "created_at", "updated", "modified", "updated_at")


def folder_of(name: str) -> str:
    """The folder of a name, with its slash; "" at the top."""
    return name[: name.rfind("/") + 1]


def is_text(name: str, kinds: tuple[str, ...] = TEXTS) -> bool:
    return name.lower().endswith(kinds)


def is_hidden(name: str) -> bool:
    """Whether a file is hidden, or lies in a folder that is, or that a program filled."""
    return any(part.startswith(".") or part in NOT_NOTES for part in name.split("/"))


def sort_out(names: Iterable[str], note: Note, kinds: tuple[str, ...] = TEXTS) -> Iterator[str]:
    """The names of notes; how many others there were is told at the end."""
    hidden = others = 0
    for name in names:
        if is_hidden(name):
            hidden += 1
        elif not is_text(name, kinds):
            others += 1
        else:
            yield name
    for count, what in ((hidden, "hidden, or in a folder that a program fills"), (others, "no text")):
        if count:
            note(
                f"{count:,} {'file was' if count == 1 else 'files were'} passed over: "
                f"{'it is' if count == 1 else 'they are'} {what}."
            )


def text_of(source: Source, name: str, note: Note) -> str | None:
    """What a file says, as it stands there; None (which is told) if it is no text."""
    try:
        data = source.read(name, LONGEST)
    except Broken as broken:
        note(str(broken))
        return None
    if data is None:
        why = f"it is longer than {LONGEST:,} bytes, which is what a page may have. Split it"
    elif b"\0" in data:
        why = "it is UTF-16; save it as UTF-8" if is_utf_16(data[:4]) else "it is no text"
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
    """The plain fields between `---` and `---` at the top, by name in lower case; quotes around a value go."""
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
    return {}  # it never ends: then it has not begun


def title_of(name: str, text: str, head: dict[str, str]) -> str:
    """By the front matter, else by the first heading, else by the file."""
    heading = next((line[2:] for line in text.split("\n", _HEAD_LINES) if line.startswith("# ")), "")
    for each in (head.get("title", ""), heading, stem(name)):
        line = " ".join(each[: 4 * _TITLE].split())
        if line:
            return line[:_TITLE]
    return name[:_TITLE]


def day_of(name: str) -> str | None:
    """The day that a file is named after: `2026-01-05.md`, `2026-01-05-standup.md`."""
    found = _DATED.match(stem(name))
    return found[1] if found is not None and moment(found[1]) is not None else None


def time_of(source: Source, name: str, head: dict[str, str]) -> float | None:
    """When a note was written: as it says, as its name says, or as the file was last changed."""
    for each in (*(head.get(field) for field in _TIMES), day_of(name)):
        found = moment(each)
        if found is not None:
            return found
    return source.modified(name)


def page_for(drawer: str, name: str) -> str:
    """A page of a drawer: under the name that it has, if that may be one; else under its words."""
    page = f"{drawer}/{name}.md"
    return page if name_fault(f"{name}.md") is None and is_page(page) else f"{drawer}/{topic_name(name)}.md"


def page_of(name: str, below: str = "") -> str:
    """Where a note would stand: a day's among the days, any other on a page named after its path."""
    if day_of(name) is not None:
        return page_for("days", stem(name))
    words = (name.removeprefix(below).rpartition(".")[0] or stem(name)).replace("/", " ")
    return f"facts/{topic_name(words)}.md"


def document(
    source: Source, name: str, note: Note, page: str | None = None, key: str | None = None
) -> Document | None:
    """A note as it stands in its file; None (which is told) if it cannot be read."""
    text = text_of(source, name, note)
    if text is None:
        return None
    head = front_matter(text)
    where = page if page is not None else page_of(name)
    return Document(
        key or name, text, title_of(name, text, head), time_of(source, name, head), where, topic_for(where)
    )


class Apart:
    """Gives each note a page of its own: two may have names of the same words."""

    def __init__(self) -> None:
        self._often: dict[str, int] = {}

    def __call__(self, page: str) -> str:
        self._often[page] = self._often.get(page, 0) + 1
        number = self._often[page]
        return page if number == 1 else f"{page.removesuffix('.md')}-{number}.md"


def topic_for(page: str) -> str | None:
    """What a page of facts is about; None for any other page."""
    drawer, _, name = page.rpartition("/")
    return name.removesuffix(".md") if drawer == "facts" else "user" if page == "USER.md" else None
