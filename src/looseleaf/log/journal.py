"""The journal's records of pages: an edit as a value, and any version of a page from its edits (FORMAT §5).

An edit holds what it took away as well as what it put there, so history can be walked from either end: one damaged
record hides no version, because those before it are rebuilt forwards and those after it backwards.
"""

from __future__ import annotations

from collections import namedtuple

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.values import Edit, Hunk, sha256_or_none
from looseleaf.store import JOURNAL_SCHEMA
from looseleaf.text.diff import apply, diff, invert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from looseleaf.base.values import Ended, Position, Record


# --- heads: each page as it is now (FORMAT §5.2), and where each agent's window begins ----

SCHEMA = JOURNAL_SCHEMA
KNOWN_SCHEMAS = frozenset({SCHEMA, "lost.v1"})

EARLY = "early"
HARD = "hard"
FLAGS = (EARLY, HARD)
"""Why a window must be compacted: it is getting full, or it overflowed."""

EXTERNAL = "external"
UNKNOWN = "unknown"
PERSON = "person"
PROGRAM = "program"
AGENT = "agent:"
"""Authors: an edit found on disk; one found where the journal has a hole, so its author is unknown; one a person asked
for; the program's own; and `agent:<name>`."""

BACK = "back"
"""The kind of a record that says what a stream lost, and from where on it has other records (FORMAT §4.5)."""

ACCEPTED = "accepted"
"""The kind of a record by which a person accepts losses."""
GONE, FOUND = "gone", "found"
"""The kinds of records on pages that vanished together, and on those of them that are there again (FORMAT §5.6)."""
COPY = "copy"
"""The kind of a record that says of which page a file is a copy, or (null) that this is settled (FORMAT §2.6)."""

DISTILLED = "distilled from "
"""How the reason of an edit begins that an entry led to; the entry's reference follows."""

MERGED = "merged"
"""The kind of a record of what other machines know of facts (FORMAT §20.4)."""

TRACES = "traces/"

OBEYED = "the user said to forget it"
"""The reason of an edit by which the program removes, in the user's name, what the user said to forget."""


if TYPE_CHECKING:
    from typing import NamedTuple

    class Head(NamedTuple):
        """A page as the journal has it: the hash of its bytes (None: no page), the edit that made it so, and the hash
        before that. If the last edit is void: no edit, and the hash of what it would have made."""

        sha256: str | None
        edit: str | None = None
        base: str | None = None

else:  # a memory of many pages makes one of each
    Head = namedtuple("Head", ("sha256", "edit", "base"), defaults=(None, None))


NO_PAGE = Head(None)


def fold(heads: dict[str, Head], record: Record) -> None:
    """Add one journal record to the heads."""
    path = record.get("path")
    if record.get("kind") == "edit":
        heads[str(path)] = Head(record.get("new"), record.get("id"), record.get("base"))
    elif record.get("kind") == "void":
        head = heads.get(str(path))
        if head is not None and head.edit == record.get("edit"):
            heads[str(path)] = Head(head.base, None, head.sha256)


def fold_gone(gone: set[str], record: Record) -> None:
    """Add one journal record to the pages that vanished together. Each is held until it is back, or settled."""
    kind, paths = record.get("kind"), record.get("paths")
    if kind == "edit":
        gone.discard(str(record.get("path")))
    elif kind == GONE and isinstance(paths, list):
        gone.update(map(str, paths))
    elif kind == FOUND and isinstance(paths, list):
        gone.difference_update(map(str, paths))


@frozen
class AgentHead(Replaceable):
    """An agent's last mark: its id and its place in the journal; None: its window begins with its first trace.

    `flag`: compact its window before the next call, `early` or `hard`. `through`: its traces are distilled up to
    this place; `last`: the id of the trace before it. `back`: since then its log went back, and has other records from
    here on.
    """

    mark: str | None = None
    segment: int = 0
    offset: int = 0
    flag: str | None = None
    through: tuple[int, int] = (0, 0)
    last: str | None = None
    back: tuple[int, int] | None = None


NO_MARK = AgentHead()


