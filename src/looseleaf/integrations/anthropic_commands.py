"""The six commands of Anthropic's memory tool (`memory_20250818`), over the pages of a memory.

Its short texts and line numbers are kept to the letter: models are trained on them. `anthropic_paths` maps its names to
pages. Where lines were held back, a blank line and a sentence on each follow.

Invariant: a page changes only by `memory.propose`, from its current text; an answer that reports success has a receipt
for every changed page.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid, NotFound, Refused, Stale
from looseleaf.base.immutable import frozen
from looseleaf.base.values import ANY
from looseleaf.integrations.anthropic_paths import DRAWERS, ROOT, ToolPaths, move_all, parts_of, quote
from looseleaf.text.diff import line_at, places, split_lines
from looseleaf.tools.tool import ToolAnswer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from looseleaf.base.values import Receipt
    from looseleaf.integrations.anthropic_paths import Parts
    from looseleaf.memory import Memory

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
    if held and not any(receipt.changed for receipt in done.receipts):
        is_asked = any(line.startswith("- waits in review") for line in held)
        why = (
            "a person decides first, or wrote the text there." if is_asked else "none of it is allowed there."
        )
        text = f"Nothing was written to {quote(done.path)}: {why}{done.advice}"
        return _answer_of("\n".join((text, "", *held)), done.receipts, is_error=True)
    return _answer_of("\n".join((done.text, "", *held)) if held else done.text, done.receipts)


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
        " Its name is not in the user's words: if no tool has spoken, a name of a few short words is allowed."
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
