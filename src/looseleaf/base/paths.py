"""Paths and names: which text may name a file of a memory, what kind of file it is (FORMAT §2), and shared names."""

from __future__ import annotations

from looseleaf.base.errors import Invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


TOP_PAGES = ("SOUL.md", "PROJECT.md", "PROJECT.local.md", "USER.md")
STATE = "state.json"
SETTINGS = "looseleaf.toml"
DRAWERS = ("facts", "episodes", "days", "review")
PEOPLE_ONLY = frozenset({"SOUL.md"})
"""Pages that people write and the program only reads (seed 003)."""

_PORTS = (f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³")
_DEVICES = frozenset(("con", "prn", "aux", "nul", "clock$", "conin$", "conout$", *_PORTS))
_HEX = frozenset("0123456789abcdefABCDEF")
_FORBIDDEN = frozenset('\\:*?"<>|')
_NAME_BYTES = 120
"""Shorter than any file system's limit, with room for what the store appends to a name."""
_PARTS = 16
"""Three times the depth of any path of a memory; beyond that, systems differ."""


ADDRESS = ("postgresql://", "postgres://")
"""How the address of a memory in a database begins."""
_SCHEME = max(map(len, ADDRESS))


def is_address(where: object) -> bool:
    """True if this names a database and not a folder."""
    return isinstance(where, str) and where[:_SCHEME].lower().startswith(ADDRESS)


def name_fault(name: str) -> str | None:
    """Return what is wrong with one component of a path, or None."""
    if name in ("", ".", ".."):
        return "has an empty, `.` or `..` part"
    if name[0] in ".~-":
        return f"has a part that begins with `{name[0]}`"
    if name != name.strip() or name.endswith("."):
        return "has a part that begins or ends with a space or ends with a dot"
    # Rare, and each look at a folder checks every name.
    if not name.isprintable() or not _FORBIDDEN.isdisjoint(name):
        bad = next(each for each in name if each in _FORBIDDEN or not each.isprintable())
        what = f"`{bad}`" if bad in _FORBIDDEN else f"the invisible or unknown character U+{ord(bad):04X}"
        return f"contains {what}"
    if "%" in name and _is_percent_encoded(name):
        return "contains a percent-encoded character"
    # Windows compares the text before the first dot, without trailing spaces.
    if name.partition(".")[0].rstrip(" ").lower() in _DEVICES:
        return "uses a name that Windows reserves for a device"
    if len(name.encode()) > _NAME_BYTES:
        return f"has a part longer than {_NAME_BYTES} bytes"
    return None if name.isascii() else _unicode_fault(name)


def _is_percent_encoded(name: str) -> bool:
    """Return whether a reader could decode part of a name: `%2e`, `%u002e`."""
    codes = (code[1:5] if code[:1] in ("u", "U") else code[:2] for code in name.split("%")[1:])
    return any(len(digits) in (2, 4) and _HEX.issuperset(digits) for digits in codes)


def _unicode_fault(name: str) -> str | None:
    if _normal_form("NFC", name) != name:
        return "is not in Unicode normal form C, the only spelling that is read"
    # A disguised dot or slash would lead a system or tool that folds it out of the folder.
    plain = _normal_form("NFKC", name)
    if "/" in plain or "\\" in plain or not plain.strip("."):
        return "has a character that some systems take for a dot or a slash"
    return None


def path_fault(path: str) -> str | None:
    """Return what is wrong with a relative path in its canonical spelling, or None."""
    if path.startswith("/"):
        return "is absolute"
    parts = path.split("/")
    if len(parts) > _PARTS:
        return f"has more than {_PARTS} parts"
    return next(filter(None, map(name_fault, parts)), None)


def canonical(path: str) -> str:
    """Return the canonical spelling of a relative path, or raise Invalid."""
    normal = _normalize(path)
    fault = path_fault(normal)
    if fault:
        raise _path_error(path, fault)
    return normal


def page_path(path: str) -> str:
    """Return the canonical path of a page: Markdown at the top of the folder or in a drawer."""
    normal = canonical(path)
    if not is_page(normal):
        raise _path_error(path, "is not the place of a page")
    return normal


def is_page(path: str) -> bool:
    """Return whether a canonical path is a page's: `*.md` at the top or directly in a drawer, and the state."""
    if path == STATE:
        return True
    drawer, slash, name = path.rpartition("/")
    return name.endswith(".md") and len(name) > 3 and (not slash or drawer in DRAWERS)


def why_sealed(path: str) -> str | None:
    """Return why a model may never write a page; None: it may, line by line."""
    name = fold_name(path)
    if name == STATE:
        return "it has a tool of its own, memory_state"
    if name.startswith("review/"):
        return "it waits for a person"
    if name.startswith("days/"):
        return "the program writes what happened on a day. Use facts/<topic>.md or episodes/<yyyy-mm>.md"
    if name == "soul.md" or (name.startswith("project") and "/" not in name):
        return "only people write it. Propose the change to the user instead"
    return None


def safe_name(name: str, what: str) -> str:
    """Return a name (an agent, a topic, an entry id) that can name a file or folder, or raise Invalid."""
    normal = _normalize(name)
    fault = "contains a slash" if "/" in normal else name_fault(normal)
    if fault:
        raise Invalid(
            f"Nothing was done: the {what} {quoted(name)} {fault}. Use a plain name of letters and digits."
        )
    return normal


def same_name(one: str, other: str) -> bool:
    """Return whether two names are one file on a system that ignores case or Unicode form."""
    return fold_name(one) == fold_name(other)


def fold_name(name: str) -> str:
    """Return one form for all names that such a system treats as the same."""
    return name.lower() if name.isascii() else _normal_form("NFKC", _normal_form("NFKC", name).casefold())


def _normalize(text: str) -> str:
    if not isinstance(text, str):
        kind = type(text).__name__
        raise Invalid(
            f"Nothing was done: a path or a name is text, not {kind}. Give it as text, such as USER.md."
        )
    return text if text.isascii() else _normal_form("NFC", text)


def _normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    import unicodedata  # not at the top: plain names do not need it

    return unicodedata.normalize(form, text)


def _path_error(path: str, fault: str) -> Invalid:
    return Invalid(
        f"Nothing was done: the path {quoted(path)} {fault}. Use the name of a page, "
        "such as USER.md, facts/<topic>.md, episodes/<yyyy-mm>.md or days/<yyyy-mm-dd>.md."
    )


def quoted(text: str) -> str:
    """Return the text as Python writes it, cut to about a line: it may be a megabyte long."""
    return repr(text) if len(text) <= _NAME_BYTES else f"{text[:_NAME_BYTES]!r}…"


USER = "user"
PROJECT = "project"
PROFILE = "USER.md"
REVIEW = "review/pending.md"

INCOMING = "views/incoming"
"""What was received to be imported into a memory of a database: a folder for each."""

IMPORTER = "import"
"""The agent under which untrusted talk from elsewhere is recorded."""

TICKED = "ticked"
PINNED = "pinned"
APPROVED = "approved"
"""Tags of facts: ticked in review, pinned, and approved by a person."""

ARCHIVE = "-archive"
"""The suffix of an archive's topic."""