def fold_agents(agents: dict[str, AgentHead], record: Record, position: Position) -> None:
    """Add one journal record to the agents' heads. A mark settles its flag."""
    is_back = record.get("kind") == BACK
    agent = str(record.get("stream")).removeprefix(TRACES) if is_back else str(record.get("agent"))
    head = agents.get(agent, NO_MARK)
    if record.get("kind") == "mark":
        segment, offset = position
        agents[agent] = head.but(mark=record.get("id"), segment=segment, offset=offset, flag=None)
    elif record.get("kind") == "flag":
        flag = record.get("flag") if record.get("flag") in FLAGS else None
        agents[agent] = head.but(flag=flag)
    elif record.get("kind") == "placed" and record.get("through"):
        segment, offset = record["through"]
        agents[agent] = head.but(through=(int(segment), int(offset)), last=record.get("last"), back=None)
    elif is_back and str(record.get("stream")).startswith(TRACES):
        segment, offset, *_ = record["now"]
        now = int(segment), int(offset)
        agents[agent] = head.but(back=min(head.back or now, now))


def refuse_unknown(record: Record) -> None:
    """Refuse a record of an unknown format: it may mean anything, so nothing is read past it."""
    schema = record.get("schema")
    if not isinstance(schema, str) or schema not in KNOWN_SCHEMAS:
        raise Refused(
            f"Nothing was done: the journal holds a record of the format {schema!r}, and this looseleaf knows "
            f"{', '.join(sorted(KNOWN_SCHEMAS))}. Use the looseleaf that wrote it, or a newer one."
        )


class BrokenEdit(Exception):
    """An edit does not fit the text it is applied to."""


def make_edit(
    id: str,
    ts: float,
    path: str,
    author: str,
    reason: str,
    old: bytes | None,
    new: bytes | None,
    *,
    undoes: str | None = None,
    lost_base: str | None = None,
    known_base: str | None = None,
    facts: tuple[Record, ...] = (),
    ended: tuple[Ended, ...] = (),
) -> Edit:
    """Return the edit that turns `old` into `new`. `lost_base`: the hash of an old text that is lost; `known_base`: of
    one that is there."""
    encoding = "utf-8"
    try:
        before, after = (old or b"").decode(), (new or b"").decode()
    except UnicodeDecodeError:  # one character per byte, so that nothing is lost
        encoding = "latin-1"
        before, after = (old or b"").decode(encoding), (new or b"").decode(encoding)
    base = lost_base or known_base or sha256_or_none(old)
    hunks, whole = diff(before, after), lost_base is not None
    text = base, sha256_or_none(new), hunks, encoding
    return Edit(id, ts, path, author, reason, *text, undoes, whole, facts, ended)


def summary_author(edit: Edit) -> str:
    """Return whose the summary is that an edit puts on a page. What is known of facts comes with the program's."""
    if edit.summary is not None:
        return edit.summary
    return PROGRAM if edit.facts and not edit.author.startswith(AGENT) else edit.author


def record_of(edit: Edit) -> Record:
    record: Record = {"schema": SCHEMA, "id": edit.id, "ts": edit.ts, "kind": "edit"}
    record |= {name: getattr(edit, name) for name in ("path", "author", "reason", "base", "new")}
    record["diff"] = [hunk.to_dict() for hunk in edit.hunks]
    if edit.encoding != "utf-8":
        record["encoding"] = edit.encoding
    if edit.undoes is not None:
        record["undoes"] = edit.undoes
    if edit.whole:
        record["whole"] = True
    if edit.facts:
        record["facts"] = list(edit.facts)
    if edit.ended:
        record["ended"] = [list(each) for each in edit.ended]
    if edit.merge is not None:
        record["merge"] = edit.merge
    if edit.cut is not None:
        record["cut"] = edit.cut
    if edit.person is not None:
        record["person"] = edit.person
    if edit.summary is not None:
        record["summary"] = edit.summary
    return record


