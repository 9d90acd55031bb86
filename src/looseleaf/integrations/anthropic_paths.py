"""Names below `/memories`, which Anthropic's memory tool uses, and the pages that they stand for.

| name                        | page                                                                       |
|-----------------------------|----------------------------------------------------------------------------|
| `/memories/USER.md`         | `USER.md`; likewise every page at the top of the folder                    |
| `/memories/tea.md`          | `facts/tea.md`                                                             |
| `/memories/notes.txt`       | `facts/notes.txt.md`                                                       |
| `/memories/project/plan.md` | `facts/project--plan.md`                                                   |
| `/memories/facts/…`         | the page of facts of exactly that name                                     |
| `/memories/episodes/…`      | `episodes/…`                                                               |
| `/memories/days/…`          | `days/…`, read-only                                                        |

A name without an ending means the one with `.md`, unless it is a folder. A folder exists while a page is in it. `--` in
a name is refused, because it stands for a folder. `review/`, `log/`, `views/`, the settings and the state have no name.

Invariant: `page(name_of(page))` is the page, for every page that has a name. No name evades another: names that differ
only in case, Unicode form, dots or slashes are the same name, or refused.
"""

from __future__ import annotations

import re
from functools import cached_property

from looseleaf.base.errors import Invalid, NotFound, Refused, Stale
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.base.paths import TOP_PAGES, folded, page_path, path_fault, quoted, same_name, why_sealed
from looseleaf.pages.grammar import topic_of
from looseleaf.place.guard_rules import sentences_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from looseleaf.base.values import Receipt, Record
    from looseleaf.memory import Memory


# --- moves: the new page appears, then the old one goes, and both are journaled ----------

_REASON = "memory tool: rename"


@frozen
class _Move:
    old: str
    new: str
    base: str | None
    text: str
    summary: str | None


def move_all(memory: Memory, moves: Iterable[tuple[str, str]], old: str, new: str) -> tuple[Receipt, ...]:
    """Move pages; `old` and `new` are the names that the model gave. All moves are checked before the first is made."""
    try:
        planned = [_plan_move(memory, *move) for move in moves]
    except Refused as error:
        raise Refused(f"{old} was not renamed. {error}") from error
    receipts: list[Receipt] = []
    for move in planned:
        try:
            receipts += _move_page(memory, move)
        except Stale as error:
            why = "already exists" if error.path == move.new else "was changed meanwhile"
            name = new if error.path == move.new else old
            raise Refused(
                f"{_describe_progress(old, receipts)}: {name} {why}. View both, and repeat."
            ) from error
        except Refused as error:
            raise Refused(f"{_describe_progress(old, receipts)}. {error}") from error
    return tuple(receipts)


def _describe_progress(old: str, receipts: list[Receipt]) -> str:
    done = len(receipts) // 2
    return f"{old} was not renamed" + (f", but {done} of its files were" if done else "")


def _plan_move(memory: Memory, old: str, new: str) -> _Move:
    """Check a move, without a change and without a question to the user."""
    for path in (old, new):
        why = why_sealed(path)
        if why is not None:
            raise Refused(f"{path} was not changed: {why}.")
    page = memory.pages.read(old)
    try:
        text = page.data.decode()
    except UnicodeDecodeError:
        raise Refused(f"{old} is not UTF-8 text. Save it as UTF-8 in an editor, and try again.") from None
    # The summary, which the guard keeps off a model's page, moves separately.
    lines = zip(page.parsed.lines, page.parsed.roles, strict=True)
    body = text if page.summary is None else "".join(line for line, role in lines if role != "summary")
    guard, author = memory.parts.guard, f"agent:{memory.agent}"
    guard.look(old, author, text, None)
    made, told = guard.look(new, author, None, body)
    _refuse_held(
        new, [each.removeprefix("waits in review: ") for each in sentences_of(made)]
    )  # no question goes to the user
    _refuse_lost_author(memory, old, told)
    return _Move(old, new, page.sha256, body, page.summary)


def _refuse_lost_author(memory: Memory, old: str, told: Iterable[Record]) -> None:
    """Refuse to move the user's lines: on the new page they would be the model's, unless said in this session."""
    again = {(fact["relation"], fact["object"]) for fact in told}
    for fact in memory.facts(topic=topic_of(old)):
        if fact.path == old and is_trusted(fact.level) and (fact.relation, fact.object) not in again:
            raise Refused(
                f"The user said “{fact.relation}: {fact.object}” there, and a move would make it yours. "
                "Leave it where it is, or suggest the move to the user."
            )


def _refuse_held(new: str, held: Collection[str]) -> None:
    if held:
        raise Refused(
            f"Not all of it is allowed on {new}: {'; '.join(held)}. Leave it where it is, or ask the user."
        )


def _move_page(memory: Memory, move: _Move) -> tuple[Receipt, Receipt]:
    came = memory.pages.propose(move.new, move.text, base=None, reason=_REASON, summary=move.summary)
    try:
        _refuse_held(move.new, came.held)  # a tool may have spoken since the check
        return came, memory.pages.propose(move.old, None, base=move.base, reason=_REASON)
    except Refused as error:
        _undo_move(memory, move, came, error)
        raise


def _undo_move(memory: Memory, move: _Move, came: Receipt, error: Refused) -> None:
    """Delete the new page again, unless it was changed meanwhile."""
    if came.new is None:
        return
    try:
        memory.pages.propose(move.new, None, base=came.new, reason=f"{_REASON}, taken back")
    except Refused as refused:
        raise Refused(
            f"{move.old} is unchanged, and {move.new} exists beside it: {error} {refused} Delete one of them."
        ) from error


