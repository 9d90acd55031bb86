"""Held pages: which bytes of a page are not believed, and which files are only copies of one (FORMAT §5.6, §2.6).

A page that a killed editor emptied, a merge left with conflict markers, or a full disk cut off is not what a person
meant. It is held until a person decides, and its last journaled version stays in use. Copies that programs put beside
a page when two machines changed it are not pages.
"""

from __future__ import annotations

import re
from collections import Counter

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE, TOP_PAGES, fold_name
from looseleaf.text.diff import diff, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator, Sequence
    from typing import Any, Literal

    Why = Literal["emptied", "garbled", "conflict", "cut", "gone", "renamed", "evicted", "unread", "copy"]
    Take = Literal["keep", "accept", "ours", "theirs", "both"]

TAKES: dict[Why, tuple[Take, ...]] = {
    "emptied": ("keep", "accept"),
    "garbled": ("keep", "accept"),
    "conflict": ("keep", "ours", "theirs", "both", "accept"),
    "cut": ("keep", "accept"),
    "gone": ("keep", "accept"),
    "renamed": ("accept",),
    "evicted": ("keep", "accept"),
    "unread": (),
    "copy": ("keep", "theirs", "both", "accept"),
}
"""For each reason to hold a file, what a person may decide."""


@frozen
class Held:
    """A file that is not believed: a page's, or (`of`) a copy of a page. `line`: the first one that is wrong."""

    path: str
    why: Why
    line: int | None = None
    of: str | None = None

    @property
    def says(self) -> str:
        """What is wrong with it, as part of a sentence that begins with its path."""
        return {
            "emptied": "was emptied",
            "garbled": f"is not UTF-8 text, from line {self.line}",
            "conflict": f"has conflict markers, from line {self.line}",
            "cut": "is cut off in the middle of a line",
            "gone": "is gone, and so are most other pages",
            "renamed": "is there under another spelling of its name, and must be renamed",
            "evicted": "is not downloaded: iCloud left a stub in its place",
            "unread": "cannot be read: it is a link, too large, or not for this user",
            "copy": f"is a conflict copy of {self.of}",
        }[self.why]

    @property
    def short(self) -> str:
        """The page and what is wrong, in a few words. A copy is not named: its name may say anything."""
        what = {
            "conflict": "conflict markers",
            "cut": "cut off",
            "garbled": "not UTF-8 text",
            "renamed": "its name is spelled otherwise",
            "evicted": "not downloaded",
            "unread": "a link, too large, or not readable",
        }
        return f"a conflict copy of {self.of}" if self.of else f"{self.path} ({what.get(self.why, self.why)})"

    def to_dict(self) -> dict[str, Any]:
        takes = list(TAKES[self.why])
        return {"path": self.path, "why": self.why, "line": self.line, "of": self.of, "takes": takes}


class Unsettled(Refused):
    """A page is held until a person settles it (`looseleaf settle`), and was not changed."""

    def __init__(self, held: Held) -> None:
        self.held = held
        super().__init__(
            f"{held.path} was not changed: it {held.says}, and waits for a person's word. `looseleaf settle` shows it, "
            "and what can be done."
        )


# --- bytes that are not believed ----------------------------------------------------------

