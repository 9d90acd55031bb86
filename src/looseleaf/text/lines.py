"""The grammar of one line: headings, bullets, relations, fences, and content made safe to stand in one.

Invariant: what `bullet_text` writes for a relation and an object, `statement` reads back as exactly the pair that
`as_written` names; and no content, however hostile, is more than the text of one bullet.

Lines are untrusted: no pattern here backtracks, and no character is read more than a fixed number of times. Patterns,
here and elsewhere, are `lazy`: compiling all of them takes longer than most commands.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.errors import Invalid
from looseleaf.base.values import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from looseleaf.base.values import Kind


# --- patterns compiled on first use -----------------------------------------------------

NEVER = "(?!)"
"""Matches nothing."""


def lazy(pattern: str | Callable[[], str], flags: int = 0, *, in_ascii: str = "") -> re.Pattern[str]:
    """Return a pattern that compiles at the first call of a method; the functions of `re` do not accept it.
    `pattern`: its source, or what returns it then; `in_ascii`: a pattern with the same matches in ASCII text that
    compiles faster, since large character sets are slow."""
    made: Any = _ByText(pattern, flags, in_ascii) if in_ascii else _Lazy(pattern, flags)
    found: re.Pattern[str] = made
    return found


def one_of(words: Iterable[str]) -> str:
    """Return a pattern of alternatives, not escaped, the longest first; the same for any order of `words`."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


class _Lazy:
    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._source, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Compile, and store the method on the instance, so that this runs once per method."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._bind_method(name)
        setattr(self, name, found)
        return found

    def _bind_method(self, name: str) -> Any:
        source = self._source if isinstance(self._source, str) else self._source()
        return source if name == "pattern" else getattr(re.compile(source, self._flags), name)


class _ByText(_Lazy):
    def __init__(self, pattern: str | Callable[[], str], flags: int, in_ascii: str) -> None:
        super().__init__(pattern, flags)
        self._ascii, self._full = _Lazy(in_ascii, flags), _Lazy(pattern, flags)

    def _bind_method(self, name: str) -> Any:
        if name not in _ON_TEXT:
            return super()._bind_method(name)
        return lambda text, *within: getattr(self._ascii if text.isascii() else self._full, name)(
            text, *within
        )


_ON_TEXT = frozenset({"match", "fullmatch", "search", "findall", "finditer"})
"""The methods that use the ASCII pattern; begin and end are positional arguments."""


# --- lines of a page --------------------------------------------------------------------

NOTE = "note"
RELATION_WORDS = 6
RELATION_CHARS = 60  # these two are part of the format: other values would read old pages differently
_KNOWN_CHARS = 400  # of lines that are cached

_COLONS = ":\uff1a"
_COLON = lazy(f"[{_COLONS}]")
_EMPHASIS = ("**", "__", "*", "_")
_PAIRS = ("()", "[]", "{}", "\uff08\uff09", "\u300c\u300d", "\u201c\u201d")
_NO_LAST = frozenset(".,;!?-/\\'\"&=\u2013\u2014\u2026\u3001\u3002\uff01\uff0c\uff1b\uff1f" + _COLONS)
BLOCK_FIRST = frozenset("#>-+*=|<`~[_")
"""First characters with which Markdown may begin a block (or hide the line)."""