if TYPE_CHECKING:
    Parts = tuple[str, ...]


ROOT = "/memories"
DRAWERS = ("facts", "episodes", "days")
_ABSENT = frozenset({"review", "log", "views", "looseleaf.toml"})
_STATE = "state.json"
_FOLDER = "--"
_ENDING = re.compile(r"\.(?!md$)[a-z][a-z0-9]{0,7}$", re.ASCII)
"""The ending of a file that is not Markdown. Other text after a dot (`v1.2`, `Dr. No`) is part of the name."""
_SHOWN = 300


def quote(text: str) -> str:
    """Return a model's text for use in an answer: quoted, if it is long or not printable."""
    return text if len(text) <= _SHOWN and text.replace("\n", "").isprintable() else quoted(text)


def parts_of(path: str) -> Parts:
    """Return the parts of a name below the root, in their one spelling; none for the root."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise Invalid(f"Path must start with {ROOT}, got: {quote(path)}")
    parts = tuple(part for part in path[len(ROOT) :].split("/") if part not in ("", "."))
    if ".." in parts:
        raise Invalid(f"Path {quote(path)} would escape {ROOT} directory")
    if not path.isascii():
        import unicodedata  # not at the top: plain names do not need it

        parts = tuple(unicodedata.normalize("NFC", part) for part in parts)
    fault = path_fault("/".join(parts)) if parts else None
    if fault:
        raise Invalid(
            f"Nothing was done: the path {quoted(path)} {fault}. Use a plain name, such as {ROOT}/notes.md."
        )
    return parts


class ToolPaths:
    """The names of a memory's pages at one moment."""

    def __init__(self, pages: Iterable[str]) -> None:
        self._pages = tuple(pages)
        self._tops = dict.fromkeys((*TOP_PAGES, *(page for page in self._pages if "/" not in page)))
        self._tops.pop(_STATE, None)

    def page(self, parts: Parts) -> str:
        """Return the page of a name, existing or not; Refused for a name that no page can have."""
        name = "/".join(parts)
        first = folded(parts[0]) if parts else ""
        if first == _STATE:
            raise _no_such_path(name, "the working state has a tool of its own, memory_state")
        if first in _ABSENT:
            raise _no_such_path(name, f"{first} is not among these memories")
        if first in DRAWERS or not parts:
            return self._page_in_drawer(parts, first)
        top = self._top_page(parts[0]) if len(parts) == 1 else None
        return top or self._fact_page(parts)

    def name_of(self, page: str) -> str | None:
        """Return a page's name, without the root; None for a page that has none."""
        drawer, slash, file = page.rpartition("/")
        if not slash:
            return page if page != _STATE else None
        if drawer not in DRAWERS:
            return None
        if drawer == "facts":
            stem = file.removesuffix(".md")
            plain = stem.replace(_FOLDER, "/")
            plain = plain if _ENDING.search(plain) else f"{plain}.md"
            try:
                if self.page(parts_of(f"{ROOT}/{plain}")) == page:
                    return plain
            except Refused:
                pass  # ambiguous or refused: then the page's path is its name
        return page

    @cached_property
    def files(self) -> dict[str, str]:
        """The page of each name."""
        named = ((self.name_of(page), page) for page in self._pages)
        return {name: page for name, page in named if name is not None}

    def below(self, parts: Parts) -> dict[str, str]:
        """Return the pages in a folder by their names within it; none for a missing folder."""
        if not parts:
            return self.files
        folder = "/".join(parts) + "/"
        if parts == ("facts",):
            return {page.removeprefix(folder): page for page in self._pages if page.startswith(folder)}
        return {
            name.removeprefix(folder): page for name, page in self.files.items() if name.startswith(folder)
        }

    def _page_in_drawer(self, parts: Parts, drawer: str) -> str:
        name = "/".join(parts)
        if len(parts) < 2:
            raise Invalid(f"The path {ROOT}/{name}".rstrip("/") + " is not a file.")
        if parts[0] != drawer:
            raise _no_such_path(name, f"the folder is called {ROOT}/{drawer}")
        if len(parts) > 2:
            raise _no_such_path(name, f"{ROOT}/{drawer} holds no folders")
        return page_path(name if name.endswith(".md") else f"{name}.md")

    def _top_page(self, part: str) -> str | None:
        """Return the page at the top that a single name means, if any."""
        has_ending = folded(part).endswith(".md") or _ENDING.search(part)
        file = part if has_ending else f"{part}.md"
        for own in self._tops:
            if same_name(file, own):
                if file != own:
                    raise _no_such_path(part, f"the file is called {ROOT}/{own}")
                return own
        if folded(file).startswith(("soul.", "project.")):  # no lookalike of the charter
            raise _no_such_path(part, "only people write a file of that name")
        return None

    def _fact_page(self, parts: Parts) -> str:
        name = "/".join(parts)
        # A hyphen at the end of a part would count as half of a folder's `--`.
        if any(_FOLDER in part or part.endswith("-") for part in parts):
            raise Invalid(
                f"Nothing was done: the path {ROOT}/{quote(name)} has a part with `--` or with `-` at its end. "
                "Use single hyphens between words."
            )
        if len(parts) > 1 and folded(parts[0]).endswith(".md") and self._top_page(parts[0]):
            raise _no_such_path(name, f"{ROOT}/{parts[0]} is a file")
        stem = _FOLDER.join(parts).removesuffix(".md")
        return page_path(f"facts/{stem}.md")


def _no_such_path(name: str, why: str) -> Refused:
    return NotFound(f"The path {ROOT}/{quote(name)} does not exist: {why}. Please provide a valid path.")