_BLANK = b" \t\r\n\v\f\0\xef\xbb\xbf\xff\xfe"
"""White space, byte order marks, and the zeros that a power cut leaves."""

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16."""

_BLOCK = 4096
"""Bytes that a file system writes at once: a page that is cut off often ends after some of them."""

_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_BULLET = re.compile(rb"[-*+][ \t]")


def is_blank(data: bytes | None) -> bool:
    return not (data or b"").strip(_BLANK)


def why_held(path: str, data: bytes, head: Callable[[], bytes | None]) -> Held | None:
    """Return why the new bytes of a page are not believed; None: they are what a person saved. `head` returns its last
    journaled bytes. An empty or broken `state.json` has its own rule (FORMAT §11.4)."""
    if is_blank(data):
        return Held(path, "emptied") if path != STATE and not is_blank(head()) else None
    if found := find_markers(data):
        now, before = (Counter(line for _, line in each) for each in (found, find_markers(head() or b"")))
        first = next((number for number, line in found if now[line] > before[line]), None)
        if first is not None:
            return Held(path, "conflict", first)
    if path == STATE:
        return None
    if (data[-1:] != b"\n" or len(data) % _BLOCK == 0) and _is_cut(data, head()):
        return Held(path, "cut")
    bad = _find_garbled(data)
    was_text = bad is not None and (last := head()) is not None and _find_garbled(last) is None
    return Held(path, "garbled", bad) if was_text else None


def decode_text(data: bytes) -> str | None:
    """Return the text of a file in UTF-8, or in UTF-16 with the mark that editors on Windows put there; else None."""
    encoding = "utf-16" if data[:2] in UTF_16 else "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _find_garbled(data: bytes) -> int | None:
    """Return the first line that is not UTF-8, or has a zero byte; None if all are text."""
    try:
        data.decode()
        at = data.find(b"\0")
    except UnicodeDecodeError as error:
        at = error.start
    return None if at < 0 else data.count(b"\n", 0, at) + 1


def find_elsewhere(path: str, folded: Container[str]) -> Held | None:
    """Return why a page without a file is not gone, in a folder with these names (`fold_name`)."""
    name = fold_name(path.rpartition("/")[2])
    if name in folded:
        return Held(path, "renamed")
    return Held(path, "evicted") if stub_of(name) in folded else None


def stub_of(name: str) -> str:
    """Return the name of the file that iCloud leaves where it takes the bytes of one away."""
    return f".{name}.icloud"


def vanished_together(gone: int, known: int) -> bool:
    """True if so many of the known pages are gone at once that no person deleted them: all, or most, and more than one
    or two. A folder that is not mounted, another branch, or a program that synchronizes takes many."""
    return gone > 1 and (gone == known or (gone > 2 and 2 * gone > known))


def find_markers(data: bytes) -> list[tuple[int, bytes]]:
    """Return the conflict markers, whole conflicts and leftovers, each with its line number. None begins in a fence:
    there a page talks about them. A line of `=` also underlines a heading, `>` quotes a letter, `|` is a table."""
    if not any(each in data for each in _MARKERS):
        return []
    from looseleaf.pages.grammar import find_fenced_lines

    found: list[tuple[int, bytes]] = []
    fenced = [*find_fenced_lines(data.decode("utf-8", "replace")), False]
    lines = [line.rstrip(b"\r") for line in data.split(b"\n")]
    begun = is_open = False
    for at, line in enumerate(lines):
        around = lines[at - 1] if at else b"", b"".join(lines[at + 1 : at + 2])
        # Inside a conflict, a fence of one side may end in the other.
        if (is_open or not fenced[at]) and _is_marker(line, *around, begun):
            begun = begun or line.startswith(b"<")
            is_open = not line.startswith(b">") if is_open else line.startswith(b"<")
            found.append((at + 1, line))
    return found


def _is_marker(line: bytes, before: bytes, after: bytes, begun: bool) -> bool:
    """True if a line is a conflict marker, between these two. `begun`: a conflict began above it."""
    mark, rest = line[:7], line[7:]
    if mark not in _MARKERS or rest[:1] not in (b"", b" "):
        return False
    if mark == _MARKERS[0] or begun:
        return mark != _MARKERS[2] or not rest
    if mark == _MARKERS[1]:
        return bool(rest.strip()) and b"|" not in rest
    if mark == _MARKERS[2]:
        return not rest and bool(_BULLET.match(before)) and bool(_BULLET.match(after))
    return bool(rest.strip()) and not before.startswith(b">") and not after.startswith(b">")


def _is_cut(data: bytes, head: bytes | None) -> bool:
    """True if a page is the beginning of its head up to the middle of a line or the end of a block; or lost more than
    half of its text, in the middle of a line; or ends in the middle of a letter."""
    if head is None or len(data) >= len(head):
        return False
    if data[-1:] == b"\n":
        return head.startswith(data)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end == len(data) and error.reason == "unexpected end of data"
    if head.startswith(data):
        rest, end, _ = head[len(data) :].partition(b"\n")
        return len(data) % _BLOCK == 0 or bool(end and rest.strip())
    last = data.rpartition(b"\n")[2]
    return 2 * len(data) < len(head) and any(
        line.startswith(last) and line.rstrip() != last.rstrip() for line in head.split(b"\n")
    )


def take_side(text: str, take: Take) -> str | None:
    """Return a text without its conflicts: the upper side of each, the lower one, or both; None if the markers do not
    pair. For both, markers that were left over just go."""
    kept: list[str] = []
    upper: list[str] = []
    part = ""
    marks = {number: line[:7] for number, line in find_markers(text.encode("utf-8", "replace"))}
    for number, line in enumerate(split_lines(text), 1):
        mark = marks.get(number, b"")
        after = {(_MARKERS[0], ""): "upper", (_MARKERS[1], "upper"): "base", (_MARKERS[3], "lower"): ""}
        after |= {(_MARKERS[2], "upper"): "lower", (_MARKERS[2], "base"): "lower"}
        if (mark, part) in after:
            part = after[mark, part]
            upper = upper if part else []
        elif part == "lower":
            if take == "theirs" or (take == "both" and line not in upper):
                kept.append(line)
        elif part == "upper":
            upper.append(line)
            if take != "theirs":
                kept.append(line)
        elif part == "":
            kept.append(line)
    done = "".join(kept)
    left = find_markers(done.encode("utf-8", "replace"))
    if not part and not left:
        return done
    if take != "both":
        return None
    return "".join(line for number, line in enumerate(split_lines(text), 1) if number not in marks)


# --- copies by other programs ---------------------------------------------------------------

_CONFLICT = (
    "conflict|konflik|conflit|конфликт|конфлікт|競合|冲突|衝突|충돌|modstrid|motstrid|çakış|çeliş|bertentang|canggah|"
    "ristirii|ütköz|xung đột|διένεξ|متعارض|מתנגש|ขัดแย้ง"
)
_COPY = "cop[iy]|kopi|kopya|cópia|копи|копі|コピー|副本|複本|사본|salinan|másolat|bản sao|αντίγραφ|نسخة|עותק|สำเนา"
_IN = r"(?:[^()\[\]]|[\[(][^()\[\]]*[\])])*"
"""What stands in brackets; brackets in it too."""

_SURE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i)(.+?)\s?[\[(](?={_IN}(?:{_CONFLICT}))(?={_IN}(?:{_COPY})){_IN}[\])]",
        r"(?i)(.+?)\s?\((?:unicode encoding|selective sync|white ?space|case) conflict(?: \d+)?\)",
        r"(?i)(.+?)\s?\(sfconflict [^()]*\)",
        r"(.+)\.sync-conflict-\d{8}-\d{6}(?:-\w+)?",
        r"(.+)_conflict-\d{8}-\d{6}",
        r"(.+)_[^_]+_[A-Z][a-z]{2}-\d{2}-\d{6}-\d{4}_[A-Za-z]*Conflict(?:\(\d+\))?",
        r"(.+)_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+",
    )
)
"""Names that no person gives: of Dropbox, Nextcloud, Obsidian, Seafile, Syncthing, ownCloud, Synology, git's
mergetool."""

_A_COPY = "copy|copie|copia|cópia|kopie|kopia|kopi|kopio|kopya|копия|копія|コピー|副本|複本|사본|복사본|salinan|másolat"
_LIKELY = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(.+?)\s?\(\d{1,2}\)",
        r"(.+) \d{1,2}",
        rf"(.+?)(?: [-–])? (?:{_A_COPY})(?: \d+| ?\(\d+\))?",
        r"(.+?)\s?[-–の的]?\s?(?:コピー|副本|複本)(?: ?\d+| ?\(\d+\))?",
        rf"(?:{_A_COPY})(?: (?:of|von|van|de|di|do|da|av|af))? (.+)",
        r"(.+?)\s?[\[(]conflict(?:ed)?[\])]",
    )
)
"""Names that people give too (iCloud, Google Drive, browsers, file managers): the content decides."""

_HOST = re.compile(r"-(?=([A-Za-z0-9][A-Za-z0-9-]*)\Z)")
"""OneDrive adds the name of the computer."""

_ALIKE = 0.5
"""The share of lines that a copy has in common with its page, at least."""

_NEARLY, _FEWEST = 0.8, 3
"""The share of its lines that a file has from a page, and how many these are, if only this tells that it is a copy."""

_PLAIN = str.maketrans("（）［］【】", "()[][]")


def sure_original(name: str) -> str | None:
    """Return the file that a name is a copy of, if the name alone tells."""
    stem, suffix = _split_name(name)
    match = next(filter(None, (each.fullmatch(stem.translate(_PLAIN)) for each in _SURE)), None)
    return f"{stem[: match.end(1)]}{suffix}" if match else None


def likely_originals(name: str) -> Iterator[str]:
    """Yield the files that a name may be a copy of."""
    stem, suffix = _split_name(name)
    plain = stem.translate(_PLAIN)
    matches = filter(None, (each.fullmatch(plain) for each in _LIKELY))
    yield from (f"{stem[slice(*match.span(1))]}{suffix}" for match in matches)
    for match in _HOST.finditer(stem):
        if match[1] != match[1].lower() and match.start():
            yield f"{stem[: match.start()]}{suffix}"


def _related_originals(name: str) -> Iterator[str]:
    """Yield the files whose names stand at the beginning or the end of a name."""
    stem, suffix = _split_name(name)
    for at in range(1, len(stem)):
        if not (
            stem[at - 1].isalnum() and stem[at].isalnum() and stem[at - 1].isascii() == stem[at].isascii()
        ):
            yield f"{stem[:at].rstrip(_BETWEEN)}{suffix}"
            yield f"{stem[at:].lstrip(_BETWEEN)}{suffix}"


_BETWEEN = " -–_.,~([（【"


def may_be_copy_of(name: str) -> Iterator[str]:
    """Yield the files that a name may be a copy of, if they are alike."""
    if name not in TOP_PAGES:
        yield from likely_originals(name)
        yield from (each for each in _related_originals(name) if each != name)


def _split_name(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return (stem, f".{suffix}") if dot else (name, "")


_LEFTOVERS = (".md.orig", ".md.rej", ".md.bak")


def leftover_of(name: str) -> str | None:
    """Return the page beside which a merge or a patch left this file. It is not read; nor are the files in which an
    editor keeps its own (`~`, `.swp`, `#…#`)."""
    return name.rpartition(".")[0] if name.endswith(_LEFTOVERS) else None


def copies_among(names: Collection[str], *, sure: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the copies among files that the program names, each with its original. `sure`: people gave these names, so
    only those count that no person gives."""
    for name in sorted(names):
        likely = (each for each in likely_originals(name) if each in names and not sure)
        original = sure_original(name) or next(likely, None)
        if original is not None:
            yield name, original