_BREAKS = lazy("[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
# Control characters, and those that hide or reorder text for a reviewing person.
_UNSEEN = lazy(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
BULLET = lazy(r"[-*+][ \t]+")
CHECKBOX = lazy(r"\[([ xX])\](?:[ \t]+|$)")
_HEADING = lazy(r"(#{1,6})(?:[ \t]|$)")
_LIST_MARKS = lazy(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*")
_NUMBERED = lazy(r"[0-9]{1,9}[.)](?:[ \t]|$)")
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
_MOMENT = lazy(_DAY + r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]{1,9})?)?" + _ZONE)
_KIND_NAMES: dict[str, Kind] = {name: kind for kind in KINDS for name in (kind, kind + "s")}
_KIND_NAMES["identities"] = "identity"


def escape(content: str) -> str:
    """Return `content` as one visible line: breaks become spaces, unseen characters are escaped (`\\x1b`)."""
    if not content.isprintable():
        content = _UNSEEN.sub(_escape_code, content)
        content = " ".join(filter(None, (part.strip() for part in _BREAKS.split(content))))
    return content.strip()


def _escape_code(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def body(line: str) -> str:
    """Return the line without its end and without a byte order mark (joined files have one in the middle)."""
    return line.removesuffix("\n").removesuffix("\r").removeprefix("\ufeff")


def line_end(line: str) -> str:
    return line[len(line.removesuffix("\n").removesuffix("\r")) :]


def is_blank(line: str) -> bool:
    return not line.strip("\ufeff \t\r\n\x0b\x0c")


def is_rule(text: str) -> bool:
    """Return whether it is a line across the page, not a bullet: `---`, `* * *`."""
    marks = text.replace(" ", "").replace("\t", "")
    return len(marks) >= 3 and marks[0] in "-*_" and not marks.strip(marks[0])


def heading(text: str) -> tuple[int, str] | None:
    """Return level and words of a heading."""
    match = _HEADING.match(text)
    return (len(match[1]), heading_words(text[match.end() :])) if match else None


def heading_words(text: str) -> str:
    """Return the words of a heading without closing marks: `Title #` is closed, `About C#` is not."""
    text = escape(text)
    words = text.rstrip("# \t")
    closing = text[len(words) :]
    return words + closing[: len(closing) - len(closing.lstrip("#"))] if words else ""


def kind_named(words: str) -> Kind | None:
    """Return the kind that a heading names: in the singular or plural, in any case."""
    return _KIND_NAMES.get(_strip_emphasis(words.rstrip(_COLONS)).rstrip(_COLONS).casefold())


def fence(text: str) -> str:
    """Return the marks that open a fence here, alone or as the text of a list item; else "".

    In list items too, because the closing mark of such a fence would otherwise read as an opening one.
    """
    if "```" not in text and "~~~" not in text:  # nearly every line: this makes reading twice as fast
        return ""
    marks = _LIST_MARKS.match(text)
    rest = text[marks.end() :] if marks else text
    for mark in "`~":
        run = rest[: len(rest) - len(rest.lstrip(mark))]
        if len(run) >= 3 and not (mark == "`" and mark in rest[len(run) :]):
            return run
    return ""


def _strip_emphasis(label: str) -> str:
    """Return `label` without emphasis around all of it."""
    for mark in _EMPHASIS:
        if label.startswith(mark) and label.endswith(mark) and len(label) > 2 * len(mark):
            return label[len(mark) : -len(mark)].strip()
    return label


def split_relation(content: str) -> tuple[str, str] | None:
    """Return relation and object of a bullet's text, divided at its first colon; None if that does not divide."""
    # Room for emphasis and a space: a colon further right cannot divide.
    colon = _COLON.search(content, 0, RELATION_CHARS + 6)
    if colon is None:
        return None
    left, right = content[: colon.start()], content[colon.end() :]
    for mark in _EMPHASIS:  # `**Name:** Zhang`; `**Name**: Zhang` is handled below
        if left.startswith(mark) and right.startswith(mark) and mark not in left[len(mark) :]:
            left, right = left[len(mark) :], right[len(mark) :]
            break
    relation = _strip_emphasis(left.strip())
    if not _is_divider(colon[0], left, right) or not _is_relation(relation):
        return None
    return (NOTE if relation.casefold() == NOTE else relation), right.strip()


def _is_divider(colon: str, left: str, right: str) -> bool:
    before, after = left[-1:], right[:1]
    if colon == ":":
        # Not in a URL, a time, a drive or `std::vector`. But Chinese has no space after it.
        return not after or after.isspace() or (before.isalpha() and before >= "\u2e80")
    return not (before.isdigit() and after.isdigit())


def _is_relation(text: str) -> bool:
    return (
        0 < len(text) <= RELATION_CHARS
        and len(text.split()) <= RELATION_WORDS
        and text[-1] not in _NO_LAST
        and (text.isalpha() or (any(char.isalpha() for char in text) and _is_balanced(text)))
    )


def _is_balanced(text: str) -> bool:
    # After an open bracket, quote or code span, the colon belongs to what it opens.
    return (
        text.count("`") % 2 == 0
        and text.count('"') % 2 == 0
        and all(text.count(pair[0]) == text.count(pair[1]) for pair in _PAIRS)
    )


def worded(relation: str, said: str) -> str:
    """Return a fact in words: `Home: Oslo`; a note is its text."""
    return said if relation == NOTE else f"{relation}: {said}"


def statement(content: str) -> tuple[str, str] | None:
    """Return what a bullet's text states; None if it is another block, or a label without text."""
    # A page is read again after each edit: most lines are cached. Long ones would fill the cache.
    return _cached_statement(content) if len(content) < _KNOWN_CHARS else _parse_statement(content)


def _parse_statement(content: str) -> tuple[str, str] | None:
    content = escape(content)
    if (
        not content
        or content.startswith(("> ", "<!--"))
        or _HEADING.match(content)
        or BULLET.match(content[:2].ljust(2))
        or CHECKBOX.match(content)
    ):
        return None
    relation, said = split_relation(content) or (NOTE, content)
    return (relation, said) if said else None


_cached_statement = lru_cache(8192)(_parse_statement)


def is_updated(relation: str, said: str) -> bool:
    """Return whether the program wrote it: `Updated: 2026-02-24`; `Updated: the kitchen` is a fact like any other."""
    return relation.casefold() == "updated" and _MOMENT.fullmatch(said) is not None


def as_written(relation: str, said: str) -> tuple[str, str]:
    """Return the relation and object that a page will hold for these.

    What cannot be a relation (too long, with a colon, a heading mark first, the program's own `Updated`)
    becomes a note with both, so that nothing is lost or forged.
    """
    relation, said = _normalize_label(relation), escape(said)
    if not said:
        raise Invalid("The line was not written: it is empty. Give the fact an object with visible words.")
    if relation in ("", NOTE):
        return NOTE, said
    content = f"{relation}: {said}"
    if _is_sentence(content) and statement(content) == (relation, said) and not is_updated(relation, said):
        return relation, said
    return NOTE, content


def bullet_text(relation: str, said: str) -> str:
    """Return the text of its bullet. A note that would read as anything else is labeled as one."""
    relation, said = as_written(relation, said)
    if relation != NOTE:
        return f"{relation}: {said}"
    return said if _is_sentence(said) and statement(said) == (NOTE, said) else f"Note: {said}"


def _normalize_label(relation: str) -> str:
    label = _strip_emphasis(escape(relation).rstrip(_COLONS + " ")).rstrip(_COLONS + " ")
    return NOTE if label.casefold() == NOTE else label


def _is_sentence(text: str) -> bool:
    return text[0] not in BLOCK_FIRST and not _NUMBERED.match(text)


# --- doubt -------------------------------------------------------------------------------

DOUBTFUL = "doubtful"
"""The tag of a fact that may have changed."""

_DOUBT = lazy(r" \(may have changed on \d{4}-\d\d-\d\d: “[^”]*”\)\Z")
_DOUBT_WORDS = 60
"""Characters of the sentence quoted in a mark of doubt."""


def doubted(said: str, day: str, words: str) -> str:
    """Return a line marked as possibly changed: when, and by which words."""
    words = _unquote(words)
    short = words if len(words) <= _DOUBT_WORDS else f"{words[: _DOUBT_WORDS - 1].rstrip()}…"
    return f"{undoubted(said)} (may have changed on {day}: “{short}”)"


_CONTESTED = lazy(r" \(noted on \d{4}-\d\d-\d\d by [^\s()]{1,64}; said on \d{4}-\d\d-\d\d: “[^”]*”\)\Z")


_FROM = lazy(r" \(from [a-z0-9-]{1,40} on \d{4}-\d\d-\d\d\)\Z")


def said_on(said: str, machine: str, day: str) -> str:
    """Return one of several values that machines noted apart, with the machine and the day."""
    return f"{undoubted(said)} (from {machine} on {day})"


def is_said_on(said: str) -> bool:
    return said.endswith(")") and _FROM.search(said) is not None


def _unquote(words: str) -> str:
    """Return words on one line, without curly quotation marks, which delimit them in a mark."""
    return " ".join(words.replace("“", '"').replace("”", '"').split())


def _signer_name(agent: str) -> str:
    """Return an agent's name as one word."""
    return re.sub(r"[\s()]+", "-", agent)[:64] or "agent"


def contested(said: str, agent: str, day: str, other: str, since: str) -> str:
    """Return a value that an agent noted, with the user's earlier value that it contradicts."""
    short = _unquote(undoubted(other))[:_DOUBT_WORDS]
    return f"{undoubted(said)} (noted on {day} by {_signer_name(agent)}; said on {since}: “{short}”)"


def undoubted(said: str) -> str:
    """Return a line without such marks, and without the finder's signature."""
    if said.endswith("”)"):
        said = _CONTESTED.sub("", _DOUBT.sub("", said))
    return _FOUND.sub("", _FROM.sub("", said)) if said.endswith(")") else said


def is_doubtful(said: str) -> bool:
    return said.endswith("”)") and _DOUBT.search(said) is not None


# --- findings of agents -----------------------------------------------------------------

FOUND = "Found by agents"
"""The heading for what agents concluded from tools."""

_FOUND = lazy(r" \(found by [^\s()]{1,64} on \d{4}-\d\d-\d\d(?:, from [^()]{1,120})?\)\Z")
_TOOLS = 3
"""How many of the tools that were read to name."""


def signed_as_found(said: str, agent: str, day: str, tools: Iterable[str]) -> str:
    """Return a line signed by the agent that found it: when, and which tools it had read."""
    names = [re.sub(r"[^\w.:-]+", "", name)[:30] for name in dict.fromkeys(tools)]
    read = ", ".join(filter(None, names[:_TOOLS])) + (" …" if len(names) > _TOOLS else "")
    return f"{undoubted(said)} (found by {_signer_name(agent)} on {day}{f', from {read}' if read else ''})"


def is_found(said: str) -> bool:
    return said.endswith(")") and _FOUND.search(said) is not None