def edit_of(record: Record) -> Edit | None:
    """Return the edit in a record; None for other kinds and for a malformed one."""
    if record.get("kind") != "edit":
        return None
    try:
        return Edit(
            id=str(record["id"]),
            ts=float(record["ts"]),
            path=str(record["path"]),
            author=str(record["author"]),
            reason=str(record["reason"]),
            base=_text_or_none(record["base"]),
            new=_text_or_none(record["new"]),
            hunks=tuple(Hunk.from_dict(hunk) for hunk in record["diff"]),
            encoding="latin-1" if record.get("encoding") == "latin-1" else "utf-8",
            undoes=_text_or_none(record.get("undoes")),
            whole=record.get("whole") is True,
            facts=tuple(each for each in record.get("facts", ()) if isinstance(each, dict)),
            ended=tuple(
                (str(fact), str(when), _text_or_none(by)) for fact, when, by in record.get("ended", ())
            ),
            merge=merge if isinstance(merge := record.get("merge"), dict) else None,
            cut=_text_or_none(record.get("cut")),
            summary=_text_or_none(record.get("summary")),
            person=_text_or_none(record.get("person")),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _text_or_none(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(value)


def forward(edit: Edit, old: bytes | None) -> bytes | None:
    """Return the page after an edit, from the page before it."""
    if not edit.whole and sha256_or_none(old) != edit.base:
        raise BrokenEdit(f"edit {edit.id} does not start from this text")
    return _apply_hunks(edit, b"" if edit.whole else old, edit.hunks, edit.new)


def backward(edit: Edit, new: bytes | None) -> bytes | None:
    """Return the page before an edit, from the page after it."""
    if edit.whole or sha256_or_none(new) != edit.new:
        raise BrokenEdit(f"edit {edit.id} does not lead to this text")
    return _apply_hunks(edit, new, invert(edit.hunks), edit.base)


def _apply_hunks(edit: Edit, data: bytes | None, hunks: tuple[Hunk, ...], wanted: str | None) -> bytes | None:
    if wanted is None:
        return None
    try:
        result = apply((data or b"").decode(edit.encoding), hunks).encode(edit.encoding)
    except ValueError as error:
        raise BrokenEdit(f"edit {edit.id} does not fit") from error
    if sha256_or_none(result) != wanted:
        raise BrokenEdit(f"edit {edit.id} does not give the text it records")
    return result


def edits_back(records: Iterable[Record]) -> Iterator[Edit]:
    """Yield the edits not declared void, from records read newest first (a void follows its edit)."""
    void: set[str] = set()
    for record in records:
        if record.get("kind") == "void":
            void.add(str(record.get("edit")))
        edit = edit_of(record)
        if edit is not None and edit.id not in void:
            yield edit


def version(edits: Sequence[Edit], index: int, last: bytes | None) -> bytes | None:
    """Return the page after `edits[index]` (`last` is the page after all of them).

    Goes backwards from the next known text (the page was gone, or it is the last), else forwards from the last known
    one (it was created, or written whole). Only what lies between two damaged records is hidden.
    """
    gone = next((at for at in range(index, len(edits)) if edits[at].new is None), None)
    page, later = (last, edits[index + 1 :]) if gone is None else (None, edits[index + 1 : gone + 1])
    try:
        for edit in reversed(later):
            page = backward(edit, page)
        if sha256_or_none(page) == edits[index].new:
            return page
    except BrokenEdit:
        pass
    start = max((at for at in range(index + 1) if edits[at].base is None or edits[at].whole), default=index)
    page = None
    try:
        for edit in edits[start : index + 1]:
            page = forward(edit, page)
    except BrokenEdit as broken:
        where = f"the text of {edits[index].path} after edit {edits[index].id}"
        raise BrokenEdit(f"{where} cannot be rebuilt") from broken
    return page


def is_housekeeping(author: object, path: object) -> bool:
    """True for the program's own edits of review pages: undone, it would only make them again."""
    return author == PROGRAM and str(path).startswith("review/")


def is_first_sight(author: object, base: object) -> bool:
    """True for an edit that only took up a page as it was found, by an unknown author: undone, it would delete what was
    there before the journal."""
    return author == UNKNOWN and base is None


def find_undo_target(newest_first: Iterable[Edit]) -> tuple[Edit | None, bool]:
    """Return the edit that "undo" means: the newest that neither is an undo nor was undone, is no first sight, and is
    not what other machines wrote.

    Also whether its page is again what that edit made of it, but for what other machines wrote, or the edits since
    follow each other; if not, a record in between is missing.
    """
    undone: set[str] = set()
    heads: dict[str, str | None] = {}
    bases: dict[str, str | None] = {}
    torn: set[str] = set()
    for edit in newest_first:
        heads.setdefault(edit.path, edit.new)
        if bases.get(edit.path, edit.new) != edit.new:
            torn.add(edit.path)
        bases[edit.path] = edit.base
        if edit.undoes is not None:
            undone.add(edit.undoes)
        elif edit.merge is not None:
            if heads[edit.path] == edit.new:
                heads[edit.path] = edit.base
        elif edit.id not in undone and not is_first_sight(edit.author, edit.base):
            return edit, edit.path not in torn or heads[edit.path] == edit.new
    return None, True
