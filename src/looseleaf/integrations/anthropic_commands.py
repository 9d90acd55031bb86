"""The six commands of Anthropic's memory tool (`memory_20250818`), over the pages of a memory.

Its short texts and line numbers are kept to the letter: models are trained on them. Where lines were held back, a blank
line and a sentence on each follow; it is an error only if none of them is kept anywhere. Its names below `/memories`
stand for pages:

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

Invariants: a page changes only by `memory.pages.propose`, from its current text; an answer that reports success has a
receipt for every changed page. `page(name_of(page))` is the page, for every page that has a name. No name evades
another: names that differ only in case, Unicode form, dots or slashes are the same name, or refused.
"""

from __future__ import annotations

import re
from functools import cached_property

from looseleaf.base.errors import Invalid, NotFound, Refused, Stale
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.base.paths import TOP_PAGES, fold_name, page_path, path_fault, quoted, same_name, why_sealed
from looseleaf.base.values import ANY
from looseleaf.pages.grammar import topic_of
from looseleaf.place.guard_rules import sentences_of
from looseleaf.text.diff import line_at, places, split_lines
from looseleaf.tools.tool import ToolAnswer, describe_held, is_kept, notes_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from looseleaf.base.values import Receipt, Record
    from looseleaf.memory import Memory

    Parts = tuple[str, ...]


# --- names ------------------------------------------------------------------------------

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
        first = fold_name(parts[0]) if parts else ""
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
        has_ending = fold_name(part).endswith(".md") or _ENDING.search(part)
        file = part if has_ending else f"{part}.md"
        for own in self._tops:
            if same_name(file, own):
                if file != own:
                    raise _no_such_path(part, f"the file is called {ROOT}/{own}")
                return own
        if fold_name(file).startswith(("soul.", "project.")):  # no lookalike of the charter
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
        if len(parts) > 1 and fold_name(parts[0]).endswith(".md") and self._top_page(parts[0]):
            raise _no_such_path(name, f"{ROOT}/{parts[0]} is a file")
        stem = _FOLDER.join(parts).removesuffix(".md")
        return page_path(f"facts/{stem}.md")


def _no_such_path(name: str, why: str) -> Refused:
    return NotFound(f"The path {ROOT}/{quote(name)} does not exist: {why}. Please provide a valid path.")


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
    for fact in memory.parts.notebook.facts(topic=topic_of(old)):
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


# --- commands ---------------------------------------------------------------------------

DEFINITION = {"type": "memory_20250818", "name": "memory"}
"""The entry in Anthropic's list of tools, which knows the parameters."""

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_RANGE = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}
_FIELDS: dict[str, dict[str, dict[str, Any]]] = {
    "view": {"path": _TEXT},
    "create": {"path": _TEXT, "file_text": _TEXT},
    "str_replace": {"path": _TEXT, "old_str": _TEXT, "new_str": _TEXT},
    "insert": {"path": _TEXT, "insert_line": _NUMBER, "insert_text": _TEXT},
    "delete": {"path": _TEXT},
    "rename": {"old_path": _TEXT, "new_path": _TEXT},
}
"""The required fields of each command; only `view_range` is optional."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"command": {"type": "string", "enum": list(_FIELDS)}}
    | {name: kind for fields in _FIELDS.values() for name, kind in fields.items()}
    | {"view_range": _RANGE},
    "required": ["command"],
}
"""The same as a JSON Schema, for other providers."""

_WIDTH = 6
_LINES = 999_999
_AROUND = 2
_PLACES = 100
_ITEMS = 2_000
"""The most lines of a listing. A folder of days has more after some years, too many to read."""


@frozen
class _Result:
    text: str
    path: str = ""
    receipts: tuple[Receipt, ...] = ()
    advice: str = ""
    """What to try if nothing was written."""


def run(memory: Memory, input: Mapping[str, Any]) -> ToolAnswer:
    """Run a model's call of the tool: `{"command": "view", "path": "/memories"}` and so on."""
    try:
        command, given = _parse_input(input)
        done = _COMMANDS[command](memory, given)
    except Refused as error:
        return _answer_of(str(error), is_error=True)
    held = tuple(f"- {sentence}" for receipt in done.receipts for sentence in receipt.held)
    if not held:
        return _answer_of(done.text, done.receipts)
    receipt, path = next(each for each in done.receipts if each.held), quote(done.path)
    kept, text = is_kept(receipt), done.text
    if not kept:
        text = f"Nothing was written to {path}: none of it is allowed there."
    elif not receipt.changed:
        text = describe_held(receipt, path)
    text = "\n".join((text + (done.advice if not receipt.changed else ""), "", *held, *notes_on(receipt)))
    return _answer_of(text, done.receipts, is_error=not kept)