def find_original(
    name: str, text: str, names: Collection[str], read: Callable[[str], Sequence[str]]
) -> str | None:
    """Return the page that a file is a copy of, of those with these names; None: it is a page of its own. `read`
    returns the texts of a page, as it is now and as it was. Lines that a page lost to a new one are no copies."""
    sure = sure_original(name)
    if sure is not None:
        return sure
    likely = {*likely_originals(name)}
    return next(
        (
            each
            for each in may_be_copy_of(name)
            if each in names
            and (
                (each in likely and any(_is_alike(text, other) for other in read(each)))
                or any(_is_nearly(text, other) for other in read(each)[:1])
            )
        ),
        None,
    )


def _is_nearly(text: str, page: str) -> bool:
    """True if nearly all lines of a text are those of a page."""
    lines = own_lines(text)
    shared = len(lines & own_lines(page))
    return shared >= max(_FEWEST, _NEARLY * len(lines)) and not _have_two_titles(text, page)


def _have_two_titles(one: str, other: str) -> bool:
    titles = [_title_of(each) for each in (one, other)]
    return all(titles) and titles[0] != titles[1]


def _is_alike(one: str, other: str) -> bool:
    """True if two pages have a common past: half of the lines of the shorter one, or of its labels if the titles are
    the same. Pages with two titles have none."""
    if _have_two_titles(one, other):
        return False
    lines = [own_lines(each) for each in (one, other)]
    if not all(lines):
        return False
    kinds = [lines]
    if _title_of(one) and _title_of(other):
        kinds.append([{each.partition(":")[0] for each in some} for some in lines])
    return any(len(here & there) >= _ALIKE * min(len(here), len(there)) for here, there in kinds)


def _title_of(text: str) -> str:
    first = next((line for line in text.splitlines() if line.startswith("# ")), "")
    return " ".join(first[2:].casefold().split())


def own_lines(text: str) -> set[str]:
    """Return the lines that say something: no headings, nothing that the program writes of itself."""
    lines = (line.strip() for line in text.splitlines())
    return {each for each in lines if each and not each.startswith(("#", "> Summary:", "- Updated:"))}


def new_lines(page: str, copy: str) -> list[str]:
    """Return the lines of a copy that the page lacks, in their order."""
    new = own_lines(copy) - own_lines(page)
    return [each for each in dict.fromkeys(line.strip() for line in copy.splitlines()) if each in new]


def with_lines(page: str, copy: str, chosen: Collection[str]) -> str:
    """Return the page with these lines of a copy, each where the copy has it."""
    lines = list(split_lines(page))
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    left = set(chosen)
    made: list[str] = []
    at = 0
    for hunk in diff("".join(lines), copy):
        end = hunk.at + len(hunk.removed)
        made += lines[at:end]
        at = end
        for line in hunk.added:
            if line.strip() in left:
                left.discard(line.strip())
                made.append(line if line.endswith("\n") else f"{line}\n")
    return "".join([*made, *lines[at:]])