def _answer_of(text: str, receipts: tuple[Receipt, ...] = (), *, is_error: bool = False) -> ToolAnswer:
    told = [receipt.to_dict() for receipt in receipts if receipt.id]
    data = {"success": not is_error, "text": text, "receipt": told[0] if told else None, "receipts": told}
    return ToolAnswer(text, data, text, is_error, receipts[0] if told else None)


def _parse_input(input: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the command and its checked arguments. A null counts as missing."""
    command = input.get("command") if hasattr(input, "get") else None
    if not isinstance(command, str) or command not in _FIELDS:
        raise NotFound(
            f"Nothing was done: there is no command {command!r:.80}. Use one of {', '.join(_FIELDS)}."
        )
    given = {name: value for name, value in input.items() if value is not None}
    for name, kind in _FIELDS[command].items():
        if name not in given:
            raise Invalid(f"Nothing was done: {command} needs `{name}`. Add it, and try again.")
        wanted = str if kind is _TEXT else int
        if type(given[name]) is not wanted:
            what = "text" if wanted is str else "a whole number"
            raise Invalid(
                f"Nothing was done: `{name}` of {command} must be {what}. Correct it, and try again."
            )
    lines = given.get("view_range")
    if command == "view" and lines is not None:
        is_range = isinstance(lines, (list, tuple)) and len(lines) == 2 and all(type(n) is int for n in lines)
        if not is_range or lines[1] < -1:
            raise Invalid(
                "Nothing was shown: `view_range` must be two line numbers, the first from 1 and the last, or -1 for "
                "the end. Correct it, and try again."
            )
    return command, given


def _view(memory: Memory, given: Mapping[str, Any]) -> _Result:
    path = given["path"]
    names, parts = _read_names(memory), parts_of(path)
    if _is_folder(names, parts):
        return _Result(_format_listing(memory, path, names.below(parts)))
    text = _read_page(memory, names, parts, path)[1]
    lines = text.split("\n")
    if len(lines) > _LINES:
        raise Refused(f"File {path} exceeds maximum line limit of {_LINES:,} lines.")
    first, last = given.get("view_range", (1, -1))
    first = max(1, first)
    chosen = lines[first - 1 : len(lines) if last == -1 else last]
    return _Result(f"Here's the content of {path} with line numbers:\n{_number_lines(chosen, first)}")


def _format_listing(memory: Memory, path: str, files: Mapping[str, str]) -> str:
    """List two levels: the folder, and the folders in it."""
    sizes: dict[Parts, int] = {}
    whole = 0
    for name, page in files.items():
        stat = memory.parts.context.store.stat(page)
        size = stat.size if stat else 0
        whole += size
        parts = tuple(name.split("/"))
        for depth in range(1, min(len(parts), 3)):
            folder = (*parts[:depth], "")  # sorts before its content
            sizes[folder] = sizes.get(folder, 0) + size
        if len(parts) <= 2:
            sizes[parts] = size
    path = path.rstrip("/")
    lines = [f"{_format_size(whole)}\t{path}"]
    lines += [f"{_format_size(size)}\t{path}/{'/'.join(parts)}" for parts, size in sorted(sizes.items())]
    more = len(lines) - 1 - _ITEMS
    if more > 0:
        lines[_ITEMS + 1 :] = [f"… and {more:,} more; view a folder, or a file by its name."]
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join((head, *lines))


def _format_size(size: float) -> str:
    units = iter("BKMG")
    unit = next(units)
    while size >= 1024 and unit != "G":
        size, unit = size / 1024, next(units)
    return f"{int(size)}{unit}" if size == int(size) else f"{size:.1f}{unit}"


def _number_lines(lines: Iterable[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _create(memory: Memory, given: Mapping[str, Any]) -> _Result:
    path = given["path"]
    names, parts = _read_names(memory), parts_of(path)
    is_there = Refused(f"File {quote(path)} already exists")
    if _is_folder(names, parts):
        raise is_there
    _refuse_below_a_file(names, parts)
    page = names.page(parts)
    try:
        receipt = _propose(memory, page, path, lambda text: given["file_text"], "create", base=None)
    except Stale:
        raise is_there from None
    is_misnamed = any(f"page {page} was not made" in sentence for sentence in receipt.held)
    advice = (
        " Its name is not in the user's words: one ordinary word is allowed and, if no tool has spoken, a few short "
        "ones."
    )
    text = f"File created successfully at: {path}"
    return _Result(text, path, (receipt,), advice if is_misnamed else "")


def _str_replace(memory: Memory, given: Mapping[str, Any]) -> _Result:
    path, old, new = (str(given[name]) for name in _FIELDS["str_replace"])
    page, seen = _read_file(memory, path)
    line, after = 0, ""

    def change(text: str) -> str:
        nonlocal line, after
        _refuse_gone(path, seen, text)
        found = places(text, old, _PLACES)
        if not found:
            raise NotFound(
                f"No replacement was performed, old_str `{quote(old)}` did not appear verbatim in {quote(path)}."
            )
        if len(found) > 1:
            lines = ", ".join(str(line_at(text, at)) for at in found)
            raise Invalid(
                f"No replacement was performed. Multiple occurrences of old_str `{quote(old)}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        line = text.count("\n", 0, found[0])
        after = text[: found[0]] + new + text[found[0] + len(old) :]
        return after

    receipt = _propose(memory, page, path, change, "str_replace")
    lines = (memory.pages.read(page).text if receipt.held else after).split("\n")
    first = max(0, line - _AROUND)
    snippet = _number_lines(lines[first : line + _AROUND + 1], first + 1)
    text = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
    return _Result(text + snippet, path, (receipt,))


def _insert(memory: Memory, given: Mapping[str, Any]) -> _Result:
    path, at, added = given["path"], given["insert_line"], given["insert_text"].rstrip("\n") + "\n"
    page, seen = _read_file(memory, path)

    def change(text: str) -> str:
        _refuse_gone(path, seen, text)
        lines = split_lines(text if text.endswith("\n") or not text else f"{text}\n")
        if not 0 <= at <= len(lines):
            raise Invalid(
                f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}]."
            )
        return "".join((*lines[:at], added, *lines[at:]))

    receipt = _propose(memory, page, path, change, "insert")
    return _Result(f"The file {path} has been edited.", path, (receipt,))


def _delete(memory: Memory, given: Mapping[str, Any]) -> _Result:
    path = given["path"]
    names, parts = _read_names(memory), parts_of(path)
    if not parts:
        raise Refused(f"Cannot delete the {ROOT} directory itself")
    absent = NotFound(f"The path {quote(path)} does not exist")
    if not _is_folder(names, parts):
        receipt = _propose(memory, names.page(parts), path, None, "delete")
        if not receipt.changed:
            raise absent
        return _Result(f"Successfully deleted {path}", path, (receipt,))
    _refuse_drawer(parts, "deleted")
    receipts: list[Receipt] = []
    for name, page in sorted(names.below(parts).items()):
        try:
            receipts.append(_propose(memory, page, f"{path.rstrip('/')}/{name}", None, "delete"))
        except Refused as error:
            gone = f"{len(receipts)} of its files are gone" if receipts else "none of its files is gone"
            raise Refused(f"{quote(path)} was not deleted, {gone}: {error}") from error
    return _Result(f"Successfully deleted {path}", path, tuple(receipts))


def _rename(memory: Memory, given: Mapping[str, Any]) -> _Result:
    old, new = given["old_path"], given["new_path"]
    names, source, target = _read_names(memory), parts_of(old), parts_of(new)
    if not source:
        raise Refused(f"Cannot rename the {ROOT} directory itself")
    is_folder = _is_folder(names, source)
    is_taken = _is_folder(names, target) or "/".join(target) in names.files
    if is_taken or (not is_folder and memory.pages.read(names.page(target)).exists):
        raise Refused(f"The destination {quote(new)} already exists")
    if is_folder:
        _refuse_drawer(source, "renamed")
        if target[: len(source)] == source:
            raise Invalid(f"{quote(old)} was not renamed: {quote(new)} is inside it. Give a name beside it.")
        below = sorted(names.below(source).items())
        moves = [(page, names.page((*target, *name.split("/")))) for name, page in below]
    else:
        page = names.page(source)
        if not memory.pages.read(page).exists:
            raise NotFound(f"The path {quote(old)} does not exist")
        moves = [(page, names.page(target))]
    _refuse_below_a_file(names, target)
    receipts = move_all(memory, moves, quote(old), quote(new))
    return _Result(f"Successfully renamed {old} to {new}", old, receipts)


_COMMANDS: dict[str, Callable[[Memory, Mapping[str, Any]], _Result]] = {
    "view": _view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}


def _read_names(memory: Memory) -> ToolPaths:
    return ToolPaths(memory.pages.list())


def _is_folder(names: ToolPaths, parts: Parts) -> bool:
    """True for the root, and for a folder with pages, unless a file has that name."""
    return not parts or ("/".join(parts) not in names.files and bool(names.below(parts)))


def _read_page(memory: Memory, names: ToolPaths, parts: Parts, path: str) -> tuple[str, str]:
    page = memory.pages.read(names.page(parts))
    if not page.exists:
        raise NotFound(f"The path {quote(path)} does not exist. Please provide a valid path.")
    return page.path, page.text


def _read_file(memory: Memory, path: str) -> tuple[str, str]:
    """Return the page to be changed, and its text."""
    names, parts = _read_names(memory), parts_of(path)
    if _is_folder(names, parts):
        raise Invalid(f"The path {quote(path)} is not a file.")
    return _read_page(memory, names, parts, path)


def _propose(
    memory: Memory,
    page: str,
    path: str,
    change: Callable[[str], str] | None,
    command: str,
    base: str | None = ANY,
) -> Receipt:
    """Propose a change, the only way to make one; None deletes the page. A refusal names the path that the model
    gave."""

    def limited(text: str) -> str:
        from looseleaf.tools.page_tools import refuse_long  # a view never loads this

        assert change is not None
        new = change(text)
        refuse_long(memory, quote(path), new, before=text)
        return new

    made = limited if change is not None else None
    try:
        return memory.pages.propose(page, made, base=base, reason=f"memory tool: {command}")
    except Stale:
        raise
    except Refused as error:
        said = str(error)
        raise Refused(
            quote(path) + said.removeprefix(page) if said.startswith(f"{page} ") else said
        ) from error


def _refuse_gone(path: str, seen: str, text: str) -> None:
    """Refuse to change a deleted page: it looks empty, and the change would be all of it."""
    if seen and not text:
        raise NotFound(f"The file {path} no longer exists (may have been deleted or renamed concurrently).")


def _refuse_below_a_file(names: ToolPaths, parts: Parts) -> None:
    files = names.files
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        if above in files:
            raise Refused(
                f"Nothing was done: {ROOT}/{above} is a file. Choose another folder, and try again."
            )


def _refuse_drawer(parts: Parts, done: str) -> None:
    if len(parts) == 1 and parts[0] in DRAWERS:
        raise Refused(
            f"{ROOT}/{parts[0]} was not {done}: the memory itself needs this folder. Choose files in it instead."
        )
